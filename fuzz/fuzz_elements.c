// SPDX-License-Identifier: MIT
/**
 * @file Any elements, as a decoder of a client's own may deliver them, to all that takes elements:
 * texts, calls, counts, walks, diagnosis, correlation, DWT events and profiles with call stacks.
 */
#include "capture/capture.h"
#include "driver.h"
#include "profile/steps.h"
#include "pugmark/advanced/correlate.h"
#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/diagnose.h"
#include "pugmark/calls.h"
#include "pugmark/dwt.h"
#include "pugmark/names.h"
#include "pugmark/walk.h"
#include "swo/swo.h"

#include <stdlib.h>
#include <string.h>

/** A capture whose program is at these addresses. */
#define CAPTURE  PUG_SOURCE_DIR "/examples/crash"
#define CODE     UINT64_C(0x210264)
#define CODE_END UINT64_C(0x21049c)

#define ELEMENTS 1024u

static void insist(bool holds)
{
    if (!holds)
        abort();
}

/* ---- what there is once ---- */

static struct pug_capture *capture;
static struct pug_names *names;
static struct pug_origin origin;

static bool keep_origin(void *context, const struct pug_origin *given,
                        const struct pug_element *elements, size_t count)
{
    (void)elements, (void)count;
    *(struct pug_origin *)context = *given;
    return false;
}

static void open_once(void)
{
    if (capture)
        return;
    const struct pug_capture_options options = {0};
    insist(pug_capture_open(CAPTURE, &options, &capture) == PUG_OK);
    (void)pug_capture_elements(capture, keep_origin, &origin);
    insist(origin.space && (names = pug_names_new(NULL)) != NULL);
}

static const struct pug_image *image(void)
{
    return pug_address_space_image(origin.space);
}

/* ---- who takes them ---- */

static void tell(const struct pug_element *elements, size_t count)
{
    char text[256];
    for (size_t i = 0; i < count; i++) {
        const size_t room = elements[i].index % sizeof(text);
        (void)pug_element_text(&elements[i], text, room);
        (void)pug_element_words(&elements[i], text, room);
        const char *reason = pug_element_reason_name(&elements[i]);
        insist(!reason || strlen(reason) < 64);
    }
}

static void walk(const struct pug_element *elements, size_t count)
{
    struct pug_walk *walk;
    uint64_t addresses[16];
    insist(pug_walk_new(&(struct pug_walk_config){.image = image()}, &walk) == PUG_OK);
    for (size_t i = 0; i < count; i++) {
        if (pug_walk_begin(walk, &elements[i]) != PUG_OK)
            continue;
        for (int n = 0; n < 64 && pug_walk_next(walk); n++)
            ;
        if (pug_walk_begin(walk, &elements[i]) == PUG_OK)
            (void)pug_walk_addresses(walk, addresses, 16);
    }
    pug_walk_free(walk);
}

static void on_call(void *context, const struct pug_call_event *event)
{
    *(uint64_t *)context += event->took.instructions;
}

static void call(const struct pug_element *elements, size_t count)
{
    struct pug_calls *calls;
    uint64_t sum = 0;
    const struct pug_calls_config config = {
        .image = image(), .event = on_call, .event_context = &sum, .depth = 64};
    insist(pug_calls_new(&config, &calls) == PUG_OK);
    insist(pug_calls_take(calls, 0, elements, count) == PUG_OK);
    pug_calls_end(calls);
    pug_calls_free(calls);
}

static bool same_range(const struct pug_count_range *a, const struct pug_count_range *b)
{
    return a->start == b->start && a->end == b->end && a->count == b->count &&
           a->cycles == b->cycles && a->instructions == b->instructions && a->flags == b->flags &&
           a->last_type == b->last_type && a->last_subtype == b->last_subtype &&
           a->last_size == b->last_size && a->isa == b->isa;
}

/** Parts add up to the whole. */
static void add_up(const struct pug_element *elements, size_t count)
{
    struct pug_counts *whole = pug_counts_new(), *first = pug_counts_new(),
                      *second = pug_counts_new();
    const size_t half = count / 2;
    size_t a, b;
    insist(whole && first && second);
    pug_counts_add_elements(whole, elements, count);
    pug_counts_add_elements(first, elements, half);
    pug_counts_add_elements(second, elements + half, count - half);
    pug_counts_append(first, second);
    const struct pug_count_range *expected = pug_counts_ranges(whole, &a),
                                 *found = pug_counts_ranges(first, &b);
    insist(a == b);
    for (size_t i = 0; i < a; i++)
        insist(same_range(&expected[i], &found[i]));
    (void)pug_counts_jumps(whole, &a);
    (void)pug_counts_jumps(first, &b);
    insist(a == b && pug_counts_contradictions(whole) == pug_counts_contradictions(first));
    pug_counts_free(whole);
    pug_counts_free(first);
    pug_counts_free(second);
}

static void diagnose(const struct pug_element *elements, size_t count)
{
    struct pug_diagnosis *diagnosis = pug_diagnosis_new(image());
    struct pug_diagnosis_part *part = diagnosis ? pug_diagnosis_begin(diagnosis) : NULL;
    const struct pug_evidence *evidence;
    insist(part != NULL);
    pug_diagnosis_elements(part, elements, count);
    pug_diagnosis_take(diagnosis, part);
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis, n, &evidence); n++)
        (void)pug_evidence_first(evidence);
    pug_diagnosis_free(diagnosis);
}

