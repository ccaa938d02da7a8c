// SPDX-License-Identifier: MIT
/**
 * @file Captures that are one file of trace, which the options describe: one buffer, one segment.
 */
#include "capture/raw.h"

#include "base/edit_distance.h"
#include "capture/begin.h"
#include "capture/marks.h"
#include "ctrace/ctrace.h"
#include "files/infile.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

#include "params/params.h"
#include "snapshot/protocols.h"
#include "transport/coresight_guess.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The transport of the protocol's sources, distinguished by the setting "src_id"; or NULL. */
static const char *transport_of(const struct pug_protocol *protocol)
{
    return protocol->description ? protocol->description->transport : NULL;
}

/* ---- names ---- */

/** Names are compared without case and punctuation: ntrace is N-Trace. *rest: the rest of it. */
static bool begins_with(const char *name, const char *begin, const char **rest)
{
    for (;; begin++, name++) {
        while (*begin && !isalnum((unsigned char)*begin))
            begin++;
        while (*name && !isalnum((unsigned char)*name))
            name++;
        *rest = name;
        if (*begin == 0)
            return true;
        if (tolower((unsigned char)*begin) != tolower((unsigned char)*name))
            return false;
    }
}

static bool same_name(const char *a, const char *b)
{
    const char *rest;
    return begins_with(a, b, &rest) && *rest == 0;
}

static void append(char *names, size_t size, const char *name)
{
    strncat(names, " ", size - strlen(names) - 1);
    strncat(names, name, size - strlen(names) - 1);
}

/** Is it of a device's further stream? Who does not say so means the first. */
static bool is_further(const struct pug_protocol *protocol)
{
    const struct pug_device_type *types =
        protocol->description ? protocol->description->types : NULL;
    return types && types->name && types->stream > 0;
}

/** By its name, or by the begin of its name where no other one begins so: etmv4 is ETMV4I. */
/** The known name that is nearest to what somebody wrote. */
struct nearest {
    const char *name;
    unsigned slips, length; /* of its letters only so many count */
};

static void offer(struct nearest *nearest, const char *wanted, const char *name, size_t length)
{
    char known[64];
    snprintf(known, sizeof(known), "%.*s", (int)length, name);
    const unsigned slips = pug_name_distance(wanted, known);
    if (slips < nearest->slips)
        *nearest = (struct nearest){name, slips, (unsigned)length};
}

/** No name fits: those that there are, and which may be meant. */
static void refuse_name(const struct pug_capture *capture, const char *what, const char *name,
                        const char *names, const struct nearest *nearest)
{
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "no %s '%s'; there are%s%s%.*s%s", what, name,
                    names, nearest->name ? "; is " : "", (int)nearest->length,
                    nearest->name ? nearest->name : "", nearest->name ? " meant?" : "");
}

static const struct pug_protocol *find_protocol(const struct pug_capture *capture, const char *name)
{
    const struct pug_protocol *protocol, *meant = NULL;
    const char *rest;
    char names[512] = "";
    struct nearest nearest = {.slips = PUG_NAME_FAR};
    unsigned count = 0;
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++) {
        if (same_name(protocol->name, name))
            return protocol;
        if (begins_with(protocol->name, name, &rest) && !is_further(protocol)) {
            meant = protocol;
            count++;
        }
        append(names, sizeof(names), protocol->name);
        const size_t length = strlen(protocol->name);
        offer(&nearest, name, protocol->name, length);
        offer(&nearest, name, protocol->name, length - 1); /* ETMv4 is ETMV4I */
    }
    if (count == 1)
        return meant;
    refuse_name(capture, "protocol", name, names, &nearest);
    return NULL;
}

