// SPDX-License-Identifier: MIT
/**
 * @file The decoder's state, shared by decode.c (the message underway), walk.c (the code that it
 * covers) and resume.c (what it says beside).
 */
#ifndef PUG_PROTOCOL_NTRACE_DECODE_H
#define PUG_PROTOCOL_NTRACE_DECODE_H

#include "counts/packet_memos.h"
#include "image/codemap.h"
#include "protocol/ntrace/ntrace.h"

/** What a message says about the last instruction of the code that it covers. */
enum pug_ntrace_end {
    PUG_NTRACE_END_NONE,     /**< nothing: history without an instruction count */
    PUG_NTRACE_END_DIRECT,   /**< a taken branch (BTM) */
    PUG_NTRACE_END_INDIRECT, /**< a jump to the message's address */
    PUG_NTRACE_END_TRAP,     /**< the instruction after it did not retire */
    PUG_NTRACE_END_SYNC,     /**< control is at the message's address then, however it got there */
    PUG_NTRACE_END_STOP,     /**< trace stops after it */
};

/** The code that a message covers: what is left of it. */
struct pug_ntrace_walk {
    int64_t budget; /**< halfwords of instructions left; with history only: until it is too much */
    int64_t passed; /**< halfwords walked for this message */
    int64_t blocks; /**< blocks that the message may still stand for; < 0: it stands for more */
    uint64_t hist;
    unsigned bits; /**< of history left */
    bool history_only;
    bool has_history; /**< the message has a bit for each conditional branch that it covers */
    bool sync_jumped; /**< END_SYNC: the message says that an indirect jump may be the last */
    enum pug_ntrace_end end;
    uint64_t address;     /**< END_SYNC: where control is after it */
    uint64_t range_start; /**< instructions not yet pushed: from here, so many */
    uint32_t range_count;
};

/** A round is PREPARE, WALK, LAND. */
enum pug_ntrace_phase {
    PUG_NTRACE_PHASE_IDLE,
    PUG_NTRACE_PHASE_PREPARE,
    PUG_NTRACE_PHASE_WALK,
    PUG_NTRACE_PHASE_RESUME,
    PUG_NTRACE_PHASE_FAIL,
    PUG_NTRACE_PHASE_AT_END
};

/** A branch message that RepeatBranch may repeat. */
struct pug_ntrace_branch {
    bool valid;
    uint8_t type, btype;
    uint64_t icnt, hist;
};

struct pug_ntrace_decoder {
    const struct pug_ntrace_config *config;
    struct pug_stage *stage;
    uint64_t mask; /**< of addresses, by xlen */
    uint8_t isa;

    /* state of the source (chapter "decoding") */
    bool started; /**< NO_SYNC of the start was pushed */
    bool was_reset;
    bool synced;   /**< the flow is known: `pc` is where it stands */
    bool pc_known; /**< false after an indirect jump whose target is unknown */
    bool by_jump;  /**< control came to `pc` by a jump, and nothing ran since */
    bool lost;     /**< messages were lost: the next sync restarts after an overflow */
    bool gap;      /**< a gap ended the flow and has to be reported */
    bool ref_known;
    uint8_t trap_size; /**< size of an ECALL or EBREAK that was the last instruction, else 0 */
    uint64_t pc;
    uint64_t last; /**< the last instruction that was walked */
    uint64_t ref;  /**< reference of unique addresses */
    int64_t full;  /**< halfwords that ResourceFull messages add to the next ICNT */
    struct pug_ntrace_branch branch;
    uint64_t *stack; /**< ring of return addresses, config->stack_depth of them */
    uint32_t stack_top, stack_count;

    /* the message underway */
    enum pug_ntrace_phase phase;
    const struct pug_ntrace_packet *message; /**< the reader's; it stays until it is done with */
    uint64_t index;
    uint32_t rounds;    /**< walks left, the one underway included */
    int64_t walk_limit; /**< halfwords that it may cover: the setting */
    bool flowing;       /**< the flow was known when it came */
    bool tell_time;     /**< its timestamp is to be pushed */
    struct pug_ntrace_branch
        now; /**< what it says about the flow, of RepeatBranch the repeated one's */
    struct pug_ntrace_walk walk;
    const struct pug_block *before; /**< the block that led to `pc`, if it was met just now; an
                                       indirect jump of it led to anywhere */
    struct pug_memos memos;
    struct pug_chain
        chain;  /**< of blocks that are counted; on the fast path it lasts over messages */
    bool shows; /**< ranges are elements, also where they are counted: a memo is made of them */
    enum pug_status failure;
    const char *failure_text;
    uint64_t failure_pc;
};

