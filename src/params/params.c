// SPDX-License-Identifier: MIT
/** @file Parameter files: reading them, and what some of their keys stand for. */
#include "params/params.h"

#include "files/infile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT 65536u
#define DEPTH_LIMIT  4u

/** What may still be read and made: a few lines can name much, and name it often. */
struct budget {
    size_t bytes, files, settings;
};

/** A growing list of settings that owns its strings. */
struct list {
    struct pug_settings settings;
    struct pug_setting *items;
    size_t capacity;
    struct budget *budget;
};

struct source {
    char *path;
    struct list list;
};

struct pug_params {
    struct list list;
    struct list shared; /* what the sources' own files say that is of the transport */
    struct source *sources;
    size_t source_count;
    struct pug_log *log;
    struct budget budget;
};

/* ---- lists ---- */

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static enum pug_status append(struct list *list, const char *name, uint64_t value, const char *text)
{
    if (list->budget->settings == 0 || list->settings.count == PUG_PARAMS_EACH)
        return PUG_ERR_LIMIT;
    if (list->settings.count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 32;
        struct pug_setting *items = realloc(list->items, capacity * sizeof(*items));
        if (!items)
            return PUG_ERR_MEM;
        list->items = items;
        list->capacity = capacity;
        list->settings.items = items;
    }
    struct pug_setting *setting = &list->items[list->settings.count];
    *setting = (struct pug_setting){.name = copy_text(name, strlen(name)), .value = value};
    if (text)
        setting->text = copy_text(text, strlen(text));
    if (!setting->name || (text && !setting->text)) {
        free((char *)setting->name);
        free((char *)setting->text);
        return PUG_ERR_MEM;
    }
    list->settings.count++;
    list->budget->settings--;
    return PUG_OK;
}

static enum pug_status append_number(struct list *list, const char *name, uint64_t value)
{
    return append(list, name, value, NULL);
}

static enum pug_status append_list(struct list *list, const struct list *other)
{
    for (size_t i = 0; i < other->settings.count; i++) {
        const struct pug_setting *item = &other->items[i];
        enum pug_status status = append(list, item->name, item->value, item->text);
        if (status != PUG_OK)
            return status;
    }
    return PUG_OK;
}

static void clear_list(struct list *list)
{
    for (size_t i = 0; i < list->settings.count; i++) {
        free((char *)list->items[i].name);
        free((char *)list->items[i].text);
    }
    free(list->items);
    *list = (struct list){0};
}

/* ---- what keys stand for ---- */

static bool begins_with(const char *text, const char *word)
{
    return text && strncmp(text, word, strlen(word)) == 0;
}

static const char *word(const struct list *list, const char *name)
{
    return pug_settings_word(&list->settings, name, NULL);
}

static bool has(const struct list *list, const char *name)
{
    return pug_settings_find(&list->settings, name) != NULL;
}

/** The recording's own statement replaces the options until a support packet comes. */
static enum pug_status derive_options(struct list *list)
{
    const char *options = word(list, "encoder_options");
    enum pug_status status = PUG_OK;
    if (options && strstr(options, "full=1") && !has(list, "full_address"))
        status = append_number(list, "full_address", 1);
    if (status == PUG_OK && options && strstr(options, "noresync=1"))
        status = append_number(list, "resync_disabled", 1);
    return status;
}

static enum pug_status derive_layout(struct list *list)
{
    const char *layout = pug_params_layout(word(list, "container"));
    const char *mode = word(list, "address_mode");
    enum pug_status status = PUG_OK;
    if (layout && !has(list, "layout"))
        status = append(list, "layout", 0, layout);
    if (status == PUG_OK && mode)
        status = append_number(list, "full_address", begins_with(mode, "full"));
    return status;
}

