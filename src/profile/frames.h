// SPDX-License-Identifier: MIT
/**
 * @file Frames of the calls, in a profile: which functions they are of, and how often they were
 * entered.
 */
#ifndef PUG_PROFILE_FRAMES_H
#define PUG_PROFILE_FRAMES_H

#include "profile/loops.h"
#include "profile/steps.h"
#include "profile/trail.h"
#include "pugmark/calls.h"

/** What was asked lately, of one address space each: functions by address, and frames. */
#define FUNCTIONS_KNOWN 4096u
#define FRAMES_KNOWN    32768u

struct known_function {
    uint64_t space, address;
    struct pug_function function;
    bool asked, found;
};

struct known_frame {
    uint64_t space, function, site;
    uint32_t parent, task, number;
    uint8_t kind; /* enum pug_call_kind */
    bool asked;
};

/** The properties of a frame of the profile. */
struct profile_kept_frame {
    uint64_t entered;        /* how often, but for what the profile has */
    uint64_t function, size; /* if it was called: in its object; size 0: not known */
    struct profile_loops_function loops;
};

struct profile_frames {
    struct profile_objects *objects;
    struct profile_trail *trail;     /* where what comes is; its status is that of this, too */
    struct profile_kept_frame *kept; /* by the profile's numbers */
    uint32_t kept_room;
    struct known_function functions[FUNCTIONS_KNOWN];
    struct known_frame frames[FRAMES_KNOWN];
};

/* What a frame of the calls knows: its number in the profile, or its caller's. */

static inline void *profile_frame_user(uint32_t number, bool own)
{
    return (void *)((uintptr_t)number << 1 | own);
}

static inline uint32_t profile_frame_number(const struct pug_call_frame *frame)
{
    return (uint32_t)((uintptr_t)frame->user >> 1);
}

static inline bool profile_frame_has_number(const struct pug_call_frame *frame)
{
    return (uintptr_t)frame->user & 1;
}

/** Freed by pug_profile_frames_free(). */
void pug_profile_frames_free(struct profile_frames *frames);

/** The function at an address; false: unknown. */
bool pug_profile_frames_locate(struct profile_frames *frames, uint64_t address,
                               struct pug_function *function);
/**
 * A frame was entered, of a task of the profile; `parent`: the one below it, or NULL. Where there
 * is no room for it its caller stands for it.
 */
void pug_profile_frames_enter(struct profile_frames *frames, struct pug_call_frame *entered,
                              const struct pug_call_frame *parent, uint32_t task);
/** A frame was called, and this range ran there first. */
void pug_profile_frames_keep(struct profile_frames *frames, const struct pug_call_frame *called,
                             const struct profile_node *node, const struct pug_element *range,
                             struct profile_loops_function loops);
/** The same frame, called by the last instruction of `caller`, where `range` runs first now. */
struct pug_call_frame pug_profile_frames_called(const struct profile_frames *frames,
                                                uint32_t number, const struct profile_node *node,
                                                const struct profile_step *range,
                                                const struct profile_step *caller);
/** How often frames were entered goes to the profile. */
void pug_profile_frames_end(struct profile_frames *frames);

#endif
