// SPDX-License-Identifier: MIT
/**
 * @file The lane of counts: a packet of atoms is one look into a table of paths, where the return
 * stack is off.
 */
#include "protocol/etmv4/lane.h"

typedef struct pug_etmv4_decoder decoder;
typedef struct pug_etmv4_reader reader;

/*
 * Here a block is a number, and `here` the next one, or the last one and PUG_PATH_ASKS. From `from`
 * on, by `atoms`, the last packet of atoms led there.
 */
#define NOWHERE UINT32_MAX

struct count {
    decoder *d;
    const reader *reader;
    const struct pug_run *run;
    const uint8_t *last; /* the last packet, or NULL */
    struct pug_paths *paths;
    uint32_t here, from, atoms;
    uint32_t asked; /* the block whose branch the open aim is of */
};

static inline struct pug_count_seam *seam_of(const struct count *c)
{
    return pug_counts_seam(c->paths->counts, c->d->stage->source);
}

static inline bool can_number(const struct pug_block *block, uint32_t epoch)
{
    return pug_block_hops(block, epoch) && pug_block_lasts(block) &&
           block->number < PUG_PATH_NUMBERS;
}

/** Leave the lane behind a block. */
static void leave_behind(struct count *c, const struct pug_block *block, bool taken, uint64_t index)
{
    pug_paths_leave(c->paths, block, taken);
    pug_etmv4_leave(c->d, NULL, pug_etmv4_batch_end(c->d->stage->out.batch), block, taken, index);
    c->here = NOWHERE;
}

/** The same where the last packet of atoms led; an aim that nobody used did not count. */
static void leave_count(struct count *c, const struct pug_etmv4_aim *aim, uint64_t index)
{
    const struct pug_block *block = pug_codemap_numbered(c->d->map, c->from), *last = block;
    bool taken = false;
    if (aim->open && !(c->here & PUG_PATH_ASKS))
        pug_paths_add_jump(c->paths, pug_codemap_numbered(c->d->map, c->asked), aim->value,
                           UINT64_MAX);
    for (uint32_t atoms = c->atoms; atoms > 1; atoms >>= 1) {
        last = block;
        taken = atoms & 1;
        block = block->links[taken];
    }
    leave_behind(c, last, taken, index);
}

/** Find the block where the decoder stands. False: it does not hop, or has no number. */
static bool enter_count(struct count *c, struct pug_etmv4_aim *aim, uint64_t index)
{
    const struct pug_block *block = pug_etmv4_enter(c->d, aim, index);
    if (!block || !can_number(block, c->d->map->epoch))
        return false;
    struct pug_count_seam *seam = seam_of(c);
    if (seam)
        pug_counts_follow(c->paths->counts, seam, block->start);
    c->here = block->number;
    return seam != NULL;
}

/** Where a path leads whose blocks are linked; NOWHERE: not all are. */
static uint32_t walk_path(const struct count *c, uint32_t atoms)
{
    const struct pug_block *block = pug_codemap_numbered(c->d->map, c->here);
    for (;;) {
        const bool taken = atoms & 1;
        const struct pug_block *next = block->links[taken];
        atoms >>= 1;
        if (!can_number(next, c->d->map->epoch))
            return atoms == 1 && pug_etmv4_asks_for_address(c->d, block, taken)
                       ? block->number | PUG_PATH_ASKS
                       : NOWHERE;
        if (atoms == 1)
            return next->number;
        block = next;
    }
}

