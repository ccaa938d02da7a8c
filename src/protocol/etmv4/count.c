// SPDX-License-Identifier: MIT
/**
 * @file The fast path of counts: packets of atoms in a row are one look into a table of paths,
 * where the return stack is off.
 */
#include "protocol/etmv4/marks.h"

typedef struct pug_etmv4_decoder decoder;
typedef struct pug_etmv4_reader reader;

/*
 * `here` is the place of the next block, or that of the last one and PUG_PATH_ASKS. From `from` on,
 * by `packets`, the last packets of atoms led there; 0: since the fast path was entered there were
 * none.
 */
#define NOWHERE UINT64_MAX

struct count {
    decoder *d;
    reader *reader;
    const struct pug_run *run;
    const uint8_t *last; /* the last packet, or NULL */
    struct pug_paths *paths;
    uint64_t here, from, packets;
    uint64_t asked;       /* where the open aim is from */
    const uint8_t *timed; /* the packet before which timestamps were put last */
    uint32_t left;        /* atoms of the last packet that are for decode(); 1: none */
};

static inline const struct pug_block *block_at(const struct count *c, uint64_t place)
{
    return pug_codemap_numbered(c->d->map, (uint32_t)place & (PUG_PATH_NUMBERS - 1));
}

static inline struct pug_count_boundary *boundary_of(const struct count *c)
{
    return pug_counts_boundary(c->paths->counts, c->d->stage->source);
}

static inline bool can_number(const struct pug_block *block, uint32_t epoch)
{
    return pug_block_hops(block, epoch) && pug_block_lasts(block) &&
           block->number < PUG_PATH_NUMBERS;
}

/** The last block, and how it was left, where there were packets. */
static const struct pug_block *last_block(const struct count *c, bool *taken)
{
    const struct pug_block *block = block_at(c, c->from), *last = block;
    for (uint64_t packets = c->packets; packets > 0; packets >>= 8)
        for (uint32_t atoms = pug_etmv4_atoms((uint8_t)packets); atoms > 1; atoms >>= 1) {
            last = block;
            *taken = atoms & 1;
            block = block->links[*taken];
        }
    return last;
}

/** Leave the fast path after a block. */
static void leave_behind(struct count *c, const struct pug_block *block, bool taken, uint64_t index)
{
    pug_paths_leave(c->paths, block, taken);
    pug_etmv4_leave(c->d, NULL, pug_etmv4_batch_end(c->d->stage->out.batch), block, taken, index);
    c->here = NOWHERE;
    c->packets = 0;
}

/** Leave the fast path after the last packet of atoms; a target that was not used did not count. */
static void leave_count(struct count *c, const struct pug_etmv4_pending_target *target,
                        uint64_t index)
{
    bool taken = false;
    const struct pug_block *last = last_block(c, &taken);
    if (target->open && !(c->here & PUG_PATH_ASKS))
        pug_paths_add_jump(c->paths, block_at(c, c->asked), target->value, UINT64_MAX);
    leave_behind(c, last, taken, index);
}

/** Elements that came before are counted before. False: the consumer waits, or code is another. */
static bool count_earlier(const struct count *c)
{
    struct pug_batch *batch = c->d->stage->out.batch;
    return batch->count == 0 || (batch->flush(batch) && !pug_codemap_outdated(c->d->map));
}

/** Find the block where the decoder stands. False: it does not hop, or has no number. */
static bool enter_count(struct count *c, struct pug_etmv4_pending_target *target, uint64_t index)
{
    const struct pug_block *block = pug_etmv4_enter(c->d, target, index);
    if (!block || !count_earlier(c) || !can_number(block, c->d->map->epoch))
        return false;
    struct pug_count_boundary *boundary = boundary_of(c);
    if (boundary)
        pug_counts_follow(c->paths->counts, boundary, block->start);
    c->here = pug_paths_place(c->paths, block);
    c->packets = 0;
    return boundary != NULL;
}

/** Where atoms lead from a place if all blocks are linked; else NOWHERE. */
static uint64_t walk_atoms(const struct count *c, uint64_t from, uint32_t atoms)
{
    const struct pug_block *block = block_at(c, from);
    for (;;) {
        const bool taken = atoms & 1;
        const struct pug_block *next = block->links[taken];
        atoms >>= 1;
        if (!can_number(next, c->d->map->epoch))
            return atoms == 1 && pug_etmv4_asks_for_address(c->d, block, taken)
                       ? pug_paths_place(c->paths, block) | PUG_PATH_ASKS
                       : NOWHERE;
        if (atoms == 1)
            return pug_paths_place(c->paths, next);
        block = next;
    }
}

