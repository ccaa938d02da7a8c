// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // process_vm_readv()
#include "state.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct object;

/* A function of QEMU; NULL when QEMU does not export it. */
#define QEMU_MAYBE __attribute__((weak))
QEMU_MAYBE extern const char vmstate_arm_cpu[], vmstate_riscv_cpu[];
QEMU_MAYBE struct object *qemu_get_cpu(int index);
QEMU_MAYBE const char *object_get_typename(const struct object *object);
QEMU_MAYBE struct object *cpu_get_address_space(struct object *cpu, int number);
QEMU_MAYBE uint32_t address_space_read_full(struct object *space, uint64_t address,
                                            uint32_t attributes, void *bytes, uint64_t size);

/* What QEMU 7.2 has in its VMStateDescription and VMStateField, as far as it is read here. */
struct description {
    const char *name;
    int numbers[4];
    const void *functions[6];
    const struct field *fields;
    const void *const *subsections;
};

struct field {
    const char *name, *hint;
    size_t offset, size, start;
    int count;
    size_t count_offset, size_offset;
    const void *info;
    int flags;
    const void *inside;
    int versions[2];
    const void *exists;
};

enum { FIELDS = 512, SUBSECTIONS = 64, NAME = 64, LARGEST = 1 << 20 };

/**
 * Copies memory of QEMU's. Returns false where nothing is there: then the layout is another one.
 */
static bool peek(void *to, const void *from, size_t size)
{
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};
    return from && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool is_named(const char *at, const char *name)
{
    char text[NAME];
    size_t size = strlen(name) + 1;
    return size <= sizeof(text) && peek(text, at, size) && memcmp(text, name, size) == 0;
}

static struct state_field find_in(const void *at, const char *name)
{
    const struct state_field none = {0, 0};
    struct description description;
    struct field field;
    const void *subsection;
    if (!peek(&description, at, sizeof(description)))
        return none;
    for (unsigned i = 0; i < FIELDS && peek(&field, description.fields + i, sizeof(field)); i++) {
        if (!field.name)
            break;
        if (is_named(field.name, name) && field.offset < LARGEST && field.size <= 8)
            return (struct state_field){field.offset, field.size};
    }
    for (unsigned i = 0;
         i < SUBSECTIONS && peek(&subsection, description.subsections + i, sizeof(subsection)) &&
         subsection;
         i++) {
        struct state_field found = find_in(subsection, name);
        if (found.size > 0)
            return found;
    }
    return none;
}

struct state_field state_find(enum rec_path_family family, const char *name)
{
    bool arm = family == REC_FAMILY_A64 || family == REC_FAMILY_ARM;
    const char *description = arm ? vmstate_arm_cpu : vmstate_riscv_cpu;
    if (!description || !qemu_get_cpu)
        return (struct state_field){0, 0};
    return find_in(description, name);
}

uint64_t state_read(unsigned cpu, struct state_field field, unsigned n)
{
    const uint8_t *object = field.size > 0 ? (const uint8_t *)qemu_get_cpu((int)cpu) : NULL;
    const uint8_t *at = object ? object + field.offset + n * field.size : NULL;
    uint64_t wide;
    uint32_t narrow;
    if (at && field.size == sizeof(wide))
        return memcpy(&wide, at, sizeof(wide)), wide;
    if (at && field.size == sizeof(narrow))
        return memcpy(&narrow, at, sizeof(narrow)), narrow;
    return at ? *at : 0;
}

bool state_memory(unsigned cpu, uint64_t address, bool secure, uint32_t *value)
{
    enum { SECURE_SPACE = 1, SECURE_ACCESS = 2, DONE = 0 }; /* QEMU's numbers, and bits */
    uint8_t bytes[4];
    struct object *object = qemu_get_cpu ? qemu_get_cpu((int)cpu) : NULL;
    if (!object || !cpu_get_address_space || !address_space_read_full)
        return false;
    struct object *space = cpu_get_address_space(object, secure ? SECURE_SPACE : 0);
    if (!space || address_space_read_full(space, address, secure ? SECURE_ACCESS : 0, bytes,
                                          sizeof(bytes)) != DONE)
        return false;
    *value =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    return true;
}

const char *state_core(void)
{
    static char name[NAME];
    struct object *object = qemu_get_cpu && object_get_typename ? qemu_get_cpu(0) : NULL;
    if (name[0] || !object)
        return name;
    snprintf(name, sizeof(name), "%s", object_get_typename(object)); /* "cortex-m33-arm-cpu" */
    for (unsigned i = 0; i < 2; i++) {
        char *dash = strrchr(name, '-');
        if (dash)
            *dash = 0;
    }
    return name;
}

bool state_is_m_profile(void)
{
    static int is = -1; /* processors are made after the plugin was loaded */
    if (is < 0 && *state_core())
        is = strncmp(state_core(), "cortex-m", 8) == 0;
    return is == 1;
}
