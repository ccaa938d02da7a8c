// SPDX-License-Identifier: MIT
/**
 * @file Captured bytes to CoreSight frames: memory-aligned, or from a trace port with full syncs
 * (FSYNC ff ff ff 7f, between frames) and half syncs (HSYNC ff 7f, also in frames).
 *
 * Even bytes of a frame are never 0xff, since id 0x7F may not be used. So a sync differs from data.
 */
#include "transport/coresight.h"

#include <stdio.h>

/** A pass: what one extraction takes of the block. It ends with a frame or with the block. */
struct pass {
    const uint8_t *start;
    uint64_t index;  /* of its first byte */
    uint64_t syncs;  /* bytes of FSYNC and HSYNC */
    uint64_t hsyncs; /* of them, HSYNC */
};

static struct pass pass_begin(const struct pug_coresight *cs, const struct pug_cs_block *block)
{
    return (struct pass){.start = block->at, .index = cs->index};
}

static void pass_end(struct pug_coresight *cs, const struct pug_cs_block *block,
                     const struct pass *pass)
{
    size_t size = (size_t)(block->at - pass->start);
    pug_cs_show(cs, 1, pass->index, PUG_FRAME_PACKED, 0, pass->start, size);
    cs->index = pass->index + size;
    cs->sink->stats->framing += pass->syncs;
}

static void fatal(struct pug_coresight *cs, const char *text)
{
    pug_cs_log(cs, PUG_SEV_ERROR, PUG_ERR_FRAME_SYNC, cs->index, text);
    pug_cs_answer(cs, PUG_RESP_FATAL_INVALID_DATA);
}

/** Bytes are gone: whose they were, and what the next ones belong to, is not known. */
static void trace_lost(struct pug_coresight *cs, uint64_t index, uint64_t dropped, const char *text)
{
    pug_cs_log(cs, PUG_SEV_ERROR, PUG_ERR_FRAME_SYNC, index, text);
    pug_cs_answer(cs, PUG_RESP_ERR_CONT);
    cs->sink->stats->dropped += dropped;
    cs->id = PUG_SOURCE_UNKNOWN;
    cs->fill = 0;
    cs->odd = false;
    cs->sink->reset(cs->sink->context, index);
}

/* ---- memory-aligned frames ---- */

static bool is_padding(const struct pug_coresight *cs, const uint8_t *frame)
{
    return cs->find_padding && pug_cs_word(frame) == PUG_CS_FSYNC;
}

/**
 * FSYNCs at the start of a frame: groups of four are padding, after which no id is known. False
 * ends the call.
 */
static bool skip_padding(struct pug_coresight *cs, struct pug_cs_block *block, uint64_t index)
{
    const uint8_t *start = block->at;
    const uint8_t *end = start + (block->end - start) / PUG_CS_FRAME_BYTES * PUG_CS_FRAME_BYTES;
    size_t size = 0;
    while (start + size < end && pug_cs_word(start + size) == PUG_CS_FSYNC)
        size += 4;
    size_t whole = size / PUG_CS_FRAME_BYTES * PUG_CS_FRAME_BYTES;
    if (size != whole && cs->sink->quirks.sync_error_fatal) {
        pug_cs_show(cs, 3, index, PUG_FRAME_FSYNC, 0, start, size);
        fatal(cs, "Incorrect FSYNC frame reset pattern");
        return false;
    }
    if (whole > 0) {
        if ((cs->flags & PUG_CS_RESET_ON_4X_FSYNC) && !cs->in_padding)
            cs->sink->reset(cs->sink->context, index);
        pug_cs_show(cs, 7, index, PUG_FRAME_FSYNC, 0, start, whole);
        cs->id = PUG_SOURCE_UNKNOWN;
        cs->in_padding = true;
        cs->sink->stats->framing += whole;
    }
    block->at += whole;
    if (size != whole) {
        trace_lost(cs, index + whole, PUG_CS_FRAME_BYTES, "Incorrect FSYNC frame reset pattern");
        block->at += PUG_CS_FRAME_BYTES;
    }
    return true;
}

/** Bytes of a frame that blocks cut. */
static const uint8_t *collect(struct pug_coresight *cs, struct pug_cs_block *block)
{
    size_t size = PUG_CS_FRAME_BYTES - cs->fill, left = (size_t)(block->end - block->at);
    if (size > left)
        size = left;
    if (cs->fill == 0)
        cs->frame_index = cs->index;
    memcpy(cs->frame + cs->fill, block->at, size);
    cs->fill += (uint8_t)size;
    block->at += size;
    if (cs->fill < PUG_CS_FRAME_BYTES)
        return NULL;
    cs->fill = 0;
    if (!is_padding(cs, cs->frame))
        return cs->frame;
    skip_padding(cs, &(struct pug_cs_block){cs->frame, cs->frame + PUG_CS_FRAME_BYTES},
                 cs->frame_index);
    return NULL;
}

