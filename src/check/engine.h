// SPDX-License-Identifier: MIT
/**
 * @file Checking from inside.
 *
 *     elements ─ check.c ─ streams.c ─ pug_calls ─ calls.c, frames.c ─ queue.c ─ measure.c, order.c
 *                                └ swo.c ──────────────┘
 *
 * A *core* is a trace source: its clocks, and what waits for them. A *stream* has one call stack: a
 * core, or a thread that its context id or the capture shows. An event with a time waits in the
 * core's queue until the next time comes, so that the two times around it are known.
 */
#ifndef PUG_CHECK_ENGINE_H
#define PUG_CHECK_ENGINE_H

#include "check/rules.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/calls.h"
#include "swo/handlers.h"
#include "swo/swo.h"

#define CHECK_UNKNOWN UINT64_MAX

/** From when to when something was: it happened between the two. */
struct check_interval {
    uint64_t from, to; /**< 0, CHECK_UNKNOWN: not known */
};

/** When something happened, on all clocks. */
struct check_stamp {
    struct check_interval time, cycles; /**< time: timestamps as the trace has them */
    uint64_t instructions;              /**< of the stream */
    uint64_t index;                     /**< trace index */
};

/* ---- sums: what was measured ---- */

#define CHECK_BUCKETS (256u + 128u * 56u)

/** The bucket of a value: 128 to each octave, below 256 one for each value. */
unsigned pug_check_bucket(uint64_t value);
/** The least value of a bucket, and the greatest. */
uint64_t pug_check_bucket_first(unsigned bucket);
uint64_t pug_check_bucket_last(unsigned bucket);

/** Values of one rule, of one function and one scope. Each lies between two numbers. */
struct check_sum {
    const char *function, *scope; /**< NULL: all */
    uint64_t count;
    uint64_t low_total, high_total; /**< of the lower numbers, of the upper ones */
    uint64_t shortest_low, shortest_high, longest_low, longest_high;
    uint64_t *low, *high;     /**< how many are in each bucket; NULL: no percentile is asked for */
    uint64_t partial;         /**< began before the trace, or were cut by its end */
    uint64_t partial_longest; /**< the longest of these, as far as it was seen */
    uint64_t partial_total;
    uint64_t unknown; /**< trace was lost inside */
};

/** False: no memory. A value with no upper bound has `high` CHECK_UNKNOWN. */
void pug_check_sum_add(struct check_sum *sum, uint64_t low, uint64_t high);
/** The value of a statistic, between two numbers. False: nothing was measured. */
bool pug_check_sum_value(const struct check_sum *sum, const struct check_rule *rule,
                         struct check_interval *value);
/** Does a value keep the limit? */
enum pug_verdict pug_check_compare(const struct check_interval *value, uint8_t cmp, uint64_t limit);

/* ---- rules while they are checked ---- */

struct check_tally {
    struct check_rule rule;
    bool impossible;   /**< this capture cannot decide it */
    bool was_possible; /**< one of the captures could */
    bool decided;      /**< by coverage or a diagnosis: `decided_why` and `decided_verdict` */
    uint8_t decided_verdict;
    bool found; /**< `found` was called */
    bool noted; /**< `first` is a place that the rule may be about */
    struct pug_check_place first;
    const char *why_not; /**< because of this */
    uint64_t violations, unknown, count, partial, lost;
    bool has_violation, has_unknown;
    struct pug_check_place violation, open;
    const char *violation_why, *unknown_why;
    struct pug_list sums; /**< struct check_sum * */
    uint32_t *slots;      /**< a table of these: numbers and one; of a power of two, or NULL */
    size_t slot_count;
    uint64_t total, other; /**< of a share: all instructions or time, and the thread's */
    bool share_of_time;
    uint64_t maybe; /**< of a share: of an unknown thread */
    uint8_t unit;
    const char *decided_why; /**< at the end */
    uint8_t verdict;
    uint64_t value;
    bool has_value;
    uint32_t variable_size;
    uint64_t variable; /**< address of what is watched */
    bool has_variable, variable_signed;
    bool saw_depth, shallow; /**< the function of a depth was entered; something ran before */
};

