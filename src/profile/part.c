// SPDX-License-Identifier: MIT
/** @file What a part of the trace has for a profile beside counts: notes, and steps of calls. */
#include "profile/lane.h"

#include "capture/named.h"
#include "counts/counts.h"
#include "pugmark/jobs.h"

#include <stdlib.h>
#include <string.h>

struct profile_part *pug_profile_part_new(struct pug_capture *capture, bool stacks)
{
    struct profile_part *part = calloc(1, sizeof(*part));
    if (part)
        *part = (struct profile_part){
            .capture = capture, .stacks = stacks, .stretch = PUG_PROFILE_NONE};
    return part;
}

void pug_profile_part_free(struct profile_part *part)
{
    pug_counts_free(part->counts);
    free(part->steps);
    free(part->groups);
    free(part);
}

/* ---- other processes ---- */

static uint64_t number_of(const struct profile_steps *group)
{
    return group->situation.space ? group->situation.space->number : 0;
}

/** All spaces that a part's counts and steps are in, with their names. */
static void pack_spaces(const struct profile_part *part, struct pug_state *bytes)
{
    struct pug_named named = {.failed = false};
    if (part->counts)
        pug_named_note_counts(&named, part->counts);
    for (size_t i = 0; i < part->group_count; i++)
        if (i == 0 || part->groups[i].situation.space != part->groups[i - 1].situation.space)
            pug_named_note(&named, number_of(&part->groups[i]));
    pug_named_pack(&named, part->capture, bytes);
}

/** Steps have the number of their space in place of it. */
static void pack_steps(const struct profile_part *part, struct pug_state *bytes)
{
    pug_state_number(bytes, part->group_count);
    for (size_t i = 0; i < part->group_count; i++) {
        struct profile_steps group = part->groups[i];
        const uint64_t number = number_of(&group);
        group.situation.space = NULL;
        pug_state_number(bytes, number);
        pug_state_put(bytes, &group, sizeof(group));
    }
    pug_state_number(bytes, part->step_count);
    pug_state_put(bytes, part->steps, part->step_count * sizeof(*part->steps));
}

void pug_profile_part_pack(const void *context, struct pug_state *bytes)
{
    const struct profile_part *part = context;
    bytes->failed |= part->failed;
    pug_state_number(bytes, part->stretch);
    pug_state_put(bytes, part->notes, sizeof(part->notes));
    pack_spaces(part, bytes);
    pug_state_number(bytes, part->counts != NULL);
    if (part->counts)
        pug_counts_pack(part->counts, bytes);
    pack_steps(part, bytes);
}

static bool unpack_counts(struct profile_part *part, struct pug_bytes *bytes,
                          const struct pug_named_known *known)
{
    if (!pug_bytes_take_64(bytes))
        return true;
    part->counts = pug_counts_unpack(bytes);
    if (part->counts)
        pug_named_renumber(known, part->counts);
    return part->counts != NULL;
}

static bool unpack_groups(struct profile_part *part, struct pug_bytes *bytes,
                          const struct pug_named_known *known)
{
    const uint64_t count = pug_bytes_take_64(bytes);
    if (count > pug_bytes_left(bytes) / sizeof(*part->groups))
        return false;
    part->group_count = part->group_room = (size_t)count;
    part->groups = malloc((part->group_count + 1) * sizeof(*part->groups));
    for (size_t i = 0; part->groups && i < part->group_count; i++) {
        const uint64_t number = pug_bytes_take_64(bytes);
        const uint8_t *at = pug_bytes_take(bytes, sizeof(*part->groups));
        if (!at)
            return false;
        memcpy(&part->groups[i], at, sizeof(*part->groups));
        part->groups[i].situation.space = pug_named_space(known, number);
    }
    return part->groups != NULL;
}

static bool unpack_steps(struct profile_part *part, struct pug_bytes *bytes)
{
    const uint64_t count = pug_bytes_take_64(bytes);
    if (count > pug_bytes_left(bytes) / sizeof(*part->steps))
        return false;
    size_t grouped = 0;
    for (size_t i = 0; i < part->group_count && grouped <= count; i++)
        grouped += part->groups[i].count;
    part->step_count = part->step_room = (size_t)count;
    part->steps = malloc((part->step_count + 1) * sizeof(*part->steps));
    const uint8_t *at = pug_bytes_take(bytes, part->step_count * sizeof(*part->steps));
    if (part->steps && at)
        memcpy(part->steps, at, part->step_count * sizeof(*part->steps));
    return part->steps && at && grouped == count;
}

struct profile_part *pug_profile_part_unpack(struct pug_capture *capture, const uint8_t *from,
                                             size_t size)
{
    struct pug_bytes bytes = pug_bytes_of(from, size);
    struct profile_part *part = pug_profile_part_new(capture, false);
    struct pug_named_known known;
    if (!part)
        return NULL;
    part->stretch = (uint32_t)pug_bytes_take_64(&bytes);
    const uint8_t *notes = pug_bytes_take(&bytes, sizeof(part->notes));
    if (notes)
        memcpy(part->notes, notes, sizeof(part->notes));
    const bool good = pug_named_unpack(&known, capture, &bytes) &&
                      unpack_counts(part, &bytes, &known) && unpack_groups(part, &bytes, &known) &&
                      unpack_steps(part, &bytes);
    free(known.spaces);
    if (good)
        return part;
    pug_profile_part_free(part);
    return NULL;
}

