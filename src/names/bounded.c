// SPDX-License-Identifier: MIT
/**
 * @file What a file's sections become when they are unpacked, before libdw does that: a few bytes
 * may stand for gigabytes.
 */
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "files/unpack.h"
#include "names/elf.h"
#include "names/tables.h"

#include <errno.h>
#include <string.h>

/* Compilers' debug information becomes some four times as long; a small file may have more. */
#define MOST_UNPACKED ((uint64_t)16 << 20)
#define MOST_FACTOR   16u
#define MOST_SECTIONS 65536u
#define MOST_TIMES    2u /* that a file's bytes are in sections, and in notes */

struct unpacked {
    uint64_t size, most;
    uint64_t sections; /* bytes of all of them */
};

static bool count(void *context, const uint8_t *bytes, size_t size)
{
    struct unpacked *unpacked = context;
    (void)bytes;
    unpacked->size += size;
    errno = EFBIG;
    return unpacked->size <= unpacked->most;
}

/** The sizes that xz data states may be wrong. */
static bool add_xz(struct unpacked *unpacked, const Elf_Data *data)
{
    struct pug_unpack *unpack = pug_unpack_new(PUG_UNPACK_XZ);
    bool few = unpack != NULL;
    if (unpack && !pug_unpack_bytes(unpack, data->d_buf, data->d_size, count, unpacked))
        few = errno == EINVAL; /* it is damaged, and libdw leaves it alone, too */
    pug_unpack_free(unpack);
    return few;
}

/** False: it is too much. */
static bool add_section(struct unpacked *unpacked, Elf_Scn *section, const GElf_Shdr *header,
                        const char *name)
{
    GElf_Chdr packed = {.ch_size = 0};
    const Elf_Data *data = NULL;
    if (header->sh_type != SHT_NOBITS && header->sh_size <= UINT32_MAX)
        unpacked->sections += header->sh_size;
    if (header->sh_flags & SHF_COMPRESSED)
        gelf_getchdr(section, &packed);
    else if (strncmp(name, ".zdebug", 7) == 0 || strcmp(name, ".gnu_debugdata") == 0)
        data = elf_rawdata(section, NULL);
    if (data && data->d_buf && name[1] == 'g')
        return add_xz(unpacked, data);
    const uint8_t *bytes = data ? data->d_buf : NULL;
    for (size_t i = 4; bytes && data->d_size >= 12 && i < 12; i++) /* "ZLIB", highest byte first */
        packed.ch_size = packed.ch_size << 8 | bytes[i];
    unpacked->size += packed.ch_size < UINT64_MAX / 2 ? packed.ch_size : UINT64_MAX / 2;
    return unpacked->size <= unpacked->most;
}

/** Segments of notes may all be the same, too. */
static bool notes_fit(Elf *elf, uint64_t most)
{
    GElf_Phdr header;
    size_t count;
    if (elf_getphdrnum(elf, &count) != 0)
        return true;
    for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
        if (header.p_type == PT_NOTE && header.p_filesz > most)
            return false;
        most -= header.p_type == PT_NOTE ? header.p_filesz : 0;
    }
    return true;
}

static enum pug_names_bound bound_of(Elf *elf)
{
    struct unpacked unpacked = {.most = MOST_UNPACKED};
    GElf_Shdr header;
    Elf_Scn *section = NULL;
    size_t names, size = 0, seen = 0;
    if (elf_kind(elf) != ELF_K_ELF || !elf_rawfile(elf, &size))
        return PUG_NAMES_UNCLEAR;
    if (size > MOST_UNPACKED / MOST_FACTOR)
        unpacked.most = (uint64_t)size * MOST_FACTOR;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return PUG_NAMES_FITS; /* no section has a name, and libdw knows none */
    while (seen++ < MOST_SECTIONS && (section = elf_nextscn(elf, section)) != NULL) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && !add_section(&unpacked, section, &header, name))
            return unpacked.size > unpacked.most ? PUG_NAMES_TOO_LARGE : PUG_NAMES_UNCLEAR;
    }
    if (seen > MOST_SECTIONS)
        return PUG_NAMES_UNCLEAR;
    const uint64_t most = (uint64_t)size * MOST_TIMES;
    return unpacked.sections <= most && notes_fit(elf, most) &&
                   pug_names_abbreviations_fit(elf, unpacked.most)
               ? PUG_NAMES_FITS
               : PUG_NAMES_TOO_LARGE;
}

enum pug_names_bound pug_names_file_bound(int file)
{
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    const enum pug_names_bound bound = bound_of(elf);
    elf_end(elf);
    return bound;
}

#endif
