// SPDX-License-Identifier: MIT
/** @file Captures that are snapshots: each buffer is one segment. */
#include "pugmark/advanced/snapshot.h"
#include "capture/begin.h"
#include "capture/marks.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "snapshot/snapshot.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct from_snapshot {
    struct pug_snapshot *snapshot;
    struct pug_capture_bytes *bytes; /* by buffer */
    size_t count;
    struct pug_setting *items; /* where sources begin by a guess */
    size_t item_count, item_room;
};

static void free_own(struct pug_capture *capture)
{
    struct from_snapshot *own = capture->own;
    if (!own)
        return;
    for (size_t i = 0; own->bytes && i < own->count; i++)
        pug_capture_release(&own->bytes[i]);
    free(own->bytes);
    free(own->items);
    pug_snapshot_free(own->snapshot);
    free(own);
}

/* ---- trees ---- */

/** The buffer's image, made at first; *filled: it has the cores' memory, too. */
static enum pug_status find_image(struct pug_capture *capture, uint32_t buffer, bool *filled)
{
    struct pug_capture_images *images = capture->images.items;
    *filled = images[buffer].image != NULL;
    if (*filled)
        return PUG_OK;
    images[buffer].image = pug_image_new();
    return images[buffer].image
               ? pug_capture_add_programs(capture, images[buffer].image, &capture->options.settings)
               : PUG_ERR_MEM;
}

/** The options' settings, which come first, and these; NULL: no memory. */
static struct pug_setting *join_settings(const struct pug_capture *capture)
{
    const struct from_snapshot *own = capture->own;
    const struct pug_settings *given = &capture->options.settings;
    struct pug_setting *joined = calloc(given->count + own->item_count + 1, sizeof(*joined));
    if (joined && given->count > 0)
        memcpy(joined, given->items, given->count * sizeof(*joined));
    if (joined && own->item_count > 0)
        memcpy(joined + given->count, own->items, own->item_count * sizeof(*joined));
    return joined;
}

static enum pug_status make_tree(struct pug_capture *capture, uint32_t buffer, bool decode,
                                 struct pug_log *log, struct pug_tree **out)
{
    const struct from_snapshot *own = capture->own;
    struct pug_capture_images *images = capture->images.items;
    struct pug_setting *joined = join_settings(capture);
    if (!joined)
        return PUG_ERR_MEM;
    struct pug_snapshot_tree_config config = {
        .decode = decode,
        .options = capture->options.decode,
        .transport = capture->options.settings,
        .sources = {.items = joined,
                    .count = capture->options.settings.count + own->item_count,
                    .watch = capture->options.settings.watch},
        .first_only = !capture->options.buffer,
        .log = log,
        .quirks = capture->quirks,
        .code_limit = pug_capture_code_limit(capture, capture->sources.count),
    };
    enum pug_status status = find_image(capture, buffer, &config.filled);
    config.image = images[buffer].image;
    if (status == PUG_OK)
        status = pug_snapshot_tree(own->snapshot, pug_snapshot_buffer_at(own->snapshot, buffer),
                                   &config, out);
    free(joined);
    if (status == PUG_OK && !config.filled &&
        (status = pug_capture_list_objects(capture, config.image)) != PUG_OK) {
        pug_tree_free(*out);
        *out = NULL;
    }
    if (status != PUG_OK && !config.filled) {
        pug_image_free(config.image);
        images[buffer].image = NULL;
    }
    return status;
}

static enum pug_status tree(struct pug_capture *capture, uint32_t segment, bool decode,
                            struct pug_log *log, struct pug_tree **out)
{
    pthread_mutex_lock(&capture->lock);
    enum pug_status status = make_tree(capture, segment, decode, log, out);
    pthread_mutex_unlock(&capture->lock);
    return status;
}

/* ---- bytes ---- */

/** What files may have together that are copied: a hole of a file takes memory, too. */
static uint64_t memory_limit(void)
{
    uint64_t limit = SIZE_MAX / 2;
#ifdef _SC_PHYS_PAGES
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0 && (uint64_t)pages < limit / (uint64_t)size)
        limit = (uint64_t)pages * (uint64_t)size / 2;