/** Data trace: `full` means both; a stream without instruction parameters has nothing else. */
static enum pug_status derive_data(struct list *list)
{
    const char *subtypes = word(list, "atomic_subtypes");
    bool untyped = !begins_with(word(list, "container"), "smi") && !has(list, "type_bits");
    enum pug_status status = PUG_OK;
    if (has(list, "full")) {
        uint64_t full = pug_settings_number(&list->settings, "full", 0);
        status = append_number(list, "full_daddress", full);
        if (status == PUG_OK)
            status = append_number(list, "full_data", full);
    }
    if (status == PUG_OK && subtypes && strstr(subtypes, "5 xor"))
        status = append_number(list, "ref_atomic_codes", 1);
    if (status == PUG_OK && has(list, "data_width_p") && !has(list, "iaddress_width_p") && untyped)
        status = append_number(list, "only_data", 1);
    return status;
}

static enum pug_status derive(struct list *list)
{
    enum pug_status status = derive_layout(list);
    if (status == PUG_OK)
        status = derive_options(list);
    return status == PUG_OK ? derive_data(list) : status;
}

/* ---- reading ---- */

/** The reader's place, for messages. */
struct place {
    struct pug_params *params;
    const char *path;
    unsigned line, depth;
    enum { PARAMS_PLAIN, PARAMS_DEVICE, PARAMS_REGISTERS, PARAMS_OTHER } section;
};

static enum pug_status complain(const struct place *place, enum pug_status code, const char *text)
{
    char message[512];
    if (place->line > 0)
        snprintf(message, sizeof(message), "%s:%u: %s", place->path, place->line, text);
    else
        snprintf(message, sizeof(message), "%s: %s", place->path, text);
    pug_log_put(place->params->log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                                             .code = code,
                                                             .index = PUG_NO_INDEX,
                                                             .source = PUG_NO_SOURCE,
                                                             .component = "PARAMS",
                                                             .text = message});
    return code;
}

/** `name` in the folder of `path`. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
    size_t size = strlen(name) + 1;
    char *joined = malloc(folder + size);
    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, name, size);
    return joined;
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static enum pug_status read_file(struct place place, struct list *list);

static enum pug_status read_included(const struct place *place, struct list *list, const char *name)
{
    if (place->depth + 1 >= DEPTH_LIMIT)
        return complain(place, PUG_ERR_INVALID_PARAM_VAL, "parameter files name each other");
    char *path = beside(place->path, name);
    if (!path)
        return PUG_ERR_MEM;
    struct place inner = {.params = place->params, .path = path, .depth = place->depth + 1};
    enum pug_status status = read_file(inner, list);
    free(path);
    return status;
}

/**
 * What a source's own file says of its type field the transport has to know: as that of its number.
 * Of what is the same for the whole stream it takes what any of them says.
 */
static enum pug_status share(struct list *shared, const struct pug_settings *own, unsigned id)
{
    static const char *const types[] = {"type_bits", "instruction_type", "data_type"};
    static const char *const widths[] = {"src_bits",       "srcid_bits",      "trTeSrcBits",
                                         "trTeInhibitSrc", "timestamp_bytes", "trTsWidth",
                                         "trTsEnable"};
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < own->count && status == PUG_OK; i++) {
        const struct pug_setting *item = &own->items[i];
        char name[48];
        for (size_t n = 0; n < sizeof(types) / sizeof(types[0]) && status == PUG_OK; n++) {
            snprintf(name, sizeof(name), "%s_%u", types[n], id);
            if (strcmp(item->name, types[n]) == 0 && !has(shared, name))
                status = append(shared, name, item->value, item->text);
        }
        for (size_t n = 0; n < sizeof(widths) / sizeof(widths[0]) && status == PUG_OK; n++)
            if (strcmp(item->name, widths[n]) == 0 && !has(shared, widths[n]))
                status = append(shared, widths[n], item->value, item->text);
    }
    return status;
}

