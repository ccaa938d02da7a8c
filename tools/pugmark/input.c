// SPDX-License-Identifier: MIT
#include "input.h"

#include "command.h"
#include "diagnosis.h"
#include "input_lists.h"
#include "output.h"
#include "perf_diagnosis.h"
#include "progress.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "unread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

static void on_log(void *context, const struct pug_log_record *record)
{
    struct input *input = context;
    /* Why there is no capture, or no tree, is no message about the trace. */
    const bool quiet = input->silent || (input->options->quiet &&
                                         (input->opened || record->severity != PUG_SEV_ERROR));
    if (record->component && strcmp(record->component, "capture") == 0 && record->code == PUG_OK) {
        if (!quiet)
            fprintf(stderr, "pugmark: %s\n", record->text);
        return;
    }
    messages_take(&input->messages, record, quiet);
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
        fprintf(stderr, "pugmark: --%s is for %s\n", misplaced,
                raw ? "snapshots and perf.data"
                    : "single files of trace, with --protocol or --params");
    return !misplaced;
}

/** Cut "SOURCE:" off a setting's name; false, having said so: there is no such source. */
static bool cut_source(const struct input *input, struct pug_setting *setting)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(input->capture);
    const struct pug_snapshot_device *device;
    const char *colon = snapshot ? strrchr(setting->name, ':') : NULL;
    size_t length = colon ? (size_t)(colon - setting->name) : 0;
    for (size_t n = 0; colon && (device = pug_snapshot_device_at(snapshot, n)); n++) {
        if (strncmp(device->name, setting->name, length) == 0 && !device->name[length]) {
            setting->name = colon + 1;
            return true;
        }
    }
    if (colon)
        fprintf(stderr, "pugmark: --set %s: no such source\n", setting->name);
    return !colon;
}

/** Was everything of --set and --core asked for? */
static bool all_read(const struct input *input)
{
    struct pug_setting *items = calloc(input->set.count + 1, sizeof(*items));
    const char *whose =
        pug_capture_snapshot(input->capture) ? "this snapshot" : pug_capture_title(input->capture);
    bool good = items != NULL;
    if (!good)
        fprintf(stderr, "pugmark: out of memory\n");
    for (size_t i = 0; good && i < input->set.count; i++) {
        items[i] = input->set.items[i];
        good = cut_source(input, &items[i]);
    }
    good = good && known_take(&input->known, items, input->set.count, whose);
    free(items);
    return good;
}

/** A name that is none, but nearly: what is decoded without it is not what was described. */
static void tell_slip(void *context, const char *file, const char *name, const char *meant)
{
    struct input *input = context;
    char which[256];
    snprintf(which, sizeof(which), "%s:%s", file, name);
    if (!meant || known_has(&input->told, which))
        return;
    known_note(&input->told, which, false);
    input->wrong = true;
    if (!input->options->quiet)
        fprintf(stderr, "pugmark: %s: nobody knows '%s'; is %s meant?\n", file, name, meant);
}

