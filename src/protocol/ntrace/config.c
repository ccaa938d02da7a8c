// SPDX-License-Identifier: MIT
/**
 * @file Settings of an N-Trace source: the encoder's registers (trTeControl, trTeImpl,
 * trTeInstFeatures, trTsControl), or its parameters one by one, which win over the registers.
 */
#include "base/text.h"
#include "protocol/builtin.h"
#include "protocol/ntrace/ntrace.h"

#include <stdio.h>
#include <stdlib.h>

#define STACK_DEPTH 1024u
/* A message repeats at most 2^18 times what covers at most 2^22 halfwords. */
#define WALK_LIMIT (UINT64_C(1) << 40)

/** The registers' field `bits` wide at bit `low`. */
static uint64_t bits_of(uint64_t value, unsigned low, unsigned bits)
{
    return value >> low & ((1ull << bits) - 1);
}

static enum pug_status refuse(struct pug_log *log, enum pug_status code, const char *text)
{
    pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                              .code = code,
                                              .index = PUG_NO_INDEX,
                                              .source = PUG_NO_SOURCE,
                                              .component = "N-Trace",
                                              .text = text});
    return code;
}

static enum pug_status from_registers(struct pug_ntrace_config *config,
                                      const struct pug_settings *settings, struct pug_log *log)
{
    const struct pug_setting *control = pug_settings_find(settings, "trTeControl");
    const struct pug_setting *impl = pug_settings_find(settings, "trTeImpl");
    const struct pug_setting *features = pug_settings_find(settings, "trTeInstFeatures");
    const struct pug_setting *timestamp = pug_settings_find(settings, "trTsControl");
    if (impl && bits_of(impl->value, 16, 4) != 1)
        return refuse(log, PUG_ERR_UNSUPPORTED_CONFIG, "trTeProtocolMajor is not 1");
    if (control && bits_of(control->value, 24, 3) != 1)
        return refuse(log, PUG_ERR_UNSUPPORTED_CONFIG, "trTeFormat is not N-Trace");
    if (control)
        config->mode = (uint8_t)bits_of(control->value, 4, 3);
    if (features) {
        config->src_bits = (uint8_t)bits_of(features->value, 28, 4);
        config->src_id = (uint16_t)bits_of(features->value, 16, 12);
        config->src_given = true;
        config->implicit_return =
            bits_of(features->value, 3, 1) || bits_of(features->value, 6, 2) != 0;
        config->sequential_jump = bits_of(features->value, 2, 1);
        config->all_jumps = bits_of(features->value, 9, 1);
        config->extend_addr_msb = bits_of(features->value, 10, 1);
    }
    if (control && bits_of(control->value, 15, 1))
        config->src_bits = 0;
    if (timestamp) {
        config->timestamps =
            bits_of(timestamp->value, 15, 1) ? PUG_NTRACE_TS_ON : PUG_NTRACE_TS_OFF;
        config->ts_width = (uint8_t)bits_of(timestamp->value, 24, 6);
    }
    return PUG_OK;
}

static void flag(const struct pug_settings *settings, const char *name, bool *value)
{
    *value = pug_settings_number(settings, name, *value) != 0;
}

/** A small number; what is too large for its field becomes the largest, which check() refuses. */
static void small(const struct pug_settings *settings, const char *name, uint8_t *value)
{
    uint64_t number = pug_settings_number(settings, name, *value);
    *value = number < UINT8_MAX ? (uint8_t)number : UINT8_MAX;
}

/** Words where only a number will do; the first such setting is named. */
static enum pug_status check_numbers(const struct pug_settings *settings, struct pug_log *log)
{
    static const char *const names[] = {"xlen",
                                        "addr_bits",
                                        "src_bits",
                                        "src_id",
                                        "ts",
                                        "ts_width",
                                        "btm",
                                        "implicit_return",
                                        "sequential_jump",
                                        "all_jumps",
                                        "extend_addr_msb",
                                        "zcmp_zcmt",
                                        "zcmt",
                                        "jvt_base",
                                        "return_stack_depth",
                                        "walk_limit"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char text[64];
        if (!pug_settings_word(settings, names[i], NULL))
            continue;
        snprintf(text, sizeof(text), "%s must be a number", names[i]);
        return refuse(log, PUG_ERR_INVALID_PARAM_VAL, text);
    }
    return PUG_OK;
}

