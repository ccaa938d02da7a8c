// SPDX-License-Identifier: MIT
#include "report_story.h"

#include "base/text.h"
#include "items/places.h"
#include "pugmark/advanced/capture.h"
#include "report_window.h"
#include "swo/swo_clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MOST  100u  /* remarkable events with a window: the first half and the last */
#define TASKS_MOST   4096u /* tasks whose last instructions are kept */
#define LATE         64u   /* bytes of trace that may precede the first synchronisation point */
#define WORDS        512u
#define WINDOWS_MOST ((size_t)2 << 20) /* bytes of JSON, then windows are left out */

enum event_kind { EVENT_FAULT, EVENT_LOSS, EVENT_END };
static const char *const kinds[] = {"fault", "loss", "end"};

/** A place in the program, in words. `file` is a borrowed path. */
struct place_words {
    char function[256];
    const char *file; /* NULL: not known */
    uint32_t line;
};

struct story_event {
    enum event_kind kind;
    uint32_t task;
    uint64_t index; /* trace offset */
    uint32_t buffer;
    char title[96]; /* "data fault" */
    char after[96]; /* "697 ticks after it was entered"; or "" */
    struct place_words place;
    struct report_range *ranges;
    uint32_t range_count;
};

struct task_story {
    struct report_ring ring;
    char who[96];              /* "thread 500 paw" */
    struct pug_call_clock ran; /* with its last timestamp */
    struct story_event fault;  /* the last one; without ranges of its own */
    bool has_fault;
    bool ended_in_fault; /* the fault's handler is on the stack in the end */
    struct place_words end_place;
    bool has_end;
    struct report_range end_ranges[REPORT_WINDOW];
    uint32_t end_range_count;
    uint64_t end_index;
    uint32_t end_buffer;
};

struct story {
    struct pug_capture *capture;
    struct pug_names *names;
    const struct slices *slices;
    struct report_windows *windows;
    struct swo_clocks clocks;  /* of ITMs */
    struct task_story **tasks; /* by number; NULL: nothing ran */
    uint32_t task_room, task_count;
    struct story_event events[EVENTS_MOST];
    uint64_t event_count; /* all of them, also those that are not kept */
    uint64_t losses, instructions, first_time, last_time, cycles;
    uint64_t messages, hardware; /* of software; of the DWT and of event packets */
    uint64_t late;               /* offset at which the first source was understood */
    bool understood;
    char headline[WORDS];
    const struct task_story *shown; /* the task of the headline */
    bool failed;
};

struct story *story_new(struct pug_capture *capture, struct pug_names *names)
{
    struct story *story = calloc(1, sizeof(*story));
    if (!story)
        return NULL;
    story->capture = capture;
    story->names = names;
    story->windows = report_windows_new(capture, names);
    if (story->windows)
        return story;
    free(story);
    return NULL;
}

void story_free(struct story *story)
{
    if (!story)
        return;
    for (uint32_t i = 0; i < EVENTS_MOST; i++)
        free(story->events[i].ranges);
    for (uint32_t i = 0; i < story->task_room; i++)
        free(story->tasks[i]);
    free(story->tasks);
    swo_clocks_free(&story->clocks);
    report_windows_free(story->windows);
    free(story);
}

void story_follow(struct story *story, const struct slices *slices)
{
    story->slices = slices;
}

static struct task_story *task_of(struct story *story, uint32_t number)
{
    if (number >= TASKS_MOST)
        return NULL;
    if (number >= story->task_room) {
        const uint32_t room = number + number / 2 + 16;
        struct task_story **tasks = realloc(story->tasks, room * sizeof(struct task_story *));
        if (!tasks) {
            story->failed = true;
            return NULL;
        }
        memset(tasks + story->task_room, 0,
               (room - story->task_room) * sizeof(struct task_story *));
        story->tasks = tasks;
        story->task_room = room;
    }
    if (!story->tasks[number]) {
        story->tasks[number] = calloc(1, sizeof(struct task_story));
        story->failed |= !story->tasks[number];
        story->task_count++;
    }
    return story->tasks[number];
}

