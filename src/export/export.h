// SPDX-License-Identifier: MIT
/** @file What the formats share. */
#ifndef PUG_EXPORT_EXPORT_H
#define PUG_EXPORT_EXPORT_H

#include "pugmark/export.h"
#include "text/sink.h"

/** A profile on its way to a format. */
struct exporter {
    const struct pug_profile *profile;
    const struct pug_export_options *options;
    struct pug_sink *sink;
    /* those that were chosen, in the profile's order */
    const uint32_t *objects;
    size_t object_count;
};

/**
 * Sorts a profile and chooses those of its objects that options name. The caller frees *chosen, in
 * which they are. The strings and tables of the options are borrowed.
 */
enum pug_status pug_export_prepare(struct pug_profile *profile,
                                   const struct pug_export_options *options, struct pug_sink *sink,
                                   struct exporter *exporter, uint32_t **chosen);

/** Is the code in an object (or PUG_PROFILE_NONE: in none) chosen for the report? */
bool pug_export_is_chosen(const struct exporter *exporter, uint32_t object);

/** Writes a format. */
typedef enum pug_status export_fn(const struct exporter *exporter);

export_fn pug_export_autofdo, pug_export_profgen, pug_export_bolt, pug_export_fdata,
    pug_export_llvm, pug_export_pprof, pug_export_callgrind, pug_export_folded, pug_export_table,
    pug_export_json;

/** How often instructions from `first` to `last` ran, however they ended. */
struct export_range {
    uint64_t first, last, count;
};

/** A taken branch of an object. */
struct export_branch {
    uint64_t from, to, count;
    bool foreign; /* it leads out of the object, or its target is unknown; `to` is 0 */
};

/** The counts of one object, by place. */
struct export_counts {
    struct export_range *ranges;
    struct export_branch *branches;
    size_t range_count, branch_count;
};

/**
 * The counts of an object: ranges that differ in their end alone are one, branches that leave it
 * are one each by where they come from. Free them also where it failed.
 */
enum pug_status pug_export_counts(const struct exporter *exporter, uint32_t object,
                                  struct export_counts *counts);
void pug_export_counts_free(struct export_counts *counts);

/** Sort; branches that are equal but for their counts are made one. How many are left. */
size_t pug_export_join_branches(struct export_branch *branches, size_t count);

/** An address in the file of an object; without a segment, the address itself. */
uint64_t pug_export_offset(const struct pug_profile_object *object, uint64_t vaddr);

/** The build id in hexadecimal digits; "" where it is not known. */
struct export_build_id {
    char digits[2 * PUG_PROFILE_BUILD_ID + 1];
};
struct export_build_id pug_export_build_id(const struct pug_profile_object *object);

/** What is counted: "instructions", or "samples" of the program counter. */
static inline const char *pug_export_unit(const struct exporter *exporter)
{
    return pug_profile_is_sampled(exporter->profile) ? "samples" : "instructions";
}

/** "250 PC samples, 34 % asleep …": what a profile of samples rests on; "" of others. */
void pug_export_sampled(const struct exporter *exporter, char *words, size_t size);

/* ---- places.c ---- */

struct pug_names_file;

/** The file of an object, for its names; NULL: it is not there, or no names are wanted. */
struct pug_names_file *pug_export_file(const struct exporter *exporter, uint32_t object);

/** A function of an object; without a symbol it is called "[address]" and lies there alone. */
struct export_function_name {
    const char *name; /* as the options want it; "[unknown]": in no object; or `own` */
    uint64_t start;
    bool known;
    char own[24];
};
void pug_export_function(const struct exporter *exporter, uint32_t object, uint64_t vaddr,
                         struct export_function_name *name);

/** A linkage name as the options want names: as people write it, unless they want it mangled. */
const char *pug_export_readable(const struct exporter *exporter, const char *name);

/** diff.c: two profiles compared, written to the first one's sink. */
enum pug_status pug_export_changes(const struct exporter *before, const struct exporter *after);