static const struct pug_transport *find_transport(const struct pug_capture *capture,
                                                  const char *name,
                                                  const struct pug_protocol *protocol)
{
    if (!name)
        name = transport_of(protocol) ? transport_of(protocol) : "plain";
    const struct pug_transport *transport;
    char names[512] = "";
    struct nearest nearest = {.slips = PUG_NAME_FAR};
    for (size_t n = 0; (transport = pug_transport_at(n)) != NULL; n++) {
        if (same_name(transport->name, name))
            return transport;
        append(names, sizeof(names), transport->name);
        offer(&nearest, name, transport->name, strlen(transport->name));
    }
    refuse_name(capture, "transport", name, names, &nearest);
    return NULL;
}

static bool is_of_parameters(const struct pug_protocol *protocol)
{
    return protocol->description && protocol->description->of_parameters;
}

/** The protocol of a file of trace when no option says it: that of parameter files. */
static const struct pug_protocol *usual_protocol(void)
{
    const struct pug_protocol *protocol;
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++)
        if (is_of_parameters(protocol))
            break;
    return protocol;
}

/** The container in a parameter file's word, as the options have it; or NULL. */
static const char *container_of(const struct pug_settings *given)
{
    const struct pug_settings unwatched = {.items = given->items, .count = given->count};
    return pug_settings_word(&unwatched, "container", NULL);
}

/** The protocol that the options name, or a snapshot's device file among the parameters. */
static const struct pug_protocol *choose_protocol(const struct pug_capture *capture,
                                                  const struct pug_capture_raw *raw)
{
    const char *type =
        raw->params ? pug_settings_word(pug_params_settings(raw->params), "device_type", NULL)
                    : NULL;
    const struct pug_protocol *protocol = NULL;
    if (capture->options.protocol)
        return find_protocol(capture, capture->options.protocol);
    if (!type)
        return usual_protocol();
    protocol = pug_snapshot_protocol_of_type(type);
    if (!protocol)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: type %s is not known",
                        capture->options.params, type);
    return protocol;
}

/** Protocol and transport by their names, or by what the parameters say. */
static enum pug_status choose_ways(struct pug_capture *capture, struct pug_capture_raw *raw)
{
    const struct pug_capture_options *options = &capture->options;
    const char *wanted = options->transport;
    raw->protocol = choose_protocol(capture, raw);
    if (!wanted && raw->protocol && is_of_parameters(raw->protocol))
        wanted = container_of(&options->settings)
                     ? pug_params_container(container_of(&options->settings))
                 : raw->params ? pug_params_transport(raw->params)
                               : NULL;
    raw->transport = raw->protocol ? find_transport(capture, wanted, raw->protocol) : NULL;
    return raw->transport ? PUG_OK : PUG_ERR_DCDREG_NAME_UNKNOWN;
}

/* ---- settings ---- */

/** RISC-V trace needs the hart's width: without a setting the program gives it. */
static void add_xlen(const struct pug_capture *capture, struct pug_capture_raw *raw)
{
    const struct pug_capture_options *options = &capture->options;
    const struct pug_settings given = {.items = raw->items, .count = raw->count};
    unsigned char ident[5] = "";
    if (options->program_count == 0 || options->programs[0].plain)
        return;
    struct pug_infile *file;
    if (pug_infile_open(options->programs[0].path, &file) != PUG_OK)
        return; /* it is reported where the program is added */
    const bool read = pug_infile_read(file, 0, ident, sizeof(ident)) == PUG_OK;
    pug_infile_close(file);
    if (!read || memcmp(ident, "\177ELF", 4) != 0)
        return;
    const uint64_t width = ident[4] == 1 ? 32 : 64;
    const struct pug_setting *told = pug_settings_find(&given, "xlen");
    raw->items[raw->count++] = (struct pug_setting){.name = "xlen", .value = width};
    if (told && !told->text && told->value != width)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK, "xlen is %u, and %s is a program of %u bits",
                        (unsigned)told->value, options->programs[0].path, (unsigned)width);
}

/* Settings that were not given: the hart's width, the layout of frames and packets, a clock, the
 * kind of a stream, and usual registers. */
#define DERIVED (7u + PUG_CAPTURE_USUAL)

