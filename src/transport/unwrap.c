// SPDX-License-Identifier: MIT
/**
 * @file The stream side of the wrappings: buffering, finding the start, errors.
 *
 * Out of synchronisation there are two rules, both certain:
 *
 * - More nulls in a row than a packet can hold: the next byte that is none is a header.
 * - Packets say how long they are, so each offset of the stream begins a chain of would-be headers.
 *   One of the first LONGEST offsets begins the right one; wrong chains break, or run into the
 *   right one, which they never leave again. Where all chains that last have met, a header is.
 *
 * Bit streams have a rule of their own (unwrap_bits.c).
 */
#include "transport/unwrap_stream.h"

#include "base/bytes.h"
#include "base/noise.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN         32u /* packets that a chain has to last */
#define FIRST_BYTES   16u /* of a capture: frames may begin with ids */
#define FIRST_PACKETS 8u
#define ENOUGH        64u /* payloads to know the padding by */
#define BAD_LIMIT     4u  /* so many bad packets of the last 16: not synchronised */

static_assert(PUG_UNWRAP_CAPACITY > PUG_UNWRAP_LONGEST * (PUG_UNWRAP_CHAIN + 1), "the search fits");

#define NO_TIMESTAMPS "header says that a timestamp follows, but timestamps are configured off"

static void begin(struct pug_unwrap *unwrap)
{
    static const enum state states[] = {STATE_START, STATE_SYNCED, STATE_SEARCH};
    unwrap->state = states[unwrap->config.start];
    if (unwrap->config.only_data && unwrap->state == STATE_START)
        unwrap->state = STATE_SYNCED; /* data trace has no packet to begin with */
    if (unwrap->config.bit_stream && unwrap->state == STATE_START)
        unwrap->state = STATE_SEARCH;
    unwrap->settled = unwrap->state == STATE_SYNCED;
}

struct pug_unwrap *pug_unwrap_new(const struct pug_unwrap_config *config,
                                  pug_unwrap_report_fn *report, void *context)
{
    struct pug_unwrap *unwrap = calloc(1, sizeof(*unwrap));
    if (!unwrap)
        return NULL;
    unwrap->config = *config;
    unwrap->report = report;
    unwrap->context = context;
    unwrap->simple = config->wrapping == PUG_WRAP_ENCAPSULATION && config->types.bits == 0 &&
                     config->source_count == 0 && config->block == 0 && config->no_flows == 0 &&
                     !config->bit_stream;
    unwrap->seen_size = ((UINT32_C(1) << config->src_bits) + 7) / 8;
    unwrap->seen = malloc(unwrap->seen_size);
    if (!unwrap->seen) {
        free(unwrap);
        return NULL;
    }
    pug_unwrap_reset(unwrap);
    return unwrap;
}

void pug_unwrap_free(struct pug_unwrap *unwrap)
{
    if (unwrap)
        free(unwrap->seen);
    free(unwrap);
}

void pug_unwrap_reset(struct pug_unwrap *unwrap)
{
    unwrap->ended = unwrap->numbered = unwrap->found_any = unwrap->lost = false;
    unwrap->head = unwrap->tail = 0;
    unwrap->bad = 0;
    unwrap->null_run = unwrap->marked = 0;
    unwrap->skipped = unwrap->skipping = 0;
    unwrap->bits = (struct pug_unwrap_bits){.head = 0};
    unwrap->padding_known =
        unwrap->config.padding != PUG_PADDING_AUTO || !pug_unwrap_pads(&unwrap->config);
    unwrap->padding = unwrap->config.padding;
    unwrap->guess = (struct pug_unwrap_padding_guess){.sign = 0};
    memset(unwrap->seen, 0xff, unwrap->seen_size);
    begin(unwrap);
}

void pug_unwrap_from_begin(struct pug_unwrap *unwrap, bool from_begin)
{
    unwrap->from_begin = from_begin;
}

