// SPDX-License-Identifier: MIT
#include "correlate/feed.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/author/protocol.h"

#include <stdlib.h>

#define BLOCK 65536u

/** The stream of a source; a new one where there is none yet. */
static enum pug_status find_stream(const struct pug_correlate_feed *feed, uint16_t source,
                                   const char *protocol, uint32_t *stream)
{
    struct pug_correlate_source is = {
        .buffer = feed->buffer, .source = source, .protocol = protocol};
    struct pug_correlate *correlate = feed->correlate;
    const struct pug_correlate_queue *queue = pug_correlate_first_of(correlate, feed->buffer);
    while (queue && queue->info.source != source)
        queue = pug_correlate_next_of(correlate, queue);
    *stream = queue ? pug_correlate_number(correlate, queue) : (uint32_t)correlate->count;
    if (queue)
        return PUG_OK;
    if (feed->rates)
        feed->rates(feed, &is);
    return pug_correlate_add(correlate, &is);
}

static enum pug_response take_elements(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    struct pug_correlate_feed *feed = context;
    (void)taken;
    for (size_t i = 0, end; i < count && feed->status == PUG_OK; i = end) {
        uint32_t stream;
        end = i + 1;
        if (feed->origin_reader && !pug_origin_reader_look(feed->origin_reader, &elements[i], NULL))
            continue;
        while (!feed->origin_reader && end < count && elements[end].source == elements[i].source)
            end++;
        feed->status = find_stream(feed, elements[i].source, NULL, &stream);
        if (feed->status == PUG_OK)
            feed->status = pug_correlate_put(feed->correlate, stream, elements + i, end - i);
    }
    return PUG_RESP_CONT;
}

static bool is_chosen(const struct pug_correlate_choice *choice, uint16_t id)
{
    for (size_t i = 0; choice && i < choice->source_count; i++)
        if (choice->sources[i] == id)
            return true;
    return !choice || choice->source_count == 0;
}

enum pug_status pug_correlate_feed_begin(struct pug_correlate_feed *feed)
{
    struct pug_source *source;
    uint32_t stream;
    feed->idle = true;
    for (size_t n = 0; (source = pug_tree_source_at(feed->tree, n)) != NULL; n++) {
        bool chosen = is_chosen(feed->choice, pug_source_id(source));
        feed->idle &= !chosen;
        pug_tree_enable(feed->tree, pug_source_slot(source), chosen);
        enum pug_status status = chosen ? find_stream(feed, pug_source_id(source),
                                                      pug_source_protocol(source)->name, &stream)
                                        : PUG_OK;
        if (status != PUG_OK)
            return status;
    }
    pug_tree_on_elements(feed->tree, take_elements, feed);
    feed->start = feed->index;
    return PUG_OK;
}

/** A block's bytes into the tree. False: decoding stopped. */
static bool feed_tree(struct pug_correlate_feed *feed, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        size_t used = 0;
        enum pug_response answer = pug_tree_data(feed->tree, feed->index, bytes, size, &used);
        feed->index += used;
        feed->size -= used;
        bytes += used;
        size -= used;
        if (PUG_RESP_IS_FATAL(answer))
            return false;
        if (used == 0)
            break; /* the transport waits for a whole frame, which does not come any more */
    }
    return true;
}

static bool feed_block(struct pug_correlate_feed *feed)
{
    uint8_t block[BLOCK];
    size_t size = feed->size < BLOCK ? (size_t)feed->size : BLOCK;
    if (feed->bytes)
        return feed_tree(feed, feed->bytes + (feed->index - feed->start), size);
    size = feed->read(feed, feed->index - feed->start, block, size);
    if (size == 0)
        feed->size = 0;
    return feed_tree(feed, block, size);
}

/** The buffer is over: nothing more comes of its streams. */
static void finish(struct pug_correlate_feed *feed)
{
    struct pug_correlate *correlate = feed->correlate;
    const struct pug_correlate_queue *queue = pug_correlate_first_of(correlate, feed->buffer);
    for (; queue; queue = pug_correlate_next_of(correlate, queue))
        pug_correlate_end(correlate, pug_correlate_number(correlate, queue));
    feed->done = true;
}

static void feed_some(struct pug_correlate_feed *feed)
{
    uint64_t before = feed->size;
    if (!feed->tree)
        feed->status = feed->wake ? feed->wake(feed) : PUG_ERR_NOT_READY;
    if (feed->status != PUG_OK)
        return;
    bool good = feed->size == 0 || feed_block(feed);
    feed->stopped |= !good;
    if (feed->status == PUG_OK && good && feed->size > 0 && feed->size < before)
        return;
    if (good)
        pug_tree_end(feed->tree);
    pug_tree_on_elements(feed->tree, NULL, NULL);
    if (feed->status != PUG_OK || !feed->next || !feed->next(feed))
        finish(feed);
}

/** The buffer that the others wait for, or the first from `*undone` on that is not over. */
static struct pug_correlate_feed *choose(const struct pug_correlate *correlate,
                                         struct pug_correlate_feed *feeds, size_t count,
                                         size_t *undone)
{
    const uint32_t wanted = pug_correlate_wanted(correlate);
    if (wanted < correlate->count) {
        struct pug_correlate_feed *feed = &feeds[correlate->streams[wanted].info.buffer];
        if (!feed->done)
            return feed;
    }
    while (*undone < count && feeds[*undone].done)
        ++*undone;
    return *undone < count ? &feeds[*undone] : NULL;
}

enum pug_status pug_correlate_feed_all(struct pug_correlate *correlate,
                                       struct pug_correlate_feed *feeds, size_t count,
                                       const struct pug_correlate_choice *choice)
{
    struct pug_correlate_feed *feed;
    enum pug_status status = PUG_OK;
    uint64_t done = 0;
    size_t undone = 0;
    while (!correlate->stopped && (feed = choose(correlate, feeds, count, &undone)) != NULL) {
        uint64_t before = feed->size;
        feed_some(feed);
        done += before > feed->size ? before - feed->size : before;
        if (feed->status != PUG_OK)
            return feed->status;
        if (feed->stopped)
            status = PUG_ERR_DECODING_STOPPED;
        if (choice && choice->progress && !choice->progress(choice->progress_context, done))
            break;
    }
    return status;
}

/* ---- trees ---- */

enum pug_status pug_correlate_trees(struct pug_correlate *correlate,
                                    const struct pug_correlate_input *inputs, size_t count)
{
    if (!correlate || (!inputs && count > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    for (size_t i = 0; i < count; i++)
        if (!inputs[i].tree || (!inputs[i].bytes && inputs[i].size > 0))
            return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_correlate_feed *feeds = calloc(count ? count : 1, sizeof(*feeds));
    enum pug_status status = feeds ? PUG_OK : PUG_ERR_MEM;
    for (size_t i = 0; i < count && status == PUG_OK; i++) {
        feeds[i] = (struct pug_correlate_feed){.correlate = correlate,
                                               .buffer = (uint32_t)i,
                                               .tree = inputs[i].tree,
                                               .bytes = inputs[i].bytes,
                                               .size = inputs[i].size};
        status = pug_correlate_feed_begin(&feeds[i]);
    }
    if (status == PUG_OK)
        status = pug_correlate_feed_all(correlate, feeds, count, NULL);
    for (size_t i = 0; feeds && i < count; i++)
        pug_tree_on_elements(inputs[i].tree, NULL, NULL);
    free(feeds);
    return status;
}