/* ---- words ---- */

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *unit_of(const struct story *story)
{
    return pug_capture_times(story->capture).unit == PUG_CAPTURE_NANOSECONDS ? "ns" : "ticks";
}

/** "1.5 ms", "697 ticks". */
static void put_duration(char *text, size_t size, uint64_t time, const char *unit)
{
    char number[32];
    if (strcmp(unit, "ns") != 0 || time < 1000)
        snprintf(text, size, "%s %s", pug_text_thousands(time, number), unit);
    else if (time < 1000000)
        snprintf(text, size, "%" PRIu64 ".%03u µs", time / 1000, (unsigned)(time % 1000));
    else if (time < UINT64_C(1000000000))
        snprintf(text, size, "%" PRIu64 ".%03u ms", time / 1000000, (unsigned)(time / 1000 % 1000));
    else
        snprintf(text, size, "%" PRIu64 ".%03u s", time / UINT64_C(1000000000),
                 (unsigned)(time / 1000000 % 1000));
}

static void find_place(struct story *story, const struct report_range *range, uint64_t address,
                       struct place_words *place)
{
    struct pug_names_function function;
    struct pug_names_line line;
    uint64_t vaddr;
    struct pug_names_file *file = report_windows_file(story->windows, range, address, &vaddr);
    *place = (struct place_words){.file = NULL};
    if (file && pug_names_function(file, vaddr, &function))
        snprintf(place->function, sizeof(place->function), "%s",
                 pug_names_readable(story->names, function.name));
    else
        snprintf(place->function, sizeof(place->function), "[%" PRIx64 "]", vaddr);
    if (file && pug_names_line(file, vaddr, &line) && line.line > 0) {
        place->file = line.path;
        place->line = line.line;
    }
}

/** "data fault"; "exception 40" where the architecture has no name for it. */
static void name_exception(uint8_t numbers, uint32_t number, char *name, size_t size)
{
    if (pug_exception_name((enum pug_exception_numbers)numbers, number, name, size) == 0)
        pug_exception_text((enum pug_exception_numbers)numbers, number, name, size);
}

