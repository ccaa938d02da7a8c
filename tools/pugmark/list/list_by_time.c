// SPDX-License-Identifier: MIT
/** @file pugmark list: elements of all buffers in the order of time. */
#include "base/text.h"
#include "by_time.h"
#include "common/command.h"
#include "common/json_lines.h"
#include "common/messages.h"
#include "common/output.h"
#include "element_lines.h"
#include "list.h"
#include "pugmark/dwt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct by_time_state {
    const struct list_options *options;
    const struct input *input;
    const struct pug_correlate *correlate;
};

static const char *when_word(const struct pug_correlated *e)
{
    static const char *const words[] = {"at", "cycles", "after", "before", "unknown"};
    return words[e->when];
}

/** Blanks up to a width. */
static void pad(struct pug_text *text, size_t length, size_t width)
{
    static const char blanks[] = "                ";
    if (length < width)
        pug_text_put_n(text, blanks, width - length);
}

/** What a DWT says, in words; of other elements the usual text. */
static void put_element(const struct pug_element *e, const char *front)
{
    struct pug_dwt_event event;
    char words[256];
    if (!pug_dwt_meaning(e, &event) || event.kind == PUG_DWT_STIMULUS) {
        element_line_text(e, front);
        return;
    }
    pug_dwt_text(&event, words, sizeof(words));
    output_text("%s%10" PRIu64 "  %02x  ITMTRACE(%s%s)\n", front, e->index, e->source,
                e->flags & PUG_ELEM_OVERFLOW ? "ITM_OVERFLOW; " : "", words);
}

static void put_text(const struct pug_correlated *e, const struct pug_capture_buffer *buffer)
{
    char when[48], front[160];
    struct pug_text text = PUG_TEXT(front, sizeof(front));
    struct pug_memory room = {0};
    const char *name = pug_printable(buffer && buffer->name ? buffer->name : "", &room);
    const size_t length = strnlen(name, 64);
    by_time_text(e, when);
    pad(&text, strlen(when), 16);
    pug_text_put(&text, when);
    pug_text_put(&text, "  ");
    pug_text_put_n(&text, name, length);
    pad(&text, length, 8);
    (void)pug_text_end(&text);
    put_element(&e->element, front);
    free(room.bytes);
}

static void put_json(const struct pug_correlated *e, uint32_t number)
{
    struct pug_json json = pug_json_begin(output_sink());
    pug_json_object(&json, NULL);
    pug_json_string(&json, "when", when_word(e));
    pug_json_number(&json, "time", e->time);
    pug_json_number(&json, "cycles", e->cycles);
    pug_json_number(&json, "buffer", number);
    json_element(&json, &e->element);
    pug_json_close(&json);
    pug_json_line(&json);
}

/** An element, and before it when it was, and in which buffer. */
static void put_correlated(const struct by_time_state *state, const struct pug_correlated *e,
                           uint32_t number)
{
    char front[160];
    switch (state->options->format) {
    case LIST_TEXT: put_text(e, pug_capture_buffer_at(state->input->capture, number)); break;
    case LIST_JSONL: put_json(e, number); break;
    case LIST_CSV:
        snprintf(front, sizeof(front), "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", when_word(e),
                 e->time, e->cycles, number);
        element_line_csv(&e->element, front);
        break;
    }
}

static bool list_correlated(void *context, const struct pug_correlated *elements, size_t count)
{
    const struct by_time_state *state = context;
    const struct list_options *options = state->options;
    struct pug_correlate_stream stream;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i].element;
        if (e->index < options->from || e->index >= options->to ||
            (options->types && !(options->types & UINT32_C(1) << e->type)))
            continue;
        pug_correlate_stream(state->correlate, elements[i].stream, &stream);
        put_correlated(state, &elements[i], stream.buffer);
    }
    return output_wanted();
}

int list_by_time(const struct list_options *options, const char *operand)
{
    struct input input;
    struct pug_correlate *correlate;
    struct by_time_state state = {.options = options, .input = &input};
    const struct pug_correlate_config config = {.give = list_correlated, .context = &state};
    if (!input_open(&input, &options->input, operand))
        return input.failure;
    int code = EXIT_INPUT;
    if (pug_correlate_new(&config, &correlate) == PUG_OK) {
        state.correlate = correlate;
        if (options->format == LIST_CSV)
            output_text("when,time,cycles,buffer," ELEMENT_CSV_HEADER);
        code = by_time_run(&input, correlate);
        by_time_tell(&input, correlate);
        pug_correlate_free(correlate);
    } else {
        message_say("pugmark: %s: %s\n", operand, pug_status_text(PUG_ERR_MEM));
    }
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}
