// SPDX-License-Identifier: MIT
#include "common/messages.h"
#include "input_private.h"

#include "capture/capture.h"
#include "common/command.h"
#include "common/output.h"
#include "common/said.h"
#include "common/sandbox.h"
#include "input_lists.h"
#include "live_input.h"
#include "live_save.h"
#include "pugmark/advanced/snapshot.h"
#include "unread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- messages ---- */

void input_take_message(void *context, const struct pug_log_record *record)
{
    struct input *input = context;
    /* A message without a place may concern anything; one without a source is not about the trace.
     */
    if (record->index == PUG_NO_INDEX ? input->narrow && record->source != PUG_NO_SOURCE
                                      : !input_counts(input, record->index))
        return;
    input->wrong |= input->narrow && record->severity == PUG_SEV_ERROR;
    const bool quiet = input->silent || (input->options->quiet &&
                                         (input->opened || record->severity != PUG_SEV_ERROR));
    /* Why there is no capture, or no tree, is no message about the trace. */
    if (record->component && strcmp(record->component, "capture") == 0 && record->code == PUG_OK) {
        if (input->silent || (quiet && !said_heard()) || messages_said(&input->messages, record))
            return;
        said(record->severity == PUG_SEV_INFO ? SAID_LOST : SAID_WRONG, "%s", record->text);
        if (!quiet) {
            message_say("pugmark: %s\n", record->text);
            sandbox_explain(record->text);
        }
        return;
    }
    messages_take(&input->messages, record, quiet, input->silent);
    if (!quiet)
        sandbox_explain(record->text);
}

/* ---- opening ---- */

/** Of one file of trace, and of other inputs, each has options that say nothing of the other. */
static bool options_fit(const struct input_options *options)
{
    const bool raw = options->protocol || options->params;
    const char *misplaced = raw                  ? options->buffer ? "buffer" : NULL
                            : options->transport ? "transport"
                                                 : NULL;
    if (misplaced)
        message_say("pugmark: --%s is for %s\n", misplaced,
                    raw ? "snapshots and perf.data"
                        : "single files of trace, with --protocol or --params");
    return !misplaced;
}

/** A file that can be read, and does not say what it is. */
static bool begins_plainly(const char *path)
{
    uint8_t begin[8];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(begin, 1, sizeof(begin), file) : 0;
    const bool plain = file && !ferror(file) && !pug_perf_recognise(begin, size);
    if (file)
        fclose(file);
    return plain;
}

bool input_is_bare(const struct input_options *options, const char *path)
{
    const char *end = strrchr(path, '.');
    struct stat what;
    return !options->protocol && stat(path, &what) == 0 && S_ISREG(what.st_mode) &&
           !(end && (strcmp(end, ".ini") == 0 || strcmp(end, ".yml") == 0)) && begins_plainly(path);
}

/** "ETM_0 (0x10)", of each source. */
static void say_sources(const struct pug_capture *capture)
{
    const struct pug_capture_source *source;
    message_say("; there are");
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++)
        message_say(" %s (0x%02x)", source->name, source->id);
}

/** Cut "SOURCE:" off a setting's name; false, having said so: there is no such source. */
static bool cut_source(const struct input *input, struct pug_setting *setting)
{
    const struct pug_snapshot *snapshot =
        input->capture ? pug_capture_snapshot(input->capture) : NULL;
    const struct pug_snapshot_device *device;
    const char *colon = strrchr(setting->name, ':');
    const size_t length = colon ? (size_t)(colon - setting->name) : 0;
    if (!colon)
        return true;
    for (size_t n = 0; snapshot && (device = pug_snapshot_device_at(snapshot, n)); n++) {
        if (strncmp(device->name, setting->name, length) == 0 && !device->name[length]) {
            setting->name = colon + 1;
            return true;
        }
    }
    message_say("pugmark: --set %s: %s", setting->name,
                snapshot ? "no such source"
                         : "sources of snapshots alone have settings of their own");
    if (snapshot)
        say_sources(input->capture);
    message_say("\n");
    return false;
}

