// SPDX-License-Identifier: MIT
/** @file pugmark info: what a capture holds, and what it lacks. */
#include "common/command.h"
#include "common/output.h"
#include "diagnose/findings.h"
#include "events/dwt_sources.h"
#include "input/input.h"
#include "input/snapshot_input.h"
#include "input/unread.h"
#include "next_step.h"
#include "perf_info.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "swo/swo_info.h"
#include "tally.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct info_options {
    struct input_options input;
    bool segments;
};

static const struct option table[] = {
    {"stretches", NULL, "of perf.data: each piece of a buffer that begins from reset", option_flag,
     offsetof(struct info_options, segments)},
};

static void print_source(const struct pug_capture *capture, const struct tally *tally)
{
    const struct pug_source *source = tally->source;
    const struct pug_protocol *protocol = pug_source_protocol(source);
    const struct pug_reader_stats *stats = pug_source_stats(source);
    char times[64];
    output_text("\nsource 0x%02x: %s (%s)\n", pug_source_id(source), protocol->name,
                protocol->title);
    output_text("  %" PRIu64 " bytes, %" PRIu64 " packets, %" PRIu64 " bad, %" PRIu64
                " bytes before synchronisation\n",
                stats->bytes, tally->packets, tally->bad, stats->unsynced);
    if (tally->syncs)
        output_text("  %" PRIu64 " synchronisation points, the first at offset %" PRIu64 "\n",
                    tally->syncs, tally->first_sync);
    if (*tally_times(tally, capture, times, sizeof(times)))
        output_text("  %s\n", times);
    if (!protocol->config_text)
        return;
    char text[4096];
    protocol->config_text(pug_source_config(source), text, sizeof(text));
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        output_text("  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void print_transport(const struct input *input)
{
    const struct pug_transport *transport = pug_tree_transport(input->tree);
    const struct pug_transport_stats *stats = pug_tree_transport_stats(input->tree);
    output_text("trace: %s, %" PRIu64 " bytes, %s\n", input->trace_path, input->trace_whole,
                transport->title);
    if (transport->single)
        return;
    output_text("  %" PRIu64 " bytes of the sources below, %" PRIu64 " of others, %" PRIu64
                " of reserved ids, %" PRIu64 " before the first id\n"
                "  %" PRIu64 " bytes of framing, %" PRIu64 " skipped, %" PRIu64
                " incomplete at the end, %" PRIu64 " triggers and other special ids\n",
                stats->delivered, stats->no_decoder, stats->reserved, stats->unknown,
                stats->framing, stats->skipped, stats->dropped, stats->triggers);
}

static bool has_context(const struct pug_place *place)
{
    return place->has_context_id || place->has_vmid || place->has_source;
}

static void print_image(const struct input *input)
{
    struct pug_image_range range;
    output_text("\nprogram memory:\n");
    size_t n = 0;
    for (; pug_image_range(input->image, n, &range); n++) {
        char space[64];
        pug_space_text(range.place.space, space, sizeof(space));
        output_text("  0x%" PRIx64 " to 0x%" PRIx64 "  %s%s%s, space %s", range.start, range.end,
                    range.kind, range.path ? " " : "", range.path ? range.path : "", space);
        if (has_context(&range.place)) {
            if (range.place.has_context_id)
                output_text(", context id 0x%x", range.place.context_id);
            if (range.place.has_vmid)
                output_text(", VMID 0x%x", range.place.vmid);
            if (range.place.has_source)
                output_text(", source 0x%02x", range.place.source);
        }
        output_text("\n");
    }
    if (n == 0)
        output_text("  none\n");
}

/** A heading before the first thing that is missing. */
static void print_lack(bool *any, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print_lack(bool *any, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    output_text("%s  %s\n", *any ? "" : "\nmissing:\n", text);
    *any = true;
}

/** Print what a full decode needs and does not have. */
static void print_missing(const struct input *input, const struct tally *tallies)
{
    struct pug_image_range range;
    bool flow = false, any = false;
    const struct pug_source *source;
    if (input->trace_size == 0)
        print_lack(&any, "trace: there are no bytes in it");
    for (size_t i = 0; (source = pug_tree_source_at(input->tree, i)) != NULL; i++) {
        flow |= pug_source_protocol(source)->program_flow;
        if (tallies[i].syncs == 0 && pug_source_stats(source)->unsynced > 0 &&
            pug_source_stats(source)->unsynced == pug_source_stats(source)->bytes)
            print_lack(&any, "a synchronisation point of source 0x%02x: nothing of it is decoded",
                       pug_source_id(source));
    }
    uint64_t others = pug_tree_transport_stats(input->tree)->no_decoder;
    if (flow && !pug_image_range(input->image, 0, &range))
        print_lack(&any, "program memory: without it, program flow decodes to \"not accessible\"");
    if (others)
        print_lack(&any, "a description of the sources that %" PRIu64 " bytes belong to", others);
}

/* ---- names that nothing reads ---- */

static void print_unread_name(void *context, const char *file, const char *name, const char *meant)
{
    const char **last = context;
    if (!*last)
        output_text("\nnot read:");
    if (!*last || strcmp(*last, file) != 0)
        output_text("\n  %s:", file);
    output_text(" %s%s%s%s", name, meant ? " (is " : "", meant ? meant : "",
                meant ? " meant?)" : "");
    *last = file;
}

/** Settings in the input's files that no part of the decoder asks for. */
static void print_unread(struct input *input)
{
    const char *last = NULL;
    if (!unread_each(input, print_unread_name, &last))
        input_starve(input);
    if (last)
        output_text("\n");
}

/** Print the values of --protocol and --transport. */
static void print_names(void)
{
    const struct pug_protocol *protocol;
    const struct pug_transport *transport;
    printf("\nprotocols:\n");
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++)
        printf("  %-26s %s\n", protocol->name, protocol->title);
    printf("\ntransports:\n");
    for (size_t n = 0; (transport = pug_transport_at(n)) != NULL; n++)
        printf("  %-26s %s\n", transport->name, transport->title);
}

/** Print guesses about a file of trace without a description. */
static int guess_run(const char *path, const uint8_t *bytes, size_t size)
{
    struct pug_guess guesses[PUG_GUESSES];
    unsigned width;
    size_t count = pug_guess_format(bytes, size, guesses);
    output_text("%s: %zu bytes\n", path, size);
    if (count == 0 && (count = pug_guess_turned(bytes, size, guesses, &width)) > 0)
        output_text(PUG_GUESS_TURNED " it\n", width, width);
    for (size_t i = 0; i < count; i++)
        output_text("%s %3u %%  %s in %s%s%s\n         %s\n", i ? "       or" : "looks like",
                    guesses[i].score, guesses[i].protocol, guesses[i].transport,
                    *guesses[i].settings ? ", --set " : "", guesses[i].settings, guesses[i].reason);
    if (count == 0)
        output_text("looks like nothing that is known here\n");
    if (count > 0)
        next_step_print(path, &guesses[0]);
    else
        next_step_print_unknown(path);
    return count > 0 ? EXIT_DONE : EXIT_TRACE_ERRORS;
}

/**
 * The first bytes of a file that nothing is known of. NULL: something is, or they cannot be read.
 */
static uint8_t *read_undescribed(const struct input_options *options, const char *path,
                                 size_t *size)
{
    const size_t most = 256u << 10;
    if (options->params || !input_is_bare(options, path))
        return NULL;
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = file ? malloc(most) : NULL;
    *size = bytes ? fread(bytes, 1, most, file) : 0;
    if (bytes && ferror(file)) {
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    return bytes;
}

/* So much of a trace is decoded to see whether program and settings are those that ran. */
#define LOOK_MOST (UINT64_C(1) << 20)

/** Print the content of one buffer, and what it lacks; an exit code. */
static int print_segment(struct input *input)
{
    struct tally *tallies = NULL;
    size_t count = 0;
    if (!input_tree(input, false))
        return EXIT_INPUT;
    while (pug_tree_source_at(input->tree, count))
        count++;
    tallies = calloc(count + 1, sizeof(*tallies));
    if (!tallies) {
        message_say("pugmark: out of memory\n");
        return EXIT_INPUT;
    }
    for (size_t i = 0; i < count; i++)
        tally_source(&tallies[i], pug_tree_source_at(input->tree, i));
    input_run(input, NULL, NULL);
    print_transport(input);
    for (size_t i = 0; i < count; i++)
        print_source(input->capture, &tallies[i]);
    print_image(input);
    print_unread(input);
    print_missing(input, tallies);
    free(tallies);
    return input_examine(input, LOOK_MOST);
}

/** The input cannot be opened. What a snapshot without trace has is printed all the same. */
static int refused(const struct input_options *options, const char *path, int code)
{
    const bool printed = code == EXIT_INPUT && snapshot_input_print_devices(options, path);
    const int written = printed ? output_end() : EXIT_DONE;
    return written ? written : printed ? EXIT_TRACE_ERRORS : code;
}

/** Has the segment at hand an ITM? */
static bool has_software(const struct input *input)
{
    const struct pug_source *source;
    for (size_t n = 0; input->tree && (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (pug_dwt_sources_carries(pug_source_protocol(source)))
            return true;
    return false;
}

static int info_run(const struct command *self, int argc, char **argv)
{
    struct info_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    struct input input;
    size_t size;
    if (input_is_mistaken(&options.input, argv[1]))
        return EXIT_USAGE;
    uint8_t *bytes = read_undescribed(&options.input, argv[1], &size);
    if (bytes) {
        int code = guess_run(argv[1], bytes, size);
        free(bytes);
        int written = output_end();
        return written ? written : code;
    }
    if (!input_open_for(&input, &options.input, argv[1], INPUT_NEEDS_NOTHING))
        return refused(&options.input, argv[1], input.failure);
    int code = EXIT_DONE;
    if (pug_capture_kind(input.capture) == PUG_CAPTURE_PERF) {
        code = perf_info(&input, options.segments);
        if (code == EXIT_DONE && !input_holds(&input, INPUT_NEEDS_COUNTS))
            code = EXIT_TRACE_ERRORS;
    } else {
        bool software = false;
        snapshot_input_print(&input);
        capture_info_times(input.capture);
        do {
            int one = print_segment(&input);
            code = one > code ? one : code;
            software |= has_software(&input);
        } while (input_next(&input));
        if (software && !swo_info_print(&input))
            input_starve(&input);
    }
    next_step_print_described(&input, argv[1]);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_info = {
    .name = "info",
    .operands = "INPUT",
    .summary = "say what a capture holds: devices, sources, settings, images, what is missing",
    .run = info_run,
    .task = TASK_LOOK,
    .purpose = "Says what a file or folder holds, what is missing to decode it, and which command "
               "to try next. Start here with a file that you do not know.",
    .examples =
        {
            {"pugmark info examples/demo", "devices, sources, settings and program memory"},
            {"pugmark info examples/demo/trace.bin",
             "what a file of trace looks like that nothing describes"},
            {"pugmark info --protocol etmv4 --transport coresight --core Cortex-A53 "
             "examples/demo/trace.bin",
             "the same file, with what is known about it"},
        },
    .more_help = print_names,
};
