// SPDX-License-Identifier: MIT
/** @file Captures: the same elements as from the buffers themselves, on any number of threads. */
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/pugmark.h"
#include "support/captures.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- elements as a number ---- */

struct sum {
    uint64_t hash, elements, instructions;
};

static void add(struct sum *sum, const struct pug_element *element)
{
    char text[512];
    pug_element_text(element, text, sizeof(text));
    sum->hash = (sum->hash ^ element->index) * UINT64_C(0x100000001b3);
    for (const char *at = text; *at; at++)
        sum->hash = (sum->hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    sum->elements++;
    if (element->type == PUG_ELEM_INSTR_RANGE)
        sum->instructions += element->count;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    for (size_t i = 0; i < count; i++)
        add(context, &elements[i]);
    *taken = count;
    return PUG_RESP_CONT;
}

/** Elements of a part are kept as they come. */
struct part {
    struct pug_element *elements;
    size_t count;
};

struct client {
    struct pug_capture *capture;
    struct sum sum;
    uint64_t located, lost;
};

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)context;
    (void)worker;
    (void)piece;
    return calloc(1, sizeof(struct part));
}

static void elements(void *context, const struct pug_origin *origin,
                     const struct pug_element *given, size_t count)
{
    struct part *part = context;
    assert_non_null(origin->space);
    part->elements = realloc(part->elements, (part->count + count) * sizeof(*given));
    assert_non_null(part->elements);
    memcpy(part->elements + part->count, given, count * sizeof(*given));
    part->count += count;
}

static void drop(void *context)
{
    struct part *part = context;
    free(part->elements);
    free(part);
}

static bool take(void *context, void *taken)
{
    struct client *client = context;
    struct part *part = taken;
    for (size_t i = 0; i < part->count; i++)
        add(&client->sum, &part->elements[i]);
    drop(part);
    return true;
}

static struct sum decode(struct pug_capture *capture, unsigned threads)
{
    struct client client = {.capture = capture};
    struct pug_capture_result result;
    const struct pug_consumer consumer = {
        .context = &client, .begin = begin, .elements = elements, .take = take, .drop = drop};
    const struct pug_capture_decode config = {
        .consumers = &consumer, .consumer_count = 1, .threads = threads, .piece = 4096};
    assert_int_equal(pug_capture_decode(capture, &config, &result), PUG_OK);
    return client.sum;
}

/* ---- the bundled snapshot ---- */

static void sum_buffer(struct capture *capture, void *context)
{
    struct pug_tree *tree;
    struct pug_image *image = pug_image_new();
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    size_t used;
    assert_int_equal(pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree), PUG_OK);
    pug_tree_on_elements(tree, on_elements, context);
    (void)pug_tree_data(tree, 0, capture->bytes, capture->size, &used);
    (void)pug_tree_end(tree);
    pug_tree_free(tree);
    pug_image_free(image);
}

static struct pug_capture *open_demo(const char *file, const char *buffer)
{
    struct pug_capture *capture = NULL;
    const struct pug_capture_options options = {.buffer = buffer};
    char path[512];
    snprintf(path, sizeof(path), "%s/examples/demo%s", PUG_SOURCE_DIR, file);
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    return capture;
}

static void test_snapshot(void **state)
{
    struct sum wanted = {0};
    (void)state;
    captures_bundled(sum_buffer, &wanted);
    assert_true(wanted.instructions > 0);
    static const char *const names[] = {"", "/", "/snapshot.ini"};
    for (size_t i = 0; i < 3; i++) {
        struct pug_capture *capture = open_demo(names[i], NULL);
        assert_int_equal(pug_capture_kind(capture), PUG_CAPTURE_SNAPSHOT);
        assert_non_null(pug_capture_snapshot(capture));
        for (unsigned threads = 1; threads <= 8; threads *= 2) {
            struct sum sum = decode(capture, threads);
            assert_memory_equal(&sum, &wanted, sizeof(sum));
        }
        pug_capture_free(capture);
    }
}

static void test_choices(void **state)
{
    (void)state;
    struct pug_capture *capture = open_demo("", NULL);
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(capture, 0);
    assert_non_null(buffer);
    struct pug_capture *chosen = open_demo("", buffer->name);
    assert_true(pug_capture_buffer_at(chosen, 0)->chosen);
    pug_capture_free(chosen);
    char path[512];
    snprintf(path, sizeof(path), "%s/examples/demo", PUG_SOURCE_DIR);
    const struct pug_capture_options other = {.buffer = "no such buffer"};
    assert_int_equal(pug_capture_open(path, &other, &chosen), PUG_ERR_DCDREG_NAME_UNKNOWN);
    pug_capture_free(capture);
}

/* ---- selections, places ---- */

