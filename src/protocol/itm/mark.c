// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/itm/itm.h"

size_t pug_itm_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_itm_packet *packet = data;
    (void)config;
    switch (packet->type) {
    case PUG_ITM_PKT_OVERFLOW: return pug_mark_put(marks, 0, PUG_MARK_OVERFLOW, 0);
    case PUG_ITM_PKT_GTS1:
    case PUG_ITM_PKT_GTS2:
        return packet->has_time ? pug_mark_put(marks, 0, PUG_MARK_TIMESTAMP, packet->time) : 0;
    case PUG_ITM_PKT_TS_LOCAL: return pug_mark_put(marks, 0, PUG_MARK_TIME_STEP, packet->value);
    case PUG_ITM_PKT_DWT: return pug_mark_put(marks, 0, PUG_MARK_HARDWARE, packet->source);
    case PUG_ITM_PKT_SWIT:
        return pug_mark_put(marks, 0, PUG_MARK_EVENT, pug_itm_port(packet->source, packet->page));
    default: return 0;
    }
}
