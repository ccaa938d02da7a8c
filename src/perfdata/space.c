// SPDX-License-Identifier: MIT
/** @file Address spaces as decoders see them, and where an address lies in its object. */
#include "perfdata/program.h"

#include "base/hash.h"
#include "perfdata/mapped.h"
#include "perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranges ---- */

/** The range that holds an address: the process's, else the kernel's. The hole around it if not. */
static const struct pug_perf_range *find(const struct pug_perf_space *space, uint64_t address,
                                         uint64_t *first, uint64_t *last)
{
    const struct pug_perf_version *layers[] = {space->user, space->user_before, space->kernel};
    *first = 0;
    *last = UINT64_MAX;
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
        uint64_t from, to;
        const struct pug_perf_range *range =
            layers[i] ? pug_perf_ranges_find(layers[i]->ranges, address, &from, &to) : NULL;
        if (!layers[i])
            continue;
        *first = from > *first ? from : *first;
        *last = to < *last ? to : *last;
        if (range)
            return range;
    }
    return NULL;
}

/* ---- text ---- */

static const struct pug_perf_program *program_of(struct pug_perf *perf, uint32_t object)
{
    struct pug_perf_object *details = &pug_perf_details(perf)[object];
    if (!atomic_load_explicit(&details->sought, memory_order_acquire))
        pug_perf_seek(perf->capture, object);
    return details->program;
}

static bool counts_in_addresses(enum pug_object_kind kind)
{
    return kind == PUG_OBJECT_KERNEL || kind == PUG_OBJECT_MODULE;
}

static const uint8_t *text_at(struct pug_perf *perf, const struct pug_perf_range *range,
                              uint64_t address, uint64_t *size)
{
    const uint64_t at = range->offset + (address - range->start);
    const struct pug_perf_program *program =
        range->object == PUG_NO_OBJECT ? NULL : program_of(perf, range->object);
    if (!program)
        return NULL;
    switch (pug_capture_objects(perf->capture)[range->object]->kind) {
    case PUG_OBJECT_KERNEL: return pug_perf_program_at_vaddr(program, at - program->slide, size);
    case PUG_OBJECT_MODULE:
        return program->placed_count > 0 ? pug_perf_program_placed(program, at, size)
                                         : pug_perf_program_at_vaddr(program, at, size);
    default: return pug_perf_program_at(program, at, size);
    }
}

static bool look_up(void *context, uint64_t address, struct pug_image_piece *piece)
{
    const struct pug_perf_space *space = context;
    uint64_t first, last, size;
    const struct pug_perf_range *range = find(space, address, &first, &last);
    if (!range)
        return false;
    piece->end = range->last < last ? range->last : last;
    if (range->bytes) {
        *piece = (struct pug_image_piece){range->bytes, range->start, piece->end, piece->end};
        return true;
    }
    piece->bytes = text_at(space->perf, range, address, &size);
    if (!piece->bytes)
        return false;
    piece->first = address;
    piece->last = size - 1 < piece->end - address ? address + (size - 1) : piece->end;
    return true;
}

/* ---- spaces ---- */

static uint64_t hash_of(const struct pug_perf_version *user, const struct pug_perf_version *before,
                        const struct pug_perf_version *kernel)
{
    const uintptr_t words[] = {(uintptr_t)user, (uintptr_t)before, (uintptr_t)kernel};
    uint64_t hash = 0;
    for (size_t i = 0; i < 3; i++)
        hash = pug_hash_mix(hash, words[i]);
    return hash;
}

/** The slot of a space's number, or the free one where it would be. */
static uint32_t *slot_of(const struct pug_perf *perf, const struct pug_perf_version *user,
                         const struct pug_perf_version *before,
                         const struct pug_perf_version *kernel)
{
    uint32_t *slots = perf->space_slots.items;
    struct pug_perf_space *const *spaces = perf->spaces.items;
    size_t at = hash_of(user, before, kernel) & (perf->space_slots.room - 1);
    for (; slots[at]; at = (at + 1) & (perf->space_slots.room - 1)) {
        const struct pug_perf_space *space = spaces[slots[at] - 1];
        if (space->user == user && space->user_before == before && space->kernel == kernel)
            break;
    }
    return &slots[at];
}

static bool grow(struct pug_perf *perf)
{
    struct pug_perf_space *const *spaces = perf->spaces.items;
    const size_t room = perf->space_slots.room ? perf->space_slots.room * 2 : 64;
    uint32_t *slots = calloc(room, sizeof(*slots));
    if (!slots)
        return false;
    free(perf->space_slots.items);
    perf->space_slots = (struct pug_list){.items = slots, .room = room};
    for (uint32_t i = 0; i < perf->spaces.count; i++)
        *slot_of(perf, spaces[i]->user, spaces[i]->user_before, spaces[i]->kernel) = i + 1;
    return true;
}

