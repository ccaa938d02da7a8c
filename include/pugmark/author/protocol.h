// SPDX-License-Identifier: MIT
/**
 * @file For authors of protocols. A protocol is a packet reader (bytes to packets) and a decoder
 * (packets to elements) with one table of functions. The built-in protocols and those that a
 * program registers at run time use the same table; examples/ has one.
 *
 * The tree drives both stages; a protocol never calls the tree:
 *
 *     while (read(reader, &span, &packet))       packet reader: consumes from the span
 *         decode(decoder, &packet)               decoder: pushes elements into stage->out
 *
 * A decoder that cannot finish a packet because the consumer waits (pug_out_ready() said no) stores
 * where it is, answers PUG_RESP_CONT with `pending` set in its stage, and is called again through
 * `resume`. The tree has asked pug_out_ready() before it calls decode, resume or decode_end; the
 * decoder asks before each further step, and a step pushes at most PUG_OUT_STEP elements.
 *
 * A decoder of program flow walks the program with the functions of pugmark/author/flow.h.
 *
 * This interface is the library's inside: it changes more often than what users see, and
 * PUG_AUTHOR_ABI with it. A protocol that was compiled for another number is refused.
 */
#ifndef PUGMARK_AUTHOR_PROTOCOL_H
#define PUGMARK_AUTHOR_PROTOCOL_H

#include "pugmark/advanced/image.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/quirks.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/state.h"
#include "pugmark/author/description.h"
#include "pugmark/element.h"
#include "pugmark/log.h"

#include <stdbool.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a reader is given ---- */

/** What a reader takes besides simple runs: pug_stage.takes. */
enum pug_takes {
    /** Runs that were spliced: it asks for each index, and nothing depends on where runs begin. */
    PUG_TAKES_SPLICED = 1 << 0,
    PUG_TAKES_ROWS = 1 << 1, /**< packets in a row, with their headers (pug_run.header) */
    PUG_TAKES_LONG = 1 << 2, /**< long ones: no elements are made (the tree says so) */
    /** Nobody hears this source: the transport may count its bytes itself (the tree says so). */
    PUG_TAKES_NOTHING = 1 << 3,
    /** resume() may be called although nothing is pending: it gives what nothing can change. */
    PUG_TAKES_RESUME = 1 << 4,
};

/**
 * The turns of a gathered run: what other sources say comes between them. `told` of them have
 * ended, and the elements in the batch at that time are theirs.
 */
struct pug_turns {
    const uint16_t *ends; /**< where each ends, in bytes of the run */
    uint32_t *elements;   /**< how many elements were in the batch when it had ended */
    uint32_t told, count; /**< turns that have ended, and all */
};

/** What is left of a run. A reader moves `at` forward; the index of *at follows from the run. */
struct pug_span {
    const uint8_t *at, *end;   /**< where the reader is, and where the run, or its turn, ends */
    const struct pug_run *run; /**< the run that these bytes are of */
    struct pug_turns *turns;   /**< of a gathered run, or NULL */
};

/** Where all turns of a span have ended: for a simple span its end. */
static inline const uint8_t *pug_span_last(const struct pug_span *span)
{
    return span->turns ? span->run->bytes + span->run->size : span->end;
}

/**
 * All packets that are whole before the end of the span are taken, and made so many elements in the
 * batch: on to the next turn. False: there is none.
 */
static inline bool pug_span_next_turn(struct pug_span *span, uint32_t elements)
{
    struct pug_turns *turns = span->turns;
    if (!turns || turns->told + 1 >= turns->count)
        return false;
    turns->elements[turns->told++] = elements;
    span->end = span->run->bytes + turns->ends[turns->told];
    return true;
}

/**
 * For a fast path that stays on over turns (where it does not the tree goes on): the next packet
 * ends at `at`, and all before it have made so many elements. Ends the turns up to that place.
 */
static inline void pug_span_end_turns(struct pug_span *span, const uint8_t *at, uint32_t elements)
{
    while (at > span->end && pug_span_next_turn(span, elements))
        ;
}

/** The trace index of a byte of the run, or of its end. */
static inline uint64_t pug_run_index(const struct pug_run *run, const uint8_t *at)
{
    size_t place = (size_t)(at - run->bytes);
    return run->index + place + (run->gaps ? run->gaps[place] : 0u);
}

/** The trace index of the byte that the reader is at. */
static inline uint64_t pug_span_index(const struct pug_span *span)
{
    return pug_run_index(span->run, span->at);
}

