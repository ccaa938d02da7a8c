// SPDX-License-Identifier: MIT
#include "recorder/perfdata.h"

#include <stdio.h>
#include <string.h>

enum {
    COMM = 3,
    FORK = 7,
    MMAP = 1,
    MMAP2 = 10,
    AUX = 11,
    ITRACE_START = 12,
    HW_ID = 21,
    HEADER_ATTR = 64,
    FINISHED_ROUND = 68,
    AUXTRACE_INFO = 70,
    AUXTRACE = 71,
    TIME_CONV = 79,
};

#define ATTR_SIZE     128u
#define CS_ETM        8u       /* number of the PMU */
#define SAMPLE_TYPE   0x10087u /* ip, tid, time, cpu, identifier */
#define EVENT_ID      21u
#define AUXTRACE_SIZE 48u /* of a record, without the trace that follows it */

static void put_string(struct rec_bytes *bytes, const char *text)
{
    const size_t size = strlen(text) + 1;
    rec_put_n(bytes, text, size);
    for (size_t i = size; i % 8 != 0; i++)
        rec_put(bytes, 0);
}

/* ---- records ---- */

static void put_sample(struct rec_bytes *bytes, const struct rec_perf_sample *sample)
{
    rec_put_le(bytes, (uint32_t)sample->pid, 4);
    rec_put_le(bytes, (uint32_t)sample->tid, 4);
    rec_put_le(bytes, sample->time, 8);
    rec_put_le(bytes, (uint32_t)sample->cpu, 8);
    rec_put_le(bytes, EVENT_ID, 8);
}

static void put_one(struct rec_bytes *out, uint32_t type, uint16_t misc,
                    const struct rec_bytes *body, const struct rec_perf_sample *sample)
{
    rec_put_le(out, type, 4);
    rec_put_le(out, misc, 2);
    rec_put_le(out, 8 + body->size + (sample ? 32u : 0u), 2);
    if (body->size > 0)
        rec_put_n(out, body->data, body->size);
    if (sample)
        put_sample(out, sample);
}

void rec_perf_record(struct rec_perf *perf, uint32_t type, uint16_t misc,
                     const struct rec_bytes *body, const struct rec_perf_sample *sample)
{
    put_one(&perf->data, type, misc, body, sample);
}

/** A record of perf's own, whose body is used up. */
static void put_own(struct rec_bytes *out, uint32_t type, struct rec_bytes *body)
{
    put_one(out, type, 0, body, NULL);
    out->failed |= body->failed;
    rec_bytes_free(body);
}

/** The same, and the body is used up. */
static void put_record(struct rec_perf *perf, uint32_t type, uint16_t misc, struct rec_bytes *body,
                       const struct rec_perf_sample *sample)
{
    rec_perf_record(perf, type, misc, body, sample);
    perf->data.failed |= body->failed;
    rec_bytes_free(body);
    *body = (struct rec_bytes){0};
}

/* ---- metadata ---- */

static void put_info(struct rec_perf *perf, struct rec_bytes *out)
{
    static const uint64_t magics[] = {[REC_PERF_ETMV3] = UINT64_C(0x3030303030303030),
                                      [REC_PERF_ETMV4] = UINT64_C(0x4040404040404040),
                                      [REC_PERF_ETE] = UINT64_C(0x5050505050505050)};
    const struct rec_perf_config *config = &perf->config;
    struct rec_bytes body = {0};
    rec_put_le(&body, 3, 8); /* CoreSight */
    rec_put_le(&body, config->version, 8);
    rec_put_le(&body, config->cpu_count | (uint64_t)CS_ETM << 32, 8);
    rec_put_le(&body, config->snapshot, 8);
    for (size_t i = 0; i < config->cpu_count; i++) {
        const struct rec_perf_cpu *cpu = &config->cpus[i];
        rec_put_le(&body, magics[cpu->unit], 8);
        rec_put_le(&body, (uint64_t)cpu->cpu, 8);
        if (config->version > 0)
            rec_put_le(&body, cpu->count, 8);
        for (unsigned n = 0; n < cpu->count; n++)
            rec_put_le(&body, cpu->words[n], 8);
    }
    put_own(out, AUXTRACE_INFO, &body);
}

static void put_clock(struct rec_perf *perf, struct rec_bytes *out)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, perf->config.shift, 8);
    rec_put_le(&body, perf->config.mult, 8);
    rec_put_le(&body, perf->config.zero, 8);
    put_own(out, TIME_CONV, &body);
}

