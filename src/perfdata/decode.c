// SPDX-License-Identifier: MIT
/** @file perf.data as a capture: bytes of segments, and who ran with which memory. */
#include "base/bisect.h"
#include "capture/marks.h"
#include "image/codemap.h"
#include "perfdata/perfdata.h"
#include "perfdata/program.h"
#include "tree/embed.h"

#include <stdlib.h>

#define KNOWN 64u /* threads that a worker remembers */

/** A thread in the segment, where its memory is the same all along. */
struct known {
    uint64_t round; /* of the worker: others are of earlier segments */
    int32_t tid;
    bool guest;
    const struct pug_perf_space *space;
};

struct worker {
    struct pug_capture_worker base; /* first */
    struct pug_perf *perf;
    const struct pug_perf_cut *cut;
    int32_t tid;                /* of a per-thread buffer, or -1 */
    uint64_t from, to;          /* when it was recorded */
    struct pug_perf_moment end; /* the same as `to`, among records */
    struct pug_capture_marks *marks;
    bool marks_read;
    uint64_t round; /* one for each segment, from 1 on */
    struct {
        uint64_t time, round;
    } last[128]; /* by trace id: times never go back */
    struct known known[KNOWN];
};

static const struct pug_perf_cut *cut_of(const struct pug_perf *perf, uint32_t segment)
{
    return (const struct pug_perf_cut *)perf->cuts.items + segment;
}

/* ---- bytes ---- */

static size_t read_bytes(const struct pug_capture *capture, uint32_t segment, uint64_t from,
                         void *bytes, size_t size, enum pug_status *status)
{
    struct pug_perf *perf = capture->own;
    const struct pug_perf_cut *cut = cut_of(perf, segment);
    const struct pug_perf_file *file = (struct pug_perf_file *)perf->files.items + cut->file;
    *status = pug_infile_read(file->in, cut->at + from, bytes, size);
    if (*status != PUG_OK)
        pug_perf_fail(perf, file->path, cut->at + from, *status);
    return *status == PUG_OK ? size : 0;
}

/* ---- times ---- */

/** Converts cycles to the unit of the clock. */
static uint64_t duration(const void *context, uint64_t cycles)
{
    const struct pug_perf *perf = context;
    const uint64_t whole = cycles >> perf->clock.shift;
    const uint64_t rest = cycles & ((UINT64_C(1) << perf->clock.shift) - 1);
    return whole * perf->clock.mult + (rest * perf->clock.mult >> perf->clock.shift);
}

/** Counter to the clock of records (section 15). */
static uint64_t to_clock(const struct pug_perf *perf, uint64_t cycles)
{
    if (perf->clock.is_short)
        cycles = perf->clock.cycles + ((cycles - perf->clock.cycles) & perf->clock.mask);
    return perf->clock.zero + duration(perf, cycles);
}

/** The other way: the first that the counter had at a time of the clock. */
static bool from_clock(const struct pug_perf *perf, uint64_t time, uint64_t *cycles)
{
    const uint64_t since = time - perf->clock.zero; /* modulo 2^64, as the kernel counts */
    if (since >> 63 || perf->clock.mult == 0)
        return false;
    const uint64_t most = since / perf->clock.mult + 1;
    const bool all = most > UINT64_MAX >> perf->clock.shift;
    const uint64_t first =
        pug_bisect_value(0, all ? UINT64_MAX : most << perf->clock.shift, since, duration, perf);
    *cycles = perf->clock.is_short ? first & perf->clock.mask : first;
    return true;
}

/** Timestamps that are not the clock's cycles are of another clock than records. */
static bool taken(const struct pug_capture *capture, uint32_t segment, uint64_t *time)
{
    const struct pug_perf *perf = capture->own;
    *time = pug_capture_segment_at(capture, segment)->time;
    if (*time == 0 || (capture->told_times && !perf->virtual_time))
        return false;
    return !capture->told_times || from_clock(perf, *time, time);
}

/** Returns the time of an index from the trace's timestamps; false: none. */
static bool trace_time(struct worker *worker, uint16_t source, uint64_t index, uint64_t *time)
{
    if (!worker->base.capture->told_times ||
        (!worker->marks && !(worker->marks = pug_capture_marks_new(worker->perf->capture))))
        return false;
    if (!worker->marks_read) {
        struct pug_capture_marks *reader =
            worker->base.reader ? worker->base.reader : worker->marks;
        pug_capture_marks_read(reader, worker->base.segment);
        if (reader != worker->marks)
            pug_capture_marks_move(worker->marks, reader);
    }
    worker->marks_read = true;
    /* Timestamps of 0: hardware without a counter. */
    return pug_capture_marks_time(worker->marks, source, index, time, &worker->base.until) &&
           *time != 0;
}