static void note_places(void *context, const struct pug_origin *origin,
                        const struct pug_element *given, size_t count)
{
    struct client *client = *(struct client **)context;
    for (size_t i = 0; i < count; i++) {
        struct pug_location place;
        if (given[i].type != PUG_ELEM_INSTR_RANGE)
            continue;
        client->sum.elements++;
        if (!pug_capture_locate(client->capture, origin, given[i].start, &place)) {
            client->lost++;
            continue;
        }
        const struct pug_capture_object *object =
            pug_capture_object_at(client->capture, place.object);
        assert_non_null(object);
        assert_non_null(object->file);
        assert_true(place.first <= given[i].start && given[i].start <= place.last);
        assert_true(place.piece_first <= place.first && place.last <= place.piece_last);
        client->located++;
    }
}

static void *begin_shared(void *context, unsigned worker, struct pug_piece *piece)
{
    struct client **part = malloc(sizeof(*part));
    (void)worker;
    (void)piece;
    assert_non_null(part);
    *part = context;
    return part;
}

static bool take_shared(void *context, void *part)
{
    (void)context;
    free(part);
    return true;
}

static struct client places(struct pug_capture *capture,
                            const struct pug_capture_selection *selection)
{
    struct client client = {.capture = capture};
    struct pug_capture_result result;
    const struct pug_consumer consumer = {.context = &client,
                                          .begin = begin_shared,
                                          .elements = note_places,
                                          .take = take_shared,
                                          .drop = free};
    const struct pug_capture_decode config = {
        .consumers = &consumer, .consumer_count = 1, .threads = 1, .selection = selection};
    assert_int_equal(pug_capture_decode(capture, &config, &result), PUG_OK);
    return client;
}

static void test_places(void **state)
{
    (void)state;
    struct pug_capture *capture = open_demo("", NULL);
    struct client all = places(capture, NULL);
    assert_true(all.located > 0);
    assert_int_equal(all.lost, 0);
    const char *name = strrchr(pug_capture_object_at(capture, 0)->path, '/') + 1;
    const char *const names[] = {name, "other"};
    struct client some =
        places(capture, &(struct pug_capture_selection){.objects = names, .object_count = 1});
    assert_int_equal(some.located, all.located);
    struct client none =
        places(capture, &(struct pug_capture_selection){.objects = names + 1, .object_count = 1});
    assert_int_equal(none.sum.elements, 0);
    const uint16_t nobody = 0x6f;
    none = places(capture, &(struct pug_capture_selection){.sources = &nobody, .source_count = 1});
    assert_int_equal(none.sum.elements, 0);
    pug_capture_free(capture);
}

/* ---- one file of trace ---- */

/** Two stimulus bytes of an ITM. */
static const uint8_t itm_trace[] = {0, 0, 0, 0, 0, 0x80, 0x01, 'a', 0x01, 'b'};