/** Parts of one stretch. */
bool pug_profile_part_fold(void *context, void *taken)
{
    struct profile_part *part = context, *later = taken;
    if (later->stretch != PUG_PROFILE_NONE)
        part->stretch = later->stretch;
    part->failed |= later->failed;
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        part->notes[note] = pug_profile_sum(part->notes[note], later->notes[note]);
    if (part->counts)
        pug_counts_append(part->counts, later->counts);
    pug_profile_part_free(later);
    return true;
}

/* ---- elements ---- */

static void note(struct profile_part *part, const struct pug_element *element)
{
    const bool overflow =
        (element->type == PUG_ELEM_TRACE_ON && element->reason == PUG_TRACE_ON_OVERFLOW) ||
        (element->type == PUG_ELEM_NO_SYNC && element->reason == PUG_UNSYNC_OVERFLOW);
    part->notes[PUG_NOTE_LOST] += overflow;
    if (element->type == PUG_ELEM_NO_SYNC)
        part->notes[PUG_NOTE_BAD] +=
            element->reason == PUG_UNSYNC_BAD_PACKET || element->reason == PUG_UNSYNC_BAD_IMAGE;
    part->notes[PUG_NOTE_NO_MEMORY] += element->type == PUG_ELEM_ADDR_NACC;
    part->notes[PUG_NOTE_NO_ADDRESS] += element->type == PUG_ELEM_ADDR_UNKNOWN;
    part->notes[PUG_NOTE_NO_PATH] += element->type == PUG_ELEM_I_RANGE_NOPATH;
}

/* Does an element concern call stacks? */
static inline bool is_step(const struct pug_element *element)
{
    if (element->type == PUG_ELEM_INSTR_RANGE) /* most are */
        return true;
    switch (element->type) {
    case PUG_ELEM_EXCEPTION: return !(element->flags & PUG_ELEM_DATA_MARKER);
    case PUG_ELEM_ADDR_NACC:
    case PUG_ELEM_I_RANGE_NOPATH:
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_EO_TRACE:
    case PUG_ELEM_ADDR_UNKNOWN:
    case PUG_ELEM_EXCEPTION_RET:
    case PUG_ELEM_PE_CONTEXT:
    case PUG_ELEM_TIMESTAMP: return true;
    default: return element->flags & PUG_ELEM_HAS_CC;
    }
}

/* A quarter of a megabyte: a few bytes of trace may stand for any number of steps. */
#define PORTION 4096u

/** Hand on the steps that there are, as a part that has nothing else. */
static void hand_on(struct profile_part *part)
{
    struct profile_part *portion = pug_profile_part_new(part->capture, true);
    if (portion) {
        portion->stretch = part->stretch;
        portion->steps = part->steps;
        portion->step_count = part->step_count;
        portion->groups = part->groups;
        portion->group_count = part->group_count;
        part->steps = NULL;
        part->groups = NULL;
        part->step_count = part->step_room = part->group_count = part->group_room = 0;
    }
    part->unwanted = !pug_passage_give(part->passage, portion, PORTION * sizeof(*part->steps));
}

/** Room for so many items more. */
static bool grow(void **items, size_t *room, size_t count, size_t more, size_t size)
{
    if (count + more <= *room)
        return true;
    const size_t doubled = *room * 2, wanted = count + more;
    const size_t grown_room = wanted > doubled ? wanted : doubled;
    void *grown = realloc(*items, grown_room * size);
    if (!grown)
        return false;
    *items = grown;
    *room = grown_room;
    return true;
}

/** What is handed on by portions has room for one at once. */
static bool make_room(struct profile_part *part, size_t more)
{
    void *steps = part->steps, *groups = part->groups;
    if (part->passage)
        more = PORTION - part->step_count;
    part->failed |= !grow(&steps, &part->step_room, part->step_count, more, sizeof(*part->steps)) ||
                    !grow(&groups, &part->group_room, part->group_count, 1, sizeof(*part->groups));
    part->steps = steps;
    part->groups = groups;
    return !part->failed;
}

/** The steps among elements, for which there is room; how many they are. */
static size_t copy_steps(struct profile_part *part, const struct pug_element *elements,
                         size_t count)
{
    struct pug_element *to = part->steps + part->step_count;
    for (size_t i = 0; i < count; i++)
        if (is_step(&elements[i]))
            *to++ = elements[i];
    const size_t copied = (size_t)(to - part->steps) - part->step_count;
    part->step_count += copied;
    return copied;
}

static void keep_steps(struct profile_part *part, const struct pug_situation *situation,
                       const struct pug_element *elements, size_t count)
{
    while (count > 0 && !part->failed) {
        if (part->step_count >= PORTION && part->passage)
            hand_on(part);
        if (part->unwanted || !make_room(part, count))
            return;
        const size_t room = part->step_room - part->step_count, now = room < count ? room : count;
        const size_t copied = copy_steps(part, elements, now);
        if (copied > 0)
            part->groups[part->group_count++] = (struct profile_steps){*situation, copied};
        elements += now;
        count -= now;
    }
}

void pug_profile_part_elements(struct profile_part *part, const struct pug_situation *situation,
                               const struct pug_element *elements, size_t count)
{
    part->stretch = situation->stretch;
    for (size_t i = 0; i < count; i++)
        if (elements[i].type != PUG_ELEM_INSTR_RANGE)
            note(part, &elements[i]);
    if (part->counts) {
        pug_counts_set_memory(part->counts, situation->source,
                              situation->space ? situation->space->number : 0);
        pug_counts_add_elements(part->counts, elements, count);
    }
    if (part->stacks)
        keep_steps(part, situation, elements, count);
}