/** The clock's time of an index, as far as the segment and its timestamps tell. */
static bool clock_time(struct worker *worker, uint16_t source, uint64_t index, uint64_t *time)
{
    if (!worker->perf->virtual_time || !trace_time(worker, source, index, time))
        return false;
    *time = to_clock(worker->perf, *time);
    return true;
}

/* ---- threads ---- */

/** Returns the running thread; -1: unknown. */
static int32_t tid_of(const struct worker *worker, const struct pug_reader_space *reader)
{
    if (worker->tid >= 0)
        return worker->tid;
    if (worker->perf->ids_in == PUG_PERF_CONTEXT_ID && reader->has_context_id)
        return (int32_t)reader->context_id;
    if (worker->perf->ids_in == PUG_PERF_VMID && reader->has_vmid)
        return (int32_t)reader->vmid;
    return -1;
}

/* ---- spaces ---- */

struct layers {
    const struct pug_perf_version *then, *now;
};

/** A process's ranges when the segment began and when it was taken. */
static struct layers layers_of(struct worker *worker, uint32_t process)
{
    struct layers layers = {NULL, NULL};
    if (process == UINT32_MAX)
        return layers;
    layers.now = pug_perf_ranges_at(worker->perf, process, worker->end);
    layers.then =
        pug_perf_ranges_at(worker->perf, process, pug_perf_cut_begin(worker->perf, worker->cut));
    return layers;
}

/** The process of a thread; -1: not known. */
static int32_t pid_of(const struct worker *worker, int32_t tid, uint64_t time)
{
    const uint32_t task = tid < 0 ? PUG_NO_TASK : pug_perf_task_at(worker->perf, tid, time);
    return task == PUG_NO_TASK ? -1 : pug_capture_tasks(worker->base.capture)[task].pid;
}

static uint32_t process_of(const struct worker *worker, int32_t tid, uint64_t time)
{
    const int32_t pid = pid_of(worker, tid, time);
    return pid < 0 ? UINT32_MAX : pug_perf_process_at(worker->perf, pid, time);
}

/** The space of a thread at an index; *stays: it is the same in the whole segment. */
static const struct pug_perf_space *find_space(struct worker *worker, int32_t tid, bool guest,
                                               uint16_t source, uint64_t index, bool *stays)
{
    struct pug_perf *perf = worker->perf;
    const uint32_t process = process_of(worker, tid, worker->to);
    const uint32_t kernel =
        guest ? pug_perf_guest_kernel(perf, pid_of(worker, tid, worker->to)) : PUG_PERF_KERNEL;
    struct layers user = layers_of(worker, process), system = layers_of(worker, kernel);
    const uint32_t before = process_of(worker, tid, worker->from);
    uint64_t time;
    *stays = user.then == user.now && system.then == system.now && before == process;
    if (!*stays && clock_time(worker, source, index, &time)) {
        const struct pug_perf_moment at = {time, UINT32_MAX};
        const uint32_t then = process_of(worker, tid, time);
        user.now = then == UINT32_MAX ? NULL : pug_perf_ranges_at(perf, then, at);
        user.then = NULL;
        if (kernel != UINT32_MAX)
            system.now = pug_perf_ranges_at(perf, kernel, at);
    } else if (!*stays) {
        *stays = true;
    }
    return pug_perf_space_of(perf, user.now, user.then == user.now ? NULL : user.then, system.now);
}

static bool in_guest(const struct worker *worker, const struct pug_reader_space *reader)
{
    return worker->perf->guests.count > 0 && worker->perf->ids_in == PUG_PERF_VMID &&
           reader->space == PUG_SPACE_EL1N;
}

static const struct pug_perf_space *space_at(struct worker *worker, int32_t tid, bool guest,
                                             uint16_t source, uint64_t index)
{
    struct known *known = &worker->known[((uint32_t)tid * 2u + guest) % KNOWN];
    if (known->round == worker->round && known->tid == tid && known->guest == guest)
        return known->space;
    bool stays;
    pthread_mutex_lock(&worker->perf->capture->lock);
    const struct pug_perf_space *space = find_space(worker, tid, guest, source, index, &stays);
    pthread_mutex_unlock(&worker->perf->capture->lock);
    if (stays)
        *known = (struct known){.tid = tid, .guest = guest, .round = worker->round, .space = space};
    return space;
}

/** The memory for a decoder from an index on. */
static struct pug_memory_choice choose(void *context, const struct pug_reader_space *reader,
                                       uint64_t index)
{
    struct worker *worker = context;
    const struct pug_perf_space *space =
        space_at(worker, tid_of(worker, reader), in_guest(worker, reader), reader->source, index);
    return space ? (struct pug_memory_choice){&space->image, space->public.number}
                 : (struct pug_memory_choice){&worker->perf->nothing, 0};
}

