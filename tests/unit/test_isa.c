// SPDX-License-Identifier: MIT
/**
 * @file Instruction classes, from tests/cases/isa, both ways: the reference's and the right one.
 */
#include "base/text.h"
#include "pugmark/advanced/isa.h"
#include "pugmark/advanced/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a class in words ---- */

static const char *const type_words[] = {"OTHER", "BR", "IBR", "ISB", "DSB", "WFI", "TSTART"};
static const char *const subtype_words[] = {"",         " link",   " ret", " eret",
                                            " implied", " return", " xret"};
static const char *const kind_words[] = {"",      " branch", " call", " jump", " jumplink",
                                         " swap", " return", " xret", " trap", " const"};

static void describe(const struct pug_insn *insn, enum pug_isa isa, uint64_t address, uint8_t it,
                     struct pug_text *text)
{
    pug_text_put(text, type_words[insn->type]);
    bool riscv = isa >= PUG_ISA_RV32;
    if (!riscv || insn->subtype == PUG_SUB_BR_LINK)
        pug_text_put(text, subtype_words[insn->subtype]);
    if (insn->conditional)
        pug_text_put(text, " cond");
    pug_text_put(text, kind_words[insn->kind]);
    if (it)
        pug_text_format(text, " it %u", it);
    if (insn->rd)
        pug_text_format(text, " rd %u", insn->rd);
    if (insn->rs1)
        pug_text_format(text, " rs1 %u", insn->rs1);
    if (insn->constant)
        pug_text_format(text, " constant %lld", (long long)insn->constant);
    if (insn->table_jump)
        pug_text_put(text, " table");
    if (insn->csr)
        pug_text_put(text, " csr");
    if (insn->access == PUG_RV_ACCESS_VECTOR)
        pug_text_put(text, " access vector");
    else if (insn->access)
        pug_text_format(text, " access %u", insn->access);
    if (insn->type == PUG_INSTR_BR)
        pug_text_format(text, " %+lld", (long long)(insn->target - address));
    if (insn->next_isa != isa)
        pug_text_format(text, " to %s", pug_isa_name(insn->next_isa));
}

/* ---- the case files ---- */

struct cases {
    const char *file;
    enum pug_isa isa;
    struct pug_isa_config config;
    uint64_t address;
    uint8_t it;
    unsigned line, checked;
};

static void set(struct cases *cases, const char *name, const char *text)
{
    uint64_t value = strtoull(text, NULL, 0);
    if (strcmp(name, "arch") == 0)
        cases->config.arch = (uint16_t)value;
    else if (strcmp(name, "dsb") == 0)
        cases->config.dsb_dmb_waypoints = value;
    else if (strcmp(name, "wfx") == 0)
        cases->config.wfx_waypoints = value;
    else if (strcmp(name, "track") == 0)
        cases->config.track_it = value;
    else if (strcmp(name, "check") == 0)
        cases->config.check_opcode = value;
    else if (strcmp(name, "zcm") == 0)
        cases->config.zcmp_zcmt = value;
    else if (strcmp(name, "jvt") == 0)
        cases->config.jvt_base = value;
    else if (strcmp(name, "it") == 0)
        cases->it = (uint8_t)value;
    else if (strcmp(name, "address") == 0)
        cases->address = value;
    else if (strcmp(name, "isa") == 0)
        cases->isa = strcmp(text, "rv32") == 0 ? PUG_ISA_RV32 : PUG_ISA_RV64;
    else
        fail_msg("%s:%u: no setting %s", cases->file, cases->line, name);
}

static unsigned hex_bytes(const char *text, uint8_t *bytes)
{
    unsigned count = 0, value;
    for (; sscanf(text, "%2x", &value) == 1 && count < 8; text += 2)
        bytes[count++] = (uint8_t)value;
    return count;
}

