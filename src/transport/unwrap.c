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
 */
#include "transport/unwrap_stream.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN         32u /* packets that a chain has to last */
#define FIRST_PACKETS 8u
#define BAD_LIMIT     4u /* so many bad packets of the last 16: not synchronised */

static_assert(PUG_UNWRAP_CAPACITY > PUG_UNWRAP_LONGEST * (CHAIN + 1), "the search fits");

#define NO_TIMESTAMPS "header says that a timestamp follows, but timestamps are configured off"

static void begin(struct pug_unwrap *unwrap)
{
    static const enum state states[] = {STATE_START, STATE_SYNCED, STATE_SEARCH};
    unwrap->state = unwrap->config.bit_stream ? STATE_BITS : states[unwrap->config.start];
    if (unwrap->config.only_data && unwrap->state == STATE_START)
        unwrap->state = STATE_SYNCED; /* data trace has no packet to begin with */
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
    unwrap->simple = config->wrapping == PUG_WRAP_ENCAPSULATION && config->src_bits % 8 == 0 &&
                     config->type_bits == 0 && config->type_count == 0 && config->block == 0;
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
    unwrap->ended = unwrap->numbered = false;
    unwrap->head = unwrap->tail = 0;
    unwrap->bad = 0;
    unwrap->probation = 0;
    unwrap->null_run = 0;
    unwrap->skipped = unwrap->skipping = unwrap->zeros = 0;
    memset(unwrap->seen, 0xff, unwrap->seen_size);
    begin(unwrap);
}

uint64_t pug_unwrap_skipped(const struct pug_unwrap *unwrap)
{
    return unwrap->skipped;
}

static bool is_null(const struct pug_unwrap *unwrap, uint8_t byte)
{
    return (unwrap->config.wrapping == PUG_WRAP_ESP32 ? byte : byte & 0x1f) == 0;
}

static void tell(struct pug_unwrap *unwrap, enum pug_status code, uint64_t index, const char *text)
{
    if (unwrap->report)
        unwrap->report(unwrap->context, code, index, text);
}

/* ---- bytes in ---- */

static void put(struct pug_unwrap *unwrap, uint8_t byte, uint64_t index)
{
    unwrap->bytes[unwrap->tail] = byte;
    unwrap->index[unwrap->tail++] = index;
}

/**
 * After at least 8 * nulls + 7 zero bits the first one is bit 7 of a null.alignment, and the next
 * bit is bit 0 of a header.
 */
static void align(struct pug_unwrap *unwrap, uint8_t byte, uint64_t index)
{
    uint64_t wanted = UINT64_C(8) * pug_unwrap_nulls(&unwrap->config) + 7;
    for (unsigned bit = 0; bit < 8; bit++) {
        bool one = byte >> bit & 1;
        if (one && unwrap->zeros >= wanted) {
            unwrap->shift = (bit + 1) % 8;
            unwrap->carry = (uint8_t)(byte >> (bit + 1));
            unwrap->carry_index = index;
            unwrap->state = STATE_SYNCED;
            unwrap->zeros = 0;
            return;
        }
        unwrap->zeros = one ? 0 : unwrap->zeros + 1;
    }
    unwrap->skipped++;
}

static void put_bits(struct pug_unwrap *unwrap, uint8_t byte, uint64_t index)
{
    if (unwrap->state == STATE_BITS) {
        align(unwrap, byte, index);
    } else if (unwrap->shift == 0) {
        put(unwrap, byte, index);
    } else {
        put(unwrap, (uint8_t)(unwrap->carry | byte << (8 - unwrap->shift)), unwrap->carry_index);
        unwrap->carry = (uint8_t)(byte >> unwrap->shift);
        unwrap->carry_index = index;
    }
}