/** Does a program that works well not cause this exception? */
static bool is_fault(uint8_t numbers, uint32_t number)
{
    static const char *const words[] = {
        "fault",      "Fault",     "abort",  "undefined",    "illegal",        "MemManage",
        "misaligned", "alignment", "lockup", "system error", "hardware error", "software check"};
    char name[64];
    if (pug_exception_name((enum pug_exception_numbers)numbers, number, name, sizeof(name)) == 0)
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

/* ---- events ---- */

static struct story_event *new_event(struct story *story, enum event_kind kind,
                                     const struct trace_item *item, const struct task_story *task)
{
    const uint64_t n = story->event_count++;
    const uint64_t half = EVENTS_MOST / 2;
    struct story_event *event = &story->events[n < EVENTS_MOST ? n : half + n % half];
    free(event->ranges);
    *event = (struct story_event){.kind = kind,
                                  .task = pug_places_task(item),
                                  .index = item->element.index,
                                  .buffer = item->where->buffer};
    event->ranges = calloc(task->ring.count + 1, sizeof(*event->ranges));
    if (event->ranges)
        event->range_count = report_ring_copy(&task->ring, event->ranges);
    else
        story->failed = true;
    return event;
}

/** How long the function of the fault had run: by timestamps, cycles or instructions. */
static void put_since_entry(const struct story *story, const struct task_story *task,
                            const struct pug_call_frame *frame, char *text, size_t size)
{
    char how_long[48];
    uint64_t from = frame->entered.timestamp, to = task->ran.timestamp;
    const char *unit = unit_of(story);
    (void)pug_capture_clock(story->capture, from, &from);
    (void)pug_capture_clock(story->capture, to, &to);
    if (frame->timed && to > from) {
        put_duration(how_long, sizeof(how_long), to - from, unit);
    } else if (task->ran.cycles > frame->entered.cycles) {
        put_duration(how_long, sizeof(how_long), task->ran.cycles - frame->entered.cycles,
                     "cycles");
    } else {
        put_duration(how_long, sizeof(how_long),
                     task->ran.instructions - frame->entered.instructions, "instructions");
    }
    snprintf(text, size, "%s after it was entered", how_long);
}

static void take_fault(struct story *story, struct task_story *task, const struct trace_item *item)
{
    const struct pug_element *e = &item->element;
    const struct report_range *last = report_ring_last(&task->ring);
    const struct pug_call_frame *frames;
    struct story_event *event = new_event(story, EVENT_FAULT, item, task);
    name_exception(e->reason, e->number, event->title, sizeof(event->title));
    /* An exception happened at its return address, not at the last instruction that ran. */
    if (last)
        find_place(story, last, e->flags & PUG_ELEM_RET_ADDR ? e->end : last->element.start,
                   &event->place);
    const uint32_t depth = pug_calls_stack(pug_slices_calls(story->slices), event->task, &frames);
    if (depth > 0)
        put_since_entry(story, task, &frames[depth - 1], event->after, sizeof(event->after));
    task->fault = *event;
    task->fault.ranges = NULL;
    task->has_fault = true;
}

static void take_loss(struct story *story, struct task_story *task, const struct trace_item *item)
{
    if (task->ring.count == 0)
        return;
    struct story_event *event = new_event(story, EVENT_LOSS, item, task);
    snprintf(event->title, sizeof(event->title), "trace lost");
    find_place(story, report_ring_last(&task->ring), report_ring_last(&task->ring)->element.start,
               &event->place);
    story->losses++;
}

/** The place of a task when its trace ends. */
static void see_end(struct story *story, uint32_t number, struct task_story *task)
{
    const struct report_range *last = report_ring_last(&task->ring);
    const struct pug_call_frame *frames;
    const uint32_t depth = pug_calls_stack(pug_slices_calls(story->slices), number, &frames);
    task->ended_in_fault = false;
    if (!last)
        return;
    for (uint32_t i = 0; i < depth; i++)
        task->ended_in_fault |= frames[i].kind == PUG_CALL_EXCEPTION && task->has_fault &&
                                is_fault(frames[i].exception_numbers, frames[i].exception);
    const uint64_t at = last->element.end > last->element.last_size
                            ? last->element.end - last->element.last_size
                            : last->element.start;
    find_place(story, last, at, &task->end_place);
    task->end_range_count = report_ring_copy(&task->ring, task->end_ranges);
    task->has_end = true;
}

static void take_time(struct story *story, struct task_story *task, uint64_t time)
{
    if (time == 0)
        return;
    task->ran.timestamp = time;
    (void)pug_capture_clock(story->capture, time, &time);
    if (story->first_time == 0 || time < story->first_time)
        story->first_time = time;
    if (time > story->last_time)
        story->last_time = time;
}

/** In perf.data each segment restarts, and records report what was lost. */
static void understand(struct story *story, const struct pug_element *e)
{
    if (e->type == PUG_ELEM_NO_SYNC || e->type == PUG_ELEM_EO_TRACE || story->understood)
        return;
    const bool counts = pug_capture_kind(story->capture) != PUG_CAPTURE_PERF;
    story->understood = true;
    story->late = counts && e->index > LATE ? e->index : 0;
}

void story_observe(void *context, const struct trace_item *item)
{
    struct story *story = context;
    const struct pug_element *e = &item->element;
    struct task_story *task = task_of(story, pug_places_task(item));
    uint64_t time;
    if (!task)
        return;
    understand(story, e);
    if (!*task->who)
        pug_places_task_words(pug_slices_places(story->slices), item, task->who, sizeof(task->who));
    task->end_index = e->index;
    task->end_buffer = item->where->buffer;
    if (pug_element_adds_cycles(e)) {
        task->ran.cycles += e->cycle_count;
        story->cycles += e->cycle_count;
    }
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_INSTR_RANGE:
        report_ring_add(&task->ring, item);
        task->ran.instructions += e->count;
        story->instructions += e->count;
        break;
    case PUG_ELEM_TIMESTAMP: take_time(story, task, e->timestamp); break;
    case PUG_ELEM_EXCEPTION:
        if (is_fault(e->reason, e->number))
            take_fault(story, task, item);
        break;
    case PUG_ELEM_NO_SYNC:
        if (e->reason != PUG_UNSYNC_INIT_DECODER && e->reason != PUG_UNSYNC_RESET_DECODER)
            take_loss(story, task, item);
        break;
    case PUG_ELEM_TRACE_ON:
        if (e->reason == PUG_TRACE_ON_OVERFLOW)
            take_loss(story, task, item);
        break;
    case PUG_ELEM_EO_TRACE: see_end(story, pug_places_task(item), task); break;
    case PUG_ELEM_SWTRACE: story->messages++; break;
    case PUG_ELEM_ITMTRACE:
        story->messages += e->reason == PUG_ITM_SWIT;
        story->hardware += e->reason == PUG_ITM_DWT;
        if (swo_clocks_take(&story->clocks, story->capture, item->where, e, &time))
            take_time(story, task, time);
        break;
    case PUG_ELEM_EVENT: story->hardware++; break;
    default: break;
    }
}