void pug_unwrap_begin_inside(struct pug_unwrap *unwrap)
{
    memset(unwrap->seen, 0, unwrap->seen_size);
}

uint64_t pug_unwrap_skipped(const struct pug_unwrap *unwrap)
{
    return unwrap->skipped;
}

/** Returns the bits that a null does not have. */
static uint8_t null_mask(const struct pug_unwrap *unwrap)
{
    return unwrap->config.wrapping == PUG_WRAP_ESP32 ? 0xff : 0x1f;
}

/* ---- bytes in ---- */

size_t pug_unwrap_fill(struct pug_unwrap *unwrap, uint64_t index, const uint8_t *bytes, size_t size)
{
    if (size > PUG_UNWRAP_CAPACITY - unwrap->tail && unwrap->head > 0) {
        uint32_t count = held(unwrap);
        memmove(unwrap->bytes, unwrap->bytes + unwrap->head, count);
        memmove(unwrap->index, unwrap->index + unwrap->head, count * sizeof(unwrap->index[0]));
        pug_unwrap_bits_move(unwrap, unwrap->head);
        unwrap->head = 0;
        unwrap->tail = count;
    }
    if (size > PUG_UNWRAP_CAPACITY - unwrap->tail)
        size = PUG_UNWRAP_CAPACITY - unwrap->tail;
    memcpy(unwrap->bytes + unwrap->tail, bytes, size);
    for (size_t i = 0; i < size; i++)
        unwrap->index[unwrap->tail + i] = index + i;
    unwrap->tail += (uint32_t)size;
    return size;
}

void pug_unwrap_end(struct pug_unwrap *unwrap)
{
    unwrap->ended = true;
}

size_t pug_unwrap_wanted(const struct pug_unwrap *unwrap, const uint8_t *bytes, size_t size)
{
    struct pug_unwrapped packet;
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    const uint32_t count = held(unwrap);
    if (unwrap->config.bit_stream || unwrap->state == STATE_SEARCH ||
        pug_unwrap_parse(&unwrap->config, count > 0 ? unwrap->bytes + unwrap->head : bytes,
                         count > 0 ? count : 1, scratch, &packet) != PUG_PARSED_SHORT)
        return 1;
    const size_t wanted = packet.length - count;
    return wanted < size ? wanted : size;
}

size_t pug_unwrap_pass_nulls(struct pug_unwrap *unwrap, const uint8_t *bytes, size_t size)
{
    if (held(unwrap) > 0 || unwrap->config.bit_stream || unwrap->state == STATE_SEARCH ||
        pug_unwrap_nulls(&unwrap->config) == UINT_MAX)
        return 0;
    const size_t nulls = pug_noise_run(bytes, bytes + size, 0);
    unwrap->found_any |= nulls > 0;
    if (unwrap->state == STATE_START)
        unwrap->null_run += (unsigned)nulls;
    return nulls;
}

/* ---- synchronisation ---- */

void pug_unwrap_lose(struct pug_unwrap *unwrap)
{
    memset(unwrap->seen, 0, unwrap->seen_size);
    unwrap->lost |= unwrap->settled;
    unwrap->numbered = false;
    unwrap->bad = 0;
}

static void skip(struct pug_unwrap *unwrap, uint32_t count)
{
    const uint8_t mask = null_mask(unwrap), *const end = unwrap->bytes + unwrap->head + count;
    const uint64_t all = UINT64_C(0x0101010101010101) * mask;
    uint32_t nulls = 0;
    while (count - nulls >= 8 && (pug_bytes_64(end - nulls - 8) & all) == 0)
        nulls += 8;
    while (nulls < count && (end[-1 - (ptrdiff_t)nulls] & mask) == 0)
        nulls++;
    unwrap->null_run = nulls < count ? nulls : unwrap->null_run + nulls;
    unwrap->head += count;
    unwrap->marked -= unwrap->marked < count ? unwrap->marked : count;
    unwrap->skipped += count;
    unwrap->skipping += count;
}

