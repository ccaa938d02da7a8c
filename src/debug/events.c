// SPDX-License-Identifier: MIT
/** @file The distinct events of a history, and the instructions of those that are ranges. */
#include "base/hash.h"
#include "debug/history.h"
#include "pugmark/advanced/capture.h"

#include <stdlib.h>
#include <string.h>

bool pug_history_grow(struct pug_history *history, void *items, uint32_t *room, uint64_t count,
                      size_t size)
{
    void *old;
    if (count <= *room)
        return true;
    memcpy(&old, items, sizeof(old));
    const uint64_t more = count + count / 2 + 64, bytes = more * size;
    if (more > UINT32_MAX || bytes > SIZE_MAX ||
        history->memory + bytes - (uint64_t)*room * size > history->config.limit) {
        history->status = PUG_ERR_LIMIT;
        return false;
    }
    void *grown = realloc(old, (size_t)bytes);
    if (!grown) {
        history->status = PUG_ERR_MEM;
        return false;
    }
    memset((char *)grown + *room * size, 0, (size_t)(more - *room) * size);
    history->memory += bytes - (uint64_t)*room * size;
    *room = (uint32_t)more;
    memcpy(items, &grown, sizeof(grown));
    return true;
}

static uint64_t hash_of(const struct pug_history_event *event)
{
    uint64_t hash = pug_hash_mix(event->start, event->end);
    hash = pug_hash_mix(hash, event->site);
    hash = pug_hash_mix(hash, (uintptr_t)event->space);
    hash = pug_hash_mix(hash, event->thread | (uint64_t)event->count << 32);
    hash = pug_hash_mix(hash, event->number | (uint64_t)event->context_id << 32);
    return pug_hash_mix(hash, event->what | (uint64_t)event->isa << 8 |
                                  (uint64_t)event->kind << 16 | (uint64_t)event->flags << 24 |
                                  (uint64_t)event->vmid << 32);
}

static void put(struct pug_history *history, uint32_t number)
{
    uint32_t *slot = &history->slots[hash_of(&history->events[number]) & (history->slot_count - 1)];
    history->events[number].alike = *slot;
    *slot = number + 1;
}

/** Makes room for one more event, with at least as many slots as events. */
static bool make_room(struct pug_history *history)
{
    if (history->event_count >= UINT32_MAX / 2 - 1) {
        history->status = PUG_ERR_LIMIT;
        return false;
    }
    if (!pug_history_grow(history, &history->events, &history->event_room,
                          (uint64_t)history->event_count + 1, sizeof(*history->events)))
        return false;
    if (history->event_count < history->slot_count)
        return true;
    const uint32_t count = history->slot_count ? history->slot_count * 2 : 4096;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots) {
        history->status = PUG_ERR_MEM;
        return false;
    }
    history->memory += (uint64_t)(count - history->slot_count) * sizeof(*slots);
    free(history->slots);
    history->slots = slots;
    history->slot_count = count;
    for (uint32_t i = 0; i < history->event_count; i++)
        put(history, i);
    return true;
}

uint32_t pug_history_event(struct pug_history *history, const struct pug_history_event *event)
{
    if (history->slot_count > 0) {
        uint32_t next = history->slots[hash_of(event) & (history->slot_count - 1)];
        for (; next > 0; next = history->events[next - 1].alike)
            if (memcmp(&history->events[next - 1], event, PUG_EVENT_KEY) == 0)
                return next - 1;
    }
    if (!make_room(history))
        return UINT32_MAX;
    const uint32_t number = history->event_count++;
    history->events[number] = *event;
    history->events[number].offsets = NULL;
    history->events[number].width = 0;
    put(history, number);
    return number;
}

/* ---- instructions ---- */

struct pug_reader_space pug_event_reader(const struct pug_history_event *event)
{
    const struct pug_element element = {.context_id = event->context_id,
                                        .vmid = event->vmid,
                                        .source = event->source,
                                        .security = event->security,
                                        .level = event->level,
                                        .context_flags = event->context_flags,
                                        .isa = event->isa,
                                        .type = PUG_ELEM_INSTR_RANGE};
    struct pug_reader_space space;
    pug_element_space(&element, &space);
    return space;
}

static struct pug_walk *walk_of(struct pug_history *history, const struct pug_image *image)
{
    if (history->walk && history->image == image)
        return history->walk;
    pug_walk_free(history->walk);
    history->walk = NULL;
    history->image = image;
    if (pug_walk_new(&(struct pug_walk_config){.image = image}, &history->walk) != PUG_OK)
        history->walk = NULL;
    return history->walk;
}

/** Reads where the instructions of a range begin. Those that cannot be read count as `unit`. */
static void read_offsets(struct pug_history *history, struct pug_history_event *event,
                         uint32_t unit)
{
    const struct pug_image *image = event->space ? pug_address_space_image(event->space) : NULL;
    const struct pug_element range = {.start = event->start,
                                      .end = event->end,
                                      .count = event->count,
                                      .context_id = event->context_id,
                                      .vmid = event->vmid,
                                      .source = event->source,
                                      .security = event->security,
                                      .level = event->level,
                                      .context_flags = event->context_flags,
                                      .last_size = event->last_size,
                                      .isa = event->isa,
                                      .type = PUG_ELEM_INSTR_RANGE};
    struct pug_walk *walk = image ? walk_of(history, image) : NULL;
    uint64_t addresses[64];
    uint32_t done = 0;
    if (walk && pug_walk_begin(walk, &range) == PUG_OK)
        for (size_t got;
             done < event->count && (got = pug_walk_addresses(walk, addresses, 64)) > 0;)
            for (size_t i = 0; i < got && done < event->count; i++)
                event->offsets[done++] = (uint32_t)(addresses[i] - event->start);
    for (; done < event->count; done++)
        event->offsets[done] = done > 0 ? event->offsets[done - 1] + unit : 0;
}

static void find_instructions(struct pug_history *history, struct pug_history_event *event)
{
    const bool fixed = event->isa == PUG_ISA_A64 || event->isa == PUG_ISA_A32;
    const uint32_t unit = fixed ? 4 : 2;
    const uint64_t size = event->end - event->start;
    if (fixed || event->count == 1 || size == (uint64_t)event->count * 4) {
        event->width = 4;
    } else if (size == (uint64_t)event->count * 2) {
        event->width = 2;
    } else {
        event->offsets = calloc(event->count, sizeof(*event->offsets));
        event->width = event->offsets ? 0 : unit;
        history->memory += event->count * sizeof(*event->offsets);
        if (event->offsets)
            read_offsets(history, event, unit);
        else
            history->status = PUG_ERR_MEM;
    }
}

uint64_t pug_event_address(struct pug_history *history, struct pug_history_event *event, uint32_t n)
{
    if (event->what != PUG_WHAT_RANGE)
        return event->start;
    if (event->width == 0 && !event->offsets)
        find_instructions(history, event);
    return event->start + (event->offsets ? event->offsets[n] : (uint64_t)n * event->width);
}

uint32_t pug_event_instruction(struct pug_history *history, struct pug_history_event *event,
                               uint64_t address)
{
    uint32_t low = 0, high = event->count;
    if (address < event->start || address >= event->end)
        return UINT32_MAX;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (pug_event_address(history, event, middle) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < event->count && pug_event_address(history, event, low) == address ? low
                                                                                   : UINT32_MAX;
}
