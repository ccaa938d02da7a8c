// SPDX-License-Identifier: MIT
/** @file MTB packets to elements: kept until the data ends, then reported from the oldest on. */
#include "base/bytes.h"
#include "image/codemap.h"
#include "image/vectors.h"
#include "protocol/mtb/mtb.h"

#include <stdlib.h>

/** Exceptions in each other whose IT blocks are kept. */
#define NESTED 16u
/** Bit 3 of EXC_RETURN: the exception interrupted Thread mode. */
#define EXC_RETURN_THREAD UINT32_C(8)
/** Packets that are read ahead to find out whether an exception was chained … */
#define LOOK_AHEAD 4096u
/** … and those that may be for each packet of the ring, in all. */
#define LOOK_AHEAD_EACH 4u
/** Entries of a vector table, its first four bytes included. */
#define VECTORS 256u

enum phase {
    IDLE,
    BEGIN, /* of a packet */
    WALK,  /* to its source */
    ARRIVE,
    LAST, /* from the last packet's destination to where the processor was */
    OVER,
};

struct decoder {
    const struct pug_mtb_config *config;
    struct pug_stage *stage;
    struct pug_mtb_kept *packets;
    uint32_t count, room;
    bool full; /* not all packets are kept */
    /* telling */
    enum phase phase;
    struct pug_mtb_ring ring;
    size_t at;        /* packets that are reported */
    unsigned blocks;  /* of this walk */
    bool known;       /* execution is at `address` */
    bool left;        /* an exception returned: the next packet has its target */
    uint64_t address; /* … with so much of an IT block left */
    uint8_t it;
    struct {
        uint64_t address;
        uint8_t it;
    } interrupted[NESTED];
    unsigned depth;
    uint32_t table;             /* the address of the vector table … */
    struct pug_vectors vectors; /* … unless the program has it */
    uint64_t ahead;             /* packets that may still be read ahead */
};

enum pug_status pug_mtb_decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    struct decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return PUG_ERR_MEM;
    d->config = config;
    d->stage = stage;
    pug_flow_configure(stage, &(struct pug_isa_config){.arch = PUG_ARCH_V8, .track_it = true});
    pug_mtb_decoder_reset(d);
    *out = d;
    return PUG_OK;
}

void pug_mtb_decoder_free(void *data)
{
    struct decoder *d = data;
    free(d->packets);
    free(d);
}

void pug_mtb_decoder_reset(void *data)
{
    struct decoder *d = data;
    *d = (struct decoder){
        .config = d->config, .stage = d->stage, .packets = d->packets, .room = d->room};
    d->stage->out.blank = (struct pug_element){
        .source = d->stage->source, .security = PUG_SEC_NONSECURE, .isa = PUG_ISA_T32};
}

/* ---- keeping ---- */

static bool make_room(struct decoder *d)
{
    if (d->count < d->room)
        return true;
    if (d->room >= PUG_MTB_KEPT)
        return false;
    const uint32_t room = d->room ? 2 * d->room : 512;
    struct pug_mtb_kept *grown = realloc(d->packets, room * sizeof(*grown));
    if (!grown)
        return false;
    d->packets = grown;
    d->room = room;
    return true;
}

enum pug_response pug_mtb_decode(void *data, const struct pug_packet *packet)
{
    struct decoder *d = data;
    const struct pug_mtb_packet *mtb = packet->data;
    if (d->full)
        return PUG_RESP_CONT;
    if (!make_room(d)) {
        d->full = true;
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_MEM, packet->index,
                      "too much for a buffer of an MTB: what comes from here on is left out");
        return PUG_RESP_ERR_CONT;
    }
    d->packets[d->count++] = (struct pug_mtb_kept){.index = packet->index,
                                                   .source = mtb->source | mtb->atomic,
                                                   .destination = mtb->destination | mtb->start};
    return PUG_RESP_CONT;
}

/* ---- telling ---- */

static const struct pug_mtb_kept *packet_at(const struct decoder *d, size_t at)
{
    return &d->packets[d->ring.begin + (d->ring.first + at) % d->ring.size];
}

static const struct pug_mtb_kept *current(const struct decoder *d)
{
    return packet_at(d, d->at < d->ring.count ? d->at : d->ring.count - 1);
}

static struct pug_element *push(struct decoder *d, enum pug_element_type type)
{
    return pug_out_push(&d->stage->out, type, d->ring.count ? current(d)->index : 0);
}

static void lose_way(struct decoder *d, const char *why)
{
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_TRACE_MISMATCH,
                  current(d)->index, why);
    push(d, PUG_ELEM_NO_SYNC)->reason = PUG_UNSYNC_BAD_IMAGE;
    d->known = false;
}

static enum phase begin(struct decoder *d)
{
    if (d->at == d->ring.count)
        return d->known && d->config->has_pc ? LAST : OVER;
    const struct pug_mtb_kept *packet = current(d);
    const bool magic = pug_mtb_is_magic(packet->source);
    if (d->at == 0 || packet->destination & 1) {
        push(d, PUG_ELEM_TRACE_ON)->reason = PUG_TRACE_ON_NORMAL;
        d->known = d->left = false;
        d->depth = 0;
    } else if (d->left ? !magic : magic) {
        lose_way(d, "the packet before went elsewhere: is it the oldest one?");
    }
    d->left = false;
    d->blocks = 0;
    return magic ? ARRIVE : WALK;
}