/** A function of the program that was met, or that a rule names. */
struct check_function {
    const char *name;
    uint64_t start, size; /**< as the object's file has them */
    uint32_t object;
    uint32_t first_link, link_count; /**< in `links`; those that measure stand first */
    uint32_t measures, plain;        /**< how many of them measure; are not `counted` */
    uint32_t quiet_stream, quiet;    /**< no counted one minded an entry in that stream's version */
    bool measured_own;               /**< a rule wants its own time */
    uint64_t entries;                /**< that were seen */
    uint64_t found;                  /**< times that it was there without an entry */
};

enum check_role { CHECK_ROLE_SUBJECT, CHECK_ROLE_OTHER };

/** That a rule is about a function. */
struct check_link {
    uint32_t rule;
    uint32_t function;
    uint8_t role;   /**< enum check_role */
    uint8_t kind;   /**< enum check_kind, of the rule */
    bool interrupt; /**< of CHECK_NOT_IN: in an interrupt */
    bool counted;   /**< of CHECK_RUNS, CHECK_NOT_IN, CHECK_ONLY_IN: by the function's entries */
    struct check_sum *sum; /**< CHECK_TAKES, of scope all */
};

/** A rule about depth, as each entry looks at it. */
struct check_depth {
    uint32_t rule;
    uint64_t bound; /**< more violates */
    uint64_t deepest;
    bool shallow; /**< something ran before the function was entered */
};

/** Code whose running is looked for. */
struct check_span {
    uint64_t start, end; /**< end is not in it */
    uint32_t rule, function;
};

/** A copy of a function inside another one, in one piece. */
struct check_copy {
    uint64_t start, end; /**< end is not in it */
    uint32_t function;   /**< plus 1 */
};

struct check_object {
    bool opened;
    struct pug_names_file *file;
    struct pug_list spans;  /**< struct check_span, by start */
    struct pug_list copies; /**< struct check_copy, by start, outer ones first */
    uint64_t longest;       /**< of the spans */
    uint64_t longest_copy;
};

/* ---- what is open ---- */

/** A call that is measured, of one link and one stream. */
struct check_call {
    struct check_call *next_open;  /**< of the stream's */
    const struct check_copy *copy; /**< it is none: an inlined copy whose thread waits */
    struct check_stream *stream;
    uint32_t link;
    /* as the stack is now */
    /**
     * Frames of the function; a tail call goes on for one of them. Inner frames count at the
     * function's first link alone.
     */
    uint32_t nest;
    uint32_t depth;      /**< of the outermost frame */
    uint32_t exceptions; /**< levels that were open when it began */
    bool carried;        /**< a tail call goes on for it, at `depth` */
    bool open;
    uint32_t pauses; /**< reasons for which its time stands still */
    /* as far as times are known */
    bool begun, holds_pause, found, damaged;
    struct check_stamp start, pause, gap; /**< gap: where trace was lost first, of `damaged` */
    struct check_interval paused_time, paused_cycles; /**< sums: at least, at most */
    uint64_t paused_instructions;
    struct check_sum *sum;
};

/** An order that is looked at, of one rule and one core or stream. */
struct check_order {
    bool used;
    uint32_t rule;
    uint32_t nest;          /**< frames of the other function */
    uint32_t carried_depth; /**< plus 1; 0: it is not carried by a tail call */
    bool has_last, damaged, waiting, switched;
    bool repeated;           /**< of CHECK_EVERY: there was a second entry */
    struct check_stamp last; /**< entry; of a rule that follows, return */
    uint32_t last_function;
    struct pug_list pending; /**< struct check_pending */
    const char *scope;
};

struct check_pending {
    struct check_stamp stamp;
    bool damaged;
};

enum check_op {
    CHECK_OP_BEGIN,
    CHECK_OP_PAUSE,
    CHECK_OP_RESUME,
    CHECK_OP_END,    /**< `flags`: enum check_op_flag */
    CHECK_OP_ENTRY,  /**< of the rule's subject */
    CHECK_OP_OTHER,  /**< entry of the other one */
    CHECK_OP_RETURN, /**< return of the other one */
    CHECK_OP_GAP,    /**< `flags`: enum pug_call_gap */
};

