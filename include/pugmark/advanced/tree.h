// SPDX-License-Identifier: MIT
/**
 * @file The decode tree: a transport, its sources, and who listens.
 *
 *     struct pug_tree *tree;
 *     pug_tree_new(&(struct pug_tree_config){.transport = "coresight", .image = image}, &tree);
 *     pug_tree_add_source(tree, &(struct pug_source_config){.protocol = "ETMV4I",
 *                         .settings = registers, .decode = true}, NULL);
 *     pug_tree_on_elements(tree, my_elements, my_context);
 *     while (have bytes)
 *         response = pug_tree_data(tree, index, bytes, size, &used);   // WAIT: pug_tree_flush()
 *     pug_tree_end(tree);
 *
 * A tree belongs to one thread at a time; two trees never meet, but may share an image. It borrows
 * image and log, which must outlive it. A NULL tree, configuration or place for a result is
 * PUG_ERR_INVALID_PARAM_VAL (on the data path PUG_RESP_FATAL_INVALID_PARAM); what was to be made is
 * NULL then. Functions that only ask or attach must be given what exists. A consumer's function may
 * be NULL: it is not called. Listeners are called on the thread that calls the data path, and must
 * not call the tree.
 */
#ifndef PUGMARK_TREE_H
#define PUGMARK_TREE_H

#include "pugmark/advanced/image.h"
#include "pugmark/advanced/isa.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/state.h"
#include "pugmark/advanced/transport.h"
#include "pugmark/log.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_tree;
struct pug_source;

/** How a tree is made. */
struct pug_tree_config {
    const char *transport;        /**< by name; NULL: "plain", one source without framing */
    struct pug_settings settings; /**< of the transport; copied as needed during the call */
    struct pug_image *image;      /**< program memory, or NULL */
    struct pug_log *log;          /**< or NULL */
    struct pug_quirks quirks;     /**< what of the reference is to be imitated */
    pug_classify_fn *classify;    /**< a client's own instruction classifier, or NULL */
    void *classify_context;       /**< is handed to it */
    size_t code_limit;            /**< bytes a source's code map may use; 0: 8 MiB */
    uint64_t spare[4];            /**< zero */
};

/**
 * Make a tree without sources, for the caller to free. PUG_ERR_UNKNOWN_NAME: no transport of
 * that name; others are those of the transport, about its settings, and in the log.
 */
enum pug_status pug_tree_new(const struct pug_tree_config *config, struct pug_tree **tree);
/** With its sources. NULL is left alone. */
void pug_tree_free(struct pug_tree *tree);

/**
 * A tree with the same transport and settings, image, sources and enabled slots, which has got no
 * trace yet and has no consumer. It borrows the configuration of the first, which must outlive it.
 * PUG_ERR_WRONG_KIND: a source's protocol brings a whole decoder of its own.
 */
enum pug_status pug_tree_clone(const struct pug_tree *tree, struct pug_log *log,
                               struct pug_tree **clone);

/** How a source is made. */
struct pug_source_config {
    const char *protocol;                  /**< by name */
    const struct pug_protocol *definition; /**< the protocol itself, in place of a name, or NULL */
    struct pug_settings settings; /**< registers or parameters; used during the call only */
    bool decode;                  /**< to elements; else packets only */
    bool number_component;        /**< put the id into the component names of a single source */
    struct pug_decode_options options; /**< of this source */
    pug_classify_fn *classify;         /**< of this source, in place of the tree's; or NULL */
    void *classify_context;            /**< is handed to it */
    uint64_t spare[2];                 /**< zero */
};

/**
 * Create a source, which belongs to the tree; `source` may be NULL. It sits at the trace id that
 * its configuration gives (a single-source transport: in the one slot there is).
 * PUG_ERR_INVALID_PARAM_VAL: neither a name nor a definition, or one without a function that must
 * be there; PUG_ERR_UNKNOWN_NAME: no protocol of that name; PUG_ERR_NOT_OFFERED: it
 * cannot decode; PUG_ERR_TAKEN: the slot is taken; others are those of the protocol,
 * about its settings, and in the log.
 */
enum pug_status pug_tree_add_source(struct pug_tree *tree, const struct pug_source_config *config,
                                    struct pug_source **source);
/** Free the source of an id. PUG_ERR_INVALID_ID: there is none. */
enum pug_status pug_tree_remove_source(struct pug_tree *tree, uint16_t id);