void pug_unwrap_found(struct pug_unwrap *unwrap, uint64_t index)
{
    char text[80];
    snprintf(text, sizeof(text), "%" PRIu64 " bytes skipped to the next packet", unwrap->skipping);
    pug_unwrap_tell(unwrap, PUG_ERR_PACKET_SEQUENCE, index, text);
    unwrap->skipping = 0;
}

static void synchronise(struct pug_unwrap *unwrap, uint32_t at)
{
    skip(unwrap, at);
    unwrap->state = STATE_SYNCED;
    pug_unwrap_lose(unwrap);
    if (unwrap->skipping > 0)
        pug_unwrap_found(unwrap, unwrap->index[unwrap->head]);
    unwrap->null_run = unwrap->marked = 0;
    unwrap->settled = true;
}

/**
 * Offset of a header that nulls or a block's start give away in the first `count` bytes, or -1. Of
 * bytes that were looked at before that is known.
 */
static int64_t marked_header(struct pug_unwrap *unwrap, uint32_t count)
{
    unsigned nulls = pug_unwrap_nulls(&unwrap->config);
    unsigned run = unwrap->marked > 0 ? unwrap->marked_run : unwrap->null_run;
    const uint8_t *bytes = unwrap->bytes + unwrap->head;
    const uint8_t mask = null_mask(unwrap);
    const bool zeros_alone = mask == 0xff && unwrap->config.block == 0;
    if (nulls == UINT_MAX && unwrap->config.block == 0)
        return -1;
    for (uint32_t i = unwrap->marked; i < count; i++) {
        uint64_t index = unwrap->index[unwrap->head + i];
        if (unwrap->config.block > 0 && index % unwrap->config.block == 0)
            return i;
        if (run == 0 && zeros_alone) {
            const uint8_t *null = memchr(bytes + i, 0, count - i);
            i = null ? (uint32_t)(null - bytes) : count - 1;
        }
        if ((bytes[i] & mask) == 0)
            run++;
        else if (run > nulls)
            return i;
        else
            run = 0;
    }
    unwrap->marked = count;
    unwrap->marked_run = run;
    return -1;
}

/** How a chain of would-be packets went: the end of the data may cut its last one. */
enum chain { CHAIN_BROKEN, CHAIN_CUT, CHAIN_LASTS };

/** Follow the chain from `from` in the first `count` bytes; count it at each of its headers. */
static enum chain follow_chain(const struct pug_unwrap *unwrap, uint32_t from, uint32_t count,
                               uint8_t *visits, unsigned *packets)
{
    const uint8_t *bytes = unwrap->bytes + unwrap->head;
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    struct pug_unwrapped packet, previous;
    *packets = 0;
    while (*packets < PUG_UNWRAP_CHAIN && from < count) {
        enum pug_unwrap_parsed parsed =
            pug_unwrap_parse(&unwrap->config, bytes + from, count - from, scratch, &packet);
        if (parsed == PUG_PARSED_BAD)
            return CHAIN_BROKEN;
        if (visits)
            visits[from]++;
        if (parsed == PUG_PARSED_SHORT)
            return unwrap->ended && count == held(unwrap) ? CHAIN_CUT : CHAIN_LASTS;
        if (!pug_unwrap_plausible(&unwrap->config, *packets > 0 ? &previous : NULL, &packet))
            return CHAIN_BROKEN;
        if (!packet.null) {
            previous = packet;
            ++*packets;
        }
        from += packet.length;
    }
    return CHAIN_LASTS;
}

