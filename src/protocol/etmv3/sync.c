// SPDX-License-Identifier: MIT
/** @file ETMv3: finding the first A-sync, and A-syncs in a synchronised stream. */
#include "base/noise.h"
#include "protocol/etmv3/decoder.h"
#include "protocol/etmv3/reader.h"

/* Unsynchronised bytes come in pieces of at most these sizes. */
#define PIECE_BYTES 16u
#define ZERO_RUN    13u
#define ZERO_PIECE  8u

static const uint8_t a_sync_bytes[] = {0, 0, 0, 0, 0, 0x80};
static const uint8_t zero_bytes[ZERO_RUN] = {0};

const uint8_t *pug_etmv3_a_sync_bytes(void)
{
    return a_sync_bytes;
}

/** The first `count` of the held zeros are no A-sync. */
static bool split_zeros(struct pug_etmv3_reader *reader, size_t count, struct pug_packet *packet)
{
    if (reader->split || !reader->stage->quirks.etmv3_first_zeros_reserved)
        reader->packet.type = PUG_ETMV3_NOTSYNC;
    reader->split = true;
    pug_etmv3_give(reader, zero_bytes, count, packet);
    reader->index += count;
    pug_rawbytes_drop(&reader->raw, count);
    reader->stage->stats.unsynced += count;
    return true;
}

static bool give_unsynced(struct pug_etmv3_reader *reader, struct pug_packet *packet)
{
    reader->packet.type = PUG_ETMV3_NOTSYNC;
    reader->given = true;
    reader->stage->stats.unsynced += reader->raw.size;
    return pug_etmv3_give(reader, pug_rawbytes_at(&reader->raw), reader->raw.size, packet);
}

static bool synchronised(struct pug_etmv3_reader *reader, struct pug_packet *packet)
{
    reader->packet.type = PUG_ETMV3_A_SYNC;
    reader->state = PUG_ETMV3_AT_HEADER;
    reader->stage->takes = PUG_TAKES_SPLICED;
    reader->zeros = false;
    reader->raw.size = 0;
    return pug_etmv3_give(reader, a_sync_bytes, sizeof(a_sync_bytes), packet);
}

/** Bytes that cannot begin an A-sync, as many as go into a piece. */
static void take_others(struct pug_rawbytes *raw, struct pug_span *span)
{
    size_t most = PIECE_BYTES - raw->size, count = 0;
    if (most > (size_t)(span->end - span->at))
        most = (size_t)(span->end - span->at);
    while (count < most && span->at[count] != 0)
        count++;
    pug_rawbytes_add(raw, span->at, count);
    span->at += count;
}

bool pug_etmv3_find_sync(struct pug_etmv3_reader *reader, struct pug_span *span,
                         struct pug_packet *packet)
{
    struct pug_rawbytes *raw = &reader->raw;
    if (reader->given)
        raw->size = 0;
    reader->given = false;
    if (span->at == span->end)
        return false;
    bool by_block = reader->stage->quirks.etmv3_unsynced_by_block;
    if (!reader->zeros && (raw->size == 0 || by_block))
        reader->index = pug_span_index(span);
    while (span->at < span->end) {
        uint8_t byte = *span->at;
        if (reader->zeros && byte == 0x80 && raw->size >= PUG_ETMV3_A_SYNC_ZEROS) {
            if (raw->size > PUG_ETMV3_A_SYNC_ZEROS)
                return split_zeros(reader, raw->size - PUG_ETMV3_A_SYNC_ZEROS, packet);
            span->at++;
            return synchronised(reader, packet);
        }
        if (!reader->zeros && byte == 0 && raw->size > 0)
            return give_unsynced(reader, packet);
        if (byte != 0 && !reader->zeros) {
            take_others(raw, span);
            if ((by_block && span->at == span->end) || raw->size >= PIECE_BYTES)
                return give_unsynced(reader, packet);
            continue;
        }
        pug_rawbytes_add_byte(raw, byte);
        span->at++;
        if (reader->zeros && byte == 0) {
            if (raw->size >= ZERO_RUN)
                return split_zeros(reader, ZERO_PIECE, packet);
        } else {
            reader->zeros = byte == 0;
        }
    }
    return false;
}

/** Pass over a possible A-sync with as many zeros. The state does not change. */
static struct pug_noise_passed pass_zeros(struct pug_etmv3_reader *reader,
                                          const struct pug_span *span)
{
    if (reader->raw.size != ZERO_RUN - ZERO_PIECE || !reader->split)
        return (struct pug_noise_passed){0};
    const size_t passed = pug_noise_run(span->at, span->end, 0) / ZERO_PIECE * ZERO_PIECE;
    reader->index += passed;
    return (struct pug_noise_passed){passed, -1};
}

static struct pug_noise_passed pass_others(struct pug_etmv3_reader *reader,
                                           const struct pug_span *span)
{
    static const struct pug_noise noise = {
        .piece = PIECE_BYTES, .zeros = PUG_ETMV3_A_SYNC_ZEROS, .zeros_cut = true};
    const size_t held = reader->given ? 0 : reader->raw.size;
    const struct pug_noise_passed passed =
        pug_noise_pass(&noise, span->at, (size_t)(span->end - span->at), held);
    if (passed.size == 0)
        return passed;
    reader->stage->stats.unsynced += held;
    if (passed.last >= 0)
        reader->index = pug_run_index(span->run, span->at + passed.last);
    reader->raw.size = 0;
    return passed;
}

void pug_etmv3_pass_over_noise(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                               struct pug_span *span)
{
    if (reader->state != PUG_ETMV3_UNSYNCED || reader->stage->quirks.etmv3_unsynced_by_block ||
        (decoder && decoder->state != PUG_ETMV3_WAIT_ASYNC))
        return;
    const struct pug_noise_passed passed =
        reader->zeros ? pass_zeros(reader, span) : pass_others(reader, span);
    if (passed.size == 0)
        return;
    reader->packet.type = PUG_ETMV3_NOTSYNC;
    reader->stage->stats.unsynced += passed.size;
    span->at += passed.size;
    if (decoder)
        decoder->index = reader->zeros ? reader->index - ZERO_PIECE : reader->index;
}

static bool bad_a_sync(struct pug_etmv3_reader *reader, size_t zeros, const char *text,
                       struct pug_packet *packet)
{
    pug_etmv3_error(reader, PUG_ERR_PACKET_SEQUENCE, text);
    reader->packet.type = PUG_ETMV3_BAD_SEQUENCE;
    reader->packet.header_type = PUG_ETMV3_A_SYNC;
    return pug_etmv3_give(reader, a_sync_bytes, zeros, packet);
}

bool pug_etmv3_read_a_sync(struct pug_etmv3_reader *reader, struct pug_span *span,
                           struct pug_packet *packet)
{
    while (span->at < span->end) {
        uint8_t byte = *span->at;
        bool full = reader->a_sync == PUG_ETMV3_A_SYNC_ZEROS;
        if (byte == 0 && !full) {
            reader->a_sync++;
            span->at++;
        } else if (byte == 0) { /* the first zero is one too many; the others may still do */
            span->at++;
            bool given = bad_a_sync(reader, 1, "A-Sync ?: Extra 0x00 in sequence", packet);
            reader->index++;
            return given;
        } else if (byte == 0x80 && full) {
            span->at++;
            return synchronised(reader, packet);
        } else { /* the byte is the next header */
            reader->stage->looked_at = span->at;
            reader->state = PUG_ETMV3_AT_HEADER;
            return bad_a_sync(reader, reader->a_sync, "A-Sync ? : Unexpected byte in sequence",
                              packet);
        }
    }
    return false;
}
