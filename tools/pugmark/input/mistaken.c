// SPDX-License-Identifier: MIT
/** @file Programs and source text that somebody gives as INPUT. */
#include "input_private.h"

#include <stdio.h>
#include <string.h>

static bool begins_with(const char *path, const char *words)
{
    char begin[16];
    const size_t length = strlen(words);
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(begin, 1, sizeof(begin), file) : 0;
    if (file)
        fclose(file);
    return size >= length && memcmp(begin, words, length) == 0;
}

static bool is_source_name(const char *path)
{
    static const char *const ends[] = {".c", ".cc", ".cpp", ".cxx", ".h",  ".hpp",
                                       ".s", ".S",  ".rs",  ".go",  ".zig"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(ends) / sizeof(ends[0]); i++)
        if (strcmp(dot, ends[i]) == 0)
            return true;
    return false;
}

bool input_is_mistaken(const struct input_options *options, const char *operand)
{
    if (!input_is_bare(options, operand))
        return false;
    if (begins_with(operand, "\177ELF"))
        message_say(
            "pugmark: %s: this is a program, an ELF file, and not its trace: give the trace "
            "as INPUT, and this with --elf %s\n",
            operand, operand);
    else if (is_source_name(operand))
        message_say("pugmark: %s: this is source text, and not trace: give the trace as INPUT; "
                    "source files are found by the program's debug information (--elf FILE)\n",
                    operand);
    else if (begins_with(operand, "<!DOCTYPE html") || begins_with(operand, "<html"))
        message_say(
            "pugmark: %s: this is a page, and not trace: open it in a browser, and give the "
            "capture that it was made of as INPUT\n",
            operand);
    else
        return false;
    return true;
}