static enum pug_status add_source(const struct place *place, const char *key, const char *name)
{
    struct pug_params *params = place->params;
    char *end;
    unsigned long id = strtoul(key, &end, 0);
    if (end == key || *end != '\0' || id >= SOURCE_LIMIT || params->source_count == SOURCE_LIMIT)
        return complain(place, PUG_ERR_INVALID_PARAM_VAL, "source id must be 0 to 65535");
    struct source *sources =
        realloc(params->sources, (params->source_count + 1) * sizeof(*sources));
    if (!sources)
        return PUG_ERR_MEM;
    params->sources = sources;
    struct source *source = &sources[params->source_count++];
    *source =
        (struct source){.path = beside(place->path, name), .list = {.budget = &params->budget}};
    if (!source->path)
        return PUG_ERR_MEM;
    enum pug_status status = append_number(&source->list, "srcid", id);
    if (status == PUG_OK)
        status = read_included(place, &source->list, name);
    return status == PUG_OK ? share(&params->shared, &source->list.settings, (unsigned)id) : status;
}

/** "[regs]": the heading of a section. A snapshot's device file has such. */
static bool take_heading(struct place *place, const char *line)
{
    if (*line != '[')
        return false;
    place->section = begins_with(line, "[device]") ? PARAMS_DEVICE
                     : begins_with(line, "[regs]") ? PARAMS_REGISTERS
                                                   : PARAMS_OTHER;
    return true;
}

/** A key of a section: a device's type alone, and registers without what follows their name. */
static bool wants_key(const struct place *place, char **key)
{
    static char type[] = "device_type";
    if (place->section == PARAMS_DEVICE && strcmp(*key, "type") == 0)
        *key = type;
    else if (place->section == PARAMS_REGISTERS)
        (*key)[strcspn(*key, "(")] = '\0';
    else
        return place->section == PARAMS_PLAIN;
    return true;
}

static enum pug_status take_line(struct place *place, struct list *list, char *line)
{
    line[strcspn(line, place->section == PARAMS_PLAIN ? "#" : "#;")] = '\0';
    char *key = trim(line);
    if (*key == '\0' || *key == ';' || take_heading(place, key))
        return PUG_OK;
    char *equals = strchr(key, '=');
    if (!equals)
        return complain(place, PUG_ERR_INVALID_PARAM_VAL, "not of the form key = value");
    *equals = '\0';
    char *value = trim(equals + 1), *end;
    key = trim(key);
    if (!wants_key(place, &key))
        return PUG_OK;
    if (begins_with(key, "source ") && place->depth == 0)
        return add_source(place, trim(key + strlen("source ")), value);
    if (strcmp(key, "payload_params") == 0)
        return read_included(place, list, value);
    errno = 0;
    unsigned long long number = strtoull(value, &end, 0);
    bool is_number = end != value && *end == '\0' && value[0] != '-' && errno == 0;
    return append(list, key, is_number ? number : 0, is_number ? NULL : value);
}

/** Why a file cannot be used, in words. */
static const char *trouble(enum pug_status status)
{
    switch (status) {
    case PUG_ERR_LIMIT: return "file is larger than 1 MiB";
    case PUG_ERR_TRUNCATED: return "file shrank while it was read";
    case PUG_ERR_FILE: return errno == EINVAL ? "not a file" : strerror(errno);
    default: return pug_status_text(status);
    }
}

/** The whole file, with a NUL at its end; NULL, having said why. */
static char *slurp(const struct place *place, enum pug_status *status)
{
    struct budget *budget = &place->params->budget;
    uint8_t *bytes;
    size_t size;
    *status = pug_infile_load(place->path, PUG_PARAMS_FILE_LIMIT, &bytes, &size);
    if (*status != PUG_OK) {
        complain(place, *status, trouble(*status));
        return NULL;
    }
    if (budget->files == 0 || budget->bytes < size) {
        free(bytes);
        *status = complain(place, PUG_ERR_LIMIT, "too many parameter files, or too large together");
        return NULL;
    }
    budget->files--;
    budget->bytes -= size;
    return (char *)bytes;
}

