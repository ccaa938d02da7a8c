// SPDX-License-Identifier: MIT
#include "timeline/slices_swo.h"

#include "events/names.h"
#include "events/port_text.h"
#include "events/sources.h"
#include "pugmark/author/protocol.h"
#include "rtos/program.h"
#include "rtos/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slices_swo {
    struct swo_sources sources;
    struct swo_names *variables;
    struct slice_names *names;
    uint32_t tracks;             /* that were declared */
    struct thread_kernel kernel; /* none: threads are not followed */
    struct rtos_program program;
    uint64_t handlers, losses;
    bool follows, failed;
};

/** The threads of a source, and the one whose slice is open. */
struct swo_threads {
    struct rtos_watch watch;
    uint32_t tracks[RTOS_THREADS]; /* 0: none yet */
    uint32_t shown;                /* RTOS_UNKNOWN: none */
};

/** A source's tracks: 0 is none yet, else the number of the track. */
struct swo_tracks {
    struct slices_swo *all;
    struct swo_source *source;
    struct pug_interrupts interrupts;
    struct pug_swo_counters counters;
    struct port_text *ports[PORTS];
    uint32_t port_tracks[PORTS];
    uint32_t own, handlers;
    struct swo_threads *threads; /* or NULL */
    uint64_t time;               /* of the last event */
    uint64_t index;
};

/* ---- tracks and names ---- */

static uint32_t new_track(struct swo_tracks *tracks, const char *what)
{
    struct slices_swo *all = tracks->all;
    const uint32_t track = SLICES_TRACKS * all->tracks++ + SLICES_TRACK_SWO;
    char name[352];
    snprintf(name, sizeof(name), "source 0x%02x: %s", tracks->source->id, what);
    pug_timeline_track(all->names->timeline, track,
                       &(struct pug_track){.pid = -1, .tid = -1, .name = name});
    return track;
}

/** The track of accesses, samples and counters. */
static uint32_t own_track(struct swo_tracks *tracks)
{
    if (tracks->own == 0)
        tracks->own = new_track(tracks, "DWT");
    return tracks->own;
}

static uint32_t handlers_track(struct swo_tracks *tracks)
{
    if (tracks->handlers == 0)
        tracks->handlers = new_track(tracks, "interrupts");
    return tracks->handlers;
}

static uint32_t port_track(struct swo_tracks *tracks, unsigned port)
{
    char name[32];
    snprintf(name, sizeof(name), "ITM port %u", port);
    if (tracks->port_tracks[port] == 0)
        tracks->port_tracks[port] = new_track(tracks, name);
    return tracks->port_tracks[port];
}

/** A name that `text` makes, once for each kind and number. */
static uint32_t name_of(struct slices_swo *all, unsigned kind, uint64_t number, const char *text)
{
    bool is_new;
    const uint32_t name = pug_slice_name_number(all->names, SLICE_KEY(kind, number), &is_new);
    if (is_new)
        pug_timeline_name(all->names->timeline, name, text, NULL, 0);
    return name;
}

static uint32_t handler_name(struct swo_tracks *tracks, unsigned number)
{
    char text[256];
    pug_vectors_name(pug_swo_source_vectors(tracks->source), number, text, sizeof(text));
    return name_of(tracks->all, SLICE_HANDLER, number, text);
}

/* ---- events ---- */

static void on_interrupt(void *context, const struct pug_interrupt *interrupt)
{
    struct swo_tracks *tracks = context;
    struct pug_timeline *timeline = tracks->all->names->timeline;
    const uint32_t track = handlers_track(tracks);
    if (interrupt->leave) {
        pug_timeline_leave(timeline, track, interrupt->time);
        return;
    }
    tracks->all->handlers++;
    pug_timeline_enter(timeline, track, interrupt->time, handler_name(tracks, interrupt->number),
                       !interrupt->begun);
}

