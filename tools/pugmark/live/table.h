// SPDX-License-Identifier: MIT
/** @file What `pugmark top` knows: shares of functions, interrupts, ports, counters, losses. */
#ifndef PUGMARK_TOOL_TABLE_H
#define PUGMARK_TOOL_TABLE_H

#include "pugmark/advanced/image.h"
#include "pugmark/pugmark.h"
#include "text/sink.h"

#define TOP_FUNCTIONS  4096u /* more names are "others" */
#define TOP_INTERRUPTS 512u
#define TOP_PORTS      256u
#define TOP_LINE       80u
#define TOP_NAME       96u
#define TOP_ENTRIES    1024u /* of functions without a name */

struct top_function {
    char name[TOP_NAME];
    uint64_t all, now, before; /* instructions or samples; `before`: `all` when the second began */
};

struct top_interrupt {
    uint64_t count, total, longest, timed; /* cycles, of `timed` of them */
    uint64_t entered;                      /* when it was entered the last time, plus 1; 0: no */
    uint16_t number;
    bool m_profile; /* the number is one of an M-profile core */
};

struct top_port {
    uint64_t bytes;
    char line[TOP_LINE], part[TOP_LINE]; /* the last whole one, and what came of the next one */
    size_t size;
};

struct top_watch {
    uint64_t count;
    uint32_t address, value;
    bool write, has_value;
};

struct top_table {
    const struct pug_image *image;
    struct top_function *functions; /* TOP_FUNCTIONS + 1, the last one is "others" */
    size_t function_count;
    struct pug_symbol last; /* of the last range */
    size_t last_function;
    uint64_t entries[TOP_ENTRIES]; /* ascending: where calls led to code without a name */
    size_t entry_count;
    bool enters; /* the next range begins a function */
    struct top_interrupt interrupts[TOP_INTERRUPTS];
    size_t interrupt_count;
    unsigned nesting, nesting_most;
    struct top_port ports[TOP_PORTS];
    uint64_t counters[8];
    struct top_watch watches[PUG_DWT_COMPARATORS];
    uint64_t losses, elements, all, now, before; /* all: of functions */
    uint64_t bytes, bytes_before, rate;
    double seconds;
    bool samples; /* functions are by PC samples */
};

enum top_sort { TOP_BY_NOW, TOP_BY_ALL, TOP_BY_NAME, TOP_SORTS };

/** False: no memory. */
bool top_table_open(struct top_table *table, const struct pug_image *image);
void top_table_close(struct top_table *table);
/** Everything is counted from 0 again. */
void top_table_reset(struct top_table *table);

void top_table_element(struct top_table *table, const struct pug_element *element);
void top_table_event(struct top_table *table, const struct pug_dwt_event *event);
/** A second passed (or so much of it): what is counted from now on is of the next one. */
void top_table_second(struct top_table *table, double seconds, double passed);

/** Print it into so many lines of so many columns; `source`: "" or which one is shown. */
void top_table_print(const struct top_table *table, struct pug_sink *sink, unsigned rows,
                     unsigned columns, enum top_sort sort, const char *source);
void top_table_json(const struct top_table *table, struct pug_sink *sink, enum top_sort sort);

#endif