/* Words and halfwords are written as numbers, RISC-V as bytes in memory order. */
static unsigned parse_opcode(const struct cases *cases, const char *text, uint8_t bytes[8])
{
    uint8_t parts[8];
    if (cases->isa >= PUG_ISA_RV32)
        return hex_bytes(text, bytes);
    unsigned unit = cases->isa == PUG_ISA_T32 ? 2 : 4, size = 0;
    for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
        hex_bytes(text, parts);
        for (unsigned i = 0; i < unit; i++)
            bytes[size + i] = parts[unit - 1 - i];
        size += unit;
    }
    return size;
}

static void check(struct cases *cases, const char *opcode, const char *name, const char *expected,
                  bool reference)
{
    uint8_t bytes[8];
    char words[128];
    struct pug_text text = PUG_TEXT(words, sizeof(words));
    struct pug_insn insn;
    unsigned size = parse_opcode(cases, opcode, bytes);
    uint8_t it = cases->it;
    cases->config.reference_classes = reference;
    enum pug_status status =
        pug_isa_classify(&cases->config, cases->isa, cases->address, bytes, size, &it, &insn);
    if (status == PUG_OK)
        describe(&insn, cases->isa, cases->address, it, &text);
    else
        pug_text_format(&text, "error %d", -status);
    pug_text_end(&text);
    if (strcmp(words, expected) != 0)
        fail_msg("%s:%u: %s (%s) %s is \"%s\", not \"%s\"", cases->file, cases->line, opcode, name,
                 reference ? "for the reference" : "in truth", words, expected);
    if (status != PUG_OK)
        return;
    assert_int_equal(insn.size, size);
    it = cases->it;
    assert_int_equal(
        pug_isa_classify(&cases->config, cases->isa, cases->address, bytes, size - 1, &it, &insn),
        PUG_ERR_NO_PROGRAM_MEMORY);
    cases->checked++;
}

/* The next column, without the blanks around it; NULL after the last one. */
static char *column(char **line)
{
    char *start = *line;
    if (!start)
        return NULL;
    char *bar = strchr(start, '|');
    *line = bar ? bar + 1 : NULL;
    char *end = bar ? bar : start + strlen(start);
    start += strspn(start, " ");
    while (end > start && (end[-1] == ' ' || end[-1] == '\n'))
        end--;
    *end = '\0';
    return start;
}

static void run_file(const char *name, enum pug_isa isa)
{
    char path[512], line[256], setting[32], value[32];
    struct cases cases = {.file = name, .isa = isa, .address = 0x10000};
    snprintf(path, sizeof(path), "%s/tests/cases/isa/%s", PUG_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        cases.line++;
        char *rest = line;
        if (*line == '#' || *line == '\n')
            continue;
        if (sscanf(line, "set %31s %31s", setting, value) == 2) {
            set(&cases, setting, value);
            continue;
        }
        const char *opcode = column(&rest), *what = column(&rest), *reference = column(&rest);
        const char *right = column(&rest);
        assert_non_null(reference);
        check(&cases, opcode, what, reference, true);
        check(&cases, opcode, what, right ? right : reference, false);
    }
    fclose(file);
    assert_true(cases.checked > 40);
}

static void a64(void **state)
{
    (void)state;
    run_file("a64.txt", PUG_ISA_A64);
}

static void a32(void **state)
{
    (void)state;
    run_file("a32.txt", PUG_ISA_A32);
}

static void t32(void **state)
{
    (void)state;
    run_file("t32.txt", PUG_ISA_T32);
}

static void riscv(void **state)
{
    (void)state;
    run_file("riscv.txt", PUG_ISA_RV64);
}

/* ---- what has no table ---- */

static void other_sets_are_unsupported(void **state)
{
    (void)state;
    static const enum pug_isa isas[] = {PUG_ISA_TEE, PUG_ISA_JAZELLE, PUG_ISA_CUSTOM,
                                        PUG_ISA_UNKNOWN};
    struct pug_isa_config config = {0};
    for (size_t i = 0; i < sizeof(isas) / sizeof(isas[0]); i++) {
        struct pug_insn insn;
        uint8_t it = 2;
        assert_int_equal(
            pug_isa_classify(&config, isas[i], 0, (const uint8_t *)"\0\0\0\0", 4, &it, &insn),
            PUG_ERR_UNSUPPORTED_ISA);
    }
}

