// SPDX-License-Identifier: MIT
/** @file What a part of the trace has for a profile beside counts: notes, and steps of calls. */
#include "profile/steps.h"

#include "capture/capture.h"
#include "capture/named.h"
#include "counts/counts.h"
#include "pugmark/advanced/jobs.h"

#include <stdlib.h>
#include <string.h>

struct profile_part *pug_profile_part_new(struct pug_capture *capture, bool stacks)
{
    struct profile_part *part = calloc(1, sizeof(*part));
    if (part)
        *part = (struct profile_part){
            .capture = capture, .stacks = stacks, .segment = PUG_PROFILE_NONE};
    return part;
}

void pug_profile_part_free(struct profile_part *part)
{
    pug_counts_free(part->counts);
    free(part->steps);
    free(part->others);
    free(part->groups);
    free(part->samples);
    free(part);
}

/* ---- other processes ---- */

static uint64_t space_number(const struct pug_origin *origin)
{
    return origin->space ? origin->space->number : 0;
}

static uint64_t number_of(const struct profile_steps *group)
{
    return space_number(&group->origin);
}

/** All spaces that a part's counts and steps are in, with their names. */
static void pack_spaces(const struct profile_part *part, struct pug_state *bytes)
{
    struct pug_named named = {.failed = false};
    if (part->counts)
        pug_named_note_counts(&named, part->counts);
    for (size_t i = 0; i < part->group_count; i++)
        if (i == 0 || part->groups[i].origin.space != part->groups[i - 1].origin.space)
            pug_named_note(&named, number_of(&part->groups[i]));
    for (size_t i = 0; i < part->sample_count; i++)
        pug_named_note(&named, space_number(&part->samples[i].origin));
    pug_named_pack(&named, part->capture, bytes);
}

/** Steps have the number of their space in place of it. */
static void pack_steps(const struct profile_part *part, struct pug_state *bytes)
{
    pug_state_number(bytes, part->group_count);
    for (size_t i = 0; i < part->group_count; i++) {
        struct profile_steps group = part->groups[i];
        const uint64_t number = number_of(&group);
        group.origin.space = NULL;
        pug_state_number(bytes, number);
        pug_state_put(bytes, &group, sizeof(group));
    }
    pug_state_number(bytes, part->step_count);
    pug_state_put(bytes, part->steps, part->step_count * sizeof(*part->steps));
    pug_state_number(bytes, part->other_count);
    pug_state_put(bytes, part->others, part->other_count * sizeof(*part->others));
}

/** Samples have the number of their space in place of it, too. */
static void pack_samples(const struct profile_part *part, struct pug_state *bytes)
{
    pug_state_put(bytes, part->sampled, sizeof(part->sampled));
    pug_state_number(bytes, part->sample_count);
    for (size_t i = 0; i < part->sample_count; i++) {
        struct profile_sample sample = part->samples[i];
        pug_state_number(bytes, space_number(&sample.origin));
        sample.origin.space = NULL;
        pug_state_put(bytes, &sample, sizeof(sample));
    }
}

static bool unpack_samples(struct profile_part *part, struct pug_bytes *bytes,
                           const struct pug_named_known *known)
{
    const uint8_t *sampled = pug_bytes_take(bytes, sizeof(part->sampled));
    const uint64_t count = sampled ? pug_bytes_take_64(bytes) : UINT64_MAX;
    if (count > pug_bytes_left(bytes) / sizeof(*part->samples))
        return false;
    memcpy(part->sampled, sampled, sizeof(part->sampled));
    part->samples = malloc(((size_t)count + 1) * sizeof(*part->samples));
    for (; part->samples && part->sample_count < count; part->sample_count++) {
        struct profile_sample *sample = &part->samples[part->sample_count];
        const uint64_t number = pug_bytes_take_64(bytes);
        const uint8_t *at = pug_bytes_take(bytes, sizeof(*sample));
        if (!at)
            return false;
        memcpy(sample, at, sizeof(*sample));
        sample->origin.space = pug_named_space(known, number);
    }
    part->sample_room = part->sample_count;
    return part->samples != NULL;
}

void pug_profile_part_pack(const void *context, struct pug_state *bytes)
{
    const struct profile_part *part = context;
    bytes->failed |= part->failed;
    pug_state_number(bytes, part->segment);
    pug_state_number(bytes, part->chosen);
    pug_state_put(bytes, part->notes, sizeof(part->notes));
    pack_spaces(part, bytes);
    pug_state_number(bytes, part->counts != NULL);
    if (part->counts)
        pug_counts_pack(part->counts, bytes);
    pack_steps(part, bytes);
    pack_samples(part, bytes);
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
        part->groups[i].origin.space = pug_named_space(known, number);
    }
    return part->groups != NULL;
}

/** So many items of this size; NULL: no memory, or there are not so many. */
static void *unpack_items(struct pug_bytes *bytes, size_t *count, size_t size)
{
    const uint64_t wanted = pug_bytes_take_64(bytes);
    if (wanted > pug_bytes_left(bytes) / size)
        return NULL;
    void *items = malloc(((size_t)wanted + 1) * size);
    const uint8_t *at = pug_bytes_take(bytes, (size_t)wanted * size);
    if (items && at) {
        memcpy(items, at, (size_t)wanted * size);
        *count = (size_t)wanted;
    }
    return items;
}

