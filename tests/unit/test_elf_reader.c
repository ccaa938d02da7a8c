// SPDX-License-Identifier: MIT
/**
 * @file The reader of ELF files (files/elf_reader.h): tables made by hand in both classes and byte
 * orders, files that lie about their tables, and, where libelf is, the same answers as libelf's on
 * real programs. fuzz/fuzz_elf_reader.c damages some.
 */
#include "files/elf_reader.h"
#include "support/temporary.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef PUG_WITH_ELF
#include <gelf.h>
#endif

static char path[128];

static struct pug_elf *open_bytes(const void *bytes, size_t size)
{
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    struct pug_elf *elf = pug_elf_open(file);
    close(file);
    return elf;
}

/* ---- by hand ---- */

enum { ROOM = 1024, SEGMENTS = 64, NOTES = 192, SYMBOLS = 256, STRINGS = 384, SECTIONS = 512 };
enum { NONE, SYMTAB, STRTAB, RELA, NOBITS, COUNT };

struct maker {
    uint8_t bytes[ROOM];
    size_t at;
    bool wide, big;
};

static void put(struct maker *m, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        m->bytes[m->at + (m->big ? size - 1 - i : i)] = (uint8_t)(value >> 8 * i);
    m->at += size;
}

static void put_address(struct maker *m, uint64_t value)
{
    put(m, value, m->wide ? 8 : 4);
}

static void put_section(struct maker *m, unsigned number, uint32_t type, uint64_t offset,
                        uint64_t size, uint32_t link)
{
    m->at = SECTIONS + number * (m->wide ? 64u : 40u);
    put(m, 1, 4); /* name */
    put(m, type, 4);
    put_address(m, 6);        /* flags */
    put_address(m, 0x400000); /* address */
    put_address(m, offset);
    put_address(m, size);
    put(m, link, 4);
    put(m, 0, 4);
    put_address(m, 1);
    put_address(m, 8);
}

static void put_header(struct maker *m, unsigned segments, unsigned sections, unsigned names)
{
    m->at = 0;
    const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', m->wide ? 2 : 1, m->big ? 2 : 1, 1};
    memcpy(m->bytes, ident, sizeof(ident));
    m->at = 16;
    put(m, 2, 2);
    put(m, 243, 2);
    put(m, 1, 4);
    put_address(m, 0);
    put_address(m, SEGMENTS);
    put_address(m, SECTIONS);
    put(m, 0, 4);
    put(m, 0, 2);
    put(m, 0, 2);
    put(m, segments, 2);
    put(m, 0, 2);
    put(m, sections, 2);
    put(m, names, 2);
}

static void put_symbol(struct maker *m, uint32_t name, unsigned info, uint64_t value, uint64_t size)
{
    put(m, name, 4);
    if (!m->wide) {
        put(m, value, 4);
        put(m, size, 4);
    }
    put(m, info, 1);
    put(m, 0, 1);
    put(m, 7, 2);
    if (m->wide) {
        put(m, value, 8);
        put(m, size, 8);
    }
}

static struct maker make(bool wide, bool big)
{
    struct maker m = {.wide = wide, .big = big};
    put_header(&m, 1, COUNT, STRTAB);
    m.at = SEGMENTS;
    put(&m, 1, 4);
    if (wide)
        put(&m, 5, 4);
    put_address(&m, 0x100);
    put_address(&m, 0x400000);
    put_address(&m, 0);
    put_address(&m, 0x10);
    put_address(&m, 0x20);
    if (!wide)
        put(&m, 5, 4);
    put_address(&m, 4);
    m.at = NOTES;
    put(&m, 4, 4);
    put(&m, 3, 4);
    put(&m, 3, 4);
    memcpy(m.bytes + m.at, "GNU\0\1\2\3", 7);
    m.at = SYMBOLS;
    put_symbol(&m, 0, 0, 0, 0);
    put_symbol(&m, 1, 0x12, 0x400010, 0x30);
    m.at = SYMBOLS + 64;
    put_address(&m, 0x500000); /* a relocation of symbol 1 */
    put_address(&m, wide ? UINT64_C(1) << 32 | 5 : 1 << 8 | 5);
    put_address(&m, 0);
    memcpy(m.bytes + STRINGS, "\0main\0tail", 10); /* the last one has no end */
    put_section(&m, NONE, 0, 0, 0, 0);
    put_section(&m, SYMTAB, 2, SYMBOLS, wide ? 48 : 32, STRTAB);
    put_section(&m, STRTAB, 3, STRINGS, 10, 0);
    put_section(&m, RELA, 4, SYMBOLS + 64, wide ? 24 : 12, SYMTAB);
    put_section(&m, NOBITS, 8, 0x10000000, 0x40, 0);
    return m;
}

