// SPDX-License-Identifier: MIT
/**
 * @file Elements after each packet. The decoder must go packet by packet when a monitor watches it,
 * and may take several at a time otherwise: the consumer sees no difference. Not by what comes, not
 * by how far an operation got when the consumer stopped it, not by when memory was asked for, not
 * by when memory that the consumer takes away, or puts back, is no longer there, or there.
 */
#include "pugmark/advanced/snapshot.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "support/captures.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST_BYTES (UINT64_C(48) / share_step(1, 3) << 10)

/** How a capture is decoded. */
struct manner {
    bool callbacks; /* memory comes from them */
    bool reference; /* with all its quirks */
    bool rude;      /* the consumer does not always FLUSH after WAIT */
    unsigned damage_once_in;
    unsigned widen_once_in; /* P-headers of ETMv3 become the widest cycle-accurate ones */
    unsigned stop_once_in;
    unsigned change_once_in; /* the consumer changes the memory */
    size_t block;            /* most bytes of an operation */
    uint32_t page;           /* callbacks are asked for so many bytes; 0: as usual */
};

static const struct manner manners[] = {
    {.reference = true, .block = SIZE_MAX},
    {.reference = true, .stop_once_in = 40, .block = 4096},
    {.reference = true, .stop_once_in = 3, .block = 64, .callbacks = true},
    {.reference = true, .stop_once_in = 20, .block = 1024, .rude = true},
    {.reference = true, .stop_once_in = 30, .damage_once_in = 300, .block = 4096},
    {.stop_once_in = 10, .damage_once_in = 500, .block = 999, .callbacks = true},
    {.stop_once_in = 50, .block = 4096, .rude = true, .callbacks = true},
    {.block = SIZE_MAX, .callbacks = true, .page = 64},
    {.reference = true, .stop_once_in = 40, .block = SIZE_MAX, .callbacks = true, .page = 64},
    {.reference = true, .change_once_in = 500, .block = SIZE_MAX},
    {.change_once_in = 200, .stop_once_in = 100, .block = 4096},
    {.reference = true, .widen_once_in = 4, .block = SIZE_MAX},
    {.change_once_in = 50, .stop_once_in = 30, .block = 4096, .callbacks = true},
};

/* ---- what happens ---- */

enum what { ELEMENT, OPERATION, MEMORY, LOG };

struct event {
    enum what what;
    uint64_t values[4];
};

struct story {
    struct event *events;
    size_t count, room;
    struct rec_random random;
    unsigned stop_once_in, change_once_in;
    const struct pug_image *memory;
    struct pug_image *image; /* that decoders see */
    struct pug_image_range away;
    bool is_away;
};

static void tell(struct story *story, enum what what, uint64_t a, uint64_t b, uint64_t c,
                 uint64_t d)
{
    if (story->count == story->room) {
        story->room = story->room ? 2 * story->room : 4096;
        story->events = realloc(story->events, story->room * sizeof(*story->events));
        assert_non_null(story->events);
    }
    story->events[story->count++] = (struct event){what, {a, b, c, d}};
}

