// SPDX-License-Identifier: MIT
#include "support/case.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"

#include "support/case_file.h"

#include "pugmark/pugmark.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what came out ---- */

/** Lines of what was seen: '=' packets, '>' elements, '!' log, '~' answers. */
struct seen {
    char **lines;
    size_t count, room;
};

__attribute__((format(printf, 2, 3))) static void seen_add(struct seen *seen, const char *format,
                                                           ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (seen->count == seen->room) {
        seen->room = seen->room ? seen->room * 2 : 64;
        seen->lines = case_realloc(seen->lines, seen->room * sizeof(*seen->lines));
    }
    text[strcspn(text, "\n")] = '\0';
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0'; /* as in the files */
    seen->lines[seen->count++] = case_copy(text);
}

static void seen_free(struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        free(seen->lines[i]);
    free(seen->lines);
    *seen = (struct seen){0};
}

/* ---- one run of a case ---- */

/** How a case is run. */
struct way {
    const char *name;
    bool monitor;   /**< packets are looked at, elements come after each packet */
    bool single;    /**< bytes one by one */
    bool packets;   /**< a tree reads packets, and hands them to one that decodes */
    unsigned every; /**< the consumer waits at every n-th element; 0: never */
};

struct run {
    const struct case_case *test;
    const struct way *way;
    struct pug_tree *tree;
    struct pug_source *source;
    struct pug_tree *reading; /**< NULL: the tree reads itself */
    struct pug_image *image;
    struct pug_log *log;
    struct seen seen;
    uint64_t index;    /**< of the next byte */
    uint64_t elements; /**< so far */
};

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct run *run = context;
    char text[2048] = "";
    if (op != PUG_OP_DATA)
        return;
    pug_source_protocol(run->source)->packet_text(packet->data, text, sizeof(text));
    seen_add(&run->seen, "= %llu %s", (unsigned long long)packet->index, text);
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct run *run = context;
    for (size_t i = 0; i < count; i++) {
        char text[2048];
        pug_element_text(&elements[i], text, sizeof(text));
        seen_add(&run->seen, "> %llu %s", (unsigned long long)elements[i].index, text);
        *taken = i + 1;
        run->elements++;
        if (run->elements == run->test->wait_at ||
            (run->way->every && run->elements % run->way->every == 0))
            return PUG_RESP_WAIT;
    }
    return PUG_RESP_CONT;
}

static void on_log(void *context, const struct pug_log_record *record)
{
    static const char *const severities[] = {"none", "error", "warning", "info"};
    struct run *run = context;
    char index[24] = "-";
    if (record->index != PUG_NO_INDEX)
        snprintf(index, sizeof(index), "%llu", (unsigned long long)record->index);
    seen_add(&run->seen, "! %s %d %s %s", severities[record->severity & 3], -record->code, index,
             record->text ? record->text : "");
}

/** A packet for the tree that decodes, with the flushes that it needs. */
static enum pug_response hand_over(void *context, enum pug_op op, const struct pug_packet *packet)
{
    const struct run *run = context;
    enum pug_response answer = PUG_RESP_CONT;
    if (op == PUG_OP_FLUSH)
        return answer;
    answer = pug_source_packet(run->source, op, packet);
    while (PUG_RESP_IS_WAIT(answer))
        answer = pug_source_packet(run->source, PUG_OP_FLUSH, NULL);
    return answer;
}

/** A tree that reads packets for the run's own. */
static enum pug_status start_reading(struct run *run, struct pug_tree_config *config,
                                     struct pug_source_config *source)
{
    struct pug_source *reader;
    config->log = NULL;
    source->decode = false;
    enum pug_status status = pug_tree_new(config, &run->reading);
    if (status == PUG_OK)
        status = pug_tree_add_source(run->reading, source, &reader);
    return status == PUG_OK ? pug_source_sink(reader, hand_over, run) : status;
}