size_t pug_unwrap_fill(struct pug_unwrap *unwrap, uint64_t index, const uint8_t *bytes, size_t size)
{
    if (size > PUG_UNWRAP_CAPACITY - unwrap->tail && unwrap->head > 0) {
        uint32_t count = held(unwrap);
        memmove(unwrap->bytes, unwrap->bytes + unwrap->head, count);
        memmove(unwrap->index, unwrap->index + unwrap->head, count * sizeof(unwrap->index[0]));
        unwrap->head = 0;
        unwrap->tail = count;
    }
    if (size > PUG_UNWRAP_CAPACITY - unwrap->tail)
        size = PUG_UNWRAP_CAPACITY - unwrap->tail;
    if (unwrap->config.bit_stream) {
        for (size_t i = 0; i < size; i++)
            put_bits(unwrap, bytes[i], index + i);
        return size;
    }
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

size_t pug_unwrap_wanted(const struct pug_unwrap *unwrap)
{
    struct pug_unwrapped packet;
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    if (unwrap->state == STATE_SEARCH || held(unwrap) == 0 ||
        pug_unwrap_parse(&unwrap->config, unwrap->bytes + unwrap->head, held(unwrap), scratch,
                         &packet) != PUG_PARSED_SHORT)
        return 1;
    return packet.length - held(unwrap);
}

/* ---- synchronisation ---- */

/** Every source may have lost something. */
static void lose(struct pug_unwrap *unwrap)
{
    memset(unwrap->seen, 0, unwrap->seen_size);
    unwrap->numbered = false;
    unwrap->bad = 0;
}

static void skip(struct pug_unwrap *unwrap, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool null = is_null(unwrap, unwrap->bytes[unwrap->head + i]);
        unwrap->null_run = null ? unwrap->null_run + 1 : 0;
    }
    unwrap->head += count;
    unwrap->skipped += count;
    unwrap->skipping += count;
}

static void synchronise(struct pug_unwrap *unwrap, uint32_t at)
{
    skip(unwrap, at);
    unwrap->state = STATE_SYNCED;
    lose(unwrap);
    if (unwrap->skipping > 0) {
        char text[80];
        snprintf(text, sizeof(text), "%" PRIu64 " bytes skipped to the next packet",
                 unwrap->skipping);
        tell(unwrap, PUG_ERR_BAD_PACKET_SEQ, unwrap->index[unwrap->head], text);
    }
    unwrap->skipping = 0;
    unwrap->null_run = 0;
}

/** Offset of a header that nulls or a block's start give away in the first `count` bytes, or -1. */
static int64_t marked_header(const struct pug_unwrap *unwrap, uint32_t count)
{
    unsigned nulls = pug_unwrap_nulls(&unwrap->config), run = unwrap->null_run;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t index = unwrap->index[unwrap->head + i];
        if (unwrap->config.block > 0 && index % unwrap->config.block == 0)
            return i;
        if (is_null(unwrap, unwrap->bytes[unwrap->head + i]))
            run++;
        else if (run > nulls)
            return i;
        else
            run = 0;
    }
    return -1;
}

/** How a chain of would-be packets went: the end of the data may cut its last one. */
enum chain { CHAIN_BROKEN, CHAIN_CUT, CHAIN_LASTS };

/** Follow the chain from `from` in the first `count` bytes; count it at each of its headers. */
static enum chain follow_chain(const struct pug_unwrap *unwrap, uint32_t from, uint32_t count,
                               uint8_t *visits)
{
    const uint8_t *bytes = unwrap->bytes + unwrap->head;
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    struct pug_unwrapped packet, previous;
    unsigned packets = 0;
    while (packets < CHAIN && from < count) {
        enum pug_unwrap_parsed parsed =
            pug_unwrap_parse(&unwrap->config, bytes + from, count - from, scratch, &packet);
        if (parsed == PUG_PARSED_BAD)
            return CHAIN_BROKEN;
        if (visits)
            visits[from]++;
        if (parsed == PUG_PARSED_SHORT)
            return unwrap->ended && count == held(unwrap) ? CHAIN_CUT : CHAIN_LASTS;
        if (!pug_unwrap_plausible(&unwrap->config, packets > 0 ? &previous : NULL, &packet))
            return CHAIN_BROKEN;
        if (packet.size > 0) {
            previous = packet;
            packets++;
        }
        from += packet.length;
    }
    return CHAIN_LASTS;
}

