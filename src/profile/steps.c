// SPDX-License-Identifier: MIT
/** @file Where addresses lie, and ranges by number. */
#include "profile/steps.h"

#include "base/hash.h"
#include "capture/capture.h"
#include "pugmark/walk.h"

#include <stdlib.h>
#include <string.h>

#define NODE_LIMIT (UINT32_C(1) << 27)

void pug_profile_node_cache_free(struct profile_node_cache *cache)
{
    free(cache->nodes);
    free(cache->slots);
}

/* ---- places ---- */

void pug_profile_node_cache_enter(struct profile_node_cache *cache, const struct pug_origin *origin)
{
    const uint64_t space = origin->space ? origin->space->number : 0;
    if (cache->space == space)
        return;
    cache->space = space;
    for (unsigned i = 0; i < MAPS; i++)
        cache->maps[i] = (struct profile_map){.first = 1, .last = 0};
}

static uint32_t new_number(struct profile_node_cache *cache)
{
    if (++cache->maps_made == 0) /* numbers restart */
        for (uint32_t i = 0; i < cache->node_count; i++)
            cache->nodes[i].seen = 0;
    return cache->maps_made;
}

const struct profile_map *pug_profile_find_map(struct profile_node_cache *cache,
                                               const struct pug_origin *origin, uint64_t address)
{
    for (unsigned i = 0; i < MAPS; i++) {
        const unsigned at = (cache->map + i) % MAPS;
        if (address >= cache->maps[at].first && address <= cache->maps[at].last) {
            cache->map = at;
            return &cache->maps[at];
        }
    }
    struct pug_location location = {.first = address, .last = address};
    struct profile_map map = {.object = PUG_PROFILE_NONE};
    if (origin->space && pug_capture_locate(cache->capture, origin, address, &location)) {
        map.object = location.object;
        map.text = (uint32_t)location.text;
        map.moved = address - location.vaddr;
    }
    map.first = location.first;
    map.last = location.last;
    map.number = new_number(cache);
    cache->map = cache->next_map++ % MAPS;
    cache->maps[cache->map] = map;
    return &cache->maps[cache->map];
}

/* ---- what a range is ---- */

uint8_t pug_profile_node_end(const struct profile_node *node)
{
    const uint8_t type = node->step.shape.last_type, subtype = node->step.shape.last_subtype;
    const unsigned flags = node->step.shape.flags;
    const bool branch = type == PUG_INSTR_BR || type == PUG_INSTR_BR_INDIRECT;
    unsigned end = 0;
    /* a return from an exception is no branch of the program */
    if (!branch || subtype == PUG_SUB_V8_ERET || subtype == PUG_SUB_EXCEPTION_RETURN)
        return 0;
    end = PUG_END_BRANCH;
    if (type == PUG_INSTR_BR_INDIRECT)
        end |= PUG_END_INDIRECT;
    if (flags & PUG_ELEM_CONDITIONAL)
        end |= PUG_END_CONDITIONAL;
    if (subtype == PUG_SUB_BR_LINK)
        end |= PUG_END_CALL;
    if (subtype == PUG_SUB_V8_RET || subtype == PUG_SUB_V7_IMPLIED_RET || subtype == PUG_SUB_RETURN)
        end |= PUG_END_RETURN;
    if (flags & PUG_ELEM_EXECUTED)
        end |= PUG_END_TAKEN;
    return (uint8_t)end;
}

bool pug_profile_target(const struct pug_origin *origin, const struct profile_branch *branch,
                        uint64_t *target)
{
    const struct pug_isa_config config = {.zcmp_zcmt = true};
    uint8_t bytes[8], it_count = 0;
    struct pug_insn insn;
    struct pug_reader_space reader;
    pug_element_space(branch->context, &reader);
    const struct pug_image *image = origin->space ? pug_address_space_image(origin->space) : NULL;
    const int64_t read =
        image ? pug_image_read(image, &reader, branch->address, bytes, sizeof(bytes)) : 0;
    if (read <= 0 ||
        pug_isa_classify(&config, branch->isa, branch->address, bytes, (unsigned)read, &it_count,
                         &insn) != PUG_OK ||
        insn.type != PUG_INSTR_BR || insn.table_jump)
        return false;
    *target = insn.target;
    return true;
}

