// SPDX-License-Identifier: MIT
/**
 * @file Where the ring lies in the memory that was read, and which packet is the oldest: from
 * POSITION and MASTER, or from the program. A pair of words fits the program when its source is an
 * instruction that can go to its destination; two packets join when execution can get from the
 * destination of the first to the source of the second without a branch. In a ring all packets join
 * except at one place, the boundary: the packet after it is the oldest.
 */
#include "base/text.h"
#include "protocol/mtb/mtb.h"

/** So many pairs in a row may not fit, as those of code that the program does not have. */
#define STRANGE 4u

struct pug_mtb_goal pug_mtb_goal_of(const struct pug_mtb_kept *packet)
{
    return (struct pug_mtb_goal){.address = pug_mtb_address(packet->source),
                                 .behind = packet->source & 1};
}

/* ---- does it fit the program? ---- */

static bool is_code(struct pug_stage *stage, uint32_t address)
{
    struct pug_insn insn;
    uint8_t it = 0;
    return pug_flow_insn(stage, address, PUG_ISA_T32, &it, &insn) == PUG_OK;
}

/** Can this instruction go there? */
static bool goes_to(struct pug_stage *stage, uint32_t source, uint32_t destination)
{
    struct pug_insn insn;
    uint8_t it = 0;
    if (pug_flow_insn(stage, source, PUG_ISA_T32, &it, &insn) != PUG_OK)
        return false;
    if (insn.type == PUG_INSTR_BR)
        return insn.target == destination;
    if (insn.type == PUG_INSTR_BR_INDIRECT)
        return pug_mtb_is_magic(destination) || is_code(stage, destination);
    return destination == source + insn.size;
}

static bool fits(struct pug_stage *stage, const struct pug_mtb_kept *packet)
{
    const uint32_t source = pug_mtb_address(packet->source);
    const uint32_t destination = pug_mtb_address(packet->destination);
    if (!(packet->source & 1))
        return goes_to(stage, source, destination);
    return (pug_mtb_is_magic(source) || is_code(stage, source)) && is_code(stage, destination);
}

static bool joins(struct pug_stage *stage, const struct pug_mtb_kept *from,
                  const struct pug_mtb_kept *to)
{
    const struct pug_mtb_goal goal = pug_mtb_goal_of(to);
    struct pug_flow_block block = {.end = pug_mtb_address(from->destination)};
    enum pug_mtb_reach reach = PUG_MTB_MORE;
    if (pug_mtb_is_magic((uint32_t)block.end) || pug_mtb_is_magic((uint32_t)goal.address))
        return block.end == goal.address;
    for (unsigned i = 0; i < PUG_MTB_BLOCKS && reach == PUG_MTB_MORE; i++)
        reach = pug_mtb_walk(stage, block.end, block.it_after, &goal, &block);
    return reach == PUG_MTB_REACHED || reach == PUG_MTB_NO_MEMORY;
}

/* ---- what the registers say ---- */

static struct pug_mtb_ring ring_by_registers(const struct pug_mtb_config *config, size_t count)
{
    const uint64_t all = count * (uint64_t)PUG_MTB_PACKET;
    const uint64_t told = config->has_master ? UINT64_C(16) << (config->master & 31) : all;
    const uint32_t pointer = config->position & ~UINT32_C(7);
    struct pug_mtb_ring ring = {.size = (size_t)((told < all ? told : all) / PUG_MTB_PACKET)};
    const uint64_t base = pointer - pointer % (told ? told : 1);
    if (told < all && base + told <= all)
        ring.begin = (size_t)(base / PUG_MTB_PACKET);
    if (ring.size == 0)
        return ring;
    const bool full = config->position & 4;
    const bool exact = !config->has_master && !full && pointer == all; /* no more was read */
    const size_t next = exact ? ring.size : (size_t)(pointer % told / PUG_MTB_PACKET) % ring.size;
    ring.first = full ? next : 0;
    ring.count = full ? ring.size : next;
    return ring;
}

/* ---- what the program says ---- */

