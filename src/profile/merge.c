// SPDX-License-Identifier: MIT
/** @file One profile added to another: its numbers become those that the other gives. */
#include "profile/peers.h"
#include "profile/profile.h"

#include <stdlib.h>

/* The new numbers of the profile that is added. */
struct numbers {
    uint32_t *objects, *tasks, *ranges, *frames;
};

static uint32_t renumbered(const uint32_t *numbers, uint32_t number)
{
    return number == PUG_PROFILE_NONE ? number : numbers[number];
}

static enum pug_status merge_names(struct pug_profile *profile, const struct pug_profile *other,
                                   const struct numbers *numbers)
{
    enum pug_status status = PUG_OK;
    for (uint32_t i = 0; i < other->objects.count && status == PUG_OK; i++)
        status =
            pug_profile_object(profile, pug_profile_item(&other->objects, i), &numbers->objects[i]);
    for (uint32_t i = 0; i < other->tasks.count && status == PUG_OK; i++)
        status = pug_profile_task(profile, pug_profile_item(&other->tasks, i), &numbers->tasks[i]);
    return status;
}

static enum pug_status merge_counts(struct pug_profile *profile, const struct pug_profile *other,
                                    const struct numbers *numbers)
{
    enum pug_status status = PUG_OK;
    for (uint32_t i = 0; i < other->ranges.count && status == PUG_OK; i++) {
        struct pug_profile_range range =
            *(const struct pug_profile_range *)pug_profile_item(&other->ranges, i);
        range.object = renumbered(numbers->objects, range.object);
        status = pug_profile_range(profile, &range, &numbers->ranges[i]);
    }
    for (uint32_t i = 0; i < other->branches.count && status == PUG_OK; i++) {
        struct pug_profile_branch branch =
            *(const struct pug_profile_branch *)pug_profile_item(&other->branches, i);
        branch.object = renumbered(numbers->objects, branch.object);
        branch.to_object = renumbered(numbers->objects, branch.to_object);
        status = pug_profile_branch(profile, &branch);
    }
    for (uint32_t i = 0; i < other->loops.count && status == PUG_OK; i++) {
        struct pug_profile_loop loop =
            *(const struct pug_profile_loop *)pug_profile_item(&other->loops, i);
        loop.object = renumbered(numbers->objects, loop.object);
        status = pug_profile_loop(profile, &loop);
    }
    return status;
}

/* Frames beyond the limit: their parents take what ran on them. */
static enum pug_status merge_frame(struct pug_profile *profile,
                                   const struct pug_profile_frame *given,
                                   const struct numbers *numbers, uint32_t *number)
{
    struct pug_profile_frame frame = *given;
    frame.parent = renumbered(numbers->frames, frame.parent);
    frame.task = renumbered(numbers->tasks, frame.task);
    frame.object = renumbered(numbers->objects, frame.object);
    frame.site_object = renumbered(numbers->objects, frame.site_object);
    enum pug_status status = pug_profile_frame(profile, &frame, number);
    if (status != PUG_ERR_LIMIT)
        return status;
    *number = frame.parent;
    pug_profile_note(profile, PUG_NOTE_FRAMES_FULL, 1);
    struct pug_profile_frame *parent = pug_profile_item(&profile->frames, frame.parent);
    parent->cycles = pug_profile_sum(parent->cycles, frame.cycles);
    parent->time = pug_profile_sum(parent->time, frame.time);
    return PUG_OK;
}

static enum pug_status merge_stacks(struct pug_profile *profile, const struct pug_profile *other,
                                    const struct numbers *numbers)
{
    enum pug_status status = PUG_OK;
    for (uint32_t i = 0; i < other->frames.count && status == PUG_OK; i++)
        status =
            merge_frame(profile, pug_profile_item(&other->frames, i), numbers, &numbers->frames[i]);
    for (uint32_t i = 0; i < other->uses.count && status == PUG_OK; i++) {
        struct pug_profile_use use =
            *(const struct pug_profile_use *)pug_profile_item(&other->uses, i);
        use.frame = numbers->frames[use.frame];
        use.range = numbers->ranges[use.range];
        status = pug_profile_use(profile, &use);
    }
    return status;
}

enum pug_status pug_profile_merge(struct pug_profile *profile, const struct pug_profile *other)
{
    if (!profile || !other)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (pug_profile_mixes(profile, other))
        return PUG_ERR_WRONG_KIND;
    struct numbers numbers = {
        .objects = calloc(other->objects.count + (size_t)1, sizeof(uint32_t)),
        .tasks = calloc(other->tasks.count + (size_t)1, sizeof(uint32_t)),
        .ranges = calloc(other->ranges.count + (size_t)1, sizeof(uint32_t)),
        .frames = calloc(other->frames.count + (size_t)1, sizeof(uint32_t)),
    };
    enum pug_status status = PUG_ERR_MEM;
    if (numbers.objects && numbers.tasks && numbers.ranges && numbers.frames)
        status = merge_names(profile, other, &numbers);
    if (status == PUG_OK)
        status = merge_counts(profile, other, &numbers);
    if (status == PUG_OK)
        status = merge_stacks(profile, other, &numbers);
    for (int note = 0; note < PUG_NOTE_SATURATED && status == PUG_OK; note++)
        pug_profile_note(profile, note, other->notes[note]);
    for (unsigned kind = 0; kind < PUG_SAMPLES_KINDS && status == PUG_OK; kind++)
        pug_profile_add_samples(profile, kind, other->sampled[kind]);
    if (status == PUG_OK)
        pug_profile_set_time_unit(profile, other->unit);
    free(numbers.objects);
    free(numbers.tasks);
    free(numbers.ranges);
    free(numbers.frames);
    return status;
}

/** Notes of a profile whose samples are left out, and how many these are. */
static void note_samples(struct pug_profile *profile, const struct pug_profile *sampled)
{
    for (int note = 0; note < PUG_NOTE_SATURATED; note++)
        if (note != PUG_NOTE_UNMAPPED) /* of the samples themselves */
            pug_profile_note(profile, note, sampled->notes[note]);
    for (unsigned kind = 0; kind < PUG_SAMPLES_KINDS; kind++)
        pug_profile_note(profile, PUG_NOTE_SAMPLES, sampled->sampled[kind]);
}

enum pug_status pug_profile_merge_noting(struct pug_profile *profile,
                                         const struct pug_profile *other)
{
    if (!profile || !other || !pug_profile_mixes(profile, other))
        return pug_profile_merge(profile, other);
    if (pug_profile_is_sampled(other)) {
        note_samples(profile, other);
        return PUG_OK;
    }
    struct pug_profile *sampled = pug_profile_new();
    if (!sampled)
        return PUG_ERR_MEM;
    const struct pug_profile empty = *sampled;
    *sampled = *profile;
    *profile = empty;
    const enum pug_status status = pug_profile_merge(profile, other);
    note_samples(profile, sampled);
    pug_profile_free(sampled);
    return status;
}
