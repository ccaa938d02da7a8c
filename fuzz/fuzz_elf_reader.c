// SPDX-License-Identifier: MIT
/** @file Any bytes as an ELF file, for the reader that builds without libelf have. */
#include "driver.h"
#include "files.h"
#include "files/elf_reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Notes, as types of segments and sections name them. */
enum { SEGMENT_NOTES = 4, MOST = 200 };

static void read_segments(struct pug_elf *elf)
{
    size_t count;
    struct pug_elf_program_header header;
    (void)pug_elf_segment_count(elf, &count);
    for (size_t i = 0; i < count && i < MOST && pug_elf_segment(elf, (int)i, &header); i++) {
        if (header.p_type != SEGMENT_NOTES)
            continue;
        const struct pug_elf_data *data =
            pug_elf_bytes(elf, (int64_t)header.p_offset, (size_t)header.p_filesz,
                          header.p_align == 8 ? PUG_ELF_NOTES_8 : PUG_ELF_NOTES_4);
        struct pug_elf_note note;
        size_t name, description, at = 0;
        while (data && (at = pug_elf_note(data, at, &note, &name, &description)) > 0) {
            if (name + note.n_namesz > data->d_size || description + note.n_descsz > data->d_size)
                abort();
        }
    }
}

static void read_section(struct pug_elf *elf, struct pug_elf_section *section)
{
    struct pug_elf_section_header header;
    struct pug_elf_symbol symbol;
    struct pug_elf_relocation relocation;
    size_t names, length = 0;
    pug_elf_section_header(section, &header);
    const char *name =
        pug_elf_names_section(elf, &names) == 0 ? pug_elf_string(elf, names, header.sh_name) : NULL;
    const struct pug_elf_data *data = pug_elf_section_data(section, NULL);
    for (int i = 0; i < MOST && pug_elf_symbol(data, i, &symbol); i++) {
        const char *text = pug_elf_string(elf, header.sh_link, symbol.st_name);
        length += text ? strlen(text) : 0;
    }
    for (int i = 0; i < MOST && pug_elf_rela(data, i, &relocation); i++)
        (void)pug_elf_rel(data, i, &relocation);
    if (data && data->d_buf) /* all of it is there */
        length += ((const unsigned char *)data->d_buf)[data->d_size - 1];
    length += name ? strlen(name) : 0;
    if (length == SIZE_MAX) /* what was read is used */
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_write("a.elf", data, size);
    const int file = open(fuzz_place("a.elf"), O_RDONLY | O_CLOEXEC);
    struct pug_elf *elf = file >= 0 ? pug_elf_open(file) : NULL;
    struct pug_elf_section *section = NULL;
    if (elf) {
        read_segments(elf);
        for (size_t i = 0; i < MOST && (section = pug_elf_next_section(elf, section)) != NULL; i++)
            read_section(elf, section);
    }
    pug_elf_close(elf);
    if (file >= 0)
        close(file);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    return fuzz_load(rec_random_once_in(random, 2) ? "examples/crash/crash"
                                                   : "examples/crash/crash.mended",
                     data, room);
}
