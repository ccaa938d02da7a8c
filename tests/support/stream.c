// SPDX-License-Identifier: MIT
#include "support/stream.h"
#include "support/counts.h"

#include "pugmark/advanced/counts.h"
#include "pugmark/advanced/jobs.h"
#include "recorder/bytes.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MOST_BLOCKS    100000000u
#define WHOLE_TRACES   12
#define DAMAGED_TRACES 1000

static void add_line(struct stream_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_line(struct stream_lines *lines, const char *format, ...)
{
    char text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (lines->count == lines->room) {
        lines->room = lines->room ? 2 * lines->room : 256;
        lines->items = realloc(lines->items, lines->room * sizeof(*lines->items));
        assert_non_null(lines->items);
    }
    size_t size = strlen(text) + 1;
    lines->items[lines->count] = malloc(size);
    assert_non_null(lines->items[lines->count]);
    memcpy(lines->items[lines->count++], text, size);
}

void stream_lines_free(struct stream_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->items[i]);
    free(lines->items);
    *lines = (struct stream_lines){0};
}

void stream_assert_lines(const struct stream_lines *lines, const char *const *wanted)
{
    size_t i = 0;
    for (; wanted[i] && i < lines->count; i++)
        assert_string_equal(lines->items[i], wanted[i]);
    if (wanted[i])
        fail_msg("missing: %s", wanted[i]);
    if (i < lines->count)
        fail_msg("too much: %s", lines->items[i]);
}

/* ---- one run ---- */

static bool waits(struct stream_tree *stream)
{
    unsigned every = stream->run->wait_every;
    if (!stream->run->waits_seed)
        return every && stream->elements % every == 0;
    struct rec_random random = {stream->waits};
    bool answer = rec_random_once_in(&random, every);
    stream->waits = random.state;
    return answer;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct stream_tree *stream = context;
    for (size_t i = 0; i < count; i++) {
        char text[8000];
        pug_element_text(&elements[i], text, sizeof(text));
        add_line(stream->run->lines, "%" PRIu64 " %s", elements[i].index, text);
        stream->elements++;
        *taken = i + 1;
        if (waits(stream))
            return PUG_RESP_WAIT;
    }
    return PUG_RESP_CONT;
}

static void on_log(void *context, const struct pug_log_record *record)
{
    struct stream_tree *stream = context;
    add_line(stream->run->lines, "! %" PRId64 " %s", (int64_t)record->index, record->text);
}

static void watch(void *context, enum pug_op op, const struct pug_packet *packet)
{
    (void)context;
    (void)op;
    (void)packet;
}

void stream_tree_open(struct stream_tree *stream, struct stream_run *run)
{
    struct pug_source *source = NULL;
    *stream = (struct stream_tree){
        .run = run, .log = pug_log_new(PUG_SEV_INFO), .waits = run->waits_seed};
    assert_non_null(stream->log);
    pug_log_set_sink(stream->log, on_log, stream);
    struct pug_tree_config config = {.transport = run->transport,
                                     .settings = run->settings,
                                     .image = run->image,
                                     .log = stream->log,
                                     .quirks = run->quirks};
    assert_int_equal(pug_tree_new(&config, &stream->tree), PUG_OK);
    struct pug_source_config of_source = {.protocol = run->protocol,
                                          .settings = run->settings,
                                          .decode = !run->sink,
                                          .options = run->options};
    assert_int_equal(pug_tree_add_source(stream->tree, &of_source, &source), PUG_OK);
    if (run->sink)
        pug_source_sink(source, run->sink, run->sink_context);
    else
        pug_tree_on_elements(stream->tree, on_elements, stream);
    pug_tree_deliver_each_packet(stream->tree, run->each_packet);
    if (run->watched)
        pug_source_monitor(source, watch, NULL);
}

void stream_tree_close(struct stream_tree *stream)
{
    pug_tree_free(stream->tree);
    pug_log_free(stream->log);
}

static enum pug_response flush(struct pug_tree *tree, enum pug_response answer)
{
    for (unsigned i = 0; PUG_RESP_IS_WAIT(answer); i++) {
        assert_true(i < MOST_BLOCKS);
        answer = pug_tree_flush(tree);
    }
    return answer;
}

size_t stream_tree_data(struct stream_tree *stream, size_t at, size_t size,
                        enum pug_response *answer)
{
    size_t used = 0;
    /* A copy of its own, so that a sanitizer sees reads beyond it. */
    uint8_t *piece = malloc(size);
    assert_non_null(piece);
    memcpy(piece, stream->run->bytes + at, size);
    *answer = pug_tree_data(stream->tree, at, piece, size, &used);
    free(piece);
    /* A consumer may wait at what the block before completed: only "go on" takes bytes. */
    assert_true(used <= size && (used > 0 || !PUG_RESP_IS_CONT(*answer)));
    *answer = flush(stream->tree, *answer);
    return used;
}

