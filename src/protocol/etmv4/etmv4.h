// SPDX-License-Identifier: MIT
/**
 * @file ETMv4 and ETE, inside. ETE is ETM with version 5: one reader and one decoder serve both.
 *
 *     config.c     registers to settings
 *     headers.c    the table of header bytes for a configuration
 *     packet.c     bytes to packets: where a packet ends, synchronisation
 *     fields.c     what a complete packet says
 *     decode.c     packets to elements: the decoder's states
 *     enqueue.c      what each packet adds to the queue
 *     queue.c      the P0 elements that wait for their commit: cancel, mispredict
 *     commit.c     what a committed P0 element gives: addresses, contexts, marks
 *     atoms.c      … atoms
 *     fast_path.c       atoms and addresses from bytes to elements at once, where none has to wait
 *     count.c      … to counts, by paths
 *     events.c     … exceptions, Q elements, source addresses
 *     text.c       packets in words
 */
#ifndef PUG_PROTOCOL_ETMV4_H
#define PUG_PROTOCOL_ETMV4_H

#include "image/codemap.h"
#include "pugmark/advanced/packet/etmv4.h"
#include "pugmark/author/protocol.h"

/** For what is not on the hot path: it takes no registers from what is. */
#define PUG_NOINLINE __attribute__((noinline))

/* ---- configuration ---- */

/** The packet that a header byte begins, and the form of its payload. */
struct pug_etmv4_header {
    uint32_t atoms; /**< that it is or implies, the oldest in bit 0, 1 is E; a 1 follows the last */
    uint16_t type;  /**< enum pug_etmv4_type */
    uint8_t atom_count;
    uint8_t form;    /**< enum pug_etmv4_form */
    uint32_t fields; /**< enum pug_etmv4_field, four bits each, the first lowest */
    uint8_t size;    /**< of the whole packet where that is always the same, else 0 */
    uint8_t is;      /**< of address packets: instruction set; of EXACT MATCH: which */
};

/** How the packet's fields are to be read. */
enum pug_etmv4_form {
    PUG_ETMV4_FORM_ATOM, /**< the header says it all */
    PUG_ETMV4_FORM_BARE, /**< there are none */
    PUG_ETMV4_FORM_RESERVED,
    PUG_ETMV4_FORM_RESERVED_CFG,
    PUG_ETMV4_FORM_EXTENSION,
    PUG_ETMV4_FORM_TRACE_INFO,
    PUG_ETMV4_FORM_TIMESTAMP,
    PUG_ETMV4_FORM_EXCEPT,
    PUG_ETMV4_FORM_ITE,
    PUG_ETMV4_FORM_CCNT_F1,
    PUG_ETMV4_FORM_CCNT_F2,
    PUG_ETMV4_FORM_CCNT_F3,
    PUG_ETMV4_FORM_DS_MARKER,
    PUG_ETMV4_FORM_COMMIT,
    PUG_ETMV4_FORM_CANCEL_F1,
    PUG_ETMV4_FORM_CANCEL,
    PUG_ETMV4_FORM_COND_I,
    PUG_ETMV4_FORM_COND_RES,
    PUG_ETMV4_FORM_EVENT,
    PUG_ETMV4_FORM_CTXT,
    PUG_ETMV4_FORM_MATCH,
    PUG_ETMV4_FORM_ADDR_S,
    PUG_ETMV4_FORM_ADDR_32,
    PUG_ETMV4_FORM_ADDR_64,
    PUG_ETMV4_FORM_ADDR_CTXT_32,
    PUG_ETMV4_FORM_ADDR_CTXT_64,
    PUG_ETMV4_FORM_Q,
};

