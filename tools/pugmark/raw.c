// SPDX-License-Identifier: MIT
#include "raw.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

#include "command.h"
#include "known.h"
#include "set_options.h"
#include "transport/osd_modules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** How a protocol usually travels, and whose sources are told apart by the setting "src_id"; the
 *  others come bare, and their registers name their id. */
static const struct {
    const char *protocol, *transport;
} usual_transport[] = {
    {"E-Trace", "encapsulation"},
    {"N-Trace", "nexus"},
    {"OSD-CTM", "osd"},
    {"OSD-STM", "osd"},
};

struct raw_settings {
    struct pug_params *params;
    struct pug_setting *items; /* of the command line, then of the parameter file */
    size_t count, from_command;
    struct known known; /* the names that protocol and transport look for */
    struct pug_settings_watch watch;
    struct set_options set;         /* whose items these are */
    struct pug_setting *of_sources; /* the same with a "src_id" in front, for each source */
};

/** Names are compared without case and punctuation: ntrace is N-Trace. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && !isalnum((unsigned char)*a))
            a++;
        while (*b && !isalnum((unsigned char)*b))
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == 0)
            return true;
    }
}

static const struct pug_protocol *find_protocol(const char *name)
{
    const struct pug_protocol *protocol;
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++)
        if (same_name(protocol->name, name))
            return protocol;
    fprintf(stderr, "pugmark: no protocol '%s'; there are", name);
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++)
        fprintf(stderr, " %s", protocol->name);
    fprintf(stderr, "\n");
    return NULL;
}

static const struct pug_transport *find_transport(const char *name, const char *protocol)
{
    if (!name) {
        name = "plain";
        for (size_t i = 0; i < sizeof(usual_transport) / sizeof(usual_transport[0]); i++)
            if (strcmp(usual_transport[i].protocol, protocol) == 0)
                name = usual_transport[i].transport;
    }
    const struct pug_transport *transport;
    for (size_t n = 0; (transport = pug_transport_at(n)) != NULL; n++)
        if (same_name(transport->name, name))
            return transport;
    fprintf(stderr, "pugmark: no transport '%s'; there are", name);
    for (size_t n = 0; (transport = pug_transport_at(n)) != NULL; n++)
        fprintf(stderr, " %s", transport->name);
    fprintf(stderr, "\n");
    return NULL;
}

/** The width of the registers that an ELF file ("FILE" or "FILE@BIAS") is made for; 0: no ELF. */
static uint64_t elf_xlen(const char *word)
{
    const char *at = strrchr(word, '@');
    char path[4096];
    unsigned char ident[5] = "";
    snprintf(path, sizeof(path), "%.*s", (int)(at ? (size_t)(at - word) : strlen(word)), word);
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(ident, 1, sizeof(ident), file) : 0;
    if (file)
        fclose(file);
    return got < sizeof(ident) || memcmp(ident, "\177ELF", 4) != 0 ? 0 : ident[4] == 1 ? 32 : 64;
}

/** RISC-V trace has to be told the hart's width: where nobody does, the program tells. */
static void add_xlen(struct raw_settings *settings, const struct input_options *options)
{
    uint64_t xlen = options->elf.count > 0 ? elf_xlen(options->elf.items[0]) : 0;
    if (xlen)
        settings->items[settings->count++] = (struct pug_setting){.name = "xlen", .value = xlen};
}

static bool take_settings(struct input *input, struct raw_settings *settings)
{
    static const struct pug_settings none = {0};
    const struct pug_settings *file =
        settings->params ? pug_params_settings(settings->params) : &none;
    if (!set_options_take(&settings->set, input->options, file->count + 1))
        return false;
    settings->items = settings->set.items;
    settings->count = settings->set.count;
    settings->from_command = settings->count;
    if (file->count > 0)
        memcpy(settings->items + settings->count, file->items, file->count * sizeof(*file->items));
    settings->count += file->count;
    add_xlen(settings, input->options);
    return true;
}

/* ---- sources ---- */

/** The source ids that a transport finds in the trace. */
struct found {
    bool ids[UINT16_MAX + 1];
    struct pug_osd_modules *modules; /* what they are, where that is to be found out; or NULL */
};

/** Modules of an OSD trace that nobody chose are told apart. */
static bool tells_modules(const struct input *input)
{
    return strcmp(input->transport, "osd") == 0 && strncmp(input->protocol, "OSD-", 4) == 0 &&
           input->options->sources.count == 0;
}

