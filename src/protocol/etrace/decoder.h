// SPDX-License-Identifier: MIT
/**
 * @file The E-Trace decoder from inside. decode.c takes packets, trap.c those of traps, walk.c
 * executes the program between them, state.c holds what encoder and decoder both predict from,
 * data.c puts data accesses to their instructions, written.c writes states for comparison.
 *
 * Between packets the decoder stands on the last reported instruction, `pc`: it has retired, its
 * range is out, and if it is a branch then one outcome is left, its own.
 */
#ifndef PUG_PROTOCOL_ETRACE_DECODER_H
#define PUG_PROTOCOL_ETRACE_DECODER_H

#include "counts/packet_memos.h"
#include "protocol/etrace/etrace.h"

#define PUG_ETRACE_BPRED_MAX 1024u
#define PUG_ETRACE_CACHE_MAX 256u

/* ---- state.c ---- */

/** Branch outcomes that were reported and are not executed yet, in this order. */
struct pug_etrace_outcomes {
    uint64_t map; /**< explicit ones, bit 0 first; 1: not taken */
    unsigned mapped;
    uint64_t predicted; /**< so many correct predictions */
    bool mispredicted;  /**< then a wrong one */
};

struct pug_etrace_link {
    uint64_t address;
    uint32_t count; /**< recursions to the same address beyond the first */
};

/** Predicted returns: the most recent calls. */
struct pug_etrace_stack {
    struct pug_etrace_link *links; /**< a ring of `limit` */
    uint32_t limit, entries, top;
    uint32_t recursion; /**< most that an entry counts; 0: entries are not counted */
};

/* ---- walk.c ---- */

enum pug_etrace_walk_kind {
    PUG_ETRACE_WALK_FLOW,   /**< formats 0, 1 and 2 */
    PUG_ETRACE_WALK_SYNC,   /**< a synchronisation packet in mid-flow */
    PUG_ETRACE_WALK_REPLAY, /**< once more round, to the address where the last packet stopped too
                               early */
};

/** The fields of a packet that decide where a walk ends. */
struct pug_etrace_goal {
    uint64_t target;
    bool has_target;
    bool only_discontinuity; /**< nothing but an uninferable jump may end the walk */
    bool notify;
    bool irreport, irets;
    uint16_t ir_value;
    uint8_t privilege;
};

enum pug_etrace_walk_result {
    PUG_ETRACE_WALK_DONE,
    PUG_ETRACE_WALK_SUSPENDED,
    PUG_ETRACE_WALK_FAILED
};

struct pug_etrace_walk {
    enum pug_etrace_walk_kind kind;
    struct pug_etrace_goal goal;
    bool target_known, target_is_branch; /**< looked up */
    uint64_t at;                         /**< where the block to execute begins */
    bool reported;                       /**< its first instruction is `pc` */
    bool after_return;                   /**< came to it by an inferred return */
    uint64_t range_start;                /**< instructions executed since the last range */
    uint32_t range_count;
    struct pug_insn before; /**< the last one of them, where their block went over its bound */
    uint64_t steps;         /**< instructions since an outcome was consumed */
    uint64_t outcomes;      /**< consumed */
    /* jumps since an outcome was consumed or the stack changed, and where one of them went */
    uint32_t jumps, landmark_looks;
    uint64_t landmark;
    uint32_t returns; /**< inferred since an outcome was consumed */
    uint64_t hops;    /**< blocks without an outcome; all, if there are too many of these */
};

/* ---- data.c ---- */

struct etrace_data_state;

/** How a block is executed up to an address in it. */
struct pug_etrace_way {
    uint64_t start, target;
    uint64_t last;  /**< the instruction before the target */
    uint32_t count; /**< instructions before the target; 0: none begins there */
};

/** Ways that lately were looked up: most walks end at the same few. */
#define PUG_ETRACE_WAYS 128u
struct pug_etrace_near {
    uint32_t epoch;                              /**< of the map that they hold in */
    struct pug_etrace_way ways[PUG_ETRACE_WAYS]; /**< by target */
};

/* ---- decode.c ---- */

/** What packets that may hold differences contain. */
enum pug_etrace_addresses {
    PUG_ETRACE_ADDRESSES_AS_SAID,   /**< what settings or a support packet say */
    PUG_ETRACE_ADDRESSES_UNSAID,    /**< not said yet: differences, if the program has those
                                     */
    PUG_ETRACE_ADDRESSES_SEEM_FULL, /**< not said; reading them as differences led nowhere
                                     */
};

