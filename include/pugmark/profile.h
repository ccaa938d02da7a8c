// SPDX-License-Identifier: MIT
/**
 * @file Profiles: how often what ran, by object; added up, merged, kept in a file.
 *
 * A profile speaks of places: an object (an executable file, a library, a kernel) and an ELF
 * virtual address in it, never of addresses of a process that is gone. It holds
 *
 *   - ranges: instructions that ran one after another without a break, and how they ended;
 *   - branches that were taken, with where they led;
 *   - where they were asked for, frames: each distinct call stack, and how often which range ran
 *     on it; and loops, with the rounds of their visits;
 *   - notes: what is not in the counts.
 *
 * Counts are exact and add up: profiles of the parts of a trace, merged, are the profile of the
 * whole. At 2^64 - 1 a count stays there, and the profile notes it.
 *
 * A profile belongs to one thread at a time. Memory is bounded by what there is to count, not by
 * how often it ran: each distinct range, branch, frame and range on a frame takes 40 to 64 bytes.
 */
#ifndef PUGMARK_PROFILE_H
#define PUGMARK_PROFILE_H

#include "pugmark/element.h"
#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * No object: memory that belongs to none, or a branch whose target is not known. No frame, no task.
 */
#define PUG_PROFILE_NONE UINT32_MAX

#define PUG_PROFILE_BUILD_ID 20u /**< bytes of a build id at most */

struct pug_profile;

/** A loadable segment of an object. */
struct pug_profile_segment {
    uint64_t vaddr, offset, size; /**< `size` in the file */
    bool executable;              /**< it holds code */
};

/** An executable file. Texts and segments are copied where it is added. */
struct pug_profile_object {
    const char *path;                           /**< as the system that was traced named it */
    const char *file;                           /**< where it was found, or NULL */
    uint8_t build_id[PUG_PROFILE_BUILD_ID];     /**< so many bytes of it as build_id_size says */
    uint8_t build_id_size;                      /**< 0: not known */
    const struct pug_profile_segment *segments; /**< where its bytes lie */
    size_t segment_count;                       /**< how many there are */
    uint64_t spare[2];                          /**< zero */
};

/** A thread. */
struct pug_profile_task {
    int32_t pid, tid; /**< -1: not known */
    const char *name; /**< of its program, or "" */
};

/** How a range ended. */
enum pug_profile_end {
    PUG_END_BRANCH = 1 << 0,      /**< its last instruction is a direct or indirect branch */
    PUG_END_INDIRECT = 1 << 1,    /**< whose target is not in its opcode */
    PUG_END_CONDITIONAL = 1 << 2, /**< that may be not taken */
    PUG_END_CALL = 1 << 3,        /**< that leaves a return address */
    PUG_END_RETURN = 1 << 4,      /**< that returns from a function */
    PUG_END_TAKEN = 1 << 5,       /**< and it was taken */
};

/** Instructions that ran without a break; `first` and `last` are addresses of instructions. */
struct pug_profile_range {
    uint64_t first, last;  /**< addresses in the object */
    uint64_t count;        /**< how often it ran */
    uint64_t cycles;       /**< of the cycle counts that came after it */
    uint32_t object;       /**< by number, or PUG_PROFILE_NONE */
    uint32_t instructions; /**< in it */
    uint8_t last_size;     /**< bytes of the last instruction */
    uint8_t isa;           /**< enum pug_isa */
    uint8_t end;           /**< enum pug_profile_end */
};

/** A taken branch. */
struct pug_profile_branch {
    uint64_t from, to;          /**< `to` is 0 where to_object is PUG_PROFILE_NONE */
    uint64_t count;             /**< how often it was taken */
    uint32_t object, to_object; /**< by number, or PUG_PROFILE_NONE */
};

/** A call stack: this frame on those of its parents. */
struct pug_profile_frame {
    uint64_t function;    /**< where its function starts */
    uint64_t site;        /**< the instruction that entered it; 0 where site_object is none */
    uint64_t calls;       /**< how often it was entered */
    uint64_t cycles;      /**< of what ran on it, not on frames above; as a range's */
    uint64_t time;        /**< the same in nanoseconds, or ticks, see pug_profile_time_unit() */
    uint32_t parent;      /**< PUG_PROFILE_NONE: it is the first one that is known */
    uint32_t task;        /**< by number */
    uint32_t object;      /**< PUG_PROFILE_NONE: `function` is a run-time address */
    uint32_t site_object; /**< of `site`, by number, or PUG_PROFILE_NONE */
};