/* ---- origins ---- */

static uint64_t origin_time(struct worker *worker, const struct pug_capture_moment *moment,
                            uint64_t otherwise)
{
    uint64_t time = pug_perf_counts_ticks(worker->perf) ? 0 : otherwise;
    const unsigned number = moment->source % 128;
    const uint64_t last =
        worker->last[number].round == worker->round ? worker->last[number].time : 0;
    if (worker->base.times && !clock_time(worker, moment->source, moment->index, &time) &&
        trace_time(worker, moment->source, moment->index, &time))
        time = pug_capture_from_ticks(worker->base.capture, time);
    if (time < last)
        time = last;
    worker->last[number].round = worker->round;
    return worker->last[number].time = time;
}

static void situate(struct pug_capture_worker *base, const struct pug_capture_moment *moment,
                    struct pug_origin *origin)
{
    struct worker *worker = (struct worker *)base;
    const struct pug_perf_cpu *cpu =
        pug_perf_cpu_of(worker->perf, worker->cut->source_trees, moment->source);
    const int32_t tid = tid_of(worker, &moment->reader);
    uint64_t time = worker->to;
    if (cpu)
        origin->cpu = cpu->cpu;
    origin->time = origin_time(worker, moment, worker->to);
    if (worker->base.times)
        (void)clock_time(worker, moment->source, moment->index, &time);
    origin->task = tid < 0 ? PUG_NO_TASK : pug_perf_task_at(worker->perf, tid, time);
    const struct pug_perf_space *space =
        space_at(worker, tid, in_guest(worker, &moment->reader), moment->source, moment->index);
    origin->space = space ? &space->public : NULL;
}

static int32_t cpu_of(const struct pug_capture *capture, uint32_t segment, uint16_t source)
{
    const struct pug_perf *perf = capture->own;
    const struct pug_perf_cpu *cpu =
        pug_perf_cpu_of(perf, cut_of(perf, segment)->source_trees, source);
    return cpu ? cpu->cpu : PUG_NO_CPU;
}

/* ---- workers ---- */

static struct pug_capture_worker *desk_new(struct pug_capture *capture)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return NULL;
    worker->perf = capture->own;
    worker->base.moves = worker->perf->virtual_time;
    return &worker->base;
}

static void worker_free(struct pug_capture_worker *base)
{
    struct worker *worker = (struct worker *)base;
    pug_capture_marks_free(worker->marks);
    free(worker);
}

static enum pug_status begin(struct pug_capture_worker *base, struct pug_tree *tree)
{
    struct worker *worker = (struct worker *)base;
    const struct pug_capture_segment *segment = &pug_capture_segments(base->capture)[base->segment];
    worker->cut = cut_of(worker->perf, base->segment);
    worker->from = pug_perf_cut_begin(worker->perf, worker->cut).time;
    worker->to = segment->time;
    worker->end = pug_perf_cut_end(segment, worker->cut);
    worker->tid = pug_capture_buffers(base->capture)[segment->buffer].tid;
    worker->marks_read = false;
    worker->round++;
    pug_tree_set_memory_chooser(tree, &(struct pug_memory_chooser){choose, worker});
    return PUG_OK;
}

static uint32_t tree_kind(const struct pug_capture *capture, uint32_t segment)
{
    return cut_of(capture->own, segment)->source_trees;
}

static enum pug_status tree(struct pug_capture *capture, uint32_t segment, bool decode,
                            struct pug_log *log, struct pug_tree **out)
{
    struct pug_perf *perf = capture->own;
    if (perf->source_tree_sets.count == 0)
        return PUG_ERR_NO_SOURCE;
    return pug_perf_tree(perf, cut_of(perf, segment)->source_trees, decode, log, out);
}

/* ---- the end ---- */

static void free_list(struct pug_list *list)
{
    free(list->items);
}

static void free_objects(struct pug_perf *perf)
{
    struct pug_perf_object *details = perf->details.items;
    for (size_t i = 0; i < perf->details.count; i++)
        if (!pug_perf_is_memory(perf, details[i].program))
            pug_perf_program_free(details[i].program);
    pug_perf_program_free(perf->memory);
    pug_perf_free_guests(perf);
}

static void free_spaces(struct pug_perf *perf)
{
    struct pug_perf_space **spaces = perf->spaces.items;
    struct pug_perf_version **versions = perf->versions.items;
    struct pug_perf_process *processes = perf->processes.items;
    for (size_t i = 0; i < perf->spaces.count; i++)
        free(spaces[i]);
    for (size_t i = 0; i < perf->versions.count; i++)
        free(versions[i]);
    pug_perf_nodes_free(&perf->nodes);
    for (size_t i = 0; i < perf->processes.count; i++)
        pug_perf_process_free(&processes[i]);
}