static bool open_capture(struct input *input, const char *operand)
{
    const struct input_options *options = input->options;
    input->watch = (struct pug_settings_watch){known_note, &input->known};
    struct pug_capture_options capture = {
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
    if (options->reference)
        capture.quirks = pug_quirks_reference();
    const enum pug_status status = pug_capture_open(operand, &capture, &input->capture);
    if (status == PUG_ERR_INVALID_PARAM_VAL) {
        input->failure = EXIT_USAGE;
        if (input->known.count > 0) /* a name that is wrong may be why something was missing */
            (void)known_take(&input->known, input->set.items, input->set.count, "this input");
    }
    if (status == PUG_ERR_MEM)
        fprintf(stderr, "pugmark: out of memory\n");
    input->wrong = status == PUG_OK && pug_log_errors(input->log) > 0;
    return status == PUG_OK;
}

/** Settings of one file are all read when it is opened, those of others with their first tree. */
static bool check_settings(struct input *input)
{
    const enum pug_capture_kind kind = pug_capture_kind(input->capture);
    if (kind == PUG_CAPTURE_SNAPSHOT)
        return true;
    known_note(&input->known, "alias", false); /* read where programs are added */
    input->failure = EXIT_USAGE;
    if (!all_read(input))
        return false;
    unread_each(input, tell_slip, input);
    input->failure = EXIT_INPUT;
    return true;
}

/** The trace of the stretch at hand; false, having said why. */
static bool take_trace(struct input *input)
{
    const struct pug_capture_stretch *stretch =
        pug_capture_stretch_at(input->capture, input->stretch);
    enum pug_status status = PUG_OK;
    free(input->trace_copy);
    input->trace_copy = NULL;
    input->trace_path = pug_capture_buffer_at(input->capture, stretch->buffer)->file;
    input->trace = NULL;
    input->trace_size = 0;
    if (pug_capture_is_live(input->capture))
        return true; /* it is read as it is decoded */
    input->trace = pug_capture_memory(input->capture, input->stretch);
    input->trace_size = stretch->size;
    if (input->trace)
        return true;
    input->trace = input->trace_copy = malloc((size_t)stretch->size + 1);
    if (input->trace_copy)
        input->trace_size = pug_capture_bytes(input->capture, input->stretch, 0, input->trace_copy,
                                              (size_t)stretch->size, &status);
    if (!input->trace_copy || status != PUG_OK)
        fprintf(stderr, "pugmark: %s: %s\n", input->trace_path,
                pug_status_text(input->trace_copy ? status : PUG_ERR_MEM));
    return input->trace_copy && status == PUG_OK;
}

void input_settle(struct input *input)
{
    if (!pug_capture_is_live(input->capture))
        return;
    (void)pug_capture_memory(input->capture, input->stretch);
    (void)take_trace(input);
}

static bool is_chosen(const struct input *input, const struct pug_capture_stretch *stretch)
{
    return pug_capture_buffer_at(input->capture, stretch->buffer)->chosen;
}

static void drop_tree(struct input *input)
{
    diagnosis_free(input->diagnosis);
    input->diagnosis = NULL;
    pug_tree_free(input->tree);
    input->tree = NULL;
}

/** Stand at the first chosen stretch from here on. Where there is none the trace is empty. */
static bool go_to(struct input *input, size_t from)
{
    const struct pug_capture_stretch *stretch;
    for (size_t n = from; (stretch = pug_capture_stretch_at(input->capture, n)) != NULL; n++) {
        if (!is_chosen(input, stretch))
            continue;
        drop_tree(input);
        input->stretch = n;
        return take_trace(input);
    }
    return false;
}

static size_t count_chosen(const struct input *input)
{
    const struct pug_capture_stretch *stretch;
    size_t count = 0;
    for (size_t n = 0; (stretch = pug_capture_stretch_at(input->capture, n)) != NULL; n++)
        count += is_chosen(input, stretch);
    return count;
}

bool input_open(struct input *input, const struct input_options *options, const char *operand)
{
    *input = (struct input){.options = options, .failure = EXIT_USAGE};
    if (!options_fit(options))
        return false;
    input->failure = EXIT_INPUT;
    input->log = pug_log_new(PUG_SEV_WARN);
    if (!input->log || !input_lists_take(&input->lists, options) ||
        !set_options_take(&input->set, options, 0)) {
        fprintf(stderr, "pugmark: out of memory\n");
        input_close(input);
        return false;
    }
    pug_log_set_sink(input->log, on_log, input);
    bool good = open_capture(input, operand) && check_settings(input);
    if (good &&
        !input_lists_time(&input->lists, options->time, pug_capture_times(input->capture).unit)) {
        input->failure = EXIT_USAGE;
        good = false;
    }
    if (!good) {
        input_close(input);
        return false;
    }
    input->opened = true;
    input->errors_before = pug_log_errors(input->log);
    input->trace_path = pug_capture_path(input->capture);
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
    return go_to(input, input->stretch + 1);
}

void input_head(const struct input *input, size_t number)
{
    const struct pug_capture_stretch *stretch = pug_capture_stretch_at(input->capture, number);
    if (input->chosen > 1)
        output_text("# buffer %s, from offset %" PRIu64 ", %" PRIu64 " bytes\n",
                    pug_capture_buffer_at(input->capture, stretch->buffer)->name, stretch->offset,
                    stretch->size);
}

/** A command's own code says nothing of it: the worst one counts, see input_failed(). */
static bool failed_to_read;

static void look_for_failure(struct input *input)
{
    struct pug_read_failure failure;
    if (input->unsound || !input->capture || !pug_capture_failure(input->capture, &failure))
        return;
    input->unsound = true;
    fprintf(stderr, "pugmark: %s, offset %" PRIu64 ": %s: what was decoded of it is not true\n",
            failure.path, failure.offset,
            failure.status == PUG_ERR_TRUNCATED ? "the file shrank while it was being read"
            : failure.status == PUG_ERR_FILE    ? strerror(failure.reason)
                                                : pug_status_text(failure.status));
    failed_to_read = true;
}

bool input_unsound(struct input *input)
{
    look_for_failure(input);
    return failed_to_read;
}

bool input_failed(void)
{
    return failed_to_read;
}

void input_close(struct input *input)
{
    look_for_failure(input);
    drop_tree(input);
    pug_capture_free(input->capture);
    pug_log_free(input->log);
    free(input->trace_copy);
    set_options_free(&input->set);
    known_free(&input->known);
    known_free(&input->told);
    input_lists_free(&input->lists);
    *input = (struct input){.failure = input->failure};
}

/* ---- trees ---- */

bool input_wants(const struct input *input, uint16_t id)
{
    for (size_t i = 0; i < input->options->sources.count; i++)
        if (input->lists.sources[i] == id)
            return true;
    return input->options->sources.count == 0;
}

static bool has_source(const struct input *input, uint16_t id)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (pug_source_id(source) == id)
            return true;
    return false;
}

