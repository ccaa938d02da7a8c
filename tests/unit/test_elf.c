// SPDX-License-Identifier: MIT
/** @file ELF files: made by hand, damaged at random, and compiled where there is a compiler. */
#include "image/codemap.h"
#include "support/temporary.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
static char folder[64];
static char file_path[128];

static void write_file(const void *bytes, size_t size)
{
    snprintf(file_path, sizeof(file_path), "%s/program", folder);
    FILE *file = fopen(file_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static int64_t read_at(const struct pug_image *image, uint64_t address, void *buffer,
                       uint32_t wanted)
{
    struct pug_reader_space reader = {.space = PUG_SPACE_ANY};
    return pug_image_read(image, &reader, address, buffer, wanted);
}

static const char *name_at(const struct pug_image *image, uint64_t address)
{
    struct pug_symbol symbol;
    return pug_image_symbol(image, address, &symbol) ? symbol.name : NULL;
}

/* ---- by hand ---- */

#define CODE     0x1000u /* offsets in the file */
#define DATA     0x2000u
#define SYMBOLS  0x3000u
#define STRINGS  0x3400u
#define SECTIONS 0x3800u

/* Two segments, a code section of 0x100 bytes at 0x400000, and symbols. */
struct sample {
    union {
        uint8_t bytes[0x4000];
        struct {
            Elf64_Ehdr header;
            Elf64_Phdr segments[3];
        };
    };
};

enum { ANONYMOUS, TEXT, SYMTAB, STRTAB, SECTION_COUNT };

static void add_symbol(struct sample *sample, const char *name, unsigned info, uint64_t value,
                       uint64_t size, unsigned section)
{
    Elf64_Shdr *sections = (Elf64_Shdr *)(sample->bytes + SECTIONS);
    Elf64_Sym *symbol = (Elf64_Sym *)(sample->bytes + SYMBOLS + sections[SYMTAB].sh_size);
    *symbol = (Elf64_Sym){.st_name = (Elf64_Word)sections[STRTAB].sh_size,
                          .st_info = (unsigned char)info,
                          .st_shndx = (Elf64_Half)section,
                          .st_value = value,
                          .st_size = size};
    size_t length = strlen(name) + 1;
    memcpy(sample->bytes + STRINGS + sections[STRTAB].sh_size, name, length);
    sections[STRTAB].sh_size += length;
    sections[SYMTAB].sh_size += sizeof(*symbol);
}

static void make_sample(struct sample *sample, unsigned machine)
{
    memset(sample, 0, sizeof(*sample));
    memcpy(sample->header.e_ident, ELFMAG, SELFMAG);
    sample->header.e_ident[EI_CLASS] = ELFCLASS64;
    const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__; /* numbers are written as they are */
    sample->header.e_ident[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
    sample->header.e_ident[EI_VERSION] = EV_CURRENT;
    sample->header.e_type = ET_EXEC;
    sample->header.e_machine = (Elf64_Half)machine;
    sample->header.e_version = EV_CURRENT;
    sample->header.e_phoff = offsetof(struct sample, segments);
    sample->header.e_shoff = SECTIONS;
    sample->header.e_ehsize = sizeof(Elf64_Ehdr);
    sample->header.e_phentsize = sizeof(Elf64_Phdr);
    sample->header.e_phnum = 3;
    sample->header.e_shentsize = sizeof(Elf64_Shdr);
    sample->header.e_shnum = SECTION_COUNT;
    sample->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                       .p_offset = CODE,
                                       .p_vaddr = 0x400000,
                                       .p_filesz = 0x101,
                                       .p_memsz = 0x200};
    sample->segments[1] = (Elf64_Phdr){.p_type = PT_NOTE, .p_vaddr = 0x400000, .p_filesz = 0x10};
    sample->segments[2] = (Elf64_Phdr){.p_type = PT_LOAD,
                                       .p_offset = DATA,
                                       .p_vaddr = 0x500000,
                                       .p_filesz = 0x20,
                                       .p_memsz = 0x20};
    Elf64_Shdr *sections = (Elf64_Shdr *)(sample->bytes + SECTIONS);
    sections[TEXT] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                  .sh_addr = 0x400000,
                                  .sh_offset = CODE,
                                  .sh_size = 0x100};
    sections[SYMTAB] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                    .sh_offset = SYMBOLS,
                                    .sh_link = STRTAB,
                                    .sh_entsize = sizeof(Elf64_Sym)};
    sections[STRTAB] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = 1};
    for (size_t i = 0; i < 0x100; i++)
        sample->bytes[CODE + i] = (uint8_t)i;
    add_symbol(sample, "", 0, 0, 0, SHN_UNDEF);
    add_symbol(sample, "$x", ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0x400000, 0, TEXT);
    add_symbol(sample, "_start", ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0x400000, 0, TEXT);
    add_symbol(sample, "outer", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0x400020, 0x40, TEXT);
    add_symbol(sample, "$inner", ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0x400030, 0x10, TEXT);
    add_symbol(sample, "label", ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0x400050, 0, TEXT);
    add_symbol(sample, "last", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0x4000f1, 0, TEXT);
    add_symbol(sample, "data", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0x400080, 0x10, TEXT);
    add_symbol(sample, "external", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 0x10, SHN_UNDEF);
}

