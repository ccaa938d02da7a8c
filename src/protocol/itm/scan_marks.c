// SPDX-License-Identifier: MIT
/**
 * @file Packets to marks, when no consumer reads anything else: source packets, local timestamps
 * and overflows. All else is left to the reader.
 */
#include "protocol/itm/reader.h"

#define OVERFLOW_BYTE 0x70

/** Bytes of a packet that is all there: a header with a low nibble of 0, but not 0 itself. */
static size_t local_time_size(const uint8_t *at, size_t left)
{
    if (!(at[0] & 0x80))
        return 1;
    for (size_t size = 2; size <= left && size <= PUG_ITM_LOCAL_TS_BYTES + 1; size++)
        if (!(at[size - 1] & 0x80))
            return size;
    return 0;
}

static inline size_t usual_size(const uint8_t *at, size_t left)
{
    static const uint8_t sizes[4] = {0, 2, 3, 5};
    const uint8_t header = *at;
    size_t size = sizes[header & 3];
    if (size > 0)
        return size <= left ? size : 0;
    bool timed = (header & 0x0f) == 0 && header != 0 && (header & 0xc0) != 0x80;
    return timed ? local_time_size(at, left) : 0;
}

/** Returns the time in a local timestamp: in its header, or 7 bits in each byte that follows. */
static uint32_t local_time(const uint8_t *at, size_t size)
{
    uint32_t time = size == 1 ? at[0] >> 4 : 0;
    for (size_t i = 1; i < size; i++)
        time |= (uint32_t)(at[i] & 0x7f) << (7 * (i - 1));
    return time;
}

/** A packet of a hardware source may be several marks. */
static void add_hardware(const struct pug_itm_reader *r, const uint8_t *at, size_t size,
                         uint64_t index)
{
    struct pug_mark marks[PUG_MARK_LIMIT];
    uint32_t value = 0;
    for (size_t i = 1; i < size; i++)
        value |= (uint32_t)at[i] << 8 * (i - 1);
    const size_t count =
        pug_itm_hardware_marks(r->config, at[0] >> 3, (unsigned)size - 1, value, marks);
    for (size_t i = 0; i < count; i++)
        pug_mark_list_add(r->stage->marks, marks[i].kind, index, marks[i].value);
}

/** What a usual packet of no hardware source is: written by software, lost, or a time. */
static struct pug_mark mark_of(const struct pug_itm_reader *r, const uint8_t *at, size_t size)
{
    const uint8_t header = *at;
    if (header & 3)
        return (struct pug_mark){PUG_MARK_EVENT, pug_itm_port(header >> 3, r->page)};
    if (header == OVERFLOW_BYTE)
        return (struct pug_mark){PUG_MARK_OVERFLOW, 0};
    return (struct pug_mark){PUG_MARK_TIME_STEP,
                             pug_itm_cycles(pug_itm_prescale(r->config), r->config->timestamp_loss,
                                            local_time(at, size))};
}

void pug_itm_scan_marks(void *reader, struct pug_span *span)
{
    struct pug_itm_reader *r = reader;
    struct pug_mark_list *list = r->stage->marks;
    const uint8_t *const end = span->end, *at = span->at;
    size_t size;
    if (!r->synced || r->open)
        return;
    for (; at < end && (size = usual_size(at, (size_t)(end - at))) > 0; at += size) {
        if (!pug_mark_list_ready(list))
            break;
        const uint64_t index = pug_run_index(span->run, at);
        if ((*at & 3) && (*at & 4)) {
            add_hardware(r, at, size, index);
            continue;
        }
        const struct pug_mark mark = mark_of(r, at, size);
        pug_mark_list_add(list, mark.kind, index, mark.value);
    }
    pug_itm_took(r, span, at);
}