/* ---- calls.c ---- */

/** An instruction that calls. */
struct export_site {
    uint32_t object;
    uint64_t vaddr;
};

struct export_sites {
    struct export_site *items; /* by place */
    size_t count;
};

/** Calls that ran; free `items`, also where it failed. */
enum pug_status pug_export_call_sites(const struct exporter *exporter, struct export_sites *sites);
bool pug_export_is_call(const struct export_sites *sites, uint32_t object, uint64_t vaddr);

/** How often a function was entered at its start: called, or jumped to from another one. */
struct export_entry {
    uint32_t object;
    uint64_t vaddr, count;
};

struct export_entries {
    struct export_entry *items; /* by place */
    size_t count;
};

/** Free `items`, also where it failed. */
enum pug_status pug_export_entries(const struct exporter *exporter,
                                   const struct export_sites *sites,
                                   struct export_entries *entries);
uint64_t pug_export_entered(const struct export_entries *entries, uint32_t object, uint64_t vaddr);

/* ---- unnamed.c ---- */

/** Where functions without a symbol begin, by place; free `items`, also where it failed. */
enum pug_status pug_export_unnamed(const struct exporter *exporter, struct export_sites *starts);
/** The last of them at the place or before it in its object; else the place itself. */
uint64_t pug_export_unnamed_start(const struct export_sites *starts, uint32_t object,
                                  uint64_t vaddr);

/* ---- callers.c ---- */

/** The place in the function of its parent where a frame was entered. */
struct export_caller {
    uint32_t object;
    uint64_t vaddr;
    bool exact; /* false: somewhere in it, it starts there */
};

/**
 * One for each frame, by number; nothing of those without a parent. Free it. NULL: no memory.
 */
struct export_caller *pug_export_callers(const struct exporter *exporter);

/* ---- functions.c ---- */

/** The counts of a function. */
struct export_function {
    uint32_t object; /* PUG_PROFILE_NONE: memory of no object */
    uint64_t start;
    const char *name;   /* lives as long as the functions do */
    uint64_t self;      /* instructions */
    uint64_t inclusive; /* with those that it called, recursion once; 0: there are no stacks */
    uint64_t calls;     /* how often it was entered */
    uint64_t cycles, time;
};

struct export_functions {
    struct export_function *items; /* by object and start */
    size_t count;
    char **texts; /* names of their own */
    size_t text_count;
    uint64_t instructions; /* of all */
    bool has_stacks, has_cycles, has_time;
    uint32_t *of_frame; /* the number of each frame's function */
    /* what each frame did, with those above it; 0 where its function is below it, too */
    uint64_t *cost_of_frame;
};

/** All functions that ran; free them also where it failed. */
enum pug_status pug_export_functions(const struct exporter *exporter,
                                     struct export_functions *functions);
void pug_export_functions_free(struct export_functions *functions);

/** The number of the function that starts at a place; PUG_PROFILE_NONE: it did not run. */
uint32_t pug_export_function_number(const struct export_functions *functions, uint32_t object,
                                    uint64_t start);

/** What ran on each frame itself, by its number: instructions, cycles or time. NULL: no memory. */
uint64_t *pug_export_frame_weights(const struct exporter *exporter, enum pug_export_weight weight);

/* ---- stacks.c ---- */

/**
 * Where each stack is written with its frames, deep recursion would give the square of its depth.
 * So of a deep one there are so many frames at each end, and one for those between.
 */
#define PUG_EXPORT_STACK_END  128u
#define PUG_EXPORT_STACK_MOST (2 * PUG_EXPORT_STACK_END + 1)
#define PUG_EXPORT_STACK_REST "[...]"

/** Frames by number, and in which stack each is the top. */
struct export_stacks {
    struct export_stacks_item *items;
    size_t count;
};

