// SPDX-License-Identifier: MIT
/** @file Frames of the calls to frames of a profile, and functions by the names of objects. */
#include "profile/frames.h"

#include "pugmark/names.h"

#include <stdlib.h>
#include <string.h>

void pug_profile_frames_free(struct profile_frames *frames)
{
    free(frames->kept);
}

/** Where an address of what comes lies, in an object of the capture's. */
static struct profile_place place_of(struct profile_frames *frames, uint64_t address)
{
    struct profile_trail *trail = frames->trail;
    return profile_place(&trail->cache, &trail->group->origin, address);
}

/** The profile's number of an object of the capture's. */
static uint32_t object_number(struct profile_frames *frames, uint32_t object)
{
    uint32_t number;
    profile_trail_fail(frames->trail, pug_profile_object_number(frames->objects, object, &number));
    return number;
}

/* ---- functions ---- */

static bool look_up_function(struct profile_frames *frames, uint64_t address,
                             struct pug_function *function)
{
    const struct profile_place place = place_of(frames, address);
    (void)object_number(frames, place.object);
    struct pug_names_file *file = pug_profile_object_names(frames->objects, place.object);
    struct pug_names_function found;
    if (!file || !pug_names_function(file, place.vaddr, &found))
        return false;
    /* as run-time addresses, which is what the calls compare */
    *function = (struct pug_function){.name = found.name,
                                      .start = address - (place.vaddr - found.start),
                                      .size = found.size,
                                      .id = (uint64_t)place.object + 1};
    return true;
}

bool pug_profile_frames_locate(struct profile_frames *frames, uint64_t address,
                               struct pug_function *function)
{
    const uint64_t space = frames->trail->cache.space;
    struct known_function *known =
        &frames->functions[(address >> 2 ^ address >> 11) % FUNCTIONS_KNOWN];
    if (!known->asked || known->address != address || known->space != space) {
        *known = (struct known_function){
            .space = space, .address = address, .function = *function, .asked = true};
        known->found = look_up_function(frames, address, &known->function);
    }
    *function = known->function;
    return known->found;
}

/* ---- frames ---- */

static bool make_room(struct profile_frames *frames, uint32_t number)
{
    const uint32_t before = frames->kept_room, room = frames->objects->profile->frames.room;
    if (number < before)
        return true;
    struct profile_kept_frame *kept = realloc(frames->kept, room * sizeof(*kept));
    if (!kept) {
        profile_trail_fail(frames->trail, PUG_ERR_MEM);
        return false;
    }
    memset(&kept[before], 0, (room - before) * sizeof(*kept));
    frames->kept = kept;
    frames->kept_room = room;
    return true;
}

static struct profile_place object_place(struct profile_frames *frames, uint64_t address)
{
    struct profile_place place = place_of(frames, address);
    place.object = object_number(frames, place.object);
    return place;
}

/** A frame of this parent in the profile; false: it has no room for one. */
static bool look_up_frame(struct profile_frames *frames, const struct pug_call_frame *entered,
                          uint32_t parent, uint32_t task, uint32_t *number)
{
    const struct profile_place function = object_place(frames, entered->function.start);
    struct pug_profile *profile = frames->objects->profile;
    struct pug_profile_frame frame = {
        .parent = parent,
        .task = task,
        .object = function.object,
        .function = function.vaddr,
        .site_object = PUG_PROFILE_NONE,
        .calls = entered->kind != PUG_CALL_FOUND,
    };
    if (entered->kind == PUG_CALL_CALLED || entered->kind == PUG_CALL_TAIL) {
        const struct profile_place site = object_place(frames, entered->site);
        frame.site_object = site.object;
        frame.site = site.vaddr;
    }
    const enum pug_status status = pug_profile_frame(profile, &frame, number);
    if (status == PUG_ERR_LIMIT) {
        pug_profile_note(profile, PUG_NOTE_FRAMES_FULL, frames->trail->status == PUG_OK);
        return false;
    }
    profile_trail_fail(frames->trail, status);
    return status == PUG_OK && make_room(frames, *number);
}

/** The number of the frame that was entered; PUG_PROFILE_NONE: there is no room for one. */
static uint32_t number_of(struct profile_frames *frames, const struct pug_call_frame *entered,
                          uint32_t parent, uint32_t task)
{
    const uint64_t space = frames->trail->cache.space, function = entered->function.start;
    struct known_frame *known =
        &frames->frames[(parent * UINT32_C(0x9E3779B1) ^ (uint32_t)(function >> 2) ^
                         (uint32_t)entered->site) %
                        FRAMES_KNOWN];
    if (known->asked && known->parent == parent && known->function == function &&
        known->site == entered->site && known->kind == entered->kind && known->task == task &&
        known->space == space) {
        frames->kept[known->number].entered += entered->kind != PUG_CALL_FOUND;
        return known->number;
    }
    uint32_t number;
    if (!look_up_frame(frames, entered, parent, task, &number))
        return PUG_PROFILE_NONE;
    *known = (struct known_frame){.space = space,
                                  .function = function,
                                  .site = entered->site,
                                  .parent = parent,
                                  .task = task,
                                  .number = number,
                                  .kind = entered->kind,
                                  .asked = true};
    return number;
}

void pug_profile_frames_enter(struct profile_frames *frames, struct pug_call_frame *entered,
                              const struct pug_call_frame *parent, uint32_t task)
{
    const uint32_t below = parent ? profile_frame_number(parent) : PUG_PROFILE_NONE;
    const uint32_t number = number_of(frames, entered, below, task);
    entered->user = number != PUG_PROFILE_NONE ? profile_frame_user(number, true)
                                               : profile_frame_user(below, false);
}

/* ---- frames that are called again ---- */

void pug_profile_frames_keep(struct profile_frames *frames, const struct pug_call_frame *called,
                             const struct profile_node *node, const struct pug_element *range,
                             struct profile_loops_function loops)
{
    struct profile_kept_frame *kept = &frames->kept[profile_frame_number(called)];
    kept->function = node->step.start - (range->start - called->function.start);
    kept->size = called->function.size;
    kept->loops = loops;
}

struct pug_call_frame pug_profile_frames_called(const struct profile_frames *frames,
                                                uint32_t number, const struct profile_node *node,
                                                const struct profile_step *range,
                                                const struct profile_step *caller)
{
    const struct profile_kept_frame *kept = &frames->kept[number];
    const uint64_t behind = caller->start + caller->size;
    return (struct pug_call_frame){
        .function = {.start = range->start - (node->step.start - kept->function),
                     .size = kept->size,
                     .id = kept->size > 0 ? (uint64_t)node->object + 1 : 0},
        .address = range->start,
        .site = behind - caller->shape.last_size,
        .returns_to = behind,
        .user = profile_frame_user(number, true),
        .kind = PUG_CALL_CALLED,
        .has_return = caller->shape.last_size > 0,
    };
}

void pug_profile_frames_end(struct profile_frames *frames)
{
    for (uint32_t i = 0; i < frames->kept_room; i++) {
        const uint64_t entered = frames->kept[i].entered;
        if (entered == 0)
            continue;
        struct pug_profile_frame *frame = pug_profile_item(&frames->objects->profile->frames, i);
        frame->calls = pug_profile_sum(frame->calls, entered);
    }
}
