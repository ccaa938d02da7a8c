// SPDX-License-Identifier: MIT
/** @file What a profile of PC samples rests on, in words. */
#include "export/export.h"

#include "base/text.h"

#include <inttypes.h>

void pug_export_sampled(const struct exporter *exporter, char *words, size_t size)
{
    const uint64_t taken = pug_profile_sampled(exporter->profile, PUG_SAMPLES_TAKEN);
    const uint64_t asleep = pug_profile_sampled(exporter->profile, PUG_SAMPLES_ASLEEP);
    const uint64_t denied = pug_profile_sampled(exporter->profile, PUG_SAMPLES_DENIED);
    const uint64_t all = pug_profile_sum(pug_profile_sum(taken, asleep), denied);
    struct pug_text text = PUG_TEXT(words, size);
    if (all > 0) {
        pug_text_format(&text, "%" PRIu64 " PC samples, %.1f %% of them asleep", all,
                        100 * (double)asleep / (double)all);
        if (denied > 0)
            pug_text_format(&text, ", %" PRIu64 " not permitted", denied);
        pug_text_put(&text, ": samples, not counts of what ran");
    }
    pug_text_end(&text);
}