/** Is the source one to be decoded? *protocol: its own, if it has one. */
static bool is_traced(const struct found *found, uint16_t id, const char **protocol)
{
    const char *own = found->modules ? pug_osd_modules_protocol(found->modules, id) : NULL;
    if (own && *own)
        *protocol = own;
    return !own || *own;
}

static enum pug_response note_source(void *context, const struct pug_run *run, size_t *used)
{
    struct found *found = context;
    found->ids[run->source] = true;
    if (found->modules)
        pug_osd_modules_note(found->modules, run);
    *used = run->size;
    return PUG_RESP_CONT;
}

static void ignore_reset(void *context, uint64_t index)
{
    (void)context;
    (void)index;
}

/** Let the transport alone go over the trace. */
static bool scan(const struct input *input, struct found *found)
{
    const struct pug_transport *transport = pug_transport_find(input->transport);
    struct pug_transport_stats stats = {0};
    struct pug_transport_sink sink = {.context = found,
                                      .run = note_source,
                                      .reset = ignore_reset,
                                      .stats = &stats,
                                      .log = input->log};
    void *state;
    if (transport->create(&input->transport_settings, &sink, &state) != PUG_OK)
        return false;
    sink.log = NULL; /* what is wrong with the trace is told when it is decoded */
    uint64_t at = 0;
    size_t used = 1;
    while (at < input->trace_size && used > 0) {
        uint64_t left = input->trace_size - at;
        size_t size = left < (1u << 20) ? (size_t)left : 1u << 20;
        if (transport->data(state, at, input->trace + at, size, &used) >= PUG_RESP_WAIT)
            break;
        at += used;
    }
    transport->end(state);
    transport->free(state);
    return true;
}

static bool told_by_id(const char *protocol)
{
    for (size_t i = 0; i < sizeof(usual_transport) / sizeof(usual_transport[0]); i++)
        if (strcmp(usual_transport[i].protocol, protocol) == 0)
            return true;
    return false;
}

static bool describe_sources(struct input *input, const uint16_t *ids, size_t count,
                             const struct found *found)
{
    struct raw_settings *settings = input->raw;
    size_t each = settings->count + 1;
    const char *name = strrchr(input->trace_path, '/');
    input->sources = calloc(count, sizeof(*input->sources));
    settings->of_sources = calloc(count * each, sizeof(*settings->of_sources));
    if (!input->sources || !settings->of_sources)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct pug_setting *items = settings->of_sources + i * each;
        items[0] = (struct pug_setting){.name = "src_id", .value = ids[i]};
        memcpy(items + 1, settings->items, settings->count * sizeof(*items));
        input->sources[i].protocol = input->protocol;
        is_traced(found, ids[i], &input->sources[i].protocol);
        input->sources[i].settings = (struct pug_settings){items, each, &settings->watch};
        snprintf(input->sources[i].name, sizeof(input->sources[i].name), "%s",
                 name ? name + 1 : input->trace_path);
    }
    input->source_count = count;
    return true;
}

/** The sources that the parameter file lists, each with its own settings. */
static bool describe_listed(struct input *input)
{
    struct raw_settings *settings = input->raw;
    size_t listed = pug_params_sources(settings->params), total = 0, count = 0;
    for (size_t i = 0; i < listed; i++)
        total += pug_params_source(settings->params, i)->count + settings->from_command;
    input->sources = calloc(listed + 1, sizeof(*input->sources));
    struct pug_setting *items = settings->of_sources = calloc(total + 1, sizeof(*items));
    if (!input->sources || !items)
        return false;
    for (size_t i = 0; i < listed; i++) {
        const struct pug_settings *own = pug_params_source(settings->params, i);
        if (!input_wants(input, (uint16_t)pug_settings_number(own, "srcid", 0)))
            continue;
        size_t each = settings->from_command + own->count;
        memcpy(items, settings->items, settings->from_command * sizeof(*items));
        memcpy(items + settings->from_command, own->items, own->count * sizeof(*items));
        input->sources[count].protocol = input->protocol;
        input->sources[count].settings = (struct pug_settings){items, each, &settings->watch};
        snprintf(input->sources[count].name, sizeof(input->sources[count].name), "%s",
                 pug_params_source_path(settings->params, i));
        items += each;
        count++;
    }
    input->source_count = count;
    if (count == 0)
        fprintf(stderr, "pugmark: %s: no such source in it\n", input->options->params);
    return count > 0;
}

