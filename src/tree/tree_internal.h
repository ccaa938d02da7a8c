// SPDX-License-Identifier: MIT
/** @file The tree's own shape, shared by its files. */
#ifndef PUG_TREE_INTERNAL_H
#define PUG_TREE_INTERNAL_H

#include "image/codemap.h"
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/transport.h"
#include "tree/embed.h"
#include "tree/slots.h"

/** How far the end of trace has come in one source. */
enum pug_end_phase { PUG_END_READ, PUG_END_DECODE, PUG_END_TELL, PUG_END_DONE };

struct pug_source {
    struct pug_tree *tree;
    const struct pug_protocol *protocol;
    void *config, *reader, *decoder;
    struct pug_stage stage;
    uint16_t slot;
    bool decodes;
    bool numbered;      /* the id is in the component names */
    bool borrows;       /* the configuration is another source's */
    bool touched;       /* it got something since it was made or renewed */
    bool reset_due;     /* … and is reset before it gets its first */
    bool heard;         /* nothing of it was lost before this tree began to read: another tree, from
                           which it is, knows that, or it is what is assumed */
    bool untimed;       /* no consumer reads the whole times of its packets */
    uint64_t came_time; /* where its clock stood when it came from another tree … */
    unsigned came_bits; /* … by so many bits; 0: it did not come */
    uint64_t shown;     /* up to here its runs were shown, though it has not taken all yet; or 0 */
    bool hide_bad_from_sink, hide_bad_from_monitor;
    enum pug_end_phase end_phase;
    bool end_asked; /* its end alone is under way, or waits for what is before it */
    bool ended;     /* it is done, and no packet came since */
    pug_packet_monitor_fn *monitor;
    void *monitor_context;
    pug_packet_sink_fn *sink;
    void *sink_context;
    pug_classify_fn *classify; /* of its own, or NULL */
    void *classify_context;
};

struct pug_tree {
    const struct pug_transport *transport;
    struct pug_settings settings; /* of the transport */
    void *transport_state;
    struct pug_transport_sink transport_sink;
    struct pug_transport_stats transport_stats;

    struct pug_image *image, *empty_image;
    struct pug_memory_chooser chooser; /* of its sources' code maps */
    void *companion;                   /* whom the chooser asks: freed with the tree; or NULL */
    void (*companion_free)(void *companion);
    bool few_speak;       /* sources that got nothing do not end, and are not created */
    uint32_t memory_page; /* bytes that callbacks are asked for; 0: of one instruction */
    bool memory_missing;  /* the image exists, but is not attached yet */
    struct pug_log *log;
    struct pug_quirks quirks;
    pug_classify_fn *classify;
    void *classify_context;
    size_t code_limit;

    struct pug_slots slots;
    struct pug_source **sources; /* by ascending slot */
    size_t source_count;

    struct pug_batch batch;
    struct pug_interleave *interleave; /* what was gathered of several sources, or NULL */
    pug_elements_fn *on_elements;
    void *elements_context;
    pug_element_fn *on_element;
    void *element_context;
    bool each_packet;
    struct pug_counts *counts; /* where ranges are counted, or NULL */
    bool shows_ranges;         /* … and delivered */
    bool any_order;            /* sources may come in any order */
    pug_elements_fn *others;   /* who gets all other elements then */
    void *others_context;
    /* Called for ranges that are only counted, and come from bytes before `present`. */
    pug_late_fn *on_late;
    void *late_context;
    uint64_t present;

    pug_run_fn *on_run;
    bool splice_runs; /* … takes spliced ones */
    bool row_runs;    /* … and rows */
    pug_touch_fn *on_touch;
    void *touch_context;
    void *run_context;
    pug_frame_fn *on_frame;
    void *frame_context;
    pug_encapsulation_fn *on_encapsulation;
    void *encapsulation_context;

    bool begun; /* there were bytes */
    bool live;  /* bytes come while they are decoded: what is certain does not wait for others */
    bool restart_due; /* the next bytes do not continue those before … */
    uint64_t dropped; /* … since so many between them were dropped; 0: they ended */
    bool end_asked;   /* END waits until nothing else does */
    bool ending;
    bool ended;      /* END has reached all sources, and no bytes came since */
    size_t end_next; /* the source that the end of trace has reached */
};

