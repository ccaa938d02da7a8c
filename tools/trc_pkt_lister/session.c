// SPDX-License-Identifier: MIT
/** @file From a snapshot to its listing: choosing a buffer, making the tree, feeding it. */
#include "lister.h"
#include "listing/listing.h"
#include "pugmark/author/transport.h"

#include <string.h>
#include <time.h>

#define BLOCK         1024u /* bytes that go to the tree at once */
#define DSTREAM_BLOCK 504u
#define FOOTER        8u

/* Bits of the demultiplexer's "flags" setting. */
enum { FLAG_FSYNC = 0x01, FLAG_HSYNC = 0x02, FLAG_MEM_ALIGN = 0x04 };

/* ---- feeding a buffer ---- */

/** A buffer file on its way into the tree. */
struct feed {
    struct lister *lister;
    struct pug_trace *trace;
    enum pug_response response;
    uint64_t index;
    uint8_t bytes[BLOCK];
};

static void check_wait(struct lister *lister, enum pug_response response)
{
    if (lister->options.decode && (lister->waits > 0 || lister->wait_unanswered) &&
        PUG_RESP_IS_CONT(response))
        output_print(&lister->output,
                     LISTER "WARNING : Data in; data Path expected WAIT response\n");
}

static void feed_block(struct feed *feed, size_t size)
{
    struct lister *lister = feed->lister;
    size_t at = 0;
    while (at < size && !PUG_RESP_IS_FATAL(feed->response)) {
        if (PUG_RESP_IS_CONT(feed->response)) {
            size_t used = 0;
            feed->response =
                pug_tree_data(lister->tree, feed->index, feed->bytes + at, size - at, &used);
            at += used;
            feed->index += used;
            check_wait(lister, feed->response);
        } else {
            lister->wait_unanswered = false;
            feed->response = pug_tree_flush(lister->tree);
        }
    }
}

/** The 8 bytes after each block; read over the start of the block, which is how they are shown. */
static bool read_footer(struct feed *feed)
{
    struct output *output = &feed->lister->output;
    bool whole = pug_trace_read(feed->trace, feed->bytes, FOOTER, NULL) == FOOTER;
    if (feed->lister->options.raw_packed) {
        output_print(output, "DSTREAM footer [");
        for (unsigned i = 0; i < FOOTER; i++)
            output_print(output, "0x%x ", feed->bytes[i]);
        output_print(output, "]\n");
    }
    return whole;
}

static void feed_all(struct feed *feed)
{
    bool dstream = feed->lister->options.dstream, more = true;
    size_t block = dstream ? DSTREAM_BLOCK : BLOCK;
    while (more && !PUG_RESP_IS_FATAL(feed->response)) {
        size_t size = pug_trace_read(feed->trace, feed->bytes, block, NULL);
        more = size == block;
        feed_block(feed, size);
        if (dstream && !read_footer(feed))
            more = false;
    }
}

/* ---- after a buffer ---- */

/** Only the readers of ETMv4 and ETE keep counters in the reference. */
static bool has_stats(const struct lister *lister, const struct pug_source *source)
{
    const char *name = pug_source_protocol(source)->name;
    if (!lister->single && pug_source_slot(source) >= 0x70)
        return false;
    return strcmp(name, "ETMV4I") == 0 || strcmp(name, "ETE") == 0;
}

static void print_stats(struct lister *lister)
{
    const struct pug_transport_stats *transport = pug_tree_transport_stats(lister->tree);
    struct pug_source *source;
    struct pug_text text;
    bool any = false;
    output_print(&lister->output, "\nReading packet decoder statistics....\n\n");
    for (size_t n = 0; (source = pug_tree_source_at(lister->tree, n)) != NULL; n++) {
        bool known = has_stats(lister, source);
        any |= known;
        text = output_begin(&lister->output);
        pug_listing_source_stats(&text, pug_source_slot(source),
                                 known ? pug_source_stats(source) : NULL);
        output_end(&lister->output, &text);
    }
    if (!any || transport->framing == 0)
        return;
    text = output_begin(&lister->output);
    pug_listing_transport_stats(&text, transport);
    output_end(&lister->output, &text);
}

