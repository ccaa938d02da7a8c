// SPDX-License-Identifier: MIT
/**
 * @file PC samples: a profile of them where nothing was counted. Each is a range of one
 * instruction, on a frame of its function.
 */
#include "profile/steps.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "capture/capture.h"
#include "image/thumb.h"
#include "pugmark/dwt.h"

#include <stdlib.h>

/* ---- of a part ---- */

static void keep(struct profile_part *part, const struct pug_origin *origin, uint32_t pc)
{
    if (part->sample_count == part->sample_room) {
        const size_t room = part->sample_room * 2 + 64;
        struct profile_sample *grown = realloc(part->samples, room * sizeof(*grown));
        part->failed |= !grown;
        if (!grown)
            return;
        part->samples = grown;
        part->sample_room = room;
    }
    part->samples[part->sample_count++] =
        (struct profile_sample){.origin = *origin, .pc = pc, .count = 1};
}

void pug_profile_samples_note(struct profile_part *part, const struct pug_origin *origin,
                              const struct pug_element *element)
{
    struct pug_dwt_event event;
    part->notes[PUG_NOTE_LOST] += (element->flags & PUG_ELEM_OVERFLOW) != 0;
    if (element->reason != PUG_ITM_DWT || !pug_dwt_meaning(element, &event))
        return;
    if (event.kind == PUG_DWT_PC_SAMPLE) {
        part->sampled[PUG_SAMPLES_TAKEN]++;
        keep(part, origin, event.pc);
    } else if (event.kind == PUG_DWT_SLEEPING) {
        part->sampled[PUG_SAMPLES_ASLEEP]++;
    } else if (event.kind == PUG_DWT_DENIED) {
        part->sampled[PUG_SAMPLES_DENIED]++;
    }
}

bool pug_profile_samples_append(struct profile_part *part, const struct profile_part *later)
{
    for (unsigned i = 0; i < PUG_SAMPLES_KINDS; i++)
        part->sampled[i] = pug_profile_sum(part->sampled[i], later->sampled[i]);
    for (size_t i = 0; i < later->sample_count; i++)
        keep(part, &later->samples[i].origin, later->samples[i].pc);
    return !part->failed;
}

/* ---- of all ---- */

static uint64_t hash_sample(const void *item)
{
    const struct profile_sample *sample = item;
    return pug_hash_mix(pug_hash_mix(sample->origin.source, (uintptr_t)sample->origin.space),
                        sample->pc);
}

static bool same_sample(const void *left, const void *right)
{
    const struct profile_sample *a = left, *b = right;
    return a->pc == b->pc && a->origin.space == b->origin.space &&
           a->origin.source == b->origin.source && a->origin.buffer == b->origin.buffer;
}

void pug_profile_samples_begin(struct profile_samples *samples)
{
    *samples = (struct profile_samples){
        .all = {.size = sizeof(struct profile_sample), .hash = hash_sample, .same = same_sample}};
}

void pug_profile_samples_free(struct profile_samples *samples)
{
    pug_profile_table_free(&samples->all);
}

enum pug_status pug_profile_samples_take(struct profile_samples *samples,
                                         const struct profile_part *part)
{
    for (unsigned i = 0; i < PUG_SAMPLES_KINDS; i++)
        samples->sampled[i] = pug_profile_sum(samples->sampled[i], part->sampled[i]);
    for (size_t i = 0; i < part->sample_count; i++) {
        uint32_t number;
        bool is_new;
        enum pug_status status =
            pug_profile_table_add(&samples->all, &part->samples[i], &number, &is_new);
        if (status != PUG_OK)
            return status;
        if (!is_new)
            ((struct profile_sample *)pug_profile_item(&samples->all, number))->count++;
    }
    return PUG_OK;
}

/** Bytes of the Thumb instruction at an address; where its text is not known the least. */
static uint8_t size_at(const struct profile_sample *sample)
{
    const struct pug_address_space *space = sample->origin.space;
    uint8_t bytes[2];
    if (!space || pug_image_read(pug_address_space_image(space), &space->reader, sample->pc, bytes,
                                 sizeof(bytes)) != (int64_t)sizeof(bytes))
        return 2;
    return pug_bytes_16(bytes) >> 11 >= 0x1d ? 4 : 2;
}

/** The frame of its function; of none that is known, of the address itself. */
static enum pug_status put_frame(struct profile_objects *objects, const struct profile_place *place,
                                 uint32_t object, uint32_t range, uint64_t count)
{
    const struct pug_profile_task nobody = {.pid = -1, .tid = -1, .name = ""};
    struct pug_names_file *file = pug_profile_object_names(objects, place->object);
    struct pug_names_function function;
    struct pug_profile_frame frame = {.function = place->vaddr,
                                      .parent = PUG_PROFILE_NONE,
                                      .object = object,
                                      .site_object = PUG_PROFILE_NONE};
    struct pug_profile_use use = {.count = count, .range = range};
    if (file && pug_names_function(file, place->vaddr, &function))
        frame.function = function.start;
    enum pug_status status = pug_profile_task(objects->profile, &nobody, &frame.task);
    if (status == PUG_OK)
        status = pug_profile_frame(objects->profile, &frame, &use.frame);
    return status == PUG_OK ? pug_profile_use(objects->profile, &use) : status;
}

