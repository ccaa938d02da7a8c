// SPDX-License-Identifier: MIT
#include "protocol/osd_event.h"
#include "base/bytes.h"

#include "base/text.h"
#include "transport/osd_asked.h"

#include <stdlib.h>

/** Registers, in the base space and, of both trace modules, the width. */
enum osd_register { MOD_TYPE = 0x0001, MODULE_WIDTH = 0x0200 };

/** Words of pieces kept: no event has more, however it is split. */
#define PIECES 64u

/** Bytes of their datagrams; of more, which is no event, the first. */
#define RAW 1024u

struct osd_reader {
    const struct pug_osd_config *config;
    struct pug_stage *stage;
    unsigned width; /* 0: not known yet */
    uint16_t pieces[PIECES];
    unsigned piece_count; /* words */
    uint64_t piece_index; /* of the first piece */
    uint8_t raw[RAW];     /* the pieces as they came */
    unsigned raw_size;
    struct pug_osd_asked asked;
    uint64_t now; /* the last event's time; 0: none came */
    struct pug_osd_packet packet;
};

/* ---- configuration ---- */

static enum pug_status refuse(const struct pug_osd_module *module, struct pug_log *log,
                              const char *text)
{
    pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                              .code = PUG_ERR_INVALID_PARAM_VAL,
                                              .index = PUG_NO_INDEX,
                                              .source = PUG_NO_SOURCE,
                                              .component = module->name,
                                              .text = text});
    return PUG_ERR_INVALID_PARAM_VAL;
}

/** Can the module be so wide? */
static bool is_width(const struct pug_osd_module *module, uint64_t width)
{
    return width == 16 || width == 32 || width == 64 || (width == 48 && module->any_width);
}

static const struct pug_setting *width_setting(const struct pug_osd_module *module,
                                               const struct pug_settings *settings)
{
    const struct pug_setting *setting = pug_settings_find(settings, module->settings[0]);
    const struct pug_setting *other = pug_settings_find(settings, module->settings[1]);
    return setting ? setting : other;
}

enum pug_status pug_osd_config_new(const struct pug_osd_module *module,
                                   const struct pug_settings *settings, struct pug_log *log,
                                   void **out)
{
    const struct pug_setting *width = width_setting(module, settings);
    uint64_t id = pug_settings_number(settings, "src_id", 0);
    uint64_t xlen = pug_settings_number(settings, "xlen", 0);
    const char *isa = pug_settings_word(settings, "isa", "riscv");
    if (width && !is_width(module, width->value))
        return refuse(module, log,
                      module->any_width ? "the width must be 16, 32, 48 or 64"
                                        : "the width must be 16, 32 or 64");
    if (id > UINT16_MAX)
        return refuse(module, log, "src_id must be 0 to 65535");
    if (xlen != 0 && xlen != 32 && xlen != 64)
        return refuse(module, log, "xlen must be 32 or 64");
    struct pug_osd_config *config = calloc(1, sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    config->module = module;
    config->id = (uint16_t)id;
    config->width = width ? (uint8_t)width->value : 0;
    config->riscv = strcmp(isa, "riscv") == 0;
    config->xlen = (uint8_t)xlen;
    *out = config;
    return PUG_OK;
}

void pug_osd_config_free(void *config)
{
    free(config);
}

uint16_t pug_osd_trace_id(const void *config)
{
    return ((const struct pug_osd_config *)config)->id;
}

/* ---- making ---- */

enum pug_status pug_osd_reader_new(const void *config, struct pug_stage *stage, void **out)
{
    struct osd_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PUG_ERR_MEM;
    reader->config = config;
    reader->stage = stage;
    pug_osd_reader_reset(reader);
    *out = reader;
    return PUG_OK;
}

void pug_osd_reader_free(void *reader)
{
    free(reader);
}

void pug_osd_reader_reset(void *data)
{
    struct osd_reader *reader = data;
    reader->width = reader->config->width;
    reader->piece_count = 0;
    reader->asked = (struct pug_osd_asked){.count = 0};
    reader->now = 0;
}

/* ---- giving ---- */

static bool give(struct osd_reader *reader, struct pug_packet *packet, uint64_t index,
                 enum pug_osd_kind kind, const struct pug_span *span)
{
    bool shown_only = kind == PUG_OSD_KIND_REGISTER || kind == PUG_OSD_KIND_OTHER;
    reader->packet.kind = (uint8_t)kind;
    *packet = (struct pug_packet){
        .index = index, .data = &reader->packet, .type = kind, .flags = PUG_PACKET_MONITOR};
    if (span) {
        packet->raw = span->run->bytes;
        packet->raw_size = (uint32_t)span->run->size;
    }
    if (!shown_only)
        packet->flags |= PUG_PACKET_DECODE;
    if (kind == PUG_OSD_KIND_BAD)
        packet->flags |= PUG_PACKET_BAD;
    if (kind == PUG_OSD_KIND_EVENT) /* each says everything */
        packet->flags |= PUG_PACKET_SYNC;
    return true;
}

static const char *problem_text(enum pug_osd_problem problem)
{
    static const char *const texts[] = {
        [PUG_OSD_GOOD] = "",
        [PUG_OSD_BAD_LENGTH] = "event of another length than the module's",
        [PUG_OSD_LOST_LAST] = "pieces of an event whose last one did not come",
        [PUG_OSD_BAD_MODULE] = "the module is of another type",
        [PUG_OSD_OVERFLOW_PIECES] = "overflow between the pieces of an event",
    };
    return texts[problem];
}

static void complain(struct osd_reader *reader, enum pug_osd_problem problem, uint64_t index)
{
    char text[120];
    snprintf(text, sizeof(text), "%s: %u words", problem_text(problem), reader->packet.count);
    reader->stage->stats.bad_sequences++;
    pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_ERROR, PUG_ERR_PACKET_SEQUENCE,
                  index, text);
}

