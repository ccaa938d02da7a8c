// SPDX-License-Identifier: MIT
#include "files/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef PUG_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef PUG_WITH_LZMA
#include <lzma.h>
#endif
#ifdef PUG_WITH_ZSTD
#include "files/zstd.h"
#endif

#define ROOM ((size_t)64 << 10)

struct pug_unpack {
    enum pug_unpack_kind kind;
    bool ended;
    uint8_t room[ROOM];
#ifdef PUG_WITH_ZLIB
    z_stream gzip;
#endif
#ifdef PUG_WITH_LZMA
    lzma_stream xz;
#endif
#ifdef PUG_WITH_ZSTD
    struct pug_zstd zstd;
    ZSTD_DStream *stream;
#endif
};

enum pug_unpack_kind pug_unpack_kind(const char *path)
{
    static const struct {
        const char *tail;
        enum pug_unpack_kind kind;
    } kinds[] = {{".gz", PUG_UNPACK_GZIP}, {".xz", PUG_UNPACK_XZ}, {".zst", PUG_UNPACK_ZSTD}};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t tail = strlen(kinds[i].tail);
        if (length > tail && strcmp(path + length - tail, kinds[i].tail) == 0)
            return kinds[i].kind;
    }
    return PUG_UNPACK_NONE;
}

/* A piece that was unpacked: how much of the input was taken, how much came out. */
struct step {
    size_t in, out;
    bool good;
};

/* ---- gzip ---- */

#ifdef PUG_WITH_ZLIB

#define GZIP_WINDOW (16 + MAX_WBITS)

static bool gzip_begin(struct pug_unpack *unpack)
{
    return inflateInit2(&unpack->gzip, GZIP_WINDOW) == Z_OK;
}

static struct step gzip_step(struct pug_unpack *unpack, const uint8_t *bytes, size_t size)
{
    unpack->gzip.next_in = (Bytef *)(uintptr_t)bytes;
    unpack->gzip.avail_in = (uInt)size;
    unpack->gzip.next_out = unpack->room;
    unpack->gzip.avail_out = ROOM;
    const int code = inflate(&unpack->gzip, Z_NO_FLUSH);
    unpack->ended = code == Z_STREAM_END;
    return (struct step){size - unpack->gzip.avail_in, ROOM - unpack->gzip.avail_out,
                         code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR};
}

static void gzip_end(struct pug_unpack *unpack)
{
    inflateEnd(&unpack->gzip);
}

#endif

/* ---- xz ---- */

#ifdef PUG_WITH_LZMA

#define XZ_MEMORY ((uint64_t)256 << 20)

static bool xz_begin(struct pug_unpack *unpack)
{
    unpack->xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&unpack->xz, XZ_MEMORY, 0) == LZMA_OK;
}

static struct step xz_step(struct pug_unpack *unpack, const uint8_t *bytes, size_t size)
{
    unpack->xz.next_in = bytes;
    unpack->xz.avail_in = size;
    unpack->xz.next_out = unpack->room;
    unpack->xz.avail_out = ROOM;
    const lzma_ret code = lzma_code(&unpack->xz, LZMA_RUN);
    unpack->ended = code == LZMA_STREAM_END;
    return (struct step){size - unpack->xz.avail_in, ROOM - unpack->xz.avail_out,
                         code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR};
}

static void xz_end(struct pug_unpack *unpack)
{
    lzma_end(&unpack->xz);
}

#endif

/* ---- zstd ---- */

#ifdef PUG_WITH_ZSTD

static bool zstd_begin(struct pug_unpack *unpack)
{
    if (!pug_zstd_load(&unpack->zstd)) {
        errno = ENOTSUP;
        return false;
    }
    unpack->stream = unpack->zstd.create();
    return unpack->stream && !unpack->zstd.is_error(unpack->zstd.begin(unpack->stream));
}

static struct step zstd_step(struct pug_unpack *unpack, const uint8_t *bytes, size_t size)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    ZSTD_outBuffer out = {unpack->room, ROOM, 0};
    const size_t code = unpack->zstd.unpack(unpack->stream, &out, &in);
    unpack->ended = code == 0;
    return (struct step){in.pos, out.pos, !unpack->zstd.is_error(code)};
}

static void zstd_end(struct pug_unpack *unpack)
{
    if (unpack->zstd.end)
        unpack->zstd.end(unpack->stream);
    pug_zstd_unload(&unpack->zstd);
}

#endif

/* ---- all ---- */

static const struct {
    bool (*begin)(struct pug_unpack *unpack);
    struct step (*step)(struct pug_unpack *unpack, const uint8_t *bytes, size_t size);
    void (*end)(struct pug_unpack *unpack);
} ways[] = {
#ifdef PUG_WITH_ZLIB
    [PUG_UNPACK_GZIP] = {gzip_begin, gzip_step, gzip_end},
#endif
#ifdef PUG_WITH_LZMA
    [PUG_UNPACK_XZ] = {xz_begin, xz_step, xz_end},
#endif
#ifdef PUG_WITH_ZSTD
    [PUG_UNPACK_ZSTD] = {zstd_begin, zstd_step, zstd_end},
#else
    [PUG_UNPACK_ZSTD] = {0},
#endif
};

struct pug_unpack *pug_unpack_new(enum pug_unpack_kind kind)
{
    errno = ENOTSUP;
    struct pug_unpack *unpack = ways[kind].begin ? calloc(1, sizeof(*unpack)) : NULL;
    if (!unpack)
        return NULL;
    unpack->kind = kind;
    errno = 0;
    if (ways[kind].begin(unpack))
        return unpack;
    const int reason = errno == ENOTSUP ? ENOTSUP : ENOMEM;
    pug_unpack_free(unpack);
    errno = reason;
    return NULL;
}

void pug_unpack_free(struct pug_unpack *unpack)
{
    if (!unpack)
        return;
    ways[unpack->kind].end(unpack);
    free(unpack);
}

bool pug_unpack_ended(const struct pug_unpack *unpack)
{
    return unpack->ended;
}

bool pug_unpack_bytes(struct pug_unpack *unpack, const uint8_t *bytes, size_t size,
                      pug_unpack_put_fn *put, void *context)
{
    struct step step = {.out = ROOM};
    /* Also without more input there may be more to come out. */
    while (!unpack->ended && (size > 0 || step.out == ROOM)) {
        step = ways[unpack->kind].step(unpack, bytes, size);
        if (!step.good || (step.in == 0 && step.out == 0 && size > 0)) {
            errno = EINVAL;
            return false;
        }
        if (step.out > 0 && !put(context, unpack->room, step.out))
            return false;
        bytes += step.in;
        size -= step.in;
    }
    return true;
}
