// SPDX-License-Identifier: MIT
/** @file Nibbles to packets, once the stream is synchronised. */
#include "protocol/stm/reader.h"

/** What an opcode nibble says: the packet's fields, or that more opcode follows. Nibbles that are
    not listed below are STM_NO_OPCODE. */
struct opcode {
    uint8_t type;
    uint8_t step;    /**< what is read next */
    uint8_t nibbles; /**< … and how long it is */
    bool marker, has_ts;
};

#define PACKET(type_, nibbles_, ...)                                                               \
    {                                                                                              \
        .type = PUG_STM_##type_, .step = STM_PAYLOAD, .nibbles = (nibbles_), __VA_ARGS__           \
    }
#define MARKED .marker = true
#define TIMED  .has_ts = true

static const struct opcode first_opcodes[16] = {
    [0x0] = PACKET(NULL, 0),
    [0x1] = PACKET(M8, 2),
    [0x2] = PACKET(MERR, 2),
    [0x3] = PACKET(C8, 2),
    [0x4] = PACKET(D8, 2),
    [0x5] = PACKET(D16, 4),
    [0x6] = PACKET(D32, 8),
    [0x7] = PACKET(D64, 16),
    [0x8] = PACKET(D8, 2, MARKED, TIMED),
    [0x9] = PACKET(D16, 4, MARKED, TIMED),
    [0xA] = PACKET(D32, 8, MARKED, TIMED),
    [0xB] = PACKET(D64, 16, MARKED, TIMED),
    [0xC] = PACKET(D4, 1),
    [0xD] = PACKET(D4, 1, MARKED, TIMED),
    [0xE] = PACKET(FLAG, 0, TIMED),
    [0xF] = {.type = PUG_STM_NO_ERR_TYPE, .step = STM_OPCODE2, .nibbles = 1},
};

/** After F. */
static const struct opcode second_opcodes[16] = {
    [0x0] = {.type = PUG_STM_NO_ERR_TYPE, .step = STM_OPCODE3, .nibbles = 1},
    [0x2] = PACKET(GERR, 2),
    [0x3] = PACKET(C16, 4),
    [0x4] = PACKET(D8, 2, TIMED),
    [0x5] = PACKET(D16, 4, TIMED),
    [0x6] = PACKET(D32, 8, TIMED),
    [0x7] = PACKET(D64, 16, TIMED),
    [0x8] = PACKET(D8, 2, MARKED),
    [0x9] = PACKET(D16, 4, MARKED),
    [0xA] = PACKET(D32, 8, MARKED),
    [0xB] = PACKET(D64, 16, MARKED),
    [0xC] = PACKET(D4, 1, TIMED),
    [0xD] = PACKET(D4, 1, MARKED),
    [0xE] = PACKET(FLAG, 0),
    [0xF] = {.type = PUG_STM_ASYNC, .step = STM_ASYNC_FIELD, .nibbles = 1},
};

/** After F 0. */
static const struct opcode third_opcodes[16] = {
    [0x0] = PACKET(VERSION, 1),     [0x1] = PACKET(NULL, 0, TIMED), [0x6] = PACKET(TRIG, 2),
    [0x7] = PACKET(TRIG, 2, TIMED), [0x8] = PACKET(FREQ, 8),
};

/** Nibbles of a timestamp by its length field; 15 is none. */
static const uint8_t ts_nibbles[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 0xff};

/* ---- the nibbles of a field ---- */

/** Read on in the field; true when it is complete. */
static bool take_field(struct stm_reader *r, struct pug_span *span)
{
    while (r->left > 0) {
        if (r->has_high) {
            r->value = r->value << 4 | r->high;
            r->has_high = false;
            r->left--;
            continue;
        }
        if (span->at == span->end)
            return false;
        uint8_t byte = *span->at;
        if (r->left == 1) {
            r->value = r->value << 4 | (byte & 0xf);
            r->high = byte >> 4;
            r->high_index = pug_span_index(span);
            r->has_high = true;
            r->left = 0;
        } else {
            r->value = r->value << 8 | (uint8_t)(byte << 4 | byte >> 4);
            r->left -= 2;
        }
        span->at++;
    }
    return true;
}