static bool give_bad(struct osd_reader *reader, struct pug_packet *packet, uint64_t index,
                     enum pug_osd_problem problem, const struct pug_span *span)
{
    reader->packet.problem = (uint8_t)problem;
    complain(reader, problem, index);
    return give(reader, packet, index, PUG_OSD_KIND_BAD, span);
}

/* ---- events ---- */

/** Words of an event: time, flags or id, and fields of the module's width. */
static unsigned length_of(const struct pug_osd_module *module, unsigned width)
{
    return 3 + module->fields * (width / 16);
}

/** The width that events of so many words have; 0: none. */
static unsigned width_of(const struct pug_osd_module *module, unsigned words)
{
    for (unsigned width = 16; width <= 64; width += 16)
        if (is_width(module, width) && length_of(module, width) == words)
            return width;
    return 0;
}

/** Does an event of the module have so many words? */
static bool right_length(const struct osd_reader *reader, unsigned words)
{
    const struct pug_osd_module *module = reader->config->module;
    return reader->width ? words == length_of(module, reader->width) : width_of(module, words) != 0;
}

/** The longest event, as far as the width is known. */
static unsigned longest(const struct osd_reader *reader)
{
    const struct pug_osd_module *module = reader->config->module;
    return length_of(module, reader->width ? reader->width : 64);
}

static void append(struct osd_reader *reader, uint64_t index, const struct pug_osd_packet *packet,
                   const struct pug_run *run)
{
    unsigned room = PIECES - reader->piece_count;
    unsigned words = packet->count < room ? packet->count : room;
    if (words > PUG_OSD_WORDS)
        words = PUG_OSD_WORDS;
    if (reader->piece_count == 0) {
        reader->piece_index = index;
        reader->raw_size = 0;
    }
    size_t bytes = RAW - reader->raw_size;
    bytes = run->size < bytes ? run->size : bytes;
    memcpy(reader->raw + reader->raw_size, run->bytes, bytes);
    reader->raw_size += (unsigned)bytes;
    memcpy(reader->pieces + reader->piece_count, packet->words, words * sizeof(packet->words[0]));
    reader->piece_count += words;
}

/**
 * Packets may be missing: an event's last piece may be one of them, and what follows another's; and
 * a request to read, or an answer.
 */
static void note_gap(struct osd_reader *reader)
{
    reader->asked = (struct pug_osd_asked){.count = 0};
    if (reader->piece_count == 0)
        return;
    reader->packet.count = (uint16_t)reader->piece_count;
    complain(reader, PUG_OSD_LOST_LAST, reader->piece_index);
    reader->piece_count = 0;
}

/** A piece that others follow. Returns true when something is wrong and has to be reported. */
static bool take_piece(struct osd_reader *reader, uint64_t index, const struct pug_run *run)
{
    bool lost =
        reader->piece_count > 0 && reader->piece_count + reader->packet.count >= longest(reader);
    if (lost)
        reader->piece_count = 0;
    append(reader, index, &reader->packet, run);
    return lost;
}

