// SPDX-License-Identifier: MIT
/**
 * @file Nibbles to the fields of a packet: what each opcode is followed by, and what it does.
 *
 * All of it is inline: the reader takes one packet at a time, and fast_path.c many at once.
 */
#ifndef PUG_PROTOCOL_STM_FIELDS_H
#define PUG_PROTOCOL_STM_FIELDS_H

#include "protocol/stm/reader.h"

enum pug_stm_opcode_kind {
    PUG_STM_NO_OPCODE,
    PUG_STM_ASYNC_RUN_ON,
    PUG_STM_MORE_OPCODE,
    PUG_STM_PACKET,
    PUG_STM_EFFECT
};

/**
 * What an opcode nibble says: the packet's fields, or that more opcode follows. Nibbles that are
 * not listed below are PUG_STM_NO_OPCODE.
 */
struct pug_stm_opcode {
    uint8_t type;
    uint8_t kind;    /**< enum pug_stm_opcode_kind; PUG_STM_EFFECT: it changes the stream's state */
    uint8_t nibbles; /**< of payload */
    uint8_t unused;  /**< bits of a word above those */
    bool marker;
    bool has_ts;   /**< a timestamp follows */
    uint64_t mask; /**< of the packet's payload field; 0: it is an id */
};

enum { MARKED = 1, TIMED = 2 };

#define OPCODE(kind_, type_, nibbles_, mask_, flags_)                                              \
    {                                                                                              \
        .type = (type_), .kind = (kind_), .nibbles = (nibbles_),                                   \
        .unused = (64 - 4 * (nibbles_)) & 63, .mask = (mask_), .marker = ((flags_)&MARKED) != 0,   \
        .has_ts = ((flags_)&TIMED) != 0                                                            \
    }
