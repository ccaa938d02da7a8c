// SPDX-License-Identifier: MIT
#include "support/perf_story.h"

#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "support/perf_programs.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CPUS   8u
#define KERNEL UINT64_C(0xffff800000100000) /* where code of the kernel's own comes and goes */
#define HALF   (PERF_TEXT / 2)

/** Fails the test if a condition for the story does not hold. */
static void must(bool good)
{
    if (!good)
        abort();
}

/* ---- who is there ---- */

struct process {
    int32_t pid;
    unsigned main, library; /* programs */
    unsigned upper;         /* what lies in the place of the library's second half: often itself */
    uint64_t library_base;
    unsigned threads;
};

struct thread {
    size_t process;
    int32_t tid;
    uint64_t busy_until;
    bool in_library;
    unsigned block;
    struct rec_etmv4 *unit; /* per thread */
    struct rec_bytes trace;
    uint64_t offset;
};

struct cpu {
    uint64_t now;
    struct rec_etmv4 *unit;
    struct rec_bytes trace;
    uint64_t offset; /* of its buffer */
    unsigned slices; /* since the buffer was emptied */
};

/** A record that is not put into the file yet. */
struct held {
    struct rec_bytes bytes;
};

struct teller {
    struct perf_story *story;
    const struct perf_story_config *config;
    struct rec_random random;
    struct process processes[PERF_STORY_THREADS];
    size_t process_count;
    struct thread threads[PERF_STORY_THREADS];
    size_t thread_count;
    struct cpu cpus[CPUS];
    struct rec_perf perf;
    const uint64_t *recorded; /* whose time the last record had; NULL: it was no record */
    bool in_kernel;           /* there is such code: of these programs, by halves */
    unsigned kernel[2];
    struct held *held;
    size_t held_count;
};

static struct rec_perf_sample sample_of(const struct teller *teller, const struct thread *thread,
                                        int32_t cpu, uint64_t time)
{
    return (struct rec_perf_sample){.pid = teller->processes[thread->process].pid,
                                    .tid = thread->tid,
                                    .cpu = teller->config->per_thread ? -1 : cpu,
                                    .time = time};
}

/** What was just put into the file is held back, to be put somewhere else. */
static void hold(struct teller *teller, size_t from)
{
    struct rec_bytes *data = &teller->perf.data;
    if (!teller->config->shuffled)
        return;
    struct held *all = realloc(teller->held, (teller->held_count + 1) * sizeof(*all));
    if (!all)
        abort();
    struct held *held = &all[teller->held_count++];
    teller->held = all;
    *held = (struct held){{0}};
    rec_put_n(&held->bytes, data->data + from, data->size - from);
    data->size = from;
}

/** Map a library's second half only, or all of it. */
static void map_part(struct teller *teller, const struct rec_perf_sample *sample, unsigned program,
                     uint64_t base, bool upper)
{
    char path[64];
    const size_t from = teller->perf.data.size;
    snprintf(path, sizeof(path), "/bin/%s", perf_program_names[program]);
    rec_perf_map(&teller->perf, sample,
                 &(struct rec_perf_map){.address = base + (upper ? HALF : 0),
                                        .size = upper ? HALF : 0x1000,
                                        .offset = PERF_HEADERS + (upper ? HALF : 0),
                                        .prot = 5,
                                        .path = path});
    hold(teller, from);
}

static void map(struct teller *teller, const struct rec_perf_sample *sample, unsigned program,
                uint64_t base)
{
    map_part(teller, sample, program, base, false);
}

/** A time that no other record has, or that of the record before. */
static uint64_t tick(struct teller *teller, uint64_t *now)
{
    if (teller->config->same_times && teller->recorded == now &&
        rec_random_once_in(&teller->random, 2))
        return *now;
    teller->recorded = now;
    return *now += 1 + rec_random_below(&teller->random, 3);
}

static struct perf_story_path *path_of(struct teller *teller, int32_t tid)
{
    struct perf_story *story = teller->story;
    for (size_t i = 0; i < story->path_count; i++)
        if (story->paths[i].tid == tid)
            return &story->paths[i];
    story->paths[story->path_count] = (struct perf_story_path){.tid = tid};
    return &story->paths[story->path_count++];
}