static bool is_register(const char *name)
{
    const struct pug_protocol *protocol;
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++)
        if (protocol->description && unread_is_register(protocol->description->registers, name))
            return true;
    return false;
}

/** Registers have 32 bits, as those of a snapshot have; false, having said so: one has more. */
static bool fits_register(const struct pug_setting *setting)
{
    if (setting->text || setting->value <= UINT32_MAX || !is_register(setting->name))
        return true;
    message_say("pugmark: --set %s: 0x%" PRIx64 " has more bits than the register\n", setting->name,
                setting->value);
    return false;
}

/** Was everything of --set and --core asked for, of those names that `whose` has? */
static bool settings_read(const struct input *input, const char *whose)
{
    struct pug_setting *items = calloc(input->set.count + 1, sizeof(*items));
    bool good = items != NULL;
    if (!good)
        message_say("pugmark: out of memory\n");
    for (size_t i = 0; good && i < input->set.count; i++) {
        items[i] = input->set.items[i];
        good = cut_source(input, &items[i]) && fits_register(&items[i]);
    }
    good = good && known_take(&input->known, items, input->set.count, whose);
    free(items);
    return good;
}

bool input_settings_read(const struct input *input)
{
    return settings_read(input, pug_capture_snapshot(input->capture)
                                    ? "this snapshot"
                                    : pug_capture_title(input->capture));
}

/** A name that is none, but nearly: what is decoded without it is not what was described. */
void input_tell_slip(void *context, const char *file, const char *name, const char *meant)
{
    struct input *input = context;
    char which[256];
    snprintf(which, sizeof(which), "%s:%s", file, name);
    if (!meant || known_has(&input->told, which))
        return;
    known_note(&input->told, which, false);
    input->wrong = true;
    if (!input->options->quiet)
        message_say("pugmark: %s: nobody knows '%s'; is %s meant?\n", file, name, meant);
}

struct pug_capture_options input_capture_options(const struct input *input)
{
    const struct input_options *options = input->options;
    return (struct pug_capture_options){
        .log = input->log,
        .decode = {.data_elements = !options->reference,
                   .join_payloads = !options->reference,
                   .expansion = options->expansion},
        .protocol = options->protocol,
        .params = options->params,
        .transport = options->transport,
        .settings = {input->set.items, input->set.count, &input->watch},
        .wanted = input->lists.sources,
        .wanted_count = options->sources.count,
        .buffer = options->buffer,
        .programs = input->lists.programs,
        .program_count = options->elf.count + options->image.count,
        .source_limit = (size_t)options->source_limit,
        .confine = options->confine,
        .peers = input_peers(),
        .quirks = options->reference ? &input->quirks : NULL,
        .live = input->is_stream ? &input->live : NULL,
        .roots = {.symfs = options->symfs,
                  .symdirs = options->symdirs.items,
                  .symdir_count = options->symdirs.count,
                  .build_ids = options->build_ids,
                  .replacements = input->lists.replacements,
                  .replacement_count = options->replacements.count,
                  .kernel = options->vmlinux,
                  .kallsyms = options->kallsyms,
                  .debuginfod = options->debuginfod},
    };
}

static bool open_capture(struct input *input, const char *operand)
{
    const struct input_options *options = input->options;
    input->watch = (struct pug_settings_watch){known_note, &input->known};
    if (options->reference)
        (void)pug_quirks_of_version(options->reference, &input->quirks);
    const struct pug_capture_options capture = input_capture_options(input);
    const enum pug_status status = pug_capture_open(operand, &capture, &input->capture);
    if (status == PUG_ERR_INVALID_PARAM_VAL ||
        (status == PUG_ERR_DCDREG_NAME_UNKNOWN && (options->protocol || options->params))) {
        input->failure = EXIT_USAGE;
        if (input->known.count > 0) /* a name that is wrong may be why something was missing */
            (void)settings_read(input, "this input");
    }
    if (status == PUG_ERR_MEM)
        message_say("pugmark: out of memory\n");
    if (status == PUG_ERR_NOT_FOUND && input_is_bare(options, operand))
        message_say("pugmark: %s: `pugmark info` says what it looks like\n", operand);
    input->wrong = status == PUG_OK && pug_log_errors(input->log) > 0;
    return status == PUG_OK;
}

