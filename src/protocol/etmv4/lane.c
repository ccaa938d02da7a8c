// SPDX-License-Identifier: MIT
/**
 * @file The lane: atoms and addresses from bytes to elements at once, packet after packet, where
 * nothing is speculated (enum pug_etmv4_way).
 *
 * On the lane the decoder's own place is out of date: where execution is, `from`, the last block,
 * and `block`, the next one, tell. pug_etmv4_leave() brings the place up to date, pug_etmv4_enter()
 * finds the block at it; between them an atom is a hop, and an address a look into the table of
 * jumps. A taken call pushes its return address when execution goes on behind it, or in
 * pug_etmv4_leave().
 */
#include "protocol/etmv4/lane.h"
#include "protocol/etmv4/marks.h"

#include <assert.h>

typedef struct pug_etmv4_decoder decoder;
typedef struct pug_etmv4_reader reader;

/* The most atoms in a packet, and the EXCEPTION_RET that may follow the last. */
#define PACKET_ELEMENTS 25u

static_assert(PACKET_ELEMENTS + PUG_ETMV4_MARKS - PUG_OUT_STEP < 16,
              "a batch has room for a packet");

/* ---- addresses ---- */

static struct pug_etmv4_aim take_aim(decoder *d)
{
    if (d->way != PUG_ETMV4_AIMED)
        return (struct pug_etmv4_aim){0};
    const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
    d->queue.head++;
    return (struct pug_etmv4_aim){
        .open = true, .is = p0->is, .value = p0->value, .index = p0->index};
}

static void leave_aim(decoder *d, const struct pug_etmv4_aim *aim)
{
    if (aim->open)
        pug_etmv4_admit_address(d, aim->index, aim->value, aim->is);
    d->way = aim->open ? PUG_ETMV4_AIMED : PUG_ETMV4_DIRECT;
}

/* ---- marks ---- */

/** What is left waits, in its order. */
static void leave_waiting(decoder *d, const struct pug_etmv4_aim *aim,
                          const struct pug_etmv4_marks *marks)
{
    unsigned i = 0;
    for (; i < marks->count && (!aim->open || marks->waiting[i].index < aim->index); i++)
        pug_etmv4_admit_mark(d, &marks->waiting[i]);
    leave_aim(d, aim);
    for (; i < marks->count; i++)
        pug_etmv4_admit_mark(d, &marks->waiting[i]);
    if (marks->count > 0)
        pug_etmv4_set_way(d);
}

/* ---- onto the lane and off it ---- */

const struct pug_block *pug_etmv4_enter(decoder *d, struct pug_etmv4_aim *aim, uint64_t index)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (aim->open)
        pug_etmv4_commit_address(d, aim->value, aim->is);
    aim->open = false;
    d->index = index;
    if (d->returns.count > 0)
        (void)pug_etmv4_pop_return(d);
    const struct pug_block *block = d->blocked ? NULL : pug_etmv4_block(d);
    if (block && !pug_block_hops(block, d->map->epoch)) {
        d->unusual = block;
        return NULL;
    }
    const bool room =
        batch->response < PUG_RESP_WAIT &&
        (batch->count + PACKET_ELEMENTS + PUG_ETMV4_MARKS <= batch->limit + PUG_OUT_STEP ||
         batch->flush(batch));
    return room ? block : NULL;
}

struct pug_element *pug_etmv4_leave(decoder *d, struct pug_chain *chain, struct pug_element *end,
                                    const struct pug_block *from, bool taken, uint64_t index)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (chain)
        pug_chain_break(chain);
    batch->count = (uint32_t)(end - batch->elements);
    pug_etmv4_set_isa(d, from->isa);
    d->isa = from->isa;
    pug_etmv4_leave_block(d, index, from, taken);
    return pug_etmv4_batch_end(batch);
}

/** The trace index of the range that was put down last: `ran`, where it was delivered or counted.
 */
static inline uint64_t last_index(const struct pug_batch *batch, const struct pug_element *end,
                                  uint64_t ran, const enum pug_want want)
{
    return want != PUG_WANT_COUNTS && end > batch->elements ? end[-1].index : ran;
}

/**
 * Deliver. True: the consumer just goes on, and what the lane knows of the map still holds. (A call
 * would keep `end` and `ran` in memory.)
 */