/** The parts that can follow a packet's header, as far as they decide its length. */
enum pug_etmv4_field {
    PUG_ETMV4_FIELD_END,
    PUG_ETMV4_FIELD_LEB,       /**< bytes until one has bit 7 clear */
    PUG_ETMV4_FIELD_SHORT,     /**< the same, at most two */
    PUG_ETMV4_FIELD_TS,        /**< the same, at most nine */
    PUG_ETMV4_FIELD_1,         /**< one byte */
    PUG_ETMV4_FIELD_4,         /**< four bytes */
    PUG_ETMV4_FIELD_8,         /**< eight bytes */
    PUG_ETMV4_FIELD_9,         /**< nine bytes */
    PUG_ETMV4_FIELD_REST,      /**< as many bytes as an earlier field said */
    PUG_ETMV4_FIELD_CONTEXT,   /**< context information, then REST */
    PUG_ETMV4_FIELD_EXCEPT,    /**< exception, then REST */
    PUG_ETMV4_FIELD_PLCTL,     /**< trace info control, then LEBs */
    PUG_ETMV4_FIELD_EXTENSION, /**< extension, then ASYNC or nothing */
    PUG_ETMV4_FIELD_ASYNC,
};

struct pug_etmv4_config {
    uint32_t idr0, idr1, idr2, idr8, idr9, idr10, idr11, idr12, idr13;
    uint32_t configr, traceidr, devarch;
    uint16_t arch;   /**< enum pug_arch */
    uint8_t profile; /**< enum pug_arch_profile */
    uint8_t version; /**< 0xMm */
    bool ete;
    bool commit_option_1;   /**< cycle count packets carry no commit */
    bool trans_start_is_p0; /**< TRANS_ST is a P0 element */
    bool marker_used;       /**< timestamps count from the first marker on */
    bool q_supported;
    bool wfx_is_branch;
    bool cycle_count; /**< timestamps carry a cycle count */
    bool broadcast, timestamps;
    bool return_stack;
    bool data_trace, load_store_p0;
    bool cond_implemented, cond_enabled;
    uint8_t vmid_size, context_id_size; /**< bytes */
    uint8_t cycle_count_bits;
    struct pug_etmv4_header headers[256];
};

void pug_etmv4_make_headers(struct pug_etmv4_config *config);

/** The atoms of an atom packet, the oldest in bit 0, 1 is E; a 1 follows the last. */
uint32_t pug_etmv4_atoms(uint8_t byte);

/* ---- packet reader ---- */

/** The longest packet whose bytes are kept whole; fields without an end are cut off after it. */
#define PUG_ETMV4_RAW_LIMIT 16384u

/** An ASYNC, and so the most bytes that the search for one holds. */
#define PUG_ETMV4_ASYNC_SIZE 12u

enum pug_etmv4_hunt { PUG_ETMV4_HUNT, PUG_ETMV4_HUNT_EXTENSION, PUG_ETMV4_HUNT_ASYNC };

/** The special states of a reader; 0: the next byte is a header. */
enum {
    PUG_ETMV4_USED = 1 << 0,     /**< `packet` says something that the next one must not */
    PUG_ETMV4_UNSYNCED = 1 << 1, /**< no ASYNC was found yet */
    PUG_ETMV4_HELD = 1 << 2,     /**< a packet began in an earlier run */
};

/** The place after the stack: the address that short ones build on, also before the first. */
#define PUG_ETMV4_REGISTER 3