bool input_selects(const struct input *input)
{
    const struct pug_capture_selection *selection = &input->lists.selection;
    return selection->pid_count || selection->tid_count || selection->cpu_count ||
           selection->comm_count || selection->object_count || selection->has_from ||
           selection->has_to;
}

bool input_is_whole(const struct input *input, const char *what)
{
    const bool selects = input_selects(input);
    if (selects)
        fprintf(stderr,
                "pugmark: --pid, --tid, --comm, --cpu, --dso and --time select what ran; %s is of "
                "a buffer's bytes, which --buffer and --source choose\n",
                what);
    else if (input->chosen > 1 && pug_capture_kind(input->capture) == PUG_CAPTURE_PERF)
        fprintf(stderr,
                "pugmark: %s: %s is of one piece of trace, and there are %zu in it; --time, --pid "
                "and the like choose among all of them in other commands\n",
                pug_capture_path(input->capture), what, input->chosen);
    else
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
    const struct option_list *wanted = &input->options->sources;
    const bool single = pug_tree_transport(input->tree)->single;
    size_t found = 0;
    if (wanted->count == 0)
        return true;
    if (!single)
        pug_tree_enable_all(input->tree, false);
    for (size_t i = 0; i < wanted->count; i++) {
        const uint16_t id = input->lists.sources[i];
        if (has_source(input, id)) {
            found++;
            if (!single)
                pug_tree_enable(input->tree, id, true);
        } else if (!input->sources_told && input->chosen == 1) {
            say_no_source(input, wanted->items[i]);
        }
    }
    input->sources_told = true;
    return found > 0;
}

static enum pug_status make_tree(struct input *input, bool decode)
{
    drop_tree(input);
    if (!pug_capture_stretch_at(input->capture, input->stretch))
        return PUG_ERR_NOT_FOUND;
    input->opened = false;
    const enum pug_status status =
        pug_capture_tree(input->capture, input->stretch, decode, input->log, &input->tree);
    input->opened = true;
    if (status == PUG_OK)
        input->image = pug_tree_image(input->tree);
    if (status == PUG_ERR_MEM)
        fprintf(stderr, "pugmark: %s: %s\n", input->trace_path, pug_status_text(status));
    return status;
}

/** Settings of a snapshot are read when its first tree is made. */
static bool settings_fit(const struct input *input)
{
    return pug_capture_kind(input->capture) != PUG_CAPTURE_SNAPSHOT || all_read(input);
}