/** The attribute of the cs_etm event, or of the one that carries maps. */
static void put_attr(struct rec_bytes *bytes, bool trace)
{
    rec_put_le(bytes, trace ? CS_ETM : 1, 4);
    rec_put_le(bytes, ATTR_SIZE, 4);
    rec_put_le(bytes, trace ? 0 : 9, 8);
    rec_put_le(bytes, 1, 8);
    rec_put_le(bytes, SAMPLE_TYPE, 8);
    rec_put_le(bytes, 4, 8);
    rec_put_le(bytes, UINT64_C(1) << 18 | (trace ? 0 : UINT64_C(1) << 8 | UINT64_C(1) << 23), 8);
    for (unsigned at = 48; at < ATTR_SIZE; at += 8)
        rec_put_le(bytes, 0, 8);
}

/** Put everything that precedes the events. */
static void put_preamble(struct rec_perf *perf, struct rec_bytes *out)
{
    for (unsigned i = 0; perf->config.pipe && i < 2; i++) {
        struct rec_bytes body = {0};
        put_attr(&body, i == 0);
        rec_put_le(&body, i == 0 ? 0 : EVENT_ID, 8);
        put_own(out, HEADER_ATTR, &body);
    }
    put_info(perf, out);
    if (perf->config.has_clock)
        put_clock(perf, out);
}

void rec_perf_begin(struct rec_perf *perf, const struct rec_perf_config *config)
{
    *perf = (struct rec_perf){.config = *config};
}

/* ---- events ---- */

static void put_ids(struct rec_bytes *body, const struct rec_perf_sample *sample)
{
    rec_put_le(body, (uint32_t)sample->pid, 4);
    rec_put_le(body, (uint32_t)sample->tid, 4);
}

void rec_perf_fork(struct rec_perf *perf, const struct rec_perf_sample *sample, int32_t parent)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, (uint32_t)sample->pid, 4);
    rec_put_le(&body, (uint32_t)parent, 4);
    rec_put_le(&body, (uint32_t)sample->tid, 4);
    rec_put_le(&body, (uint32_t)parent, 4);
    rec_put_le(&body, sample->time, 8);
    put_record(perf, FORK, 0, &body, sample);
}

void rec_perf_comm(struct rec_perf *perf, const struct rec_perf_sample *sample, const char *name,
                   bool exec)
{
    struct rec_bytes body = {0};
    put_ids(&body, sample);
    put_string(&body, name);
    put_record(perf, COMM, exec ? 1u << 13 : 0, &body, sample);
}

#define MISC_KERNEL   1u
#define MISC_USER     2u
#define MISC_BUILD_ID (1u << 14)

void rec_perf_map(struct rec_perf *perf, const struct rec_perf_sample *sample,
                  const struct rec_perf_map *map)
{
    struct rec_bytes body = {0};
    const unsigned mode = map->kernel ? MISC_KERNEL : MISC_USER;
    rec_put_le(&body, map->kernel ? UINT32_MAX : (uint32_t)sample->pid, 4);
    rec_put_le(&body, map->kernel ? 0 : (uint32_t)sample->tid, 4);
    rec_put_le(&body, map->address, 8);
    rec_put_le(&body, map->size, 8);
    rec_put_le(&body, map->offset, 8);
    if (!map->kernel) {
        rec_put_le(&body, map->build_id_size, 4);
        for (unsigned i = 0; i < 20; i++)
            rec_put(&body, i < map->build_id_size ? map->build_id[i] : 0);
        rec_put_le(&body, map->prot, 4);
        rec_put_le(&body, 2, 4);
    }
    put_string(&body, map->path);
    put_record(perf, map->kernel ? MMAP : MMAP2,
               (uint16_t)(mode | (map->build_id_size > 0 && !map->kernel ? MISC_BUILD_ID : 0u)),
               &body, sample);
}

void rec_perf_itrace_start(struct rec_perf *perf, const struct rec_perf_sample *sample)
{
    struct rec_bytes body = {0};
    put_ids(&body, sample);
    put_record(perf, ITRACE_START, 0, &body, sample);
}

void rec_perf_hw_id(struct rec_perf *perf, const struct rec_perf_sample *sample, uint8_t id,
                    const uint32_t *sink)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, id | (sink ? (uint64_t)*sink << 8 | UINT64_C(1) << 56 : 0), 8);
    put_record(perf, HW_ID, 0, &body, sample);
}

/* ---- trace ---- */

void rec_perf_aux(struct rec_perf *perf, const struct rec_perf_sample *sample, uint64_t offset,
                  uint64_t size, uint64_t flags)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, offset, 8);
    rec_put_le(&body, size, 8);
    rec_put_le(&body, flags, 8);
    put_record(perf, AUX, 0, &body, sample);
}