/* ---- the end ---- */

/** The task whose end is most remarkable: in a fault, or of the one that ran most. */
static const struct task_story *pick(const struct story *story)
{
    const struct task_story *best = NULL;
    for (uint32_t i = 0; i < story->task_room; i++) {
        const struct task_story *task = story->tasks[i];
        if (!task || !task->has_end)
            continue;
        if (!best || task->ended_in_fault > best->ended_in_fault ||
            (task->ended_in_fault == best->ended_in_fault &&
             task->ran.instructions > best->ran.instructions))
            best = task;
    }
    return best;
}

static void put_place_words(struct pug_text *text, const struct place_words *place)
{
    pug_text_put(text, place->function);
    if (strchr(place->function, '(') == NULL && *place->function != '[')
        pug_text_put(text, "()");
    if (place->file)
        pug_text_format(text, ", %s:%" PRIu32, last_component(place->file), place->line);
}

/** "a data fault", "an IRQ". */
static const char *article(const char *name)
{
    return strchr("aeiouAEIO", *name) && *name ? "an" : "a";
}

/** " (thread 500 paw)", where there are several; else "". */
static const char *who_of(const struct story *story, char *text, size_t size)
{
    *text = 0;
    if (story->task_count > 1 && story->shown)
        snprintf(text, size, " (%s)", story->shown->who);
    return text;
}

/** For a trace without instructions: say how much software and hardware wrote. */
static void say_software(const struct story *story, struct pug_text *text)
{
    char messages[32], events[32];
    if (story->messages + story->hardware == 0)
        return;
    pug_text_format(text,
                    "%s message%s of software and %s hardware event%s; no instructions were "
                    "traced.",
                    pug_text_thousands(story->messages, messages), story->messages == 1 ? "" : "s",
                    pug_text_thousands(story->hardware, events), story->hardware == 1 ? "" : "s");
}

static void write_headline(struct story *story)
{
    struct pug_text text = PUG_TEXT(story->headline, sizeof(story->headline));
    const struct task_story *task = story->shown;
    char who[128];
    if (task && task->ended_in_fault) {
        pug_text_format(&text, "Ended in %s %s in ", article(task->fault.title), task->fault.title);
        put_place_words(&text, &task->fault.place);
        if (*task->fault.after)
            pug_text_format(&text, ", %s", task->fault.after);
        pug_text_format(&text, "%s.", who_of(story, who, sizeof(who)));
    } else if (task) {
        pug_text_put(&text, "Stopped while running in ");
        put_place_words(&text, &task->end_place);
        pug_text_format(&text, "%s.", who_of(story, who, sizeof(who)));
    } else {
        say_software(story, &text);
    }
    pug_text_end(&text);
}

