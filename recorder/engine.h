// SPDX-License-Identifier: MIT
/**
 * @file The flow engine: a path goes in, item by item. For each processor a unit of the chosen
 * protocol gets the events, and the content of executed memory is kept.
 */
#ifndef PUG_RECORDER_ENGINE_H
#define PUG_RECORDER_ENGINE_H

#include "recorder/memory.h"
#include "recorder/path.h"
#include "recorder/unit.h"

/** How a system call appears in the trace. */
enum rec_calls {
    REC_CALLS_OFF,    /**< an exception; the supervisor is not traced, and trace restarts afterwards
                       */
    REC_CALLS_ON,     /**< an exception whose handler goes on where the program does */
    REC_CALLS_SILENT, /**< nothing, where it returns to the next instruction */
};

struct rec_range {
    uint64_t start, end; /**< end: the address after it */
};

struct rec_engine_config {
    const struct rec_unit_class *unit_class;
    const uint64_t *values;
    struct rec_path_header path;
    const char
        *core; /**< what the processors are, where the user says it; NULL: what the path says */
    uint16_t first_source;
    unsigned sources; /**< at most so many processors are traced */
    enum rec_calls calls;
    bool context_ids;
    bool data;                                                  /**< data are traced */
    uint64_t sync_every, time_every, cycles_every, other_every; /**< instructions; 0: never */
    uint64_t limit;                 /**< instructions in all; 0: no limit */
    double loss;                    /**< part of the instructions whose trace is lost, 0 to 1 */
    uint64_t room;                  /**< bytes of trace between two overflows; 0: none ever */
    const struct rec_range *ranges; /**< only blocks that begin in one of them; none: all */
    size_t range_count;
    /** Only blocks whose address it likes, too; NULL: all. */
    bool (*wanted)(void *context, uint64_t address);
    void *wanted_context;
    uint64_t stretch; /**< bytes of a source's trace after which it restarts; 0: never */
    uint64_t seed;
};

/** What the engine gives. False: it cannot be taken, and the engine stops. */
struct rec_engine_output {
    /** Trace bytes of a source, whole packets. */
    bool (*trace)(void *context, unsigned stream, const uint8_t *bytes, size_t size);
    /** All memory that was executed, where code is about to change, and at the end. */
    bool (*memory)(void *context, const struct rec_memory *memory);
    /**
     * The source restarts, as after a reset, for itself, or because another task runs: the bytes
     * since the last restart are a segment, which ended at `time`. NULL: of no interest.
     */
    bool (*cut)(void *context, unsigned stream, uint64_t time);
    /** The path as trace can show it: without the parts that trace lacks. */
    bool (*path)(void *context, const struct rec_path_item *item);
    void *context;
};

struct rec_engine;

/** NULL: no memory. The configuration's tables stay the caller's, and have to stay. */
struct rec_engine *rec_engine_new(const struct rec_engine_config *config,
                                  const struct rec_engine_output *output);
void rec_engine_free(struct rec_engine *engine);

/** False: no more is wanted (the limit), or something failed. */
bool rec_engine_take(struct rec_engine *engine, const struct rec_path_item *item);
/** All sources restart. False: something failed. */
bool rec_engine_cut(struct rec_engine *engine);
/** The path is at its end. False: something failed. */
bool rec_engine_end(struct rec_engine *engine);

const char *rec_engine_error(const struct rec_engine *engine); /**< NULL: none */
uint64_t rec_engine_instructions(const struct rec_engine *engine);
unsigned rec_engine_streams(const struct rec_engine *engine);
/** Processor and thread of a stream. */
void rec_engine_stream(const struct rec_engine *engine, unsigned stream, unsigned *cpu,
                       uint64_t *task);
/** What the processors are, as a snapshot names it: "Cortex-M33"; NULL: not known. */
const char *rec_engine_core(const struct rec_engine *engine);
/** Sets what of a unit's setup the processors' kind decides. */
void rec_engine_profile(const struct rec_engine *engine, struct rec_unit_setup *setup);
/** Processors that were left out because there are too many, and overflows. */
uint64_t rec_engine_left_out(const struct rec_engine *engine);
uint64_t rec_engine_lost(const struct rec_engine *engine);

#endif
