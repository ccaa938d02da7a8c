// SPDX-License-Identifier: MIT
/**
 * @file Cursors: what is pulled is what a tree pushes, from any place on, with an index and
 * without. Over the bundled capture always, over the shared captures where they are.
 */
#include "pugmark/advanced/index.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/cursor.h"
#include "recorder/bytes.h"
#include "recorder/frames.h"
#include "recorder/itm.h"
#include "support/captures.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LONGEST  ((size_t)200 << 10) /* of a capture that is looked at */
#define COMPARED 300u                /* elements after a place */

/** A capture, and all that its tree pushes; payloads are hashed into `start`. */
struct pushed {
    struct capture *capture;
    struct pug_image *image;
    struct pug_tree *tree;
    struct pug_element *elements;
    size_t count, room, size;
};

static void hash_payload(struct pug_element *element)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    if (!(element->flags & PUG_ELEM_PAYLOAD))
        return;
    for (uint32_t i = 0; i < element->count; i++)
        hash = (hash ^ ((const uint8_t *)element->payload)[i]) * UINT64_C(1099511628211);
    element->start = hash;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct pushed *pushed = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        if (pushed->count == pushed->room) {
            pushed->room = pushed->room ? 2 * pushed->room : 1024;
            pushed->elements = realloc(pushed->elements, pushed->room * sizeof(*elements));
            assert_non_null(pushed->elements);
        }
        pushed->elements[pushed->count] = elements[i];
        hash_payload(&pushed->elements[pushed->count++]);
    }
    return PUG_RESP_CONT;
}

/** False: no source can be decoded. */
static bool push_all(struct capture *capture, struct pushed *pushed)
{
    *pushed = (struct pushed){.capture = capture, .image = pug_image_new()};
    const struct pug_snapshot_tree_config config = {
        .image = pushed->image, .decode = true, .options = {.data_elements = true}};
    struct pug_tree *tree = NULL;
    pushed->size = capture->size < LONGEST ? capture->size : LONGEST;
    if (pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &pushed->tree) != PUG_OK ||
        pug_tree_clone(pushed->tree, NULL, &tree) != PUG_OK)
        return false;
    uint64_t at = 0;
    pug_tree_on_elements(tree, on_elements, pushed);
    pug_tree_feed(tree, capture->bytes, &at, pushed->size);
    pug_tree_end(tree);
    pug_tree_free(tree);
    return true;
}

static void free_pushed(struct pushed *pushed)
{
    pug_tree_free(pushed->tree);
    pug_image_free(pushed->image);
    free(pushed->elements);
}

static struct pug_cursor *cursor_of(const struct pushed *pushed, const struct pug_index *index)
{
    struct pug_cursor *cursor;
    const struct pug_cursor_config config = {.tree = pushed->tree,
                                             .bytes = pushed->capture->bytes,
                                             .size = pushed->size,
                                             .index = index};
    assert_int_equal(pug_cursor_new(&config, &cursor), PUG_OK);
    return cursor;
}

/** Assert that the cursor goes on with what was pushed with an index of `from` or greater. */
static void compare(struct pug_cursor *cursor, const struct pushed *pushed, uint64_t from,
                    size_t most)
{
    const struct pug_element *element;
    assert_int_equal(pug_cursor_at(cursor), from);
    for (size_t i = 0; i < pushed->count && most > 0; i++) {
        if (pushed->elements[i].index < from)
            continue;
        element = pug_cursor_next(cursor);
        assert_non_null(element);
        struct pug_element pulled = *element;
        hash_payload(&pulled);
        assert_memory_equal(&pulled, &pushed->elements[i], sizeof(pulled));
        assert_int_equal(pug_cursor_at(cursor), pulled.index);
        most--;
    }
    if (most > 0)
        assert_null(pug_cursor_next(cursor));
    assert_int_equal(pug_cursor_status(cursor), PUG_OK);
}

