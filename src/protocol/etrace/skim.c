// SPDX-License-Identifier: MIT
/**
 * @file Packets to marks, where nobody looks at anything else: of a standard encoder only those of
 * format 3 have marks, or change what later packets are. They are left to the reader.
 */
#include "protocol/etrace/reader.h"

void etrace_skim(void *data, struct pug_span *span, struct pug_mark_list *list)
{
    struct etrace_reader *reader = data;
    const struct pug_run *run = span->run;
    (void)list;
    if (!(run->whole || run->header > 0) || run->type == PUG_ETRACE_DATA_TRACE ||
        reader->config->only_data || reader->config->layout != ETRACE_LAYOUT_STANDARD)
        return;
    while (span->at != span->end) {
        struct etrace_payload payload;
        const uint8_t *behind = etrace_next_payload(span, &payload);
        if ((payload.bytes[0] & 3) == 3)
            return;
        etrace_used_payload(reader, span, behind);
    }
}
