// SPDX-License-Identifier: MIT
/** @file System trace events: time, id, value. */
#include "protocol/osd_stm/stm.h"

static void parse(struct pug_osd_packet *event, unsigned width)
{
    event->id = event->words[2];
    for (unsigned i = 0; i < width / 16; i++)
        event->value |= (uint64_t)event->words[3 + i] << 16 * i;
}

const struct pug_osd_module pug_osd_stm_module = {
    .name = "OSD-STM",
    .type = PUG_OSD_TYPE_STM,
    .settings = {"VALWIDTH", "valwidth"},
    .any_width = false,
    .fields = 1,
    .parse = parse,
};