static void add_state(struct stream_tree *stream)
{
    struct pug_state state = {0};
    uint64_t hash = 0;
    const bool written = pug_tree_state(stream->tree, &state);
    for (size_t i = 0; i < state.size; i++)
        hash = (hash ^ state.bytes[i]) * UINT64_C(0x100000001b3);
    add_line(stream->run->lines, "state %d %zu %" PRIx64, written, state.size, hash);
    pug_state_free(&state);
}

static enum pug_response feed(struct stream_tree *stream)
{
    const struct stream_run *run = stream->run;
    struct rec_random random = {run->blocks_seed};
    enum pug_response answer = PUG_RESP_CONT;
    size_t at = 0;
    while (at < run->size && !PUG_RESP_IS_FATAL(answer)) {
        size_t size = run->block ? run->block : run->size;
        if (run->blocks_seed)
            size = 1 + rec_random_below(&random, (uint32_t)size);
        if (size > run->size - at)
            size = run->size - at;
        at += stream_tree_data(stream, at, size, &answer);
        if (run->states && !PUG_RESP_IS_FATAL(answer))
            add_state(stream);
    }
    return PUG_RESP_IS_FATAL(answer) ? answer : flush(stream->tree, pug_tree_end(stream->tree));
}

/** On several threads, in the smallest pieces. */
static enum pug_response feed_jobs(struct stream_tree *stream)
{
    const struct stream_run *run = stream->run;
    struct pug_jobs_result result;
    const struct pug_jobs jobs = {.threads = run->jobs, .block = run->block, .piece = 1};
    assert_int_equal(pug_tree_decode(stream->tree, &jobs, run->bytes, run->size, &result), PUG_OK);
    return result.response;
}

/** With a damaged copy of the bytes. */
static enum pug_response feed_damaged(struct stream_tree *stream, uint64_t seed)
{
    struct stream_run *run = stream->run, damaged = *run;
    size_t first;
    uint8_t *bytes = stream_damage_copy(&damaged, seed, &first);
    stream->run = &damaged;
    const enum pug_response answer = feed(stream);
    stream->run = run;
    free(bytes);
    return answer;
}

void stream_run(struct stream_run *run)
{
    struct stream_tree stream;
    stream_tree_open(&stream, run);
    run->answer = run->jobs ? feed_jobs(&stream) : feed(&stream);
    for (unsigned i = 1; i <= run->resets; i++) {
        pug_tree_reset(stream.tree);
        run->answer = run->resets_seed && i % 2 == 0 ? feed_damaged(&stream, run->resets_seed + i)
                                                     : feed(&stream);
    }
    stream_tree_close(&stream);
}

/* ---- properties ---- */

/** The next line that is, or is not, of the log. */
static const char *next_line(const struct stream_lines *lines, bool of_log, size_t *at)
{
    while (*at < lines->count)
        if ((lines->items[(*at)++][0] == '!') == of_log)
            return lines->items[*at - 1];
    return NULL;
}

/** Batches come later than what the log says about them: the two are compared by themselves. */
static void assert_same(const struct stream_lines *want, const struct stream_lines *got,
                        bool of_log, const struct stream_run *how)
{
    const char *a, *b;
    size_t at_a = 0, at_b = 0;
    do {
        a = next_line(want, of_log, &at_a);
        b = next_line(got, of_log, &at_b);
        if (a != b && (!a || !b || strcmp(a, b) != 0))
            fail_msg("block %zu, random %d, wait %u: want %s, got %s", how->block,
                     how->blocks_seed != 0, how->wait_every, a ? a : "no more", b ? b : "no more");
    } while (a);
}

void stream_assert_same(const struct stream_lines *want, const struct stream_lines *got,
                        const struct stream_run *how)
{
    assert_same(want, got, false, how);
    assert_same(want, got, true, how);
}

static void check_way(const struct stream_run *run, const struct stream_lines *want, size_t block,
                      uint64_t blocks_seed, unsigned wait_every)
{
    struct stream_lines lines = {0};
    struct stream_run again = *run;
    again.block = block;
    again.blocks_seed = blocks_seed;
    again.wait_every = wait_every;
    again.lines = &lines;
    stream_run(&again);
    stream_assert_same(want, &lines, &again);
    stream_lines_free(&lines);
}

