// SPDX-License-Identifier: MIT
/**
 * @file PTM: A-syncs. Unsynchronised bytes are reported in pieces of 16 or a little more; the
 * decoder gets one notification.
 */
#include "base/noise.h"
#include "protocol/ptm/reader.h"

#define A_SYNC_ZEROS 5u  /* at least */
#define ZERO_LIMIT   16u /* so many zeros are no A-sync; the last ones may begin one */
#define PIECE_BYTES  16u

void pug_ptm_make_zeros(struct pug_ptm_reader *reader, uint32_t zeros, const uint8_t *last)
{
    static const uint8_t block[ZERO_LIMIT] = {0};
    reader->raw.size = 0;
    for (uint32_t left = zeros; left > 0;) {
        uint32_t n = left < ZERO_LIMIT ? left : ZERO_LIMIT;
        pug_rawbytes_add(&reader->raw, block, n);
        left -= n;
    }
    if (last)
        pug_rawbytes_add_byte(&reader->raw, *last);
}

/* ---- unsynchronised ---- */

/** For a monitor, and only for it, the zeros of the run before are reported once more. */
static bool carries_twice(const struct pug_ptm_reader *reader)
{
    return reader->stage->quirks.ptm_unsynced_by_block && reader->carried > 0 &&
           reader->stage->monitored;
}

/** How many bytes there are of those that count; beyond the limit of bytes some are left out. */
static size_t counted_bytes(const struct pug_ptm_reader *reader)
{
    const size_t bytes = reader->unsynced.size - reader->shown;
    return bytes < reader->unsynced_count ? bytes : reader->unsynced_count;
}

/** What was given out is forgotten. The rest, by a quirk a long one, moves where that is less. */
static void drop_given(struct pug_ptm_reader *reader)
{
    reader->shown += (uint32_t)counted_bytes(reader);
    reader->unsynced_count = 0;
    reader->given = false;
    if (reader->unsynced.size - reader->shown > reader->shown)
        return;
    pug_rawbytes_drop(&reader->unsynced, reader->shown);
    reader->shown = 0;
}

void pug_ptm_forget_unsynced(struct pug_ptm_reader *reader)
{
    reader->unsynced.size = 0;
    reader->unsynced_count = reader->shown = reader->lost = 0;
}

/** Reports the unsynchronised bytes so far as a packet. */
static bool report(struct pug_ptm_reader *reader, struct pug_packet *packet)
{
    reader->packet.type = PUG_PTM_NOTSYNC;
    if (carries_twice(reader) && !reader->zeros_reported) {
        reader->zeros_reported = true;
        pug_ptm_make_zeros(reader, reader->carried, NULL);
        pug_ptm_give(reader, pug_rawbytes_at(&reader->raw), reader->raw.size, packet);
        packet->flags = PUG_PACKET_MONITOR;
        reader->index += reader->carried;
        return true;
    }
    reader->zeros_reported = false;
    reader->given = true;
    pug_ptm_give(reader, pug_rawbytes_at(&reader->unsynced) + reader->shown, counted_bytes(reader),
                 packet);
    if (reader->told)
        packet->flags = PUG_PACKET_MONITOR;
    reader->told = true;
    reader->stage->stats.unsynced += reader->unsynced_count;
    reader->index += reader->unsynced_count;
    return true;
}

/** Counts so many more bytes, from this index on. */
static void count_unsynced(struct pug_ptm_reader *reader, uint64_t index, uint32_t count)
{
    if (reader->unsynced_count == 0 && !reader->stage->quirks.ptm_unsynced_by_block)
        reader->index = index;
    reader->unsynced_count += count;
}

static void add_zeros(struct pug_ptm_reader *reader, uint32_t count)
{
    while (count-- > 0)
        pug_rawbytes_add_byte(&reader->unsynced, 0);
}

/** The first `count` zeros are not part of an A-sync. */
static void drop_zeros(struct pug_ptm_reader *reader, uint32_t count)
{
    const uint32_t added = reader->lost < count ? reader->lost : count;
    if (count == 0)
        return;
    count_unsynced(reader, reader->zeros.index, count);
    add_zeros(reader, count - added);
    reader->lost -= added;
    reader->zeros.count -= count;
    reader->zeros.index += count;
}

/** The zeros that are kept are not an A-sync either: the bytes after them are shown after them. */
static void lose_zeros(struct pug_ptm_reader *reader)
{
    add_zeros(reader, reader->zeros.count - reader->lost);
    reader->lost = reader->zeros.count;
    reader->zeros.maybe = false;
}

static void add_zero(struct pug_ptm_reader *reader, uint64_t index)
{
    struct pug_ptm_zeros *zeros = &reader->zeros;
    if (zeros->count == 0)
        zeros->index = index;
    if (!zeros->maybe)
        zeros->run = 0;
    zeros->maybe = true;
    zeros->count++;
    if (++zeros->run < ZERO_LIMIT)
        return;
    drop_zeros(reader, ZERO_LIMIT - A_SYNC_ZEROS);
    zeros->run = A_SYNC_ZEROS;
    if (reader->stage->quirks.ptm_zero_run_lost)
        lose_zeros(reader);
}

/** A byte of an unsynchronised stream; true when it ends an A-sync. */
static bool look_at(struct pug_ptm_reader *reader, uint64_t index, const uint8_t *byte)
{
    struct pug_ptm_zeros *zeros = &reader->zeros;
    if (*byte == 0) {
        add_zero(reader, index);
        return false;
    }
    if (zeros->maybe && *byte == 0x80 && zeros->run >= A_SYNC_ZEROS)
        return true;
    if (zeros->maybe)
        drop_zeros(reader, zeros->count);
    zeros->maybe = false;
    count_unsynced(reader, index, 1);
    pug_rawbytes_add_byte(&reader->unsynced, *byte);
    return false;
}

