// SPDX-License-Identifier: MIT
/**
 * @file Modules are distinguished by their type register, where the capture contains a read of it,
 * and otherwise by their events. A Core Trace Module's have 5, 7, 9 or 11 words, by the width of
 * its addresses; the last one is flags, of which bits 15:5 are not used. A System Trace Module's
 * have
 * 4, 5 or 7, and end with the high bits of a value. So 9 and 11 words are a core's, whatever they
 * say.
 *
 * Where both have so many words, a core's event has one of call, return and change of mode, since
 * otherwise there is no event, and RISC-V's instructions are at even addresses. Where the user says
 * that the trace is a core's, it is enough that flags are not 0 and that the width fits.
 */
#include "transport/osd_modules.h"

#include "transport/osd_asked.h"

#include <stdlib.h>

#define MODULES       65536u
#define MOD_TYPE      1u
#define FLAGS_FREE    0xffe0u /* not used */
#define FLAGS_WHY     0x001cu /* call, return, change of mode */
#define TIME_WORDS    2u
#define MOST_SOFTWARE 7u /* words of a System Trace Module's event */

/** The content that one module sent. */
struct module {
    uint32_t core, software, other; /* events by whose they may be; core: … and not a software's */
    uint16_t type;                  /* MOD_TYPE, 0: unknown */
    uint16_t npc;                   /* of an event that is split: its low word */
    uint16_t words;                 /* … and how many have come */
    struct pug_osd_asked asked;
};

struct pug_osd_modules {
    struct pug_osd_expected expected;
    struct module *of[MODULES];
};

struct pug_osd_modules *pug_osd_modules_new(void)
{
    return calloc(1, sizeof(struct pug_osd_modules));
}

void pug_osd_modules_expect(struct pug_osd_modules *modules,
                            const struct pug_osd_expected *expected)
{
    modules->expected = *expected;
}

void pug_osd_modules_free(struct pug_osd_modules *modules)
{
    for (unsigned i = 0; modules && i < MODULES; i++)
        free(modules->of[i]);
    free(modules);
}

static unsigned word_at(const struct pug_run *run, unsigned n)
{
    return (unsigned)run->bytes[2 * n] << 8 | run->bytes[2 * n + 1];
}

static void note_register(struct module *module, const struct pug_run *run, unsigned flags)
{
    const unsigned words = (unsigned)run->size / 2 - PUG_OSD_HEADER;
    uint16_t number;
    if (pug_osd_is_request(flags) && words > 0)
        pug_osd_asked_add(&module->asked, (uint16_t)word_at(run, PUG_OSD_HEADER));
    if (pug_osd_is_answer(flags) && pug_osd_asked_take(&module->asked, &number) &&
        number == MOD_TYPE && PUG_OSD_TYPE_SUB(flags) == 8 && words == 1)
        module->type = (uint16_t)word_at(run, PUG_OSD_HEADER);
}

/** Bits of the addresses of a core's event of so many words; 0: a core has no such events. */
static unsigned width_of(unsigned words)
{
    return words >= 5 && words <= 11 && words % 2 == 1 ? (words - 3) / 2 * 16 : 0;
}

static bool is_core(const struct pug_osd_expected *expected, unsigned words, unsigned npc,
                    unsigned flags)
{
    const unsigned width = width_of(words);
    if (width == 0 || (flags & FLAGS_FREE) != 0)
        return false;
    if (words > MOST_SOFTWARE)
        return true;
    if (expected->module == PUG_OSD_MODULE_CTM)
        return flags != 0 && (expected->width == 0 || expected->width == width);
    return (expected->odd || npc % 2 == 0) && (flags & FLAGS_WHY) != 0;
}

static void note_event(const struct pug_osd_expected *expected, struct module *module,
                       const struct pug_run *run, unsigned flags)
{
    unsigned words = (unsigned)run->size / 2 - PUG_OSD_HEADER, sub = PUG_OSD_TYPE_SUB(flags);
    if ((sub != PUG_OSD_LAST && sub != PUG_OSD_CONT) || words == 0)
        return;
    if (module->words == 0)
        module->npc = words > TIME_WORDS ? (uint16_t)word_at(run, PUG_OSD_HEADER + TIME_WORDS) : 0;
    module->words = (uint16_t)(module->words + words);
    if (sub == PUG_OSD_CONT)
        return;
    words = module->words;
    module->words = 0;
    bool software = words == 4 || words == 5 || words == 7;
    if (is_core(expected, words, module->npc, word_at(run, (unsigned)run->size / 2 - 1)))
        module->core++;
    else if (software)
        module->software++;
    else
        module->other++;
}

void pug_osd_modules_note(struct pug_osd_modules *modules, const struct pug_run *run)
{
    struct module **module = &modules->of[run->source];
    if (!*module)
        *module = calloc(1, sizeof(**module));
    if (!*module || run->size < 2 * PUG_OSD_HEADER)
        return;
    unsigned flags = word_at(run, 3);
    if (run->gap) /* a request may be missing, or an answer */
        (*module)->asked = (struct pug_osd_asked){.count = 0};
    if (PUG_OSD_TYPE(flags) == PUG_OSD_EVENT)
        note_event(&modules->expected, *module, run, flags);
    else
        note_register(*module, run, flags);
}

static enum pug_osd_module by_type(uint16_t type)
{
    const bool known = type == PUG_OSD_MODULE_CTM || type == PUG_OSD_MODULE_STM;
    return known ? (enum pug_osd_module)type : PUG_OSD_MODULE_OTHER;
}

enum pug_osd_module pug_osd_module(const struct pug_osd_modules *modules, uint16_t source)
{
    const struct module *module = modules->of[source];
    if (!module)
        return PUG_OSD_MODULE_SILENT;
    if (module->type != 0)
        return by_type(module->type);
    if (module->core == 0 && module->software == 0)
        return module->other > 0 ? PUG_OSD_MODULE_OTHER : PUG_OSD_MODULE_SILENT;
    /* some may be damaged, and some values look like flags */
    if (module->software + module->other <= module->core / 16)
        return PUG_OSD_MODULE_CTM;
    return module->other <= module->software + module->core ? PUG_OSD_MODULE_STM
                                                            : PUG_OSD_MODULE_OTHER;
}
