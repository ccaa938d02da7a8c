// SPDX-License-Identifier: MIT
/**
 * @file Registers of a trace unit that a file of trace does not come with: what is usual for a
 * core, and what the trace says itself.
 */
#include "capture/raw.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what is usual ---- */

struct usual {
    const char *name;
    uint32_t value;
};

/* Of the programmed register the value of plain instruction trace with a return stack, which harms
 * nothing where the unit had none. */
#define ETMV4(idr0, idr1, idr2, idr8)                                                              \
    {                                                                                              \
        {"TRCCONFIGR", 0x1001}, {"TRCIDR0", (idr0)}, {"TRCIDR1", (idr1)}, {"TRCIDR2", (idr2)},     \
        {                                                                                          \
            "TRCIDR8", (idr8)                                                                      \
        }                                                                                          \
    }
#define ETM3(idr, ccer)                                                                            \
    {                                                                                              \
        {"ETMCR", 0}, {"ETMIDR", (idr)},                                                           \
        {                                                                                          \
            "ETMCCER", (ccer)                                                                      \
        }                                                                                          \
    }

/*
 * What the identification registers of these cores' units hold. The source of each row stands in
 * front of it; "captures" are those that are published with OpenCSD. The last row of an
 * architecture is for cores without one of their own.
 */
static const struct {
    const char *cores; /* between blanks, in lower case, letters and digits alone; "": others */
    enum pug_arch arch;
    enum pug_arch_profile profile;
    struct usual registers[PUG_CAPTURE_USUAL];
} rows[] = {
    /* Read from a Cortex-M4 of an STM32F429; ETMIDR also in the device header of a SAM E5x. The
     * fields of a Cortex-M3's ETMIDR are the same (Arm DDI 0337). */
    {" cortexm3 cortexm4 cortexm4f sc300 ", PUG_ARCH_V7, PUG_PROFILE_M,
     ETM3(0x4114f250, 0x18541800)},
    /* Read from a Cortex-M7 of an STM32H743. */
    {"", PUG_ARCH_V7, PUG_PROFILE_M, ETMV4(0x080006e1, 0x4100f401, 0x00000004, 1)},
    /* TRCIDR0 and 1 read from a Cortex-M85 of an RA8M2; the others as of a Cortex-M33: not
     * verified. */
    {" cortexm55 cortexm52 cortexm85 ", PUG_ARCH_V8, PUG_PROFILE_M,
     ETMV4(0x280006e1, 0x4100f454, 0x00000004, 0)},
    /* Cortex-M33: header of the RP2350; the fields of TRCIDR2 in Arm 100232. */
    {"", PUG_ARCH_V8, PUG_PROFILE_M, ETMV4(0x280006e1, 0x4100f421, 0x00000004, 0)},
    /* Cortex-A7: captures (TC2). ETMIDR of a Cortex-A5 is 0x410cf25x (Arm DDI 0435). */
    {" cortexa5 cortexa7 ", PUG_ARCH_V7, PUG_PROFILE_A, ETM3(0x410cf250, 0x344008f2)},
    /* Register summary of the Zynq-7000; captures (Snowball). It has no timestamps. */
    {" cortexa9 ", PUG_ARCH_V7, PUG_PROFILE_A, ETM3(0x411cf301, 0x000008ea)},
    /* PTM of a Cortex-A15: captures (TC2). Others are not verified. */
    {"", PUG_ARCH_V7, PUG_PROFILE_A, ETM3(0x411cf312, 0x34c01ac2)},
    /* Cortex-A57: captures (Juno). A Cortex-A72 differs in the revision alone (captures). */
    {" cortexa57 cortexa72 ", PUG_ARCH_V8, PUG_PROFILE_A,
     ETMV4(0x28000ea1, 0x4100f402, 0x00000488, 0)},
    /* Cortex-A53: captures (Juno). The fields of a Cortex-A35's TRCIDR1 and 2 are the same (Arm
     * 100236). */
    {"", PUG_ARCH_V8, PUG_PROFILE_A, ETMV4(0x28000ea1, 0x4100f403, 0x00000488, 0)},
    /* Cortex-A55: captures. */
    {" cortexa55 ", PUG_ARCH_V8R3, PUG_PROFILE_A, ETMV4(0x08000ca1, 0x4200f410, 0x20001088, 0)},
    /* Cortex-A76: the fields of TRCIDR0 (but RETSTACK), 1 and 2 in Arm 100798; TRCIDR8 is not
     * verified. */
    {"", PUG_ARCH_V8R3, PUG_PROFILE_A, ETMV4(0x28000ea1, 0x4100f423, 0x20001088, 0)},
    /* ETE of Arm's models: captures. */
    {"", PUG_ARCH_AA64, PUG_PROFILE_A, ETMV4(0x2801cea1, 0x4100fff0, 0xd0001088, 0)},
};

