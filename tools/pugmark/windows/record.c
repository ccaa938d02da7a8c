// SPDX-License-Identifier: MIT
/** @file `pugmark record` where there is none. */
#include "../command.h"

#include <stdio.h>

static int record_run(const struct command *self, int argc, char **argv)
{
    (void)self;
    (void)argc;
    (void)argv;
    fputs("pugmark: recording needs QEMU's user mode, which Windows has not\n", stderr);
    return EXIT_USAGE;
}

const struct command command_record = {"record", "", "not on Windows: needs QEMU's user mode",
                                       record_run};
