// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/armv7.h"
#include "protocol/ptm/ptm.h"

size_t pug_ptm_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_ptm_packet *packet = data;
    const struct pug_ptm_config *settings = config;
    size_t n = 0;
    switch (packet->type) {
    case PUG_PTM_TIMESTAMP:
        return pug_mark_put(marks, n, PUG_MARK_TIMESTAMP,
                            pug_armv7_natural(packet->timestamp, settings->gray_timestamps));
    case PUG_PTM_TRIGGER: return pug_mark_put(marks, n, PUG_MARK_TRIGGER, 0);
    case PUG_PTM_CONTEXT_ID:
        return pug_mark_put(marks, n, PUG_MARK_CONTEXT, packet->context.context_id);
    case PUG_PTM_VMID: return pug_mark_put(marks, n, PUG_MARK_VMID, packet->context.vmid);
    case PUG_PTM_I_SYNC:
        if (packet->context.updated_context_id)
            n = pug_mark_put(marks, n, PUG_MARK_CONTEXT, packet->context.context_id);
        if (packet->isync_reason == PUG_ISYNC_RESTART_OVERFLOW)
            n = pug_mark_put(marks, n, PUG_MARK_OVERFLOW, 0);
        if (packet->isync_reason != PUG_ISYNC_PERIODIC)
            n = pug_mark_put(marks, n, PUG_MARK_TRACE_ON, pug_armv7_trace_on(packet->isync_reason));
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address.value);
    case PUG_PTM_BRANCH_ADDRESS:
        if (packet->exception.present && packet->exception.number != 0)
            n = pug_mark_put(marks, n, PUG_MARK_EXCEPTION, packet->exception.number);
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address.value);
    case PUG_PTM_WPOINT_UPDATE:
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->address.value);
    default: return 0;
    }
}
