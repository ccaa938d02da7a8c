// SPDX-License-Identifier: MIT
#include "listing/listing.h"
#include "pugmark/author/protocol.h"

#include <inttypes.h>
#include <string.h>

/* The prefix of an element's name. */
#define ELEMENT_PREFIX "OCSD_GEN_TRC_ELEM_"

/* The reference's trace index has 32 bits. */
static uint32_t index32(uint64_t index)
{
    return (uint32_t)index;
}

static void put_hex_bytes(struct pug_text *text, const uint8_t *bytes, size_t size)
{
    struct pug_text line = *text; /* which no text can lie upon */
    for (size_t i = 0; i < size; i++) {
        char out[5] = {'0', 'x', pug_text_pairs[2 * bytes[i]], pug_text_pairs[2 * bytes[i] + 1],
                       ' '};
        pug_text_put_n(&line, out, sizeof(out));
    }
    *text = line;
}

/** Where a function that writes like snprintf() appends, and how much fits there. */
static char *room(const struct pug_text *text, size_t *size)
{
    *size = text->length < text->size ? text->size - text->length : 0;
    return *size > 0 ? text->buffer + text->length : NULL;
}

/* ---- messages ---- */

void pug_listing_error(struct pug_text *text, const struct pug_log_record *record)
{
    const char *name = pug_status_reference_name(record->code);
    pug_text_format(text, "0x%04x ", (unsigned)-(int)record->code);
    if (name)
        pug_text_format(text, "(%s) [%s]; ", name, pug_status_reference_text(record->code));
    else
        pug_text_put(text, "(unknown); ");
    if (record->index != PUG_NO_INDEX && index32(record->index) != UINT32_MAX)
        pug_text_format(text, "TrcIdx=%" PRIu32 "; ", index32(record->index));
    if (record->source != PUG_NO_SOURCE && (record->source & 0xff) != 0xff)
        pug_text_format(text, "CS ID=%02x; ", (unsigned)(record->source & 0xff));
    pug_text_put(text, record->text ? record->text : "");
}

void pug_listing_log(struct pug_text *text, const struct pug_log_record *record)
{
    pug_text_put(text, record->component ? record->component : "unknown");
    pug_text_put(text, " : ");
    if (record->severity == PUG_SEV_NONE || record->severity > PUG_SEV_INFO)
        pug_text_put(text, "LIBRARY INTERNAL ERROR: Invalid Error Object");
    else if (record->code != PUG_OK)
        pug_listing_error(text, record);
    else
        pug_text_put(text, record->text ? record->text : "");
}

/* ---- packets and elements ---- */

#define PLACE_MOST 64u /* characters */

static void put_place(struct pug_text *text, uint64_t index, uint16_t id)
{
    char spare[PLACE_MOST], *const from = pug_text_room(text, spare, PLACE_MOST), *at = from;
    at = pug_put(at, "Idx:");
    at += pug_text_decimal_at(at, index32(index));
    at = pug_put(at, "; ID:");
    at = pug_put_hex(at, id, 1);
    at = pug_put(at, ";");
    pug_text_took(text, spare, from, at);
}

void pug_listing_packet(struct pug_text *text, const struct pug_protocol *protocol, uint16_t slot,
                        const struct pug_packet *packet, bool bytes)
{
    put_place(text, packet->index, slot);
    if (bytes) {
        pug_text_put(text, " [");
        put_hex_bytes(text, packet->raw, packet->raw_size);
        pug_text_put(text, "];");
    }
    pug_text_put(text, "\t");
    if (protocol->packet_text) {
        size_t size;
        char *at = room(text, &size);
        text->length += protocol->packet_text(packet->data, at, size);
    }
    pug_text_put(text, "\n");
}

void pug_listing_operation(struct pug_text *text, uint16_t slot, enum pug_op op)
{
    static const char *const words[] = {
        [PUG_OP_END] = "END OF TRACE DATA",
        [PUG_OP_FLUSH] = "FLUSH operation on trace decode path",
        [PUG_OP_RESET] = "RESET operation on trace decode path",
    };
    if (op != PUG_OP_DATA)
        pug_text_format(text, "ID:%x\t%s\n", slot, words[op]);
}

void pug_listing_element(struct pug_text *text, const struct pug_element *element)
{
    put_place(text, element->index, element->source);
    pug_text_put(text, " " ELEMENT_PREFIX);
    size_t size;
    char *at = room(text, &size);
    struct pug_element plain;
    if (element->type == PUG_ELEM_EXCEPTION) {
        plain = *element;
        plain.reason = PUG_EXCEPTIONS_UNNAMED; /* the reference has no names for them */
        element = &plain;
    }
    text->length += pug_element_text(element, at, size);
    pug_text_put(text, "\n");
}

