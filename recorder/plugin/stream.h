// SPDX-License-Identifier: MIT
/** @file The path file as the plugin writes it: records of all processors through one lock. */
#ifndef PUG_RECORDER_PLUGIN_STREAM_H
#define PUG_RECORDER_PLUGIN_STREAM_H

#include "shared.h"

/** Bytes of a record underway. */
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

/** Returns the ring of a processor's events and its counters. */
struct shared_cpu *stream_cpu(unsigned cpu);
uint8_t *stream_room(unsigned cpu);
/** Send a processor's events; none wait then. */
void stream_events(unsigned cpu);

/** In a forked child: go on in a file of its own, with all that was kept. False: it cannot be. */
bool stream_reopen(const char *path);

/** In a forked child: write nothing any more, and leave the parent's file alone. */
void stream_abandon(void);
/** All that waits is written. */
void stream_close(void);
void stream_lock(void);
void stream_unlock(void);

#endif