/** Offset of the first header that all lasting chains share, or -1. */
static int64_t common_header(const struct pug_unwrap *unwrap, uint32_t count)
{
    uint8_t visits[PUG_UNWRAP_CAPACITY];
    const uint32_t longest = pug_unwrap_longest(&unwrap->config);
    const uint32_t starts = longest < count ? longest : count;
    const bool whole = count == longest * (PUG_UNWRAP_CHAIN + 1);
    enum chain chains[PUG_UNWRAP_LONGEST] = {CHAIN_BROKEN}, best = CHAIN_BROKEN;
    unsigned lasting = 0, packets;
    for (uint32_t i = 0; i < starts; i++) {
        if (whole)
            i += pug_unwrap_hopeless(&unwrap->config, unwrap->bytes + unwrap->head + i, starts - i);
        if (i == starts)
            break;
        chains[i] = follow_chain(unwrap, i, count, NULL, &packets);
        if (chains[i] > best)
            best = chains[i];
    }
    if (best == CHAIN_BROKEN)
        return -1;
    memset(visits, 0, count);
    for (uint32_t i = 0; i < starts; i++) {
        if (chains[i] != best)
            continue;
        lasting++;
        follow_chain(unwrap, i, count, visits, &packets);
    }
    for (uint32_t i = 0; i < count && lasting > 0; i++)
        if (visits[i] == lasting)
            return i;
    return -1;
}

void pug_unwrap_give_up(struct pug_unwrap *unwrap)
{
    char text[80];
    if (unwrap->skipping == 0)
        return;
    snprintf(text, sizeof(text), "%" PRIu64 " bytes skipped, there is no packet that fits",
             unwrap->skipping);
    pug_unwrap_tell(unwrap, unwrap->found_any ? PUG_ERR_PACKET_SEQUENCE : PUG_ERR_PACKET_HEADER,
                    PUG_NO_INDEX, text);
    unwrap->skipping = 0;
}

/**
 * How many bytes begin no chain, in the first `count`, which nothing marks: what it takes many
 * windows for that find nothing, at once.
 */
static uint32_t hopeless_windows(const struct pug_unwrap *unwrap, uint32_t count, uint32_t window)
{
    const uint32_t longest = pug_unwrap_longest(&unwrap->config);
    if (count < window)
        return 0;
    const uint32_t whole = held(unwrap) - window + longest, limit = whole < count ? whole : count;
    return pug_unwrap_hopeless(&unwrap->config, unwrap->bytes + unwrap->head, limit) / longest *
           longest;
}

/**
 * Look for a header. What it finds depends on the bytes alone, not on how they arrive: it looks at
 * a fixed number of them at a time.
 */
static bool search(struct pug_unwrap *unwrap)
{
    uint32_t longest = pug_unwrap_longest(&unwrap->config),
             window = longest * (PUG_UNWRAP_CHAIN + 1);
    for (;;) {
        uint32_t count = held(unwrap) < window ? held(unwrap) : window;
        int64_t at = marked_header(unwrap, count);
        if (at < 0) {
            if (count == 0 && unwrap->ended)
                pug_unwrap_give_up(unwrap);
            if (count == 0 || (count < window && !unwrap->ended))
                return false;
            const uint32_t hopeless = hopeless_windows(unwrap, count, window);
            if (hopeless > 0) {
                skip(unwrap, hopeless);
                continue;
            }
            at = common_header(unwrap, count);
        }
        if (at >= 0) {
            synchronise(unwrap, (uint32_t)at);
            return true;
        }
        skip(unwrap, longest < count ? longest : count);
    }
}

/* ---- packets out ---- */

bool pug_unwrap_judge(struct pug_unwrap *unwrap, bool bad)
{
    unwrap->bad = (uint16_t)(unwrap->bad << 1 | bad);
    if (unwrap->bad == 0 || __builtin_popcount(unwrap->bad) < (int)BAD_LIMIT)
        return false;
    pug_unwrap_lose(unwrap);
    unwrap->state = STATE_SEARCH;
    return true;
}

static void drop(struct pug_unwrap *unwrap, uint32_t count, enum pug_status code, const char *text)
{
    pug_unwrap_tell(unwrap, code, unwrap->index[unwrap->head], text);
    unwrap->skipped += count;
    unwrap->head += count;
}