#endif
    return limit;
}

/** Several files are read one after the other. */
static enum pug_status read_parts(struct pug_capture *capture,
                                  const struct pug_snapshot_buffer *buffer,
                                  struct pug_capture_bytes *bytes)
{
    const struct from_snapshot *own = capture->own;
    struct pug_trace *trace;
    enum pug_status status = pug_trace_open(own->snapshot, buffer, &trace);
    if (status == PUG_OK) {
        const uint64_t size = pug_trace_size(trace);
        uint8_t *copy = size < memory_limit() ? malloc((size_t)size + 1) : NULL;
        if (copy)
            bytes->size = pug_trace_read(trace, copy, size, &status);
        else
            status = size < memory_limit() ? PUG_ERR_MEM : PUG_ERR_LIMIT;
        bytes->bytes = copy;
        pug_trace_close(trace);
    }
    if (status != PUG_OK)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", buffer->file,
                        pug_status_text(status));
    return status;
}

static enum pug_status find_bytes(struct pug_capture *capture,
                                  const struct pug_snapshot_buffer *buffer,
                                  struct pug_capture_bytes *bytes)
{
    char path[PATH_MAX];
    const struct from_snapshot *own = capture->own;
    if (strchr(buffer->file, ','))
        return read_parts(capture, buffer, bytes);
    return pug_snapshot_path(own->snapshot, buffer->file, path, sizeof(path)) < sizeof(path)
               ? pug_capture_map(capture, path, bytes)
               : PUG_ERR_LIMIT;
}

/** The path of one file, or the names of several. */
static const char *file_of(struct pug_capture *capture, const struct pug_snapshot_buffer *buffer)
{
    char path[PATH_MAX];
    const struct from_snapshot *own = capture->own;
    if (strchr(buffer->file, ','))
        return buffer->file;
    pug_snapshot_path(own->snapshot, buffer->file, path, sizeof(path));
    return pug_capture_keep(capture, path, sizeof(path));
}

static const uint8_t *memory(const struct pug_capture *capture, uint32_t segment)
{
    static const uint8_t nothing[1];
    const struct from_snapshot *own = capture->own;
    return own->bytes[segment].bytes ? own->bytes[segment].bytes : nothing;
}

static bool failure(const struct pug_capture *capture, struct pug_read_failure *out)
{
    const struct from_snapshot *own = capture->own;
    const struct pug_capture_buffer *buffers = pug_capture_buffers(capture);
    for (size_t i = 0; own->bytes && i < own->count && i < capture->buffers.count; i++)
        if (pug_capture_shrank(&own->bytes[i], buffers[i].file, out))
            return true;
    return false;
}

static size_t read_bytes(const struct pug_capture *capture, uint32_t segment, uint64_t from,
                         void *bytes, size_t size, enum pug_status *status)
{
    (void)status;
    memcpy(bytes, memory(capture, segment) + from, size);
    return size;
}

/* ---- what is in it ---- */

static enum pug_status add_sources(struct pug_capture *capture,
                                   const struct pug_snapshot_buffer *buffer, uint32_t number)
{
    const struct from_snapshot *own = capture->own;
    struct pug_snapshot_source found;
    for (size_t n = 0; pug_snapshot_source_at(own->snapshot, buffer, n, &found); n++) {
        struct pug_capture_source *source =
            pug_capture_add(capture, &capture->sources, sizeof(*source));
        if (!source)
            return PUG_ERR_MEM;
        *source = (struct pug_capture_source){.buffer = number,
                                              .name = found.name,
                                              .core = found.core_name,
                                              .protocol = found.protocol ? found.protocol : "",
                                              .cpu = PUG_NO_CPU};
        errno = 0; /* a missing id is reported where its tree is made; no memory here */
        if (!pug_snapshot_source_id(own->snapshot, &found, &capture->options.settings,
                                    &source->id) &&
            errno == ENOMEM)
            return PUG_ERR_MEM;
    }
    return PUG_OK;
}

static const struct pug_protocol *protocol_of(const char *name)
{
    const struct pug_protocol *protocol = NULL;
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++)
        if (strcmp(protocol->name, name) == 0)
            break;
    return protocol;
}

