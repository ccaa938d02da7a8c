// SPDX-License-Identifier: MIT
#include "report_extra.h"

#include "calls/slices_words.h"
#include "calls/times.h"
#include "common/command.h"
#include "common/messages.h"
#include "common/progress.h"
#include "items/places.h"
#include "pugmark/advanced/snapshot.h"
#include "report_story.h"
#include "swo/swo_doubts.h"
#include "threads/kernel_words.h"
#include "timeline/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *report_extra_text(struct report_extra *extra, const char *text)
{
    const size_t size = strlen(text) + 1;
    struct report_text *copy = malloc(sizeof(*copy) + size);
    if (!copy) {
        extra->failed = true;
        return NULL;
    }
    copy->before = extra->texts;
    extra->texts = copy;
    memcpy(copy->text, text, size);
    return copy->text;
}

void report_extra_fact(struct report_extra *extra, const char *name, const char *value)
{
    const char *words = report_extra_text(extra, value), *title = report_extra_text(extra, name);
    if (words && title && extra->is.fact_count < REPORT_FACTS)
        extra->facts[extra->is.fact_count++] = (struct pug_report_fact){title, words};
}

/* ---- sentences ---- */

static void hear(void *context, enum said_about about, const char *words)
{
    static const enum pug_report_about abouts[] = {[SAID_WRONG] = PUG_REPORT_WRONG,
                                                   [SAID_LOST] = PUG_REPORT_LOST,
                                                   [SAID_TIMES] = PUG_REPORT_TIMES,
                                                   [SAID_COUNTS] = PUG_REPORT_COUNTS,
                                                   [SAID_CHECKED] = PUG_REPORT_CHECKED};
    struct report_extra *extra = context;
    for (size_t i = 0; i < extra->is.point_count; i++)
        if (extra->points[i].input == extra->input && strcmp(extra->points[i].text, words) == 0)
            return;
    if (extra->is.point_count == REPORT_POINTS) {
        extra->unheard++;
        return;
    }
    const char *text = report_extra_text(extra, words);
    if (text)
        extra->points[extra->is.point_count++] =
            (struct pug_report_point){.input = extra->input, .text = text, .about = abouts[about]};
}

void report_extra_begin(struct report_extra *extra)
{
    extra->is.facts = extra->facts;
    extra->is.points = extra->points;
    extra->listener = (struct said_listener){hear, extra};
    said_listen(&extra->listener);
}

void report_extra_end(struct report_extra *extra)
{
    said_listen(NULL);
    for (struct report_text *text = extra->texts, *before; text; text = before) {
        before = text->before;
        free(text);
    }
    free(extra->timelines.bytes);
    free(extra->stories.bytes);
    free(extra->times.bytes);
    free(extra->what.bytes);
}

/* ---- what was traced ---- */

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/** Each value once: "Cortex-A53, Cortex-A72". */
static void add_once(char *list, size_t size, const char *value)
{
    const char *found = value && *value ? strstr(list, value) : list;
    if (found)
        return;
    const size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length ? ", " : "", value);
}

/** The core's type where a snapshot says it, else what the capture calls the core; or NULL. */
static const char *core_of(struct pug_capture *capture, const struct pug_capture_source *source)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(capture);
    const struct pug_snapshot_device *device =
        snapshot && source->core ? pug_snapshot_device(snapshot, source->core) : NULL;
    return device && device->type && *device->type ? device->type : source->core;
}

/** The path of the object that ran most; NULL: nothing ran in any. */
static const char *program_of(const struct pug_profile *profile)
{
    size_t object_count, range_count;
    const struct pug_profile_object *objects = pug_profile_objects(profile, &object_count);
    const struct pug_profile_range *ranges = pug_profile_ranges(profile, &range_count);
    uint64_t *sums = calloc(object_count + 1, sizeof(*sums));
    const char *best = NULL;
    uint64_t most = 0;
    for (size_t i = 0; sums && i < range_count; i++) {
        if (ranges[i].object >= object_count)
            continue;
        uint64_t *sum = &sums[ranges[i].object];
        *sum = pug_profile_sum(*sum, pug_profile_product(ranges[i].count, ranges[i].instructions));
        if (*sum > most) {
            most = *sum;
            best = objects[ranges[i].object].path;
        }
    }
    free(sums);
    return best;
}

/** "crash on Cortex-A53, ETMV4I: 754 instructions in 697 ticks" */
static void say_what(struct report_extra *extra, struct pug_capture *capture,
                     const struct pug_profile *profile, const struct story *story)
{
    char cores[160] = "", protocols[160] = "", extent[160];
    const struct pug_capture_source *source;
    const char *program = program_of(profile);
    struct pug_sink sink = pug_memory_sink(&extra->what);
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++) {
        add_once(cores, sizeof(cores), core_of(capture, source));
        const struct pug_protocol *protocol = pug_protocol_find(source->protocol);
        if (protocol) /* else the snapshot does not describe the source */
            add_once(protocols, sizeof(protocols), pug_protocol_title(protocol));
    }
    story_extent(story, extent, sizeof(extent));
    pug_sink_text(&sink, extra->what.count > 0 ? "; " : "");
    pug_sink_text(&sink, last_component(program ? program : pug_capture_path(capture)));
    pug_sink_format(&sink, "%s%s%s%s: %s", *cores ? " on " : "", cores, *protocols ? ", " : "",
                    protocols, extent);
}

/** The most remarkable headline counts: one about a fault, else the first. */
static void take_headline(struct report_extra *extra, const struct story *story)
{
    const char *headline = story_headline(story);
    const bool fault = strncmp(headline, "Ended", 5) == 0;
    if (*headline &&
        (!extra->is.headline || (fault && strncmp(extra->is.headline, "Ended", 5) != 0)))
        extra->is.headline = report_extra_text(extra, headline);
}

