// SPDX-License-Identifier: MIT
/** @file END while the consumer waits. */
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** What was heard, a letter each: elements by their type, E for a source's end. */
struct heard {
    char letters[32];
    size_t count;
};

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct heard *heard = context;
    (void)count;
    heard->letters[heard->count++] = (char)('a' + elements[0].type);
    *taken = 1;
    return PUG_RESP_WAIT;
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct heard *heard = context;
    (void)packet;
    if (op == PUG_OP_END)
        heard->letters[heard->count++] = 'E';
}

/* ITM: an element NO_SYNC (b) at the first packet, a stimulus (s); at the end EO_TRACE (d). */
static const uint8_t itm[] = {0, 0, 0, 0, 0, 0x80, 0x01, 0x55};
/* PTM and ETMv3: NO_SYNC, then an I-sync, which is TRACE_ON (c) and PE_CONTEXT (e). */
static const uint8_t ptm[] = {0, 0, 0, 0, 0, 0x80, 0x08, 0, 0x80, 0, 0, 0x21};
static const uint8_t etmv3[] = {0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0, 0x80, 0, 0};

struct input {
    const char *protocol;
    const uint8_t *bytes;
    size_t size;
};

static const struct input itm_input = {"ITM", itm, sizeof(itm)};
static const struct input ptm_input = {"PTM", ptm, sizeof(ptm)};
static const struct input etmv3_input = {"ETMV3", etmv3, sizeof(etmv3)};

static const struct pug_setting registers[] = {{.name = "ITMTCR", .value = 0x00100000},
                                               {.name = "ETMCR"},
                                               {.name = "ETMIDR"},
                                               {.name = "ETMCCER"},
                                               {.name = "ETMTRACEIDR", .value = 0x20}};

static struct pug_tree *start(const struct input *input, bool lost, struct heard *heard)
{
    struct pug_source_config source = {
        .protocol = input->protocol, .settings = {.items = registers, .count = 5}, .decode = true};
    struct pug_tree_config config = {.quirks = {.end_does_not_wait = lost}};
    struct pug_source *made;
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, &made), PUG_OK);
    pug_tree_on_elements(tree, on_elements, heard);
    pug_source_monitor(made, on_packet, heard);
    size_t used, at = 0;
    enum pug_response response = PUG_RESP_CONT;
    while (at < input->size) {
        while (PUG_RESP_IS_WAIT(response))
            response = pug_tree_flush(tree);
        response = pug_tree_data(tree, at, input->bytes + at, input->size - at, &used);
        at += used;
    }
    assert_int_equal(response, PUG_RESP_WAIT); /* for the last packet */
    return tree;
}

static void test_waits(void **unused)
{
    (void)unused;
    struct heard heard = {.count = 0};
    struct pug_tree *tree = start(&itm_input, false, &heard);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_WAIT);
    assert_string_equal(heard.letters, "bsd");
    assert_int_equal(pug_tree_flush(tree), PUG_RESP_CONT);
    assert_string_equal(heard.letters, "bsdE");
    pug_tree_free(tree);
}

/** Where elements wait END is remembered until the consumer has taken them. */
static void test_waits_before(void **unused)
{
    (void)unused;
    static const struct input *const inputs[] = {&ptm_input, &etmv3_input};
    for (size_t i = 0; i < 2; i++) {
        struct heard heard = {.count = 0};
        struct pug_tree *tree = start(inputs[i], false, &heard);
        assert_string_equal(heard.letters, "bc");
        assert_int_equal(pug_tree_end(tree), PUG_RESP_WAIT);
        assert_string_equal(heard.letters, "bce");
        assert_int_equal(pug_tree_flush(tree), PUG_RESP_WAIT);
        assert_string_equal(heard.letters, "bced");
        assert_int_equal(pug_tree_flush(tree), PUG_RESP_CONT);
        assert_string_equal(heard.letters, "bcedE");
        assert_int_equal(pug_tree_flush(tree), PUG_RESP_CONT);
        assert_string_equal(heard.letters, "bcedE");
        pug_tree_free(tree);
    }
}

/** END, until nothing waits any more. */
static void end_all(struct pug_tree *tree)
{
    enum pug_response response = PUG_RESP_WAIT;
    for (unsigned i = 0; i < 9 && PUG_RESP_IS_WAIT(response); i++)
        response = pug_tree_end(tree);
    assert_int_equal(response, PUG_RESP_CONT);
}

