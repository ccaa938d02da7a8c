// SPDX-License-Identifier: MIT
/**
 * @file Settings of E-Trace. The encoder's parameters go by their names in the specification
 * ("iaddress_width_p"), by those of the discovery attributes ("iaddress_width", which hold one less
 * for widths), or come out of discovery_info_0 and _1. Options go by the trace control interface's
 * fields ("trTeInstNoAddrDiff", or the whole "trTeInstFeatures") and by plain names
 * ("full_address"). An option that is not named is on where the hardware is there for it, until the
 * first support packet says how it is.
 */
#include "protocol/etrace/etrace.h"

#include "base/text.h"

#include <stdlib.h>

#define NO_INFO 2u

/** A parameter of the encoder. */
struct parameter {
    const char *name;
    uint8_t info, lsb, width; /**< where discovery_info_0 or _1 holds it */
    uint8_t less;             /**< discovery holds the value minus this */
    uint8_t otherwise, minimum, maximum;
};

enum {
    P_XLEN,
    P_IADDRESS_WIDTH,
    P_IADDRESS_LSB,
    P_PRIVILEGE_WIDTH,
    P_ECAUSE_WIDTH,
    P_NOCONTEXT,
    P_CONTEXT_WIDTH,
    P_NOTIME,
    P_TIME_WIDTH,
    P_F0S_WIDTH,
    P_BPRED_SIZE,
    P_CACHE_SIZE,
    P_RETURN_STACK_SIZE,
    P_CALL_COUNTER_SIZE,
    P_SIJUMP,
    P_DATA_WIDTH,
    P_DADDRESS_WIDTH,
    P_LRID_WIDTH,
    P_DTYPE_WIDTH,
    PARAMETERS
};

static const struct parameter parameters[PARAMETERS] = {
    [P_XLEN] = {"xlen", NO_INFO, 0, 0, 0, 0, 32, 64},
    [P_IADDRESS_WIDTH] = {"iaddress_width_p", 1, 0, 7, 1, 32, 8, 64},
    [P_IADDRESS_LSB] = {"iaddress_lsb_p", 0, 57, 2, 1, 1, 0, 4},
    [P_PRIVILEGE_WIDTH] = {"privilege_width_p", 1, 29, 2, 1, 2, 1, 4},
    [P_ECAUSE_WIDTH] = {"ecause_width_p", 0, 39, 4, 1, 4, 1, 64},
    [P_NOCONTEXT] = {"nocontext_p", 1, 28, 1, 0, 1, 0, 1},
    [P_CONTEXT_WIDTH] = {"context_width_p", 0, 31, 5, 1, 1, 0, 64},
    [P_NOTIME] = {"notime_p", NO_INFO, 0, 0, 0, 1, 0, 1},
    [P_TIME_WIDTH] = {"time_width_p", NO_INFO, 0, 0, 1, 1, 0, 64},
    [P_F0S_WIDTH] = {"f0s_width_p", 0, 55, 2, 0, 0, 0, 3},
    [P_BPRED_SIZE] = {"bpred_size_p", 0, 12, 4, 0, 0, 0, 10},
    [P_CACHE_SIZE] = {"cache_size_p", 0, 16, 4, 0, 0, 0, 8},
    [P_RETURN_STACK_SIZE] = {"return_stack_size_p", 1, 34, 4, 0, 0, 0, 8},
    [P_CALL_COUNTER_SIZE] = {"call_counter_size_p", 0, 20, 3, 0, 0, 0, 9},
    [P_SIJUMP] = {"sijump_p", 1, 38, 1, 0, 0, 0, 1},
    [P_DATA_WIDTH] = {"data_width_p", NO_INFO, 0, 0, 1, 32, 8, 128},
    [P_DADDRESS_WIDTH] = {"daddress_width_p", NO_INFO, 0, 0, 1, 32, 8, 64},
    [P_LRID_WIDTH] = {"lrid_width_p", NO_INFO, 0, 0, 1, 1, 0, 6},
    [P_DTYPE_WIDTH] = {"dtype_width_p", NO_INFO, 0, 0, 1, 4, 1, 4},
};

