// SPDX-License-Identifier: MIT
#include "pugmark/advanced/quirks.h"

#include <assert.h>
#include <string.h>

/* A bit that begins a new word takes one of `spare`. */
static_assert(sizeof(struct pug_quirks) == 32, "what holds quirks stays as large as it is");

struct pug_quirks pug_quirks_reference(void)
{
    struct pug_quirks quirks;
    memset(&quirks, 0xff, sizeof(quirks));
    return quirks;
}

bool pug_quirks_of_version(const char *version, struct pug_quirks *quirks)
{
    const bool corrected = version && strcmp(version, "1.8.3") == 0;
    if (!corrected && !(version && strcmp(version, "1.8.0") == 0))
        return false;
    *quirks = pug_quirks_reference();
    if (corrected) {
        quirks->etm4_return_not_p0 = 0;
        quirks->etm4_walks_over_return = 0;
        quirks->etm4_exception_return_pops = 0;
        quirks->etm4_info_empties_stack = 0;
    }
    return true;
}

bool pug_quirks_any(const struct pug_quirks *quirks)
{
    const unsigned char *bytes = (const unsigned char *)quirks;
    for (size_t i = 0; i < sizeof(*quirks); i++)
        if (bytes[i])
            return true;
    return false;
}