/** Are there as many steps as groups say, each of them whole, and as many others as they are of? */
static bool is_whole(const struct profile_part *part)
{
    const struct profile_step *steps = part->steps;
    size_t left = part->step_count, others = 0;
    for (size_t n = 0; n < part->group_count; n++) {
        const size_t count = part->groups[n].count;
        if (count > left)
            return false;
        for (size_t i = 0; i < count; i++)
            if (steps[i].shape.kind == PROFILE_STEP_OTHER)
                others++;
            else if (steps[i].shape.kind != PROFILE_STEP_RANGE && ++i == count)
                return false;
        steps += count;
        left -= count;
    }
    return left == 0 && others == part->other_count;
}

static bool unpack_steps(struct profile_part *part, struct pug_bytes *bytes)
{
    part->steps = unpack_items(bytes, &part->step_count, sizeof(*part->steps));
    part->others = unpack_items(bytes, &part->other_count, sizeof(*part->others));
    return part->steps && part->others && is_whole(part);
}

struct profile_part *pug_profile_part_unpack(struct pug_capture *capture, const uint8_t *from,
                                             size_t size)
{
    struct pug_bytes bytes = pug_bytes_of(from, size);
    struct profile_part *part = pug_profile_part_new(capture, false);
    struct pug_named_known known;
    if (!part)
        return NULL;
    part->segment = (uint32_t)pug_bytes_take_64(&bytes);
    part->chosen = pug_bytes_take_64(&bytes) != 0;
    const uint8_t *notes = pug_bytes_take(&bytes, sizeof(part->notes));
    if (notes)
        memcpy(part->notes, notes, sizeof(part->notes));
    const bool good = pug_named_unpack(&known, capture, &bytes) &&
                      unpack_counts(part, &bytes, &known) && unpack_groups(part, &bytes, &known) &&
                      unpack_steps(part, &bytes) && unpack_samples(part, &bytes, &known);
    free(known.spaces);
    if (good)
        return part;
    pug_profile_part_free(part);
    return NULL;
}

/** Parts of one segment. */
bool pug_profile_part_fold(void *context, void *taken)
{
    struct profile_part *part = context, *later = taken;
    if (later->segment != PUG_PROFILE_NONE)
        part->segment = later->segment;
    part->chosen |= later->chosen;
    part->failed |= later->failed;
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        part->notes[note] = pug_profile_sum(part->notes[note], later->notes[note]);
    if (part->counts)
        pug_counts_append(part->counts, later->counts);
    const bool good = pug_profile_samples_append(part, later);
    pug_profile_part_free(later);
    return good;
}

/* ---- elements ---- */

static inline void note(struct profile_part *part, const struct pug_element *element)
{
    if (element->type == PUG_ELEM_INSTR_RANGE) /* most are */
        return;
    const bool lost =
        (element->type == PUG_ELEM_TRACE_ON && element->reason == PUG_TRACE_ON_OVERFLOW) ||
        (element->type == PUG_ELEM_NO_SYNC &&
         (element->reason == PUG_UNSYNC_OVERFLOW || element->reason == PUG_UNSYNC_DISCARD));
    part->notes[PUG_NOTE_LOST] += lost;
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
    default: return pug_element_adds_cycles(element);
    }
}

/* Steps of a chunk: a few bytes of trace may stand for any number of them. */
#define CHUNK_STEPS 4096u