/** The first setting that has the parameter: itself, its discovery attribute, its register. */
static uint64_t parameter_value(const struct pug_settings *settings,
                                const struct parameter *parameter, uint64_t otherwise)
{
    const struct pug_setting *setting = pug_settings_find(settings, parameter->name);
    const struct pug_setting *discovered = NULL, *info = NULL;
    char attribute[32];
    size_t length = strlen(parameter->name);
    if (length > 2 && length < sizeof(attribute) && parameter->name[length - 2] == '_') {
        memcpy(attribute, parameter->name, length - 2);
        attribute[length - 2] = '\0';
        discovered = pug_settings_find(settings, attribute);
    }
    if (parameter->info != NO_INFO)
        info =
            pug_settings_find(settings, parameter->info ? "discovery_info_1" : "discovery_info_0");
    if (setting)
        return setting->value;
    if (discovered)
        return discovered->value + parameter->less;
    uint64_t mask = (UINT64_C(1) << parameter->width) - 1;
    return info ? (info->value >> parameter->lsb & mask) + parameter->less : otherwise;
}

static enum pug_status complain(struct pug_log *log, const char *text)
{
    pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                              .code = PUG_ERR_INVALID_PARAM_VAL,
                                              .index = PUG_NO_INDEX,
                                              .source = PUG_NO_SOURCE,
                                              .component = "CFG_ETRACE",
                                              .text = text});
    return PUG_ERR_INVALID_PARAM_VAL;
}

static bool is_layout(const struct pug_etrace_config *config, enum pug_etrace_layout layout)
{
    return config->layout == layout;
}

static bool is_esp(const struct pug_etrace_config *config)
{
    return is_layout(config, PUG_ETRACE_LAYOUT_ESP1) || is_layout(config, PUG_ETRACE_LAYOUT_ESP2);
}

/** Defaults depend on the layout of the payloads, and on each other. */
static uint64_t default_of(const struct pug_etrace_config *config, unsigned which,
                           const uint64_t *values)
{
    bool pulp = is_layout(config, PUG_ETRACE_LAYOUT_PULP);
    switch (which) {
    case P_XLEN: return pulp ? 64 : 0;
    case P_IADDRESS_WIDTH: return values[P_XLEN] ? values[P_XLEN] : 32;
    case P_IADDRESS_LSB: return pulp ? 0 : 1;
    case P_PRIVILEGE_WIDTH: return is_esp(config) ? 1 : 2;
    case P_ECAUSE_WIDTH: return pulp ? 64 : is_layout(config, PUG_ETRACE_LAYOUT_ESP2) ? 6 : 4;
    case P_RETURN_STACK_SIZE: return 0;
    default: return parameters[which].otherwise;
    }
}

