// SPDX-License-Identifier: MIT
/**
 * @file Packets to marks, when no consumer reads anything else: packets that lie in the middle of a
 * long run. All else is left to the reader.
 */
#include "protocol/stm/fields.h"

/** As many nibbles at a time as a view can count. */
#define MOST_BYTES (UINT32_C(1) << 29)

void pug_stm_scan_marks(void *reader, struct pug_span *span)
{
    struct pug_stm_reader *r = reader;
    struct pug_mark_list *list = r->stage->marks;
    size_t left = (size_t)(span->end - span->at);
    if (r->state != PUG_STM_READING || r->held > 0 || r->open || left < PUG_STM_LOOK_BYTES)
        return;
    unsigned bytes = left < MOST_BYTES ? (unsigned)left : MOST_BYTES;
    struct pug_stm_view view = {.bytes = span->at, .at = r->odd, .end = 2 * bytes};
    const unsigned stop = view.end - 2 * PUG_STM_LOOK_BYTES + 1;
    unsigned at = view.at;
    while (at < stop && pug_mark_list_ready(list)) {
        struct pug_mark marks[PUG_MARK_LIMIT];
        if (pug_stm_take_packet(r, &view) != DONE)
            break;
        uint64_t index = pug_run_index(span->run, span->at + at / 2) + (at & r->next_index);
        size_t count = pug_stm_marks(NULL, &r->packet, marks);
        for (size_t i = 0; i < count; i++)
            pug_mark_list_add(list, marks[i].kind, index, marks[i].value);
        at = view.at;
    }
    span->at += at / 2;
    r->odd = at & 1;
    r->copied = false;
}
