// SPDX-License-Identifier: MIT
/** @file The buffers of a capture, segment by segment. */
#include "capture/decode.h"
#include "capture/marks.h"
#include "correlate/feed.h"
#include "pugmark/author/protocol.h"

#include <stdlib.h>

/** More buffers than this do not all have a tree at a time. */
#define AWAKE 16u

/** The segments of a capture: those of buffers may alternate. */
struct segments {
    size_t *next;                            /* of the same buffer, by segment */
    struct pug_origin_reader *origin_reader; /* what is selected, or NULL */
    bool sleep;                              /* there are many buffers */
};

/** The place of a buffer of a capture. */
struct place {
    struct pug_capture *capture;
    const struct segments *segments;
    const struct pug_capture_buffer *buffer;
    size_t segment; /* that is being decoded, of the capture */
    size_t done;    /* segments of the buffer that have had their turn */
    bool any;       /* one of them could be decoded */
};

static size_t read_bytes(struct pug_correlate_feed *feed, uint64_t from, uint8_t *bytes,
                         size_t size)
{
    const struct place *place = feed->own;
    return pug_capture_bytes(place->capture, place->segment, from, bytes, size, &feed->status);
}

static void tell_rates(const struct pug_correlate_feed *feed, struct pug_correlate_source *source)
{
    const struct place *place = feed->own;
    const struct pug_protocol *protocol = pug_protocol_find(source->protocol);
    if (!protocol || !protocol->description || !protocol->description->steps_apart)
        return;
    const struct pug_swo_clock clock =
        pug_capture_swo_clock(place->capture, source->buffer, source->source);
    source->local_hertz = clock.local_hertz;
    source->global_hertz = clock.global_hertz;
    source->has_global = clock.awaits;
}

/** The next segment of the buffer; NULL: there is none. */
static const struct pug_capture_segment *step(struct place *place)
{
    if (place->done == place->buffer->segment_count)
        return NULL;
    place->segment =
        place->done++ > 0 ? place->segments->next[place->segment] : place->buffer->first_segment;
    return pug_capture_segment_at(place->capture, place->segment);
}

/** The tree of the segment at hand, from its begin. */
static enum pug_status make_tree(struct pug_correlate_feed *feed)
{
    const struct place *place = feed->own;
    enum pug_status status = pug_capture_tree(place->capture, place->segment, true,
                                              feed->choice ? feed->choice->log : NULL, &feed->tree);
    if (status == PUG_OK)
        status = pug_correlate_feed_begin(feed);
    if (status == PUG_OK && place->segments->origin_reader && !feed->origin_reader)
        status = pug_origin_reader_share(place->segments->origin_reader, &feed->origin_reader);
    if (status == PUG_OK && feed->origin_reader)
        status = pug_origin_reader_begin(feed->origin_reader, place->segment, feed->tree);
    return status;
}

static void drop_tree(struct pug_correlate_feed *feed)
{
    pug_tree_free(feed->tree);
    feed->tree = NULL;
}

/** The next segment that can be decoded. */
static bool next_segment(struct pug_correlate_feed *feed)
{
    struct place *place = feed->own;
    const struct pug_capture_segment *segment;
    drop_tree(feed);
    for (; (segment = step(place)) != NULL; drop_tree(feed)) {
        const struct pug_origin_reader *origin_reader = place->segments->origin_reader;
        if (origin_reader && !pug_origin_reader_may_choose(origin_reader, place->segment)) {
            place->any = true;
            continue;
        }
        feed->bytes = pug_capture_memory(place->capture, place->segment);
        feed->index = segment->offset;
        feed->size = segment->size;
        feed->status = make_tree(feed);
        if (feed->status == PUG_ERR_NO_SOURCE) {
            feed->status = PUG_OK;
            continue;
        }
        if (feed->status == PUG_OK && !feed->idle) {
            uint64_t taken = 0;
            (void)pug_capture_segment_taken(place->capture, place->segment, &taken);
            feed->status = pug_correlate_segment(feed->correlate, feed->buffer, taken);
        }
        place->any = true;
        if (feed->status != PUG_OK)
            return false;
        if (feed->idle)
            continue;
        if (place->segments->sleep)
            drop_tree(feed);
        return true;
    }
    return false;
}

/** False: no memory. */
static bool list_segments(struct segments *segments, const struct pug_capture *capture,
                          size_t buffers)
{
    const struct pug_capture_segment *segment;
    size_t count = 0;
    while (pug_capture_segment_at(capture, count))
        count++;
    size_t *last = calloc(buffers + 1, sizeof(*last));
    segments->next = malloc((count + 1) * sizeof(*segments->next));
    segments->sleep = buffers > AWAKE;
    for (size_t n = count; last && segments->next && n-- > 0;) {
        segment = pug_capture_segment_at(capture, n);
        segments->next[n] = last[segment->buffer];
        last[segment->buffer] = n;
    }
    const bool good = last && segments->next;
    free(last);
    return good;
}

static size_t count_buffers(const struct pug_capture *capture)
{
    size_t count = 0;
    while (pug_capture_buffer_at(capture, count))
        count++;
    return count;
}

/** Open the chosen buffers. */
static enum pug_status begin(struct pug_correlate *correlate, struct pug_capture *capture,
                             const struct pug_correlate_choice *choice,
                             const struct segments *segments, struct pug_correlate_feed *feeds,
                             struct place *places, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct place){
            .capture = capture, .segments = segments, .buffer = pug_capture_buffer_at(capture, i)};
        feeds[i] = (struct pug_correlate_feed){.correlate = correlate,
                                               .buffer = (uint32_t)i,
                                               .read = read_bytes,
                                               .next = next_segment,
                                               .wake = make_tree,
                                               .rates = tell_rates,
                                               .choice = choice,
                                               .own = &places[i]};
        feeds[i].done = !places[i].buffer->chosen || !next_segment(&feeds[i]);
        if (feeds[i].status != PUG_OK)
            return feeds[i].status;
        any |= places[i].any;
    }
    return any ? PUG_OK : PUG_ERR_NO_SOURCE;
}

enum pug_status pug_correlate_capture(struct pug_correlate *correlate, struct pug_capture *capture,
                                      const struct pug_correlate_choice *choice)
{
    if (!correlate || !capture)
        return PUG_ERR_INVALID_PARAM_VAL;
    size_t count = count_buffers(capture);
    struct pug_correlate_feed *feeds = calloc(count + 1, sizeof(*feeds));
    struct place *places = calloc(count + 1, sizeof(*places));
    struct segments segments = {.next = NULL};
    enum pug_status status = PUG_ERR_MEM;
    if (feeds && places && list_segments(&segments, capture, count))
        status = choice && choice->selection ? pug_origin_reader_new(capture, choice->selection,
                                                                     false, &segments.origin_reader)
                                             : PUG_OK;
    if (status == PUG_OK)
        status = begin(correlate, capture, choice, &segments, feeds, places, count);
    if (status == PUG_OK)
        status = pug_correlate_feed_all(correlate, feeds, count, choice);
    for (size_t i = 0; feeds && i < count; i++) {
        pug_tree_free(feeds[i].tree);
        pug_origin_reader_free(feeds[i].origin_reader);
    }
    pug_origin_reader_free(segments.origin_reader);
    free(segments.next);
    free(feeds);
    free(places);
    return status;
}
