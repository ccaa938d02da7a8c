// SPDX-License-Identifier: MIT
/**
 * @file CoreSight frames whose bytes have no consumer: they are counted, not taken apart. In noise
 * most are.
 */
#include "transport/coresight_frame.h"

/** What an even byte says. Those of a frame, each shifted by its place, are one word. */
enum kind {
    KIND_ID = 1 << 0,
    KIND_RESERVED = 1 << 8,
    KIND_SPECIAL = 1 << 16,  /**< the runs of this id are counted, too */
    KIND_NOT_HERE = 1 << 24, /**< its bytes have a consumer, or are reported, or may be a sync */
};

static uint32_t kind_of(const struct pug_coresight *cs, uint16_t id)
{
    const struct pug_transport_sink *sink = cs->sink;
    const bool heard = !(sink->takes(sink->context, id) & PUG_TAKES_NOTHING);
    const bool told = (id == PUG_CS_ID_TRIGGER || id == PUG_CS_ID_FLUSH) &&
                      !sink->quirks.silent_framing && pug_log_verbosity(sink->log) >= PUG_SEV_INFO;
    const bool sync = id == PUG_CS_ID_SYNC && !(cs->flags & PUG_CS_MEM_ALIGN);
    return KIND_ID | (pug_cs_is_reserved(id) ? KIND_RESERVED : 0) |
           (id >= PUG_CS_ID_FIRST_RESERVED ? KIND_SPECIAL : 0) |
           (heard || told || sync ? KIND_NOT_HERE : 0);
}

static void learn_kinds(struct pug_coresight *cs)
{
    for (unsigned id = 0; id <= PUG_CS_ID_SYNC; id++)
        cs->kinds[id << 1 | 1] = kind_of(cs, (uint16_t)id);
    cs->knows_kinds = true;
}

/** Returns the kind of the source that the byte before the frames belongs to. */
static uint32_t kind_before(const struct pug_coresight *cs)
{
    return cs->id == PUG_SOURCE_UNKNOWN ? 0 : cs->kinds[cs->id << 1 | 1];
}

/** May frames from here on be counted? The source of the byte before them has no consumer. */
static bool may_count(struct pug_coresight *cs, const struct pug_cs_block *block)
{
    const struct pug_transport_sink *sink = cs->sink;
    if (!pug_cs_may_run_on(cs) || !pug_cs_has_frame(block) || sink->quirks.empty_run_fatal ||
        !sink->takes || !(sink->takes(sink->context, cs->id) & PUG_TAKES_NOTHING))
        return false;
    if (!cs->knows_kinds)
        learn_kinds(cs);
    return kind_before(cs) < KIND_NOT_HERE;
}

#define ROW_FRAMES 8u
#define ROW_BYTES  (ROW_FRAMES * PUG_CS_FRAME_BYTES)

/** Frames, a bit for each of their even bytes, the first one lowest. */
struct row {
    unsigned frames;
    uint64_t all, ids, reserved, special;
    uint64_t late; /**< ids whose odd byte belongs to the id before them */
};

#define FIRST_BYTES UINT64_C(0x0101010101010101) /* of each frame */
#define PAIRS       UINT64_C(0x7f7f7f7f7f7f7f7f) /* all but the last one */

/** The frames from here on that can be counted. */
static struct row look(const struct pug_coresight *cs, const struct pug_cs_block *block)
{
    const uint32_t end = cs->id == PUG_SOURCE_UNKNOWN ? KIND_ID : KIND_NOT_HERE;
    struct pug_cs_block ahead = *block;
    struct row row = {0};
    for (; row.frames < ROW_FRAMES && pug_cs_has_frame(&ahead); ahead.at += PUG_CS_FRAME_BYTES) {
        const unsigned shift = 8 * row.frames;
        uint32_t kinds = 0;
        for (unsigned i = 0; i < 8; i++)
            kinds |= cs->kinds[ahead.at[2 * i]] << i;
        if (kinds >= end || pug_cs_word(ahead.at) == PUG_CS_FSYNC)
            break;
        row.all |= UINT64_C(0xff) << shift;
        row.ids |= (uint64_t)(kinds & 0xff) << shift;
        row.reserved |= (uint64_t)(kinds >> 8 & 0xff) << shift;
        row.special |= (uint64_t)(kinds >> 16) << shift;
        row.late |= (uint64_t)ahead.at[PUG_CS_FRAME_BYTES - 1] << shift;
        row.frames++;
    }
    row.late &= row.ids & PAIRS;
    return row;
}

