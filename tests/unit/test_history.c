// SPDX-License-Identifier: MIT
/**
 * @file Histories: over every capture the positions are the instructions that walks give, one after
 * the other; moves, breakpoints and threads lead where a list of them says.
 */
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/history.h"
#include "pugmark/pugmark.h"
#include "support/captures.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 100000u /* positions that are held against the list */

/** An instruction, or an exception with a return address, in the order of decoding. */
struct known {
    uint64_t address;
    uint16_t source;
    bool instruction;
};

struct told {
    struct known *items;
    size_t count;
    struct pug_walk *walk;
    const struct pug_image *image;
    struct pug_history *history;
};

static void add(struct told *told, uint64_t address, uint16_t source, bool instruction)
{
    if (told->count < MOST)
        told->items[told->count++] = (struct known){address, source, instruction};
}

static void walk_range(struct told *told, const struct pug_origin *origin,
                       const struct pug_element *range)
{
    const struct pug_image *image = origin->space ? pug_address_space_image(origin->space) : NULL;
    uint64_t addresses[64];
    if (image != told->image) {
        pug_walk_free(told->walk);
        told->walk = NULL;
        told->image = image;
        if (image)
            assert_int_equal(pug_walk_new(&(struct pug_walk_config){.image = image}, &told->walk),
                             PUG_OK);
    }
    if (!told->walk || pug_walk_begin(told->walk, range) != PUG_OK)
        return;
    for (size_t got; (got = pug_walk_addresses(told->walk, addresses, 64)) > 0;)
        for (size_t i = 0; i < got; i++)
            add(told, addresses[i], range->source, true);
}

static bool take(void *context, const struct pug_origin *origin, const struct pug_element *elements,
                 size_t count)
{
    struct told *told = context;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->type == PUG_ELEM_INSTR_RANGE)
            walk_range(told, origin, e);
        else if (e->type == PUG_ELEM_EXCEPTION && (e->flags & PUG_ELEM_RET_ADDR) &&
                 !(e->flags & PUG_ELEM_DATA_MARKER))
            add(told, e->end, e->source, false);
    }
    return pug_history_take(told->history, origin, elements, count);
}

/** All positions that are no ends of stretches are what was given, in that order. */
static size_t compare_positions(struct told *told, uint64_t *positions)
{
    struct pug_history_place place;
    size_t at = 0;
    for (uint64_t p = 0; at < told->count && pug_history_at(told->history, p, &place); p++) {
        if (place.kind == PUG_HISTORY_STOP)
            continue;
        assert_int_equal(place.position, p);
        assert_true(place.pc == told->items[at].address);
        assert_int_equal(place.origin.source, told->items[at].source);
        assert_int_equal(place.kind == PUG_HISTORY_INSTRUCTION, told->items[at].instruction);
        positions[at++] = p;
    }
    assert_int_equal(at, told->count);
    return at;
}

/** `find` there and back is what a look through the list gives. */
static void compare_finds(struct told *told, const uint64_t *positions, size_t count)
{
    for (size_t n = 1; n < 12; n++) {
        const size_t from = count * n / 12, of = count * (n * 7 % 12) / 12;
        const uint64_t address = told->items[of].address;
        size_t next = from + 1, last = from;
        uint64_t found;
        while (next < count &&
               !(told->items[next].instruction && told->items[next].address == address))
            next++;
        while (last > 0 &&
               !(told->items[last - 1].instruction && told->items[last - 1].address == address))
            last--;
        if (!told->items[of].instruction)
            continue;
        if (pug_history_find(told->history, PUG_FIND_ADDRESS, address, positions[from], false,
                             &found) &&
            next < count)
            assert_true(found <= positions[next]); /* or an exception there, a fault */
        else
            assert_true(next == count);
        if (pug_history_find(told->history, PUG_FIND_ADDRESS, address, positions[from], true,
                             &found))
            assert_true(last == 0 || found >= positions[last - 1]);
        else
            assert_int_equal(last, 0);
    }
}

