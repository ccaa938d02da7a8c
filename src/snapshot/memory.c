// SPDX-License-Identifier: MIT
/** @file Dumps and ELF files of a device, added to an image. */
#include "snapshot/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** A dump or an ELF file that is in the image. */
struct mapped {
    const struct pug_snapshot_dump *dump;
    struct pug_place place;
};

static bool is_in(const struct pug_snapshot_dump *dump, const char *space)
{
    return dump->space && strcmp(dump->space, space) == 0;
}

/**
 * Has a core's hypervisor memory of its own? To the reference it is that of all non-secure code.
 */
static bool has_hypervisor(const struct memory *memory, const struct pug_snapshot_device *device)
{
    for (size_t i = 0; i < device->dump_count && pug_snapshot_is_native(memory->snapshot); i++)
        if (is_in(&device->dumps[i], "H"))
            return true;
    return false;
}

/** "N" beside a hypervisor is what is below it. */
static struct pug_place place_of(const struct memory *memory, const struct pug_snapshot_dump *dump,
                                 bool hypervisor)
{
    return (struct pug_place){.space = hypervisor && is_in(dump, "N")
                                           ? PUG_SPACE_EL1N
                                           : pug_space_by_name(dump->space ? dump->space : ""),
                              .behind = memory->behind,
                              .has_context_id = dump->has_context_id,
                              .has_vmid = dump->has_vmid,
                              .context_id = (uint32_t)dump->context_id,
                              .vmid = (uint32_t)dump->vmid};
}

/** Behind what it lies is another matter. */
static bool same_place(const struct pug_place *a, const struct pug_place *b)
{
    return a->space == b->space && a->has_context_id == b->has_context_id &&
           a->context_id == b->context_id && a->has_vmid == b->has_vmid && a->vmid == b->vmid;
}

/** Was the same mapped already, for all cores or this one? */
static bool is_mapped(const struct memory *memory, const struct mapped *what, uint16_t source)
{
    const struct mapped *mapped = memory->mapped.items;
    const struct pug_snapshot_dump *dump = what->dump;
    for (size_t i = 0; i < memory->mapped.count; i++) {
        const struct pug_snapshot_dump *other = mapped[i].dump;
        if ((!mapped[i].place.has_source || mapped[i].place.source == source) &&
            other->elf == dump->elf && other->address == dump->address &&
            other->length == dump->length && other->offset == dump->offset &&
            other->bias == dump->bias &&
            (dump->elf || what->place.behind == mapped[i].place.behind) &&
            same_place(&what->place, &mapped[i].place) && strcmp(other->file, dump->file) == 0)
            return true;
    }
    return false;
}

/** A program that lies where dumps do has names for what they hold. */
static enum pug_status map_elf(struct memory *memory, struct mapped *what, const char *path)
{
    enum pug_status status = pug_image_add_elf(memory->image, &what->place, path, what->dump->bias);
    if (status != PUG_ERR_MEMORY_OVERLAP || memory->behind)
        return status;
    what->place.behind = true;
    return pug_image_add_elf(memory->image, &what->place, path, what->dump->bias);
}

/**
 * Map one. Memory that lies where another core's is belongs to this source alone; the reference
 * has one map for all, and knows a file by its path only.
 */
static enum pug_status map(struct memory *memory, struct mapped *what, const char *path,
                           uint16_t source)
{
    const struct pug_snapshot_dump *dump = what->dump;
    struct pug_region region = {dump->offset, dump->address, dump->length};
    if (dump->elf)
        return map_elf(memory, what, path);
    if (!pug_snapshot_is_native(memory->snapshot) && pug_image_has_file(memory->image, path))
        return pug_image_update_file(memory->image, path, &region, 1);
    enum pug_status status = pug_image_add_file(memory->image, &what->place, path, &region, 1);
    if (status == PUG_ERR_MEMORY_OVERLAP && pug_snapshot_is_native(memory->snapshot) &&
        !memory->behind) {
        what->place.has_source = true;
        what->place.source = source;
        status = pug_image_add_file(memory->image, &what->place, path, &region, 1);
    }
    return status;
}

/** Report the part of a dump that its file lacks. */
static void say_short(const struct pug_snapshot *snapshot, const char *path,
                      const struct pug_snapshot_dump *dump)
{
    if (dump->length > 0)
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_ERR_TRUNCATED,
                         "%s: it does not have all of the 0x%" PRIx64
                         " bytes from offset 0x%" PRIx64 " on that are told",
                         path, dump->length, dump->offset);
    else
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_ERR_TRUNCATED,
                         "%s: there is nothing in it from offset 0x%" PRIx64 " on", path,
                         dump->offset);
}

/** Memory that cannot be had. */
static void say_trouble(const struct pug_snapshot *snapshot, const char *path,
                        const struct pug_snapshot_dump *dump, enum pug_status status)
{
    if (!pug_snapshot_is_native(snapshot))
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, status,
                         "Failed to create memory accessor for file %s.", path);
    else if (status == PUG_ERR_TRUNCATED && !dump->elf)
        say_short(snapshot, path, dump);
    else
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, status, "%s%s%s", path,
                         status == PUG_ERR_FILE ? ": " : "",
                         status == PUG_ERR_FILE ? strerror(errno) : "");
}

static void add_one(struct memory *memory, struct mapped *what, uint16_t source)
{
    const struct pug_snapshot *snapshot = memory->snapshot;
    const struct pug_snapshot_dump *dump = what->dump;
    if (pug_snapshot_is_native(snapshot) && is_mapped(memory, what, source))
        return;
    size_t size = pug_snapshot_path(snapshot, dump->file, NULL, 0) + 1;
    char *path = malloc(size);
    enum pug_status status = PUG_ERR_MEM;
    if (path) {
        pug_snapshot_path(snapshot, dump->file, path, size);
        status = map(memory, what, path, source);
    }
    memory->starved |= status == PUG_ERR_MEM;
    if (status != PUG_OK)
        say_trouble(snapshot, path ? path : dump->file, dump, status);
    free(path);
    struct mapped *added =
        status == PUG_OK ? pug_snapshot_list_add(&memory->mapped, sizeof(*added)) : NULL;
    if (added)
        *added = *what;
    memory->starved |= memory->mapped.starved; /* it would be mapped once more */
}

void pug_snapshot_memory_add(struct memory *memory, const struct pug_snapshot_device *device,
                             uint16_t source)
{
    bool hypervisor = has_hypervisor(memory, device);
    for (size_t i = 0; i < device->dump_count; i++) {
        const struct pug_snapshot_dump *dump = &device->dumps[i];
        add_one(memory, &(struct mapped){dump, place_of(memory, dump, hypervisor)}, source);
    }
}