static enum pug_status take_parameters(struct pug_etrace_config *config,
                                       const struct pug_settings *settings, struct pug_log *log)
{
    uint64_t values[PARAMETERS] = {0};
    for (unsigned i = 0; i < PARAMETERS; i++) {
        const struct parameter *parameter = &parameters[i];
        values[i] = parameter_value(settings, parameter, default_of(config, i, values));
        bool absent = i == P_XLEN && values[i] == 0;
        if (!absent && (values[i] < parameter->minimum || values[i] > parameter->maximum)) {
            char buffer[96];
            struct pug_text text = PUG_TEXT(buffer, sizeof(buffer));
            pug_text_format(&text, "%s must be %u to %u", parameter->name, parameter->minimum,
                            parameter->maximum);
            pug_text_end(&text);
            return complain(log, buffer);
        }
    }
    if (values[P_XLEN] == 0)
        values[P_XLEN] = values[P_IADDRESS_WIDTH] > 32 || values[P_DATA_WIDTH] > 32 ? 64 : 32;
    if (values[P_XLEN] != 32 && values[P_XLEN] != 64)
        return complain(log, "xlen must be 32 or 64");
    config->xlen = (uint8_t)values[P_XLEN];
    config->iaddress_width = (uint8_t)values[P_IADDRESS_WIDTH];
    config->iaddress_lsb = (uint8_t)values[P_IADDRESS_LSB];
    config->privilege_width = (uint8_t)values[P_PRIVILEGE_WIDTH];
    config->ecause_width = (uint8_t)values[P_ECAUSE_WIDTH];
    config->context_width = values[P_NOCONTEXT] ? 0 : (uint8_t)values[P_CONTEXT_WIDTH];
    config->has_context = !values[P_NOCONTEXT];
    config->data_width = (uint8_t)values[P_DATA_WIDTH];
    config->daddress_width = (uint8_t)values[P_DADDRESS_WIDTH];
    config->lrid_width = (uint8_t)values[P_LRID_WIDTH];
    config->mma_format_bits = values[P_DTYPE_WIDTH] > 2 ? 2 : (uint8_t)(values[P_DTYPE_WIDTH] - 1);
    config->options = (struct pug_etrace_options){
        .time_width = values[P_NOTIME] ? 0 : (uint8_t)values[P_TIME_WIDTH],
        .f0s_width = (uint8_t)values[P_F0S_WIDTH],
        .bpred_size = (uint8_t)values[P_BPRED_SIZE],
        .cache_size = (uint8_t)values[P_CACHE_SIZE],
        .return_stack_size = (uint8_t)values[P_RETURN_STACK_SIZE],
        .call_counter_size = (uint8_t)values[P_CALL_COUNTER_SIZE],
        .sijump = values[P_SIJUMP] != 0,
    };
    return PUG_OK;
}

/* ---- options ---- */

/** By its plain name, its register field's name, or its bits of a register; else `otherwise`. */
static uint64_t option(const struct pug_settings *settings, const char *name, const char *field,
                       const char *reg, unsigned lsb, unsigned width, uint64_t otherwise)
{
    const struct pug_setting *by_name = pug_settings_find(settings, name);
    const struct pug_setting *by_field = pug_settings_find(settings, field);
    const struct pug_setting *whole = pug_settings_find(settings, reg);
    if (by_name || by_field)
        return (by_name ? by_name : by_field)->value;
    return whole ? whole->value >> lsb & ((1u << width) - 1) : otherwise;
}

static void take_options(struct pug_etrace_config *config, const struct pug_settings *settings)
{
    struct pug_etrace_options *o = &config->options;
    static const char features[] = "trTeInstFeatures", data[] = "trTeDataControl";
    bool vector = pug_settings_find(settings, "implicit_exception_vector") != NULL;
    bool stack = o->return_stack_size > 0 || o->call_counter_size > 0;
    config->full_address_known = pug_settings_find(settings, "full_address") ||
                                 pug_settings_find(settings, "trTeInstNoAddrDiff") ||
                                 pug_settings_find(settings, features);
    o->full_address = option(settings, "full_address", "trTeInstNoAddrDiff", features, 0, 1, 0);
    o->implicit_exception =
        option(settings, "implicit_exception", "trTeInstNoTrapAddr", features, 1, 1, vector);
    o->sijump =
        option(settings, "sijump_enabled", "trTeInstEnSequentialJump", features, 2, 1, o->sijump);
    o->implicit_return =
        option(settings, "implicit_return", "trTeInstEnImplicitReturn", features, 3, 1, stack);
    o->branch_prediction = option(settings, "branch_prediction", "trTeInstEnBranchPrediction",
                                  features, 4, 1, o->bpred_size > 0);
    o->jump_target_cache = option(settings, "jump_target_cache", "trTeInstEnJumpTargetCache",
                                  features, 5, 1, o->cache_size > 0);
    o->resync_disabled = pug_settings_number(settings, "resync_disabled", 0);
    o->data_no_value = option(settings, "nodata", "trTeDataNoValue", data, 16, 1, 0);
    o->data_no_address = option(settings, "noaddr", "trTeDataNoAddr", data, 17, 1, 0);
    o->data_full_address = pug_settings_number(settings, "full_daddress", 0);
    o->data_full_value = pug_settings_number(settings, "full_data", 0);
    if (config->layout == PUG_ETRACE_LAYOUT_ESP1)
        config->full_address_known = o->full_address = true;
}