static void the_last_halfword(void **state)
{
    (void)state;
    struct pug_isa_config config = {0};
    struct pug_insn insn;
    uint8_t it = 0;
    static const uint8_t bx_lr[] = {0x70, 0x47};
    assert_int_equal(pug_isa_classify(&config, PUG_ISA_T32, 0, bx_lr, 2, &it, &insn), PUG_OK);
    assert_int_equal(insn.type, PUG_INSTR_BR_INDIRECT);
    struct pug_quirks quirks = {.t32_word_reads = 1};
    pug_isa_config_quirks(&config, &quirks);
    assert_false(config.reference_classes);
    assert_int_equal(pug_isa_classify(&config, PUG_ISA_T32, 0, bx_lr, 2, &it, &insn),
                     PUG_ERR_NO_PROGRAM_MEMORY);
}

static void other_code_ends_it_blocks(void **state)
{
    (void)state;
    struct pug_isa_config config = {.track_it = true};
    struct pug_insn insn;
    static const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5};
    uint8_t it = 3;
    assert_int_equal(pug_isa_classify(&config, PUG_ISA_A64, 0, nop, 4, &it, &insn), PUG_OK);
    assert_int_equal(it, 0);
}

struct core {
    const char *name;
    int arch, profile; /* -1: not known */
};

typedef bool core_fn(const char *name, enum pug_arch *arch, enum pug_arch_profile *profile);

static void check_cores(core_fn *by_name, const struct core *cores, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum pug_arch arch = PUG_ARCH_CUSTOM;
        enum pug_arch_profile profile = PUG_PROFILE_CUSTOM;
        bool known = by_name(cores[i].name, &arch, &profile);
        if (known != (cores[i].arch >= 0))
            fail_msg("'%s' is %sknown", cores[i].name, known ? "" : "not ");
        assert_int_equal(arch, known ? cores[i].arch : (int)PUG_ARCH_CUSTOM);
        assert_int_equal(profile, known ? cores[i].profile : (int)PUG_PROFILE_CUSTOM);
    }
}

#define CHECK_CORES(by_name, cores)                                                                \
    check_cores((by_name), (cores), sizeof(cores) / sizeof((cores)[0]))

/** As the reference knows them: a short list, and each letter counts. */
static void reference_cores(void **state)
{
    (void)state;
    static const struct core cores[] = {
        {"Cortex-A77", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"Cortex-A53", PUG_ARCH_V8, PUG_PROFILE_A},
        {"Cortex-A15", PUG_ARCH_V7, PUG_PROFILE_A},
        {"Cortex-R52", PUG_ARCH_V8, PUG_PROFILE_R},
        {"Cortex-R5", PUG_ARCH_V7, PUG_PROFILE_R},
        {"Cortex-M55", PUG_ARCH_V8, PUG_PROFILE_M},
        {"Cortex-M0+", PUG_ARCH_V7, PUG_PROFILE_M},
        {"Cortex-M4", PUG_ARCH_V7, PUG_PROFILE_M},
        {"ARMv7-A", PUG_ARCH_V7, PUG_PROFILE_A},
        {"ARMv7.9-M", PUG_ARCH_V7, PUG_PROFILE_M},
        {"ARMv8-R", PUG_ARCH_V8, PUG_PROFILE_R},
        {"ARMv8.2-A", PUG_ARCH_V8, PUG_PROFILE_A},
        {"ARMv8.3-A", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"ARMv8.4-A", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"ARMv9-A", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"ARMv9.2-Axyz", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"ARM-AA64", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"ARM-aa64-R", PUG_ARCH_AA64, PUG_PROFILE_R},
        {"ARM-AA64-Mx", PUG_ARCH_AA64, PUG_PROFILE_M},
        {"ARMv8.10-A", -1, -1},
        {"ARMv6-M", -1, -1},
        {"ARMv8-X", -1, -1},
        {"ARMv8-A.1", -1, -1},
        {"ARMv8", -1, -1},
        {"ARMv8.-A", -1, -1},
        {"ARMv", -1, -1},
        {"armv8-A", -1, -1},
        {"Cortex-A99", -1, -1},
        {"cortex-a53", -1, -1},
        {"", -1, -1},
    };
    CHECK_CORES(pug_core_by_reference_name, cores);
}