void pug_profile_find_target(struct profile_node_cache *cache, const struct pug_origin *origin,
                             const struct pug_element *range, struct profile_node *node)
{
    uint64_t address;
    const struct profile_branch branch = {range, range->end - range->last_size, range->isa};
    if ((pug_profile_node_end(node) & (PUG_END_TAKEN | PUG_END_INDIRECT)) != PUG_END_TAKEN ||
        !pug_profile_target(origin, &branch, &address))
        return;
    const struct profile_place target = profile_place(cache, origin, address);
    const int64_t reach = (int64_t)(address - branch.address); /* far where addresses wrap */
    if (reach == (int32_t)reach)
        node->reach = (int32_t)reach;
    node->target = target.vaddr;
    node->target_object = target.object;
    node->has_target = true;
    node->goes_back = !(pug_profile_node_end(node) & PUG_END_CALL) &&
                      target.object == node->object && target.vaddr <= pug_profile_node_last(node);
}

/** The text of a range that begins in the cache's current map. */
static uint32_t text_of(const struct profile_node_cache *cache, const struct profile_step *range)
{
    const struct profile_map *map = &cache->maps[cache->map];
    return map->last - range->start >= range->size - 1 ? map->text : ~(uint32_t)cache->space;
}

struct profile_node pug_profile_describe(struct profile_node_cache *cache,
                                         const struct pug_origin *origin,
                                         const struct pug_element *range)
{
    struct profile_node node = {.step = pug_profile_step(range), .reach = NO_REACH};
    const struct profile_place place = profile_place(cache, origin, range->start);
    node.text = text_of(cache, &node.step);
    node.seen = cache->maps[cache->map].number;
    node.step.start = place.vaddr;
    node.object = place.object;
    node.departs = (uint8_t)pug_departure_kind(range->flags, range->last_type, range->last_subtype);
    return node;
}

/* ---- nodes ---- */

bool pug_profile_is_same_text(struct profile_node_cache *cache, const struct pug_origin *origin,
                              struct profile_node *node, const struct profile_step *range)
{
    const unsigned map = cache->map;
    const uint64_t last = range->start + range->size - range->shape.last_size;
    bool same = node->text == text_of(cache, range);
    if (same && node->reach != NO_REACH) {
        const struct profile_place to =
            profile_place(cache, origin, last + (uint64_t)(int64_t)node->reach);
        same = to.vaddr == node->target && to.object == node->target_object;
        cache->map = map;
    }
    if (same)
        node->seen = cache->maps[map].number;
    return same;
}

static uint32_t hash_of(const struct profile_node *node)
{
    const struct profile_step *step = &node->step;
    return (uint32_t)(pug_hash_mix(pug_hash_mix(pug_hash_mix(0, step->start), step->size),
                                   node->object ^ pug_profile_word(&step->shape)) >>
                      32);
}

static uint32_t *slot_at(const struct profile_node_cache *cache, uint32_t at)
{
    return &cache->slots[at & (cache->slot_count - 1)];
}

static bool grow(struct profile_node_cache *cache)
{
    const uint32_t room = cache->node_room ? cache->node_room * 2 : 256;
    struct profile_node *nodes =
        room <= NODE_LIMIT ? aligned_alloc(64, room * sizeof(*nodes)) : NULL;
    uint32_t *slots = nodes ? calloc((size_t)room * 2, sizeof(*slots)) : NULL;
    if (!slots) {
        free(nodes);
        return false;
    }
    if (cache->node_count > 0)
        memcpy(nodes, cache->nodes, cache->node_count * sizeof(*nodes));
    pug_profile_node_cache_free(cache);
    cache->nodes = nodes;
    cache->slots = slots;
    cache->slot_count = room * 2;
    cache->node_room = room;
    for (uint32_t i = 0; i < cache->node_count; i++) {
        uint32_t at = hash_of(&cache->nodes[i]);
        while (*slot_at(cache, at) != 0)
            at++;
        *slot_at(cache, at) = i + 1;
    }
    return true;
}

uint32_t pug_profile_node(struct profile_node_cache *cache, const struct pug_origin *origin,
                          const struct pug_element *range)
{
    if (cache->node_count == cache->node_room && !grow(cache))
        return NO_NODE;
    struct profile_node node = pug_profile_describe(cache, origin, range);
    const struct profile_step step = pug_profile_step(range);
    const struct profile_place place = {node.step.start, node.object};
    uint32_t at = hash_of(&node), *slot;
    for (; *(slot = slot_at(cache, at)) != 0; at++)
        if (pug_profile_is_node_of(cache, origin, &cache->nodes[*slot - 1], &place, &step))
            return *slot - 1;
    pug_profile_find_target(cache, origin, range, &node);
    cache->nodes[cache->node_count] = node;
    *slot = ++cache->node_count;
    return *slot - 1;
}