static const uint8_t *aligned_frame(struct pug_coresight *cs, struct pug_cs_block *block)
{
    if (!block->at || block->at == block->end)
        return NULL;
    struct pass pass = pass_begin(cs, block);
    const uint8_t *frame = NULL;
    while (!frame && block->at < block->end) {
        if (cs->fill > 0 || !pug_cs_has_frame(block)) {
            frame = collect(cs, block);
        } else if (!is_padding(cs, block->at)) {
            frame = block->at;
            cs->frame_index = cs->index;
            block->at += PUG_CS_FRAME_BYTES;
        } else if (!skip_padding(cs, block, cs->index)) {
            block->at = pass.start;
            return NULL;
        }
        cs->index = pass.index + (uint64_t)(block->at - pass.start);
    }
    cs->in_padding &= !frame;
    pass_end(cs, block, &pass);
    return frame;
}

/* ---- frames from a trace port ---- */

/** May a sync begin in these 16 bytes? Only if an even byte is 0xff. */
static bool may_hold_sync(const uint8_t *bytes)
{
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff), ones = UINT64_C(0x0001000100010001);
    uint64_t low = ~pug_cs_load(bytes) & even, high = ~pug_cs_load(bytes + 8) & even;
    return ((low - ones) | (high - ones)) & UINT64_C(0x8000800080008000);
}

/** `sync`: where the bytes that were skipped end. */
static void report_skipped(struct pug_coresight *cs, uint64_t sync)
{
    if (cs->skipped > 0 && !cs->sink->quirks.silent_framing) {
        char text[64];
        snprintf(text, sizeof(text), "%llu bytes skipped before synchronisation.",
                 (unsigned long long)cs->skipped);
        pug_cs_log(cs, PUG_SEV_WARN, PUG_OK, sync, text);
    }
    cs->skipped = 0;
}

/** For consumers of synchronisation points alone: the bytes are those of all FSYNCs. */
static void note_sync(struct pug_coresight *cs, uint64_t index)
{
    static const uint8_t fsync[] = {0xff, 0xff, 0xff, 0x7f};
    pug_cs_show(cs, 4, index, PUG_FRAME_FSYNC, 0, fsync, sizeof(fsync));
}

/** Look for an FSYNC, at every byte. False: there is none up to the block's end. */
static bool search(struct pug_coresight *cs, struct pug_cs_block *block)
{
    const uint8_t *start = block->at;
    while (block->at < block->end && !cs->synced) {
        cs->shift = cs->shift << 8 | *block->at++;
        cs->synced = cs->shift == PUG_CS_FSYNC;
    }
    uint64_t size = (uint64_t)(block->at - start), sync = 0;
    if (cs->synced && size >= 4)
        size -= 4; /* the FSYNC belongs to the first pass */
    else if (cs->synced) {
        sync = 4; /* part of it was counted as skipped */
        note_sync(cs, cs->index + size - 4);
    } else if (cs->sink->quirks.strict_blocks && size > 3)
        size -= 3;
    if (block->at != start + size)
        cs->shift = 0;
    block->at = start + size;
    cs->index += size;
    cs->skipped += size - sync;
    cs->sink->stats->skipped += size - sync;
    cs->sink->stats->framing += sync;
    if (cs->synced)
        report_skipped(cs, cs->index - sync);
    return cs->synced;
}

/** An FSYNC ends here. Where it was not expected, bytes of the frame before it are missing. */
static void take_full_sync(struct pug_coresight *cs, const struct pug_cs_block *block,
                           struct pass *pass)
{
    bool expected = cs->half_sync && cs->odd && cs->fill == 0;
    unsigned half = cs->half_sync ? 2 : 0;
    unsigned collected = cs->fill + half + cs->odd + 1u;
    unsigned cut = collected > 4 ? collected - 4 : 0;
    pass->syncs += collected - cut - half;
    cs->half_sync = false;
    cs->odd = false;
    note_sync(cs, pass->index + (uint64_t)(block->at - pass->start) - 4);
    if (!expected)
        trace_lost(cs, pass->index + (uint64_t)(block->at - pass->start) - 4, cut,
                   "FSYNC in frame.");
}

enum taken { TAKEN, LOST, FATAL };