/* All symbols, and those of ranges. */
static void check_lists(const struct pug_image *image)
{
    static const char *const all[] = {"_start", "outer", "$inner", "last"};
    struct pug_symbol symbol = {0};
    size_t count = 0;
    for (; pug_image_symbol_at(image, count, &symbol); count++)
        assert_string_equal(symbol.name, all[count]);
    assert_int_equal(count, 4);

    static const char *const in_range[] = {"_start", "outer", "last"};
    uint64_t at = 0x410010;
    for (count = 0; count < 3; count++, at = symbol.start + symbol.size) {
        assert_true(pug_image_symbol_in(image, at, 0x410100, &symbol));
        assert_string_equal(symbol.name, in_range[count]);
    }
    assert_false(pug_image_symbol_in(image, at, 0x410100, &symbol));
    assert_false(pug_image_symbol_in(image, 0x410060, 0x4100f1, &symbol));
    assert_true(pug_image_symbol_in(image, 0x410060, 0x4100f2, &symbol));
    assert_false(pug_image_symbol_in(image, 0x410030, 0x410030, &symbol));
}

static void segments_and_symbols(void **state)
{
    (void)state;
    struct sample *sample = malloc(sizeof(*sample));
    uint8_t buffer[0x200];
    make_sample(sample, EM_AARCH64);
    write_file(sample, sizeof(*sample));
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0x10000), PUG_OK);
    /* what the file holds, to the last byte */
    assert_int_equal(read_at(image, 0x410000, buffer, sizeof(buffer)), 0x101);
    assert_memory_equal(buffer, sample->bytes + CODE, 0x101);
    assert_int_equal(read_at(image, 0x510000, buffer, sizeof(buffer)), 0x20);
    assert_int_equal(read_at(image, 0x400000, buffer, 4), 0);
    static const struct {
        uint64_t address;
        const char *name;
    } names[] = {{0x40ffff, NULL},    {0x410000, "_start"}, {0x41001f, "_start"},
                 {0x410020, "outer"}, {0x410030, "$inner"}, {0x41003f, "$inner"},
                 {0x410040, "outer"}, {0x410050, "outer"},  {0x41005f, "outer"},
                 {0x410060, NULL},    {0x410080, NULL},     {0x4100f1, "last"},
                 {0x4100ff, "last"},  {0x410100, NULL},     {0, NULL}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = name_at(image, names[i].address);
        assert_true((name == NULL) == (names[i].name == NULL));
        if (name)
            assert_string_equal(name, names[i].name);
    }
    struct pug_symbol symbol;
    assert_true(pug_image_symbol(image, 0x410034, &symbol));
    assert_int_equal(symbol.start, 0x410030);
    assert_int_equal(symbol.size, 0x10);
    check_lists(image);
    /* once more at another place; the same place is taken */
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0x10000),
                     PUG_ERR_MEMORY_OVERLAP);
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0), PUG_OK);
    assert_string_equal(name_at(image, 0x400034), "$inner");
    /* removed: not found any more, but the name stays readable */
    assert_int_equal(pug_image_remove(image, 0x410000, PUG_SPACE_ANY), PUG_OK);
    assert_null(name_at(image, 0x410034));
    assert_string_equal(symbol.name, "$inner");
    pug_image_free(image);
    free(sample);
}

