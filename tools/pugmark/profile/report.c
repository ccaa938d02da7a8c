// SPDX-License-Identifier: MIT
/** @file pugmark report: one page to look at, with everything in it. */
#include "calls/slices_input.h"
#include "common/command.h"
#include "common/source_options.h"
#include "profile_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_options {
    struct input_options input;
    struct capture_options capture;
    struct source_options source;
    const char *output, *title;
};

static const struct option table[] = {
    {"output", "FILE", "the page (-o; default: standard output)", option_string,
     offsetof(struct report_options, output)},
    {"title", "WORDS", "what it is called (default: the input's name)", option_string,
     offsetof(struct report_options, title)},
};

#define FACTS_MOST 40

/** The words of a fact: its name, and behind its end its value. */
struct fact_words {
    struct fact_words *before;
    char text[];
};

/** What of the report is not in the profile. */
struct extra {
    struct pug_report is;
    struct pug_report_fact facts[FACTS_MOST];
    struct fact_words *words;
    struct pug_memory timelines; /* a JSON array of them */
    bool failed;                 /* no memory for a fact */
};

static void add_fact(struct extra *extra, const char *name, const char *value)
{
    const size_t name_size = strlen(name) + 1, value_size = strlen(value) + 1;
    if (extra->is.fact_count == FACTS_MOST)
        return;
    struct fact_words *words = malloc(sizeof(*words) + name_size + value_size);
    extra->failed |= !words;
    if (!words)
        return;
    words->before = extra->words;
    memcpy(words->text, name, name_size);
    memcpy(words->text + name_size, value, value_size);
    extra->words = words;
    extra->facts[extra->is.fact_count++] =
        (struct pug_report_fact){words->text, words->text + name_size};
}

static void free_extra(struct extra *extra)
{
    for (struct fact_words *words = extra->words, *before; words; words = before) {
        before = words->before;
        free(words);
    }
    free(extra->timelines.bytes);
}

/** Facts and timeline of a capture whose profile told what is wrong with it. An exit code. */
static int look_at(struct input *input, struct pug_names *names, struct extra *extra)
{
    const char *name, *value;
    input->silent = input->described = true;
    add_fact(extra, "Kind", pug_capture_title(input->capture));
    for (size_t n = 0; pug_capture_fact(input->capture, n, &name, &value); n++)
        add_fact(extra, name, value);
    /* Each has one of its own: two captures have no common clock. */
    struct pug_sink sink = pug_memory_sink(&extra->timelines);
    pug_sink_text(&sink, extra->timelines.count > 0 ? ", " : "[");
    const struct slices_options how = {
        .capture = input->capture, .names = names, .form = PUG_TIMELINE_PAGE, .sink = &sink};
    struct slices *slices = slices_new(&how);
    struct pug_capture_result result = {0};
    enum pug_status status = slices ? slices_decode(slices, input, &result) : PUG_ERR_MEM;
    if (slices && slices_end(slices) != PUG_OK)
        status = PUG_ERR_MEM;
    if (slices && !input->options->quiet)
        slices_tell(slices);
    slices_free(slices);
    const int code = input_concluded(input, status, &result);
    if (!extra->timelines.failed)
        return code;
    fprintf(stderr, "pugmark: %s: %s\n", pug_capture_path(input->capture),
            pug_status_text(PUG_ERR_MEM));
    return EXIT_FATAL;
}

/** An input to the page; of a saved profile there is nothing but its counts. An exit code. */
static int add_input(const struct profile_input *what, const char *operand,
                     struct pug_profile *profile, struct extra *extra)
{
    struct input input;
    add_fact(extra, "Input", operand);
    if (profile_is_saved(operand))
        return profile_add(what, operand, profile);
    if (!input_open_for(&input, what->input, operand, INPUT_NEEDS_COUNTS))
        return input.failure;
    input_settle(&input); /* it is decoded for the profile, and for the timeline */
    int code = profile_add_opened(what, &input, profile);
    if (profile_goes_on(code)) {
        const int looked = look_at(&input, what->names, extra);
        code = code == EXIT_DONE ? looked : code;
    }
    input_close(&input);
    return code;
}

static const struct pug_export_format *report_format(void)
{
    const struct pug_export_format *format = NULL;
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL; n++)
        if (strcmp(format->name, "report") == 0)
            break;
    return format;
}

static int make(char **operands, const struct report_options *options, struct pug_names *names)
{
    const struct profile_input what = {.input = &options->input, .names = names, .stacks = true};
    struct pug_report_withheld withheld = {0};
    struct extra extra = {
        .is = {.title = options->title ? options->title : operands[0], .withheld = &withheld}};
    extra.is.facts = extra.facts;
    if (!source_permit(&options->source, operands, &extra.is))
        return EXIT_FATAL;
    struct pug_profile *profile = pug_profile_new();
    int code = profile ? EXIT_DONE : EXIT_FATAL;
    if (!profile)
        fprintf(stderr, "pugmark: %s\n", pug_status_text(PUG_ERR_MEM));
    for (; *operands && profile_goes_on(code); operands++) {
        const int added = add_input(&what, *operands, profile, &extra);
        code = added == EXIT_DONE ? code : added;
    }
    if (extra.timelines.count > 0) {
        struct pug_sink sink = pug_memory_sink(&extra.timelines);
        pug_sink_text(&sink, "]");
    }
    if (extra.timelines.count > 0 && !extra.timelines.failed) {
        extra.is.timelines = extra.timelines.bytes;
        extra.is.timelines_size = extra.timelines.count;
    }
    if (profile_goes_on(code) && (extra.failed || extra.timelines.failed)) {
        fprintf(stderr, "pugmark: %s\n", pug_status_text(PUG_ERR_MEM));
        code = EXIT_FATAL;
    }
    if (profile_goes_on(code)) {
        const struct pug_export_options wanted = {.names = names,
                                                  .objects = options->input.objects.items,
                                                  .object_count = options->input.objects.count,
                                                  .report = &extra.is};
        int written =
            profile_export(pug_export, profile, report_format(), &wanted, options->output);
        code = written == EXIT_DONE ? code : written;
        source_say_withheld(&extra.is, options->input.quiet);
    }
    pug_profile_free(profile);
    free_extra(&extra);
    return code;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct report_options options = {0};
    struct input_several several;
    const struct option_set sets[] = {OPTION_SET(table, &options), SOURCE_OPTIONS(&options.source),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    int code = command_start(self, argc, argv, sets, 4, -1);
    if (code >= 0)
        return code;
    input_of_several(&options.input, argv + 1, &several);
    struct pug_names *names = capture_names(&options.input, &options.capture);
    if (!names)
        return EXIT_INPUT;
    code = make(argv + 1, &options, names);
    capture_names_end(names);
    return code;
}

const struct command command_report = {
    .name = "report",
    .operands = "INPUT...",
    .summary = "a page to look at: flame graph, functions, code, timeline, coverage",
    .run = run,
};