/** Products and architectures, however they are written. */
static void cores(void **state)
{
    (void)state;
    static const struct core cores[] = {
        /* case and punctuation say nothing */
        {"cortex-a53", PUG_ARCH_V8, PUG_PROFILE_A},
        {"CORTEX_A53", PUG_ARCH_V8, PUG_PROFILE_A},
        {"CortexA53", PUG_ARCH_V8, PUG_PROFILE_A},
        {"ARM Cortex-A9", PUG_ARCH_V7, PUG_PROFILE_A},
        {"arm,cortex-a57", PUG_ARCH_V8, PUG_PROFILE_A},
        {"armv8-a", PUG_ARCH_V8, PUG_PROFILE_A},
        {"arm-aa64", PUG_ARCH_AA64, PUG_PROFILE_A},
        /* products */
        {"ARM926EJ-S", PUG_ARCH_V5, PUG_PROFILE_A},
        {"ARM7TDMI-S", PUG_ARCH_V4, PUG_PROFILE_A},
        {"ARM1136JF-S", PUG_ARCH_V6, PUG_PROFILE_A},
        {"ARM1176JZF-S", PUG_ARCH_V6, PUG_PROFILE_A},
        {"ARM11 MPCore", PUG_ARCH_V6, PUG_PROFILE_A},
        {"Cortex-M0+", PUG_ARCH_V6, PUG_PROFILE_M},
        {"SC000", PUG_ARCH_V6, PUG_PROFILE_M},
        {"Cortex-M1", PUG_ARCH_V6, PUG_PROFILE_M},
        {"Cortex-M4F", PUG_ARCH_V7, PUG_PROFILE_M},
        {"Cortex-M7", PUG_ARCH_V7, PUG_PROFILE_M},
        {"Cortex-M23", PUG_ARCH_V8, PUG_PROFILE_M},
        {"Cortex-M35P", PUG_ARCH_V8, PUG_PROFILE_M},
        {"Cortex-M52", PUG_ARCH_V8, PUG_PROFILE_M},
        {"Cortex-M85", PUG_ARCH_V8, PUG_PROFILE_M},
        {"Cortex-R4F", PUG_ARCH_V7, PUG_PROFILE_R},
        {"Cortex-R52+", PUG_ARCH_V8, PUG_PROFILE_R},
        {"Cortex-R82", PUG_ARCH_AA64, PUG_PROFILE_R},
        {"Cortex-A34", PUG_ARCH_V8, PUG_PROFILE_A},
        {"Cortex-A65AE", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"Cortex-A78", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"Cortex-A78C", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"Cortex-A320", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Cortex-A510", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Cortex-A710", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Cortex-A720AE", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Cortex-A725", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Cortex-X1", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"Cortex-X1C", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"Cortex-X4", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Cortex-X925", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Neoverse-E1", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"Neoverse N1", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"neoverse-n2", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Neoverse-V1", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"Neoverse-V3AE", PUG_ARCH_AA64, PUG_PROFILE_A},
        /* architectures */
        {"ARMv4T", PUG_ARCH_V4, PUG_PROFILE_A},
        {"ARMv5TEJ", PUG_ARCH_V5, PUG_PROFILE_A},
        {"ARMv6", PUG_ARCH_V6, PUG_PROFILE_A},
        {"ARMv6KZ", PUG_ARCH_V6, PUG_PROFILE_A},
        {"ARMv6-M", PUG_ARCH_V6, PUG_PROFILE_M},
        {"ARMv6S-M", PUG_ARCH_V6, PUG_PROFILE_M},
        {"ARMv7", PUG_ARCH_V7, PUG_PROFILE_A},
        {"ARMv7E-M", PUG_ARCH_V7, PUG_PROFILE_M},
        {"ARMv7VE", PUG_ARCH_V7, PUG_PROFILE_A},
        {"ARMv8", PUG_ARCH_V8, PUG_PROFILE_A},
        {"ARMv8.1-M.Mainline", PUG_ARCH_V8, PUG_PROFILE_M},
        {"ARMv8-M.base", PUG_ARCH_V8, PUG_PROFILE_M},
        {"ARMv8-A+crc", PUG_ARCH_V8, PUG_PROFILE_A},
        {"ARMv8.3-A", PUG_ARCH_V8R3, PUG_PROFILE_A},
        {"ARMv8.9-A", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"ARMv8-R64", PUG_ARCH_AA64, PUG_PROFILE_R},
        {"ARMv9.5-A", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"AArch64", PUG_ARCH_AA64, PUG_PROFILE_A},
        {"AArch32", PUG_ARCH_V7, PUG_PROFILE_A},
        /* unknown */
        {"Cortex-A99", -1, -1},
        {"Cortex", -1, -1},
        {"Cortex-M3x", -1, -1},
        {"ARMv3", -1, -1},
        {"ARMv8-X", -1, -1},
        {"ARMv", -1, -1},
        {"ARMv8.", -1, -1},
        {"ARMv99999999999999999999-A", -1, -1},
        {"hart", -1, -1},
        {"", -1, -1},
    };
    CHECK_CORES(pug_core_by_name, cores);
}