bool input_tree(struct input *input, bool decode)
{
    pug_log_set_sink(input->log, on_log, input);
    if (input->stretch == 0)
        input->errors_before = pug_log_errors(input->log);
    if (!pug_capture_stretch_at(input->capture, input->stretch)) {
        fprintf(stderr, "pugmark: %s: there is no trace in it\n", input->trace_path);
        return false;
    }
    const enum pug_status status = make_tree(input, decode);
    if (status == PUG_ERR_RDR_NO_DECODER)
        fprintf(stderr, "pugmark: %s: none of its sources can be decoded\n", input->trace_path);
    if (status == PUG_ERR_NOT_FOUND && !input->options->quiet && !input->silent)
        diagnosis_guess(input);
    if (pug_capture_kind(input->capture) == PUG_CAPTURE_SNAPSHOT)
        unread_each(input, tell_slip, input);
    if (status != PUG_OK || !settings_fit(input) || !choose_sources(input))
        return false;
    /* Evidence speaks of one memory, which perf.data's processes do not have. */
    if (!input->options->reference && pug_capture_kind(input->capture) != PUG_CAPTURE_PERF)
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

static bool flows(const struct input *input)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (pug_source_protocol(source)->program_flow)
            return true;
    return false;
}

bool input_flow_tree(struct input *input)
{
    if (!input_tree(input, true))
        return false;
    if (flows(input))
        return true;
    fprintf(stderr, "pugmark: %s: no source of program flow in it\n", input->trace_path);
    return false;
}

/** Is there a stretch with program flow? Makes its tree, and says nothing but of --set. */
static bool find_flow(struct input *input)
{
    do {
        pug_log_set_sink(input->log, NULL, NULL);
        const bool made = make_tree(input, false) == PUG_OK;
        pug_log_set_sink(input->log, on_log, input);
        input->refused = made && !settings_fit(input);
        if (made && !input->refused && flows(input)) {
            input->refused = !choose_sources(input);
            return !input->refused;
        }
    } while (!input->refused && input_next(input));
    return false;
}

bool input_has_flow(struct input *input)
{
    const bool found = find_flow(input);
    if (found || input->refused)
        return found;
    (void)go_to(input, 0);
    return input_flow_tree(input);
}

/* So much of a capture shows which sources speak. */
#define LISTEN_TO (UINT64_C(1) << 20)

/** Of a stream that is still to come: how many sources may speak. */
static bool may_have_flows(const struct input *input)
{
    const struct pug_source *source;
    unsigned count = 0;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        count +=
            input_wants(input, pug_source_id(source)) && pug_source_protocol(source)->program_flow;
    return count > 1;
}

