// SPDX-License-Identifier: MIT
/**
 * @file PTM: packets to marks, when no consumer reads anything else. Atoms are passed over,
 * branches are read. All else, and cycle counts, is left to the reader.
 */
#include "protocol/ptm/reader.h"

/**
 * Bytes of a branch packet that is all there; else 0. Five of address, two of exception at most.
 */
static size_t branch_size(const uint8_t *at, const uint8_t *end)
{
    const size_t left = (size_t)(end - at);
    size_t size = 1;
    while (size < 5 && (at[size - 1] & 0x80))
        if (++size > left)
            return 0;
    if (size > 1 && (at[size - 1] & 0x40)) {
        if (++size > left)
            return 0;
        if ((at[size - 1] & 0x80) && ++size > left)
            return 0;
    }
    return size;
}

/** An atom, or a branch, and how many bytes it has; 0: it is something else, or not whole. */
static inline size_t usual_size(const uint8_t *at, const uint8_t *end)
{
    if (*at & 1)
        return branch_size(at, end);
    return *at >> 7;
}

void pug_ptm_scan_marks(void *pointer, struct pug_span *span)
{
    struct pug_ptm_reader *reader = pointer;
    struct pug_mark_list *list = reader->stage->marks;
    struct pug_ptm_packet *packet = &reader->packet;
    const uint8_t *at = span->at, *const end = span->end;
    size_t size;
    if (reader->state != PUG_PTM_AT_HEADER || reader->config->cycle_accurate)
        return;
    for (; at < end && (size = usual_size(at, end)) > 0; at += size) {
        if (!(*at & 1))
            continue;
        if (!pug_mark_list_ready(list))
            break;
        packet->type = PUG_PTM_BRANCH_ADDRESS;
        packet->previous_isa = packet->isa;
        packet->exception.present = false;
        pug_ptm_parse(reader, at, size);
        uint64_t index = pug_run_index(span->run, at);
        if (packet->exception.present && packet->exception.number != 0)
            pug_mark_list_add(list, PUG_MARK_EXCEPTION, index, packet->exception.number);
        pug_mark_list_add(list, PUG_MARK_ADDRESS, index, packet->address.value);
    }
    span->at = at;
}
