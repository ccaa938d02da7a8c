// SPDX-License-Identifier: MIT
/**
 * @file Nexus messages of several trace encoders in one byte stream (N-Trace): MSEO marks the end
 * of a message, and SRC after the TCODE names its encoder. Setting `src_bits`: the width of SRC.
 * With 0 there is one source, `src_id`, and its bytes go straight to it. Setting `align`, as
 * N-Trace has it: `start` where the first byte begins a message, `search` where it does not; else
 * it does if it is the trace's first one and that is a sync message.
 *
 * A byte that breaks the message protocol (a reserved MSEO, a message that starts in its middle or
 * does not end) may be anybody's: the next run of each source has a gap before it. The stream goes
 * on after the next end of a message.
 */
#include "pugmark/advanced/packet/ntrace.h"
#include "transport/builtin.h"

#include <stdlib.h>
#include <string.h>

#define SOURCES 4096u
#define HEAD    3u /* bytes that hold TCODE and the widest SRC */

enum phase {
    PHASE_START,   /* nothing seen: the next byte may be in the middle of a message */
    PHASE_BETWEEN, /* a message starts with the next byte */
    PHASE_HEAD,    /* inside a message whose SRC is not complete */
    PHASE_BODY,    /* inside a message of `source` */
    PHASE_SKIP,    /* up to and including the next end of a message */
};

/** Where the stream stands: all that the next byte's meaning depends on. */
struct place {
    uint8_t phase;
    bool aligned;  /* the message underway is known to start at a message's start */
    uint16_t size; /* its bytes so far */
    uint8_t first; /* its first byte */
    uint16_t source;
    uint32_t bits;  /* TCODE and SRC */
    uint64_t index; /* of its first byte */
};

enum verdict {
    BYTE_HELD, /* of a message whose SRC is not complete */
    BYTE_OWNED,
    BYTE_IDLE,
    BYTE_SKIPPED,
    BYTE_BREAKS, /* they belong to no source, and the message under way is lost */
};

struct nexus {
    struct pug_transport_sink *sink;
    unsigned src_bits;
    uint16_t src_id;
    uint8_t first_phase;
    struct place place;
    uint8_t head[HEAD]; /* bytes kept from the end of the last block */
    uint8_t head_size;
    uint64_t head_index;
    /* breaks of the stream, and 1 more than there were when each source spoke last */
    uint64_t breaks;
    uint64_t heard[SOURCES];
    bool told; /* of a break since anybody spoke */
};

static uint8_t first_phase(const struct pug_settings *settings)
{
    uint64_t align = pug_settings_number(settings, "align", 0);
    const char *word = pug_settings_word(settings, "align", "");
    if (align == 1 || strcmp(word, "start") == 0)
        return PHASE_BETWEEN;
    return align == 2 || strcmp(word, "search") == 0 ? PHASE_SKIP : PHASE_START;
}

static enum pug_status nexus_create(const struct pug_settings *settings,
                                    struct pug_transport_sink *sink, void **transport)
{
    uint64_t src_bits = pug_settings_number(settings, "src_bits", 0);
    uint64_t src_id = pug_settings_number(settings, "src_id", 0);
    if (src_bits > 12 || src_id >= SOURCES)
        return pug_transport_refuse(sink, "NEXUS", "src_bits must be 0 to 12, src_id 0 to 4095");
    struct nexus *nexus = calloc(1, sizeof(*nexus));
    if (!nexus)
        return PUG_ERR_MEM;
    nexus->sink = sink;
    nexus->src_bits = (unsigned)src_bits;
    nexus->src_id = (uint16_t)src_id;
    nexus->place.phase = nexus->first_phase = first_phase(settings);
    *transport = nexus;
    return PUG_OK;
}

static void nexus_free(void *transport)
{
    free(transport);
}

static void nexus_reset(void *transport)
{
    struct nexus *nexus = transport;
    nexus->place = (struct place){.phase = nexus->first_phase};
    nexus->head_size = 0;
    nexus->breaks = 0;
    nexus->told = false;
    memset(nexus->heard, 0, sizeof(nexus->heard));
}