enum check_op_flag { CHECK_FOUND = 1, CHECK_CUT = 2, CHECK_DAMAGED = 4 };

/** An event that waits for its time. */
struct check_event {
    struct check_stamp stamp;
    struct check_call *call;
    struct check_order *order;
    uint32_t function; /**< plus 1; 0: none */
    uint8_t op, flags;
    bool time_known, cycles_known;
};

/** Lists of streams that a gap has to reach: for calls, and for orders, by enum pug_call_gap. */
enum { CHECK_DUE_CALLS = 0, CHECK_DUE_ORDERS = 3, CHECK_DUE = 6 };

struct check_core {
    uint32_t buffer;
    uint16_t source;
    uint32_t number;
    struct check_stream *current;
    bool has_time, has_cycles;
    uint64_t time, cycles, first_time;
    uint64_t gap_time; /**< when something began to be missing; of CHECK_NO_GAP */
    bool in_gap, gap_has_time;
    uint64_t gap_index;
    struct pug_list queue;                      /**< struct check_event */
    size_t queued_from, time_from, cycles_from; /**< first that waits: at all, for each clock */
    struct check_order *orders;                 /**< by rule */
    const char *label;
    bool software; /**< it has events of a DWT, too */
    uint64_t loss_count;
    struct pug_list due[CHECK_DUE]; /**< struct check_stream *: due.c */
};

struct check_stream {
    uint32_t number; /**< for pug_calls */
    uint32_t task, context;
    bool has_context;
    uint32_t core_key;
    struct check_core *core; /**< where it ran last */
    uint8_t due;             /**< bits: lists of that core which it is in */
    uint64_t instructions;
    uint64_t time_at, cycles_at;     /**< instructions when they came; CHECK_UNKNOWN */
    uint64_t task_time, task_cycles; /**< as pug_calls has them */
    uint32_t exceptions;             /**< levels that are open */
    uint32_t version;                /**< changes with what entries are looked at for */
    bool switches;                   /**< threads that are not distinguished run in it */
    struct check_call **calls;       /**< by link */
    struct check_call *open;         /**< that are measured now */
    struct check_order *orders;      /**< by rule */
    uint32_t *depths;        /**< by rule: base + 1 of CHECK_DEPTH; open frames of the other */
    uint32_t carried;        /**< calls, orders and others that a tail call goes on for */
    struct pug_list carries; /**< struct check_carry: of these the others */
    struct check_call *idle; /**< that are not measured, and can be again */
    bool returned;           /**< it returned from an exception that began before the trace */
    struct pug_list
        doubtful; /**< uint32_t: rules with entries that may have been in an interrupt */
    const char *label, *name;
    bool unknown_thread;    /**< the kernel's thread is unknown */
    struct pug_list copies; /**< struct check_open_copy: inlined ones that it is in */
    bool on_track;          /**< nothing is missing since its last range */
};

/** The function that a rule says something has to be in, or not: a tail call goes on for it. */
struct check_carry {
    uint32_t rule, depth;
};

/** A copy of an inlined function that runs, in a frame of its caller. */
struct check_open_copy {
    const struct check_copy *copy;
    uint32_t depth; /**< of the frame */
};

struct check_swo;

/** A thread of a kernel, by the number of its task. */
struct check_thread {
    uint32_t task;
    const char *name;
    bool unknown;
};

#define CHECK_CACHE 4096u

struct check_near {
    const struct pug_address_space *space;
    uint64_t address;
    uint32_t function; /**< plus 1; 0: none is known there */
    bool used;
};

