// SPDX-License-Identifier: MIT
/**
 * @file What has to be read so that a part of the trace is complete, with leaps over what is not.
 */
#ifndef PUG_INDEX_TAIL_READS_H
#define PUG_INDEX_TAIL_READS_H

#include "pugmark/advanced/index.h"
#include "pugmark/advanced/tree.h"

/** Read [from, to), of the sources that are not settled before it. */
struct pug_index_leap {
    uint64_t from, to;
};

/** All sources are read up to `until`; what of the part comes later comes of a few. */
struct pug_index_tail_reads {
    uint64_t until;
    struct pug_index_leap *leaps; /* in their order */
    size_t count;
    uint64_t *settled; /* of each source: up to here it is read; UINT64_MAX: and ended */
    size_t sources;
};

/**
 * For elements with an index in [from, to), by an index that has the marks of all of the capture;
 * the tree decodes. A source that the part leaves in the middle of something says the rest of it
 * when it speaks next, however far away: the marks say where. False: it is not known, or there is
 * no memory; *rest is empty then.
 */
bool pug_index_tail_reads_find(const struct pug_index *index, const struct pug_tree *tree,
                               const uint8_t *bytes, uint64_t size, uint64_t from, uint64_t to,
                               struct pug_index_tail_reads *rest);

/**
 * With a tree that has read all up to `until`: read the rest. Listeners are those of elements
 * alone. *tree, which must be a copy of `model`, is another one afterwards. False: no memory.
 */
bool pug_index_tail_reads_read(const struct pug_index_tail_reads *rest,
                               const struct pug_index *index, const struct pug_tree *model,
                               const uint8_t *bytes, struct pug_tree **tree);

void pug_index_tail_reads_free(struct pug_index_tail_reads *rest);

/** Has the index marks of all of a capture of so many bytes, and of all ids that speak in it? */
bool pug_index_has_all_marks(const struct pug_index *index, uint64_t size);

#endif