/** A trace folder gives the clock that local timestamps count. */
static void add_clock(struct pug_capture_raw *raw)
{
    static const char name[] = "local_timestamp_hz";
    const struct pug_settings given = {.items = raw->items, .count = raw->count};
    const struct pug_ctrace_processor *first =
        raw->ctrace ? pug_capture_ctrace_first(raw->ctrace) : NULL;
    if (first && first->clock > 0 && !pug_settings_find(&given, name))
        raw->items[raw->count++] = (struct pug_setting){.name = name, .value = first->clock};
}

/** In some wrappings packets have another layout: that goes without saying. */
static void add_layout(struct pug_capture_raw *raw)
{
    const struct pug_settings given = {.items = raw->items, .count = raw->count};
    const char *container = container_of(&given);
    const char *layout = pug_params_layout(container ? container : raw->transport->name);
    if (layout && is_of_parameters(raw->protocol) && !pug_settings_find(&given, "layout"))
        raw->items[raw->count++] = (struct pug_setting){.name = "layout", .text = layout};
}

/** "type_bits_5": does a setting of one source say what an option says of all? */
static bool is_overruled(const struct pug_settings *given, const struct pug_setting *setting)
{
    static const char *const types[] = {"type_bits", "instruction_type", "data_type"};
    const struct pug_settings unwatched = {.items = given->items, .count = given->count};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const size_t length = strlen(types[i]);
        if (strncmp(setting->name, types[i], length) == 0 && setting->name[length] == '_' &&
            pug_settings_find(&unwatched, types[i]))
            return true;
    }
    return false;
}

/** The options', then the parameter file's. */
static enum pug_status take_settings(struct pug_capture *capture, struct pug_capture_raw *raw)
{
    static const struct pug_settings none = {0};
    const struct pug_settings *given = &capture->options.settings;
    const struct pug_settings *file = raw->params ? pug_params_settings(raw->params) : &none;
    raw->items = calloc(given->count + file->count + DERIVED, sizeof(*raw->items));
    if (!raw->items)
        return PUG_ERR_MEM;
    if (given->count > 0)
        memcpy(raw->items, given->items, given->count * sizeof(*raw->items));
    raw->count = given->count;
    for (size_t i = 0; i < file->count; i++)
        if (!is_overruled(given, &file->items[i]))
            raw->items[raw->count++] = file->items[i];
    add_xlen(capture, raw);
    add_layout(raw);
    add_clock(raw);
    pug_capture_raw_add_usual(raw);
    if (capture->guessed)
        raw->items[raw->count++] = (struct pug_setting){.name = capture->guessed, .value = 1};
    if (capture->begins) {
        raw->items[raw->count++] = (struct pug_setting){.name = "begin_at", .value = 0};
        raw->items[raw->count++] = (struct pug_setting){.name = "guess_sync", .value = 1};
    }
    raw->settings = (struct pug_settings){raw->items, raw->count, given->watch};
    return PUG_OK;
}

/* ---- sources ---- */

