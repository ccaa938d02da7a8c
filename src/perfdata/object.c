// SPDX-License-Identifier: MIT
/** @file Objects: whatever maps name, once for each path and build id. */
#include "perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

bool pug_perf_same_build_id(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    static const uint8_t zeros[20];
    const size_t least = a_size < b_size ? a_size : b_size;
    if (least == 0 || memcmp(a, b, least) != 0)
        return false;
    return memcmp(a + least, zeros, a_size - least) == 0 &&
           memcmp(b + least, zeros, b_size - least) == 0;
}

/* ---- the table ---- */

static uint64_t hash_of(const char *path, size_t length, const uint8_t *id, size_t id_size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)path[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < id_size; i++)
        hash = (hash ^ id[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static bool is_object(const struct pug_capture_object *object, const char *path, size_t length,
                      const uint8_t *id, size_t id_size)
{
    return strncmp(object->path, path, length) == 0 && object->path[length] == 0 &&
           object->build_id_size == id_size &&
           (id_size == 0 || memcmp(object->build_id, id, id_size) == 0);
}

/** The slot of an object, or the free one where it would be. A guest's are not the host's. */
static uint32_t *slot_of(const struct pug_perf *perf, int32_t guest, const char *path,
                         size_t length, const uint8_t *id, size_t id_size)
{
    uint32_t *slots = perf->table.items;
    struct pug_capture_object *const *objects = pug_capture_objects(perf->capture);
    const struct pug_perf_object *details = pug_perf_details(perf);
    size_t at = hash_of(path, length, id, id_size) & (perf->table.room - 1);
    while (slots[at] && (details[slots[at] - 1].guest != guest ||
                         !is_object(objects[slots[at] - 1], path, length, id, id_size)))
        at = (at + 1) & (perf->table.room - 1);
    return &slots[at];
}

static bool grow(struct pug_perf *perf)
{
    struct pug_list table = {.room = perf->table.room ? perf->table.room * 2 : 64};
    const uint32_t *old = perf->table.items;
    const size_t room = perf->table.room;
    struct pug_capture_object *const *objects = pug_capture_objects(perf->capture);
    table.items = calloc(table.room, sizeof(*old));
    if (!table.items)
        return false;
    perf->table = table;
    for (size_t i = 0; i < room; i++) {
        if (!old[i])
            continue;
        const struct pug_capture_object *object = objects[old[i] - 1];
        *slot_of(perf, pug_perf_details(perf)[old[i] - 1].guest, object->path, strlen(object->path),
                 object->build_id, object->build_id_size) = old[i];
    }
    free((void *)(uintptr_t)old);
    return true;
}

/* ---- kinds ---- */

enum { MODE = 7, MODE_KERNEL = 1, MODE_GUEST_KERNEL = 4 };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static enum pug_object_kind kind_of(const char *path, uint16_t misc)
{
    static const char *const memory[] = {
        "[anon",  "//anon",    "anon_inode:", "/memfd:", "[heap]",
        "[stack", "/dev/zero", "/SYSV",       "[bpf",    "[uprobes]"};
    const unsigned mode = misc & MODE;
    const bool kernel = mode == MODE_KERNEL || mode == MODE_GUEST_KERNEL;
    if (begins(path, "[kernel.kallsyms]") || begins(path, "[guest.kernel.kallsyms"))
        return PUG_OBJECT_KERNEL;
    if (begins(path, "[vdso") || strcmp(path, "[vectors]") == 0 || strcmp(path, "[sigpage]") == 0)
        return PUG_OBJECT_VDSO;
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        if (begins(path, memory[i]))
            return PUG_OBJECT_MEMORY;
    if (kernel)
        return *path == '/' ? PUG_OBJECT_MODULE : PUG_OBJECT_MEMORY;
    return *path == '/' ? PUG_OBJECT_FILE : PUG_OBJECT_MEMORY;
}

/** "[name]" of kernel memory is a module where it is mapped as one. */
static bool is_named_module(const char *path, uint16_t misc)
{
    const size_t length = strlen(path);
    const unsigned mode = misc & MODE;
    return (mode == MODE_KERNEL || mode == MODE_GUEST_KERNEL) && length > 2 && path[0] == '[' &&
           path[length - 1] == ']' && !begins(path, "[bpf") && !begins(path, "[kernel") &&
           !begins(path, "[guest.kernel");
}

/** A file that was replaced while it was mapped; only its build id can prove another one. */
static size_t without_deleted(const char *path, size_t length)
{
    static const char deleted[] = " (deleted)";
    const size_t tail = sizeof(deleted) - 1;
    return length > tail && memcmp(path + length - tail, deleted, tail) == 0 ? length - tail
                                                                             : length;
}

/** The process of a guest's machine, for its kernel; 0 where it is unknown. */
static int32_t guest_of(uint16_t misc, int32_t pid)
{
    return (misc & MODE) != MODE_GUEST_KERNEL ? PUG_PERF_NO_GUEST : pid > 0 ? pid : 0;
}

uint32_t pug_perf_object(struct pug_perf *perf, const char *path, size_t length,
                         const uint8_t *build_id, size_t build_id_size, uint16_t misc, int32_t pid)
{
    const int32_t guest = guest_of(misc, pid);
    length = without_deleted(path, length);
    if (perf->capture->objects.count * 2 >= perf->table.room && !grow(perf)) {
        pug_capture_starve(perf->capture);
        return PUG_NO_OBJECT;
    }
    uint32_t *slot = slot_of(perf, guest, path, length, build_id, build_id_size);
    if (*slot)
        return *slot - 1;
    struct pug_perf_object *details =
        pug_capture_add(perf->capture, &perf->details, sizeof(*details));
    struct pug_capture_object *object = details ? pug_capture_add_object(perf->capture) : NULL;
    perf->details.count = perf->capture->objects.count;
    if (!object)
        return PUG_NO_OBJECT;
    details->guest = guest;
    object->path = pug_capture_keep(perf->capture, path, length);
    object->kind =
        is_named_module(object->path, misc) ? PUG_OBJECT_MODULE : kind_of(object->path, misc);
    object->state = PUG_OBJECT_MISSING;
    if (build_id_size > 0)
        memcpy(object->build_id, build_id, build_id_size);
    object->build_id_size = (uint8_t)build_id_size;
    *slot = (uint32_t)perf->capture->objects.count;
    return *slot - 1;
}

/* ---- build ids from other sources ---- */

#define MOST_TOLD (1u << 20)

void pug_perf_tell_build_id(struct pug_perf *perf, const char *path, const uint8_t *build_id,
                            size_t size, uint16_t misc, int32_t pid)
{
    struct pug_perf_told *told = perf->told.count < MOST_TOLD
                                     ? pug_capture_add(perf->capture, &perf->told, sizeof(*told))
                                     : NULL;
    if (!told)
        return;
    const size_t length = strlen(path), kept = without_deleted(path, length);
    told->path = pug_capture_keep(perf->capture, path, kept);
    told->deleted = kept < length;
    told->guest = guest_of(misc, pid);
    memcpy(told->build_id, build_id, size);
    told->size = (uint8_t)size;
}

/** Kernels' maps are called by the symbol that they begin with, and guests may have numbers. */
static bool is_kernel(const char *path)
{
    return strcmp(path, "[kernel.kallsyms]") == 0 || begins(path, "[guest.kernel.kallsyms");
}

static void take_told(struct pug_capture_object *object, const struct pug_perf_told *told)
{
    if (object->build_id_size > 0)
        return;
    memcpy(object->build_id, told->build_id, told->size);
    object->build_id_size = told->size;
}

/** Takes simpleperf's information about files. */
static void take_file_facts(struct pug_perf *perf)
{
    const struct pug_perf_file_fact *facts = perf->file_facts.items;
    for (size_t i = 0; i < perf->file_facts.count; i++) {
        const size_t length = without_deleted(facts[i].path, strlen(facts[i].path));
        const uint32_t number = *slot_of(perf, PUG_PERF_NO_GUEST, facts[i].path, length, NULL, 0);
        if (!number)
            continue;
        struct pug_perf_object *details = &pug_perf_details(perf)[number - 1];
        details->min_vaddr = facts[i].min_vaddr;
        details->memory_offset = facts[i].offset;
        details->has_memory_offset = facts[i].in_memory;
        details->no_offset = facts[i].no_offset;
        details->symbols = facts[i].symbols;
    }
}

static void settle_told(struct pug_perf *perf, const struct pug_perf_told *told)
{
    const struct pug_perf_object *details = pug_perf_details(perf);
    struct pug_capture_object *const *objects = pug_capture_objects(perf->capture);
    const uint32_t number =
        *slot_of(perf, told->guest, told->path, strlen(told->path), told->build_id, 0);
    if (number)
        take_told(objects[number - 1], told);
    for (size_t n = 0; is_kernel(told->path) && n < perf->capture->objects.count; n++)
        if (objects[n]->kind == PUG_OBJECT_KERNEL && details[n].guest == told->guest)
            take_told(objects[n], told);
}

void pug_perf_settle_objects(struct pug_perf *perf)
{
    const struct pug_perf_told *told = perf->told.items;
    if (perf->table.room == 0)
        return;
    take_file_facts(perf);
    /* Where a path has two ids, that of the file counts which is there now. */
    for (unsigned deleted = 0; deleted < 2; deleted++)
        for (size_t i = 0; i < perf->told.count; i++)
            if (told[i].deleted == deleted)
                settle_told(perf, &told[i]);
}