/** A step of a thread leads to its next or last position, and back. */
static void compare_steps(struct told *told, const uint64_t *positions, size_t count)
{
    for (size_t n = 1; n < 50; n++) {
        const uint64_t from = positions[count * n / 50];
        struct pug_history_place place, there;
        assert_true(pug_history_at(told->history, from, &place));
        struct pug_history_move move = {.position = from, .thread = place.thread};
        pug_history_step(told->history, &move);
        if (move.stop != PUG_MOVE_DONE)
            continue;
        assert_true(move.position > from);
        assert_int_equal(move.thread, place.thread);
        for (uint64_t p = from + 1; p < move.position; p++) {
            assert_true(pug_history_at(told->history, p, &there));
            assert_true(there.thread != place.thread);
        }
        move.backward = true;
        move.thread = place.thread;
        pug_history_step(told->history, &move);
        assert_int_equal(move.stop, PUG_MOVE_DONE);
        assert_true(move.position == from);
    }
}

/** Every position has a call stack whose innermost pc is its own, and inner calls are deeper. */
static void compare_frames(struct told *told, const uint64_t *positions, size_t count)
{
    struct pug_history_frame frames[64];
    for (size_t n = 0; n < 40; n++) {
        const uint64_t at = positions[count * n / 40];
        struct pug_history_place place;
        assert_true(pug_history_at(told->history, at, &place));
        const size_t all = pug_history_frames(told->history, at, frames, 64);
        if (all == 0)
            continue;
        assert_true(frames[0].pc == place.pc);
        for (size_t i = 1; i < all && i < 64; i++)
            assert_int_equal(frames[i].depth, frames[i - 1].depth - 1);
    }
}

static void one_history(const char *path, void *context)
{
    struct pug_capture *capture;
    unsigned *tested = context;
    if (pug_capture_open(path, &(struct pug_capture_options){0}, &capture) != PUG_OK)
        return;
    struct told told = {.items = malloc(MOST * sizeof(*told.items))};
    uint64_t *positions = malloc(MOST * sizeof(*positions));
    assert_true(told.items && positions);
    assert_int_equal(
        pug_history_new(&(struct pug_history_config){.capture = capture}, &told.history), PUG_OK);
    (void)pug_capture_elements(capture, take, &told);
    pug_history_end(told.history);
    assert_int_equal(pug_history_status(told.history), PUG_OK);
    const size_t count = compare_positions(&told, positions);
    if (count > 100) {
        compare_finds(&told, positions, count);
        compare_steps(&told, positions, count);
        compare_frames(&told, positions, count);
        ++*tested;
    }
    pug_history_free(told.history);
    pug_walk_free(told.walk);
    pug_capture_free(capture);
    free(positions);
    free(told.items);
}

static void is_what_ran(void **state)
{
    unsigned tested = 0;
    captures_folders(*(const enum captures *)*state, one_history, &tested);
    assert_true(tested > 0);
}

/* ---- the crash ---- */

static struct pug_history *open_crash(struct pug_capture **capture)
{
    struct pug_history *history;
    assert_int_equal(pug_capture_open(PUG_SOURCE_DIR "/examples/crash",
                                      &(struct pug_capture_options){0}, capture),
                     PUG_OK);
    assert_int_equal(pug_history_new(&(struct pug_history_config){.capture = *capture}, &history),
                     PUG_OK);
    assert_int_equal(pug_capture_elements(*capture, pug_history_take, history), PUG_OK);
    pug_history_end(history);
    return history;
}

static void stands_at_the_fault(void **state)
{
    struct pug_capture *capture;
    struct pug_history *history = open_crash(&capture);
    struct pug_history_place place;
    uint64_t found;
    (void)state;
    assert_true(pug_history_find(history, PUG_FIND_EXCEPTION, 0, 0, false, &found));
    assert_true(pug_history_at(history, found, &place));
    assert_true(place.pc == 0x21032c && place.fault);
    assert_int_equal(place.kind, PUG_HISTORY_EXCEPTION);
    /* A breakpoint at the instruction that faulted is hit, though it did not run. */
    const struct pug_history_breakpoint at = {.address = 0x21032c, .pid = PUG_NO_CPU};
    assert_int_equal(pug_history_breakpoints(history, &at, 1), PUG_OK);
    struct pug_history_move move = {.position = pug_history_count(history) - 1, .backward = true};
    pug_history_run(history, &move);
    assert_int_equal(move.stop, PUG_MOVE_BREAKPOINT);
    assert_true(move.position == found);
    pug_history_free(history);
    pug_capture_free(capture);
}

