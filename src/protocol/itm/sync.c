// SPDX-License-Identifier: MIT
/**
 * @file Looking for the first ASYNC: at least five bytes of 0x00, then 0x80.
 *
 * What is passed over goes out as NOTSYNC packets of about eight bytes, whatever pieces it came in
 * (the reference: also at the end of each run, which must not be spliced then). Zeros are held
 * back, since they may belong to an ASYNC.
 */
#include "base/noise.h"
#include "protocol/itm/elements.h"
#include "protocol/itm/reader.h"

#define NOTSYNC_BYTES 8u

static void give(struct pug_itm_reader *r, struct pug_packet *packet, enum pug_itm_packet_type type,
                 size_t size, unsigned flags)
{
    r->packet =
        (struct pug_itm_packet){.type = (uint8_t)type, .error_type = PUG_ITM_PKT_NO_ERR_TYPE};
    *packet = (struct pug_packet){.index = r->index,
                                  .data = &r->packet,
                                  .raw = pug_rawbytes_at(&r->raw),
                                  .raw_size = (uint32_t)size,
                                  .type = type,
                                  .flags = flags};
    r->given = size;
}

/** The unsure bytes are no ASYNC. False: there is nothing to tell. */
static bool give_notsync(struct pug_itm_reader *r, struct pug_packet *packet)
{
    size_t size = r->unsure;
    unsigned flags = size ? PUG_PACKET_MONITOR : 0u;
    if (r->stage->quirks.itm_search_reports ? !r->told : size > 0)
        flags |= PUG_PACKET_DECODE;
    if (!flags)
        return false;
    give(r, packet, PUG_ITM_PKT_NOTSYNC, size, flags);
    r->told = true;
    r->unsure = 0;
    r->stage->stats.unsynced += size;
    return true;
}

static void give_async(struct pug_itm_reader *r, struct pug_packet *packet)
{
    give(r, packet, PUG_ITM_PKT_ASYNC, r->raw.size,
         PUG_PACKET_MONITOR | PUG_PACKET_DECODE | PUG_PACKET_SYNC);
    r->synced = true;
    r->begins = false;
    r->stage->takes = PUG_TAKES_SPLICED;
    r->matching = r->has_upper = false;
    r->global_time = 0;
    r->given = 0;
    r->zeros = 0;
}

/** Zeros of a possible ASYNC: only how many they are counts. */
static void take_zeros(struct pug_itm_reader *r, struct pug_span *span)
{
    const size_t zeros = pug_noise_run(span->at, span->end, 0);
    pug_rawbytes_add(&r->raw, span->at, zeros);
    r->zeros += zeros;
    span->at += zeros;
}

/** Go on in a possible ASYNC; true when it is one. */
static bool match(struct pug_itm_reader *r, struct pug_span *span)
{
    take_zeros(r, span);
    if (span->at == span->end)
        return false;
    uint8_t byte = *span->at++;
    pug_rawbytes_add_byte(&r->raw, byte);
    if (byte == PUG_ITM_ASYNC_END && r->zeros >= PUG_ITM_ASYNC_ZEROS)
        return true;
    r->matching = false;
    r->unsure = r->raw.size;
    return false;
}

void pug_itm_pass_over_noise(struct pug_itm_reader *r, struct pug_itm_decoder *d,
                             struct pug_span *span)
{
    static const struct pug_noise noise = {
        .piece = NOTSYNC_BYTES, .zeros = PUG_ITM_ASYNC_ZEROS, .zeros_cut = true};
    if (r->synced || r->matching || r->begins || (d && d->state != PUG_ITM_WAIT_SYNC) ||
        r->stage->quirks.itm_search_reports)
        return;
    const struct pug_noise_passed passed =
        pug_noise_pass(&noise, span->at, (size_t)(span->end - span->at), r->unsure);
    if (passed.size == 0)
        return;
    if (d)
        d->last_index =
            passed.last < 0 ? r->index : pug_run_index(span->run, span->at + passed.last);
    r->stage->stats.unsynced += r->unsure + passed.size;
    r->unsure = r->given = r->raw.size = 0;
    span->at += passed.size;
}

/** Bytes before the one that is said to begin a packet; at most as many as a NOTSYNC has. */
static bool pass_over(struct pug_itm_reader *r, struct pug_span *span, struct pug_packet *packet)
{
    if (span->at == span->end)
        return false;
    if (r->raw.size == 0)
        r->index = pug_span_index(span);
    while (span->at != span->end && r->ahead > 0 && r->raw.size < NOTSYNC_BYTES) {
        pug_rawbytes_add_byte(&r->raw, *span->at++);
        r->ahead--;
    }
    r->unsure = r->raw.size;
    return r->raw.size == NOTSYNC_BYTES ? give_notsync(r, packet) : pug_itm_search(r, span, packet);
}

/** A packet begins here, by what the settings say. False: there is nothing to tell before. */
static bool begin(struct pug_itm_reader *r, struct pug_packet *packet)
{
    r->begins = r->matching = false;
    r->synced = true;
    r->zeros = 0;
    r->unsure = r->raw.size;
    const bool told = give_notsync(r, packet);
    r->given = 0;
    return told;
}

bool pug_itm_search(struct pug_itm_reader *r, struct pug_span *span, struct pug_packet *packet)
{
    bool by_block = r->stage->quirks.itm_search_reports;
    pug_rawbytes_drop(&r->raw, r->given);
    r->given = 0;
    if (!r->matching && by_block && span->at == span->run->bytes)
        r->index = pug_span_index(span);
    for (;;) {
        if (r->begins && r->ahead == 0)
            return begin(r, packet) || pug_itm_read(r, span, packet);
        if (r->begins)
            return pass_over(r, span, packet);
        if (r->matching && match(r, span)) {
            give_async(r, packet);
            return true;
        }
        if (span->at == span->end)
            return by_block && r->unsure > 0 && give_notsync(r, packet);
        uint64_t index = pug_span_index(span);
        uint8_t byte = *span->at++;
        if (r->raw.size == 0 && !by_block)
            r->index = index;
        pug_rawbytes_add_byte(&r->raw, byte);
        if (byte == 0) {
            bool told = give_notsync(r, packet);
            r->matching = true;
            r->zeros = 1;
            r->index = index;
            if (told)
                return true;
        } else if (++r->unsure >= NOTSYNC_BYTES && give_notsync(r, packet)) {
            return true;
        }
    }
}

bool pug_itm_search_end(struct pug_itm_reader *r, struct pug_packet *packet)
{
    if (r->stage->quirks.itm_search_reports)
        return false;
    pug_rawbytes_drop(&r->raw, r->given);
    r->given = 0;
    r->matching = false;
    r->unsure = r->raw.size;
    return give_notsync(r, packet);
}
