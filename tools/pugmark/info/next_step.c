// SPDX-License-Identifier: MIT
#include "next_step.h"

#include "common/output.h"

#include <stdio.h>
#include <string.h>

/* The command to read a protocol with first, and the options that it needs. */
static const struct step {
    const char *protocol;
    const char *look; /**< shows something without a program */
    const char *core; /**< a core that has such a unit; or NULL: no registers are needed */
    const char *more; /**< that only the user knows; or NULL */
    bool flow;        /**< it is trace of a program */
} steps[] = {
    {"ITM", "itm", NULL, NULL, false},
    {"STM", "list", NULL, NULL, false},
    {"OSD-STM", "list", NULL, NULL, false},
    {"ETMV4I", "list --packets", "Cortex-A53", NULL, true},
    {"ETE", "list --packets", "Cortex-A710", NULL, true},
    {"ETMV3", "list --packets", "Cortex-A7", NULL, true},
    {"PTM", "list --packets", "Cortex-A15", NULL, true},
    {"E-Trace", "list --packets", NULL, "--params PARAMETERS", true},
    {"N-Trace", "list --packets", NULL, NULL, true},
    {"MTB", "list --packets", NULL, NULL, true},
    {"OSD-CTM", "list --packets", NULL, NULL, true},
};

/** The path as a shell takes it. */
static void quote(const char *path, char *word, size_t size)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+:,@%";
    size_t used = 0;
    if (*path && strspn(path, plain) == strlen(path)) {
        snprintf(word, size, "%s", path);
        return;
    }
    word[used++] = '\'';
    for (; *path && used + 6 < size; path++)
        used += (size_t)snprintf(word + used, size - used, *path == '\'' ? "'\\''" : "%c", *path);
    snprintf(word + used, size - used, "'");
}

static const struct step *step_of(const char *protocol)
{
    for (size_t i = 0; protocol && i < sizeof(steps) / sizeof(steps[0]); i++)
        if (strcmp(steps[i].protocol, protocol) == 0)
            return &steps[i];
    return NULL;
}

void next_step_print(const char *path, const struct pug_guess *guess)
{
    const struct step *step = step_of(guess->protocol);
    char word[1024], options[256];
    quote(path, word, sizeof(word));
    if (!step) {
        next_step_print_unknown(path);
        return;
    }
    snprintf(options, sizeof(options), "--protocol %s --transport %s%s%s%s%s", guess->protocol,
             guess->transport, *guess->settings ? " --set " : "", guess->settings,
             step->core ? " --core " : "", step->core ? step->core : "");
    output_text("next: pugmark %s %s %s\n", step->look, options, word);
    if (!step->flow)
        return;
    output_text("      and, for what ran, with the ELF file of the program:\n");
    output_text("      pugmark trace --last 50 %s%s%s --elf PROGRAM %s\n", options,
                step->more ? " " : "", step->more ? step->more : "", word);
    if (step->core)
        output_text("      %s stands for the core that you have; `pugmark --list-cores` lists "
                    "all\n",
                    step->core);
    if (step->more)
        output_text("      PARAMETERS is a file with the encoder's, NAME = VALUE a line\n");
    output_text("      `pugmark snapshot` with these options keeps all of it in a folder\n");
}

void next_step_print_unknown(const char *path)
{
    char word[1024];
    quote(path, word, sizeof(word));
    output_text("next: if you know its protocol: pugmark info --protocol NAME %s; `pugmark info "
                "--help` lists the names\n",
                word);
}

/* ---- described captures ---- */

/** What a capture has. */
struct content {
    bool flow, software, other; /* trace of programs, ITM, or what `list` alone shows */
    bool program;               /* the programs that ran, all of them as far as that is known */
};

static struct content content_of(const struct input *input)
{
    struct content content = {.program = true};
    struct pug_image_range range;
    const struct pug_capture_source *source;
    const struct pug_capture_object *object;
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++) {
        const struct step *step = step_of(source->protocol);
        content.flow |= step && step->flow;
        content.software |= step && strcmp(step->look, "itm") == 0;
        content.other |= !step || strcmp(step->look, "list") == 0;
    }
    if (pug_capture_kind(input->capture) == PUG_CAPTURE_PERF)
        for (size_t n = 0; (object = pug_capture_object_at(input->capture, n)) != NULL; n++)
            content.program &= !object->why;
    else
        content.program = input->image && pug_image_range(input->image, 0, &range);
    return content;
}

/** Did options describe it, or say where its programs are? */
static bool has_options(const struct input *input)
{
    const struct input_options *options = input->options;
    const enum pug_capture_kind kind = pug_capture_kind(input->capture);
    return kind == PUG_CAPTURE_RAW || kind == PUG_CAPTURE_STREAM || options->symfs ||
           options->symdirs.count + options->objects.count + options->elf.count +
                   options->image.count >
               0;
}

void next_step_print_described(const struct input *input, const char *path)
{
    const struct content content = content_of(input);
    const bool perf = pug_capture_kind(input->capture) == PUG_CAPTURE_PERF;
    const char *lacks = content.program ? "" : perf ? " --symfs DIR" : " --elf PROGRAM";
    const char *with = has_options(input) ? " with the same options" : "";
    char word[1024];
    quote(path, word, sizeof(word));
    if (content.flow && perf)
        output_text("\nnext: pugmark profile%s %s%s\n", lacks, word, with);
    else if (content.flow)
        output_text("\nnext: pugmark trace --last 50%s %s%s\n", lacks, word, with);
    if (content.flow)
        output_text("      pugmark report -o report.html%s %s%s\n", lacks, word, with);
    if (content.software || content.other)
        output_text("%s pugmark %s %s%s\n",
                    content.flow ? "     " : "\nnext:", content.software ? "itm" : "list", word,
                    with);
}
