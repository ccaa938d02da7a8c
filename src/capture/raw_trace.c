// SPDX-License-Identifier: MIT
/** @file One file of trace: its bytes, the sources in it, and its tree. */
#include "capture/raw.h"
#include "pugmark/author/transport.h"

#include "pugmark/advanced/params.h"
#include "transport/coresight_guess.h"
#include "transport/osd_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

/** Its begin shows how frames lie; where sources have to be found, all of it is needed. */
enum pug_status pug_capture_raw_bytes(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    uint16_t id;
    if (capture->kind != PUG_CAPTURE_STREAM)
        return pug_capture_map(capture, pug_capture_raw_file(capture), &raw->bytes);
    enum pug_status status = pug_capture_live_open(capture);
    if (status == PUG_OK && pug_capture_raw_guesses(capture))
        status = pug_capture_live_ahead(capture, pug_coresight_shows, PUG_CORESIGHT_SAMPLE);
    if (status == PUG_OK && !pug_capture_raw_names_source(capture, &id) &&
        !pug_capture_stream_waits(capture))
        pug_capture_live_settle(capture);
    return status;
}

static const uint8_t *memory(const struct pug_capture *capture, uint32_t segment)
{
    static const uint8_t nothing[1];
    const struct pug_capture_raw *raw = capture->own;
    (void)segment;
    return raw->bytes.bytes ? raw->bytes.bytes : nothing;
}

static size_t read_bytes(const struct pug_capture *capture, uint32_t segment, uint64_t from,
                         void *bytes, size_t size, enum pug_status *status)
{
    (void)status;
    memcpy(bytes, memory(capture, segment) + from, size);
    return size;
}

/* ---- the sources in it ---- */

struct found {
    uint64_t bytes[UINT16_MAX + 1];  /* by id */
    bool frames;                     /* of CoreSight, in which some ids are no sources */
    struct pug_osd_modules *modules; /* what they are, where that is to be found out; or NULL */
};

/** Modules of an OSD trace are distinguished when none was chosen. */
static bool tells_modules(const struct pug_capture *capture)
{
    const struct pug_capture_raw *raw = capture->own;
    const struct pug_description *description = raw->protocol->description;
    return strcmp(raw->transport->name, "osd") == 0 && description && description->transport &&
           strcmp(description->transport, "osd") == 0 && capture->options.wanted_count == 0;
}

/** Of CoreSight frames: 0 is padding, and the last ids are reserved. */
static bool is_real_id(uint16_t id)
{
    return id > 0 && id < 0x70;
}

static enum pug_response note_source(void *context, const struct pug_run *run, size_t *used)
{
    struct found *found = context;
    *used = run->size;
    if (found->frames && !is_real_id(run->source))
        return PUG_RESP_CONT;
    found->bytes[run->source] += run->size;
    if (found->modules)
        pug_osd_modules_note(found->modules, run);
    return PUG_RESP_CONT;
}

static void ignore_reset(void *context, uint64_t index)
{
    (void)context;
    (void)index;
}

#define SCAN_BLOCK (1u << 20)
/* Number of bytes of a live input that are searched for its sources, at most. */
#define MOST_SCANNED (UINT64_C(4) << 20)

/** Let the transport alone go over the trace. */
static enum pug_status scan(const struct pug_capture *capture, struct found *found)
{
    const struct pug_capture_raw *raw = capture->own;
    struct pug_transport_stats stats = {0};
    struct pug_transport_sink sink = {.context = found,
                                      .run = note_source,
                                      .reset = ignore_reset,
                                      .stats = &stats,
                                      .log = capture->log};
    void *state;
    enum pug_status status = raw->transport->create(&raw->settings, &sink, &state);
    if (status != PUG_OK)
        return status;
    sink.log = NULL; /* faults of the trace are reported when it is decoded */
    uint64_t at = 0;
    size_t used = 1;
    while (at < raw->bytes.size && used > 0) {
        uint64_t left = raw->bytes.size - at;
        size_t size = left < SCAN_BLOCK ? (size_t)left : SCAN_BLOCK;
        if (raw->transport->data(state, at, raw->bytes.bytes + at, size, &used) >= PUG_RESP_WAIT)
            break;
        at += used;
    }
    raw->transport->end(state);
    raw->transport->free(state);
    return PUG_OK;
}

static enum pug_osd_module module_of(const struct found *found, uint16_t id)
{
    return found->modules ? pug_osd_module(found->modules, id) : PUG_OSD_MODULE_SILENT;
}

/** The protocol of such a module; NULL: none is known. */
static const char *protocol_of(enum pug_osd_module module)
{
    const struct pug_protocol *protocol;
    for (size_t n = 0; module && (protocol = pug_protocol_at(n)) != NULL; n++)
        if (protocol->description && protocol->description->module == (unsigned)module)
            return protocol->name;
    return NULL;
}

/** Sources that are left; what protocol they have of their own, or NULL. */
static size_t choose(const struct found *found, uint16_t *ids, const char **protocols)
{
    size_t count = 0;
    for (uint32_t id = 0; id <= UINT16_MAX; id++) {
        if (found->bytes[id] == 0)
            continue;
        protocols[count] = protocol_of(module_of(found, (uint16_t)id));
        ids[count++] = (uint16_t)id;
    }
    return count;
}

