// SPDX-License-Identifier: MIT
/** @file pugmark index: makes the file that says where things are in a capture. */
#include "pugmark/advanced/index.h"
#include "common/command.h"
#include "common/messages.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/sandbox.h"
#include "common/terminal.h"
#include "diagnose/diagnosis.h"
#include "index_input.h"
#include "schedule/peers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct index_options {
    struct input_options input;
    const char *output;
    uint64_t block, limit, from;
    struct option_list full_sources;
    bool full, elements, rebuild;
};

static bool add_full_source(const struct option *option, void *target, const char *argument)
{
    uint64_t id;
    return option_up_to(option, argument, UINT16_MAX, &id) && option_list_add(target, argument);
}

static const struct option table[] = {
    {"output", "FILE", "the index file (default: the trace's name and .pugindex)", option_string,
     offsetof(struct index_options, output)},
    {"block", "BYTES", "bytes of trace that one summary covers (default: 131072 or more)",
     option_number, offsetof(struct index_options, block)},
    {"from", "OFFSET", "index only from this trace offset on: find then knows nothing before it",
     option_number, offsetof(struct index_options, from)},
    {"full-source", "ID",
     "keep every mark of this source, of the others summaries; may be repeated", add_full_source,
     offsetof(struct index_options, full_sources)},
    {"limit", "BYTES", "index only the first so many bytes of trace; later goes on to the end",
     option_number, offsetof(struct index_options, limit)},
    {"full", NULL, "keep every mark, not only summaries", option_flag,
     offsetof(struct index_options, full)},
    {"elements", NULL,
     "decode as well, so that `list` can start anywhere; else a window does, up to its begin",
     option_flag, offsetof(struct index_options, elements)},
    {"rebuild", NULL, "make the index anew, whatever is there", option_flag,
     offsetof(struct index_options, rebuild)},
};

static void describe(const struct pug_index *index, const char *path)
{
    static const char *const kinds[PUG_MARK_KINDS] = {
        [PUG_MARK_SYNC] = "syncs",
        [PUG_MARK_TIMESTAMP] = "timestamps",
        [PUG_MARK_TRIGGER] = "triggers",
        [PUG_MARK_EVENT] = "events",
        [PUG_MARK_CONTEXT] = "contexts",
        [PUG_MARK_OVERFLOW] = "overflows",
        [PUG_MARK_DISCARD] = "discards",
        [PUG_MARK_EXCEPTION] = "exceptions",
        [PUG_MARK_ADDRESS] = "addresses",
        [PUG_MARK_DATA] = "bytes",
        [PUG_MARK_VMID] = "virtual machines",
        [PUG_MARK_TRACE_ON] = "starts",
        [PUG_MARK_HARDWARE] = "hardware packets",
        [PUG_MARK_TRANSACTION] = "transactions",
        [PUG_MARK_TIME_STEP] = "time steps",
    };
    struct pug_index_info info;
    struct pug_index_source source;
    pug_index_info(index, &info);
    output_text("%s: %" PRIu64 " bytes for %" PRIu64 " of %" PRIu64 " bytes of trace (%s), blocks "
                "of %" PRIu64 "%s%s",
                path, info.size, info.indexed, info.trace_size, info.transport, info.block,
                info.full ? ", every mark" : "", info.elements ? ", elements" : "");
    if (info.elements && info.states < info.indexed)
        output_text(" up to %" PRIu64, info.states);
    if (info.frame_syncs > 0)
        output_text(", %" PRIu64 " frame syncs", info.frame_syncs);
    output_text("\n");
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++) {
        output_text("  %02x %s:", source.id, source.protocol[0] ? source.protocol : "-");
        for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
            if (source.counts[kind])
                output_text(" %" PRIu64 " %s", source.counts[kind], kinds[kind]);
        output_text("\n");
    }
}

