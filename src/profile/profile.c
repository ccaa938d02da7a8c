// SPDX-License-Identifier: MIT
/** @file What is counted, by its key; sums that stay at their end. */
#include "profile/profile.h"

#include "base/hash.h"
#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_LIMIT (UINT32_C(1) << 20)

/* ---- keys ---- */

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = pug_hash_mix(hash, (uint8_t)*text);
    return hash;
}

static uint64_t hash_object(const void *item)
{
    const struct pug_profile_object *object = item;
    uint64_t hash = mix_text(object->build_id_size, object->path);
    for (unsigned i = 0; i < object->build_id_size; i++)
        hash = pug_hash_mix(hash, object->build_id[i]);
    return hash;
}

static bool same_object(const void *left, const void *right)
{
    return pug_profile_compare_objects(left, right) == 0;
}

static uint64_t hash_task(const void *item)
{
    const struct pug_profile_task *task = item;
    return mix_text(pug_hash_mix(pug_hash_mix(0, (uint32_t)task->pid), (uint32_t)task->tid),
                    task->name);
}

static bool same_task(const void *left, const void *right)
{
    return pug_profile_compare_tasks(left, right) == 0;
}

static uint64_t hash_range(const void *item)
{
    const struct pug_profile_range *range = item;
    return pug_hash_mix(pug_hash_mix(pug_hash_mix(0, range->first), range->last),
                        range->object ^ (uint64_t)range->end << 32);
}

static bool same_range(const void *left, const void *right)
{
    return pug_profile_compare_ranges(left, right) == 0;
}

static uint64_t hash_branch(const void *item)
{
    const struct pug_profile_branch *branch = item;
    return pug_hash_mix(pug_hash_mix(pug_hash_mix(0, branch->from), branch->to),
                        branch->object ^ (uint64_t)branch->to_object << 32);
}

static bool same_branch(const void *left, const void *right)
{
    return pug_profile_compare_branches(left, right) == 0;
}

static uint64_t hash_frame(const void *item)
{
    const struct pug_profile_frame *frame = item;
    const uint64_t hash = pug_hash_mix(pug_hash_mix(0, frame->parent), frame->task);
    return pug_hash_mix(pug_hash_mix(pug_hash_mix(hash, frame->function), frame->site),
                        frame->object ^ (uint64_t)frame->site_object << 32);
}

static bool same_frame(const void *left, const void *right)
{
    return pug_profile_compare_frames(left, right) == 0;
}

static uint64_t hash_use(const void *item)
{
    const struct pug_profile_use *use = item;
    return pug_hash_mix(pug_hash_mix(0, use->frame), use->range);
}

static bool same_use(const void *left, const void *right)
{
    return pug_profile_compare_uses(left, right) == 0;
}

static uint64_t hash_loop(const void *item)
{
    const struct pug_profile_loop *loop = item;
    return pug_hash_mix(pug_hash_mix(0, loop->head), loop->object);
}

static bool same_loop(const void *left, const void *right)
{
    return pug_profile_compare_loops(left, right) == 0;
}

/* ---- the object ---- */

struct pug_profile *pug_profile_new(void)
{
    struct pug_profile *profile = calloc(1, sizeof(*profile));
    if (!profile)
        return NULL;
    *profile = (struct pug_profile){
        .objects = {.size = sizeof(struct pug_profile_object),
                    .hash = hash_object,
                    .same = same_object},
        .tasks = {.size = sizeof(struct pug_profile_task), .hash = hash_task, .same = same_task},
        .ranges = {.size = sizeof(struct pug_profile_range),
                   .hash = hash_range,
                   .same = same_range},
        .branches = {.size = sizeof(struct pug_profile_branch),
                     .hash = hash_branch,
                     .same = same_branch},
        .frames = {.size = sizeof(struct pug_profile_frame),
                   .hash = hash_frame,
                   .same = same_frame},
        .uses = {.size = sizeof(struct pug_profile_use), .hash = hash_use, .same = same_use},
        .loops = {.size = sizeof(struct pug_profile_loop), .hash = hash_loop, .same = same_loop},
        .frame_limit = FRAME_LIMIT,
    };
    return profile;
}

static void free_object(struct pug_profile_object *object)
{
    free((char *)object->path);
    free((char *)object->file);
    free((void *)object->segments);
}