/** False: no memory. `items` are freed by pug_export_stacks_free(), also then. */
bool pug_export_stacks_begin(struct export_stacks *stacks, size_t count);
/** The next frame; the one that it is on, PUG_PROFILE_NONE for none, came before. */
void pug_export_stacks_add(struct export_stacks *stacks, uint32_t parent);
/** The frames of a stack from its top on; PUG_PROFILE_NONE: those between. How many. */
size_t pug_export_stack(const struct export_stacks *stacks, uint32_t top,
                        uint32_t path[PUG_EXPORT_STACK_MOST]);
/** The innermost frame of a deep stack's outer end; of others PUG_PROFILE_NONE. */
uint32_t pug_export_stack_outer(const struct export_stacks *stacks, uint32_t top);
void pug_export_stacks_free(struct export_stacks *stacks);

/* ---- lines.c ---- */

/** How often each instruction of an object ran: constant between two steps. */
struct export_steps {
    uint64_t *at;    /* addresses where counts change, ascending */
    uint64_t *count; /* from there on */
    size_t steps;
};
enum pug_status pug_export_steps(const struct exporter *exporter, uint32_t object,
                                 struct export_steps *steps);
void pug_export_steps_free(struct export_steps *steps);
/** The count of the instruction at an address. */
uint64_t pug_export_count_at(const struct export_steps *steps, uint64_t vaddr);

/** An instruction of an object's code, whether it ran or not. */
struct export_instruction {
    uint64_t vaddr, count;
    const uint8_t *bytes; /* `size` of them */
    const char *path;     /* of its source; NULL: not known */
    uint32_t line, discriminator;
    uint8_t size, isa;
    uint8_t it_count; /* of T32: instructions that are still in an IT block, this one included */
    bool plt;
};

/** Does it call: is its return address kept? */
bool pug_export_calls(const struct export_instruction *instruction);

/** Is it a branch that may be not taken: also a return, and also because of its IT block? */
bool pug_export_is_conditional(const struct export_instruction *instruction);

/**
 * Go through the code of an object by address, until `take` returns false. PUG_ERR_NOT_FOUND: its
 * file is not there.
 */
enum pug_status pug_export_instructions(const struct exporter *exporter, uint32_t object,
                                        bool (*take)(void *context,
                                                     const struct export_instruction *instruction),
                                        void *context);

/** A way through the instructions of a range. */
struct export_walk {
    uint64_t at;          /* the next instruction */
    uint32_t left;        /* so many are still to come */
    const uint8_t *bytes; /* those of the next one; NULL: the code is not there */
    uint64_t end, mean;   /* of the code; bytes of an instruction, where it is not there */
    uint8_t isa;
};

/** To its first instruction. Where the code is not there all are taken to be of one size. */
struct export_walk pug_export_walk(const struct exporter *exporter,
                                   const struct pug_profile_range *range);
/** On to the first instruction that is not before an address; how many were passed. */
uint32_t pug_export_walk_to(struct export_walk *walk, uint64_t vaddr);

/** A source line. */
struct export_line {
    uint32_t object;
    const char *path;
    uint32_t line;
    uint64_t highest; /* count of its instruction that ran most */
    uint64_t sum;     /* counts of all its instructions */
};

struct export_lines {
    struct export_line *items; /* by object, path and line */
    size_t count, room;
    size_t missing; /* objects whose files or lines are not there */
};

/** The lines of all chosen objects; free `items`, also where it failed. */
enum pug_status pug_export_lines(const struct exporter *exporter, struct export_lines *lines);

static inline const struct pug_profile_object *export_object(const struct exporter *exporter,
                                                             uint32_t number)
{
    size_t count;
    return &pug_profile_objects(exporter->profile, &count)[number];
}

/** The title of a column of times, with its unit. */
static inline const char *pug_export_time_title(const struct exporter *exporter)
{
    return pug_profile_time_unit(exporter->profile) == PUG_PROFILE_NANOSECONDS ? "time ns"
                                                                               : "time ticks";
}

#endif