/** number of packets in a row that cannot fit as differences by accident */
#define PUG_ETRACE_UNSAID_MOST 8u

/** The stages of handling a packet. */
enum pug_etrace_phase {
    PUG_ETRACE_PHASE_IDLE,
    PUG_ETRACE_PHASE_BEGIN,
    PUG_ETRACE_PHASE_REPLAY, /* then PUG_ETRACE_PHASE_FLOW or PUG_ETRACE_PHASE_OPTIONS */
    PUG_ETRACE_PHASE_FLOW,   /* formats 0, 1, 2 */
    PUG_ETRACE_PHASE_FLOW_WALK,
    PUG_ETRACE_PHASE_NOTIFY,
    PUG_ETRACE_PHASE_SYNC, /* format 3 subformat 0 */
    PUG_ETRACE_PHASE_SYNC_WALK,
    PUG_ETRACE_PHASE_TRAP,    /* format 3 subformat 1 */
    PUG_ETRACE_PHASE_REPORT,  /* the instruction that a synchronisation or a trap reports */
    PUG_ETRACE_PHASE_CONTEXT, /* format 3 subformat 2 */
    PUG_ETRACE_PHASE_OPTIONS, /* format 3 subformat 3 */
    PUG_ETRACE_PHASE_DATA,
    PUG_ETRACE_PHASE_BAD,
    PUG_ETRACE_PHASE_TIME, /* nothing left but the time */
    PUG_ETRACE_PHASE_END,
    PUG_ETRACE_PHASES
};

struct pug_etrace_decoder {
    const struct pug_etrace_config *config;
    struct pug_stage *stage;
    struct pug_out *out;
    struct pug_codemap *code;
    enum pug_isa isa;
    uint64_t address_mask;
    bool runs_fast;       /**< the fast path knows the layout of packets */
    bool exact_addresses; /**< every address of the program is as the trace has it */
    struct pug_etrace_options options;
    uint8_t address_bits; /**< of an address as sent */
    uint8_t return_width; /**< of the field irdepth or irets */

    bool synced, fresh;
    uint64_t pc;
    uint8_t pc_size;
    uint64_t last; /**< the instruction executed before pc */
    bool last_valid;
    uint64_t address; /**< base of differences */
    enum pug_etrace_addresses addresses;
    uint8_t unsaid; /**< packets that were taken for differences without information */
    uint8_t privilege;
    bool privilege_known;
    bool tentative; /**< stopped at what may be the first of two visits */
    struct pug_etrace_goal tentative_goal;
    bool after_trap, next_epc_valid;
    uint64_t next_epc;

    struct pug_etrace_outcomes outcomes;
    struct pug_etrace_stack stack;
    uint32_t irets; /**< implicit returns since the last branch or packet */
    uint8_t predictor[PUG_ETRACE_BPRED_MAX];
    uint64_t targets[PUG_ETRACE_CACHE_MAX];

    bool lost;    /**< trace was lost since the flow ended */
    bool started; /**< NO_SYNC is out */
    uint8_t start_reason;

    enum pug_etrace_phase phase; /**< of the packet in work */
    uint64_t index;
    const struct pug_etrace_packet *packet;
    struct pug_etrace_walk walk;
    struct pug_etrace_near near;
    struct pug_memos memos;
    struct pug_etrace_options memo_options; /**< in which they hold … */
    bool memos_hold;                        /**< … and which are in force */
    struct pug_chain
        chain;  /**< of blocks that are counted; on the fast path it lasts over packets */
    bool shows; /**< ranges are elements, also where they are counted: a memo is made of them */
    struct etrace_data_state *data;
    bool data_counts;   /**< retired instructions have to be reported */
    bool data_complete; /**< an access is ready to be pushed */
};

/* ---- state.c ---- */

static inline uint64_t pug_etrace_outcomes_total(const struct pug_etrace_outcomes *outcomes)
{
    return outcomes->mapped + outcomes->predicted + outcomes->mispredicted;
}

/**
 * Returns a predictor entry as it is after an outcome. The upper bit is the prediction, the lower
 * the last one: what two of these and the outcome say is predicted next.
 */
static inline uint8_t pug_etrace_train(uint8_t entry, bool taken)
{
    const unsigned prediction = entry >> 1, last = entry & 1;
    return (uint8_t)(((prediction & last) | (taken & (prediction | last))) << 1 | taken);
}

