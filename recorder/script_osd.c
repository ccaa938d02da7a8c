// SPDX-License-Identifier: MIT
/** @file Events of Open SoC Debug's modules. */
#include "recorder/osd.h"
#include "recorder/script.h"

#include <stdlib.h>
#include <string.h>

#define CORE_FLAGS 0x1fu /* mode, return, call, the mode changed */

enum kind { NONE, CORE, SYSTEM };

struct rec_script {
    struct rec_osd *osd;
    uint8_t kinds[REC_OSD_MODULES]; /* enum kind: what a module has sent */
    uint8_t widths[REC_OSD_MODULES];
};

static struct rec_script *make(const struct rec_script_config *config, struct rec_bytes *out)
{
    struct rec_script *script = calloc(1, sizeof(*script));
    if (!script)
        return NULL;
    script->osd = rec_osd_new(&(struct rec_osd_options){.longest = (unsigned)config->longest,
                                                        .dest = 0x401,
                                                        .interleave = config->seed != 0,
                                                        .seed = config->seed},
                              out);
    if (script->osd)
        return script;
    free(script);
    return NULL;
}

static void script_free(struct rec_script *script)
{
    rec_osd_free(script->osd);
    free(script);
}

static bool is_width(uint64_t width)
{
    return width > 0 && width <= 64 && width % 16 == 0;
}

static bool core(struct rec_osd *osd, const struct rec_words *words)
{
    uint64_t v[6];
    if (!rec_words_numbers(words, 6, v) || v[0] >= REC_OSD_MODULES || !is_width(v[1]) ||
        v[2] > UINT32_MAX || !rec_number_fits(v[3], v[1]) || !rec_number_fits(v[4], v[1]) ||
        v[5] > CORE_FLAGS)
        return false;
    rec_osd_ctm(osd, (unsigned)v[0], (unsigned)v[1],
                &(struct rec_ctm_event){.timestamp = (uint32_t)v[2],
                                        .npc = v[3],
                                        .pc = v[4],
                                        .mode = v[5] & 3,
                                        .ret = v[5] >> 2 & 1,
                                        .call = v[5] >> 3 & 1,
                                        .modechange = v[5] >> 4 & 1});
    return true;
}

static bool of_system(struct rec_osd *osd, const struct rec_words *words)
{
    uint64_t v[5];
    if (!rec_words_numbers(words, 5, v) || v[0] >= REC_OSD_MODULES || !is_width(v[1]) ||
        v[2] > UINT32_MAX || v[3] > UINT16_MAX || !rec_number_fits(v[4], v[1]))
        return false;
    rec_osd_stm(osd, (unsigned)v[0], (unsigned)v[1], (uint32_t)v[2], (uint16_t)v[3], v[4]);
    return true;
}

bool rec_script_osd_event(struct rec_osd *osd, const struct rec_words *words)
{
    uint64_t v[3];
    if (strcmp(words->at[0], "ctm") == 0)
        return core(osd, words);
    if (strcmp(words->at[0], "stm") == 0)
        return of_system(osd, words);
    if (strcmp(words->at[0], "overflow") == 0) {
        if (!rec_words_numbers(words, 2, v) || v[0] >= REC_OSD_MODULES || v[1] > UINT16_MAX)
            return false;
        rec_osd_overflow(osd, (unsigned)v[0], (uint16_t)v[1]);
        return true;
    }
    if (strcmp(words->at[0], "register") != 0 || !rec_words_numbers(words, 3, v) ||
        v[0] >= REC_OSD_MODULES || v[1] > UINT16_MAX || v[2] > UINT16_MAX)
        return false;
    rec_osd_register(osd, (unsigned)v[0], (uint16_t)v[1], (uint16_t)v[2]);
    return true;
}

/** A module is of one kind, and of one width. */
static bool is_its(struct rec_script *script, const struct rec_words *words, enum kind kind)
{
    uint64_t module, width;
    if (words->count < 3 || !rec_words_number(words->at[1], REC_OSD_MODULES - 1, &module) ||
        !rec_words_number(words->at[2], 64, &width) || (width == 48 && kind != CORE) ||
        (script->kinds[module] != NONE &&
         (script->kinds[module] != kind || script->widths[module] != width)))
        return false;
    script->kinds[module] = (uint8_t)kind;
    script->widths[module] = (uint8_t)width;
    return true;
}

static bool event(struct rec_script *script, const struct rec_words *words)
{
    bool of_core = strcmp(words->at[0], "ctm") == 0, system = strcmp(words->at[0], "stm") == 0;
    return (!(of_core || system) || is_its(script, words, of_core ? CORE : SYSTEM)) &&
           rec_script_osd_event(script->osd, words);
}

static void end(struct rec_script *script)
{
    rec_osd_finish(script->osd);
}

static const char *source(const struct rec_script *script, unsigned n, FILE *registers)
{
    for (unsigned module = 0; module < REC_OSD_MODULES; module++) {
        if (script->kinds[module] == NONE || n-- > 0)
            continue;
        bool is_core = script->kinds[module] == CORE;
        fprintf(registers, "src_id=%u\n%s=%u\n", module, is_core ? "ADDR_WIDTH" : "VALWIDTH",
                script->widths[module]);
        return is_core ? "OSD-CTM" : "OSD-STM";
    }
    return NULL;
}

const struct rec_script_class rec_script_osd = {.name = "Open SoC Debug",
                                                .format = "osd",
                                                .make = make,
                                                .free = script_free,
                                                .event = event,
                                                .end = end,
                                                .source = source};