static void watch(const struct pug_element *elements, size_t count)
{
    struct pug_dwt dwt;
    char text[128];
    pug_dwt_init(&dwt, true);
    for (size_t i = 0; i <= count; i++) {
        const size_t ready = i < count ? pug_dwt_push(&dwt, &elements[i]) : pug_dwt_finish(&dwt);
        for (size_t n = 0; n < ready; n++)
            (void)pug_dwt_text(&dwt.events[n], text, sizeof(text));
    }
}

static void take_event(void *context, const struct pug_dwt_event *event)
{
    pug_interrupts_take(context, event);
}

/** Events with times, and the stack of handlers: what was open in the end is closed. */
static void follow(const struct pug_element *elements, size_t count)
{
    static struct pug_interrupts interrupts;
    const struct pug_swo_clock clock = {.local_hertz = count & 1, .global_hertz = count & 2};
    struct pug_swo_stream stream;
    struct pug_swo_period *period = malloc(sizeof(*period));
    insist(period != NULL);
    pug_swo_period_init(period);
    pug_interrupts_init(&interrupts, NULL, NULL);
    pug_swo_stream_init(&stream, NULL, &clock, take_event, &interrupts);
    for (size_t i = 0; i < count; i++) {
        pug_swo_stream_take(&stream, &elements[i]);
        pug_swo_period_take(period, &elements[i]);
    }
    pug_swo_stream_end(&stream);
    pug_interrupts_end(&interrupts);
    (void)pug_swo_period_loss(period);
    insist(interrupts.depth == 0);
    free(period);
}

static bool count_given(void *context, const struct pug_correlated *given, size_t count)
{
    (void)given;
    *(size_t *)context += count;
    return true;
}

/** All come again, whatever their times are. */
static void correlate(const struct pug_element *elements, size_t count)
{
    struct pug_correlate *correlate;
    size_t given = 0;
    const struct pug_correlate_config config = {
        .give = count_given, .context = &given, .limit = 64};
    insist(pug_correlate_new(&config, &correlate) == PUG_OK);
    for (uint16_t stream = 0; stream < 2; stream++)
        insist(pug_correlate_add(correlate, &(struct pug_correlate_source){.source = stream}) ==
               PUG_OK);
    for (size_t i = 0; i < count; i++)
        insist(pug_correlate_put(correlate, elements[i].source % 2, &elements[i], 1) == PUG_OK);
    for (uint32_t stream = 0; stream < 2; stream++)
        insist(pug_correlate_end(correlate, stream) == PUG_OK);
    insist(given == count);
    pug_correlate_free(correlate);
}

static void profile(const struct pug_element *elements, size_t count)
{
    struct profile_objects objects = {
        .profile = pug_profile_new(), .capture = capture, .names = names};
    struct profile_counted counted = pug_profile_counted_begin(&objects);
    struct profile_stacks *stacks = pug_profile_stacks_new(&counted);
    struct profile_part *part = pug_profile_part_new(capture, true);
    insist(objects.profile && stacks && part);
    pug_profile_part_elements(part, &origin, elements, count);
    if (pug_profile_stacks_take(stacks, part) == PUG_OK && pug_profile_stacks_end(stacks) == PUG_OK)
        (void)pug_profile_counted_end(&counted);
    pug_profile_part_free(part);
    pug_profile_stacks_free(stacks);
    pug_profile_counted_free(&counted);
    pug_profile_objects_free(&objects);
    pug_profile_free(objects.profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pug_element elements[ELEMENTS];
    static const uint8_t payload[256];
    const size_t given = size / sizeof(*elements), count = given < ELEMENTS ? given : ELEMENTS;
    open_once();
    memcpy(elements, data, count * sizeof(*elements));
    for (size_t i = 0; i < count; i++) {
        elements[i].type %= PUG_ELEM_TYPE_COUNT;
        if (!(elements[i].flags & PUG_ELEM_PAYLOAD))
            continue;
        elements[i].payload = payload; /* that it is there is its decoder's promise */
        elements[i].count %= sizeof(payload);
    }
    tell(elements, count);
    walk(elements, count);
    call(elements, count);
    add_up(elements, count);
    diagnose(elements, count);
    watch(elements, count);
    follow(elements, count);
    correlate(elements, count);
    profile(elements, count);
    return 0;
}

/* ---- inputs: ranges of the program, and now and then something else ---- */

static struct pug_element some_element(struct rec_random *random, uint64_t *at)
{
    struct pug_element element = {.index = rec_random_below(random, 1 << 20),
                                  .start = *at,
                                  .end = *at + 4 * (1 + rec_random_below(random, 8)),
                                  .source = origin.source,
                                  .type = PUG_ELEM_INSTR_RANGE,
                                  .last_type = (uint8_t)rec_random_below(random, 4),
                                  .last_subtype = (uint8_t)rec_random_below(random, 8),
                                  .last_size = 4,
                                  .isa = PUG_ISA_A64};
    element.count = (uint32_t)(element.end - element.start) / 4;
    if (!rec_random_once_in(random, 3))
        element.flags = PUG_ELEM_EXECUTED;
    if (rec_random_once_in(random, 8))
        element.type = (uint8_t)rec_random_below(random, PUG_ELEM_TYPE_COUNT);
    *at = rec_random_once_in(random, 2)
              ? element.end
              : CODE + 4 * rec_random_below(random, (uint32_t)(CODE_END - CODE) / 4);
    return element;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    uint64_t at = CODE;
    size_t count = 1 + rec_random_below(random, ELEMENTS);
    open_once();
    if (count > room / sizeof(struct pug_element))
        count = room / sizeof(struct pug_element);
    for (size_t i = 0; i < count; i++) {
        const struct pug_element element = some_element(random, &at);
        memcpy(data + i * sizeof(element), &element, sizeof(element));
    }
    return count * sizeof(struct pug_element);
}