/** Returns the mask of the predictor entries in use. */
static inline unsigned pug_etrace_predictor_mask(const struct pug_etrace_decoder *d)
{
    return ((1u << d->options.bpred_size) - 1) & (PUG_ETRACE_BPRED_MAX - 1);
}

static inline uint8_t *pug_etrace_predictor_entry(struct pug_etrace_decoder *d, uint64_t address)
{
    return &d->predictor[address >> d->config->iaddress_lsb & pug_etrace_predictor_mask(d)];
}

static inline uint64_t pug_etrace_canonical(const struct pug_etrace_decoder *d, uint64_t address)
{
    return pug_etrace_extend(d->config, address & d->address_mask);
}

/** True: there is one more entry now. */
static inline bool pug_etrace_push(struct pug_etrace_decoder *d, uint64_t address)
{
    struct pug_etrace_stack *stack = &d->stack;
    if (stack->limit == 0)
        return false;
    struct pug_etrace_link *top = &stack->links[stack->top];
    if (stack->entries > 0 && top->address == address && top->count < stack->recursion) {
        top->count++;
        return false;
    }
    bool grows = stack->entries < stack->limit;
    stack->top = (stack->top + 1) & (stack->limit - 1);
    stack->links[stack->top] = (struct pug_etrace_link){.address = address};
    stack->entries += grows;
    return grows;
}

static inline uint64_t pug_etrace_top(const struct pug_etrace_decoder *d)
{
    return d->stack.links[d->stack.top].address;
}

static inline uint64_t pug_etrace_pop(struct pug_etrace_decoder *d)
{
    struct pug_etrace_stack *stack = &d->stack;
    struct pug_etrace_link *top = &stack->links[stack->top];
    if (top->count > 0) {
        top->count--;
    } else {
        stack->top = (stack->top - 1) & (stack->limit - 1);
        stack->entries--;
    }
    return top->address;
}

/** Outcome of the branch at `address`, which there must be; nothing changes. */
bool pug_etrace_peek_outcome(struct pug_etrace_decoder *d, uint64_t address);

/** Execute the branch at `address`. */
bool pug_etrace_take_outcome(struct pug_etrace_decoder *d, uint64_t address);

/** The outcome that is left belongs to the branch at `address`: make it explicit. */
void pug_etrace_fix_outcome(struct pug_etrace_decoder *d, uint64_t address);

void pug_etrace_clear_outcomes(struct pug_etrace_decoder *d);

/** Predictor, stack and jump targets as after a synchronisation. */
void pug_etrace_forget(struct pug_etrace_decoder *d);

/** Take over options; what has another size than before begins empty. False: no memory. */
bool pug_etrace_set_options(struct pug_etrace_decoder *d, const struct pug_etrace_options *options);

void pug_etrace_learn_target(struct pug_etrace_decoder *d, uint64_t target);
uint64_t pug_etrace_cached_target(const struct pug_etrace_decoder *d, unsigned index);

/* ---- decode.c ---- */

/** Go on until the packet is done, or the consumer waits. */
void pug_etrace_go_on(struct pug_etrace_decoder *d);
/** Put a TRACE_ON element before the first element after a loss. */
void pug_etrace_push_trace_on(struct pug_etrace_decoder *d);
/** Handle a synchronisation packet. Returns the next stage. */
enum pug_etrace_phase pug_etrace_sync(struct pug_etrace_decoder *d);
/** Go on at the reported address, whatever was before. */
enum pug_etrace_phase pug_etrace_report_directly(struct pug_etrace_decoder *d);

/* ---- trap.c ---- */

/** Handle a trap packet. Returns the next stage. */
enum pug_etrace_phase pug_etrace_trap(struct pug_etrace_decoder *d);

/** Before elements are pushed that concern ranges: what was counted ends here. */
static inline void pug_etrace_count_close(struct pug_etrace_decoder *d)
{
    pug_memos_count_close(&d->memos);
    pug_chain_close(&d->chain);
}

/** Are ranges counted now? Then the chain is open. */
static inline bool pug_etrace_may_count(struct pug_etrace_decoder *d)
{
    if (!d->stage->paths || d->shows)
        return false;
    pug_memos_count_close(&d->memos);
    return pug_chain_resume(&d->chain, d->stage);
}

/** The element that was pushed has nothing to do with ranges. */
static inline void pug_etrace_tally(struct pug_etrace_decoder *d)
{
    if (d->chain.paths)
        pug_chain_tally(&d->chain, d->out->batch, 1);
}

/* ---- context.c ---- */

