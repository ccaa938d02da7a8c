// SPDX-License-Identifier: MIT
/** @file The path file as the plugin writes it: records of all processors through one lock. */
#ifndef PUG_RECORDER_PLUGIN_STREAM_H
#define PUG_RECORDER_PLUGIN_STREAM_H

#include "../path_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_BUFFER 65536u
#define STREAM_MARGIN 64u /**< no event is longer */

/** Bytes underway, of one processor or of one record. */
struct buffer {
    uint8_t *bytes;
    size_t size, room;
};

bool buffer_reserve(struct buffer *buffer, size_t more);
void buffer_number(struct buffer *buffer, uint64_t value);
void buffer_bytes(struct buffer *buffer, const void *bytes, size_t size);

/** Nanoseconds of the monotonic clock. */
uint64_t stream_clock(void);

/**
 * Write to the descriptor `file`, or where that is negative to `path`, a file or a FIFO; the header
 * first. False: it cannot be; errno says why.
 */
bool stream_open(const char *path, int file, enum rec_path_family family, unsigned flags);

/** One record, whole. It is also kept where `keep` says so, for children that are followed. */
void stream_record(const struct buffer *record, bool keep);

/** A chunk of a processor's events. */
void stream_events(unsigned cpu, uint64_t time, const uint8_t *events, size_t size);

/** In a forked child: go on in a file of its own, with all that was kept. False: it cannot be. */
bool stream_reopen(const char *path);

/** In a forked child: write nothing any more, and leave the parent's file alone. */
void stream_abandon(void);
void stream_close(void);
bool stream_is_open(void);
void stream_lock(void);
void stream_unlock(void);

#endif