static const struct pug_transport *transport_of(const char *name)
{
    const struct pug_transport *transport = NULL;
    for (size_t n = 0; (transport = pug_transport_at(n)) != NULL; n++)
        if (strcmp(transport->name, name) == 0)
            break;
    return transport;
}

/** Settings of one source have its name in front. */
static enum pug_status add_setting(struct pug_capture *capture, const char *source,
                                   const char *name, uint64_t value)
{
    struct from_snapshot *own = capture->own;
    if (own->item_count == own->item_room) {
        const size_t room = 2 * own->item_room + 8;
        struct pug_setting *grown = realloc(own->items, room * sizeof(*grown));
        if (!grown)
            return PUG_ERR_MEM;
        own->items = grown;
        own->item_room = room;
    }
    own->items[own->item_count++] = (struct pug_setting){
        .name = pug_capture_keep_format(capture, "%s:%s", source, name), .value = value};
    return PUG_OK;
}

/** Does its device say where it begins, or that this is not to be guessed? */
static bool says_begin(const struct pug_snapshot *snapshot, const char *source)
{
    const struct pug_snapshot_device *device;
    for (size_t n = 0; (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++)
        for (size_t i = 0; strcmp(device->name, source) == 0 && i < device->register_count; i++)
            if (strcmp(device->registers[i].name, "begin_at") == 0 ||
                strcmp(device->registers[i].name, "guess_sync") == 0)
                return true;
    return false;
}

/** Set the beginning of a buffer's sources, if it has to be guessed. */
static enum pug_status add_begins(struct pug_capture *capture, uint32_t number)
{
    const struct from_snapshot *own = capture->own;
    const struct pug_capture_source *source;
    struct pug_begin what = {.transport =
                                 transport_of(pug_capture_buffers(capture)[number].transport),
                             .settings = &capture->options.settings,
                             .bytes = own->bytes[number].bytes,
                             .size = own->bytes[number].size};
    enum pug_status status = PUG_OK;
    for (size_t n = 0; status == PUG_OK && (source = pug_capture_source_at(capture, n)) != NULL;
         n++) {
        size_t begin = SIZE_MAX;
        what.protocol = source->buffer == number ? protocol_of(source->protocol) : NULL;
        what.id = source->id;
        if (what.protocol && what.transport && !says_begin(own->snapshot, source->name))
            status = pug_capture_begin(capture, &what, &begin);
        if (status == PUG_OK && begin != SIZE_MAX)
            status = add_setting(capture, source->name, "begin_at", begin);
        if (status == PUG_OK && begin != SIZE_MAX)
            status = add_setting(capture, source->name, "guess_sync", 1);
    }
    return status;
}

static enum pug_status add_buffer(struct pug_capture *capture,
                                  const struct pug_snapshot_buffer *found, uint32_t number)
{
    struct from_snapshot *own = capture->own;
    const char *wanted = capture->options.buffer;
    struct pug_capture_buffer *buffer =
        pug_capture_add(capture, &capture->buffers, sizeof(*buffer));
    struct pug_capture_segment *segment =
        pug_capture_add(capture, &capture->segments, sizeof(*segment));
    if (!buffer || !segment ||
        !pug_capture_add(capture, &capture->images, sizeof(struct pug_capture_images)))
        return PUG_ERR_MEM;
    *buffer = (struct pug_capture_buffer){
        .name = found->name,
        .file = file_of(capture, found),
        .transport = pug_snapshot_transport(own->snapshot, found),
        .cpu = PUG_NO_CPU,
        .tid = -1,
        .chosen = wanted ? strcmp(wanted, found->name) == 0
                         : !pug_snapshot_buffer_repeats(own->snapshot, found),
        .first_segment = number,
        .segment_count = 1,
    };
    *segment = (struct pug_capture_segment){.buffer = number, .cpu = PUG_NO_CPU};
    if (buffer->chosen) {
        enum pug_status status = find_bytes(capture, found, &own->bytes[number]);
        if (status != PUG_OK)
            return status;
    }
    buffer->size = segment->size = own->bytes[number].size;
    const enum pug_status status = add_sources(capture, found, number);
    return status == PUG_OK && buffer->chosen ? add_begins(capture, number) : status;
}

static enum pug_status say_no_buffer(const struct pug_capture *capture)
{
    const struct from_snapshot *own = capture->own;
    const struct pug_snapshot_buffer *buffer;
    char names[512] = "";
    if (!capture->options.buffer || own->count == 0)
        return pug_capture_say(
            capture, PUG_SEV_ERROR, PUG_OK, "%s: no trace buffer in it%s", capture->path,
            own->snapshot->metadata ? ""
                                    : ": snapshot.ini names no file that lists them; add "
                                      "[trace] metadata=trace.ini, or whatever it is called");
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(own->snapshot, n)) != NULL; n++) {
        strncat(names, " ", sizeof(names) - strlen(names) - 1);
        strncat(names, buffer->name, sizeof(names) - strlen(names) - 1);
    }
    return pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: no trace buffer %s; there are:%s",
                           capture->path, capture->options.buffer, names);
}