bool input_has_flows(const struct input *input)
{
    struct pug_survey survey;
    unsigned count = 0;
    if (input->tree && pug_capture_is_live(input->capture))
        return may_have_flows(input);
    if (!input->tree || pug_survey_capture(input->tree, input->trace, input->trace_size, LISTEN_TO,
                                           &survey) != PUG_OK)
        return false;
    for (size_t i = 0; i < survey.id_count; i++) {
        const struct pug_survey_id *id = &survey.ids[i];
        const struct pug_source *source;
        for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
            count += pug_source_id(source) == id->id && id->bytes > id->unsynced &&
                     input_wants(input, id->id) && pug_source_protocol(source)->program_flow;
    }
    return count > 1;
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

static void say_stopped(const struct input *input, uint64_t at)
{
    fprintf(stderr, "pugmark: %s: decoding stopped at offset %" PRIu64 "\n", input->trace_path, at);
}

/** What a part gets of a stretch that does not begin at offset 0. */
struct part_sink {
    struct pug_passage passage; /* first: it is the way from a passage to its sink */
    const struct pug_parts *parts;
    void *part;
    bool stopped, failed; /* nobody wants more; there is no memory */
};

static bool give_portion(struct pug_passage *passage, void *portion, size_t size)
{
    struct part_sink *sink = (struct part_sink *)passage;
    (void)size;
    sink->failed |= !portion;
    if (portion)
        sink->stopped |= !sink->parts->take(sink->parts->context, portion);
    return !sink->stopped && !sink->failed;
}

static void *begin_part(struct part_sink *sink)
{
    const struct pug_parts *parts = sink->parts;
    void *part = parts->begin(parts->context, 0);
    sink->failed |= !part;
    if (part && parts->passage)
        parts->passage(part, &sink->passage);
    return part;
}

static enum pug_response to_part(void *context, const struct pug_element *elements, size_t count,
                                 size_t *taken)
{
    const struct part_sink *sink = context;
    *taken = count;
    if (sink->part && !sink->stopped && !sink->failed)
        sink->parts->elements(sink->part, elements, count);
    return sink->stopped || sink->failed ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

#define BLOCK ((size_t)64 << 10)

/** The trace's bytes from `at` on, as far as they are to be decoded at once. */
static const uint8_t *next_bytes(const struct input *input, uint64_t at, uint8_t block[BLOCK],
                                 size_t *size)
{
    enum pug_status status;
    if (pug_capture_is_live(input->capture)) {
        *size = pug_capture_live(input->capture, at, block, BLOCK, &status);
        return block;
    }
    const uint64_t left = input->trace_size - at;
    *size = left < BLOCK ? (size_t)left : BLOCK;
    return input->trace + at;
}

/**
 * The same as pug_tree_decode(), on this thread, of a stretch from the middle of a buffer, or of a
 * stream as it comes.
 */
static enum pug_status run_from(struct input *input, const struct pug_parts *parts, uint64_t offset,
                                struct progress *progress, struct pug_jobs_result *result)
{
    struct part_sink sink = {.passage = {.give = give_portion}, .parts = parts};
    uint8_t block[BLOCK];
    bool more = true;
    if (parts)
        pug_tree_on_elements(input->tree, to_part, &sink);
    while (more) {
        size_t used = 0, size;
        const uint8_t *bytes = next_bytes(input, result->at, block, &size);
        sink.part = parts ? begin_part(&sink) : NULL;
        if (size > 0)
            result->response = pug_tree_data(input->tree, offset + result->at, bytes, size, &used);
        result->at += used;
        more =
            (pug_capture_is_live(input->capture) || (used > 0 && result->at < input->trace_size)) &&
            !PUG_RESP_IS_FATAL(result->response);
        if (!more && !PUG_RESP_IS_FATAL(result->response))
            result->response = pug_tree_end(input->tree);
        if (pug_capture_is_live(input->capture))
            output_flush();
        more = progress_show(progress, result->at) && more && !sink.stopped && !sink.failed;
        if (sink.part && (sink.stopped || sink.failed))
            parts->drop(sink.part);
        else if (sink.part && !parts->take(parts->context, sink.part))
            more = false;
    }
    if (sink.stopped || sink.failed)
        result->response = PUG_RESP_CONT; /* it was the sink that ended it */
    return sink.failed ? PUG_ERR_MEM : PUG_OK;
}

void input_run(struct input *input, const struct pug_parts *parts, bool (*go_on)(void))
{
    const struct pug_capture_stretch *stretch =
        pug_capture_stretch_at(input->capture, input->stretch);
    struct progress progress = progress_begin(input->trace_size, input->options->quiet, go_on);
    if (parts && input->diagnosis)
        parts = diagnosis_parts(input->diagnosis, parts);
    const struct pug_jobs jobs = {.threads = input_jobs(input),
                                  .parts = parts,
                                  .piece = input->piece,
                                  .progress = progress_show,
                                  .progress_context = &progress};
    struct pug_jobs_result result = {.response = PUG_RESP_CONT};
    enum pug_status status = PUG_OK;
    if (stretch->offset > 0 || pug_capture_is_live(input->capture))
        status = run_from(input, parts, stretch->offset, &progress, &result);
    else
        status = pug_tree_decode(input->tree, &jobs, input->trace, input->trace_size, &result);
    progress_end(&progress);
    if (!input->trace)
        input->trace_size = result.at; /* of a stream that is known now */
    if (status != PUG_OK)
        fprintf(stderr, "pugmark: %s: %s\n", input->trace_path, pug_status_text(status));
    input->fatal |= status != PUG_OK || PUG_RESP_IS_FATAL(result.response);
    if (PUG_RESP_IS_FATAL(result.response))
        say_stopped(input, result.at);
}

uint64_t input_bytes(const struct input *input)
{
    const struct pug_capture_stretch *stretch;
    uint64_t bytes = 0;
    for (size_t n = 0; (stretch = pug_capture_stretch_at(input->capture, n)) != NULL; n++)
        bytes += is_chosen(input, stretch) ? stretch->size : 0;
    return bytes;
}

int input_concluded(struct input *input, enum pug_status status,
                    const struct pug_capture_result *result)
{
    if (status == PUG_ERR_RDR_NO_DECODER || status == PUG_ERR_MEM)
        fprintf(stderr, "pugmark: %s: %s\n", input->trace_path,
                status == PUG_ERR_MEM ? pug_status_text(status)
                                      : "none of its sources can be decoded");
    if (result->stopped > 0)
        say_stopped(input, result->at);
    input->fatal |= result->stopped > 0 || status == PUG_ERR_MEM;
    failed_to_read |= status == PUG_ERR_MEM;
    return status == PUG_OK || input->fatal ? input_result(input) : EXIT_INPUT;
}

bool input_decode(struct input *input, struct pug_capture_decode *decode, bool (*go_on)(void),
                  struct pug_capture_result *result)
{
    struct progress progress = progress_begin(input_bytes(input), input->options->quiet, go_on);
    decode->threads = input_jobs(input);
    decode->piece = input->piece;
    decode->selection = &input->lists.selection;
    decode->times |= input->options->time != NULL;
    decode->progress = progress_show;
    decode->progress_context = &progress;
    input->errors_before = pug_log_errors(input->log);
    const enum pug_status status = pug_capture_decode(input->capture, decode, result);
    progress_end(&progress);
    (void)input_concluded(input, status, result);
    return status == PUG_OK;
}

static void conclude(struct input *input)
{
    const bool quiet = input->options->quiet;
    /* What is printed says it all; or nobody wants the rest, of which nothing is known. */
    if (input->described || !output_wanted())
        return;
    input->examined = true;
    input->wrong |= diagnosis_conclude(input->diagnosis, quiet);
    messages_forget(&input->messages);
}

/* ---- looking again ---- */

/* So much of a trace that was decoded in another way is looked at. */
#define LOOK_MOST (UINT64_C(4) << 20)

static void *begin_nothing(void *context, unsigned worker)
{
    (void)worker;
    return context;
}

static void ignore_elements(void *part, const struct pug_element *elements, size_t count)
{
    (void)part;
    (void)elements;
    (void)count;
}

static bool take_nothing(void *context, void *part)
{
    (void)context;
    (void)part;
    return true;
}

static void drop_nothing(void *part)
{
    (void)part;
}

static void look_at_stretch(struct input *input)
{
    const struct pug_parts nobody = {.context = input,
                                     .begin = begin_nothing,
                                     .elements = ignore_elements,
                                     .take = take_nothing,
                                     .drop = drop_nothing};
    struct pug_jobs_result result = {.response = PUG_RESP_CONT};
    input->partial = input->trace_size > LOOK_MOST;
    if (input->partial)
        input->trace_size = LOOK_MOST;
    const struct pug_jobs jobs = {.threads = input_jobs(input),
                                  .parts = diagnosis_parts(input->diagnosis, &nobody)};
    if (pug_tree_decode(input->tree, &jobs, input->trace, input->trace_size, &result) == PUG_OK)
        conclude(input);
    input->partial = false;
}

static void look_at_stretches(struct input *input)
{
    input_first(input);
    do {
        messages_forget(&input->messages);
        if (input_tree(input, true) && input->diagnosis)
            look_at_stretch(input);
    } while (input_next(input));
}

/**
 * What went another way than through a tree of ours gave no evidence: the beginning of each buffer
 * is decoded once more for it. What that logs was logged before.
 */
static void look_again(struct input *input)
{
    if (input->examined || input->options->reference || input->described || !output_wanted())
        return;
    input->examined = true;
    input->silent = true;
    if (pug_capture_kind(input->capture) == PUG_CAPTURE_PERF)
        input->wrong |= perf_diagnosis(input, LOOK_MOST);
    else
        look_at_stretches(input);
    messages_forget(&input->messages);
    input->silent = false;
}

int input_result(struct input *input)
{
    const bool erred = pug_log_errors(input->log) > input->errors_before;
    messages_end(&input->messages, input->options->quiet);
    if (!input->diagnosis)
        look_again(input);
    else
        conclude(input);
    if (input->fatal)
        return EXIT_FATAL;
    return input->wrong || erred ? EXIT_TRACE_ERRORS : EXIT_DONE;
}