/** How many bytes of its instruction are before a sample: with hardware that samples, none. */
static uint64_t bytes_before(struct profile_objects *objects, const struct profile_sample *sample,
                             const struct profile_place *place)
{
    const struct pug_address_space *space = sample->origin.space;
    struct pug_names_file *file = pug_profile_object_names(objects, place->object);
    struct pug_names_function function;
    struct pug_names_line line;
    uint64_t start = place->vaddr;
    if (!space || !file)
        return 0;
    if (pug_names_line(file, place->vaddr, &line))
        start = line.start;
    else if (pug_names_function(file, place->vaddr, &function))
        start = function.start;
    if (start > place->vaddr || place->vaddr - start > sample->pc)
        return 0;
    return sample->pc - pug_image_thumb_begin(pug_address_space_image(space), &space->reader,
                                              sample->pc - (place->vaddr - start), sample->pc);
}

/** In the middle of an instruction it counts for that, and is counted. */
static void settle(struct profile_objects *objects, struct profile_sample *sample,
                   struct profile_place *place)
{
    const uint64_t before = bytes_before(objects, sample, place);
    if (before == 0)
        return;
    sample->pc -= (uint32_t)before;
    place->vaddr -= before;
    pug_profile_add_samples(objects->profile, PUG_SAMPLES_INSIDE, sample->count);
}

static enum pug_status put(struct profile_counted *counted, struct profile_sample *sample,
                           bool stacks)
{
    struct profile_objects *objects = counted->objects;
    pug_profile_node_cache_enter(&counted->cache, &sample->origin);
    struct profile_place place = profile_place(&counted->cache, &sample->origin, sample->pc);
    settle(objects, sample, &place);
    struct pug_profile_range range = {.first = place.vaddr,
                                      .last = place.vaddr,
                                      .count = sample->count,
                                      .instructions = 1,
                                      .last_size = size_at(sample),
                                      .isa = PUG_ISA_T32};
    uint32_t number;
    enum pug_status status = pug_profile_object_number(objects, place.object, &range.object);
    if (status == PUG_OK)
        status = pug_profile_range(objects->profile, &range, &number);
    if (status == PUG_OK && range.object == PUG_PROFILE_NONE)
        counted->notes[PUG_NOTE_UNMAPPED] += sample->count;
    return status == PUG_OK && stacks
               ? put_frame(objects, &place, range.object, number, sample->count)
               : status;
}

enum pug_status pug_profile_samples_put(struct profile_samples *samples,
                                        struct profile_counted *counted, bool stacks)
{
    struct pug_profile *profile = counted->objects->profile;
    uint64_t any = 0;
    for (unsigned i = 0; i < PUG_SAMPLES_KINDS; i++)
        any = pug_profile_sum(any, samples->sampled[i]);
    if (any == 0)
        return PUG_OK;
    if (profile->ranges.count > 0 && !pug_profile_is_sampled(profile)) {
        counted->notes[PUG_NOTE_SAMPLES] += any;
        return PUG_OK;
    }
    for (unsigned i = 0; i < PUG_SAMPLES_KINDS; i++)
        pug_profile_add_samples(profile, (enum pug_profile_samples)i, samples->sampled[i]);
    enum pug_status status = PUG_OK;
    for (uint32_t i = 0; i < samples->all.count && status == PUG_OK; i++)
        status = put(counted, pug_profile_item(&samples->all, i), stacks);
    return status;
}

/* ---- of a profile ---- */

void pug_profile_add_samples(struct pug_profile *profile, enum pug_profile_samples kind,
                             uint64_t count)
{
    if (profile && kind < PUG_SAMPLES_KINDS)
        profile->sampled[kind] = pug_profile_sum(profile->sampled[kind], count);
}

uint64_t pug_profile_sampled(const struct pug_profile *profile, enum pug_profile_samples kind)
{
    return profile && kind < PUG_SAMPLES_KINDS ? profile->sampled[kind] : 0;
}

bool pug_profile_is_sampled(const struct pug_profile *profile)
{
    for (unsigned i = 0; profile && i < PUG_SAMPLES_KINDS; i++)
        if (profile->sampled[i] > 0)
            return true;
    return false;
}

bool pug_profile_mixes(const struct pug_profile *profile, const struct pug_profile *other)
{
    const bool counts = profile->ranges.count > 0 && !pug_profile_is_sampled(profile);
    const bool others = other->ranges.count > 0 && !pug_profile_is_sampled(other);
    return (counts && pug_profile_is_sampled(other)) || (others && pug_profile_is_sampled(profile));
}
