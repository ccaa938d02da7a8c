// SPDX-License-Identifier: MIT
/** @file Instructions in words: absolute addresses, IT blocks, unknown ones, a client's own words.
 */
#include "pugmark/disasm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

struct line {
    enum pug_isa isa;
    uint64_t address;
    uint64_t opcode;
    size_t size;
    const char *text;
};

static void expect(struct pug_disasm *disasm, const struct line *line)
{
    uint8_t bytes[8];
    char text[PUG_DISASM_TEXT];
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(line->opcode >> 8 * i);
    bool known =
        pug_disasm_text(disasm, line->isa, line->address, bytes, line->size, text, sizeof(text));
    assert_string_equal(text, line->text);
    assert_int_equal(known, line->text[0] != '.');
}

static void instructions_name_addresses(void **state)
{
    static const struct line lines[] = {
        {PUG_ISA_A64, 0x400334, 0x9400000c, 4, "bl 0x400364"},
        {PUG_ISA_A64, 0x400340, 0x90000060, 4, "adrp x0, 0x40c000"},
        {PUG_ISA_A64, 0x400340, 0x10ffffe0, 4, "adr x0, 0x40033c"},
        {PUG_ISA_A64, 0x1000, 0x54000040, 4, "b.eq 0x1008"},
        {PUG_ISA_A64, 0x1000, 0x390043ff, 4, "strb wzr, [sp, #0x10]"},
        {PUG_ISA_A64, 0x1000, 0xd65f0bff, 4, "retaa"},
        {PUG_ISA_A32, 0x8000, 0xeb000001, 4, "bl 0x800c"},
        {PUG_ISA_RV64, 0x1000, 0x010000ef, 4, "jal 0x1010"},
        {PUG_ISA_RV64, 0x1000, 0xe091, 2, "bnez s1, 0x1004"},
        {PUG_ISA_RV32, 0x1000, 0x00088463, 4, "beqz a7, 0x1008"},
        {PUG_ISA_RV64, 0x1000, 0x02a58557, 4, "vadd.vv v10, v10, v11"},
        {PUG_ISA_A64, 0x1000, 0xffffffff, 4, ".word 0xffffffff"},
        {PUG_ISA_RV64, 0x1000, 0x0000, 2, "unimp"},
        {PUG_ISA_JAZELLE, 0x1000, 0x12, 1, ".byte 0x12"},
    };
    (void)state;
    struct pug_disasm *disasm;
    if (!pug_disasm_built_in()) {
        puts("no LLVM on this machine, or a build without it");
        skip();
    }
    assert_int_equal(pug_disasm_new(NULL, &disasm), PUG_OK);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        expect(disasm, &lines[i]);
    pug_disasm_free(disasm);
}

static void a_condition_ends_with_its_block(void **state)
{
    static const struct line lines[] = {
        {PUG_ISA_T32, 0x100, 0xbf0c, 2, "ite eq"},
        {PUG_ISA_T32, 0x102, 0x2000, 2, "moveq r0, #0x0"},
        {PUG_ISA_T32, 0x104, 0x2001, 2, "movne r0, #0x1"},
        {PUG_ISA_T32, 0x106, 0x2002, 2, "movs r0, #0x2"},
        {PUG_ISA_T32, 0x108, 0xbf08, 2, "it eq"},
        /* an exception was taken, its code is somewhere else */
        {PUG_ISA_T32, 0x800, 0x2003, 2, "movs r0, #0x3"},
        {PUG_ISA_T32, 0x802, 0x4770, 2, "bx lr"},
    };
    (void)state;
    struct pug_disasm *disasm;
    if (!pug_disasm_built_in())
        skip();
    assert_int_equal(pug_disasm_new(NULL, &disasm), PUG_OK);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        expect(disasm, &lines[i]);
    pug_disasm_free(disasm);
}

static bool own_words(void *context, enum pug_isa isa, uint64_t address, const uint8_t *bytes,
                      size_t size, char *text, size_t room)
{
    (void)isa;
    (void)bytes;
    if (size != 4)
        return false;
    snprintf(text, room, "%s\t%x", (const char *)context, (unsigned)address);
    return true;
}

static void a_client_brings_its_own(void **state)
{
    static char word[] = "mine  ";
    static const uint8_t bytes[4] = {1, 2, 3, 4};
    const struct pug_disasm_options options = {.function = own_words, .context = word};
    char text[PUG_DISASM_TEXT], little[6];
    struct pug_disasm *disasm;
    (void)state;
    assert_int_equal(pug_disasm_new(&options, &disasm), PUG_OK);
    assert_true(pug_disasm_text(disasm, PUG_ISA_CUSTOM, 0x40, bytes, 4, text, sizeof(text)));
    assert_string_equal(text, "mine 40");
    assert_true(pug_disasm_text(disasm, PUG_ISA_CUSTOM, 0x40, bytes, 4, little, sizeof(little)));
    assert_string_equal(little, "mine ");
    assert_false(pug_disasm_text(disasm, PUG_ISA_CUSTOM, 0x40, bytes, 2, text, sizeof(text)));
    assert_string_equal(text, ".short 0x0201");
    pug_disasm_free(disasm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_name_addresses),
        cmocka_unit_test(a_condition_ends_with_its_block),
        cmocka_unit_test(a_client_brings_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