/** Offset of the first header that all lasting chains share, or -1. */
static int64_t common_header(const struct pug_unwrap *unwrap, uint32_t count)
{
    uint8_t visits[PUG_UNWRAP_CAPACITY] = {0};
    uint32_t starts = pug_unwrap_longest(&unwrap->config);
    enum chain chains[PUG_UNWRAP_LONGEST], best = CHAIN_CUT;
    unsigned lasting = 0;
    if (starts > count)
        starts = count;
    for (uint32_t i = 0; i < starts; i++) {
        chains[i] = follow_chain(unwrap, i, count, NULL);
        if (chains[i] > best)
            best = chains[i];
    }
    for (uint32_t i = 0; i < starts; i++) {
        if (chains[i] != best)
            continue;
        lasting++;
        follow_chain(unwrap, i, count, visits);
    }
    for (uint32_t i = 0; i < count && lasting > 0; i++)
        if (visits[i] == lasting)
            return i;
    return -1;
}

/** At the end of the data: say that no header was found. */
static void give_up(struct pug_unwrap *unwrap)
{
    char text[80];
    if (!unwrap->ended || unwrap->skipping == 0)
        return;
    snprintf(text, sizeof(text), "%" PRIu64 " bytes skipped, there is no packet that fits",
             unwrap->skipping);
    tell(unwrap, PUG_ERR_BAD_PACKET_SEQ, PUG_NO_INDEX, text);
    unwrap->skipping = 0;
}

/**
 * Look for a header. What it finds depends on the bytes alone, not on how they arrive: it looks at
 * a fixed number of them at a time.
 */