static void check_made(struct pug_elf *elf)
{
    struct pug_elf_header header;
    struct pug_elf_program_header segment = {0};
    struct pug_elf_section_header section;
    struct pug_elf_symbol symbol = {0};
    struct pug_elf_relocation relocation = {0};
    size_t count, names;
    assert_non_null(elf);
    assert_int_equal(pug_elf_header(elf, &header)->e_machine, 243);
    assert_int_equal(pug_elf_segment_count(elf, &count), 0);
    assert_int_equal(count, 1);
    assert_non_null(pug_elf_segment(elf, 0, &segment));
    assert_null(pug_elf_segment(elf, 1, &segment));
    assert_null(pug_elf_segment(elf, -1, &segment));
    assert_true(segment.p_type == 1 && segment.p_flags == 5 && segment.p_offset == 0x100 &&
                segment.p_vaddr == 0x400000 && segment.p_filesz == 0x10 &&
                segment.p_memsz == 0x20 && segment.p_align == 4);
    struct pug_elf_section *table = pug_elf_section(elf, SYMTAB);
    assert_ptr_equal(pug_elf_next_section(elf, NULL), table);
    pug_elf_section_header(table, &section);
    assert_true(section.sh_type == 2 && section.sh_flags == 6 && section.sh_addr == 0x400000 &&
                section.sh_offset == SYMBOLS && section.sh_link == STRTAB &&
                section.sh_entsize == 8);
    const struct pug_elf_data *data = pug_elf_section_data(table, NULL);
    assert_null(pug_elf_section_data(table, data));
    assert_null(pug_elf_symbol(data, 2, &symbol));
    assert_non_null(pug_elf_symbol(data, 1, &symbol));
    assert_true(symbol.st_name == 1 && symbol.st_info == 0x12 && symbol.st_shndx == 7 &&
                symbol.st_value == 0x400010 && symbol.st_size == 0x30);
    assert_int_equal(pug_elf_names_section(elf, &names), 0);
    assert_int_equal(names, STRTAB);
    assert_string_equal(pug_elf_string(elf, STRTAB, 1), "main");
    assert_null(pug_elf_string(elf, STRTAB, 6));  /* not ended */
    assert_null(pug_elf_string(elf, STRTAB, 10)); /* behind it */
    assert_null(pug_elf_string(elf, SYMTAB, 0));  /* no strings */
    data = pug_elf_section_data(pug_elf_section(elf, RELA), NULL);
    assert_non_null(pug_elf_rela(data, 0, &relocation));
    assert_true(relocation.r_offset == 0x500000 && relocation.r_info >> 32 == 1);
    assert_null(pug_elf_rela(data, 1, &relocation));
    data = pug_elf_section_data(pug_elf_section(elf, NOBITS), NULL);
    assert_true(data && !data->d_buf && data->d_size == 0x40);
    assert_null(pug_elf_symbol(data, 0, &symbol));
    assert_null(pug_elf_section(elf, COUNT));
}

static void check_notes(struct pug_elf *elf)
{
    struct pug_elf_note note = {0};
    size_t name, description;
    const struct pug_elf_data *data = pug_elf_bytes(elf, NOTES, 19, PUG_ELF_NOTES_4);
    assert_int_equal(pug_elf_note(data, 0, &note, &name, &description), 19);
    assert_true(note.n_namesz == 4 && note.n_descsz == 3 && note.n_type == 3);
    assert_true(name == 12 && description == 16);
    assert_int_equal(pug_elf_note(data, 19, &note, &name, &description), 0);
    data = pug_elf_bytes(elf, NOTES, 18, PUG_ELF_NOTES_4); /* cut */
    assert_int_equal(pug_elf_note(data, 0, &note, &name, &description), 0);
    assert_null(pug_elf_bytes(elf, -1, 1, PUG_ELF_NOTES_4));
    assert_null(pug_elf_bytes(elf, ROOM - 1, 2, PUG_ELF_NOTES_8));
}

static void both_classes_and_orders(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const struct maker m = make(i & 1, i & 2);
        struct pug_elf *elf = open_bytes(m.bytes, sizeof(m.bytes));
        check_made(elf);
        check_notes(elf);
        pug_elf_close(elf);
    }
}

static void large_counts_are_in_section_0(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct maker m = make(i & 1, i & 2);
        put_header(&m, 0xffff, 0, 0xffff);
        put_section(&m, NONE, 0, 0, COUNT, STRTAB);
        m.at = SECTIONS + (m.wide ? 44 : 28);
        put(&m, 1, 4); /* segments */
        struct pug_elf *elf = open_bytes(m.bytes, sizeof(m.bytes));
        check_made(elf);
        pug_elf_close(elf);
    }
}

/* ---- files that lie ---- */