/** The row of packets that fit, which has the most of them. */
static struct pug_mtb_ring longest_row(struct pug_stage *stage, const struct pug_mtb_kept *packets,
                                       size_t count)
{
    struct pug_mtb_ring best = {0}, row = {0};
    size_t strange = STRANGE + 1, best_fitting = 0, fitting = 0;
    for (size_t i = 0; i < count; i++) {
        if (!fits(stage, &packets[i])) {
            strange++;
            continue;
        }
        if (strange > STRANGE) {
            row.begin = i;
            fitting = 0;
        }
        strange = 0;
        row.size = row.count = i + 1 - row.begin;
        if (++fitting > best_fitting) {
            best_fitting = fitting;
            best = row;
        }
    }
    return best;
}

/**
 * Words beside the buffer may fit by chance. They join neither their neighbour nor the other end.
 */
static void trim(struct pug_stage *stage, const struct pug_mtb_kept *packets,
                 struct pug_mtb_ring *row)
{
    for (; row->size > 1; row->begin++, row->size--) {
        const struct pug_mtb_kept *first = packets + row->begin;
        if (fits(stage, first) && (joins(stage, first, first + 1) || first[1].destination & 1 ||
                                   joins(stage, first + row->size - 1, first)))
            break;
    }
    for (; row->size > 1; row->size--) {
        const struct pug_mtb_kept *first = packets + row->begin, *last = first + row->size - 1;
        if (fits(stage, last) &&
            (joins(stage, last - 1, last) || last->destination & 1 || joins(stage, last, first)))
            break;
    }
    row->count = row->size;
}

/** Is it a whole buffer: a power of two, at a multiple of itself? */
static bool is_whole(const struct pug_mtb_ring *row)
{
    return row->size >= 2 && (row->size & (row->size - 1)) == 0 && row->begin % row->size == 0;
}

/** The places between two packets that do not join. */
struct seams {
    size_t last, count;       /* where no start of tracing says why */
    size_t started, restarts; /* where one does */
    bool closed;              /* the last packet joins the first one */
};

static struct seams find_seams(struct pug_stage *stage, const struct pug_mtb_kept *packets,
                               const struct pug_mtb_ring *row)
{
    const struct pug_mtb_kept *first = packets + row->begin;
    struct seams seams = {.closed = joins(stage, &first[row->size - 1], first)};
    for (size_t i = 1; i < row->size; i++) {
        if (joins(stage, &first[i - 1], &first[i]))
            continue;
        if (first[i].destination & 1) {
            seams.started = i;
            seams.restarts++;
        } else {
            seams.last = i;
            seams.count++;
        }
    }
    return seams;
}

static void tell(struct pug_stage *stage, enum pug_severity severity,
                 const struct pug_mtb_kept *packets, const struct pug_mtb_ring *ring,
                 const char *what)
{
    const uint64_t oldest = packets[ring->begin + ring->first].index;
    char words[200];
    struct pug_text text = PUG_TEXT(words, sizeof(words));
    pug_text_format(&text, "%llu packets, the oldest at 0x%llx; %s",
                    (unsigned long long)ring->count, (unsigned long long)oldest, what);
    pug_text_end(&text);
    pug_stage_log(stage, stage->decoder_name, severity, PUG_OK, oldest, words);
}

static struct pug_mtb_ring ring_by_program(struct pug_stage *stage,
                                           const struct pug_mtb_kept *packets, size_t count)
{
    struct pug_mtb_ring ring = longest_row(stage, packets, count);
    if (ring.size == 0)
        return ring;
    trim(stage, packets, &ring);
    const struct seams seams = find_seams(stage, packets, &ring);
    const bool turned = is_whole(&ring) && seams.closed;
    if (turned && seams.count > 0)
        ring.first = seams.last;
    else if (turned && seams.restarts > 0)
        ring.first = seams.started;
    const size_t places = seams.count > 0 ? seams.count : seams.restarts;
    if (!turned || places == 1)
        tell(stage, PUG_SEV_INFO, packets, &ring, "found out from the program");
    else if (places == 0)
        tell(stage, PUG_SEV_WARN, packets, &ring,
             "but each joins the next, the last one the first: the register POSITION would tell");
    else
        tell(stage, PUG_SEV_WARN, packets, &ring,
             "but several do not join the next: the register POSITION would tell");
    return ring;
}

struct pug_mtb_ring pug_mtb_find(struct pug_stage *stage, const struct pug_mtb_config *config,
                                 const struct pug_mtb_kept *packets, size_t count)
{
    if (config->has_position)
        return ring_by_registers(config, count);
    return ring_by_program(stage, packets, count);
}