/** The source in a slot, or NULL. */
struct pug_source *pug_tree_source(struct pug_tree *tree, uint16_t slot);
/** The n-th source by ascending slot, or NULL. */
struct pug_source *pug_tree_source_at(const struct pug_tree *tree, size_t n);

/**
 * Slots that get nothing: no data, no end, no flush, no reset. All are enabled at first.
 * PUG_ERR_MEM only of a slot without a source.
 */
enum pug_status pug_tree_enable(struct pug_tree *tree, uint16_t slot, bool enable);
/** All slots at once, those without a source too. */
void pug_tree_enable_all(struct pug_tree *tree, bool enable);

/* ---- attachment points ---- */

/**
 * Batches of elements of all sources, in the trace's order. NULL: none. The elements of a batch are
 * past: decoders are ahead of it by a few hundred elements, or by 2 KB of trace where several
 * sources speak in turn (pug_tree_deliver_each_packet()).
 */
void pug_tree_on_elements(struct pug_tree *tree, pug_elements_fn *function, void *context);

/** Delivers one element a call, instead of batches. Delivers after each packet. */
void pug_tree_on_element(struct pug_tree *tree, pug_element_fn *function, void *context);

/** Deliver elements after each packet even in batches, so that nothing is decoded ahead. */
void pug_tree_deliver_each_packet(struct pug_tree *tree, bool each);

/**
 * Sources may come in any order: what comes of different ones (elements, messages) in another order
 * than in the trace, within 16 KB of it. What comes of each of them is as ever. Where several speak
 * in turn in CoreSight frames, a few bytes at a time, elements come up to a fifth faster, and
 * counts (counts.h) several times as fast. While somebody looks at packets, at single runs, or
 * takes elements after each packet, the order is that of the trace all the same; so it is where
 * ranges are counted and shown (pug_tree_show_ranges()).
 */
void pug_tree_any_order(struct pug_tree *tree, bool any);

/**
 * Raw frames: `want` bit 0 packed, bit 1 unpacked, bit 2 synchronisation points alone.
 * PUG_ERR_NO_FRAMES: the transport has none.
 */
enum pug_status pug_tree_on_frames(struct pug_tree *tree, pug_frame_fn *function, void *context,
                                   unsigned want);

/**
 * Packets of the RISC-V packet encapsulation, nulls included: of the transport "encapsulation", and
 * of those that lie in the bytes of a source (ATB, through CoreSight frames), if it has a decoder
 * or a packet reader.
 */
void pug_tree_on_encapsulation(struct pug_tree *tree, pug_encapsulation_fn *function,
                               void *context);

/** Sees each run before it goes to its source, also those of ids without one. */
typedef void pug_run_fn(void *context, const struct pug_run *run);
/** Runs of all sources. NULL: none. */
void pug_tree_on_runs(struct pug_tree *tree, pug_run_fn *function, void *context);
/** It takes spliced runs (pug_run.gaps) as well, which is faster. */
void pug_tree_splice_runs(struct pug_tree *tree, bool splice);

/** Sees each packet before it is decoded; for other operations `packet` is NULL. */
typedef void pug_packet_monitor_fn(void *context, enum pug_op op, const struct pug_packet *packet);

/** Takes packets in place of a decoder; `packet` NULL as above. */
typedef enum pug_response pug_packet_sink_fn(void *context, enum pug_op op,
                                             const struct pug_packet *packet);

/** Packets of a source. NULL: none. */
void pug_source_monitor(struct pug_source *source, pug_packet_monitor_fn *function, void *context);

/**
 * Read for marks alone: the source's packets go nowhere else, and nothing is decoded. The list is
 * borrowed; NULL: as before.
 */
void pug_source_marks(struct pug_source *source, struct pug_mark_list *list);

/**
 * Packets of a source go there in place of a decoder; NULL: nowhere. PUG_ERR_WRONG_KIND: it
 * decodes.
 */
enum pug_status pug_source_sink(struct pug_source *source, pug_packet_sink_fn *function,
                                void *context);

/**
 * Gives a decoding source a packet, for programs that have packets and no bytes: DATA with one of
 * its protocol, which counts as taken whatever the answer; END, FLUSH and RESET without (FLUSH
 * concerns all waiting elements of the tree). `data`, `type` and `index` are what the decoder looks
 * at; raw bytes are for the monitor. The answer is that to the operation, as of pug_tree_op();
 * PUG_RESP_FATAL_INVALID_OP: the source does not decode packets.
 */
enum pug_response pug_source_packet(struct pug_source *source, enum pug_op op,
                                    const struct pug_packet *packet);