struct pug_check {
    struct check_text texts;
    struct pug_list rules;   /**< struct check_rule, then taken over by tallies */
    struct pug_list tallies; /**< struct check_tally */
    struct pug_list errors;  /**< struct pug_check_error */
    struct pug_check_options options;
    struct pug_names *names, *own_names;
    bool saw, finished, stopped, lost_ever;
    enum pug_status status;
    uint32_t captures;
    /* of the capture at hand: */
    struct pug_capture *capture;
    struct pug_consumer consumer; /**< that it is decoded for */
    const char *path;
    bool flow, software, ns, live;
    bool uses_time, uses_cycles, counts_lines, looks_depth, looks_spans, looks_program;
    bool looks_copies; /**< of inlined functions */
    bool measures_own; /**< a rule wants a function's own time */
    struct pug_calls *calls;
    struct pug_list functions; /**< struct check_function */
    uint32_t *table;           /**< of functions by object and start: plus 1 */
    uint32_t table_size;
    struct pug_list links;  /**< struct check_link, by function */
    struct pug_list depths; /**< struct check_depth */
    struct check_object *objects;
    uint32_t object_count;
    struct check_near near[CHECK_CACHE];
    const struct pug_origin *where;
    struct pug_location at; /**< where the last address was */
    const struct pug_address_space *at_space;
    bool at_known;
    uint64_t clear_first, clear_last; /**< addresses around the last range without a span */
    struct pug_list cores, streams;   /**< pointers */
    struct check_stream **slots;      /**< a table of the streams, of a power of two or NULL */
    size_t slot_count;
    struct pug_list threads; /**< struct check_thread: the known names */
    bool fed;                /**< elements come by pug_check_element() */
    struct check_core *core;
    struct check_stream *stream;
    const struct pug_element *element;
    uint32_t segment;
    bool any_segment;
    struct check_swo *swo;
    struct pug_list suspended; /**< struct check_call *: all that were made */
    struct pug_profile *profile;
    struct pug_profiling *profiling;
    struct pug_mcdc *mcdc; /**< evaluations of decisions, of all captures */
    uint32_t first_stream; /**< streams of earlier captures */
    bool looks_decisions;
    struct pug_diagnosis *diagnosis;
    uint64_t diagnosed;
    struct pug_vectors vectors;
    struct pug_tree *tree;
    struct pug_list vector_names; /**< exceptions that rules name, with their vectors */
    uint64_t local_hertz, global_hertz;
    uint64_t samples;       /**< of the program counter */
    uint64_t flow_seen;     /**< ranges that ran */
    bool watches;           /**< accesses to memory came */
    uint64_t lost, missing; /**< losses, and ranges without memory, of the capture */
};

#define CHECK_TALLY(check, n)       (&((struct check_tally *)(check)->tallies.items)[n])
#define CHECK_FUNCTION_AT(check, n) (&((struct check_function *)(check)->functions.items)[n])
#define CHECK_LINK_AT(check, n)     (&((struct check_link *)(check)->links.items)[n])

static inline void pug_check_starve(struct pug_check *check)
{
    check->status = PUG_ERR_MEM;
}

/** What one side of a rule names, while functions are looked for. */
struct check_bound {
    uint32_t rule;
    uint8_t role; /**< enum check_role */
    bool looks;   /**< it is a function */
    struct check_subject subject;
    size_t found;           /**< functions of the linker */
    size_t copies;          /**< inlined ones */
    bool unseen, scattered; /**< entries of a copy are not to be seen: nothing, or several pieces */
    const char *path;       /**< of that copy */
    uint32_t line;
    const char *near; /**< the inlined function whose name is nearest, where none is found */
    unsigned distance;
};

/* ---- functions.c ---- */
/** Finds the functions of all rules; errors where there are none. */
bool pug_check_bind(struct pug_check *check);
void pug_check_unbind(struct pug_check *check);
pug_locate_fn pug_check_locate;
/** The function at an address of what is decoded now: its number plus 1, or 0. */
uint32_t pug_check_function_at(struct pug_check *check, uint64_t address);
/** Looks for code in a range that must not run. */
void pug_check_look(struct pug_check *check, const struct pug_element *range);
/** The number of a function with that name plus 1, or 0. */
uint32_t pug_check_named(struct pug_check *check, const char *name);
/** Does a rule mean a function with this name? */
bool pug_check_is_name(struct pug_check *check, const struct check_subject *subject,
                       const char *name);