/* ---- bytes ---- */

/** The stream breaks; `told` is the byte that shows it. */
static enum verdict breaks(struct place *place, unsigned mseo, uint8_t told, uint64_t index)
{
    *place = (struct place){
        .phase = mseo == 3 ? PHASE_BETWEEN : PHASE_SKIP, .first = told, .index = index};
    return BYTE_BREAKS;
}

/** The first byte of what should be a message. */
static enum verdict advance_start(struct place *place, uint8_t byte, uint64_t index)
{
    bool aligned = place->phase == PHASE_BETWEEN;
    switch (byte & 3) {
    case 3: place->phase = PHASE_BETWEEN; return BYTE_IDLE;
    case 2: return breaks(place, 2, byte, index);
    case 1:
        if (aligned)
            return breaks(place, 1, byte, index);
        place->phase = PHASE_SKIP;
        return BYTE_SKIPPED;
    default:
        /* its SRC would be anything */
        if (!aligned && (index > 0 || !pug_ntrace_is_sync(byte >> 2))) {
            place->phase = PHASE_SKIP;
            return BYTE_SKIPPED;
        }
        *place = (struct place){.phase = PHASE_HEAD,
                                .aligned = aligned,
                                .size = 1,
                                .first = byte,
                                .bits = byte >> 2,
                                .index = index};
        return BYTE_HELD;
    }
}

/** Move the place over one byte. */
static enum verdict advance(struct place *place, unsigned src_bits, uint8_t byte, uint64_t index)
{
    unsigned mseo = byte & 3;
    switch (place->phase) {
    case PHASE_START:
    case PHASE_BETWEEN: return advance_start(place, byte, index);
    case PHASE_SKIP:
        if (mseo == 3)
            place->phase = PHASE_BETWEEN;
        return BYTE_SKIPPED;
    default: break;
    }
    if (mseo == 2)
        return breaks(place, mseo, byte, index);
    if (++place->size > pug_nexus_limit(place->first >> 2))
        return breaks(place, mseo, place->first, place->index);
    if (place->phase == PHASE_HEAD) {
        place->bits |= (uint32_t)(byte >> 2) << 6 * (place->size - 1);
        if (6u * place->size < 6 + src_bits)
            return mseo == 0 ? BYTE_HELD : breaks(place, mseo, byte, index);
        place->source = (uint16_t)(place->bits >> 6 & ((1u << src_bits) - 1));
        place->phase = PHASE_BODY;
    }
    if (mseo == 3)
        place->phase = PHASE_BETWEEN;
    return BYTE_OWNED;
}

/** Consecutive bytes with the same fate. */
struct stretch {
    enum verdict fate;
    size_t size;
    struct place after; /* the place of the stream after them */
};

/** Does a byte prolong a stretch? `place` is the place after it. */
static bool prolongs(const struct stretch *stretch, enum verdict verdict, const struct place *place)
{
    if (stretch->size == 0 || stretch->fate == BYTE_HELD)
        return true;
    if (stretch->fate != verdict)
        return false;
    if (verdict != BYTE_OWNED || stretch->after.phase == PHASE_BODY)
        return verdict != BYTE_BREAKS;
    return stretch->after.aligned && place->source == stretch->after.source;
}

/**
 * Bytes of the whole messages of one source that come next, with nothing special about them; SRC
 * ends in a message's second byte.
 */
static size_t whole_messages(unsigned src_bits, uint16_t source, const uint8_t *bytes, size_t size)
{
    const unsigned mask = (1u << src_bits) - 1;
    size_t at = 0;
    while (size - at >= 2 && (bytes[at] & 3) == 0 && (bytes[at + 1] >> 2 & mask) == source) {
        const size_t limit = pug_nexus_limit(bytes[at] >> 2), left = size - at;
        size_t last = 1;
        while (last < left && last < limit && (bytes[at + last] & 2) == 0)
            last++;
        if (last >= left || last >= limit || (bytes[at + last] & 3) != 3)
            break;
        at += last + 1;
    }
    return at;
}