void pug_profile_free(struct pug_profile *profile)
{
    if (!profile)
        return;
    for (uint32_t i = 0; i < profile->objects.count; i++)
        free_object(pug_profile_item(&profile->objects, i));
    for (uint32_t i = 0; i < profile->tasks.count; i++)
        free((char *)((struct pug_profile_task *)pug_profile_item(&profile->tasks, i))->name);
    pug_profile_table_free(&profile->objects);
    pug_profile_table_free(&profile->tasks);
    pug_profile_table_free(&profile->ranges);
    pug_profile_table_free(&profile->branches);
    pug_profile_table_free(&profile->frames);
    pug_profile_table_free(&profile->uses);
    pug_profile_table_free(&profile->loops);
    free(profile);
}

/* ---- objects and tasks: the table's copy gets texts of its own ---- */

static bool own_object(struct pug_profile_object *object)
{
    const struct pug_profile_object given = *object;
    struct pug_profile_segment *segments = NULL;
    object->path = strdup(given.path);
    object->file = given.file ? strdup(given.file) : NULL;
    if (given.segment_count > 0) {
        segments = calloc(given.segment_count, sizeof(*segments));
        if (segments)
            memcpy(segments, given.segments, given.segment_count * sizeof(*segments));
    }
    object->segments = segments;
    return object->path && (object->file || !given.file) && (segments || given.segment_count == 0);
}

/* The last item was added by mistake. */
static void take_back(struct profile_table *table)
{
    table->count--;
    pug_profile_table_rehash(table);
}

/* A second one of the same name may tell what the first one did not. */
static enum pug_status complete_object(struct pug_profile_object *known,
                                       const struct pug_profile_object *object)
{
    struct pug_profile_object more = *object;
    const bool file = !known->file && object->file;
    const bool segments = known->segment_count == 0 && object->segment_count > 0;
    if (!file && !segments)
        return PUG_OK;
    if (!own_object(&more)) {
        free_object(&more);
        return PUG_ERR_MEM;
    }
    if (file) {
        known->file = more.file;
        more.file = NULL;
    }
    if (segments) {
        known->segments = more.segments;
        known->segment_count = more.segment_count;
        more.segments = NULL;
    }
    free_object(&more);
    return PUG_OK;
}

enum pug_status pug_profile_object(struct pug_profile *profile,
                                   const struct pug_profile_object *object, uint32_t *number)
{
    if (!profile || !object || !number)
        return PUG_ERR_INVALID_PARAM_VAL;
    bool is_new;
    if (!object->path || object->build_id_size > PUG_PROFILE_BUILD_ID)
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = pug_profile_table_add(&profile->objects, object, number, &is_new);
    if (status != PUG_OK)
        return status;
    struct pug_profile_object *kept = pug_profile_item(&profile->objects, *number);
    if (!is_new)
        return complete_object(kept, object);
    if (own_object(kept))
        return PUG_OK;
    free_object(kept);
    *kept = *object;
    take_back(&profile->objects);
    return PUG_ERR_MEM;
}

enum pug_status pug_profile_task(struct pug_profile *profile, const struct pug_profile_task *task,
                                 uint32_t *number)
{
    if (!profile || !task || !number)
        return PUG_ERR_INVALID_PARAM_VAL;
    bool is_new;
    const struct pug_profile_task named = {task->pid, task->tid, task->name ? task->name : ""};
    enum pug_status status = pug_profile_table_add(&profile->tasks, &named, number, &is_new);
    if (status != PUG_OK || !is_new)
        return status;
    struct pug_profile_task *kept = pug_profile_item(&profile->tasks, *number);
    kept->name = strdup(named.name);
    if (kept->name)
        return PUG_OK;
    kept->name = named.name;
    take_back(&profile->tasks);
    return PUG_ERR_MEM;
}

/* ---- counts ---- */

static void add(uint64_t *sum, uint64_t more)
{
    *sum = pug_profile_sum(*sum, more);
}

/* A place in an object that the profile knows, or in none. */
static bool known(const struct profile_table *table, uint32_t number, bool may_be_none)
{
    return number < table->count || (may_be_none && number == PUG_PROFILE_NONE);
}

