// SPDX-License-Identifier: MIT
/**
 * @file Settings of the packet wrappings. Names are those of the encapsulation specification and of
 * the trace control interface's fields:
 *
 *     src_bits, srcid_bits, trTeSrcBits, hart_index_bits   width of the source id; trTeInhibitSrc
 *     timestamp_bytes, or trTsWidth in bits                trTsEnable 0: no timestamps
 *     type_bits                                            width of the type field, 0 to 32 bits
 *     instruction_type, data_type                          its values for E-Trace
 *     type_bits_N, instruction_type_N, data_type_N         the same of source N alone
 *     only_data                                            every packet is data trace
 *     padding (or pad_mode)                                auto; sign; dontcare (also: one, zero)
 *     framed                                               0: the stream begins anywhere
 *     start                                                auto, synced, search
 *     bit_stream                                           1: … also at any bit
 *     block_size                                           bytes that packets do not straddle
 *     flow                                                 only packets of these flows: 2, or 0,2
 *     payload_bytes                                        raw: fixed length of a payload
 *
 * include/pugmark/advanced/encapsulation.h says what they mean.
 */
#include "transport/unwrap.h"

#include "base/fields.h"

#include <stdlib.h>
#include <string.h>

static enum pug_status complain(struct pug_log *log, const char *text)
{
    pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                              .code = PUG_ERR_INVALID_PARAM_VAL,
                                              .index = PUG_NO_INDEX,
                                              .source = PUG_NO_SOURCE,
                                              .component = "ENCAP",
                                              .text = text});
    return PUG_ERR_INVALID_PARAM_VAL;
}

/** The first of several names that the list has; 0: it has none. */
static uint64_t first_of(const struct pug_settings *settings, const char *const *names)
{
    const struct pug_setting *first = NULL;
    for (; *names; names++) {
        const struct pug_setting *setting = pug_settings_find(settings, *names);
        first = first ? first : setting;
    }
    return first ? first->value : 0;
}

static uint64_t source_bits(const struct pug_settings *settings, enum pug_wrapping wrapping)
{
    static const char *const source_names[] = {"src_bits", "srcid_bits", "trTeSrcBits", NULL};
    static const char *const hart_names[] = {"hart_index_bits", NULL};
    if (wrapping == PUG_WRAP_SMI)
        return first_of(settings, hart_names);
    if (wrapping != PUG_WRAP_ENCAPSULATION)
        return 0;
    uint64_t bits = first_of(settings, source_names);
    return pug_settings_number(settings, "trTeInhibitSrc", 0) ? 0 : bits;
}

static uint64_t timestamp_bytes(const struct pug_settings *settings, enum pug_wrapping wrapping)
{
    if (wrapping != PUG_WRAP_ENCAPSULATION)
        return 0;
    uint64_t bits = pug_settings_number(settings, "trTsWidth", 0);
    if (bits > 64)
        bits = 64;
    uint64_t bytes = pug_settings_number(settings, "timestamp_bytes", (bits + 7) / 8);
    return pug_settings_number(settings, "trTsEnable", 1) ? bytes : 0;
}

/* ---- type fields ---- */

#define TYPE_BITS 32u

/** "prefix5" is of source 5. False: it is no such name; *good: … or one of no source. */
static bool is_of_source(const char *name, const char *prefix, uint16_t *source, bool *good)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    char *end;
    unsigned long number = strtoul(name + length, &end, 0);
    *good = name[length] >= '0' && name[length] <= '9' && *end == 0 && number <= UINT16_MAX;
    *source = (uint16_t)number;
    return true;
}

/** The record of a source, made if it is new; NULL: no memory. */
static struct pug_unwrap_types *types_for(struct pug_unwrap_config *config, uint16_t id)
{
    size_t at = config->source_count;
    while (at > 0 && config->sources[at - 1].id >= id)
        at--;
    if (at < config->source_count && config->sources[at].id == id)
        return &config->sources[at].types;
    struct pug_unwrap_source *grown =
        realloc(config->sources, (config->source_count + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    config->sources = grown;
    memmove(grown + at + 1, grown + at, (config->source_count++ - at) * sizeof(*grown));
    grown[at] = (struct pug_unwrap_source){id, config->types};
    return &grown[at].types;
}

/** type_bits_5 = 2, data_type_5 = 3: sources may differ in their type fields. */
static enum pug_status source_types(struct pug_unwrap_config *config,
                                    const struct pug_settings *settings)
{
    static const char *const prefixes[] = {"type_bits_", "instruction_type_", "data_type_"};
    for (size_t i = settings->count; i-- > 0;) { /* the first of a name wins */
        const struct pug_setting *setting = &settings->items[i];
        const char *name = setting->name;
        uint16_t source = 0;
        bool good = true;
        unsigned which = 0;
        while (which < 3 && !is_of_source(name, prefixes[which], &source, &good))
            which++;
        if (which == 3)
            continue;
        if (settings->watch)
            settings->watch->asked(settings->watch->context, name, false);
        if (!good || setting->text || setting->value > (which == 0 ? TYPE_BITS : UINT32_MAX))
            return PUG_ERR_INVALID_PARAM_VAL;
        struct pug_unwrap_types *types = types_for(config, source);
        if (!types)
            return PUG_ERR_MEM;
        if (which == 0)
            types->bits = (uint8_t)setting->value;
        else
            *(which == 1 ? &types->instruction : &types->data) = (uint32_t)setting->value;
    }
    return PUG_OK;
}

void pug_unwrap_config_clear(struct pug_unwrap_config *config)
{
    free(config->sources);
    config->sources = NULL;
    config->source_count = 0;
}

const struct pug_unwrap_types *pug_unwrap_types_of(const struct pug_unwrap_config *config,
                                                   uint16_t source)
{
    size_t low = 0, high = config->source_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (config->sources[middle].id == source)
            return &config->sources[middle].types;
        if (config->sources[middle].id < source)
            low = middle + 1;
        else
            high = middle;
    }
    return &config->types;
}

/* ---- words ---- */

static bool start_word(struct pug_unwrap_config *config, const struct pug_settings *settings)
{
    static const char *const words[] = {"auto", "synced", "search"};
    bool framed = pug_settings_number(settings, "framed", 1);
    const char *word = pug_settings_word(settings, "start", framed ? "auto" : "search");
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i]) != 0)
            continue;
        config->start = (enum pug_unwrap_start)i;
        return true;
    }
    return false;
}

