// SPDX-License-Identifier: MIT
/** @file Nibbles to packets, once the stream is synchronised. */
#include "protocol/stm/fields.h"

static const struct {
    enum pug_status status;
    const char *text;
} faults[] = {
    [BAD_HEADER] = {PUG_ERR_PACKET_HEADER, "STM: Unsupported or Reserved STPv2 Header"},
    [BAD_VERSION] = {PUG_ERR_PACKET_SEQUENCE, "STM VERSION packet : unrecognised version number."},
    [BAD_ASYNC] = {PUG_ERR_PACKET_SEQUENCE, "STM: Invalid ASYNC sequence"},
    [BAD_TS_SIZE] = {PUG_ERR_PACKET_SEQUENCE, "STM: Invalid timestamp size 0xF"},
    [BAD_TS_TYPE] = {PUG_ERR_PACKET_SEQUENCE, "STM: unknown timestamp encoding"},
};

/** The rest of an ASYNC, however long its run of F is. */
static enum pug_stm_progress take_async(struct pug_stm_reader *r, struct pug_span *span)
{
    while (span->at != span->end) {
        if (!r->odd)
            pug_rawbytes_add_byte(&r->raw, *span->at);
        uint8_t nibble = pug_stm_take_nibble(r, span);
        if (nibble == 0xf) {
            r->f_run++;
            if (r->stage->quirks.stm_counts_in_8_bits)
                r->f_run &= 0xff;
            continue;
        }
        bool complete = nibble == 0 && r->f_run >= PUG_STM_ASYNC_RUN;
        r->state = PUG_STM_READING;
        r->tail_length = 0;
        if (complete)
            r->packet.type = PUG_STM_ASYNC;
        return complete ? DONE : BAD_ASYNC;
    }
    return MORE;
}

/* ---- where the nibbles come from ---- */

/**
 * Where a run is short, or the packet began in an earlier one, its bytes are copied. False: there
 * are none that were not looked at.
 */
static bool view_copy(struct pug_stm_reader *r, const struct pug_span *span,
                      struct pug_stm_view *view)
{
    size_t left = (size_t)(span->end - span->at);
    size_t before = (size_t)(span->at - span->run->bytes);
    if (left == 0 && (r->held == 0 || r->open))
        return false;
    if (left > PUG_STM_LOOK_BYTES)
        left = PUG_STM_LOOK_BYTES;
    if (before == 0)
        r->copied = span->run->size <= PUG_STM_LOOK_BYTES;
    if (before == 0 || !r->copied)
        memcpy(r->copy + PUG_STM_PACKET_BYTES, span->at, left);
    if (!r->copied)
        before = 0;
    if (!r->open)
        pug_stm_place_half(r);
    *view = (struct pug_stm_view){.bytes = r->copy + PUG_STM_PACKET_BYTES + before - r->held,
                                  .at = r->odd,
                                  .end = 2 * (r->held + (unsigned)left)};
    return true;
}

/** The packet's bytes. Of the first one only the high nibble may belong to it. */
static inline const uint8_t *shown_bytes(struct pug_stm_reader *r, const uint8_t *bytes, bool odd)
{
    if (!odd)
        return bytes;
    memcpy(r->shown, bytes, PUG_STM_PACKET_BYTES + 4);
    r->shown[0] &= 0xf0;
    return r->shown;
}

static void log_fault(struct pug_stm_reader *r, enum pug_stm_progress fault)
{
    struct pug_stage *stage = r->stage;
    if (fault == BAD_HEADER)
        stage->stats.bad_headers++;
    else
        stage->stats.bad_sequences++;
    pug_stage_log(stage, stage->reader_name, PUG_SEV_ERROR, faults[fault].status, r->index,
                  faults[fault].text);
}

static void finish_bad(struct pug_stm_reader *r, enum pug_stm_progress fault)
{
    log_fault(r, fault);
    r->packet.error_type = fault == BAD_HEADER ? PUG_STM_NO_ERR_TYPE : r->packet.type;
    r->packet.type = fault == BAD_HEADER ? PUG_STM_RESERVED : PUG_STM_BAD_SEQUENCE;
    if (r->stage->quirks.bad_software_packet_fatal)
        return;
    r->state = PUG_STM_SEARCHING;
    r->f_run = pug_stm_trailing_run(r);
    r->started = r->f_run > 0;
    r->borrowed = r->f_run;
    r->sync_index = r->index;
}

static inline bool give(struct pug_stm_reader *r, enum pug_stm_progress progress,
                        const uint8_t *raw, size_t size, struct pug_packet *packet)
{
    bool bad = progress > DONE;
    if (bad)
        finish_bad(r, progress);
    packet->index = r->index;
    packet->data = &r->packet;
    packet->raw = raw;
    packet->raw_size = (uint32_t)size;
    packet->type = r->packet.type;
    packet->flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE | (bad ? PUG_PACKET_BAD : 0u) |
                    (r->packet.type == PUG_STM_ASYNC ? PUG_PACKET_SYNC : 0u);
    return true;
}