static bool any_chosen(const struct pug_capture *capture)
{
    const struct pug_capture_buffer *buffers = pug_capture_buffers(capture);
    for (size_t i = 0; i < capture->buffers.count; i++)
        if (buffers[i].chosen)
            return true;
    return false;
}

static enum pug_status fill(struct pug_capture *capture)
{
    struct from_snapshot *own = capture->own;
    const struct pug_snapshot_buffer *buffer;
    while (pug_snapshot_buffer_at(own->snapshot, own->count))
        own->count++;
    own->bytes = calloc(own->count + 1, sizeof(*own->bytes));
    if (!own->bytes)
        return PUG_ERR_MEM;
    for (size_t n = 0; (buffer = pug_snapshot_buffer_at(own->snapshot, n)) != NULL; n++) {
        enum pug_status status = add_buffer(capture, buffer, (uint32_t)n);
        if (status != PUG_OK)
            return status;
    }
    if (any_chosen(capture))
        return PUG_OK;
    say_no_buffer(capture);
    return PUG_ERR_DCDREG_NAME_UNKNOWN;
}

/** Why there is no snapshot at this path. */
static void say_trouble(const struct pug_capture *capture, enum pug_status status)
{
    struct stat place;
    if (stat(capture->path, &place) != 0)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path, strerror(errno));
    else
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: no snapshot: %s", capture->path,
                        status == PUG_ERR_FILE ? "there is no snapshot.ini in it, or not to be read"
                                               : pug_status_text(status));
}

static void situate(struct pug_capture_worker *worker, const struct pug_capture_moment *moment,
                    struct pug_origin *origin)
{
    origin->space = pug_capture_image_space(worker->capture, origin->buffer, &moment->reader);
}

static const struct pug_capture_ops ops = {
    .free = free_own,
    .failure = failure,
    .tree = tree,
    .read = read_bytes,
    .memory = memory,
    .situate = situate,
};

enum pug_status pug_capture_open_snapshot(struct pug_capture *capture, const char *folder)
{
    struct from_snapshot *own = calloc(1, sizeof(*own));
    const struct pug_snapshot_options options = {
        .log = capture->log, .quirks = capture->quirks, .confine = capture->options.confine};
    if (!own)
        return PUG_ERR_MEM;
    capture->kind = PUG_CAPTURE_SNAPSHOT;
    capture->ops = &ops;
    capture->own = own;
    capture->title = strdup("snapshot");
    if (!capture->title)
        return PUG_ERR_MEM;
    enum pug_status status = pug_snapshot_open(folder, &options, &own->snapshot);
    if (status == PUG_OK)
        pug_capture_settle_ticks(capture, &capture->options.settings);
    if (status == PUG_OK)
        return fill(capture);
    say_trouble(capture, status);
    return status;
}

const struct pug_snapshot *pug_capture_snapshot(const struct pug_capture *capture)
{
    const struct from_snapshot *own = capture->own;
    return capture->kind == PUG_CAPTURE_SNAPSHOT && own ? own->snapshot : NULL;
}