/** What is to be done with the next bytes. A message whose SRC is held joins what it belongs to. */
static struct stretch measure(const struct nexus *nexus, uint64_t index, const uint8_t *bytes,
                              size_t size)
{
    struct place place = nexus->place;
    struct stretch stretch = {.after = place};
    for (size_t at = 0; at < size; at++) {
        if (stretch.size == at && stretch.fate == BYTE_OWNED && place.phase == PHASE_BETWEEN &&
            place.aligned && nexus->src_bits <= 6) {
            at += whole_messages(nexus->src_bits, place.source, bytes + at, size - at);
            stretch.size = at;
            if (at == size)
                break;
        }
        enum verdict verdict = advance(&place, nexus->src_bits, bytes[at], index + at);
        if (stretch.fate == BYTE_OWNED && stretch.size > 0 && verdict == BYTE_HELD)
            continue;
        if (!prolongs(&stretch, verdict, &place))
            break;
        stretch = (struct stretch){verdict, at + 1, place};
    }
    return stretch;
}

/* ---- delivery ---- */

static bool nexus_heard(const void *transport, uint16_t source)
{
    const struct nexus *nexus = transport;
    return source < SOURCES && nexus->heard[source] == nexus->breaks + 1;
}

static bool nexus_lost(const void *transport)
{
    const struct nexus *nexus = transport;
    return nexus->breaks > 0;
}

/** Give a run out, and say whether there is a gap before it. */
static enum pug_response give(struct nexus *nexus, struct pug_run *run, size_t *used)
{
    run->gap = !nexus_heard(nexus, run->source);
    enum pug_response response = nexus->sink->run(nexus->sink->context, run, used);
    if (*used > 0) {
        nexus->heard[run->source] = nexus->breaks + 1;
        nexus->told = false;
    }
    return response;
}

/** Bytes of a source: what was kept of the last block, then `size` new ones. */
static enum pug_response deliver(struct nexus *nexus, const struct place *place, uint64_t index,
                                 const uint8_t *bytes, size_t size, size_t *used)
{
    struct pug_run run = {.source = place->source,
                          .type = place->aligned ? PUG_NEXUS_MESSAGES : PUG_NEXUS_BYTES};
    enum pug_response response = PUG_RESP_CONT;
    if (nexus->head_size > 0) {
        size_t kept = 0;
        run.index = nexus->head_index;
        run.bytes = nexus->head;
        run.size = nexus->head_size;
        response = give(nexus, &run, &kept);
        memmove(nexus->head, nexus->head + kept, nexus->head_size - kept);
        nexus->head_size -= (uint8_t)kept;
        nexus->head_index += kept;
        if (response >= PUG_RESP_WAIT)
            return response;
    }
    run.index = index;
    run.bytes = bytes;
    run.size = size;
    enum pug_response answer = give(nexus, &run, used);
    return answer > response ? answer : response;
}

/** Moves to the place after the first `used` bytes of a segment. */
static void move_by(struct nexus *nexus, uint64_t index, const uint8_t *bytes, size_t used)
{
    for (size_t at = 0; at < used; at++)
        advance(&nexus->place, nexus->src_bits, bytes[at], index + at);
}

static void keep_head(struct nexus *nexus, uint64_t index, const uint8_t *bytes, size_t size)
{
    if (nexus->head_size == 0)
        nexus->head_index = index;
    memcpy(nexus->head + nexus->head_size, bytes, size);
    nexus->head_size += (uint8_t)size;
}