/** Bytes of the packet at `at` in a row: its header, its time and its payload. */
static inline size_t pug_run_packet(const struct pug_run *run, const uint8_t *at)
{
    return run->header + (*at >> 7) * (size_t)run->stamp + (*at & 0x1fu);
}

/* ---- what a packet reader gives ---- */

/** A packet is at most so many marks. */
#define PUG_MARK_LIMIT 6

/** Append a mark; the new count. */
static inline size_t pug_mark_put(struct pug_mark *marks, size_t count, enum pug_mark_kind kind,
                                  uint64_t value)
{
    marks[count].kind = kind;
    marks[count].value = value;
    return count + 1;
}

/** Is there room for the marks of one packet more? */
static inline bool pug_mark_list_ready(const struct pug_mark_list *list)
{
    return list->count + PUG_MARK_LIMIT < list->room;
}

/** Append a mark to a list that is ready for it. */
static inline void pug_mark_list_add(struct pug_mark_list *list, enum pug_mark_kind kind,
                                     uint64_t index, uint64_t value)
{
    struct pug_placed_mark *mark = &list->marks[list->count++];
    mark->index = index;
    mark->value = value;
    mark->kind = kind;
}

/* ---- where elements go ---- */

/**
 * The tree's batch of elements, shared by its sources so that their order is kept. What an
 * element's payload points to must last until it is delivered: of a protocol that is not of program
 * flow never more elements wait than the limit that its decoder finds when it is made, and a
 * step's.
 */
struct pug_batch {
    struct pug_element *elements;           /**< room for elements; those that wait are the first */
    uint32_t count;                         /**< elements in it */
    uint32_t limit;                         /**< a step may start below this count */
    enum pug_response response;             /**< the consumer's last answer */
    void *tree;                             /**< the tree that it belongs to */
    bool (*flush)(struct pug_batch *batch); /**< deliver; true when the consumer goes on */
    /* what flush() does, for code that delivers a few elements at a time: see pug_batch_give() */
    pug_elements_fn *give; /**< what takes elements */
    void *give_context;    /**< is handed to it */
    /** Take note of an answer to give(), and keep what was not taken. */
    bool (*settle)(struct pug_batch *batch, enum pug_response answer, size_t taken);
    uint32_t
        tallied; /**< elements at its beginning that a fast path of counts has counted already */
};

/** flush() of a batch that is not empty, while the consumer does not wait. */
static inline bool pug_batch_give(struct pug_batch *batch)
{
    size_t taken = batch->count;
    enum pug_response answer =
        batch->give(batch->give_context, batch->elements, batch->count, &taken);
    if (answer != PUG_RESP_CONT)
        return batch->settle(batch, answer, taken);
    batch->count = 0;
    batch->response = PUG_RESP_CONT;
    return true;
}

/** A step between two pug_out_ready() pushes at most this many elements. */
#define PUG_OUT_STEP 16

/** One source's way into the batch. `blank` is what each new element starts as. */
struct pug_out {
    struct pug_batch *batch;  /**< where they go */
    struct pug_element blank; /**< source, isa, context; the decoder keeps it current */
};

/** May a step start? False: the consumer waits; the decoder must suspend. */
static inline bool pug_out_ready(struct pug_out *out)
{
    struct pug_batch *batch = out->batch;
    if (batch->response >= PUG_RESP_WAIT)
        return false;
    return batch->count < batch->limit || batch->flush(batch);
}

/** A new element at the end of the batch. */
static inline struct pug_element *pug_out_push(struct pug_out *out, enum pug_element_type type,
                                               uint64_t index)
{
    struct pug_element *element = &out->batch->elements[out->batch->count++];
    *element = out->blank;
    element->type = (uint8_t)type;
    element->index = index;
    return element;
}

/* ---- what a stage is given ---- */

struct pug_codemap;
struct pug_paths;

/** Services for one source's reader and decoder. */
struct pug_stage {
    struct pug_out out;       /**< the decoder's way to the consumer */
    struct pug_codemap *code; /**< the source's code map; NULL for protocols without program flow */
    struct pug_log *log;      /**< where messages go; NULL: nowhere */
    struct pug_quirks quirks; /**< the tree's */
    struct pug_decode_options options; /**< of the source's user */
    struct pug_reader_stats stats;     /**< counters that the reader keeps */
    uint16_t source;                   /**< trace id that elements carry */
    bool pending;                      /**< the decoder suspended itself; resume() is due */
    bool mute_reader;                  /**< quirk in force: what the reader logs is dropped */
    bool monitored;                    /**< a packet monitor is attached */
    bool unwatched; /**< no consumer will read packets: a state can leave out what only they show */
    bool refused; /**< the decoder cannot decode what its registers say; it answers nothing else */
    bool from_begin; /**< the trace is read from its begin on, though this source may speak later */
    uint8_t takes;   /**< enum pug_takes, bits; for a reader to set, which may change its mind */
    /** Where marks go while the source is read for marks alone, else NULL. */
    struct pug_mark_list *marks;
    struct pug_paths *paths; /**< where ranges are counted while that is wanted, else NULL */
    /** A reader's: the byte that showed that the last packet is bad, and is not part of it. */
    const uint8_t *looked_at;
    char reader_name[32], decoder_name[32]; /**< components in the log */
    /** Shown the packets of an encapsulation that the reader takes apart by itself; or NULL. */
    pug_encapsulation_fn *encapsulation;
    void *encapsulation_context; /**< is handed to it */
};

