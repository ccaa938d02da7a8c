// SPDX-License-Identifier: MIT
/**
 * @file From captures to profiles: where addresses lie, what a range is in its object, and what of
 * a part of the trace is for the caller's thread.
 */
#ifndef PUG_PROFILE_STEPS_H
#define PUG_PROFILE_STEPS_H

#include "calls/stack.h"
#include "profile/profile.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/advanced/state.h"
#include "pugmark/profiler.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/** A place: an address in an object; object PUG_PROFILE_NONE: a run-time address. */
struct profile_place {
    uint64_t vaddr;
    uint32_t object; /* the capture's number */
};

/** The kinds of step. */
enum profile_step_kind {
    PROFILE_STEP_RANGE,
    PROFILE_STEP_CYCLES, /* a range that came with cycles: the start of the step after it */
    PROFILE_STEP_OTHER,  /* the next one of the part's elements */
};

/** What says how a range ended, as its element has it; `kind` is where that has its type. */
struct profile_shape {
    uint16_t flags;
    uint8_t kind, reason; /* enum profile_step_kind; 0 */
    uint8_t last_type, last_subtype, last_size, isa;
};

/** As a word: equal ones are the same. */
static inline uint64_t pug_profile_word(const struct profile_shape *shape)
{
    uint64_t word;
    memcpy(&word, shape, sizeof(word));
    return word;
}

static inline struct profile_shape pug_profile_shape(const struct pug_element *range)
{
    static const struct profile_shape kept = {.flags = PUG_ELEM_EXECUTED | PUG_ELEM_CONDITIONAL,
                                              .last_type = 0xff,
                                              .last_subtype = 0xff,
                                              .last_size = 0xff,
                                              .isa = 0xff};
    static_assert(sizeof(kept) == 8 &&
                      offsetof(struct pug_element, isa) - offsetof(struct pug_element, flags) ==
                          offsetof(struct profile_shape, isa),
                  "a shape is what elements have side by side");
    struct profile_shape shape;
    uint64_t word;
    memcpy(&word, &range->flags, sizeof(word));
    word &= pug_profile_word(&kept);
    memcpy(&shape, &word, sizeof(shape));
    return shape;
}

/** A range without its context. */
struct profile_step {
    uint64_t start;
    uint32_t size, instructions; /* bytes; no range has more */
    struct profile_shape shape;
};

static inline struct profile_step pug_profile_step(const struct pug_element *range)
{
    const uint64_t size = range->end - range->start;
    return (struct profile_step){range->start, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
                                 range->count, pug_profile_shape(range)};
}

/** The same in an element, which has its context, and nothing that a range does not have. */
static inline void pug_profile_step_put(const struct profile_step *step, struct pug_element *range)
{
    range->start = step->start;
    range->end = step->start + step->size;
    range->count = step->instructions;
    memcpy(&range->flags, &step->shape, sizeof(step->shape));
    range->type = PUG_ELEM_INSTR_RANGE;
}

/** A range of instructions that ran, in its object. It is a line of a cache. */
struct profile_node {
    struct profile_step step; /* from the object's address on */
    uint32_t object;
    uint32_t loops, head;   /* what the loops know of it: see loops.c */
    uint32_t target_object; /* of a direct branch that was taken: its opcode says where it goes … */
    uint64_t target;        /* … in this object, */
    bool has_target;
    bool goes_back;  /* … to an address that is not after it, and not for a call */
    uint8_t departs; /* enum pug_departure_kind */
    uint32_t text;   /* which its opcode is of, as the map has it; of several maps: of its space */
    int32_t reach;   /* from the branch to its target; NO_REACH: none that is known */
    uint32_t seen;   /* number of the map by which it was the same lately */
};

/** Behind its last instruction. */
static inline uint64_t pug_profile_node_behind(const struct profile_node *node)
{
    return node->step.start + node->step.size;
}

/** Its last instruction. */
static inline uint64_t pug_profile_node_last(const struct profile_node *node)
{
    return pug_profile_node_behind(node) - node->step.shape.last_size;
}

/** Did it end with a branch that was taken? */
static inline bool pug_profile_node_jumps_on(const struct profile_node *node)
{
    return node->departs != PUG_DEPART_NONE;
}

#define NO_NODE  UINT32_MAX
#define NO_REACH INT32_MIN
#define MAPS     8u

/** The memory around an address. */
struct profile_map {
    uint64_t first, last; /* run-time; first > last: nothing */
    uint64_t moved;       /* to be subtracted */
    uint32_t object;
    uint32_t text;   /* 0: the object's own; else what was written over that */
    uint32_t number; /* no other map had it */
};

