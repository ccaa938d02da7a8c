// SPDX-License-Identifier: MIT
/**
 * @file Whole streams through a tree: in pieces, with a consumer that waits, and damaged. What must
 * hold for every protocol: the same elements whatever the pieces and waits, and no harm by damage.
 */
#ifndef PUG_TESTS_SUPPORT_STREAM_H
#define PUG_TESTS_SUPPORT_STREAM_H

#include "pugmark/advanced/quirks.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"

/** Elements as "INDEX TEXT", log records as "! INDEX TEXT". */
struct stream_lines {
    char **items;
    size_t count, room;
};

void stream_lines_free(struct stream_lines *lines);

/** Assert that the lines are these; the last one is NULL. */
void stream_assert_lines(const struct stream_lines *lines, const char *const *wanted);

struct stream_run;
/** Assert that elements are the same, and so are log records; `how` they came for the message. */
void stream_assert_same(const struct stream_lines *want, const struct stream_lines *got,
                        const struct stream_run *how);

struct stream_run {
    const char *protocol, *transport;
    struct pug_settings settings;
    struct pug_decode_options options;
    struct pug_quirks quirks;
    struct pug_image *image;
    const uint8_t *bytes;
    size_t size;
    size_t longest; /**< bytes of the longest packet: damage may reach back that far */
    /* how it is run */
    size_t block;             /**< bytes of an operation; 0: all at once */
    uint64_t blocks_seed;     /**< or of random size up to `block` */
    unsigned wait_every;      /**< the consumer waits at each n-th element */
    uint64_t waits_seed;      /**< or at random, once in `wait_every` */
    bool each_packet;         /**< elements are delivered after each packet */
    bool watched;             /**< so that packets are really read and decoded one by one */
    unsigned jobs;            /**< on so many threads, which join at blocks of `block` bytes */
    unsigned resets;          /**< run it again this often after a reset */
    uint64_t resets_seed;     /**< … each other time with damaged bytes */
    bool states;              /**< a line for the written state after each operation */
    pug_packet_sink_fn *sink; /**< packets only, to this */
    void *sink_context;
    /* what comes out */
    struct stream_lines *lines;
    enum pug_response answer;
};

void stream_run(struct stream_run *run);

/** The same step by step: a tree, its log, and where the lines go. */
struct stream_tree {
    struct stream_run *run;
    struct pug_log *log;
    struct pug_tree *tree;
    uint64_t elements;
    uint64_t waits; /**< state of the random numbers for waits_seed */
};

void stream_tree_open(struct stream_tree *stream, struct stream_run *run);
void stream_tree_close(struct stream_tree *stream);

/** One operation with bytes from `at` on, and flushes while it waits; how many were taken. */
size_t stream_tree_data(struct stream_tree *stream, size_t at, size_t size,
                        enum pug_response *answer);

/** Assert that pieces of every size class, and waits, change nothing. */
void stream_check_splits_and_waits(const struct stream_run *run, uint64_t seed);

/** Damage bytes, which do not become more; *first: the first place that changed. */
struct rec_random;
void stream_damage(struct rec_random *random, uint8_t *bytes, size_t *size, size_t *first);

/** Give the run a damaged copy of its bytes, which is returned, to be freed. */
uint8_t *stream_damage_copy(struct stream_run *run, uint64_t seed, size_t *first);

/**
 * Assert that a protocol's fast path gives what read() and decode() give, which are asked
 * where packets are watched; also with waits, in pieces, and where a tree has seen the same before.
 */
void stream_check_fast(const struct stream_run *run, uint64_t seed);

/** Assert that a tree that counts has the counts of its elements. */
void stream_check_counts(const struct stream_run *run);

/** Assert that several threads give what one gives. */
void stream_check_jobs(const struct stream_run *run);

/**
 * Damage a copy of the bytes: what comes before is decoded as it was, and pieces and waits still
 * change nothing.
 */
void stream_check_damage(const struct stream_run *run, uint64_t seed);

/**
 * Assert that a damaged copy gives the same packet by packet as all at once, with elements
 * delivered after each packet or not, whole and in pieces, and with a consumer that waits at
 * random.
 */
void stream_check_at_once(const struct stream_run *run, uint64_t seed);

/** Makes a trace of about so many packets. */
struct rec_bytes;
typedef struct rec_bytes stream_make_fn(uint64_t seed, unsigned packets);

/** Both, on many traces; `run` is for all of them, but for its bytes. */
void stream_check_properties(const struct stream_run *run, stream_make_fn *make);

#endif