/** Most ranges that so many bytes of a packet may give. */
static inline uint64_t pug_stage_expansion(const struct pug_stage *stage, uint64_t bytes)
{
    return bytes * (stage->options.expansion ? stage->options.expansion : PUG_EXPANSION);
}

/** Log with the source id filled in. `index` may be PUG_NO_INDEX. */
void pug_stage_log(struct pug_stage *stage, const char *component, enum pug_severity severity,
                   enum pug_status code, uint64_t index, const char *text);

/** The trace ends inside the packet that begins at `index`: a warning. */
void pug_stage_log_cut(struct pug_stage *stage, uint64_t index);

/** The answer of a decoder that was `refused`, to any operation. */
enum pug_response pug_stage_refuse(struct pug_stage *stage);

/* ---- a protocol ---- */

/** What a consumer wants of a source, and so what its fast path delivers. */
enum pug_want {
    PUG_WANT_BATCH,  /**< elements, as many at a time as there is room for */
    PUG_WANT_EACH,   /**< elements, delivered after each packet */
    PUG_WANT_COUNTS, /**< as BATCH; but ranges may go to stage->paths, and are counted there */
    PUG_WANT_MARKS,  /**< marks alone, into stage->marks; nothing is decoded */
};

/** The version of this interface. */
#define PUG_AUTHOR_ABI 2

/**
 * A protocol: its names, its configuration, its reader and its decoder. There must be: name,
 * config_new, trace_id, reader_new, reader_free, and read or operate; with a decoder (decoder_new)
 * also decoder_free, decode, decode_end and decoder_reset; `resume` where it suspends itself. What
 * else is NULL is not there: a protocol without packet_text has packets without words.
 */
struct pug_protocol {
    uint32_t abi;             /**< PUG_AUTHOR_ABI, of a protocol that lives outside the library */
    const char *name;         /**< "ETMV4I"; what sources are created by */
    const char *title;        /**< in words: "Arm ETMv4 instruction trace" */
    const char *reader_name;  /**< component names in the log: "PKTP_ETMV4I", "DCD_ETMV4" */
    const char *decoder_name; /**< the decoder's name in messages */
    bool program_flow;        /**< the decoder needs program memory */
    /** Quirk end_does_not_wait: EO_TRACE comes without what the consumer has not taken before. */
    bool ends_without_rest;
    const struct pug_description *description; /**< what captures have of its sources, or NULL */

    /** Registers and parameters to the protocol's own configuration. Errors go to the log. */
    enum pug_status (*config_new)(const struct pug_settings *settings, struct pug_log *log,
                                  void **config);
    void (*config_free)(void *config);        /**< NULL: there is nothing to free */
    uint16_t (*trace_id)(const void *config); /**< of the source with this configuration */
    /** The configuration in words, a line each; like snprintf(). */
    size_t (*config_text)(const void *config, char *buffer, size_t size);

    /** Configuration and stage outlive the reader. */
    enum pug_status (*reader_new)(const void *config, struct pug_stage *stage, void **reader);
    void (*reader_free)(void *reader); /**< never with NULL */
    /** Next packet; false when the span is used up and no packet is complete. */
    bool (*read)(void *reader, struct pug_span *span, struct pug_packet *packet);
    /** End of trace: what is left over as a packet; false when nothing (more) is. */
    bool (*read_end)(void *reader, struct pug_packet *packet);
    void (*reader_reset)(void *reader); /**< forget the trace, not the configuration */

