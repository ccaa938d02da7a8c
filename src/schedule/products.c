// SPDX-License-Identifier: MIT
#include "schedule/products.h"

#include <stdlib.h>
#include <string.h>

/** In front of the bytes of parts. */
struct record {
    uint64_t size;
    uint64_t at; /* of its block */
    uint32_t response;
    uint32_t chunk;
};

struct pug_products {
    const struct pug_jobs_client *client;
    struct pug_spool spool; /* records */
    uint64_t *cuts;         /* where they are in it */
    size_t count, room;
    uint64_t begin; /* what is before does not count */
    /* Products since the last cut, as one. */
    struct pug_jobs_block folded;
    struct pug_state packed; /* room */
};

struct pug_products *pug_products_new(const struct pug_jobs_client *client)
{
    struct pug_products *products = calloc(1, sizeof(*products));
    if (products)
        products->client = client;
    return products;
}

static void drop_folded(struct pug_products *products)
{
    const struct pug_jobs_client *client = products->client;
    if (products->folded.parts)
        pug_parts_free(client->consumers, products->folded.parts);
    products->folded.parts = NULL;
}

void pug_products_free(struct pug_products *products)
{
    if (!products)
        return;
    drop_folded(products);
    pug_spool_free(&products->spool);
    pug_state_free(&products->packed);
    free(products->cuts);
    free(products);
}

/* ---- records ---- */

/** A record in `packed`; the parts stay. False: no memory. */
static bool pack(struct pug_products *products, const struct pug_jobs_block *block, bool chunk)
{
    const struct pug_jobs_client *client = products->client;
    struct pug_state *packed = &products->packed;
    struct record record = {.at = block->at, .response = block->response, .chunk = chunk};
    packed->size = 0;
    pug_state_put(packed, &record, sizeof(record));
    pug_parts_pack(client->consumers, block->parts, packed);
    if (packed->failed)
        return false;
    record.size = packed->size - sizeof(record);
    memcpy(packed->bytes, &record, sizeof(record));
    return true;
}

/** The block of a record; its parts are NULL where there is no memory. */
static struct pug_jobs_block unpack(const struct pug_products *products,
                                    const struct record *record, const uint8_t *bytes)
{
    struct pug_bytes left = pug_bytes_of(bytes, (size_t)record->size);
    return (struct pug_jobs_block){.at = record->at,
                                   .response = (enum pug_response)record->response,
                                   .parts = pug_parts_unpack(products->client->consumers, &left)};
}

static bool keep(struct pug_products *products, const struct pug_jobs_block *block, bool chunk)
{
    const struct pug_jobs_client *client = products->client;
    const bool good =
        pack(products, block, chunk) &&
        pug_spool_put(&products->spool, products->packed.bytes, products->packed.size);
    pug_parts_free(client->consumers, block->parts);
    return good;
}

/** The folded parts become a record. */
static bool flush(struct pug_products *products)
{
    if (!products->folded.parts)
        return true;
    const struct pug_jobs_block block = products->folded;
    products->folded.parts = NULL;
    return keep(products, &block, false);
}

/* ---- keeping ---- */

bool pug_products_cut(struct pug_products *products)
{
    if (!flush(products))
        return false;
    if (products->count == products->room) {
        const size_t room = products->room * 2 + 64;
        uint64_t *grown = realloc(products->cuts, room * sizeof(*grown));
        if (!grown)
            return false;
        products->cuts = grown;
        products->room = room;
    }
    products->cuts[products->count++] = products->spool.size;
    return true;
}

/** Add a block's parts to what is folded; false: no memory. */
static bool fold(struct pug_products *products, const struct pug_jobs_block *block)
{
    const struct pug_jobs_client *client = products->client;
    struct pug_jobs_block *folded = &products->folded;
    void *first = folded->parts;
    folded->at = block->at;
    folded->response = block->response;
    if (!first)
        folded->parts = block->parts;
    return !first || pug_parts_fold(client->consumers, first, block->parts);
}

bool pug_products_block(struct pug_products *products, struct pug_jobs_block *block)
{
    return products->client->folds ? fold(products, block) : keep(products, block, false);
}