/** Packet by packet, which takes other ways through a protocol than many at once. */
static void check_each_packet(const struct stream_run *run, const struct stream_lines *want)
{
    struct stream_run again = *run;
    again.each_packet = !run->each_packet;
    check_way(&again, want, 0, 0, 0);
    if (!run->quirks.end_does_not_wait)
        check_way(&again, want, 0, 0, 3);
}

/** On several threads. Who looks at each packet has it done by one. */
static void check_jobs(const struct stream_run *run, const struct stream_lines *want)
{
    struct stream_run again = *run;
    again.each_packet = false;
    again.jobs = 2;
    check_way(&again, want, 16, 0, 0);
    again.jobs = 3;
    check_way(&again, want, 64, 0, 3);
}

/** CoreSight frames come whole; the other transports take any pieces. */
static bool is_framed(const struct stream_run *run)
{
    return run->transport && strcmp(run->transport, "coresight") == 0;
}

static enum pug_response count_elements(void *context, const struct pug_element *elements,
                                        size_t count, size_t *taken)
{
    if (context)
        pug_counts_add_elements(context, elements, count);
    *taken = count;
    return PUG_RESP_CONT;
}

/** Counts by elements, or by the tree, of several passes; in what blocks does not matter. */
static struct pug_counts *count(const struct stream_run *run, bool by_tree, size_t block)
{
    struct stream_lines lines = {0};
    struct stream_run counted = *run;
    struct stream_tree stream;
    struct pug_counts *counts = pug_counts_new();
    counted.lines = &lines;
    counted.block = block;
    counted.watched = counted.each_packet = false;
    stream_tree_open(&stream, &counted);
    pug_tree_on_elements(stream.tree, count_elements, by_tree ? NULL : counts);
    pug_tree_count(stream.tree, by_tree ? counts : NULL);
    (void)feed(&stream);
    for (unsigned i = 0; i < run->resets; i++) {
        pug_tree_reset(stream.tree);
        (void)feed(&stream);
    }
    pug_tree_count(stream.tree, NULL);
    stream_tree_close(&stream);
    stream_lines_free(&lines);
    return counts;
}

void stream_check_counts(const struct stream_run *run)
{
    struct pug_counts *expected = count(run, false, 0), *counts = count(run, true, 0);
    counts_assert_equal(expected, counts, run->protocol, "by the tree");
    pug_counts_free(counts);
    if (!is_framed(run)) {
        counts = count(run, true, 13);
        counts_assert_equal(expected, counts, run->protocol, "by the tree, in pieces");
        pug_counts_free(counts);
    }
    pug_counts_free(expected);
}

void stream_check_splits_and_waits(const struct stream_run *run, uint64_t seed)
{
    struct stream_lines want = {0};
    struct stream_run whole = *run;
    whole.lines = &want;
    stream_run(&whole);
    check_way(run, &want, 0, 0, 1);
    check_way(run, &want, 0, 0, 3);
    check_each_packet(run, &want);
    check_jobs(run, &want);
    stream_check_counts(run);
    if (!is_framed(run)) {
        check_way(run, &want, 1, 0, 0);
        check_way(run, &want, 1, 0, 2);
        check_way(run, &want, 2, 0, 0);
        check_way(run, &want, 7, 0, 5);
        check_way(run, &want, 30, seed, 0);
        check_way(run, &want, 200, seed, 4);
    }
    stream_lines_free(&want);
}

void stream_check_jobs(const struct stream_run *run)
{
    struct stream_lines want = {0};
    struct stream_run whole = *run;
    whole.lines = &want;
    stream_run(&whole);
    check_jobs(run, &want);
    stream_lines_free(&want);
}

/** What a tree has seen it may take faster, but not for anything else; states are the same, too. */
static void check_again(const struct stream_run *run, uint64_t seed, size_t block)
{
    struct stream_lines want = {0};
    struct stream_run slow = *run, again = *run;
    slow.resets = again.resets = 5;
    stream_check_counts(&again);
    slow.resets_seed = again.resets_seed = seed;
    slow.states = again.states = true;
    slow.block = block;
    slow.watched = true;
    slow.lines = &want;
    stream_run(&slow);
    check_way(&again, &want, block, 0, 0);
    again.each_packet = true;
    check_way(&again, &want, block, 0, 0);
    stream_lines_free(&want);
}

void stream_check_fast(const struct stream_run *run, uint64_t seed)
{
    struct rec_random random = {seed};
    struct stream_lines want = {0};
    struct stream_run slow = *run, each = *run;
    slow.watched = true;
    slow.lines = &want;
    stream_run(&slow);
    each.each_packet = true;
    stream_check_counts(run);
    check_way(&each, &want, 0, 0, 0);
    check_way(run, &want, 0, 0, 0);
    check_way(run, &want, 0, 0, 1 + rec_random_below(&random, 50));
    if (!is_framed(run))
        check_way(run, &want, 1 + rec_random_below(&random, 100), seed,
                  rec_random_below(&random, 10));
    stream_lines_free(&want);
    check_again(run, seed, 0);
    check_again(run, seed, is_framed(run) ? 64 : 61);
}

