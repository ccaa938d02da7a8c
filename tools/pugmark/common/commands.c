// SPDX-License-Identifier: MIT
/** @file The list of all commands. */
#include "command.h"
#include "messages.h"
#include "suggest.h"

#include <string.h>

/* One a line, by name. */
/* clang-format off */
static const struct command *const commands[] = {
    &command_calls,
    &command_check,
    &command_complete,
    &command_convert,
    &command_coverage,
    &command_debug,
    &command_diff,
    &command_encode,
    &command_explain,
    &command_find,
    &command_gdb,
    &command_help,
    &command_index,
    &command_info,
    &command_itm,
    &command_list,
    &command_live,
    &command_merge,
    &command_pc,
    &command_profile,
    &command_record,
    &command_reference,
    &command_report,
    &command_serve,
    &command_snapshot,
    &command_stat,
    &command_threads,
    &command_timeline,
    &command_top,
    &command_trace,
};
/* clang-format on */

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct command *command_at(size_t n)
{
    return n < COMMANDS ? commands[n] : NULL;
}

const struct command *command_find_name(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

int command_refuse(const char *name)
{
    struct suggestion suggestion;
    suggest_begin(&suggestion, name);
    for (size_t i = 0; i < COMMANDS; i++)
        if (commands[i]->task != TASK_HIDDEN)
            suggest_offer(&suggestion, commands[i]->name);
    if (*suggestion.meant)
        message_say("pugmark: '%s' is no command; is %s meant? (`pugmark help` lists them)\n", name,
                    suggestion.meant);
    else
        message_say("pugmark: '%s' is no command; `pugmark help` lists them\n", name);
    return EXIT_USAGE;
}
