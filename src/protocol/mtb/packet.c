// SPDX-License-Identifier: MIT
/** @file Two words make a packet: what branched, and where it went. */
#include "base/bytes.h"
#include "protocol/mtb/mtb.h"

#include <stdlib.h>

struct reader {
    struct pug_stage *stage;
    uint8_t bytes[PUG_MTB_PACKET]; /* of the packet so far: it may be cut anywhere */
    uint8_t count;
    uint64_t index;
    struct pug_mtb_packet packet;
};

enum pug_status pug_mtb_reader_new(const void *config, struct pug_stage *stage, void **out)
{
    (void)config;
    struct reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PUG_ERR_MEM;
    reader->stage = stage;
    *out = reader;
    return PUG_OK;
}

void pug_mtb_reader_free(void *reader)
{
    free(reader);
}

void pug_mtb_reader_reset(void *data)
{
    ((struct reader *)data)->count = 0;
}

static uint8_t type_of(uint32_t source, uint32_t destination)
{
    if (source == 0 && destination == 0)
        return PUG_MTB_EMPTY;
    if (source & 1)
        return pug_mtb_is_magic(source) ? PUG_MTB_RESUME : PUG_MTB_EXCEPTION;
    return pug_mtb_is_magic(destination) ? PUG_MTB_RETURN : PUG_MTB_BRANCH;
}

static void give(struct reader *reader, uint8_t type, uint32_t flags, struct pug_packet *packet)
{
    reader->packet.type = type;
    *packet = (struct pug_packet){.index = reader->index,
                                  .data = &reader->packet,
                                  .raw = reader->bytes,
                                  .raw_size = reader->count,
                                  .type = type,
                                  .flags = PUG_PACKET_MONITOR | flags};
    reader->count = 0;
}

bool pug_mtb_read(void *data, struct pug_span *span, struct pug_packet *packet)
{
    struct reader *reader = data;
    while (span->at < span->end) {
        if (reader->count == 0)
            reader->index = pug_span_index(span);
        reader->bytes[reader->count++] = *span->at++;
        if (reader->count < PUG_MTB_PACKET)
            continue;
        uint32_t source = pug_bytes_32(reader->bytes);
        uint32_t destination = pug_bytes_32(reader->bytes + 4);
        reader->packet = (struct pug_mtb_packet){.atomic = source & 1,
                                                 .start = destination & 1,
                                                 .source = pug_mtb_address(source),
                                                 .destination = pug_mtb_address(destination)};
        give(reader, type_of(source, destination), PUG_PACKET_DECODE, packet);
        return true;
    }
    return false;
}

bool pug_mtb_read_end(void *data, struct pug_packet *packet)
{
    struct reader *reader = data;
    if (reader->count == 0)
        return false;
    pug_stage_log_cut(reader->stage, reader->index);
    reader->packet = (struct pug_mtb_packet){0};
    give(reader, PUG_MTB_INCOMPLETE, 0, packet);
    return true;
}

/** Exceptions are no marks: their numbers are in the vector table, which is the decoder's. */
size_t pug_mtb_marks(const void *config, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_mtb_packet *packet = data;
    size_t n = 0;
    (void)config;
    if (packet->type == PUG_MTB_EMPTY || packet->type == PUG_MTB_INCOMPLETE)
        return 0;
    if (packet->start)
        n = pug_mark_put(marks, n, PUG_MARK_TRACE_ON, PUG_TRACE_ON_NORMAL);
    if (packet->type != PUG_MTB_RETURN)
        n = pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->destination);
    return n;
}