static bool found(struct pug_ptm_reader *reader, struct pug_packet *packet)
{
    if (!reader->stage->quirks.ptm_unsynced_by_block)
        reader->index = reader->zeros.index;
    pug_ptm_make_zeros(reader, reader->zeros.count, (const uint8_t[]){0x80});
    reader->zeros = (struct pug_ptm_zeros){0};
    pug_ptm_forget_unsynced(reader);
    reader->in_block = false;
    reader->stage->takes = PUG_TAKES_SPLICED;
    reader->state = PUG_PTM_AT_HEADER;
    reader->packet.type = PUG_PTM_A_SYNC;
    return pug_ptm_give(reader, pug_rawbytes_at(&reader->raw), reader->raw.size, packet);
}

static void begin_block(struct pug_ptm_reader *reader, const struct pug_span *span)
{
    reader->in_block = true;
    reader->carried = reader->zeros.count;
    if (!reader->stage->quirks.ptm_unsynced_by_block)
        return;
    pug_ptm_forget_unsynced(reader); /* none of the block before are shown any more */
    if (!reader->zeros.maybe)
        reader->index = pug_span_index(span);
}

static bool search(struct pug_ptm_reader *reader, struct pug_span *span, struct pug_packet *packet)
{
    if (reader->zeros_reported)
        return report(reader, packet);
    if (reader->given)
        drop_given(reader);
    if ((!reader->in_block || span->at == span->run->bytes) && span->at < span->end)
        begin_block(reader, span);
    while (span->at < span->end) {
        uint64_t index = pug_span_index(span);
        bool complete = look_at(reader, index, span->at);
        if (complete && reader->unsynced_count > 0)
            return report(reader, packet); /* the 0x80 is looked at again */
        span->at++;
        if (complete)
            return found(reader, packet);
        if (reader->unsynced_count >= PIECE_BYTES)
            return report(reader, packet);
    }
    if (reader->unsynced_count > 0 && reader->stage->quirks.ptm_unsynced_by_block)
        return report(reader, packet);
    return false;
}

bool pug_ptm_find_sync(struct pug_ptm_reader *reader, struct pug_span *span,
                       struct pug_packet *packet)
{
    bool given = search(reader, span, packet);
    if (span->at == span->end) /* also where a consumer waits at its last packet */
        reader->in_block = false;
    return given;
}

bool pug_ptm_end_unsynced(struct pug_ptm_reader *reader, struct pug_packet *packet)
{
    bool left = reader->zeros_reported || (reader->unsynced_count > 0 && !reader->given);
    return left && report(reader, packet);
}

/**
 * Pass zeros beyond the length of an A-sync, in steps of a whole piece, so that the state does not
 * change.
 */
static size_t pass_zeros(struct pug_ptm_reader *reader, const struct pug_span *span)
{
    const size_t step = ZERO_LIMIT - A_SYNC_ZEROS, piece = (PIECE_BYTES + step - 1) / step * step;
    struct pug_ptm_zeros *zeros = &reader->zeros;
    if (zeros->run != A_SYNC_ZEROS || zeros->count != A_SYNC_ZEROS ||
        (reader->unsynced_count > 0 && !reader->given))
        return 0;
    const size_t passed = pug_noise_run(span->at, span->end, 0) / piece * piece;
    zeros->index += passed;
    return passed;
}

/** Bytes that are none, or too few. */
static size_t pass_others(struct pug_ptm_reader *reader, const struct pug_span *span)
{
    static const struct pug_noise noise = {.piece = PIECE_BYTES, .zeros = A_SYNC_ZEROS};
    const uint32_t held = reader->given ? 0 : reader->unsynced_count;
    const size_t passed =
        pug_noise_pass(&noise, span->at, (size_t)(span->end - span->at), held).size;
    if (passed == 0)
        return 0;
    reader->stage->stats.unsynced += held;
    pug_ptm_forget_unsynced(reader);
    return passed;
}

void pug_ptm_pass_over_noise(struct pug_ptm_reader *reader, struct pug_span *span)
{
    const struct pug_quirks *quirks = &reader->stage->quirks;
    if (reader->state != PUG_PTM_UNSYNCED || !reader->told || quirks->ptm_unsynced_by_block ||
        quirks->ptm_zero_run_lost)
        return;
    const size_t passed = reader->zeros.maybe        ? pass_zeros(reader, span)
                          : reader->zeros.count == 0 ? pass_others(reader, span)
                                                     : 0;
    reader->stage->stats.unsynced += passed;
    span->at += passed;
}

/* ---- synchronised ---- */

bool pug_ptm_read_a_sync(struct pug_ptm_reader *reader, struct pug_span *span,
                         struct pug_packet *packet)
{
    struct pug_ptm_zeros *zeros = &reader->zeros;
    while (span->at < span->end) {
        uint8_t byte = *span->at++;
        if (byte == 0 && ++zeros->count < ZERO_LIMIT)
            continue;
        bool good = byte == 0x80 && zeros->count >= A_SYNC_ZEROS;
        pug_ptm_make_zeros(reader, zeros->count, byte ? &byte : NULL);
        reader->state = PUG_PTM_AT_HEADER;
        *zeros = (struct pug_ptm_zeros){0};
        reader->packet.type = good ? PUG_PTM_A_SYNC : PUG_PTM_BAD_SEQUENCE;
        if (!good) {
            reader->packet.header_type = PUG_PTM_A_SYNC;
            pug_ptm_error(reader, PUG_ERR_PACKET_SEQUENCE, "Bad Async packet");
        }
        return pug_ptm_give(reader, pug_rawbytes_at(&reader->raw), reader->raw.size, packet);
    }
    return false;
}
