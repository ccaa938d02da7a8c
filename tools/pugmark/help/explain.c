// SPDX-License-Identifier: MIT
/** @file pugmark explain: what a message means, and what to do. */
#include "common/command.h"
#include "common/help_text.h"
#include "common/messages.h"
#include "common/suggest.h"
#include "explanations.h"

#include <stdio.h>
#include <string.h>

struct explain_options {
    bool match;
};

static const struct option table[] = {
    {"match", NULL, "CODE is a message's text; print only the code of the entry that explains it",
     option_flag, offsetof(struct explain_options, match)},
};

/** How a message looks: its first pattern, with … for what varies. */
static void print_says(const char *says)
{
    char text[256];
    size_t used = 0;
    for (; *says && *says != '|' && used + 4 < sizeof(text); says++) {
        const char *put = *says == '*' ? "…" : (const char[]){*says, 0};
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", put);
    }
    help_term("message", 12, text);
}

static void print_one(const struct explanation *explanation)
{
    printf("%s\n", explanation->code);
    print_says(explanation->says);
    help_term("cause", 12, explanation->cause);
    help_term("remedy", 12, explanation->remedy);
}

static void print_list(void)
{
    struct explanation explanation;
    for (size_t n = 0; explanation_at(n, &explanation); n++)
        help_term(explanation.code, 28, explanation.cause);
}

/** Says that there is no such code, and which one is near. */
static int refuse(const char *code)
{
    struct suggestion suggestion;
    struct explanation explanation;
    suggest_begin(&suggestion, code);
    for (size_t n = 0; explanation_at(n, &explanation); n++)
        suggest_offer(&suggestion, explanation.code);
    if (*suggestion.meant)
        message_say("pugmark: '%s' is no code of a message; is %s meant?\n", code,
                    suggestion.meant);
    else
        message_say(
            "pugmark: '%s' is no code of a message, and no message; `pugmark explain` lists "
            "all\n",
            code);
    return EXIT_USAGE;
}

static int count_operands(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < argc ? 1 : 0;
        if (strncmp(argv[i], "--", 2) != 0)
            return 1;
    }
    return 0;
}

static int explain_run(const struct command *self, int argc, char **argv)
{
    struct explain_options options = {0};
    struct explanation explanation;
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    const int operands = count_operands(argc, argv);
    const int end = command_start(self, argc, argv, sets, 1, operands);
    if (end >= 0)
        return end;
    if (operands == 0) {
        print_list();
        return EXIT_DONE;
    }
    if (!(!options.match && explanation_find(argv[1], &explanation)) &&
        !explanation_match(argv[1], &explanation))
        return refuse(argv[1]);
    if (options.match)
        printf("%s\n", explanation.code);
    else
        print_one(&explanation);
    return EXIT_DONE;
}

const struct command command_explain = {
    .name = "explain",
    .operands = "[CODE]",
    .summary = "say what a message means and what to do about it",
    .run = explain_run,
    .task = TASK_HELP,
    .purpose = "Explains a message of Pugmark: its cause, and what to do next. CODE is the code "
               "that is shown after a message on a terminal, or the message itself in quotes. "
               "Without it all codes are listed.",
    .examples =
        {
            {"pugmark explain missing-registers",
             "the cause and the remedy of one kind of message"},
            {"pugmark explain 'the trace is empty'", "the same, by the message's text"},
            {"pugmark explain", "all codes"},
        },
};
