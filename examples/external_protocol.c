// SPDX-License-Identifier: MIT
/**
 * @file A protocol that lives outside the library, registered at run time and used like any other.
 *
 * "Beacon" is made up: a board prints what it measures. A packet is a header byte 0xB0 + channel
 * (0 to 15), then the number of value bytes (1, 2 or 4), then the value, little-endian. Bytes
 * between packets are noise.
 *
 * Build against an installed library: cc external_protocol.c $(pkg-config --cflags --libs pugmark)
 */
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"
#include "pugmark/element.h"
#include "pugmark/setting.h"
#include "pugmark/status.h"

#include <pugmark/author/protocol.h>
#include <pugmark/pugmark.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- the packet reader ---- */

enum { BEACON_NOISE, BEACON_VALUE };

struct beacon_packet {
    int type;
    unsigned channel;
    unsigned size;
    uint32_t value;
};

struct beacon_reader {
    struct pug_stage *stage;
    struct beacon_packet packet;
    uint8_t bytes[6]; /* of the packet so far: it may be cut anywhere */
    uint32_t count;
    uint64_t index;
};

static enum pug_status config_new(const struct pug_settings *settings, struct pug_log *log,
                                  void **config)
{
    (void)log;
    uint16_t *id = malloc(sizeof(*id));
    if (!id)
        return PUG_ERR_MEM;
    *id = (uint16_t)pug_settings_number(settings, "id", 1);
    *config = id;
    return PUG_OK;
}

static uint16_t trace_id(const void *config)
{
    return *(const uint16_t *)config;
}

static enum pug_status reader_new(const void *config, struct pug_stage *stage, void **out)
{
    struct beacon_reader *reader = calloc(1, sizeof(*reader));
    (void)config;
    if (!reader)
        return PUG_ERR_MEM;
    reader->stage = stage;
    *out = reader;
    return PUG_OK;
}

static void give(struct beacon_reader *reader, struct pug_packet *packet, int type)
{
    reader->packet.type = type;
    *packet = (struct pug_packet){
        .index = reader->index,
        .data = &reader->packet,
        .raw = reader->bytes,
        .raw_size = reader->count,
        .type = (uint32_t)type,
        .flags =
            PUG_PACKET_MONITOR | (type == BEACON_VALUE ? PUG_PACKET_DECODE | PUG_PACKET_SYNC : 0),
    };
    reader->count = 0;
}

/** A packet is complete with this byte: VALUE, NOISE, or not yet (-1). */
static int complete(struct beacon_reader *reader)
{
    const uint8_t *bytes = reader->bytes;
    if ((bytes[0] & 0xf0) != 0xb0)
        return BEACON_NOISE;
    if (reader->count < 2)
        return -1;
    if (bytes[1] != 1 && bytes[1] != 2 && bytes[1] != 4)
        return BEACON_NOISE;
    if (reader->count < 2u + bytes[1])
        return -1;
    reader->packet.channel = bytes[0] & 0x0f;
    reader->packet.size = bytes[1];
    reader->packet.value = 0;
    for (unsigned i = 0; i < bytes[1]; i++)
        reader->packet.value |= (uint32_t)bytes[2 + i] << 8 * i;
    return BEACON_VALUE;
}

static bool read_packet(void *state, struct pug_span *span, struct pug_packet *packet)
{
    struct beacon_reader *reader = state;
    while (span->at < span->end) {
        if (reader->count == 0)
            reader->index = pug_span_index(span);
        reader->bytes[reader->count++] = *span->at++;
        int type = complete(reader);
        if (type >= 0) {
            reader->stage->stats.unsynced += type == BEACON_NOISE ? reader->count : 0;
            give(reader, packet, type);
            return true;
        }
    }
    return false;
}

static void reader_reset(void *state)
{
    ((struct beacon_reader *)state)->count = 0;
}

/* ---- the decoder ---- */

static enum pug_status decoder_new(const void *config, struct pug_stage *stage, void **decoder)
{
    (void)config;
    *decoder = stage; /* it has no state of its own */
    return PUG_OK;
}

static void decoder_free(void *decoder)
{
    (void)decoder;
}

static enum pug_response decode(void *decoder, const struct pug_packet *packet)
{
    struct pug_stage *stage = decoder;
    const struct beacon_packet *beacon = packet->data;
    /* One element a packet: the driver asked for room, so there is no step to suspend at. */
    struct pug_element *element = pug_out_push(&stage->out, PUG_ELEM_SWTRACE, packet->index);
    PUG_SW_CHANNEL(element) = beacon->channel;
    element->sw_flags = PUG_SW_ID_VALID;
    element->sw_bits = (uint8_t)(8 * beacon->size);
    element->value = beacon->value;
    return PUG_RESP_CONT;
}

static enum pug_response decode_end(void *decoder)
{
    struct pug_stage *stage = decoder;
    pug_out_push(&stage->out, PUG_ELEM_EO_TRACE, 0)->reason = PUG_UNSYNC_EOT;
    return PUG_RESP_CONT;
}

/* ---- words ---- */

static size_t packet_text(const void *data, char *buffer, size_t size)
{
    const struct beacon_packet *packet = data;
    int n = packet->type == BEACON_NOISE ? snprintf(buffer, size, "NOISE : no packet.")
                                         : snprintf(buffer, size, "VALUE : Channel %u; 0x%x",
                                                    packet->channel, packet->value);
    return n > 0 ? (size_t)n : 0;
}

static const char *packet_name(uint32_t type)
{
    return type == BEACON_NOISE ? "NOISE" : "VALUE";
}

static const struct pug_protocol beacon = {
    .abi = PUG_AUTHOR_ABI,
    .name = "Beacon",
    .title = "values that a board prints",
    .config_new = config_new,
    .config_free = free,
    .trace_id = trace_id,
    .reader_new = reader_new,
    .reader_free = free,
    .read = read_packet,
    .reader_reset = reader_reset,
    .decoder_new = decoder_new,
    .decoder_free = decoder_free,
    .decode = decode,
    .decode_end = decode_end,
    .decoder_reset = decoder_free, /* nothing to do either */
    .packet_text = packet_text,
    .packet_name = packet_name,
};

/* ---- and its use ---- */

static enum pug_response print_element(void *context, const struct pug_element *element)
{
    char text[256];
    (void)context;
    pug_element_text(element, text, sizeof(text));
    printf("offset %llu: %s\n", (unsigned long long)element->index, text);
    return PUG_RESP_CONT;
}

int main(void)
{
    static const uint8_t capture[] = {0x00, 0xb1, 0x01, 0x2a, 0xb2, 0x02, 0x34, 0x12,
                                      0xff, 0xb3, 0x04, 0x78, 0x56, 0x34, 0x12};
    struct pug_tree *tree;
    struct pug_setting id = {.name = "id", .value = 7};
    size_t used;
    if (pug_protocol_register(&beacon) != PUG_OK ||
        pug_tree_new(&(struct pug_tree_config){0}, &tree) != PUG_OK ||
        pug_tree_add_source(tree,
                            &(struct pug_source_config){.protocol = "Beacon",
                                                        .settings = {.items = &id, .count = 1},
                                                        .decode = true},
                            NULL) != PUG_OK)
        return 1;
    pug_tree_on_element(tree, print_element, NULL);
    enum pug_response response = pug_tree_data(tree, 0, capture, sizeof(capture), &used);
    if (PUG_RESP_IS_CONT(response))
        response = pug_tree_end(tree);
    pug_tree_free(tree);
    return PUG_RESP_IS_CONT(response) ? 0 : 1;
}