static enum pug_status read_file(struct place place, struct list *list)
{
    enum pug_status status;
    char *text = slurp(&place, &status);
    for (char *line = text; line && status == PUG_OK;) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        place.line++;
        status = take_line(&place, list, line);
        if (status == PUG_ERR_LIMIT &&
            (list->budget->settings == 0 || list->settings.count == PUG_PARAMS_EACH))
            complain(&place, status, "too many parameters");
        line = next;
    }
    free(text);
    return status;
}

/** Each source has what is said of all, too. */
static enum pug_status complete_sources(struct pug_params *params)
{
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < params->source_count && status == PUG_OK; i++) {
        struct list *list = &params->sources[i].list;
        status = append_list(list, &params->list);
        if (status == PUG_OK)
            status = derive(list);
    }
    return status;
}

enum pug_status pug_params_load(const char *path, struct pug_log *log, struct pug_params **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!path)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_params *params = calloc(1, sizeof(*params));
    if (!params)
        return PUG_ERR_MEM;
    params->log = log;
    params->budget = (struct budget){.bytes = PUG_PARAMS_TOTAL_LIMIT,
                                     .files = PUG_PARAMS_FILES,
                                     .settings = PUG_PARAMS_SETTINGS};
    params->list.budget = params->shared.budget = &params->budget;
    const struct place place = {.params = params, .path = path};
    enum pug_status status = read_file(place, &params->list);
    if (status == PUG_OK) {
        status = complete_sources(params);
        if (status == PUG_OK)
            status = derive(&params->list);
        if (status == PUG_OK)
            status = append_list(&params->list, &params->shared);
        if (status != PUG_OK)
            complain(&place, status,
                     status == PUG_ERR_LIMIT ? "too many parameters for so many sources"
                                             : pug_status_text(status));
    } else if (status == PUG_ERR_MEM) {
        complain(&place, status, pug_status_text(status));
    }
    if (status != PUG_OK) {
        pug_params_free(params);
        return status;
    }
    *out = params;
    return PUG_OK;
}

void pug_params_free(struct pug_params *params)
{
    if (!params)
        return;
    for (size_t i = 0; i < params->source_count; i++) {
        clear_list(&params->sources[i].list);
        free(params->sources[i].path);
    }
    free(params->sources);
    clear_list(&params->list);
    clear_list(&params->shared);
    free(params);
}

/* ---- asking ---- */

const char *pug_params_key(size_t n)
{
    static const char *const keys[] = {"container",       "payload_params", "address_mode",
                                       "encoder_options", "full",           "atomic_subtypes",
                                       "srcid",           "src_id",         "xlen"};
    return n < sizeof(keys) / sizeof(keys[0]) ? keys[n] : NULL;
}

const char *pug_params_container(const char *container)
{
    static const char *const transports[] = {"smi", "esp32", "pulp", "raw"};
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
        if (begins_with(container, transports[i]))
            return transports[i];
    return "encapsulation";
}

const char *pug_params_transport(const struct pug_params *params)
{
    return pug_params_container(word(&params->list, "container"));
}

const char *pug_params_layout(const char *container)
{
    if (begins_with(container, "esp32"))
        return strstr(container, "generation 1") ? "esp32_1" : "esp32_2";
    return begins_with(container, "pulp") ? "pulp" : NULL;
}

const struct pug_settings *pug_params_settings(const struct pug_params *params)
{
    return &params->list.settings;
}

size_t pug_params_sources(const struct pug_params *params)
{
    return params->source_count;
}

const struct pug_settings *pug_params_source(const struct pug_params *params, size_t n)
{
    return n < params->source_count ? &params->sources[n].list.settings : NULL;
}

const char *pug_params_source_path(const struct pug_params *params, size_t n)
{
    return n < params->source_count ? params->sources[n].path : NULL;
}
