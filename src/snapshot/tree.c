// SPDX-License-Identifier: MIT
/** @file From a buffer to its sources, and to a decode tree. */
#include "pugmark/author/transport.h"
#include "snapshot/setting.h"
#include "transport/coresight_guess.h"

#include <strings.h>

/* ---- sources of a buffer ---- */

/** The one core without a source, for the one source of program flow without a core. */
static const char *lone_core(const struct pug_snapshot *snapshot)
{
    const struct pug_snapshot_device *device;
    const char *lone = NULL;
    size_t cores = 0, sources = 0;
    for (size_t n = 0;
         (device = pug_snapshot_device_at(snapshot, n)) != NULL && cores <= 1 && sources <= 1;
         n++) {
        if (pug_snapshot_traces_core(snapshot, device)) {
            sources += !pug_snapshot_core_of(snapshot, device->name, device);
        } else if (pug_snapshot_is_core(snapshot, device) &&
                   !pug_snapshot_is_traced(snapshot, device->name)) {
            lone = device->name;
            cores++;
        }
    }
    return cores == 1 && sources == 1 ? lone : NULL;
}

static void describe(const struct pug_snapshot *snapshot, const char *name, unsigned stream,
                     struct pug_snapshot_source *source)
{
    const struct pug_snapshot_device *device = pug_snapshot_device(snapshot, name);
    const char *core = pug_snapshot_core_of(snapshot, name, device);
    bool assumed = !core && device && pug_snapshot_is_native(snapshot) &&
                   pug_snapshot_traces_core(snapshot, device) &&
                   (core = lone_core(snapshot)) != NULL;
    *source = (struct pug_snapshot_source){
        .name = name,
        .device = device,
        .core_name = core,
        .core = core ? pug_snapshot_device(snapshot, core) : NULL,
        .protocol =
            device ? pug_snapshot_device_config_protocol(snapshot, device, stream, core != NULL)
                   : NULL,
        .stream = stream,
        .assumed_core = assumed,
    };
}

/** Where the metadata does not say who writes into the one buffer there is, all sources do. */
static bool nth_device(const struct pug_snapshot *snapshot, size_t n,
                       struct pug_snapshot_source *source)
{
    const struct pug_snapshot_device *device;
    for (size_t i = 0; (device = pug_snapshot_device_at(snapshot, i)) != NULL; i++) {
        if (!pug_snapshot_device_config_protocol(snapshot, device, 0, false) || n-- > 0)
            continue;
        describe(snapshot, device->name, 0, source);
        return true;
    }
    return false;
}

/** The association that the n-th source of a buffer is; NULL: there are no more. */
static const struct pair *pair_at(const struct pug_snapshot *snapshot,
                                  const struct pug_snapshot_buffer *buffer, size_t n)
{
    const struct list *sources = &((const struct buffer *)buffer)->sources;
    if (n >= sources->count)
        return NULL;
    const uint32_t *places = sources->items;
    return (const struct pair *)snapshot->source_buffers.items + places[n];
}

bool pug_snapshot_source_at(const struct pug_snapshot *snapshot,
                            const struct pug_snapshot_buffer *buffer, size_t n,
                            struct pug_snapshot_source *source)
{
    if (pug_snapshot_is_native(snapshot) && snapshot->source_buffers.count == 0)
        return snapshot->buffers.count == 1 && nth_device(snapshot, n, source);
    const struct pair *pair = pair_at(snapshot, buffer, n);
    if (pair)
        describe(snapshot, pair->key, pair->stream > 0 ? (unsigned)pair->stream : 0, source);
    return pair != NULL;
}

/* ---- the transport ---- */

bool pug_snapshot_format_known(const char *format)
{
    return strcmp(format, "source_data") == 0 || strcmp(format, "dstream_coresight") == 0 ||
           pug_transport_find(format) != NULL;
}

/** The reference knows two kinds of buffer only, and two forms of the second. */
const char *pug_snapshot_transport(const struct pug_snapshot *snapshot,
                                   const struct pug_snapshot_buffer *buffer)
{
    if (strcmp(buffer->format, "source_data") == 0)
        return "plain";
    const struct pug_transport *transport =
        pug_snapshot_is_native(snapshot) ? pug_transport_find(buffer->format) : NULL;
    return transport ? transport->name : "coresight";
}

/** How the frames of a buffer lie, by its first bytes. NULL: they cannot be read. */
static const char *guess_frames(const struct pug_snapshot *snapshot,
                                const struct pug_snapshot_buffer *buffer)
{
    struct pug_trace *trace;
    const char *guess = NULL;
    if (pug_trace_open(snapshot, buffer, &trace) != PUG_OK)
        return NULL;
    size_t size = PUG_CORESIGHT_SAMPLE;
    if (pug_trace_size(trace) < size)
        size = (size_t)pug_trace_size(trace);
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    if (bytes)
        guess = pug_coresight_guess(bytes, pug_trace_read(trace, bytes, size, NULL));
    free(bytes);
    pug_trace_close(trace);
    return guess;
}

