// SPDX-License-Identifier: MIT
/** @file Atoms: each is a range of instructions up to the next waypoint. */
#include "protocol/etmv4/etmv4.h"

typedef struct pug_etmv4_decoder decoder;

/* ---- where execution is ---- */

/** The block at the current address: along the link of the block before where that holds. */
static inline const struct pug_block *current_block(decoder *d)
{
    if (d->from && d->epoch == d->map->epoch)
        return pug_block_follow(d->map, d->from, d->from_taken);
    return pug_codemap_block(d->map, d->address, (enum pug_isa)d->isa,
                             d->isa == PUG_ISA_T32 ? d->it : 0);
}

/** Behind a block: its branch is taken, or not. */
static inline void leave_block(decoder *d, uint64_t index, const struct pug_block *block,
                               bool taken)
{
    d->address = block->end;
    if (taken) {
        pug_etmv4_take_branch(d, &block->insn, block->end);
        if (block->insn.subtype == PUG_SUB_V8_ERET && d->config->ete)
            pug_etmv4_push(d, PUG_ELEM_EXCEPTION_RET, index);
        if (block->insn.type == PUG_INSTR_BR_INDIRECT)
            return;
        taken = block->insn.type == PUG_INSTR_BR;
    }
    if (!taken)
        d->it = block->isa == PUG_ISA_T32 ? block->it_out : 0;
    d->from = block;
    d->from_taken = taken;
    d->epoch = d->map->epoch;
}

/* ---- checks ---- */

static void log_overruns(decoder *d, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++)
        pug_log_put(d->stage->log,
                    &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                             .code = PUG_ERR_I_RANGE_LIMIT_OVERRUN,
                                             .index = PUG_NO_INDEX,
                                             .source = PUG_NO_SOURCE,
                                             .component = d->stage->decoder_name,
                                             .text = "Decode Instruction Range Limit Overrun"});
}

bool pug_etmv4_over_limit(decoder *d, uint32_t count, uint32_t steps)
{
    uint32_t limit = d->stage->options.range_limit;
    if (limit == 0 || count <= limit)
        return count > PUG_WALK_BOUND;
    log_overruns(d, d->stage->quirks.etm4_limit_runs_on ? steps - limit : 1);
    return true;
}

/** What an option asks of a range that ends in a waypoint; NULL: nothing is wrong. */
static const char *wrong_range(decoder *d, const struct pug_block *block, uint64_t start,
                               bool taken)
{
    const struct pug_decode_options *options = &d->stage->options;
    const struct pug_insn *insn = &block->insn;
    bool skip =
        taken || insn->conditional || (options->check_skips_thumb && block->isa == PUG_ISA_T32);
    if (!skip && insn->type == PUG_INSTR_BR &&
        (options->check_strict_branch ||
         (options->check_direct_branch && insn->target != block->end)))
        return "Bad program image - N Atom on unconditional direct BR.\n";
    if (!skip && insn->type == PUG_INSTR_BR_INDIRECT && options->check_strict_branch)
        return "Bad program image - N Atom on unconditional indirect BR.\n";
    if (options->check_range_continuity && d->expect_valid && d->expect != start)
        return "Discontinuous ranges - Inconsistent program image for decode\n";
    d->expect_valid = !taken;
    d->expect = block->end;
    return NULL;
}

/* ---- atoms ---- */

/** The walk found no waypoint: memory ends, or an opcode is in error. */
static enum pug_etmv4_outcome no_waypoint(decoder *d, uint64_t index, uint64_t start,
                                          uint32_t count, const struct pug_block *block,
                                          const struct pug_insn *before)
{
    bool error = block->ending == PUG_BLOCK_ERROR;
    enum pug_status code = PUG_ERR_I_RANGE_LIMIT_OVERRUN;
    bool over = pug_etmv4_over_limit(d, count, count + !error);
    if (error && (!over || d->stage->quirks.etm4_limit_runs_on))
        code = (enum pug_status)block->status;
    if (code == PUG_ERR_UNSUPPORTED_ISA) {
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, code, index,
                      "Warning: unsupported instruction set processing atom packet.");
        d->blocked |= PUG_ETMV4_NEED_ADDRESS | PUG_ETMV4_NEED_CONTEXT;
        return PUG_ETMV4_DONE;
    }
    if (error || over)
        return pug_etmv4_fail(d, PUG_SEV_ERROR, code, index, PUG_UNSYNC_BAD_PACKET,
                              "Error processing atom packet.");
    d->blocked |= PUG_ETMV4_NEED_ADDRESS;
    d->expect_valid = false;
    d->address = block->end;
    d->it = block->it_out;
    d->from = NULL;
    if (count > 0)
        pug_etmv4_put_range(d, index, start, block->end, count,
                            block->count > 0 ? &block->insn : before, block->isa, true);
    pug_etmv4_put_nacc(d, index, block->end);
    return PUG_ETMV4_DONE;
}