struct profile_node_cache {
    struct pug_capture *capture;
    struct profile_node *nodes;
    uint32_t *slots; /* 0: free; else a node's number plus 1 */
    uint32_t node_count, node_room, slot_count;
    uint64_t space; /* number of that which the maps are of */
    struct profile_map maps[MAPS];
    unsigned map, next_map;
    uint32_t maps_made;
};

/** Does it lead to another frame, if it leads out of its function at all? */
static inline bool pug_profile_node_stays(const struct profile_node *node)
{
    return node->departs == PUG_DEPART_NONE || node->departs == PUG_DEPART_JUMP;
}

/** A group of steps that belong together. */
struct profile_steps {
    struct pug_origin origin;
    struct pug_element like; /* the context of its ranges */
    size_t count;
    bool left_out; /* of what was not chosen: what a clock needs of it */
};

/** Samples of one address. */
struct profile_sample {
    struct pug_origin origin;
    uint64_t count;
    uint32_t pc;
};

struct profile_part {
    struct pug_capture *capture;
    struct pug_counts *counts;  /* of ranges that are given as elements; NULL: none were */
    uint32_t segment;           /* PUG_PROFILE_NONE: there were no elements */
    bool chosen;                /* some of them were not left out */
    struct profile_step *steps; /* what concerns call stacks, for the caller's thread: ranges … */
    size_t step_count, step_room;
    struct pug_element *others; /* … what is no range … */
    size_t other_count, other_room;
    struct profile_steps *groups; /* … and where they belong */
    size_t group_count, group_room;
    bool stacks;             /* steps are kept */
    bool failed;             /* no memory */
    bool unwanted;           /* it does not count, nor would what follows */
    struct pug_piece *piece; /* to emit chunks; NULL: none are */
    uint64_t notes[PUG_NOTE_COUNT];
    struct profile_sample *samples;
    size_t sample_count, sample_room;
    uint64_t sampled[PUG_SAMPLES_KINDS];
};

/* steps.c */
void pug_profile_node_cache_free(struct profile_node_cache *cache);
/** The map that holds an address; it is the cache's current one then. */
const struct profile_map *pug_profile_find_map(struct profile_node_cache *cache,
                                               const struct pug_origin *origin, uint64_t address);
/** Maps are of one address space: elements of this origin come next. */
void pug_profile_node_cache_enter(struct profile_node_cache *cache,
                                  const struct pug_origin *origin);

/** The place of an address, in the space of the cache's origin. */
static inline struct profile_place profile_place(struct profile_node_cache *cache,
                                                 const struct pug_origin *origin, uint64_t address)
{
    const struct profile_map *map = &cache->maps[cache->map];
    if (address - map->first > map->last - map->first || map->last < map->first)
        map = pug_profile_find_map(cache, origin, address);
    return (struct profile_place){address - map->moved, map->object};
}
/** How a range ended: enum pug_profile_end. */
uint8_t pug_profile_node_end(const struct profile_node *node);
/** Describes the range of an element. */
struct profile_node pug_profile_describe(struct profile_node_cache *cache,
                                         const struct pug_origin *origin,
                                         const struct pug_element *range);
/** A branch of a context, which may be an element of it, that is no indirect one. */
struct profile_branch {
    const struct pug_element *context;
    uint64_t address;
    uint8_t isa;
};

/** The address to which it leads; false: its text is missing, or the target is unknown. */
bool pug_profile_target(const struct pug_origin *origin, const struct profile_branch *branch,
                        uint64_t *target);
/** Finds the target of its direct branch, if it is taken, from its opcode. */
void pug_profile_find_target(struct profile_node_cache *cache, const struct pug_origin *origin,
                             const struct pug_element *range, struct profile_node *node);
/**
 * Is a node, which is what a range is but for text, of the same text, and does that lead to the
 * same place? Text changes in its place, and what lies around it is another thing in each space.
 */
bool pug_profile_is_same_text(struct profile_node_cache *cache, const struct pug_origin *origin,
                              struct profile_node *node, const struct profile_step *range);
/** Is the node what a range is? `place`: where that begins, in the cache's current map. */
static inline bool pug_profile_is_node_of(struct profile_node_cache *cache,
                                          const struct pug_origin *origin,
                                          struct profile_node *node,
                                          const struct profile_place *place,
                                          const struct profile_step *range)
{
    return node->step.start == place->vaddr && node->object == place->object &&
           node->step.size == range->size && node->step.instructions == range->instructions &&
           pug_profile_word(&node->step.shape) == pug_profile_word(&range->shape) &&
           (node->seen == cache->maps[cache->map].number ||
            pug_profile_is_same_text(cache, origin, node, range));
}
/** The number of the range of an element; NO_NODE: no memory. */
uint32_t pug_profile_node(struct profile_node_cache *cache, const struct pug_origin *origin,
                          const struct pug_element *range);