static void test_raw(void **state)
{
    char path[128];
    (void)state;
    int file = temporary_file(path, sizeof(path), "capture");
    assert_true(file >= 0);
    assert_int_equal(write(file, itm_trace, sizeof(itm_trace)), sizeof(itm_trace));
    close(file);
    struct pug_capture *capture;
    assert_int_equal(
        pug_capture_open(path, &(struct pug_capture_options){.buffer = NULL}, &capture),
        PUG_ERR_NOT_FOUND);
    assert_int_equal(
        pug_capture_open(path, &(struct pug_capture_options){.protocol = "other"}, &capture),
        PUG_ERR_DCDREG_NAME_UNKNOWN);
    const struct pug_capture_options other = {.protocol = "itm", .transport = "other"};
    assert_int_equal(pug_capture_open(path, &other, &capture), PUG_ERR_DCDREG_NAME_UNKNOWN);
    const struct pug_setting setting = {.name = "src_id", .text = "none"};
    const struct pug_capture_options wrong = {.protocol = "ntrace",
                                              .settings = {&setting, 1, NULL}};
    assert_int_equal(pug_capture_open(path, &wrong, &capture), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(
        pug_capture_open(path, &(struct pug_capture_options){.protocol = "itm"}, &capture), PUG_OK);
    assert_int_equal(pug_capture_kind(capture), PUG_CAPTURE_RAW);
    assert_string_equal(pug_capture_source_at(capture, 0)->protocol, "ITM");
    struct sum sum = decode(capture, 2);
    assert_true(sum.elements >= 2);
    uint8_t bytes[64];
    enum pug_status status;
    assert_int_equal(pug_capture_bytes(capture, 0, 2, bytes, sizeof(bytes), &status),
                     sizeof(itm_trace) - 2);
    assert_memory_equal(bytes, itm_trace + 2, sizeof(itm_trace) - 2);
    pug_capture_free(capture);
    unlink(path);
}

static void test_none(void **state)
{
    struct pug_capture *capture;
    const struct pug_capture_options options = {.protocol = NULL};
    (void)state;
    assert_int_equal(pug_capture_open("/no/such/file", &options, &capture), PUG_ERR_FILE);
    assert_int_equal(pug_capture_open("/tmp", &options, &capture), PUG_ERR_FILE);
}

/* ---- the simple way ---- */

struct simple {
    struct sum sum;
    uint64_t most;
    unsigned late;
};

static bool give(void *context, const struct pug_origin *origin, const struct pug_element *elements,
                 size_t count)
{
    struct simple *simple = context;
    (void)origin;
    simple->late += simple->sum.elements >= simple->most;
    for (size_t i = 0; i < count; i++)
        add(&simple->sum, &elements[i]);
    return simple->sum.elements < simple->most;
}

/** As by pug_capture_decode() on one thread; and not more than somebody wants. */
static void test_simple(void **state)
{
    static const char path[] = PUG_SOURCE_DIR "/tests/captures/ete-a64";
    struct pug_capture *capture;
    (void)state;
    assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
    struct simple all = {.most = UINT64_MAX}, some = {.most = 100};
    const struct sum sum = decode(capture, 1);
    assert_int_equal(pug_capture_elements(capture, give, &all), PUG_OK);
    assert_true(sum.elements > 1000);
    assert_memory_equal(&all.sum, &sum, sizeof(sum));
    assert_int_equal(pug_capture_elements(capture, give, &some), PUG_OK);
    assert_in_range(some.sum.elements, 100, 1000);
    assert_int_equal(some.late, 0);
    assert_int_equal(pug_capture_elements(capture, NULL, &some), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_capture_elements(NULL, give, &some), PUG_ERR_INVALID_PARAM_VAL);
    pug_capture_free(capture);
}

/** What is pulled from a capture is what it gives to a function; so are instructions. */
struct pulled {
    struct pug_cursor *cursor;
    struct pug_walk *walk;
    size_t elements, instructions;
};

static bool compare_pulled(void *context, const struct pug_origin *origin,
                           const struct pug_element *elements, size_t count)
{
    struct pulled *pulled = context;
    if (!pulled->walk)
        assert_int_equal(pug_capture_walk(origin, &pulled->walk), PUG_OK);
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *element = pug_cursor_next(pulled->cursor);
        assert_non_null(element);
        assert_int_equal(element->index, elements[i].index);
        assert_int_equal(element->type, elements[i].type);
        assert_int_equal(element->start, elements[i].start);
        pulled->elements++;
        if (element->type != PUG_ELEM_INSTR_RANGE)
            continue;
        assert_int_equal(pug_walk_begin(pulled->walk, element), PUG_OK);
        while (pug_walk_next(pulled->walk))
            pulled->instructions++;
        assert_int_equal(pug_walk_status(pulled->walk), PUG_OK);
    }
    return true;
}

static void test_cursor_and_walk(void **state)
{
    static const char path[] = PUG_SOURCE_DIR "/tests/captures/ete-a64";
    const struct pug_origin nowhere = {.buffer = 0};
    struct pug_capture *capture;
    struct pulled pulled = {.walk = NULL};
    struct pug_walk *walk;
    size_t steps = 0;
    (void)state;
    assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
    assert_int_equal(pug_capture_cursor(capture, 0, &pulled.cursor), PUG_OK);
    assert_int_equal(pug_capture_elements(capture, compare_pulled, &pulled), PUG_OK);
    assert_null(pug_cursor_next(pulled.cursor));
    assert_int_equal(pug_cursor_status(pulled.cursor), PUG_OK);
    assert_true(pulled.elements > 1000 && pulled.instructions > pulled.elements);
    assert_int_equal(pug_cursor_seek(pulled.cursor, 0), PUG_OK);
    for (const struct pug_cursor_step *step; (step = pug_cursor_step(pulled.cursor)) != NULL;)
        steps += step->step != NULL;
    assert_int_equal(steps, pulled.instructions);
    pug_cursor_free(pulled.cursor);
    pug_walk_free(pulled.walk);
    assert_int_equal(pug_capture_cursor(capture, 99, &pulled.cursor), PUG_ERR_NOT_FOUND);
    assert_null(pulled.cursor);
    assert_int_equal(pug_capture_cursor(NULL, 0, &pulled.cursor), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_capture_walk(&nowhere, &walk), PUG_ERR_NOT_FOUND);
    assert_int_equal(pug_capture_walk(NULL, &walk), PUG_ERR_INVALID_PARAM_VAL);
    pug_capture_free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursor_and_walk),
        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_simple),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
