// SPDX-License-Identifier: MIT
/**
 * @file Lines of `pugmark trace`:
 *
 *     ADDRESS  INSTRUCTION, INDENTED BY CALLS          OUTCOME       FUNCTION+OFFSET  FILE:LINE
 *
 * and, between them, events beside the flow, after two dashes.
 */
#include "trace_text.h"

#include "common/handlers.h"
#include "items/places.h"

#include "pugmark/advanced/capture.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT        16384u /* instructions whose words are kept; a power of two */
#define INDENT_MOST 24u
#define CODE_COLUMN 44u
#define CODE_LEAST  24u
#define OUTCOME     14u /* columns */
#define REST        54u /* columns of the address before it, and of outcome and place after it */

/** Words of an instruction that was printed before. */
struct words {
    uint64_t address;
    uint8_t bytes[8];
    uint8_t size, isa; /* size 0: nothing is kept here */
    bool known;
    char text[PUG_DISASM_TEXT];
};

struct trace_text {
    struct trace_text_options options;
    struct pug_disasm *disasm;
    struct pug_calls *calls;
    struct words *words;
    struct places *places;
    struct handlers handlers;
    uint64_t *times; /* the last one of each task */
    uint32_t time_count;
    uint32_t task; /* of the last line */
    uint32_t depth;
    bool no_words; /* an instruction had no words since there is no disassembler */
};

/* ---- words ---- */

