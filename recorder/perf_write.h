// SPDX-License-Identifier: MIT
/** @file A recording as perf.data: stretches of trace, and which files the code came from. */
#ifndef PUG_RECORDER_PERF_WRITE_H
#define PUG_RECORDER_PERF_WRITE_H

#include "recorder/engine.h"

struct rec_session_config;
struct perf_write;

/** Can this kind of trace be in perf.data? */
bool perf_write_takes(const struct rec_unit_class *unit_class);

/** NULL: no memory. The configuration stays the caller's, and has to stay. */
struct perf_write *perf_write_new(const struct rec_session_config *config);
void perf_write_free(struct perf_write *perf);

/** Trace of a source; and its end, which makes a stretch of what was given. False: no memory. */
bool perf_write_trace(struct perf_write *perf, unsigned stream, const uint8_t *bytes, size_t size);
bool perf_write_cut(struct perf_write *perf, const struct rec_engine *engine, unsigned stream,
                    uint64_t time);

/** What the path says of tasks and maps, which the engine has taken. False: something failed. */
bool perf_write_item(struct perf_write *perf, struct rec_engine *engine,
                     const struct rec_path_item *item);

/** Is the code of a file? Without it the address cannot be found by a reader of perf.data. */
bool perf_write_has(void *perf, uint64_t address);

/** Bytes of trace, and stretches, so far. */
uint64_t perf_write_bytes(const struct perf_write *perf);
unsigned perf_write_stretches(const struct perf_write *perf);

/** Write the file. False: errno says why. */
bool perf_write_end(struct perf_write *perf, const struct rec_engine *engine);

#endif
