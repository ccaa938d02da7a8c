// SPDX-License-Identifier: MIT
/** @file pugmark encode: packets in words, one a line, into bytes: recorder/lines.h has them. */
#include "common/command.h"
#include "common/messages.h"
#include "common/progress.h"
#include "common/sandbox.h"
#include "common/terminal.h"
#include "files/outfile.h"
#include "recorder/lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct encode_options {
    struct rec_words settings;
    const char *output;
    bool osd;
};

static bool take_setting(const struct option *option, void *target, const char *argument)
{
    struct rec_words *settings = target;
    if (!strchr(argument, '='))
        return option_refuse(option, argument, "not of the form NAME=VALUE");
    if (settings->count == REC_SCRIPT_WORDS)
        return option_refuse(option, argument, "too many settings");
    settings->at[settings->count++] = argument;
    return true;
}

static bool take_format(const struct option *option, void *target, const char *argument)
{
    *(bool *)target = strcmp(argument, "osd") == 0;
    return *(bool *)target || strcmp(argument, "encapsulation") == 0 ||
           option_refuse(option, argument, "no format; there are encapsulation, osd");
}

static const struct option table[] = {
    {"format", "encapsulation|osd", "encapsulation (default) or osd", take_format,
     offsetof(struct encode_options, osd)},
    {"set", "NAME=VALUE",
     "a setting of the encapsulation or of the link; may be repeated, see pugmark(1)", take_setting,
     offsetof(struct encode_options, settings)},
    {"output", "FILE", "the trace goes there (-o), not to standard output", option_string,
     offsetof(struct encode_options, output)},
};

/** Are all settings known? Says which is not. */
static bool all_known(bool osd, const struct rec_words *settings)
{
    const size_t unknown = rec_lines_unknown(osd, settings);
    if (unknown == settings->count)
        return true;
    const char *setting = settings->at[unknown];
    message_say("pugmark: no setting '%.*s'; there are", (int)strcspn(setting, "="), setting);
    for (const char *const *name = rec_lines_names(osd); *name; name++)
        message_say(" %s", *name);
    message_say("%s\n", osd ? "" : " type_bits_N");
    return false;
}

/** Each line of the input; false: one is wrong. */
static bool put_lines(FILE *file, struct progress *progress, struct rec_lines *lines)
{
    char line[1024];
    for (unsigned n = 1; fgets(line, sizeof(line), file); n++) {
        progress_show_file(progress, file);
        if (!strchr(line, '\n') && !feof(file)) {
            message_say("pugmark: line %u is too long\n", n);
            return false;
        }
        if (!rec_lines_put(lines, line)) {
            message_say("pugmark: line %u: no such packet, or what it has does not fit\n", n);
            return false;
        }
    }
    return true;
}

static int encode(const struct encode_options *options, FILE *file)
{
    struct rec_bytes out = {0};
    struct rec_lines *lines = rec_lines_new(options->osd, &options->settings, &out);
    if (!lines) {
        message_say("pugmark: a value of --set is out of range\n");
        return EXIT_USAGE;
    }
    struct progress progress = progress_begin_file(file, false);
    bool good = put_lines(file, &progress, lines);
    progress_end(&progress);
    if (good)
        rec_lines_end(lines);
    const char *output = options->output ? options->output : "-";
    if (good && (out.failed || pug_outfile_save_any(output, out.data, out.size) != PUG_OK)) {
        message_say("pugmark: %s: %s\n", output, strerror(out.failed ? ENOMEM : errno));
        good = false;
    }
    rec_lines_free(lines);
    rec_bytes_free(&out);
    return good ? EXIT_DONE : EXIT_INPUT;
}

static int encode_run(const struct command *self, int argc, char **argv)
{
    struct encode_options options = {.output = NULL};
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    int end = command_start(self, argc, argv, sets, 1, 1);
    if (end >= 0)
        return end;
    if (!terminal_may_have(options.output, "binary data"))
        return EXIT_USAGE;
    if (!all_known(options.osd, &options.settings))
        return EXIT_USAGE;
    (void)sandbox_start(NULL);
    FILE *file = strcmp(argv[1], "-") == 0 ? stdin : fopen(argv[1], "r");
    if (!file) {
        message_say("pugmark: %s: %s\n", argv[1], strerror(errno));
        return EXIT_INPUT;
    }
    int code = encode(&options, file);
    if (file != stdin)
        fclose(file);
    return code;
}

const struct command command_encode = {
    .name = "encode",
    .operands = "LINES",
    .summary = "make encapsulated RISC-V packets, or Open SoC Debug datagrams, of lines of text",
    .run = encode_run,
    .task = TASK_MAKE,
    .purpose = "Makes the bytes of RISC-V trace packets in their encapsulation, or of Open SoC "
               "Debug datagrams, from lines of text. It is for tests of decoders and links.",
    .examples =
        {
            {"echo 'packet 0 0 7308' | pugmark encode -o packets.bin -",
             "a RISC-V packet with two bytes of payload"},
            {"echo 'packet 5 0 7308' | pugmark encode --set src_bits=8 -o packets.bin -",
             "the same, from source 5"},
            {"echo 'stm 1 32 5 2 7' | pugmark encode --format osd -o datagrams.bin -",
             "a datagram of an Open SoC Debug system trace module"},
        },
};
