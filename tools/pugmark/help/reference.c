// SPDX-License-Identifier: MIT
/**
 * @file pugmark reference, for the build: man pages and Markdown of all commands, made of their
 * descriptions, their tables of options, and prose in files.
 */
#include "common/command.h"
#include "common/help_text.h"
#include "common/messages.h"
#include "explanations.h"
#include "roff.h"

#include "pugmark/pugmark.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference_options {
    const char *prose, *date, *output;
};

static const struct option table[] = {
    {"prose", "DIR", "commands/NAME.md and pugmark.1.in are there", option_string,
     offsetof(struct reference_options, prose)},
    {"date", "DATE", "of the pages, as 2026-11-29", option_string,
     offsetof(struct reference_options, date)},
    {"output", "DIR", "where the files go: it has to be there", option_string,
     offsetof(struct reference_options, output)},
};

/** A page that is being written, and what it is of. */
struct page {
    const struct reference_options *options;
    FILE *file;
    const char *prose; /* or NULL */
    bool good;
};

/* ---- files ---- */

/** A file's text; NULL: there is none, or no memory. */
static char *read_text(const char *path)
{
    const size_t most = 1u << 20;
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, most + 1) : NULL;
    if (text)
        text[fread(text, 1, most, file)] = 0;
    if (file)
        fclose(file);
    return text;
}

static char *read_prose(const struct reference_options *options, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/commands/%s.md", options->prose, name);
    return read_text(path);
}

static FILE *open_output(const struct reference_options *options, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", options->output, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        message_say("pugmark: %s: %s\n", path, strerror(errno));
    return file;
}