struct pug_etmv4_reader {
    const struct pug_etmv4_config *config;
    struct pug_stage *stage;
    struct pug_etmv4_packet packet;
    struct pug_etmv4_address stack[4]; /**< the newest three first; and PUG_ETMV4_REGISTER */
    uint64_t index;                    /**< of the packet that is being read */
    uint8_t special;                   /**< PUG_ETMV4_USED, … */
    bool info_seen;                    /**< a TRACE_INFO since the reset */
    bool unsynced_told;                /**< the decoder got its NOT_SYNC packet */
    /* the length of the packet that is being read */
    const struct pug_etmv4_header *header;
    uint32_t fields; /**< still to come, the first lowest */
    uint32_t have;   /**< bytes of the first field */
    uint8_t rest;    /**< size of a REST field */
    /* the search for an ASYNC */
    uint8_t hunt; /**< enum pug_etmv4_hunt */
    uint8_t dump; /**< bytes to drop before the next one */
    bool hunting; /**< in the middle: the next byte is not a header */
    uint32_t hunt_type;
    uint64_t next_index;                    /**< of what follows the dropped bytes; 0: as it is */
    uint64_t indexes[PUG_ETMV4_ASYNC_SIZE]; /**< of the held bytes */
    uint8_t dumped[PUG_ETMV4_ASYNC_SIZE];
    /* bytes of a packet that straddles runs */
    uint32_t held;
    uint8_t bytes[PUG_ETMV4_RAW_LIMIT];
};

/** The size of a packet that is all there and needs no scan; 0 for others. */
static inline size_t pug_etmv4_fixed_size(const struct pug_etmv4_header *header, const uint8_t *raw,
                                          const uint8_t *end)
{
    size_t size = header->size;
    if (header->fields == PUG_ETMV4_FIELD_SHORT && end - raw > 1)
        size = 2 + (raw[1] >> 7);
    return (size_t)(end - raw) >= size ? size : 0;
}

/** Pass over bytes that a search for an ASYNC can skip, when no packets are reported. */
void pug_etmv4_pass_over_noise(struct pug_etmv4_reader *reader, struct pug_span *span);
/** Read the fields of the complete packet in `raw` into `reader->packet`. */
void pug_etmv4_read_fields(struct pug_etmv4_reader *reader, const uint8_t *raw, size_t size);

/** The atoms of a header into a packet. */
static inline void pug_etmv4_set_atoms(struct pug_etmv4_packet *packet,
                                       const struct pug_etmv4_header *header)
{
    packet->atom_bits = header->atoms & ~(1u << header->atom_count);
    packet->atom_count = header->atom_count;
}

/* ---- decoder ---- */

/**
 * Most instructions in one range, whatever the options say: 16 MiB of A64 code without a branch.
 */
#define PUG_ETMV4_RANGE_BOUND (UINT32_C(1) << 22)

enum pug_etmv4_p0_kind {
    PUG_ETMV4_P0_ATOM,   /**< `count` atoms in `bits` */
    PUG_ETMV4_P0_UNSEEN, /**< `bits` elements that were traced before the decoder began */
    PUG_ETMV4_P0_ADDRESS,
    PUG_ETMV4_P0_CONTEXT,
    PUG_ETMV4_P0_TRACE_ON,
    PUG_ETMV4_P0_TRACE_INFO,
    PUG_ETMV4_P0_EXCEPTION,
    PUG_ETMV4_P0_EXCEPTION_RETURN,
    PUG_ETMV4_P0_FUNCTION_RETURN,
    PUG_ETMV4_P0_SOURCE_ADDRESS,
    PUG_ETMV4_P0_Q,
    PUG_ETMV4_P0_EVENT,
    PUG_ETMV4_P0_CYCLE_COUNT,
    PUG_ETMV4_P0_TIMESTAMP,
    PUG_ETMV4_P0_MARKER,
    PUG_ETMV4_P0_ITE,
    PUG_ETMV4_P0_TRANSACTION, /**< `bits` is an enum pug_memtrans */
};

/** Bits of `flags` in a queued element. */
enum {
    PUG_ETMV4_COUNTS = 1 << 0,  /**< a P0 element: commits and cancels count it */
    PUG_ETMV4_UPDATED = 1 << 1, /**< CONTEXT: the packet had one */
    PUG_ETMV4_NEW_CONTEXT_ID = 1 << 2,
    PUG_ETMV4_NEW_VMID = 1 << 3,
    PUG_ETMV4_SF = 1 << 4,
    PUG_ETMV4_MATCH_PREV = 1 << 1,  /**< EXCEPTION: its address is also the branch's target */
    PUG_ETMV4_NO_ADDRESS = 1 << 2,  /**< EXCEPTION: a PE reset; Q: the address follows */
    PUG_ETMV4_BEGUN = 1 << 3,       /**< EXCEPTION: all before the walk is done */
    PUG_ETMV4_WITH_CYCLES = 1 << 1, /**< TIMESTAMP */
};