static struct pug_index *index_of(const struct pushed *pushed)
{
    struct pug_index *index = NULL;
    struct pug_tree *tree;
    const struct pug_index_options options = {.block = 1024, .elements = true, .jobs = 1};
    assert_int_equal(pug_tree_clone(pushed->tree, NULL, &tree), PUG_OK);
    assert_int_equal(pug_index_build(tree, pushed->capture->bytes, pushed->size, &options, &index),
                     PUG_OK);
    pug_tree_free(tree);
    return index;
}

/* ---- tests ---- */

static void one_pulls(struct capture *capture, void *context)
{
    struct pushed pushed;
    (void)context;
    if (push_all(capture, &pushed)) {
        struct pug_cursor *cursor = cursor_of(&pushed, NULL);
        compare(cursor, &pushed, 0, SIZE_MAX);
        pug_cursor_free(cursor);
    }
    free_pushed(&pushed);
}

static void pulls_what_is_pushed(void **state)
{
    captures_each(*(const enum captures *)*state, one_pulls, NULL);
}

static void one_seeks(struct capture *capture, void *context)
{
    struct pushed pushed;
    struct rec_random random = {.state = capture->size};
    (void)context;
    if (push_all(capture, &pushed)) {
        struct pug_index *index = index_of(&pushed);
        struct pug_cursor *plain = cursor_of(&pushed, NULL), *indexed = cursor_of(&pushed, index);
        for (unsigned i = 0; i < 12; i++) {
            uint64_t place = rec_random_below(&random, (uint32_t)pushed.size + 10);
            assert_int_equal(pug_cursor_seek(indexed, place), PUG_OK);
            compare(indexed, &pushed, place, COMPARED);
            if (i >= 3)
                continue;
            assert_int_equal(pug_cursor_seek(plain, place), PUG_OK);
            compare(plain, &pushed, place, COMPARED);
        }
        pug_cursor_free(plain);
        pug_cursor_free(indexed);
        pug_index_free(index);
    }
    free_pushed(&pushed);
}

static void seeks_places(void **state)
{
    captures_each(*(const enum captures *)*state, one_seeks, NULL);
}

/* ---- times and marks ---- */

static void one_finds_times(struct capture *capture, void *context)
{
    struct pushed pushed;
    (void)context;
    assert_true(push_all(capture, &pushed));
    struct pug_index *index = index_of(&pushed);
    unsigned found = 0;
    for (unsigned with = 0; with < 2; with++) {
        struct pug_cursor *cursor = cursor_of(&pushed, with ? index : NULL);
        for (size_t i = 0; i < pushed.count; i++) {
            const struct pug_element *stamp = &pushed.elements[i];
            if (stamp->type != PUG_ELEM_TIMESTAMP)
                continue;
            found++;
            assert_int_equal(pug_cursor_seek_time(cursor, stamp->source, stamp->timestamp), PUG_OK);
            compare(cursor, &pushed, stamp->index, 10);
        }
        assert_int_equal(pug_cursor_seek_time(cursor, PUG_INDEX_ANY, 0), PUG_OK);
        assert_int_equal(pug_cursor_seek_time(cursor, PUG_INDEX_ANY, UINT64_MAX),
                         PUG_ERR_NOT_FOUND);
        assert_int_equal(pug_cursor_seek_time(cursor, 0x7f, 0), PUG_ERR_NOT_FOUND);
        assert_null(pug_cursor_next(cursor));
        pug_cursor_free(cursor);
    }
    assert_true(found >= 10);
    pug_index_free(index);
    free_pushed(&pushed);
}

static void seeks_times(void **state)
{
    (void)state;
    captures_bundled(one_finds_times, NULL);
}

/** A global time of an ITM: its lower 26 bits. */
static void put_time(struct rec_bytes *bytes, uint32_t time)
{
    rec_itm_put(bytes, &(struct pug_itm_packet){
                           .type = PUG_ITM_PKT_GTS1, .size = 4, .value = time & 0x3ffffff});
}

