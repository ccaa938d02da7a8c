// SPDX-License-Identifier: MIT
/** @file Memory at a position: what programs' files hold and no store changes, and data trace. */
#include "debug/history.h"
#include "files/elf.h"
#include "files/infile.h"
#include "pugmark/advanced/capture.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_LIMIT 4096u
#define LOOK_BACK     4000000u /* accesses that a read looks at */
#define READ_LIMIT    65536u   /* bytes of a read */

enum { SEGMENT_EXECUTES = 1, SEGMENT_WRITES = 2 }; /* PF_X, PF_W */

/* ---- programs ---- */

/** Reads the loadable segments of an ELF file. */
static void read_program(const struct pug_infile *file, struct pug_debug_program *program)
{
    size_t count = 0;
    if (elf_version(EV_CURRENT) == EV_NONE)
        return;
    Elf *elf = elf_begin(pug_infile_descriptor(file), ELF_C_READ, NULL);
    if (elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &count) == 0 && count > 0 &&
        count <= SEGMENT_LIMIT)
        program->segments = calloc(count, sizeof(*program->segments));
    for (size_t i = 0; program->segments && i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
            continue;
        program->segments[program->count++] = (struct pug_program_segment){
            .vaddr = header.p_vaddr,
            .size = header.p_filesz,
            .flags = (uint8_t)header.p_flags,
        };
    }
    (void)elf_end(elf);
}

const struct pug_debug_program *pug_history_program(struct pug_history *history, uint32_t object)
{
    if (object == PUG_NO_OBJECT || !pug_history_grow(history, &history->files, &history->file_room,
                                                     (uint64_t)object + 1, sizeof(*history->files)))
        return NULL;
    struct pug_history_file *of = &history->files[object];
    const struct pug_capture_object *known = pug_capture_object_at(history->config.capture, object);
    struct pug_infile *file;
    if (!of->read && known && known->file && pug_infile_open(known->file, &file) == PUG_OK) {
        read_program(file, &of->program);
        pug_infile_close(file);
    }
    of->read = true;
    return of->program.count > 0 ? &of->program : NULL;
}

bool pug_history_is_program(struct pug_history *history, uint32_t object)
{
    return pug_history_program(history, object) != NULL;
}

uint64_t pug_history_first_address(struct pug_history *history, uint32_t object)
{
    const struct pug_debug_program *program = pug_history_program(history, object);
    return program ? program->segments[0].vaddr : 0;
}

void pug_debug_program_free(struct pug_debug_program *program)
{
    free(program->segments);
}

/** How many bytes from an address on no store of the program can have changed. */
static size_t count_constant(struct pug_history *history, const struct pug_history_place *place,
                             uint64_t address, size_t size)
{
    struct pug_location location;
    uint64_t end;
    const enum pug_dump_kind dump = pug_history_dump(history, place, address, &end);
    if (dump == PUG_DUMP_KNOWN && end - address < size)
        size = (size_t)(end - address);
    if (dump == PUG_DUMP_KNOWN ||
        !pug_capture_locate(history->config.capture, &place->origin, address, &location))
        return size;
    const struct pug_debug_program *program = pug_history_program(history, location.object);
    for (uint32_t i = 0; program && i < program->count; i++) {
        const struct pug_program_segment *segment = &program->segments[i];
        const uint64_t at = location.vaddr - segment->vaddr;
        if (location.vaddr < segment->vaddr || at >= segment->size)
            continue;
        if ((segment->flags & SEGMENT_WRITES) && !(segment->flags & SEGMENT_EXECUTES))
            return 0;
        return segment->size - at < size ? (size_t)(segment->size - at) : size;
    }
    return dump == PUG_DUMP_UNKNOWN ? 0 : size;
}

/* ---- data trace ---- */

/** Byte `n` of an access. */
static uint8_t byte_of(const struct pug_data_access *access, unsigned n)
{
    return (uint8_t)(access->value >> 8 * (access->big_endian ? access->size - 1u - n : n));
}

/** How many accesses are not after a position. */
static uint32_t count_accesses(const struct pug_history *history, uint64_t position)
{
    uint32_t low = 0, high = history->data_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (history->data[middle].position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** The knowledge of a byte. */
enum { NOTHING, KNOWN, CHANGED };

/** The newest accesses fill in what they tell; `known` says of which bytes. */
static void read_accesses(const struct pug_history *history, uint64_t position, uint64_t address,
                          uint8_t *bytes, uint8_t *known, size_t size)
{
    const uint32_t count = count_accesses(history, position);
    size_t left = size;
    for (uint32_t n = 0; n < count && n < LOOK_BACK && left > 0; n++) {
        const struct pug_data_access *access = &history->data[count - 1 - n];
        for (unsigned i = 0; i < access->size; i++) {
            const uint64_t at = access->address + i - address;
            if (at >= size || known[at] != NOTHING)
                continue;
            bytes[at] = byte_of(access, i);
            known[at] = access->unknown ? CHANGED : KNOWN;
            left--;
        }
    }
}

struct pug_reader_space pug_history_reader(const struct pug_history_place *place)
{
    const struct pug_element element = {.context_id = place->context_id,
                                        .vmid = place->vmid,
                                        .source = place->origin.source,
                                        .security = place->security,
                                        .level = place->level,
                                        .context_flags = place->context_flags,
                                        .isa = place->isa,
                                        .type = PUG_ELEM_INSTR_RANGE};
    struct pug_reader_space reader;
    pug_element_space(&element, &reader);
    return reader;
}

size_t pug_history_memory_at(struct pug_history *history, const struct pug_history_place *place,
                             uint64_t address, uint8_t *bytes, size_t size)
{
    const struct pug_address_space *space = place->origin.space;
    const struct pug_reader_space reader = pug_history_reader(place);
    if (size > READ_LIMIT)
        size = READ_LIMIT;
    size_t count = 0;
    for (size_t constant; space && count < size; count += constant) {
        constant = count_constant(history, place, address + count, size - count);
        const int64_t got = constant > 0
                                ? pug_image_read(pug_address_space_image(space), &reader,
                                                 address + count, bytes + count, (uint32_t)constant)
                                : 0;
        if (got != (int64_t)constant || constant == 0) {
            count += got > 0 ? (size_t)got : 0;
            break;
        }
    }
    if (history->data_count == 0)
        return count;
    uint8_t *known = calloc(size + 1, 1);
    if (!known)
        return count;
    uint8_t *told = malloc(size + 1);
    if (told) {
        read_accesses(history, place->position, address, told, known, size);
        const size_t there = count;
        for (count = 0;
             count < size && known[count] != CHANGED && (count < there || known[count] == KNOWN);
             count++)
            bytes[count] = known[count] == KNOWN ? told[count] : bytes[count];
    }
    free(told);
    free(known);
    return count;
}