/** Has it no mark of a source that is known? Noise has triggers, of any id. */
static bool is_bare(const struct pug_index *index)
{
    struct pug_index_source source;
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++)
        for (unsigned kind = 0; *source.protocol && kind < PUG_MARK_KINDS; kind++)
            if (kind != PUG_MARK_DATA && source.counts[kind] > 0)
                return false;
    return true;
}

/** Says what the index holds; of the only one, why no packet could be read, or most are bad. */
static int conclude(struct input *input, const struct pug_index *index, const char *path)
{
    const bool quiet = input->options->quiet;
    if (!quiet)
        describe(index, path);
    if (input->chosen > 1 || pug_peers_helps(input_peers()))
        return EXIT_DONE;
    struct diagnosis *diagnosis = diagnosis_new(input);
    const bool nothing = diagnosis && (is_bare(index) ? diagnosis_conclude_packets(diagnosis, quiet)
                                                      : diagnosis_conclude_noise(diagnosis, quiet));
    diagnosis_free(diagnosis);
    return nothing ? EXIT_TRACE_ERRORS : EXIT_DONE;
}

/** How many bytes are to be indexed. */
static uint64_t wanted_bytes(const struct input *input, const struct index_options *options)
{
    return options->limit && options->limit < input->trace_size ? options->limit
                                                                : input->trace_size;
}

/** Is what the file has as much as was asked for? */
static bool suffices(const struct pug_index *index, const struct input *input,
                     const struct index_options *options)
{
    struct pug_index_info info;
    pug_index_info(index, &info);
    return info.indexed >= wanted_bytes(input, options) &&
           (!options->elements ||
            (info.states == info.indexed && pug_index_has_states(index, input->tree)));
}

/** Can what the file has be gone on with, or has it to be something else? */
static bool fits(const struct pug_index *index, const struct index_options *options)
{
    struct pug_index_info info;
    pug_index_info(index, &info);
    return (info.full || !options->full) && options->full_sources.count == 0 &&
           info.from <= options->from && (info.from == 0) == (options->from == 0) &&
           (!options->block || (options->block <= info.block && info.block - options->block < 512));
}

/** Make the index, or the rest of `part`. */
static int make(struct input *input, const struct index_options *options, const char *path,
                const struct pug_index *part)
{
    uint16_t *full_ids = calloc(options->full_sources.count + 1, sizeof(*full_ids));
    if (!full_ids) {
        message_say("pugmark: out of memory\n");
        return EXIT_INPUT;
    }
    struct progress progress = progress_begin(input->trace_size, options->input.quiet, NULL);
    for (size_t i = 0; i < options->full_sources.count; i++) {
        uint64_t id = 0;
        parse_number(options->full_sources.items[i], &id);
        full_ids[i] = (uint16_t)id;
    }
    const struct pug_index_options how = {
        .from = options->from,
        .full_ids = full_ids,
        .full_count = options->full_sources.count,
        .block = options->block,
        .limit = options->limit,
        .full = options->full,
        .elements = options->elements,
        .jobs = input_jobs(input),
        .progress = progress_show,
        .progress_context = &progress,
        .peers = input_peers(),
    };
    struct pug_index *index = NULL;
    enum pug_status status =
        part ? pug_index_extend(part, input->tree, input->trace, input->trace_size, &how, &index)
             : pug_index_build(input->tree, input->trace, input->trace_size, &how, &index);
    progress_end(&progress);
    free(full_ids);
    if (status != PUG_OK) {
        message_say("pugmark: %s: no index: %s\n", input->trace_path, pug_status_text(status));
        return EXIT_INPUT;
    }
    status = pug_peers_helps(input_peers()) ? PUG_OK : pug_index_save(index, path);
    if (status != PUG_OK)
        message_say("pugmark: %s: %s\n", path, strerror(errno));
    const int code = status == PUG_OK ? conclude(input, index, path) : EXIT_INPUT;
    pug_index_free(index);
    return code;
}