static struct thread *add_thread(struct teller *teller, size_t process, int32_t tid)
{
    struct thread *thread = &teller->threads[teller->thread_count++];
    *thread = (struct thread){.process = process, .tid = tid};
    teller->processes[process].threads++;
    return thread;
}

/** Run another program: all ranges go, and new ones come. */
static void exec(struct teller *teller, struct thread *thread, int32_t cpu, uint64_t *now)
{
    struct process *process = &teller->processes[thread->process];
    process->main = rec_random_below(&teller->random, 2);
    process->library = process->upper = 2 + rec_random_below(&teller->random, 2);
    process->library_base =
        UINT64_C(0x7f0000000000) + UINT64_C(0x1000) * rec_random_below(&teller->random, 4096);
    struct rec_perf_sample sample = sample_of(teller, thread, cpu, tick(teller, now));
    size_t from = teller->perf.data.size;
    rec_perf_comm(&teller->perf, &sample, perf_program_names[process->main], true);
    hold(teller, from);
    sample.time = tick(teller, now);
    map(teller, &sample, process->main, PERF_MAIN_BASE);
    sample.time = tick(teller, now);
    map(teller, &sample, process->library, process->library_base);
    thread->block = 0;
    thread->in_library = false;
}

/** Another library in the place of the one that was there, or of its second half. */
static void replace(struct teller *teller, struct thread *thread, int32_t cpu, uint64_t *now)
{
    struct process *process = &teller->processes[thread->process];
    const bool half = rec_random_once_in(&teller->random, 2);
    process->upper = 2 + rec_random_below(&teller->random, 2);
    if (!half)
        process->library = process->upper;
    const struct rec_perf_sample sample = sample_of(teller, thread, cpu, tick(teller, now));
    map_part(teller, &sample, process->upper, process->library_base, half);
}

static void fork_(struct teller *teller, struct thread *parent, int32_t cpu, uint64_t *now)
{
    const struct process *old = &teller->processes[parent->process];
    const bool new_process = rec_random_once_in(&teller->random, 2);
    const int32_t tid = 1000 + (int32_t)teller->thread_count * 3;
    size_t process = parent->process;
    const size_t from = teller->perf.data.size;
    if (new_process) {
        process = teller->process_count++;
        teller->processes[process] = *old;
        teller->processes[process].pid = tid;
        teller->processes[process].threads = 0;
    }
    struct thread *thread = add_thread(teller, process, tid);
    const struct rec_perf_sample sample = sample_of(teller, thread, cpu, tick(teller, now));
    rec_perf_fork(&teller->perf, &sample, old->pid);
    hold(teller, from);
    thread->busy_until = *now;
}

/* ---- trace ---- */

#define TRACE_ID(teller, cpu) ((uint8_t)((teller)->config->sinks ? 0x10 : 0x10 + 2 * (cpu)))

static struct rec_etmv4 *new_unit(const struct teller *teller, struct rec_bytes *out)
{
    const struct rec_etmv4_config config = {.idr0 = 0x28000ea1,
                                            .idr2 = 0x20001088,
                                            .configr = teller->config->per_thread ? 0 : 0x840,
                                            .seed = 1};
    struct rec_etmv4 *unit = rec_etmv4_new(&config, out);
    must(unit != NULL);
    rec_etmv4_sync(unit);
    return unit;
}

/** A trace that goes into a buffer in frames of its id. */
struct framed {
    uint8_t id;
    const struct rec_bytes *trace;
    size_t put; /* bytes of it */
};

/** All of them, some bytes at a time. */
static void put_framed(struct teller *teller, struct rec_bytes *out, struct framed *traces,
                       unsigned count)
{
    struct rec_frames frames = {.out = out};
    while (count > 0) {
        struct framed *one = &traces[rec_random_below(&teller->random, count)];
        const size_t left = one->trace->size - one->put;
        const size_t some = 1 + rec_random_below(&teller->random, 40);
        const size_t size = some < left ? some : left;
        rec_frames_put(&frames, one->id, one->trace->data + one->put, size);
        one->put += size;
        if (size == left)
            *one = traces[--count];
    }
    rec_frames_finish(&frames);
}

