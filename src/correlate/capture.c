// SPDX-License-Identifier: MIT
/** @file The buffers of a capture, stretch by stretch. */
#include "correlate/feed.h"

#include <stdlib.h>

/** Where a buffer of a capture is. */
struct place {
    struct pug_capture *capture;
    const struct pug_capture_buffer *buffer;
    uint32_t number; /* of the buffer */
    size_t stretch;  /* that is being decoded, of the capture; those of buffers may alternate */
    size_t done;     /* stretches of the buffer that have had their turn */
    bool any;        /* one of them could be decoded */
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
    const struct pug_capture_stretch *stretch;
    if (place->done == place->buffer->stretch_count)
        return NULL;
    place->stretch = place->done++ > 0 ? place->stretch + 1 : place->buffer->first_stretch;
    while ((stretch = pug_capture_stretch_at(place->capture, place->stretch)) != NULL &&
           stretch->buffer != place->number)
        place->stretch++;
    return stretch;
}

/** The next stretch that can be decoded. */
static bool next_stretch(struct pug_correlate_feed *feed)
{
    struct place *place = feed->own;
    const struct pug_capture_stretch *stretch;
    while ((stretch = step(place)) != NULL) {
        const size_t number = place->stretch;
        pug_tree_free(feed->tree);
        feed->tree = NULL;
        enum pug_status status = pug_capture_tree(
            place->capture, number, true, feed->choice ? feed->choice->log : NULL, &feed->tree);
        if (status == PUG_ERR_RDR_NO_DECODER)
            continue;
        feed->bytes = pug_capture_memory(place->capture, place->stretch);
        feed->index = stretch->offset;
        feed->size = stretch->size;
        feed->status = status == PUG_OK ? pug_correlate_feed_begin(feed) : status;
        if (feed->status == PUG_OK && !feed->idle) {
            uint64_t taken = 0;
            (void)pug_capture_stretch_taken(place->capture, number, &taken);
            feed->status = pug_correlate_stretch(feed->correlate, feed->buffer, taken);
        }
        if (feed->status == PUG_OK && feed->lens)
            feed->status = pug_capture_lens_begin(feed->lens, place->stretch, feed->tree);
        place->any = true;
        if (feed->status != PUG_OK || !feed->idle)
            return feed->status == PUG_OK;
    }
    return false;
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
                             struct pug_correlate_feed *feeds, struct place *places, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct place){
            .capture = capture, .buffer = pug_capture_buffer_at(capture, i), .number = (uint32_t)i};
        feeds[i] = (struct pug_correlate_feed){.correlate = correlate,
                                               .buffer = (uint32_t)i,
                                               .read = read_bytes,
                                               .next = next_stretch,
                                               .choice = choice,
                                               .own = &places[i]};
        if (choice && choice->selection &&
            pug_capture_lens_new(capture, choice->selection, false, &feeds[i].lens) != PUG_OK)
            return PUG_ERR_MEM;
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
    enum pug_status status = PUG_ERR_MEM;
    if (feeds && places)
        status = begin(correlate, capture, choice, feeds, places, count);
    if (status == PUG_OK)
        status = pug_correlate_feed_all(correlate, feeds, count, choice);
    for (size_t i = 0; feeds && i < count; i++) {
        pug_tree_free(feeds[i].tree);
        pug_capture_lens_free(feeds[i].lens);
    }
    free(feeds);
    free(places);
    return status;
}