/** How often a range ran while a frame was on top. */
struct pug_profile_use {
    uint64_t count;        /**< how often */
    uint32_t frame, range; /**< by number */
};

/**
 * A loop: instructions of a function that a direct branch goes back to. A call of the function
 * visits it each time that it comes to its head otherwise than by going back, and makes a round
 * each time that the head runs. What trace begins or ends in counts with the rounds that were seen.
 */
struct pug_profile_loop {
    uint64_t head;                  /**< address of its first instruction */
    uint64_t visits;                /**< how often it was visited */
    uint64_t rounds;                /**< of all visits */
    uint64_t squares, squares_high; /**< of the visits' rounds, added up: 128 bits */
    uint64_t least, most;           /**< rounds of a visit */
    uint32_t object;                /**< by number, or PUG_PROFILE_NONE */
};

/** What is missing in the counts, or makes them doubtful. */
enum pug_profile_note {
    PUG_NOTE_SEGMENTS,       /**< pieces of trace that begin from nothing */
    PUG_NOTE_LOST,           /**< times that trace was lost */
    PUG_NOTE_UNMAPPED,       /**< instructions of memory that belongs to no object */
    PUG_NOTE_NO_MEMORY,      /**< times that program memory was not there */
    PUG_NOTE_NO_ADDRESS,     /**< times that the address was not known */
    PUG_NOTE_NO_PATH,        /**< parts where only the end of the way is known */
    PUG_NOTE_NO_TARGET,      /**< taken branches whose target is not known */
    PUG_NOTE_CONTRADICTIONS, /**< times that execution goes on where it cannot */
    PUG_NOTE_BAD,            /**< errors of decoding */
    PUG_NOTE_STACKS_LOST,    /**< call stacks that restarted */
    PUG_NOTE_FRAMES_FULL, /**< frames that had no room; what ran on them counts to their parents */
    PUG_NOTE_SAMPLES,     /**< PC samples beside counts of what ran: they are not added to these */
    PUG_NOTE_SATURATED,   /**< counts that reached 2^64 - 1 */
    PUG_NOTE_COUNT
};

/** A note in a few words ("trace lost"); NULL beyond the last one. */
const char *pug_profile_note_text(enum pug_profile_note note);

/**
 * A profile of PC samples has no counts of what ran: each range is one instruction, whose count is
 * how often it was sampled. The two kinds are never added to each other.
 */
enum pug_profile_samples {
    PUG_SAMPLES_TAKEN,  /**< with an address: what ranges count */
    PUG_SAMPLES_ASLEEP, /**< while the core slept */
    PUG_SAMPLES_DENIED, /**< where the hardware may not report the address */
    /** of those taken, in the middle of an instruction, which they are counted for */
    PUG_SAMPLES_INSIDE,
    PUG_SAMPLES_KINDS
};

/** The unit of times. */
enum pug_profile_unit { PUG_PROFILE_NO_TIME, PUG_PROFILE_NANOSECONDS, PUG_PROFILE_TICKS };

/** An empty profile; NULL: no memory. */
struct pug_profile *pug_profile_new(void);
/** NULL is left alone. */
void pug_profile_free(struct pug_profile *profile);

/* ---- adding ---- */

/*
 * Each adds to what is there of the same name: a count to an equal one's, an object or a task that
 * is known already gives its number. PUG_ERR_MEM: no memory; PUG_ERR_LIMIT: more than 2^31 of a
 * kind; PUG_ERR_INVALID_PARAM_VAL: a number that the profile has not given. What fails changes
 * nothing.
 */

/** The number of an object: equal are those with the same path and build id. */
enum pug_status pug_profile_object(struct pug_profile *profile,
                                   const struct pug_profile_object *object, uint32_t *number);
/** Add a task; its number is in *number. */
enum pug_status pug_profile_task(struct pug_profile *profile, const struct pug_profile_task *task,
                                 uint32_t *number);
/** `number` (it may be NULL) is what pug_profile_use() wants. */
enum pug_status pug_profile_range(struct pug_profile *profile,
                                  const struct pug_profile_range *range, uint32_t *number);
/** Add a branch, or its count to that of the same branch. */
enum pug_status pug_profile_branch(struct pug_profile *profile,
                                   const struct pug_profile_branch *branch);
/** PUG_ERR_LIMIT: there is no room for one more, see pug_profile_set_frame_limit(). */
enum pug_status pug_profile_frame(struct pug_profile *profile,
                                  const struct pug_profile_frame *frame, uint32_t *number);
