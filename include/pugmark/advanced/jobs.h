// SPDX-License-Identifier: MIT
/**
 * @file Decoding a whole capture on several threads, with the output of one.
 *
 * The capture is cut into pieces, and each thread decodes one with a clone of the tree, as if the
 * trace began there. What a decoder does before it is synchronised, and while it lacks what came
 * before, is not the true output; so the thread that comes from the left goes on into the next
 * piece until its state (state.h) is the same, at the same place, as that of the decoder which
 * started there. Only from that place on the other's output counts. Where states never become equal
 * the decoder from the left does it all: slower, but the output is always that of one thread.
 */
#ifndef PUGMARK_JOBS_H
#define PUGMARK_JOBS_H

#include "pugmark/advanced/consumer.h"
#include "pugmark/advanced/peers.h"
#include "pugmark/advanced/state.h"
#include "pugmark/advanced/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How several threads decode, and the consumers of what they make. */
struct pug_jobs {
    unsigned threads; /**< 0: as many as there are processors for this process */
    /** All of these get the elements (consumer.h). If there are none, `deliver` is set. */
    const struct pug_consumer *consumers;
    size_t consumer_count; /**< of these */
    /**
     * The tree's own function (pug_tree_on_elements()) gets the elements, too, on the caller's
     * thread and in their order, whatever the number of threads.
     */
    bool deliver;
    /** Called now and then on the caller's thread; false: stop. May be NULL. */
    bool (*progress)(void *context, uint64_t done);
    void *progress_context; /**< is handed to progress() */
    size_t piece; /**< bytes that a thread takes at once; 0: a good size where parts are small */
    size_t block; /**< bytes between the first places where states are compared; 0: a good size */
    struct pug_peers
        *peers;        /**< processes that decode it together (peers.h); NULL: this one does */
    uint64_t spare[1]; /**< zero */
};

/** The result of decoding. */
struct pug_jobs_result {
    enum pug_response response; /**< the last one: fatal where decoding stopped at `at` */
    uint64_t at;                /**< bytes decoded */
    unsigned threads;           /**< that were at work; 1: it was done by the caller's alone */
    uint64_t repeated;          /**< bytes that were decoded twice until states were equal */
    bool stopped;               /**< take() or progress() said so */
    uint64_t spare[4];          /**< zero */
};

/** How many processors there are for this process. */
unsigned pug_jobs_processors(void);

/**
 * Decode `bytes` from a tree's beginning to its end, as DATA and END do. On one thread where the
 * capture is short, where somebody watches more than the tree's elements, where memory or
 * instructions come from the client's functions, where quirks are imitated, and for protocols that
 * do not write their state. The counters of a tree's sources count only what is decoded on one
 * thread. A consumer's answer of the WAIT class counts as "again": it gets the rest at once. `jobs`
 * may be NULL: all is as usual; so may `result`. PUG_ERR_INVALID_PARAM_VAL: no tree, no bytes, or a
 * function is missing that is not optional; PUG_ERR_MEM: decoding ended at result->at. A fatal
 * answer of the data path is no error here: see result->response.
 */
enum pug_status pug_tree_decode(struct pug_tree *tree, const struct pug_jobs *jobs,
                                const uint8_t *bytes, size_t size, struct pug_jobs_result *result);

#ifdef __cplusplus
}
#endif
#endif
