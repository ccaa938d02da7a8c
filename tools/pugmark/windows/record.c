// SPDX-License-Identifier: MIT
/** @file What makes trace, where nothing is made. */
#include "common/command.h"
#include "common/messages.h"
#include "record/snapshot_files.h"

#include <stdio.h>

static int record_run(const struct command *self, int argc, char **argv)
{
    (void)self;
    (void)argc;
    (void)argv;
    message_say("pugmark: recording needs QEMU's user mode, which Windows has not\n");
    return EXIT_USAGE;
}

static int encode_run(const struct command *self, int argc, char **argv)
{
    (void)self;
    (void)argc;
    (void)argv;
    message_say("pugmark: trace is not encoded on Windows\n");
    return EXIT_USAGE;
}

/** What `--save FOLDER/` wrote has the bytes of each connection, and no descriptions. */
bool snapshot_copy_programs(const struct input *input, const char *folder)
{
    (void)input;
    message_say("pugmark: %s: it gets no descriptions, which are not written on Windows\n", folder);
    return false;
}

bool snapshot_describe(const struct input *input, const char *folder,
                       const struct snapshot_buffer *buffers, size_t count, bool saved)
{
    (void)input, (void)folder, (void)buffers, (void)count, (void)saved;
    return false; /* that was said */
}

const struct command command_record = {
    .name = "record",
    .operands = "",
    .summary = "not on Windows: needs QEMU's user mode",
    .run = record_run,
    .task = TASK_MAKE,
};
const struct command command_snapshot = {
    .name = "snapshot",
    .operands = "",
    .summary = "not on Windows",
    .run = encode_run,
    .task = TASK_LOOK,
};
const struct command command_encode = {
    .name = "encode",
    .operands = "",
    .summary = "not on Windows",
    .run = encode_run,
    .task = TASK_MAKE,
};
