// SPDX-License-Identifier: MIT
/**
 * @file Captures for programs that read trees, bytes or memory themselves: a capture's trees, the
 * bytes of its segments, its address spaces, and where elements belong.
 */
#ifndef PUGMARK_ADVANCED_CAPTURE_H
#define PUGMARK_ADVANCED_CAPTURE_H

#include "pugmark/advanced/consumer.h"
#include "pugmark/advanced/image.h"
#include "pugmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_snapshot;

/**
 * Who decodes segments with trees of their own can ask where elements belong, and whether they are
 * selected, one element after the other in the order of decoding.
 */
struct pug_origin_reader;

/** Program memory as a space has it, for pug_image_read(); it has no symbols. */
const struct pug_image *pug_address_space_image(const struct pug_address_space *space);

/** Read bytes of a segment; fewer than `size` only at its end, or with a status. */
size_t pug_capture_bytes(const struct pug_capture *capture, size_t segment, uint64_t from,
                         void *bytes, size_t size, enum pug_status *status);

/**
 * Are ranges counted for consumers that have counted()? False: none has, one wants the order of
 * time, or the selection is more than a list of sources; elements() gets them then.
 */
bool pug_capture_counts(const struct pug_capture_decode *decode);

/**
 * Make an origin reader, for the caller to free. `selection` is borrowed; NULL: everything. `times`
 * as in struct pug_capture_decode. PUG_ERR_MEM.
 */
enum pug_status pug_origin_reader_new(struct pug_capture *capture,
                                      const struct pug_capture_selection *selection, bool times,
                                      struct pug_origin_reader **reader);

/** Free: may be NULL; before the capture. */
void pug_origin_reader_free(struct pug_origin_reader *reader);

/** Go over to a segment and its tree. */
enum pug_status pug_origin_reader_begin(struct pug_origin_reader *reader, size_t segment,
                                        struct pug_tree *tree);

/** Is an element selected? `origin` may be NULL. */
bool pug_origin_reader_look(struct pug_origin_reader *reader, const struct pug_element *element,
                            struct pug_origin *origin);

/**
 * The stream's bytes from `from` on, which is how many were used so far: as many as there are, at
 * most `size`, waiting for some that were not given before. 0: it is over. One thread.
 */
size_t pug_capture_live(struct pug_capture *capture, uint64_t from, void *bytes, size_t size,
                        enum pug_status *status);

/**
 * Behind pug_capture_live(): do its bytes come from another connection than those before? Whoever
 * feeds a tree resets it first (pug_tree_reset()). pug_capture_decode() does.
 */
bool pug_capture_live_restarted(const struct pug_capture *capture);

/** How many bytes of a stream came so far. */
uint64_t pug_capture_came(const struct pug_capture *capture);

/** All bytes of a segment, where they are in memory anyhow; else NULL. */
const uint8_t *pug_capture_memory(const struct pug_capture *capture, size_t segment);

/** What times are in segments and tasks: of the clock that records have, if there are records. */
struct pug_capture_time pug_capture_record_times(const struct pug_capture *capture);

/** The snapshot that it is, or NULL. */
const struct pug_snapshot *pug_capture_snapshot(const struct pug_capture *capture);

/**
 * The space of a context of counts, by the number in its `value`. NULL: the memory there is
 * unknown.
 */
const struct pug_address_space *pug_capture_space(struct pug_capture *capture, uint64_t number);

/**
 * When a segment was taken, by the clock that the trace's timestamps count; where no source has
 * any, by that of segment->time. False: unknown, or these clocks cannot be compared.
 */
bool pug_capture_segment_taken(const struct pug_capture *capture, size_t n, uint64_t *time);

/**
 * Makes a tree for the sources of a segment, as decoding uses it: for packets, or for one segment
 * alone. Feed it that segment, as pug_capture_bytes() gives it, and free it before the capture. Of
 * perf.data, which lists all processors of a sink, sources without bytes report no end of trace.
 * PUG_ERR_NO_SOURCE: none of its sources can be decoded.
 */
enum pug_status pug_capture_tree(struct pug_capture *capture, size_t segment, bool decode,
                                 struct pug_log *log, struct pug_tree **tree);

#ifdef __cplusplus
}
#endif
#endif