enum pug_status pug_profile_range(struct pug_profile *profile,
                                  const struct pug_profile_range *range, uint32_t *number)
{
    if (!profile || !range)
        return PUG_ERR_INVALID_PARAM_VAL;
    uint32_t found;
    bool is_new;
    if (!known(&profile->objects, range->object, true) || range->last < range->first)
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = pug_profile_table_add(&profile->ranges, range, &found, &is_new);
    if (status != PUG_OK)
        return status;
    if (!is_new) {
        struct pug_profile_range *kept = pug_profile_item(&profile->ranges, found);
        add(&kept->count, range->count);
        add(&kept->cycles, range->cycles);
    }
    if (number)
        *number = found;
    return PUG_OK;
}

enum pug_status pug_profile_branch(struct pug_profile *profile,
                                   const struct pug_profile_branch *branch)
{
    if (!profile || !branch)
        return PUG_ERR_INVALID_PARAM_VAL;
    uint32_t found;
    bool is_new;
    if (!known(&profile->objects, branch->object, true) ||
        !known(&profile->objects, branch->to_object, true))
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = pug_profile_table_add(&profile->branches, branch, &found, &is_new);
    if (status == PUG_OK && !is_new)
        add(&((struct pug_profile_branch *)pug_profile_item(&profile->branches, found))->count,
            branch->count);
    return status;
}

enum pug_status pug_profile_frame(struct pug_profile *profile,
                                  const struct pug_profile_frame *frame, uint32_t *number)
{
    if (!profile || !frame || !number)
        return PUG_ERR_INVALID_PARAM_VAL;
    bool is_new;
    if (!known(&profile->frames, frame->parent, true) ||
        !known(&profile->tasks, frame->task, true) ||
        !known(&profile->objects, frame->object, true) ||
        !known(&profile->objects, frame->site_object, true))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct profile_table *table = &profile->frames;
    if (table->count >= profile->frame_limit && frame->parent != PUG_PROFILE_NONE &&
        pug_profile_table_find(table, frame) == PUG_PROFILE_NONE)
        return PUG_ERR_LIMIT;
    enum pug_status status = pug_profile_table_add(table, frame, number, &is_new);
    if (status != PUG_OK || is_new)
        return status;
    struct pug_profile_frame *kept = pug_profile_item(table, *number);
    add(&kept->calls, frame->calls);
    add(&kept->cycles, frame->cycles);
    add(&kept->time, frame->time);
    return PUG_OK;
}

enum pug_status pug_profile_use_number(struct pug_profile *profile,
                                       const struct pug_profile_use *use, uint32_t *number)
{
    bool is_new;
    if (!known(&profile->frames, use->frame, false) || !known(&profile->ranges, use->range, false))
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = pug_profile_table_add(&profile->uses, use, number, &is_new);
    if (status == PUG_OK && !is_new)
        add(&((struct pug_profile_use *)pug_profile_item(&profile->uses, *number))->count,
            use->count);
    return status;
}

enum pug_status pug_profile_use(struct pug_profile *profile, const struct pug_profile_use *use)
{
    uint32_t number;
    if (!profile || !use)
        return PUG_ERR_INVALID_PARAM_VAL;
    return pug_profile_use_number(profile, use, &number);
}

enum pug_status pug_profile_loop(struct pug_profile *profile, const struct pug_profile_loop *loop)
{
    if (!profile || !loop)
        return PUG_ERR_INVALID_PARAM_VAL;
    uint32_t found;
    bool is_new;
    if (!known(&profile->objects, loop->object, true) || loop->visits == 0 || loop->least == 0 ||
        loop->most < loop->least || loop->rounds < loop->visits || loop->rounds < loop->most)
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = pug_profile_table_add(&profile->loops, loop, &found, &is_new);
    if (status == PUG_OK && !is_new)
        pug_profile_loop_add(pug_profile_item(&profile->loops, found), loop);
    return status;
}

void pug_profile_note(struct pug_profile *profile, enum pug_profile_note note, uint64_t count)
{
    if (note < PUG_NOTE_SATURATED)
        profile->notes[note] = pug_profile_sum(profile->notes[note], count);
}

