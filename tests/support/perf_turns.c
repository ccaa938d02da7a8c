// SPDX-License-Identifier: MIT
#include "support/perf_turns.h"

#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "support/perf_programs.h"

#include <stdlib.h>

#define ID 0x10

static const struct rec_perf_cpu processor = {
    .cpu = 0,
    .unit = REC_PERF_ETMV4,
    .count = 8,
    .words = {0x850, ID, 0x28000ea1, 0x4100f403, 0x20001088, 0, 0xcc, 1}};

static struct rec_etmv4 *begin_unit(struct rec_bytes *trace)
{
    const struct rec_etmv4_config config = {.idr0 = (uint32_t)processor.words[2],
                                            .idr2 = (uint32_t)processor.words[4],
                                            .configr = (uint32_t)processor.words[0],
                                            .seed = 1};
    struct rec_etmv4 *unit = rec_etmv4_new(&config, trace);
    if (!unit)
        abort();
    rec_etmv4_sync(unit);
    rec_etmv4_trace_on(unit);
    return unit;
}

/** A thread runs from a time on, for 100 of it, until an exception. */
static void run(struct rec_etmv4 *unit, int32_t tid, uint64_t from)
{
    const struct rec_context context = {
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
}

static void put_trace(struct rec_perf *perf, struct rec_etmv4 *unit, struct rec_bytes *trace,
                      uint64_t *offset, uint64_t time)
{
    const struct rec_perf_sample sample = {.pid = 0, .tid = 0, .cpu = 0, .time = time};
    struct rec_bytes framed = {0};
    struct rec_frames frames = {.out = &framed};
    rec_etmv4_finish(unit);
    rec_etmv4_free(unit);
    rec_frames_put(&frames, ID, trace->data, trace->size);
    rec_frames_finish(&frames);
    rec_perf_aux(perf, &sample, *offset, framed.size, 0);
    rec_perf_trace(perf, 0, 0, *offset, &framed);
    *offset += framed.size;
    rec_bytes_free(&framed);
    rec_bytes_free(trace);
    *trace = (struct rec_bytes){0};
}

/** Two threads take turns on a processor: each runs 100 of every 1000. */
static void put_turns(struct rec_perf *perf, const struct perf_turns *turns)
{
    struct rec_bytes trace = {0};
    struct rec_etmv4 *unit = begin_unit(&trace);
    uint64_t offset = 0, time = 1000;
    for (unsigned turn = 0; turn < 6; turn++, time += 500) {
        if (turn > 0 && turns->gaps)
            rec_etmv4_trace_on(unit);
        run(unit, turn % 2 ? PERF_TURNS_SECOND : PERF_TURNS_FIRST, time);
        if (!turns->pieces || turn == 5)
            continue;
        put_trace(perf, unit, &trace, &offset, time + 200);
        unit = begin_unit(&trace);
    }
    put_trace(perf, unit, &trace, &offset, time);
}

void perf_turns_tell(struct rec_perf *perf, const struct perf_turns *turns)
{
    static const int32_t tids[] = {PERF_TURNS_FIRST, PERF_TURNS_SECOND};
    rec_perf_begin(
        perf, &(struct rec_perf_config){
                  .version = 1, .cpus = &processor, .cpu_count = 1, .has_clock = true, .mult = 1});
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