bool pug_capture_raw_wants(const struct pug_capture *capture, uint16_t id)
{
    for (size_t i = 0; i < capture->options.wanted_count; i++)
        if (capture->options.wanted[i] == id)
            return true;
    const struct pug_capture_raw *raw = capture->own;
    return capture->options.wanted_count == 0 &&
           (!raw->ctrace || raw->transport->single || pug_capture_ctrace_wants(raw->ctrace, id));
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum pug_status add_source(struct pug_capture *capture, uint16_t id, const char *name,
                                  const char *protocol, const struct pug_settings *settings)
{
    const struct pug_capture_raw *raw = capture->own;
    struct pug_capture_source *source =
        pug_capture_add(capture, &capture->sources, sizeof(*source));
    if (!source)
        return PUG_ERR_MEM;
    *source = (struct pug_capture_source){.id = id,
                                          .name = pug_capture_keep(capture, name, SIZE_MAX),
                                          .protocol = protocol ? protocol : raw->protocol->name,
                                          .cpu = PUG_NO_CPU,
                                          .settings = settings};
    return PUG_OK;
}

/** Room for the settings of so many sources, each with some of its own. */
static bool make_room(struct pug_capture_raw *raw, size_t sources, size_t items)
{
    raw->of_sources = calloc(items + 1, sizeof(*raw->of_sources));
    raw->source_settings = calloc(sources + 1, sizeof(*raw->source_settings));
    return raw->of_sources && raw->source_settings;
}

/** Set the beginning of the source, if it has to be guessed. */
static enum pug_status add_begin(const struct pug_capture *capture, uint16_t id,
                                 struct pug_setting *items, size_t *count)
{
    const struct pug_capture_raw *raw = capture->own;
    const struct pug_settings given = {.items = raw->items, .count = raw->count};
    const struct pug_begin what = {.transport = raw->transport,
                                   .protocol = raw->protocol,
                                   .settings = &given,
                                   .bytes = raw->bytes.bytes,
                                   .size = capture->live ? 0 : raw->bytes.size,
                                   .id = id};
    size_t begin;
    const enum pug_status status = pug_capture_begin(capture, &what, &begin);
    if (status != PUG_OK || begin == SIZE_MAX)
        return status;
    items[(*count)++] = (struct pug_setting){.name = "begin_at", .value = begin};
    items[(*count)++] = (struct pug_setting){.name = "guess_sync", .value = 1};
    return PUG_OK;
}

enum pug_status pug_capture_raw_describe(struct pug_capture *capture, const uint16_t *ids,
                                         const char *const *protocols, size_t count)
{
    struct pug_capture_raw *raw = capture->own;
    const size_t each = raw->count + 1 + PUG_BEGIN_SETTINGS + PUG_CAPTURE_CTRACE_SETTINGS;
    enum pug_status status = make_room(raw, count, count * each) ? PUG_OK : PUG_ERR_MEM;
    for (size_t i = 0; i < count && status == PUG_OK; i++) {
        struct pug_setting *items = raw->of_sources + i * each;
        size_t own = 0;
        items[own++] = (struct pug_setting){.name = "src_id", .value = ids[i]};
        status = add_begin(capture, ids[i], items, &own);
        memcpy(items + own, raw->items, raw->count * sizeof(*items));
        own += raw->count;
        if (raw->ctrace)
            own += pug_capture_ctrace_settings(raw, ids[i], i, items + own);
        raw->source_settings[i] = (struct pug_settings){items, own, raw->settings.watch};
        if (status == PUG_OK)
            status = add_source(capture, ids[i], last_component(pug_capture_raw_file(capture)),
                                protocols[i], &raw->source_settings[i]);
    }
    return status;
}

/** The sources that the parameter file lists, each with its own settings. */
static enum pug_status describe_listed(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    const size_t listed = pug_params_sources(raw->params), given = capture->options.settings.count;
    enum pug_status status = PUG_OK;
    size_t total = 0;
    for (size_t i = 0; i < listed; i++)
        total += pug_params_source(raw->params, i)->count + given;
    if (!make_room(raw, listed, total))
        return PUG_ERR_MEM;
    struct pug_setting *items = raw->of_sources;
    for (size_t i = 0; i < listed && status == PUG_OK; i++) {
        const struct pug_settings *own = pug_params_source(raw->params, i);
        const uint16_t id = (uint16_t)pug_settings_number(own, "srcid", 0);
        if (!pug_capture_raw_wants(capture, id))
            continue;
        memcpy(items, raw->items, given * sizeof(*items));
        memcpy(items + given, own->items, own->count * sizeof(*items));
        raw->source_settings[i] =
            (struct pug_settings){items, given + own->count, raw->settings.watch};
        status = add_source(capture, id, pug_params_source_path(raw->params, i), NULL,
                            &raw->source_settings[i]);
        items += given + own->count;
    }
    if (status == PUG_OK && capture->sources.count == 0) {
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: no such source in it",
                        capture->options.params);
        return PUG_ERR_NOT_FOUND;
    }
    return status;
}