/**
 * Whose parameters they are a file does not say. False, having said so: they are of another
 * protocol.
 */
static bool params_fit(const struct input *input)
{
    const struct input_options *options = input->options;
    if (options->protocol || !unread_wholly(input))
        return true;
    message_say(
        "pugmark: %s: it has no name that %s, knows; --protocol says whose parameters they are\n",
        options->params, pug_capture_title(input->capture));
    return false;
}

enum pug_status input_read_all(struct input *input)
{
    enum pug_status worst = PUG_OK;
    for (size_t n = 0; pug_capture_segment_at(input->capture, n) != NULL; n++) {
        struct pug_tree *tree;
        const enum pug_status status =
            pug_capture_tree(input->capture, n, false, input->log, &tree);
        if (status == PUG_OK)
            pug_tree_free(tree);
        else if (worst == PUG_OK)
            worst = status;
    }
    return worst;
}

/** Settings of one file are all read when it is opened. */
static bool check_settings(struct input *input)
{
    if (pug_capture_kind(input->capture) == PUG_CAPTURE_SNAPSHOT) {
        if (input->set.count == 0)
            return true;
        input->failure = EXIT_USAGE;
        if (input_read_all(input) == PUG_ERR_INVALID_PARAM_VAL || !input_settings_read(input))
            return false;
        input->failure = EXIT_INPUT;
        return true;
    }
    known_note(&input->known, "alias", false); /* read where programs are added */
    input->failure = EXIT_USAGE;
    if (!input_settings_read(input) || !params_fit(input))
        return false;
    const bool told = unread_each(input, input_tell_slip, input);
    input->failure = EXIT_INPUT;
    if (!told)
        input_starve(input);
    return told;
}

/**
 * Of a snapshot's settings some may name their source by its id. False, having said so: no memory.
 */
static bool name_sources(struct input *input)
{
    const bool good = pug_capture_kind(input->capture) != PUG_CAPTURE_SNAPSHOT ||
                      set_options_name_sources(&input->set, input->capture);
    if (!good)
        input_starve(input);
    return good;
}

bool input_recall(struct input *input)
{
    uint64_t size, whole;
    const uint8_t *begin = pug_capture_begun(input->capture, &size, &whole);
    if (!begin)
        return false;
    input->trace = begin;
    input->trace_size = size;
    input->trace_whole = whole;
    return true;
}

/** The trace of the segment at hand; false, having said why. */
static bool take_trace(struct input *input)
{
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(input->capture, input->segment);
    enum pug_status status = PUG_OK;
    free(input->trace_copy);
    input->trace_copy = NULL;
    input->trace_path = pug_capture_buffer_at(input->capture, segment->buffer)->file;
    input->trace = NULL;
    input->trace_size = input->trace_whole = 0;
    if (input_recall(input) || pug_capture_is_live(input->capture))
        return true; /* it is read as it is decoded */
    input->trace = pug_capture_memory(input->capture, input->segment);
    input->trace_size = input->trace_whole = segment->size;
    if (input->trace)
        return true;
    input->trace = input->trace_copy = malloc((size_t)segment->size + 1);
    if (input->trace_copy)
        input->trace_size = pug_capture_bytes(input->capture, input->segment, 0, input->trace_copy,
                                              (size_t)segment->size, &status);
    input->trace_whole = input->trace_size;
    if (!input->trace_copy)
        input_starve(input);
    else if (status != PUG_OK)
        message_say("pugmark: %s: %s\n", input->trace_path, pug_status_text(status));
    return input->trace_copy && status == PUG_OK;
}

void input_settle(struct input *input)
{
    if (!pug_capture_is_live(input->capture))
        return;
    (void)pug_capture_memory(input->capture, input->segment);
    (void)take_trace(input);
}

static bool is_chosen(const struct input *input, const struct pug_capture_segment *segment)
{
    return pug_capture_buffer_at(input->capture, segment->buffer)->chosen &&
           (!input->heard || input->heard[segment->buffer]);
}

