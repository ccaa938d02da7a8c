// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: packets to marks, when no consumer reads anything else. P-headers are passed over,
 * branches without exceptions are read. All else is left to the reader.
 */
#include "protocol/etmv3/reader.h"

void pug_etmv3_scan_marks(void *pointer, struct pug_span *span)
{
    struct pug_etmv3_reader *reader = pointer;
    struct pug_mark_list *list = reader->stage->marks;
    struct pug_etmv3_packet *packet = &reader->packet;
    const struct pug_etmv3_config *config = reader->config;
    const uint8_t *at = span->at, *const end = span->end;
    if (reader->state != PUG_ETMV3_AT_HEADER)
        return;
    while (at < end) {
        if (config->p_headers[*at].valid) {
            at++;
            continue;
        }
        size_t size = *at & 1 ? pug_etmv3_branch_size(reader, at, end) : 0;
        if (size == 0 || !pug_mark_list_ready(list))
            break;
        packet->type = PUG_ETMV3_BRANCH_ADDRESS;
        packet->previous_isa = packet->isa;
        packet->has_isa = false;
        packet->exception.present = false;
        pug_etmv3_parse_branch(reader, at, size, &packet->address);
        pug_mark_list_add(list, PUG_MARK_ADDRESS, pug_run_index(span->run, at),
                          packet->address.value);
        at += size;
    }
    span->at = at;
}
