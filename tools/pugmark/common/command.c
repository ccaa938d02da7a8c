// SPDX-License-Identifier: MIT
#include "command.h"
#include "outputs.h"
#include "sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct command_watcher watcher;

void command_watch(const struct command_watcher *wanted)
{
    watcher = wanted ? *wanted : (struct command_watcher){0};
}

int command_start(const struct command *self, int argc, char **argv, const struct option_set *sets,
                  size_t set_count, int operands)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0)
            continue;
        printf("usage: pugmark %s [OPTIONS] %s\n\n%s\n\n", self->name, self->operands,
               self->summary);
        options_help(sets, set_count);
        return EXIT_DONE;
    }
    int found;
    if (!options_parse(argc, argv, sets, set_count, &found))
        return EXIT_USAGE;
    sandbox_operands(argv + 1, (size_t)found);
    if (watcher.tell && found > 0) {
        watcher.tell(watcher.context, argv + 1, (size_t)found);
        return EXIT_DONE;
    }
    if (!outputs_are_apart(argv + 1, (size_t)found))
        return EXIT_USAGE;
    if (operands < 0 && found >= -operands) { /* so many, and any number more */
        argv[found + 1] = NULL;
        return -1;
    }
    if (found != operands) {
        const bool many = operands >= 0 && found > operands;
        fprintf(stderr, "pugmark: %s%s%s\nusage: pugmark %s [OPTIONS] %s\n",
                many    ? "too many words: '"
                : found ? "too few words"
                        : "no input",
                many ? argv[1 + operands] : "", many ? "'" : "", self->name, self->operands);
        return EXIT_USAGE;
    }
    return -1;
}

int command_printed(int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (errno == EPIPE)
        return code;
    fprintf(stderr, "pugmark: cannot write the output: %s\n", strerror(errno ? errno : EIO));
    return EXIT_INPUT;
}
