// SPDX-License-Identifier: MIT
/**
 * @file Frames of a trace port: the format is found without a setting; their syncs are in an index,
 * and so is the content of triggers.
 */
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/index.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/capture.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"
#include "support/temporary.h"
#include "transport/coresight_guess.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h wants some of the above first */
#include <cmocka.h>

#define TRIGGER   0x7d
#define ITM_ID    0x11
#define ROUNDS    400u
#define MOST_SYNC 4096u

struct capture {
    struct rec_bytes bytes;
    size_t syncs, sync_at[MOST_SYNC];
    unsigned triggers, stimuli;
};

/** An ITM's words and, now and then, a trigger with a number; `every`: an FSYNC before frames. */
static void make(struct capture *capture, uint64_t seed, unsigned every)
{
    struct rec_random random = {seed};
    struct rec_frames frames = {.out = &capture->bytes, .sync_every = every};
    *capture = (struct capture){.syncs = 0};
    const uint8_t sync[] = {0, 0, 0, 0, 0, 0x80};
    rec_frames_put(&frames, ITM_ID, sync, sizeof(sync));
    for (unsigned i = 0; i < ROUNDS; i++) {
        /* a word to stimulus port 1; its bytes are never a sync */
        const uint8_t word[] = {0x0b, (uint8_t)(rec_random(&random) & 0x7e), 2, 3, 4};
        rec_frames_put(&frames, ITM_ID, word, sizeof(word));
        capture->stimuli++;
        if (i % 50 == 49) {
            const uint8_t number[] = {(uint8_t)(++capture->triggers), 0x5a};
            rec_frames_put(&frames, TRIGGER, number, sizeof(number));
        }
    }
    rec_frames_finish(&frames);
    for (size_t at = 0; every && at + 4 <= capture->bytes.size; at++)
        if (memcmp(capture->bytes.data + at, "\xff\xff\xff\x7f", 4) == 0)
            capture->sync_at[capture->syncs++] = at;
}

/** Half syncs between pairs. */
static struct rec_bytes with_hsyncs(const struct rec_bytes *plain)
{
    struct rec_bytes bytes = {0};
    for (size_t i = 0; i < plain->size; i++) {
        if (i % 30 == 4)
            rec_put_n(&bytes, "\xff\x7f", 2);
        rec_put(&bytes, plain->data[i]);
    }
    return bytes;
}

/* ---- what they are ---- */

static void test_guess(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct capture port, aligned;
        make(&port, seed, 1 + (unsigned)seed);
        make(&aligned, seed, 0);
        const uint8_t *bytes = port.bytes.data;
        for (size_t cut = 0; cut < 40; cut++)
            assert_string_equal(pug_coresight_guess(bytes + cut, port.bytes.size - cut), "fsyncs");
        struct rec_bytes halves = with_hsyncs(&aligned.bytes);
        assert_string_equal(pug_coresight_guess(halves.data, halves.size), "hsyncs");
        /* frames that are padding, and rubbish at the end, make aligned frames no others */
        struct rec_random random = {seed};
        for (unsigned i = 0; i < 8; i++)
            rec_put_n(&aligned.bytes, "\xff\xff\xff\x7f", 4);
        for (unsigned i = 0; i < 65536; i++)
            rec_put(&aligned.bytes, (uint8_t)rec_random(&random));
        assert_string_equal(pug_coresight_guess(aligned.bytes.data, aligned.bytes.size),
                            "mem_align");
        rec_bytes_free(&halves);
        rec_bytes_free(&port.bytes);
        rec_bytes_free(&aligned.bytes);
    }
    assert_string_equal(pug_coresight_guess((const uint8_t *)"", 0), "mem_align");
}

/* ---- snapshots ---- */

static void put_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void put_text(const char *folder, const char *name, const char *text)
{
    put_file(folder, name, text, strlen(text));
}

