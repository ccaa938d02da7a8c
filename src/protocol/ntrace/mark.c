// SPDX-License-Identifier: MIT
/** @file What packets are for an index. */
#include "protocol/ntrace/ntrace.h"

/** A message that cannot start decoding gives a difference of the address. */
size_t pug_ntrace_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_ntrace_packet *packet = data;
    size_t n = 0;
    (void)config;
    if (pug_ntrace_tells_time(packet))
        n = pug_mark_put(marks, n, PUG_MARK_TIMESTAMP, packet->now);
    if (pug_ntrace_is_sync(packet->type))
        return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->field[PUG_NTRACE_ADDR] << 1);
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