/** Two ITMs of which one is late: it lags the other by `lag`. Its times go back once, too. */
static struct rec_bytes two_clocks(unsigned lag)
{
    struct rec_bytes bytes = {0};
    struct rec_frames frames = {.out = &bytes};
    for (unsigned n = 0; n < 2000; n++)
        for (unsigned source = 0; source < 2; source++) {
            const unsigned late = source ? lag : 0;
            struct rec_bytes said = {0};
            if (n == late) {
                rec_itm_async(&said);
                rec_itm_put(&said, &(struct pug_itm_packet){.type = PUG_ITM_PKT_GTS2, .size = 1});
            }
            if (n >= late)
                put_time(&said, 1000 + 10 * (n - late) - (source && n > 1500 ? 4000 : 0));
            rec_itm_put(&said,
                        &(struct pug_itm_packet){.type = PUG_ITM_PKT_SWIT, .size = 4, .value = n});
            rec_frames_put(&frames, (uint8_t)(0x10 + source), said.data, said.size);
            rec_bytes_free(&said);
        }
    rec_frames_finish(&frames);
    return bytes;
}

static struct pug_tree *itm_pair(void)
{
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "coresight"}, &tree),
                     PUG_OK);
    for (unsigned n = 0; n < 2; n++) {
        const struct pug_setting id = {.name = "ITMTCR", .value = (0x10 + n) << 16};
        const struct pug_source_config source = {
            .protocol = "ITM", .settings = {.items = &id, .count = 1}, .decode = true};
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    }
    return tree;
}

/** The first place is reported, whichever source it belongs to, and however late another one is. */
static void seeks_the_first_of_several_clocks(void **state)
{
    (void)state;
    struct rec_bytes bytes = two_clocks(140);
    struct pug_tree *tree = itm_pair();
    struct pug_index *index;
    struct pug_cursor *cursor, *plain;
    assert_int_equal(pug_index_build(tree, bytes.data, bytes.size,
                                     &(struct pug_index_options){.block = 1024}, &index),
                     PUG_OK);
    struct pug_cursor_config config = {.tree = tree, .bytes = bytes.data, .size = bytes.size};
    assert_int_equal(pug_cursor_new(&config, &plain), PUG_OK);
    config.index = index;
    assert_int_equal(pug_cursor_new(&config, &cursor), PUG_OK);
    for (unsigned time = 0; time < 22000; time += 501)
        for (unsigned n = 0; n < 3; n++) {
            const uint32_t source = n < 2 ? 0x10 + n : PUG_INDEX_ANY;
            const enum pug_status found = pug_cursor_seek_time(plain, source, time);
            assert_int_equal(pug_cursor_seek_time(cursor, source, time), found);
            if (found == PUG_OK)
                assert_int_equal(pug_cursor_at(cursor), pug_cursor_at(plain));
        }
    pug_cursor_free(plain);
    pug_cursor_free(cursor);
    pug_index_free(index);
    pug_tree_free(tree);
    rec_bytes_free(&bytes);
}

/* Forward from one synchronisation point to the next, and the same ones back. The capture has one
   at its beginning: it is looked at three times over. */
static void one_goes_forward_and_back(struct capture *capture, void *context)
{
    struct pushed pushed;
    struct capture thrice = *capture;
    uint64_t places[64];
    size_t count = 0;
    (void)context;
    thrice.size = 3 * capture->size;
    thrice.bytes = malloc(thrice.size);
    assert_non_null(thrice.bytes);
    for (size_t i = 0; i < 3; i++)
        memcpy(thrice.bytes + i * capture->size, capture->bytes, capture->size);
    assert_true(push_all(&thrice, &pushed));
    struct pug_cursor *cursor = cursor_of(&pushed, NULL);
    while (pug_cursor_forward(cursor, PUG_INDEX_ANY) == PUG_OK && count < 64) {
        places[count++] = pug_cursor_at(cursor);
        compare(cursor, &pushed, places[count - 1], 3);
        assert_int_equal(pug_cursor_seek(cursor, places[count - 1]), PUG_OK);
    }
    assert_int_equal(count, 2);
    while (count-- > 0) {
        assert_int_equal(pug_cursor_at(cursor), places[count]);
        enum pug_status status = pug_cursor_back(cursor, PUG_INDEX_ANY);
        assert_int_equal(status == PUG_OK, count > 0 || pug_cursor_at(cursor) < places[0]);
    }
    struct pug_index_mark mark;
    const struct pug_index_query query = {
        .kind = PUG_MARK_OVERFLOW, .source = PUG_INDEX_ANY, .greatest = UINT64_MAX};
    const uint64_t at = pug_cursor_at(cursor);
    assert_int_equal(pug_cursor_seek_mark(cursor, &query, &mark), PUG_ERR_NOT_FOUND);
    assert_int_equal(pug_cursor_at(cursor), at);
    assert_int_equal(pug_cursor_seek_mark(cursor, NULL, &mark), PUG_ERR_INVALID_PARAM_VAL);
    pug_cursor_free(cursor);
    free_pushed(&pushed);
    free(thrice.bytes);
}