/**
 * Without a setting the bytes show the layout of frames; but for the reference they are aligned.
 */
static bool add_guess(const struct pug_snapshot *snapshot, const struct pug_snapshot_buffer *buffer,
                      const struct pug_quirks *quirks, struct list *list)
{
    const struct pug_settings told = {.items = list->items, .count = list->count};
    if (!pug_snapshot_is_native(snapshot) || quirks->sync_error_fatal ||
        strcmp(pug_snapshot_transport(snapshot, buffer), "coresight") != 0 ||
        pug_coresight_is_told(&told))
        return true;
    const char *guess = guess_frames(snapshot, buffer);
    return !guess ||
           pug_snapshot_setting_add(list, (struct pug_setting){.name = guess, .value = 1});
}

/** Settings of the caller, then of the buffer, then what its format means; the first wins. */
static bool transport_settings(const struct pug_snapshot *snapshot,
                               const struct pug_snapshot_buffer *buffer,
                               const struct pug_settings *first, struct list *list)
{
    bool enough = true;
    for (size_t i = 0; i < first->count; i++)
        enough = enough && pug_snapshot_setting_add(list, first->items[i]);
    for (size_t i = 0; i < buffer->settings.count; i++)
        enough = enough && pug_snapshot_setting_add(list, buffer->settings.items[i]);
    if (strcmp(buffer->format, "dstream_coresight") == 0) {
        enough = enough &&
                 pug_snapshot_setting_add(list, (struct pug_setting){.name = "fsyncs", .value = 1});
        if (pug_snapshot_is_native(snapshot))
            enough = enough && pug_snapshot_setting_add(
                                   list, (struct pug_setting){.name = "dstream", .value = 1});
    }
    return enough;
}

/* ---- the tree ---- */

struct builder {
    const struct pug_snapshot *snapshot;
    const struct pug_snapshot_tree_config *config;
    struct pug_tree *tree;
    struct memory memory;
    bool starved; /* there was no memory for a source */
};

/** The source is left out: `why`, and `what` the reference says of it. */
static bool fail(const struct pug_snapshot *snapshot, const char *why, const char *what,
                 const char *name)
{
    if (pug_snapshot_is_native(snapshot))
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_OK, "source %s is left out%s\n",
                         name, why);
    else
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_ERR_SNAPSHOT_TREE, "%s %s.\n", what,
                         name);
    return false;
}

/** The tree does not take the source. */
static void say_refused(const struct pug_snapshot *snapshot,
                        const struct pug_snapshot_source *source, const char *protocol,
                        enum pug_status status)
{
    if (pug_snapshot_is_native(snapshot))
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, status, "source %s, %s\n", source->name,
                         protocol);
    else
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, status,
                         "Snapshot processor : failed to create %s decoder on decode tree.",
                         protocol);
}

static bool create(struct builder *builder, const struct pug_snapshot_source *source)
{
    const struct pug_snapshot *snapshot = builder->snapshot;
    struct device_config device_config;
    struct pug_source *made = NULL;
    bool good = pug_snapshot_device_config_make(snapshot, source, &builder->config->sources,
                                                &device_config);
    if (good) {
        struct pug_source_config config = {
            .protocol = device_config.protocol,
            .settings = {.items = device_config.settings.items,
                         .count = device_config.settings.count,
                         .watch = builder->config->sources.watch},
            .decode = builder->config->decode,
            .options = builder->config->options,
        };
        enum pug_status status = pug_tree_add_source(builder->tree, &config, &made);
        good = status == PUG_OK;
        builder->starved |= status == PUG_ERR_MEM;
        if (!good)
            say_refused(snapshot, source, device_config.protocol, status);
    }
    builder->starved |= device_config.settings.starved;
    pug_snapshot_device_config_free(&device_config);
    if (!good)
        return fail(snapshot, "",
                    source->core_name ? "Failed to create decoder for source"
                                      : "Failed to create decoder for none core source",
                    source->name);
    if (builder->config->filled)
        return true;
    if (builder->config->image && source->core)
        pug_snapshot_memory_add(&builder->memory, source->core, pug_source_id(made));
    if (builder->config->image && pug_snapshot_is_native(snapshot))
        pug_snapshot_memory_add(&builder->memory, source->device, pug_source_id(made));
    return true;
}

bool pug_snapshot_source_id(const struct pug_snapshot *snapshot,
                            const struct pug_snapshot_source *source,
                            const struct pug_settings *overrides, uint16_t *id)
{
    struct pug_snapshot quiet = *snapshot; /* faults are reported where a tree is made */
    struct device_config device_config;
    void *config;
    bool good = false;
    if (!source->device || (source->core_name && !source->core))
        return false;
    quiet.options.log = NULL;
    if (pug_snapshot_device_config_make(
            &quiet, source, &(struct pug_settings){overrides->items, overrides->count, NULL},
            &device_config)) {
        const struct pug_protocol *protocol = pug_protocol_find(device_config.protocol);
        const struct pug_settings settings = {device_config.settings.items,
                                              device_config.settings.count, NULL};
        good = protocol && protocol->config_new(&settings, NULL, &config) == PUG_OK;
        if (good) {
            *id = (uint16_t)(protocol->trace_id(config) + source->stream);
            protocol->config_free(config);
        }
    }
    pug_snapshot_device_config_free(&device_config);
    return good;
}

