// SPDX-License-Identifier: MIT
#include "input.h"
#include "diagnosis.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

#include "command.h"
#include "progress.h"
#include "raw.h"
#include "snapshot_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool add_to_list(const struct option *option, void *target, const char *argument)
{
    struct input_list *list = target;
    if (list->count == INPUT_LIST)
        return option_refuse(option, argument, "too many of this option");
    list->items[list->count++] = argument;
    return true;
}

static bool add_source_id(const struct option *option, void *target, const char *argument)
{
    uint64_t id;
    return option_number(option, &id, argument) && add_to_list(option, target, argument);
}

static bool add_setting(const struct option *option, void *target, const char *argument)
{
    if (!strchr(argument, '=') || *argument == '=')
        return option_refuse(option, argument, "expected NAME=VALUE");
    return add_to_list(option, target, argument);
}

/** "FILE@NUMBER"; where the number is not needed, "FILE". */
static bool is_program(const char *argument, bool needed)
{
    const char *at = strrchr(argument, '@');
    uint64_t number;
    return at ? parse_number(at + 1, &number) : !needed;
}

static bool add_elf_file(const struct option *option, void *target, const char *argument)
{
    if (!is_program(argument, false))
        return option_refuse(option, argument, "expected FILE or FILE@BIAS, a number");
    return add_to_list(option, target, argument);
}

static bool add_image_file(const struct option *option, void *target, const char *argument)
{
    if (!is_program(argument, true))
        return option_refuse(option, argument, "expected FILE@ADDRESS, a number");
    return add_to_list(option, target, argument);
}

const struct option input_option_table[] = {
    {"buffer", "NAME", "trace buffer of a snapshot (default: its first)", option_string,
     offsetof(struct input_options, buffer)},
    {"source", "ID", "only this trace source; may be repeated", add_source_id,
     offsetof(struct input_options, sources)},
    {"protocol", "NAME", "INPUT is one file of this protocol (`pugmark info --help`: names)",
     option_string, offsetof(struct input_options, protocol)},
    {"transport", "NAME", "how that file is framed (default: as usual; `pugmark info --help`)",
     option_string, offsetof(struct input_options, transport)},
    {"set", "NAME=VALUE",
     "a register or parameter (of one source: SOURCE:NAME=VALUE); may be repeated", add_setting,
     offsetof(struct input_options, settings)},
    {"core", "NAME", "what the traced cores are: Cortex-A53, ARMv8-A; before what INPUT says",
     option_string, offsetof(struct input_options, core)},
    {"params", "FILE", "parameters from a file of NAME = VALUE lines", option_string,
     offsetof(struct input_options, params)},
    {"elf", "FILE[@BIAS]", "program: an ELF file, moved by BIAS; may be repeated", add_elf_file,
     offsetof(struct input_options, elf)},
    {"image", "FILE@ADDRESS", "program: a raw memory image; may be repeated", add_image_file,
     offsetof(struct input_options, image)},
    {"reference", NULL, "imitate the reference decoder's quirks", option_flag,
     offsetof(struct input_options, reference)},
    {"jobs", "N", "decode on N threads (default, and 0: one for each processor)", option_number,
     offsetof(struct input_options, jobs)},
    {"quiet", NULL, "no messages about the trace, no progress", option_flag,
     offsetof(struct input_options, quiet)},
};
const size_t input_option_count = sizeof(input_option_table) / sizeof(input_option_table[0]);

/* ---- opening ---- */

static bool map_trace(struct input *input)
{
    int file = open(input->trace_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* no wait for a FIFO */
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        fprintf(stderr, "pugmark: %s: %s\n", input->trace_path, strerror(errno));
        if (file >= 0)
            close(file);
        return false;
    }
    input->trace_size = (uint64_t)status.st_size;
    bool good = S_ISREG(status.st_mode);
    if (!good)
        fprintf(stderr, "pugmark: %s: not a file\n", input->trace_path);
    if (good && input->trace_size > 0) {
        void *bytes = mmap(NULL, input->trace_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes == MAP_FAILED) {
            fprintf(stderr, "pugmark: %s: %s\n", input->trace_path, strerror(errno));
            good = false;
        } else {
            input->trace = bytes;
        }
    }
    close(file);
    return good;
}

/** "FILE@NUMBER" in two; without "@" the number is 0. */
static bool split_at(const char *word, char *path, size_t size, uint64_t *number)
{
    const char *at = strrchr(word, '@');
    size_t length = at ? (size_t)(at - word) : strlen(word);
    *number = 0;
    if ((at && !parse_number(at + 1, number)) || length >= size) {
        fprintf(stderr, "pugmark: '%s': the name is too long\n", word);
        return false;
    }
    memcpy(path, word, length);
    path[length] = 0;
    return true;
}

/** Why a file of program memory could not be taken. */
static const char *trouble(const char *path, enum pug_status status)
{
    if (status == PUG_ERR_FORMAT)
        return "not an ELF file, or a damaged one";
    if (status != PUG_ERR_FILE)
        return pug_status_text(status);
    return access(path, R_OK) == 0 ? "not a file, or an empty one" : strerror(errno);
}