/** Each product that is listed is known, once, and its name says its profile. */
static void listed_cores_have_their_profile(void **state)
{
    (void)state;
    char name[64], other[64];
    for (size_t n = 0; pug_core_name(n, name, sizeof(name)) > 0; n++) {
        enum pug_arch arch;
        enum pug_arch_profile profile, expected = PUG_PROFILE_A;
        if (strncmp(name, "Cortex-M", 8) == 0 || strncmp(name, "SC", 2) == 0 ||
            strncmp(name, "STAR-MC", 7) == 0)
            expected = PUG_PROFILE_M;
        else if (strncmp(name, "Cortex-R", 8) == 0)
            expected = PUG_PROFILE_R;
        assert_true(pug_core_by_name(name, &arch, &profile));
        assert_int_equal(profile, expected);
        for (size_t i = 0; i < n; i++) {
            pug_core_name(i, other, sizeof(other));
            assert_string_not_equal(name, other);
        }
    }
}

static void settings(void **state)
{
    (void)state;
    static const struct pug_setting items[] = {
        {"TRCIDR0", 5, NULL}, {"core", 0, "Cortex-A53"}, {"TRCIDR0", 6, NULL}};
    struct pug_settings list = {.items = items, .count = 3};
    assert_ptr_equal(pug_settings_find(&list, "TRCIDR0"), &items[0]);
    assert_null(pug_settings_find(&list, "trcidr0"));
    assert_int_equal(pug_settings_number(&list, "TRCIDR0", 1), 5);
    assert_int_equal(pug_settings_number(&list, "TRCIDR1", 1), 1);
    assert_int_equal(pug_settings_number(&list, "core", 1), 1);
    assert_string_equal(pug_settings_word(&list, "core", ""), "Cortex-A53");
    assert_string_equal(pug_settings_word(&list, "TRCIDR0", "none"), "none");
    assert_null(pug_settings_word(&(struct pug_settings){0}, "core", NULL));
}

struct asked {
    char text[128];
    size_t length;
};

static void note_name(void *context, const char *name, bool word)
{
    struct asked *asked = context;
    int length = snprintf(asked->text + asked->length, sizeof(asked->text) - asked->length, "%s%s;",
                          word ? "word " : "", name);
    asked->length += (size_t)length;
}

static void asked_settings(void **state)
{
    (void)state;
    struct asked asked = {.length = 0};
    const struct pug_settings_watch watch = {note_name, &asked};
    const struct pug_settings list = {.watch = &watch};
    pug_settings_number(&list, "xlen", 0);
    pug_settings_word(&list, "isa", NULL);
    pug_settings_find(&list, "ts");
    assert_string_equal(asked.text, "xlen;word isa;ts;");
    struct pug_settings copy;
    assert_true(pug_settings_copy(&list, &copy));
    assert_null(copy.watch);
    pug_settings_free(&copy);
}

