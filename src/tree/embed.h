// SPDX-License-Identifier: MIT
/**
 * @file The tree's interface for code that runs many trees over one capture: the scheduler, the
 * index, captures and their survey, and tests.
 *
 * pugmark/advanced/tree.h is enough to decode. This header adds what threads and indexes need:
 * moving a source with all its state from one tree to another, comparing written states, and
 * knowing what the transport lost. Nothing outside src/tree includes the tree's private header.
 */
#ifndef PUG_TREE_EMBED_H
#define PUG_TREE_EMBED_H

#include "pugmark/advanced/state.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

#include <string.h>

struct pug_memory_chooser;

/* ---- trees ---- */

/** Returns the number of sources; pug_tree_source_at() gives each. */
size_t pug_tree_source_count(const struct pug_tree *tree);

/**
 * Makes a tree as it was when it was made, except for what its code maps know. A reset is
 * different: decoders report a reset in an element.
 */
enum pug_status pug_tree_renew(struct pug_tree *tree);

/** Makes a clone without a log and without quirks of the reference. */
enum pug_status pug_tree_clone_native(const struct pug_tree *tree, struct pug_tree **out);

/** The tree's bytes come while they are decoded: what is certain does not wait for others. */
void pug_tree_set_live(struct pug_tree *tree);

/**
 * The bytes that follow do not continue those before. `dropped` bytes between them are lost, which
 * elements say; 0: those before have come to their end, and others begin as in a new tree. It
 * happens when the next bytes come.
 */
void pug_tree_restart(struct pug_tree *tree, uint64_t dropped);

/**
 * Declares that few of the tree's sources will get trace before each renewal. Those that get none
 * give no end-of-trace element and cost nothing. One thread decodes all trace of such a tree.
 */
void pug_tree_few_speak(struct pug_tree *tree);

/** Can several threads decode this tree's trace? Not where a callback must see everything. */
bool pug_tree_can_be_shared(const struct pug_tree *tree);

/** Returns where the tree and its sources log, or NULL. */
struct pug_log *pug_tree_log(const struct pug_tree *tree);
/** Makes the tree and its sources log there; NULL: nowhere. */
void pug_tree_set_log(struct pug_tree *tree, struct pug_log *log);

/** Returns how often memory ran out for code that the tree, or a clone of it, reached. */
unsigned pug_tree_starved(const struct pug_tree *tree);

/** Is the source of this slot enabled (pug_tree_enable())? */
bool pug_tree_is_enabled(const struct pug_tree *tree, uint16_t slot);

/** Returns the consumer that pug_tree_on_elements() set, or NULL, and its context. */
pug_elements_fn *pug_tree_elements_consumer(const struct pug_tree *tree, void **context);

/** Returns what pug_tree_any_order() set. */
bool pug_tree_in_any_order(const struct pug_tree *tree);

/** Delivers the elements that wait in the batch. Returns the consumer's answer. */
enum pug_response pug_tree_deliver(struct pug_tree *tree);

/** Ends the n-th source alone, as the end of the trace would. */
void pug_tree_end_source(struct pug_tree *tree, size_t n);

/** Are the bytes of several sources gathered, and decoded for one source after another? */
bool pug_tree_gathers(const struct pug_tree *tree);

/** Has a memory chooser decide which memory the tree's sources see. */
void pug_tree_set_memory_chooser(struct pug_tree *tree, const struct pug_memory_chooser *chooser);

/** Gives the tree an object that it frees with itself. */
void pug_tree_set_companion(struct pug_tree *tree, void *companion, void (*free)(void *companion));

/** Called before the n-th source gets trace for the first time; may put another in its place. */
typedef void pug_touch_fn(void *context, size_t n);
/** Sets that callback, or removes it (NULL). */
void pug_tree_on_touch(struct pug_tree *tree, pug_touch_fn *function, void *context);

/** Shows runs to pug_tree_on_runs() as rows, too, where a transport gives rows. */
void pug_tree_row_runs(struct pug_tree *tree, bool rows);

/** Called for ranges that are only counted; `index`: of the first of their bytes. */
typedef void pug_late_fn(void *context, uint64_t index);
/** Sets the callback for counted ranges that come from bytes before `present`. */
void pug_tree_on_late(struct pug_tree *tree, pug_late_fn *function, void *context);
/** Sets the index below which counted ranges are late; 0: none is. */
void pug_tree_set_present(struct pug_tree *tree, uint64_t present);