/** Stand at the first chosen segment from here on. Where there is none the trace is empty. */
static bool go_to(struct input *input, size_t from)
{
    const struct pug_capture_segment *segment;
    for (size_t n = from; (segment = pug_capture_segment_at(input->capture, n)) != NULL; n++) {
        if (!is_chosen(input, segment))
            continue;
        input_drop_tree(input);
        input->segment = n;
        return take_trace(input);
    }
    return false;
}

static size_t count_chosen(const struct input *input)
{
    const struct pug_capture_segment *segment;
    size_t count = 0;
    for (size_t n = 0; (segment = pug_capture_segment_at(input->capture, n)) != NULL; n++)
        count += is_chosen(input, segment);
    return count;
}

bool input_open(struct input *input, const struct input_options *options, const char *operand)
{
    return input_open_for(input, options, operand, INPUT_NEEDS_TRACE);
}

bool input_open_for(struct input *input, const struct input_options *options, const char *operand,
                    enum input_need need)
{
    *input = (struct input){.options = options, .trace_path = operand, .failure = EXIT_USAGE};
    if (!options_fit(options))
        return false;
    if (input_is_mistaken(options, operand))
        return false;
    input->failure = EXIT_INPUT;
    input->log = pug_log_new(PUG_SEV_WARN);
    if (!input->log || !input_lists_take(&input->lists, options) ||
        !set_options_take(&input->set, options, 0)) {
        message_say("pugmark: out of memory\n");
        input_close(input);
        return false;
    }
    pug_log_set_sink(input->log, input_take_message, input);
    if (!live_begin(&options->live, operand, &input->live, &input->is_stream)) {
        input->failure = EXIT_USAGE;
        input_close(input);
        return false;
    }
    bool good = sandbox_start(options) && open_capture(input, operand) &&
                input_holds(input, need) && name_sources(input) && check_settings(input) &&
                input_choices_are_there(input);
    if (good && !input_spares_files(input)) {
        input->failure = EXIT_USAGE;
        good = false;
    }
    if (good &&
        !input_lists_time(&input->lists, options->time, pug_capture_times(input->capture).unit)) {
        input->failure = EXIT_USAGE;
        good = false;
    }
    if (good && !live_take_until(input)) {
        input->failure = EXIT_USAGE;
        good = false;
    }
    if (!good) {
        input_close(input);
        return false;
    }
    if (!sandbox_settle(options)) {
        input_close(input);
        return false;
    }
    input->opened = true;
    live_save_begin(input);
    input->errors_before = pug_log_errors(input->log);
    if (!pug_capture_keep_begin(input->capture, INPUT_LOOK_MOST))
        input_starve(input);
    input->chosen = count_chosen(input);
    (void)go_to(input, 0);
    return true;
}

void input_first(struct input *input)
{
    (void)go_to(input, 0);
}

bool input_next(struct input *input)
{
    return go_to(input, input->segment + 1);
}

void input_head(const struct input *input, size_t number)
{
    const struct pug_capture_segment *segment = pug_capture_segment_at(input->capture, number);
    if (input->chosen > 1)
        output_text("# buffer %s, from offset %" PRIu64 ", %" PRIu64 " bytes\n",
                    pug_capture_buffer_at(input->capture, segment->buffer)->name, segment->offset,
                    segment->size);
}

uint64_t input_bytes(const struct input *input)
{
    const struct pug_capture_segment *segment;
    uint64_t bytes = 0;
    for (size_t n = 0; (segment = pug_capture_segment_at(input->capture, n)) != NULL; n++)
        bytes += is_chosen(input, segment) ? segment->size : 0;
    return bytes;
}

void input_close(struct input *input)
{
    (void)input_unsound(input);
    if (input->opened)
        live_save_end(input);
    input_drop_tree(input);
    pug_capture_free(input->capture);
    pug_log_free(input->log);
    free(input->trace_copy);
    free(input->heard);
    set_options_free(&input->set);
    known_free(&input->known);
    known_free(&input->told);
    input_lists_free(&input->lists);
    *input = (struct input){.failure = input->failure};
}