static void ends_and_begins(void **state)
{
    struct pug_capture *capture;
    struct pug_history *history = open_crash(&capture);
    const uint64_t last = pug_history_count(history) - 1;
    struct pug_history_move move = {0};
    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        pug_history_run(history, &move);
        assert_int_equal(move.stop, PUG_MOVE_END);
        assert_true(move.position == last);
        pug_history_step(history, &move);
        assert_int_equal(move.stop, PUG_MOVE_END);
        assert_true(move.position == last);
    }
    move.backward = true;
    pug_history_run(history, &move);
    assert_int_equal(move.stop, PUG_MOVE_BEGIN);
    assert_true(move.position == 0);
    pug_history_free(history);
    pug_capture_free(capture);
}

/** A step out of a range that the trace ends in goes to its end. */
static void steps_to_the_end(void **state)
{
    struct pug_capture *capture;
    struct pug_history *history = open_crash(&capture);
    const uint64_t last = pug_history_count(history) - 1;
    struct pug_history_move move = {
        .position = last - 3, .in_range = true, .from = 0x210000, .to = 0x220000};
    (void)state;
    pug_history_step(history, &move);
    assert_int_equal(move.stop, PUG_MOVE_END);
    assert_true(move.position == last);
    move = (struct pug_history_move){
        .position = 3, .in_range = true, .from = 0x210000, .to = 0x220000, .backward = true};
    pug_history_step(history, &move);
    assert_int_equal(move.stop, PUG_MOVE_BEGIN);
    assert_true(move.position == 0);
    pug_history_free(history);
    pug_capture_free(capture);
}

/* ---- in a file ---- */

/** What both say of a position. */
static void compare_places(struct pug_history *a, struct pug_history *b, uint64_t at)
{
    struct pug_history_place here, there;
    struct pug_history_packet packet, other;
    struct pug_history_frame frames[2][16] = {0};
    uint8_t bytes[2][32] = {{0}};
    assert_true(pug_history_at(a, at, &here));
    assert_true(pug_history_at(b, at, &there));
    assert_true(here.pc == there.pc && here.kind == there.kind && here.link == there.link);
    assert_int_equal(here.exception, there.exception);
    assert_true(pug_history_packet(a, at, &packet));
    assert_true(pug_history_packet(b, at, &other));
    assert_true(packet.index == other.index && packet.time == other.time);
    const size_t count = pug_history_frames(a, at, frames[0], 16);
    assert_int_equal(pug_history_frames(b, at, frames[1], 16), count);
    for (size_t i = 0; i < count && i < 16; i++)
        assert_true(frames[0][i].pc == frames[1][i].pc && frames[0][i].depth == frames[1][i].depth);
    assert_int_equal(pug_history_memory_at(a, &here, here.pc, bytes[0], 32),
                     pug_history_memory_at(b, &there, there.pc, bytes[1], 32));
    assert_memory_equal(bytes[0], bytes[1], 32);
}

static void is_the_same_from_a_file(void **state)
{
    struct pug_capture *capture, *again;
    struct pug_history *history = open_crash(&capture), *loaded;
    char folder[64], path[128];
    (void)state;
    assert_true(temporary_folder(folder, sizeof(folder), "history"));
    snprintf(path, sizeof(path), "%s/kept", folder);
    assert_int_equal(pug_history_save(history, path, 5), PUG_OK);
    assert_int_equal(pug_capture_open(PUG_SOURCE_DIR "/examples/crash",
                                      &(struct pug_capture_options){0}, &again),
                     PUG_OK);
    const struct pug_history_config config = {.capture = again};
    assert_int_equal(pug_history_load(&config, path, 6, &loaded), PUG_ERR_INDEX_FOREIGN);
    assert_int_equal(pug_history_load(&config, folder, 5, &loaded), PUG_ERR_FILE);
    assert_int_equal(pug_history_load(&config, path, 5, &loaded), PUG_OK);
    assert_true(pug_history_ended(loaded));
    assert_true(pug_history_count(loaded) == pug_history_count(history));
    for (uint64_t at = 0; at < pug_history_count(history); at++)
        compare_places(history, loaded, at);
    pug_history_free(loaded);
    /* A byte that was changed makes it another file. */
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -3, SEEK_END), 0);
    const int last = fgetc(file);
    assert_int_equal(fseek(file, -3, SEEK_END), 0);
    (void)fputc(last ^ 1, file);
    (void)fclose(file);
    assert_int_equal(pug_history_load(&config, path, 5, &loaded), PUG_ERR_INDEX_DAMAGED);
    assert_null(loaded);
    remove(path);
    remove(folder);
    pug_history_free(history);
    pug_capture_free(again);
    pug_capture_free(capture);
}