/** The source id that the settings name; false: none. Whether it is read is the protocol's word. */
static bool named_source(const struct raw_settings *settings, uint16_t *id)
{
    static const char *const names[] = {"src_id", "srcid", "hart_index"};
    const struct pug_settings unwatched = {.items = settings->items, .count = settings->count};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct pug_setting *setting = pug_settings_find(&unwatched, names[i]);
        if (!setting)
            continue;
        *id = (uint16_t)setting->value;
        return true;
    }
    return false;
}

/** The source that the settings describe, or all that are in the trace. */
bool raw_find_sources(struct input *input)
{
    static struct found found;
    static uint16_t ids[UINT16_MAX + 1];
    size_t count = 0;
    struct raw_settings *settings = input->raw;
    const struct pug_transport *transport = pug_transport_find(input->transport);
    if (input->source_count > 0)
        return true;
    /* Where framed trace has no other name for it, the ITM is source 1. */
    ids[0] = transport->single ? 0 : 1;
    memset(&found, 0, sizeof(found));
    if (named_source(settings, &ids[0]) || transport->single || !told_by_id(input->protocol))
        return describe_sources(input, ids, 1, &found);
    if (tells_modules(input) && !(found.modules = pug_osd_modules_new()))
        return false;
    bool good = scan(input, &found);
    const char *protocol;
    for (uint32_t id = 0; good && id <= UINT16_MAX; id++)
        if (found.ids[id] && input_wants(input, (uint16_t)id) &&
            is_traced(&found, (uint16_t)id, &protocol))
            ids[count++] = (uint16_t)id;
    if (good && count == 0)
        fprintf(stderr, "pugmark: %s: %s\n", input->trace_path,
                input->options->sources.count ? "no such source in it" : "no source in it");
    good = good && count > 0 && describe_sources(input, ids, count, &found);
    pug_osd_modules_free(found.modules);
    return good;
}

/* ---- opening ---- */

/** Protocol and transport take all settings, and read those of the command line. */
static bool check_settings(const struct input *input, struct raw_settings *settings)
{
    const struct pug_protocol *protocol = pug_protocol_find(input->protocol);
    const struct pug_transport *transport = pug_transport_find(input->transport);
    struct pug_transport_sink sink = {.log = input->log};
    void *made;
    if (transport->create(&input->transport_settings, &sink, &made) != PUG_OK)
        return false;
    transport->free(made);
    const struct pug_settings *of_source =
        input->source_count ? &input->sources[0].settings : &input->transport_settings;
    if (protocol->config_new(of_source, input->log, &made) != PUG_OK)
        return false;
    protocol->config_free(made);
    known_note(&settings->known, "alias", false); /* read where programs are added */
    char whose[64];
    snprintf(whose, sizeof(whose), "%s, framed as %s", input->protocol, input->transport);
    return known_take(&settings->known, settings->items, settings->from_command, whose);
}

/** Protocol and transport by their names, or by what the parameters say. */
static bool choose_ways(struct input *input, const struct raw_settings *settings)
{
    const struct input_options *options = input->options;
    const struct pug_protocol *protocol =
        find_protocol(options->protocol ? options->protocol : "E-Trace");
    const char *wanted = options->transport;
    if (!wanted && protocol && settings->params && same_name(protocol->name, "E-Trace"))
        wanted = pug_params_transport(settings->params);
    const struct pug_transport *transport =
        protocol ? find_transport(wanted, protocol->name) : NULL;
    if (!transport)
        return false;
    input->protocol = protocol->name;
    input->transport = transport->name;
    return true;
}

bool raw_open(struct input *input, const char *path)
{
    const struct input_options *options = input->options;
    struct raw_settings *settings = calloc(1, sizeof(*settings));
    input->raw = settings;
    input->trace_path = strdup(path);
    if (!settings || !input->trace_path)
        return false;
    if (options->params &&
        pug_params_load(options->params, input->log, &settings->params) != PUG_OK)
        return false;
    input->failure = EXIT_USAGE;
    if (!choose_ways(input, settings) || !take_settings(input, settings))
        return false;
    settings->watch = (struct pug_settings_watch){known_note, &settings->known};
    input->transport_settings =
        (struct pug_settings){settings->items, settings->count, &settings->watch};
    bool listed = settings->params && pug_params_sources(settings->params) > 0;
    if ((listed && !describe_listed(input)) || !check_settings(input, settings))
        return false;
    input->failure = EXIT_INPUT;
    return true;
}

void raw_close(struct input *input)
{
    struct raw_settings *settings = input->raw;
    if (!settings)
        return;
    pug_params_free(settings->params);
    known_free(&settings->known);
    set_options_free(&settings->set);
    free(settings->of_sources);
    free(settings);
}