/** END again is no second one. */
static void test_ends_once(void **unused)
{
    (void)unused;
    struct heard heard = {.count = 0};
    struct pug_tree *tree = start(&ptm_input, false, &heard);
    end_all(tree);
    assert_string_equal(heard.letters, "bcedE");
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT); /* when all is over */
    assert_string_equal(heard.letters, "bcedE");
    pug_tree_free(tree);
}

/** Bytes after an END end again. */
static void test_ends_after_more(void **unused)
{
    (void)unused;
    struct heard heard = {.count = 0};
    struct pug_tree *tree = start(&itm_input, false, &heard);
    size_t used;
    end_all(tree);
    assert_string_equal(heard.letters, "bsdE");
    static const uint8_t byte[] = {0x01, 0x41};
    (void)pug_tree_data(tree, sizeof(itm), byte, sizeof(byte), &used);
    end_all(tree);
    assert_string_equal(heard.letters, "bsdEsdE");
    assert_int_equal(pug_tree_reset(tree), PUG_RESP_CONT);
    end_all(tree);
    assert_true(heard.count > 7 && heard.letters[heard.count - 1] == 'E');
    pug_tree_free(tree);
}

/** The end of one source alone. */
static void test_source_waits(void **unused)
{
    (void)unused;
    struct heard heard = {.count = 0};
    struct pug_tree *tree = start(&ptm_input, false, &heard);
    struct pug_source *source = pug_tree_source_at(tree, 0);
    assert_int_equal(pug_source_packet(source, PUG_OP_END, NULL), PUG_RESP_WAIT);
    assert_string_equal(heard.letters, "bce");
    assert_int_equal(pug_tree_flush(tree), PUG_RESP_WAIT);
    assert_int_equal(pug_tree_flush(tree), PUG_RESP_CONT);
    assert_string_equal(heard.letters, "bcedE");
    pug_tree_free(tree);
}

static void test_does_not_wait(void **unused)
{
    (void)unused;
    struct heard heard = {.count = 0};
    struct pug_tree *tree = start(&itm_input, true, &heard);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_WAIT);
    assert_string_equal(heard.letters, "bsdE");
    pug_tree_free(tree);
}

/** What the consumer has not taken: PTM forgets it, ETMv3 puts it out before the end. */
static void test_rest(void **unused)
{
    (void)unused;
    struct heard heard = {.count = 0};
    struct pug_tree *tree = start(&ptm_input, true, &heard);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_WAIT);
    assert_string_equal(heard.letters, "bcdE");
    pug_tree_free(tree);
    heard = (struct heard){.count = 0};
    tree = start(&etmv3_input, true, &heard);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_WAIT);
    assert_string_equal(heard.letters, "bceE");
    pug_tree_free(tree);
}

static void add(struct pug_tree *tree, const char *protocol, struct heard *heard)
{
    struct pug_source_config config = {
        .protocol = protocol, .settings = {.items = registers, .count = 5}, .decode = true};
    struct pug_source *source;
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    pug_source_monitor(source, on_packet, heard);
}

/** … and after the end of sources before it. */
static void test_rest_of_another(void **unused)
{
    (void)unused;
    struct pug_tree_config config = {.transport = "coresight", .quirks = {.end_does_not_wait = 1}};
    struct heard heard = {.count = 0};
    struct rec_bytes bytes = {0};
    struct rec_frames frames = {.out = &bytes};
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    add(tree, "ITM", &heard);
    add(tree, "ETMV3", &heard);
    pug_tree_on_elements(tree, on_elements, &heard);
    rec_frames_put(&frames, 0x10, itm, sizeof(itm));
    rec_frames_put(&frames, 0x20, etmv3, sizeof(etmv3));
    rec_frames_finish(&frames);
    enum pug_response response = PUG_RESP_CONT;
    size_t used, at = 0;
    while (at < bytes.size || (PUG_RESP_IS_WAIT(response) && heard.count < 4)) {
        if (PUG_RESP_IS_WAIT(response)) {
            response = pug_tree_flush(tree);
        } else {
            response = pug_tree_data(tree, at, bytes.data + at, bytes.size - at, &used);
            at += used;
        }
    }
    assert_string_equal(heard.letters, "bsbc");
    pug_tree_end(tree);
    assert_string_equal(heard.letters, "bsbcdEeE");
    pug_tree_free(tree);
    rec_bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),        cmocka_unit_test(test_waits_before),
        cmocka_unit_test(test_ends_once),    cmocka_unit_test(test_ends_after_more),
        cmocka_unit_test(test_source_waits), cmocka_unit_test(test_does_not_wait),
        cmocka_unit_test(test_rest),         cmocka_unit_test(test_rest_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