static bool close_output(FILE *file)
{
    const bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

/* ---- a man page ---- */

static void man_heading(void *context, const char *heading)
{
    fprintf(context, ".SS %s\n", heading);
}

static void man_option(void *context, const struct option *option)
{
    FILE *file = context;
    fputs(".TP\n\\fB\\-\\-", file);
    roff_words(file, option->name);
    fputs("\\fR", file);
    if (option->argument) {
        fputs(*option->argument == '[' ? "\\fI" : " \\fI", file);
        roff_words(file, option->argument);
        fputs("\\fR", file);
    }
    fputc('\n', file);
    roff_text(file, option->help);
}

static void man_options(FILE *file, const struct option_set *sets, size_t set_count, bool common)
{
    help_each_option(sets, set_count, common, NULL,
                     &(struct help_form){file, man_heading, man_option});
}

static void man_head(FILE *file, const struct page *page, const struct command *command)
{
    char upper[64], name[256];
    snprintf(upper, sizeof(upper), "PUGMARK-%s", command->name);
    for (char *at = upper; *at; at++)
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
    fprintf(file,
            ".\\\" SPDX-License-Identifier: MIT\n.\\\" Made by `pugmark reference`.\n"
            ".TH %s 1 \"%s\" \"Pugmark %s\" \"User Commands\"\n.SH NAME\n",
            upper, page->options->date, pug_version());
    snprintf(name, sizeof(name), "pugmark-%s - %s", command->name, command->summary);
    roff_text(file, name);
    fprintf(file, ".SH SYNOPSIS\n\\fBpugmark %s\\fR [\\fIOPTIONS\\fR] \\fI", command->name);
    roff_words(file, command->operands);
    fputs("\\fR\n", file);
}

static void man_examples(FILE *file, const struct command *command)
{
    if (!command->examples[0].line)
        return;
    fputs(".SH EXAMPLES\nPaths begin at the folder that has \\fIexamples\\fR: the source tree,\n"
          "or \\fI/usr/share/doc/pugmark\\fR.\n",
          file);
    for (size_t i = 0; i < COMMAND_EXAMPLES && command->examples[i].line; i++) {
        char what[256];
        snprintf(what, sizeof(what), "%s:", command->examples[i].what);
        fputs(".PP\n", file);
        roff_text(file, what);
        fputs(".PP\n.RS 4\n.nf\n", file);
        roff_command(file, command->examples[i].line);
        fputs("\n.fi\n.RE\n", file);
    }
}

static void man_page(void *context, const struct command *command, const struct option_set *sets,
                     size_t set_count)
{
    struct page *page = context;
    FILE *file = page->file;
    man_head(file, page, command);
    man_examples(file, command);
    fputs(".SH DESCRIPTION\n", file);
    roff_text(file, command->purpose ? command->purpose : command->summary);
    if (page->prose) {
        fputs(".PP\n", file);
        roff_text(file, page->prose);
    }
    if (help_has_options(sets, set_count, false)) {
        fputs(".SH OPTIONS\n", file);
        man_options(file, sets, set_count, false);
    }
    if (help_has_options(sets, set_count, true)) {
        fputs(".SH COMMON OPTIONS\nMany commands have these; \\fBpugmark\\fR(1) says more of "
              "them.\n",
              file);
        man_options(file, sets, set_count, true);
    }
    fputs(".SH EXIT STATUS\n0: done. 1: decoded, and something is wrong. 2: wrong usage.\n"
          "3: the input cannot be read or the output cannot be written.\n"
          "4: decoding had to stop.\n"
          ".SH SEE ALSO\n\\fBpugmark\\fR(1), \\fBpugmark\\-explain\\fR(1), "
          "\\fBlibpugmark\\fR(3)\n",
          file);
}

/* ---- the overview: a template with what all commands are ---- */

static void man_list(FILE *file)
{
    const char *heading;
    for (unsigned task = 0; (heading = help_task((enum command_task)task)) != NULL; task++) {
        const struct command *command;
        bool any = false;
        for (size_t n = 0; (command = command_at(n)) != NULL; n++) {
            if ((unsigned)command->task != task)
                continue;
            if (!any)
                fprintf(file, ".SS %s\n", heading);
            any = true;
            fprintf(file, ".TP\n\\fBpugmark\\-%s\\fR(1)\n", command->name);
            roff_text(file, command->summary);
        }
    }
}

/** How much of a line stays in it: to a blank before its 79th character, where it is text. */
static size_t cut_line(const char *line, size_t length, bool text)
{
    const size_t most = 78;
    size_t at = most;
    if (!text || length <= most || *line == '.')
        return length;
    while (at > 0 &&
           (line[at] != ' ' || line[at - 1] == '\\' || line[at + 1] == '.' || line[at + 1] == '\''))
        at--;
    return at > 0 ? at : length;
}

/** A line of the template, with the date and the version in their places. */
static void put_template_line(const struct reference_options *options, const char *line,
                              size_t length, FILE *file)
{
    if (length == 10 && strncmp(line, "@COMMANDS@", length) == 0) {
        man_list(file);
        return;
    }
    for (size_t i = 0; i < length; i++) {
        if (strncmp(line + i, "@DATE@", 6) == 0) {
            fputs(options->date, file);
            i += 5;
        } else if (strncmp(line + i, "@VERSION@", 9) == 0) {
            fputs(pug_version(), file);
            i += 8;
        } else {
            fputc(line[i], file);
        }
    }
    fputc('\n', file);
}

static bool fill_template(const struct reference_options *options, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.in", options->prose, name);
    char *text = read_text(path);
    FILE *file = text ? open_output(options, name) : NULL;
    if (!text)
        message_say("pugmark: %s: %s\n", path, strerror(errno));
    bool filled = true;
    for (const char *at = file ? text : ""; *at;) {
        const size_t length = strcspn(at, "\n");
        filled = strncmp(at, ".fi", 3) == 0 || (filled && strncmp(at, ".nf", 3) != 0);
        for (size_t cut, put = 0; put < length || put == 0; put += cut + 1) {
            cut = cut_line(at + put, length - put, filled);
            put_template_line(options, at + put, cut, file);
        }
        at += length + (at[length] != 0);
    }
    free(text);
    return file && close_output(file);
}

static bool write_man_pages(const struct reference_options *options)
{
    static const char *const templates[] = {"pugmark.1", "pugmark-mpi.1", "pugmark-perf.1"};
    const struct command *command;
    bool good = true;
    for (size_t n = 0; good && (command = command_at(n)) != NULL; n++) {
        char name[80];
        if (command->task == TASK_HIDDEN)
            continue;
        snprintf(name, sizeof(name), "pugmark-%s.1", command->name);
        char *prose = read_prose(options, command->name);
        struct page page = {.options = options, .file = open_output(options, name), .prose = prose};
        if (page.file)
            command_read(command, &(struct command_reader){man_page, &page});
        good = page.file && close_output(page.file);
        free(prose);
    }
    for (size_t i = 0; good && i < sizeof(templates) / sizeof(templates[0]); i++)
        good = fill_template(options, templates[i]);
    return good;
}

/* ---- Markdown ---- */

/** A cell of a table. */
static void put_cell(FILE *file, const char *text)
{
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : (const char[]){*text, 0}, file);
}

