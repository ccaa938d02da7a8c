// SPDX-License-Identifier: MIT
/**
 * @file Trace bytes go into a buffer file; where code changes the buffer is closed with the memory
 * that it ran in, and another begins. The descriptions come last, when it is known what there is.
 */
#include "recorder/session.h"

#include "files/outfile.h"
#include "recorder/frames.h"
#include "recorder/perf_write.h"
#include "recorder/snapshot_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536u /* bytes of trace that are written at once */

struct rec_session {
    struct rec_session_config config;
    struct rec_engine *engine;
    struct snapshot_write *snapshot;
    struct perf_write *perf; /* instead of it */
    struct rec_bytes trace;  /* not yet written; of a circular sink all of it */
    struct rec_frames frames;
    struct rec_random random; /* of the formatter's choices */
    struct pug_outfile *file; /* the buffer underway */
    struct rec_path_writer *writer;
    uint64_t bytes;
    unsigned buffers;
    char why[256];
};

static bool fail(struct rec_session *session, const char *what, const char *name)
{
    if (!session->why[0])
        snprintf(session->why, sizeof(session->why), "%.60s%s%.180s", what, name ? " " : "",
                 name ? name : "");
    return false;
}

static bool fail_errno(struct rec_session *session, const char *name)
{
    char what[64];
    snprintf(what, sizeof(what), "%s:", strerror(errno));
    return fail(session, what, name);
}

/* ---- the buffer underway ---- */

static bool open_buffer(struct rec_session *session)
{
    char name[4096];
    snapshot_write_name(session->snapshot, SNAPSHOT_TRACE, session->buffers, 0, name, sizeof(name));
    session->buffers++;
    session->frames = (struct rec_frames){
        .out = &session->trace, .random = session->config.free_frames ? &session->random : NULL};
    if (pug_outfile_open(name, &session->file) != PUG_OK)
        return fail_errno(session, name);
    return true;
}

static bool write_trace(struct rec_session *session)
{
    if (session->trace.failed)
        return fail(session, "no memory", NULL);
    struct pug_sink sink = pug_outfile_sink(session->file);
    pug_sink_put(&sink, session->trace.data, session->trace.size);
    session->bytes += session->trace.size;
    session->trace.size = 0;
    return !pug_outfile_failed(session->file) || fail_errno(session, "trace");
}

static bool take_trace(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct rec_session *session = context;
    const struct rec_engine_config *engine = &session->config.engine;
    if (session->perf)
        return perf_write_trace(session->perf, stream, bytes, size);
    if (!session->file && !open_buffer(session))
        return false;
    if (engine->unit_class->frames)
        rec_frames_put(&session->frames, (uint8_t)(engine->first_source + stream), bytes, size);
    else
        rec_put_n(&session->trace, bytes, size);
    if (session->config.circular) {
        if (session->trace.size > 2 * session->config.room + PIECE)
            rec_bytes_forget(&session->trace, session->config.room);
        return !session->trace.failed || fail(session, "no memory", NULL);
    }
    return session->trace.size < PIECE || write_trace(session);
}

static bool take_cut(void *context, unsigned stream, uint64_t time)
{
    struct rec_session *session = context;
    return perf_write_cut(session->perf, session->engine, stream, time);
}

/** Code changes, or all is over: the buffer and its memory are complete. */
static bool take_memory(void *context, const struct rec_memory *memory)
{
    struct rec_session *session = context;
    if (!session->file)
        return true; /* nothing was traced */
    if (session->config.engine.unit_class->frames)
        rec_frames_finish(&session->frames);
    if (session->config.circular)
        rec_bytes_forget(&session->trace, session->config.room);
    if (!write_trace(session))
        return false;
    struct pug_outfile *file = session->file;
    session->file = NULL;
    if (pug_outfile_commit(file) != PUG_OK)
        return fail_errno(session, "trace");
    if (!snapshot_write_memory(session->snapshot, memory))
        return fail_errno(session, "memory");
    return true;
}

static bool take_path(void *context, const struct rec_path_item *item)
{
    struct rec_session *session = context;
    if (session->writer)
        rec_path_writer_put(session->writer, item);
    return true;
}