static inline __attribute__((always_inline)) bool deliver(decoder *d, struct pug_element **end,
                                                          uint32_t epoch, uint64_t *ran,
                                                          const enum pug_want want)
{
    struct pug_batch *batch = d->stage->out.batch;
    *ran = last_index(batch, *end, *ran, want);
    batch->count = (uint32_t)(*end - batch->elements);
    pug_batch_give(batch);
    *end = pug_etmv4_batch_end(batch);
    return batch->response == PUG_RESP_CONT && d->map->epoch == epoch &&
           !pug_codemap_outdated(d->map);
}

/* ---- calls and returns, where the unit has a return stack ---- */

/** Does the block behind a branch depend on the return stack, or that on the branch? */
static inline bool uses_stack(const decoder *d, const struct pug_block *from, bool taken)
{
    return taken && (from->last_type == PUG_INSTR_BR ? from->insn.link
                                                     : pug_etmv4_asks_for_address(d, from, taken));
}

static inline void push_call(decoder *d, const struct pug_block *from)
{
    if (from->insn.link)
        pug_etmv4_push_return(d, from->end, from->isa);
}

/** Where a taken branch goes of which no address tells; NULL: that takes a closer look. */
static inline const struct pug_block *pass_branch(decoder *d, const struct pug_block *from)
{
    struct pug_etmv4_return_stack *returns = &d->returns;
    const struct pug_insn *insn = &from->insn;
    const struct pug_block *block;
    if (insn->type == PUG_INSTR_BR) {
        block = pug_codemap_jumped(d->map, insn->target, insn->next_isa);
        if (block)
            push_call(d, from);
        return block;
    }
    if (insn->link || returns->count == 0)
        return NULL;
    block = pug_codemap_jumped(d->map, returns->entries[returns->head].address,
                               returns->entries[returns->head].isa);
    if (block)
        pug_etmv4_drop_return(returns);
    return block;
}

static inline bool is_jump(const struct pug_block *from, bool taken)
{
    return taken && from->last_type == PUG_INSTR_BR;
}

/**
 * The block at an address that says where a direct branch went, which nobody asked (branch
 * broadcasting); `block`: what is known of that without it. NULL: that takes a closer look.
 */
static inline const struct pug_block *told_block(const decoder *d, const struct pug_block *from,
                                                 bool taken, const struct pug_etmv4_aim *aim,
                                                 const struct pug_block *block)
{
    const struct pug_insn *insn = &from->insn;
    if (!is_jump(from, taken) || insn->target != aim->value ||
        insn->next_isa != pug_etmv4_isa(d, aim->is))
        return NULL;
    return block ? block : pug_etmv4_aimed_at(d, aim);
}

/* ---- the lane ---- */

/**
 * Stops before a packet that is for read() and decode(), or in one of atoms: then the answer is
 * what is left of these. With EACH, elements are delivered after each packet; with COUNTS, ranges
 * go into the chain, and where another element than a mark comes between, that is the end.
 */