static void put_line(struct swo_tracks *tracks, unsigned port)
{
    struct port_text *text = tracks->ports[port];
    char name[32];
    snprintf(name, sizeof(name), "ITM port %u", port);
    if (text->size > 0)
        pug_timeline_instant(tracks->all->names->timeline, port_track(tracks, port), text->time,
                             name_of(tracks->all, SLICE_PORT, port, name), text->line);
    text->size = 0;
}

static void put_write(struct swo_tracks *tracks, const struct pug_dwt_event *event)
{
    const unsigned port = event->number % PORTS;
    struct port_text *text = tracks->ports[port];
    char name[32];
    if (!text)
        tracks->ports[port] = text = calloc(1, sizeof(*text));
    if (!text) {
        tracks->all->failed = true;
        return;
    }
    if (!text->number && !pug_port_text_is(event)) {
        put_line(tracks, port);
        text->number = true;
    }
    for (unsigned i = 0; i < event->size && !text->number; i++)
        if (pug_port_text_take(text, event, i))
            put_line(tracks, port);
    if (!text->number)
        return;
    snprintf(name, sizeof(name), "ITM port %u", port);
    pug_timeline_counter(tracks->all->names->timeline, port_track(tracks, port), event->time,
                         name_of(tracks->all, SLICE_PORT, port, name), event->value);
}

static void put_sample(struct swo_tracks *tracks, const struct pug_dwt_event *event)
{
    struct pug_symbol symbol;
    const struct pug_vectors *vectors = pug_swo_source_vectors(tracks->source);
    char detail[32];
    uint32_t name;
    if (event->kind == PUG_DWT_PC_SAMPLE && vectors->image &&
        pug_image_symbol(vectors->image, event->pc, &symbol)) {
        bool is_new;
        name = pug_slice_name_number(tracks->all->names, (uintptr_t)symbol.name, &is_new);
        if (is_new)
            pug_timeline_name(tracks->all->names->timeline, name,
                              pug_names_readable(tracks->all->names->readable, symbol.name), NULL,
                              0);
    } else {
        const char *what = event->kind == PUG_DWT_PC_SAMPLE  ? "PC sample"
                           : event->kind == PUG_DWT_SLEEPING ? "asleep"
                                                             : "PC sample: not permitted";
        name = name_of(tracks->all, SLICE_SAMPLE, event->kind, what);
    }
    snprintf(detail, sizeof(detail), "PC sample 0x%08" PRIx32, event->pc);
    pug_timeline_instant(tracks->all->names->timeline, own_track(tracks), event->time, name,
                         event->kind == PUG_DWT_PC_SAMPLE ? detail : "PC sample");
}

static void put_access(struct swo_tracks *tracks, const struct pug_dwt_event *event)
{
    struct slices_swo *all = tracks->all;
    char name[256], words[512];
    int64_t value;
    pug_swo_names_place(all->variables, event, name, sizeof(name));
    pug_swo_names_event(all->variables, event, words, sizeof(words));
    const uint64_t key =
        (uint64_t)event->comparator << 32 | (event->has_address ? event->address : 0);
    const uint32_t number = name_of(all, SLICE_WATCH, key, name), track = own_track(tracks);
    pug_timeline_instant(all->names->timeline, track, event->time, number, words);
    if (pug_swo_names_number(all->variables, event, &value))
        pug_timeline_counter(all->names->timeline, track, event->time, number, (uint64_t)value);
}

static void put_counters(struct swo_tracks *tracks, const struct pug_dwt_event *event)
{
    const unsigned moved = pug_swo_counters_take(&tracks->counters, event);
    for (unsigned n = 0; n < PUG_SWO_COUNTERS; n++)
        if (moved >> n & 1)
            pug_timeline_counter(tracks->all->names->timeline, own_track(tracks), event->time,
                                 name_of(tracks->all, SLICE_COUNTER, n, pug_swo_counter_name(n)),
                                 tracks->counters.values[n]);
}