void story_end(struct story *story)
{
    for (uint32_t i = 0; i < story->task_room; i++)
        if (story->tasks[i] && !story->tasks[i]->has_end)
            see_end(story, i, story->tasks[i]);
    story->shown = pick(story);
    write_headline(story);
}

const char *story_headline(const struct story *story)
{
    return story->headline;
}

void story_extent(const struct story *story, char *text, size_t size)
{
    char how_long[48] = "";
    if (story->last_time > story->first_time)
        put_duration(how_long, sizeof(how_long), story->last_time - story->first_time,
                     unit_of(story));
    else if (story->cycles > 0)
        put_duration(how_long, sizeof(how_long), story->cycles, "cycles");
    char number[32];
    snprintf(text, size, "%s instruction%s%s%s", pug_text_thousands(story->instructions, number),
             story->instructions == 1 ? "" : "s", *how_long ? " in " : "", how_long);
}

/* ---- writing ---- */

static void put_word(struct pug_json *json, const char *text)
{
    pug_json_object(json, NULL);
    pug_json_string(json, "text", text);
    pug_json_close(json);
}

static void put_linked(struct pug_json *json, const struct place_words *place)
{
    const bool bare = !strchr(place->function, '(') && *place->function != '[';
    char words[512];
    pug_json_object(json, NULL);
    snprintf(words, sizeof(words), "%s%s", place->function, bare ? "()" : "");
    pug_json_string(json, "text", words);
    pug_json_string(json, "function", place->function);
    pug_json_close(json);
    if (!place->file)
        return;
    put_word(json, ", ");
    pug_json_object(json, NULL);
    snprintf(words, sizeof(words), "%.400s:%" PRIu32, last_component(place->file), place->line);
    pug_json_string(json, "text", words);
    pug_json_string(json, "file", place->file);
    pug_json_number(json, "line", place->line);
    pug_json_close(json);
}

static void put_ended(const struct story *story, struct pug_json *json)
{
    const struct task_story *task = story->shown;
    char words[160], who[128], end[132];
    snprintf(end, sizeof(end), "%s.", who_of(story, who, sizeof(who)));
    pug_json_string(json, "kind", !task ? "" : task->ended_in_fault ? "fault" : "running");
    pug_json_array(json, "ended");
    if (task && task->ended_in_fault) {
        snprintf(words, sizeof(words), "Ended in %s %s in ", article(task->fault.title),
                 task->fault.title);
        put_word(json, words);
        put_linked(json, &task->fault.place);
        if (*task->fault.after) {
            snprintf(words, sizeof(words), ", %s", task->fault.after);
            put_word(json, words);
        }
        put_word(json, end);
    } else if (task) {
        put_word(json, "Stopped while running in ");
        put_linked(json, &task->end_place);
        put_word(json, end);
    } else if (*story->headline) {
        put_word(json, story->headline);
    }
    pug_json_close(json);
}

/** The name of a buffer, for commands; "" where the capture has only one, or it has no name. */
static const char *buffer_of(const struct story *story, uint32_t number)
{
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(story->capture, number);
    const bool several = pug_capture_buffer_at(story->capture, 1) != NULL;
    return several && buffer && buffer->name ? buffer->name : "";
}

static bool put_event(struct story *story, struct pug_json *json, const struct story_event *event)
{
    const struct pug_memory *memory = json->sink->context;
    const bool fits = memory->count < WINDOWS_MOST;
    pug_json_object(json, NULL);
    pug_json_string(json, "kind", kinds[event->kind]);
    pug_json_string(json, "title", event->title);
    pug_json_string(json, "after", event->after);
    pug_json_number(json, "offset", event->index);
    pug_json_string(json, "buffer", buffer_of(story, event->buffer));
    pug_json_array(json, "place");
    if (*event->place.function)
        put_linked(json, &event->place);
    pug_json_close(json);
    const bool good = report_windows_put(story->windows, json, "lines", event->ranges,
                                         fits ? event->range_count : 0);
    pug_json_close(json);
    return good;
}

