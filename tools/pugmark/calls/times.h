// SPDX-License-Identifier: MIT
/**
 * @file How long calls of each function took: how often, shortest, mean, longest, in all and by
 * itself, with and without interrupts, by caller; how far entries are apart; and the longest call.
 */
#ifndef PUGMARK_TOOL_TIMES_H
#define PUGMARK_TOOL_TIMES_H

#include "input/capture_options.h"
#include "pugmark/calls.h"
#include "text/sink.h"

/** The unit of times: the best clock that the trace has. */
enum times_unit { TIMES_TIME, TIMES_CYCLES, TIMES_INSTRUCTIONS, TIMES_UNITS };

#define TIMES_PATH    24u /**< callers of the longest call that are kept */
#define TIMES_CALLEES 16u /**< what it called itself, the same */

/** A row of a histogram is a quarter of an octave. */
#define TIMES_ROW_BUCKETS 32u
#define TIMES_ROWS        232u

struct times_callee {
    uint32_t function; /**< by number */
    uint64_t calls, took[TIMES_UNITS];
};

struct times_sum {
    uint64_t count; /**< whole calls */
    uint64_t shortest[TIMES_UNITS], longest[TIMES_UNITS], sum[TIMES_UNITS];
    uint64_t own[TIMES_UNITS];            /**< without callees, without interrupts */
    uint64_t interrupts[TIMES_UNITS];     /**< in the sum, spent in interrupts */
    uint64_t own_interrupts[TIMES_UNITS]; /**< of these, what came while it ran itself */
};

struct times_function {
    const char *name; /**< NULL: it has none */
    uint64_t start;
    bool exception;
    struct times_sum all;
    uint64_t total[TIMES_UNITS]; /**< of outermost calls: recursion counts once */
    uint64_t partial;            /**< calls of which only a part is in the trace */
    /** Between an entry and the next one of the same task, where both have a time. */
    uint64_t distances[TIMES_UNITS], nearest[TIMES_UNITS], farthest[TIMES_UNITS],
        apart[TIMES_UNITS];
    uint64_t *histogram[TIMES_UNITS]; /**< of the one that was asked for */
    uint64_t *rows[TIMES_UNITS];      /**< TIMES_ROWS of it; of all that were asked for */
    /* its longest call, by the best clock then: */
    uint64_t worst_index, worst_time;
    uint32_t worst_path[TIMES_PATH], worst_depth; /**< callers, the nearest first */
    struct times_callee worst_callees[TIMES_CALLEES];
    uint32_t worst_callee_count;
};

/** Calls of a function from another one. */
struct times_edge {
    uint32_t caller, callee; /**< caller: UINT32_MAX: none is known */
    struct times_sum sum;
};

struct times {
    struct times_function *functions;
    struct times_edge *edges;
    uint32_t function_count, edge_count;
    bool has[TIMES_UNITS];
    bool ns; /**< time is in nanoseconds, else in ticks */
};

/** Beside the sums: how calls are spread. */
struct times_wanted {
    const char *histogram; /**< of a function, by name, exactly; or NULL */
    bool rows;             /**< of each function, in rows of a histogram */
    const char *rtos;      /**< the kernel whose threads are followed, as --rtos says it; or NULL */
};

/**
 * Follow all that is chosen of an input. The exit code; NULL in *times only where nothing could be
 * decoded.
 */
int times_of(struct input *input, struct pug_names *names, const struct times_wanted *wanted,
             struct times **times);
void times_free(struct times *times);

/** The clock that tables are in. */
enum times_unit times_unit(const struct times *times);
/** "ns", "ticks", "cycles", "instructions". */
const char *times_unit_name(const struct times *times);

enum times_form { TIMES_TEXT, TIMES_CSV, TIMES_JSON };

/** A table by function, or with `callers` by function and caller; 0 rows: all. */
void times_put(const struct times *times, struct pug_names *names, enum times_form form,
               bool callers, uint64_t rows, struct pug_sink *sink);
/** All of it as one JSON object, for the page of a report: `most` functions, and calls by caller.
 */
void times_put_page(const struct times *times, struct pug_names *names, size_t most,
                    struct pug_sink *sink);
/** How the calls of a function are spread. False: it has none. */
bool times_put_histogram(const struct times *times, struct pug_names *names, const char *function,
                         enum times_form form, struct pug_sink *sink);

#endif
