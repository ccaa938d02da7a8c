// SPDX-License-Identifier: MIT
#include "recorder/mtb.h"

#include "base/bytes.h"

#include <stdlib.h>

bool rec_mtb_begin(struct rec_mtb *mtb, unsigned mask, uint8_t fill)
{
    *mtb = (struct rec_mtb){.mask = mask, .starting = true};
    mtb->memory = malloc(rec_mtb_size(mtb));
    if (mtb->memory)
        memset(mtb->memory, fill, rec_mtb_size(mtb));
    return mtb->memory != NULL;
}

void rec_mtb_free(struct rec_mtb *mtb)
{
    free(mtb->memory);
}

void rec_mtb_start(struct rec_mtb *mtb)
{
    mtb->starting = true;
}

static void put(struct rec_mtb *mtb, uint32_t source, bool atomic, uint32_t destination)
{
    uint8_t *packet = mtb->memory + mtb->pointer;
    pug_bytes_set_32(packet, (source & ~UINT32_C(1)) | atomic);
    pug_bytes_set_32(packet + 4, (destination & ~UINT32_C(1)) | mtb->starting);
    mtb->starting = false;
    mtb->pointer += PUG_MTB_PACKET;
    if (mtb->pointer < rec_mtb_size(mtb))
        return;
    mtb->pointer = 0;
    mtb->wrapped = true;
}

void rec_mtb_branch(struct rec_mtb *mtb, uint32_t from, uint32_t to)
{
    put(mtb, from, false, to);
}

void rec_mtb_exception(struct rec_mtb *mtb, uint32_t back, uint32_t handler)
{
    put(mtb, back, true, handler);
}

void rec_mtb_return(struct rec_mtb *mtb, uint32_t from, uint32_t exc_return, uint32_t to)
{
    put(mtb, from, false, exc_return);
    put(mtb, exc_return, true, to);
}
