// SPDX-License-Identifier: MIT
#include "tally.h"

void tally_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct tally *tally = context;
    if (op != PUG_OP_DATA)
        return;
    tally->packets++;
    tally->bad += (packet->flags & PUG_PACKET_BAD) != 0;
    if ((packet->flags & PUG_PACKET_SYNC) && tally->syncs++ == 0)
        tally->first_sync = packet->index;
}