static inline __attribute__((always_inline)) uint32_t
ride(reader *r, decoder *d, struct pug_span *span, struct pug_etmv4_aim *last,
     struct pug_chain *chain, struct pug_etmv4_marks *marks, const enum pug_want want,
     const bool stack)
{
    struct pug_batch *const batch = d->stage->out.batch;
    const struct pug_element *const full =
        &batch->elements[batch->limit + PUG_OUT_STEP - PACKET_ELEMENTS -
                         (marks ? PUG_ETMV4_MARKS : 0)];
    const struct pug_range_context context = pug_range_context(&d->stage->out.blank);
    const struct pug_etmv4_header *const headers = r->config->headers;
    const pug_etmv4_forms forms = pug_etmv4_forms_of(r);
    const uint8_t *at = span->at, *const end = span->end;
    struct pug_element *element = pug_etmv4_batch_end(batch);
    const struct pug_block *block = NULL, *from = NULL; /* without `from` the place is known */
    struct pug_etmv4_aim aim = *last;
    uint64_t index = d->index, ran = index;
    uint32_t epoch = d->map->epoch, atoms = 1, told = 0; /* of counts: marks in the batch */
    bool taken = false;
    while (at < end) {
        const struct pug_etmv4_header *const header = &headers[*at];
        if (header->form != PUG_ETMV4_FORM_ATOM) {
            if (marks && marks->count > 0 && aim.open && pug_etmv4_is_address(*at))
                break; /* both addresses wait, and what is between them */
            const size_t size = pug_etmv4_take_address(r, forms, (uint16_t)pug_etmv4_ahead(at, end),
                                                       at, end, &aim.value);
            if (size == 0 && marks) {
                const uint64_t own = pug_run_index(span->run, at);
                const size_t more = pug_etmv4_take_mark(r, d, header, own, at, end, marks);
                if (more == 0)
                    break;
                index = own;
                at += more;
                continue;
            }
            if (size == 0)
                break;
            index = aim.index = pug_run_index(span->run, at);
            aim.open = true;
            aim.is = d->last_is = r->stack[PUG_ETMV4_REGISTER].is;
            at += size;
            if (from && pug_etmv4_asks_for_address(d, from, taken))
                block = pug_etmv4_aimed_at(d, &aim);
            else
                block = marks && from ? told_block(d, from, taken, &aim, block) : NULL;
            continue;
        }
        if (element > full && (stack ? from : block) && !deliver(d, &element, epoch, &ran, want))
            break;
        index = pug_run_index(span->run, at++);
        atoms = header->atoms;
        if (marks)
            element = pug_etmv4_put_waiting(d, marks, element,
                                            from ? from->isa : d->stage->out.blank.isa);
        if (marks && want == PUG_WANT_COUNTS && marks->put > 0)
            pug_chain_tally(chain, batch, marks->put);
        told = (uint32_t)(element - batch->elements);
        if (block && aim.open) {
            if (stack)
                push_call(d, from);
            aim.open = false;
            d->returns.wait_address = false;
        }
        do {
            if (stack && !block && from && !aim.open && uses_stack(d, from, taken))
                block = pass_branch(d, from);
            if (!block) {
                if (from)
                    element = pug_etmv4_leave(d, chain, element, from, taken,
                                              last_index(batch, element, ran, want));
                from = NULL;
                batch->count = (uint32_t)(element - batch->elements);
                const bool ends = want == PUG_WANT_COUNTS && batch->count > told;
                block = ends ? NULL : pug_etmv4_enter(d, &aim, index);
                element = pug_etmv4_batch_end(batch);
                told = batch->count;
                epoch = d->map->epoch;
                if (!block)
                    break;
            }
            do {
                taken = atoms & 1;
                atoms >>= 1;
                if (want == PUG_WANT_COUNTS)
                    pug_chain_hop(chain, block, taken);
                else
                    pug_block_range(element++, block, index, &context, taken);
                from = block;
                block = block->links[taken];
            } while ((atoms > 1) & pug_block_hops(block, epoch));
            if (!pug_block_hops(block, epoch))
                block = pug_block_regain(d->map, block);
            if (want == PUG_WANT_COUNTS)
                ran = index;
        } while (atoms > 1);
        if (atoms > 1)
            break;
        if (!block && !pug_etmv4_asks_for_address(d, from, taken) &&
            !(stack && uses_stack(d, from, taken)) &&
            !(marks && d->config->broadcast && is_jump(from, taken)) && from) {
            element = pug_etmv4_leave(d, chain, element, from, taken,
                                      last_index(batch, element, ran, want));
            from = NULL;
        }
        if (want == PUG_WANT_EACH && !deliver(d, &element, epoch, &ran, want))
            break;
    }
    batch->count = (uint32_t)(element - batch->elements);
    if (from)
        pug_etmv4_leave(d, chain, element, from, taken, last_index(batch, element, ran, want));
    pug_etmv4_show_address(r);
    d->index = index;
    span->at = at;
    *last = aim;
    return atoms > 1 ? atoms : 0;
}

static inline __attribute__((always_inline)) uint32_t
ride_want(reader *r, decoder *d, struct pug_span *span, struct pug_etmv4_aim *aim,
          struct pug_etmv4_marks *marks, const enum pug_want want)
{
    return d->config->return_stack ? ride(r, d, span, aim, NULL, marks, want, true)
                                   : ride(r, d, span, aim, NULL, marks, want, false);
}

/** Atoms and addresses that they ask for: there are no marks and no addresses besides. */
static bool is_plain(const decoder *d)
{
    return !pug_etmv4_counts_cycles(d) && !d->config->timestamps && !d->config->broadcast;
}

