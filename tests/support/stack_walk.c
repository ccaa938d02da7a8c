// SPDX-License-Identifier: MIT
#include "support/stack_walk.h"

#include "base/hash.h"

/** Code of the object: a hole before the first function, functions, and a hole after the last. */
#define CODE     UINT64_C(0x210250)
#define CODE_END UINT64_C(0x2104c0)
#define UNKNOWN  UINT64_C(0x70000000) /* in no object */

static const uint64_t segment[] = {WALK_SEGMENT, WALK_SEGMENT_END};

static uint64_t some_place(struct walk *walk)
{
    if (rec_random_once_in(&walk->random, 3))
        return UNKNOWN + 4 * rec_random_below(&walk->random, 64);
    if (rec_random_once_in(&walk->random, 2))
        return CODE_END - 4 * (1 + rec_random_below(&walk->random, 16));
    return CODE + 4 * rec_random_below(&walk->random, (uint32_t)(CODE_END - CODE) / 4);
}

/** How a block is left follows from where it ends, but for conditions. */
static void leave_orderly(struct walk *walk, struct pug_element *range)
{
    const unsigned kind = (unsigned)(pug_hash_mix(0, range->end) % 16);
    static const struct {
        uint8_t type, subtype;
    } ends[16] = {
        {PUG_INSTR_BR, PUG_SUB_BR_LINK},
        {PUG_INSTR_BR, PUG_SUB_BR_LINK},
        {PUG_INSTR_BR, PUG_SUB_BR_LINK},
        {PUG_INSTR_BR, PUG_SUB_BR_LINK},
        {PUG_INSTR_BR, PUG_SUB_BR_LINK},
        {PUG_INSTR_BR_INDIRECT, PUG_SUB_BR_LINK},
        {PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_RET},
        {PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_RET},
        {PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_RET},
        {PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_RET},
        {PUG_INSTR_BR, PUG_SUB_NONE},
        {PUG_INSTR_BR, PUG_SUB_NONE},
        {PUG_INSTR_BR, PUG_SUB_NONE},
        {PUG_INSTR_BR, PUG_SUB_NONE},
        {PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_ERET},
        {PUG_INSTR_OTHER, PUG_SUB_NONE},
    };
    range->last_type = ends[kind].type;
    range->last_subtype = ends[kind].subtype;
    const bool conditional = range->last_type == PUG_INSTR_BR && !range->last_subtype;
    if (kind < 15 && !(conditional && rec_random_once_in(&walk->random, 2)))
        range->flags = PUG_ELEM_EXECUTED;
}

/** Where execution continues after a range. */
static uint64_t place_behind(struct walk *walk, const struct pug_element *range)
{
    const uint64_t hash = pug_hash_mix(1, range->end);
    if (!(range->flags & PUG_ELEM_EXECUTED))
        return range->end;
    if (!walk->orderly || rec_random_once_in(&walk->random, 40))
        return walk->starts[rec_random_below(&walk->random, WALK_BLOCKS)];
    if (range->last_subtype == PUG_SUB_BR_LINK && walk->depth < WALK_RETURNS)
        walk->returns[walk->depth++] = range->end;
    if (range->last_subtype > PUG_SUB_BR_LINK && walk->depth > 0)
        return walk->returns[--walk->depth];
    return walk
        ->starts[(hash + rec_random_below(&walk->random, 1 + (hash >> 32) % 2)) % WALK_BLOCKS];
}

/* It may change from time to time, but for returns from exceptions. */
static void leave_by(struct walk *walk, struct pug_element *range)
{
    const bool branch = !rec_random_once_in(&walk->random, 4);
    range->last_type = branch ? PUG_INSTR_BR_INDIRECT : PUG_INSTR_OTHER;
    if (range->end / 4 % 16 == 0 && branch)
        range->last_subtype = PUG_SUB_V8_ERET;
    else if (branch && rec_random_once_in(&walk->random, 4))
        range->last_subtype =
            rec_random_once_in(&walk->random, 2) ? PUG_SUB_BR_LINK : PUG_SUB_V8_RET;
    if (branch && !rec_random_once_in(&walk->random, 3))
        range->flags = PUG_ELEM_EXECUTED;
}

/** An element that comes between ranges, seldom. */
static struct pug_element come_between(struct walk *walk, uint64_t at)
{
    static const uint8_t others[] = {PUG_ELEM_TRACE_ON, PUG_ELEM_ADDR_NACC,  PUG_ELEM_EXCEPTION_RET,
                                     PUG_ELEM_NO_SYNC,  PUG_ELEM_PE_CONTEXT, PUG_ELEM_ADDR_UNKNOWN};
    if (rec_random_once_in(&walk->random, 2))
        return (struct pug_element){.type = others[rec_random_below(&walk->random, sizeof(others))],
                                    .start = at};
    const bool told = rec_random_once_in(&walk->random, 2);
    return (struct pug_element){
        .type = PUG_ELEM_EXCEPTION, .end = at, .flags = told ? PUG_ELEM_RET_ADDR : 0};
}

