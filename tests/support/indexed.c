// SPDX-License-Identifier: MIT
#include "support/indexed.h"
#include "index/values.h"
#include "recorder/bytes.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define VECTORS    PUG_SOURCE_DIR "/../shared/vectors"
#define FILE_LIMIT 200000u

/** The program that the last decoding tree uses. */
static struct pug_image *program;

struct pug_tree *indexed_decoder(const struct indexed *capture, bool decode)
{
    struct pug_tree *tree = NULL;
    if (capture->protocol) {
        const struct pug_tree_config plain = {.transport = capture->transport};
        const struct pug_source_config source = {.protocol = capture->protocol, .decode = decode};
        assert_int_equal(pug_tree_new(&plain, &tree), PUG_OK);
        assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
        return tree;
    }
    if (decode) { /* the tree before is gone */
        pug_image_free(program);
        program = pug_image_new();
        assert_non_null(program);
    }
    const struct pug_snapshot_tree_config config = {.decode = decode,
                                                    .image = decode ? program : NULL};
    return pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree) == PUG_OK ? tree
                                                                                           : NULL;
}

struct pug_tree *indexed_tree(const struct indexed *capture)
{
    return indexed_decoder(capture, false);
}

struct pug_index *indexed_build_with(const struct indexed *capture,
                                     const struct pug_index_options *options)
{
    struct pug_tree *tree = indexed_decoder(capture, options->elements);
    struct pug_index *index = NULL;
    assert_non_null(tree);
    assert_int_equal(pug_index_build(tree, capture->bytes, capture->size, options, &index), PUG_OK);
    pug_tree_free(tree);
    return index;
}

struct pug_index *indexed_build(const struct indexed *capture, uint64_t block, bool full)
{
    return indexed_build_with(capture, &(struct pug_index_options){.block = block, .full = full});
}

bool indexed_open(const char *directory, struct indexed *capture)
{
    struct pug_trace *trace = NULL;
    enum pug_status status;
    *capture = (struct indexed){0};
    const struct pug_snapshot_options options = {0};
    if (pug_snapshot_open(directory, &options, &capture->snapshot) != PUG_OK)
        return false;
    capture->buffer = pug_snapshot_buffer_at(capture->snapshot, 0);
    struct pug_tree *tree = capture->buffer ? indexed_tree(capture) : NULL;
    bool good = tree && pug_trace_open(capture->snapshot, capture->buffer, &trace) == PUG_OK;
    pug_tree_free(tree);
    if (!good) {
        pug_snapshot_free(capture->snapshot);
        return false;
    }
    uint64_t size = pug_trace_size(trace);
    capture->bytes = malloc(size + 1);
    assert_non_null(capture->bytes);
    capture->size = pug_trace_read(trace, capture->bytes, size, &status);
    pug_trace_close(trace);
    return true;
}

void indexed_close(struct indexed *capture)
{
    free(capture->bytes);
    pug_snapshot_free(capture->snapshot);
}

/** A file of one protocol. */
static void visit_file(const char *path, const char *protocol, const char *transport,
                       void (*visit)(const struct indexed *capture))
{
    struct indexed capture = {
        .protocol = protocol, .transport = transport, .bytes = malloc(FILE_LIMIT)};
    FILE *file = fopen(path, "rb");
    assert_non_null(capture.bytes);
    capture.size = file ? fread(capture.bytes, 1, FILE_LIMIT, file) : 0;
    if (file)
        fclose(file);
    if (capture.size > 0)
        visit(&capture);
    free(capture.bytes);
}

void indexed_damage(const struct indexed *capture, uint64_t seed)
{
    struct rec_random random = {.state = seed};
    for (uint64_t i = 0; i < 1 + capture->size / 500; i++)
        capture->bytes[rec_random_below(&random, (uint32_t)capture->size)] =
            (uint8_t)rec_random_below(&random, 256);
}

int indexed_by_place(const void *a, const void *b)
{
    const struct pug_index_file_mark *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    return x->value < y->value ? -1 : x->value > y->value;
}

/** For each capture in a folder. How many there were. */
static size_t each_of(const char *folder_name, void (*visit)(const struct indexed *trace))
{
    DIR *folder = opendir(folder_name);
    size_t count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        struct indexed trace;
        char path[512];
        snprintf(path, sizeof(path), "%s/%.200s", folder_name, entry->d_name);
        if (entry->d_name[0] == '.' || !indexed_open(path, &trace))
            continue;
        visit(&trace);
        indexed_close(&trace);
        count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

void indexed_each(enum captures captures, void (*visit)(const struct indexed *trace))
{
    if (captures == CAPTURES_OWN) {
        assert_true(each_of(PUG_SOURCE_DIR "/examples", visit) > 0);
        assert_true(each_of(PUG_SOURCE_DIR "/tests/captures", visit) > 0);
        return;
    }
    visit_file(VECTORS "/ntrace/ref-dhrystone/btm.nex", "N-Trace", "plain", visit);
    visit_file(VECTORS "/ntrace/ref-dhrystone/htm.nex", "N-Trace", "plain", visit);
    visit_file(VECTORS "/etrace/dhrystone/base.te", "E-Trace", "encapsulation", visit);
    if (each_of(INDEXED_SHARED, visit) == 0) {
        print_message("%s is not there\n", INDEXED_SHARED);
        skip();
    }
}