static int by_size(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a > b ? -1 : a < b;
}

/** Forget the ids that have least, so that `limit` of them are left. False: no memory. */
static bool keep_largest(struct found *found, size_t limit)
{
    uint64_t *sizes = malloc(sizeof(found->bytes));
    if (!sizes)
        return false;
    memcpy(sizes, found->bytes, sizeof(found->bytes));
    qsort(sizes, UINT16_MAX + 1, sizeof(*sizes), by_size);
    const uint64_t least = sizes[limit - 1];
    size_t ties = 1; /* ids of that size that stay, the lowest ones */
    while (ties < limit && sizes[limit - 1 - ties] == least)
        ties++;
    for (uint32_t id = 0; id <= UINT16_MAX; id++)
        if (found->bytes[id] == least && ties > 0)
            ties--;
        else if (found->bytes[id] <= least)
            found->bytes[id] = 0;
    free(sizes);
    return true;
}

/** Report the sources that exist, where none of the wanted ones does. */
static void say_ids(const struct pug_capture *capture, const struct found *found)
{
    char text[160] = "";
    size_t at = 0;
    for (uint32_t id = 0; id <= UINT16_MAX; id++) {
        if (found->bytes[id] == 0)
            continue;
        if (pug_capture_raw_wants(capture, (uint16_t)id))
            return;
        if (at + 8 < sizeof(text))
            at += (size_t)snprintf(text + at, sizeof(text) - at, " 0x%02x", (unsigned)id);
    }
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: ids in this trace:%s", capture->path,
                    at > 0 ? text : " none");
}

/** Ids are cheap to write: there are no more sources than the limit allows. */
static enum pug_status limit_sources(struct pug_capture *capture, struct found *found)
{
    const size_t limit =
        capture->options.source_limit ? capture->options.source_limit : PUG_CAPTURE_SOURCES;
    size_t count = 0;
    for (uint32_t id = 0; id <= UINT16_MAX; id++) {
        if (!pug_capture_raw_wants(capture, (uint16_t)id) ||
            module_of(found, (uint16_t)id) == PUG_OSD_MODULE_OTHER)
            found->bytes[id] = 0;
        count += found->bytes[id] > 0;
    }
    if (count <= limit)
        return PUG_OK;
    if (!keep_largest(found, limit))
        return PUG_ERR_MEM;
    (void)pug_capture_say(
        capture, PUG_SEV_ERROR, PUG_ERR_LIMIT,
        "%s has trace of %zu sources, by its ids: only %zu of them are decoded, those "
        "that have most of it",
        capture->path, count, limit);
    return PUG_OK;
}

static enum pug_status describe_found(struct pug_capture *capture, struct found *found)
{
    uint16_t *ids = calloc(UINT16_MAX + 1, sizeof(*ids));
    const char **protocols = calloc(UINT16_MAX + 1, sizeof(*protocols));
    enum pug_status status = ids && protocols ? PUG_OK : PUG_ERR_MEM;
    if (status == PUG_OK)
        status = limit_sources(capture, found);
    size_t count = status == PUG_OK ? choose(found, ids, protocols) : 0;
    if (status == PUG_OK)
        status = pug_capture_raw_describe(capture, ids, protocols, count);
    free(ids);
    free(protocols);
    return status;
}

/** What the user's protocol and settings say about the modules. */
static void expect_modules(const struct pug_capture *capture, struct pug_osd_modules *modules)
{
    const struct pug_capture_raw *raw = capture->own;
    const uint64_t width = pug_settings_number(
        &raw->settings, "ADDR_WIDTH", pug_settings_number(&raw->settings, "addr_width", 0));
    const struct pug_osd_expected expected = {
        .module = raw->protocol->description->module,
        .width = width <= 64 ? (unsigned)width : 0,
        .odd = strcmp(pug_settings_word(&raw->settings, "isa", "riscv"), "riscv") != 0};
    pug_osd_modules_expect(modules, &expected);
}

enum pug_status pug_capture_raw_scan(struct pug_capture *capture)
{
    struct found *found = calloc(1, sizeof(*found));
    if (!found)
        return PUG_ERR_MEM;
    enum pug_status status = PUG_OK;
    if (tells_modules(capture) && !(found->modules = pug_osd_modules_new()))
        status = PUG_ERR_MEM;
    if (found->modules)
        expect_modules(capture, found->modules);
    found->frames =
        strcmp(((const struct pug_capture_raw *)capture->own)->transport->name, "coresight") == 0;
    if (status == PUG_OK)
        status = scan(capture, found);
    if (status == PUG_OK && capture->options.wanted_count > 0)
        say_ids(capture, found);
    if (status == PUG_OK)
        status = describe_found(capture, found);
    pug_osd_modules_free(found->modules);
    free(found);
    return status;
}