/** Noise of breaks alone is reported once. */
static void note_break(struct nexus *nexus, const struct stretch *stretch)
{
    static const uint8_t problems[] = {PUG_NTRACE_TOO_LONG, PUG_NTRACE_NO_START,
                                       PUG_NTRACE_RESERVED_MSEO, PUG_NTRACE_TOO_SHORT};
    if (!nexus->told)
        pug_transport_complain(nexus->sink, "NEXUS", PUG_ERR_PACKET_SEQUENCE, stretch->after.index,
                               pug_ntrace_problem_text(problems[stretch->after.first & 3]));
    nexus->told = true;
    nexus->breaks++;
    nexus->sink->stats->skipped += stretch->size + nexus->head_size;
    nexus->head_size = 0;
}

/** One stretch. *used: bytes done with, all of them unless the answer is not "go on". */
static enum pug_response take(struct nexus *nexus, uint64_t index, const uint8_t *bytes,
                              size_t size, size_t *used)
{
    struct stretch stretch = measure(nexus, index, bytes, size);
    *used = stretch.size;
    switch (stretch.fate) {
    case BYTE_IDLE: nexus->sink->stats->framing += stretch.size; break;
    case BYTE_SKIPPED: nexus->sink->stats->skipped += stretch.size; break;
    case BYTE_BREAKS: note_break(nexus, &stretch); break;
    case BYTE_HELD: keep_head(nexus, index, bytes, stretch.size); break;
    case BYTE_OWNED: {
        enum pug_response response;
        *used = 0;
        response = deliver(nexus, &stretch.after, index, bytes, stretch.size, used);
        if (*used < stretch.size) {
            move_by(nexus, index, bytes, *used);
            return response;
        }
        nexus->place = stretch.after;
        return response;
    }
    }
    nexus->place = stretch.after;
    return PUG_RESP_CONT;
}

static enum pug_response nexus_data(void *transport, uint64_t index, const uint8_t *bytes,
                                    size_t size, size_t *used)
{
    struct nexus *nexus = transport;
    enum pug_response worst = PUG_RESP_CONT;
    *used = 0;
    if (nexus->src_bits == 0) {
        struct pug_run run = {
            .index = index, .bytes = bytes, .size = size, .source = nexus->src_id};
        return nexus->sink->run(nexus->sink->context, &run, used);
    }
    while (*used < size && worst < PUG_RESP_WAIT) {
        size_t done = 0;
        enum pug_response response = take(nexus, index + *used, bytes + *used, size - *used, &done);
        *used += done;
        worst = response > worst ? response : worst;
    }
    return worst;
}

static enum pug_response nexus_flush(void *transport)
{
    (void)transport;
    return PUG_RESP_CONT;
}

static enum pug_response nexus_end(void *transport)
{
    struct nexus *nexus = transport;
    nexus->sink->stats->dropped += nexus->head_size;
    nexus->head_size = 0;
    return PUG_RESP_CONT;
}

/** The place, as far as the phase makes use of it. */
static void put_place(const struct place *place, struct pug_state *state)
{
    pug_state_number(state, place->phase);
    if (place->phase != PHASE_HEAD && place->phase != PHASE_BODY)
        return;
    pug_state_number(state, place->aligned);
    pug_state_number(state, place->size);
    pug_state_number(state, place->first);
    pug_state_number(state, place->index);
    pug_state_number(state, place->phase == PHASE_HEAD ? place->bits : place->source);
}

static void nexus_state(const void *transport, struct pug_state *state)
{
    const struct nexus *nexus = transport;
    if (nexus->src_bits == 0)
        return;
    put_place(&nexus->place, state);
    pug_state_number(state, nexus->told);
    pug_state_number(state, nexus->head_size);
    if (nexus->head_size > 0) {
        pug_state_number(state, nexus->head_index);
        pug_state_put(state, nexus->head, nexus->head_size);
    }
}

const struct pug_transport pug_transport_nexus = {
    .name = "nexus",
    .title = "Nexus messages of several RISC-V trace encoders",
    .state = nexus_state,
    .heard = nexus_heard,
    .lost = nexus_lost,
    .create = nexus_create,
    .free = nexus_free,
    .data = nexus_data,
    .flush = nexus_flush,
    .end = nexus_end,
    .reset = nexus_reset,
};
