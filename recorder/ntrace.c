// SPDX-License-Identifier: MIT
#include "recorder/ntrace.h"

#include "pugmark/advanced/packet/ntrace.h"

#include <stdlib.h>

#define REPEAT_MAX ((1u << 18) - 1)

/** The branch message that was sent last, as far as RepeatBranch compares it. */
struct branch {
    bool valid;
    unsigned type, btype;
    uint64_t icnt, hist, target;
};

struct rec_ntrace {
    struct rec_ntrace_options options;
    struct rec_bytes *out;
    struct rec_random random;
    unsigned bits; /* written into the last byte of the message underway */
    bool on;
    uint64_t icnt, hist;
    uint64_t ref;
    uint64_t time, told_time;
    uint64_t full_hist; /* a full history that came full_count times, not yet sent */
    uint32_t full_count;
    struct branch last;
    uint32_t repeats;
    unsigned sync_reason; /* of the sync that the next branch message is to be */
    bool sync_due;
    struct pug_insn previous; /* retired just before, where a pair may begin with it */
    uint64_t *stack;
    uint32_t stack_count;
};

struct rec_ntrace *rec_ntrace_new(const struct rec_ntrace_options *options, struct rec_bytes *out)
{
    struct rec_ntrace *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->options = *options;
    e->out = out;
    e->random.state = options->seed;
    e->hist = 1;
    e->stack = calloc(options->stack_depth + 1, sizeof(*e->stack));
    if (!e->stack) {
        free(e);
        return NULL;
    }
    return e;
}

void rec_ntrace_free(struct rec_ntrace *e)
{
    if (e)
        free(e->stack);
    free(e);
}

/* ---- messages ---- */

static void put_bits(struct rec_ntrace *e, uint64_t value, unsigned count)
{
    while (count > 0) {
        if (e->bits == 6) {
            rec_put(e->out, 0);
            e->bits = 0;
        }
        unsigned room = 6 - e->bits, n = count < room ? count : room;
        if (e->out->size > 0)
            e->out->data[e->out->size - 1] |= (uint8_t)((value & ((1u << n) - 1)) << (e->bits + 2));
        e->bits += n;
        value >>= n;
        count -= n;
    }
}

static void put_mseo(struct rec_ntrace *e, unsigned mseo)
{
    if (e->out->size > 0)
        e->out->data[e->out->size - 1] |= (uint8_t)mseo;
    e->bits = 6;
}

static void begin(struct rec_ntrace *e, unsigned tcode)
{
    e->bits = 6;
    put_bits(e, tcode, 6);
    put_bits(e, e->options.src, e->options.src_bits);
}

static unsigned length(uint64_t value)
{
    unsigned bits = 1;
    while (bits < 64 && value >> bits)
        bits++;
    return bits;
}

/** A variable field; what follows it starts on a new byte. */
static void put_variable(struct rec_ntrace *e, uint64_t value)
{
    put_bits(e, value, length(value));
    put_mseo(e, 1);
}

/** An address field, whose highest bit sent may stand for those above it. */
static void put_address(struct rec_ntrace *e, uint64_t value)
{
    unsigned top = (e->options.addr_bits ? e->options.addr_bits : e->options.xlen) - 2;
    uint64_t all = (UINT64_C(2) << top) - 1;
    value &= all;
    if (!e->options.extend_addr_msb) {
        put_variable(e, value);
        return;
    }
    unsigned bits = 6;
    while (bits <= top) {
        uint64_t above = all & ~((UINT64_C(1) << bits) - 1);
        if ((value & above) == (value >> (bits - 1) & 1 ? above : 0))
            break;
        bits += 6;
    }
    put_bits(e, value, bits < 66 ? bits : 66);
    put_mseo(e, 1);
}

static void end(struct rec_ntrace *e, bool sync)
{
    const struct rec_ntrace_options *options = &e->options;
    if (options->timestamps &&
        (sync || rec_random_once_in(&e->random, options->timestamp_once_in))) {
        unsigned width = options->ts_width;
        uint64_t all = width ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
        uint64_t stamp = sync              ? e->time & all
                         : options->sifive ? (e->time ^ e->told_time) & all
                                           : e->time - e->told_time;
        put_variable(e, stamp);
        e->told_time = e->time;
    }
    put_mseo(e, 3);
}

static void send_repeats(struct rec_ntrace *e)
{
    if (e->repeats == 0)
        return;
    begin(e, PUG_NTRACE_REPEAT_BRANCH);
    put_variable(e, e->repeats);
    e->repeats = 0;
    end(e, false);
}

static void send_full(struct rec_ntrace *e, unsigned rcode, uint64_t data, uint32_t repeats)
{
    send_repeats(e);
    e->last.valid = false;
    begin(e, PUG_NTRACE_RESOURCE_FULL);
    put_bits(e, rcode, 4);
    put_variable(e, data);
    if (rcode == 2)
        put_variable(e, repeats);
    end(e, false);
}

