// SPDX-License-Identifier: MIT
/** @file pugmark serve: gives an input to other programs while it is read. */
#include "clients.h"
#include "common/command.h"
#include "common/json_lines.h"
#include "common/output.h"
#include "events/dwt_sources.h"
#include "pugmark/author/transport.h"
#include "recorder/orbflow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct serve_options {
    struct input_options input;
    uint64_t port;
    const char *bind;
};

static bool take_port(const struct option *option, void *target, const char *argument)
{
    uint64_t port;
    if (!parse_number(argument, &port) || port == 0 || port > 65535 - CLIENT_KINDS)
        return option_refuse(option, argument,
                             "expected a port; the three behind it are taken, too");
    *(uint64_t *)target = port;
    return true;
}

static const struct option table[] = {
    {"port", "N",
     "JSON lines here (default 3400), text of port 0 at N+1, raw bytes at N+2, ORBFLOW at N+3",
     take_port, offsetof(struct serve_options, port)},
    {"bind", "HOST", "address to listen at (default: 127.0.0.1, this machine alone)", option_string,
     offsetof(struct serve_options, bind)},
};

/* A line of a stimulus port that does not end is given in pieces of this. */
#define LINE_MOST 1024u
#define PORTS     256u
/* Longer packets of ORBFLOW are dropped by its readers. */
#define PACKET_MOST 4094u

struct line {
    char *text; /* LINE_MOST, from the first byte on */
    size_t size;
};

struct serving {
    struct input *input;
    struct clients *clients;
    struct dwt_sources *sources; /* NULL: it has no ITM */
    struct output_text_buffer lines;
    struct line ports[PORTS];
    bool single; /* raw bytes are those of the source */
};

/* ---- JSON lines ---- */

/** Give what was formatted since output_to(). */
static void give_lines(struct serving *serving)
{
    struct output_text_buffer *lines = &serving->lines;
    output_to(NULL);
    for (size_t at = 0; at < lines->count && !lines->failed;) {
        const char *end = memchr(lines->bytes + at, '\n', lines->count - at);
        const size_t size = end ? (size_t)(end - lines->bytes) + 1 - at : lines->count - at;
        clients_put(serving->clients, CLIENT_JSON, lines->bytes + at, size);
        at += size;
    }
    lines->count = 0;
}

static void put_text(unsigned port, const char *text, size_t size)
{
    struct pug_json json = pug_json_begin(output_sink());
    pug_json_object(&json, NULL);
    pug_json_string(&json, "type", "itm");
    pug_json_number(&json, "port", port);
    pug_json_string_n(&json, "text", text, size);
    pug_json_close(&json);
    pug_json_line(&json);
}

static void end_line(struct serving *serving, unsigned port)
{
    struct line *line = &serving->ports[port];
    if (line->size > 0)
        put_text(port, line->text, line->size);
    line->size = 0;
}

static void put_byte(struct serving *serving, unsigned port, char byte)
{
    struct line *line = &serving->ports[port];
    if (!line->text && !(line->text = malloc(LINE_MOST)))
        return;
    line->text[line->size++] = byte;
    if (byte == '\n' || line->size == LINE_MOST)
        end_line(serving, port);
}

static void take_write(struct serving *serving, const struct pug_dwt_event *event)
{
    char text[4];
    size_t size = 0;
    for (unsigned i = 0; i < event->size; i++)
        if ((text[size] = (char)(event->value >> 8 * i)) != 0)
            size++;
    for (size_t i = 0; i < size && event->number < PORTS; i++)
        put_byte(serving, event->number, text[i]);
    if (event->number == 0 && size > 0)
        clients_put(serving->clients, CLIENT_TEXT, text, size);
}

static void take_events(struct serving *serving, const struct pug_dwt *dwt, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pug_dwt_event *event = &dwt->events[i];
        char words[256];
        if (!input_wants(serving->input, event->source))
            continue;
        if (event->kind == PUG_DWT_STIMULUS) {
            take_write(serving, event);
            continue;
        }
        pug_dwt_text(event, words, sizeof(words));
        json_dwt_line(event, words);
    }
}

static bool is_event(const struct pug_element *e)
{
    return e->type == PUG_ELEM_ITMTRACE && (e->reason == PUG_ITM_SWIT || e->reason == PUG_ITM_DWT);
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct serving *serving = context;
    (void)taken;
    output_to(&serving->lines);
    for (size_t i = 0; i < count; i++) {
        struct pug_dwt *dwt =
            serving->sources ? pug_dwt_sources_find(serving->sources, elements[i].source) : NULL;
        if (dwt)
            take_events(serving, dwt, pug_dwt_push(dwt, &elements[i]));
        if (!(dwt && is_event(&elements[i])) && input_wants(serving->input, elements[i].source) &&
            clients_want(serving->clients, CLIENT_JSON))
            json_element_line(&elements[i], NULL);
    }
    for (unsigned port = 0; port < PORTS; port++)
        end_line(serving, port);
    give_lines(serving);
    return PUG_RESP_CONT;
}