static unsigned last_bit(uint64_t bits)
{
    return 63 - (unsigned)__builtin_clzll(bits);
}

static unsigned count_bits(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

/**
 * Do the bytes after each id, up to the next one, belong to one of `some`? `before`: the first of
 * all.
 */
static uint64_t spread(uint64_t some, uint64_t ids, bool before)
{
    const uint64_t others = ~ids, first = (some << 1 | before) & others;
    return some | (others & ~(others + first)); /* the sum carries up to the next id */
}

/** Special ids that are the one before them again. They begin no run. */
static uint64_t find_repeated(const struct pug_coresight *cs, const uint8_t *bytes,
                              const struct row *row, uint64_t before)
{
    uint64_t repeated = 0;
    for (uint64_t left = row->special & before & PAIRS; left; left &= left - 1) {
        const uint64_t bit = left & -left, ids = row->ids & (bit - 1);
        const unsigned id = ids ? bytes[2 * last_bit(ids)] >> 1 : cs->id;
        if (bytes[2 * last_bit(bit)] >> 1 == id)
            repeated |= bit;
    }
    return repeated;
}

/** Runs of special ids, which end with their frame. An id may have none: the next comes at once. */
static unsigned count_special(const struct pug_coresight *cs, const uint8_t *bytes,
                              const struct row *row)
{
    const bool was = kind_before(cs) & KIND_SPECIAL;
    const uint64_t before = spread(row->special, row->ids, was) << 1 | was;
    const uint64_t repeated = find_repeated(cs, bytes, row, before);
    const uint64_t at_once = row->ids & ~repeated & ~row->late;
    const uint64_t begun = row->special & ~repeated & ~(row->late & at_once >> 1) & PAIRS;
    const uint64_t go_on = before & ~at_once & row->all & FIRST_BYTES;
    return count_bits(begun | go_on << 7);
}

/** Returns the source of the byte after the frames. */
static uint16_t id_behind(const struct pug_coresight *cs, const uint8_t *bytes,
                          const struct row *row)
{
    return row->ids ? bytes[2 * last_bit(row->ids)] >> 1 : cs->id;
}

/** How many rows are the same as this one, itself included. */
static size_t count_same(const struct pug_coresight *cs, const struct pug_cs_block *block,
                         const struct row *row)
{
    const uint8_t *next = block->at + ROW_BYTES;
    if (row->frames < ROW_FRAMES || id_behind(cs, block->at, row) != cs->id)
        return 1;
    while (block->end - next >= (ptrdiff_t)ROW_BYTES && memcmp(block->at, next, ROW_BYTES) == 0)
        next += ROW_BYTES;
    return (size_t)(next - block->at) / ROW_BYTES;
}

static void count_row(struct pug_coresight *cs, const uint8_t *bytes, const struct row *row,
                      size_t times)
{
    struct pug_transport_stats *stats = cs->sink->stats;
    const bool was = kind_before(cs) & KIND_RESERVED;
    const uint64_t behind = spread(row->reserved, row->ids, was), before = behind << 1 | was;
    const uint64_t odd = (behind & ~row->late) | (before & row->late);
    const size_t reserved =
        count_bits(behind & ~row->ids & row->all) + count_bits(odd & PAIRS & row->all);
    const size_t framing = row->frames + count_bits(row->ids);
    stats->framing += times * framing;
    stats->reserved += times * reserved;
    *(cs->id == PUG_SOURCE_UNKNOWN ? &stats->unknown : &stats->no_decoder) +=
        times * (row->frames * PUG_CS_FRAME_BYTES - framing - reserved);
    stats->triggers += times * count_special(cs, bytes, row);
    cs->id = id_behind(cs, bytes, row);
}

void pug_cs_count_frames(struct pug_coresight *cs, struct pug_cs_block *block)
{
    struct row row = {.frames = may_count(cs, block) ? ROW_FRAMES : 0};
    while (row.frames == ROW_FRAMES && (row = look(cs, block)).frames > 0) {
        const size_t times = count_same(cs, block, &row),
                     size = times * row.frames * PUG_CS_FRAME_BYTES;
        count_row(cs, block->at, &row, times);
        cs->index += size;
        block->at += size;
        cs->in_padding = false;
        cs->shift = pug_cs_word(block->at - 4);
    }
}