/** The n-th source, which is about to get something. */
struct pug_source *pug_tree_touch(struct pug_tree *tree, size_t n);

/** Reset the n-th source; one of few that speak is when it does. */
enum pug_response pug_tree_reset_source(struct pug_tree *tree, size_t n);

/** The worst of several answers counts. */
static inline enum pug_response pug_worse(enum pug_response a, enum pug_response b)
{
    return a > b ? a : b;
}

/* The operations of a batch. */
bool pug_batch_deliver(struct pug_batch *batch);
bool pug_batch_settle(struct pug_batch *batch, enum pug_response answer, size_t taken);
/**
 * Consumers of batches: one that discards, and that of single elements. The context is the tree.
 */
pug_elements_fn pug_batch_drop, pug_batch_give_each;

/** Turn after turn (interleave.c): what a transport gathered is decoded and delivered. */
enum pug_response pug_interleave_take(void *context, const struct pug_gathering *gathering);
/** Is there something left of it, for a consumer that waits? */
bool pug_interleave_waits(const struct pug_tree *tree);
enum pug_response pug_interleave_go_on(struct pug_tree *tree);
void pug_interleave_forget(struct pug_tree *tree);
/** The source is about to be freed. */
void pug_interleave_leave(struct pug_tree *tree, const struct pug_source *source);
void pug_interleave_free(struct pug_tree *tree);

/** Who gets a run, and is touched by it. NULL: no consumer, which is counted. */
struct pug_source *pug_tree_hear(struct pug_tree *tree, const struct pug_run *run);

/** Chooses the consumer of batches. */
void pug_tree_choose_consumer(struct pug_tree *tree);
/** While the tree counts: it takes them before whoever was chosen. */
void pug_tree_count_batches(struct pug_tree *tree);
/** Does somebody mind in what order sources come? */
bool pug_tree_minds_order(const struct pug_tree *tree);
/** May several sources be decoded, each over some of its turns, before elements are delivered? */
bool pug_tree_may_decode_ahead(const struct pug_tree *tree);
/** Ranges that are only counted are of `index` and what follows: is that late? */
static inline void pug_tree_counted(const struct pug_tree *tree, uint64_t index)
{
    if (index < tree->present)
        tree->on_late(tree->late_context, index);
}

/** The source counts from now on where its tree does, and shows ranges as that does. */
void pug_source_count(struct pug_source *source);
/** What it counted until now is where it went; it counts nowhere, until a tree takes it. */
void pug_source_count_no_more(struct pug_source *source);

enum pug_status pug_source_new(struct pug_tree *tree, const struct pug_source_config *config,
                               struct pug_source **source);
/** The same source, in the same slot of another tree. */
enum pug_status pug_source_clone(const struct pug_source *source, struct pug_tree *tree,
                                 struct pug_source **clone);
/** As it was when it was made, but for what its code map knows. */
enum pug_status pug_source_renew(struct pug_source *source);
enum pug_response pug_source_run(struct pug_source *source, const struct pug_run *run,
                                 size_t *used);
/**
 * Turns of a gathered run from `span->at` on: until they are used up; else the answer is not "go
 * on", and the next call goes on there. *worst: of the answers to each turn.
 */
enum pug_response pug_source_run_turns(struct pug_source *source, struct pug_span *span,
                                       enum pug_response *worst);
/** The packets of a span for their marks. */
void pug_source_take_marks(struct pug_source *source, struct pug_span *span);
/** Those that the reader has left at the end of trace. */
void pug_source_end_marks(struct pug_source *source);
/** A packet from somebody else. */
enum pug_response pug_source_take(struct pug_source *source, const struct pug_packet *packet);
/** Finish what was left when the consumer waited. */
enum pug_response pug_source_flush(struct pug_source *source);
enum pug_response pug_source_end(struct pug_source *source);
enum pug_response pug_source_reset(struct pug_source *source);

#endif