/** One element that waits. */
struct pug_etmv4_p0 {
    uint64_t index;
    uint64_t value; /**< address, timestamp, payload; CONTEXT: VMID high, context id low */
    uint32_t bits;  /**< atoms, counts, numbers; CONTEXT: security */
    uint8_t kind;   /**< enum pug_etmv4_p0_kind */
    uint8_t count;  /**< ATOM */
    uint8_t is;     /**< ADDRESS, CONTEXT, Q: instruction set */
    uint8_t flags;
    uint8_t el; /**< CONTEXT, ITE */
};

/**
 * The queue, a ring that grows by doubling up to PUG_ETMV4_QUEUE_LIMIT elements. When it is full
 * the elements that no older P0 element holds back are resolved; if there is none the trace is in
 * error: no trace unit speculates that far (TRCIDR8 says how far; atoms share an element).
 */
#define PUG_ETMV4_QUEUE_LIMIT 65536u

struct pug_etmv4_queue {
    struct pug_etmv4_p0 *ring;
    uint32_t mask;       /**< room - 1 */
    uint32_t head, tail; /**< oldest; one past the newest */
};

static inline uint32_t pug_etmv4_queue_count(const struct pug_etmv4_queue *queue)
{
    return queue->tail - queue->head;
}

/** The n-th oldest. */
static inline struct pug_etmv4_p0 *pug_etmv4_queue_at(const struct pug_etmv4_queue *queue,
                                                      uint32_t n)
{
    return &queue->ring[(queue->head + n) & queue->mask];
}

enum pug_etmv4_state {
    PUG_ETMV4_NO_SYNC,
    PUG_ETMV4_WAIT_SYNC,
    PUG_ETMV4_WAIT_INFO,
    PUG_ETMV4_DECODE,
    PUG_ETMV4_RESOLVE,
};

/** The effect of the next atom; set after each packet. */
enum pug_etmv4_commit_mode {
    PUG_ETMV4_QUEUES, /**< it goes through the queue, since others wait or it may be cancelled */
    PUG_ETMV4_DIRECT, /**< it resolves at once: the fast path may take it */
    PUG_ETMV4_AIMED,  /**< the same, after an address, which is alone in the queue */
    PUG_ETMV4_MARKED, /**< an atom puts events that wait, and then it is one of these two */
};

/** Reasons why the next atom cannot commit at once. */
enum {
    PUG_ETMV4_NEED_CONTEXT = 1 << 0,
    PUG_ETMV4_NEED_ADDRESS = 1 << 1,
    /** An indirect branch was taken: the return stack knows, if there is one. */
    PUG_ETMV4_POP_PENDING = 1 << 2,
    /**
     * The return stack gave the place of execution before a TRACE_INFO; an address may still
     * follow.
     */
    PUG_ETMV4_POPPED = 1 << 3,
    /** The branch of POP_PENDING was an exception's return. */
    PUG_ETMV4_RETURNED = 1 << 4,
    /** The questions that the return stack has to answer. */
    PUG_ETMV4_STACK_BITS = PUG_ETMV4_POP_PENDING | PUG_ETMV4_POPPED | PUG_ETMV4_RETURNED,
};

#define PUG_ETMV4_RETURNS 16u

/** The return stack: the newest return addresses. */
struct pug_etmv4_return_stack {
    struct {
        uint64_t address;
        uint8_t isa;
    } entries[PUG_ETMV4_RETURNS];
    uint8_t head, count;
    bool known;        /**< it was emptied since the decoder began: all of it was seen */
    bool wait_address; /**< by a quirk: nothing is pushed between a TRACE_INFO and an address */
};