static uint64_t hash_of(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

static enum pug_response answer(struct story *story)
{
    static const enum pug_response others[] = {PUG_RESP_WAIT,      PUG_RESP_WAIT,
                                               PUG_RESP_WARN_CONT, PUG_RESP_ERR_CONT,
                                               PUG_RESP_WARN_WAIT, PUG_RESP_FATAL_SYS_ERR};
    if (!story->stop_once_in || !rec_random_once_in(&story->random, story->stop_once_in))
        return PUG_RESP_CONT;
    return others[rec_random_below(&story->random, sizeof(others) / sizeof(others[0]))];
}

static uint32_t give_memory(void *context, uint64_t address, const struct pug_reader_space *space,
                            uint32_t wanted, uint8_t *buffer)
{
    struct story *story = context;
    if (!story->change_once_in) /* else a page may be gone where elements are given earlier */
        tell(story, MEMORY, address, space->space, wanted, space->source);
    int64_t got = pug_image_read(story->memory, space, address, buffer, wanted);
    return got > 0 ? (uint32_t)got : 0;
}

/** Take the first memory away, or put what was taken back, as a callback. */
static void change_memory(struct story *story)
{
    const struct pug_image_range *away = &story->away;
    if (!story->change_once_in || !rec_random_once_in(&story->random, story->change_once_in))
        return;
    if (story->is_away)
        (void)pug_image_add_callback(story->image, &(struct pug_place){.space = PUG_SPACE_ANY},
                                     away->start, away->end, give_memory, story);
    else if (pug_image_range(story->image, 0, &story->away))
        assert_int_equal(pug_image_remove(story->image, away->start, PUG_SPACE_ANY), PUG_OK);
    story->is_away = !story->is_away;
}

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct story *story = context;
    enum pug_response response = PUG_RESP_CONT;
    for (size_t i = 0; i < count; i++) {
        struct pug_element e = elements[i];
        uint64_t payload = 0;
        if (e.flags & PUG_ELEM_PAYLOAD) {
            payload = hash_of(e.payload, e.count);
            e.payload = NULL;
        }
        tell(story, ELEMENT, e.index, e.type, hash_of(&e, sizeof(e)), payload);
        change_memory(story);
        response = answer(story);
        if (response >= PUG_RESP_WAIT) {
            *taken = i + 1;
            break;
        }
    }
    return response;
}

static void on_log(void *context, const struct pug_log_record *record)
{
    tell(context, LOG, record->index, (uint64_t)(int64_t)record->code, record->severity,
         record->source);
}

static void watch(void *context, enum pug_op op, const struct pug_packet *packet)
{
    (void)context;
    (void)op;
    (void)packet;
}

/* ---- telling it ---- */

/** Bytes that all sources have consumed. */
static uint64_t consumed(struct pug_tree *tree)
{
    uint64_t bytes = 0;
    struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++)
        bytes += pug_source_stats(source)->bytes;
    return bytes;
}

static enum pug_response operate(struct story *story, struct pug_tree *tree, enum pug_op op,
                                 uint64_t index, const uint8_t *bytes, size_t size, size_t *used)
{
    size_t taken = 0;
    enum pug_response response = pug_tree_op(tree, op, index, bytes, size, &taken);
    tell(story, OPERATION, op, response, taken, consumed(tree));
    if (used)
        *used = taken;
    return response;
}

static void flush(struct story *story, struct pug_tree *tree, bool rude)
{
    do {
        if (rude && rec_random_once_in(&story->random, 4))
            return;
    } while (PUG_RESP_IS_WAIT(operate(story, tree, PUG_OP_FLUSH, 0, NULL, 0, NULL)));
}

static void feed(struct story *story, struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                 const struct manner *manner)
{
    size_t used, refused = 0;
    for (uint64_t at = 0; at < size && refused < 100; at += used) {
        size_t want = manner->block < size - at ? manner->block : (size_t)(size - at);
        enum pug_response response = operate(story, tree, PUG_OP_DATA, at, bytes + at, want, &used);
        refused = used > 0 ? 0 : refused + 1;
        if (PUG_RESP_IS_WAIT(response))
            flush(story, tree, manner->rude);
        if (manner->rude && rec_random_once_in(&story->random, 50))
            operate(story, tree, PUG_OP_END, 0, NULL, 0, NULL);
    }
    if (PUG_RESP_IS_WAIT(operate(story, tree, PUG_OP_END, 0, NULL, 0, NULL)))
        flush(story, tree, false);
}