static bool padding_word(struct pug_unwrap_config *config, const struct pug_settings *settings)
{
    static const struct {
        const char *word;
        enum pug_unwrap_padding padding;
    } words[] = {{"auto", PUG_PADDING_AUTO},    {"sign", PUG_PADDING_SIGN},
                 {"dontcare", PUG_PADDING_ANY}, {"one", PUG_PADDING_ANY},
                 {"zero", PUG_PADDING_ANY},     {"floor", PUG_PADDING_ANY}};
    const char *word =
        pug_settings_word(settings, "padding", pug_settings_word(settings, "pad_mode", "auto"));
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        config->padding = words[i].padding;
        return true;
    }
    return false;
}

/** Numbers 0 to 3 with commas between them, or one number. */
static bool flow_list(struct pug_unwrap_config *config, const struct pug_settings *settings)
{
    const char *word = pug_settings_word(settings, "flow", NULL);
    uint64_t number = pug_settings_number(settings, "flow", UINT64_MAX);
    unsigned wanted = 0;
    if (!word && number == UINT64_MAX)
        return true;
    if (!word && number > 3)
        return false;
    if (!word)
        wanted = 1u << number;
    for (; word && *word; word += word[1] ? 2 : 1) {
        if (*word < '0' || *word > '3' || (word[1] && (word[1] != ',' || !word[2])))
            return false;
        wanted |= 1u << (*word - '0');
    }
    config->no_flows = (uint8_t)(~wanted & 0xf);
    return wanted != 0;
}

enum pug_status pug_unwrap_configure(struct pug_unwrap_config *config, enum pug_wrapping wrapping,
                                     const struct pug_settings *settings, struct pug_log *log)
{
    uint64_t src = source_bits(settings, wrapping);
    uint64_t stamp = timestamp_bytes(settings, wrapping);
    uint64_t type = pug_settings_number(settings, "type_bits", 0);
    uint64_t fixed = pug_settings_number(settings, "payload_bytes", 0);
    uint64_t block = pug_settings_number(settings, "block_size", 0);
    if (src > 16)
        return complain(log, "source id width must be 0 to 16 bits");
    if (stamp > 8)
        return complain(log, "timestamps must be 0 to 8 bytes");
    if (type > TYPE_BITS)
        return complain(log, "type width must be 0 to 32 bits");
    if (fixed > PUG_FIELDS_PAYLOAD)
        return complain(log, "payload_bytes must be 0 to 40");
    if (block > UINT32_MAX || (block > 0 && block < 64))
        return complain(log, "block_size must be 64 or more");
    *config = (struct pug_unwrap_config){
        .wrapping = wrapping,
        .src_bits = (unsigned)src,
        .timestamp_bytes = (unsigned)stamp,
        .types = {.bits = wrapping == PUG_WRAP_ENCAPSULATION ? (uint8_t)type : 0,
                  .instruction = (uint32_t)pug_settings_number(settings, "instruction_type", 0),
                  .data = (uint32_t)pug_settings_number(settings, "data_type", 1)},
        .only_data = pug_settings_number(settings, "only_data", 0),
        .bit_stream = pug_settings_number(settings, "bit_stream", 0),
        .block = (uint32_t)block,
        .fixed = wrapping == PUG_WRAP_RAW ? (uint32_t)fixed : 0,
    };
    if (!start_word(config, settings))
        return complain(log, "start must be auto, synced or search");
    if (!padding_word(config, settings))
        return complain(log, "padding must be auto, sign or dontcare");
    if (!flow_list(config, settings))
        return complain(log, "flow must be 0 to 3, or several with commas between");
    if (wrapping != PUG_WRAP_ENCAPSULATION)
        return PUG_OK;
    enum pug_status status = source_types(config, settings);
    if (status != PUG_OK)
        pug_unwrap_config_clear(config);
    return status == PUG_ERR_INVALID_PARAM_VAL
               ? complain(log, "type_bits_N, instruction_type_N, data_type_N: source 0 to 65535, "
                               "width 0 to 32 bits, values 0 to 4294967295")
               : status;
}
