// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/itm/itm.h"

/** An exception is entered: it is marked as those of program flow are. */
static size_t hardware(const struct pug_itm_packet *packet, struct pug_mark marks[PUG_MARK_LIMIT])
{
    size_t count = pug_mark_put(marks, 0, PUG_MARK_HARDWARE, packet->source);
    if (pug_itm_enters(packet->source, packet->value))
        count = pug_mark_put(marks, count, PUG_MARK_EXCEPTION, pug_itm_exception(packet->value));
    return count;
}

size_t pug_itm_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_itm_config *itm = config;
    const struct pug_itm_packet *packet = data;
    switch (packet->type) {
    case PUG_ITM_PKT_OVERFLOW: return pug_mark_put(marks, 0, PUG_MARK_OVERFLOW, 0);
    case PUG_ITM_PKT_GTS1:
    case PUG_ITM_PKT_GTS2:
        return packet->has_time ? pug_mark_put(marks, 0, PUG_MARK_TIMESTAMP, packet->time) : 0;
    case PUG_ITM_PKT_TS_LOCAL:
        return pug_mark_put(
            marks, 0, PUG_MARK_TIME_STEP,
            pug_itm_cycles(pug_itm_prescale(itm), itm->timestamp_loss, packet->value));
    case PUG_ITM_PKT_DWT: return hardware(packet, marks);
    case PUG_ITM_PKT_SWIT:
        return pug_mark_put(marks, 0, PUG_MARK_EVENT, pug_itm_port(packet->source, packet->page));
    default: return 0;
    }
}
