// SPDX-License-Identifier: MIT
/** @file Compressed records (section 4): all of a file's are one zstd stream. */
#include "perfdata/perfdata.h"

#ifdef PUG_WITH_ZSTD

#include "files/zstd.h"

#include <stdlib.h>
#include <string.h>

/* What comes out at a time, and the longest record that may wait for its rest. */
#define CHUNK   ((size_t)128 << 10)
#define LONGEST ((size_t)64 << 10)

/*
 * Records compress well, but not so well: each has its own time. What gives more is made to fill
 * memory, of which a byte of record takes up to fourteen.
 */
#define MOST_FACTOR 24u
#define MOST_FREE   ((uint64_t)16 << 20)

struct pug_perf_unzip {
    struct pug_zstd zstd;
    ZSTD_DStream *stream;
    uint8_t bytes[CHUNK + LONGEST];
    size_t held;
    bool ended; /* it is damaged: nothing more is taken */
};

/** PUG_ERR_NOT_BUILT: this machine has no libzstd. */
static enum pug_status unzip_new(struct pug_perf_unzip **out)
{
    struct pug_perf_unzip *state = calloc(1, sizeof(*state));
    if (!state)
        return PUG_ERR_MEM;
    if (!pug_zstd_load(&state->zstd)) {
        free(state);
        return PUG_ERR_NOT_BUILT;
    }
    state->stream = state->zstd.create();
    if (state->stream && !state->zstd.is_error(state->zstd.begin(state->stream))) {
        *out = state;
        return PUG_OK;
    }
    pug_perf_unzip_free(state);
    return PUG_ERR_MEM;
}

void pug_perf_unzip_free(struct pug_perf_unzip *state)
{
    if (!state)
        return;
    state->zstd.end(state->stream);
    pug_zstd_unload(&state->zstd);
    free(state);
}

/** Reads the whole records and keeps the rest. */
static void take_records(struct pug_perf *perf, struct pug_perf_unzip *state, uint32_t file,
                         uint64_t place)
{
    size_t taken =
        pug_perf_walk_memory(perf, file, place, state->bytes, state->held, &state->ended);
    state->held -= taken;
    memmove(state->bytes, state->bytes + taken, state->held);
    if (state->held > LONGEST && !state->ended) {
        state->ended = true;
        pug_perf_damage(perf, file, place, PUG_PERF_COMPRESSED, "a record inside is too long");
    }
}

void pug_perf_unzip_end(struct pug_perf *perf, struct pug_perf_unzip *state, uint32_t file)
{
    if (state && state->held > 0 && !state->ended)
        pug_perf_damage(perf, file, perf->place.offset, PUG_PERF_COMPRESSED,
                        "what is compressed ends inside a record");
}

enum pug_status pug_perf_unzip(struct pug_perf *perf, struct pug_perf_unzip **at, uint32_t file,
                               uint64_t place, const uint8_t *bytes, size_t size)
{
    const enum pug_status status = *at ? PUG_OK : unzip_new(at);
    if (status == PUG_ERR_NOT_BUILT)
        pug_perf_damage(perf, file, place, PUG_PERF_COMPRESSED,
                        "records are compressed, and libzstd.so.1, which unpacks them, cannot be "
                        "loaded; install it (on Debian the package libzstd1)");
    if (status != PUG_OK)
        return status;
    struct pug_perf_unzip *state = *at;
    ZSTD_inBuffer in = {bytes, size, 0};
    bool more = true;
    perf->packed += size;
    while (!state->ended && (more || in.pos < in.size)) {
        ZSTD_outBuffer out = {state->bytes + state->held, sizeof(state->bytes) - state->held, 0};
        size_t hint = state->zstd.unpack(state->stream, &out, &in);
        state->held += out.pos;
        perf->unpacked += out.pos;
        more = out.pos == out.size;
        const char *trouble = state->zstd.is_error(hint) ? state->zstd.error_name(hint) : NULL;
        if (perf->unpacked > MOST_FREE && perf->unpacked / MOST_FACTOR > perf->packed)
            trouble = "it unpacks to far too much";
        if (trouble) {
            state->ended = true;
            pug_perf_damage(perf, file, place, PUG_PERF_COMPRESSED, trouble);
            break;
        }
        take_records(perf, state, file, place);
    }
    return PUG_OK;
}

#else

enum pug_status pug_perf_unzip(struct pug_perf *perf, struct pug_perf_unzip **state, uint32_t file,
                               uint64_t place, const uint8_t *bytes, size_t size)
{
    (void)state;
    (void)bytes;
    (void)size;
    pug_perf_damage(perf, file, place, PUG_PERF_COMPRESSED,
                    "records are compressed, which this build cannot unpack; it was made without "
                    "zstd (PUG_ZSTD)");
    return PUG_ERR_NOT_BUILT;
}

void pug_perf_unzip_end(struct pug_perf *perf, struct pug_perf_unzip *state, uint32_t file)
{
    (void)perf;
    (void)state;
    (void)file;
}

void pug_perf_unzip_free(struct pug_perf_unzip *state)
{
    (void)state;
}

#endif
