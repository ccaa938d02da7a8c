// SPDX-License-Identifier: MIT
/** @file DWT packets as events: each kind in words, joined accesses, and times. */
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"
#include "recorder/itm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct pug_setting setting = {.name = "ITMTCR", .value = 0x00010011};

struct events {
    struct pug_dwt dwt;
    char text[4096];
    size_t length;
};

static void put_events(struct events *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pug_dwt_event *event = &events->dwt.events[i];
        char words[128];
        pug_dwt_text(event, words, sizeof(words));
        int n = snprintf(events->text + events->length, sizeof(events->text) - events->length,
                         "%llu %s%s", (unsigned long long)event->index,
                         event->overflow ? "(lost) " : "", words);
        events->length += (size_t)n;
        if (event->has_time)
            events->length += (size_t)snprintf(events->text + events->length,
                                               sizeof(events->text) - events->length, " @%llu",
                                               (unsigned long long)event->time);
        n = snprintf(events->text + events->length, sizeof(events->text) - events->length, "\n");
        events->length += (size_t)n;
    }
}

static enum pug_response on_element(void *context, const struct pug_element *element)
{
    struct events *events = context;
    put_events(events, pug_dwt_push(&events->dwt, element));
    return PUG_RESP_CONT;
}

/** Decode the rest of `bytes` after an ASYNC, and compare the events. */
static void assert_events(struct events *events, struct rec_bytes *bytes, const char *wanted)
{
    struct pug_tree *tree;
    struct rec_bytes all = {0};
    size_t used;
    rec_itm_async(&all);
    rec_put_n(&all, bytes->data, bytes->size);
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){0}, &tree), PUG_OK);
    struct pug_source_config source = {
        .protocol = "ITM", .settings = {.items = &setting, .count = 1}, .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    pug_tree_on_element(tree, on_element, events);
    pug_tree_data(tree, 0, all.data, all.size, &used);
    pug_tree_end(tree);
    put_events(events, pug_dwt_finish(&events->dwt));
    pug_tree_free(tree);
    assert_string_equal(events->text, wanted);
    rec_bytes_free(&all);
    rec_bytes_free(bytes);
}

static void each_kind(void **state)
{
    (void)state;
    struct events events = {0};
    struct rec_bytes bytes = {0};
    rec_itm_dwt(&bytes, 0, 0x25, 1);
    rec_itm_dwt(&bytes, 0, 0, 1);
    rec_itm_dwt(&bytes, 1, 0x100f, 2);
    rec_itm_dwt(&bytes, 1, 0x2010, 2);
    rec_itm_dwt(&bytes, 1, 0x3000, 2);
    rec_itm_dwt(&bytes, 1, 0x0008, 2);
    rec_itm_dwt(&bytes, 1, 0x1117, 2);
    rec_itm_dwt(&bytes, 2, 0x08001234, 4);
    rec_itm_dwt(&bytes, 2, 0, 1);
    rec_itm_dwt(&bytes, 2, 0xff, 1);
    rec_itm_dwt(&bytes, 3, 0x81, 1);
    rec_itm_dwt(&bytes, 10, 1, 1);
    rec_itm_dwt(&bytes, 30, 0x1234, 2);
    rec_itm_swit(&bytes, 3, 0x41, 1);
    pug_dwt_init(&events.dwt, false);
    assert_events(&events, &bytes,
                  "6 event counters wrapped: CPI Sleep CYC\n"
                  "8 event counters wrapped: none\n"
                  "10 exception 15 SysTick entered\n"
                  "13 exception 16 IRQ0 exited\n"
                  "16 exception 0 thread mode returned to\n"
                  "19 exception 8 (reserved function)\n"
                  "22 exception 279 IRQ263 entered\n"
                  "25 PC sample 0x08001234\n"
                  "30 PC sample: sleeping\n"
                  "32 PC sample: not permitted\n"
                  "34 PMU overflow: 0x81\n"
                  "36 comparator 1 matched\n"
                  "38 hardware source 30 = 0x1234\n"
                  "41 port 3 = 0x41\n");
}

