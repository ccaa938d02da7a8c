// SPDX-License-Identifier: MIT
/** @file pugmark convert: what a logic analyser saw of a Serial Wire Output to the bytes on it. */
#include "common/command.h"
#include "common/messages.h"
#include "common/progress.h"
#include "common/sandbox.h"
#include "common/terminal.h"
#include "files/outfile.h"
#include "waveform/waveform.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct convert_options {
    const char *output, *line;
    uint64_t rate, samplerate;
    enum pug_line_coding coding;
    bool quiet;
};

static bool take_coding(const struct option *option, void *target, const char *argument)
{
    enum pug_line_coding *coding = target;
    if (strcmp(argument, "uart") == 0)
        *coding = PUG_LINE_UART;
    else if (strcmp(argument, "manchester") == 0)
        *coding = PUG_LINE_MANCHESTER;
    else
        return option_refuse(option, argument, "uart or manchester");
    return true;
}

#define AT(member) offsetof(struct convert_options, member)

static const struct option table[] = {
    {"output", "FILE", "the bytes go there (-o), not to standard output", option_string,
     AT(output)},
    {"line", "NAME", "the line, by its name or its number from 0 on (default: there is one alone)",
     option_string, AT(line)},
    {"coding", "uart|manchester",
     "uart or manchester (default: uart where the line is idle high, manchester where it is low)",
     take_coding, AT(coding)},
    {"rate", "BITS", "bits in a second (default: as the shortest pulses say)", option_some,
     AT(rate)},
    {"samplerate", "HZ", "of a CSV that does not say it", option_some, AT(samplerate)},
    {"quiet", NULL, "say nothing of what was found, no progress", option_flag, AT(quiet)},
};

static bool take_bytes(void *context, const uint8_t *bytes, size_t size)
{
    struct pug_outfile *file = context;
    struct pug_sink sink = pug_outfile_sink(file);
    pug_sink_put(&sink, bytes, size);
    return !pug_outfile_failed(file);
}

static void show(void *context, uint64_t done, uint64_t all)
{
    struct progress *progress = context;
    progress->all = all;
    (void)progress_show(progress, done);
}

/** Say what was found; was it any good? */
static bool report(const struct pug_line *line, const char *path, bool quiet)
{
    const bool manchester = line->coding == PUG_LINE_MANCHESTER;
    const uint64_t all = line->bytes + line->bad;
    if (!quiet)
        message_say("pugmark: %s: %s at %.0f bits in a second, %" PRIu64 " bytes\n", path,
                    manchester ? "Manchester" : "UART", line->rate, line->bytes);
    if (line->bad > 0)
        message_say("pugmark: warning: %s: %" PRIu64 " of %" PRIu64 " %s\n", path, line->bad, all,
                    manchester ? "packets end inside a byte" : "bytes have no stop bit");
    const double ratio = line->found > 0 ? line->rate / line->found : 1;
    if (line->bad > all / 50 && (ratio < 0.97 || ratio > 1.03))
        message_say("pugmark: the shortest pulses say %.0f bits in a second: leave --rate out?\n",
                    line->found);
    else if (line->bad > all / 50)
        message_say("pugmark: is it %s, and is this the line?\n",
                    manchester ? "--coding uart" : "--coding manchester");
    return line->bad <= all / 50;
}

static int convert(const struct convert_options *options, const char *path)
{
    struct progress progress = progress_begin(1, options->quiet, NULL);
    struct pug_waveform waveform = {.path = path,
                                    .line = options->line,
                                    .hertz = (double)options->samplerate,
                                    .progress = show,
                                    .progress_context = &progress};
    struct pug_line line = {.coding = options->coding, .rate = (double)options->rate};
    const char *output = options->output ? options->output : "-";
    struct pug_outfile *file;
    if (pug_outfile_open_any(output, &file) != PUG_OK) {
        message_say("pugmark: %s: %s\n", output, strerror(errno));
        return EXIT_INPUT;
    }
    const bool good = pug_line_bytes(&waveform, &line, take_bytes, file);
    progress_end(&progress);
    if (!good) {
        pug_outfile_abandon(file);
        message_say("pugmark: %s: %s\n", path, waveform.why);
        return EXIT_INPUT;
    }
    if (pug_outfile_commit(file) != PUG_OK) {
        message_say("pugmark: %s: %s\n", output, strerror(errno));
        return EXIT_INPUT;
    }
    return report(&line, path, options->quiet) ? EXIT_DONE : EXIT_TRACE_ERRORS;
}

static int convert_run(const struct command *self, int argc, char **argv)
{
    struct convert_options options = {.output = NULL};
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    const int end = command_start(self, argc, argv, sets, 1, 1);
    if (end >= 0)
        return end;
    if (!terminal_may_have(options.output, "binary data"))
        return EXIT_USAGE;
    (void)sandbox_start(NULL);
    return convert(&options, argv[1]);
}

const struct command command_convert = {
    .name = "convert",
    .operands = "CAPTURE",
    .summary = "make bytes of what a logic analyser saw of a line: .sr, VCD or CSV",
    .run = convert_run,
    .task = TASK_SOFTWARE,
    .purpose =
        "Reads a logic analyser's capture of an SWO line and writes the bytes that were on it, for "
        "`pugmark itm`, `list` and `profile`. It finds coding and bit rate by itself.",
    .examples =
        {
            {"pugmark convert -o swo.bin capture.sr", "a session of sigrok or PulseView"},
            {"pugmark convert --line SWO --rate 2000000 -o swo.bin capture.vcd",
             "a named line at a known rate"},
            {"pugmark convert --coding manchester -o swo.bin capture.csv",
             "Manchester coding from a CSV file"},
        },
};