static void put_segment(struct teller *teller, const struct rec_perf_sample *sample, int32_t cpu,
                        int32_t tid, uint64_t *offset, struct rec_bytes *framed)
{
    rec_perf_aux(&teller->perf, sample, *offset, framed->size, 0);
    rec_perf_trace(&teller->perf, cpu, tid, *offset, framed);
    *offset += framed->size;
    teller->story->segments++;
    teller->story->trace_bytes += framed->size;
    rec_bytes_free(framed);
}

static void end_unit(struct rec_etmv4 **unit)
{
    rec_etmv4_finish(*unit);
    rec_etmv4_free(*unit);
    *unit = NULL;
}

/** Empty a processor's buffer, or with one sink that of all of them. */
static void drain(struct teller *teller, unsigned cpu)
{
    struct framed traces[CPUS];
    unsigned count = 0;
    struct rec_bytes framed = {0};
    const bool all = teller->config->one_sink;
    uint64_t now = teller->cpus[cpu].now;
    for (unsigned i = 0; i < teller->config->cpus; i++) {
        struct cpu *source = &teller->cpus[i];
        if ((!all && i != cpu) || !source->unit)
            continue;
        end_unit(&source->unit);
        traces[count++] = (struct framed){TRACE_ID(teller, i), &source->trace, 0};
        source->slices = 0;
        now = source->now > now ? source->now : now;
    }
    const bool any = count > 0;
    put_framed(teller, &framed, traces, count);
    for (unsigned i = 0; i < teller->config->cpus; i++) {
        if (teller->cpus[i].unit || (!all && i != cpu))
            continue; /* it is not emptied */
        rec_bytes_free(&teller->cpus[i].trace);
        teller->cpus[i].trace = (struct rec_bytes){0};
    }
    for (unsigned i = 0; all && i < teller->config->cpus; i++)
        teller->cpus[i].now = now;
    struct rec_perf_sample sample = {.pid = 0, .tid = 0, .cpu = (int32_t)cpu};
    sample.time = tick(teller, &now);
    teller->cpus[cpu].now = now;
    if (any)
        put_segment(teller, &sample, (int32_t)cpu, 0, &teller->cpus[cpu].offset, &framed);
}

static void drain_thread(struct teller *teller, struct thread *thread, uint64_t *now)
{
    struct rec_bytes framed = {0};
    if (!thread->unit)
        return;
    end_unit(&thread->unit);
    put_framed(teller, &framed, &(struct framed){TRACE_ID(teller, 0), &thread->trace, 0}, 1);
    rec_bytes_free(&thread->trace);
    thread->trace = (struct rec_bytes){0};
    const struct rec_perf_sample sample = sample_of(teller, thread, -1, tick(teller, now));
    put_segment(teller, &sample, -1, thread->tid, &thread->offset, &framed);
}

static void note_block(struct perf_story_path *path, uint64_t address)
{
    if (path->count + 4 > path->room) {
        path->room = path->room * 2 + 64;
        path->pcs = realloc(path->pcs, path->room * sizeof(*path->pcs));
    }
    if (!path->pcs)
        abort();
    for (unsigned i = 0; i < 4; i++)
        path->pcs[path->count++] = address + 4 * i;
}

/** Code that runs: at a place, of one program, or of another one from its middle on. */
struct code {
    uint64_t base;
    unsigned lower, upper;
    unsigned el;
};

