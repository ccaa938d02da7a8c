// SPDX-License-Identifier: MIT
/** @file A recording: a path in, a snapshot folder or perf.data out. */
#ifndef PUG_RECORDER_SESSION_H
#define PUG_RECORDER_SESSION_H

#include "recorder/engine.h"

struct pug_outfile;

struct rec_session_config {
    struct rec_engine_config engine;
    const char *folder;       /**< of the snapshot: an empty one */
    const char *perf;         /**< NULL: a snapshot; else the perf.data to write instead */
    bool perf_by_cpu;         /**< its buffers are processors', not threads' */
    const char *core;         /**< NULL: what the protocol suggests */
    struct pug_outfile *path; /**< file for the path as trace shows it; NULL: none */
    bool circular; /**< the sink keeps the newest `room` bytes: engine.room is of no matter */
    uint64_t room;
    bool free_frames; /**< the formatter pads and repeats ids under the engine's seed */
};

struct rec_session;

/** NULL: it cannot be; `why` (of `size` bytes) says why. */
struct rec_session *rec_session_new(const struct rec_session_config *config, char *why,
                                    size_t size);

/** False: no more is wanted, or something failed: rec_session_end() reports which. */
bool rec_session_take(struct rec_session *session, const struct rec_path_item *item);

/** Write all that is left. False: something failed; `why` says what. */
bool rec_session_end(struct rec_session *session, char *why, size_t size);

struct rec_session_result {
    uint64_t instructions, bytes, lost, left_out;
    unsigned sources, buffers, programs;
};

struct rec_session_result rec_session_result(const struct rec_session *session);

/** A session that is freed without its end writes nothing more. */
void rec_session_free(struct rec_session *session);

#endif
