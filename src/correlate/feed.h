// SPDX-License-Identifier: MIT
/** @file Buffers that are decoded side by side: each a row of trees and bytes. */
#ifndef PUG_CORRELATE_FEED_H
#define PUG_CORRELATE_FEED_H

#include "correlate/correlate.h"

/** A buffer that is being decoded. */
struct pug_correlate_feed {
    struct pug_correlate *correlate;
    uint32_t buffer;       /**< its number among the feeds, too */
    struct pug_tree *tree; /**< NULL: it sleeps until it is fed */
    const uint8_t *bytes;  /**< from `index` on; NULL: read() brings them */
    uint64_t index, size;  /**< of what the tree is to be fed; how much is left of it */
    bool done, stopped;    /**< all of it was fed; decoding stopped before that */
    bool idle;             /**< no source of the tree was chosen */
    enum pug_status status;
    /** Bring the next bytes, at most `size`; how many. */
    size_t (*read)(struct pug_correlate_feed *feed, uint64_t from, uint8_t *bytes, size_t size);
    /** Another tree and more bytes; false: there are none. NULL: there never are. */
    bool (*next)(struct pug_correlate_feed *feed);
    /** Make the tree of one that sleeps again. NULL: none does. */
    enum pug_status (*wake)(struct pug_correlate_feed *feed);
    /** Say what the clock of an ITM counts. NULL: it is unknown. */
    void (*rates)(const struct pug_correlate_feed *feed, struct pug_correlate_source *source);
    uint64_t start; /**< index of the first byte of this tree */
    const struct pug_correlate_choice *choice;
    struct pug_origin_reader *origin_reader; /**< chooses elements; NULL: all are chosen */
    void *own;                               /**< the maker's */
};

/** The tree is there: its sources are streams, and its elements come to us. */
enum pug_status pug_correlate_feed_begin(struct pug_correlate_feed *feed);

/** Feed all of them to their ends. */
enum pug_status pug_correlate_feed_all(struct pug_correlate *correlate,
                                       struct pug_correlate_feed *feeds, size_t count,
                                       const struct pug_correlate_choice *choice);

#endif