/** A range that is no plain block: of several blocks, without a waypoint, or to be checked. */
static PUG_NOINLINE enum pug_etmv4_outcome commit_unusual(decoder *d, uint64_t index, bool taken)
{
    const struct pug_block *block = d->unusual ? d->unusual : current_block(d);
    uint64_t start = d->address;
    uint32_t count = block->count;
    d->unusual = NULL;
    struct pug_insn before = {0};
    while (block->ending == PUG_BLOCK_LONG && count <= PUG_WALK_BOUND) {
        before = block->insn;
        block = pug_block_follow(d->map, block, false);
        count += block->count;
    }
    if (block->ending != PUG_BLOCK_FLOW)
        return no_waypoint(d, index, start, count, block, &before);
    if (pug_etmv4_over_limit(d, count, count))
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_I_RANGE_LIMIT_OVERRUN, index,
                              PUG_UNSYNC_BAD_PACKET, "Error processing atom packet.");
    const char *wrong = wrong_range(d, block, start, taken);
    if (wrong)
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_BAD_DECODE_IMAGE, index,
                              PUG_UNSYNC_BAD_IMAGE, wrong);
    pug_etmv4_put_range(d, index, start, block->end, count, &block->insn, block->isa, taken);
    leave_block(d, index, block, taken);
    return PUG_ETMV4_DONE;
}

/* ---- plain blocks ---- */

/* The most atoms in a packet, and the EXCEPTION_RET that may follow the last. */
#define PACKET_ELEMENTS 25u

static_assert(PACKET_ELEMENTS - PUG_OUT_STEP < 16, "a batch has room for a packet");

/**
 * What atoms of plain blocks need, in registers: where the next range goes in the batch, and where
 * execution is. `next` is the next block where its link is made, else NULL.
 */
struct lane {
    struct pug_element *element;
    const struct pug_block *from, *next;
    uint64_t address;
    uint32_t epoch;
    bool taken;
    bool lost; /**< an indirect branch: where it goes is not known */
};

/** Enter the lane at a block. */
static inline struct lane enter(decoder *d, const struct pug_block *block)
{
    const struct pug_batch *batch = d->stage->out.batch;
    return (struct lane){.element = &batch->elements[batch->count],
                         .from = block,
                         .next = block,
                         .address = d->address,
                         .epoch = d->map->epoch};
}

/** Leave it where it is. There was at least one range. */
static inline void leave(decoder *d, const struct lane *lane)
{
    struct pug_batch *batch = d->stage->out.batch;
    const struct pug_block *from = lane->from;
    batch->count = (uint32_t)(lane->element - batch->elements);
    pug_etmv4_set_isa(d, from->isa);
    d->isa = from->isa;
    if (lane->lost) {
        leave_block(d, lane->element[-1].index, from, true);
        return;
    }
    d->from = from;
    d->from_taken = lane->taken;
    d->epoch = lane->epoch;
    d->address = lane->address;
    if (d->isa != PUG_ISA_A64) {
        d->it = !lane->taken && d->isa == PUG_ISA_T32 ? from->it_out : 0;
        d->isa = lane->taken ? from->insn.next_isa : d->isa;
    }
}

/**
 * `count` atoms, for which the batch has room; how many are left. Ends before a block that is not
 * plain or not linked yet, and behind a branch that does not say where it goes.
 */
static inline uint32_t ride(decoder *d, struct lane *lane, uint64_t index, uint32_t bits,
                            uint32_t count)
{
    const struct pug_element *const blank = &d->stage->out.blank;
    const bool returns = d->config->return_stack;
    while (lane->next && lane->next->ending == PUG_BLOCK_FLOW) {
        const struct pug_block *block = lane->next;
        const bool taken = bits & 1;
        pug_range_fill(lane->element++, blank, index, lane->address, block->end, block->count,
                       &block->insn, block->isa, taken);
        bits >>= 1;
        count--;
        lane->address = pug_block_next(block, taken);
        lane->from = block;
        lane->taken = taken;
        /* an atom cannot be foretold: one rare branch for all that is not a plain one */
        if (taken & (block->insn.special | (block->insn.link & returns))) {
            lane->lost = block->insn.type != PUG_INSTR_BR;
            if (lane->lost)
                break;
            pug_etmv4_push_return(d, block->end, block->isa);
        }
        lane->next = pug_block_linked(block, taken, lane->epoch);
        if (count == 0)
            break;
    }
    return count;
}

/** Room for a whole packet in the batch. False: the consumer waits. */
static inline bool room_for_packet(decoder *d)
{
    struct pug_batch *batch = d->stage->out.batch;
    return batch->count + PACKET_ELEMENTS <= batch->limit + PUG_OUT_STEP || batch->flush(batch);
}

/** The current block as the start of a lane; NULL where that cannot be. */
static inline const struct pug_block *plain_block(decoder *d)
{
    const struct pug_block *block = current_block(d);
    if (block->ending != PUG_BLOCK_FLOW) {
        d->unusual = block;
        return NULL;
    }
    return pug_out_ready(&d->stage->out) && room_for_packet(d) ? block : NULL;
}

uint32_t pug_etmv4_hop(decoder *d, uint64_t index, uint32_t bits, uint32_t count)
{
    const struct pug_block *block = plain_block(d);
    if (!block)
        return 0;
    struct lane lane = enter(d, block);
    uint32_t left = ride(d, &lane, index, bits, count);
    leave(d, &lane);
    return count - left;
}

