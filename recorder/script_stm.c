// SPDX-License-Identifier: MIT
/** @file Events of a System Trace Macrocell: what masters write to channels. */
#include "recorder/script.h"
#include "recorder/stm.h"

#include <stdlib.h>
#include <string.h>

enum { NATURAL = 3, GREY = 4 }; /* what VERSION says of timestamps */

struct rec_script {
    struct rec_script_config config;
    struct rec_random random;
    struct rec_stm stm;
    bool begun;
    uint64_t since; /* events since it was synchronised */
    uint8_t version;
    uint8_t master, told_master;
    uint16_t channel, told_channel;
    uint64_t time, told_time;
};

static struct rec_script *make(const struct rec_script_config *config, struct rec_bytes *out)
{
    struct rec_script *script = calloc(1, sizeof(*script));
    if (!script)
        return NULL;
    script->config = *config;
    script->random.state = config->seed;
    script->stm.bytes = out;
    script->version = config->seed && rec_random_once_in(&script->random, 2) ? GREY : NATURAL;
    return script;
}

static void script_free(struct rec_script *script)
{
    free(script);
}

/** Where the seed leaves a choice: returns true once in so many times. */
static bool once_in(struct rec_script *script, uint32_t n)
{
    return script->config.seed && rec_random_once_in(&script->random, n);
}

static void put(struct rec_script *script, enum pug_stm_packet_type type, uint64_t payload)
{
    rec_stm_put(&script->stm, &(struct pug_stm_packet){.type = (uint8_t)type, .payload = payload});
}

static void synchronise(struct rec_script *script)
{
    put(script, PUG_STM_ASYNC, 0);
    put(script, PUG_STM_VERSION, script->version);
    script->told_master = 0;
    script->told_channel = 0;
    script->begun = true;
    script->since = 0;
}

/** Send the writer's identity: as little of it as is needed, or more. */
static void tell_writer(struct rec_script *script)
{
    struct pug_stm_packet packet = {.master = script->master, .channel = script->channel};
    if (script->master != script->told_master || once_in(script, 20)) {
        packet.type = PUG_STM_M8;
        rec_stm_put(&script->stm, &packet);
        script->told_master = script->master;
        script->told_channel = 0;
    }
    if (script->channel == script->told_channel && !once_in(script, 20))
        return;
    bool near = script->channel >> 8 == script->told_channel >> 8;
    packet.type = near && !once_in(script, 3) ? PUG_STM_C8 : PUG_STM_C16;
    rec_stm_put(&script->stm, &packet);
    script->told_channel = script->channel;
}

/** A packet with the time, if it is to have one. */
static void put_timed(struct rec_script *script, struct pug_stm_packet packet, bool timed)
{
    packet.has_ts = timed;
    if (timed) {
        packet.ts_type = script->version == GREY ? PUG_STM_TS_GREY : PUG_STM_TS_NATURAL;
        packet.timestamp = script->time;
        packet.ts_bits = rec_stm_ts_bits(script->told_time, script->time, packet.ts_type);
        if (once_in(script, 6))
            packet.ts_bits = 64;
        script->told_time = script->time;
    }
    rec_stm_put(&script->stm, &packet);
}

static bool write_data(struct rec_script *script, const struct rec_words *words)
{
    static const struct {
        unsigned bits;
        enum pug_stm_packet_type type;
    } sizes[] = {
        {4, PUG_STM_D4}, {8, PUG_STM_D8}, {16, PUG_STM_D16}, {32, PUG_STM_D32}, {64, PUG_STM_D64}};
    uint64_t bits, value;
    if (words->count < 3 || !rec_words_number(words->at[1], 64, &bits) ||
        !rec_words_number(words->at[2], UINT64_MAX, &value))
        return false;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i].bits != bits || (bits < 64 && value >> bits))
            continue;
        put_timed(script,
                  (struct pug_stm_packet){.type = (uint8_t)sizes[i].type,
                                          .payload = value,
                                          .marker = rec_words_flag(words, "marked")},
                  rec_words_flag(words, "timed"));
        return true;
    }
    return false;
}

