// SPDX-License-Identifier: MIT
/** @file Fields that several layouts of E-Trace payloads share. */
#ifndef PUG_PROTOCOL_ETRACE_PACKET_FIELDS_H
#define PUG_PROTOCOL_ETRACE_PACKET_FIELDS_H

#include "protocol/etrace/etrace.h"

static inline void pug_etrace_bad(struct pug_etrace_packet *packet, const char *problem)
{
    packet->type = PUG_ETRACE_BAD;
    packet->problem = problem;
}

/** Bits of a branch map for a number of branches; 0 stands for 31. */
static inline unsigned pug_etrace_map_width(unsigned branches)
{
    if (branches == 0 || branches > 15)
        return 31;
    return branches > 7 ? 15 : branches > 3 ? 7 : branches > 1 ? 3 : 1;
}

/** A branch map for a number of branches; 0 stands for 31. */
static inline void pug_etrace_take_map(struct pug_fields *fields, unsigned branches,
                                       struct pug_etrace_packet *packet)
{
    if (branches == 0)
        branches = 31;
    uint32_t map = (uint32_t)pug_fields_take(fields, pug_etrace_map_width(branches));
    packet->branches = (uint8_t)branches;
    packet->branch_map = map & ((UINT32_C(1) << branches) - 1);
}

/** Without the field of that name the option that is on says which of two format 0 is. */
static inline unsigned pug_etrace_subformat_unsaid(const struct pug_etrace_options *options)
{
    return !options->branch_prediction && options->jump_target_cache;
}

/** Subformat of format 0. */
static inline unsigned pug_etrace_take_subformat_0(const struct pug_etrace_options *options,
                                                   struct pug_fields *fields)
{
    if (options->f0s_width == 0)
        return pug_etrace_subformat_unsaid(options);
    return (unsigned)pug_fields_take(fields, options->f0s_width);
}

/** Start of a branch count packet. True: an address follows. */
static inline bool pug_etrace_take_count(const struct pug_etrace_options *options,
                                         struct pug_fields *fields,
                                         struct pug_etrace_packet *packet)
{
    packet->type = PUG_ETRACE_COUNT;
    packet->branch_count = pug_fields_take(fields, 32) + 31;
    packet->branch_fmt = (uint8_t)pug_fields_take(fields, 2);
    if (!options->branch_prediction)
        pug_etrace_bad(packet, "branch count packet, but branch prediction is off");
    else if (packet->branch_fmt == 1)
        pug_etrace_bad(packet, "reserved branch_fmt");
    return packet->type == PUG_ETRACE_COUNT && packet->branch_fmt >= 2;
}

/** Start of a jump target cache packet, up to the branch map. False: it is bad. */
static inline bool pug_etrace_take_jump_cache(const struct pug_etrace_options *options,
                                              struct pug_fields *fields,
                                              struct pug_etrace_packet *packet)
{
    packet->type = PUG_ETRACE_JUMP_CACHE;
    packet->cache_index = (uint16_t)pug_fields_take(fields, options->cache_size);
    unsigned branches = (unsigned)pug_fields_take(fields, 5);
    if (branches > 0)
        pug_etrace_take_map(fields, branches, packet);
    if (!options->jump_target_cache)
        pug_etrace_bad(packet, "jump target cache packet, but the cache is off");
    return packet->type == PUG_ETRACE_JUMP_CACHE;
}

#endif