static bool read_async(struct pug_stm_reader *r, struct pug_span *span, struct pug_packet *packet)
{
    enum pug_stm_progress progress = take_async(r, span);
    r->copied = false;
    if (progress == MORE)
        return false;
    pug_stm_use_up(r, span);
    return give(r, progress, pug_rawbytes_at(&r->raw), r->raw.size, packet);
}

/** The first two nibbles of an ASYNC were read, in `size` bytes. */
static bool begin_async(struct pug_stm_reader *r, struct pug_span *span, struct pug_packet *packet,
                        const uint8_t *raw, size_t size)
{
    r->raw.size = 0;
    pug_rawbytes_add(&r->raw, raw, size);
    r->state = PUG_STM_IN_ASYNC;
    r->f_run = pug_stm_trailing_run(r) + 2;
    return read_async(r, span, packet);
}

bool pug_stm_read(void *reader, struct pug_span *span, struct pug_packet *packet)
{
    struct pug_stm_reader *r = reader;
    if (r->state == PUG_STM_IN_ASYNC)
        return read_async(r, span, packet);
    if (r->state == PUG_STM_SEARCHING) {
        bool found = pug_stm_search(r, span, packet);
        pug_stm_use_up(r, span);
        return found;
    }
    const unsigned odd = r->odd;
    struct pug_stm_view view = {.bytes = span->at, .at = odd, .end = 2 * PUG_STM_LOOK_BYTES};
    if (r->held == 0 && (size_t)(span->end - span->at) >= PUG_STM_LOOK_BYTES)
        r->copied = false;
    else if (!view_copy(r, span, &view))
        return false;
    if (!r->open)
        r->index =
            r->held ? pug_stm_half_index(span) : pug_span_index(span) + (odd & r->next_index);
    enum pug_stm_progress progress = pug_stm_take_packet(r, &view);
    if (progress == MORE) {
        pug_stm_hold(r, &view, span);
        return false;
    }
    const uint8_t *raw = shown_bytes(r, view.bytes, odd);
    unsigned size = (view.at + 1) / 2;
    span->at += view.at / 2 - r->held;
    r->odd = view.at & 1;
    r->held = 0;
    r->open = false;
    if (progress == IN_ASYNC)
        return begin_async(r, span, packet, raw, size);
    pug_stm_use_up(r, span);
    return give(r, progress, raw, size, packet);
}

bool pug_stm_read_end(void *reader, struct pug_packet *packet)
{
    struct pug_stm_reader *r = reader;
    if (r->state == PUG_STM_SEARCHING)
        return pug_stm_search_end(r, packet);
    if (r->state == PUG_STM_READING && !r->open)
        return false;
    const uint8_t *raw = r->copy + PUG_STM_PACKET_BYTES - r->held;
    size_t size = r->held;
    if (r->state == PUG_STM_IN_ASYNC) {
        raw = pug_rawbytes_at(&r->raw);
        size = r->raw.size;
    } else {
        raw = shown_bytes(r, raw, r->odd);
    }
    r->state = PUG_STM_READING;
    r->open = false;
    r->held = 0;
    r->packet.error_type = r->packet.type;
    r->packet.type = PUG_STM_INCOMPLETE_EOT;
    pug_stage_log_cut(r->stage, r->index);
    return give(r, DONE, raw, size, packet);
}

/* ---- the reader ---- */

enum pug_status pug_stm_reader_new(const void *config, struct pug_stage *stage, void **reader)
{
    (void)config;
    struct pug_stm_reader *r = calloc(1, sizeof(*r));
    if (!r)
        return PUG_ERR_MEM;
    r->stage = stage;
    pug_stm_reader_reset(r);
    *reader = r;
    return PUG_OK;
}

void pug_stm_reader_free(void *reader)
{
    struct pug_stm_reader *r = reader;
    pug_rawbytes_free(&r->raw);
    free(r);
}

void pug_stm_reader_reset(void *reader)
{
    struct pug_stm_reader *r = reader;
    struct pug_stage *stage = r->stage;
    pug_rawbytes_free(&r->raw);
    stage->takes = stage->quirks.stm_counts_in_8_bits ? 0 : PUG_TAKES_SPLICED;
    *r = (struct pug_stm_reader){
        .stage = stage,
        .stale_type = stage->quirks.stm_stale_error_type,
        .next_index = stage->quirks.stm_index_of_next_byte,
        .packet.error_type = PUG_STM_NO_ERR_TYPE,
    };
}