/** Keep a path by as many of the packets as are linked. How many. */
static unsigned keep_path(struct count *c, uint64_t packets)
{
    unsigned count = 0;
    uint64_t to = c->here;
    for (; packets >> 8 * count > 0 && !(to & PUG_PATH_ASKS); count++) {
        const uint64_t next = walk_atoms(c, to, pug_etmv4_atoms((uint8_t)(packets >> 8 * count)));
        if (next == NOWHERE)
            break;
        to = next;
    }
    if (count > 0) {
        c->from = c->here;
        c->packets = packets & ((UINT64_C(1) << 8 * count) - 1);
        c->here = to;
        pug_paths_keep(c->paths, c->from, c->packets, to);
    }
    return count;
}

/** Hop after hop, as far as there are links, and off the fast path. The atoms that are left. */
static uint32_t count_singly(struct count *c, uint32_t atoms, uint64_t index)
{
    const struct pug_block *block = block_at(c, c->here), *last;
    bool taken;
    do {
        taken = atoms & 1;
        atoms >>= 1;
        pug_paths_hop(c->paths, block, taken);
        last = block;
        block = block->links[taken];
    } while (atoms > 1 && can_number(block, c->d->map->epoch));
    leave_behind(c, last, taken, index);
    return atoms;
}

/** An address that a branch asked for, but for which no jump is kept. */
static PUG_NOINLINE void
count_address(struct count *c, const struct pug_etmv4_pending_target *target, uint64_t before)
{
    const struct pug_block *block = pug_etmv4_aimed_at(c->d, target);
    if (block && can_number(block, c->d->map->epoch)) {
        c->asked = c->here;
        c->here = pug_paths_place(c->paths, block);
        pug_paths_keep_jump(c->paths, c->asked, target->value | target->is, c->here);
    } else {
        leave_count(c, target, before);
    }
}

/** Reopen the address of the last packet if it has one that was not used. */
static inline void reopen_target(const struct count *c, struct pug_etmv4_pending_target *target)
{
    if (!c->last)
        return;
    target->open = !pug_etmv4_is_atoms(*c->last);
    target->is = c->reader->stack[PUG_ETMV4_REGISTER].is;
    target->value = c->reader->stack[PUG_ETMV4_REGISTER].value;
    target->index = pug_run_index(c->run, c->last);
}

static inline uint64_t index_before(const struct count *c)
{
    return c->last ? pug_run_index(c->run, c->last) : c->d->index;
}

/** Where the loop of count() is, for the functions above: it keeps that in registers. */
static PUG_NOINLINE struct count *note(struct count *c, const uint8_t *last, uint64_t here,
                                       const struct pug_path *path,
                                       const struct pug_path_jump *jump)
{
    c->last = last;
    c->here = here;
    if (path) {
        c->from = path->from;
        c->packets = path->packets;
    }
    if (jump)
        c->asked = jump->from;
    return c;
}

/**
 * Packets of atoms for which no path is kept, or from where the fast path was not. How many were
 * taken; 0: there may be a path now.
 */
static PUG_NOINLINE unsigned take_atoms(struct count *c, struct pug_etmv4_pending_target *target,
                                        const uint8_t *at, uint64_t packets)
{
    const uint64_t index = pug_run_index(c->run, at);
    reopen_target(c, target);
    c->left = pug_etmv4_atoms((uint8_t)packets);
    if (c->here & PUG_PATH_ASKS) { /* also nowhere */
        if (c->here != NOWHERE)
            leave_count(c, target, index_before(c));
        if (!enter_count(c, target, index))
            return 1;
        c->left = 1;
        return 0;
    }
    target->open = false;
    const unsigned kept = keep_path(c, packets);
    if (kept > 0) {
        c->left = 1;
        return kept;
    }
    do
        c->left = count_singly(c, c->left, index);
    while (c->left > 1 && enter_count(c, target, index));
    return 1;
}

/* ---- timestamps ---- */

/** There is room for their elements, and what the fast path knows of the map still holds. */
static bool has_room(const struct count *c)
{
    struct pug_batch *batch = c->d->stage->out.batch;
    const uint32_t epoch = c->d->map->epoch;
    return batch->count + PUG_ETMV4_MARKS <= batch->limit ||
           (batch->flush(batch) && c->d->map->epoch == epoch && !pug_codemap_outdated(c->d->map));
}

/** The elements of those that wait come before the atoms at `at`. False: they still wait. */
static PUG_NOINLINE bool put_times(struct count *c, struct pug_etmv4_marks *marks,
                                   const uint8_t *at)
{
    struct pug_batch *batch = c->d->stage->out.batch;
    bool taken;
    if (marks->count == 0) {
        marks->put = at == c->timed ? marks->put : 0;
        return true;
    }
    if (!has_room(c))
        return false;
    const uint8_t isa = c->packets ? last_block(c, &taken)->isa : c->d->stage->out.blank.isa;
    (void)pug_etmv4_put_waiting(c->d, marks, pug_etmv4_batch_end(batch), isa);
    c->timed = at;
    return true;
}