void rec_perf_trace(struct rec_perf *perf, int32_t cpu, int32_t tid, uint64_t offset,
                    const struct rec_bytes *trace)
{
    struct rec_bytes body = {0};
    const size_t padded = (trace->size + 7) & ~(size_t)7;
    rec_put_le(&perf->index, perf->data.size, 8);
    rec_put_le(&body, padded, 8);
    rec_put_le(&body, offset, 8);
    rec_put_le(&body, 0, 8);
    rec_put_le(&body, cpu < 0 ? 0 : (uint32_t)cpu, 4);
    rec_put_le(&body, (uint32_t)tid, 4);
    rec_put_le(&body, (uint32_t)cpu, 4);
    rec_put_le(&body, 0, 4);
    put_record(perf, AUXTRACE, 0, &body, NULL);
    if (trace->size > 0)
        rec_put_n(&perf->data, trace->data, trace->size);
    for (size_t i = trace->size; i < padded; i++)
        rec_put(&perf->data, 0);
}

void rec_perf_round(struct rec_perf *perf)
{
    struct rec_bytes body = {0};
    put_record(perf, FINISHED_ROUND, 0, &body, NULL);
}

/* ---- the file ---- */

#define HEADER_SIZE 104u
#define ENTRY_SIZE  (ATTR_SIZE + 16u)
#define DATA_AT     (HEADER_SIZE + 16u + 2 * ENTRY_SIZE)

/* Features: bits of the header, and the size of a string in them. */
enum { FEATURE_ARCH = 6, FEATURE_AUXTRACE = 18, FEATURE_TEXT = 64 };

static void put_header(struct rec_bytes *out, size_t data_size, bool features)
{
    const size_t ids = HEADER_SIZE, attrs = ids + 16;
    rec_put_n(out, "PERFILE2", 8);
    rec_put_le(out, HEADER_SIZE, 8);
    rec_put_le(out, ENTRY_SIZE, 8);
    rec_put_le(out, attrs, 8);
    rec_put_le(out, 2 * ENTRY_SIZE, 8);
    rec_put_le(out, DATA_AT, 8);
    rec_put_le(out, data_size, 8);
    rec_put_le(out, 0, 8);
    rec_put_le(out, 0, 8);
    rec_put_le(out, features ? 1u << FEATURE_ARCH | 1u << FEATURE_AUXTRACE : 0, 8);
    for (unsigned i = 0; i < 3; i++)
        rec_put_le(out, 0, 8);
    rec_put_le(out, EVENT_ID - 1, 8);
    rec_put_le(out, EVENT_ID, 8);
    for (unsigned i = 0; i < 2; i++) {
        put_attr(out, i == 0);
        rec_put_le(out, ids + 8 * i, 8);
        rec_put_le(out, 8, 8);
    }
}

static uint64_t index_entry(const struct rec_bytes *index, size_t n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)index->data[8 * n + i] << 8 * i;
    return value;
}

/**
 * Behind the records: where the features are, then they. `first`: where the first of the records
 * that the index counts from is in the file.
 */
static void put_features(const struct rec_perf *perf, struct rec_bytes *out, size_t begin,
                         size_t first)
{
    const size_t count = perf->index.size / 8, at = out->size - begin + 2 * 16;
    char arch[FEATURE_TEXT] = "";
    snprintf(arch, sizeof(arch), "%s", perf->config.arch);
    rec_put_le(out, at, 8);
    rec_put_le(out, 4 + sizeof(arch), 8);
    rec_put_le(out, at + 4 + sizeof(arch), 8);
    rec_put_le(out, 8 + 16 * count, 8);
    rec_put_le(out, sizeof(arch), 4);
    rec_put_n(out, arch, sizeof(arch));
    rec_put_le(out, count, 8);
    for (size_t i = 0; i < count; i++) {
        rec_put_le(out, first + index_entry(&perf->index, i), 8);
        rec_put_le(out, AUXTRACE_SIZE, 8);
    }
}

void rec_perf_finish(struct rec_perf *perf, struct rec_bytes *out)
{
    const size_t begin = out->size;
    struct rec_bytes preamble = {0};
    put_preamble(perf, &preamble);
    if (perf->config.pipe) {
        rec_put_n(out, "PERFILE2", 8);
        rec_put_le(out, 16, 8);
    } else {
        put_header(out, preamble.size + perf->data.size, perf->config.arch != NULL);
    }
    rec_put_n(out, preamble.data, preamble.size);
    if (perf->data.size > 0)
        rec_put_n(out, perf->data.data, perf->data.size);
    if (!perf->config.pipe && perf->config.arch)
        put_features(perf, out, begin, DATA_AT + preamble.size);
    out->failed |= perf->data.failed | perf->index.failed | preamble.failed;
    rec_bytes_free(&preamble);
    rec_bytes_free(&perf->data);
    rec_bytes_free(&perf->index);
    *perf = (struct rec_perf){0};
}
