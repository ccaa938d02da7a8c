// SPDX-License-Identifier: MIT
#include "complete_values.h"

#include "common/known.h"
#include "explanations.h"
#include "input/input.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "pugmark/export.h"
#include "pugmark/names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Larger ones are not opened while somebody waits for a list, and a list has an end. */
#define INPUT_MOST  ((uint64_t)256 << 20)
#define VALUES_MOST 4000u

/** The request. */
struct wish {
    const struct complete_line *line;
    const char *prefix, *begin;
    unsigned count;
};

static void put(struct wish *wish, const char *word, const char *about)
{
    if (strncmp(word, wish->begin, strlen(wish->begin)) == 0 && wish->count++ < VALUES_MOST)
        complete_put(wish->prefix, word, about);
}

static void put_number(struct wish *wish, const char *format, int64_t number, const char *about)
{
    char word[32];
    snprintf(word, sizeof(word), *format == 'x' ? "0x%02" PRIx64 : "%" PRId64, (uint64_t)number);
    put(wish, word, about);
}

/* ---- INPUT ---- */

/** The options of inputs that the words have; NULL: the command has none. */
static struct input_options *take_options(const struct complete_line *line, char **operand)
{
    struct input_options *options = NULL;
    char **copy = calloc(line->count + 2, sizeof(*copy));
    int operands = 0;
    *operand = NULL;
    for (size_t s = 0; s < line->set_count; s++)
        if (line->sets[s].options == input_option_table)
            options = line->sets[s].target;
    if (!copy)
        return NULL;
    if (line->count > 0)
        memcpy(copy + 1, line->words, line->count * sizeof(*copy));
    if (options &&
        options_parse((int)line->count + 1, copy, line->sets, line->set_count, &operands) &&
        operands > 0)
        *operand = copy[1];
    free(copy);
    return options;
}

static bool is_modest(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) &&
           (uint64_t)status.st_size <= INPUT_MOST;
}

/** Opens the INPUT of the words. False: there is none, or none that can be looked at now. */
static bool open_input(const struct complete_line *line, struct input *input)
{
    char *operand;
    struct input_options *options = take_options(line, &operand);
    if (!options || !operand || !is_modest(operand))
        return false;
    options->quiet = true;
    return input_open_for(input, options, operand, INPUT_NEEDS_NOTHING);
}

/* ---- kinds ---- */

static void put_protocols(struct wish *wish)
{
    const struct pug_protocol *protocol;
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++) {
        char lower[64];
        size_t at = 0;
        for (; protocol->name[at] && at + 1 < sizeof(lower); at++)
            lower[at] = (char)tolower((unsigned char)protocol->name[at]);
        lower[at] = 0;
        put(wish, isupper((unsigned char)*wish->begin) ? protocol->name : lower, protocol->title);
    }
}

static void put_transports(struct wish *wish)
{
    const struct pug_transport *transport;
    for (size_t n = 0; (transport = pug_transport_at(n)) != NULL; n++)
        put(wish, transport->name, transport->title);
}

static void put_cores(struct wish *wish)
{
    char name[64];
    for (size_t n = 0; pug_core_name(n, name, sizeof(name)) > 0; n++)
        put(wish, name, NULL);
}

static void put_formats(struct wish *wish)
{
    const struct pug_export_format *format;
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL; n++)
        put(wish, format->name, NULL);
    put(wish, "brstack", "lines of perf script");
}

static void put_types(struct wish *wish)
{
    for (unsigned type = 0; type < PUG_ELEM_TYPE_COUNT; type++)
        put(wish, pug_element_type_name((enum pug_element_type)type), NULL);
}

static void put_commands(struct wish *wish)
{
    const struct command *command;
    for (size_t n = 0; (command = command_at(n)) != NULL; n++)
        if (command->task != TASK_HIDDEN)
            put(wish, command->name, command->summary);
}

static void put_sources(struct wish *wish, struct input *input)
{
    const struct pug_capture_source *source;
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++)
        put_number(wish, "x", source->id, source->name);
}

static void put_buffers(struct wish *wish, struct input *input)
{
    const struct pug_capture_buffer *buffer;
    for (size_t n = 0; (buffer = pug_capture_buffer_at(input->capture, n)) != NULL; n++)
        if (buffer->name)
            put(wish, buffer->name, buffer->file);
}

static void put_cpus(struct wish *wish, struct input *input)
{
    const struct pug_capture_source *source;
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++)
        if (source->cpu != PUG_NO_CPU)
            put_number(wish, "d", source->cpu, NULL);
}

enum task_word { TASK_PID, TASK_TID, TASK_COMM };

static void put_tasks(struct wish *wish, struct input *input, enum task_word what)
{
    const struct pug_capture_task *task;
    for (size_t n = 0; (task = pug_capture_task_at(input->capture, n)) != NULL; n++) {
        if (what == TASK_COMM)
            put(wish, task->comm, NULL);
        else
            put_number(wish, "d", what == TASK_PID ? task->pid : task->tid, task->comm);
    }
}

static void put_objects(struct wish *wish, struct input *input)
{
    const struct pug_capture_object *object;
    for (size_t n = 0; (object = pug_capture_object_at(input->capture, n)) != NULL; n++)
        put(wish, object->path, NULL);
}