static void markdown_heading(void *context, const char *heading)
{
    fprintf(context, "%s%s%s\n| option | what it says |\n| --- | --- |\n", *heading ? "\n**" : "\n",
            heading, *heading ? "**\n" : "");
}

static void markdown_option(void *context, const struct option *option)
{
    FILE *file = context;
    char words[128];
    option_words(option, words, sizeof(words));
    fputs("| `", file);
    put_cell(file, words);
    fputs("` | ", file);
    put_cell(file, option->help);
    fputs(" |\n", file);
}

static void markdown_options(FILE *file, const struct option_set *sets, size_t set_count,
                             bool common)
{
    help_each_option(sets, set_count, common, "",
                     &(struct help_form){file, markdown_heading, markdown_option});
}

static void markdown_page(void *context, const struct command *command,
                          const struct option_set *sets, size_t set_count)
{
    struct page *page = context;
    FILE *file = page->file;
    fprintf(file, "\n## pugmark %s\n\n%s\n\n    pugmark %s [OPTIONS] %s\n", command->name,
            command->purpose ? command->purpose : command->summary, command->name,
            command->operands);
    for (size_t i = 0; i < COMMAND_EXAMPLES && command->examples[i].line; i++)
        fprintf(file, "%s\n- %s:\n\n      %s\n", i == 0 ? "\nExamples:\n" : "",
                command->examples[i].what, command->examples[i].line);
    if (page->prose)
        fprintf(file, "\n%s", page->prose);
    markdown_options(file, sets, set_count, false);
    if (help_has_options(sets, set_count, true))
        fputs("\nAnd the options that many commands have, at the end of this page.\n", file);
}

static void markdown_common(void *context, const struct command *command,
                            const struct option_set *sets, size_t set_count)
{
    const struct page *page = context;
    (void)command;
    fputs("\n## Options that many commands have\n", page->file);
    markdown_options(page->file, sets, set_count, true);
}

static bool write_commands(const struct reference_options *options)
{
    const struct command *command;
    struct page page = {.options = options, .file = open_output(options, "commands.md")};
    if (!page.file)
        return false;
    fputs("# Command reference\n\nMade from the program's own tables; `pugmark COMMAND --help` "
          "says the same. Run the examples in the folder that has `examples`.\n",
          page.file);
    for (unsigned task = 0; help_task((enum command_task)task); task++)
        for (size_t n = 0; (command = command_at(n)) != NULL; n++) {
            if ((unsigned)command->task != task)
                continue;
            char *prose = read_prose(options, command->name);
            page.prose = prose;
            command_read(command, &(struct command_reader){markdown_page, &page});
            free(prose);
        }
    command_read(&command_trace, &(struct command_reader){markdown_common, &page});
    return close_output(page.file);
}

static bool write_messages(const struct reference_options *options)
{
    struct explanation explanation;
    FILE *file = open_output(options, "messages.md");
    if (!file)
        return false;
    fputs("# Messages\n\nEach kind of message has a code; `pugmark explain CODE` shows its entry. "
          "In messages, … stands for what varies.\n",
          file);
    for (size_t n = 0; explanation_at(n, &explanation); n++) {
        fprintf(file, "\n## %s\n\n", explanation.code);
        for (const char *at = explanation.says; *at;) {
            const size_t length = strcspn(at, "|");
            fputs("- “", file);
            for (size_t i = 0; i < length; i++)
                fputs(at[i] == '*' ? "…" : (const char[]){at[i], 0}, file);
            fputs("”\n", file);
            at += length + (at[length] == '|');
        }
        fprintf(file, "\n**Cause.** %s\n\n**What to do.** %s\n", explanation.cause,
                explanation.remedy);
    }
    return close_output(file);
}

static int reference_run(const struct command *self, int argc, char **argv)
{
    struct reference_options options = {.prose = ".", .date = "", .output = "."};
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    const int end = command_start(self, argc, argv, sets, 1, 0);
    if (end >= 0)
        return end;
    return write_man_pages(&options) && write_commands(&options) && write_messages(&options)
               ? EXIT_DONE
               : EXIT_INPUT;
}

const struct command command_reference = {
    .name = "reference",
    .operands = "",
    .summary = "for the build: man pages and Markdown of all commands",
    .run = reference_run,
    .task = TASK_HIDDEN,
};