/* ---- raw frames ---- */

static void put_dump(struct pug_text *text, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (i > 0 && i % 16 == 0)
            pug_text_put(text, "\n");
        char out[3] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15], ' '};
        pug_text_put_n(text, out, sizeof(out));
    }
    pug_text_put(text, "\n");
}

void pug_listing_frame(struct pug_text *text, uint64_t index, enum pug_frame_kind kind,
                       uint16_t source, const uint8_t *bytes, size_t size)
{
    pug_text_format(text, "Frame Data; Index%7" PRIu32 "; ", index32(index));
    switch (kind) {
    case PUG_FRAME_PACKED: pug_text_put(text, "   RAW_PACKED; "); break;
    case PUG_FRAME_HSYNC: pug_text_put(text, "        HSYNC; "); break;
    case PUG_FRAME_FSYNC: pug_text_put(text, "        FSYNC; "); break;
    case PUG_FRAME_ID_DATA:
        if (source == PUG_SOURCE_UNKNOWN)
            pug_text_put(text, "  ID_DATA[????]; ");
        else
            pug_text_format(text, "  ID_DATA[0x%02x]; ", source);
        break;
    default: pug_text_put(text, "      UNKNOWN; ");
    }
    put_dump(text, bytes, size);
}

/* ---- statistics ---- */

void pug_listing_source_stats(struct pug_text *text, uint16_t slot,
                              const struct pug_reader_stats *stats)
{
    if (!stats) {
        pug_text_format(text, "Decode stats unavailable on Trace ID 0x%x\n", slot);
        return;
    }
    pug_text_format(text,
                    "Decode stats ID 0x%x\n"
                    "Total Bytes: %" PRIu64 "; Unsynced Bytes: %" PRIu64 "\n"
                    "Bad Header Errors: %" PRIu64 "; Bad Sequence Errors: %" PRIu64 "\n",
                    slot, stats->bytes, stats->unsynced, stats->bad_headers, stats->bad_sequences);
}

void pug_listing_transport_stats(struct pug_text *text, const struct pug_transport_stats *stats)
{
    pug_text_format(
        text,
        "\nFrame Demux Stats\n"
        "Trace data bytes sent to registered ID decoders: %" PRIu64 "\n"
        "Trace data bytes without registered ID decoders: %" PRIu64 "\n"
        "Trace data bytes with unknown ID: %" PRIu64 "\n"
        "Trace data bytes with reserved ID: %" PRIu64 "\n"
        "Frame demux bytes, ID bytes and sync bytes: %" PRIu64 "\n"
        "Total bytes processed by frame demux: %" PRIu64 "\n\n",
        stats->delivered, stats->no_decoder, stats->unknown, stats->reserved, stats->framing,
        stats->delivered + stats->no_decoder + stats->unknown + stats->reserved + stats->framing);
}

/* ---- memory ---- */

static const char *accessor_word(const char *kind)
{
    if (strcmp(kind, "file") == 0)
        return "FileAcc";
    return strcmp(kind, "buffer") == 0 ? "BuffAcc" : "CB  Acc";
}

static void put_range(struct pug_text *text, const struct pug_image_range *range)
{
    char space[64] = "Any"; /* regions of a file say so whatever they are */
    if (range->offset == 0 || strcmp(range->kind, "file") != 0)
        pug_space_text(range->place.space, space, sizeof(space));
    pug_text_format(text, "%s; Range::0x%02" PRIx64 ":%" PRIx64 "; Mem Space::%s\n",
                    accessor_word(range->kind), range->start, range->end, space);
}

void pug_listing_image(struct pug_text *text, const struct pug_image *image)
{
    struct pug_image_range range;
    const char *path = NULL;
    pug_text_put(text, "Gen_Info : Mapped Memory Accessors\n");
    for (size_t n = 0; pug_image_range(image, n, &range); n++) {
        if (range.first && path)
            pug_text_format(text, "Filename=%s\n", path);
        if (range.first)
            pug_text_put(text, "Gen_Info : ");
        put_range(text, &range);
        path = range.path;
    }
    if (path)
        pug_text_format(text, "Filename=%s\n", path);
    pug_text_put(text, "Gen_Info : ========================\n");
}