static void goes_from_one_synchronisation_point_to_another(void **state)
{
    (void)state;
    captures_bundled(one_goes_forward_and_back, NULL);
}

static size_t count_ranges(const struct pug_element *element, size_t count)
{
    size_t ranges = 0;
    for (size_t i = 0; i < count; i++)
        ranges += element[i].type == PUG_ELEM_INSTR_RANGE;
    return ranges;
}

/* Restarted at a place where the trace repeats all state, the same instructions come. */
static void one_starts_anew(struct capture *capture, void *context)
{
    struct pushed pushed;
    struct capture twice = *capture;
    struct pug_cursor *cursor;
    const struct pug_element *element;
    (void)context;
    twice.size = 2 * capture->size;
    twice.bytes = malloc(twice.size);
    assert_non_null(twice.bytes);
    for (size_t i = 0; i < 2; i++)
        memcpy(twice.bytes + i * capture->size, capture->bytes, capture->size);
    assert_true(push_all(&twice, &pushed));
    const struct pug_cursor_config config = {
        .tree = pushed.tree, .bytes = twice.bytes, .size = twice.size, .anew = true};
    assert_int_equal(pug_cursor_new(&config, &cursor), PUG_OK);
    assert_int_equal(pug_cursor_forward(cursor, PUG_INDEX_ANY), PUG_OK);
    size_t ranges = 0;
    while ((element = pug_cursor_next(cursor))) {
        assert_true(element->index >= capture->size - 16);
        ranges += count_ranges(element, 1);
    }
    assert_int_equal(pug_cursor_status(cursor), PUG_OK);
    assert_int_equal(2 * ranges, count_ranges(pushed.elements, pushed.count));
    pug_cursor_free(cursor);
    free_pushed(&pushed);
    free(twice.bytes);
}

static void starts_anew(void **state)
{
    (void)state;
    captures_bundled(one_starts_anew, NULL);
}

/* ---- instructions ---- */

/* The path that the bundled capture's program took, which was written when it was made. */
static void one_steps(struct capture *capture, void *context)
{
    struct pushed pushed;
    char line[64];
    size_t elements = 0, instructions = 0;
    FILE *path = fopen(PUG_SOURCE_DIR "/examples/demo/path.txt", "r");
    (void)context;
    assert_non_null(path);
    assert_true(push_all(capture, &pushed));
    struct pug_cursor *cursor = cursor_of(&pushed, NULL);
    const struct pug_cursor_step *step;
    while ((step = pug_cursor_step(cursor))) {
        assert_int_equal(pug_cursor_status(cursor), PUG_OK);
        if (!step->step) {
            assert_int_not_equal(step->element->type, PUG_ELEM_INSTR_RANGE);
            elements++;
            continue;
        }
        assert_non_null(fgets(line, sizeof(line), path));
        assert_int_equal(step->step->address, strtoull(line, NULL, 16));
        instructions++;
        elements += step->step->last;
    }
    assert_null(fgets(line, sizeof(line), path));
    assert_int_equal(elements, pushed.count);
    assert_true(instructions > 100);
    fclose(path);
    pug_cursor_free(cursor);
    free_pushed(&pushed);
}

static void steps_through_instructions(void **state)
{
    (void)state;
    captures_bundled(one_steps, NULL);
}

/* ---- what is missing ---- */

/* ---- back to an address ---- */

static bool takes_few(void *context, const struct pug_element *range, uint64_t time)
{
    (void)context;
    (void)time;
    return range->count <= 2;
}

