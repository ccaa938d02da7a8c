// SPDX-License-Identifier: MIT
/** @file What a capture's blocks say to an index, each read by one of several threads. */
#ifndef PUG_INDEX_COLLECT_H
#define PUG_INDEX_COLLECT_H

#include "index/values.h"
#include "schedule/threads.h"

#include <stdatomic.h>

/** Records that grow. */
struct records {
    void *items;
    size_t count, room, size;
};

/** False: no memory. */
bool pug_index_add_record(struct records *records, const void *record);

/** When a block was read, something came whose place is in a block before. */
struct behind {
    uint64_t block;   /* of the place */
    uint64_t reading; /* the block that was read; of the end of trace: one past the last */
};

/** The clock of a source's reader where a block begins and ends (pug_protocol.reader_clock()). */
struct clock {
    uint64_t begin, end;
    uint32_t begin_bits, end_bits; /* 64: the time is whole; end: 0: it was not heard yet */
};

/** The result of reading a block, or a part of it, wherever it belongs. */
struct yield {
    uint64_t block;
    struct records summaries, marks, behind, values;
    uint64_t at;    /* how far the capture was read */
    uint32_t bytes; /* hash of the block's; 0: it is not known, or not asked for */
    bool crowded;   /* there were more ids than sources are counted; or times are not clear */
    bool has_states;
    size_t sources;              /* of the tree */
    struct collector *collector; /* while the block is read */
    struct clock *clocks;        /* of each source, after `states` */
    uint64_t states[];           /* the state after it: pug_index_state_hashes(); 0: unchanged; or
                                  * PUG_INDEX_STATE_LOST */
};

/** Makes the result of the block with this number; NULL: no memory. */
struct yield *pug_index_yield_new(const struct pug_tree *tree, uint64_t block);
void pug_index_yield_free(struct yield *yield);
/** A yield in bytes, for another process. The context is the job. */
void pug_index_yield_pack(const void *part, struct pug_state *to);
void *pug_index_yield_unpack(void *context, const uint8_t *from, size_t size);

/** An index to make, and its capture. */
struct job {
    struct pug_tree *tree; /* as new */
    struct pug_tree
        *standing; /* where reading begins, and used up; NULL: it begins with the trace */
    const uint8_t *bytes;
    uint64_t first;  /* block to begin with */
    uint64_t end;    /* of what is to be indexed */
    bool ends;       /* … and that of the trace */
    uint64_t block;  /* bytes */
    uint64_t blocks; /* of what is indexed */
    bool elements;   /* decode; else the marks */
    bool full;
    const uint16_t *full_ids; /* where not all are */
    size_t full_count;
    struct pug_index_value_rules rules;
    atomic_uint given_up; /* bit set of kinds of which there are too many values by now */
    /** Take what a block gave; it is freed afterwards. False: stop. */
    bool (*take)(void *context, const struct yield *yield);
    void *take_context;
    uint64_t at;                  /* how far what was taken came */
    uint64_t *times;              /* of each source the last one in it, whole */
    uint64_t *behind;             /* by id, for a while: what times of a block lack */
    bool crowded;                 /* there was what one thread alone can read */
    struct collector *collectors; /* by worker */
    struct pug_peers *peers;      /* processes that read it together, or NULL */
};

/** False: no memory. */
bool pug_index_collect(struct job *job, unsigned threads);

/* ---- a tree that somebody else feeds ---- */

struct collector;

/** A good size of blocks. */
uint64_t pug_index_default_block(const struct pug_tree *tree);

/**
 * Watch all that a tree reads, beside what it is read for; one yield takes all of it. NULL: no
 * memory, or a source that has no packets. The job is borrowed.
 */
struct collector *pug_index_watch(struct job *job, struct pug_tree *tree);
/** Nothing more comes; *yield is the caller's, and NULL where there was no memory. */
void pug_index_unwatch(struct collector *collector, struct pug_tree *tree, struct yield **yield);
/** What came so far, which goes on growing; NULL: there was no memory. */
const struct yield *pug_index_yield_so_far(struct collector *collector);

/**
 * What a watched tree gave, as an index of what was read of a capture, `flags` being what it is
 * beside what the job says.
 */
enum pug_status pug_index_assemble(struct pug_tree *tree, const struct job *job,
                                   const struct yield *yield, const uint8_t *bytes, uint64_t size,
                                   unsigned flags, struct pug_index **index);

/** What a trigger carries: its first eight bytes, the first one lowest. */
static inline uint64_t pug_index_payload(const struct pug_run *run)
{
    uint64_t value = 0;
    for (size_t i = 0; i < run->size && i < sizeof(value); i++)
        value |= (uint64_t)run->bytes[i] << 8 * i;
    return value;
}

#endif