/** Some blocks, and times now and then, then an exception; the block where it goes on. */
static unsigned run_code(struct teller *teller, const struct thread *thread, struct rec_etmv4 *unit,
                         uint64_t *now, const struct code *code, unsigned block)
{
    const bool timed = !teller->config->per_thread;
    struct perf_story_path *path = path_of(teller, thread->tid);
    const struct rec_context context = {.el = (uint8_t)code->el,
                                        .sf = true,
                                        .ns = true,
                                        .has_context_id = timed,
                                        .context_id = (uint32_t)thread->tid};
    rec_etmv4_trace_on(unit);
    rec_etmv4_start(unit, code->base + block * PERF_BLOCK, false, &context);
    if (timed)
        rec_etmv4_timestamp(unit, *now);
    for (unsigned i = 1 + rec_random_below(&teller->random, 40); i > 0; i--) {
        if (timed && rec_random_once_in(&teller->random, 20))
            rec_etmv4_timestamp(unit, *now += 1 + rec_random_below(&teller->random, 20));
        const bool taken = block == PERF_BLOCKS - 1 || rec_random_once_in(&teller->random, 2);
        note_block(path, code->base + block * PERF_BLOCK);
        rec_etmv4_atom(unit, taken);
        block = taken ? perf_program_target(block * PERF_BLOCK < HALF ? code->lower : code->upper,
                                            block)
                      : block + 1;
    }
    rec_etmv4_exception(unit, 0x0e, code->base + block * PERF_BLOCK, false, false);
    return block;
}

/** A thread runs for a while. */
static void run(struct teller *teller, struct thread *thread, struct rec_etmv4 *unit, uint64_t now)
{
    const struct process *process = &teller->processes[thread->process];
    teller->recorded = NULL;
    if (rec_random_once_in(&teller->random, 2)) {
        thread->in_library = !thread->in_library;
        thread->block = rec_random_below(&teller->random, PERF_BLOCKS);
    }
    const struct code program = {PERF_MAIN_BASE, process->main, process->main, 0};
    const struct code library = {process->library_base, process->library, process->upper, 0};
    const struct code kernel = {KERNEL, teller->kernel[0], teller->kernel[1], 1};
    thread->block = run_code(teller, thread, unit, &now, thread->in_library ? &library : &program,
                             thread->block);
    now++;
    if (teller->in_kernel && rec_random_once_in(&teller->random, 3))
        (void)run_code(teller, thread, unit, &now, &kernel,
                       rec_random_below(&teller->random, PERF_BLOCKS));
}

/* ---- code of the kernel's own ---- */

static void put_symbol(struct teller *teller, const struct rec_perf_sample *sample, bool gone)
{
    static const char name[8] = "made";
    struct rec_bytes body = {0};
    const size_t from = teller->perf.data.size;
    rec_put_le(&body, KERNEL, 8);
    rec_put_le(&body, PERF_TEXT, 4);
    rec_put_le(&body, 1, 2);
    rec_put_le(&body, gone, 2);
    rec_put_n(&body, name, sizeof(name));
    rec_perf_record(&teller->perf, 17, 0, &body, sample);
    hold(teller, from);
    rec_bytes_free(&body);
}

/** New text, of all of it or of its second half. */
static void poke(struct teller *teller, const struct rec_perf_sample *sample, bool fresh, bool half)
{
    struct rec_bytes body = {0}, text = {0};
    const size_t from = teller->perf.data.size, at = half ? HALF : 0, size = PERF_TEXT - at;
    teller->kernel[1] = rec_random_below(&teller->random, PERF_PROGRAMS);
    if (!half)
        teller->kernel[0] = teller->kernel[1];
    perf_program_text(&text, teller->kernel[1]);
    rec_put_le(&body, KERNEL + at, 8);
    rec_put_le(&body, fresh ? 0 : size, 2);
    rec_put_le(&body, size, 2);
    for (size_t i = 0; !fresh && i < size; i++)
        rec_put(&body, 0);
    rec_put_n(&body, text.data + at, size);
    while (body.size % 8 != 0)
        rec_put(&body, 0);
    rec_perf_record(&teller->perf, 20, 0, &body, sample);
    hold(teller, from);
    rec_bytes_free(&body);
    rec_bytes_free(&text);
}

/** Everybody sees from now on what changed: no processor is in an earlier time. */
static void catch_up(struct teller *teller, uint64_t now)
{
    for (unsigned i = 0; i < teller->config->cpus; i++)
        if (teller->cpus[i].now < now)
            teller->cpus[i].now = now;
}

