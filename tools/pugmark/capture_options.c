// SPDX-License-Identifier: MIT
#include "capture_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_word(const struct option *option, void *target, const char *argument)
{
    struct input_list *list = target;
    if (list->count == INPUT_LIST)
        return option_refuse(option, argument, "too many of this option");
    list->items[list->count++] = argument;
    return true;
}

static bool add_number(const struct option *option, void *target, const char *argument)
{
    uint64_t number;
    if (!option_number(option, &number, argument))
        return false;
    return number <= INT32_MAX ? add_word(option, target, argument)
                               : option_refuse(option, argument, "too large");
}

const struct option capture_option_table[] = {
    {"symfs", "DIR", "programs and libraries are below DIR", option_string,
     offsetof(struct capture_options, symfs)},
    {"symdir", "DIR", "programs and libraries are somewhere in DIR; may be repeated", add_word,
     offsetof(struct capture_options, symdirs)},
    {"debug-dir", "DIR", "separate debug information is below DIR (default /usr/lib/debug)",
     add_word, offsetof(struct capture_options, debug_dirs)},
    {"dso", "NAME[=FILE]", "only this program or library; with =FILE: it is that file", add_word,
     offsetof(struct capture_options, dsos)},
    {"vmlinux", "FILE", "the kernel, or its core", option_string,
     offsetof(struct capture_options, kernel)},
    {"kallsyms", "FILE", "the kernel's symbols", option_string,
     offsetof(struct capture_options, kallsyms)},
    {"pid", "N", "only this process; may be repeated", add_number,
     offsetof(struct capture_options, pids)},
    {"tid", "N", "only this thread; may be repeated", add_number,
     offsetof(struct capture_options, tids)},
    {"comm", "NAME", "only threads of this name; may be repeated", add_word,
     offsetof(struct capture_options, comms)},
    {"cpu", "N", "only what this processor ran; may be repeated", add_number,
     offsetof(struct capture_options, cpus)},
    {"time", "FROM,TO", "only from this time on, and before that one; either may be left out",
     option_string, offsetof(struct capture_options, from_to)},
};
const size_t capture_option_count = sizeof(capture_option_table) / sizeof(capture_option_table[0]);

const char *capture_chosen_object(const struct capture_options *options)
{
    const char *chosen = NULL;
    for (size_t i = 0; i < options->dsos.count; i++)
        if (!strchr(options->dsos.items[i], '='))
            chosen = options->dsos.items[i];
    return chosen;
}

/* ---- selections ---- */

static size_t numbers(const struct input_list *list, int32_t *values)
{
    for (size_t i = 0; i < list->count; i++)
        values[i] = (int32_t)strtol(list->items[i], NULL, 0);
    return list->count;
}

/* "FROM,TO" in the capture's unit. */
static bool parse_times(const char *text, struct pug_capture_selection *selection)
{
    char from[32] = "";
    const char *comma = text ? strchr(text, ',') : NULL;
    if (!text)
        return true;
    if (!comma || (size_t)(comma - text) >= sizeof(from)) {
        fprintf(stderr, "pugmark: --time %s: expected FROM,TO\n", text);
        return false;
    }
    memcpy(from, text, (size_t)(comma - text));
    selection->has_from = *from;
    selection->has_to = comma[1];
    if ((*from && !parse_number(from, &selection->from)) ||
        (comma[1] && !parse_number(comma + 1, &selection->to))) {
        fprintf(stderr, "pugmark: --time %s: not a number\n", text);
        return false;
    }
    return true;
}

bool capture_select(const struct input_options *input, const struct capture_options *options,
                    struct capture_selection *selection)
{
    *selection = (struct capture_selection){0};
    struct pug_capture_selection *is = &selection->is;
    is->pids = selection->pids;
    is->tids = selection->tids;
    is->cpus = selection->cpus;
    is->sources = selection->sources;
    is->pid_count = numbers(&options->pids, selection->pids);
    is->tid_count = numbers(&options->tids, selection->tids);
    is->cpu_count = numbers(&options->cpus, selection->cpus);
    is->comms = options->comms.items;
    is->comm_count = options->comms.count;
    for (size_t i = 0; i < input->sources.count; i++)
        selection->sources[is->source_count++] =
            (uint16_t)strtoul(input->sources.items[i], NULL, 0);
    return parse_times(options->from_to, is);
}

/* ---- where text is ---- */

bool capture_take_roots(const struct capture_options *options, struct capture_roots *roots)
{
    *roots = (struct capture_roots){0};
    roots->is = (struct pug_capture_roots){.symfs = options->symfs,
                                           .symdirs = options->symdirs.items,
                                           .symdir_count = options->symdirs.count,
                                           .replacements = roots->replacements,
                                           .kernel = options->kernel,
                                           .kallsyms = options->kallsyms};
    for (size_t i = 0; i < options->dsos.count; i++) {
        const char *word = options->dsos.items[i], *equals = strchr(word, '=');
        if (!equals)
            continue;
        char *path = strndup(word, (size_t)(equals - word));
        if (!path)
            return false;
        roots->replacements[roots->is.replacement_count++] =
            (struct pug_capture_replacement){path, equals + 1};
    }
    return true;
}

void capture_free_roots(struct capture_roots *roots)
{
    for (size_t i = 0; i < roots->is.replacement_count; i++)
        free((void *)(uintptr_t)roots->replacements[i].path);
    roots->is.replacement_count = 0;
}

struct pug_names *capture_names(const struct capture_options *options)
{
    const struct pug_names_options wanted = {
        .symfs = options->symfs,
        .symdirs = options->symdirs.items,
        .symdir_count = options->symdirs.count,
        .debug_dirs = options->debug_dirs.items,
        .debug_dir_count = options->debug_dirs.count,
    };
    struct pug_names *names = pug_names_new(&wanted);
    if (!names)
        fprintf(stderr, "pugmark: out of memory\n");
    return names;
}