static inline __attribute__((always_inline)) uint32_t
ride_any(reader *r, decoder *d, struct pug_span *span, struct pug_etmv4_aim *aim,
         struct pug_etmv4_marks *marks, const enum pug_want want)
{
    return is_plain(d) ? ride_want(r, d, span, aim, NULL, want)
                       : ride_want(r, d, span, aim, marks, want);
}

static bool can_count_paths(const decoder *d)
{
    return d->stage->paths && !d->config->return_stack && !pug_codemap_is_volatile(d->map) &&
           pug_paths_begin(d->stage->paths, &d->stage->out.blank);
}

/** By paths, or where cycles are counted or all targets told hop by hop; else there are elements.
 */
static uint32_t count_any(reader *r, decoder *d, struct pug_span *span, struct pug_etmv4_aim *aim,
                          struct pug_etmv4_marks *marks)
{
    const bool stack = d->config->return_stack, times = d->config->timestamps;
    struct pug_chain chain;
    uint32_t left;
    /* where timestamps tell cycles they are off the lane */
    if (!pug_etmv4_counts_cycles(d) && !d->config->broadcast && can_count_paths(d))
        return pug_etmv4_count(r, d, span, aim, times && !d->config->cycle_count ? marks : NULL);
    if (!pug_chain_begin(&chain, d->stage))
        return ride_any(r, d, span, aim, marks, PUG_WANT_BATCH);
    if (is_plain(d))
        left = ride(r, d, span, aim, &chain, NULL, PUG_WANT_COUNTS, stack);
    else
        left = ride(r, d, span, aim, &chain, marks, PUG_WANT_COUNTS, stack);
    pug_chain_end(&chain);
    return left;
}

/* ---- all lanes ---- */

/** Is it the next byte's turn? Before ranges are counted all elements that came earlier are. */
static bool is_ready(const reader *r, decoder *d, const uint8_t *at, enum pug_want want)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (r->special || d->way == PUG_ETMV4_QUEUES)
        return false;
    if (d->way == PUG_ETMV4_MARKED &&
        (r->config->headers[*at].form != PUG_ETMV4_FORM_ATOM || !pug_etmv4_put_marks(d)))
        return false;
    if (want == PUG_WANT_COUNTS && batch->count > 0)
        (void)batch->flush(batch);
    return batch->response < PUG_RESP_WAIT;
}

static inline __attribute__((always_inline)) enum pug_response
ride_all(reader *r, decoder *d, struct pug_span *span, const enum pug_want want)
{
    if (span->at == span->end || !is_ready(r, d, span->at, want))
        return PUG_RESP_CONT;
    struct pug_etmv4_aim aim = take_aim(d);
    struct pug_etmv4_marks marks;
    marks.count = marks.put = 0;
    const uint32_t left = want == PUG_WANT_COUNTS ? count_any(r, d, span, &aim, &marks)
                                                  : ride_any(r, d, span, &aim, &marks, want);
    leave_waiting(d, &aim, &marks);
    if (left == 0)
        return want == PUG_WANT_EACH ? d->stage->out.batch->response : PUG_RESP_CONT;
    const struct pug_etmv4_header *header = &r->config->headers[span->at[-1]];
    r->packet.type = header->type;
    pug_etmv4_set_atoms(&r->packet, header);
    const unsigned count = 31u - (unsigned)__builtin_clz(left);
    return pug_etmv4_decode_rest(d, &r->packet, header->atom_count - count, marks.put);
}

enum pug_response pug_etmv4_lane(void *reader_state, void *state, struct pug_span *span,
                                 enum pug_want want)
{
    reader *r = reader_state;
    if (r->special & PUG_ETMV4_UNSYNCED)
        pug_etmv4_pass_over_noise(r, span);
    switch (want) {
    case PUG_WANT_BATCH: return ride_all(reader_state, state, span, PUG_WANT_BATCH);
    case PUG_WANT_COUNTS: return ride_all(reader_state, state, span, PUG_WANT_COUNTS);
    case PUG_WANT_EACH: return ride_all(reader_state, state, span, PUG_WANT_EACH);
    case PUG_WANT_MARKS: pug_etmv4_skim(reader_state, span); break;
    }
    return PUG_RESP_CONT;
}
