// SPDX-License-Identifier: MIT
/**
 * @file Comparing with a former run. Of two captures with the same clock the mean and the longest
 * call of each function are compared; where one of them is a saved profile, or clocks differ, the
 * instructions that each function ran itself.
 */
#include "calls/times.h"
#include "check_command.h"
#include "common/command.h"
#include "common/output.h"
#include "profile/profile_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_TOLERANCE 10u

struct comparison {
    struct pug_sink *sink;
    struct pug_names *names;
    uint64_t tolerance; /* percent */
    size_t compared, slower, gone;
};

/** Is a number more than the tolerance above the former one? */
static bool is_above(const struct comparison *comparison, uint64_t before, uint64_t now)
{
    const uint64_t share =
        before / 100 * comparison->tolerance + before % 100 * comparison->tolerance / 100;
    return now > before && now - before > share;
}

static void say(struct comparison *comparison, const char *name, const char *what, uint64_t before,
                uint64_t now, const char *unit)
{
    comparison->slower++;
    pug_sink_text(comparison->sink, "SLOWER     ");
    pug_sink_printable(comparison->sink, pug_names_readable(comparison->names, name));
    pug_sink_format(comparison->sink, ": %s %" PRIu64 " %s, was %" PRIu64, what, now, unit, before);
    if (before > 0 && now - before <= UINT64_MAX / 1000)
        pug_sink_format(comparison->sink, " (+%" PRIu64 ".%" PRIu64 " %%)",
                        (now - before) * 1000 / before / 10, (now - before) * 1000 / before % 10);
    pug_sink_text(comparison->sink, "\n");
}

/* ---- times ---- */

static struct times *times_in(const struct check_options *options, const char *operand,
                              struct pug_names *names)
{
    struct input input;
    struct times *times = NULL;
    if (!input_open(&input, &options->input, operand))
        return NULL;
    const int code = times_of(&input, names, NULL, &times);
    input_close(&input);
    if (times && (code == EXIT_FATAL || code == EXIT_INPUT)) {
        times_free(times);
        times = NULL;
    }
    return times;
}

static const struct times_function *same_in(const struct times *times, const char *name)
{
    for (uint32_t n = 0; n < times->function_count; n++)
        if (times->functions[n].name && strcmp(times->functions[n].name, name) == 0)
            return &times->functions[n];
    return NULL;
}

static void compare_times(struct comparison *comparison, const struct times *before,
                          const struct times *now)
{
    const enum times_unit unit = times_unit(now);
    for (uint32_t n = 0; n < before->function_count; n++) {
        const struct times_function *old = &before->functions[n];
        const struct times_function *new = old->name ? same_in(now, old->name) : NULL;
        if (!old->name || old->all.count == 0)
            continue;
        if (!new || new->all.count == 0) {
            comparison->gone++;
            continue;
        }
        comparison->compared++;
        const uint64_t mean = old->all.sum[unit] / old->all.count,
                       mean_now = new->all.sum[unit] / new->all.count;
        if (is_above(comparison, mean, mean_now))
            say(comparison, old->name, "a call took on average", mean, mean_now,
                times_unit_name(now));
        else if (is_above(comparison, old->all.longest[unit], new->all.longest[unit]))
            say(comparison, old->name, "the longest call took", old->all.longest[unit],
                new->all.longest[unit], times_unit_name(now));
    }
}

/* ---- instructions ---- */

struct own {
    const char *name;
    uint64_t instructions;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct own *)left)->name, ((const struct own *)right)->name);
}

static struct pug_names_file *file_of(const struct pug_profile_object *object,
                                      struct pug_names *names)
{
    struct pug_names_file *file = NULL;
    const struct pug_names_wanted wanted = {.path = object->path,
                                            .file = object->file,
                                            .build_id = object->build_id,
                                            .build_id_size = object->build_id_size};
    return pug_names_open(names, &wanted, &file) == PUG_OK ? file : NULL;
}

