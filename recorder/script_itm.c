// SPDX-License-Identifier: MIT
/** @file Events of an Instrumentation Trace Macrocell: of software, and of the DWT. */
#include "recorder/itm.h"
#include "recorder/script.h"

#include <stdlib.h>
#include <string.h>

struct rec_script {
    struct rec_script_config config;
    struct rec_random random;
    struct rec_bytes *out;
    bool begun;
    uint64_t since;      /* events since it was synchronised */
    unsigned page;       /* of stimulus ports, as it was sent last */
    uint64_t time, told; /* told: the time sent by local timestamps */
};

static struct rec_script *make(const struct rec_script_config *config, struct rec_bytes *out)
{
    struct rec_script *script = calloc(1, sizeof(*script));
    if (!script)
        return NULL;
    script->config = *config;
    script->random.state = config->seed;
    script->out = out;
    return script;
}

static void script_free(struct rec_script *script)
{
    free(script);
}

static bool once_in(struct rec_script *script, uint32_t n)
{
    return script->config.seed && rec_random_once_in(&script->random, n);
}

/** Time has passed since the last timestamp: it belongs to what was sent before. */
static void tell_time(struct rec_script *script)
{
    while (script->told < script->time) {
        uint64_t delta = script->time - script->told;
        uint32_t part = delta < REC_ITM_LOCAL_MOST ? (uint32_t)delta : REC_ITM_LOCAL_MOST;
        unsigned relation = script->config.seed ? rec_random_below(&script->random, 4) : 0;
        rec_itm_local_ts(script->out, relation, part);
        script->told += part;
    }
}

static void synchronise(struct rec_script *script)
{
    rec_itm_async(script->out);
    script->page = 0;
    script->begun = true;
    script->since = 0;
}

static void select_page(struct rec_script *script, unsigned port)
{
    if (port / 32 == script->page && !once_in(script, 30))
        return;
    script->page = port / 32;
    rec_itm_page(script->out, script->page);
}

static bool write_port(struct rec_script *script, const struct rec_words *words)
{
    uint64_t v[3];
    if (!rec_words_numbers(words, 3, v) || v[0] > 255 || (v[1] != 1 && v[1] != 2 && v[1] != 4) ||
        v[2] >> 8 * v[1])
        return false;
    select_page(script, (unsigned)v[0]);
    rec_itm_swit(script->out, (unsigned)v[0], (uint32_t)v[2], (unsigned)v[1]);
    return true;
}

/** A text, in writes of a byte each; with a seed of up to four at once, as libraries do it. */
static bool write_text(struct rec_script *script, const struct rec_words *words)
{
    uint64_t port;
    if (words->count != 3 || !rec_words_number(words->at[1], 255, &port))
        return false;
    select_page(script, (unsigned)port);
    for (const char *at = words->at[2]; *at;) {
        unsigned size = strlen(at) >= 4 && once_in(script, 2) ? 4 : 1;
        uint32_t value = 0;
        for (unsigned i = 0; i < size; i++)
            value |= (uint32_t)(uint8_t)at[i] << 8 * i;
        rec_itm_swit(script->out, (unsigned)port, value, size);
        at += size;
    }
    return true;
}

static bool exception(struct rec_script *script, const struct rec_words *words)
{
    static const char *const actions[] = {"entered", "exited", "returned"};
    uint64_t number;
    if (words->count != 3 || !rec_words_number(words->at[1], 0x1ff, &number))
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(words->at[2], actions[i]) != 0)
            continue;
        rec_itm_dwt(script->out, REC_DWT_EXCEPTION, (uint32_t)number | (i + 1) << 12, 2);
        return true;
    }
    return false;
}

static bool sample(struct rec_script *script, const struct rec_words *words)
{
    uint64_t pc;
    if (words->count != 2)
        return false;
    if (strcmp(words->at[1], "sleeping") == 0)
        rec_itm_dwt(script->out, REC_DWT_SAMPLE, 0, 1);
    else if (strcmp(words->at[1], "denied") == 0)
        rec_itm_dwt(script->out, REC_DWT_SAMPLE, 0xff, 1);
    else if (rec_words_number(words->at[1], UINT32_MAX, &pc))
        rec_itm_dwt(script->out, REC_DWT_SAMPLE, (uint32_t)pc, 4);
    else
        return false;
    return true;
}