bool pug_products_chunk(struct pug_products *products, struct pug_parts *parts)
{
    const struct pug_jobs_block block = {.parts = parts};
    return flush(products) && keep(products, &block, true);
}

/* ---- to go on later ---- */

bool pug_products_open(struct pug_products *products, const char *path)
{
    products->count = 0;
    products->begin = 0;
    drop_folded(products);
    return pug_spool_open(&products->spool, path, 0);
}

bool pug_products_note(struct pug_products *products, struct pug_state *to)
{
    if (!flush(products) || !pug_spool_settle(&products->spool))
        return false;
    pug_state_number(to, products->spool.size);
    pug_state_number(to, products->count);
    pug_state_put(to, products->cuts, products->count * sizeof(*products->cuts));
    return !to->failed;
}

bool pug_products_resume(struct pug_products *products, const char *path, struct pug_bytes *from)
{
    const uint64_t size = pug_bytes_take_64(from), count = pug_bytes_take_64(from);
    const uint8_t *cuts = count < SIZE_MAX / sizeof(*products->cuts)
                              ? pug_bytes_take(from, (size_t)count * sizeof(*products->cuts))
                              : NULL;
    uint64_t *copy = cuts ? malloc(((size_t)count + 1) * sizeof(*copy)) : NULL;
    if (!copy || !pug_spool_open(&products->spool, path, size)) {
        free(copy);
        return false;
    }
    memcpy(copy, cuts, (size_t)count * sizeof(*copy));
    free(products->cuts);
    products->cuts = copy;
    products->count = (size_t)count;
    products->room = (size_t)count + 1;
    return true;
}

/* ---- what counts ---- */

void pug_products_keep(struct pug_products *products, size_t cut)
{
    products->begin = cut < products->count ? products->cuts[cut] : 0;
}

void pug_products_drop(struct pug_products *products)
{
    drop_folded(products);
    products->begin = products->spool.size;
}

/* ---- all that counts as one ---- */

/** Fold one record of the spool, or of another process, after what is folded. */
static bool fold_record(struct pug_products *products, const struct record *record,
                        const uint8_t *bytes)
{
    const struct pug_jobs_block block = unpack(products, record, bytes);
    return block.parts && fold(products, &block);
}

/** The record at *at of the spool, which moves past it; NULL: no memory. */
static uint8_t *next_record(struct pug_products *products, uint64_t *at)
{
    struct record record;
    if (!pug_spool_get(&products->spool, *at, &record, sizeof(record)))
        return NULL;
    const size_t size = sizeof(record) + (size_t)record.size;
    uint8_t *bytes = malloc(size);
    if (bytes && pug_spool_get(&products->spool, *at, bytes, size)) {
        *at += size;
        return bytes;
    }
    free(bytes);
    return NULL;
}

static bool fold_next(struct pug_products *products, uint64_t *at)
{
    struct record record;
    uint8_t *bytes = next_record(products, at);
    if (!bytes)
        return false;
    memcpy(&record, bytes, sizeof(record));
    const bool good = fold_record(products, &record, bytes + sizeof(record));
    free(bytes);
    return good;
}

static bool fold_all(struct pug_products *products)
{
    bool good = flush(products);
    for (uint64_t at = products->begin; good && at < products->spool.size;)
        good = fold_next(products, &at);
    return good;
}

/** The record of another process: after what is here, or, on number 0, to the client. */
static bool take_record(struct pug_products *products, const uint8_t *bytes, bool *more)
{
    const struct pug_jobs_client *client = products->client;
    struct record record;
    memcpy(&record, bytes, sizeof(record));
    if (!*more)
        return true;
    struct pug_jobs_block block = unpack(products, &record, bytes + sizeof(record));
    if (!block.parts)
        return false;
    if (record.chunk)
        *more = client->take_chunk(client->context, block.parts);
    else
        *more = client->take(client->context, &block);
    return true;
}

static bool send_folded(struct pug_products *products, struct pug_peers *peers, unsigned to)
{
    const bool any = products->folded.parts != NULL;
    if (any && !pack(products, &products->folded, false))
        return false;
    pug_peers_send(peers, to, PUG_PEERS_DATA, products->packed.bytes,
                   any ? products->packed.size : 0);
    return true;
}