static void what_is_no_elf_file(void **state)
{
    (void)state;
    struct maker m = make(true, false);
    assert_null(open_bytes(m.bytes, 63));
    assert_null(open_bytes("", 0));
    for (unsigned i = 0; i < 7; i++) {
        struct maker bad = m;
        bad.bytes[i] ^= 0x40;
        assert_null(open_bytes(bad.bytes, sizeof(bad.bytes)));
    }
    assert_null(pug_elf_open(-1));
}

static void tables_outside_of_the_file(void **state)
{
    struct maker m = make(true, false);
    size_t count;
    (void)state;
    m.at = 32;
    put(&m, UINT64_MAX - 8, 8); /* segments */
    put(&m, UINT64_MAX - 8, 8); /* sections */
    struct pug_elf *elf = open_bytes(m.bytes, sizeof(m.bytes));
    assert_non_null(elf);
    assert_int_equal(pug_elf_segment_count(elf, &count), -1);
    assert_int_equal(count, 0);
    assert_null(pug_elf_section(elf, 0));
    assert_null(pug_elf_next_section(elf, NULL));
    assert_int_equal(pug_elf_names_section(elf, &count), -1);
    pug_elf_close(elf);
    m = make(true, false);
    put_header(&m, 40, COUNT, STRTAB); /* more segments than the file has bytes for */
    elf = open_bytes(m.bytes, sizeof(m.bytes));
    assert_int_equal(pug_elf_segment_count(elf, &count), 0);
    assert_int_equal(count, (ROOM - SEGMENTS) / 56);
    pug_elf_close(elf);
}

/* Each section claims the whole file: twice the file is loaded, and no more. */
static void sections_share_a_budget(void **state)
{
    struct maker m = make(true, false);
    (void)state;
    for (unsigned i = 1; i < COUNT; i++)
        put_section(&m, i, 1, 0, ROOM, 0);
    struct pug_elf *elf = open_bytes(m.bytes, sizeof(m.bytes));
    assert_non_null(pug_elf_section_data(pug_elf_section(elf, 1), NULL));
    assert_non_null(pug_elf_section_data(pug_elf_section(elf, 2), NULL));
    assert_non_null(pug_elf_section_data(pug_elf_section(elf, 1), NULL));
    assert_null(pug_elf_section_data(pug_elf_section(elf, 3), NULL));
    assert_null(pug_elf_bytes(elf, 0, 1, PUG_ELF_NOTES_4));
    pug_elf_close(elf);
    m = make(true, false);
    put_section(&m, SYMTAB, 2, SYMBOLS, UINT64_MAX, 0);
    put_section(&m, STRTAB, 3, UINT64_MAX, 2, 0);
    elf = open_bytes(m.bytes, sizeof(m.bytes));
    assert_null(pug_elf_section_data(pug_elf_section(elf, SYMTAB), NULL));
    assert_null(pug_elf_string(elf, STRTAB, 0));
    pug_elf_close(elf);
}

/* ---- beside libelf ---- */

#ifdef PUG_WITH_ELF

static void compare_symbols(Elf_Data *wanted, const struct pug_elf_data *data, size_t size)
{
    const int count = (int)(size < 20000 ? size : 20000);
    for (int i = 0; i <= count; i++) {
        GElf_Sym a = {0};
        struct pug_elf_symbol b = {0};
        const bool there = gelf_getsym(wanted, i, &a) != NULL;
        assert_int_equal(there, pug_elf_symbol(data, i, &b) != NULL);
        if (!there)
            break;
        assert_true(a.st_name == b.st_name && a.st_info == b.st_info && a.st_value == b.st_value &&
                    a.st_size == b.st_size && a.st_shndx == b.st_shndx);
    }
}

static void compare_relocations(Elf_Data *wanted, const struct pug_elf_data *data)
{
    for (int i = 0; i < 5000; i++) {
        GElf_Rela a = {0};
        struct pug_elf_relocation b = {0};
        const bool there = gelf_getrela(wanted, i, &a) != NULL;
        assert_int_equal(there, pug_elf_rela(data, i, &b) != NULL);
        if (!there)
            break;
        assert_true(a.r_offset == b.r_offset && GELF_R_SYM(a.r_info) == b.r_info >> 32);
    }
}