void stream_damage(struct rec_random *random, uint8_t *bytes, size_t *size, size_t *first)
{
    *first = *size;
    for (uint32_t n = 1 + rec_random_below(random, 4); n > 0 && *size > 2; n--) {
        size_t at = rec_random_below(random, (uint32_t)*size);
        size_t length = 1 + rec_random_below(random, 12);
        if (at < *first)
            *first = at;
        if (length > *size - at)
            length = *size - at;
        switch (rec_random_below(random, 4)) {
        case 0: bytes[at] ^= (uint8_t)(1u << rec_random_below(random, 8)); break;
        case 1:
            memmove(bytes + at, bytes + at + length, *size - at - length);
            *size -= length;
            break;
        case 2:
            for (size_t i = 0; i < length; i++)
                bytes[at + i] = (uint8_t)rec_random(random);
            break;
        default: memset(bytes + at, rec_random_below(random, 2) ? 0xff : 0, length); break;
        }
    }
}

uint8_t *stream_damage_copy(struct stream_run *run, uint64_t seed, size_t *first)
{
    struct rec_random random = {seed};
    uint8_t *bytes = malloc(run->size);
    assert_non_null(bytes);
    memcpy(bytes, run->bytes, run->size);
    run->bytes = bytes;
    stream_damage(&random, bytes, &run->size, first);
    return bytes;
}

/** Everything before the damage is unchanged. */
static void assert_same_before(const struct stream_run *run, size_t first,
                               const struct stream_lines *good, const struct stream_lines *bad)
{
    const char *was, *is;
    size_t at_good = 0, at_bad = 0;
    while ((was = next_line(good, false, &at_good)) &&
           strtoull(was, NULL, 10) + run->longest < first) {
        is = next_line(bad, false, &at_bad);
        assert_non_null(is);
        assert_string_equal(was, is);
    }
}

void stream_check_damage(const struct stream_run *run, uint64_t seed)
{
    struct stream_lines good = {0}, bad = {0};
    struct stream_run whole = *run;
    whole.lines = &good;
    stream_run(&whole);
    size_t first;
    uint8_t *bytes = stream_damage_copy(&whole, seed, &first);
    whole.lines = &bad;
    stream_run(&whole);
    if (run->longest)
        assert_same_before(run, first, &good, &bad);
    check_each_packet(&whole, &bad);
    check_jobs(&whole, &bad);
    if (!is_framed(run)) {
        check_way(&whole, &bad, 1, 0, 0);
        check_way(&whole, &bad, 16, seed, 2);
    }
    free(bytes);
    stream_lines_free(&good);
    stream_lines_free(&bad);
}

void stream_check_at_once(const struct stream_run *run, uint64_t seed)
{
    struct rec_random random = {seed};
    struct stream_lines want = {0};
    struct stream_run bad = *run;
    size_t first;
    uint8_t *bytes = stream_damage_copy(&bad, seed, &first);
    bad.lines = &want;
    bad.watched = true;
    stream_run(&bad);
    bad.watched = false;
    stream_check_counts(&bad);
    /* Who imitates the reference's fatal errors takes elements after each packet. */
    for (unsigned each = pug_quirks_any(&run->quirks); each < 2; each++) {
        bad.each_packet = each;
        bad.waits_seed = 0;
        check_way(&bad, &want, 0, 0, 0);
        check_way(&bad, &want, 60, seed, 0);
        bad.waits_seed = seed;
        check_way(&bad, &want, 0, 0, 1 + rec_random_below(&random, 20));
        check_way(&bad, &want, 200, seed, 1 + rec_random_below(&random, 20));
    }
    free(bytes);
    stream_lines_free(&want);
}

void stream_check_properties(const struct stream_run *run, stream_make_fn *make)
{
    struct stream_run one = *run;
    for (uint64_t seed = 1; seed <= WHOLE_TRACES + DAMAGED_TRACES; seed++) {
        bool whole = seed <= WHOLE_TRACES;
        struct rec_bytes bytes = make(seed, whole ? 150 : 70);
        one.bytes = bytes.data;
        one.size = bytes.size;
        if (whole)
            stream_check_splits_and_waits(&one, seed);
        else
            stream_check_damage(&one, seed);
        rec_bytes_free(&bytes);
    }
}