static void adds_accesses(void **state)
{
    struct pug_capture *capture;
    struct pug_history *history = open_crash(&capture), *made;
    const struct pug_origin origin = {.task = PUG_NO_TASK, .cpu = PUG_NO_CPU, .source = 1};
    struct pug_element element = {.index = 1,
                                  .start = 0x1000,
                                  .end = 0x1010,
                                  .count = 4,
                                  .type = PUG_ELEM_INSTR_RANGE,
                                  .isa = PUG_ISA_A64,
                                  .last_size = 4,
                                  .source = 1};
    struct pug_history_place place;
    uint8_t bytes[4];
    (void)state;
    pug_history_free(history);
    assert_int_equal(pug_history_new(&(struct pug_history_config){.capture = capture}, &made),
                     PUG_OK);
    assert_true(pug_history_take(made, &origin, &element, 1));
    assert_true(pug_history_access(made, 0x8000, 0x11223344, 4));
    assert_false(pug_history_access(made, 0x8000, 0, 9));
    element.index = 2;
    assert_true(pug_history_take(made, &origin, &element, 1));
    pug_history_end(made);
    assert_true(pug_history_at(made, 3, &place));
    assert_int_equal(pug_history_memory_at(made, &place, 0x8000, bytes, 4), 0);
    assert_true(pug_history_at(made, 4, &place));
    assert_int_equal(pug_history_memory_at(made, &place, 0x8000, bytes, 4), 4);
    assert_true(bytes[0] == 0x44 && bytes[3] == 0x11);
    pug_history_free(made);
    pug_capture_free(capture);
}

/* ---- made elements: losses, exceptions at the end ---- */

static struct pug_element range(uint64_t index, uint64_t start, uint32_t count)
{
    return (struct pug_element){.index = index,
                                .start = start,
                                .end = start + count * 4,
                                .count = count,
                                .type = PUG_ELEM_INSTR_RANGE,
                                .isa = PUG_ISA_A64,
                                .last_size = 4,
                                .source = 1};
}

static void stops_at_losses(void **state)
{
    struct pug_capture *capture;
    struct pug_history *history = open_crash(&capture), *made;
    const struct pug_origin origin = {.task = PUG_NO_TASK, .cpu = PUG_NO_CPU, .source = 1};
    const struct pug_element elements[] = {
        {.type = PUG_ELEM_TRACE_ON, .source = 1},
        range(1, 0x1000, 4),
        {.type = PUG_ELEM_NO_SYNC, .reason = PUG_UNSYNC_OVERFLOW, .source = 1, .index = 2},
        {.type = PUG_ELEM_TRACE_ON, .reason = PUG_TRACE_ON_OVERFLOW, .source = 1, .index = 3},
        range(4, 0x2000, 2),
        {.type = PUG_ELEM_TRACE_ON, .source = 1, .index = 5}, /* it goes on where it was */
        range(6, 0x2008, 2),
        {.type = PUG_ELEM_EXCEPTION,
         .flags = PUG_ELEM_RET_ADDR,
         .end = 0x2010,
         .number = 12,
         .reason = PUG_EXCEPTIONS_ARMV8,
         .isa = PUG_ISA_A64,
         .source = 1,
         .index = 7},
    };
    (void)state;
    pug_history_free(history);
    assert_int_equal(pug_history_new(&(struct pug_history_config){.capture = capture}, &made),
                     PUG_OK);
    assert_true(pug_history_take(made, &origin, elements, sizeof(elements) / sizeof(*elements)));
    pug_history_end(made);
    /* Four instructions, where the first stretch ends, four more, and the exception. */
    assert_int_equal(pug_history_count(made), 10);
    struct pug_history_move move = {0};
    pug_history_run(made, &move);
    assert_int_equal(move.stop, PUG_MOVE_LOSS);
    assert_int_equal(move.gap, PUG_GAP_LOST);
    assert_int_equal(move.position, 4);
    pug_history_run(made, &move); /* goes on behind it, to the exception that ends it */
    assert_int_equal(move.stop, PUG_MOVE_EXCEPTION);
    assert_int_equal(move.position, 9);
    pug_history_run(made, &move);
    assert_int_equal(move.stop, PUG_MOVE_END);
    move.backward = true;
    pug_history_run(made, &move);
    assert_int_equal(move.stop, PUG_MOVE_LOSS);
    assert_int_equal(move.position, 5);
    pug_history_step(made, &move);
    assert_int_equal(move.stop, PUG_MOVE_DONE);
    assert_int_equal(move.position, 4);
    pug_history_run(made, &move);
    assert_int_equal(move.stop, PUG_MOVE_BEGIN);
    pug_history_free(made);
    pug_capture_free(capture);
}