static bool start(struct run *run)
{
    const struct case_case *test = run->test;
    run->image = pug_image_new();
    run->log = pug_log_new(PUG_SEV_INFO);
    pug_log_set_sink(run->log, on_log, run);
    for (size_t i = 0; i < test->memory_count; i++) {
        const struct case_memory *memory = &test->memory[i];
        struct pug_place place = {.space = memory->space};
        if (pug_image_add_buffer(run->image, &place, memory->address, memory->bytes,
                                 memory->size) != PUG_OK) {
            fprintf(stderr, "%s: memory at 0x%llx is refused\n", test->title,
                    (unsigned long long)memory->address);
            return false;
        }
    }
    struct pug_tree_config config = {
        .transport = test->transport,
        .settings = {.items = test->transport_settings, .count = test->transport_setting_count},
        .image = run->image,
        .log = run->log,
        .quirks = test->quirks,
    };
    struct pug_source_config source = {
        .protocol = test->protocol,
        .settings = {.items = test->settings, .count = test->setting_count},
        .decode = !test->packets_only,
        .options = test->options,
    };
    enum pug_status status = pug_tree_new(&config, &run->tree);
    if (status == PUG_OK)
        status = pug_tree_add_source(run->tree, &source, &run->source);
    if (status == PUG_OK && run->way->packets)
        status = start_reading(run, &config, &source);
    if (status != PUG_OK) {
        fprintf(stderr, "%s: no source: %s\n", test->title, pug_status_text(status));
        return false;
    }
    pug_tree_on_elements(run->tree, on_elements, run);
    if (run->way->monitor)
        pug_source_monitor(run->source, on_packet, run);
    return true;
}

static void stop(struct run *run)
{
    pug_tree_free(run->reading);
    pug_tree_free(run->tree);
    pug_image_free(run->image);
    pug_log_free(run->log);
    seen_free(&run->seen);
}

/** One operation, with the flushes that a waiting consumer needs. */
static enum pug_response operate(struct run *run, enum pug_op op, const uint8_t *bytes, size_t size)
{
    size_t done = 0;
    for (;;) {
        size_t used = 0;
        enum pug_response answer =
            pug_tree_op(run->reading ? run->reading : run->tree, op, run->index,
                        op == PUG_OP_DATA ? bytes + done : NULL, size - done, &used);
        run->index += used;
        done += used;
        while (PUG_RESP_IS_WAIT(answer))
            answer = pug_tree_flush(run->tree);
        if (op != PUG_OP_DATA || PUG_RESP_IS_FATAL(answer) || done == size)
            return answer;
    }
}

static enum pug_response take_step(struct run *run, const struct case_step *step)
{
    enum pug_response answer = PUG_RESP_CONT;
    if (step->op == PUG_OP_RESET)
        run->index = 0;
    if (step->op != PUG_OP_DATA || !run->way->single)
        return operate(run, step->op, step->bytes, step->size);
    for (size_t i = 0; i < step->size && !PUG_RESP_IS_FATAL(answer); i++)
        answer = operate(run, PUG_OP_DATA, step->bytes + i, 1);
    return answer;
}

/* ---- comparing ---- */

static const char *response_name(enum pug_response response)
{
    static const char *const names[] = {"CONT",
                                        "WARN_CONT",
                                        "ERR_CONT",
                                        "WAIT",
                                        "WARN_WAIT",
                                        "ERR_WAIT",
                                        "FATAL_NOT_INIT",
                                        "FATAL_INVALID_OP",
                                        "FATAL_INVALID_PARAM",
                                        "FATAL_INVALID_DATA",
                                        "FATAL_SYS_ERR"};
    return (unsigned)response < sizeof(names) / sizeof(names[0]) ? names[response] : "?";
}

static bool has_kind(const struct case_step *step, char kind)
{
    for (size_t i = 0; i < step->expect_count; i++)
        if (step->expects[i].text[0] == kind)
            return true;
    return false;
}

