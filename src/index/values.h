// SPDX-License-Identifier: MIT
/** @file Which values the marks of some kinds have, and in which blocks. */
#ifndef PUG_INDEX_VALUES_H
#define PUG_INDEX_VALUES_H

#include "index/format.h"

/** Each value once: a table with open addressing. A kind with too many values is given up. */
struct pug_index_value_table {
    struct pug_index_file_value *slots; /* last < first: empty */
    size_t mask;                        /* slots - 1; 0: none yet */
    size_t counts[PUG_MARK_KINDS];
    size_t count;
    uint32_t given_up; /* bit set of kinds */
};

/** That a mark in a block has a value; goes to another process as it is. */
struct pug_index_listed {
    uint64_t value;
    uint32_t block, kind;
};

/** The values that one index lists. */
struct pug_index_value_rules {
    unsigned part_shift;
    size_t limits[PUG_MARK_KINDS]; /* 0: a kind's values are not listed */
};

struct pug_index_value_rules pug_index_value_rules(uint64_t trace_size, uint64_t block);

/** A value in some blocks. False: no memory. */
bool pug_index_value_add(struct pug_index_value_table *table,
                         const struct pug_index_value_rules *rules,
                         const struct pug_index_file_value *value);
/** Values of marks, as blocks list them. */
bool pug_index_values_add(struct pug_index_value_table *table,
                          const struct pug_index_value_rules *rules,
                          const struct pug_index_listed *listed, size_t count);
/** All values in the order of the file. */
void pug_index_values_sort(const struct pug_index_value_table *table,
                           struct pug_index_file_value *out);
void pug_index_values_free(struct pug_index_value_table *table);

#endif
