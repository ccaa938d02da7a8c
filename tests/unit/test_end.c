// SPDX-License-Identifier: MIT
/** @file END while the consumer waits. */
#include "pugmark/pugmark.h"

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
static const uint8_t trace[] = {0, 0, 0, 0, 0, 0x80, 0x01, 0x55};

static struct pug_tree *start(bool lost, struct heard *heard)
{
    static const struct pug_setting setting = {.name = "ITMTCR", .value = 0x00100000};
    struct pug_source_config source = {
        .protocol = "ITM", .settings = {.items = &setting, .count = 1}, .decode = true};
    struct pug_tree_config config = {.quirks = {.end_does_not_wait = lost}};
    struct pug_source *made;
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, &made), PUG_OK);
    pug_tree_on_elements(tree, on_elements, heard);
    pug_source_monitor(made, on_packet, heard);
    size_t used, at = 0;
    enum pug_response response = PUG_RESP_CONT;
    while (at < sizeof(trace)) {
        while (PUG_RESP_IS_WAIT(response))
            response = pug_tree_flush(tree);
        response = pug_tree_data(tree, at, trace + at, sizeof(trace) - at, &used);
        at += used;
    }
    assert_int_equal(response, PUG_RESP_WAIT); /* for the stimulus */
    return tree;
}

static void test_waits(void **unused)
{
    (void)unused;
    struct heard heard = {.count = 0};
    struct pug_tree *tree = start(false, &heard);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_WAIT);
    assert_string_equal(heard.letters, "bsd");
    assert_int_equal(pug_tree_flush(tree), PUG_RESP_CONT);
    assert_string_equal(heard.letters, "bsdE");
    pug_tree_free(tree);
}

static void test_does_not_wait(void **unused)
{
    (void)unused;
    struct heard heard = {.count = 0};
    struct pug_tree *tree = start(true, &heard);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_WAIT);
    assert_string_equal(heard.letters, "bsdE");
    pug_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
