// SPDX-License-Identifier: MIT
/**
 * @file pugmark snapshot: a folder with a file of trace, what options said of it, and its program,
 * so that later commands need none of these options.
 */
#include "common/command.h"
#include "files/outfile.h"
#include "input/input.h"
#include "recorder/recording_folder.h"
#include "snapshot_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct snapshot_options {
    struct input_options input;
    const char *output;
    bool force;
};

static const struct option table[] = {
    {"output", "DIR", "the folder to write (-o)", option_string,
     offsetof(struct snapshot_options, output)},
    {"force", NULL,
     "the folder may hold other files: those with names of new ones are replaced, the rest stays",
     option_flag, offsetof(struct snapshot_options, force)},
};

/* ---- the command ---- */

/** Says what the folder is for. */
static void say_done(const struct snapshot_options *options)
{
    if (!options->input.quiet)
        message_say("pugmark: %s: written; next: pugmark info %s\n", options->output,
                    options->output);
}

static bool write_all(const struct input *input, const char *folder)
{
    static const struct snapshot_buffer buffer = {"buffer_0", "trace.bin", ""};
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, buffer.file);
    if (pug_outfile_save(path, input->trace, input->trace_size) != PUG_OK) {
        message_say("pugmark: %s: %s\n", path, strerror(errno));
        return false;
    }
    return snapshot_copy_programs(input, folder) &&
           snapshot_describe(input, folder, &buffer, 1, false);
}

static int make_folder(const struct snapshot_options *options, const struct input *input)
{
    struct rec_folder *folder = NULL;
    char why[512] = "";
    enum rec_folder_status status =
        rec_folder_new(options->output, options->force, NULL, &folder, why, sizeof(why));
    bool good = status == REC_FOLDER_DONE;
    if (good && !rec_folder_begin(folder)) {
        snprintf(why, sizeof(why), "%s", strerror(errno));
        good = false;
    }
    if (good) {
        good = write_all(input, rec_folder_path(folder)) &&
               rec_folder_commit(folder, why, sizeof(why));
    }
    rec_folder_free(folder);
    if (!good && *why)
        message_say("pugmark: %s: the snapshot was not written: %s\n", options->output, why);
    if (good)
        say_done(options);
    return good ? EXIT_DONE : status == REC_FOLDER_REFUSED ? EXIT_USAGE : EXIT_INPUT;
}

static int snapshot_run(const struct command *self, int argc, char **argv)
{
    struct snapshot_options options = {0};
    struct input input;
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    const int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    if (!options.output) {
        message_say("pugmark: snapshot needs -o DIR, the folder to write\n");
        return EXIT_USAGE;
    }
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    int code = EXIT_USAGE;
    if (pug_capture_kind(input.capture) != PUG_CAPTURE_RAW) {
        message_say("pugmark: %s: a snapshot is made of one file of trace that options describe; "
                    "this input says itself how it is to be read\n",
                    argv[1]);
    } else {
        code = make_folder(&options, &input);
    }
    input_close(&input);
    return code;
}

const struct command command_snapshot = {
    .name = "snapshot",
    .operands = "INPUT",
    .summary = "keep a file of trace with its registers and program in one folder",
    .run = snapshot_run,
    .task = TASK_LOOK,
    .purpose =
        "Writes a snapshot: a folder with the trace, the registers or parameters that options gave "
        "or the core's usual ones, and the program. Later commands take the folder as INPUT and "
        "need none of these options; others can decode it, too.",
    .examples =
        {
            {"pugmark snapshot -o run --protocol etmv4 --transport coresight --core Cortex-A53 "
             "--elf examples/crash/crash examples/crash/trace.bin",
             "a folder `run` of a file, a core and a program"},
            {"pugmark snapshot -o run --transport coresight --params examples/demo/ETM_0.ini "
             "examples/demo/trace.bin",
             "registers from a device file"},
            {"pugmark trace --last 5 run", "what ran, from the folder alone"},
        },
};