/** Nothing is known from the last event to the next: on every track of the source. */
static void put_loss(struct swo_tracks *tracks, const struct pug_dwt_event *event)
{
    struct pug_timeline *timeline = tracks->all->names->timeline;
    tracks->all->losses++;
    pug_timeline_gap(timeline, own_track(tracks), tracks->time, event->time, "trace was lost");
    if (tracks->handlers)
        pug_timeline_gap(timeline, tracks->handlers, tracks->time, event->time, "trace was lost");
    for (unsigned port = 0; port < PORTS; port++)
        if (tracks->ports[port])
            put_line(tracks, port);
}

/* ---- threads ---- */

static uint32_t thread_track(struct swo_tracks *tracks, uint32_t thread)
{
    struct swo_threads *threads = tracks->threads;
    char name[256], what[300];
    if (threads->tracks[thread] == 0) {
        pug_rtos_name(&tracks->all->program, &threads->watch.threads[thread], NULL, name,
                      sizeof(name));
        snprintf(what, sizeof(what), "thread %s", name);
        threads->tracks[thread] = new_track(tracks, what);
    }
    return threads->tracks[thread];
}

/**
 * The switch is the return of the exception that wrote which thread runs: while one is handled the
 * thread before it stays.
 */
static void show_thread(struct swo_tracks *tracks, const struct pug_dwt_event *event)
{
    struct swo_threads *threads = tracks->threads;
    struct pug_timeline *timeline = tracks->all->names->timeline;
    (void)pug_rtos_watch_take(&threads->watch, event);
    const bool lost = event->overflow || event->kind == PUG_DWT_LOST;
    const uint32_t now = threads->watch.none ? RTOS_UNKNOWN : threads->watch.now;
    if (now == threads->shown || (threads->watch.depth > 0 && !lost))
        return;
    if (threads->shown != RTOS_UNKNOWN)
        pug_timeline_leave(timeline, thread_track(tracks, threads->shown),
                           lost ? tracks->time : event->time);
    threads->shown = now;
    if (now != RTOS_UNKNOWN)
        pug_timeline_enter(timeline, thread_track(tracks, now), event->time,
                           name_of(tracks->all, SLICE_THREAD, 0, "runs"), false);
}

static bool make_threads(struct swo_tracks *tracks)
{
    tracks->threads = calloc(1, sizeof(*tracks->threads));
    if (!tracks->threads)
        return false;
    pug_rtos_watch_begin(&tracks->threads->watch, &tracks->all->program.object);
    return true;
}

static struct swo_tracks *tracks_of(struct swo_source *source)
{
    struct slices_swo *all = source->all->context;
    struct swo_tracks *tracks = source->user;
    if (tracks)
        return tracks;
    source->user = tracks = calloc(1, sizeof(*tracks));
    if (!tracks) {
        all->failed = true;
        return NULL;
    }
    tracks->all = all;
    tracks->source = source;
    pug_interrupts_init(&tracks->interrupts, on_interrupt, tracks);
    all->failed |= all->follows && !make_threads(tracks);
    return tracks;
}

static void on_event(struct swo_source *source, const struct pug_dwt_event *given)
{
    struct swo_tracks *tracks = tracks_of(source);
    struct pug_dwt_event event = *given;
    if (!tracks)
        return;
    if (!event.has_time) /* the timeline has the last time that was given */
        event.time = tracks->time;
    pug_interrupts_take(&tracks->interrupts, &event);
    if (tracks->threads)
        show_thread(tracks, &event);
    switch (event.kind) {
    case PUG_DWT_STIMULUS: put_write(tracks, &event); break;
    case PUG_DWT_PC_SAMPLE:
    case PUG_DWT_SLEEPING:
    case PUG_DWT_DENIED: put_sample(tracks, &event); break;
    case PUG_DWT_DATA:
    case PUG_DWT_MATCH: put_access(tracks, &event); break;
    case PUG_DWT_COUNTERS:
    case PUG_DWT_PMU: put_counters(tracks, &event); break;
    case PUG_DWT_LOST: put_loss(tracks, &event); break;
    default: break;
    }
    tracks->time = event.time;
}