/** The newest entry is used up. */
static inline void pug_etmv4_drop_return(struct pug_etmv4_return_stack *returns)
{
    returns->head = (uint8_t)((returns->head + PUG_ETMV4_RETURNS - 1) % PUG_ETMV4_RETURNS);
    returns->count--;
}

/** A source address whose range is walked in steps. */
struct pug_etmv4_source_walk {
    bool active;
    uint64_t start, at, end;
    uint32_t count;
    uint8_t it;
    struct pug_insn insn; /**< at the source address */
};

/** How a piece of work ended. */
enum pug_etmv4_outcome {
    PUG_ETMV4_DONE,
    PUG_ETMV4_ROUND_ENDS, /**< done; a context ends the commit round */
    PUG_ETMV4_SUSPENDED,  /**< the consumer waits; call again */
    PUG_ETMV4_FAILED,     /**< logged; the decoder lost its synchronisation */
    PUG_ETMV4_FATAL,      /**< logged; nothing was reset */
};

struct pug_etmv4_decoder {
    struct pug_stage *stage;
    struct pug_codemap *map;
    const struct pug_etmv4_config *config;
    /* the packet */
    uint8_t state;  /**< enum pug_etmv4_state */
    uint8_t reason; /**< enum pug_unsync, for the next NO_SYNC */
    uint32_t packet_type;
    uint64_t index; /**< of the last packet received */
    /* speculation */
    struct pug_etmv4_queue queue;
    int64_t depth;
    uint64_t commits; /**< to do */
    uint32_t cancels;
    bool mispredict, discard, drain;
    bool suspended;       /* resume() is due */
    bool pending_address; /**< an exception or Q element waits for its address */
    uint32_t round_mark;  /**< elements in the batch when this commit round began */
    uint64_t round_index; /**< of the last element that it took */
    bool waited;          /**< the consumer waited during this packet */
    bool ending;          /**< the trace is at its end */
    /* where execution is */
    uint8_t blocked; /**< PUG_ETMV4_NEED_… */
    uint8_t isa, it;
    bool from_taken;
    uint64_t address;
    const struct pug_block *from; /**< the block before, if `epoch` is still the map's */
    /** The block at hand is no usual one: found in this packet, so that memory is asked once. */
    const struct pug_block *unusual;
    uint32_t epoch;
    uint8_t space; /**< enum pug_space */
    bool is64;
    uint8_t last_is;
    bool prev_overflow, marker_seen;
    uint8_t commit_mode; /**< enum pug_etmv4_commit_mode */
    bool may_be_m;       /**< the profile is M, or unknown */
    bool checks;         /**< an option or a limit wants each range checked */
    bool expect_valid;   /**< range continuity */
    uint64_t expect;
    struct pug_etmv4_return_stack returns;
    struct pug_etmv4_source_walk source;
};

/* queue.c */
bool pug_etmv4_queue_new(struct pug_etmv4_queue *queue);
bool pug_etmv4_queue_grow(struct pug_etmv4_queue *queue);

/** Room for `more` elements; false: the queue is at its limit. */
static inline bool pug_etmv4_queue_reserve(struct pug_etmv4_queue *queue, uint32_t more)
{
    return pug_etmv4_queue_count(queue) + more <= queue->mask + 1 || pug_etmv4_queue_grow(queue);
}

/** Take newest elements back; PUG_ETMV4_FAILED: there are not enough. */
enum pug_etmv4_outcome pug_etmv4_cancel(struct pug_etmv4_decoder *decoder);
/** Flip the newest atom. */
enum pug_etmv4_outcome pug_etmv4_mispredict(struct pug_etmv4_decoder *decoder);