static bool search(struct pug_unwrap *unwrap)
{
    uint32_t longest = pug_unwrap_longest(&unwrap->config), window = longest * (CHAIN + 1);
    for (;;) {
        uint32_t count = held(unwrap) < window ? held(unwrap) : window;
        int64_t at = marked_header(unwrap, count);
        if (at < 0) {
            if (count == 0)
                give_up(unwrap);
            if (count == 0 || (count < window && !unwrap->ended))
                return false;
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

/** Note how a packet was; too many bad ones, and what was taken for headers are none. */
static void judge(struct pug_unwrap *unwrap, bool bad)
{
    unwrap->bad = (uint16_t)(unwrap->bad << 1 | bad);
    if (unwrap->bad == 0 || __builtin_popcount(unwrap->bad) < (int)BAD_LIMIT)
        return;
    lose(unwrap);
    unwrap->state = STATE_SEARCH;
    if (unwrap->config.bit_stream) {
        unwrap->state = STATE_BITS;
        unwrap->skipped += held(unwrap);
        unwrap->head = unwrap->tail;
    }
}

static void drop(struct pug_unwrap *unwrap, uint32_t count, enum pug_status code, const char *text)
{
    tell(unwrap, code, unwrap->index[unwrap->head], text);
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

/** What was taken for the stream's first packet was none. */
static bool fails_probation(struct pug_unwrap *unwrap, const struct pug_unwrapped *packet)
{
    if (unwrap->probation == 0 || packet->size == 0)
        return false;
    unwrap->probation--;
    if (pug_unwrap_plausible(&unwrap->config, NULL, packet))
        return false;
    unwrap->probation = 0;
    unwrap->state = STATE_SEARCH;
    return true;
}

static void take(struct pug_unwrap *unwrap, struct pug_unwrapped *packet)
{
    packet->index = unwrap->index[unwrap->head];
    unwrap->head += packet->length;
    if (packet->size == 0)
        return;
    if (packet->extend && packet->timestamp_bits == 0)
        tell(unwrap, PUG_ERR_INVALID_PCKT_HDR, packet->index, NO_TIMESTAMPS);
    /* SMI carries what is no trace at all, too */
    bool unknown = packet->kind == PUG_PAYLOAD_UNKNOWN && unwrap->config.wrapping != PUG_WRAP_SMI;
    if (unknown)
        tell(unwrap, PUG_ERR_INVALID_PCKT_HDR, packet->index, "unknown packet type");
    packet->gap = pug_unwrap_first_since_gap(unwrap, packet->source);
    if (number_jumped(unwrap, packet->type)) {
        tell(unwrap, PUG_ERR_TRACE_LOST, packet->index, "packet number jumps: packets are missing");
        packet->gap = true;
    }
    judge(unwrap, unknown);
}

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
        if (fails_probation(unwrap, packet))
            return true;
        take(unwrap, packet);
        *got = true;
        return true;
    case PUG_PARSED_BAD:
        drop(unwrap, packet->length, PUG_ERR_INVALID_PCKT_HDR, "impossible packet header");
        judge(unwrap, true);
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

/** Do the first packets go all the same way? A sign that they are packets. */
static bool one_flow(const struct pug_unwrap *unwrap, uint32_t count)
{
    const uint8_t *bytes = unwrap->bytes + unwrap->head;
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    struct pug_unwrapped packet;
    unsigned packets = 0, flow = bytes[0] >> 5 & 3;
    for (uint32_t at = 0; at < count && packets < FIRST_PACKETS; at += packet.length) {
        if (pug_unwrap_parse(&unwrap->config, bytes + at, count - at, scratch, &packet) !=
            PUG_PARSED)
            break;
        packets += packet.size > 0;
        if (packet.size > 0 && packet.flow != flow &&
            unwrap->config.wrapping == PUG_WRAP_ENCAPSULATION)
            return false;
    }
    return true;
}

/**
 * The first packet of a stream that may begin with a header; nulls may come before it. What is no
 * support packet has to show that others follow it.
 */
static bool start(struct pug_unwrap *unwrap, struct pug_unwrapped *packet, bool *got)
{
    if (held(unwrap) == 0)
        return false;
    enum pug_unwrap_parsed parsed = pug_unwrap_parse(&unwrap->config, unwrap->bytes + unwrap->head,
                                                     held(unwrap), unwrap->scratch, packet);
    if (parsed == PUG_PARSED_SHORT && !unwrap->ended)
        return false;
    if (parsed == PUG_PARSED && packet->size == 0) {
        unwrap->null_run++;
        take(unwrap, packet);
        *got = true;
        return true;
    }
    enum pug_unwrap_beginning beginning = PUG_BEGINNING_NONE;
    if (parsed == PUG_PARSED && pug_unwrap_plausible(&unwrap->config, NULL, packet))
        beginning = pug_unwrap_beginning(&unwrap->config, packet);
    if (beginning == PUG_BEGINNING_LIKELY) {
        uint32_t window = pug_unwrap_longest(&unwrap->config) * CHAIN;
        if (held(unwrap) < window && !unwrap->ended)
            return false;
        uint32_t count = held(unwrap) < window ? held(unwrap) : window;
        if (follow_chain(unwrap, 0, count, NULL) == CHAIN_BROKEN || !one_flow(unwrap, count))
            beginning = PUG_BEGINNING_NONE;
    }
    if (parsed == PUG_PARSED && packet->extend && packet->timestamp_bits == 0)
        tell(unwrap, PUG_ERR_INVALID_PCKT_HDR, unwrap->index[unwrap->head], NO_TIMESTAMPS);
    unwrap->state = beginning == PUG_BEGINNING_NONE ? STATE_SEARCH : STATE_SYNCED;
    if (unwrap->state == STATE_SYNCED) {
        unwrap->null_run = 0;
        unwrap->probation = CHAIN;
    }
    return true;
}

bool pug_unwrap_next(struct pug_unwrap *unwrap, struct pug_unwrapped *packet)
{
    bool going = true, got = pug_unwrap_take_simple(unwrap, packet);
    while (going && !got) {
        switch (unwrap->state) {
        case STATE_BITS: going = false; break;
        case STATE_START: going = start(unwrap, packet, &got); break;
        case STATE_SEARCH: going = search(unwrap); break;
        case STATE_SYNCED: going = step(unwrap, packet, &got); break;
        }
    }
    return got;
}
