// SPDX-License-Identifier: MIT
#include "help_text.h"

#include "terminal.h"

#include <stdio.h>
#include <string.h>

#define OPTION_COLUMN 28u

/** Prints words from column `at` on; lines go on at `indent`. */
static void put_words(unsigned at, unsigned indent, const char *text)
{
    const unsigned width = terminal_width(stdout);
    bool begins = true;
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (!begins && at + 1 + length > width) {
            printf("\n%*s", (int)indent, "");
            at = indent;
            begins = true;
        }
        printf("%s%.*s", begins ? "" : " ", (int)length, text);
        at += (unsigned)length + (begins ? 0 : 1);
        begins = false;
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

void help_paragraph(unsigned indent, const char *text)
{
    printf("%*s", (int)indent, "");
    put_words(indent, indent, text);
}

void help_term(const char *term, unsigned at, const char *text)
{
    const size_t length = strlen(term);
    if (length + 3 > at)
        printf("  %s\n%*s", term, (int)at, "");
    else
        printf("  %-*s", (int)at - 2, term);
    put_words(at, at, text);
}

void help_each_option(const struct option_set *sets, size_t set_count, bool common,
                      const char *heading, const struct help_form *form)
{
    const struct option *option;
    size_t set;
    for (size_t n = 0; (option = option_at(sets, set_count, n, &set)) != NULL; n++) {
        if (sets[set].common != common)
            continue;
        if (!option->name) {
            heading = option->help;
            continue;
        }
        if (heading)
            form->heading(form->context, heading);
        heading = NULL;
        form->option(form->context, option);
    }
}

bool help_has_options(const struct option_set *sets, size_t set_count, bool common)
{
    for (size_t s = 0; s < set_count; s++)
        if (sets[s].common == common && sets[s].count > 0)
            return true;
    return false;
}

static void put_heading(void *context, const char *heading)
{
    (void)context;
    printf("\n%s:\n", heading);
}

static void put_option(void *context, const struct option *option)
{
    char left[64];
    (void)context;
    option_words(option, left, sizeof(left));
    help_term(left, OPTION_COLUMN, option->help);
}

void help_options(const struct option_set *sets, size_t set_count, bool common)
{
    help_each_option(sets, set_count, common, common ? NULL : "Options",
                     &(struct help_form){.heading = put_heading, .option = put_option});
}

void help_command(const struct command *command, const struct option_set *sets, size_t set_count,
                  bool all)
{
    printf("usage: pugmark %s%s %s\n\n", command->name, set_count > 0 ? " [OPTIONS]" : "",
           command->operands);
    help_paragraph(0, command->purpose ? command->purpose : command->summary);
    for (size_t i = 0; i < COMMAND_EXAMPLES && command->examples[i].line; i++) {
        printf("%s    %s\n", i == 0 ? "\nExamples:\n" : "", command->examples[i].line);
        help_paragraph(8, command->examples[i].what);
    }
    if (help_has_options(sets, set_count, false))
        help_options(sets, set_count, false);
    if (!help_has_options(sets, set_count, true))
        return;
    if (all) {
        help_options(sets, set_count, true);
        return;
    }
    printf("\n");
    char text[256];
    snprintf(text, sizeof(text),
             "Options that many commands have, of inputs, programs, sources and live targets: "
             "`pugmark %s --help-all`.",
             command->name);
    help_paragraph(0, text);
}

const char *help_task(enum command_task task)
{
    static const char *const words[] = {
        [TASK_LOOK] = "See what you have",
        [TASK_FOLLOW] = "See what ran",
        [TASK_COUNT] = "Measure and compare",
        [TASK_SOFTWARE] = "Read what the program sent (SWO, ITM)",
        [TASK_FIND] = "Find a place in a long trace",
        [TASK_LIVE] = "Watch a running target",
        [TASK_DEBUG] = "Debug and check",
        [TASK_MAKE] = "Make trace",
        [TASK_HELP] = "Find your way",
    };
    return (unsigned)task < sizeof(words) / sizeof(words[0]) ? words[task] : NULL;
}