static void free_own(struct pug_capture *capture)
{
    struct pug_perf *perf = capture->own;
    struct pug_perf_file *files = perf->files.items;
    struct pug_perf_source_trees *source_tree_sets = perf->source_tree_sets.items;
    for (size_t i = 0; i < perf->files.count; i++) {
        pug_infile_close(files[i].in);
        free(files[i].path);
    }
    for (size_t i = 0; i < perf->source_tree_sets.count; i++)
        free(source_tree_sets[i].cpus);
    free_objects(perf);
    free_spaces(perf);
    struct pug_list *lists[] = {&perf->index,
                                &perf->files,
                                &perf->attrs,
                                &perf->ids,
                                &perf->aux,
                                &perf->auxtrace,
                                &perf->hw_ids,
                                &perf->events,
                                &perf->cpus,
                                &perf->cuts,
                                &perf->source_tree_sets,
                                &perf->processes,
                                &perf->lives,
                                &perf->threads,
                                &perf->details,
                                &perf->table,
                                &perf->told,
                                &perf->file_facts,
                                &perf->spaces,
                                &perf->versions,
                                &perf->members,
                                &perf->branches,
                                &perf->space_slots};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        free_list(lists[i]);
    for (size_t i = 0; i < PUG_PERF_SCOUTS; i++)
        free_list(&perf->aux_parts[i].list);
    free(perf->kallsyms);
    pug_perf_kallsyms_free(&perf->symbols);
    pug_perf_folders_free(&perf->given);
    pug_perf_folders_free(&perf->modules);
    free(perf->folder);
    free(perf);
}

static bool clock_of(const struct pug_capture *capture, uint64_t timestamp, uint64_t *time)
{
    const struct pug_perf *perf = capture->own;
    if (!perf->virtual_time)
        return false;
    *time = to_clock(perf, timestamp);
    return true;
}

static const struct pug_address_space *space(const struct pug_capture *capture, uint64_t number)
{
    const struct pug_perf *perf = capture->own;
    pthread_mutex_t *lock = &perf->capture->lock; /* others may be made meanwhile */
    pthread_mutex_lock(lock);
    struct pug_perf_space *const *spaces = perf->spaces.items;
    const struct pug_perf_space *found =
        number - 1 < perf->spaces.count ? spaces[number - 1] : NULL;
    pthread_mutex_unlock(lock);
    return found ? &found->public : NULL;
}

/** Was there no memory for code of a space? */
static bool spaces_failure(const struct pug_perf *perf, struct pug_read_failure *out)
{
    struct pug_perf_space *const *spaces = perf->spaces.items;
    bool failed = pug_image_failure(&perf->nothing, out);
    pthread_mutex_lock(&perf->capture->lock);
    for (size_t i = 0; !failed && i < perf->spaces.count; i++)
        failed = pug_image_failure(&spaces[i]->image, out);
    pthread_mutex_unlock(&perf->capture->lock);
    return failed;
}

static bool failure(const struct pug_capture *capture, struct pug_read_failure *out)
{
    const struct pug_perf *perf = capture->own;
    const struct pug_perf_object *objects = perf->details.items;
    if (atomic_load(&perf->unread_told)) {
        *out = perf->unread;
        return true;
    }
    for (size_t i = 0; i < perf->details.count; i++)
        if (objects[i].program && pug_file_failure(objects[i].program->file, out))
            return true;
    return (perf->memory && pug_file_failure(perf->memory->file, out)) || spaces_failure(perf, out);
}

static bool timestamp_of(const struct pug_capture *capture, uint64_t time, uint64_t *timestamp)
{
    const struct pug_perf *perf = capture->own;
    if (!perf->virtual_time)
        return false;
    if (!from_clock(perf, time, timestamp)) /* it is before all of them */
        *timestamp = 0;
    return true;
}

const struct pug_capture_ops pug_perf_ops = {
    .free = free_own,
    .failure = failure,
    .tree = tree,
    .tree_kind = tree_kind,
    .read = read_bytes,
    .worker = desk_new,
    .worker_free = worker_free,
    .begin = begin,
    .situate = situate,
    .cpu = cpu_of,
    .clock = clock_of,
    .timestamp = timestamp_of,
    .space = space,
    .name = pug_perf_space_name,
    .named = pug_perf_space_named,
    .locate = pug_perf_locate,
    .taken = taken,
    .seek = pug_perf_seek,
    .symbols = pug_perf_symbols,
    .row = pug_perf_row,
    .read_object = pug_perf_read_object,
};