    /** PUG_ERR_HW_CFG_UNSUPP is not returned but kept: the first packet answers FATAL_NOT_INIT. */
    enum pug_status (*decoder_new)(const void *config, struct pug_stage *stage, void **decoder);
    void (*decoder_free)(void *decoder); /**< never with NULL */
    /** A packet to elements, as far as the consumer takes them. */
    enum pug_response (*decode)(void *decoder, const struct pug_packet *packet);
    enum pug_response (*resume)(void *decoder); /**< go on where it suspended itself */
    /**
     * Optional, used when no consumer reads packets: the fast path goes from bytes to the wanted
     * output, packet after packet, and makes no struct of them. It stops before a packet that
     * read() and decode() are to see, which may be the first: all that is unusual is theirs. Where
     * it has used up the span, read() is not asked, which would have nothing. The answer is that to
     * the last packet it took; `resume` as after decode().
     *
     * BATCH: it stops when the batch reaches its limit. EACH: it delivers the batch after each
     * packet, but may leave the elements of the last one. It stops after a packet whose answer is
     * not CONT. MARKS: `decoder` is not to be looked at and may be NULL; it stops where the list is
     * not ready for another packet's marks. A fast path that does not serve a want takes nothing.
     */
    enum pug_response (*fast_path)(void *reader, void *decoder, struct pug_span *span,
                                   enum pug_want want);
    enum pug_response (*decode_end)(void *decoder); /**< what it held back, and EO_TRACE */
    void (*decoder_reset)(void *decoder);           /**< forget the trace */

    /**
     * For a protocol that brings a whole decoder of its own: takes each operation in place of
     * reader and decoder functions, of which only reader_new and reader_free are used then. It
     * hands out elements and packets by itself. `run` and `used` are for DATA, else NULL.
     */
    enum pug_response (*operate)(void *reader, enum pug_op op, const struct pug_run *run,
                                 size_t *used);

    /** The packet in words, `NAME : description…`; like snprintf(). */
    size_t (*packet_text)(const void *packet, char *buffer, size_t size);
    const char *(*packet_name)(uint32_t type); /**< of a packet's type */
    /**
     * What the packet is for an index, besides PUG_MARK_SYNC, which its flags tell; how many marks
     * were written. Optional. Values that need more than the packet and the configuration to be
     * whole (differences) are no marks: times that are sent so, or in part, a reader makes whole.
     */
    size_t (*packet_marks)(const void *config, const void *packet,
                           struct pug_mark marks[PUG_MARK_LIMIT]);

    /**
     * Write all that what is still to come depends on (state.h). The tree writes out.blank itself,
     * and asks only between two runs, when the decoder is not suspended. A source of a protocol
     * without them is decoded by one thread.
     */
    void (*reader_state)(const void *reader, struct pug_state *state);
    void (*decoder_state)(const void *decoder, struct pug_state *state); /**< the same */
    /**
     * Optional, of a reader that completes times: *time is the last one that it gave, or 0. The
     * answer is how many of its lowest bits the next one goes by, from 1 on: what is above them
     * goes over into that, however much it is; 64: all. Where it changes the next time may go by
     * others. Both are part of the reader's state, which is left to the tree: who looks at no times
     * need not know what is above.
     */
    unsigned (*reader_clock)(const void *reader, uint64_t *time);

    /**
     * Optional: the stage's options have changed, between two operations. PUG_ERR_MEM: they are put
     * back.
     */
    enum pug_status (*options_changed)(void *decoder);

    /** Optional, beside reader_clock(): the last time was this one, whose lowest bits it knows. */
    void (*reader_set_time)(void *reader, uint64_t time);
    /**
     * Optional: a new decoder begins after packets that only its reader has read. It learns from
     * the reader what is sent once. False: no memory.
     */
    bool (*decoder_begin)(void *decoder, const void *reader);

    /**
     * Optional, of a protocol whose packets after each synchronisation point give everything in its
     * decoder's state. Has the decoder got all of it since it began, with a reader in the right
     * state? So an index of packets alone is enough to begin near a place (pug_index_reach()).
     * False where something was sent once, or adds up: that cannot be known.
     */
    bool (*self_synced)(const void *decoder);
};

/**
 * Make a protocol known under its name to pug_protocol_find() and the trees. The table must outlive
 * its use. At most 32: PUG_ERR_DCDREG_TOOMANY. PUG_ERR_DCDREG_NAME_REPEAT: there is one of that
 * name; PUG_ERR_DCD_INTERFACE_UNUSED: it is of another PUG_AUTHOR_ABI; PUG_ERR_INVALID_PARAM_VAL: a
 * function is missing that must be there. Register before threads start: the list is the process's.
 */
enum pug_status pug_protocol_register(const struct pug_protocol *protocol);
/** PUG_ERR_DCDREG_NAME_UNKNOWN: it was not registered. */
enum pug_status pug_protocol_unregister(const char *name);

#ifdef __cplusplus
}
#endif
#endif
