// SPDX-License-Identifier: MIT
#include "schedule/checkpoint.h"

#include "files/infile.h"
#include "files/outfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define SIZE_LIMIT ((size_t)1 << 30)

/** In front of a record. */
struct header {
    char magic[8];
    uint64_t identity, size, hash;
};

static const char magic[8] = {'P', 'U', 'G', 'K', 'E', 'P', 'T', '2'};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static uint64_t hash_bytes(const uint8_t *bytes, size_t size)
{
    uint64_t hash = size;
    for (uint64_t word = 0; size > 0; word = 0) {
        const size_t part = size < sizeof(word) ? size : sizeof(word);
        memcpy(&word, bytes, part);
        hash = pug_checkpoint_mix(hash, word);
        bytes += part;
        size -= part;
    }
    return hash;
}

static bool name(char path[4096], const struct pug_peers *peers, const char *what)
{
    const int length = snprintf(path, 4096, "%s/%06" PRIu32 ".%u.%s", peers->keep->folder,
                                peers->run, peers->number, what);
    return length > 0 && length < 4096;
}

void pug_checkpoint_open(struct pug_checkpoint *kept, const struct pug_peers *peers,
                         uint64_t identity)
{
    *kept = (struct pug_checkpoint){.keep = peers->keep, .identity = identity};
    if (!kept->keep)
        return;
    kept->identity = pug_checkpoint_mix(kept->identity, peers->keep->identity);
    kept->identity =
        pug_checkpoint_mix(kept->identity, (uint64_t)peers->count << 32 | peers->number);
    kept->due = now() + kept->keep->interval;
    if (!name(kept->record, peers, "record") || !name(kept->spool, peers, "made"))
        kept->keep = NULL;
}

bool pug_checkpoint_load(const struct pug_checkpoint *kept, uint8_t **bytes,
                         struct pug_bytes *record)
{
    struct header header;
    size_t size;
    if (!kept->keep || pug_infile_load(kept->record, SIZE_LIMIT, bytes, &size) != PUG_OK)
        return false;
    *record = pug_bytes_of(*bytes, size);
    const uint8_t *at = pug_bytes_take(record, sizeof(header));
    if (at)
        memcpy(&header, at, sizeof(header));
    const bool good = at && memcmp(header.magic, magic, sizeof(magic)) == 0 &&
                      header.identity == kept->identity && header.size == pug_bytes_left(record) &&
                      header.hash == hash_bytes(record->at, (size_t)header.size);
    if (!good)
        free(*bytes);
    return good;
}

bool pug_checkpoint_due(const struct pug_checkpoint *kept)
{
    return kept->keep && now() >= kept->due;
}

void pug_checkpoint_save(struct pug_checkpoint *kept, const struct pug_state *record)
{
    struct header header = {.identity = kept->identity, .size = record->size};
    struct pug_state all = {0};
    memcpy(header.magic, magic, sizeof(magic));
    header.hash = record->failed ? 0 : hash_bytes(record->bytes, record->size);
    pug_state_put(&all, &header, sizeof(header));
    pug_state_put(&all, record->bytes, record->size);
    if (!record->failed && !all.failed &&
        (!kept->keep->settle || kept->keep->settle(kept->keep->context)))
        (void)pug_outfile_save(kept->record, all.bytes, all.size);
    pug_state_free(&all);
    kept->due = now() + kept->keep->interval;
}