/** Hop after hop, as far as there are links, and off the lane. The atoms that are left. */
static uint32_t count_singly(struct count *c, uint32_t atoms, uint64_t index)
{
    const struct pug_block *block = pug_codemap_numbered(c->d->map, c->here), *last;
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

/** Count atoms for which no path is kept; what is left of them is for decode(). */
static PUG_NOINLINE uint32_t count_atoms(struct count *c, uint32_t atoms, struct pug_etmv4_aim *aim,
                                         uint64_t index, uint64_t before)
{
    while (atoms > 1) {
        if (c->here & PUG_PATH_ASKS) { /* also nowhere */
            if (c->here != NOWHERE)
                leave_count(c, aim, before);
            if (!enter_count(c, aim, index))
                return atoms;
        }
        c->from = c->here;
        c->atoms = atoms;
        const uint32_t to = walk_path(c, atoms);
        if (to == NOWHERE) {
            atoms = count_singly(c, atoms, index);
            continue;
        }
        pug_paths_keep(c->paths, c->from, atoms, to);
        c->here = to;
        return 1;
    }
    return atoms;
}

/** An address that a branch asked for, but for which no jump is kept. */
static PUG_NOINLINE void count_address(struct count *c, const struct pug_etmv4_aim *aim,
                                       uint64_t before)
{
    c->asked = c->here & ~PUG_PATH_ASKS;
    const struct pug_block *block = pug_etmv4_aimed_at(c->d, aim);
    if (block && can_number(block, c->d->map->epoch)) {
        pug_paths_keep_jump(c->paths, c->asked, aim->value, block->number);
        c->here = block->number;
    } else {
        leave_count(c, aim, before);
    }
}

/** What the loop of count() keeps of its tables: they move when something is added. */
struct tables {
    struct pug_path *paths;
    uint32_t path_mask;
    uint64_t key;
};

static inline struct tables tables_of(const struct pug_paths *paths)
{
    return (struct tables){paths->paths, paths->path_mask, paths->context_key};
}

/** The address that a packet told that nobody used, if the last one did. */
static inline void reopen_aim(const struct count *c, struct pug_etmv4_aim *aim)
{
    if (!c->last)
        return;
    aim->open = c->reader->config->headers[*c->last].form != PUG_ETMV4_FORM_ATOM;
    aim->is = c->d->last_is;
    aim->value = c->reader->packet.address.value;
    aim->index = pug_run_index(c->run, c->last);
}

static inline uint64_t index_before(const struct count *c)
{
    return c->last ? pug_run_index(c->run, c->last) : c->d->index;
}

/** Where the loop of count() is, for the functions above: it keeps that in registers. */
static PUG_NOINLINE struct count *note(struct count *c, const uint8_t *last, uint32_t here,
                                       uint32_t from, uint32_t atoms, uint32_t asked)
{
    c->last = last;
    c->here = here;
    c->from = from;
    c->atoms = atoms;
    c->asked = asked;
    return c;
}

/** Atoms for which no path is kept. */
static PUG_NOINLINE uint32_t take_atoms(struct count *c, struct pug_etmv4_aim *aim,
                                        const uint8_t *at)
{
    const struct pug_etmv4_header *header = &c->reader->config->headers[*at];
    reopen_aim(c, aim);
    if (!(c->here & PUG_PATH_ASKS) && aim->open)
        c->d->returns.wait_address = aim->open = false;
    return count_atoms(c, header->atoms, aim, pug_run_index(c->run, at), index_before(c));
}

/**
 * A packet costs a look into a table; everything else is done by the functions above. An address
 * is open if it is of the last packet.
 */
uint32_t pug_etmv4_count(reader *r, decoder *d, struct pug_span *span, struct pug_etmv4_aim *aim)
{
    const struct pug_etmv4_header *const headers = r->config->headers;
    const uint8_t *at = span->at, *const end = span->end, *last = NULL;
    struct count c = {
        .d = d, .reader = r, .run = span->run, .paths = d->stage->paths, .here = NOWHERE};
    struct tables tables = tables_of(c.paths);
    uint32_t here = NOWHERE, from = 0, atoms = 1, asked = 0, left = 1;
    while (at < end) {
        const struct pug_etmv4_header *const header = &headers[*at];
        if (header->form == PUG_ETMV4_FORM_ATOM) {
            struct pug_path *path =
                pug_paths_place(tables.paths, tables.path_mask, here, header->atoms);
            if (path->key == (tables.key | (uint64_t)header->atoms << 24 | here) &&
                !(here & PUG_PATH_ASKS)) {
                path->hits++;
                from = here;
                atoms = header->atoms;
                here = path->to;
                last = at++;
                continue;
            }
            left = take_atoms(note(&c, last, here, from, atoms, asked), aim, at);
            from = c.from;
            atoms = c.atoms;
            last = at++;
        } else {
            const size_t size = pug_etmv4_address_size(header, at, end);
            if (size == 0)
                break;
            const uint8_t *const before = last;
            if (here < PUG_PATH_NUMBERS) { /* nobody asked */
                reopen_aim(note(&c, last, here, from, atoms, asked), aim);
                leave_count(&c, aim, index_before(&c));
                here = NOWHERE;
            }
            pug_etmv4_read_address(r, header, at);
            d->last_is = header->form == PUG_ETMV4_FORM_MATCH ? r->packet.address.is : header->is;
            last = at;
            at += size;
            if (here == NOWHERE)
                continue;
            asked = here ^ PUG_PATH_ASKS;
            if (pug_paths_jump(c.paths, asked, r->packet.address.value, &here)) {
                d->returns.wait_address = false;
                continue;
            }
            note(&c, before, here, from, atoms, asked);
            const uint64_t index = index_before(&c);
            c.last = last;
            reopen_aim(&c, aim);
            count_address(&c, aim, index);
        }
        here = c.here;
        if (left > 1)
            break;
        tables = tables_of(c.paths);
    }
    reopen_aim(note(&c, last, here, from, atoms, asked), aim);
    if (here != NOWHERE)
        leave_count(&c, aim, index_before(&c));
    d->index = index_before(&c);
    c.paths->counted += (uint64_t)(at - span->at);
    span->at = at;
    return left > 1 ? left : 0;
}