static bool add_elf(struct input *input, const char *path, uint64_t bias)
{
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    enum pug_status status = pug_image_add_elf(input->image, &anywhere, path, bias);
    if (status != PUG_OK)
        fprintf(stderr, "pugmark: %s: cannot use as a program: %s\n", path, trouble(path, status));
    return status == PUG_OK;
}

static bool add_programs(struct input *input)
{
    const struct input_options *options = input->options;
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    char path[4096];
    uint64_t number;
    /* The setting "alias": code runs there, too, that is linked for lower addresses. */
    uint64_t alias = pug_settings_number(&input->transport_settings, "alias", 0);
    for (size_t i = 0; i < options->elf.count; i++) {
        if (!split_at(options->elf.items[i], path, sizeof(path), &number) ||
            !add_elf(input, path, number) || (alias && !add_elf(input, path, number + alias)))
            return false;
    }
    for (size_t i = 0; i < options->image.count; i++) {
        if (!split_at(options->image.items[i], path, sizeof(path), &number))
            return false;
        struct pug_region whole = {.address = number};
        enum pug_status status = pug_image_add_file(input->image, &anywhere, path, &whole, 1);
        if (status != PUG_OK) {
            fprintf(stderr, "pugmark: %s: cannot use as a memory image: %s\n", path,
                    trouble(path, status));
            return false;
        }
    }
    return true;
}

static void on_log(void *context, const struct pug_log_record *record)
{
    const struct input *input = context;
    /* Why there is no tree is no message about the trace. */
    const bool quiet = input->options->quiet && (input->tree || record->severity != PUG_SEV_ERROR);
    diagnosis_log(input->diagnosis, record, quiet);
}

/** Of a snapshot and of a single file, each has options that say nothing of the other. */
static bool options_fit(const struct input_options *options, bool raw)
{
    const char *misplaced = raw                  ? options->buffer ? "buffer" : NULL
                            : options->transport ? "transport"
                                                 : NULL;
    if (misplaced)
        fprintf(stderr, "pugmark: --%s is for %s\n", misplaced,
                raw ? "snapshots" : "single files of trace, with --protocol or --params");
    return !misplaced;
}

bool input_open(struct input *input, const struct input_options *options, const char *operand)
{
    const bool raw = options->protocol || options->params;
    *input = (struct input){.options = options, .failure = EXIT_INPUT};
    if (!options_fit(options, raw)) {
        input->failure = EXIT_USAGE;
        return false;
    }
    input->log = pug_log_new(PUG_SEV_WARN);
    input->image = pug_image_new();
    if (!input->log || !input->image) {
        fprintf(stderr, "pugmark: out of memory\n");
        input_close(input);
        return false;
    }
    pug_log_set_sink(input->log, on_log, input);
    bool good = raw ? raw_open(input, operand) : snapshot_input_open(input, operand);
    if (!good || !(input->trace_copy || map_trace(input)) ||
        (input->raw && !raw_find_sources(input))) {
        input_close(input);
        return false;
    }
    return true;
}

void input_close(struct input *input)
{
    diagnosis_free(input->diagnosis);
    pug_tree_free(input->tree);
    pug_image_free(input->image);
    pug_log_free(input->log);
    if (input->trace_copy)
        free(input->trace_copy);
    else if (input->trace)
        munmap((void *)(uintptr_t)input->trace, input->trace_size);
    snapshot_input_close(input);
    raw_close(input);
    free(input->sources);
    free(input->trace_path);
    *input = (struct input){.failure = input->failure};
}

/* ---- decoding ---- */

bool input_wants(const struct input *input, uint16_t id)
{
    const struct input_list *wanted = &input->options->sources;
    uint64_t number;
    for (size_t i = 0; i < wanted->count; i++)
        if (parse_number(wanted->items[i], &number) && number == id)
            return true;
    return wanted->count == 0;
}

static bool add_source(struct input *input, const struct input_source *described, bool decode,
                       const struct pug_decode_options *options)
{
    struct pug_source_config config = {
        .protocol = described->protocol,
        .settings = described->settings,
        .decode = decode,
        .options = *options,
    };
    enum pug_status status = pug_tree_add_source(input->tree, &config, NULL);
    if (status == PUG_OK)
        return true;
    fprintf(stderr, "pugmark: source %s (%s): %s\n", described->name, described->protocol,
            pug_status_text(status));
    return false;
}

/** The tree of a file that the command line describes; false, having said why. */
static bool described_tree(struct input *input, bool decode,
                           const struct pug_decode_options *options)
{
    struct pug_tree_config config = {
        .transport = input->transport,
        .settings = input->transport_settings,
        .image = input->image,
        .log = input->log,
    };
    if (input->options->reference)
        config.quirks = pug_quirks_reference();
    enum pug_status status = pug_tree_new(&config, &input->tree);
    if (status != PUG_OK) {
        fprintf(stderr, "pugmark: %s (%s): %s\n", input->trace_path, input->transport,
                pug_status_text(status));
        return false;
    }
    size_t added = 0;
    for (size_t i = 0; i < input->source_count; i++)
        added += add_source(input, &input->sources[i], decode, options);
    return added > 0;
}