/** Add a use, or its count to that of the same use. */
enum pug_status pug_profile_use(struct pug_profile *profile, const struct pug_profile_use *use);
/** Add visits of a loop: at least one, of at least one round each. */
enum pug_status pug_profile_loop(struct pug_profile *profile, const struct pug_profile_loop *loop);
/** Add to what is not in the counts. */
void pug_profile_note(struct pug_profile *profile, enum pug_profile_note note, uint64_t count);
/** Add to the samples: it is a profile of samples then. */
void pug_profile_add_samples(struct pug_profile *profile, enum pug_profile_samples kind,
                             uint64_t count);
/** What `time` is; the first answer counts, another one makes it ticks. */
void pug_profile_set_time_unit(struct pug_profile *profile, enum pug_profile_unit unit);
/** The most frames; 2^20 by default. Those without a parent are always taken. */
void pug_profile_set_frame_limit(struct pug_profile *profile, uint32_t limit);

/** Has one of them samples, and the other one counts of what ran? They are not to be added. */
bool pug_profile_mixes(const struct pug_profile *profile, const struct pug_profile *other);

/** Add all of `other`, which stays as it is. PUG_ERR_INVALID_PARAM_TYPE: pug_profile_mixes(). */
enum pug_status pug_profile_merge(struct pug_profile *profile, const struct pug_profile *other);

/** `sum` + `more`, at most 2^64 - 1. */
static inline uint64_t pug_profile_sum(uint64_t sum, uint64_t more)
{
    return sum + more < sum ? UINT64_MAX : sum + more;
}

/** `count` times `each`, at most 2^64 - 1. */
static inline uint64_t pug_profile_product(uint64_t count, uint64_t each)
{
    return each != 0 && count > UINT64_MAX / each ? UINT64_MAX : count * each;
}

/* ---- looking ---- */

/**
 * Gives everything its place: objects by path and build id, tasks by process, thread and name,
 * ranges, branches, uses and loops by place, frames after their parents. Numbers given before are
 * void. Equal counts, added in whatever order, are equal arrays afterwards. PUG_ERR_MEM: no memory.
 */
enum pug_status pug_profile_sort(struct pug_profile *profile);

/* The content, as arrays that stay until something is added. */
/** All objects; how many is in *count. */
const struct pug_profile_object *pug_profile_objects(const struct pug_profile *profile,
                                                     size_t *count);
/** All tasks. */
const struct pug_profile_task *pug_profile_tasks(const struct pug_profile *profile, size_t *count);
/** All ranges. */
const struct pug_profile_range *pug_profile_ranges(const struct pug_profile *profile,
                                                   size_t *count);
/** All branches. */
const struct pug_profile_branch *pug_profile_branches(const struct pug_profile *profile,
                                                      size_t *count);
/** All frames. */
const struct pug_profile_frame *pug_profile_frames(const struct pug_profile *profile,
                                                   size_t *count);
/** All uses. */
const struct pug_profile_use *pug_profile_uses(const struct pug_profile *profile, size_t *count);
/** All loops. */
const struct pug_profile_loop *pug_profile_loops(const struct pug_profile *profile, size_t *count);
/** How much is not in the counts for this reason. */
uint64_t pug_profile_noted(const struct pug_profile *profile, enum pug_profile_note note);
/** How many samples of a kind there are. */
uint64_t pug_profile_sampled(const struct pug_profile *profile, enum pug_profile_samples kind);
/** Is it a profile of samples? */
bool pug_profile_is_sampled(const struct pug_profile *profile);
/** Returns the unit of `time`. */
enum pug_profile_unit pug_profile_time_unit(const struct pug_profile *profile);

/**
 * Does an object answer to this name: its path, the end of it from a slash on, or its build id in
 * hexadecimal digits? Those of a whole family of versions do ("libc.so.6").
 */
bool pug_profile_object_is(const struct pug_profile_object *object, const char *name);

/* ---- files, docs/book/formats/profile.md ---- */

/**
 * The profile as the bytes of a file, sorted. *bytes is freed with free(). The same profile gives
 * the same bytes.
 */
enum pug_status pug_profile_write(struct pug_profile *profile, uint8_t **bytes, size_t *size);

/**
 * A profile from a file's bytes, of this version or one before. PUG_ERR_FORMAT: not a profile, or a
 * damaged one, or a later version.
 */
enum pug_status pug_profile_read(const uint8_t *bytes, size_t size, struct pug_profile **profile);

/** Do bytes begin as a profile's file does? */
bool pug_profile_is(const uint8_t *bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
