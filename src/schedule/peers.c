// SPDX-License-Identifier: MIT
#include "schedule/peers.h"

#include "files/outfile.h"
#include "files/scratch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- messages ---- */

void pug_peers_begin(struct pug_peers *peers)
{
    peers->run++;
}

static uint32_t channel_of(const struct pug_peers *peers, enum pug_peers_channel channel)
{
    return peers->run * PUG_PEERS_CHANNELS + channel;
}

void pug_peers_send(struct pug_peers *peers, unsigned to, enum pug_peers_channel channel,
                    const void *bytes, size_t size)
{
    peers->sent_messages++;
    peers->sent_bytes += size;
    peers->send(peers->context, to, channel_of(peers, channel), bytes, size);
}

bool pug_peers_receive(struct pug_peers *peers, unsigned from, enum pug_peers_channel channel,
                       bool wait, struct pug_peers_message *message)
{
    return peers->receive(peers->context, from, channel_of(peers, channel), wait, message);
}

void pug_peers_fail(const struct pug_peers *peers, const char *why)
{
    peers->fail(peers->context, why);
    abort();
}

void pug_peers_share(struct pug_peers *peers, void *bytes, size_t size)
{
    struct pug_peers_message message;
    for (unsigned to = 1; peers->number == 0 && to < peers->count; to++)
        pug_peers_send(peers, to, PUG_PEERS_DATA, bytes, size);
    if (peers->number == 0)
        return;
    (void)pug_peers_receive(peers, 0, PUG_PEERS_DATA, true, &message);
    if (message.size != size)
        pug_peers_fail(peers, "the processes are not doing the same");
    if (size > 0)
        memcpy(bytes, message.bytes, size);
    free(message.bytes);
}

/* ---- spools ---- */

#define MEMORY ((size_t)64 << 20)

bool pug_spool_open(struct pug_spool *spool, const char *path, uint64_t size)
{
    const int descriptor = pug_outfile_go_on(path, size);
    pug_spool_free(spool);
    spool->file = descriptor >= 0 ? fdopen(descriptor, "r+b") : NULL;
    spool->size = size;
    if (!spool->file && descriptor >= 0)
        close(descriptor);
    return spool->file && fseeko(spool->file, (off_t)size, SEEK_SET) == 0;
}

bool pug_spool_settle(struct pug_spool *spool)
{
    return !spool->file || (fflush(spool->file) == 0 && fsync(fileno(spool->file)) == 0);
}

static bool grow(struct pug_spool *spool, size_t size)
{
    const size_t room = ((size_t)spool->size + size) * 2;
    uint8_t *grown = realloc(spool->bytes, room);
    if (!grown)
        return false;
    spool->bytes = grown;
    spool->room = room;
    return true;
}

/** Memory's content goes into a file. */
static bool move_out(struct pug_spool *spool)
{
    spool->file = pug_scratch_stream();
    const bool good = spool->file && (spool->size == 0 || fwrite(spool->bytes, 1, spool->size,
                                                                 spool->file) == spool->size);
    free(spool->bytes);
    spool->bytes = NULL;
    return good;
}

bool pug_spool_put(struct pug_spool *spool, const void *bytes, size_t size)
{
    bool good = true;
    if (size == 0)
        return true;
    if (!spool->file && spool->size + size > MEMORY)
        good = move_out(spool);
    else if (!spool->file && size > spool->room - spool->size)
        good = grow(spool, size);
    if (good && spool->file)
        good = fwrite(bytes, 1, size, spool->file) == size;
    else if (good)
        memcpy(spool->bytes + spool->size, bytes, size);
    spool->size += good ? size : 0;
    return good;
}

bool pug_spool_get(struct pug_spool *spool, uint64_t at, void *bytes, size_t size)
{
    if (spool->file)
        return fseeko(spool->file, (off_t)at, SEEK_SET) == 0 &&
               fread(bytes, 1, size, spool->file) == size;
    if (size > 0)
        memcpy(bytes, spool->bytes + at, size);
    return true;
}

void pug_spool_free(struct pug_spool *spool)
{
    if (spool->file)
        fclose(spool->file);
    free(spool->bytes);
    *spool = (struct pug_spool){0};
}
