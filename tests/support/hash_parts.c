// SPDX-License-Identifier: MIT
#include "support/hash_parts.h"
#include "pugmark/author/protocol.h"

#include <stdlib.h>

#define MOST_WORKERS (sizeof(((struct outcome *)NULL)->made) / sizeof(uint64_t))

struct part {
    unsigned worker; /* who made it */
    uint64_t *hashes;
    size_t count, room;
    struct pug_piece *piece;
    size_t chunk; /* how large it is said to be; 0: there are none */
};

/* The part that this thread reads. */
static _Thread_local struct part *current;

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)context;
    if (worker >= MOST_WORKERS)
        abort();
    current = calloc(1, sizeof(*current));
    if (current)
        *current = (struct part){.worker = worker, .piece = piece};
    return current;
}

static void *begin_chunks(void *context, unsigned worker, struct pug_piece *piece)
{
    struct part *part = begin(context, worker, piece);
    part->chunk = 4096;
    return part;
}

/* As if a few hashes were so much that the others have to wait. */
static void *begin_wide_chunks(void *context, unsigned worker, struct pug_piece *piece)
{
    struct part *part = begin(context, worker, piece);
    part->chunk = (size_t)10 << 20;
    return part;
}

static void hand_on(struct part *part)
{
    struct part *chunk = malloc(sizeof(*chunk));
    *chunk = *part;
    *part = (struct part){.worker = part->worker, .piece = part->piece, .chunk = part->chunk};
    if (!pug_piece_emit(part->piece, chunk, part->chunk))
        part->chunk = 0;
}

static void add_hashes(struct part *part, const uint64_t *hashes, size_t count)
{
    if (count > part->room - part->count) {
        part->room = (part->room + count) * 2;
        part->hashes = realloc(part->hashes, part->room * sizeof(*part->hashes));
    }
    if (count > 0)
        memcpy(part->hashes + part->count, hashes, count * sizeof(*hashes));
    part->count += count;
}

static void add_elements(void *context, const struct pug_origin *origin,
                         const struct pug_element *elements, size_t count)
{
    (void)origin;
    struct part *part = context;
    for (size_t i = 0; i < count; i++) {
        const uint64_t hash = outcome_hash(&elements[i]);
        add_hashes(part, &hash, 1);
    }
    if (part->chunk && part->count >= HASH_PORTION)
        hand_on(part);
}

/** Its context is the protocol: what a packet is in words counts, too. */
static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    const struct pug_protocol *protocol = context;
    char text[512];
    if (op != PUG_OP_DATA)
        return;
    const uint64_t words[] = {packet->index, packet->type, packet->raw_size};
    pug_packet_text(protocol, packet, text, sizeof(text));
    uint64_t hash = outcome_mix(0, words, sizeof(words));
    hash = outcome_mix(hash, packet->raw, packet->raw_size);
    hash = outcome_mix(hash, text, strlen(text));
    add_hashes(current, &hash, 1);
}

static bool watch(void *context, unsigned worker, struct pug_tree *tree)
{
    struct pug_source *source;
    (void)context;
    (void)worker;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++)
        pug_source_monitor(source, on_packet, (void *)(uintptr_t)pug_source_protocol(source));
    return true;
}

void hash_parts_watch(struct pug_consumer *consumer)
{
    consumer->attach = watch;
    consumer->wants = PUG_WANTS_PACKET_TIMES;
}

static void drop(void *context)
{
    struct part *part = context;
    free(part->hashes);
    free(part);
}

static bool take(void *context, void *taken)
{
    struct part *part = taken;
    struct outcome *outcome = context;
    outcome->made[part->worker] += part->count;
    for (size_t i = 0; i < part->count; i++)
        outcome_add(outcome, part->hashes[i]);
    drop(part);
    return true;
}

static void pack(const void *context, struct pug_state *bytes)
{
    const struct part *part = context;
    pug_state_put(bytes, part->hashes, part->count * sizeof(*part->hashes));
}

static void *unpack(void *context, const uint8_t *bytes, size_t size)
{
    struct part *part = calloc(1, sizeof(*part));
    (void)context;
    for (uint64_t hash; size > 0; bytes += sizeof(hash), size -= sizeof(hash)) {
        memcpy(&hash, bytes, sizeof(hash));
        add_hashes(part, &hash, 1);
    }
    return part;
}

static bool fold(void *context, void *folded)
{
    struct part *later = folded;
    add_hashes(context, later->hashes, later->count);
    drop(later);
    return true;
}

void hash_parts_pack(struct pug_consumer *consumer, bool folds)
{
    consumer->pack = pack;
    consumer->unpack = unpack;
    consumer->fold = folds ? fold : NULL;
}

struct pug_consumer hash_parts(struct outcome *outcome, size_t chunk)
{
    return (struct pug_consumer){.context = outcome,
                                 .begin = chunk == 0      ? begin
                                          : chunk <= 4096 ? begin_chunks
                                                          : begin_wide_chunks,
                                 .elements = add_elements,
                                 .take = take,
                                 .drop = drop};
}
