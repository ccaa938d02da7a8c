// SPDX-License-Identifier: MIT
/**
 * @file Looking for the first ASYNC: at least 21 F nibbles, then a 0.
 *
 * What is passed over goes out as NOTSYNC packets of a fixed size, whatever pieces it came in (the
 * reference: one for each run of the transport, which must not be spliced then). F nibbles are held
 * back, since they may belong to an ASYNC.
 */
#include "base/noise.h"
#include "protocol/stm/elements.h"
#include "protocol/stm/reader.h"

#define NOTSYNC_NIBBLES 32u

static const uint8_t async_bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0xff, 0x0f};

static void give(struct pug_stm_reader *r, struct pug_packet *packet, enum pug_stm_packet_type type,
                 uint64_t index)
{
    r->packet.type = (uint8_t)type;
    r->packet.error_type = PUG_STM_NO_ERR_TYPE;
    r->packet.ts_bits = 0;
    r->packet.has_ts = r->packet.marker = false;
    *packet = (struct pug_packet){.index = index,
                                  .data = &r->packet,
                                  .raw = pug_rawbytes_at(&r->raw),
                                  .raw_size = (uint32_t)r->raw.size,
                                  .type = type,
                                  .flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE |
                                           (type == PUG_STM_ASYNC ? PUG_PACKET_SYNC : 0u)};
    if (type == PUG_STM_NOTSYNC)
        r->stage->stats.unsynced += r->raw.size;
}

/** Returns the rest of the byte whose low nibble is used. */
static uint8_t half_left(const struct pug_stm_reader *r, const struct pug_span *span)
{
    return (r->held ? r->half : *span->at) & 0xf0;
}

/** The ASYNC is complete: from here on the stream is packets. */
static void give_async(struct pug_stm_reader *r, const struct pug_span *span,
                       struct pug_packet *packet, bool after_notsync)
{
    r->raw.size = 0;
    /* The reference leaves the nibble that comes next with the bytes of the NOTSYNC. */
    if (after_notsync && r->stage->quirks.stm_counts_in_8_bits && r->odd)
        pug_rawbytes_add_byte(&r->raw, half_left(r, span));
    pug_rawbytes_add(&r->raw, async_bytes, sizeof(async_bytes));
    give(r, packet, PUG_STM_ASYNC, r->sync_index);
    r->state = PUG_STM_READING;
    r->stage->takes = PUG_TAKES_SPLICED;
    r->found = r->started = false;
    r->f_run = r->borrowed = r->count = 0;
    r->tail_length = 0;
}

/** Where the reference takes an F to be, `count` nibbles from where its block began. */
static uint64_t guessed_index(const struct pug_stm_reader *r)
{
    uint8_t count = (uint8_t)r->count;
    return count ? r->index + (count - 1u) / 2u : r->index;
}

/** An F of the search, in the byte at `at`. */
static void count_f(struct pug_stm_reader *r, const struct pug_run *run, const uint8_t *at)
{
    bool in_8_bits = r->stage->quirks.stm_counts_in_8_bits;
    if (!r->started)
        r->sync_index = in_8_bits ? guessed_index(r) : pug_run_index(run, at);
    r->started = true;
    r->f_run++;
    if (in_8_bits)
        r->f_run &= 0xff;
}

/** Another nibble: is it the 0 that completes an ASYNC? */
static bool completes(struct pug_stm_reader *r, uint8_t nibble)
{
    if (nibble == 0 && r->f_run >= PUG_STM_ASYNC_RUN)
        return true;
    r->started = false;
    r->f_run = r->borrowed = 0;
    return false;
}

/** Nibbles of the search that are, or may be, the ASYNC. F beyond the 21st belong to it. */
static uint64_t async_nibbles(const struct pug_stm_reader *r)
{
    if (!r->found)
        return r->f_run - r->borrowed;
    return r->stage->quirks.stm_counts_in_8_bits ? PUG_STM_ASYNC_RUN + 1
                                                 : r->f_run + 1 - r->borrowed;
}

/** What follows is a NOTSYNC, or an ASYNC of which `held` nibbles are known. */
static void begin_piece(struct pug_stm_reader *r, const struct pug_span *span, uint64_t held)
{
    r->index = pug_span_index(span);
    r->count = held;
    r->from_odd = r->odd;
    r->raw.size = 0;
    if (r->odd)
        pug_rawbytes_add_byte(&r->raw, half_left(r, span));
}

/**
 * At the begin of a byte, not after an F: every ASYNC that begins in the next ten bytes has the
 * 21st nibble from here on. Where less is left, only the F at its end count. Not up to the last
 * nibble of a piece, since there it matters whether an F came just before.
 */
static void skip_far(struct pug_stm_reader *r, struct pug_span *span, uint64_t limit)
{
    const size_t step = PUG_STM_ASYNC_RUN / 2;
    while ((size_t)(span->end - span->at) > step && r->count + 2 * step + 1 < limit &&
           (span->at[step] & 0xf) != 0xf) {
        span->at += step;
        r->count += 2 * step;
    }
    size_t left = (size_t)(span->end - span->at);
    if (left > step || r->count + 2 * left >= limit)
        return;
    while (left > 1 && span->at[left - 1] == 0xff)
        left--;
    span->at += left - 1;
    r->count += 2 * (left - 1);
}

/** Bytes without any F are no part of an ASYNC. */
static void skip_no_f(struct pug_stm_reader *r, struct pug_span *span, uint64_t limit)
{
    skip_far(r, span, limit);
    while (span->at != span->end && r->count < limit && (*span->at & 0xf) != 0xf &&
           *span->at < 0xf0) {
        span->at++;
        r->count += 2;
    }
}