/** ESP32 packets carry a number that says when some are missing. */
static bool number_jumped(struct pug_unwrap *unwrap, uint16_t number)
{
    if (unwrap->config.wrapping != PUG_WRAP_ESP32)
        return false;
    bool jumped = unwrap->numbered && number != (uint16_t)(unwrap->number + 1);
    unwrap->numbered = true;
    unwrap->number = number;
    return jumped;
}

void pug_unwrap_accept(struct pug_unwrap *unwrap, uint64_t index, struct pug_unwrapped *packet)
{
    packet->index = index;
    unwrap->found_any = true;
    if (packet->null)
        return;
    if (packet->extend && packet->timestamp_bits == 0)
        pug_unwrap_tell(unwrap, PUG_ERR_PACKET_HEADER, packet->index, NO_TIMESTAMPS);
    packet->padding = packet->bits % 8 == 0                  ? PUG_RUN_EXACT
                      : unwrap->padding == PUG_PADDING_ANY   ? PUG_RUN_PADDED
                      : unwrap->padding == PUG_PADDING_WHOLE ? PUG_RUN_WHOLE
                                                             : PUG_RUN_EXACT;
    packet->gap = pug_unwrap_first_since_gap(unwrap, packet->source);
    if (packet->kind != PUG_PAYLOAD_OTHER) /* else who waits for a gap does not see it */
        pug_unwrap_note_source(unwrap, packet->source);
    if (number_jumped(unwrap, (uint16_t)packet->type)) {
        pug_unwrap_tell(unwrap, PUG_ERR_TRACE_LOST, packet->index,
                        "packet number jumps: packets are missing");
        packet->gap = true;
    }
    pug_unwrap_judge(unwrap, false);
}

/* ---- padding ---- */

/** Packets from `head` on into the guess. False: there have to be more of them. */
static bool sample(const struct pug_unwrap *unwrap, struct pug_unwrap_padding_guess *guess)
{
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    struct pug_unwrapped packet;
    if (unwrap->config.bit_stream)
        return pug_unwrap_bits_sample(unwrap, guess);
    if (held(unwrap) < PUG_UNWRAP_SAMPLE && !unwrap->ended)
        return false;
    for (uint32_t at = 0; at < PUG_UNWRAP_SAMPLE; at += packet.length) {
        if (pug_unwrap_parse(&unwrap->config, unwrap->bytes + unwrap->head + at, held(unwrap) - at,
                             scratch, &packet) != PUG_PARSED)
            break;
        pug_unwrap_padding_note(guess, &packet);
    }
    return true;
}

bool pug_unwrap_padding_known(struct pug_unwrap *unwrap, const struct pug_unwrapped *packet)
{
    if (unwrap->padding_known)
        return true;
    struct pug_unwrap_padding_guess guess = unwrap->guess;
    if (!pug_unwrap_padding_matters(packet)) {
        pug_unwrap_padding_note(&guess, packet);
        unwrap->guess = guess;
        if (guess.payloads < ENOUGH)
            return true;
    } else if (!sample(unwrap, &guess)) {
        return false;
    }
    unwrap->padding = pug_unwrap_padding_guessed(&guess);
    unwrap->padding_known = true;
    return true;
}

/* ---- one after another ---- */

/** Bytes up to the end of the block that `head` is in. */
static uint64_t left_in_block(const struct pug_unwrap *unwrap)
{
    uint32_t block = unwrap->config.block;
    return block > 0 ? block - unwrap->index[unwrap->head] % block : UINT64_MAX;
}

