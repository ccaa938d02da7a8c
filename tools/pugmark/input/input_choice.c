// SPDX-License-Identifier: MIT
/**
 * @file Is there what --source, --pid and the like choose? A selection of something absent would
 * print nothing, like a trace in which nothing ran.
 */
#include "common/messages.h"
#include "input_private.h"

#include "capture/capture.h"
#include "common/command.h"
#include "text/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most existing names that are listed. */
#define NAMED_MOST 16u

/** One of what an option chooses among: a number, or a name. */
struct thing {
    int64_t number;
    const char *name;
};

/** The content of an option, and the result of the search for it. */
struct choice {
    const struct option_list *wanted;
    bool *found; /* each of those; NULL: things are named */
    struct thing named[NAMED_MOST];
    size_t named_count, others;
    bool hexadecimal;
};

static bool is_same(const struct thing *a, const struct thing *b)
{
    return a->name && b->name ? strcmp(a->name, b->name) == 0 : a->number == b->number;
}

static void find(struct choice *choice, const struct thing *thing)
{
    for (size_t i = 0; i < choice->wanted->count; i++) {
        struct thing wanted = {.name = thing->name ? choice->wanted->items[i] : NULL};
        uint64_t number = 0;
        (void)(wanted.name || parse_number(choice->wanted->items[i], &number));
        wanted.number = (int64_t)number;
        choice->found[i] |= is_same(&wanted, thing);
    }
}

static void name(struct choice *choice, const struct thing *thing)
{
    for (size_t i = 0; i < choice->named_count; i++)
        if (is_same(&choice->named[i], thing))
            return;
    if (choice->named_count < NAMED_MOST)
        choice->named[choice->named_count++] = *thing;
    else
        choice->others++;
}

static void take(struct choice *choice, int64_t number, const char *text)
{
    const struct thing thing = {number, text};
    (choice->found ? find : name)(choice, &thing);
}

/* ---- what there is ---- */

static bool of_chosen(const struct input *input, uint32_t buffer)
{
    return pug_capture_buffer_at(input->capture, buffer)->chosen;
}

/** For one file of trace its tree knows the sources of its bytes. */
static bool is_one_file(const struct input *input)
{
    const enum pug_capture_kind kind = pug_capture_kind(input->capture);
    return kind == PUG_CAPTURE_RAW || kind == PUG_CAPTURE_STREAM;
}

static void take_tree(const struct input *input, struct choice *choice)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        take(choice, pug_source_id(source), NULL);
}

static void take_sources(const struct input *input, struct choice *choice)
{
    const struct pug_capture_source *source;
    choice->hexadecimal = true;
    if (is_one_file(input)) {
        take_tree(input, choice);
        return;
    }
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++)
        if (of_chosen(input, source->buffer))
            take(choice, source->id, NULL);
}

static void take_pids(const struct input *input, struct choice *choice)
{
    const struct pug_capture_task *task;
    for (size_t n = 0; (task = pug_capture_task_at(input->capture, n)) != NULL; n++)
        take(choice, task->pid, NULL);
}

static void take_tids(const struct input *input, struct choice *choice)
{
    const struct pug_capture_task *task;
    for (size_t n = 0; (task = pug_capture_task_at(input->capture, n)) != NULL; n++)
        take(choice, task->tid, NULL);
}

static void take_comms(const struct input *input, struct choice *choice)
{
    const struct pug_capture_task *task;
    for (size_t n = 0; (task = pug_capture_task_at(input->capture, n)) != NULL; n++)
        take(choice, 0, task->comm);
}

/** Those that sources trace, and those that took segments. */
static void take_cpus(const struct input *input, struct choice *choice)
{
    const struct pug_capture_source *source;
    const struct pug_capture_segment *segment;
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++)
        if (source->cpu != PUG_NO_CPU && of_chosen(input, source->buffer))
            take(choice, source->cpu, NULL);
    for (size_t n = 0; (segment = pug_capture_segment_at(input->capture, n)) != NULL; n++)
        if (segment->cpu != PUG_NO_CPU && of_chosen(input, segment->buffer))
            take(choice, segment->cpu, NULL);
}

