// SPDX-License-Identifier: MIT
/**
 * @file Packets to marks, where nobody looks at anything else: of a standard encoder only those of
 * format 3, and those with a timestamp, have marks, or change what later packets are. They are
 * left to the reader.
 */
#include "protocol/etrace/reader.h"

void pug_etrace_skim(void *data, struct pug_span *span)
{
    struct pug_etrace_reader *reader = data;
    const struct pug_run *run = span->run;
    if (!(run->whole || run->header > 0) || run->kind != PUG_ETRACE_INSTRUCTION_TRACE ||
        reader->config->only_data || reader->config->layout != PUG_ETRACE_LAYOUT_STANDARD)
        return;
    while (span->at != span->end) {
        struct pug_etrace_carried payload;
        const uint8_t *behind = pug_etrace_next_payload(span, &payload);
        if ((pug_etrace_start(&payload) & 3) == 3 || payload.timestamp_bits > 0)
            return;
        pug_etrace_used_payload(reader, span, behind);
    }
}