/** One packet, or one thing that is none. False: nothing more can be done now. */
static bool step(struct pug_unwrap *unwrap, struct pug_unwrapped *packet, bool *got)
{
    uint32_t count = held(unwrap);
    if (count == 0)
        return false;
    uint64_t left = left_in_block(unwrap);
    switch (pug_unwrap_parse(&unwrap->config, unwrap->bytes + unwrap->head,
                             left < count ? (size_t)left : count, unwrap->scratch, packet)) {
    case PUG_PARSED:
        if (!pug_unwrap_padding_known(unwrap, packet))
            return false;
        unwrap->head += packet->length;
        pug_unwrap_accept(unwrap, unwrap->index[unwrap->head - packet->length], packet);
        *got = true;
        return true;
    case PUG_PARSED_BAD:
        drop(unwrap, packet->length, PUG_ERR_PACKET_HEADER, "impossible packet header");
        pug_unwrap_judge(unwrap, true);
        return true;
    case PUG_PARSED_SHORT: break;
    }
    if (left <= count)
        drop(unwrap, (uint32_t)left, PUG_ERR_TRUNCATED, "packet straddles the end of a block");
    else if (unwrap->ended)
        drop(unwrap, count, PUG_ERR_TRUNCATED, "the data end inside a packet");
    else
        return false;
    return true;
}

/** Is there an offset, but for the first, from which packets follow each other? */
static bool others_last(const struct pug_unwrap *unwrap, uint32_t count)
{
    uint32_t starts = pug_unwrap_longest(&unwrap->config);
    unsigned packets;
    for (uint32_t i = 1; i < starts && i < count; i++)
        if (follow_chain(unwrap, i, count, NULL, &packets) == CHAIN_LASTS)
            return true;
    return false;
}

/**
 * A stream begins with a header. If no packets follow it, while they do from another place on, it
 * was cut out of a longer one; as it was where its first byte is not the first one of the capture.
 * Where it begins with nulls, or as an E-Trace stream should, with a support packet, there is no
 * need to look further.
 */
static bool start(struct pug_unwrap *unwrap, struct pug_unwrapped *packet, bool *got)
{
    uint32_t window = pug_unwrap_longest(&unwrap->config) * (PUG_UNWRAP_CHAIN + 1);
    uint32_t count = held(unwrap) < window ? held(unwrap) : window;
    unsigned packets;
    if (count == 0)
        return false;
    enum pug_unwrap_parsed parsed = pug_unwrap_parse(&unwrap->config, unwrap->bytes + unwrap->head,
                                                     held(unwrap), unwrap->scratch, packet);
    if (parsed == PUG_PARSED && packet->null) {
        unwrap->null_run++;
        unwrap->head += packet->length;
        pug_unwrap_accept(unwrap, unwrap->index[unwrap->head - packet->length], packet);
        *got = true;
        return true;
    }
    unwrap->state = STATE_SYNCED;
    bool certain = unwrap->null_run > pug_unwrap_nulls(&unwrap->config) ||
                   (parsed == PUG_PARSED && pug_unwrap_is_support(packet));
    bool broken = follow_chain(unwrap, 0, count, NULL, &packets) == CHAIN_BROKEN;
    bool later = !unwrap->from_begin && unwrap->index[unwrap->head] >= FIRST_BYTES;
    broken &= packets < FIRST_PACKETS;
    if (!certain && !later && packets < FIRST_PACKETS + 1 && count < window && !unwrap->ended) {
        unwrap->state = STATE_START;
        return false;
    }
    unwrap->settled = certain || !(later || (broken && others_last(unwrap, count)));
    if (unwrap->settled)
        unwrap->null_run = 0;
    else
        unwrap->state = STATE_SEARCH;
    return true;
}

/** One packet, or one thing that is none. False: nothing more can be done now. */
static bool go_on(struct pug_unwrap *unwrap, struct pug_unwrapped *packet, bool *got)
{
    if (unwrap->config.bit_stream)
        return pug_unwrap_bits_step(unwrap, packet, got);
    switch (unwrap->state) {
    case STATE_START: return start(unwrap, packet, got);
    case STATE_SEARCH: return search(unwrap);
    case STATE_SYNCED: break;
    }
    return step(unwrap, packet, got);
}

bool pug_unwrap_next(struct pug_unwrap *unwrap, struct pug_unwrapped *packet)
{
    bool got = pug_unwrap_take_simple(unwrap, packet);
    while (!got && go_on(unwrap, packet, &got))
        continue;
    return got;
}