/** Cycles or a time; execution goes on as if nothing had come. */
static struct pug_element tell_time(struct walk *walk)
{
    return (struct pug_element){
        .type = rec_random_once_in(&walk->random, 2) ? PUG_ELEM_CYCLE_COUNT : PUG_ELEM_TIMESTAMP,
        .cycle_count = rec_random_below(&walk->random, 100),
        .flags = rec_random_once_in(&walk->random, 4) ? 0 : PUG_ELEM_HAS_CC};
}

/** Make ranges that repeat, one after the other as their ends say. */
static void make_walk(struct walk *walk)
{
    uint64_t at = some_place(walk);
    walk->cycles = rec_random_once_in(&walk->random, 2);
    walk->orderly = rec_random_once_in(&walk->random, 2);
    walk->depth = 0;
    walk->sources = (uint16_t)(1 + rec_random_below(&walk->random, 2));
    for (size_t i = 0; i < WALK_BLOCKS; i++)
        walk->starts[i] = some_place(walk);
    for (size_t i = 0; i < WALK_STEPS; i++) {
        struct pug_element *element = &walk->elements[i];
        if (rec_random_once_in(&walk->random, 100)) {
            *element = come_between(walk, at);
            if ((element->flags & PUG_ELEM_RET_ADDR) && walk->depth < WALK_RETURNS)
                walk->returns[walk->depth++] = at;
            if (element->type != PUG_ELEM_PE_CONTEXT)
                at = walk->starts[rec_random_below(&walk->random, WALK_BLOCKS)];
            continue;
        }
        if (walk->cycles && rec_random_once_in(&walk->random, 6)) {
            *element = tell_time(walk);
            continue;
        }
        /* where it cannot go on */
        if (rec_random_once_in(&walk->random, 50))
            at = walk->starts[rec_random_below(&walk->random, WALK_BLOCKS)];
        /* what a block is follows from where it begins, but for how it is left */
        uint64_t size = 4 * (1 + (at >> 2) % 3);
        for (size_t edge = 0; edge < 2; edge++) /* a range is in one object */
            if (at < segment[edge] && at + size > segment[edge])
                size = segment[edge] - at;
        *element = (struct pug_element){.type = PUG_ELEM_INSTR_RANGE,
                                        .index = i,
                                        .start = at,
                                        .end = at + size,
                                        .count = (uint32_t)size / 4,
                                        .isa = PUG_ISA_A64,
                                        .last_size = 4};
        /* of some branches the size is not known */
        if (walk->orderly && pug_hash_mix(2, element->end) % 4 == 0)
            element->last_size = 0;
        if (walk->orderly)
            leave_orderly(walk, element);
        else
            leave_by(walk, element);
        if (walk->cycles && rec_random_once_in(&walk->random, 6)) {
            element->flags |= PUG_ELEM_HAS_CC;
            element->cycle_count = rec_random_below(&walk->random, 100);
        }
        at = place_behind(walk, element);
        if (at >= CODE_END && at < UNKNOWN)
            at = CODE;
    }
}

/** Elements are of these sources and of one space or none, in turn. */
static void place_walk(struct walk *walk, uint16_t first)
{
    uint16_t source = first;
    bool nowhere = false;
    for (size_t i = 0; i < WALK_STEPS; i++) {
        if (rec_random_once_in(&walk->random, 40))
            source = (uint16_t)(first + rec_random_below(&walk->random, walk->sources));
        if (rec_random_once_in(&walk->random, 100))
            nowhere = !nowhere;
        walk->elements[i].source = source;
        walk->nowhere[i] = nowhere;
    }
}

void walk_make(struct walk *walk, uint16_t first_source)
{
    make_walk(walk);
    place_walk(walk, first_source);
}

struct pug_origin walk_origin(const struct walk *walk, const struct pug_origin *origin, size_t at,
                              size_t *count)
{
    struct pug_origin own = *origin;
    const size_t most = *count;
    own.source = walk->elements[at].source;
    if (walk->nowhere[at])
        own.space = NULL;
    for (*count = 1; *count < most && walk->elements[at + *count].source == own.source &&
                     walk->nowhere[at + *count] == walk->nowhere[at];)
        ++*count;
    return own;
}