#define PACKET(type_, nibbles_, mask_, flags_)                                                     \
    OPCODE(PUG_STM_PACKET, PUG_STM_##type_, nibbles_, mask_, flags_)
#define STATE(type_, nibbles_, mask_) OPCODE(PUG_STM_EFFECT, PUG_STM_##type_, nibbles_, mask_, 0)

static const struct pug_stm_opcode stm_opcodes[3][16] = {
    {
        [0x0] = PACKET(NULL, 0, 0, 0),
        [0x1] = STATE(M8, 2, 0),
        [0x2] = STATE(MERR, 2, 0xff),
        [0x3] = STATE(C8, 2, 0),
        [0x4] = PACKET(D8, 2, 0xff, 0),
        [0x5] = PACKET(D16, 4, 0xffff, 0),
        [0x6] = PACKET(D32, 8, 0xffffffff, 0),
        [0x7] = PACKET(D64, 16, UINT64_MAX, 0),
        [0x8] = PACKET(D8, 2, 0xff, MARKED | TIMED),
        [0x9] = PACKET(D16, 4, 0xffff, MARKED | TIMED),
        [0xA] = PACKET(D32, 8, 0xffffffff, MARKED | TIMED),
        [0xB] = PACKET(D64, 16, UINT64_MAX, MARKED | TIMED),
        [0xC] = PACKET(D4, 1, 0xff, 0),
        [0xD] = PACKET(D4, 1, 0xff, MARKED | TIMED),
        [0xE] = PACKET(FLAG, 0, 0, TIMED),
        [0xF] = {.kind = PUG_STM_MORE_OPCODE},
    },
    /* after F */
    {
        [0x0] = {.kind = PUG_STM_MORE_OPCODE},
        [0x2] = STATE(GERR, 2, 0xff),
        [0x3] = STATE(C16, 4, 0),
        [0x4] = PACKET(D8, 2, 0xff, TIMED),
        [0x5] = PACKET(D16, 4, 0xffff, TIMED),
        [0x6] = PACKET(D32, 8, 0xffffffff, TIMED),
        [0x7] = PACKET(D64, 16, UINT64_MAX, TIMED),
        [0x8] = PACKET(D8, 2, 0xff, MARKED),
        [0x9] = PACKET(D16, 4, 0xffff, MARKED),
        [0xA] = PACKET(D32, 8, 0xffffffff, MARKED),
        [0xB] = PACKET(D64, 16, UINT64_MAX, MARKED),
        [0xC] = PACKET(D4, 1, 0xff, TIMED),
        [0xD] = PACKET(D4, 1, 0xff, MARKED),
        [0xE] = PACKET(FLAG, 0, 0, 0),
        [0xF] = {.kind = PUG_STM_ASYNC_RUN_ON},
    },
    /* after F 0 */
    {
        [0x0] = STATE(VERSION, 1, 0xff),
        [0x1] = PACKET(NULL, 0, 0, TIMED),
        [0x6] = PACKET(TRIG, 2, 0xff, 0),
        [0x7] = PACKET(TRIG, 2, 0xff, TIMED),
        [0x8] = PACKET(FREQ, 8, 0xffffffff, 0),
    },
};

/** Nibbles of a timestamp by its length field; 15 is none. */
static const uint8_t stm_ts_nibbles[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 0xff};

/* ---- nibbles in a row ---- */

/** Nibbles to read, from `at` to before `end`; PUG_STM_LOOK_BYTES may be looked at. */
struct pug_stm_view {
    const uint8_t *bytes;
    unsigned at, end;
};

static inline bool pug_stm_has_nibbles(const struct pug_stm_view *v, unsigned count)
{
    return v->end - v->at >= count;
}

/** The next 15 nibbles at least, the first one lowest. */
static inline uint64_t pug_stm_look(const struct pug_stm_view *v)
{
    const uint8_t *b = v->bytes + v->at / 2;
    uint64_t value = (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 |
                     (uint64_t)b[3] << 24 | (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 |
                     (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
    return value >> 4 * (v->at & 1);
}

/** The lowest `count` nibbles turned around, so that the first one is highest; not for none. */
static inline uint64_t pug_stm_turn(uint64_t nibbles, unsigned count)
{
    const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t value = __builtin_bswap64(nibbles);
    value = (value >> 4 & low) | (value & low) << 4;
    return value >> ((64 - 4 * count) & 63);
}

/** Take `count` nibbles, the first one highest; anything for none. */
static inline uint64_t pug_stm_take(struct pug_stm_view *v, unsigned count)
{
    uint64_t nibbles = pug_stm_look(v);
    if (count == 16 && (v->at & 1))
        nibbles |= (uint64_t)v->bytes[v->at / 2 + 8] << 60;
    v->at += count;
    return pug_stm_turn(nibbles, count);
}

/* ---- packets ---- */

enum pug_stm_progress {
    MORE,
    IN_ASYNC,
    DONE,
    BAD_HEADER,
    BAD_VERSION,
    BAD_ASYNC,
    BAD_TS_SIZE,
    BAD_TS_TYPE
};

static inline enum pug_stm_progress pug_stm_apply_version(struct pug_stm_reader *r,
                                                          uint64_t version)
{
    struct pug_stm_packet *packet = &r->packet;
    if (version != 3 && version != 4)
        return BAD_VERSION;
    packet->ts_type = version == 3 ? PUG_STM_TS_NATURAL : PUG_STM_TS_GREY;
    packet->master = 0;
    packet->channel = 0;
    return DONE;
}

/** Apply a packet's effect on the stream. */
static inline enum pug_stm_progress pug_stm_apply_effect(struct pug_stm_reader *r, uint64_t value)
{
    struct pug_stm_packet *packet = &r->packet;
    switch (r->packet.type) {
    case PUG_STM_M8:
        packet->master = (uint8_t)value;
        packet->channel = 0;
        break;
    case PUG_STM_C8:
        packet->channel = (uint16_t)((packet->channel & 0xff00) | (uint8_t)value);
        break;
    case PUG_STM_C16: packet->channel = (uint16_t)value; break;
    case PUG_STM_GERR: packet->master = 0; /* fall through */
    case PUG_STM_MERR: packet->channel = 0; break;
    default: return pug_stm_apply_version(r, (uint8_t)value);
    }
    return DONE;
}

static inline uint64_t pug_stm_from_grey(uint64_t grey)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        grey ^= grey >> shift;
    return grey;
}

/** F nibbles at the end of the last field; they count towards an ASYNC that follows. */
static inline unsigned pug_stm_trailing_run(const struct pug_stm_reader *r)
{
    unsigned run = 0;
    if (r->tail_length == PUG_STM_TAIL_COUNTED)
        return (unsigned)r->f_run;
    for (uint64_t value = r->tail; run < r->tail_length && (value & 0xf) == 0xf; value >>= 4)
        run++;
    return run;
}

/** A timestamp replaces as many low bits as it has. */
static inline enum pug_stm_progress pug_stm_take_ts(struct pug_stm_reader *r,
                                                    struct pug_stm_view *v)
{
    struct pug_stm_packet *packet = &r->packet;
    if (!pug_stm_has_nibbles(v, 1))
        return MORE;
    unsigned length = stm_ts_nibbles[pug_stm_take(v, 1)];
    if (length > 16) {
        r->f_run = pug_stm_trailing_run(r) + 1;
        r->tail_length = PUG_STM_TAIL_COUNTED;
        return BAD_TS_SIZE;
    }
    if (!pug_stm_has_nibbles(v, length))
        return MORE;
    uint64_t mask = length < 16 ? (UINT64_C(1) << 4 * length) - 1 : UINT64_MAX;
    uint64_t value = pug_stm_take(v, length) & mask;
    r->tail = value;
    r->tail_length = (uint8_t)length;
    if (packet->ts_type == PUG_STM_TS_UNKNOWN)
        return BAD_TS_TYPE;
    if (packet->ts_type == PUG_STM_TS_NATURAL) {
        packet->timestamp = (packet->timestamp & ~mask) | value;
    } else {
        uint64_t grey = packet->timestamp ^ packet->timestamp >> 1;
        packet->timestamp = pug_stm_from_grey((grey & ~mask) | value);
    }
    packet->ts_bits = (uint8_t)(4 * length);
    packet->has_ts = true;
    return DONE;
}

/** An opcode that is no packet's. */
static inline enum pug_stm_progress pug_stm_take_other(struct pug_stm_reader *r,
                                                       enum pug_stm_opcode_kind kind,
                                                       unsigned opcode, unsigned last)
{
    if (kind == PUG_STM_NO_OPCODE) {
        r->packet.payload = (r->packet.payload & ~UINT64_C(0xffff)) | opcode;
        r->tail = last;
        r->tail_length = 1;
        return BAD_HEADER;
    }
    if (!r->stale_type)
        r->packet.type = kind == PUG_STM_ASYNC_RUN_ON ? PUG_STM_ASYNC : PUG_STM_NO_ERR_TYPE;
    r->packet.marker = false;
    return kind == PUG_STM_ASYNC_RUN_ON ? IN_ASYNC : MORE;
}

/** A packet from its first nibble on. After MORE it is read again when there are more nibbles. */
static inline enum pug_stm_progress pug_stm_take_packet(struct pug_stm_reader *r,
                                                        struct pug_stm_view *v)
{
    struct pug_stm_packet *packet = &r->packet;
    packet->error_type = PUG_STM_NO_ERR_TYPE;
    packet->ts_bits = 0;
    packet->has_ts = false;
    uint64_t next = pug_stm_look(v);
    unsigned nibble = next & 0xf, opcode = nibble, level = 0;
    const struct pug_stm_opcode *meaning = &stm_opcodes[0][nibble];
    v->at++;
    while (meaning->kind == PUG_STM_MORE_OPCODE && pug_stm_has_nibbles(v, 1)) {
        next >>= 4;
        nibble = next & 0xf;
        opcode |= nibble << 4 * ++level;
        meaning = &stm_opcodes[level][nibble];
        v->at++;
    }
    if (meaning->kind < PUG_STM_PACKET)
        return pug_stm_take_other(r, meaning->kind, opcode, nibble);
    unsigned count = meaning->nibbles;
    packet->type = meaning->type;
    packet->marker = meaning->marker;
    if (!pug_stm_has_nibbles(v, count))
        return MORE;
    uint64_t value;
    if (count <= 8) {
        value = pug_stm_turn(next >> 4, count);
        v->at += count;
    } else {
        value = pug_stm_take(v, count);
    }
    packet->payload = (packet->payload & ~meaning->mask) | (value & meaning->mask);
    r->tail = value;
    r->tail_length = (uint8_t)count;
    if (meaning->has_ts)
        return pug_stm_take_ts(r, v);
    return meaning->kind == PUG_STM_EFFECT ? pug_stm_apply_effect(r, value) : DONE;
}

/** The byte of which the low nibble is used stands before the run's. */
static inline void pug_stm_place_half(struct pug_stm_reader *r)
{
    r->copy[PUG_STM_PACKET_BYTES - 1] = r->half;
}

/** Keep the whole view for when there is more. It is in the copy, and shorter than a packet. */
static inline void pug_stm_hold(struct pug_stm_reader *r, const struct pug_stm_view *v,
                                struct pug_span *span)
{
    uint8_t held[PUG_STM_PACKET_BYTES];
    unsigned size = v->end / 2;
    memcpy(held, v->bytes, sizeof(held));
    memcpy(r->copy + PUG_STM_PACKET_BYTES - size, held, sizeof(held));
    r->held = size;
    r->open = true;
    span->at = span->end;
}

#endif