static void compare_sections(Elf *wanted, struct pug_elf *elf)
{
    Elf_Scn *section = NULL;
    struct pug_elf_section *own = NULL;
    size_t names, own_names;
    assert_int_equal(elf_getshdrstrndx(wanted, &names), pug_elf_names_section(elf, &own_names));
    while ((section = elf_nextscn(wanted, section)) != NULL) {
        GElf_Shdr a = {0};
        struct pug_elf_section_header b = {0};
        own = pug_elf_next_section(elf, own);
        assert_non_null(own);
        assert_non_null(gelf_getshdr(section, &a));
        pug_elf_section_header(own, &b);
        assert_true(a.sh_name == b.sh_name && a.sh_type == b.sh_type && a.sh_flags == b.sh_flags &&
                    a.sh_addr == b.sh_addr && a.sh_offset == b.sh_offset &&
                    a.sh_size == b.sh_size && a.sh_link == b.sh_link &&
                    a.sh_entsize == b.sh_entsize);
        const char *name = elf_strptr(wanted, names, a.sh_name);
        assert_string_equal(name, pug_elf_string(elf, own_names, b.sh_name));
        Elf_Data *data = elf_getdata(section, NULL);
        const struct pug_elf_data *bytes = pug_elf_section_data(own, NULL);
        assert_true(data && bytes && data->d_size == bytes->d_size);
        if (a.sh_type == SHT_PROGBITS && data->d_size > 0)
            assert_memory_equal(data->d_buf, bytes->d_buf, data->d_size);
        if (a.sh_type == SHT_SYMTAB || a.sh_type == SHT_DYNSYM)
            compare_symbols(data, bytes, data->d_size / a.sh_entsize);
        if (a.sh_type == SHT_RELA)
            compare_relocations(data, bytes);
    }
    assert_null(pug_elf_next_section(elf, own));
}

static void compare_segments(Elf *wanted, struct pug_elf *elf)
{
    size_t count, own_count;
    assert_int_equal(elf_getphdrnum(wanted, &count), 0);
    assert_int_equal(pug_elf_segment_count(elf, &own_count), 0);
    assert_int_equal(count, own_count);
    for (int i = 0; i < (int)count; i++) {
        GElf_Phdr a = {0};
        struct pug_elf_program_header b = {0};
        assert_true(gelf_getphdr(wanted, i, &a) && pug_elf_segment(elf, i, &b));
        assert_true(a.p_type == b.p_type && a.p_flags == b.p_flags && a.p_offset == b.p_offset &&
                    a.p_vaddr == b.p_vaddr && a.p_filesz == b.p_filesz && a.p_memsz == b.p_memsz &&
                    a.p_align == b.p_align);
        if (a.p_type != PT_NOTE)
            continue;
        const bool wide = a.p_align == 8;
        Elf_Data *data = elf_getdata_rawchunk(wanted, (int64_t)a.p_offset, a.p_filesz,
                                              wide ? ELF_T_NHDR8 : ELF_T_NHDR);
        const struct pug_elf_data *bytes = pug_elf_bytes(elf, (int64_t)b.p_offset, b.p_filesz,
                                                         wide ? PUG_ELF_NOTES_8 : PUG_ELF_NOTES_4);
        size_t at = 0, own_at = 0, name[2], description[2];
        GElf_Nhdr note = {0};
        struct pug_elf_note own = {0};
        do {
            at = gelf_getnote(data, at, &note, &name[0], &description[0]);
            own_at = pug_elf_note(bytes, own_at, &own, &name[1], &description[1]);
            assert_int_equal(at, own_at);
            assert_true(at == 0 || (name[0] == name[1] && description[0] == description[1] &&
                                    note.n_type == own.n_type));
        } while (at > 0);
    }
}

static bool same_as_libelf(const char *program)
{
    const int file = open(program, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *wanted = elf_begin(file, ELF_C_READ, NULL);
    struct pug_elf *elf = pug_elf_open(file);
    assert_non_null(wanted);
    assert_non_null(elf);
    compare_segments(wanted, elf);
    compare_sections(wanted, elf);
    pug_elf_close(elf);
    elf_end(wanted);
    close(file);
    return true;
}

static void real_programs(void **state)
{
    (void)state;
    assert_true(same_as_libelf("/proc/self/exe"));
    assert_true(same_as_libelf(PUG_SOURCE_DIR "/examples/crash/crash"));
    static const char *const libraries[] = {
        "/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/arm-linux-gnueabihf/lib/libc.so.6",
        "/usr/arm-linux-gnueabihf/lib/crt1.o", "/usr/riscv64-linux-gnu/lib/libc.so.6"};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (!same_as_libelf(libraries[i]))
            print_message("not looked at: %s\n", libraries[i]);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_classes_and_orders), cmocka_unit_test(large_counts_are_in_section_0),
        cmocka_unit_test(what_is_no_elf_file),     cmocka_unit_test(tables_outside_of_the_file),
        cmocka_unit_test(sections_share_a_budget),
#ifdef PUG_WITH_ELF
        cmocka_unit_test(real_programs),
#endif
    };
    const int file = temporary_file(path, sizeof(path), "elf-reader");
    if (file < 0)
        return 1;
    close(file);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