static void expect(struct stm_reader *r, enum stm_step step, unsigned nibbles)
{
    r->step = (uint8_t)step;
    r->left = r->length = (uint8_t)nibbles;
    r->value = 0;
}

/** F nibbles at the end of the field just read; they count towards an ASYNC that follows. */
static unsigned trailing_run(const struct stm_reader *r)
{
    unsigned run = 0;
    for (uint64_t value = r->value; run < r->length && (value & 0xf) == 0xf; value >>= 4)
        run++;
    return run;
}

/* ---- packets ---- */

enum progress { MORE, DONE, BAD_HEADER, BAD_VERSION, BAD_ASYNC, BAD_TS_SIZE, BAD_TS_TYPE };

static const struct {
    enum pug_status status;
    const char *text;
} faults[] = {
    [BAD_HEADER] = {PUG_ERR_INVALID_PCKT_HDR, "STM: Unsupported or Reserved STPv2 Header"},
    [BAD_VERSION] = {PUG_ERR_BAD_PACKET_SEQ, "STM VERSION packet : unrecognised version number."},
    [BAD_ASYNC] = {PUG_ERR_BAD_PACKET_SEQ, "STM: Invalid ASYNC sequence"},
    [BAD_TS_SIZE] = {PUG_ERR_BAD_PACKET_SEQ, "STM: Invalid timestamp size 0xF"},
    [BAD_TS_TYPE] = {PUG_ERR_BAD_PACKET_SEQ, "STM: unknown timestamp encoding"},
};

static void begin_packet(struct stm_reader *r, const struct pug_span *span)
{
    r->index = stm_nibble_index(r, span);
    r->raw.size = 0;
    if (r->has_high)
        pug_rawbytes_add_byte(&r->raw, (uint8_t)(r->high << 4));
    r->open = true;
    if (!r->stage->quirks.stm_stale_error_type)
        r->type = PUG_STM_NO_ERR_TYPE;
    r->packet.error_type = PUG_STM_NO_ERR_TYPE;
    r->packet.ts_bits = 0;
    r->packet.has_ts = r->packet.marker = false;
    expect(r, STM_OPCODE1, 1);
}

/** The opcode nibble is known; `opcode` is the packet's opcode so far, first nibble lowest. */
static enum progress apply_opcode(struct stm_reader *r, const struct opcode *meaning,
                                  unsigned opcode)
{
    if (meaning->step == STM_NO_OPCODE) {
        r->packet.payload.d16 = (uint16_t)opcode;
        return BAD_HEADER;
    }
    if (meaning->step == STM_PAYLOAD || !r->stage->quirks.stm_stale_error_type)
        r->type = meaning->type;
    if (meaning->step == STM_ASYNC_FIELD)
        r->f_run += 2;
    r->has_ts = meaning->has_ts;
    r->packet.marker = meaning->marker;
    expect(r, meaning->step, meaning->nibbles);
    return MORE;
}

static enum progress apply_version(struct stm_reader *r)
{
    struct pug_stm_packet *packet = &r->packet;
    if (r->value != 3 && r->value != 4)
        return BAD_VERSION;
    packet->ts_type = r->value == 3 ? PUG_STM_TS_NATURAL : PUG_STM_TS_GREY;
    packet->master = 0;
    packet->channel = 0;
    return DONE;
}