static void joined_accesses(void **state)
{
    (void)state;
    struct events events = {0};
    struct rec_bytes bytes = {0};
    /* PC, address and value of one access, interleaved with another comparator's. */
    rec_itm_dwt(&bytes, 8, 0x0800b8aa, 4);
    rec_itm_dwt(&bytes, 11, 0x20000010, 4);
    rec_itm_dwt(&bytes, 9, 0x1234, 2);
    rec_itm_dwt(&bytes, 19, 7, 4);
    rec_itm_dwt(&bytes, 16, 0xbeef, 2);
    /* A value alone, a PC alone, an address twice. */
    rec_itm_dwt(&bytes, 17, 0x124, 4);
    rec_itm_dwt(&bytes, 12, 0x100, 4);
    rec_itm_dwt(&bytes, 15, 0x44, 1);
    rec_itm_dwt(&bytes, 15, 0x48, 1);
    /* Anything else ends what is under way, the oldest first. */
    rec_itm_dwt(&bytes, 0, 2, 1);
    pug_dwt_init(&events.dwt, false);
    assert_events(&events, &bytes,
                  "11 data write 0x20000010 = 7 (comparator 1)\n"
                  "6 data read 0x1234 = 0xbeef by 0x0800b8aa (comparator 0)\n"
                  "27 data write comparator 0 = 0x124\n"
                  "37 data access 0x44 (comparator 3)\n"
                  "32 data access comparator 2 by 0x00000100\n"
                  "39 data access 0x48 (comparator 3)\n"
                  "41 event counters wrapped: EXC\n");
}

static void known_comparators(void **state)
{
    (void)state;
    struct events events = {0};
    struct rec_bytes bytes = {0};
    rec_itm_dwt(&bytes, 17, 7, 4);
    rec_itm_dwt(&bytes, 9, 0x0014, 2);
    rec_itm_dwt(&bytes, 17, 8, 4);
    rec_itm_dwt(&bytes, 19, 9, 4);
    pug_dwt_init(&events.dwt, false);
    pug_dwt_set_comparator(&events.dwt, 0, 0x20000010);
    pug_dwt_set_comparator(&events.dwt, 4, 1);
    assert_events(&events, &bytes,
                  "6 data write 0x20000010 = 7 (comparator 0)\n"
                  "11 data write 0x20000014 = 8 (comparator 0)\n"
                  "19 data write comparator 1 = 9\n");
}

static void times(void **state)
{
    (void)state;
    struct events events = {0};
    struct rec_bytes bytes = {0};
    rec_itm_dwt(&bytes, 1, 0x100f, 2);
    rec_itm_dwt(&bytes, 9, 0x10, 2);
    rec_itm_local_ts(&bytes, 0, 1000);
    rec_itm_put(&bytes, &(struct pug_itm_packet){.type = PUG_ITM_PKT_OVERFLOW});
    rec_itm_swit(&bytes, 0, 'a', 1);
    rec_itm_local_ts(&bytes, 2, 5);
    rec_itm_swit(&bytes, 0, 'b', 1);
    pug_dwt_init(&events.dwt, true);
    assert_events(&events, &bytes,
                  "6 exception 15 SysTick entered @1000\n"
                  "9 data access 0x0010 (comparator 0) @1000\n"
                  "16 (lost) port 0 = 0x61 @1005\n"
                  "20 port 0 = 0x62 @1005\n");
}

/** Without timestamps events do not wait for ever. */
static void no_times(void **state)
{
    (void)state;
    struct pug_dwt dwt;
    struct pug_element element = {.type = PUG_ELEM_ITMTRACE, .reason = PUG_ITM_DWT, .last_size = 2};
    size_t given = 0, limit = 0;
    pug_dwt_init(&dwt, true);
    for (unsigned i = 0; i < 1000; i++) {
        element.number = i % 7 ? 9 + 2 * (i & 3) : 1;
        size_t n = pug_dwt_push(&dwt, &element);
        given += n;
        if (dwt.count > limit)
            limit = dwt.count;
        for (size_t at = 0; at < n; at++)
            assert_false(dwt.events[at].has_time);
    }
    given += pug_dwt_finish(&dwt);
    assert_true(limit <= PUG_DWT_EVENTS);
    assert_int_equal(given, 1000);
}

static void other_elements(void **state)
{
    (void)state;
    struct pug_dwt_event event;
    struct pug_element element = {.type = PUG_ELEM_INSTR_RANGE};
    assert_false(pug_dwt_meaning(&element, &event));
    element.type = PUG_ELEM_ITMTRACE;
    element.reason = PUG_ITM_TS_GLOBAL;
    assert_false(pug_dwt_meaning(&element, &event));
    char name[16];
    assert_int_equal(pug_dwt_exception_name(13, name, sizeof(name)), 0);
    pug_dwt_exception_name(3, name, sizeof(name));
    assert_string_equal(name, "HardFault");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind),         cmocka_unit_test(joined_accesses),
        cmocka_unit_test(known_comparators), cmocka_unit_test(times),
        cmocka_unit_test(no_times),          cmocka_unit_test(other_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