/* ---- words ---- */

struct word {
    const char *text;
    int value;
};

/**
 * Returns the value of a word, which may be followed by a space; `otherwise` if the setting is
 * absent.
 */
static bool word_of(const struct pug_settings *settings, const char *name, const struct word *words,
                    int *value)
{
    const char *text = pug_settings_word(settings, name, NULL);
    if (!text)
        return true;
    size_t length = strcspn(text, " \t");
    for (; words->text; words++) {
        if (strlen(words->text) != length || strncmp(words->text, text, length) != 0)
            continue;
        *value = words->value;
        return true;
    }
    return false;
}

static const struct word layout_words[] = {
    {"standard", PUG_ETRACE_LAYOUT_STANDARD},
    {"esp32_1", PUG_ETRACE_LAYOUT_ESP1},
    {"esp32_2", PUG_ETRACE_LAYOUT_ESP2},
    {"pulp", PUG_ETRACE_LAYOUT_PULP},
    {NULL, 0},
};

static const struct word support_words[] = {
    {"ref", PUG_ETRACE_SUPPORT_REF},
    {"ref+sijump", PUG_ETRACE_SUPPORT_REF_SIJUMP},
    {"std", PUG_ETRACE_SUPPORT_STD},
    {"standard", PUG_ETRACE_SUPPORT_STD},
    {NULL, 0},
};

static const struct word container_words[] = {
    {"encap", PUG_WRAP_ENCAPSULATION},
    {"encapsulation", PUG_WRAP_ENCAPSULATION},
    {"te", PUG_WRAP_ENCAPSULATION},
    {"smi", PUG_WRAP_SMI},
    {"esp32", PUG_WRAP_ESP32},
    {"pulp", PUG_WRAP_PULP},
    {"raw", PUG_WRAP_RAW},
    {NULL, 0},
};

static const struct word iret_words[] = {{"irdepth", 0}, {"irets", 1}, {NULL, 0}};
static const struct word format_set_words[] = {{"2.0", 0}, {"mmacas", 1}, {NULL, 0}};
static const struct word unit_words[] = {{"sent", 0}, {"bytes", 1}, {NULL, 0}};
static const struct word compression_words[] = {
    {"full", 0}, {"none", 0}, {"xor", 0}, {"diff", 1}, {"best", 0}, {NULL, 0},
};

/** trTeImpl: from protocol version 2.1 on there is the standard support packet. */
static int default_support(const struct pug_settings *settings)
{
    uint64_t impl = pug_settings_number(settings, "trTeImpl", 0);
    unsigned major = impl >> 16 & 15, minor = impl >> 20 & 15;
    return major > 2 || (major == 2 && minor >= 1) ? PUG_ETRACE_SUPPORT_STD
                                                   : PUG_ETRACE_SUPPORT_REF;
}

static enum pug_status take_words(struct pug_etrace_config *config,
                                  const struct pug_settings *settings, struct pug_log *log)
{
    int support = default_support(settings), container = PUG_WRAP_ENCAPSULATION, irets = 0;
    int mma = 0, bytes = 0, difference = 0;
    if (!word_of(settings, "support_format", support_words, &support))
        return complain(log, "support_format must be ref, ref+sijump or std");
    if (!word_of(settings, "container", container_words, &container))
        return complain(log, "container must be encap, smi, esp32, pulp or raw");
    if (!word_of(settings, "iret_field", iret_words, &irets))
        return complain(log, "iret_field must be irdepth or irets");
    if (!word_of(settings, "format_set", format_set_words, &mma))
        return complain(log, "format_set must be 2.0 or mmacas");
    if (!word_of(settings, "daddr_units", unit_words, &bytes))
        return complain(log, "daddr_units must be sent or bytes");
    if (!word_of(settings, "compression", compression_words, &difference))
        return complain(log, "compression must be full, xor, diff or best");
    config->support = (enum pug_etrace_support)support;
    config->wrapping = (enum pug_wrapping)container;
    config->options.irets = irets;
    config->options.data_mma_cas = mma;
    config->daddr_bytes = bytes;
    config->one_bit_difference = difference;
    return PUG_OK;
}

