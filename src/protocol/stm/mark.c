// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/stm/stm.h"

size_t pug_stm_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_stm_packet *packet = data;
    size_t n = 0;
    (void)config;
    if (packet->has_ts)
        n = pug_mark_put(marks, n, PUG_MARK_TIMESTAMP, packet->timestamp);
    switch (packet->type) {
    case PUG_STM_TRIG: return pug_mark_put(marks, n, PUG_MARK_TRIGGER, packet->payload & 0xff);
    case PUG_STM_GERR:
    case PUG_STM_MERR: return pug_mark_put(marks, n, PUG_MARK_OVERFLOW, packet->payload & 0xff);
    case PUG_STM_FLAG: return pug_mark_put(marks, n, PUG_MARK_EVENT, packet->channel);
    case PUG_STM_M8: return pug_mark_put(marks, n, PUG_MARK_CONTEXT, packet->master);
    default: return n;
    }
}