static void add_facts(struct report_extra *extra, struct pug_capture *capture)
{
    const char *name, *value;
    report_extra_fact(extra, "Kind", pug_capture_title(capture));
    for (size_t n = 0; n < 40 && pug_capture_fact(capture, n, &name, &value); n++)
        report_extra_fact(extra, name, value);
}

/** Decode for story and timeline. Each capture has its own: two have no common clock. */
static enum pug_status decode(struct report_extra *extra, struct input *input,
                              struct pug_names *names, struct story *story,
                              struct pug_capture_result *result)
{
    struct pug_sink sink = pug_memory_sink(&extra->timelines);
    const size_t before = extra->timelines.count;
    uint32_t buffers = 0;
    while (pug_capture_buffer_at(input->capture, buffers) != NULL)
        buffers++;
    pug_sink_text(&sink, before > 0 ? ", " : "[");
    const struct slices_options how = {.capture = input->capture,
                                       .names = names,
                                       .form = PUG_TIMELINE_PAGE,
                                       .sink = &sink,
                                       .buffers = buffers,
                                       .room = extra->room,
                                       .observe = story_observe,
                                       .observe_context = story};
    struct slices *slices = pug_slices_new(&how);
    if (!slices)
        return PUG_ERR_MEM;
    story_follow(story, slices);
    struct progress progress = progress_begin(input_bytes(input), input->options->quiet, NULL);
    const struct slices_decode decoding = {
        .stage = {.kernel = kernel_wanted(input, names, extra->rtos)},
        .selection = &input->lists.selection,
        .threads = input_jobs(input),
        .progress = progress_show,
        .progress_context = &progress};
    enum pug_status status = pug_slices_decode(slices, &decoding, NULL, result);
    progress_end(&progress);
    story_end(story);
    if (pug_slices_end(slices) != PUG_OK)
        status = PUG_ERR_MEM;
    const struct slices_numbers numbers = pug_slices_numbers(slices);
    swo_doubts_tell(input->capture, numbers.tick, input->options->quiet);
    slices_tell(pug_places_returns(pug_slices_places(slices)), numbers.estimated, numbers.written,
                input->options->quiet);
    pug_slices_free(slices);
    return status;
}

/* Functions, and calls by caller, whose times a page has; times what --detail says. */
#define TIMES_MOST 1000u

/** How long calls took; null where no program flow tells. False: no memory. */
static bool look_at_times(struct report_extra *extra, struct input *input, struct pug_names *names)
{
    const struct times_wanted wanted = {.rows = true, .rtos = extra->rtos};
    const size_t detail = extra->is.detail > 1 ? (size_t)extra->is.detail : 1;
    struct pug_sink sink = pug_memory_sink(&extra->times);
    struct times *times = NULL;
    (void)times_of(input, names, &wanted, &times);
    pug_sink_text(&sink, extra->times.count > 0 ? ", " : "[");
    if (times && times->function_count > 0)
        times_put_page(times, names, TIMES_MOST * detail, &sink);
    else
        pug_sink_text(&sink, "null");
    times_free(times);
    return !extra->times.failed;
}

int report_extra_look(struct report_extra *extra, struct input *input, struct pug_names *names,
                      const struct pug_profile *profile)
{
    struct story *story = story_new(input->capture, names);
    struct pug_capture_result result = {0};
    /* The profile's decoding has said already what is wrong with the capture. */
    input->silent = input->described = true;
    add_facts(extra, input->capture);
    if (!look_at_times(extra, input, names))
        extra->failed = true;
    enum pug_status status = story ? decode(extra, input, names, story, &result) : PUG_ERR_MEM;
    if (story) {
        struct pug_sink sink = pug_memory_sink(&extra->stories);
        pug_sink_text(&sink, extra->stories.count > 0 ? ", " : "[");
        if (!story_put(story, &extra->stories))
            status = PUG_ERR_MEM;
        say_what(extra, input->capture, profile, story);
        take_headline(extra, story);
    }
    story_free(story);
    const int code = input_concluded(input, status, &result);
    if (!extra->timelines.failed && !extra->stories.failed && !extra->what.failed)
        return code;
    message_say("pugmark: %s: %s\n", pug_capture_path(input->capture),
                pug_status_text(PUG_ERR_MEM));
    return EXIT_FATAL;
}

static bool close_array(struct pug_memory *memory)
{
    struct pug_sink sink = pug_memory_sink(memory);
    if (memory->count > 0)
        pug_sink_text(&sink, "]");
    return !memory->failed;
}

bool report_extra_close(struct report_extra *extra)
{
    struct pug_sink what = pug_memory_sink(&extra->what);
    bool good = close_array(&extra->timelines) && close_array(&extra->stories) &&
                close_array(&extra->times);
    if (extra->what.count > 0) {
        pug_sink_put(&what, "", 1);
        extra->is.what = extra->what.bytes;
    }
    if (extra->timelines.count > 0) {
        extra->is.timelines = extra->timelines.bytes;
        extra->is.timelines_size = extra->timelines.count;
    }
    if (extra->times.count > 0) {
        extra->is.times = extra->times.bytes;
        extra->is.times_size = extra->times.count;
    }
    if (extra->stories.count > 0) {
        extra->is.stories = extra->stories.bytes;
        extra->is.stories_size = extra->stories.count;
    }
    if (extra->unheard > 0) {
        char words[96];
        snprintf(words, sizeof(words), "and %" PRIu64 " more messages", extra->unheard);
        extra->points[REPORT_POINTS - 1].text = report_extra_text(extra, words);
    }
    return good && !extra->what.failed && !extra->failed;
}
