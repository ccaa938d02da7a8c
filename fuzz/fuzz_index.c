// SPDX-License-Identifier: MIT
/**
 * @file Damaged index files whose checksum is right: they are refused, or whatever is asked of them
 * answers something. The capture is one of the project's own, and stays whole.
 */
#include "driver.h"
#include "index/format.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/pugmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER PUG_SOURCE_DIR "/tests/captures/etmv4-a64"

/** The subject of an index; made once. */
struct subject {
    struct pug_capture *capture;
    const uint8_t *bytes;
    uint64_t size, identity;
    struct pug_index *whole, *partial;
};

static struct pug_tree *new_tree(struct pug_capture *capture, bool decode)
{
    struct pug_tree *tree = NULL;
    if (pug_capture_tree(capture, 0, decode, NULL, &tree) != PUG_OK)
        abort();
    return tree;
}

static struct pug_index *build(struct subject *subject, uint64_t limit, bool full)
{
    struct pug_index *index = NULL;
    const struct pug_index_options options = {
        .block = PUG_INDEX_BLOCK_MIN, .full = full, .elements = true, .limit = limit, .jobs = 1};
    struct pug_tree *tree = new_tree(subject->capture, true);
    if (pug_index_build(tree, subject->bytes, subject->size, &options, &index) != PUG_OK)
        abort();
    pug_tree_free(tree);
    return index;
}

static struct subject *subject_of(void)
{
    static struct subject subject;
    if (subject.capture)
        return &subject;
    if (pug_capture_open(FOLDER, &(struct pug_capture_options){0}, &subject.capture) != PUG_OK) {
        fprintf(stderr, "%s cannot be opened\n", FOLDER);
        exit(2);
    }
    subject.bytes = pug_capture_memory(subject.capture, 0);
    subject.size = pug_capture_segment_at(subject.capture, 0)->size;
    struct pug_tree *tree = new_tree(subject.capture, true);
    subject.identity = pug_index_identity(tree);
    pug_tree_free(tree);
    subject.whole = build(&subject, 0, false);
    subject.partial = build(&subject, subject.size / 2, true);
    return &subject;
}

static void ask(const struct subject *subject, const struct pug_index *index)
{
    struct pug_tree *tree = new_tree(subject->capture, false);
    struct pug_index_info info;
    struct pug_index_source source;
    struct pug_index_summary summary;
    struct pug_index_mark mark;
    pug_index_info(index, &info);
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++)
        continue;
    for (uint64_t n = 0; n < 4096 && pug_index_summary_at(index, n, &summary); n++)
        continue;
    for (unsigned kind = 0; kind < 32; kind++) {
        struct pug_index_query query = {.kind = (enum pug_mark_kind)kind,
                                        .source = kind & 1 ? PUG_INDEX_ANY : 0x10,
                                        .from = subject->size * (kind & 3) / 4,
                                        .backwards = kind & 2,
                                        .greatest = UINT64_MAX};
        (void)pug_index_find(index, tree, subject->bytes, subject->size, &query, &mark);
    }
    (void)pug_index_find_elapsed(index, tree, subject->bytes, subject->size, 0x10, 1000, &mark);
    (void)pug_index_sync_before(index, PUG_INDEX_ANY, subject->size / 2);
    pug_tree_free(tree);
}

static void go_on(const struct subject *subject, const struct pug_index *old)
{
    struct pug_tree *tree = new_tree(subject->capture, true);
    struct pug_index *longer = NULL;
    const struct pug_index_options options = {.jobs = 1};
    if (pug_index_extend(old, tree, subject->bytes, subject->size, &options, &longer) == PUG_OK)
        pug_index_free(longer);
    pug_tree_free(tree);
}

/** A window, as `list --around` reads it. */
static void seek(const struct subject *subject, const struct pug_index *index)
{
    struct pug_tree *tree = new_tree(subject->capture, true);
    struct pug_cursor *cursor = NULL;
    const struct pug_cursor_config config = {
        .tree = tree, .bytes = subject->bytes, .size = subject->size, .index = index};
    if (pug_cursor_new(&config, &cursor) == PUG_OK) {
        (void)pug_cursor_seek(cursor, subject->size / 2);
        for (unsigned i = 0; i < 20 && pug_cursor_next(cursor); i++)
            continue;
        (void)pug_cursor_back(cursor, PUG_INDEX_ANY);
    }
    pug_cursor_free(cursor);
    pug_tree_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct subject *subject = subject_of();
    struct pug_index *index = NULL;
    if (pug_index_parse(data, size, subject->bytes, subject->size, subject->identity, &index) !=
        PUG_OK)
        return 0;
    ask(subject, index);
    go_on(subject, index);
    seek(subject, index);
    pug_index_free(index);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    const struct subject *subject = subject_of();
    size_t size;
    const void *bytes =
        pug_index_bytes(rec_random_once_in(random, 2) ? subject->whole : subject->partial, &size);
    size = size < room ? size : room;
    memcpy(data, bytes, size);
    return size;
}

void fuzz_mend(uint8_t *data, size_t size)
{
    if (size < PUG_INDEX_CHECKED)
        return;
    const uint64_t sum =
        pug_index_hash_bytes(0, data + PUG_INDEX_CHECKED, size - PUG_INDEX_CHECKED);
    for (unsigned i = 0; i < 8; i++)
        data[16 + i] = (uint8_t)(sum >> (8 * i));
    for (unsigned i = 0; i < 8; i++)
        data[24 + i] = (uint8_t)((uint64_t)size >> (8 * i));
}