static void arm_functions_may_be_odd(void **state)
{
    (void)state;
    struct sample *sample = malloc(sizeof(*sample));
    make_sample(sample, EM_ARM); /* bit 0 of "last" marks T32 */
    write_file(sample, sizeof(*sample));
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0), PUG_OK);
    assert_string_equal(name_at(image, 0x4000f0), "last");
    pug_image_free(image);
    free(sample);
}

static void what_is_no_program_is_refused(void **state)
{
    (void)state;
    struct sample *sample = malloc(sizeof(*sample));
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_elf(image, &anywhere, NULL, 0), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_image_add_elf(image, &anywhere, "", 0), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_image_add_elf(image, &anywhere, "/nonexistent/elf", 0), PUG_ERR_FILE);
    assert_int_equal(pug_image_add_elf(image, &anywhere, folder, 0), PUG_ERR_FILE);
    write_file("#!/bin/sh\n", 10);
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0), PUG_ERR_FORMAT);
    make_sample(sample, EM_RISCV);
    sample->segments[2].p_vaddr = 0x400010; /* on the other one */
    write_file(sample, sizeof(*sample));
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0), PUG_ERR_FORMAT);
    make_sample(sample, EM_RISCV);
    sample->segments[0].p_type = sample->segments[2].p_type = PT_NULL;
    write_file(sample, sizeof(*sample));
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0), PUG_ERR_FORMAT);
    assert_false(pug_image_has_file(image, file_path));
    pug_image_free(image);
    free(sample);
}

/** A vector table in the data segment: the stack pointer, and the vectors up to IRQ3. */
static void make_vectors(struct sample *sample)
{
    static const uint32_t words[20] = {
        [0] = 0x20001000, [1] = 0x400021,  [2] = 0x400001,  [3] = 0x4000f1,  [7] = 0xffffffff,
        [14] = 0x400031,  [16] = 0x400001, [17] = 0x4000a1, [18] = 0x4000b0, [19] = 0x4000b1};
    make_sample(sample, EM_ARM);
    sample->segments[2].p_vaddr = 0x500010; /* so that the table is in the middle */
    sample->segments[2].p_filesz = sample->segments[2].p_memsz = 0x70 + sizeof(words);
    for (size_t i = 0; i < 20; i++)
        for (unsigned byte = 0; byte < 4; byte++)
            sample->bytes[DATA + 0x70 + 4 * i + byte] = (uint8_t)(words[i] >> 8 * byte);
    add_symbol(sample, "usart", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0x4000a1, 0x10, TEXT);
}