/* ---- any atoms ---- */

/** Let the return stack help an atom. RUN_ENDS: where execution is is not known all the same. */
static inline enum pug_etmv4_outcome clear_way(decoder *d)
{
    enum pug_etmv4_outcome outcome = d->blocked ? pug_etmv4_pop_return(d) : PUG_ETMV4_DONE;
    return outcome == PUG_ETMV4_DONE && d->blocked ? PUG_ETMV4_RUN_ENDS : outcome;
}

enum pug_etmv4_outcome pug_etmv4_take_atoms(decoder *d, uint64_t index, uint32_t bits,
                                            uint32_t most, uint32_t *done)
{
    while (*done < most) {
        if (!pug_out_ready(&d->stage->out))
            return PUG_ETMV4_SUSPENDED;
        enum pug_etmv4_outcome outcome = clear_way(d);
        if (outcome == PUG_ETMV4_DONE && !d->checks && !d->unusual) {
            uint32_t hopped = pug_etmv4_hop(d, index, bits >> *done, most - *done);
            *done += hopped;
            if (hopped > 0 || !pug_out_ready(&d->stage->out))
                continue;
        }
        if (outcome == PUG_ETMV4_DONE)
            outcome = commit_unusual(d, index, bits >> *done & 1);
        if (outcome != PUG_ETMV4_DONE && outcome != PUG_ETMV4_RUN_ENDS)
            return outcome;
        ++*done;
    }
    return PUG_ETMV4_DONE;
}

enum pug_etmv4_outcome pug_etmv4_commit_atoms(decoder *d, struct pug_etmv4_p0 *p0)
{
    uint32_t most = d->commits < p0->count ? (uint32_t)d->commits : p0->count, done = 0;
    enum pug_etmv4_outcome outcome = pug_etmv4_take_atoms(d, p0->index, p0->bits, most, &done);
    if (outcome != PUG_ETMV4_DONE && outcome != PUG_ETMV4_SUSPENDED)
        return outcome;
    d->commits -= done;
    d->depth -= done;
    p0->bits >>= done;
    p0->count = (uint8_t)(p0->count - done);
    d->queue.head += p0->count == 0;
    return outcome;
}

/* ---- bytes to elements at once ---- */

static bool is_address(const struct pug_etmv4_header *header)
{
    return header->type >= PUG_ETMV4_ADDR_MATCH && header->type <= PUG_ETMV4_ADDR_L_64IS1 &&
           header->form != PUG_ETMV4_FORM_RESERVED;
}

/** An address with nothing before it in the queue: what it is for comes next. */
static void take_address(struct pug_etmv4_reader *r, decoder *d,
                         const struct pug_etmv4_header *header, const uint8_t *raw)
{
    r->header = header;
    r->packet.type = header->type;
    pug_etmv4_read_address(r, raw);
    d->last_is = r->packet.address.is;
    pug_etmv4_commit_address(d, r->packet.address.value, r->packet.address.is);
}

enum pug_response pug_etmv4_run(void *reader, void *state, struct pug_span *span)
{
    struct pug_etmv4_reader *r = reader;
    decoder *d = state;
    if (r->special || !d->direct || d->checks || d->stage->quirks.etm4_stale_state)
        return PUG_RESP_CONT;
    struct pug_batch *const batch = d->stage->out.batch;
    const struct pug_element *const full =
        &batch->elements[batch->limit + PUG_OUT_STEP - PACKET_ELEMENTS];
    const struct pug_etmv4_header *const headers = r->config->headers;
    const uint8_t *at = span->at, *const end = span->end;
    struct lane lane = {0};
    bool riding = false;
    while (at < end) {
        const struct pug_etmv4_header *header = &headers[*at];
        const uint64_t index = pug_run_index(span->run, at);
        if (header->form == PUG_ETMV4_FORM_ATOM) {
            uint32_t left = header->atom_count;
            if (riding && lane.element > full) {
                leave(d, &lane);
                riding = false;
            }
            if (!riding && !d->blocked) {
                const struct pug_block *block = plain_block(d);
                riding = block != NULL;
                if (riding)
                    lane = enter(d, block);
            }
            d->index = index;
            at++;
            if (riding) {
                left = ride(d, &lane, index, header->atom_bits, left);
                if (left == 0 && !lane.lost)
                    continue;
                leave(d, &lane);
                riding = false;
                if (left == 0)
                    continue;
            }
            r->packet.type = header->type;
            r->packet.atom_bits = header->atom_bits;
            r->packet.atom_count = header->atom_count;
            span->at = at;
            return pug_etmv4_decode_rest(d, &r->packet, header->atom_count - left);
        }
        size_t size = is_address(header) ? pug_etmv4_plain_size(header, at, end) : 0;
        if (size == 0)
            break;
        if (riding)
            leave(d, &lane);
        riding = false;
        d->index = index;
        take_address(r, d, header, at);
        at += size;
    }
    if (riding)
        leave(d, &lane);
    span->at = at;
    return PUG_RESP_CONT;
}
