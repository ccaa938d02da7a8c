// SPDX-License-Identifier: MIT
/** @file Tables of threads, and threads by a DWT's watchpoint alone, without program flow. */
#ifndef PUGMARK_TOOL_THREADS_SWO_H
#define PUGMARK_TOOL_THREADS_SWO_H

#include "input/input.h"

struct thread_tally {
    uint64_t instructions, cycles, switches;
    uint64_t longest; /**< without a switch */
    bool seen;
};

/** A row of a table. */
struct threads_row {
    uint16_t source;
    char *name;
    const char *kind;
    bool has_value;
    uint64_t value;
    struct thread_tally tally;
};

struct threads_table {
    struct threads_row *rows;
    size_t count;
    bool json, csv, cycles, failed;
    const char *unit; /**< what shares are of */
};

void threads_table_begin(struct threads_table *table, bool json, bool csv, bool cycles,
                         const char *unit);
/** `kind` is borrowed. */
void threads_table_add(struct threads_table *table, uint16_t source, const char *name,
                       bool has_value, uint64_t value, const char *kind,
                       const struct thread_tally *tally);
/** Prints all rows, those that ran most first. False: no memory. */
bool threads_table_end(struct threads_table *table);

/** A name as a field of CSV: quoted, quotes doubled. */
void threads_put_field(const char *text);
/** A line for a switch. */
void threads_put_switch(uint64_t index, uint16_t source, uint64_t time, const char *from,
                        const char *to, bool json, bool csv);

/** Has the input ITMs alone, and no program flow? */
bool threads_swo_is(struct input *input);
/** Threads by values that a DWT or software sends, with their times. An exit code. */
int threads_swo(struct input *input, struct pug_names *names, const char *rtos, bool switches,
                bool json, bool csv);

#endif