/** The source id that the settings name; false: none. Whether it is read is the protocol's word. */
static bool named_source(const struct pug_capture_raw *raw, uint16_t *id)
{
    static const char *const names[] = {"src_id", "srcid", "hart_index"};
    const struct pug_settings unwatched = {.items = raw->items, .count = raw->count};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct pug_setting *setting = pug_settings_find(&unwatched, names[i]);
        if (!setting)
            continue;
        *id = (uint16_t)setting->value;
        return true;
    }
    return false;
}

/**
 * Are these frames, without a setting for the trace id? All sources of the trace are such then: of
 * cores, and in a file of software, too. (In a stream software is source 1.)
 */
static bool is_in_frames(const struct pug_capture *capture)
{
    const struct pug_capture_raw *raw = capture->own;
    const struct pug_description *description = raw->protocol->description;
    const struct pug_settings unwatched = {.items = raw->items, .count = raw->count};
    const bool file = capture->kind == PUG_CAPTURE_RAW;
    return description && (description->traces_core || (file && description->dwt)) &&
           (file || capture->kind == PUG_CAPTURE_STREAM) &&
           strcmp(raw->transport->name, "coresight") == 0 &&
           !pug_capture_raw_has_id(raw, &unwatched);
}

bool pug_capture_raw_names_source(const struct pug_capture *capture, uint16_t *id)
{
    const struct pug_capture_raw *raw = capture->own;
    /* Where a stream of frames has no other name for it, the ITM is source 1. */
    *id = raw->transport->single ? 0 : 1;
    if (raw->ctrace && !raw->transport->single)
        return false;
    return capture->sources.count > 0 || named_source(raw, id) || raw->transport->single ||
           (!transport_of(raw->protocol) && !is_in_frames(capture));
}

/** Which trace ids the cores' sources have: those of the trace, where no register says it. */
static void say_found(const struct pug_capture *capture)
{
    const struct pug_capture_raw *raw = capture->own;
    const struct pug_capture_source *source;
    char text[120] = "";
    size_t used = 0;
    if (!raw->protocol->description->traces_core)
        return;
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++)
        if (used + 8 < sizeof(text))
            used += (size_t)snprintf(text + used, sizeof(text) - used, " 0x%02x", source->id);
    if (used > 0)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: no register with the trace id was given; ids in this trace are "
                        "taken:%s; --source ID chooses one",
                        raw->protocol->name, text);
}

/** The source that the settings describe, or all that are in the trace. */
static enum pug_status find_sources(struct pug_capture *capture)
{
    uint16_t id;
    if (capture->sources.count > 0)
        return PUG_OK;
    if (pug_capture_raw_names_source(capture, &id))
        return pug_capture_raw_describe(capture, &id, &(const char *const){NULL}, 1);
    const enum pug_status status =
        capture->live ? pug_capture_raw_scan_live(capture) : pug_capture_raw_scan(capture);
    if (status == PUG_OK && is_in_frames(capture))
        say_found(capture);
    return status;
}

/* ---- opening ---- */

bool pug_capture_raw_guesses(const struct pug_capture *capture)
{
    const struct pug_capture_raw *raw = capture->own;
    return strcmp(raw->transport->name, "coresight") == 0 && !capture->quirks.sync_error_fatal &&
           !pug_coresight_is_told(&(struct pug_settings){.items = raw->items, .count = raw->count});
}

/**
 * Without a setting the bytes show the layout of frames; but for the reference they are aligned.
 */
static void add_guess(const struct pug_capture *capture, struct pug_capture_raw *raw)
{
    if (!pug_capture_raw_guesses(capture))
        return;
    const size_t size =
        raw->bytes.size < PUG_CORESIGHT_SAMPLE ? (size_t)raw->bytes.size : PUG_CORESIGHT_SAMPLE;
    raw->items[raw->count++] =
        (struct pug_setting){.name = pug_coresight_guess(raw->bytes.bytes, size), .value = 1};
    raw->settings.count = raw->count;
}