/** Compare the effects of one step with its lines. */
static bool compare_step(const struct run *run, const struct case_step *step, size_t from,
                         enum pug_response answer)
{
    bool packets = has_kind(step, '=');
    size_t at = from;
    int line = step->line;
    for (size_t i = 0;; i++) {
        while (at < run->seen.count && run->seen.lines[at][0] == '=' && !packets)
            at++;
        while (i < step->expect_count &&
               (step->expects[i].text[0] == '~' || strcmp(step->expects[i].text, "=") == 0))
            i++;
        const char *want = i < step->expect_count ? step->expects[i].text : NULL;
        const char *got = at < run->seen.count ? run->seen.lines[at++] : NULL;
        if (want)
            line = step->expects[i].line;
        if (!want && !got)
            break;
        if (!want || !got || strcmp(want, got) != 0) {
            fprintf(stderr, "%s:%d: %s:\n  want %s\n  got  %s\n", run->test->file, line,
                    run->test->title, want ? want : "nothing more", got ? got : "nothing more");
            return false;
        }
    }
    char text[64];
    snprintf(text, sizeof(text), "~ %s", response_name(answer));
    for (size_t i = 0; i < step->expect_count; i++)
        if (step->expects[i].text[0] == '~' && strcmp(step->expects[i].text, text) != 0) {
            fprintf(stderr, "%s:%d: %s: answers %s\n", run->test->file, step->expects[i].line,
                    run->test->title, text);
            return false;
        }
    if (!has_kind(step, '~') && !PUG_RESP_IS_CONT(answer)) {
        fprintf(stderr, "%s:%d: %s: answers %s\n", run->test->file, step->line, run->test->title,
                text);
        return false;
    }
    return true;
}

/** The next line of a kind. */
static const char *next_of(const struct seen *seen, char kind, size_t *at)
{
    while (*at < seen->count)
        if (seen->lines[(*at)++][0] == kind)
            return seen->lines[*at - 1];
    return NULL;
}

static bool same_lines(const struct run *a, const struct run *b, char kind)
{
    size_t at_a = 0, at_b = 0;
    for (;;) {
        const char *want = next_of(&a->seen, kind, &at_a);
        const char *got = next_of(&b->seen, kind, &at_b);
        if (!want && !got)
            return true;
        if (!want || !got || strcmp(want, got) != 0) {
            fprintf(stderr, "%s: %s: not the same with %s:\n  want %s\n  got  %s\n", a->test->file,
                    a->test->title, b->way->name, want ? want : "nothing more",
                    got ? got : "nothing more");
            return false;
        }
    }
}

/** Run the whole case some way and compare with how it went before. */
static bool run_again(const struct run *first, const struct way *way)
{
    struct run run = {.test = first->test, .way = way};
    bool good = start(&run);
    enum pug_response answer = PUG_RESP_CONT;
    for (size_t i = 0; good && i < run.test->step_count && !PUG_RESP_IS_FATAL(answer); i++)
        answer = take_step(&run, &run.test->steps[i]);
    good = good && same_lines(first, &run, '>') && (way->packets || same_lines(first, &run, '!')) &&
           (!way->monitor || same_lines(first, &run, '='));
    stop(&run);
    return good;
}

static bool run_case(const struct case_case *test)
{
    static const struct way plain = {.name = "one operation a line", .monitor = true};
    static const struct way ways[] = {
        {.name = "one byte at a time", .monitor = true, .single = true},
        {.name = "batches"},
        {.name = "batches, one byte at a time", .single = true},
        {.name = "a wait at each element", .every = 1},
        {.name = "a wait at each second element", .monitor = true, .every = 2},
        {.name = "a wait at each third element", .single = true, .every = 3},
        {.name = "packets", .packets = true},
        {.name = "packets, and a wait at each second element", .packets = true, .every = 2},
    };
    struct run run = {.test = test, .way = &plain};
    bool good = start(&run);
    enum pug_response answer = PUG_RESP_CONT;
    for (size_t i = 0; good && i < test->step_count; i++) {
        if (PUG_RESP_IS_FATAL(answer)) {
            fprintf(stderr, "%s:%d: %s: not reached\n", test->file, test->steps[i].line,
                    test->title);
            good = false;
            break;
        }
        size_t from = run.seen.count;
        answer = take_step(&run, &test->steps[i]);
        good = compare_step(&run, &test->steps[i], from, answer);
    }
    /* Framed bytes only come in whole frames; a case with its own wait is about that wait. */
    for (size_t i = 0; good && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (!(ways[i].single && test->transport) && !(ways[i].every && test->wait_at) &&
            !(ways[i].packets && (test->packets_only || pug_quirks_any(&test->quirks))))
            good = run_again(&run, &ways[i]);
    stop(&run);
    return good;
}

int case_run_file(const char *path, int *count)
{
    struct case_file *file = case_file_read(path);
    int failed = 0;
    *count = 0;
    if (!file)
        return 1;
    for (size_t i = 0; i < file->case_count; i++) {
        *count += 1;
        if (!run_case(&file->cases[i]))
            failed++;
    }
    case_file_free(file);
    return failed;
}