/** A rule is about a function. False: no memory. */
bool pug_check_link(struct pug_check *check, uint32_t rule, enum check_role role,
                    uint32_t function);
/** Code of an object must not run. False: no memory. */
bool pug_check_span(struct pug_check *check, uint32_t object, uint64_t start, uint64_t end,
                    uint32_t rule, uint32_t function);
/** What a rule names is wrong. */
void pug_check_refuse(struct pug_check *check, const struct check_rule *rule,
                      const struct check_subject *subject, const char *message);
/**
 * Finds the object of an address: `check->at`. Its `vaddr` is what to add to addresses. False:
 * none.
 */
bool pug_check_go_to(struct pug_check *check, uint64_t address);

/* ---- inlined.c ---- */
/** Finds inlined copies of the functions that rules name: `count` sides of rules. */
void pug_check_bind_copies(struct pug_check *check, struct check_bound *bound, uint32_t count);
void pug_check_say_inlined(struct pug_check *check, const struct check_bound *bound);

/* ---- copies.c ---- */
/** A range runs on the newest frame: inlined copies are entered and left. */
void pug_check_run_copies(struct pug_check *check, struct check_stream *stream,
                          const struct pug_element *range);

/* ---- begin.c ---- */
/** Marks rules that this capture can never decide. */
void pug_check_foresee(struct pug_check *check);

/* ---- due.c ---- */

/** The stream of this task, context and core_key, or NULL. */
struct check_stream *pug_check_find_stream(const struct pug_check *check,
                                           const struct check_stream *wanted);
/** A new one, which is the last of the list; false: no memory. */
bool pug_check_keep_stream(struct pug_check *check, struct check_stream *stream);
/** It takes something: the next gap of each kind has to reach it. */
void pug_check_touch(struct pug_check *check, struct check_stream *stream);
/** How many streams a gap has to reach: core->due[kind], each once, by their numbers. */
size_t pug_check_due(struct check_core *core, unsigned kind);
/** It reached them. */
void pug_check_undue(struct check_core *core, unsigned kind);

/* ---- streams.c ---- */
void pug_check_element(struct pug_check *check, const struct pug_origin *where,
                       const struct pug_element *element);
/**
 * For a caller that knows threads and hands over elements itself: from now on the consumer of
 * pug_check_decode() only counts what other consumers decide.
 */
void pug_check_feed(struct pug_check *check);
/** Names a task, before its first element. */
void pug_check_thread(struct pug_check *check, uint32_t task, const char *name, bool unknown);
/** Does it want more elements? */
bool pug_check_goes_on(const struct pug_check *check);
void pug_check_end_streams(struct pug_check *check);
void pug_check_free_streams(struct pug_check *check);
struct check_core *pug_check_core(struct pug_check *check, uint32_t buffer, uint16_t source);
struct check_stream *pug_check_stream(struct pug_check *check, struct check_core *core,
                                      const struct pug_element *element);
/** The order of a rule where its scope keeps it. NULL: not of this scope, or no memory. */
struct check_order *pug_check_order_of(struct pug_check *check, struct check_stream *stream,
                                       uint32_t rule);
/** Does the rule's scope have this stream in it? */
bool pug_check_in_scope(struct pug_check *check, const struct check_rule *rule,
                        struct check_stream *stream);
/** The name of a stream in a scope; NULL: all. */
const char *pug_check_scope_label(const struct check_rule *rule, const struct check_stream *stream);

/** Something is missing on a core from here on. */
void pug_check_lose(struct pug_check *check, struct check_core *core, enum pug_call_gap gap,
                    uint64_t index);

/* ---- queue.c ---- */
/** Hands on what has happened, now or when its time is known. */
void pug_check_queue(struct pug_check *check, struct check_core *core,
                     const struct check_event *event);
/** The core came to a time. */
void pug_check_come_to_time(struct pug_check *check, struct check_core *core, uint64_t time);
void pug_check_come_to_cycles(struct pug_check *check, struct check_core *core, uint64_t cycles);
/** Nothing more comes. */
void pug_check_flush(struct pug_check *check, struct check_core *core);