static void vectors_name_their_handlers(void **state)
{
    (void)state;
    struct sample *sample = malloc(sizeof(*sample));
    struct pug_image *image = pug_image_new();
    struct pug_vector_table table;
    struct pug_symbol symbol;
    make_vectors(sample);
    write_file(sample, sizeof(*sample));
    assert_false(pug_vector_table(image, NULL, &table));
    const struct pug_place secure = {.space = PUG_SPACE_S}, other = {.space = PUG_SPACE_N};
    const struct pug_reader_space reader = {.space = PUG_SPACE_EL1S};
    assert_int_equal(pug_image_add_elf(image, &secure, file_path, 0), PUG_OK);
    assert_true(pug_vector_table(image, NULL, &table));
    assert_int_equal(table.address, 0x500080);
    static const struct {
        unsigned vector;
        const char *name;
    } cases[] = {{0, NULL},   {1, "outer"},  {2, NULL}, /* IRQ0 has the same */
                 {3, "last"}, {4, NULL},     {7, NULL},   {14, "$inner"},
                 {16, NULL},  {17, "usart"}, {18, NULL}, /* an even address */
                 {19, NULL},  {20, NULL},    {511, NULL}, {0xffffffff, NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const bool found = pug_vector_symbol(image, &table, cases[i].vector, &symbol);
        assert_int_equal(found, cases[i].name != NULL);
        if (found)
            assert_string_equal(symbol.name, cases[i].name);
    }
    /* two programs, which only their spaces tell apart */
    assert_int_equal(pug_image_add_elf(image, &other, file_path, 0x10000000), PUG_OK);
    assert_false(pug_vector_table(image, NULL, &table));
    assert_int_equal(table.found, 2);
    assert_false(pug_vector_symbol(image, &table, 1, &symbol));
    assert_true(pug_vector_table(image, &reader, &table));
    assert_int_equal(table.address, 0x500080);
    /* a reset vector that is no function */
    pug_image_free(image);
    sample->bytes[DATA + 0x74] = 0x25;
    write_file(sample, sizeof(*sample));
    image = pug_image_new();
    assert_int_equal(pug_image_add_elf(image, NULL, file_path, 0), PUG_OK);
    assert_false(pug_vector_table(image, NULL, &table));
    pug_image_free(image);
    free(sample);
}

static void use_it(struct pug_image *image)
{
    uint8_t buffer[64];
    for (uint64_t address = 0x3ffff0; address < 0x400110; address += 16) {
        (void)read_at(image, address, buffer, sizeof(buffer));
        const char *name = name_at(image, address);
        assert_true(!name || strlen(name) > 0);
    }
}

/* Any byte of headers, symbols and names may be anything; nothing may come of it but an error. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    struct sample *good = malloc(sizeof(*good)), *bad = malloc(sizeof(*bad));
    static const struct {
        unsigned from, size;
    } parts[] = {{0, 64}, {64, 168}, {SYMBOLS, 216}, {STRINGS, 64}, {SECTIONS, 256}};
    uint64_t random = 88172645463325252u;
    make_sample(good, EM_AARCH64);
    for (unsigned round = 0; round < 600; round++) {
        *bad = *good;
        for (unsigned i = 0; i < 1 + round % 4; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            unsigned part = (unsigned)(random >> 8) % 5;
            static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
            bad->bytes[parts[part].from + (random >> 16) % parts[part].size] =
                round % 2 ? (uint8_t)(random >> 40) : values[(random >> 40) % 5];
        }
        size_t size = round % 8 ? sizeof(*bad) : (size_t)((random >> 48) % sizeof(*bad)) + 1;
        write_file(bad, size);
        struct pug_image *image = pug_image_new();
        enum pug_status status = pug_image_add_elf(image, &anywhere, file_path, 0);
        assert_true(status == PUG_OK || status == PUG_ERR_FORMAT || status == PUG_ERR_LIMIT ||
                    status == PUG_ERR_MEMORY_RANGE || status == PUG_ERR_MEM);
        use_it(image);
        pug_image_free(image);
    }
    free(good);
    free(bad);
}

/* ---- compiled ---- */

static const char source[] =
    "int count(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += i ^ (i >> 1);\n"
    "                   return sum; }\n"
    "int twice(int n) { return n > 3 ? count(n) + count(n + 1) : 7; }\n"
    "void _start(void) { twice(5); for (;;); }\n";

/* Compile and link for a target; skips the test where no compiler can. */
static void compile(const char *target)
{
    char path[128], command[1024];
    snprintf(path, sizeof(path), "%s/program.c", folder);
    snprintf(file_path, sizeof(file_path), "%s/program", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof(command),
             "clang --target=%s -O1 -fno-inline -ffreestanding -nostdlib -fuse-ld=lld -static "
             "-Wl,-Ttext=0x80000000 -o %s %s >/dev/null 2>&1",
             target, file_path, path);
    int result = system(command);
    unlink(path);
    if (result != 0) {
        print_message("no clang and lld for %s\n", target);
        skip();
    }
}

/* Finds the start of a symbol by asking for every address of the code. */
static uint64_t start_of(const struct pug_image *image, const char *name)
{
    for (uint64_t address = 0x80000000; address < 0x80001000; address += 2) {
        struct pug_symbol symbol;
        if (pug_image_symbol(image, address, &symbol) && strcmp(symbol.name, name) == 0)
            return symbol.start;
    }
    fail_msg("no symbol %s", name);
    return 0;
}

/* Follow calls and taken branches from _start: every function is reached, in known code only. */
static void walk_program(enum pug_isa isa)
{
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0), PUG_OK);
    uint64_t count = start_of(image, "count"), twice = start_of(image, "twice");
    struct pug_codemap *map = pug_codemap_new(&(struct pug_codemap_config){.image = image});
    uint64_t stack[16], address = start_of(image, "_start");
    unsigned depth = 0, calls = 0, returns = 0;
    bool in_count = false, in_twice = false;
    for (unsigned steps = 0; steps < 100; steps++) {
        const struct pug_block *block = pug_codemap_block(map, address, isa, 0);
        assert_int_equal(block->ending, PUG_BLOCK_FLOW);
        assert_non_null(name_at(image, block->last));
        in_count |= block->start == count;
        in_twice |= block->start == twice;
        const struct pug_insn *insn = &block->insn;
        if (insn->link) {
            assert_true(insn->type == PUG_INSTR_BR || block->sequential);
            stack[depth++] = block->end;
            calls++;
            address = insn->target;
        } else if (insn->subtype == PUG_SUB_V8_RET || insn->subtype == PUG_SUB_RETURN) {
            if (depth == 0)
                break;
            returns++;
            address = stack[--depth];
        } else {
            if (insn->conditional)
                address = block->end; /* out of every loop */
            else
                address = insn->target;
            if (!insn->conditional && insn->target <= block->last && insn->target >= block->start)
                break; /* for (;;) */
        }
        assert_in_range(depth, 0, 15);
    }
    assert_true(in_count && in_twice);
    assert_true(calls >= 2 && returns >= 1);
    pug_codemap_free(map);
    pug_image_free(image);
}

