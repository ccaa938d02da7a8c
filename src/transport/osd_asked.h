// SPDX-License-Identifier: MIT
/**
 * @file Which registers of an OSD module a host has asked for. Answers do not name them; they come
 * in the order of the requests.
 */
#ifndef PUG_TRANSPORT_OSD_ASKED_H
#define PUG_TRANSPORT_OSD_ASKED_H

#include "pugmark/advanced/packet/osd.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Requests whose registers are kept. */
#define PUG_OSD_ASKED 16u

/** The read requests that are not answered yet. */
struct pug_osd_asked {
    uint16_t registers[PUG_OSD_ASKED];
    uint8_t count;
    uint32_t more; /**< after these: requests whose register is unknown */
};

/** Type and subtype of a register access are those of a request to read, … */
static inline bool pug_osd_is_request(unsigned flags)
{
    return PUG_OSD_TYPE_SUB(flags) < 4;
}

/** … or of its answer, which may be an error. */
static inline bool pug_osd_is_answer(unsigned flags)
{
    const unsigned sub = PUG_OSD_TYPE_SUB(flags);
    return sub >= 8 && sub <= 12;
}

/** One more. Behind those that are not kept none is, so that each answer finds its own. */
static inline void pug_osd_asked_add(struct pug_osd_asked *asked, uint16_t number)
{
    if (asked->count < PUG_OSD_ASKED && asked->more == 0)
        asked->registers[asked->count++] = number;
    else
        asked->more++;
}

/** The register that an answer is of. False: unknown. */
static inline bool pug_osd_asked_take(struct pug_osd_asked *asked, uint16_t *number)
{
    if (asked->count == 0) {
        asked->more -= asked->more > 0;
        return false;
    }
    *number = asked->registers[0];
    memmove(asked->registers, asked->registers + 1, --asked->count * sizeof(asked->registers[0]));
    return true;
}

#endif
