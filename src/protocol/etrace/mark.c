// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/etrace/etrace.h"

size_t pug_etrace_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_etrace_packet *packet = data;
    size_t n = 0;
    (void)config;
    if (packet->tells_time)
        n = pug_mark_put(marks, n, PUG_MARK_TIMESTAMP, packet->now);
    switch (packet->type) {
    case PUG_ETRACE_TRAP: n = pug_mark_put(marks, n, PUG_MARK_EXCEPTION, packet->ecause); break;
    case PUG_ETRACE_SYNC:
    case PUG_ETRACE_CONTEXT: break;
    case PUG_ETRACE_SUPPORT:
        if (packet->qual_status == PUG_ETRACE_TRACE_LOST)
            n = pug_mark_put(marks, n, PUG_MARK_OVERFLOW, 0);
        return n;
    default: return n;
    }
    if (packet->has_context)
        n = pug_mark_put(marks, n, PUG_MARK_CONTEXT, packet->context);
    if (packet->has_address && !packet->difference)
        n = pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address);
    return n;
}