/** The full histories that were counted. */
static void send_histories(struct rec_ntrace *e)
{
    uint64_t hist = e->full_hist;
    uint32_t count = e->full_count;
    unsigned branches = length(hist) - 1;
    e->full_count = 0;
    if (count == 0)
        return;
    if (e->options.sifive && hist == UINT64_C(1) << branches)
        send_full(e, 8, (uint64_t)branches * count, 0);
    else if (e->options.sifive && hist == (UINT64_C(2) << branches) - 1)
        send_full(e, 9, (uint64_t)branches * count, 0);
    else
        send_full(e, count == 1 ? 1 : 2, hist, count);
}

/** Everything that was counted but not sent. */
static void settle(struct rec_ntrace *e)
{
    send_repeats(e);
    send_histories(e);
}

/** A history to send in ResourceFull messages. */
static void push_history(struct rec_ntrace *e, uint64_t hist)
{
    if (e->full_count > 0 && (hist != e->full_hist || e->full_count == REPEAT_MAX))
        send_histories(e);
    e->full_hist = hist;
    e->full_count++;
    if (!e->options.repeated_history)
        send_histories(e);
}

static void history(struct rec_ntrace *e, bool taken)
{
    e->hist = e->hist << 1 | taken;
    if (length(e->hist) == e->options.hist_bits) {
        push_history(e, e->hist);
        e->hist = 1;
    }
}

static void restart(struct rec_ntrace *e, uint64_t address)
{
    e->ref = address;
    e->icnt = 0;
    e->hist = 1;
    e->last.valid = false;
    e->stack_count = 0;
    e->previous = (struct pug_insn){0};
    e->sync_due = false;
}

/** Send the branch message for the instructions executed until now, or its sync form. */
static void send_branch(struct rec_ntrace *e, unsigned type, unsigned btype, uint64_t target)
{
    static const uint8_t sync_type[] = {
        [PUG_NTRACE_DIRECT_BRANCH] = PUG_NTRACE_DIRECT_BRANCH_SYNC,
        [PUG_NTRACE_INDIRECT_BRANCH] = PUG_NTRACE_INDIRECT_BRANCH_SYNC,
        [PUG_NTRACE_INDIRECT_BRANCH_HIST] = PUG_NTRACE_INDIRECT_BRANCH_HIST_SYNC};
    send_histories(e);
    struct branch now = {true, type, btype, e->icnt, e->hist, target};
    bool direct = type == PUG_NTRACE_DIRECT_BRANCH;
    bool same = e->options.repeat_branch && !e->sync_due && e->last.valid && e->last.type == type &&
                e->last.btype == btype && e->last.icnt == now.icnt && e->last.hist == now.hist &&
                (direct || e->last.target == target) && e->repeats < REPEAT_MAX;
    e->icnt = 0;
    e->hist = 1;
    if (same) {
        e->repeats++;
        return;
    }
    send_repeats(e);
    begin(e, e->sync_due ? sync_type[type] : type);
    if (e->sync_due)
        put_bits(e, e->sync_reason, 4);
    if (!direct)
        put_bits(e, btype, 2);
    put_variable(e, now.icnt);
    if (e->sync_due)
        put_address(e, target >> 1);
    else if (!direct)
        put_address(e, (target ^ e->ref) >> 1);
    if (type == PUG_NTRACE_INDIRECT_BRANCH_HIST)
        put_variable(e, now.hist);
    end(e, e->sync_due);
    if (!direct)
        e->ref = target;
    if (e->sync_due)
        restart(e, target);
    else
        e->last = now;
}

static void send_indirect(struct rec_ntrace *e, unsigned btype, uint64_t target)
{
    send_branch(e, e->hist == 1 ? PUG_NTRACE_INDIRECT_BRANCH : PUG_NTRACE_INDIRECT_BRANCH_HIST,
                btype, target);
}

static void send_sync(struct rec_ntrace *e, unsigned reason, uint64_t pc)
{
    if (e->hist != 1) /* ProgTraceSync has no history */
        push_history(e, e->hist);
    settle(e);
    begin(e, PUG_NTRACE_PROG_TRACE_SYNC);
    put_bits(e, reason, 4);
    put_variable(e, e->icnt);
    put_address(e, pc >> 1);
    end(e, true);
    restart(e, pc);
}

/* ---- return stack ---- */

static void push_call(struct rec_ntrace *e, uint64_t address)
{
    uint32_t depth = e->options.stack_depth;
    if (e->stack_count == depth) {
        for (uint32_t i = 1; i < depth; i++)
            e->stack[i - 1] = e->stack[i];
        e->stack_count -= depth > 0;
    }
    if (depth > 0)
        e->stack[e->stack_count++] = address;
}

/** Pop; can the decoder tell from it that control goes to `next`? */
static bool pop_call(struct rec_ntrace *e, uint64_t next)
{
    if (e->stack_count == 0)
        return false;
    uint64_t top = e->stack[--e->stack_count];
    return e->options.implicit_return == REC_NTRACE_RETURN_COUNT ||
           (e->options.implicit_return == REC_NTRACE_RETURN_COMPARE && top == next);
}

/* ---- what ran ---- */