/** The last range with an address whose packet lies before an index; NULL: there is none. */
static const struct pug_element *last_before(const struct pushed *pushed, uint64_t index,
                                             uint64_t address, bool few)
{
    const struct pug_element *found = NULL;
    for (size_t i = 0; i < pushed->count; i++) {
        const struct pug_element *e = &pushed->elements[i];
        if (e->type == PUG_ELEM_INSTR_RANGE && e->index < index && address >= e->start &&
            address < e->end && (!few || e->count <= 2))
            found = e;
    }
    return found;
}

static void one_goes_back(struct capture *capture, void *context)
{
    struct pushed pushed;
    (void)context;
    if (!push_all(capture, &pushed)) {
        free_pushed(&pushed);
        return;
    }
    struct pug_cursor *cursor = cursor_of(&pushed, NULL);
    for (unsigned n = 1; n < 8; n++) {
        const struct pug_element *from = &pushed.elements[pushed.count * n / 8];
        const struct pug_element *at = &pushed.elements[pushed.count * (n * 5 % 8) / 8];
        if (at->type != PUG_ELEM_INSTR_RANGE)
            continue;
        for (unsigned few = 0; few < 2; few++) {
            const struct pug_element *wanted = last_before(&pushed, from->index, at->start, few);
            assert_int_equal(pug_cursor_seek(cursor, from->index), PUG_OK);
            assert_int_equal(pug_cursor_back_to(cursor, at->start, few ? takes_few : NULL, NULL),
                             wanted ? PUG_OK : PUG_ERR_NOT_FOUND);
            const struct pug_element *got = wanted ? pug_cursor_next(cursor) : NULL;
            if (wanted)
                assert_memory_equal(got, wanted, sizeof(*got));
            else
                assert_int_equal(pug_cursor_at(cursor), from->index);
        }
    }
    pug_cursor_free(cursor);
    free_pushed(&pushed);
}

static void goes_back_to_addresses(void **state)
{
    captures_each(*(const enum captures *)*state, one_goes_back, NULL);
}

static void needs_a_tree_and_bytes(void **state)
{
    (void)state;
    struct pug_tree *tree;
    struct pug_cursor *cursor = (struct pug_cursor *)&cursor;
    assert_int_equal(pug_cursor_new(NULL, &cursor), PUG_ERR_INVALID_PARAM_VAL);
    assert_null(cursor);
    assert_int_equal(pug_cursor_new(&(struct pug_cursor_config){0}, &cursor),
                     PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, &tree), PUG_OK);
    assert_int_equal(pug_cursor_new(&(struct pug_cursor_config){.tree = tree, .size = 1}, &cursor),
                     PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_cursor_new(&(struct pug_cursor_config){.tree = tree}, NULL),
                     PUG_ERR_INVALID_PARAM_VAL);
    /* Of nothing there is nothing; without a source there is an error. */
    const uint8_t byte = 0;
    assert_int_equal(pug_cursor_new(&(struct pug_cursor_config){.tree = tree}, &cursor), PUG_OK);
    assert_null(pug_cursor_next(cursor));
    assert_null(pug_cursor_step(cursor));
    pug_cursor_free(cursor);
    const struct pug_cursor_config config = {.tree = tree, .bytes = &byte, .size = 1};
    assert_int_equal(pug_cursor_new(&config, &cursor), PUG_OK);
    assert_null(pug_cursor_next(cursor));
    assert_int_equal(pug_cursor_status(cursor), PUG_ERR_DECODING_STOPPED);
    pug_cursor_free(cursor);
    pug_cursor_free(NULL);
    pug_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(pulls_what_is_pushed),
        TEST_CAPTURES(seeks_places),
        cmocka_unit_test(seeks_times),
        cmocka_unit_test(seeks_the_first_of_several_clocks),
        cmocka_unit_test(goes_from_one_synchronisation_point_to_another),
        cmocka_unit_test(starts_anew),
        cmocka_unit_test(steps_through_instructions),
        TEST_CAPTURES(goes_back_to_addresses),
        cmocka_unit_test(needs_a_tree_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