enum pug_ntrace_walked { PUG_NTRACE_WALKED, PUG_NTRACE_WAITS, PUG_NTRACE_FAILED };

/** Go on with d->walk from d->pc, pushing ranges. FAILED: d->failure says why. */
enum pug_ntrace_walked pug_ntrace_walk(struct pug_ntrace_decoder *d);

/* ---- decode.c ---- */

/**
 * The number of instructions that the message under way may stand for
 * (pug_decode_options.expansion). It grows by what earlier ResourceFull messages contained: 2^22
 * halfwords each, in five bytes.
 */
static inline void pug_ntrace_bound(struct pug_ntrace_decoder *d)
{
    uint64_t most = pug_repeats_bound(d->stage);
    if (d->full >> 20 > 0)
        most += pug_stage_expansion(d->stage, (uint64_t)d->full >> 20);
    d->walk.blocks = (int64_t)most;
}

/** The message goes beyond its bound; returns PUG_NTRACE_FAILED. */
enum pug_ntrace_walked pug_ntrace_too_much(struct pug_ntrace_decoder *d, uint64_t pc);

/** Returns the response to a broken message. */
static inline enum pug_response pug_ntrace_answer_to_bad(const struct pug_ntrace_decoder *d)
{
    const struct pug_decode_options *options = &d->stage->options;
    return options->halt_on_bad_packet    ? PUG_RESP_FATAL_INVALID_DATA
           : options->error_on_bad_packet ? PUG_RESP_ERR_CONT
                                          : PUG_RESP_WARN_CONT;
}

/** Before elements are pushed: what was counted ends here. */
static inline void pug_ntrace_count_close(struct pug_ntrace_decoder *d)
{
    pug_memos_count_close(&d->memos);
    pug_chain_close(&d->chain);
}

/** Go on with the message underway, until it is done or the consumer waits. */
enum pug_response pug_ntrace_go_on(struct pug_ntrace_decoder *d);

/* ---- resume.c ---- */

static inline uint64_t pug_ntrace_field_value(const struct pug_ntrace_decoder *d,
                                              enum pug_ntrace_field name)
{
    return d->message->field[name];
}

/** The address of a FADDR. */
uint64_t pug_ntrace_full_address(const struct pug_ntrace_decoder *d, uint64_t value);

/** The address of a UADDR. */
uint64_t pug_ntrace_unique_address(const struct pug_ntrace_decoder *d, uint64_t value);

/** A jump or, as d->now has it, a trap to `address`. */
void pug_ntrace_resume_at(struct pug_ntrace_decoder *d, uint64_t address);

/** The code map is to read in the context in force. */
void pug_ntrace_set_space(struct pug_ntrace_decoder *d);

/** The message's timestamp, if there is one to tell. */
void pug_ntrace_push_time(struct pug_ntrace_decoder *d);

/** After a walk, or for a message without one. `final`: no walk of this message follows. */
void pug_ntrace_resume_flow(struct pug_ntrace_decoder *d, bool final);

/** The reference of addresses is lost with the messages that may have changed it, and the flow. */
void pug_ntrace_lose_messages(struct pug_ntrace_decoder *d);

/** Messages may be missing before the one underway. */
void pug_ntrace_note_gap(struct pug_ntrace_decoder *d);

/** After a walk that failed: trace and program do not fit together, or the program is not there. */
void pug_ntrace_resume_failure(struct pug_ntrace_decoder *d);

/* ---- walk.c ---- */

/** Note a failure; returns PUG_NTRACE_FAILED. */
enum pug_ntrace_walked pug_ntrace_fail(struct pug_ntrace_decoder *d, enum pug_status status,
                                       uint64_t pc, const char *text);

/** Bytes of the longest instruction that a jump on its constant may follow. */
#define PUG_NTRACE_LONGEST_CONSTANT 8u

/** Halfwords that may pass without a bit of history being used, in a walk by history only. */
#define PUG_NTRACE_HISTORY_GUARD (INT64_C(1) << 22)

/** The same, but not beyond walk_limit; `passed`: what the message covered so far. */
static inline int64_t pug_ntrace_history_guard(const struct pug_ntrace_decoder *d, int64_t passed)
{
    int64_t left = d->walk_limit - passed;
    return left < PUG_NTRACE_HISTORY_GUARD ? left : PUG_NTRACE_HISTORY_GUARD;
}

#endif