/* ---- beginning and end ---- */

static bool open_path(struct rec_session *session)
{
    struct pug_outfile *path = session->config.path;
    if (!path)
        return true;
    session->writer =
        rec_path_writer_new(pug_outfile_descriptor(path), &session->config.engine.path);
    return session->writer || fail(session, "no memory", NULL);
}

static bool begin(struct rec_session *session)
{
    struct rec_session_config *config = &session->config;
    const struct rec_engine_output output = {.trace = take_trace,
                                             .memory = take_memory,
                                             .cut = config->perf ? take_cut : NULL,
                                             .path = config->path ? take_path : NULL,
                                             .context = session};
    if (config->perf && !perf_write_takes(config->engine.unit_class))
        return fail(session, "perf.data has no trace of this kind", NULL);
    if (config->perf) {
        session->perf = perf_write_new(config);
        config->engine.wanted = perf_write_has;
        config->engine.wanted_context = session->perf;
    } else {
        session->snapshot = snapshot_write_new(config);
    }
    session->engine = rec_engine_new(&config->engine, &output);
    if ((!session->snapshot && !session->perf) || !session->engine)
        return fail(session, "no memory", NULL);
    return open_path(session);
}

struct rec_session *rec_session_new(const struct rec_session_config *config, char *why, size_t size)
{
    struct rec_session *session = calloc(1, sizeof(*session));
    if (!session) {
        snprintf(why, size, "no memory");
        return NULL;
    }
    session->config = *config;
    session->random.state = config->engine.seed;
    if (begin(session))
        return session;
    snprintf(why, size, "%s", session->why);
    rec_session_free(session);
    return NULL;
}

bool rec_session_take(struct rec_session *session, const struct rec_path_item *item)
{
    const struct rec_engine_config *engine = &session->config.engine;
    if (item->kind == REC_PATH_RAN && engine->unit_class->reaches &&
        !engine->unit_class->reaches(engine->values, engine->path.family, engine->data, item))
        return fail(session, "what ran has addresses that need more bits than are set", NULL);
    bool more = rec_engine_take(session->engine, item);
    if (session->snapshot)
        snapshot_write_item(session->snapshot, item);
    if (session->perf && !perf_write_item(session->perf, session->engine, item))
        return fail(session, "no memory", NULL);
    return more;
}

static bool end(struct rec_session *session)
{
    if (session->why[0])
        return false; /* it ended before the path did */
    if (!rec_engine_end(session->engine))
        return fail(session, rec_engine_error(session->engine), NULL);
    if (session->perf && perf_write_stretches(session->perf) == 0)
        return fail(session, "nothing ran of a file that the path names", NULL);
    if (!session->perf && session->buffers == 0)
        return fail(session, "nothing ran that could be traced", NULL);
    if (session->writer && !rec_path_writer_end(session->writer))
        return fail_errno(session, "the path");
    if (session->perf)
        return perf_write_end(session->perf, session->engine) ||
               fail_errno(session, session->config.perf);
    if (!snapshot_write_descriptions(session->snapshot, session->engine))
        return fail_errno(session, session->config.folder);
    return true;
}

bool rec_session_end(struct rec_session *session, char *why, size_t size)
{
    bool good = end(session);
    if (!good)
        snprintf(why, size, "%s", session->why);
    return good;
}

struct rec_session_result rec_session_result(const struct rec_session *session)
{
    return (struct rec_session_result){
        .instructions = rec_engine_instructions(session->engine),
        .bytes = session->perf ? perf_write_bytes(session->perf) : session->bytes,
        .lost = rec_engine_lost(session->engine),
        .left_out = rec_engine_left_out(session->engine),
        .sources = rec_engine_streams(session->engine),
        .buffers = session->buffers,
        .programs = session->snapshot ? snapshot_write_programs(session->snapshot) : 0};
}

void rec_session_free(struct rec_session *session)
{
    if (!session)
        return;
    rec_engine_free(session->engine);
    snapshot_write_free(session->snapshot);
    perf_write_free(session->perf);
    rec_path_writer_free(session->writer);
    pug_outfile_abandon(session->file);
    rec_bytes_free(&session->trace);
    free(session);
}