/** The time of the packet in work, if it has one. */
void pug_etrace_push_time(struct pug_etrace_decoder *d);

/**
 * The packet's context comes into force. It is reported when it differs from the last one, or
 * always.
 */
void pug_etrace_push_context(struct pug_etrace_decoder *d, bool always);

/* ---- walk.c, stop.c, range.c ---- */

/** Another image, or another space: ways have to be looked up. */
void pug_etrace_forget_ways(struct pug_etrace_decoder *d);

static inline const struct pug_block *pug_etrace_block(struct pug_etrace_decoder *d,
                                                       uint64_t address)
{
    return pug_codemap_block(d->code, address, d->isa, 0);
}

/** The block that begins at pc. */
static inline const struct pug_block *pug_etrace_pc_block(struct pug_etrace_decoder *d)
{
    return pug_etrace_block(d, d->pc);
}

/** Does the block begin with a branch? Nothing but its last instruction moves the flow. */
static inline bool pug_etrace_is_branch(const struct pug_block *block)
{
    return block->count == 1 && block->insn.conditional;
}

/** An address that is in no block: instructions are at even ones. */
#define PUG_ETRACE_NOWHERE UINT64_MAX

/** Get ready to execute from `pc` on, to the goal that is set in the walk. */
static inline void pug_etrace_walk_begin(struct pug_etrace_decoder *d,
                                         enum pug_etrace_walk_kind kind)
{
    struct pug_etrace_walk *w = &d->walk;
    w->kind = kind;
    if (!w->goal.has_target)
        w->goal.target = PUG_ETRACE_NOWHERE;
    w->target_known = false;
    w->at = d->pc;
    w->reported = true;
    w->after_return = false;
    w->range_count = 0;
    w->steps = w->outcomes = w->hops = 0;
    w->jumps = w->returns = 0;
}

/** Go on; PUG_ETRACE_WALK_FAILED: the error is out, and the decoder waits for a synchronisation. */
enum pug_etrace_walk_result pug_etrace_walk_on(struct pug_etrace_decoder *d);

/** Is this jump inferable by the constant in front of it? Then *target is set. */
bool pug_etrace_sequential(struct pug_etrace_decoder *d, uint64_t address,
                           const struct pug_insn *insn, uint64_t *target);

/** The range of the one instruction at pc, where `block` begins. */
void pug_etrace_push_pc(struct pug_etrace_decoder *d, const struct pug_block *block);

/** The same, or it is counted. Where ranges are, the chain is open. */
void pug_etrace_tell_pc(struct pug_etrace_decoder *d, const struct pug_block *block, bool counts);

/** The same; false: it is not there, and the flow ends. */
bool pug_etrace_report_pc(struct pug_etrace_decoder *d);

/** The flow ends: log, elements, wait for the next synchronisation. */
void pug_etrace_fail(struct pug_etrace_decoder *d, enum pug_status code, const char *text);
void pug_etrace_unsync(struct pug_etrace_decoder *d);

/* ---- data.c ---- */

struct etrace_data_state *pug_etrace_data_new(const struct pug_etrace_config *config);
void pug_etrace_data_free(struct etrace_data_state *data);
void pug_etrace_data_reset(struct pug_etrace_decoder *d);
/**
 * Handle a synchronisation packet: compression restarts, and counting starts at the next
 * instruction.
 */
void pug_etrace_data_sync(struct pug_etrace_decoder *d);
/** Instructions cannot be counted up to the next synchronisation. */
void pug_etrace_data_uncount(struct pug_etrace_decoder *d);
/** … and data packets are missing. */
void pug_etrace_data_lose(struct pug_etrace_decoder *d);
/** Compression restarts. */
void pug_etrace_data_restart(struct pug_etrace_decoder *d);
/** There is data trace: count from the next synchronisation on. */
void pug_etrace_data_enable(struct pug_etrace_decoder *d);
/** Is there? */
bool pug_etrace_data_enabled(const struct pug_etrace_decoder *d);
void pug_etrace_data_packet(struct pug_etrace_decoder *d, const struct pug_etrace_packet *packet);
/** Instructions of a range have retired. */
void pug_etrace_data_range(struct pug_etrace_decoder *d, uint64_t start, uint32_t count);
/** Push what is complete; false: the consumer waits. */
bool pug_etrace_data_drain(struct pug_etrace_decoder *d);
void pug_etrace_data_write(const struct pug_etrace_decoder *d, struct pug_state *state);

#endif
