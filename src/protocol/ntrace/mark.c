// SPDX-License-Identifier: MIT
/** @file What messages are for an index: what elements tell of them, as these do. */
#include "protocol/ntrace/ntrace.h"

/** Write the hart's place and the reason of the sync message. */
static size_t put_sync(const struct pug_ntrace_config *config,
                       const struct pug_ntrace_packet *packet, struct pug_mark *marks, size_t n)
{
    const uint64_t address = packet->field[PUG_NTRACE_ADDR] << 1;
    const uint64_t reason = packet->field[PUG_NTRACE_SYNC];
    n = pug_mark_put(marks, n, PUG_MARK_ADDRESS, pug_ntrace_canonical(config, address));
    if (reason == PUG_NTRACE_SYNC_TRIGGER)
        return pug_mark_put(marks, n, PUG_MARK_TRIGGER, 0);
    return reason == PUG_NTRACE_SYNC_WATCHPOINT ? pug_mark_put(marks, n, PUG_MARK_EVENT, reason)
                                                : n;
}

static size_t put_context(const struct pug_ntrace_packet *packet, struct pug_mark *marks, size_t n)
{
    const uint64_t process = packet->field[PUG_NTRACE_PROCESS];
    const uint32_t context = (uint32_t)(process >> 5);
    switch (process & 3) {
    case PUG_NTRACE_FORMAT_SCONTEXT: return pug_mark_put(marks, n, PUG_MARK_CONTEXT, context);
    case PUG_NTRACE_FORMAT_HCONTEXT: return pug_mark_put(marks, n, PUG_MARK_VMID, context);
    default: return n;
    }
}

/** In-circuit trace: the kinds of points that others have marks for. */
static size_t put_point(const struct pug_ntrace_packet *packet, struct pug_mark *marks, size_t n)
{
    switch (packet->field[PUG_NTRACE_CKSRC]) {
    case PUG_NTRACE_CKSRC_TRIGGER: return pug_mark_put(marks, n, PUG_MARK_TRIGGER, 0);
    case PUG_NTRACE_CKSRC_WATCHPOINT:
        return pug_mark_put(marks, n, PUG_MARK_EVENT, packet->field[PUG_NTRACE_CKDATA1]);
    default: return n;
    }
}

size_t pug_ntrace_marks(const void *state, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_ntrace_config *config = state;
    const struct pug_ntrace_packet *packet = data;
    size_t n = 0;
    if (packet->type == PUG_NTRACE_BAD)
        return 0;
    if (pug_ntrace_tells_time(packet))
        n = pug_mark_put(marks, n, PUG_MARK_TIMESTAMP, packet->now);
    if (packet->field[PUG_NTRACE_BTYPE] != 0)
        n = pug_mark_put(marks, n, PUG_MARK_EXCEPTION, packet->field[PUG_NTRACE_BTYPE]);
    if (pug_ntrace_is_sync(packet->type))
        return put_sync(config, packet, marks, n);
    switch (packet->type) {
    case PUG_NTRACE_OWNERSHIP: return put_context(packet, marks, n);
    case PUG_NTRACE_ERROR:
        return pug_mark_put(marks, n, PUG_MARK_OVERFLOW, packet->field[PUG_NTRACE_ECODE]);
    case PUG_NTRACE_ICT:
    case PUG_NTRACE_ICT_SYNC: return config->sifive ? put_point(packet, marks, n) : n;
    default: return n;
    }
}
