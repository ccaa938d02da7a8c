// SPDX-License-Identifier: MIT
/** @file Records of perf.data, and the facts that are made of them. */
#ifndef PUG_PERFDATA_FACTS_H
#define PUG_PERFDATA_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- limits ---- */

#define PUG_PERF_ATTRS   4096u       /* attributes */
#define PUG_PERF_IDS     (1u << 20)  /* event ids */
#define PUG_PERF_CPUS    65536u      /* processors in AUXTRACE_INFO */
#define PUG_PERF_FEATURE (64u << 20) /* bytes of a feature or a record that is kept */
#define PUG_PERF_FILES   4096u       /* data.N of a directory */
#define PUG_PERF_RANGES  65536u      /* executable ranges of a process at one time */

/* ---- records ---- */

enum pug_perf_type {
    PUG_PERF_MMAP = 1,
    PUG_PERF_LOST = 2,
    PUG_PERF_COMM = 3,
    PUG_PERF_EXIT = 4,
    PUG_PERF_FORK = 7,
    PUG_PERF_SAMPLE = 9,
    PUG_PERF_MMAP2 = 10,
    PUG_PERF_AUX = 11,
    PUG_PERF_ITRACE_START = 12,
    PUG_PERF_LOST_SAMPLES = 13,
    PUG_PERF_SWITCH = 14,
    PUG_PERF_SWITCH_CPU_WIDE = 15,
    PUG_PERF_NAMESPACES = 16,
    PUG_PERF_KSYMBOL = 17,
    PUG_PERF_TEXT_POKE = 20,
    PUG_PERF_HW_ID = 21,
    PUG_PERF_HEADER_ATTR = 64,
    PUG_PERF_TRACING_DATA = 66,
    PUG_PERF_BUILD_ID = 67,
    PUG_PERF_FINISHED_ROUND = 68,
    PUG_PERF_AUXTRACE_INFO = 70,
    PUG_PERF_AUXTRACE = 71,
    PUG_PERF_AUXTRACE_ERROR = 72,
    PUG_PERF_TIME_CONV = 79,
    PUG_PERF_FEATURE_RECORD = 80,
    PUG_PERF_COMPRESSED = 81,
    PUG_PERF_COMPRESSED2 = 83,
    PUG_PERF_SIMPLEPERF = 32768, /**< from here on the size has 32 bits */
    PUG_PERF_KERNEL_SYMBOLS = 32769,
    PUG_PERF_SPLIT = 32772,
    PUG_PERF_SPLIT_END = 32773,
};

struct pug_perf_record {
    uint32_t type;
    uint16_t misc;
    uint32_t file;   /**< number of the file it stands in */
    uint64_t offset; /**< there; of a compressed one: of its compressed record */
    const uint8_t *body;
    size_t size;     /**< of the body */
    uint64_t behind; /**< file offset of the bytes after the record; 0: it is compressed */
};

struct pug_perf_attr {
    uint32_t type;
    uint64_t config, config2, sample_type, flags;
    /* The sample id block, as these say: its size, where fields are in it, or -1 … */
    uint8_t sample_size;
    int8_t tid_at, time_at, cpu_at;
    uint8_t id_from_end; /**< … and where the event id is in it; 0: it has none */
};

struct pug_perf_id {
    uint64_t id;
    uint32_t attr;
};

/** The content of a record's sample id block (section 6). */
struct pug_perf_sample {
    int32_t pid, tid; /**< -1: it does not say */
    int32_t cpu;
    uint64_t time;
};

/* ---- facts ---- */

/** There may be millions of these, and of what is made of them. */
struct pug_perf_aux {
    uint64_t time, offset, size;
    uint64_t place; /**< of the record in its file, for messages */
    int32_t cpu, tid;
    uint32_t order; /**< of records in the files */
    uint16_t flags, file;
};

/** Parts of a file that are looked through at once. */
#define PUG_PERF_SCOUTS 8u

struct pug_perf_auxtrace {
    uint64_t offset, size; /**< in the buffer's endless stream */
    uint64_t at;           /**< in the file */
    uint64_t reach;        /**< the furthest end of this piece and those of its buffer before it */
    uint32_t file;
    int32_t cpu, tid;
};

struct pug_perf_hw_id {
    uint64_t place; /**< of the record in its file, for messages */
    uint32_t file;
    int32_t cpu;
    uint32_t sink;
    uint8_t id;
    bool has_sink;
};

enum pug_perf_registers { PUG_PERF_ETMV3, PUG_PERF_ETMV4, PUG_PERF_ETE };

/** A processor that AUXTRACE_INFO describes. */
struct pug_perf_cpu {
    int32_t cpu;
    enum pug_perf_registers kind;
    uint64_t words[9]; /**< parameters in their order; absent ones are 0 */
    uint32_t count;    /**< of parameters that are there */
    uint8_t id;        /**< trace id */
    bool has_trace;
    bool has_sink;
    uint32_t sink;
};

enum pug_perf_event_kind {
    PUG_PERF_EVENT_MAP,
    PUG_PERF_EVENT_NAME,
    PUG_PERF_EVENT_EXEC,
    PUG_PERF_EVENT_FORK,  /**< a new process */
    PUG_PERF_EVENT_START, /**< a thread is known to belong to a process */
    PUG_PERF_EVENT_SYMBOL,
    PUG_PERF_EVENT_POKE,
};

/** Whose maps and memory. */
enum pug_perf_machine { PUG_PERF_HOST, PUG_PERF_GUEST };

/** An event that changes the state at a time. */
struct pug_perf_event {
    uint64_t time;
    uint32_t order;
    uint8_t kind;    /**< enum pug_perf_event_kind */
    uint8_t machine; /**< enum pug_perf_machine */
    bool executable, kernel;
    bool has_maps; /**< FORK: those of its parent */
    int32_t pid, tid, parent, parent_tid;
    uint64_t address, size, offset;
    uint32_t object;
    uint32_t text;        /**< POKE: its number */
    const char *name;     /**< NAME, EXEC */
    const uint8_t *bytes; /**< POKE: the new text, `size` of it */
};

#endif
