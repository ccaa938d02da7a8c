// SPDX-License-Identifier: MIT
/** @file The buffers of a capture, stretch by stretch. */
#include "capture/decode.h"
#include "correlate/feed.h"

#include <stdlib.h>

/** More buffers than this do not all have a tree at a time. */
#define AWAKE 16u

/** The stretches of a capture: those of buffers may alternate. */
struct stretches {
    size_t *next;                  /* of the same buffer, by stretch */
    struct pug_capture_lens *lens; /* what is selected, or NULL */
    bool sleep;                    /* there are many buffers */
};

/** Where a buffer of a capture is. */
struct place {
    struct pug_capture *capture;
    const struct stretches *stretches;
    const struct pug_capture_buffer *buffer;
    size_t stretch; /* that is being decoded, of the capture */
    size_t done;    /* stretches of the buffer that have had their turn */
    bool any;       /* one of them could be decoded */
};

static size_t read_bytes(struct pug_correlate_feed *feed, uint64_t from, uint8_t *bytes,
                         size_t size)
{
    const struct place *place = feed->own;
    return pug_capture_bytes(place->capture, place->stretch, from, bytes, size, &feed->status);
}

/** The next stretch of the buffer; NULL: there is none. */
static const struct pug_capture_stretch *step(struct place *place)
{
    if (place->done == place->buffer->stretch_count)
        return NULL;
    place->stretch =
        place->done++ > 0 ? place->stretches->next[place->stretch] : place->buffer->first_stretch;
    return pug_capture_stretch_at(place->capture, place->stretch);
}

/** The tree of the stretch at hand, from its begin. */
static enum pug_status make_tree(struct pug_correlate_feed *feed)
{
    const struct place *place = feed->own;
    enum pug_status status = pug_capture_tree(place->capture, place->stretch, true,
                                              feed->choice ? feed->choice->log : NULL, &feed->tree);
    if (status == PUG_OK)
        status = pug_correlate_feed_begin(feed);
    if (status == PUG_OK && place->stretches->lens && !feed->lens)
        status = pug_capture_lens_share(place->stretches->lens, &feed->lens);
    if (status == PUG_OK && feed->lens)
        status = pug_capture_lens_begin(feed->lens, place->stretch, feed->tree);
    return status;
}

static void drop_tree(struct pug_correlate_feed *feed)
{
    pug_tree_free(feed->tree);
    feed->tree = NULL;
}

/** The next stretch that can be decoded. */
static bool next_stretch(struct pug_correlate_feed *feed)
{
    struct place *place = feed->own;
    const struct pug_capture_stretch *stretch;
    drop_tree(feed);
    for (; (stretch = step(place)) != NULL; drop_tree(feed)) {
        const struct pug_capture_lens *lens = place->stretches->lens;
        if (lens && !pug_capture_lens_may_choose(lens, place->stretch)) {
            place->any = true;
            continue;
        }
        feed->bytes = pug_capture_memory(place->capture, place->stretch);
        feed->index = stretch->offset;
        feed->size = stretch->size;
        feed->status = make_tree(feed);
        if (feed->status == PUG_ERR_RDR_NO_DECODER) {
            feed->status = PUG_OK;
            continue;
        }
        if (feed->status == PUG_OK && !feed->idle) {
            uint64_t taken = 0;
            (void)pug_capture_stretch_taken(place->capture, place->stretch, &taken);
            feed->status = pug_correlate_stretch(feed->correlate, feed->buffer, taken);
        }
        place->any = true;
        if (feed->status != PUG_OK)
            return false;
        if (feed->idle)
            continue;
        if (place->stretches->sleep)
            drop_tree(feed);
        return true;
    }
    return false;
}

/** False: no memory. */
static bool list_stretches(struct stretches *stretches, const struct pug_capture *capture,
                           size_t buffers)
{
    const struct pug_capture_stretch *stretch;
    size_t count = 0;
    while (pug_capture_stretch_at(capture, count))
        count++;
    size_t *last = calloc(buffers + 1, sizeof(*last));
    stretches->next = malloc((count + 1) * sizeof(*stretches->next));
    stretches->sleep = buffers > AWAKE;
    for (size_t n = count; last && stretches->next && n-- > 0;) {
        stretch = pug_capture_stretch_at(capture, n);
        stretches->next[n] = last[stretch->buffer];
        last[stretch->buffer] = n;
    }
    const bool good = last && stretches->next;
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
                             const struct stretches *stretches, struct pug_correlate_feed *feeds,
                             struct place *places, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct place){.capture = capture,
                                   .stretches = stretches,
                                   .buffer = pug_capture_buffer_at(capture, i)};
        feeds[i] = (struct pug_correlate_feed){.correlate = correlate,
                                               .buffer = (uint32_t)i,
                                               .read = read_bytes,
                                               .next = next_stretch,
                                               .wake = make_tree,
                                               .choice = choice,
                                               .own = &places[i]};
        feeds[i].done = !places[i].buffer->chosen || !next_stretch(&feeds[i]);
        if (feeds[i].status != PUG_OK)
            return feeds[i].status;
        any |= places[i].any;
    }
    return any ? PUG_OK : PUG_ERR_RDR_NO_DECODER;
}

enum pug_status pug_correlate_capture(struct pug_correlate *correlate, struct pug_capture *capture,
                                      const struct pug_correlate_choice *choice)
{
    if (!correlate || !capture)
        return PUG_ERR_INVALID_PARAM_VAL;
    size_t count = count_buffers(capture);
    struct pug_correlate_feed *feeds = calloc(count + 1, sizeof(*feeds));
    struct place *places = calloc(count + 1, sizeof(*places));
    struct stretches stretches = {.next = NULL};
    enum pug_status status = PUG_ERR_MEM;
    if (feeds && places && list_stretches(&stretches, capture, count))
        status = choice && choice->selection
                     ? pug_capture_lens_new(capture, choice->selection, false, &stretches.lens)
                     : PUG_OK;
    if (status == PUG_OK)
        status = begin(correlate, capture, choice, &stretches, feeds, places, count);
    if (status == PUG_OK)
        status = pug_correlate_feed_all(correlate, feeds, count, choice);
    for (size_t i = 0; feeds && i < count; i++) {
        pug_tree_free(feeds[i].tree);
        pug_capture_lens_free(feeds[i].lens);
    }
    pug_capture_lens_free(stretches.lens);
    free(stretches.next);
    free(feeds);
    free(places);
    return status;
}