/** A message: bytes, the last of them marked, and a flag. */
static bool write_text(struct rec_script *script, const struct rec_words *words)
{
    if (words->count < 2 || !words->at[1][0])
        return false;
    for (const char *at = words->at[1]; *at; at++)
        put_timed(script,
                  (struct pug_stm_packet){
                      .type = PUG_STM_D8, .payload = (uint8_t)*at, .marker = at[1] == 0},
                  at == words->at[1] && rec_words_flag(words, "timed"));
    put_timed(script, (struct pug_stm_packet){.type = PUG_STM_FLAG}, false);
    return true;
}

static bool plain(struct rec_script *script, const struct rec_words *words)
{
    static const struct {
        const char *name;
        enum pug_stm_packet_type type;
        uint64_t most;
        bool timed;
    } events[] = {
        {"trigger", PUG_STM_TRIG, UINT8_MAX, true},
        {"error", PUG_STM_GERR, UINT8_MAX, false},
        {"master-error", PUG_STM_MERR, UINT8_MAX, false},
        {"frequency", PUG_STM_FREQ, UINT32_MAX, false},
    };
    uint64_t value;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (strcmp(words->at[0], events[i].name) != 0)
            continue;
        bool timed = rec_words_flag(words, "timed");
        if (words->count < 2 || !rec_words_number(words->at[1], events[i].most, &value) ||
            (timed && !events[i].timed))
            return false;
        put_timed(script,
                  (struct pug_stm_packet){.type = (uint8_t)events[i].type, .payload = value},
                  timed);
        return true;
    }
    return false;
}

/** What changes what follows, and is no packet itself. 1: it was that, 0: it is not, -1: wrong. */
static int state(struct rec_script *script, const struct rec_words *words)
{
    uint64_t value;
    bool number = words->count == 2 && rec_words_number(words->at[1], UINT64_MAX, &value);
    if (strcmp(words->at[0], "at") == 0) {
        bool good = number && value >= script->time;
        script->time = good ? value : script->time;
        return good ? 1 : -1;
    }
    if (strcmp(words->at[0], "master") == 0) {
        script->master = number ? (uint8_t)value : 0;
        return number && value <= UINT8_MAX ? 1 : -1;
    }
    if (strcmp(words->at[0], "channel") == 0) {
        script->channel = number ? (uint16_t)value : 0;
        return number && value <= UINT16_MAX ? 1 : -1;
    }
    return 0;
}

static bool event(struct rec_script *script, const struct rec_words *words)
{
    int done = state(script, words);
    if (done != 0)
        return done > 0;
    if (!script->begun || (script->config.sync && script->since >= script->config.sync))
        synchronise(script);
    script->since++;
    if (once_in(script, 8))
        put(script, PUG_STM_NULL, 0);
    if (strcmp(words->at[0], "frequency") != 0 && strcmp(words->at[0], "error") != 0)
        tell_writer(script);
    if (strcmp(words->at[0], "write") == 0)
        return write_data(script, words);
    if (strcmp(words->at[0], "text") == 0)
        return write_text(script, words);
    if (strcmp(words->at[0], "flag") == 0 || strcmp(words->at[0], "null") == 0) {
        put_timed(
            script,
            (struct pug_stm_packet){.type = words->at[0][0] == 'f' ? PUG_STM_FLAG : PUG_STM_NULL},
            rec_words_flag(words, "timed"));
        return true;
    }
    return plain(script, words);
}

static void end(struct rec_script *script)
{
    rec_stm_end(&script->stm);
}

static const char *source(const struct rec_script *script, unsigned n, FILE *registers)
{
    if (n > 0)
        return NULL;
    fprintf(registers, "STMTCSR(0x3A0)=0x%08x\n", (unsigned)script->config.source << 16 | 7);
    return "STM";
}

const struct rec_script_class rec_script_stm = {.name = "STM",
                                                .format = "coresight",
                                                .frames = true,
                                                .make = make,
                                                .free = script_free,
                                                .event = event,
                                                .end = end,
                                                .source = source};