/** A setting that is a small number, or one of the words for 0, 1, 2 …; UINT8_MAX: another word. */
static uint8_t choice(const struct pug_settings *settings, const char *name,
                      const char *const *words, uint8_t value)
{
    const char *word = pug_settings_word(settings, name, NULL);
    for (uint8_t i = 0; word && words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    small(settings, name, &value);
    return word ? UINT8_MAX : value;
}

static const char *const align_words[] = {"auto", "start", "search", NULL};
static const char *const mode_words[] = {"detect", "", "", "btm", "", "", "htm", NULL};
static const char *const dialect_words[] = {"ratified", "sifive-pre1", NULL};

/** Returns what is wrong with a choice, or NULL. */
static const char *from_parameters(struct pug_ntrace_config *config,
                                   const struct pug_settings *settings)
{
    config->xlen = 64;
    small(settings, "xlen", &config->xlen);
    config->addr_bits = config->xlen;
    small(settings, "addr_bits", &config->addr_bits);
    small(settings, "src_bits", &config->src_bits);
    config->src_given |= pug_settings_find(settings, "src_id") != NULL;
    uint64_t src_id = pug_settings_number(settings, "src_id", config->src_id);
    config->src_id = src_id < UINT16_MAX ? (uint16_t)src_id : UINT16_MAX;
    if (pug_settings_find(settings, "ts"))
        config->timestamps =
            pug_settings_number(settings, "ts", 0) ? PUG_NTRACE_TS_ON : PUG_NTRACE_TS_OFF;
    uint8_t dialect = choice(settings, "dialect", dialect_words, 0);
    config->sifive = dialect == 1;
    if (config->sifive && config->ts_width == 0)
        config->ts_width = 40;
    small(settings, "ts_width", &config->ts_width);
    config->mode = choice(settings, "mode", mode_words, config->mode);
    if (pug_settings_number(settings, "btm", 0))
        config->mode = PUG_NTRACE_MODE_BTM;
    config->align = choice(settings, "align", align_words, PUG_NTRACE_ALIGN_AUTO);
    flag(settings, "implicit_return", &config->implicit_return);
    flag(settings, "sequential_jump", &config->sequential_jump);
    flag(settings, "all_jumps", &config->all_jumps);
    flag(settings, "extend_addr_msb", &config->extend_addr_msb);
    flag(settings, "zcmp_zcmt", &config->zcmp_zcmt);
    flag(settings, "zcmt", &config->zcmp_zcmt);
    config->jvt_base = pug_settings_number(settings, "jvt_base", 0);
    uint64_t depth = pug_settings_number(settings, "return_stack_depth", STACK_DEPTH);
    config->stack_depth = depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
    uint64_t limit = pug_settings_number(settings, "walk_limit", WALK_LIMIT);
    config->walk_limit = limit < INT64_MAX ? (int64_t)limit : INT64_MAX;
    if (dialect > 1)
        return "dialect must be ratified or sifive-pre1";
    if (config->align > PUG_NTRACE_ALIGN_SEARCH)
        return "align must be auto, start or search";
    if (pug_settings_find(settings, "mode") && config->mode != PUG_NTRACE_MODE_DETECT &&
        config->mode != PUG_NTRACE_MODE_BTM && config->mode != PUG_NTRACE_MODE_HTM)
        return "mode must be detect, btm or htm";
    return NULL;
}

static enum pug_status check(const struct pug_ntrace_config *config, struct pug_log *log)
{
    if (config->xlen != 32 && config->xlen != 64)
        return refuse(log, PUG_ERR_INVALID_PARAM_VAL, "xlen must be 32 or 64");
    if (config->addr_bits < 2 || config->addr_bits > config->xlen)
        return refuse(log, PUG_ERR_INVALID_PARAM_VAL, "addr_bits must be 2 to xlen");
    if (config->src_bits > 12)
        return refuse(log, PUG_ERR_INVALID_PARAM_VAL, "src_bits must be 0 to 12");
    if (config->src_id > 4095)
        return refuse(log, PUG_ERR_INVALID_PARAM_VAL, "src_id must be 0 to 4095");
    if (config->ts_width > 63)
        return refuse(log, PUG_ERR_INVALID_PARAM_VAL, "ts_width must be 0 to 63");
    if (config->stack_depth < 1 || config->stack_depth > 65536)
        return refuse(log, PUG_ERR_INVALID_PARAM_VAL, "return_stack_depth must be 1 to 65536");
    if (config->walk_limit < 1)
        return refuse(log, PUG_ERR_INVALID_PARAM_VAL, "walk_limit must not be 0");
    return PUG_OK;
}

enum pug_status pug_ntrace_config_new(const struct pug_settings *settings, struct pug_log *log,
                                      void **out)
{
    struct pug_ntrace_config *config = calloc(1, sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    enum pug_status status = from_registers(config, settings, log);
    if (status == PUG_OK)
        status = check_numbers(settings, log);
    if (status == PUG_OK) {
        const char *wrong = from_parameters(config, settings);
        status = wrong ? refuse(log, PUG_ERR_INVALID_PARAM_VAL, wrong) : check(config, log);
    }
    if (status != PUG_OK) {
        free(config);
        return status;
    }
    *out = config;
    return PUG_OK;
}

void pug_ntrace_config_free(void *config)
{
    free(config);
}

uint16_t pug_ntrace_trace_id(const void *config)
{
    return ((const struct pug_ntrace_config *)config)->src_id;
}

size_t pug_ntrace_config_text(const void *data, char *buffer, size_t size)
{
    const struct pug_ntrace_config *config = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "N-Trace for RV%u, ", config->xlen);
    if (config->addr_bits < config->xlen)
        pug_text_format(&text, "addresses of %u bits, ", config->addr_bits);
    pug_text_format(&text, config->mode == PUG_NTRACE_MODE_BTM   ? "branch trace messaging"
                           : config->mode == PUG_NTRACE_MODE_HTM ? "history trace messaging"
                                                                 : "mode detected");
    pug_text_format(&text, "\nSRC: %u bits, id %u\n", config->src_bits, config->src_id);
    pug_text_format(&text, "Timestamps: %s",
                    config->timestamps == PUG_NTRACE_TS_ON    ? "on"
                    : config->timestamps == PUG_NTRACE_TS_OFF ? "off"
                                                              : "detected");
    if (config->ts_width)
        pug_text_format(&text, ", %u bits", config->ts_width);
    pug_text_format(
        &text, "\nOptions:%s%s%s%s%s%s%s%s\n", config->implicit_return ? " implicit_return" : "",
        config->sequential_jump ? " sequential_jump" : "", config->all_jumps ? " all_jumps" : "",
        config->extend_addr_msb ? " extend_addr_msb" : "",
        config->sifive ? " dialect sifive-pre1" : "", config->zcmp_zcmt ? " zcmp_zcmt" : "",
        config->align ? " align " : "", config->align ? align_words[config->align] : "");
    if (config->jvt_base)
        pug_text_format(&text, "Jump table: 0x%llx\n", (unsigned long long)config->jvt_base);
    return pug_text_end(&text);
}

#define WIDTH(bits)                                                                                \
    {                                                                                              \
        "xlen=64 src_bits=" bits, "src_bits=" bits, "nexus", 1                                     \
    }

static const struct pug_usual usual[] = {
    WIDTH("0"), WIDTH("1"), WIDTH("2"), WIDTH("3"),  WIDTH("4"),  WIDTH("5"),  WIDTH("6"),
    WIDTH("7"), WIDTH("8"), WIDTH("9"), WIDTH("10"), WIDTH("11"), WIDTH("12"), {0}};

static const struct pug_doubt doubts[] = {
    {"implicit_return", "returns that are not told", UINT64_MAX, {0, 1}, 2},
    {"sequential_jump", "jumps that are not told", UINT64_MAX, {0, 1}, 2},
    {"xlen", "bits of a register", UINT64_MAX, {32, 64}, 2},
    {"src_bits", "bits of the SRC field", UINT64_MAX, {0, 1, 2, 3, 4, 5, 6, 8, 10, 12}, 10},
    {"ts", "timestamps in messages", UINT64_MAX, {0, 1}, 2},
    {0},
};

static const struct pug_description description = {
    .transport = "nexus", .usual = usual, .fit = pug_ntrace_fit, .doubts = doubts};

const struct pug_protocol pug_protocol_ntrace = {
    .name = "N-Trace",
    .title = "RISC-V N-Trace (Nexus-based instruction trace)",
    .reader_name = "PKTP_NTRACE",
    .decoder_name = "DCD_NTRACE",
    .program_flow = true,
    .description = &description,
    .config_new = pug_ntrace_config_new,
    .config_free = pug_ntrace_config_free,
    .trace_id = pug_ntrace_trace_id,
    .config_text = pug_ntrace_config_text,
    .reader_new = pug_ntrace_reader_new,
    .reader_free = pug_ntrace_reader_free,
    .read = pug_ntrace_read,
    .read_end = pug_ntrace_read_end,
    .reader_reset = pug_ntrace_reader_reset,
    .decoder_new = pug_ntrace_decoder_new,
    .decoder_free = pug_ntrace_decoder_free,
    .decode = pug_ntrace_decode,
    .resume = pug_ntrace_resume,
    .fast_path = pug_ntrace_fast_path,
    .decode_end = pug_ntrace_decode_end,
    .decoder_reset = pug_ntrace_decoder_reset,
    .packet_text = pug_ntrace_packet_text,
    .packet_name = pug_ntrace_packet_name,
    .packet_marks = pug_ntrace_marks,
    .reader_state = pug_ntrace_reader_state,
    .reader_clock = pug_ntrace_reader_clock,
    .reader_set_time = pug_ntrace_reader_set_time,
    .decoder_state = pug_ntrace_decoder_state,
    .self_synced = pug_ntrace_self_synced,
};
