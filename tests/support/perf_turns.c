// SPDX-License-Identifier: MIT
#include "support/perf_turns.h"

#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "support/perf_programs.h"

#include <stdlib.h>

#define ID(cpu_) (0x10 + 2 * (cpu_))
#define PROCESSOR(cpu_)                                                                            \
    {                                                                                              \
        .cpu = (cpu_), .unit = REC_PERF_ETMV4, .count = 8, .words = {                              \
            0x850,                                                                                 \
            ID(cpu_),                                                                              \
            0x28000ea1,                                                                            \
            0x4100f403,                                                                            \
            0x20001088,                                                                            \
            0,                                                                                     \
            0xcc,                                                                                  \
            1                                                                                      \
        }                                                                                          \
    }

static const struct rec_perf_cpu processors[] = {PROCESSOR(0), PROCESSOR(1)};

/** One processor's trace. */
struct buffer {
    struct rec_etmv4 *unit;
    struct rec_bytes trace;
    uint64_t offset;
};

static void begin_trace(struct buffer *buffer)
{
    const struct rec_etmv4_config config = {.idr0 = (uint32_t)processors[0].words[2],
                                            .idr2 = (uint32_t)processors[0].words[4],
                                            .configr = (uint32_t)processors[0].words[0],
                                            .seed = 1};
    buffer->trace = (struct rec_bytes){0};
    buffer->unit = rec_etmv4_new(&config, &buffer->trace);
    if (!buffer->unit)
        abort();
    rec_etmv4_sync(buffer->unit);
    rec_etmv4_trace_on(buffer->unit);
}

/** A thread runs from a time on, for 100 of it, until an exception. */
static void run(struct rec_etmv4 *unit, int32_t tid, uint64_t from, bool kernel)
{
    struct rec_context context = {
        .sf = true, .ns = true, .has_context_id = true, .context_id = (uint32_t)tid};
    rec_etmv4_start(unit, PERF_MAIN_BASE, false, &context);
    rec_etmv4_timestamp(unit, from);
    rec_etmv4_atom(unit, false);
    rec_etmv4_cycles(unit, (uint32_t)tid);
    rec_etmv4_atom(unit, false);
    rec_etmv4_timestamp(unit, from + 100);
    rec_etmv4_atom(unit, false);
    rec_etmv4_cycles(unit, 7);
    rec_etmv4_exception(unit, 0x0e, PERF_MAIN_BASE + 3 * (uint64_t)PERF_BLOCK, false, false);
    if (!kernel)
        return;
    context.el = 1;
    rec_etmv4_start(unit, PERF_MAIN_BASE + 4 * (uint64_t)PERF_BLOCK, false, &context);
    rec_etmv4_atom(unit, false);
}

/** Trace of so many processors, from one on, into the buffer of that one. */
static void put_trace(struct rec_perf *perf, struct buffer *buffers, unsigned count, int32_t cpu,
                      uint64_t time)
{
    const struct rec_perf_sample sample = {.pid = 0, .tid = 0, .cpu = cpu, .time = time};
    struct rec_bytes framed = {0};
    struct rec_frames frames = {.out = &framed};
    for (unsigned i = 0; i < count; i++) {
        rec_etmv4_finish(buffers[i].unit);
        rec_etmv4_free(buffers[i].unit);
        rec_frames_put(&frames, (uint8_t)ID((unsigned)cpu + i), buffers[i].trace.data,
                       buffers[i].trace.size);
        rec_bytes_free(&buffers[i].trace);
    }
    rec_frames_finish(&frames);
    rec_perf_aux(perf, &sample, buffers->offset, framed.size, 0);
    rec_perf_trace(perf, cpu, 0, buffers->offset, &framed);
    buffers->offset += framed.size;
    rec_bytes_free(&framed);
}

static void put_turns(struct rec_perf *perf, const struct perf_turns *turns)
{
    struct buffer buffers[2] = {{.offset = 0}, {.offset = 0}};
    uint64_t time = 1000;
    begin_trace(&buffers[0]);
    begin_trace(&buffers[1]);
    for (unsigned turn = 0; turn < 6; turn++, time += 500) {
        struct buffer *buffer = &buffers[turns->moves && turn / 2 == 1];
        if (turn > 0 && turns->gaps)
            rec_etmv4_trace_on(buffer->unit);
        run(buffer->unit, turn % 2 ? PERF_TURNS_SECOND : PERF_TURNS_FIRST, time, turns->kernel);
        if (!turns->pieces || turn == 5)
            continue;
        put_trace(perf, buffer, 1, 0, time + 200);
        begin_trace(buffer);
    }
    put_trace(perf, &buffers[0], turns->one_sink ? 2 : 1, 0, time);
    if (!turns->one_sink)
        put_trace(perf, &buffers[1], 1, 1, time);
}

void perf_turns_tell(struct rec_perf *perf, const struct perf_turns *turns)
{
    static const int32_t tids[] = {PERF_TURNS_FIRST, PERF_TURNS_SECOND};
    rec_perf_begin(
        perf, &(struct rec_perf_config){
                  .version = 1, .cpus = processors, .cpu_count = 2, .has_clock = true, .mult = 1});
    for (unsigned i = 0; i < 2; i++) {
        const struct rec_perf_sample sample = {
            .pid = tids[i] - 1, .tid = tids[i], .cpu = 0, .time = 10 + i};
        rec_perf_comm(perf, &sample, perf_program_names[i], true);
        rec_perf_map(perf, &sample,
                     &(struct rec_perf_map){.address = PERF_MAIN_BASE,
                                            .size = 0x1000,
                                            .offset = PERF_HEADERS,
                                            .prot = 5,
                                            .path = i ? "/bin/two" : "/bin/one"});
    }
    put_turns(perf, turns);
}