typedef void things_fn(const struct input *input, struct choice *choice);

/* ---- is it there? ---- */

static void print_thing(const struct thing *thing, bool hexadecimal)
{
    message_say(" ");
    if (thing->name) /* which steers no terminal */
        message_say("%s", thing->name);
    else
        message_say(hexadecimal ? "0x%02" PRIx64 : "%" PRId64, thing->number);
}

static void print_things(const struct choice *choice)
{
    if (choice->named_count == 0)
        message_say(" none");
    for (size_t i = 0; i < choice->named_count; i++)
        print_thing(&choice->named[i], choice->hexadecimal);
    message_say(choice->others > 0 ? " and others\n" : "\n");
}

/** Those that are absent are reported; false: that is all of them, or there is no memory. */
static bool are_there(struct input *input, const struct option_list *wanted, const char *what,
                      things_fn *things)
{
    struct choice choice = {.wanted = wanted, .found = calloc(wanted->count + 1, sizeof(bool))};
    bool *found = choice.found;
    size_t count = 0;
    if (!found) {
        input_starve(input);
        return false;
    }
    if (wanted->count > 0)
        things(input, &choice);
    choice.found = NULL;
    for (size_t i = 0; i < wanted->count; i++) {
        count += found[i];
        if (found[i])
            continue;
        if (choice.named_count == 0)
            things(input, &choice);
        message_say("pugmark: %s: no %s %s in it; there are", pug_capture_path(input->capture),
                    what, wanted->items[i]);
        print_things(&choice);
    }
    free(found);
    return count > 0 || wanted->count == 0;
}

/** Which buffers a chosen source writes into. False, having said so: no memory. */
static bool choose_buffers(struct input *input)
{
    const struct pug_capture_source *source;
    size_t count = 0;
    while (pug_capture_buffer_at(input->capture, count))
        count++;
    input->heard = calloc(count + 1, sizeof(*input->heard));
    if (!input->heard) {
        input_starve(input);
        return false;
    }
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++)
        input->heard[source->buffer] |= input_wants(input, source->id);
    return true;
}

static bool sources_are_there(struct input *input)
{
    const struct option_list *wanted = &input->options->sources;
    bool there = true;
    if (wanted->count == 0)
        return true;
    if (!is_one_file(input))
        return are_there(input, wanted, "source", take_sources) && choose_buffers(input);
    /* Without a tree its maker says why when it is needed. */
    if (pug_capture_tree(input->capture, 0, false, NULL, &input->tree) == PUG_OK)
        there = are_there(input, wanted, "source", take_sources);
    input_drop_tree(input);
    return there;
}

/* ---- objects ---- */

void input_say_objects(object_fn *object_at, const void *of)
{
    struct choice choice = {.named_count = 0};
    const char *path;
    for (size_t n = 0; (path = object_at(of, n)) != NULL; n++)
        name(&choice, &(struct thing){.name = path});
    print_things(&choice);
}

void input_refuse_object(const char *wanted, object_fn *object_at, const void *of)
{
    message_say("pugmark: --dso %s: not one that ran; there are", wanted);
    input_say_objects(object_at, of);
}

/** Without looking for its text. */
static const char *object_at(const void *of, size_t n)
{
    const struct pug_capture *capture = of;
    return n < capture->objects.count ? pug_capture_objects(capture)[n]->path : NULL;
}

/**
 * What --dso says, by path: files tell build ids that captures do not. False, having said so: one
 * of them is none that can have run.
 */
static bool objects_are_there(struct input *input)
{
    const struct option_list *wanted = &input->options->objects;
    const bool perf = pug_capture_kind(input->capture) == PUG_CAPTURE_PERF;
    const bool elsewhere = input->options->several || input->options->objects_elsewhere;
    /* Without a tree its maker says why when it is needed. */
    if (wanted->count == 0 || (!perf && input_read_all(input) != PUG_OK))
        return true;
    for (size_t n = 0; n < wanted->count; n++) {
        const char *path = pug_capture_object_called(input->capture, wanted->items[n]);
        if (path && !pug_object_is(path, NULL, 0, wanted->items[n]))
            input->lists.objects[n] = path;
        if (path || elsewhere)
            continue;
        input_refuse_object(wanted->items[n], object_at, input->capture);
        input->failure = EXIT_USAGE;
        return false;
    }
    return true;
}