static const char *words_of(struct trace_text *text, enum pug_isa isa, uint64_t address,
                            const uint8_t *bytes, size_t size)
{
    uint64_t hash = (address >> 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct words *words = &text->words[hash >> 50 & (KEPT - 1)];
    /* A T32 instruction may have a condition from an IT block: its words are not its bytes' alone.
     */
    if (isa == PUG_ISA_T32 || words->address != address || words->size != size ||
        words->isa != isa || memcmp(words->bytes, bytes, size) != 0) {
        words->address = address;
        words->size = (uint8_t)size;
        words->isa = (uint8_t)isa;
        memcpy(words->bytes, bytes, size);
        words->known = pug_disasm_text(text->disasm, isa, address, bytes, size, words->text,
                                       sizeof(words->text));
    }
    text->no_words |=
        !words->known && pug_disasm_status(text->disasm) == PUG_OK && !pug_disasm_built_in();
    return words->text;
}

/* ---- lines ---- */

static void colour(struct trace_text *text, const char *code)
{
    if (text->options.colour)
        pug_sink_format(text->options.sink, "\033[%sm", code);
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/** A function as people know it, or as the linker does. */
static const char *name_of(const struct trace_text *text, const char *name)
{
    return text->options.mangled ? name : pug_names_readable(text->options.names, name);
}

static void put_offset(struct pug_sink *sink, uint64_t offset)
{
    pug_sink_text(sink, "+0x");
    pug_sink_hex(sink, offset, 1);
}

/** "function+0x10  file.c:12", as far as it is known. */
static void put_place(struct trace_text *text, struct pug_names_file *file, uint64_t vaddr)
{
    struct pug_sink *sink = text->options.sink;
    struct pug_names_function function;
    struct pug_names_line line;
    if (!file)
        return;
    colour(text, "36");
    if (pug_names_function(file, vaddr, &function)) {
        pug_sink_printable(sink, name_of(text, function.name));
        put_offset(sink, vaddr - function.start);
    } else {
        pug_sink_printable(sink, last_component(pug_names_path(file)));
        put_offset(sink, vaddr);
    }
    colour(text, "2");
    if (pug_names_line(file, vaddr, &line) && line.line > 0) {
        pug_sink_text(sink, "  ");
        pug_sink_printable(sink, last_component(line.path));
        pug_sink_text(sink, ":");
        pug_sink_decimal(sink, line.line);
    }
    colour(text, "0");
}

/** The outcome of a range's last instruction; "" of others. */
static const char *outcome_of(const struct pug_element *e)
{
    const bool branch = e->last_type == PUG_INSTR_BR || e->last_type == PUG_INSTR_BR_INDIRECT;
    if (!branch)
        return e->flags & PUG_ELEM_EXECUTED || !(e->flags & PUG_ELEM_CONDITIONAL) ? ""
                                                                                  : "not executed";
    return e->flags & PUG_ELEM_EXECUTED ? "taken" : "not taken";
}

struct line {
    const struct trace_item *item;
    uint64_t address;
    const uint8_t *bytes;
    size_t size;
    bool last;
};

/** Where an instruction's outcome stands: further left on a narrow terminal. */
static size_t code_column(const struct trace_text *text)
{
    const unsigned columns = text->options.columns;
    if (columns == 0 || columns >= CODE_COLUMN + REST)
        return CODE_COLUMN;
    return columns > CODE_LEAST + REST ? columns - REST : CODE_LEAST;
}

/** Blanks after an outcome. On a narrow terminal they make up for a long instruction. */
static size_t blanks_behind(const struct trace_text *text, size_t width, size_t column,
                            size_t length)
{
    const size_t over = width >= column && text->options.columns ? width + 1 - column : 0;
    return OUTCOME > length + over ? OUTCOME - length - over : 1;
}

/** Put the text that follows an instruction, which ended in a column. */
static void put_behind(struct trace_text *text, size_t width, const char *outcome, uint64_t address)
{
    struct pug_sink *sink = text->options.sink;
    const size_t column = code_column(text);
    uint64_t vaddr;
    struct pug_names_file *file = pug_places_find(text->places, text->task, address, &vaddr);
    if (*outcome || file)
        pug_sink_blanks(sink, width < column ? column - width : 1);
    colour(text, *outcome == 't' ? "32" : "35");
    pug_sink_text(sink, outcome);
    if (file)
        pug_sink_blanks(sink, blanks_behind(text, width, column, strlen(outcome)));
    colour(text, "0");
    put_place(text, file, vaddr);
    pug_sink_text(sink, "\n");
}

static void put_text_line(struct trace_text *text, const struct line *line)
{
    const struct pug_element *e = &line->item->element;
    struct pug_sink *sink = text->options.sink;
    const char *words =
        words_of(text, (enum pug_isa)e->isa, line->address, line->bytes, line->size);
    const char *outcome = line->last ? outcome_of(e) : "";
    size_t indent = 2 * (text->depth < INDENT_MOST ? text->depth : INDENT_MOST);
    size_t width = indent + strlen(words);
    colour(text, "33");
    pug_sink_hex_right(sink, line->address, 12);
    pug_sink_text(sink, "  ");
    colour(text, "0");
    pug_sink_blanks(sink, indent);
    pug_sink_text(sink, words);
    put_behind(text, width, outcome, line->address);
}

static void put_json_place(struct trace_text *text, struct pug_json *json, uint64_t address)
{
    struct pug_names_function function;
    struct pug_names_line line;
    uint64_t vaddr;
    struct pug_names_file *file = pug_places_find(text->places, text->task, address, &vaddr);
    if (!file)
        return;
    pug_json_string(json, "object", pug_names_path(file));
    if (pug_names_function(file, vaddr, &function)) {
        pug_json_string(json, "function", name_of(text, function.name));
        pug_json_number(json, "offset", vaddr - function.start);
    }
    if (pug_names_line(file, vaddr, &line) && line.line > 0) {
        pug_json_string(json, "file", line.path);
        pug_json_number(json, "line", line.line);
    }
}

static void put_json_head(struct trace_text *text, struct pug_json *json,
                          const struct trace_item *item)
{
    const struct pug_capture_task *task =
        item->where->task == PUG_NO_TASK
            ? NULL
            : pug_capture_task_at(text->options.capture, item->where->task);
    pug_json_object(json, NULL);
    pug_json_number(json, "index", item->element.index);
    pug_json_number(json, "source", item->element.source);
    if (task)
        pug_json_signed(json, "tid", task->tid);
    if (item->where->time)
        pug_json_number(json, "time", item->where->time);
}

static void put_json_line(struct trace_text *text, const struct line *line)
{
    const struct pug_element *e = &line->item->element;
    struct pug_json json = pug_json_begin(text->options.sink);
    const char *outcome = line->last ? outcome_of(e) : "";
    put_json_head(text, &json, line->item);
    pug_json_hex(&json, "address", line->address);
    pug_json_string(&json, "isa", pug_isa_name((enum pug_isa)e->isa));
    pug_json_number(&json, "size", line->size);
    pug_json_string(&json, "text",
                    words_of(text, (enum pug_isa)e->isa, line->address, line->bytes, line->size));
    if (*outcome)
        pug_json_string(&json, "outcome", outcome);
    pug_json_number(&json, "depth", text->depth);
    put_json_place(text, &json, line->address);
    pug_json_close(&json);
    pug_json_line(&json);
}

static void put_range_line(struct trace_text *text, const struct trace_item *item)
{
    const struct pug_element *e = &item->element;
    struct pug_sink *sink = text->options.sink;
    char words[96];
    snprintf(words, sizeof(words), "to %" PRIx64 ", %" PRIu32 " instruction%s", e->end, e->count,
             e->count == 1 ? "" : "s");
    size_t indent = 2 * (text->depth < INDENT_MOST ? text->depth : INDENT_MOST);
    pug_sink_hex_right(sink, e->start, 12);
    pug_sink_text(sink, "  ");
    pug_sink_blanks(sink, indent);
    pug_sink_text(sink, words);
    put_behind(text, indent + strlen(words), outcome_of(e), e->start);
}

static void put_json_range(struct trace_text *text, const struct trace_item *item)
{
    const struct pug_element *e = &item->element;
    struct pug_json json = pug_json_begin(text->options.sink);
    const char *outcome = outcome_of(e);
    put_json_head(text, &json, item);
    pug_json_hex(&json, "address", e->start);
    pug_json_hex(&json, "end", e->end);
    pug_json_number(&json, "count", e->count);
    pug_json_string(&json, "isa", pug_isa_name((enum pug_isa)e->isa));
    if (*outcome)
        pug_json_string(&json, "outcome", outcome);
    pug_json_number(&json, "depth", text->depth);
    put_json_place(text, &json, e->start);
    pug_json_close(&json);
    pug_json_line(&json);
}

static void put_range(struct trace_text *text, const struct trace_item *item)
{
    struct line line = {
        .item = item, .address = item->element.start, .bytes = item->bytes + item->sizes};
    if (!text->options.instructions || item->sizes == 0) {
        (text->options.json ? put_json_range : put_range_line)(text, item);
        return;
    }
    for (uint32_t i = 0; i < item->sizes; i++) {
        line.size = item->bytes[i];
        line.last = i + 1 == item->element.count;
        if (i >= item->skip)
            (text->options.json ? put_json_line : put_text_line)(text, &line);
        line.address += line.size;
        line.bytes += line.size;
    }
}

/** Do the lines of instructions or the times show it anyhow? */
static bool is_said(const struct trace_item *item)
{
    const struct pug_element *e = &item->element;
    if (e->type == PUG_ELEM_TIMESTAMP)
        return item->where->time != 0 || e->timestamp == 0;

    return e->type == PUG_ELEM_CYCLE_COUNT;
}

static void put_other(struct trace_text *text, const struct trace_item *item)
{
    struct pug_sink *sink = text->options.sink;
    char words[512], name[1024];
    const struct pug_address_space *space = item->where->space;
    if (item->element.type == PUG_ELEM_EXCEPTION && space)
        handlers_of(&text->handlers, pug_address_space_image(space));
    const char *handler = handlers_name(&text->handlers, &item->element, name, sizeof(name));
    pug_element_words(&item->element, words, sizeof(words));
    if (text->options.json) {
        struct pug_json json = pug_json_begin(sink);
        put_json_head(text, &json, item);
        pug_json_string(&json, "event", words);
        if (handler)
            pug_json_string(&json, "handler", handler);
        pug_json_close(&json);
        pug_json_line(&json);
        return;
    }
    colour(text, "1");
    pug_sink_text(sink, "-- ");
    pug_sink_printable(sink, words);
    pug_sink_text(sink, handler ? ", handled by " : "");
    pug_sink_printable(sink, handler ? handler : "");
    colour(text, "0");
    pug_sink_text(sink, "\n");
}

static void put_time(struct trace_text *text, uint64_t time)
{
    const struct pug_capture_time times = pug_capture_times(text->options.capture);
    struct pug_sink *sink = text->options.sink;
    colour(text, "1");
    if (times.unit == PUG_CAPTURE_NANOSECONDS)
        pug_sink_format(sink, "-- at %" PRIu64 ".%09" PRIu64 " s\n", time / 1000000000,
                        time % 1000000000);
    else
        pug_sink_format(sink, "-- at %" PRIu64 " ticks\n", time);
    colour(text, "0");
}

/** Put a timestamp at its place, in the capture's unit, as --from-time takes it. */
static void put_timestamp(struct trace_text *text, const struct trace_item *item)
{
    uint64_t time = item->element.timestamp;
    (void)pug_capture_clock(text->options.capture, time, &time);
    put_time(text, time);
}

static void put_task(struct trace_text *text, const struct trace_item *item)
{
    char words[96];
    pug_places_task_words(text->places, item, words, sizeof(words));
    colour(text, "1");
    pug_sink_text(text->options.sink, "-- ");
    pug_sink_printable(text->options.sink, words);
    colour(text, "0");
    pug_sink_text(text->options.sink, "\n");
}

/* ---- following ---- */

/** Depths are asked for where they are needed. */
static void on_call(void *context, const struct pug_call_event *event)
{
    (void)context;
    (void)event;
}

static uint32_t depth_of(const struct trace_text *text)
{
    const struct pug_call_frame *frames;
    uint32_t count = pug_calls_stack(text->calls, text->task, &frames);
    return count > 0 ? count - 1 : 0;
}

/** The task's last time; NULL: no memory. */
static uint64_t *time_of(struct trace_text *text, uint32_t task)
{
    if (task >= text->time_count) {
        uint32_t count = task + task / 2 + 16;
        uint64_t *times = realloc(text->times, count * sizeof(*times));
        if (!times)
            return NULL;
        memset(times + text->time_count, 0, (count - text->time_count) * sizeof(*times));
        text->times = times;
        text->time_count = count;
    }
    return &text->times[task];
}

static bool follow(struct trace_text *text, const struct trace_item *item)
{
    const uint32_t task = pug_places_task(item);
    uint64_t *time = time_of(text, task);
    if (!time || !pug_places_follow(text->places, item))
        return false;
    if (task != text->task && !text->options.json)
        put_task(text, item);
    text->task = task;
    if (item->where->time && item->where->time != *time && !text->options.json)
        put_time(text, item->where->time);
    *time = item->where->time;
    return true;
}

bool trace_text_print(struct trace_text *text, const struct trace_item *item)
{
    const struct pug_element *e = &item->element;
    const uint32_t task = pug_places_task(item);
    if (e->type == PUG_ELEM_EO_TRACE && task >= text->time_count)
        return true; /* of a source that said nothing */
    if (!follow(text, item))
        return false;
    enum pug_status status = pug_calls_take(text->calls, task, e, 1);
    text->depth = depth_of(text);
    if (e->type == PUG_ELEM_INSTR_RANGE)
        put_range(text, item);
    else if (!is_said(item) && e->type == PUG_ELEM_TIMESTAMP && !text->options.json)
        put_timestamp(text, item);
    else if (!is_said(item))
        put_other(text, item);
    return status != PUG_ERR_MEM && pug_disasm_status(text->disasm) == PUG_OK;
}

const char *trace_text_lack(const struct trace_text *text)
{
    return text->no_words ? "instructions are numbers: no LLVM was found to write them as words"
                          : NULL;
}

struct trace_text *trace_text_new(const struct trace_text_options *options)
{
    struct trace_text *text = calloc(1, sizeof(*text));
    if (!text)
        return NULL;
    text->options = *options;
    text->task = UINT32_MAX;
    text->words = calloc(KEPT, sizeof(*text->words));
    text->places = pug_places_new(options->capture, options->names);
    const struct pug_calls_config calls = {
        .locate = pug_places_locate, .locate_context = text->places, .event = on_call};
    if (!text->words || !text->places || pug_disasm_new(NULL, &text->disasm) != PUG_OK ||
        pug_calls_new(&calls, &text->calls) != PUG_OK) {
        trace_text_free(text);
        return NULL;
    }
    return text;
}

void trace_text_free(struct trace_text *text)
{
    if (!text)
        return;
    pug_disasm_free(text->disasm);
    pug_calls_free(text->calls);
    free(text->words);
    pug_places_free(text->places);
    free(text->times);
    free(text);
}
