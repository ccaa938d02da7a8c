// SPDX-License-Identifier: MIT
/** @file Compressed records (section 4): all of a file's are one zstd stream. */
#include "perfdata/perfdata.h"

#ifdef PUG_WITH_ZSTD

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

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
    ZSTD_DStream *stream;
    uint8_t bytes[CHUNK + LONGEST];
    size_t held;
    bool ended; /* it is damaged: nothing more is taken */
};

static struct pug_perf_unzip *unzip_new(void)
{
    struct pug_perf_unzip *state = calloc(1, sizeof(*state));
    if (state)
        state->stream = ZSTD_createDStream();
    if (state && state->stream && !ZSTD_isError(ZSTD_initDStream(state->stream)))
        return state;
    pug_perf_unzip_free(state);
    return NULL;
}

void pug_perf_unzip_free(struct pug_perf_unzip *state)
{
    if (!state)
        return;
    ZSTD_freeDStream(state->stream);
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
    if (!*at && !(*at = unzip_new()))
        return PUG_ERR_MEM;
    struct pug_perf_unzip *state = *at;
    ZSTD_inBuffer in = {bytes, size, 0};
    bool more = true;
    perf->packed += size;
    while (!state->ended && (more || in.pos < in.size)) {
        ZSTD_outBuffer out = {state->bytes + state->held, sizeof(state->bytes) - state->held, 0};
        size_t hint = ZSTD_decompressStream(state->stream, &out, &in);
        state->held += out.pos;
        perf->unpacked += out.pos;
        more = out.pos == out.size;
        const char *trouble = ZSTD_isError(hint) ? ZSTD_getErrorName(hint) : NULL;
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