static bool is_object(const struct pug_capture *capture, const char *name)
{
    for (size_t n = 0; n < capture->objects.count; n++) {
        const struct pug_capture_object *object = pug_capture_objects(capture)[n];
        if (pug_object_is(object->path, object->build_id, object->build_id_size, name))
            return true;
    }
    return false;
}

/**
 * What --dso says is in another file. False, having said so: one of them did not run, or nothing of
 * INPUT is looked for by its path.
 */
static bool replaced_are_there(struct input *input)
{
    const size_t count = input->options->replacements.count;
    const bool perf = pug_capture_kind(input->capture) == PUG_CAPTURE_PERF;
    if (count == 0 || input->options->several || input->options->objects_elsewhere)
        return true;
    input->failure = EXIT_USAGE;
    if (!perf)
        message_say("pugmark: --dso %s: files are taken for what perf.data names; programs of "
                    "snapshots and single files are told by --elf and --image\n",
                    input->options->replacements.items[0]);
    for (size_t n = 0; perf && n < count; n++) {
        const char *name = input->lists.replacements[n].path;
        if (is_object(input->capture, name))
            continue;
        input_refuse_object(name, object_at, input->capture);
        return false;
    }
    if (perf)
        input->failure = EXIT_INPUT;
    return perf;
}

bool input_is_counted(const struct input *input)
{
    struct pug_capture_row row;
    return input->capture->ops->row && input->capture->ops->row(input->capture, 0, &row);
}

static bool has_bytes(const struct input *input)
{
    const struct pug_capture_segment *segment;
    for (size_t n = 0; (segment = pug_capture_segment_at(input->capture, n)) != NULL; n++)
        if (segment->size > 0)
            return true;
    return false;
}

bool input_holds(const struct input *input, enum input_need need)
{
    if (need == INPUT_NEEDS_NOTHING || pug_capture_kind(input->capture) != PUG_CAPTURE_PERF ||
        (has_bytes(input) && pug_capture_source_at(input->capture, 0)))
        return true;
    const bool counted = input_is_counted(input);
    if (!counted &&
        has_bytes(input)) /* of another machine's kind, as was said when it was opened */
        return false;
    if (counted && need == INPUT_NEEDS_COUNTS)
        return true;
    message_say("pugmark: %s: no hardware trace in it; %s\n", pug_capture_path(input->capture),
                counted ? "branch lists stand in its place, which `pugmark profile` counts"
                        : "was it recorded with `-e cs_etm//`?");
    return false;
}

bool input_finds_threads(const struct input *input)
{
    return input->options->threads_later && !pug_capture_task_at(input->capture, 0);
}

bool input_choices_are_there(struct input *input)
{
    const struct input_options *options = input->options;
    if (!sources_are_there(input))
        return false;
    const bool later = input_finds_threads(input);
    const bool ran =
        are_there(input, &options->pids, "process", take_pids) &&
        (later || are_there(input, &options->tids, "thread", take_tids)) &&
        (later || are_there(input, &options->comms, "thread of the name", take_comms)) &&
        are_there(input, &options->cpus, "processor", take_cpus);
    if (later) /* decoding gives all of them */
        input->lists.selection.tid_count = input->lists.selection.comm_count = 0;
    struct input_several *several = options->several;
    if (several)
        several->any |= ran;
    const bool there = several ? several->any || input->trace_path != several->last : ran;
    return there && replaced_are_there(input) && objects_are_there(input);
}

void input_of_several(struct input_options *options, char *const *operands,
                      struct input_several *several)
{
    size_t count = 0;
    while (operands[count])
        count++;
    *several =
        (struct input_several){.any = input_spread() != NULL}; /* another process's may have it */
    if (count > 1) {
        several->last = operands[count - 1];
        options->several = several;
    }
}
