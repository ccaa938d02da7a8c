// SPDX-License-Identifier: MIT
/**
 * @file Settings of the packet wrappings. Names are those of the encapsulation specification and of
 * the trace control interface's fields:
 *
 *     src_bits, srcid_bits, trTeSrcBits, hart_index_bits   width of the source id; trTeInhibitSrc
 *     timestamp_bytes, or trTsWidth in bits                trTsEnable 0: no timestamps
 *     type_bits, type_bits_SOURCE                          width of the type field
 *     instruction_type, data_type                          its values
 *     only_data                                            every packet is data trace
 *     padding (or pad_mode)                                sign; dontcare (also: one, zero)
 *     framed                                               0: the stream begins anywhere
 *     start                                                auto, synced, search
 *     bit_stream                                           1: … also at any bit
 *     block_size                                           bytes that packets do not straddle
 *     payload_bytes                                        raw: fixed length of a payload
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

/** type_bits_5 = 2: sources may differ in the width of their type field. */
static bool source_types(struct pug_unwrap_config *config, const struct pug_settings *settings)
{
    static const char prefix[] = "type_bits_";
    for (size_t i = 0; i < settings->count; i++) {
        const char *name = settings->items[i].name;
        if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
            continue;
        const struct pug_setting *setting = pug_settings_find(settings, name);
        unsigned long source = strtoul(name + sizeof(prefix) - 1, NULL, 10);
        if (source > UINT16_MAX || setting->value > 16 || config->type_count == PUG_UNWRAP_TYPES)
            return false;
        config->types[config->type_count].source = (uint16_t)source;
        config->types[config->type_count++].bits = (uint8_t)setting->value;
    }
    return true;
}

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
    static const char *const dont_care[] = {"dontcare", "one", "zero", "floor"};
    const char *word =
        pug_settings_word(settings, "padding", pug_settings_word(settings, "pad_mode", "sign"));
    for (unsigned i = 0; i < sizeof(dont_care) / sizeof(dont_care[0]); i++)
        config->floor = config->floor || strcmp(word, dont_care[i]) == 0;
    return config->floor || strcmp(word, "sign") == 0;
}

/** The first packet of an E-Trace stream is known by its looks: 20 bits, or 42 in the standard. */
static unsigned longest_support(const struct pug_settings *settings)
{
    const char *format = pug_settings_word(settings, "support_format", "ref");
    return strncmp(format, "std", 3) == 0 || strncmp(format, "standard", 8) == 0 ? 6 : 3;
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
    if (type > 16)
        return complain(log, "type width must be 0 to 16 bits");
    if (fixed > PUG_FIELDS_PAYLOAD)
        return complain(log, "payload_bytes must be 0 to 40");
    if (block > UINT32_MAX || (block > 0 && block < 64))
        return complain(log, "block_size must be 64 or more");
    *config = (struct pug_unwrap_config){
        .wrapping = wrapping,
        .src_bits = (unsigned)src,
        .timestamp_bytes = (unsigned)stamp,
        .type_bits = wrapping == PUG_WRAP_ENCAPSULATION ? (unsigned)type : 0,
        .instruction_type = (unsigned)pug_settings_number(settings, "instruction_type", 0),
        .data_type = (unsigned)pug_settings_number(settings, "data_type", 1),
        .only_data = pug_settings_number(settings, "only_data", 0),
        .bit_stream = pug_settings_number(settings, "bit_stream", 0),
        .longest_support = longest_support(settings),
        .block = (uint32_t)block,
        .fixed = wrapping == PUG_WRAP_RAW ? (uint32_t)fixed : 0,
    };
    if (!source_types(config, settings))
        return complain(log, "type_bits_SOURCE: source 0 to 65535, width 0 to 16 bits, 32 of them");
    if (!start_word(config, settings))
        return complain(log, "start must be auto, synced or search");
    if (!padding_word(config, settings))
        return complain(log, "padding must be sign or dontcare");
    return PUG_OK;
}