static void change_kernel(struct teller *teller, unsigned cpu)
{
    uint64_t *now = &teller->cpus[cpu].now;
    for (unsigned i = 0; i < teller->config->cpus; i++)
        *now = teller->cpus[i].now > *now ? teller->cpus[i].now : *now;
    struct rec_perf_sample sample = {.pid = 0, .tid = 0, .cpu = (int32_t)cpu};
    sample.time = tick(teller, now);
    if (!teller->in_kernel) {
        put_symbol(teller, &sample, false);
        sample.time = tick(teller, now);
        poke(teller, &sample, true, false);
        teller->in_kernel = true;
    } else if (rec_random_once_in(&teller->random, 4)) {
        put_symbol(teller, &sample, true);
        teller->in_kernel = false;
    } else {
        poke(teller, &sample, false, rec_random_once_in(&teller->random, 2));
    }
    catch_up(teller, *now);
}

/* ---- telling ---- */

/** A thread that does not run on any processor, or NULL. */
static struct thread *free_thread(struct teller *teller, uint64_t now)
{
    const size_t first = rec_random_below(&teller->random, (uint32_t)teller->thread_count);
    for (size_t i = 0; i < teller->thread_count; i++) {
        struct thread *thread = &teller->threads[(first + i) % teller->thread_count];
        if (thread->busy_until < now)
            return thread;
    }
    return NULL;
}

/** May the process change now? No other thread of it runs. */
static bool is_idle(const struct teller *teller, size_t process, uint64_t now)
{
    for (size_t i = 0; i < teller->thread_count; i++)
        if (teller->threads[i].process == process && teller->threads[i].busy_until >= now)
            return false;
    return true;
}

static void change(struct teller *teller, struct thread *thread, unsigned cpu, uint64_t *now)
{
    struct process *process = &teller->processes[thread->process];
    const bool idle = is_idle(teller, thread->process, *now);
    const bool exact = !teller->config->per_thread;
    if (teller->thread_count < PERF_STORY_THREADS && rec_random_once_in(&teller->random, 12))
        fork_(teller, thread, (int32_t)cpu, now);
    if (!idle || !rec_random_once_in(&teller->random, 10))
        return;
    /* Without times a segment is of one program: perf's own users see no more. */
    for (size_t i = 0; !exact && i < teller->thread_count; i++)
        if (teller->threads[i].process == thread->process)
            drain_thread(teller, &teller->threads[i], now);
    if (process->threads == 1 && rec_random_once_in(&teller->random, 2))
        exec(teller, thread, (int32_t)cpu, now);
    else
        replace(teller, thread, (int32_t)cpu, now);
    catch_up(teller, *now);
}

static unsigned earliest(const struct teller *teller)
{
    unsigned best = 0;
    for (unsigned i = 1; i < teller->config->cpus; i++)
        if (teller->cpus[i].now < teller->cpus[best].now)
            best = i;
    return best;
}

static void slice(struct teller *teller)
{
    const unsigned number = earliest(teller);
    struct cpu *cpu = &teller->cpus[number];
    struct thread *thread = free_thread(teller, cpu->now);
    cpu->now += 5 + rec_random_below(&teller->random, 20);
    if (!thread)
        return;
    if (teller->config->kernel && rec_random_once_in(&teller->random, 8))
        change_kernel(teller, number);
    change(teller, thread, number, &cpu->now);
    struct rec_etmv4 **unit = teller->config->per_thread ? &thread->unit : &cpu->unit;
    if (!*unit)
        *unit = new_unit(teller, teller->config->per_thread ? &thread->trace : &cpu->trace);
    cpu->now += 2;
    run(teller, thread, *unit, cpu->now);
    cpu->now += 200 + rec_random_below(&teller->random, 100);
    thread->busy_until = cpu->now;
    cpu->slices++;
    if (teller->config->per_thread && rec_random_once_in(&teller->random, 5))
        drain_thread(teller, thread, &cpu->now);
    else if (!teller->config->per_thread && rec_random_once_in(&teller->random, 12))
        drain(teller, number);
}

