// SPDX-License-Identifier: MIT
/** @file ETMv3: what a course does where no link leads on. */
#include "protocol/etmv3/course.h"

bool pug_etmv3_find_next(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_place *place = &decoder->insns.place;
    if (!place->jumped)
        place->insn = pug_etmv3_follow(decoder, place->from, place->executed);
    else if (decoder->need_address)
        return false;
    else if (pug_etmv3_is_jump(place))
        place->insn = pug_etmv3_jump(decoder, place->from);
    else
        place->insn = pug_etmv3_kept_insn(decoder, decoder->address, decoder->isa, decoder->it);
    return place->insn;
}

void pug_etmv3_go_long(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_p_header *header,
                       unsigned left)
{
    pug_etmv3_settle(decoder);
    pug_etmv3_walk(decoder, header, (uint32_t)header->bits >> (header->step_count - left),
                   header->count > 0 ? left : 0);
}