/* ---- the rest ---- */

static void take_vectors(struct pug_etrace_config *config, const struct pug_settings *settings)
{
    static const char *const names[PUG_ETRACE_PRIVILEGES] = {
        [0] = "implicit_exception_vector_u",
        [1] = "implicit_exception_vector_s",
        [3] = "implicit_exception_vector_m",
        [6] = "implicit_exception_vector_vs",
    };
    uint64_t base = pug_settings_number(settings, "implicit_exception_vector", 0);
    bool vectored = pug_settings_number(settings, "implicit_exception_vectored", 0);
    for (unsigned i = 0; i < PUG_ETRACE_PRIVILEGES; i++) {
        config->vectors[i].base = names[i] ? pug_settings_number(settings, names[i], base) : base;
        config->vectors[i].vectored = vectored;
    }
}

/** By any of its names; of several the first in the list. */
static uint64_t source_id(const struct pug_settings *settings)
{
    static const char *const names[] = {"src_id", "srcid", "hart_index", "trTeSrcID"};
    const struct pug_setting *first = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct pug_setting *found = pug_settings_find(settings, names[i]);
        if (found && (!first || found < first))
            first = found;
    }
    if (first)
        return first->value;
    return pug_settings_number(settings, "trTeInstFeatures", 0) >> 16 & 0xfff;
}

static enum pug_status take_numbers(struct pug_etrace_config *config,
                                    const struct pug_settings *settings, struct pug_log *log)
{
    uint64_t source = source_id(settings);
    uint64_t diff_bits = pug_settings_number(settings, "diff_bits", 2);
    uint64_t format_bits = pug_settings_number(settings, "data_format_bits", 3);
    uint64_t queue = pug_settings_number(settings, "data_queue", 65536);
    if (source > UINT16_MAX)
        return complain(log, "srcid is larger than 16 bits");
    if (diff_bits < 1 || diff_bits > 2)
        return complain(log, "diff_bits must be 1 or 2");
    if (format_bits < 2 || format_bits > 3)
        return complain(log, "data_format_bits must be 2 or 3");
    if (queue < 16 || queue > 1u << 24)
        return complain(log, "data_queue must be 16 to 16777216");
    config->source = (uint16_t)source;
    config->diff_bits = (uint8_t)diff_bits;
    config->data_format_bits = (uint8_t)format_bits;
    config->data_queue = (uint32_t)queue;
    config->sign_extend_address = pug_settings_number(settings, "iaddress_sign_extend", 0);
    config->sijump_returns = pug_settings_number(settings, "sijump_returns", 1);
    config->zcmt =
        pug_settings_number(settings, "zcmt", pug_settings_number(settings, "zcmp_zcmt", 0));
    config->jvt_base = pug_settings_number(settings, "jvt_base", 0);
    config->asid_vmid = pug_settings_number(settings, "context_is_asid_vmid", 0);
    config->only_data = pug_settings_number(settings, "only_data", 0);
    config->data_trace = pug_settings_number(settings, "data_trace",
                                             pug_settings_find(settings, "data_width_p") != NULL);
    config->split = pug_settings_number(settings, "split", 0);
    config->diff1_is_subtraction = pug_settings_number(settings, "diff_code_1_is_subtraction", 0);
    config->ref_atomic_codes = pug_settings_number(settings, "ref_atomic_codes", 0);
    config->walk_limit = pug_settings_number(settings, "walk_limit", UINT64_C(1) << 24);
    config->branch_limit = pug_settings_number(settings, "branch_limit", UINT64_C(1) << 23);
    return PUG_OK;
}

