// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700 /* realpath() */
#include "outputs.h"
#include "common/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool option_is_output(const struct option *option)
{
    static const char *const names[] = {"output", "out", "perf", "path", "save"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (option->argument && strcmp(option->name, names[i]) == 0)
            return true;
    return false;
}

/** Windows has no inodes that can be compared. */
static bool is_same_path(const char *left, const char *right)
{
    char *left_real = realpath(left, NULL), *right_real = realpath(right, NULL);
    const bool same = left_real && right_real && strcmp(left_real, right_real) == 0;
    free(left_real);
    free(right_real);
    return same;
}

/** Are both one file, so that writing to one changes the other? Devices do not change. */
static bool is_same_file(const char *left, const char *right)
{
    struct stat a, b;
    if (stat(left, &a) != 0 || stat(right, &b) != 0 || S_ISDIR(a.st_mode) || S_ISCHR(a.st_mode))
        return false;
    return a.st_ino ? a.st_dev == b.st_dev && a.st_ino == b.st_ino : is_same_path(left, right);
}

static const char *added;

static bool refuse(const char *option, const char *output, const char *input)
{
    message_say("pugmark: --%s %s: it is the same file as %s, which is an input: nothing was "
                "written; give it another name\n",
                option, output, input);
    return false;
}

/** Does the file lie in the folder itself, which will be exchanged for a new one? */
static bool lies_in(const char *folder, const char *path)
{
    struct stat a, b;
    const char *slash = strrchr(path, '/');
    if (stat(folder, &a) != 0 || !S_ISDIR(a.st_mode) || stat(path, &b) != 0)
        return false;
    char *above = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
    bool lies = false;
    if (above && stat(above, &b) == 0)
        lies =
            a.st_ino ? a.st_dev == b.st_dev && a.st_ino == b.st_ino : is_same_path(folder, above);
    free(above);
    return lies;
}

/** `record --out` knows which files are its own, and spares its input. */
static bool spare_folder(const struct option_word *word, const char *input, const char *path)
{
    if (strcmp(word->option->name, "output") != 0 || !lies_in(word->argument, path))
        return true;
    message_say("pugmark: --%s %s: %s lies in it, which is an input: nothing was written; give it "
                "another name\n",
                word->option->name, word->argument, input);
    return false;
}

/** Compares a file that is read with all outputs. */
static bool spare(const char *input, const char *path)
{
    struct option_word word;
    for (size_t n = 0; option_word_at(n, &word); n++)
        if (option_is_output(word.option) && is_same_file(word.argument, path))
            return refuse(word.option->name, word.argument, input);
        else if (option_is_output(word.option) && !spare_folder(&word, input, path))
            return false;
    return !added || !is_same_file(added, path) || refuse("output", added, input);
}

/** "FILE", "FILE@NUMBER", "FILE@SOURCE=ID", "NAME=FILE": whatever part of it may be a file. */
static bool spare_parts(const char *word)
{
    const char *equals = strchr(word, '=');
    char *copy = strdup(word), *at;
    bool good = copy && spare(word, copy) && (!equals || spare(word, equals + 1));
    while (good && (at = strrchr(copy, '@')) != NULL) {
        *at = 0;
        good = spare(word, copy);
    }
    free(copy);
    return good;
}

bool option_is_input(const struct option *option)
{
    return option->argument &&
           (strstr(option->argument, "FILE") || strcmp(option->argument, "PATH") == 0 ||
            strcmp(option->name, "dso") == 0) &&
           !option_is_output(option);
}

static bool outputs_differ(void)
{
    struct option_word one, other;
    for (size_t n = 0; option_word_at(n, &one); n++) {
        for (size_t i = 0; option_is_output(one.option) && i < n; i++) {
            (void)option_word_at(i, &other);
            if (!option_is_output(other.option) || other.option == one.option ||
                (strcmp(one.argument, other.argument) != 0 &&
                 !is_same_file(one.argument, other.argument)))
                continue;
            message_say("pugmark: --%s and --%s are both %s: give one another name\n",
                        other.option->name, one.option->name, one.argument);
            return false;
        }
    }
    return true;
}

bool outputs_are_apart(char *const *operands, size_t count)
{
    struct option_word word;
    bool good = outputs_differ();
    for (size_t n = 0; good && option_word_at(n, &word); n++)
        good = !option_is_input(word.option) || spare_parts(word.argument);
    for (size_t i = 0; good && i < count; i++)
        good = spare(operands[i], operands[i]);
    return good;
}

bool outputs_spare(const char *input, const char *path)
{
    return spare(input, path);
}

static bool is_regular(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool outputs_are_there(void)
{
    struct option_word word;
    for (size_t n = 0; option_word_at(n, &word); n++)
        if (option_is_output(word.option) && is_regular(word.argument))
            return true;
    return added && is_regular(added);
}

void outputs_add(const char *path)
{
    added = path;
}
