// SPDX-License-Identifier: MIT
/**
 * @file pugmark complete: what a shell can put in place of the last word. The scripts in
 * completions/ ask it; all it knows comes from the tables of commands and options, and from INPUT.
 *
 * Each line is a candidate, and after a tab what it is. ":file" and ":dir" ask the shell for names.
 */
#include "common/command.h"
#include "common/help_text.h"
#include "complete_values.h"
#include "explanations.h"
#include "text/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** As many whole characters as fit into a line of the shell; names of INPUT are written out. */
static void put_about(const char *about)
{
    const size_t most = 72;
    struct pug_memory room = {0};
    const char *text = pug_printable(about, &room);
    size_t length = strlen(text) < most ? strlen(text) : most;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    printf("\t%.*s", (int)length, text);
    free(room.bytes);
}

void complete_put(const char *prefix, const char *word, const char *about)
{
    if (!pug_is_printable(word)) /* shells show it, and a line is a candidate */
        return;
    printf("%s%s", prefix, word);
    if (about && *about)
        put_about(about);
    printf("\n");
}

static bool begins(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

static void put_commands(const char *begin)
{
    const struct command *command;
    for (size_t n = 0; (command = command_at(n)) != NULL; n++)
        if (command->task != TASK_HIDDEN && begins(command->name, begin))
            complete_put("", command->name, command->summary);
}

static void put_codes(const char *begin)
{
    struct explanation explanation;
    for (size_t n = 0; explanation_at(n, &explanation); n++)
        if (begins(explanation.code, begin))
            complete_put("", explanation.code, explanation.cause);
}

static void put_first(const char *begin)
{
    static const char *const options[][2] = {{"--help", "the commands by task"},
                                             {"--help-all", "and the options that many have"},
                                             {"--version", "what this program was built with"},
                                             {"--list-cores", "the names that --core knows"}};
    put_commands(begin);
    for (size_t i = 0; *begin == '-' && i < sizeof(options) / sizeof(options[0]); i++)
        if (begins(options[i][0], begin))
            complete_put("", options[i][0], options[i][1]);
}

/* ---- a command's words ---- */

struct line {
    char **words; /* after the command's name; the last one is to be completed */
    size_t count;
};

static void put_options(const struct option_set *sets, size_t set_count, const char *begin)
{
    const struct option *option;
    char word[80];
    for (size_t n = 0; (option = option_at(sets, set_count, n, NULL)) != NULL; n++) {
        if (!option->name)
            continue;
        snprintf(word, sizeof(word), "--%s", option->name);
        if (begins(word, begin))
            complete_put("", word, option->help);
    }
    if (begins("--help", begin))
        complete_put("", "--help", "purpose, examples and options of the command");
    if (begins("--help-all", begin))
        complete_put("", "--help-all", "and the options that many commands have");
}

/** The option whose value a word is; NULL: it is no option's. */
static const struct option *option_before(const struct option_set *sets, size_t set_count,
                                          const char *word)
{
    if (strcmp(word, "-o") == 0)
        return option_find(sets, set_count, "output", 6);
    if (strncmp(word, "--", 2) != 0 || strchr(word, '='))
        return NULL;
    const struct option *option = option_find(sets, set_count, word + 2, strlen(word + 2));
    return option && option->argument && *option->argument != '[' ? option : NULL;
}

static void put_operand(const struct command *command, const char *begin)
{
    static const char *const live[] = {"openocd", "pyocd",   "jlink", "orbuculum",
                                       "tcp:",    "serial:", "unix:", "tcp-listen:"};
    if (command == &command_help)
        put_commands(begin);
    else if (command == &command_explain)
        put_codes(begin);
    else
        printf(":file\n");
    for (size_t i = 0; *begin && command->task == TASK_LIVE && i < sizeof(live) / sizeof(live[0]);
         i++)
        if (begins(live[i], begin))
            complete_put("", live[i], "a live input");
}

static void put_words(void *context, const struct command *command, const struct option_set *sets,
                      size_t set_count)
{
    const struct line *line = context;
    const char *last = line->words[line->count - 1], *equals = strchr(last, '=');
    const struct complete_line whole = {command, sets, set_count, line->words, line->count - 1};
    const struct option *option =
        line->count > 1 ? option_before(sets, set_count, line->words[line->count - 2]) : NULL;
    if (option) {
        complete_values(
            &(struct complete_line){command, sets, set_count, line->words, line->count - 2}, option,
            "", last);
    } else if (strncmp(last, "--", 2) == 0 && equals) {
        char prefix[80];
        option = option_find(sets, set_count, last + 2, (size_t)(equals - last) - 2);
        snprintf(prefix, sizeof(prefix), "%.*s", (int)(equals - last) + 1, last);
        if (option && option->argument)
            complete_values(&whole, option, prefix, equals + 1);
    } else if (*last == '-') {
        put_options(sets, set_count, last);
    } else {
        put_operand(command, last);
    }
}

static int complete_run(const struct command *self, int argc, char **argv)
{
    const struct command *command;
    char empty[] = "";
    struct line line = {.words = argv + 2, .count = argc > 2 ? (size_t)argc - 2 : 0};
    (void)self;
    if (argc > 1 && strcmp(argv[1], "--") == 0) { /* the words of the line follow it */
        line.words = argv + 3;
        line.count = argc > 3 ? (size_t)argc - 3 : 0;
        argv++;
        argc--;
    }
    if (line.count == 0) {
        put_first(argc > 1 ? argv[1] : empty);
        return EXIT_DONE;
    }
    command = command_find_name(argv[1]);
    if (command)
        command_read(command, &(struct command_reader){put_words, &line});
    return EXIT_DONE;
}

const struct command command_complete = {
    .name = "complete",
    .operands = "[--] WORD...",
    .summary = "for shells: what the last word can be",
    .run = complete_run,
    .task = TASK_HIDDEN,
};