enum pug_status pug_etrace_config_new(const struct pug_settings *settings, struct pug_log *log,
                                      void **out)
{
    struct pug_etrace_config *config = calloc(1, sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    int layout = PUG_ETRACE_LAYOUT_STANDARD;
    enum pug_status status = PUG_OK;
    if (!word_of(settings, "layout", layout_words, &layout))
        status = complain(log, "layout must be standard, esp32_1, esp32_2 or pulp");
    config->layout = (enum pug_etrace_layout)layout;
    if (status == PUG_OK)
        status = take_parameters(config, settings, log);
    if (status == PUG_OK)
        status = take_words(config, settings, log);
    if (status == PUG_OK)
        status = take_numbers(config, settings, log);
    if (status == PUG_OK)
        status = pug_unwrap_configure(&config->unwrap, config->wrapping, settings, log);
    if (status != PUG_OK) {
        free(config);
        return status;
    }
    take_options(config, settings);
    take_vectors(config, settings);
    *out = config;
    return PUG_OK;
}

void pug_etrace_config_free(void *data)
{
    struct pug_etrace_config *config = data;
    if (config)
        pug_unwrap_config_clear(&config->unwrap);
    free(config);
}

uint16_t pug_etrace_trace_id(const void *config)
{
    return ((const struct pug_etrace_config *)config)->source;
}

static const char *text_of(const struct word *words, int value)
{
    while (words->value != value)
        words++;
    return words->text;
}

size_t pug_etrace_config_text(const void *data, char *buffer, size_t size)
{
    const struct pug_etrace_config *config = data;
    const struct pug_etrace_options *o = &config->options;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "srcid = %u\nxlen = %u\n", config->source, config->xlen);
    pug_text_format(&text, "layout = %s\n", text_of(layout_words, config->layout));
    pug_text_format(&text, "iaddress_width_p = %u\niaddress_lsb_p = %u\n", config->iaddress_width,
                    config->iaddress_lsb);
    pug_text_format(&text, "privilege_width_p = %u\necause_width_p = %u\n", config->privilege_width,
                    config->ecause_width);
    pug_text_format(&text, "nocontext_p = %u\ncontext_width_p = %u\n", !config->has_context,
                    config->context_width);
    pug_text_format(&text, "notime_p = %u\ntime_width_p = %u\n", o->time_width == 0, o->time_width);
    pug_text_format(&text, "bpred_size_p = %u\ncache_size_p = %u\nf0s_width_p = %u\n",
                    o->bpred_size, o->cache_size, o->f0s_width);
    pug_text_format(&text, "return_stack_size_p = %u\ncall_counter_size_p = %u\n",
                    o->return_stack_size, o->call_counter_size);
    pug_text_format(&text, "support_format = %s\niret_field = %s\n",
                    text_of(support_words, config->support), text_of(iret_words, o->irets));
    pug_text_format(&text, "sijump_enabled = %u\nimplicit_return = %u\n", o->sijump,
                    o->implicit_return);
    pug_text_format(&text, "branch_prediction = %u\njump_target_cache = %u\n", o->branch_prediction,
                    o->jump_target_cache);
    pug_text_format(&text, "implicit_exception = %u\nfull_address = %u\n", o->implicit_exception,
                    o->full_address);
    if (config->zcmt)
        pug_text_format(&text, "zcmt = 1\njvt_base = 0x%llx\n",
                        (unsigned long long)config->jvt_base);
    if (config->data_trace || config->only_data)
        pug_text_format(&text,
                        "data_width_p = %u\ndaddress_width_p = %u\nlrid_width_p = %u\n"
                        "format_set = %s\nsplit = %u\nnoaddr = %u\nnodata = %u\n",
                        config->data_width, config->daddress_width, config->lrid_width,
                        text_of(format_set_words, o->data_mma_cas), config->split,
                        o->data_no_address, o->data_no_value);
    return pug_text_end(&text);
}
