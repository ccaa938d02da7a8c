// SPDX-License-Identifier: MIT
#include "recorder/program.h"

#include "files/infile.h"
#include "recorder/path_format.h"

#include <errno.h>
#include <string.h>

/* Of the ELF specification, as far as it is needed here; <elf.h> is not everywhere. */
enum { PT_LOAD_SEGMENT = 1, PT_INTERPRETER = 3, ET_MOVABLE = 3 };

static const struct {
    uint16_t machine;
    bool wide;
    uint8_t family;
    const char *name;
} machines[] = {
    {183, true, REC_FAMILY_A64, "aarch64"},
    {40, false, REC_FAMILY_ARM, "arm"},
    {243, false, REC_FAMILY_RV32, "riscv32"},
    {243, true, REC_FAMILY_RV64, "riscv64"},
    {62, true, 0, "x86_64"},
    {3, false, 0, "i386"},
    {21, true, 0, "ppc64"},
    {22, true, 0, "s390x"},
    {8, false, 0, "mips"},
};

static uint64_t number(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

const char *rec_program_machine(const struct rec_program *program)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].machine == program->machine && machines[i].wide == program->wide)
            return machines[i].name;
    return NULL;
}

/** One with code: the same page of the file may be in another, too. */
static void take_segment(struct rec_program *program, const uint8_t *header)
{
    enum { EXECUTABLE = 1 };
    bool wide = program->wide;
    if (number(header, 4) != PT_LOAD_SEGMENT ||
        !(number(header + (wide ? 4 : 24), 4) & EXECUTABLE) ||
        program->segment_count == sizeof(program->segments) / sizeof(program->segments[0]))
        return;
    unsigned n = program->segment_count++;
    program->segments[n].offset = wide ? number(header + 8, 8) : number(header + 4, 4);
    program->segments[n].address = wide ? number(header + 16, 8) : number(header + 8, 4);
    program->segments[n].size = wide ? number(header + 32, 8) : number(header + 16, 4);
}

/** The dynamic linker. What is longer than a path should be is none. */
static void take_interpreter(struct rec_program *program, const struct pug_infile *file,
                             const uint8_t *header)
{
    const bool wide = program->wide;
    const uint64_t offset = wide ? number(header + 8, 8) : number(header + 4, 4);
    const uint64_t size = wide ? number(header + 32, 8) : number(header + 16, 4);
    if (number(header, 4) != PT_INTERPRETER || size == 0 || size > sizeof(program->interpreter))
        return;
    if (pug_infile_read(file, offset, (uint8_t *)program->interpreter, (size_t)size) != PUG_OK)
        program->interpreter[0] = 0;
    program->interpreter[size - 1] = 0;
}

static bool take_segments(struct rec_program *program, const struct pug_infile *file,
                          const uint8_t *head)
{
    bool wide = program->wide;
    uint64_t at = wide ? number(head + 32, 8) : number(head + 28, 4);
    uint64_t size = number(head + (wide ? 54 : 42), 2), count = number(head + (wide ? 56 : 44), 2);
    uint8_t header[56];
    if (size < (wide ? 56 : 32))
        return count == 0;
    for (uint64_t i = 0; i < count && i < 64; i++) {
        if (pug_infile_read(file, at + i * size, header, wide ? 56 : 32) != PUG_OK)
            return false;
        take_segment(program, header);
        take_interpreter(program, file, header);
    }
    return true;
}

/* ---- build attributes (Addenda to the ABI for the Arm architecture, section 3) ---- */

enum { TAG_FILE = 1, TAG_CPU_ARCH_PROFILE = 7, TAG_COMPATIBILITY = 32, MOST_ATTRIBUTES = 4096 };

