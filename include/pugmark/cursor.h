// SPDX-License-Identifier: MIT
/**
 * @file Cursors: pull elements, or instructions, one at a time, from any place of a capture.
 *
 *     struct pug_cursor *cursor;
 *     pug_capture_cursor(capture, 0, &cursor);
 *     while ((element = pug_cursor_next(cursor)))
 *         ...
 *     pug_cursor_seek(cursor, 123456);                // and on from there
 *
 * A tree pushes elements to a consumer; from a cursor the caller pulls the next one. It reads a
 * capture in memory with copies of a tree, and lets them wait when enough has come. It needs no
 * thread.
 *
 * Seeking. Elements come as if all had been read from the beginning; those whose index is below the
 * place are left out. An index with the decoders' states (pug_index_options.elements) makes that
 * quick; without one the trace before the place is decoded. With `anew` the decoders begin some way
 * before the place as if the trace began there. That is quick, and they do not know what earlier
 * packets gave. Without an index, the first time reads all packets once to find such places.
 *
 * A cursor belongs to one thread at a time.
 */
#ifndef PUGMARK_CURSOR_H
#define PUGMARK_CURSOR_H

#include "pugmark/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_index;
struct pug_index_mark;
struct pug_index_query;
struct pug_tree;

struct pug_capture;
struct pug_cursor;

/**
 * Makes a cursor at the beginning of a capture's segment, for the caller to free before the
 * capture. Trace indexes count from the segment's first byte. Bytes that are not in memory are read
 * into it. PUG_ERR_NOT_FOUND: the capture has no such segment; PUG_ERR_INVALID_PARAM_VAL: a pointer
 * is NULL, or the capture is a live stream; others as pug_capture_tree(). *cursor is NULL then.
 */
enum pug_status pug_capture_cursor(struct pug_capture *capture, size_t segment,
                                   struct pug_cursor **cursor);

/**
 * The input of a cursor over bytes and a tree from elsewhere. The cursor borrows all of it. The
 * tree is not fed, and may be shared by cursors of one thread.
 */
struct pug_cursor_config {
    /** What decodes, as it was made: nothing was fed to it. Who listens to it does not matter. */
    const struct pug_tree *tree;
    const uint8_t *bytes;          /**< the capture; byte n has trace index n */
    uint64_t size;                 /**< bytes of the capture */
    const struct pug_index *index; /**< of this capture, or NULL */
    bool anew;                     /**< restart near a place when seeking; see above */
    uint64_t spare[4];             /**< zero */
};

/**
 * Makes a cursor at the beginning of these bytes, for the caller to free.
 * PUG_ERR_INVALID_PARAM_VAL: a pointer that must not be NULL is; PUG_ERR_INVALID_PARAM_TYPE: a
 * source's protocol brings a whole decoder of its own. *cursor is NULL then.
 */
enum pug_status pug_cursor_new(const struct pug_cursor_config *config, struct pug_cursor **cursor);

/** NULL is left alone. */
void pug_cursor_free(struct pug_cursor *cursor);

/**
 * The next element; NULL: there are no more, or pug_cursor_status() is an error. Valid until the
 * next call with this cursor; so is its payload.
 */
const struct pug_element *pug_cursor_next(struct pug_cursor *cursor);

/** An element, or an instruction of one. */
struct pug_cursor_step {
    const struct pug_element *element; /**< the element, also of an instruction */
    const struct pug_step *step;       /**< the instruction; NULL: what came is the element */
    uint64_t spare[2];                 /**< zero */
};

/**
 * The next instruction, or the next element that has none; NULL: as pug_cursor_next(). A range of
 * which not all instructions can be read ends with a step that has none, and pug_cursor_status()
 * says why until the next call. Both functions can be mixed: pug_cursor_next() leaves out what is
 * left of a range.
 */
const struct pug_cursor_step *pug_cursor_step(struct pug_cursor *cursor);

/**
 * PUG_OK, or why the cursor gave nothing, or less: PUG_ERR_DATA_DECODE_FATAL: the data path cannot
 * go on; PUG_ERR_MEM; of a step: as pug_walk_status().
 */
enum pug_status pug_cursor_status(const struct pug_cursor *cursor);

/** Where the cursor is: the trace index of the element that it gave last, or where it was put. */
uint64_t pug_cursor_at(const struct pug_cursor *cursor);

/** Go on with the first element whose trace index is `offset` or greater. */
enum pug_status pug_cursor_seek(struct pug_cursor *cursor, uint64_t offset);

/**
 * Continues with the packet that has the first timestamp of `time` or later; `source` is a trace
 * id, or PUG_INDEX_ANY. Times are taken to grow. PUG_ERR_NOT_FOUND: there is none; the cursor is at
 * the end.
 */
enum pug_status pug_cursor_seek_time(struct pug_cursor *cursor, uint32_t source, uint64_t time);

/**
 * Continues with the packet of this mark; `mark` selects it, and may be NULL. Without an index the
 * cursor makes one for itself, which reads all packets once. PUG_ERR_NOT_FOUND: there is none, and
 * the cursor is where it was.
 */
enum pug_status pug_cursor_seek_mark(struct pug_cursor *cursor, const struct pug_index_query *query,
                                     struct pug_index_mark *mark);

/**
 * Goes to the next synchronisation point of a source (or PUG_INDEX_ANY) after the cursor, or to the
 * one before it. PUG_ERR_NOT_FOUND: there is none, and the cursor is where it was.
 */
enum pug_status pug_cursor_forward(struct pug_cursor *cursor, uint32_t source);
/** The same backwards, to the one before. */
enum pug_status pug_cursor_back(struct pug_cursor *cursor, uint32_t source);

/**
 * A condition on a range of instructions; `time` is the last timestamp of its source, 0: none is
 * known. True: this one is wanted.
 */
typedef bool pug_cursor_accept_fn(void *context, const struct pug_element *range, uint64_t time);

/**
 * Goes back to the last range with the instruction at `address` whose packet lies before the
 * cursor, and which `accept` wants; NULL: any. pug_cursor_next() gives that range then. The trace
 * before the cursor is decoded in pieces, the nearest one first, and each twice as long as the one
 * before; with an index (pug_index_options.elements) nothing else is. PUG_ERR_NOT_FOUND: there is
 * none, and the cursor is where it was. (advanced/history.h finds such places without decoding.)
 */
enum pug_status pug_cursor_back_to(struct pug_cursor *cursor, uint64_t address,
                                   pug_cursor_accept_fn *accept, void *context);

#ifdef __cplusplus
}
#endif
#endif
