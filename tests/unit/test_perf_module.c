// SPDX-License-Identifier: MIT
/** @file perf.data of 32-bit Arm: modules, whose text the kernel relocated. */
#include "base/text.h"
#include "perfdata/perfdata.h"
#include "perfdata/program.h"
#include "pugmark/pugmark.h"
#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "recorder/perfdata.h"
#include "support/made_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/** An object of one section of text with relocations, of which each names symbol 1, "there". */
static void put_module(struct rec_bytes *out, const uint32_t *words, unsigned count,
                       const uint32_t (*relocations)[2], unsigned relocation_count)
{
    static const char names[] = "\0.text\0.symtab\0.strtab\0.rel.text", symbols[] = "\0there\0here";
    const uint32_t text = 52, symbol = text + 4 * count, string = symbol + 48,
                   table = string + sizeof(symbols), rel = table + sizeof(names),
                   sections = (rel + 8 * relocation_count + 3) & ~3u;
    rec_put_n(out, "\177ELF\1\1\1\0\0\0\0\0\0\0\0\0", 16);
    rec_put_le(out, 1 | 40 << 16 | UINT64_C(1) << 32, 8);
    rec_put_le(out, 0, 8);
    rec_put_le(out, sections, 4);
    rec_put_le(out, 0, 4);
    static const uint16_t sizes[] = {52, 0, 0, 40, 6, 5};
    for (unsigned i = 0; i < 6; i++)
        rec_put_le(out, sizes[i], 2);
    for (unsigned i = 0; i < count; i++)
        rec_put_le(out, words[i], 4);
    for (unsigned i = 0; i < 16; i++)
        rec_put(out, 0);
    rec_put_le(out, 1, 4);
    rec_put_le(out, 0, 8);
    rec_put_le(out, 0x12, 4);
    rec_put_le(out, 7, 4);
    rec_put_le(out, 1, 4); /* a function of T32 */
    rec_put_le(out, 4, 4);
    rec_put_le(out, 0x12 | 1 << 16, 4);
    rec_put_n(out, symbols, sizeof(symbols));
    rec_put_n(out, names, sizeof(names));
    for (unsigned i = 0; i < relocation_count; i++) {
        rec_put_le(out, relocations[i][0], 4);
        rec_put_le(out, relocations[i][1] | 1 << 8, 4);
    }
    while (out->size < sections)
        rec_put(out, 0);
    const uint32_t headers[6][10] = {
        {0},
        {1, 1, 6, 0, text, 4 * count, 0, 0, 4, 0},
        {7, 2, 0, 0, symbol, 48, 3, 1, 4, 16},
        {15, 3, 0, 0, string, sizeof(symbols), 0, 0, 1, 0},
        {23, 9, 0, 0, rel, 8 * relocation_count, 2, 1, 4, 8},
        {1, 3, 0, 0, table, sizeof(names), 0, 0, 1, 0},
    };
    for (unsigned i = 0; i < 6; i++)
        for (unsigned n = 0; n < 10; n++)
            rec_put_le(out, headers[i][n], 4);
}

/** Branches to another section, A32 and T32, as the loader makes them. */
static void test_arm_module(void **state)
{
    /* BL, B, BL, B.W, BL that cannot reach: each with what the assembler puts into it */
    static const uint32_t words[] = {0xebfffffe, 0xeafffffe, 0xfffef7ff, 0xbffef7ff, 0xebfffffe};
    static const uint32_t relocations[][2] = {{0, 28}, {4, 29}, {8, 10}, {12, 30}, {16, 28}};
    struct pug_capture capture = {.log = NULL};
    struct pug_perf perf = {.capture = &capture, .symbols = {.read = true}};
    struct made_folder folder;
    struct rec_bytes bytes = {0};
    uint64_t size;
    (void)state;
    made_folder_begin(&folder);
    put_module(&bytes, words, 5, relocations, 5);
    const char *path = made_folder_file(&folder, "x.ko", bytes.data, bytes.size);
    rec_bytes_free(&bytes);
    const uint32_t number = pug_perf_object(&perf, "/x.ko", 5, NULL, 0, 1, 0);
    struct pug_perf_object *details = &pug_perf_details(&perf)[number];
    details->first_address = 0x7f000000;
    details->first_size = 0x1000;
    struct pug_perf_symbol *symbol = pug_list_add(&perf.symbols.symbols, sizeof(*symbol));
    *symbol = (struct pug_perf_symbol){"here", "x", 0x7f000000, false, 1, false, 0};
    symbol = pug_list_add(&perf.symbols.symbols, sizeof(*symbol));
    *symbol = (struct pug_perf_symbol){"there", "", 0x7f001001, true, 1, true, 0x7f001001};
    for (unsigned far = 0; far < 2; far++) {
        struct pug_perf_program *program;
        atomic_bool starved = false;
        symbol = (struct pug_perf_symbol *)perf.symbols.symbols.items + 1;
        symbol->address = symbol->meant = far ? 0x10000000 : 0x7f001001;
        assert_int_equal(pug_perf_program_open(path, &starved, &program), PUG_OK);
        assert_int_equal(pug_perf_place_module(&perf, number, program), PUG_OK);
        for (uint32_t i = 0; i < 5; i++) {
            const struct pug_isa_config config = {.arch = PUG_ARCH_V7};
            const uint64_t at = 0x7f000000 + 4 * (uint64_t)i;
            const uint8_t *opcode = pug_perf_program_placed(program, at, &size);
            struct pug_insn insn;
            uint8_t it_count = 0;
            assert_int_equal(opcode == NULL, far);
            if (far)
                continue;
            assert_int_equal(pug_isa_classify(&config, i == 2 || i == 3 ? PUG_ISA_T32 : PUG_ISA_A32,
                                              at, opcode, 4, &it_count, &insn),
                             PUG_OK);
            assert_int_equal(insn.target & ~UINT64_C(1), 0x7f001000);
            assert_int_equal(insn.link, i != 1 && i != 3);
        }
        pug_perf_program_free(program);
    }
    free(perf.symbols.symbols.items);
    free(perf.details.items);
    free(perf.table.items);
    struct pug_capture_object **objects = capture.objects.items;
    free(objects[0]);
    free(capture.objects.items);
    free(((char **)capture.texts.items)[0]);
    free(capture.texts.items);
    made_folder_end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arm_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
