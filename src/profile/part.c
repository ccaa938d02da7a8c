// SPDX-License-Identifier: MIT
/** @file What a part of the trace has for a profile beside counts: notes, and steps of calls. */
#include "profile/lane.h"

#include "capture/capture.h"
#include "counts/counts.h"

#include <stdlib.h>

struct profile_part *pug_profile_part_new(bool stacks)
{
    struct profile_part *part = calloc(1, sizeof(*part));
    if (part)
        *part = (struct profile_part){.stacks = stacks, .stretch = PUG_PROFILE_NONE};
    return part;
}

void pug_profile_part_free(struct profile_part *part)
{
    pug_counts_free(part->counts);
    free(part->steps);
    free(part);
}

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
static bool is_step(const struct pug_element *element)
{
    switch (element->type) {
    case PUG_ELEM_EXCEPTION: return !(element->flags & PUG_ELEM_DATA_MARKER);
    case PUG_ELEM_INSTR_RANGE:
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

static void keep_step(struct profile_part *part, const struct pug_situation *situation,
                      const struct pug_element *element)
{
    if (part->step_count == part->step_room) {
        const size_t room = part->step_room ? part->step_room * 2 : 256;
        void *steps = realloc(part->steps, room * sizeof(*part->steps));
        if (!steps) {
            part->failed = true;
            return;
        }
        part->steps = steps;
        part->step_room = room;
    }
    part->steps[part->step_count++] = (struct profile_step){*element, *situation};
}

void pug_profile_part_elements(struct profile_part *part, const struct pug_situation *situation,
                               const struct pug_element *elements, size_t count)
{
    part->stretch = situation->stretch;
    for (size_t i = 0; i < count; i++)
        note(part, &elements[i]);
    if (part->counts) {
        pug_counts_set_memory(part->counts, situation->source,
                              situation->space ? situation->space->number : 0);
        pug_counts_add_elements(part->counts, elements, count);
    }
    for (size_t i = 0; i < count && part->stacks && !part->failed; i++)
        if (is_step(&elements[i]))
            keep_step(part, situation, &elements[i]);
}