static void compiled_aarch64(void **state)
{
    (void)state;
    compile("aarch64-none-elf");
    walk_program(PUG_ISA_A64);
}

static void compiled_riscv64(void **state)
{
    (void)state;
    compile("riscv64-unknown-elf -march=rv64imac -mabi=lp64 -mno-relax");
    walk_program(PUG_ISA_RV64);
}

static void compiled_riscv32(void **state)
{
    (void)state;
    compile("riscv32-unknown-elf -march=rv32im -mabi=ilp32");
    walk_program(PUG_ISA_RV32);
}

static void compiled_t32(void **state)
{
    (void)state;
    compile("armv7m-none-eabi -mthumb");
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_elf(image, &anywhere, file_path, 0), PUG_OK);
    assert_int_equal(start_of(image, "count") & 1, 0);
    struct pug_codemap *map =
        pug_codemap_new(&(struct pug_codemap_config){.image = image, .isa = {.track_it = true}});
    const struct pug_block *block =
        pug_codemap_block(map, start_of(image, "_start"), PUG_ISA_T32, 0);
    assert_true(block->insn.link);
    assert_int_equal(block->insn.target, start_of(image, "twice"));
    pug_codemap_free(map);
    pug_image_free(image);
}

static int setup(void **state)
{
    (void)state;
    return temporary_folder(folder, sizeof(folder), "elf") ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    unlink(file_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_and_symbols),
        cmocka_unit_test(arm_functions_may_be_odd),
        cmocka_unit_test(what_is_no_program_is_refused),
        cmocka_unit_test(vectors_name_their_handlers),
        cmocka_unit_test(damage_does_no_harm),
        cmocka_unit_test(compiled_aarch64),
        cmocka_unit_test(compiled_riscv64),
        cmocka_unit_test(compiled_riscv32),
        cmocka_unit_test(compiled_t32),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