static void print_profile(struct lister *lister)
{
    output_print(&lister->output, "Generic Packets processed:-\n");
    for (int type = 0; type <= PUG_ELEM_CUSTOM; type++)
        output_print(&lister->output, "OCSD_GEN_TRC_ELEM_%s : %llu\n",
                     pug_element_type_name((enum pug_element_type)type),
                     (unsigned long long)lister->counts[type]);
    output_print(&lister->output, "\n\n");
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static void print_end(struct lister *lister, const struct feed *feed, const struct timespec *start)
{
    struct output *output = &lister->output;
    output_print(output, LISTER "Trace buffer done, processed %llu bytes",
                 (unsigned long long)feed->index);
    if (lister->options.no_time)
        output_print(output, ".\n");
    else
        output_print(output, " in %.8g seconds.\n", seconds_since(start));
    if (lister->options.profile)
        print_profile(lister);
    if (lister->options.stats)
        print_stats(lister);
}

/** List one buffer. False: a fatal error. */
static bool list_buffer(struct lister *lister, const struct pug_snapshot_buffer *buffer)
{
    struct feed feed = {.lister = lister, .response = PUG_RESP_CONT};
    struct timespec start;
    if (pug_trace_open(lister->snapshot, buffer, &feed.trace) != PUG_OK) {
        output_print(&lister->output, LISTER "Error : Unable to open trace buffer.\n");
        return true;
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    feed_all(&feed);
    pug_trace_close(feed.trace);
    bool good = !PUG_RESP_IS_FATAL(feed.response);
    if (good)
        pug_tree_end(lister->tree);
    else
        output_print(&lister->output, LISTER "Data Path fatal error\n%s",
                     lister->last_error ? lister->last_error : "");
    print_end(lister, &feed, &start);
    if (lister->options.multi_session)
        pug_tree_reset(lister->tree);
    return good;
}

static void list_all_buffers(struct lister *lister)
{
    const struct pug_snapshot_buffer *buffer;
    size_t count = 0;
    while (pug_snapshot_buffer_at(lister->snapshot, count))
        count++;
    for (size_t i = 0; i < count; i++) {
        buffer = pug_snapshot_buffer_at(lister->snapshot, i);
        output_print(&lister->output,
                     "####### Multi Session decode: Buffer %zu of %zu; Source name = %s.\n\n",
                     i + 1, count, buffer->name);
        if (!list_buffer(lister, pug_snapshot_buffer(lister->snapshot, buffer->name))) {
            output_print(&lister->output,
                         LISTER "ERROR : Multi-session decode for buffer %s failed. Aborting.\n\n",
                         buffer->name);
            return;
        }
        output_print(&lister->output, "####### Buffer %zu : %s Complete\n\n", i + 1, buffer->name);
    }
}

/* ---- before ---- */

static bool choose_buffer(struct lister *lister)
{
    const struct pug_snapshot *snapshot = lister->snapshot;
    const char *name = lister->options.source_name;
    const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer_at(snapshot, 0);
    if (!buffer) {
        output_print(&lister->output, LISTER "No trace source buffer names found\n");
        return false;
    }
    lister->buffer = pug_snapshot_buffer(snapshot, name ? name : buffer->name);
    if (lister->buffer) {
        output_print(&lister->output, "Using %s as trace source\n", lister->buffer->name);
        return true;
    }
    output_print(&lister->output,
                 LISTER "Trace source name %s not found\nValid source names are:-\n", name);
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(snapshot, n)) != NULL; n++)
        output_print(&lister->output, "%s\n", buffer->name);
    return false;
}

static bool make_tree(struct lister *lister)
{
    const struct options *options = &lister->options;
    uint64_t flags =
        strcmp(lister->buffer->format, "dstream_coresight") == 0 ? FLAG_FSYNC : FLAG_MEM_ALIGN;
    if (options->tpiu || options->tpiu_hsync)
        flags = FLAG_FSYNC;
    if (options->tpiu_hsync)
        flags |= FLAG_HSYNC;
    struct pug_setting setting = {.name = "flags", .value = flags};
    struct pug_snapshot_tree_config config = {
        .decode = options->decode,
        .options = options->decoder,
        .transport = {.items = &setting, .count = 1},
        .log = lister->log,
        .quirks = pug_quirks_reference(),
    };
    if (options->decode) {
        lister->image = pug_image_new();
        if (!lister->image)
            return false;
        pug_image_set_quirks(lister->image, &config.quirks);
        config.image = lister->image;
    }
    if (pug_snapshot_tree(lister->snapshot, lister->buffer, &config, &lister->tree) != PUG_OK)
        return false;
    lister->single = pug_tree_transport(lister->tree)->single;
    return true;
}

int session_run(struct lister *lister)
{
    const char *directory = lister->options.directory;
    struct pug_snapshot_options options = {
        .log = lister->log, .verbose = lister->options.verbose, .quirks = pug_quirks_reference()};
    output_print(&lister->output, LISTER "reading snapshot from path %s\n", directory);
    enum pug_status status = pug_snapshot_open(directory, &options, &lister->snapshot);
    if (status == PUG_ERR_FILE) {
        output_print(&lister->output, LISTER "Snapshot path%s not found\n", directory);
        return 0;
    }
    if (status != PUG_OK) {
        output_print(&lister->output, LISTER "Failed to read snapshot\n");
        return 1;
    }
    lister->waits = lister->options.waits;
    if (!choose_buffer(lister) || !make_tree(lister) || !printers_attach(lister))
        return 0;
    if (lister->options.multi_session)
        list_all_buffers(lister);
    else
        list_buffer(lister, lister->buffer);
    return 0;
}