static void push_block(struct decoder *d, const struct pug_flow_block *block, bool reached,
                       const struct pug_mtb_goal *goal)
{
    const bool taken = (reached && !goal->behind) || block->insn.type == PUG_INSTR_OTHER;
    if (block->count > 0)
        pug_flow_push(d->stage, current(d)->index, block, taken || !block->insn.conditional);
}

static void push_no_memory(struct decoder *d, uint64_t address)
{
    struct pug_element *missing = push(d, PUG_ELEM_ADDR_NACC);
    missing->start = address;
    missing->number = PUG_SPACE_ANY;
    d->known = false;
}

/**
 * One block on the way. Where none leads to the source, the source itself is known all the same.
 */
static enum phase walk(struct decoder *d, const struct pug_mtb_goal *goal, enum phase behind)
{
    struct pug_flow_block block;
    const bool alone = !d->known; /* execution is known to have been there, and no more */
    if (alone) {
        d->address = goal->address;
        d->it = 0;
    }
    enum pug_mtb_reach reach = pug_mtb_walk(d->stage, d->address, d->it, goal, &block);
    if (++d->blocks > PUG_MTB_BLOCKS && reach == PUG_MTB_MORE)
        reach = PUG_MTB_BROKEN;
    if (reach == PUG_MTB_BROKEN) {
        lose_way(d, "the program has no way here from where the packet before went: is it another "
                    "program?");
        return alone || behind == OVER ? behind : WALK;
    }
    push_block(d, &block, reach == PUG_MTB_REACHED, goal);
    d->known = true;
    d->address = block.end;
    d->it = block.it_after;
    if (reach == PUG_MTB_NO_MEMORY) {
        push_no_memory(d, block.end);
        return alone || behind == OVER ? behind : WALK;
    }
    return reach == PUG_MTB_REACHED ? behind : d->phase;
}

/* ---- exceptions ---- */

/** The same in the program's tables, which may be of two states. */
static unsigned exceptions_in_tables(const struct decoder *d, uint32_t handler, unsigned *number)
{
    unsigned found = 0;
    for (unsigned i = 1; i < PUG_VECTORS; i++) {
        bool has = false;
        for (unsigned n = 0; n < d->vectors.count; n++)
            has |= d->vectors.tables[n].words[i] == (handler | 1);
        *number = has ? i : *number;
        found += has;
    }
    return found;
}

/** How many exceptions have this handler; *number: one of them. */
static unsigned exceptions_at(struct decoder *d, uint32_t handler, unsigned *number)
{
    uint8_t table[4 * VECTORS];
    unsigned found = 0;
    if (d->vectors.count > 0)
        return exceptions_in_tables(d, handler, number);
    const uint32_t size = pug_flow_read(d->stage, d->table, table, (uint32_t)sizeof(table)) & ~3u;
    for (unsigned i = 1; i < size / 4; i++) {
        const uint32_t entry = pug_bytes_32(table + (size_t)4 * i);
        if (!(entry & 1) && i < 4)
            return 0; /* reset, NMI, HardFault are always there: it is no table */
        if (entry != (handler | 1))
            continue;
        *number = i;
        found++;
    }
    return found;
}

static void push_exception(struct decoder *d, unsigned number, uint64_t back, bool chained)
{
    struct pug_element *exception = push(d, PUG_ELEM_EXCEPTION);
    exception->reason = number ? PUG_EXCEPTIONS_ARMV8M : PUG_EXCEPTIONS_UNNAMED;
    exception->number = number < 24 ? number : number - 16 + 0x200;
    exception->end = back;
    exception->flags = chained ? PUG_ELEM_M_TAIL_CHAIN : PUG_ELEM_RET_ADDR;
}

static void interrupt(struct decoder *d, uint64_t back)
{
    if (d->depth == NESTED) {
        memmove(d->interrupted, d->interrupted + 1, (NESTED - 1) * sizeof(d->interrupted[0]));
        d->depth--;
    }
    d->interrupted[d->depth].address = back;
    d->interrupted[d->depth++].it = d->it;
}

/**
 * Was it interrupted there? This separates a return to the start of a handler from an exception's
 * entry.
 */
static bool is_interrupted(const struct decoder *d, uint64_t address)
{
    return d->depth > 0 && d->interrupted[d->depth - 1].address == address;
}

/**
 * An exception returned to the start of a handler that was interrupted there, having interrupted a
 * thread itself. Did the hardware chain another exception with the same handler instead? Then that
 * one's EXC_RETURN still says that a handler was interrupted. (An exception that is active cannot
 * be chained, so a handler that belongs to one exception was not.)
 */
