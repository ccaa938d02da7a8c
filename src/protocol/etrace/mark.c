// SPDX-License-Identifier: MIT
/** @file What packets are for an index: what elements tell of them, as these do. */
#include "protocol/etrace/etrace.h"

static size_t put_context(const struct pug_etrace_config *config,
                          const struct pug_etrace_packet *packet, struct pug_mark *marks, size_t n)
{
    uint32_t vmid;
    if (!packet->has_context)
        return n;
    n = pug_mark_put(marks, n, PUG_MARK_CONTEXT, pug_etrace_context_id(config, packet));
    return pug_etrace_vmid(config, packet, &vmid) ? pug_mark_put(marks, n, PUG_MARK_VMID, vmid) : n;
}

static size_t put_address(const struct pug_etrace_config *config,
                          const struct pug_etrace_packet *packet, struct pug_mark *marks, size_t n)
{
    const uint64_t address = packet->address & pug_etrace_address_mask(config);
    if (!packet->has_address || packet->difference)
        return n;
    return pug_mark_put(marks, n, PUG_MARK_ADDRESS, pug_etrace_extend(config, address));
}

size_t pug_etrace_marks(const void *state, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_etrace_config *config = state;
    const struct pug_etrace_packet *packet = data;
    size_t n = 0;
    if (packet->tells_time)
        n = pug_mark_put(marks, n, PUG_MARK_TIMESTAMP, packet->now);
    switch (packet->type) {
    case PUG_ETRACE_TRAP:
        n = pug_mark_put(marks, n, PUG_MARK_EXCEPTION, pug_etrace_exception(packet));
        break;
    case PUG_ETRACE_SYNC:
    case PUG_ETRACE_CONTEXT: break;
    case PUG_ETRACE_SUPPORT:
        if (packet->qual_status == PUG_ETRACE_TRACE_LOST)
            n = pug_mark_put(marks, n, PUG_MARK_OVERFLOW, 0);
        return n;
    case PUG_ETRACE_ADDRESS:
    case PUG_ETRACE_BRANCHES:
    case PUG_ETRACE_COUNT:
        return packet->notify ? pug_mark_put(marks, n, PUG_MARK_EVENT, PUG_ETRACE_NOTIFY_EVENT) : n;
    default: return n;
    }
    n = put_context(config, packet, marks, n);
    return put_address(config, packet, marks, n);
}