/** Protocol and transport take all settings. */
static enum pug_status check_settings(struct pug_capture *capture)
{
    const struct pug_capture_raw *raw = capture->own;
    struct pug_transport_sink sink = {.log = capture->log};
    const struct pug_capture_source *source = pug_capture_source_at(capture, 0);
    void *made;
    enum pug_status status = raw->transport->create(&raw->settings, &sink, &made);
    if (status != PUG_OK)
        return PUG_ERR_INVALID_PARAM_VAL;
    raw->transport->free(made);
    const struct pug_settings *settings = source ? source->settings : &raw->settings;
    const bool complete = pug_capture_raw_registers(capture, settings);
    /* Also where that was reported: so all settings are looked up. */
    status = raw->protocol->config_new(settings, complete ? capture->log : NULL, &made);
    if (status == PUG_OK)
        raw->protocol->config_free(made);
    return complete && status == PUG_OK ? PUG_OK : PUG_ERR_INVALID_PARAM_VAL;
}

static enum pug_status understand(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    enum pug_status status = PUG_OK;
    if (capture->options.params)
        status = pug_params_load(capture->options.params, capture->log, &raw->params);
    if (status != PUG_OK)
        return PUG_ERR_FILE;
    status = choose_ways(capture, raw);
    if (status == PUG_OK) {
        char title[96];
        snprintf(title, sizeof(title), "%s, framed as %s", raw->protocol->name,
                 raw->transport->name);
        capture->title = strdup(title);
        status = capture->title ? take_settings(capture, raw) : PUG_ERR_MEM;
    }
    if (status == PUG_OK && raw->params && pug_params_sources(raw->params) > 0)
        status = describe_listed(capture);
    return status == PUG_OK ? check_settings(capture) : status;
}

static enum pug_status add_segment(struct pug_capture *capture)
{
    const struct pug_capture_raw *raw = capture->own;
    struct pug_capture_buffer *buffer =
        pug_capture_add(capture, &capture->buffers, sizeof(*buffer));
    struct pug_capture_segment *segment =
        pug_capture_add(capture, &capture->segments, sizeof(*segment));
    if (!buffer || !segment ||
        !pug_capture_add(capture, &capture->images, sizeof(struct pug_capture_images)))
        return PUG_ERR_MEM;
    *buffer = (struct pug_capture_buffer){.name = raw->channel ? raw->channel
                                                               : last_component(capture->path),
                                          .file = pug_capture_raw_file(capture),
                                          .transport = raw->transport->name,
                                          .size = capture->live ? 0 : raw->bytes.size,
                                          .cpu = PUG_NO_CPU,
                                          .tid = -1,
                                          .chosen = true,
                                          .segment_count = 1};
    *segment = (struct pug_capture_segment){.size = buffer->size, .cpu = PUG_NO_CPU};
    return PUG_OK;
}

struct pug_capture_raw *pug_capture_raw_new(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = calloc(1, sizeof(*raw));
    if (!raw)
        return NULL;
    capture->own = raw;
    capture->ops = &pug_capture_raw_ops;
    return raw;
}

enum pug_status pug_capture_open_raw(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own ? capture->own : pug_capture_raw_new(capture);
    if (!raw)
        return PUG_ERR_MEM;
    if (capture->kind != PUG_CAPTURE_STREAM)
        capture->kind = PUG_CAPTURE_RAW;
    enum pug_status status = understand(capture);
    pug_capture_settle_ticks(capture, &raw->settings);
    if (status == PUG_OK)
        status = pug_capture_raw_bytes(capture);
    if (status == PUG_OK) {
        add_guess(capture, raw);
        status = add_segment(capture);
    }
    return status == PUG_OK ? find_sources(capture) : status;
}