/** Encodings next to each other: one that there is, and one that there is not. */
static void undefined_encodings_are_known(void **state)
{
    (void)state;
    static const struct {
        enum pug_isa isa;
        unsigned size;
        uint32_t word; /* as in memory, the lowest byte first */
        bool undefined;
    } cases[] = {
        {PUG_ISA_A64, 4, 0xd65f03c0, false},  /* ret */
        {PUG_ISA_A64, 4, 0xd65f0bff, false},  /* retaa */
        {PUG_ISA_A64, 4, 0xd65f23c0, true},   /* no such op3 */
        {PUG_ISA_A64, 4, 0xd65d03c0, true},   /* op2 is not 31 */
        {PUG_ISA_A64, 4, 0xd69f03e0, false},  /* eret */
        {PUG_ISA_A64, 4, 0xd6bf03e0, false},  /* drps */
        {PUG_ISA_A64, 4, 0xd67f03c0, true},   /* no such opc */
        {PUG_ISA_A64, 4, 0xd71f0a11, false},  /* braa x16, x17 */
        {PUG_ISA_A64, 4, 0x17ffffe6, false},  /* b */
        {PUG_ISA_A64, 4, 0x07ffffe6, true},   /* no such group */
        {PUG_ISA_A64, 4, 0x54000000, false},  /* b.eq */
        {PUG_ISA_A64, 4, 0x565f03c0, true},   /* above it */
        {PUG_ISA_A64, 4, 0xf4df0021, false},  /* cbb, FEAT_CMPBR */
        {PUG_ISA_A64, 4, 0x00000000, true},   /* udf */
        {PUG_ISA_A64, 4, 0x80800000, false},  /* fmopa, SME */
        {PUG_ISA_A32, 4, 0xe7f000f0, true},   /* udf */
        {PUG_ISA_A32, 4, 0xe12fff1e, false},  /* bx lr */
        {PUG_ISA_T32, 2, 0x0000de00, true},   /* udf */
        {PUG_ISA_T32, 2, 0x00004770, false},  /* bx lr */
        {PUG_ISA_T32, 4, 0x3f01f7e1, true},   /* no such plain immediate */
        {PUG_ISA_T32, 4, 0x0001f200, false},  /* addw r0, r0, #1 */
        {PUG_ISA_T32, 4, 0xf800f000, false},  /* bl */
        {PUG_ISA_RV64, 4, 0x00008067, false}, /* ret */
        {PUG_ISA_RV64, 4, 0x00009067, true},  /* jalr with funct3 1 */
        {PUG_ISA_RV64, 2, 0x00000000, true},  /* defined illegal */
        {PUG_ISA_RV32, 2, 0x00008082, false}, /* ret */
        {PUG_ISA_RV64, 6, 0x0645891f, true},  /* of 48 bits */
        {PUG_ISA_RV64, 4, 0x0000007b, false}, /* a vendor's */
        {PUG_ISA_UNKNOWN, 4, 0, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t word = cases[i].word;
        const uint8_t bytes[8] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                                  (uint8_t)(word >> 24)};
        if (pug_isa_is_undefined(cases[i].isa, bytes, cases[i].size) != cases[i].undefined)
            fail_msg("0x%08x of instruction set %d", word, (int)cases[i].isa);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a64),
        cmocka_unit_test(a32),
        cmocka_unit_test(t32),
        cmocka_unit_test(riscv),
        cmocka_unit_test(other_sets_are_unsupported),
        cmocka_unit_test(the_last_halfword),
        cmocka_unit_test(other_code_ends_it_blocks),
        cmocka_unit_test(reference_cores),
        cmocka_unit_test(cores),
        cmocka_unit_test(listed_cores_have_their_profile),
        cmocka_unit_test(settings),
        cmocka_unit_test(undefined_encodings_are_known),
        cmocka_unit_test(asked_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