/** Hand on the steps that there are, as a part that has nothing else. */
static void hand_on(struct profile_part *part)
{
    struct profile_part *chunk = pug_profile_part_new(part->capture, true);
    const size_t size = part->step_count * sizeof(*part->steps) +
                        part->other_count * sizeof(*part->others) +
                        part->group_count * sizeof(*part->groups);
    if (chunk) {
        chunk->segment = part->segment;
        chunk->chosen = part->chosen;
        chunk->steps = part->steps;
        chunk->step_count = part->step_count;
        chunk->others = part->others;
        chunk->other_count = part->other_count;
        chunk->groups = part->groups;
        chunk->group_count = part->group_count;
        part->steps = NULL;
        part->others = NULL;
        part->groups = NULL;
        part->step_count = part->step_room = part->other_count = part->other_room = 0;
        part->group_count = part->group_room = 0;
    }
    part->unwanted = !pug_piece_emit(part->piece, chunk, size);
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

/** Make room for another step, of any kind; false: no memory, or no consumer. */
static bool make_room(struct profile_part *part)
{
    if (part->piece && part->step_count + 2 > CHUNK_STEPS)
        hand_on(part);
    if (part->unwanted)
        return false;
    /* what is handed on in chunks has room for one at once */
    const size_t more = part->piece ? CHUNK_STEPS - part->step_count : 2;
    void *steps = part->steps, *others = part->others, *groups = part->groups;
    part->failed |=
        !grow(&steps, &part->step_room, part->step_count, more, sizeof(*part->steps)) ||
        !grow(&others, &part->other_room, part->other_count, 1, sizeof(*part->others)) ||
        !grow(&groups, &part->group_room, part->group_count, 1, sizeof(*part->groups));
    part->steps = steps;
    part->others = others;
    part->groups = groups;
    return !part->failed;
}

/** The group for an element: the last one from number `first` on, if it has its context. */
static struct profile_steps *group_of(struct profile_part *part, size_t first,
                                      const struct pug_origin *origin,
                                      const struct pug_element *element)
{
    const struct pug_count_key context = pug_counts_context_key(element, 0);
    if (part->group_count > first &&
        pug_counts_is_of(&context, &part->groups[part->group_count - 1].like))
        return &part->groups[part->group_count - 1];
    struct profile_steps *group = &part->groups[part->group_count++];
    *group =
        (struct profile_steps){.origin = *origin, .like = pug_counts_element_of(context.words)};
    return group;
}

/** Ranges without cycles, as long as there are and have room; how many. */
static size_t keep_ranges(struct profile_part *part, struct profile_steps *group,
                          const struct pug_element *elements, size_t count)
{
    struct profile_step *to = part->steps + part->step_count;
    const size_t room = part->step_room - part->step_count;
    const struct pug_count_key context = pug_counts_context_key(&group->like, 0);
    size_t i = 0;
    for (; i < count && i < room && elements[i].type == PUG_ELEM_INSTR_RANGE &&
           !(elements[i].flags & PUG_ELEM_HAS_CC) && pug_counts_is_of(&context, &elements[i]);
         i++)
        to[i] = pug_profile_step(&elements[i]);
    part->step_count += i;
    group->count += i;
    return i;
}

static void keep_step(struct profile_part *part, struct profile_steps *group,
                      const struct pug_element *element)
{
    struct profile_step *step = &part->steps[part->step_count];
    const size_t before = part->step_count++;
    if (element->type == PUG_ELEM_INSTR_RANGE) {
        step[0] = pug_profile_step(element);
        step[0].shape.kind = PROFILE_STEP_CYCLES;
        step[1] = (struct profile_step){.start = element->cycle_count};
        part->step_count++;
    } else {
        step[0] = (struct profile_step){.shape.kind = PROFILE_STEP_OTHER};
        part->others[part->other_count++] = *element;
    }
    group->count += part->step_count - before;
}

static void keep_steps(struct profile_part *part, const struct pug_origin *origin,
                       const struct pug_element *elements, size_t count)
{
    size_t first = part->group_count; /* of this origin */
    for (size_t i = 0; i < count;) {
        note(part, &elements[i]);
        if (!is_step(&elements[i])) {
            i++;
            continue;
        }
        if (!make_room(part))
            return;
        first = first < part->group_count ? first : part->group_count;
        struct profile_steps *group = group_of(part, first, origin, &elements[i]);
        const size_t kept = keep_ranges(part, group, &elements[i], count - i);
        if (kept == 0)
            keep_step(part, group, &elements[i]);
        i += kept > 0 ? kept : 1;
    }
}

/* ---- what is left out ---- */

/** Is the last group of what was left out of this source? */
static bool is_left_out(const struct profile_part *part, const struct pug_origin *origin)
{
    if (part->group_count == 0)
        return false;
    const struct profile_steps *last = &part->groups[part->group_count - 1];
    return last->left_out && last->origin.buffer == origin->buffer &&
           last->origin.source == origin->source;
}

/** One of a source's elements that are left out; NULL: only that there are some. */
static bool keep_left_out(struct profile_part *part, const struct pug_origin *origin,
                          const struct pug_element *element)
{
    if (!make_room(part))
        return false;
    if (!is_left_out(part, origin))
        part->groups[part->group_count++] = (struct profile_steps){
            .origin = *origin, .like.source = origin->source, .left_out = true};
    if (element)
        keep_step(part, &part->groups[part->group_count - 1], element);
    return true;
}

void pug_profile_part_left_out(struct profile_part *part, const struct pug_origin *origin,
                               const struct pug_element *elements, size_t count)
{
    struct pug_count_boundary *boundary =
        part->counts ? pug_counts_boundary(part->counts, origin->source) : NULL;
    if (boundary)
        pug_counts_break_off(part->counts, boundary);
    part->segment = origin->segment;
    bool good = part->stacks && keep_left_out(part, origin, NULL);
    for (size_t i = 0; i < count && good; i++)
        if (pug_capture_tells_time(&elements[i]))
            good = keep_left_out(part, origin, &elements[i]);
}

void pug_profile_part_elements(struct profile_part *part, const struct pug_origin *origin,
                               const struct pug_element *elements, size_t count)
{
    part->segment = origin->segment;
    part->chosen = true;
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_ITMTRACE)
            pug_profile_samples_note(part, origin, &elements[i]);
    if (part->stacks) {
        keep_steps(part, origin, elements, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        note(part, &elements[i]);
    if (part->counts) {
        pug_counts_set_memory(part->counts, origin->source,
                              origin->space ? origin->space->number : 0);
        pug_counts_add_elements(part->counts, elements, count);
    }
}