/** A bus's memory has lower priority than that of cores. */
static void add_memory_spaces(struct builder *builder)
{
    const struct pug_snapshot_device *device;
    builder->memory.behind = true;
    for (size_t n = 0; (device = pug_snapshot_device_at(builder->snapshot, n)) != NULL; n++)
        if (strcasecmp(device->class_name, "memory_space") == 0)
            pug_snapshot_memory_add(&builder->memory, device, 0);
}

/** Is the n-th source also in another buffer, which it names before this one? */
static bool is_elsewhere(const struct pug_snapshot *snapshot,
                         const struct pug_snapshot_buffer *buffer, size_t n)
{
    const struct pair *pair = pair_at(snapshot, buffer, n);
    return pair && pair->first_buffer != ((const struct buffer *)buffer)->number;
}

bool pug_snapshot_buffer_repeats(const struct pug_snapshot *snapshot,
                                 const struct pug_snapshot_buffer *buffer)
{
    struct pug_snapshot_source source;
    size_t n = 0;
    while (pug_snapshot_source_at(snapshot, buffer, n, &source) &&
           is_elsewhere(snapshot, buffer, n))
        n++;
    return n > 0 && !pug_snapshot_source_at(snapshot, buffer, n, &source);
}

/** Streams but the first carry data: only who registers a protocol for them has a decoder. */
static bool skip_stream(const struct pug_snapshot *snapshot,
                        const struct pug_snapshot_source *source)
{
    const bool skip = source->stream > 0 && !source->protocol;
    if (skip)
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_WARN, PUG_OK,
                         "Stream %u of %s is left out: there is no decoder for it\n",
                         source->stream, source->name);
    return skip;
}

static bool add_source(struct builder *builder, const struct pug_snapshot_source *source)
{
    const struct pug_snapshot *snapshot = builder->snapshot;
    if (skip_stream(snapshot, source))
        return false;
    if (!source->device)
        return fail(snapshot, ": nothing describes it", "Failed to find device data for source",
                    source->name);
    if (source->core_name && !source->core)
        return fail(snapshot, ": nothing describes the core that it traces",
                    "Failed to get device data for source", source->name);
    return create(builder, source);
}

/** All that the buffer is to have: of one without frames, the first. False: not one was made. */
static bool add_sources(struct builder *builder, const struct pug_snapshot_buffer *buffer)
{
    const struct pug_snapshot *snapshot = builder->snapshot;
    bool single = pug_tree_transport(builder->tree)->single, any = false;
    struct pug_snapshot_source source;
    for (size_t n = 0; pug_snapshot_source_at(snapshot, buffer, n, &source) && !(single && n > 0);
         n++)
        if (!builder->config->first_only || !is_elsewhere(snapshot, buffer, n))
            any |= add_source(builder, &source);
    return any;
}

static enum pug_status new_tree(struct builder *builder, const struct pug_snapshot_buffer *buffer)
{
    const struct pug_snapshot_tree_config *config = builder->config;
    struct list settings = {.items = NULL};
    enum pug_status status = PUG_ERR_MEM;
    if (transport_settings(builder->snapshot, buffer, &config->transport, &settings) &&
        add_guess(builder->snapshot, buffer, &config->quirks, &settings))
        status =
            pug_tree_new(&(struct pug_tree_config){.transport = pug_snapshot_transport(
                                                       builder->snapshot, buffer),
                                                   .settings = {.items = settings.items,
                                                                .count = settings.count,
                                                                .watch = config->transport.watch},
                                                   .image = config->image,
                                                   .log = config->log,
                                                   .quirks = config->quirks,
                                                   .code_limit = config->code_limit},
                         &builder->tree);
    free(settings.items);
    return status;
}

enum pug_status pug_snapshot_tree(const struct pug_snapshot *snapshot,
                                  const struct pug_snapshot_buffer *buffer,
                                  const struct pug_snapshot_tree_config *config,
                                  struct pug_tree **tree)
{
    if (!tree)
        return PUG_ERR_INVALID_PARAM_VAL;
    *tree = NULL;
    if (!snapshot || !buffer || !config)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct builder builder = {.snapshot = snapshot,
                              .config = config,
                              .memory = {.snapshot = snapshot, .image = config->image}};
    enum pug_status status = new_tree(&builder, buffer);
    if (status != PUG_OK)
        return status;
    bool any = add_sources(&builder, buffer);
    if (any && config->image && !config->filled && pug_snapshot_is_native(snapshot))
        add_memory_spaces(&builder);
    free(builder.memory.mapped.items);
    const bool starved = builder.starved || builder.memory.starved;
    if (!any || starved) {
        pug_tree_free(builder.tree);
        return starved ? PUG_ERR_MEM : PUG_ERR_NO_SOURCE;
    }
    *tree = builder.tree;
    return PUG_OK;
}