static unsigned count_stimuli(const char *folder, const struct pug_quirks *quirks,
                              const struct pug_settings *transport, unsigned *triggers)
{
    struct pug_snapshot *snapshot;
    struct pug_tree *tree;
    struct pug_trace *trace;
    struct pug_index *index;
    unsigned stimuli = 0;
    assert_int_equal(pug_snapshot_open(folder, NULL, &snapshot), PUG_OK);
    const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer_at(snapshot, 0);
    struct pug_snapshot_tree_config config = {.transport = *transport, .quirks = *quirks};
    assert_int_equal(pug_snapshot_tree(snapshot, buffer, &config, &tree), PUG_OK);
    assert_int_equal(pug_trace_open(snapshot, buffer, &trace), PUG_OK);
    size_t size = (size_t)pug_trace_size(trace);
    uint8_t *bytes = malloc(size);
    assert_int_equal(pug_trace_read(trace, bytes, size, NULL), size);
    assert_int_equal(pug_index_build(tree, bytes, size, &(struct pug_index_options){0}, &index),
                     PUG_OK);
    struct pug_index_source source;
    *triggers = 0;
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++) {
        stimuli += source.id == ITM_ID ? (unsigned)source.counts[PUG_MARK_DATA] : 0;
        *triggers += (unsigned)source.counts[PUG_MARK_TRIGGER];
    }
    pug_index_free(index);
    free(bytes);
    pug_trace_close(trace);
    pug_tree_free(tree);
    pug_snapshot_free(snapshot);
    return stimuli;
}

/**
 * A snapshot that only says "coresight"; that is said otherwise; and what the reference makes of
 * it.
 */
static void test_snapshot(void **state)
{
    char folder[128], path[300];
    static const char *const names[] = {"snapshot.ini", "trace.ini", "itm.ini", "trace.bin"};
    const struct pug_setting aligned = {.name = "mem_align", .value = 1},
                             port = {.name = "fsyncs", .value = 1};
    const struct pug_settings none = {0}, is_aligned = {&aligned, 1, NULL},
                              is_port = {&port, 1, NULL};
    const struct pug_quirks native = {0}, reference = pug_quirks_reference();
    struct capture capture;
    unsigned triggers;
    (void)state;
    make(&capture, 5, 3);
    const unsigned all = 5 * capture.stimuli + 6;
    assert_true(temporary_folder(folder, sizeof(folder), "frames"));
    put_text(
        folder, names[0],
        "[snapshot]\nversion=1.0\n[device_list]\ndevice0=itm.ini\n[trace]\nmetadata=trace.ini\n");
    put_text(folder, names[1],
             "[trace_buffers]\nbuffers=b\n[b]\nname=TPIU\nfile=trace.bin\nformat=coresight\n"
             "[source_buffers]\nITM_0=TPIU\n");
    put_text(folder, names[2],
             "[device]\nname=ITM_0\nclass=trace_source\ntype=ITM\n[regs]\n"
             "ITM_TCR(0xE80)=0x00110001\nITMTCR(0xE80)=0x00110001\n");
    put_file(folder, names[3], capture.bytes.data, capture.bytes.size);
    assert_int_equal(count_stimuli(folder, &native, &none, &triggers), all);
    assert_int_equal(triggers, capture.triggers);
    assert_int_equal(count_stimuli(folder, &native, &is_port, &triggers), all);
    assert_int_not_equal(count_stimuli(folder, &native, &is_aligned, &triggers), all);
    assert_int_not_equal(count_stimuli(folder, &reference, &none, &triggers), all);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    rec_bytes_free(&capture.bytes);
}

/* ---- files ---- */

static enum pug_response count_words(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    unsigned *words = context;
    for (size_t i = 0; i < count; i++)
        *words += elements[i].type == PUG_ELEM_ITMTRACE;
    *taken = count;
    return PUG_RESP_CONT;
}