static bool was_chained(struct decoder *d)
{
    uint32_t inner[NESTED];
    unsigned depth = 0, number;
    const size_t end = d->ring.count - d->at > LOOK_AHEAD ? d->at + LOOK_AHEAD : d->ring.count;
    for (size_t at = d->at + 1; at < end && d->depth == 2 && d->ahead > 0; at++, d->ahead--) {
        const struct pug_mtb_kept *packet = packet_at(d, at);
        const uint32_t source = pug_mtb_address(packet->source);
        const uint32_t destination = pug_mtb_address(packet->destination);
        const bool resumes = pug_mtb_is_magic(source);
        if (packet->destination & 1)
            return false;
        if (depth == 0 && pug_mtb_is_magic(destination))
            return !(destination & EXC_RETURN_THREAD);
        if (!(packet->source & 1))
            continue;
        if (!resumes && depth == NESTED)
            return false;
        if (!resumes)
            inner[depth++] = source;
        else if (depth > 0 &&
                 (destination == inner[depth - 1] || exceptions_at(d, destination, &number) == 0))
            depth--;
    }
    return false;
}

/** Execution goes on, in an IT block where it was interrupted in one. */
static void come_back(struct decoder *d)
{
    if (is_interrupted(d, d->address))
        d->it = d->interrupted[d->depth - 1].it;
    d->depth -= d->depth > 0;
}

/** A debugger moved the PC to where it was, as no exception can: execution goes on there. */
static enum phase go_on(struct decoder *d, uint32_t address)
{
    if (d->at > 0 && !(current(d)->destination & 1))
        push(d, PUG_ELEM_TRACE_ON)->reason = PUG_TRACE_ON_EX_DEBUG;
    d->address = address;
    d->known = true;
    d->at++;
    return BEGIN;
}

static enum phase arrive(struct decoder *d)
{
    const struct pug_mtb_kept *packet = current(d);
    const uint32_t source = pug_mtb_address(packet->source);
    const uint32_t destination = pug_mtb_address(packet->destination);
    if (packet->source & 1 && source == destination)
        return go_on(d, destination);
    const bool resumes = pug_mtb_is_magic(source);
    unsigned number = 0;
    const unsigned handles = packet->source & 1 ? exceptions_at(d, destination, &number) : 0;
    if (handles != 1)
        number = 0; /* which of them it was is unknown */
    if (packet->source & 1 && !resumes)
        interrupt(d, source);
    d->it = 0;
    d->known = !pug_mtb_is_magic(destination);
    d->address = destination;
    if (resumes && handles > 0 &&
        (!is_interrupted(d, destination) || (handles > 1 && was_chained(d))))
        push_exception(d, number, 0, true);
    else if (resumes)
        come_back(d);
    else if (packet->source & 1)
        push_exception(d, number, source, false);
    else if (!d->known && destination >= UINT32_C(0xff000000))
        push(d, PUG_ELEM_EXCEPTION_RET);
    d->left = !d->known;
    d->at++;
    return BEGIN;
}

static enum phase over(struct decoder *d)
{
    push(d, PUG_ELEM_EO_TRACE)->reason = PUG_UNSYNC_EOT;
    return IDLE;
}

/** One step; the consumer is ready. */
static enum phase step(struct decoder *d)
{
    struct pug_mtb_goal goal;
    switch (d->phase) {
    case BEGIN: return begin(d);
    case WALK: goal = pug_mtb_goal_of(current(d)); return walk(d, &goal, ARRIVE);
    case ARRIVE: return arrive(d);
    case LAST:
        goal = (struct pug_mtb_goal){pug_mtb_address(d->config->pc), true};
        return walk(d, &goal, OVER);
    case OVER: return over(d);
    default: return IDLE;
    }
}

enum pug_response pug_mtb_resume(void *data)
{
    struct decoder *d = data;
    while (d->phase != IDLE) {
        if (!pug_out_ready(&d->stage->out)) {
            d->stage->pending = true;
            break;
        }
        d->phase = step(d);
    }
    return PUG_RESP_CONT;
}

/** Find the vector tables in the program; without one there, memory at VTOR or 0 is taken for it.
 */
static void find_tables(struct decoder *d)
{
    d->table = d->config->has_table ? d->config->table : 0;
    pug_vectors_find(&d->vectors, d->stage->code->config.image, PUG_VECTORS_ANY);
    pug_vectors_choose(&d->vectors, &d->table, d->config->has_table);
    if (d->config->has_table && (d->vectors.count != 1 || d->vectors.tables[0].base != d->table))
        d->vectors.count = 0;
}

enum pug_response pug_mtb_decode_end(void *data)
{
    struct decoder *d = data;
    find_tables(d);
    d->ring = pug_mtb_find(d->stage, d->config, d->packets, d->count);
    d->ahead = LOOK_AHEAD + (uint64_t)LOOK_AHEAD_EACH * d->ring.count;
    d->phase = BEGIN;
    if (d->ring.count == 0 && d->count > 0 && !d->config->has_position) {
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_TRACE_MISMATCH, 0,
                      "no pair of words is a branch of this program: is it another program, or "
                      "memory without an MTB's buffer?");
        pug_out_push(&d->stage->out, PUG_ELEM_NO_SYNC, 0)->reason = PUG_UNSYNC_BAD_IMAGE;
    }
    return pug_mtb_resume(d);
}