/** A packet that marks a time: its size, or 0: it is another, not all there, or one too many. */
static PUG_NOINLINE size_t take_time(const struct count *c, struct pug_etmv4_marks *marks,
                                     const uint8_t *at, const uint8_t *end)
{
    reader *r = c->reader;
    return pug_etmv4_take_mark(r, c->d, &r->config->headers[*at], pug_run_index(c->run, at), at,
                               end, marks);
}

/** Would an address be the second in a row, with a timestamp between? Then all of them wait. */
static inline bool is_second(const struct pug_etmv4_pending_target *target,
                             const struct pug_etmv4_marks *marks, const uint8_t *last)
{
    return marks->count > 0 && (last ? !pug_etmv4_is_atoms(*last) : target->open);
}

/* ---- the fast path ---- */

/**
 * Packets of atoms cost a look into a table; everything else is done by the functions above. An
 * address is open if it is of the last packet.
 */
static inline __attribute__((always_inline)) uint32_t count(reader *r, decoder *d,
                                                            struct pug_span *span,
                                                            struct pug_etmv4_pending_target *target,
                                                            struct pug_etmv4_marks *marks)
{
    const pug_etmv4_forms forms = pug_etmv4_forms_of(r);
    const uint8_t *at = span->at, *const end = span->end, *last = NULL;
    struct count c = {.d = d,
                      .reader = r,
                      .run = span->run,
                      .paths = d->stage->paths,
                      .here = NOWHERE,
                      .left = 1};
    struct pug_paths tables = *c.paths;
    struct pug_path *path = NULL; /* the last ones, while they are in the tables */
    struct pug_path_jump *jump = NULL;
    uint64_t here = NOWHERE, address;
    tables.atoms_of = c.paths->atoms_of = pug_etmv4_atoms;
    while (at < end) {
        const uint64_t ahead = pug_etmv4_ahead(at, end);
        const unsigned bits = pug_etmv4_atom_bits(ahead);
        if (bits > 0) {
            if (marks && (marks->count | marks->put) &&
                !put_times(note(&c, last, here, path, jump), marks, at))
                break;
            const uint64_t packets = ahead & ((UINT64_C(1) << bits) - 1);
            struct pug_path *next = pug_paths_find(&tables, here, packets);
            if (next) {
                path = next;
                path->hits++;
                here = path->to;
                at += bits / 8;
                last = at - 1;
                continue;
            }
            const unsigned taken =
                take_atoms(note(&c, last, here, path, jump), target, at, packets);
            at += taken;
            last = taken > 0 ? at - 1 : last;
        } else {
            const uint8_t *const before = last;
            if (marks && !pug_etmv4_is_address(*at)) {
                const size_t size = take_time(&c, marks, at, end);
                if (size == 0)
                    break;
                at += size;
                continue;
            }
            if (marks && is_second(target, marks, last))
                break;
            if (!(here & PUG_PATH_ASKS)) { /* not asked for */
                reopen_target(note(&c, last, here, path, jump), target);
                leave_count(&c, target, index_before(&c));
                here = NOWHERE;
            }
            const size_t size =
                pug_etmv4_take_address(r, forms, (uint16_t)ahead, at, end, &address);
            if (size == 0)
                break;
            const uint8_t is = d->last_is = r->stack[PUG_ETMV4_REGISTER].is;
            last = at;
            at += size;
            if (here == NOWHERE)
                continue;
            struct pug_path_jump *next = pug_paths_find_jump(&tables, here, address | is);
            if (next) {
                jump = next;
                jump->hits++;
                here = jump->to;
                continue;
            }
            note(&c, before, here, path, jump);
            const uint64_t index = index_before(&c);
            c.last = last;
            reopen_target(&c, target);
            count_address(&c, target, index);
        }
        here = c.here;
        if (c.left > 1)
            break;
        tables = *c.paths;
        path = NULL;
        jump = NULL;
    }
    reopen_target(note(&c, last, here, path, jump), target);
    if (here != NOWHERE)
        leave_count(&c, target, index_before(&c));
    pug_etmv4_show_address(r);
    d->index = index_before(&c);
    if (marks && marks->count > 0 && marks->waiting[marks->count - 1].index > d->index)
        d->index = marks->waiting[marks->count - 1].index;
    c.paths->counted += (uint64_t)(at - span->at);
    span->at = at;
    return c.left > 1 ? c.left : 0;
}

uint32_t pug_etmv4_count(reader *r, decoder *d, struct pug_span *span,
                         struct pug_etmv4_pending_target *target, struct pug_etmv4_marks *marks)
{
    return marks ? count(r, d, span, target, marks) : count(r, d, span, target, NULL);
}