/** Forget what was described, of no source. */
static void forget_sources(struct pug_capture_raw *raw)
{
    free(raw->of_sources);
    free(raw->source_settings);
    raw->of_sources = NULL;
    raw->source_settings = NULL;
}

enum pug_status pug_capture_raw_scan_live(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    enum pug_status status = PUG_OK;
    for (bool first = true; status == PUG_OK && capture->sources.count == 0 &&
                            (first || (raw->open && raw->bytes.size < MOST_SCANNED));
         first = false) {
        forget_sources(raw);
        status = pug_capture_live_ahead(capture, NULL, raw->bytes.size + SCAN_BLOCK / 16);
        if (status == PUG_OK)
            status = pug_capture_raw_scan(capture);
    }
    if (status == PUG_OK && capture->sources.count > 0)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: sources in the first %llu bytes: %zu; what others say later is left "
                        "out: name one with --set src_id=N",
                        capture->path, (unsigned long long)raw->bytes.size, capture->sources.count);
    return status;
}

/* ---- the tree ---- */

static enum pug_status add_source(struct pug_capture *capture,
                                  const struct pug_capture_source *described, bool decode,
                                  struct pug_tree *tree)
{
    const struct pug_source_config config = {.protocol = described->protocol,
                                             .settings = *described->settings,
                                             .decode = decode,
                                             .options = capture->options.decode};
    enum pug_status status = pug_tree_add_source(tree, &config, NULL);
    if (status != PUG_OK)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "source %s (%s): %s", described->name,
                        described->protocol, pug_status_text(status));
    return status;
}

static enum pug_status find_image(struct pug_capture *capture, struct pug_image **image)
{
    const struct pug_capture_raw *raw = capture->own;
    struct pug_capture_images *images = capture->images.items;
    enum pug_status status = PUG_OK;
    if (!images[0].image) {
        images[0].image = pug_image_new();
        status = images[0].image
                     ? pug_capture_add_programs(capture, images[0].image, &raw->settings)
                     : PUG_ERR_MEM;
        if (status == PUG_OK)
            status = pug_capture_list_objects(capture, images[0].image);
    }
    if (status != PUG_OK) {
        pug_image_free(images[0].image);
        images[0].image = NULL;
    }
    *image = images[0].image;
    return status;
}

static enum pug_status make_tree(struct pug_capture *capture, bool decode, struct pug_log *log,
                                 struct pug_image *image, struct pug_tree **tree)
{
    const struct pug_capture_raw *raw = capture->own;
    const struct pug_tree_config config = {
        .transport = raw->transport->name,
        .settings = raw->settings,
        .image = image,
        .log = log,
        .quirks = capture->quirks,
        .code_limit = pug_capture_code_limit(capture, capture->sources.count)};
    enum pug_status status = pug_tree_new(&config, tree);
    if (status != PUG_OK)
        return pug_capture_say(capture, PUG_SEV_ERROR, status, "%s (%s)", capture->path,
                               raw->transport->name);
    if (capture->sources.count == 0) {
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path,
                        capture->options.wanted_count ? "no such source in it" : "no source in it");
        pug_tree_free(*tree);
        *tree = NULL;
        return PUG_ERR_NOT_FOUND;
    }
    const struct pug_capture_source *source;
    size_t added = 0;
    for (size_t n = 0;
         status != PUG_ERR_MEM && (source = pug_capture_source_at(capture, n)) != NULL; n++) {
        status = add_source(capture, source, decode, *tree);
        added += status == PUG_OK;
    }
    if (added > 0 && status != PUG_ERR_MEM)
        return PUG_OK;
    pug_tree_free(*tree);
    *tree = NULL;
    return status == PUG_ERR_MEM ? status : PUG_ERR_RDR_NO_DECODER;
}

static enum pug_status tree(struct pug_capture *capture, uint32_t segment, bool decode,
                            struct pug_log *log, struct pug_tree **out)
{
    struct pug_image *image;
    (void)segment;
    pthread_mutex_lock(&capture->lock);
    enum pug_status status = find_image(capture, &image);
    if (status == PUG_OK)
        status = make_tree(capture, decode, log, image, out);
    pthread_mutex_unlock(&capture->lock);
    return status;
}

static void situate(struct pug_capture_worker *worker, const struct pug_capture_moment *moment,
                    struct pug_origin *origin)
{
    origin->space = pug_capture_image_space(worker->capture, 0, &moment->reader);
}

static void free_own(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    pug_params_free(raw->params);
    free(raw->ctrace);
    free(raw->items);
    free(raw->of_sources);
    free(raw->source_settings);
    pug_capture_release(&raw->bytes);
    pug_capture_release(&raw->begin);
    free(raw);
}

static bool failure(const struct pug_capture *capture, struct pug_read_failure *out)
{
    const struct pug_capture_raw *raw = capture->own;
    return pug_capture_shrank(&raw->bytes, capture->path, out);
}

const struct pug_capture_ops pug_capture_raw_ops = {
    .free = free_own,
    .failure = failure,
    .tree = tree,
    .read = read_bytes,
    .memory = memory,
    .live = pug_capture_live_read,
    .settle = pug_capture_live_settle,
    .situate = situate,
};