/** The payload is complete: what it does to packet and stream. */
static enum progress apply_payload(struct stm_reader *r)
{
    struct pug_stm_packet *packet = &r->packet;
    switch (r->type) {
    case PUG_STM_M8:
        packet->master = (uint8_t)r->value;
        packet->channel = 0;
        break;
    case PUG_STM_C8:
        packet->channel = (uint16_t)((packet->channel & 0xff00) | (uint8_t)r->value);
        break;
    case PUG_STM_C16: packet->channel = (uint16_t)r->value; break;
    case PUG_STM_GERR: packet->master = 0;  /* fall through */
    case PUG_STM_MERR: packet->channel = 0; /* fall through */
    case PUG_STM_D4:
    case PUG_STM_D8:
    case PUG_STM_TRIG: packet->payload.d8 = (uint8_t)r->value; break;
    case PUG_STM_D16: packet->payload.d16 = (uint16_t)r->value; break;
    case PUG_STM_D32:
    case PUG_STM_FREQ: packet->payload.d32 = (uint32_t)r->value; break;
    case PUG_STM_D64: packet->payload.d64 = r->value; break;
    case PUG_STM_VERSION: packet->payload.d8 = (uint8_t)r->value; return apply_version(r);
    default: break;
    }
    if (!r->has_ts)
        return DONE;
    r->f_run = trailing_run(r);
    expect(r, STM_TS_LENGTH, 1);
    return MORE;
}

static uint64_t from_grey(uint64_t grey)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        grey ^= grey >> shift;
    return grey;
}

/** The complete timestamp replaces as many low bits as it has. */
static enum progress apply_ts(struct stm_reader *r)
{
    struct pug_stm_packet *packet = &r->packet;
    unsigned bits = r->length * 4u;
    uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    if (packet->ts_type == PUG_STM_TS_UNKNOWN)
        return BAD_TS_TYPE;
    if (packet->ts_type == PUG_STM_TS_NATURAL) {
        packet->timestamp = (packet->timestamp & ~mask) | r->value;
    } else {
        uint64_t grey = packet->timestamp ^ packet->timestamp >> 1;
        packet->timestamp = from_grey((grey & ~mask) | r->value);
    }
    packet->ts_bits = (uint8_t)bits;
    packet->has_ts = true;
    return DONE;
}

static enum progress apply_ts_length(struct stm_reader *r)
{
    unsigned nibbles = ts_nibbles[r->value];
    if (nibbles > 16)
        return BAD_TS_SIZE;
    expect(r, STM_TS, nibbles);
    return MORE;
}

static enum progress apply_async(struct stm_reader *r)
{
    if (r->value == 0xf) {
        r->f_run++;
        if (r->stage->quirks.stm_counts_in_8_bits)
            r->f_run &= 0xff;
        expect(r, STM_ASYNC_FIELD, 1);
        return MORE;
    }
    if (r->value != 0 || r->f_run < STM_ASYNC_RUN)
        return BAD_ASYNC;
    r->type = PUG_STM_ASYNC;
    return DONE;
}

/** A field is complete. MORE: another one is wanted. */
static enum progress apply_field(struct stm_reader *r)
{
    unsigned nibble = (unsigned)r->value & 0xf;
    switch (r->step) {
    case STM_OPCODE1: return apply_opcode(r, &first_opcodes[nibble], nibble);
    case STM_OPCODE2: return apply_opcode(r, &second_opcodes[nibble], 0xf | nibble << 4);
    case STM_OPCODE3: return apply_opcode(r, &third_opcodes[nibble], 0xf | nibble << 8);
    case STM_PAYLOAD: return apply_payload(r);
    case STM_TS_LENGTH: return apply_ts_length(r);
    case STM_TS: return apply_ts(r);
    default: return apply_async(r);
    }
}

static enum progress read_fields(struct stm_reader *r, struct pug_span *span)
{
    enum progress progress = MORE;
    while (progress == MORE && take_field(r, span))
        progress = apply_field(r);
    return progress;
}

static void log_fault(struct stm_reader *r, enum progress fault)
{
    struct pug_stage *stage = r->stage;
    if (fault == BAD_HEADER)
        stage->stats.bad_headers++;
    else
        stage->stats.bad_sequences++;
    pug_stage_log(stage, stage->reader_name, PUG_SEV_ERROR, faults[fault].status, r->index,
                  faults[fault].text);
}