void rec_ntrace_time(struct rec_ntrace *e, uint64_t time)
{
    e->time = time;
}

void rec_ntrace_start(struct rec_ntrace *e, unsigned reason, uint64_t pc)
{
    e->on = true;
    e->icnt = 0;
    e->hist = 1;
    send_sync(e, reason, pc);
}

static bool is_inferable(struct rec_ntrace *e, const struct pug_insn *insn, uint64_t behind,
                         uint64_t next)
{
    bool pops = insn->kind == PUG_RV_RETURN || (insn->kind == PUG_RV_SWAP && !e->options.sifive);
    bool returns = pops && e->options.implicit_return != REC_NTRACE_RETURN_OFF;
    bool inferable = pops && pop_call(e, next);
    if (insn->kind == PUG_RV_CALL || insn->kind == PUG_RV_SWAP)
        push_call(e, behind);
    if (insn->kind == PUG_RV_XRET)
        return false;
    bool pair = e->previous.kind == PUG_RV_CONSTANT && e->previous.rd == insn->rs1;
    return inferable || (e->options.sequential_jump && pair && !returns);
}

/** A branch that was taken, or with all_jumps a direct jump. */
static void tell_taken(struct rec_ntrace *e, uint64_t next)
{
    if (e->options.btm)
        send_branch(e, PUG_NTRACE_DIRECT_BRANCH, 0, next);
    else
        history(e, true);
}

void rec_ntrace_retire(struct rec_ntrace *e, uint64_t pc, const struct pug_insn *insn,
                       uint64_t next)
{
    if (!e->on)
        return;
    uint64_t mask = e->options.xlen == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t behind = (pc + insn->size) & mask;
    e->icnt += insn->size / 2;
    if (insn->kind == PUG_RV_BRANCH) {
        if (next == insn->target && next != behind)
            tell_taken(e, next);
        else if (!e->options.btm)
            history(e, false);
    } else if (insn->type == PUG_INSTR_BR) {
        if (insn->kind == PUG_RV_CALL)
            push_call(e, behind);
        if (e->options.all_jumps)
            tell_taken(e, next);
    } else if (insn->type == PUG_INSTR_BR_INDIRECT) {
        if (!is_inferable(e, insn, behind, next))
            send_indirect(e, 0, next);
    }
    e->previous = *insn;
    if (e->icnt + 4 <= e->options.icnt_max)
        return;
    if (e->options.btm && e->options.icnt_sync) {
        send_sync(e, 4, next);
    } else {
        send_full(e, 0, e->icnt, 0);
        e->icnt = 0;
    }
}

void rec_ntrace_trap(struct rec_ntrace *e, bool interrupt, uint64_t handler)
{
    e->previous = (struct pug_insn){0};
    if (e->on)
        send_indirect(e, !e->options.exact_traps ? 1 : interrupt ? 3 : 2, handler);
}

void rec_ntrace_sync(struct rec_ntrace *e, unsigned reason, uint64_t pc, bool later)
{
    if (!e->on)
        return;
    if (!later) {
        send_sync(e, reason, pc);
        return;
    }
    e->sync_due = true;
    e->sync_reason = reason;
}

void rec_ntrace_stop(struct rec_ntrace *e, unsigned evcode)
{
    settle(e);
    begin(e, PUG_NTRACE_PROG_TRACE_CORRELATION);
    put_bits(e, evcode, 4);
    put_bits(e, !e->options.btm, 2);
    put_variable(e, e->on ? e->icnt : 0);
    if (!e->options.btm)
        put_variable(e, e->on ? e->hist : 1);
    end(e, false);
    e->on = false;
}

void rec_ntrace_overflow(struct rec_ntrace *e, uint32_t ecode)
{
    e->repeats = 0;
    e->full_count = 0;
    e->on = false;
    begin(e, PUG_NTRACE_ERROR);
    put_bits(e, 0, 4);
    put_variable(e, ecode);
    end(e, false);
}

/* ---- beside the flow ---- */

void rec_ntrace_ownership(struct rec_ntrace *e, unsigned format, unsigned prv, bool v,
                          uint32_t context)
{
    send_repeats(e);
    begin(e, PUG_NTRACE_OWNERSHIP);
    put_variable(e, format | prv << 2 | (unsigned)v << 4 | (uint64_t)context << 5);
    end(e, false);
}

void rec_ntrace_data(struct rec_ntrace *e, uint32_t idtag, uint64_t data)
{
    send_repeats(e);
    begin(e, PUG_NTRACE_DATA_ACQUISITION);
    put_variable(e, idtag);
    put_variable(e, data);
    end(e, false);
}

void rec_ntrace_vendor(struct rec_ntrace *e, unsigned tcode, uint64_t content)
{
    send_repeats(e);
    begin(e, tcode);
    put_variable(e, content);
    put_mseo(e, 3);
}

void rec_ntrace_idle(struct rec_ntrace *e, unsigned count)
{
    while (count-- > 0)
        rec_put(e->out, 0xff);
}

void rec_ntrace_finish(struct rec_ntrace *e)
{
    settle(e);
}