/* ---- calls.c ---- */
pug_call_event_fn pug_check_on_call;
void pug_check_exception(struct pug_check *check, struct check_stream *stream, unsigned numbers,
                         uint32_t number, const struct check_event *stamp);
void pug_check_exception_return(struct pug_check *check, struct check_stream *stream);
/** A stream stops or goes on to run on its core. */
void pug_check_pause_stream(struct pug_check *check, struct check_stream *stream, bool resume);
/** A function was entered or left without a stack that has it: of a DWT. */
void pug_check_enter(struct pug_check *check, struct check_stream *stream, uint32_t function,
                     const struct check_event *stamp, uint32_t depth, bool found);
void pug_check_leave(struct pug_check *check, struct check_stream *stream, uint32_t function,
                     const struct check_event *stamp, uint32_t depth, unsigned flags);
void pug_check_pause_interrupted(struct pug_check *check, struct check_stream *stream,
                                 const struct check_event *stamp, bool resume);

/* ---- measure.c ---- */
void pug_check_measure(struct pug_check *check, struct check_core *core,
                       const struct check_event *event);
/** The distance of two stamps in a unit. */
struct check_interval pug_check_distance(const struct pug_check *check,
                                         const struct check_stamp *from,
                                         const struct check_stamp *to, uint8_t unit);
struct check_sum *pug_check_sum_of(struct pug_check *check, struct check_tally *tally,
                                   const char *function, const char *scope);

/* ---- order.c ---- */
void pug_check_ordered(struct pug_check *check, struct check_core *core,
                       const struct check_event *event);
/** The trace is over at a stamp. */
void pug_check_order_end(struct pug_check *check, struct check_core *core,
                         struct check_order *order, const struct check_stamp *end,
                         const struct check_stamp *begin);

/* ---- verdict.c ---- */
struct check_seen {
    const struct check_core *core;
    const struct check_stream *stream; /**< or NULL */
    const struct check_stamp *stamp;   /**< or NULL: the element at hand */
    uint32_t function;                 /**< plus 1; 0: none */
};
/** Keeps the first place that a rule may be about, should it be violated in the end. */
void pug_check_note(struct pug_check *check, uint32_t rule, const struct check_seen *seen);
/** A rule is violated, or left open, here. */
void pug_check_violate(struct pug_check *check, uint32_t rule, const struct check_seen *seen,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
void pug_check_doubt(struct pug_check *check, uint32_t rule, const struct check_seen *seen,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- cover.c: of rules about MC/DC ---- */
/** A range ended with a conditional branch, perhaps. False: no memory. */
bool pug_check_decision(struct pug_check *check, uint32_t stream, const struct pug_element *range);
void pug_check_forget_decision(struct pug_check *check, uint32_t stream);

/* ---- swo.c ---- */
bool pug_check_swo_take(struct pug_check *check, struct check_core *core,
                        const struct pug_element *element);
void pug_check_swo_end(struct pug_check *check);
void pug_check_swo_free(struct pug_check *check);
/** Is a text in a line? "*" and "?" stand for others. */
bool pug_check_holds_text(const char *text, const char *line);
/** A line of text of a port or channel. */
void pug_check_line(struct pug_check *check, struct check_core *core, unsigned port,
                    const char *line, const struct check_event *stamp);
/* ---- watch.c ---- */
/** Finds the variable that a rule names. `program`: symbols of one are known. */
void pug_check_bind_watch(struct pug_check *check, uint32_t rule, bool program);
/** An access to memory: by a DWT, or data trace. */
void pug_check_access(struct pug_check *check, struct check_core *core, uint64_t address,
                      bool has_value, uint64_t value, unsigned size,
                      const struct check_event *stamp);

/* ---- swo.c ---- */
/** Is a name an exception's? By the profile's words, the handler's symbol, or its number. */
bool pug_check_is_exception(struct pug_check *check, const char *name, unsigned numbers,
                            uint32_t number);

#endif
