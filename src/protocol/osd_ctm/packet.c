// SPDX-License-Identifier: MIT
/**
 * @file Core trace events: time, next program counter, program counter, flags. The words are the
 * bits {modechange, call, ret, mode, pc, npc, timestamp} from the low end up.
 */
#include "protocol/osd_ctm/ctm.h"

static uint64_t take_address(const uint16_t *words, unsigned width)
{
    uint64_t address = 0;
    for (unsigned i = 0; i < width / 16; i++)
        address |= (uint64_t)words[i] << 16 * i;
    return address;
}

static void parse(struct pug_osd_packet *event, unsigned width)
{
    unsigned words = width / 16, flags = event->words[2 + 2 * words];
    event->npc = take_address(event->words + 2, width);
    event->pc = take_address(event->words + 2 + words, width);
    event->mode = flags & 3;
    event->ret = flags >> 2 & 1;
    event->call = flags >> 3 & 1;
    event->modechange = flags >> 4 & 1;
}

const struct pug_osd_module pug_osd_ctm_module = {
    .name = "OSD-CTM",
    .type = PUG_OSD_TYPE_CTM,
    .settings = {"ADDR_WIDTH", "addr_width"},
    .any_width = true,
    .fields = 2,
    .parse = parse,
};