static bool receive_folded(struct pug_products *products, struct pug_peers *peers, unsigned from,
                           bool *more)
{
    struct pug_peers_message message;
    struct record record;
    bool good = true;
    (void)pug_peers_receive(peers, from, PUG_PEERS_DATA, true, &message);
    if (message.size > 0 && peers->number == 0) {
        good = take_record(products, message.bytes, more);
    } else if (message.size > 0) {
        memcpy(&record, message.bytes, sizeof(record));
        good = fold_record(products, &record, message.bytes + sizeof(record));
    }
    free(message.bytes);
    return good;
}

/**
 * Number n sends what it has to the one that lacks its lowest bit, once it has everything after it.
 */
static bool reduce(struct pug_products *products, struct pug_peers *peers, bool more)
{
    for (unsigned bit = 1; bit < peers->count; bit *= 2) {
        if (peers->number & bit)
            return send_folded(products, peers, peers->number - bit);
        if (peers->number + bit < peers->count &&
            !receive_folded(products, peers, peers->number + bit, &more))
            return false;
    }
    return true;
}

/* ---- one after another ---- */

#define CHUNK ((size_t)1 << 20)

static bool send_all(struct pug_products *products, struct pug_peers *peers)
{
    uint8_t *bytes = malloc(CHUNK);
    bool good = bytes && flush(products);
    for (uint64_t at = products->begin, size; good && at < products->spool.size; at += size) {
        size = products->spool.size - at < CHUNK ? products->spool.size - at : CHUNK;
        good = pug_spool_get(&products->spool, at, bytes, (size_t)size);
        if (good)
            pug_peers_send(peers, 0, PUG_PEERS_DATA, bytes, (size_t)size);
    }
    free(bytes);
    pug_peers_send(peers, 0, PUG_PEERS_DATA, NULL, 0);
    return good;
}

/** Take the records that are whole, and keep the rest. */
static bool take_records(struct pug_products *products, struct pug_state *waiting, bool *more)
{
    struct record record;
    size_t at = 0;
    bool good = true;
    while (good && waiting->size - at >= sizeof(record)) {
        memcpy(&record, waiting->bytes + at, sizeof(record));
        if (waiting->size - at - sizeof(record) < record.size)
            break;
        good = take_record(products, waiting->bytes + at, more);
        at += sizeof(record) + (size_t)record.size;
    }
    waiting->size -= at;
    if (waiting->size > 0)
        memmove(waiting->bytes, waiting->bytes + at, waiting->size);
    return good;
}

static bool receive_all(struct pug_products *products, struct pug_peers *peers, bool more)
{
    struct pug_state waiting = {0};
    bool good = true;
    for (unsigned from = 1; from < peers->count; from++) {
        for (bool over = false; !over;) {
            struct pug_peers_message message;
            (void)pug_peers_receive(peers, from, PUG_PEERS_DATA, true, &message);
            over = message.size == 0;
            pug_state_put(&waiting, message.bytes, message.size);
            good = good && !waiting.failed && take_records(products, &waiting, &more);
            free(message.bytes);
        }
    }
    pug_state_free(&waiting);
    return good;
}

/** Number 0 has some, too, where they are kept. */
static void take_folded(struct pug_products *products, bool *more)
{
    const struct pug_jobs_client *client = products->client;
    struct pug_jobs_block block = products->folded;
    products->folded.parts = NULL;
    if (block.parts && *more)
        *more = client->take(client->context, &block);
    else if (block.parts)
        pug_parts_free(client->consumers, block.parts);
}

static bool take_own(struct pug_products *products, bool *more)
{
    bool good = flush(products);
    for (uint64_t at = 0; good && *more && at < products->spool.size;) {
        uint8_t *bytes = next_record(products, &at);
        good = bytes && take_record(products, bytes, more);
        free(bytes);
    }
    return good;
}

bool pug_products_give(struct pug_products *products, struct pug_peers *peers, bool stopped)
{
    const bool first = peers->number == 0;
    bool more = !stopped;
    if (products->client->folds) {
        const bool good = fold_all(products);
        if (first && good)
            take_folded(products, &more);
        return good && reduce(products, peers, more);
    }
    return first ? take_own(products, &more) && receive_all(products, peers, more)
                 : send_all(products, peers);
}