/** How many words an ITM's frames in one file have, which the options do not describe further. */
static unsigned words_of_file(const struct rec_bytes *bytes, const struct pug_setting *said)
{
    char path[128];
    struct pug_setting settings[2] = {{.name = "ITMTCR", .value = 0x00110001}};
    struct pug_capture_options options = {
        .protocol = "ITM", .transport = "coresight", .settings = {settings, 1, NULL}};
    struct pug_capture *capture;
    struct pug_tree *tree;
    unsigned words = 0;
    uint64_t at = 0;
    if (said)
        settings[options.settings.count++] = *said;
    int file = temporary_file(path, sizeof(path), "frames");
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes->data, bytes->size), bytes->size);
    close(file);
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    assert_int_equal(pug_capture_tree(capture, 0, true, NULL, &tree), PUG_OK);
    pug_tree_on_elements(tree, count_words, &words);
    (void)pug_tree_feed(tree, pug_capture_memory(capture, 0), &at, bytes->size);
    (void)pug_tree_end(tree);
    pug_tree_free(tree);
    pug_capture_free(capture);
    unlink(path);
    return words;
}

static void test_file(void **state)
{
    const struct pug_setting aligned = {.name = "mem_align", .value = 1},
                             port = {.name = "fsyncs", .value = 1};
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct capture with, without;
        make(&with, seed, 1 + (unsigned)seed);
        make(&without, seed, 0);
        struct rec_bytes halves = with_hsyncs(&without.bytes);
        assert_int_equal(words_of_file(&with.bytes, NULL), with.stimuli);
        assert_int_equal(words_of_file(&with.bytes, &port), with.stimuli);
        assert_int_equal(words_of_file(&without.bytes, NULL), without.stimuli);
        assert_int_equal(words_of_file(&halves, NULL), without.stimuli);
        /* what is said goes before what is found */
        assert_int_not_equal(words_of_file(&with.bytes, &aligned), with.stimuli);
        rec_bytes_free(&halves);
        rec_bytes_free(&with.bytes);
        rec_bytes_free(&without.bytes);
    }
}

/* ---- indexes ---- */

static void check_index(const struct capture *capture, bool port, unsigned jobs, bool full)
{
    const struct pug_setting fsyncs = {.name = "fsyncs", .value = 1};
    struct pug_tree *tree;
    struct pug_index *index;
    struct pug_index_info info;
    struct pug_index_mark mark;
    struct pug_tree_config config = {.transport = "coresight", .settings = {&fsyncs, port, NULL}};
    const struct pug_index_options options = {.block = 1024, .full = full, .jobs = jobs};
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(
        pug_index_build(tree, capture->bytes.data, capture->bytes.size, &options, &index), PUG_OK);
    pug_index_info(index, &info);
    assert_int_equal(info.frame_syncs, capture->syncs);
    struct pug_index_query query = {
        .kind = PUG_MARK_SYNC, .source = PUG_SOURCE_UNKNOWN, .greatest = UINT64_MAX};
    for (size_t i = 0; i < capture->syncs; i++) {
        assert_int_equal(
            pug_index_find(index, tree, capture->bytes.data, capture->bytes.size, &query, &mark),
            PUG_OK);
        assert_int_equal(mark.at, capture->sync_at[i]);
        query.from = mark.at + 1;
    }
    query = (struct pug_index_query){
        .kind = PUG_MARK_TRIGGER, .source = TRIGGER, .greatest = UINT64_MAX};
    for (unsigned i = 1; i <= capture->triggers; i++) {
        assert_int_equal(
            pug_index_find(index, tree, capture->bytes.data, capture->bytes.size, &query, &mark),
            PUG_OK);
        /* a frame's end may part the two bytes that it carries */
        assert_true(mark.value == (0x5a00 | i) || mark.value == i);
        query.from = mark.at + 1;
        if (mark.value == i &&
            pug_index_find(index, tree, capture->bytes.data, capture->bytes.size, &query, &mark) ==
                PUG_OK &&
            mark.value == 0x5a)
            query.from = mark.at + 1;
    }
    pug_index_free(index);
    pug_tree_free(tree);
}

static void test_index(void **state)
{
    (void)state;
    for (unsigned every = 0; every < 6; every++) {
        struct capture capture;
        make(&capture, 50 + every, every);
        assert_true(every == 0 || capture.syncs > 10);
        check_index(&capture, every > 0, 1, true);
        check_index(&capture, every > 0, 3, true);
        check_index(&capture, every > 0, 3, false);
        rec_bytes_free(&capture.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guess),
        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