/** A data access: what the comparator was set to tell of it. */
static bool data(struct rec_script *script, const struct rec_words *words)
{
    uint64_t n, pc, address, value, size;
    if (words->count < 3 || !rec_words_number(words->at[1], 3, &n) ||
        !rec_words_named(words, "pc", UINT32_MAX, 0, &pc) ||
        !rec_words_named(words, "address", UINT32_MAX, 0, &address) ||
        !rec_words_named(words, "value", UINT32_MAX, 0, &value) ||
        !rec_words_named(words, "size", 4, 4, &size) || (size != 1 && size != 2 && size != 4) ||
        (size < 4 && value >> 8 * size))
        return false;
    bool reads = rec_words_flag(words, "read"), writes = rec_words_flag(words, "written");
    if ((rec_words_value(words, "value") != NULL) != (reads != writes) || (reads && writes))
        return false;
    unsigned source = REC_DWT_ACCESS + 2 * (unsigned)n;
    if (rec_words_value(words, "pc"))
        rec_itm_dwt(script->out, source, (uint32_t)pc, 4);
    if (rec_words_value(words, "address")) /* ARMv7-M sends its lower half alone */
        rec_itm_dwt(script->out, source + 1, (uint32_t)address, address >> 16 ? 4 : 2);
    if (reads || writes)
        rec_itm_dwt(script->out, REC_DWT_VALUE + 2 * (unsigned)n + writes, (uint32_t)value,
                    (unsigned)size);
    return rec_words_value(words, "pc") || rec_words_value(words, "address") || reads || writes;
}

static bool byte(struct rec_script *script, const struct rec_words *words, unsigned source)
{
    uint64_t value;
    if (!rec_words_numbers(words, 1, &value) || value > UINT8_MAX)
        return false;
    rec_itm_dwt(script->out, source, (uint32_t)value, 1);
    return true;
}

static bool match(struct rec_script *script, const struct rec_words *words)
{
    uint64_t n;
    if (!rec_words_numbers(words, 1, &n) || n > 3)
        return false;
    rec_itm_dwt(script->out, REC_DWT_ACCESS + 2 * (unsigned)n, 1, 1);
    return true;
}

/** The system's own time: its upper half first, so that it is known from here on. */
static bool global_time(struct rec_script *script, const struct rec_words *words)
{
    uint64_t time;
    if (!rec_words_numbers(words, 1, &time) || time >> 48)
        return false;
    rec_itm_put(script->out, &(struct pug_itm_packet){.type = PUG_ITM_PKT_GTS1,
                                                      .size = 4,
                                                      .value = time & 0x03ffffff,
                                                      .source = PUG_ITM_GTS1_WRAP});
    rec_itm_put(script->out, &(struct pug_itm_packet){.type = PUG_ITM_PKT_GTS2,
                                                      .size = 4,
                                                      .value = (uint32_t)(time >> 26)});
    return true;
}

static bool put_event(struct rec_script *script, const struct rec_words *words)
{
    const char *name = words->at[0];
    if (strcmp(name, "write") == 0)
        return write_port(script, words);
    if (strcmp(name, "text") == 0)
        return write_text(script, words);
    if (strcmp(name, "exception") == 0)
        return exception(script, words);
    if (strcmp(name, "sample") == 0)
        return sample(script, words);
    if (strcmp(name, "data") == 0)
        return data(script, words);
    if (strcmp(name, "counters") == 0)
        return byte(script, words, REC_DWT_COUNTERS);
    if (strcmp(name, "pmu") == 0)
        return byte(script, words, REC_DWT_PMU);
    if (strcmp(name, "match") == 0)
        return match(script, words);
    if (strcmp(name, "time") == 0)
        return global_time(script, words);
    if (strcmp(name, "overflow") != 0 || words->count != 1)
        return false;
    rec_itm_put(script->out, &(struct pug_itm_packet){.type = PUG_ITM_PKT_OVERFLOW});
    return true;
}

static bool event(struct rec_script *script, const struct rec_words *words)
{
    uint64_t time;
    if (!script->begun)
        synchronise(script);
    if (strcmp(words->at[0], "at") == 0) {
        if (!rec_words_numbers(words, 1, &time) || time < script->time)
            return false;
        script->time = time;
        tell_time(script);
        return true;
    }
    if (script->config.sync && script->since >= script->config.sync)
        synchronise(script);
    script->since++;
    return put_event(script, words);
}

static void end(struct rec_script *script)
{
    (void)script; /* packets are whole bytes */
}

static const char *source(const struct rec_script *script, unsigned n, FILE *registers)
{
    if (n > 0)
        return NULL;
    fprintf(registers, "ITMTCR(0xE80)=0x%08x\n", (unsigned)script->config.source << 16 | 1);
    return "ITM";
}

const struct rec_script_class rec_script_itm = {.name = "ITM",
                                                .format = "coresight",
                                                .frames = true,
                                                .make = make,
                                                .free = script_free,
                                                .event = event,
                                                .end = end,
                                                .source = source};