/** A number of seven bits a byte; false: the bytes end inside it. */
static bool take_uleb(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool pass_text(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *zero = memchr(*at, 0, (size_t)(end - *at));
    *at = zero ? zero + 1 : end;
    return zero;
}

/** Attributes of the whole file: is the profile M? */
static bool says_m_profile(const uint8_t *at, const uint8_t *end)
{
    uint64_t tag, value = 0;
    while (take_uleb(&at, end, &tag)) {
        const bool text = tag == 4 || tag == 5 || (tag > TAG_COMPATIBILITY && tag % 2 == 1);
        if (text ? !pass_text(&at, end) : !take_uleb(&at, end, &value))
            return false;
        if (tag == TAG_COMPATIBILITY && !pass_text(&at, end))
            return false;
        if (tag == TAG_CPU_ARCH_PROFILE)
            return value == 'M';
    }
    return false;
}

/** The section: 'A', then the vendor "aeabi" with parts, of which the first is the file's. */
static bool is_m_profile(const uint8_t *bytes, size_t size)
{
    enum { HEAD = 1 + 4 + 6, PART = 5 }; /* 'A', size, "aeabi"; tag, size */
    if (size < HEAD + PART || bytes[0] != 'A' || memcmp(bytes + 5, "aeabi", 6) != 0 ||
        bytes[HEAD] != TAG_FILE)
        return false;
    const uint64_t part = number(bytes + HEAD + 1, 4);
    if (part < PART || part > size - HEAD)
        return false;
    return says_m_profile(bytes + HEAD + PART, bytes + HEAD + part);
}

static void take_attributes(struct rec_program *program, const struct pug_infile *file,
                            const uint8_t *head)
{
    enum { ARM_ATTRIBUTES = 0x70000003 };
    const uint64_t at = number(head + 32, 4), entry = number(head + 46, 2),
                   count = number(head + 48, 2);
    uint8_t header[40], bytes[MOST_ATTRIBUTES];
    for (uint64_t i = 0; entry >= sizeof(header) && i < count && i < 512; i++) {
        if (pug_infile_read(file, at + i * entry, header, sizeof(header)) != PUG_OK)
            return;
        const uint64_t size = number(header + 20, 4);
        if (number(header + 4, 4) != ARM_ATTRIBUTES || size > sizeof(bytes))
            continue;
        program->m_profile =
            pug_infile_read(file, number(header + 16, 4), bytes, (size_t)size) == PUG_OK &&
            is_m_profile(bytes, (size_t)size);
        return;
    }
}

static bool take_head(struct rec_program *program, const struct pug_infile *file)
{
    uint8_t head[64] = {0};
    if (pug_infile_read(file, 0, head, 52) != PUG_OK || memcmp(head, "\177ELF", 4) != 0 ||
        head[5] != 1)
        return false;
    program->wide = head[4] == 2;
    if (program->wide && pug_infile_read(file, 0, head, 64) != PUG_OK)
        return false;
    program->movable = number(head + 16, 2) == ET_MOVABLE;
    program->machine = (uint16_t)number(head + 18, 2);
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].machine == program->machine && machines[i].wide == program->wide)
            program->family = machines[i].family;
    if (program->family == REC_FAMILY_ARM)
        take_attributes(program, file, head);
    return take_segments(program, file, head);
}

bool rec_program_read(const char *path, struct rec_program *program)
{
    struct pug_infile *file;
    *program = (struct rec_program){.machine = 0};
    if (pug_infile_open(path, &file) != PUG_OK)
        return false;
    bool good = take_head(program, file);
    pug_infile_close(file);
    if (!good)
        errno = ENOEXEC;
    return good;
}

bool rec_program_bias(const struct rec_program *program, uint64_t address, uint64_t offset,
                      uint64_t *bias)
{
    for (unsigned i = 0; i < program->segment_count; i++) {
        uint64_t start = program->segments[i].offset & ~UINT64_C(0xfff);
        if (offset < start || offset >= program->segments[i].offset + program->segments[i].size)
            continue;
        *bias = address - offset - (program->segments[i].address - program->segments[i].offset);
        return true;
    }
    return false;
}
