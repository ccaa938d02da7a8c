// SPDX-License-Identifier: MIT
/**
 * @file A listener for the CoreSight frame demultiplexer: its output in the form of the listing.
 */
#ifndef PUG_TEST_FRAME_LISTENER_H
#define PUG_TEST_FRAME_LISTENER_H

#include "base/text.h"
#include "pugmark/advanced/transport.h"
#include "pugmark/author/transport.h"

#define MOST_BYTES 20000

/** A delivered byte. */
struct frame_byte {
    uint64_t index;
    uint16_t source;
    uint8_t value;
};

struct frame_listener {
    const struct pug_transport *transport;
    void *state;
    struct pug_transport_sink sink;
    struct pug_transport_stats stats;
    struct pug_log *log;
    char text[20000]; /* runs, frames, resets and messages as the listing has them */
    struct pug_text out;
    struct frame_byte bytes[MOST_BYTES];
    size_t count;
    unsigned waits; /* 1 of so many runs is taken in part only; 0: none */
    uint32_t random;
    unsigned resets;
};

uint32_t frame_random(uint32_t *state);

/** A demultiplexer with these settings; it is gone with its listener. */
struct frame_listener *frame_listen(uint32_t flags, bool dstream, const struct pug_quirks *quirks);
void frame_dismiss(struct frame_listener *l);

/** Returns everything received since the last call. */
const char *frame_heard(struct frame_listener *l);

enum pug_response frame_feed(struct frame_listener *l, uint64_t index, const uint8_t *bytes,
                             size_t size, size_t *used);

/** Feed all, in blocks of random size up to `block`, and flush what waits. */
void frame_feed_split(struct frame_listener *l, const uint8_t *bytes, size_t size, size_t block);

static const struct pug_quirks native;

#define FEED(l, index, ...)                                                                        \
    do {                                                                                           \
        static const uint8_t feed_[] = {__VA_ARGS__};                                              \
        size_t used_;                                                                              \
        assert_int_equal(frame_feed(l, index, feed_, sizeof(feed_), &used_), PUG_RESP_CONT);       \
        assert_int_equal(used_, sizeof(feed_));                                                    \
    } while (0)

#define FSYNC 0xff, 0xff, 0xff, 0x7f
#define HSYNC 0xff, 0x7f

#endif