/**
 * Decode by other options from the next operation on. A message whose payloads are being joined
 * goes out as far as it is with the next packet, where they are to be joined no more. PUG_ERR_MEM:
 * the options are as before.
 */
enum pug_status pug_source_set_options(struct pug_source *source,
                                       const struct pug_decode_options *options);

/** Keep bad packets from the sink, from the monitor. */
void pug_source_hide_bad_packets(struct pug_source *source, bool from_sink, bool from_monitor);

/* ---- asking a source ---- */

/** Returns its protocol. */
const struct pug_protocol *pug_source_protocol(const struct pug_source *source);
/** Returns the configuration that the protocol made from the settings. */
const void *pug_source_config(const struct pug_source *source);
uint16_t pug_source_id(const struct pug_source *source);   /**< trace id in its elements */
uint16_t pug_source_slot(const struct pug_source *source); /**< where the tree keeps it */
/** Was it made to decode? */
bool pug_source_decodes(const struct pug_source *source);
/** Those in force. */
const struct pug_decode_options *pug_source_options(const struct pug_source *source);
/** Counters of its reader. */
const struct pug_reader_stats *pug_source_stats(const struct pug_source *source);
/** Set them to 0. */
void pug_source_reset_stats(struct pug_source *source);

/** Counters of the transport. */
const struct pug_transport_stats *pug_tree_transport_stats(const struct pug_tree *tree);
/** Set them to 0. */
void pug_tree_reset_transport_stats(struct pug_tree *tree);
/** Returns its transport. */
const struct pug_transport *pug_tree_transport(const struct pug_tree *tree);
/** Those that it was made with. */
const struct pug_quirks *pug_tree_quirks(const struct pug_tree *tree);
const struct pug_image *pug_tree_image(const struct pug_tree *tree); /**< or NULL */

/**
 * Does the image count as attached? It does at first; a client whose image waits for its first
 * memory says no until then (quirk unattached_is_fatal).
 */
void pug_tree_attach_memory(struct pug_tree *tree, bool attached);

/**
 * How many bytes memory callbacks are asked for at a time, 64 to 16384 (2048 at first); 0: for one
 * instruction, each time it is needed, and nothing is kept. PUG_ERR_INVALID_PARAM_VAL: other sizes.
 */
enum pug_status pug_tree_memory_page(struct pug_tree *tree, uint32_t size);

/** The code map has to forget memory that callbacks gave. */
void pug_tree_memory_changed(struct pug_tree *tree);

/**
 * Write the state of the transport and of each source (state.h), between two operations; of one
 * that is read for marks, that of its reader. These are sections, each of which begins with its
 * size, a number; the sources' are in order of their slots. False: a consumer waits, or the
 * transport or a protocol cannot write its own.
 */
bool pug_tree_state(const struct pug_tree *tree, struct pug_state *state);

/* ---- the data path ---- */

/**
 * Any operation. Only DATA has index and bytes; *used is how many bytes were consumed, whole frames
 * and whole packets. After an answer of the WAIT class send FLUSH until it goes on.
 */
enum pug_response pug_tree_op(struct pug_tree *tree, enum pug_op op, uint64_t index,
                              const uint8_t *bytes, size_t size, size_t *used);

/** DATA: as pug_tree_op(). */
static inline enum pug_response pug_tree_data(struct pug_tree *tree, uint64_t index,
                                              const uint8_t *bytes, size_t size, size_t *used)
{
    return pug_tree_op(tree, PUG_OP_DATA, index, bytes, size, used);
}

/**
 * DATA as often as it takes, of a capture that is in memory, from *at up to `end`; byte n has index
 * n. Ends before that where the answer is not to go on; *at is how far it came. Nothing may be
 * NULL: PUG_RESP_FATAL_INVALID_PARAM.
 */
enum pug_response pug_tree_feed(struct pug_tree *tree, const uint8_t *bytes, uint64_t *at,
                                uint64_t end);

/** FLUSH: as pug_tree_op(). */
static inline enum pug_response pug_tree_flush(struct pug_tree *tree)
{
    return pug_tree_op(tree, PUG_OP_FLUSH, 0, NULL, 0, NULL);
}

/** END: as pug_tree_op(). */
static inline enum pug_response pug_tree_end(struct pug_tree *tree)
{
    return pug_tree_op(tree, PUG_OP_END, 0, NULL, 0, NULL);
}

/** RESET: as pug_tree_op(). */
static inline enum pug_response pug_tree_reset(struct pug_tree *tree)
{
    return pug_tree_op(tree, PUG_OP_RESET, 0, NULL, 0, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