static bool decode(struct pug_snapshot *snapshot, const struct pug_snapshot_buffer *buffer,
                   const uint8_t *bytes, uint64_t size, const struct manner *manner, bool watched,
                   struct story *story)
{
    struct pug_image *dumps = pug_image_new(), *image = pug_image_new();
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree = NULL, *first = NULL;
    struct pug_snapshot_tree_config config = {
        .image = dumps, .decode = true, .options = {.data_elements = true}};
    if (manner->reference)
        config.quirks = pug_quirks_reference();
    bool made = pug_snapshot_tree(snapshot, buffer, &config, &first) == PUG_OK;
    pug_tree_free(first);
    config.image = image;
    config.log = log;
    if (made)
        assert_int_equal(pug_snapshot_tree(snapshot, buffer, &config, &tree), PUG_OK);
    if (made) {
        story->memory = dumps;
        story->random.state = size + manner->stop_once_in;
        story->stop_once_in = manner->stop_once_in;
        story->change_once_in = manner->change_once_in;
        story->image = image;
        if (manner->callbacks)
            captures_use_callback(image, give_memory, story); /* that gives the same */
        pug_log_set_sink(log, on_log, story);
        pug_tree_on_elements(tree, take, story);
        pug_tree_deliver_each_packet(tree, true);
        if (manner->page)
            assert_int_equal(pug_tree_memory_page(tree, manner->page), PUG_OK);
        struct pug_source *source;
        for (size_t n = 0; watched && (source = pug_tree_source_at(tree, n)) != NULL; n++)
            pug_source_monitor(source, watch, NULL);
        feed(story, tree, bytes, size, manner);
    }
    pug_tree_free(tree);
    pug_image_free(image);
    pug_image_free(dumps);
    pug_log_free(log);
    return made;
}

/* ---- captures ---- */

static void compare(const struct story *a, const struct story *b, const char *name, size_t manner)
{
    size_t count = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < 4; j++)
            if (a->events[i].what != b->events[i].what ||
                a->events[i].values[j] != b->events[i].values[j])
                fail_msg("%s, manner %zu: event %zu is %d %llx %llx %llx, not %d %llx %llx %llx",
                         name, manner, i, (int)b->events[i].what,
                         (unsigned long long)b->events[i].values[0],
                         (unsigned long long)b->events[i].values[1],
                         (unsigned long long)b->events[i].values[2], (int)a->events[i].what,
                         (unsigned long long)a->events[i].values[0],
                         (unsigned long long)a->events[i].values[1],
                         (unsigned long long)a->events[i].values[2]);
    assert_int_equal(a->count, b->count);
}

static void damage(uint8_t *bytes, uint64_t size, unsigned once_in, uint64_t seed)
{
    struct rec_random random = {.state = seed};
    for (uint64_t i = 0; once_in && i < size; i++)
        if (rec_random_once_in(&random, once_in))
            bytes[i] ^= (uint8_t)(1u << rec_random_below(&random, 8));
}

/** By quirks, more elements than there is room for, which as a rule are few. */
static void widen(uint8_t *bytes, uint64_t size, unsigned once_in, uint64_t seed)
{
    struct rec_random random = {.state = seed};
    for (uint64_t i = 0; once_in && i < size; i++)
        if ((bytes[i] & 0x81) == 0x80 && rec_random_once_in(&random, once_in))
            bytes[i] = 0xdc;
}

static void one_capture(struct capture *capture, void *context)
{
    const uint64_t size = (capture->size < MOST_BYTES ? capture->size : MOST_BYTES) & ~UINT64_C(15);
    uint8_t *bytes = malloc(size + 1);
    (void)context;
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
        struct story watched = {0}, alone = {0};
        memcpy(bytes, capture->bytes, size);
        damage(bytes, size, manners[i].damage_once_in, i + 1);
        widen(bytes, size, manners[i].widen_once_in, i + 1);
        if (decode(capture->snapshot, capture->buffer, bytes, size, &manners[i], true, &watched)) {
            decode(capture->snapshot, capture->buffer, bytes, size, &manners[i], false, &alone);
            compare(&watched, &alone, pug_snapshot_directory(capture->snapshot), i);
        }
        free(watched.events);
        free(alone.events);
    }
    free(bytes);
}

static void test_captures(void **state)
{
    captures_each(*(const enum captures *)*state, one_capture, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(test_captures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
