// SPDX-License-Identifier: MIT
#include "support/hash_parts.h"

#include <stdlib.h>

#define MOST_WORKERS (sizeof(((struct outcome *)NULL)->made) / sizeof(uint64_t))

struct part {
    unsigned worker; /* who made it */
    uint64_t *hashes;
    size_t count, room;
    struct pug_passage *passage;
    size_t portion; /* how large it is said to be */
};

/* What this thread reads. */
static _Thread_local struct part *current;

static void *begin(void *context, unsigned worker)
{
    (void)context;
    if (worker >= MOST_WORKERS)
        abort();
    current = calloc(1, sizeof(*current));
    if (current)
        current->worker = worker;
    return current;
}

static void set_passage(void *context, struct pug_passage *passage)
{
    struct part *part = context;
    part->passage = passage;
    part->portion = 4096;
}

/* As if a few hashes were so much that the others have to wait. */
static void set_wide_passage(void *context, struct pug_passage *passage)
{
    struct part *part = context;
    part->passage = passage;
    part->portion = (size_t)10 << 20;
}

static void hand_on(struct part *part)
{
    struct part *portion = malloc(sizeof(*portion));
    *portion = *part;
    *part =
        (struct part){.worker = part->worker, .passage = part->passage, .portion = part->portion};
    if (!pug_passage_give(part->passage, portion, part->portion))
        part->passage = NULL;
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

static void add_elements(void *context, const struct pug_element *elements, size_t count)
{
    struct part *part = context;
    for (size_t i = 0; i < count; i++) {
        const uint64_t hash = outcome_hash(&elements[i]);
        add_hashes(part, &hash, 1);
    }
    if (part->passage && part->count >= HASH_PORTION)
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

void hash_parts_watch(struct pug_parts *parts)
{
    parts->watch = watch;
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

const struct pug_travel hash_parts_travel = {.pack = pack, .unpack = unpack};
const struct pug_travel hash_parts_folded = {.pack = pack, .unpack = unpack, .fold = fold};

struct pug_parts hash_parts(struct outcome *outcome, size_t portion)
{
    return (struct pug_parts){.context = outcome,
                              .begin = begin,
                              .elements = add_elements,
                              .take = take,
                              .drop = drop,
                              .passage = portion == 0      ? NULL
                                         : portion <= 4096 ? set_passage
                                                           : set_wide_passage};
}
