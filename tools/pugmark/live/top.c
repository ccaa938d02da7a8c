// SPDX-License-Identifier: MIT
/** @file pugmark top: what an input is busy with, refreshed twice a second. */
#include "common/command.h"
#include "common/output.h"
#include "events/dwt_sources.h"
#include "input/live_input.h"
#include "screen.h"
#include "table.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct top_options {
    struct input_options input;
    bool json;
};

static const struct option table_of_options[] = {
    {"json", NULL, "one JSON object a line, instead of the table", option_flag,
     offsetof(struct top_options, json)},
};

#define REFRESH_MS 500

struct top {
    const struct top_options *options;
    struct input *input;
    struct dwt_sources *sources; /* NULL: it has no ITM */
    pthread_mutex_t lock;        /* guards the table */
    struct top_table table;
    enum top_sort sort;
    int source; /* that is shown; -1: all */
    bool screen;
    struct top_table *frozen; /* what is shown while it pauses; or NULL */
    atomic_bool over;
    double start, second;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- what comes ---- */

static void take_events(struct top *top, const struct pug_dwt *dwt, size_t count)
{
    for (size_t i = 0; i < count; i++)
        top_table_event(&top->table, &dwt->events[i]);
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct top *top = context;
    (void)taken;
    pthread_mutex_lock(&top->lock);
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (!input_wants(top->input, e->source) || (top->source >= 0 && top->source != e->source))
            continue;
        struct pug_dwt *dwt = top->sources ? pug_dwt_sources_find(top->sources, e->source) : NULL;
        if (dwt)
            take_events(top, dwt, pug_dwt_push(dwt, e));
        top_table_element(&top->table, e);
    }
    pthread_mutex_unlock(&top->lock);
    return PUG_RESP_CONT;
}

static void on_bytes(void *context, const uint8_t *bytes, size_t size)
{
    struct top *top = context;
    (void)bytes;
    pthread_mutex_lock(&top->lock);
    top->table.bytes += size;
    pthread_mutex_unlock(&top->lock);
}

/* ---- what is shown ---- */

static void count_seconds(struct top *top)
{
    const double time = now();
    if (time - top->second >= 1 || top->over) {
        top_table_second(&top->table, time - top->start, time - top->second);
        top->second = time;
    }
    top->table.seconds = time - top->start;
}

static void show(struct top *top, unsigned rows, unsigned columns)
{
    struct output_text_buffer text = {0};
    char source[16] = "";
    if (top->source >= 0)
        snprintf(source, sizeof(source), "0x%02x", (unsigned)top->source);
    output_to(&text);
    pthread_mutex_lock(&top->lock);
    count_seconds(top);
    if (top->options->json)
        top_table_json(&top->table, output_sink(), top->sort);
    else
        top_table_print(top->frozen ? top->frozen : &top->table, output_sink(),
                        rows - (top->screen && rows > 1), columns, top->sort, source);
    pthread_mutex_unlock(&top->lock);
    if (top->screen)
        output_text("%.*s", (int)columns,
                    top->frozen ? "paused; keys: p go on, s sort, r reset, o source, q quit"
                                : "keys: p pause, s sort, r reset, o source, q quit");
    output_to(NULL);
    if (top->screen)
        screen_draw(text.bytes, text.count);
    else
        output_buffer(&text);
    free(text.bytes);
}

/** Chooses the next source of the tree; after the last one all of them. */
static void next_source(struct top *top)
{
    const struct pug_source *source;
    int next = -1;
    for (size_t n = 0; (source = pug_tree_source_at(top->input->tree, n)) != NULL; n++) {
        const int id = pug_source_id(source);
        if (id > top->source && (next < 0 || id < next))
            next = id;
    }
    pthread_mutex_lock(&top->lock);
    top->source = next;
    top_table_reset(&top->table);
    pthread_mutex_unlock(&top->lock);
}

static void go_on(struct top *top)
{
    if (top->frozen)
        free(top->frozen->functions);
    free(top->frozen);
    top->frozen = NULL;
}