/** Events of one module come in the order of time: less than before is one wrap. */
static uint64_t extend(uint64_t before, uint32_t timestamp)
{
    const uint64_t time = (before & ~UINT64_C(0xffffffff)) | timestamp;
    return time < before ? time + (UINT64_C(1) << 32) : time;
}

static bool take_last(struct osd_reader *reader, struct pug_packet *packet, uint64_t index,
                      const struct pug_span *span)
{
    struct pug_osd_packet *event = &reader->packet;
    const struct pug_osd_module *module = reader->config->module;
    unsigned pieces = reader->piece_count, total = pieces + event->count;
    bool alone = pieces > 0 && right_length(reader, event->count) &&
                 (reader->width || !right_length(reader, total));
    if (alone) {
        complain(reader, PUG_OSD_LOST_LAST, reader->piece_index);
        reader->packet.gap = true;
        reader->piece_count = pieces = 0;
        total = event->count;
    }
    if (!right_length(reader, total)) {
        reader->piece_count = 0;
        event->count = (uint16_t)total;
        return give_bad(reader, packet, index, PUG_OSD_BAD_LENGTH, span);
    }
    if (pieces > 0) {
        index = reader->piece_index;
        append(reader, index, event, span->run);
        memcpy(event->words, reader->pieces, total * sizeof(event->words[0]));
        event->count = (uint16_t)total;
        reader->piece_count = 0;
    }
    if (reader->width == 0)
        reader->width = width_of(module, total);
    event->timestamp = (uint32_t)event->words[1] << 16 | event->words[0];
    event->now = reader->now = extend(reader->now, event->timestamp);
    event->width = (uint8_t)reader->width;
    module->parse(event, reader->width);
    give(reader, packet, index, PUG_OSD_KIND_EVENT, span);
    if (pieces > 0) { /* its bytes are those of all pieces */
        packet->raw = reader->raw;
        packet->raw_size = reader->raw_size;
    }
    return true;
}

static bool take_overflow(struct osd_reader *reader, struct pug_packet *packet, uint64_t index,
                          const struct pug_span *span)
{
    if (reader->packet.count != 1)
        return give_bad(reader, packet, index, PUG_OSD_BAD_LENGTH, span);
    if (reader->piece_count > 0) {
        complain(reader, PUG_OSD_OVERFLOW_PIECES, index);
        reader->piece_count = 0;
    }
    reader->packet.missed = reader->packet.words[0];
    return give(reader, packet, index, PUG_OSD_KIND_OVERFLOW, span);
}

static bool take_event(struct osd_reader *reader, struct pug_packet *packet, uint64_t index,
                       const struct pug_span *span)
{
    switch (PUG_OSD_TYPE_SUB(reader->packet.flags)) {
    case PUG_OSD_LAST: return take_last(reader, packet, index, span);
    case PUG_OSD_CONT:
        if (!take_piece(reader, index, span->run))
            return false;
        return give_bad(reader, packet, index, PUG_OSD_LOST_LAST, span);
    case PUG_OSD_OVERFLOW: return take_overflow(reader, packet, index, span);
    default: return give(reader, packet, index, PUG_OSD_KIND_OTHER, span);
    }
}

/* ---- registers ---- */

static void note_register(struct osd_reader *reader, uint16_t number, uint16_t value,
                          uint64_t index)
{
    const struct pug_osd_module *module = reader->config->module;
    if (number == MODULE_WIDTH && !reader->config->width && is_width(module, value))
        reader->width = value;
    if (number == MOD_TYPE && value != module->type)
        complain(reader, PUG_OSD_BAD_MODULE, index);
}

static void take_register(struct osd_reader *reader, uint64_t index)
{
    const struct pug_osd_packet *packet = &reader->packet;
    uint16_t number;
    if (pug_osd_is_request(packet->flags) && packet->count > 0)
        pug_osd_asked_add(&reader->asked, packet->words[0]);
    if (pug_osd_is_answer(packet->flags) && pug_osd_asked_take(&reader->asked, &number) &&
        PUG_OSD_TYPE_SUB(packet->flags) == 8 && packet->count == 1)
        note_register(reader, number, packet->words[0], index);
}

/* ---- reading ---- */