void pug_profile_set_time_unit(struct pug_profile *profile, enum pug_profile_unit unit)
{
    if (profile->unit == PUG_PROFILE_NO_TIME)
        profile->unit = unit;
    else if (unit != PUG_PROFILE_NO_TIME && unit != profile->unit)
        profile->unit = PUG_PROFILE_TICKS;
}

void pug_profile_set_frame_limit(struct pug_profile *profile, uint32_t limit)
{
    profile->frame_limit = limit;
}

/* ---- looking ---- */

static const void *all(const struct profile_table *table, size_t *count)
{
    *count = table->count;
    return table->items;
}

const struct pug_profile_object *pug_profile_objects(const struct pug_profile *profile,
                                                     size_t *count)
{
    return all(&profile->objects, count);
}

const struct pug_profile_task *pug_profile_tasks(const struct pug_profile *profile, size_t *count)
{
    return all(&profile->tasks, count);
}

const struct pug_profile_range *pug_profile_ranges(const struct pug_profile *profile, size_t *count)
{
    return all(&profile->ranges, count);
}

const struct pug_profile_branch *pug_profile_branches(const struct pug_profile *profile,
                                                      size_t *count)
{
    return all(&profile->branches, count);
}

const struct pug_profile_frame *pug_profile_frames(const struct pug_profile *profile, size_t *count)
{
    return all(&profile->frames, count);
}

const struct pug_profile_use *pug_profile_uses(const struct pug_profile *profile, size_t *count)
{
    return all(&profile->uses, count);
}

const struct pug_profile_loop *pug_profile_loops(const struct pug_profile *profile, size_t *count)
{
    return all(&profile->loops, count);
}

/* Counts at their end are counted when somebody asks: merging must not count them twice. */
static uint64_t saturated(const struct pug_profile *profile)
{
    uint64_t full = 0;
    for (uint32_t i = 0; i < profile->ranges.count; i++)
        full += ((struct pug_profile_range *)pug_profile_item(&profile->ranges, i))->count ==
                UINT64_MAX;
    for (uint32_t i = 0; i < profile->branches.count; i++)
        full += ((struct pug_profile_branch *)pug_profile_item(&profile->branches, i))->count ==
                UINT64_MAX;
    return full;
}

uint64_t pug_profile_noted(const struct pug_profile *profile, enum pug_profile_note note)
{
    if (note == PUG_NOTE_SATURATED)
        return saturated(profile);
    return note < PUG_NOTE_COUNT ? profile->notes[note] : 0;
}

enum pug_profile_unit pug_profile_time_unit(const struct pug_profile *profile)
{
    return profile->unit;
}

const char *pug_profile_note_text(enum pug_profile_note note)
{
    static const char *const texts[PUG_NOTE_COUNT] = {
        [PUG_NOTE_SEGMENTS] = "stretches of trace",
        [PUG_NOTE_LOST] = "times that trace was lost",
        [PUG_NOTE_UNMAPPED] = "instructions that belong to no object",
        [PUG_NOTE_NO_MEMORY] = "times that program memory was not there",
        [PUG_NOTE_NO_ADDRESS] = "times that the address was not known",
        [PUG_NOTE_NO_PATH] = "parts where only the end of the way is known",
        [PUG_NOTE_NO_TARGET] = "taken branches whose target is not known",
        [PUG_NOTE_CONTRADICTIONS] = "times that execution went on where it cannot",
        [PUG_NOTE_BAD] = "errors of decoding",
        [PUG_NOTE_STACKS_LOST] = "call stacks that began anew",
        [PUG_NOTE_FRAMES_FULL] = "call stacks that were too many",
        [PUG_NOTE_SAMPLES] = "PC samples, which are not added to counts of what ran",
        [PUG_NOTE_SATURATED] = "counts that reached their end",
    };
    return note < PUG_NOTE_COUNT ? texts[note] : NULL;
}

bool pug_profile_has_object(const struct pug_profile *profile, const char *name)
{
    size_t count;
    const struct pug_profile_object *objects = pug_profile_objects(profile, &count);
    for (size_t i = 0; i < count; i++)
        if (pug_profile_object_is(&objects[i], name))
            return true;
    return false;
}

bool pug_profile_object_is(const struct pug_profile_object *object, const char *name)
{
    return pug_object_is(object->path, object->build_id, object->build_id_size, name);
}