const struct pug_perf_space *pug_perf_space_of(struct pug_perf *perf,
                                               const struct pug_perf_version *user,
                                               const struct pug_perf_version *before,
                                               const struct pug_perf_version *kernel)
{
    if (perf->spaces.count * 2 >= perf->space_slots.room && !grow(perf)) {
        pug_capture_starve(perf->capture);
        return NULL;
    }
    uint32_t *slot = slot_of(perf, user, before, kernel);
    if (*slot)
        return ((struct pug_perf_space *const *)perf->spaces.items)[*slot - 1];
    struct pug_perf_space *space = calloc(1, sizeof(*space));
    struct pug_perf_space **place =
        space ? pug_capture_add(perf->capture, &perf->spaces, sizeof(*place)) : NULL;
    if (!place) {
        pug_capture_starve(perf->capture);
        free(space);
        return NULL;
    }
    *slot = (uint32_t)perf->spaces.count;
    *space = (struct pug_perf_space){
        .public = {.image = &space->image, .number = *slot},
        .perf = perf,
        .user = user,
        .user_before = before,
        .kernel = kernel,
        .image = {.lookup = look_up,
                  .lookup_context = space,
                  .looked_up = {.kind = PUG_ACCESS_BUFFER}},
    };
    return *place = space;
}

/* ---- names ---- */

/** Of its versions: whose they are, plus 1, and how many changes they had; 0: there is none. */
void pug_perf_space_name(const struct pug_address_space *public, struct pug_space_name *name)
{
    const struct pug_perf_space *space = (const struct pug_perf_space *)public;
    const struct pug_perf_version *versions[] = {space->user, space->user_before, space->kernel};
    for (size_t i = 0; i < 3; i++) {
        name->words[2 * i] = versions[i] ? versions[i]->process + UINT64_C(1) : 0;
        name->words[2 * i + 1] = versions[i] ? versions[i]->to : 0;
    }
}

const struct pug_address_space *pug_perf_space_named(struct pug_capture *capture,
                                                     const struct pug_space_name *name)
{
    struct pug_perf *perf = capture->own;
    const struct pug_perf_version *versions[3];
    const struct pug_perf_space *space = NULL;
    bool good = true;
    pthread_mutex_lock(&capture->lock);
    for (size_t i = 0; i < 3; i++) {
        const uint64_t process = name->words[2 * i];
        versions[i] =
            process ? pug_perf_version_named(perf, process - 1, name->words[2 * i + 1]) : NULL;
        good &= !process || versions[i];
    }
    if (good)
        space = pug_perf_space_of(perf, versions[0], versions[1], versions[2]);
    capture->starved |= !space;
    pthread_mutex_unlock(&capture->lock);
    return space ? &space->public : NULL;
}

/* ---- places ---- */

/** The address in the object's own file. */
static void place(struct pug_perf *perf, const struct pug_perf_range *range,
                  struct pug_location *location)
{
    const struct pug_capture_object *object = pug_capture_objects(perf->capture)[range->object];
    const struct pug_perf_object *details = &pug_perf_details(perf)[range->object];
    const struct pug_perf_program *program = program_of(perf, range->object);
    if (!counts_in_addresses(object->kind)) {
        if (!program || !pug_perf_program_vaddr(program, location->offset, &location->vaddr))
            location->vaddr =
                location->offset +
                (details->min_vaddr == 0
                     ? 0
                     : details->min_vaddr -
                           (details->no_offset ? range->offset : details->memory_offset));
        return;
    }
    if (object->kind == PUG_OBJECT_KERNEL) {
        location->vaddr = location->offset - (program ? program->slide : 0);
    } else {
        location->vaddr = location->offset - details->first_address;
        if (details->has_memory_offset)
            location->vaddr += details->min_vaddr - details->memory_offset;
        for (size_t i = 0; program && i < program->placed_count; i++)
            if (location->offset - program->placed[i].address < program->placed[i].size)
                location->vaddr =
                    location->offset - program->placed[i].address + program->placed[i].vaddr;
    }
    location->offset = location->vaddr;
    if (program && object->kind == PUG_OBJECT_KERNEL)
        (void)pug_perf_program_offset(program, location->vaddr, &location->offset);
}

bool pug_perf_locate(struct pug_capture *capture, const struct pug_address_space *public,
                     uint64_t address, struct pug_location *location)
{
    const struct pug_perf_space *space = (const struct pug_perf_space *)public;
    const struct pug_perf_range *range = find(space, address, &location->first, &location->last);
    (void)capture;
    if (!range || range->object == PUG_NO_OBJECT)
        return false;
    location->object = range->object;
    location->piece_first = range->start;
    location->piece_last = range->last;
    location->text = range->text;
    location->offset = range->offset + (address - range->start);
    place(space->perf, range, location);
    return true;
}

/** The address at which a range has the place; false: elsewhere. */
static bool mapped_in(struct pug_perf *perf, const struct pug_perf_range *range, uint64_t vaddr,
                      uint64_t *address)
{
    struct pug_location first = {.object = range->object, .offset = range->offset};
    place(perf, range, &first);
    *address = range->start + (vaddr - first.vaddr);
    return vaddr - first.vaddr <= range->last - range->start;
}

void pug_perf_mapped(struct pug_capture *capture, uint32_t object, uint64_t vaddr,
                     bool (*take)(void *context, uint64_t address), void *context)
{
    struct pug_perf *perf = capture->own;
    const struct pug_perf_process *process = perf->processes.items;
    uint64_t address;
    for (size_t n = 0; n < perf->processes.count; n++, process++) {
        const struct pug_perf_change *change = process->changes.items;
        for (size_t i = 0; i < process->changes.count; i++, change++)
            if (change->executable && change->range.object == object &&
                mapped_in(perf, &change->range, vaddr, &address) && !take(context, address))
                return;
    }
}
