// SPDX-License-Identifier: MIT
/**
 * @file Looking for the first ASYNC: at least 21 F nibbles, then a 0.
 *
 * Each run of the transport gives at most one NOTSYNC; F nibbles at its end are held back, since
 * they may belong to an ASYNC.
 */
#include "protocol/stm/reader.h"

static const uint8_t async_bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0xff, 0x0f};

/** `count` F nibbles as bytes in front of others. */
static void add_held(struct pug_rawbytes *raw, uint64_t count)
{
    for (; count >= 2 && raw->size < PUG_RAW_LIMIT; count -= 2)
        pug_rawbytes_add_byte(raw, 0xff);
}

static void give(struct stm_reader *r, struct pug_packet *packet, enum pug_stm_packet_type type,
                 uint64_t index)
{
    r->type = r->packet.type = (uint8_t)type;
    r->packet.error_type = PUG_STM_NO_ERR_TYPE;
    r->packet.ts_bits = 0;
    r->packet.has_ts = r->packet.marker = false;
    *packet = (struct pug_packet){.index = index,
                                  .data = &r->packet,
                                  .raw = pug_rawbytes_at(&r->raw),
                                  .raw_size = (uint32_t)r->raw.size,
                                  .type = type,
                                  .flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE};
    if (type == PUG_STM_NOTSYNC)
        r->stage->stats.unsynced += r->raw.size;
}

/** The ASYNC is complete: from here on the stream is packets. */
static void give_async(struct stm_reader *r, struct pug_packet *packet, bool after_notsync)
{
    r->raw.size = 0;
    /* The reference leaves the nibble that comes next with the bytes of the NOTSYNC. */
    if (after_notsync && r->stage->quirks.stm_counts_in_8_bits && r->has_high)
        pug_rawbytes_add_byte(&r->raw, (uint8_t)(r->high << 4));
    pug_rawbytes_add(&r->raw, async_bytes, sizeof(async_bytes));
    give(r, packet, PUG_STM_ASYNC, r->sync_index);
    r->synced = true;
    r->found = r->started = false;
    r->f_run = r->borrowed = 0;
}

/** One nibble of the search: is it the 0 that completes an ASYNC? */
static bool completes(struct stm_reader *r, uint8_t nibble, uint64_t index)
{
    if (nibble == 0xf) {
        if (!r->started)
            r->sync_index = index;
        r->started = true;
        r->f_run++;
        if (r->stage->quirks.stm_counts_in_8_bits)
            r->f_run &= 0xff;
        return false;
    }
    if (nibble == 0 && r->f_run >= STM_ASYNC_RUN)
        return true;
    r->started = false;
    r->f_run = r->borrowed = 0;
    return false;
}

/** Nibbles read that are, or may be, the ASYNC. F beyond the 21st belong to it. */
static uint64_t async_nibbles(const struct stm_reader *r)
{
    if (!r->found)
        return r->f_run;
    return r->stage->quirks.stm_counts_in_8_bits ? STM_ASYNC_RUN + 1 : r->f_run + 1;
}

/** Where the reference takes an F to be, `count` nibbles from where its block began. */
static uint64_t guessed_index(uint64_t start, uint8_t count)
{
    return count ? start + (count - 1u) / 2u : start;
}

bool stm_search(struct stm_reader *r, struct pug_span *span, struct pug_packet *packet)
{
    if (!r->found && !stm_has_nibble(r, span))
        return false;
    const bool in_8_bits = r->stage->quirks.stm_counts_in_8_bits;
    const bool was_found = r->found, had_high = r->has_high;
    const uint8_t had = r->high, *from = span->at;
    const uint64_t start = stm_nibble_index(r, span);
    const uint64_t held = in_8_bits ? 0 : r->f_run - r->borrowed, held_index = r->sync_index;
    uint64_t count = async_nibbles(r) - r->borrowed;

    while (!r->found && stm_has_nibble(r, span)) {
        uint64_t index = stm_nibble_index(r, span);
        uint8_t nibble = stm_take_nibble(r, span);
        count++;
        r->found = completes(r, nibble, in_8_bits ? guessed_index(start, (uint8_t)count) : index);
    }
    uint64_t unsynced = count - (async_nibbles(r) - r->borrowed);
    bool give_notsync = unsynced > 0;
    if (in_8_bits) {
        unsynced &= 0xff;
        count &= 0xff;
        give_notsync = r->found ? count > STM_ASYNC_RUN + 1 : count > 0;
    }
    if (give_notsync) {
        size_t taken = (size_t)(span->at - from);
        size_t covered = (size_t)((unsynced - held - (had_high ? 1 : 0) + 1) / 2);
        r->raw.size = 0;
        add_held(&r->raw, held);
        if (had_high)
            pug_rawbytes_add_byte(&r->raw, (uint8_t)(had << 4));
        pug_rawbytes_add(&r->raw, from, covered < taken ? covered : taken);
        give(r, packet, PUG_STM_NOTSYNC, held ? held_index : start);
        return true;
    }
    if (!r->found)
        return false;
    give_async(r, packet, was_found);
    return true;
}

bool stm_search_end(struct stm_reader *r, struct pug_packet *packet)
{
    if (r->f_run == r->borrowed || r->stage->quirks.stm_counts_in_8_bits)
        return false;
    r->raw.size = 0;
    add_held(&r->raw, r->f_run + 1);
    give(r, packet, PUG_STM_NOTSYNC, r->sync_index);
    r->started = false;
    r->f_run = r->borrowed = 0;
    return true;
}