/**
 * Lets readers leave out what no monitor looks at. `no_times`: whole times of packets are not
 * needed either, and states leave them out.
 */
void pug_tree_skip_unwatched(struct pug_tree *tree, bool no_times);

/* ---- sources ---- */

void pug_source_free(struct pug_source *source);

/** Did the source get trace since it was made or renewed? */
bool pug_source_is_touched(const struct pug_source *source);

/**
 * Takes the n-th source out of a tree with all its state. A new one, cloned from `model`, gets its
 * place; the tree is a clone of `model`. Returns NULL when memory runs out.
 */
struct pug_source *pug_tree_take_source(struct pug_tree *tree, const struct pug_tree *model,
                                        size_t n);

/**
 * Puts a source that pug_tree_take_source() returned into the n-th place and frees the source that
 * was there. Marks and monitors stay those of the place.
 */
void pug_tree_put_source(struct pug_tree *tree, size_t n, struct pug_source *source);

/** Returns the bits of time that packets carry, and the time now; 64 bits: no clock to complete. */
unsigned pug_source_clock(const struct pug_source *source, uint64_t *time);
/** The same at the moment when the source came from another tree; 0 bits: it did not. */
unsigned pug_source_arrival_clock(const struct pug_source *source, uint64_t *time);

/** The mask of so many bits of time. */
static inline uint64_t pug_clock_mask(unsigned bits)
{
    return UINT64_MAX >> (64 - bits);
}

/** Can the source's decoder begin in the middle, and report when it knows all it needs? */
bool pug_source_can_resync(const struct pug_source *source);
/** Does such a decoder know all it needs by now? */
bool pug_source_is_resynced(const struct pug_source *source);
/** Returns which fields of the context the source knows: PUG_CTX_… flags. */
uint8_t pug_source_known_context(const struct pug_source *source);
/** Sets the whole time that a reader's clock stands at. */
void pug_source_set_time(struct pug_source *source, uint64_t time);
/** Starts a new decoder after what its reader has read already. False: out of memory. */
bool pug_source_begin_decoder(struct pug_source *source);

/* ---- what the transport lost ---- */

/** What a transport knows about the loss before a source's next packet. */
enum pug_tree_loss {
    PUG_TREE_LOSS,         /**< packets may be missing */
    PUG_TREE_NO_LOSS,      /**< none are */
    PUG_TREE_LOSS_UNKNOWN, /**< reading began in the middle; nothing came and nothing was lost since
                            */
};

/** Does the transport record which losses each source has seen? */
bool pug_tree_tells_losses(const struct pug_tree *tree);

/** Returns the loss before the n-th source's next packet. */
enum pug_tree_loss pug_tree_loss_of(const struct pug_tree *tree, size_t n);

/**
 * Assumes, before reading begins in the middle, that no source lost anything until there. Comparing
 * states shows later whether that is so.
 */
void pug_tree_assume_heard(struct pug_tree *tree);

/** Is it known, or assumed, that the source lost nothing before its tree began to read? */
bool pug_source_is_heard(const struct pug_source *source);
void pug_source_set_heard(struct pug_source *source, bool heard);

/** Makes a source that got nothing yet start as at the begin of the trace; `heard`: as above. */
void pug_source_start_at_begin(struct pug_source *source, bool heard);

/* ---- sections of a written state ---- */

/** A section of what pug_tree_state() writes: the transport's, then that of each source. */
struct pug_state_section {
    const uint8_t *bytes;
    size_t size;
};

/** Returns the section that begins at *at, and moves *at after it. */
static inline struct pug_state_section pug_state_section(const uint8_t **at)
{
    uint64_t size;
    memcpy(&size, *at, sizeof(size));
    const struct pug_state_section section = {*at + sizeof(size), (size_t)size};
    *at = section.bytes + section.size;
    return section;
}

static inline bool pug_state_same_section(const struct pug_state_section *a,
                                          const struct pug_state_section *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/** Removes the loss from the end of a source's section and returns it, if the tree writes one. */
enum pug_tree_loss pug_state_section_loss(const struct pug_tree *tree,
                                          struct pug_state_section *section);

#endif