/** Each function's own instructions, by name; NULL: no memory. */
static struct own *own_of(struct pug_profile *profile, struct pug_names *names, size_t *count)
{
    size_t object_count, range_count;
    const struct pug_profile_object *objects = pug_profile_objects(profile, &object_count);
    const struct pug_profile_range *ranges = pug_profile_ranges(profile, &range_count);
    struct own *all = calloc(range_count + 1, sizeof(*all));
    struct pug_names_file **files = calloc(object_count + 1, sizeof(*files));
    size_t kept = 0;
    *count = 0;
    for (size_t n = 0; all && files && n < object_count; n++)
        files[n] = file_of(&objects[n], names);
    for (size_t n = 0; all && files && n < range_count; n++) {
        struct pug_names_function function;
        if (ranges[n].object < object_count && files[ranges[n].object] &&
            pug_names_function(files[ranges[n].object], ranges[n].first, &function))
            all[kept++] = (struct own){
                function.name, pug_profile_product(ranges[n].count, ranges[n].instructions)};
    }
    free(files);
    if (all && kept > 1)
        qsort(all, kept, sizeof(*all), by_name);
    for (size_t n = 0; all && n < kept; n++) {
        if (*count > 0 && strcmp(all[*count - 1].name, all[n].name) == 0)
            all[*count - 1].instructions += all[n].instructions;
        else
            all[(*count)++] = all[n];
    }
    return all;
}

static struct pug_profile *profile_in(const struct check_options *options, char **operands,
                                      struct pug_names *names)
{
    const struct profile_input what = {.input = &options->input, .names = names};
    struct pug_profile *profile = pug_profile_new();
    const int code = profile_add_all(&what, operands, profile);
    if (profile && code != EXIT_DONE && code != EXIT_TRACE_ERRORS) {
        pug_profile_free(profile);
        return NULL;
    }
    return profile;
}

static bool compare_profiles(struct comparison *comparison, const struct check_options *options,
                             char **inputs)
{
    char *former[] = {(char *)options->baseline, NULL};
    struct pug_profile *before = profile_in(options, former, comparison->names);
    struct pug_profile *now = before ? profile_in(options, inputs, comparison->names) : NULL;
    size_t old_count = 0, new_count = 0;
    struct own *old = now ? own_of(before, comparison->names, &old_count) : NULL;
    struct own *new = old ? own_of(now, comparison->names, &new_count) : NULL;
    for (size_t n = 0; new &&n < old_count; n++) {
        const struct own *same = bsearch(&old[n], new, new_count, sizeof(*new), by_name);
        comparison->compared += same != NULL;
        comparison->gone += same == NULL;
        if (same && is_above(comparison, old[n].instructions, same->instructions))
            say(comparison, old[n].name, "it ran", old[n].instructions, same->instructions,
                "instructions");
    }
    const bool done = new != NULL;
    free(old);
    free(new);
    pug_profile_free(before);
    pug_profile_free(now);
    return done;
}

/* ---- ---- */

/** Writes what was found: beside a report that programs read, to standard error. */
static bool put_text(const struct check_options *options, const struct pug_memory *text)
{
    const bool beside = options->format && strcmp(options->format, "text") != 0;
    if (text->failed)
        return false;
    if (beside) {
        message_say("%.*s", (int)text->count, text->bytes);
        return true;
    }
    pug_sink_put(output_sink(), text->bytes, text->count);
    return output_end() == EXIT_DONE;
}

/** 0: nothing is slower; 1: something is; 2: nothing could be compared. */
static int compare(struct comparison *comparison, const struct check_options *options,
                   char **inputs)
{
    bool done = false;
    if (!inputs[1] && !profile_is_saved(options->baseline) && !profile_is_saved(inputs[0])) {
        struct times *before = times_in(options, options->baseline, comparison->names);
        struct times *now = before ? times_in(options, inputs[0], comparison->names) : NULL;
        if (!now) {
            times_free(before);
            return 2;
        }
        if (strcmp(times_unit_name(before), times_unit_name(now)) == 0) {
            compare_times(comparison, before, now);
            done = true;
        }
        times_free(before);
        times_free(now);
    }
    if (!done && !compare_profiles(comparison, options, inputs))
        return 2;
    if (comparison->compared == 0)
        message_say("pugmark: %s: no function of it is in the other one, so nothing was compared\n",
                    options->baseline);
    pug_sink_format(comparison->sink,
                    "%zu functions compared, %zu more than %" PRIu64 " %% slower, %zu not in it "
                    "any more\n",
                    comparison->compared, comparison->slower, comparison->tolerance,
                    comparison->gone);
    return comparison->compared == 0 ? 2 : comparison->slower > 0;
}

int check_baseline(const struct check_options *options, char **inputs, struct pug_names *names)
{
    struct pug_memory text = {0};
    struct pug_sink sink = pug_memory_sink(&text);
    struct comparison comparison = {.sink = &sink,
                                    .names = names,
                                    .tolerance = options->tolerance.given ? options->tolerance.value
                                                                          : USUAL_TOLERANCE};
    const int code = compare(&comparison, options, inputs);
    const bool put = put_text(options, &text);
    free(text.bytes);
    return put ? code : 2;
}