/** " cortexa53 ": as the rows have it. */
static void simplify(const char *core, char *word, size_t size)
{
    size_t used = 0;
    word[used++] = ' ';
    for (; *core && used + 2 < size; core++)
        if (isalnum((unsigned char)*core))
            word[used++] = (char)tolower((unsigned char)*core);
    word[used++] = ' ';
    word[used] = 0;
}

/** The row of a core; NULL: it is not known, or nothing is usual for it. */
static const struct usual *usual_of(const char *core)
{
    enum pug_arch arch;
    enum pug_arch_profile profile;
    char word[64];
    if (!pug_core_by_name(core, &arch, &profile))
        return NULL;
    simplify(core, word, sizeof(word));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].arch == arch && rows[i].profile == profile &&
            (!*rows[i].cores || strstr(rows[i].cores, word)))
            return rows[i].registers;
    return NULL;
}

static const struct pug_register *registers_of(const struct pug_capture_raw *raw)
{
    return raw->protocol->description ? raw->protocol->description->registers : NULL;
}

/** Is it one that has to be known to decode? */
static bool matters(const struct pug_register *wanted)
{
    return wanted->need == PUG_REGISTER_REQUIRED || wanted->need == PUG_REGISTER_ASSUMED;
}

static bool is_given(const struct pug_settings *settings, const struct pug_register *wanted)
{
    return pug_settings_find(settings, wanted->name) ||
           (wanted->other_name && pug_settings_find(settings, wanted->other_name));
}

void pug_capture_raw_add_usual(struct pug_capture_raw *raw)
{
    const struct pug_settings given = {.items = raw->items, .count = raw->count};
    const char *core = pug_settings_word(&given, "core", NULL);
    const struct usual *usual = core ? usual_of(core) : NULL;
    const struct pug_register *wanted = registers_of(raw);
    raw->usual_at = raw->count;
    for (; usual && wanted && wanted->name; wanted++) {
        if (!matters(wanted) || is_given(&given, wanted))
            continue;
        for (size_t i = 0; i < PUG_CAPTURE_USUAL && usual[i].name; i++)
            if (strcmp(usual[i].name, wanted->name) == 0)
                raw->items[raw->count++] =
                    (struct pug_setting){.name = wanted->name, .value = usual[i].value};
    }
    raw->usual = raw->count - raw->usual_at;
}

/* ---- what is reported ---- */

bool pug_capture_raw_has_id(const struct pug_capture_raw *raw, const struct pug_settings *settings)
{
    const struct pug_register *wanted = registers_of(raw);
    for (; wanted && wanted->name; wanted++)
        if (wanted->need == PUG_REGISTER_ID && is_given(settings, wanted))
            return true;
    return false;
}

/** Is the id of the source missing, and cannot be found in the trace? */
static bool lacks_id(const struct pug_capture *capture, const struct pug_register *wanted)
{
    const struct pug_capture_raw *raw = capture->own;
    return wanted->need == PUG_REGISTER_ID && raw->protocol->description->traces_core &&
           !raw->transport->single && capture->kind != PUG_CAPTURE_RAW &&
           capture->kind != PUG_CAPTURE_STREAM;
}

static void append(char *text, size_t size, const char *words)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, " %s", words);
}

static void say_usual(const struct pug_capture *capture)
{
    const struct pug_capture_raw *raw = capture->own;
    const struct pug_settings given = {.items = raw->items, .count = raw->count};
    char text[400] = "", word[48];
    for (size_t i = 0; i < raw->usual; i++) {
        snprintf(word, sizeof(word), "%s=0x%" PRIx32, raw->items[raw->usual_at + i].name,
                 (uint32_t)raw->items[raw->usual_at + i].value);
        append(text, sizeof(text), word);
    }
    if (raw->usual > 0)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: registers were not given; those usual for %s are assumed:%s; give the "
                        "right ones with --set NAME=VALUE or --params FILE",
                        raw->protocol->name, pug_settings_word(&given, "core", ""), text);
}

bool pug_capture_raw_registers(const struct pug_capture *capture,
                               const struct pug_settings *settings)
{
    const struct pug_capture_raw *raw = capture->own;
    const struct pug_register *wanted = registers_of(raw);
    char required[160] = "", assumed[200] = "", word[64];
    for (; wanted && wanted->name; wanted++) {
        if (is_given(settings, wanted) || !(matters(wanted) || lacks_id(capture, wanted)))
            continue;
        if (wanted->need != PUG_REGISTER_ASSUMED) {
            append(required, sizeof(required), wanted->name);
            continue;
        }
        snprintf(word, sizeof(word), "%s (taken for 0x%" PRIx32 ")", wanted->name, wanted->assumed);
        append(assumed, sizeof(assumed), word);
    }
    say_usual(capture);
    if (*required)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK,
                        "%s cannot be read without registers:%s; give them with --set NAME=VALUE, "
                        "or --core NAME for that core's usual ones (pugmark --list-cores)",
                        raw->protocol->name, required);
    else if (*assumed)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK, "%s: registers are missing:%s",
                        raw->protocol->name, assumed);
    return !*required;
}