/* commit.c */
/** Commit from the oldest element on while there is something to commit. */
enum pug_etmv4_outcome pug_etmv4_commit(struct pug_etmv4_decoder *decoder);
void pug_etmv4_commit_address(struct pug_etmv4_decoder *decoder, uint64_t address, uint8_t is);
/** An element that no commit has to wait for; a step of one element. */
void pug_etmv4_put_event(struct pug_etmv4_decoder *decoder, const struct pug_etmv4_p0 *p0);
void pug_etmv4_put_range(struct pug_etmv4_decoder *decoder, uint64_t index, uint64_t start,
                         uint64_t end, uint32_t count, const struct pug_insn *insn, uint8_t isa,
                         bool executed);
void pug_etmv4_put_nacc(struct pug_etmv4_decoder *decoder, uint64_t index, uint64_t address);
void pug_etmv4_put_context(struct pug_etmv4_decoder *decoder, uint64_t index,
                           const struct pug_etmv4_p0 *context);
void pug_etmv4_push_return(struct pug_etmv4_decoder *decoder, uint64_t address, uint8_t isa);
/** Go on at an address. */
void pug_etmv4_jump(struct pug_etmv4_decoder *decoder, uint64_t address, uint8_t isa);
/** What a taken branch does: it links, and where it goes. `end`: the address after the branch. */
void pug_etmv4_take_branch(struct pug_etmv4_decoder *decoder, const struct pug_insn *insn,
                           uint64_t end);
void pug_etmv4_flush_returns(struct pug_etmv4_decoder *decoder);
/** An exception returns: where to is not for the return stack, but for what comes next. */
void pug_etmv4_leave_handler(struct pug_etmv4_decoder *decoder);
/** If the return stack has to say where execution is, let it. */
enum pug_etmv4_outcome pug_etmv4_pop_return(struct pug_etmv4_decoder *decoder);
/** Is a range of so many instructions too long? Logs that; `steps` is with the one that failed. */
bool pug_etmv4_over_limit(struct pug_etmv4_decoder *decoder, uint32_t count, uint32_t steps);

/* atoms.c */
/** The block at the current address. */
const struct pug_block *pug_etmv4_block(struct pug_etmv4_decoder *decoder);
/** Behind a block: its branch is taken, or not. */
void pug_etmv4_leave_block(struct pug_etmv4_decoder *decoder, uint64_t index,
                           const struct pug_block *block, bool taken);
/** The ranges of up to `most` atoms, from the *done-th on; *done is how many are done with. */
enum pug_etmv4_outcome pug_etmv4_take_atoms(struct pug_etmv4_decoder *decoder, uint64_t index,
                                            uint32_t bits, uint32_t most, uint32_t *done);
/** Commit the atoms of the oldest element, as far as there is something to commit. */
enum pug_etmv4_outcome pug_etmv4_commit_atoms(struct pug_etmv4_decoder *decoder,
                                              struct pug_etmv4_p0 *atoms);

/* events.c */
enum pug_etmv4_outcome pug_etmv4_commit_exception(struct pug_etmv4_decoder *decoder);
enum pug_etmv4_outcome pug_etmv4_commit_q(struct pug_etmv4_decoder *decoder);
enum pug_etmv4_outcome pug_etmv4_commit_source(struct pug_etmv4_decoder *decoder);

/* enqueue.c */
/** The most elements that one packet queues. */
#define PUG_ETMV4_QUEUED_BY_PACKET 3u
/** Queue what a packet says; FAILED and FATAL: it says nothing good. */
enum pug_etmv4_outcome pug_etmv4_enqueue(struct pug_etmv4_decoder *decoder,
                                         const struct pug_etmv4_packet *packet);
/** The same while the first TRACE_INFO is waited for; true: this is it. */
bool pug_etmv4_enqueue_first(struct pug_etmv4_decoder *decoder,
                             const struct pug_etmv4_packet *packet);