/* part.c */
struct profile_part *pug_profile_part_new(struct pug_capture *capture, bool stacks);
void pug_profile_part_free(struct profile_part *part);
void pug_profile_part_elements(struct profile_part *part, const struct pug_origin *origin,
                               const struct pug_element *elements, size_t count);
/** Elements that do not count; what comes after them does not follow what was before. */
void pug_profile_part_left_out(struct profile_part *part, const struct pug_origin *origin,
                               const struct pug_element *elements, size_t count);

/** As struct pug_consumer has them; without steps they can be folded. */
void pug_profile_part_pack(const void *part, struct pug_state *bytes);
struct profile_part *pug_profile_part_unpack(struct pug_capture *capture, const uint8_t *bytes,
                                             size_t size);
bool pug_profile_part_fold(void *part, void *later);

/* objects.c */
/** The profile's numbers of a capture's objects. */
struct profile_objects {
    struct pug_profile *profile;
    struct pug_capture *capture;
    struct pug_names *names;
    uint32_t *numbers;             /* by the capture's; NO_NODE: not asked for yet */
    struct pug_names_file **files; /* NULL: there is none */
    size_t room;
};
/** The profile's number of an object; PUG_ERR_MEM. */
enum pug_status pug_profile_object_number(struct profile_objects *objects, uint32_t object,
                                          uint32_t *number);
/** Its names, or NULL. */
struct pug_names_file *pug_profile_object_names(struct profile_objects *objects, uint32_t object);
void pug_profile_objects_free(struct profile_objects *objects);

/** A node as a range of a profile, without counts. */
enum pug_status pug_profile_range_of(struct profile_objects *objects,
                                     const struct profile_node *node,
                                     struct pug_profile_range *range);

/* counted.c */
/** Counts on their way to a profile: ranges go there at once, branches when all is known. */
struct profile_counted {
    struct profile_objects *objects;
    struct profile_node_cache cache;
    struct profile_table endings;
    uint64_t notes[PUG_NOTE_COUNT];
};
struct profile_counted pug_profile_counted_begin(struct profile_objects *objects);
enum pug_status pug_profile_counted_add(struct profile_counted *counted,
                                        const struct pug_counts *counts);
/** A range ran so often, with so many cycles. */
enum pug_status pug_profile_counted_ran(struct profile_counted *counted,
                                        const struct profile_node *node, uint64_t count,
                                        uint64_t cycles);
/** Behind it execution went on there so often; where it jumped that is where its branch went. */
enum pug_status pug_profile_counted_went(struct profile_counted *counted,
                                         const struct profile_node *node, struct profile_place to,
                                         uint64_t count);
enum pug_status pug_profile_counted_end(struct profile_counted *counted);
void pug_profile_counted_free(struct profile_counted *counted);

/* rows.c */
/** Add what the capture counted in place of trace, if it did. */
enum pug_status pug_profile_rows(struct profile_objects *objects);

/* samples.c */
/** An ITMTRACE element of a part: it may be a sample. */
void pug_profile_samples_note(struct profile_part *part, const struct pug_origin *origin,
                              const struct pug_element *element);
/** Add those of a later part; false: no memory. */
bool pug_profile_samples_append(struct profile_part *part, const struct profile_part *later);

/** All samples of a capture, those of one address together. */
struct profile_samples {
    struct profile_table all; /* struct profile_sample */
    uint64_t sampled[PUG_SAMPLES_KINDS];
};
void pug_profile_samples_begin(struct profile_samples *samples);
void pug_profile_samples_free(struct profile_samples *samples);
enum pug_status pug_profile_samples_take(struct profile_samples *samples,
                                         const struct profile_part *part);
/** Put them into the profile; one that counts what ran gets a note that they were left out. */
enum pug_status pug_profile_samples_put(struct profile_samples *samples,
                                        struct profile_counted *counted, bool stacks);

/* stacks.c: on the caller's thread, in the trace's order */
struct profile_stacks;
/** Ranges that run are counted there, too. */
struct profile_stacks *pug_profile_stacks_new(struct profile_counted *counted);
void pug_profile_stacks_free(struct profile_stacks *stacks);
/** Take the steps of a part, which are of no use afterwards. */
enum pug_status pug_profile_stacks_take(struct profile_stacks *stacks, struct profile_part *part);
/** A segment begins, or goes on. Of those that take turns each has a number of its own. */
void pug_profile_stacks_turn(struct profile_stacks *stacks, uint32_t side, bool begins);
/** The trace is over. */
enum pug_status pug_profile_stacks_end(struct profile_stacks *stacks);

#endif