/* ---- the whole ---- */

struct slices_swo *pug_slices_swo_new(struct pug_capture *capture, struct slice_names *names)
{
    struct slices_swo *swo = calloc(1, sizeof(*swo));
    if (!swo)
        return NULL;
    swo->names = names;
    pug_swo_sources_init(&swo->sources, capture, on_event, swo);
    swo->variables = pug_swo_names_new(&swo->sources, names->readable);
    if (swo->variables)
        return swo;
    free(swo);
    return NULL;
}

/** Is there a source of program flow? Its threads are tasks. */
static bool has_flow(struct pug_capture *capture)
{
    const struct pug_capture_source *source;
    bool any = false;
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++) {
        const struct pug_protocol *protocol = pug_protocol_find(source->protocol);
        any |= !protocol || protocol->program_flow;
    }
    return any;
}

bool pug_slices_swo_threads(struct slices_swo *swo, const struct thread_kernel_wanted *wanted)
{
    if (has_flow(wanted->capture) || pug_capture_kind(wanted->capture) == PUG_CAPTURE_PERF)
        return true;
    const enum thread_kernel_answer answer = pug_thread_kernel_find(wanted, &swo->kernel);
    swo->follows = answer == THREAD_KERNEL_THERE && swo->kernel.kernel;
    if (swo->follows)
        pug_rtos_look_up(swo->kernel.kernel, swo->kernel.file, 0, &swo->program);
    return answer != THREAD_KERNEL_WRONG;
}

void pug_slices_swo_free(struct slices_swo *swo)
{
    for (size_t i = 0; swo && i < swo->sources.count; i++) {
        struct swo_tracks *tracks = swo->sources.items[i]->user;
        for (unsigned port = 0; tracks && port < PORTS; port++)
            free(tracks->ports[port]);
        if (tracks)
            free(tracks->threads);
    }
    if (!swo)
        return;
    pug_thread_kernel_end(&swo->kernel);
    pug_swo_names_free(swo->variables);
    pug_swo_sources_free(&swo->sources);
    free(swo);
}

void pug_slices_swo_take(struct slices_swo *swo, const struct trace_item *item)
{
    pug_swo_sources_take(&swo->sources, item->where, &item->element);
}

bool pug_slices_swo_end(struct slices_swo *swo)
{
    pug_swo_sources_end(&swo->sources);
    for (size_t i = 0; i < swo->sources.count; i++) {
        struct swo_tracks *tracks = swo->sources.items[i]->user;
        if (!tracks)
            continue;
        pug_interrupts_end(&tracks->interrupts);
        if (tracks->threads && tracks->threads->shown != RTOS_UNKNOWN)
            pug_timeline_leave(swo->names->timeline, thread_track(tracks, tracks->threads->shown),
                               tracks->time);
        for (unsigned port = 0; port < PORTS; port++)
            if (tracks->ports[port])
                put_line(tracks, port);
    }
    return !swo->failed && !swo->sources.failed;
}

uint64_t pug_slices_swo_tick(const struct slices_swo *swo)
{
    uint64_t tick = 0;
    for (size_t i = 0; i < swo->sources.count && tick == 0; i++) {
        const struct swo_tracks *tracks = swo->sources.items[i]->user;
        tick = tracks ? pug_interrupts_tick(&tracks->interrupts) : 0;
    }
    return tick;
}

uint64_t pug_slices_swo_handlers(const struct slices_swo *swo)
{
    return swo->handlers;
}

uint64_t pug_slices_swo_losses(const struct slices_swo *swo)
{
    return swo->losses;
}
