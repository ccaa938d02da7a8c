// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/armv7.h"
#include "protocol/etmv3/etmv3.h"

size_t pug_etmv3_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_etmv3_packet *packet = data;
    const struct pug_etmv3_config *settings = config;
    size_t n = 0;
    switch (packet->type) {
    case PUG_ETMV3_TIMESTAMP:
        return pug_mark_put(marks, n, PUG_MARK_TIMESTAMP,
                            pug_armv7_natural(packet->timestamp, settings->gray_timestamps));
    case PUG_ETMV3_TRIGGER: return pug_mark_put(marks, n, PUG_MARK_TRIGGER, 0);
    case PUG_ETMV3_CONTEXT_ID:
        return pug_mark_put(marks, n, PUG_MARK_CONTEXT, packet->context.context_id);
    case PUG_ETMV3_VMID: return pug_mark_put(marks, n, PUG_MARK_VMID, packet->context.vmid);
    case PUG_ETMV3_I_SYNC:
    case PUG_ETMV3_I_SYNC_CYCLE:
        if (packet->context.updated_context_id)
            n = pug_mark_put(marks, n, PUG_MARK_CONTEXT, packet->context.context_id);
        if (packet->isync.reason == PUG_ISYNC_RESTART_OVERFLOW)
            n = pug_mark_put(marks, n, PUG_MARK_OVERFLOW, 0);
        if (packet->isync.reason != PUG_ISYNC_PERIODIC)
            n = pug_mark_put(marks, n, PUG_MARK_TRACE_ON, pug_armv7_trace_on(packet->isync.reason));
        if (packet->isync.no_address)
            return n;
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address.value);
    case PUG_ETMV3_BRANCH_ADDRESS:
        if (packet->exception.present && packet->exception.number != 0)
            n = pug_mark_put(marks, n, PUG_MARK_EXCEPTION, packet->exception.number);
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address.value);
    default: return 0;
    }
}