/** F nibbles that go on: only how many they are counts. */
static void take_run(struct pug_stm_reader *r, struct pug_span *span)
{
    const size_t bytes = pug_noise_run(span->at, span->end, 0xff);
    r->f_run += 2 * bytes;
    r->count += 2 * bytes;
    span->at += bytes;
}

static void take_piece(struct pug_stm_reader *r, struct pug_span *span)
{
    const uint64_t limit = r->stage->quirks.stm_counts_in_8_bits ? UINT64_MAX : NOTSYNC_NIBBLES;
    /* A byte is the packet's with its low nibble. */
    const uint8_t *from = span->at + r->odd;
    while (!r->found && span->at != span->end) {
        if (!r->odd && !r->started) {
            skip_no_f(r, span, limit);
            if (span->at == span->end || r->count >= limit)
                break;
        }
        if (r->started && !r->odd && limit < UINT64_MAX) {
            take_run(r, span);
            if (span->at == span->end)
                break;
        }
        const uint8_t *at = span->at;
        uint8_t nibble = pug_stm_take_nibble(r, span);
        r->count++;
        if (nibble == 0xf)
            count_f(r, span->run, at);
        else
            r->found = completes(r, nibble);
        if (!r->started && r->count >= limit)
            break;
    }
    pug_rawbytes_add(&r->raw, from, (size_t)(span->at + r->odd - from));
}

static bool give_notsync(struct pug_stm_reader *r, struct pug_packet *packet, uint64_t nibbles)
{
    size_t bytes = (size_t)((nibbles + (r->from_odd ? 1 : 0) + 1) / 2);
    if (nibbles == 0)
        bytes = 0;
    if (bytes < r->raw.size)
        r->raw.size = bytes;
    give(r, packet, PUG_STM_NOTSYNC, r->index);
    r->count = 0;
    return true;
}

/** NOTSYNCs that are not reported: where the next one begins, and where the last one began. */
struct passed {
    const uint8_t *at, *last;
    bool odd; /* in the high nibble */
    uint64_t bytes;
};

/**
 * Pass over a NOTSYNC with nothing of an ASYNC in it: 21 F would have the byte in the middle. It
 * continues after an F at its end. A NOTSYNC that began in the middle of a byte also continues over
 * a last byte without one.
 */
static bool pass_piece(struct passed *passed)
{
    const size_t size = NOTSYNC_NIBBLES / 2;
    const uint8_t *const from = passed->at, *const end = from + size;
    const bool f_before = end[-1] >= 0xf0,
               longer = passed->odd ? !f_before && *end < 0xf0 : f_before;
    if (from[size / 2 - !passed->odd] == 0xff || ((passed->odd | f_before) && (*end & 0xf) == 0xf))
        return false;
    passed->bytes += size + (passed->odd | f_before);
    passed->last = from;
    passed->at = end + (passed->odd & longer);
    passed->odd ^= longer;
    return true;
}

void pug_stm_pass_over_noise(struct pug_stm_reader *r, struct pug_stm_decoder *d,
                             struct pug_span *span)
{
    struct passed passed = {.at = span->at, .odd = r->odd};
    if (r->state != PUG_STM_SEARCHING || r->found || r->started || r->count > 0 || r->held > 0 ||
        (d && d->state != PUG_STM_WAIT_SYNC) || r->stage->quirks.stm_counts_in_8_bits)
        return;
    while ((size_t)(span->end - passed.at) > NOTSYNC_NIBBLES / 2 && pass_piece(&passed))
        continue;
    if (!passed.last)
        return;
    r->stage->stats.unsynced += passed.bytes;
    if (d)
        d->last_index = pug_run_index(span->run, passed.last);
    r->odd = passed.odd;
    span->at = passed.at;
}

bool pug_stm_search(struct pug_stm_reader *r, struct pug_span *span, struct pug_packet *packet)
{
    bool in_8_bits = r->stage->quirks.stm_counts_in_8_bits;
    bool was_found = r->found;
    r->copied = false;
    /* An ASYNC after a NOTSYNC takes no nibble, but the reference gives it with the next one. */
    if ((!r->found || in_8_bits) && span->at == span->end && !r->held)
        return false;
    if (!r->found) {
        if (r->count == 0 || in_8_bits)
            begin_piece(r, span, in_8_bits ? r->f_run : 0);
        take_piece(r, span);
        uint64_t count = in_8_bits ? r->count & 0xff : r->count;
        uint64_t unsynced = r->count - async_nibbles(r);
        if (in_8_bits ? (r->found ? count > PUG_STM_ASYNC_RUN + 1 : count > 0)
                      : unsynced > 0 && (r->found || unsynced >= NOTSYNC_NIBBLES))
            return give_notsync(r, packet, in_8_bits ? unsynced & 0xff : unsynced);
        if (!r->found)
            return false;
    }
    give_async(r, span, packet, was_found);
    return true;
}

bool pug_stm_search_end(struct pug_stm_reader *r, struct pug_packet *packet)
{
    if (r->stage->quirks.stm_counts_in_8_bits)
        return false;
    if (r->found) { /* it would have come with no more bytes, had the consumer not waited */
        give_async(r, NULL, packet, true);
        return true;
    }
    if (r->count == 0)
        return false;
    r->started = false;
    r->f_run = r->borrowed = 0;
    return give_notsync(r, packet, r->count);
}