/** Use what is there, go on with it, or make it. */
static int run(struct input *input, const struct index_options *options)
{
    char path[4096];
    struct pug_index *index = NULL;
    if (options->from > 0 && options->from >= input->trace_size) {
        message_say("pugmark: %s: --from %" PRIu64
                    " leaves nothing to index: the trace has %" PRIu64 " bytes\n",
                    input->trace_path, options->from, input->trace_size);
        return EXIT_USAGE;
    }
    if (!index_path(input, options->output, path, sizeof(path)) ||
        !index_tree(input, options->elements))
        return EXIT_INPUT;
    if (!index_may_write(options->output, path)) {
        message_say("pugmark: %s: a link, which may lead anywhere: --output says where the index "
                    "goes\n",
                    path);
        return EXIT_INPUT;
    }
    if (options->rebuild)
        return make(input, options, path, NULL);
    enum pug_status status = index_load(input, path, &index);
    if (status != PUG_OK && (status != PUG_ERR_FILE || errno != ENOENT)) {
        index_refused(path, status);
        return EXIT_INPUT;
    }
    struct pug_index_info info = {0};
    if (index)
        pug_index_info(index, &info);
    /* What an index has is not given up: its decoders' states go on, too. */
    if (info.elements && !options->elements && !index_tree(input, true)) {
        pug_index_free(index);
        return EXIT_INPUT;
    }
    int code = EXIT_DONE;
    if (!index || !fits(index, options))
        code = make(input, options, path, NULL);
    else if (!suffices(index, input, options))
        code = make(input, options, path, index);
    else
        code = conclude(input, index, path);
    pug_index_free(index);
    return code;
}

/** Each buffer has an index of its own. */
static int run_all(struct input *input, const struct index_options *options)
{
    int code, worst = EXIT_DONE;
    if (!index_is_of_one(input, "--output", options->output))
        return EXIT_USAGE;
    if (!options->output && !index_has_place(input)) {
        message_say("pugmark: %s: the index of a stream needs an --output\n", input->trace_path);
        return EXIT_USAGE;
    }
    do {
        code = run(input, options);
        worst = code > worst ? code : worst;
    } while (input_next(input));
    return worst;
}

static int index_run(const struct command *self, int argc, char **argv)
{
    struct index_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    if (options.block &&
        (options.block < PUG_INDEX_BLOCK_MIN || options.block > PUG_INDEX_BLOCK_MAX)) {
        message_say("pugmark: --block %" PRIu64 ": must be %" PRIu64 " to %" PRIu64 "\n",
                    options.block, PUG_INDEX_BLOCK_MIN, PUG_INDEX_BLOCK_MAX);
        return EXIT_USAGE;
    }
    if (options.limit && options.from >= options.limit) {
        message_say("pugmark: --from %" PRIu64 ": must be before --limit %" PRIu64
                    ", which counts from the trace's beginning\n",
                    options.from, options.limit);
        return EXIT_USAGE;
    }
    if (options.output && !terminal_may_have(options.output, "an index"))
        return EXIT_USAGE;
    struct input input;
    sandbox_allow_input(); /* the index lies beside the trace */
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    int code = input_is_whole(&input, "an index file") ? run_all(&input, &options) : EXIT_USAGE;
    if (code == EXIT_DONE && input.wrong)
        code = EXIT_TRACE_ERRORS;
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_index = {
    .name = "index",
    .operands = "INPUT",
    .summary = "make an index of a capture, for find and list",
    .run = index_run,
    .task = TASK_FIND,
    .purpose = "Makes a file beside a long trace that says where things are in it. `find` answers "
               "from it at once, and windows of `list` and `trace` start in the middle.",
    .examples =
        {
            {"pugmark index -o demo.pugindex examples/demo", "an index with a name of its own"},
            {"pugmark index --elements -o demo.pugindex examples/demo",
             "also decodes, so that `list` can start anywhere"},
            {"pugmark index --rebuild -o demo.pugindex examples/demo",
             "makes it again, whatever is there"},
        },
};