static void begin(struct teller *teller)
{
    static struct rec_perf_cpu cpus[CPUS];
    const struct perf_story_config *config = teller->config;
    for (unsigned i = 0; i < config->cpus; i++) {
        const uint64_t words[] = {config->per_thread ? 0 : 0x840,
                                  config->sinks ? UINT64_C(0x80000010) : TRACE_ID(teller, i),
                                  0x28000ea1,
                                  0x4100f403,
                                  0x20001088,
                                  0,
                                  0xcc,
                                  1};
        cpus[i] =
            (struct rec_perf_cpu){.cpu = (int32_t)(2 * i), .unit = REC_PERF_ETMV4, .count = 8};
        cpus[i].cpu = (int32_t)i;
        memcpy(cpus[i].words, words, sizeof(words));
        teller->cpus[i].now = 1000 + i;
    }
    rec_perf_begin(&teller->perf, &(struct rec_perf_config){.pipe = config->pipe,
                                                            .version = config->sinks ? 2 : 1,
                                                            .cpus = cpus,
                                                            .cpu_count = config->cpus,
                                                            .has_clock = true,
                                                            .mult = 1});
    for (unsigned i = 0; config->sinks && i < config->cpus; i++) {
        const uint32_t sink = 0xaa00 + i;
        rec_perf_hw_id(&teller->perf,
                       &(struct rec_perf_sample){.pid = 0, .tid = 0, .cpu = (int32_t)i, .time = 1},
                       0x10, &sink);
    }
    for (unsigned i = 0; i < 3; i++) {
        uint64_t now = 10 + 100 * i;
        teller->processes[i] = (struct process){.pid = 100 + (int32_t)i};
        teller->process_count++;
        exec(teller, add_thread(teller, i, 100 + (int32_t)i), 0, &now);
    }
}

static void put_held(struct teller *teller)
{
    for (size_t left = teller->held_count; left > 0; left--) {
        const size_t n = rec_random_below(&teller->random, (uint32_t)left);
        const struct held last = teller->held[left - 1];
        rec_put_n(&teller->perf.data, teller->held[n].bytes.data, teller->held[n].bytes.size);
        rec_bytes_free(&teller->held[n].bytes);
        teller->held[n] = last;
    }
    free(teller->held);
}

struct perf_story_config perf_story_kind(unsigned number)
{
    return (struct perf_story_config){.seed = UINT64_C(77) * number,
                                      .slices = 60 * number,
                                      .cpus = 1 + number % 5,
                                      .sinks = number % 3 == 1,
                                      .pipe = number % 4 == 3,
                                      .kernel = number % 5 != 0,
                                      .same_times = number % 2 == 1,
                                      .shuffled = number % 2 == 0};
}

void perf_story_make(struct perf_story *story, const struct perf_story_config *config)
{
    struct teller *teller = calloc(1, sizeof(*teller));
    must(teller && config->cpus <= CPUS);
    *story = (struct perf_story){0};
    must(temporary_folder(story->folder, sizeof(story->folder), "story"));
    teller->story = story;
    teller->config = config;
    teller->random.state = config->seed;
    must(perf_programs_write(story->folder));
    begin(teller);
    for (unsigned i = 0; i < config->slices; i++)
        slice(teller);
    for (unsigned i = 0; i < config->cpus && !config->per_thread; i++)
        drain(teller, i);
    for (size_t i = 0; i < teller->thread_count; i++)
        drain_thread(teller, &teller->threads[i], &teller->cpus[0].now);
    put_held(teller);
    rec_perf_finish(&teller->perf, &story->file);
    must(!story->file.failed);
    free(teller);
}

const char *perf_story_write(struct perf_story *story)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/perf.data", story->folder);
    FILE *file = fopen(path, "wb");
    must(file && fwrite(story->file.data, 1, story->file.size, file) == story->file.size);
    fclose(file);
    return path;
}

void perf_story_free(struct perf_story *story)
{
    char path[128];
    for (unsigned i = 0; i < PERF_PROGRAMS; i++) {
        snprintf(path, sizeof(path), "%s/bin/%s", story->folder, perf_program_names[i]);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/bin", story->folder);
    rmdir(path);
    snprintf(path, sizeof(path), "%s/perf.data", story->folder);
    unlink(path);
    rmdir(story->folder);
    for (size_t i = 0; i < story->path_count; i++)
        free(story->paths[i].pcs);
    rec_bytes_free(&story->file);
}