/** The packet is complete, or it is known to be bad. */
static void finish_packet(struct stm_reader *r, enum progress progress)
{
    bool bad = progress != DONE;
    r->f_run = trailing_run(r) + (progress == BAD_TS_SIZE ? r->f_run : 0);
    r->open = false;
    if (bad) {
        log_fault(r, progress);
        r->packet.error_type = progress == BAD_HEADER ? PUG_STM_NO_ERR_TYPE : r->type;
        r->type = progress == BAD_HEADER ? PUG_STM_RESERVED : PUG_STM_BAD_SEQUENCE;
        if (!r->stage->quirks.bad_software_packet_fatal) {
            r->synced = false;
            r->started = r->f_run > 0;
            r->borrowed = r->f_run;
            r->sync_index = r->index;
        }
    }
    r->packet.type = r->type;
}

static void describe(const struct stm_reader *r, const uint8_t *raw, size_t size, bool bad,
                     struct pug_packet *packet)
{
    packet->index = r->index;
    packet->data = &r->packet;
    packet->raw = raw;
    packet->raw_size = (uint32_t)size;
    packet->type = r->packet.type;
    packet->flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE | (bad ? PUG_PACKET_BAD : 0u) |
                    (r->packet.type == PUG_STM_ASYNC ? PUG_PACKET_SYNC : 0u);
}

bool pug_stm_read(void *reader, struct pug_span *span, struct pug_packet *packet)
{
    struct stm_reader *r = reader;
    if (!r->synced)
        return stm_search(r, span, packet);
    if (!r->open) {
        if (!stm_has_nibble(r, span))
            return false;
        begin_packet(r, span);
    }
    const uint8_t *from = span->at;
    enum progress progress = read_fields(r, span);
    const uint8_t *raw = from;
    size_t size = (size_t)(span->at - from);
    if (r->raw.size > 0 || progress == MORE) {
        pug_rawbytes_add(&r->raw, from, size);
        raw = pug_rawbytes_at(&r->raw);
        size = r->raw.size;
    }
    if (progress == MORE)
        return false;
    finish_packet(r, progress);
    describe(r, raw, size, progress != DONE, packet);
    return true;
}

bool pug_stm_read_end(void *reader, struct pug_packet *packet)
{
    struct stm_reader *r = reader;
    /* The reference drops a nibble that is left when the consumer made it wait at the last byte. */
    if (r->has_high && !r->stage->quirks.stm_index_of_next_byte) {
        struct pug_run run = {.index = r->high_index + 1, .bytes = &r->high};
        struct pug_span nothing = {.at = run.bytes, .end = run.bytes, .run = &run};
        if (pug_stm_read(r, &nothing, packet))
            return true;
    }
    if (!r->synced)
        return stm_search_end(r, packet);
    if (!r->open)
        return false;
    r->open = false;
    r->packet.error_type = r->type;
    r->packet.type = r->type = PUG_STM_INCOMPLETE_EOT;
    describe(r, pug_rawbytes_at(&r->raw), r->raw.size, false, packet);
    return true;
}

/* ---- the reader ---- */

enum pug_status pug_stm_reader_new(const void *config, struct pug_stage *stage, void **reader)
{
    (void)config;
    struct stm_reader *r = calloc(1, sizeof(*r));
    if (!r)
        return PUG_ERR_MEM;
    r->stage = stage;
    r->packet.error_type = PUG_STM_NO_ERR_TYPE;
    *reader = r;
    return PUG_OK;
}

void pug_stm_reader_free(void *reader)
{
    struct stm_reader *r = reader;
    pug_rawbytes_free(&r->raw);
    free(r);
}

void pug_stm_reader_reset(void *reader)
{
    struct stm_reader *r = reader;
    struct pug_stage *stage = r->stage;
    pug_rawbytes_free(&r->raw);
    *r = (struct stm_reader){.stage = stage, .packet.error_type = PUG_STM_NO_ERR_TYPE};
}
