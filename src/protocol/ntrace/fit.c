// SPDX-License-Identifier: MIT
/**
 * @file Checks whether messages are plausible, to find out what bytes are, and how wide SRC is in
 * them.
 */
#include "protocol/ntrace/ntrace.h"

/** Values that are reserved, a bit each. */
static const uint16_t reserved[] = {
    [PUG_NTRACE_SYNC] = 0x3d00,  [PUG_NTRACE_BTYPE] = 0,       [PUG_NTRACE_ETYPE] = 0x00fe,
    [PUG_NTRACE_RCODE] = 0x00f8, [PUG_NTRACE_EVCODE] = 0x00ec, [PUG_NTRACE_CDF] = 0x000c,
};

/** A set of TCODEs. */
#define TCODE(type) (UINT64_C(1) << (type))

/* Vendors' own messages: 56 to 62. */
#define VENDORS (UINT64_C(0x7f) << 56)

/* Messages that continue what a sync message began. */
#define CONTINUING                                                                                 \
    (TCODE(PUG_NTRACE_DIRECT_BRANCH) | TCODE(PUG_NTRACE_INDIRECT_BRANCH) |                         \
     TCODE(PUG_NTRACE_INDIRECT_BRANCH_HIST) | TCODE(PUG_NTRACE_REPEAT_BRANCH) |                    \
     TCODE(PUG_NTRACE_RESOURCE_FULL))

enum pug_fit pug_ntrace_fit(const struct pug_packet *packet)
{
    const uint64_t known = PUG_NEXUS_KNOWN_TCODES | VENDORS | TCODE(PUG_NTRACE_IDLE);
    const struct pug_ntrace_packet *message = packet->data;
    if (message->type >= 64)
        return PUG_FIT_USUAL; /* no message, or flagged as a bad one */
    if (!(known & TCODE(message->type)))
        return PUG_FIT_DOUBTFUL;
    for (unsigned field = 0; field < sizeof(reserved) / sizeof(reserved[0]); field++)
        if (message->present >> field & 1 && reserved[field] >> message->field[field] & 1)
            return PUG_FIT_DOUBTFUL;
    return CONTINUING & TCODE(message->type) ? PUG_FIT_USUAL : PUG_FIT_LEADING;
}
