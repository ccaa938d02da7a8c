// SPDX-License-Identifier: MIT
/** @file An index in the making, and what its file is put together of. */
#ifndef PUG_INDEX_MAKING_H
#define PUG_INDEX_MAKING_H

#include "index/collect.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

/** An index in the making. */
struct making {
    struct pug_index_file_header header;
    const struct pug_index *old; /* what it is the continuation of, or NULL */
    uint64_t kept;               /* blocks of it that stay as they are */
    const struct pug_index_options *options;
    unsigned threads;
    struct job job; /* that is being done */
    uint64_t at;    /* how far it has come */
    struct pug_index_file_block *blocks;
    uint64_t *states; /* the last known of the transport and of each source, hashed */
    uint64_t *times;  /* the last one of each source, in what is kept or was read */
    struct records summaries, all_marks;
    struct pug_index_value_table values;
    struct pug_index_file_source *sources;
    size_t source_count;
    bool failed;
    bool crowded; /* more ids than sources are counted: one thread has to number them */
};

/** Short of memory, these set `failed`. */
void pug_index_gather(struct making *making, struct records *to, const void *items, size_t count);
/** Summaries of the same block, source and kind become one; all of them, and marks, are in order.
 */
void pug_index_sort(struct making *making);
/** Those of the tree, and each id that has summaries. */
void pug_index_fill_sources(struct making *making, const struct pug_tree *tree);
void pug_index_number_blocks(struct making *making);
enum pug_status pug_index_lay_file(struct making *making, struct pug_index **out);

#endif