/** Two sources share one time: a step moves one, and a breakpoint of the other is not passed. */
static void moves_threads_together(void **state)
{
    struct pug_capture *capture;
    struct pug_history *history = open_crash(&capture), *made;
    (void)state;
    pug_history_free(history);
    assert_int_equal(pug_history_new(&(struct pug_history_config){.capture = capture}, &made),
                     PUG_OK);
    for (unsigned n = 0; n < 6000; n++) { /* more than a page has events */
        const uint16_t source = n % 3 == 2 ? 2 : 1;
        const struct pug_origin origin = {.task = PUG_NO_TASK, .cpu = PUG_NO_CPU, .source = source};
        struct pug_element element = range(n, 0x1000 * source + n % 7 * 16, 1);
        element.source = source;
        assert_true(pug_history_take(made, &origin, &element, 1));
    }
    pug_history_end(made);
    struct pug_history_place place;
    for (uint64_t p = 0; p < 6000; p++) {
        assert_true(pug_history_at(made, p, &place));
        assert_int_equal(place.thread, p % 3 == 2);
        assert_true(place.pc == 0x1000 * (place.thread + 1u) + p % 7 * 16);
    }
    struct pug_history_move move = {.position = 1, .thread = 0};
    pug_history_step(made, &move);
    assert_int_equal(move.position, 3);
    const struct pug_history_breakpoint at = {.address = 0x2000 + 2 * 16, .pid = PUG_NO_CPU};
    assert_int_equal(pug_history_breakpoints(made, &at, 1), PUG_OK);
    move = (struct pug_history_move){.position = 1, .thread = 0};
    pug_history_step(made, &move);
    assert_int_equal(move.stop, PUG_MOVE_BREAKPOINT);
    assert_int_equal(move.position, 2);
    assert_int_equal(move.thread, 1);
    uint64_t found;
    assert_true(pug_history_of_thread(made, 4500, 1, &found));
    assert_int_equal(found, 4502);
    assert_true(pug_history_of_thread(made, 4500, 0, &found));
    assert_int_equal(found, 4500);
    pug_history_free(made);
    pug_capture_free(capture);
}

static void needs_a_capture(void **state)
{
    struct pug_history *history = (struct pug_history *)&history;
    (void)state;
    assert_int_equal(pug_history_new(NULL, &history), PUG_ERR_INVALID_PARAM_VAL);
    assert_null(history);
    assert_int_equal(pug_history_new(&(struct pug_history_config){0}, &history),
                     PUG_ERR_INVALID_PARAM_VAL);
    pug_history_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(is_what_ran),         cmocka_unit_test(stands_at_the_fault),
        cmocka_unit_test(ends_and_begins),  cmocka_unit_test(stops_at_losses),
        cmocka_unit_test(steps_to_the_end), cmocka_unit_test(is_the_same_from_a_file),
        cmocka_unit_test(adds_accesses),    cmocka_unit_test(moves_threads_together),
        cmocka_unit_test(needs_a_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
