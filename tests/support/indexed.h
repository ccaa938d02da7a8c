// SPDX-License-Identifier: MIT
/** @file Traces for tests of indexes, and indexes of them. */
#ifndef PUG_TESTS_SUPPORT_INDEXED_H
#define PUG_TESTS_SUPPORT_INDEXED_H

#include "pugmark/advanced/index.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/pugmark.h"
#include "support/captures.h"

#define INDEXED_DEMO   PUG_SOURCE_DIR "/examples/demo"
#define INDEXED_SHARED PUG_SOURCE_DIR "/../shared/captures"

struct indexed {
    const char *protocol, *transport; /* of a file of its own; else of a snapshot: */
    struct pug_snapshot *snapshot;
    const struct pug_snapshot_buffer *buffer;
    uint8_t *bytes;
    uint64_t size;
};

/** A tree for it; with its program in memory, until the next one, if it is to decode. */
struct pug_tree *indexed_decoder(const struct indexed *trace, bool decode);
struct pug_tree *indexed_tree(const struct indexed *trace);

struct pug_index *indexed_build_with(const struct indexed *trace,
                                     const struct pug_index_options *options);
struct pug_index *indexed_build(const struct indexed *trace, uint64_t block, bool full);

/** The first buffer of a snapshot; false: there is none, or no source in it is known. */
bool indexed_open(const char *directory, struct indexed *trace);
void indexed_close(struct indexed *trace);

/** Change some bytes. */
void indexed_damage(const struct indexed *trace, uint64_t seed);

/** Of two struct pug_index_file_mark, for qsort(): which is before the other. */
int indexed_by_place(const void *a, const void *b);

/** For each of the own captures, or of the shared ones and vectors: the test's prestate. */
void indexed_each(enum captures captures, void (*visit)(const struct indexed *trace));

#endif