/** The end of the task of the headline, as an event. */
static bool put_end(struct story *story, struct pug_json *json)
{
    const struct task_story *task = story->shown;
    struct story_event event = {.kind = EVENT_END,
                                .index = task->end_index,
                                .buffer = task->end_buffer,
                                .title = "end of trace",
                                .place = task->end_place,
                                .range_count = task->end_range_count};
    struct report_range ranges[REPORT_WINDOW];
    memcpy(ranges, task->end_ranges, sizeof(ranges));
    event.ranges = ranges;
    return put_event(story, json, &event);
}

/** The n-th event in the order of the trace, of those that are kept. */
static const struct story_event *event_at(const struct story *story, uint64_t n)
{
    const uint64_t half = EVENTS_MOST / 2;
    if (story->event_count <= EVENTS_MOST || n < half)
        return &story->events[n];
    return &story->events[half + (story->event_count + n) % half];
}

/** What is missing at the beginning, in words; "" where nothing is known to be. */
static void put_beginning(const struct story *story, struct pug_json *json)
{
    const struct pug_capture_segment *segment = pug_capture_segment_at(story->capture, 0);
    const struct pug_capture_time records = pug_capture_record_times(story->capture);
    const bool wraps = segment && segment->flags & PUG_SEGMENT_SNAPSHOT;
    char words[160] = "", how_long[48];
    if (wraps && records.unit == PUG_CAPTURE_NANOSECONDS && records.first > 0 &&
        pug_capture_times(story->capture).unit == PUG_CAPTURE_NANOSECONDS &&
        story->first_time > records.first) {
        put_duration(how_long, sizeof(how_long), story->first_time - records.first, "ns");
        snprintf(words, sizeof(words), "Buffer wrapped: the first %s are missing.", how_long);
    } else if (wraps) {
        snprintf(words, sizeof(words),
                 "Buffer wrapped: what ran before its first byte is missing.");
    } else if (story->late > 0) {
        snprintf(words, sizeof(words),
                 "The beginning is missing: decoding could begin %" PRIu64 " bytes into the trace.",
                 story->late);
    }
    pug_json_string(json, "beginning", words);
}

/** Of several buffers: their names. Places in the page's timeline are numbers of both (slices.h).
 */
static void put_buffers(const struct story *story, struct pug_json *json)
{
    pug_json_array(json, "buffers");
    for (uint32_t n = 0; pug_capture_buffer_at(story->capture, n); n++)
        pug_json_string(json, NULL, buffer_of(story, n));
    pug_json_close(json);
}

bool story_put(struct story *story, struct pug_memory *memory)
{
    struct pug_sink sink = pug_memory_sink(memory);
    struct pug_json json = pug_json_begin(&sink);
    const uint64_t kept =
        story->event_count < EVENTS_MOST ? story->event_count : (uint64_t)EVENTS_MOST;
    char extent[160];
    bool good = !story->failed;
    json.in_markup = true;
    story_extent(story, extent, sizeof(extent));
    pug_json_object(&json, NULL);
    pug_json_string(&json, "input", pug_capture_path(story->capture));
    pug_json_string(&json, "extent", extent);
    put_buffers(story, &json);
    pug_json_number(&json, "instructions", story->instructions);
    put_beginning(story, &json);
    put_ended(story, &json);
    pug_json_number(&json, "happened", story->event_count);
    pug_json_array(&json, "events");
    for (uint64_t i = 0; i < kept; i++)
        good &= put_event(story, &json, event_at(story, i));
    if (story->shown)
        good &= put_end(story, &json);
    pug_json_close(&json);
    pug_json_close(&json);
    return good;
}