static uint16_t word_at(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

bool pug_osd_read(void *data, struct pug_span *span, struct pug_packet *packet)
{
    struct osd_reader *reader = data;
    const uint8_t *at = span->at;
    size_t words = (size_t)(span->end - at) / 2;
    uint64_t index = pug_span_index(span);
    span->at = span->end;
    if (words < PUG_OSD_HEADER)
        return false;
    if (span->run->gap)
        note_gap(reader);
    struct pug_osd_packet *event = &reader->packet;
    *event = (struct pug_osd_packet){.gap = span->run->gap,
                                     .dest = word_at(at + 2),
                                     .source = word_at(at + 4),
                                     .flags = word_at(at + 6),
                                     .count = (uint16_t)(words - PUG_OSD_HEADER)};
    for (unsigned i = 0; i < event->count && i < PUG_OSD_WORDS; i++)
        event->words[i] = word_at(at + 2 * (PUG_OSD_HEADER + i));
    if (PUG_OSD_TYPE(event->flags) == PUG_OSD_EVENT)
        return take_event(reader, packet, index, span);
    take_register(reader, index);
    return give(reader, packet, index, PUG_OSD_KIND_REGISTER, span);
}

bool pug_osd_read_end(void *data, struct pug_packet *packet)
{
    struct osd_reader *reader = data;
    if (reader->piece_count == 0)
        return false;
    reader->packet = (struct pug_osd_packet){.count = (uint16_t)reader->piece_count};
    reader->piece_count = 0;
    pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_WARN, PUG_ERR_TRUNCATED,
                  reader->piece_index, "the data end inside an event");
    give(reader, packet, reader->piece_index, PUG_OSD_KIND_INCOMPLETE, NULL);
    packet->raw = reader->raw;
    packet->raw_size = reader->raw_size;
    return true;
}

static void put_words(const uint16_t *words, size_t count, struct pug_state *state)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[2];
        pug_bytes_set(bytes, words[i], sizeof(bytes));
        pug_state_put(state, bytes, sizeof(bytes));
    }
}

unsigned pug_osd_reader_clock(const void *data, uint64_t *time)
{
    const struct osd_reader *reader = data;
    *time = reader->now;
    return 32;
}

void pug_osd_reader_state(const void *data, struct pug_state *state)
{
    const struct osd_reader *reader = data;
    pug_state_number(state, reader->width);
    pug_state_number(state, reader->asked.count);
    put_words(reader->asked.registers, reader->asked.count, state);
    pug_state_number(state, reader->asked.more);
    pug_state_number(state, reader->piece_count);
    if (reader->piece_count == 0)
        return;
    pug_state_number(state, reader->piece_index);
    put_words(reader->pieces, reader->piece_count, state);
    pug_state_number(state, reader->raw_size);
    pug_state_put(state, reader->raw, reader->raw_size);
}

size_t pug_osd_marks(const void *state, const void *data, struct pug_mark marks[PUG_MARK_LIMIT])
{
    const struct pug_osd_config *config = state;
    const struct pug_osd_packet *packet = data;
    if (packet->kind == PUG_OSD_KIND_OVERFLOW)
        return pug_mark_put(marks, 0, PUG_MARK_OVERFLOW, packet->missed);
    if (packet->kind != PUG_OSD_KIND_EVENT)
        return 0;
    size_t n = pug_mark_put(marks, 0, PUG_MARK_TIMESTAMP, packet->now);
    if (config->module->type == PUG_OSD_TYPE_STM)
        return pug_mark_put(marks, n, PUG_MARK_EVENT, packet->id);
    return pug_mark_put(marks, n, PUG_MARK_ADDRESS, packet->npc);
}

/* ---- words ---- */

const char *pug_osd_packet_name(uint32_t kind)
{
    static const char *const names[] = {"EVENT", "OVERFLOW", "REGISTER",
                                        "OTHER", "BAD",      "INCOMPLETE"};
    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

bool pug_osd_packet_text(const struct pug_osd_packet *packet, struct pug_text *text)
{
    pug_text_format(text, "%s : ", pug_osd_packet_name(packet->kind));
    switch (packet->kind) {
    case PUG_OSD_KIND_EVENT: return false;
    case PUG_OSD_KIND_OVERFLOW:
        pug_text_format(text, "Overflow, missed %u events", packet->missed);
        break;
    case PUG_OSD_KIND_BAD:
        pug_text_put(text, problem_text((enum pug_osd_problem)packet->problem));
        break;
    case PUG_OSD_KIND_INCOMPLETE: pug_text_format(text, "%u words", packet->count); break;
    default:
        pug_text_format(text, "DEST = %u, SRC = %u, TYPE_SUB = %u,", packet->dest, packet->source,
                        PUG_OSD_TYPE_SUB(packet->flags));
        for (unsigned i = 0; i < packet->count && i < PUG_OSD_WORDS; i++)
            pug_text_format(text, " 0x%04x", packet->words[i]);
    }
    return true;
}