static bool snapshot_tree(struct input *input, bool decode,
                          const struct pug_decode_options *options)
{
    enum pug_status status = snapshot_input_tree(input, decode, options);
    if (status != PUG_OK)
        fprintf(stderr, "pugmark: %s: %s\n", input->trace_path,
                status == PUG_ERR_RDR_NO_DECODER ? "none of its sources can be decoded"
                                                 : pug_status_text(status));
    return status == PUG_OK;
}

static bool has_source(const struct input *input, uint64_t id)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (pug_source_id(source) == id)
            return true;
    return false;
}

static void say_no_source(const struct input *input, const char *wanted)
{
    const struct pug_source *source;
    fprintf(stderr, "pugmark: %s: no source %s in it; there are", input->trace_path, wanted);
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        fprintf(stderr, " 0x%02x", pug_source_id(source));
    fprintf(stderr, "\n");
}

/** Sources that were not chosen get no data. False: none of those that were is there. */
static bool choose_sources(struct input *input)
{
    const struct input_list *wanted = &input->options->sources;
    const bool single = pug_tree_transport(input->tree)->single;
    size_t found = 0;
    if (wanted->count == 0)
        return true;
    if (!single)
        pug_tree_enable_all(input->tree, false);
    for (size_t i = 0; i < wanted->count; i++) {
        uint64_t id = 0;
        parse_number(wanted->items[i], &id);
        if (has_source(input, id)) {
            found++;
            if (!single)
                pug_tree_enable(input->tree, (uint16_t)id, true);
        } else if (!input->sources_told) {
            say_no_source(input, wanted->items[i]);
        }
    }
    input->sources_told = true;
    return found > 0;
}

/** Memory is the tree's as much as the input's: each tree gets its own. */
static bool renew_image(struct input *input)
{
    pug_image_free(input->image);
    input->image = pug_image_new();
    return input->image && add_programs(input);
}

bool input_tree(struct input *input, bool decode)
{
    const struct pug_decode_options options = {.data_elements = !input->options->reference,
                                               .join_payloads = !input->options->reference};
    diagnosis_free(input->diagnosis);
    input->diagnosis = NULL;
    pug_tree_free(input->tree);
    input->tree = NULL;
    pug_log_set_sink(input->log, on_log, input);
    input->errors_before = pug_log_errors(input->log);
    if (!renew_image(input))
        return false;
    if (!(input->snapshot ? snapshot_tree(input, decode, &options)
                          : described_tree(input, decode, &options)))
        return false;
    if (!choose_sources(input))
        return false;
    if (!input->options->reference)
        input->diagnosis = diagnosis_new(input);
    return true;
}

void input_on_elements(struct input *input, pug_elements_fn *function, void *context)
{
    if (input->diagnosis)
        diagnosis_consume(input->diagnosis, function, context);
    else
        pug_tree_on_elements(input->tree, function, context);
}

bool input_flow_tree(struct input *input)
{
    const struct pug_source *source;
    if (!input_tree(input, true))
        return false;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (pug_source_protocol(source)->program_flow)
            return true;
    fprintf(stderr, "pugmark: %s: no source of program flow in it\n", input->trace_path);
    return false;
}

/* ---- running ---- */

/* More threads than this are a mistake. */
#define MOST_JOBS 1024

unsigned input_jobs(const struct input *input)
{
    uint64_t wanted = input->options->jobs;
    if (wanted == 0)
        return pug_jobs_processors();
    return wanted < MOST_JOBS ? (unsigned)wanted : MOST_JOBS;
}

void input_run(struct input *input, const struct pug_parts *parts, bool (*go_on)(void))
{
    struct progress progress = progress_begin(input->trace_size, input->options->quiet, go_on);
    if (parts && input->diagnosis)
        parts = diagnosis_parts(input->diagnosis, parts);
    const struct pug_jobs jobs = {.threads = input_jobs(input),
                                  .parts = parts,
                                  .piece = input->piece,
                                  .progress = progress_show,
                                  .progress_context = &progress};
    struct pug_jobs_result result;
    enum pug_status status =
        pug_tree_decode(input->tree, &jobs, input->trace, input->trace_size, &result);
    progress_end(&progress);
    if (status != PUG_OK)
        fprintf(stderr, "pugmark: %s: %s\n", input->trace_path, pug_status_text(status));
    input->fatal = status != PUG_OK || PUG_RESP_IS_FATAL(result.response);
    if (PUG_RESP_IS_FATAL(result.response))
        fprintf(stderr, "pugmark: %s: decoding stopped at offset %" PRIu64 "\n", input->trace_path,
                result.at);
}

int input_result(struct input *input)
{
    const bool wrong =
        input->diagnosis && diagnosis_conclude(input->diagnosis, input->options->quiet);
    if (input->fatal)
        return EXIT_FATAL;
    return wrong || pug_log_errors(input->log) > input->errors_before ? EXIT_TRACE_ERRORS
                                                                      : EXIT_DONE;
}