/** What is shown now stays, whatever comes. */
static void freeze(struct top *top)
{
    const size_t size = (TOP_FUNCTIONS + 1) * sizeof(*top->table.functions);
    struct top_table *frozen = malloc(sizeof(*frozen));
    struct top_function *functions = malloc(size);
    if (!frozen || !functions) {
        free(frozen);
        free(functions);
        return;
    }
    pthread_mutex_lock(&top->lock);
    *frozen = top->table;
    memcpy(functions, top->table.functions, size);
    pthread_mutex_unlock(&top->lock);
    frozen->functions = functions;
    top->frozen = frozen;
}

static void take_key(struct top *top, int key)
{
    switch (tolower(key)) {
    case 's': top->sort = (top->sort + 1) % TOP_SORTS; break;
    case 'p':
        if (top->frozen)
            go_on(top);
        else
            freeze(top);
        break;
    case 'o':
        go_on(top);
        next_source(top);
        break;
    case 'q': live_stop(); break;
    case 'r':
        go_on(top);
        pthread_mutex_lock(&top->lock);
        top_table_reset(&top->table);
        pthread_mutex_unlock(&top->lock);
        break;
    default: break;
    }
}

static void draw(struct top *top)
{
    unsigned rows, columns;
    screen_size(&rows, &columns);
    show(top, rows, columns);
}

/** A table a second in lines, or a page twice a second. */
static void *refresh(void *context)
{
    struct top *top = context;
    double last = now();
    while (!top->over) {
        const int key = screen_key(top->screen ? REFRESH_MS : 100);
        if (key)
            take_key(top, key);
        if (top->over)
            continue;
        if (top->screen)
            draw(top);
        else if (now() - last >= 1) {
            last = now();
            show(top, 20, 200);
            if (!output_wanted())
                live_stop();
        }
    }
    return NULL;
}

/* ---- ---- */

static int decode(struct top *top)
{
    struct input *input = top->input;
    pthread_t thread;
    if (!input_tree(input, true))
        return EXIT_INPUT;
    if (!pug_dwt_sources_new(input->tree, true, &top->sources) ||
        !top_table_open(&top->table, input->image)) {
        input_starve(input);
        return EXIT_FATAL;
    }
    input->on_bytes = on_bytes;
    input->bytes_context = top;
    top->start = top->second = now();
    if (top->screen)
        screen_begin(strcmp(pug_capture_path(input->capture), "-") != 0);
    const bool begun = pthread_create(&thread, NULL, refresh, top) == 0;
    input_run_elements(input, on_elements, top, output_wanted);
    top->over = true;
    if (begun)
        pthread_join(thread, NULL);
    unsigned rows = 60, columns = 200;
    if (top->screen)
        screen_size(&rows, &columns);
    screen_end();
    top->screen = false;
    go_on(top);
    struct pug_dwt *dwt;
    for (size_t n = 0; top->sources && (dwt = pug_dwt_sources_at(top->sources, n)) != NULL; n++)
        take_events(top, dwt, pug_dwt_finish(dwt));
    show(top, rows, columns);
    return begun ? input_result(input) : EXIT_FATAL;
}

static int top_run(const struct command *self, int argc, char **argv)
{
    struct top_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table_of_options, &options),
                                      INPUT_OPTIONS(&options.input)};
    const int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    struct input input;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    struct top top = {.options = &options,
                      .input = &input,
                      .source = -1,
                      .screen = !options.json && screen_is_there()};
    pthread_mutex_init(&top.lock, NULL);
    const int code = decode(&top);
    pthread_mutex_destroy(&top.lock);
    top_table_close(&top.table);
    pug_dwt_sources_free(top.sources);
    input_close(&input);
    const int written = output_end();
    return written ? written : code;
}

const struct command command_top = {
    .name = "top",
    .operands = "INPUT",
    .summary = "what an input is busy with: functions, interrupts, ports; refreshed",
    .run = top_run,
    .task = TASK_LIVE,
    .purpose = "Shows what the target is doing now: functions by their share, interrupts with "
               "their times, the text of ports, losses. On a terminal it refreshes twice a second.",
    .examples =
        {
            {"pugmark top openocd --elf firmware.elf",
             "what the target is busy with, by OpenOCD's SWO stream"},
            {"pugmark top --json orbuculum", "one object a second for scripts"},
            {"pugmark top --for 10s pyocd --elf firmware.elf", "ten seconds, then a table of all"},
        },
};