static void put_functions(struct wish *wish, struct input *input)
{
    struct pug_tree *tree;
    struct pug_symbol symbol;
    char name[512];
    if (pug_capture_segment_at(input->capture, 0) == NULL ||
        pug_capture_tree(input->capture, 0, false, NULL, &tree) != PUG_OK)
        return;
    const struct pug_image *image = pug_tree_image(tree);
    for (size_t n = 0; image && pug_image_symbol_at(image, n, &symbol); n++) {
        const size_t length = pug_demangle(symbol.name, name, sizeof(name));
        put(wish, length > 0 && length < sizeof(name) ? name : symbol.name, NULL);
    }
    pug_tree_free(tree);
}

/** All settings that the protocol at hand looks for, with "=". */
static void put_settings(struct wish *wish, const char *protocol_name)
{
    const struct pug_protocol *protocol = pug_protocol_find(protocol_name);
    struct known known = {0};
    const struct pug_settings_watch watch = {.asked = known_note, .context = &known};
    const struct pug_settings none = {.watch = &watch};
    const char *name;
    void *config;
    if (!protocol)
        return;
    if (protocol->config_new(&none, NULL, &config) == PUG_OK)
        protocol->config_free(config);
    for (size_t n = 0; (name = known_name_at(&known, n)) != NULL; n++) {
        char word[96];
        snprintf(word, sizeof(word), "%s=", name);
        put(wish, word, protocol->name);
    }
    known_free(&known);
}

/** Does a protocol's name begin so? Case and punctuation do not matter. */
static bool is_begin(const char *begin, const char *name)
{
    for (;; begin++, name++) {
        begin += strcspn(begin, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        name += strcspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        if (!*begin)
            return true;
        if (tolower((unsigned char)*begin) != tolower((unsigned char)*name))
            return false;
    }
}

/** The settings of --protocol, or of the sources of INPUT. */
static void put_all_settings(struct wish *wish)
{
    char *operand;
    const struct input_options *options = take_options(wish->line, &operand);
    const struct pug_capture_source *source;
    const struct pug_protocol *protocol;
    struct input input;
    if (options && options->protocol) {
        for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++)
            if (is_begin(options->protocol, protocol->name))
                put_settings(wish, protocol->name);
        return;
    }
    if (!open_input(wish->line, &input))
        return;
    if ((source = pug_capture_source_at(input.capture, 0)) != NULL)
        put_settings(wish, source->protocol);
    input_close(&input);
}

static void put_functions_or_objects(struct wish *wish, struct input *input, const char *kind)
{
    if (strcmp(kind, "OBJECT") == 0)
        put_objects(wish, input);
    else if (strcmp(kind, "ID") == 0)
        put_sources(wish, input);
    else if (strcmp(kind, "BUFFER") == 0)
        put_buffers(wish, input);
    else if (strcmp(kind, "CPU") == 0)
        put_cpus(wish, input);
    else if (strcmp(kind, "PID") == 0 || strcmp(kind, "TID") == 0)
        put_tasks(wish, input, *kind == 'P' ? TASK_PID : TASK_TID);
    else if (strcmp(kind, "THREAD") == 0)
        put_tasks(wish, input, TASK_COMM);
    else
        put_functions(wish, input);
}

static void put_of_input(struct wish *wish, const char *kind)
{
    static const char *const kinds[] = {"OBJECT", "ID",     "BUFFER",   "CPU",    "PID",
                                        "TID",    "THREAD", "FUNCTION", "ADDRESS"};
    struct input input;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i], kind) != 0 || !open_input(wish->line, &input))
            continue;
        put_functions_or_objects(wish, &input, kind);
        input_close(&input);
        return;
    }
}

/** The values of a kind, which is a word in capitals. */
static void put_kind(struct wish *wish, const char *kind)
{
    static const struct {
        const char *kind;
        void (*put)(struct wish *wish);
    } kinds[] = {{"PROTOCOL", put_protocols},  {"TRANSPORT", put_transports},
                 {"CORE", put_cores},          {"FORMAT", put_formats},
                 {"TYPE", put_types},          {"COMMAND", put_commands},
                 {"SETTING", put_all_settings}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].kind, kind) == 0) {
            kinds[i].put(wish);
            return;
        }
    }
    if (strcmp(kind, "FILE") == 0 || strcmp(kind, "PATH") == 0)
        printf(":file\n");
    else if (strcmp(kind, "DIR") == 0)
        printf(":dir\n");
    else
        put_of_input(wish, kind);
}

void complete_values(const struct complete_line *line, const struct option *option,
                     const char *prefix, const char *begin)
{
    struct wish wish = {.line = line, .prefix = prefix, .begin = begin};
    for (const char *at = option->argument; *at;) {
        char word[64];
        at += strspn(at, "[=|");
        const size_t length = strcspn(at, "|"), taken = strcspn(at, "|[]=@,");
        if (taken > 0 && taken < sizeof(word)) {
            memcpy(word, at, taken);
            word[taken] = 0;
            if (isupper((unsigned char)*word))
                put_kind(&wish, word);
            else
                put(&wish, word, NULL);
        }
        at += length;
    }
}
