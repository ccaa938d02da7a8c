// SPDX-License-Identifier: MIT
#include "capture_input.h"

#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_log(void *context, const struct pug_log_record *record)
{
    const struct capture_input *input = context;
    char text[512];
    if (input->options->quiet && (input->capture || record->severity != PUG_SEV_ERROR))
        return;
    pug_log_text(record, text, sizeof(text));
    fprintf(stderr, "pugmark: %s\n", text);
}

/** "FILE@NUMBER", or "FILE". */
static bool add_program(struct capture_input *input, const char *word, bool plain)
{
    struct pug_capture_program *program = &input->programs[input->program_count];
    const char *at = strrchr(word, '@');
    size_t length = at ? (size_t)(at - word) : strlen(word);
    program->plain = plain;
    program->address = 0;
    if (at && !parse_number(at + 1, &program->address))
        return false;
    program->path = strndup(word, length);
    input->program_count += program->path != NULL;
    return program->path != NULL;
}

static bool take_options(struct capture_input *input)
{
    const struct input_options *options = input->options;
    bool good = set_options_take(&input->set, options, 0);
    for (size_t i = 0; i < options->elf.count && good; i++)
        good = add_program(input, options->elf.items[i], false);
    for (size_t i = 0; i < options->image.count && good; i++)
        good = add_program(input, options->image.items[i], true);
    for (size_t i = 0; i < options->sources.count && good; i++) {
        uint64_t id = 0;
        parse_number(options->sources.items[i], &id);
        input->sources[input->source_count++] = (uint16_t)id;
    }
    return good;
}

bool capture_input_open(struct capture_input *input, const struct input_options *options,
                        const char *operand)
{
    return capture_input_open_with(input, options, NULL, operand);
}

bool capture_input_open_with(struct capture_input *input, const struct input_options *options,
                             const struct capture_options *more, const char *operand)
{
    static const struct capture_options none = {0};
    *input = (struct capture_input){.options = options, .log = pug_log_new(PUG_SEV_WARN)};
    if (!input->log || !take_options(input) ||
        !capture_take_roots(more ? more : &none, &input->roots)) {
        fprintf(stderr, "pugmark: out of memory\n");
        capture_input_close(input);
        return false;
    }
    pug_log_set_sink(input->log, on_log, input);
    struct pug_capture_options capture = {
        .log = input->log,
        .decode = {.data_elements = !options->reference, .join_payloads = !options->reference},
        .protocol = options->protocol,
        .params = options->params,
        .transport = options->transport,
        .settings = {.items = input->set.items, .count = input->set.count},
        .wanted = input->sources,
        .wanted_count = input->source_count,
        .buffer = options->buffer,
        .programs = input->programs,
        .program_count = input->program_count,
        .roots = input->roots.is,
    };
    if (options->reference)
        capture.quirks = pug_quirks_reference();
    enum pug_status status = pug_capture_open(operand, &capture, &input->capture);
    if (status == PUG_OK) {
        input->errors_before = pug_log_errors(input->log);
        return true;
    }
    if (pug_log_errors(input->log) == 0)
        fprintf(stderr, "pugmark: %s: %s\n", operand, pug_status_text(status));
    capture_input_close(input);
    return false;
}

void capture_input_close(struct capture_input *input)
{
    pug_capture_free(input->capture);
    pug_log_free(input->log);
    set_options_free(&input->set);
    capture_free_roots(&input->roots);
    for (size_t i = 0; i < input->program_count; i++)
        free((void *)(uintptr_t)input->programs[i].path);
    *input = (struct capture_input){.options = input->options};
}

int capture_input_result(const struct capture_input *input, enum pug_status status)
{
    if (status == PUG_ERR_RDR_NO_DECODER)
        fprintf(stderr, "pugmark: %s: none of its sources can be decoded\n",
                pug_capture_path(input->capture));
    else if (status != PUG_OK)
        fprintf(stderr, "pugmark: %s: %s\n", pug_capture_path(input->capture),
                pug_status_text(status));
    if (status == PUG_ERR_DATA_DECODE_FATAL)
        return EXIT_FATAL;
    if (status != PUG_OK)
        return EXIT_INPUT;
    return pug_log_errors(input->log) > input->errors_before ? EXIT_TRACE_ERRORS : EXIT_DONE;
}