/** An address that waits for what comes next, in a queue that is empty. */
void pug_etmv4_enqueue_address(struct pug_etmv4_decoder *decoder, uint64_t index, uint64_t value,
                               uint8_t is);
/** A cycle count or a timestamp that waits. */
void pug_etmv4_enqueue_mark(struct pug_etmv4_decoder *decoder, const struct pug_etmv4_p0 *mark);
void pug_etmv4_enqueue_atoms(struct pug_etmv4_decoder *decoder, uint32_t bits, uint32_t count);

/* decode.c */
/** Put the events of which PUG_ETMV4_MARKED is said. False: the consumer waits; perhaps not all. */
bool pug_etmv4_put_marks(struct pug_etmv4_decoder *decoder);
void pug_etmv4_set_commit_mode(struct pug_etmv4_decoder *decoder);
/** Forget everything that a loss of synchronisation makes worthless. */
void pug_etmv4_lose_sync(struct pug_etmv4_decoder *decoder, enum pug_unsync reason);
/** Log an error and lose synchronisation, or stop for good where the user wants that. */
enum pug_etmv4_outcome pug_etmv4_fail(struct pug_etmv4_decoder *decoder, enum pug_severity severity,
                                      enum pug_status code, uint64_t index, enum pug_unsync reason,
                                      const char *text);

static inline uint8_t pug_etmv4_isa(const struct pug_etmv4_decoder *decoder, uint8_t is)
{
    return decoder->is64 ? PUG_ISA_A64 : is ? PUG_ISA_T32 : PUG_ISA_A32;
}

/** The ISA of the elements from here on. Not stored without need: a copy of `blank` would wait. */
static inline void pug_etmv4_set_isa(struct pug_etmv4_decoder *decoder, uint8_t isa)
{
    if (decoder->stage->out.blank.isa != isa)
        decoder->stage->out.blank.isa = isa;
}

static inline struct pug_element *pug_etmv4_push(struct pug_etmv4_decoder *decoder,
                                                 enum pug_element_type type, uint64_t index)
{
    return pug_out_push(&decoder->stage->out, type, index);
}

/* ---- the protocol's functions ---- */

enum pug_status pug_etmv4_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_etmv4_reader_free(void *reader);
bool pug_etmv4_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_etmv4_read_end(void *reader, struct pug_packet *packet);
void pug_etmv4_reader_reset(void *reader);

enum pug_status pug_etmv4_options_changed(void *decoder);
enum pug_status pug_etmv4_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void pug_etmv4_decoder_free(void *decoder);
enum pug_response pug_etmv4_decode(void *decoder, const struct pug_packet *packet);
/**
 * A packet; `done` of its atoms are done with, and so many elements at the batch's end are theirs
 * and of marks before them.
 */
enum pug_response pug_etmv4_decode_rest(struct pug_etmv4_decoder *decoder,
                                        const struct pug_etmv4_packet *packet, uint32_t done,
                                        uint32_t elements);
enum pug_response pug_etmv4_fast_path(void *reader, void *decoder, struct pug_span *span,
                                      enum pug_want want);
enum pug_response pug_etmv4_resume(void *decoder);
enum pug_response pug_etmv4_decode_end(void *decoder);
void pug_etmv4_decoder_reset(void *decoder);

size_t pug_etmv4_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_etmv4_packet_name(uint32_t type);

/* state.c */
void pug_etmv4_reader_state(const void *reader, struct pug_state *state);
void pug_etmv4_decoder_state(const void *decoder, struct pug_state *state);
bool pug_etmv4_self_synced(const void *decoder);

/* scan_marks.c */
/** The fast path of marks. */
void pug_etmv4_scan_marks(void *reader, struct pug_span *span);

/* mark.c */
size_t pug_etmv4_marks(const void *config, const void *packet,
                       struct pug_mark marks[PUG_MARK_LIMIT]);

#endif
