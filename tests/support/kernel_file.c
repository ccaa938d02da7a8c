// SPDX-License-Identifier: MIT
#include "support/kernel_file.h"

#include "support/elf_section.h"

#include <string.h>

static void put_symbols(struct rec_bytes *out, const struct kernel_file *file,
                        struct rec_bytes *names)
{
    rec_put(names, 0);
    for (unsigned i = 0; i < 24; i++)
        rec_put(out, 0);
    for (size_t i = 0; i < file->symbol_count; i++) {
        rec_put_le(out, names->size, 4);
        rec_put_le(out, 0x12, 2); /* a global function */
        rec_put_le(out, file->symbols[i].section, 2);
        rec_put_le(out, file->symbols[i].value, 8);
        rec_put_le(out, 4, 8);
        rec_put_n(names, file->symbols[i].name, strlen(file->symbols[i].name) + 1);
    }
}

void kernel_file_put(struct rec_bytes *out, const struct kernel_file *file)
{
    static const char section_names[] = "\0.text\0.symtab\0.strtab\0.rela.text\0.shstrtab";
    struct rec_bytes rest = {0}, names = {0};
    const bool module = file->type == 1;
    const uint64_t text_size = 4 * file->words, symbols = KERNEL_FILE_TEXT + text_size;
    put_symbols(&rest, file, &names);
    const uint64_t strings = symbols + rest.size, relocations = strings + names.size;
    const uint64_t section_strings = relocations + 24, sections = section_strings + 64;
    rec_put_n(out, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
    rec_put_le(out, file->type, 2);
    rec_put_le(out, 183, 2);
    rec_put_le(out, 1, 4);
    rec_put_le(out, 0, 8);
    rec_put_le(out, 64, 8);
    rec_put_le(out, sections, 8);
    rec_put_le(out, 0, 4);
    const uint16_t sizes[] = {64, 56, module ? 0 : 1, 64, 6, 5};
    for (unsigned i = 0; i < 6; i++)
        rec_put_le(out, sizes[i], 2);
    const uint64_t segment[] = {KERNEL_FILE_TEXT, file->vaddr, file->vaddr,
                                text_size,        text_size,   4};
    rec_put_le(out, 1, 4);
    rec_put_le(out, 5, 4);
    for (unsigned i = 0; i < 6; i++)
        rec_put_le(out, segment[i], 8);
    while (out->size < KERNEL_FILE_TEXT)
        rec_put(out, 0);
    for (size_t i = 0; i < file->words; i++)
        rec_put_le(out, file->text[i], 4);
    rec_put_n(out, rest.data, rest.size);
    rec_put_n(out, names.data, names.size);
    rec_put_le(out, file->call_at, 8);
    rec_put_le(out, UINT64_C(1) << 32 | 283, 8); /* R_AARCH64_CALL26 of symbol 1 */
    rec_put_le(out, 0, 8);
    rec_put_n(out, section_names, sizeof(section_names));
    while (out->size < sections)
        rec_put(out, 0);
    elf_section_put(out, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    elf_section_put(out, 1, 1, 6, module ? 0 : file->vaddr, KERNEL_FILE_TEXT, text_size, 0, 0, 0);
    elf_section_put(out, 7, 2, 0, 0, symbols, rest.size, 3, 1, 24);
    elf_section_put(out, 15, 3, 0, 0, strings, names.size, 0, 0, 0);
    elf_section_put(out, 23, module ? 4 : 0, 0, 0, relocations, 24, 2, 1, 24);
    elf_section_put(out, 34, 3, 0, 0, section_strings, sizeof(section_names), 0, 0, 0);
    rec_bytes_free(&rest);
    rec_bytes_free(&names);
}
