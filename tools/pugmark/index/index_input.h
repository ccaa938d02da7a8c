// SPDX-License-Identifier: MIT
/** @file The index of an input: from its file, or made in memory. */
#ifndef PUGMARK_TOOL_INDEX_INPUT_H
#define PUGMARK_TOOL_INDEX_INPUT_H

#include "input/input.h"

/** May an option name the index file? False, having said so: each of several buffers has one. */
bool index_is_of_one(const struct input *input, const char *option, const char *asked);

/** The index file's name: what was asked for, or beside the trace; false, having said why. */
bool index_path(const struct input *input, const char *asked, char *path, size_t size);

/** A link beside the trace, which was not asked for, may lead anywhere: it is read, not written. */
bool index_may_write(const char *asked, const char *path);

/** Does the trace lie in a file, so that an index has its place beside it? A stream does not. */
bool index_has_place(const struct input *input);

/** A tree for an index: every source, no messages. */
bool index_tree(struct input *input, bool decode);

/**
 * The index in a file, or where there is none one made in memory, and a tree to look into the
 * capture with. A stream has no file but one that was asked for. Of the first `limit` bytes at
 * least, or with 0 of all. A file that is damaged or foreign is refused. NULL, having said why.
 */
struct pug_index *index_open(struct input *input, const char *asked, uint64_t limit);

/**
 * One that index_open() gave of the begin has the marks of all from now on. False, having said why.
 */
bool index_add_marks(struct input *input, struct pug_index **index);

/**
 * An index that index_open() gave has the decoders' states up to `until` from now on: where it does
 * not, all before that is decoded for them, by all processors, and the file gets them, too. False,
 * having said why.
 */
bool index_add_states(struct input *input, const char *asked, uint64_t until,
                      struct pug_index **index);

/**
 * pug_index_load() for the input's tree. All that the capture holds is compared where it was
 * changed after the index, else what answers rest on.
 */
enum pug_status index_load(const struct input *input, const char *path, struct pug_index **index);

/** Say why an index file was not taken. */
void index_refused(const char *path, enum pug_status status);

/** Finds where the local times of that source, or of the one that has some, add up to `elapsed`. */
enum pug_status index_find_elapsed(const struct pug_index *index, const struct input *input,
                                   uint32_t wanted, uint64_t elapsed, struct pug_index_mark *mark);

/**
 * Finds the first timestamp that is not before `query->least`, in ticks, of `query->source`: by the
 * rates that are known of an ITM's clocks.
 */
enum pug_status index_find_time(const struct pug_index *index, const struct input *input,
                                const struct pug_index_query *query, struct pug_index_mark *mark);

#endif
