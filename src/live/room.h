// SPDX-License-Identifier: MIT
/**
 * @file The room between reading a peer and decoding: a thread reads, so that a peer that cannot
 * wait is not kept waiting, and what does not fit is counted.
 *
 * Offsets count the bytes of one connection. The room holds those from `tail` to `head`; the
 * caller has taken those before `taken`; a saved file holds those before `kept`.
 */
#ifndef PUG_LIVE_ROOM_H
#define PUG_LIVE_ROOM_H

#include "live/live.h"

struct pug_live_room;

struct pug_live_room_options {
    size_t size;
    bool newest;    /**< when it is full the oldest bytes go; false: those that come */
    bool holds;     /**< the peer can be held back for a moment before bytes are dropped */
    bool tcl;       /**< OpenOCD's notifications */
    int stop;       /**< a descriptor that ends reading; below 0: none */
    uint64_t until; /**< milliseconds of CLOCK_MONOTONIC that end it; 0: none */
};

/** NULL: no memory, or the system has no sockets. */
struct pug_live_room *pug_live_room_new(const struct pug_live_room_options *options);
/** Ends reading. NULL is left alone. */
void pug_live_room_free(struct pug_live_room *room);

/**
 * Begin to read `file`; `saved`: where its bytes are kept, too (below 0: nowhere), which stays open
 * until the end. `reads_back`: it can be read again. False, with errno: no thread.
 */
bool pug_live_room_begin(struct pug_live_room *room, int file, int saved, bool reads_back);
/** Ends reading; what was not taken is forgotten. */
void pug_live_room_end(struct pug_live_room *room);

/**
 * As pug_live_read(), of one connection. PUG_LIVE_GAP: *dropped bytes did not fit. PUG_LIVE_ERROR:
 * errno says why.
 */
int64_t pug_live_room_take(struct pug_live_room *room, uint8_t *bytes, size_t size, int timeout,
                           uint64_t *dropped);

/** Did the stop descriptor or the time end it? */
bool pug_live_room_stopped(const struct pug_live_room *room);
/** Why saving stopped, once, as an errno; 0: it did not. *at: after so many bytes. */
int pug_live_room_save_error(struct pug_live_room *room, uint64_t *at);

#endif
