// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/ntrace/ntrace.h"

static size_t put_step(const struct pug_ntrace_packet *packet, struct pug_mark *marks, size_t n)
{
    return pug_ntrace_has(packet, PUG_NTRACE_TSTAMP)
               ? pug_mark_put(marks, n, PUG_MARK_TIME_STEP, packet->field[PUG_NTRACE_TSTAMP])
               : n;
}

/** A message that cannot start decoding gives differences: of address and time. */
size_t pug_ntrace_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_ntrace_config *settings = config;
    const struct pug_ntrace_packet *packet = data;
    size_t n = 0;
    if (pug_ntrace_is_sync(packet->type)) {
        if (pug_ntrace_has(packet, PUG_NTRACE_TSTAMP))
            n = pug_mark_put(marks, n, PUG_MARK_TIMESTAMP, packet->field[PUG_NTRACE_TSTAMP]);
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->field[PUG_NTRACE_ADDR] << 1);
    }
    if (settings->sifive && packet->type == PUG_NTRACE_ICT_SYNC) {
        if (!pug_ntrace_has(packet, PUG_NTRACE_TSTAMP))
            return 0;
        return pug_mark_put(marks, n, PUG_MARK_TIMESTAMP, packet->field[PUG_NTRACE_TSTAMP]);
    }
    n = put_step(packet, marks, n);
    switch (packet->type) {
    case PUG_NTRACE_OWNERSHIP:
        return pug_mark_put(marks, n, PUG_MARK_CONTEXT, packet->field[PUG_NTRACE_PROCESS]);
    case PUG_NTRACE_ERROR:
        return pug_mark_put(marks, n, PUG_MARK_OVERFLOW, packet->field[PUG_NTRACE_ECODE]);
    case PUG_NTRACE_PROG_TRACE_CORRELATION:
        return pug_mark_put(marks, n, PUG_MARK_EVENT, packet->field[PUG_NTRACE_EVCODE]);
    default: return n;
    }
}