/** A pair that cannot be: half an FSYNC without the other half. */
static enum taken lose_sync(struct pug_coresight *cs, const struct pug_cs_block *block,
                            struct pass *pass)
{
    const bool strict = cs->sink->quirks.sync_error_fatal;
    /* The reference's message says where one of its blocks ended. */
    const char *text = strict && cs->half_sync_carried
                           ? "Bad FSYNC pattern before frame or invalid ID.(0x7F)"
                           : "Bad FSYNC start in frame or invalid ID (0x7F).";
    if (strict) {
        fatal(cs, text);
        return FATAL;
    }
    trace_lost(cs, pass->index + (uint64_t)(block->at - pass->start) - 4, cs->fill, text);
    pass->syncs -= 2;
    cs->half_sync = false;
    cs->synced = false;
    cs->skipped = 4;
    cs->sink->stats->skipped += 4;
    return LOST;
}

static enum taken take_pair(struct pug_coresight *cs, const struct pug_cs_block *block,
                            struct pass *pass, uint8_t second)
{
    bool strict = cs->sink->quirks.sync_error_fatal, fsyncs = cs->flags & PUG_CS_FSYNCS;
    if (cs->half_sync)
        return lose_sync(cs, block, pass);
    if (cs->first == 0xff && second == 0x7f &&
        ((cs->flags & PUG_CS_HSYNCS) || (fsyncs && !strict))) {
        pass->syncs += 2;
        pass->hsyncs += 2;
        return TAKEN;
    }
    if (cs->first == 0xff && second == 0xff && fsyncs &&
        !(strict && (cs->fill > 0 || pass->hsyncs > 0))) {
        pass->syncs += 2;
        cs->half_sync = true;
        cs->half_sync_carried = false;
        return TAKEN;
    }
    if (strict && cs->first == 0xff && (second == 0xff || second == 0x7f)) {
        fatal(cs, second == 0x7f ? "Bad HSYNC in frame."
                                 : "Bad FSYNC start in frame or invalid ID (0x7F).");
        return FATAL;
    }
    if (cs->fill == 0) {
        cs->frame_index = pass->index + (uint64_t)(block->at - pass->start) - 2;
        if (cs->sink->quirks.hsync_not_in_index)
            cs->frame_index -= pass->hsyncs;
    }
    cs->frame[cs->fill++] = cs->first;
    cs->frame[cs->fill++] = second;
    return TAKEN;
}

static enum taken take_pairs(struct pug_coresight *cs, struct pug_cs_block *block,
                             struct pass *pass)
{
    bool strict = cs->sink->quirks.sync_error_fatal;
    enum taken taken = TAKEN;
    while (taken == TAKEN && cs->fill < PUG_CS_FRAME_BYTES && block->at < block->end) {
        uint8_t byte = *block->at++;
        cs->shift = cs->shift << 8 | byte;
        if (cs->shift == PUG_CS_FSYNC && (cs->flags & PUG_CS_FSYNCS) &&
            (!strict || (cs->half_sync && cs->odd))) {
            take_full_sync(cs, block, pass);
        } else if (!cs->odd) {
            cs->first = byte;
            cs->odd = true;
        } else {
            cs->odd = false;
            taken = take_pair(cs, block, pass, byte);
        }
    }
    cs->half_sync_carried = cs->half_sync;
    return taken;
}

static const uint8_t *port_frame(struct pug_coresight *cs, struct pug_cs_block *block)
{
    while (block->at < block->end) {
        if (!cs->synced && !search(cs, block))
            return NULL;
        struct pass pass = pass_begin(cs, block);
        if (cs->fill == 0 && !cs->odd && !cs->half_sync && pug_cs_has_frame(block) &&
            !may_hold_sync(block->at)) {
            cs->frame_index = cs->index;
            cs->shift = pug_cs_word(block->at + 12);
            block->at += PUG_CS_FRAME_BYTES;
            pass_end(cs, block, &pass);
            return pass.start;
        }
        enum taken taken = take_pairs(cs, block, &pass);
        if (taken == FATAL) {
            block->at = pass.start;
            return NULL;
        }
        pass_end(cs, block, &pass);
        if (cs->fill == PUG_CS_FRAME_BYTES) {
            cs->fill = 0;
            return cs->frame;
        }
    }
    return NULL;
}

const uint8_t *pug_cs_next_frame(struct pug_coresight *cs, struct pug_cs_block *block)
{
    return cs->flags & PUG_CS_MEM_ALIGN ? aligned_frame(cs, block) : port_frame(cs, block);
}
