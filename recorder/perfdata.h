// SPDX-License-Identifier: MIT
/**
 * @file perf.data as `perf record -e cs_etm//` writes it: metadata, records with sample ids, trace
 * cut by AUX records. What was given is put into the file in the order of the calls.
 */
#ifndef PUG_RECORDER_PERFDATA_H
#define PUG_RECORDER_PERFDATA_H

#include "recorder/bytes.h"

/** Numbers of features and records that callers need. */
enum { REC_PERF_AUX_TRUNCATED = 1, REC_PERF_AUX_OVERWRITE = 2, REC_PERF_AUX_RAW = 0x100 };

enum rec_perf_unit { REC_PERF_ETMV3, REC_PERF_ETMV4, REC_PERF_ETE };

/** A processor's trace unit: parameters in the order of the file format. */
struct rec_perf_cpu {
    int32_t cpu;
    enum rec_perf_unit unit;
    uint64_t words[9];
    unsigned count; /**< 4 of ETMv3, 7 or more of ETMv4, 8 or more of ETE */
};

struct rec_perf_config {
    bool pipe;        /**< as `-o -` writes it, else a file */
    unsigned version; /**< of the metadata: 0, 1, 2 */
    bool snapshot;
    const struct rec_perf_cpu *cpus; /**< has to stay, and be known, when the file is finished */
    size_t cpu_count;
    const char *arch; /**< of the machine; stock perf asks for it. NULL: no features at all */
    bool has_clock;   /**< TIME_CONV: nanoseconds = zero + (cycles * mult >> shift) */
    uint64_t shift, mult, zero;
};

/** The task and the time of a record. */
struct rec_perf_sample {
    int32_t pid, tid, cpu; /**< cpu -1: per-thread recording */
    uint64_t time;
};

struct rec_perf_map {
    uint64_t address, size, offset;
    uint32_t prot; /**< 4: execute */
    bool kernel;
    const char *path;
    const uint8_t *build_id;
    uint8_t build_id_size;
};

struct rec_perf {
    struct rec_perf_config config;
    struct rec_bytes data;  /**< records */
    struct rec_bytes index; /**< 8 bytes each: where in them AUXTRACE records begin */
};

void rec_perf_begin(struct rec_perf *perf, const struct rec_perf_config *config);
void rec_perf_fork(struct rec_perf *perf, const struct rec_perf_sample *sample, int32_t parent);
/** `exec`: because another program runs from now on. */
void rec_perf_comm(struct rec_perf *perf, const struct rec_perf_sample *sample, const char *name,
                   bool exec);
void rec_perf_map(struct rec_perf *perf, const struct rec_perf_sample *sample,
                  const struct rec_perf_map *map);
void rec_perf_itrace_start(struct rec_perf *perf, const struct rec_perf_sample *sample);
/** Version 2: this processor's trace id; `sink`: and its sink. */
void rec_perf_hw_id(struct rec_perf *perf, const struct rec_perf_sample *sample, uint8_t id,
                    const uint32_t *sink);
void rec_perf_aux(struct rec_perf *perf, const struct rec_perf_sample *sample, uint64_t offset,
                  uint64_t size, uint64_t flags);
/** A piece of a buffer; of a thread's where cpu is -1. */
void rec_perf_trace(struct rec_perf *perf, int32_t cpu, int32_t tid, uint64_t offset,
                    const struct rec_bytes *trace);
void rec_perf_round(struct rec_perf *perf);
/** Any record, by its type and body; `sample` NULL: perf's own, without one. */
void rec_perf_record(struct rec_perf *perf, uint32_t type, uint16_t misc,
                     const struct rec_bytes *body, const struct rec_perf_sample *sample);

/** The whole file follows the bytes that are in `out`; the object is empty then. */
void rec_perf_finish(struct rec_perf *perf, struct rec_bytes *out);

#endif