/* ---- bytes ---- */

static void give_packets(struct serving *serving, uint8_t tag, const uint8_t *bytes, size_t size)
{
    struct rec_bytes packet = {0};
    for (size_t at = 0; at < size;) {
        const size_t part = size - at < PACKET_MOST ? size - at : PACKET_MOST;
        packet.size = 0;
        rec_orbflow(&packet, tag, bytes + at, part);
        if (!packet.failed)
            clients_put(serving->clients, CLIENT_ORBFLOW, packet.data, packet.size);
        at += part;
    }
    rec_bytes_free(&packet);
}

static void on_bytes(void *context, const uint8_t *bytes, size_t size)
{
    struct serving *serving = context;
    clients_put(serving->clients, CLIENT_RAW, bytes, size);
    if (serving->single && clients_want(serving->clients, CLIENT_ORBFLOW))
        give_packets(serving, 1, bytes, size);
}

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t source, const uint8_t *bytes, size_t size)
{
    struct serving *serving = context;
    (void)index;
    if (op == PUG_OP_DATA && kind == PUG_FRAME_ID_DATA && source > 0 && source < 256)
        give_packets(serving, (uint8_t)source, bytes, size);
}

/* ---- ---- */

static bool greet(struct serving *serving)
{
    const struct pug_capture_source *source;
    struct pug_json json = pug_json_begin(output_sink());
    output_to(&serving->lines);
    pug_json_object(&json, NULL);
    pug_json_string(&json, "pugmark", pug_version());
    pug_json_array(&json, "sources");
    for (size_t n = 0; (source = pug_capture_source_at(serving->input->capture, n)) != NULL; n++) {
        pug_json_object(&json, NULL);
        pug_json_number(&json, "id", source->id);
        pug_json_string(&json, "protocol", source->protocol);
        pug_json_string(&json, "name", source->name);
        pug_json_close(&json);
    }
    pug_json_close(&json);
    pug_json_close(&json);
    pug_json_line(&json);
    output_to(NULL);
    const bool good = !serving->lines.failed &&
                      clients_start(serving->clients, serving->lines.bytes, serving->lines.count);
    serving->lines.count = 0;
    return good;
}

static int decode(struct serving *serving)
{
    struct input *input = serving->input;
    if (!input_tree(input, true))
        return EXIT_INPUT;
    if (!pug_dwt_sources_new(input->tree, false, &serving->sources)) {
        input_starve(input);
        return EXIT_FATAL;
    }
    serving->single = pug_tree_transport(input->tree)->single;
    input->on_bytes = on_bytes;
    input->bytes_context = serving;
    if (!serving->single)
        (void)pug_tree_on_frames(input->tree, on_frame, serving, 2);
    if (!greet(serving))
        return EXIT_FATAL;
    input_run_elements(input, on_elements, serving, NULL);
    return input_result(input);
}

static int serve_run(const struct command *self, int argc, char **argv)
{
    struct serve_options options = {.port = 3400, .bind = "127.0.0.1"};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    const int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    struct input input;
    struct serving serving = {.input = &input,
                              .clients = clients_new(options.bind, (unsigned)options.port)};
    if (!serving.clients)
        return EXIT_INPUT;
    int code = EXIT_INPUT;
    if (!input_open(&input, &options.input, argv[1])) {
        clients_end(serving.clients);
        return input.failure;
    }
    code = decode(&serving);
    clients_end(serving.clients);
    pug_dwt_sources_free(serving.sources);
    for (unsigned port = 0; port < PORTS; port++)
        free(serving.ports[port].text);
    free(serving.lines.bytes);
    input_close(&input);
    return code;
}

const struct command command_serve = {
    .name = "serve",
    .operands = "INPUT",
    .summary = "give a live input to other programs: JSON lines, text, raw bytes, ORBFLOW",
    .run = serve_run,
    .task = TASK_LIVE,
    .purpose = "Reads a live input once and gives it to several programs over TCP: elements as "
               "JSON lines, the text of port 0, the raw bytes, and ORBFLOW.",
    .examples =
        {
            {"pugmark serve openocd", "serves OpenOCD's SWO stream at ports 3400 to 3403"},
            {"pugmark serve --port 5000 serial:/dev/ttyACM0@2000000",
             "a serial line, at ports 5000 to 5003"},
            {"pugmark serve --bind 0.0.0.0 jlink", "to other machines, too"},
        },
};
