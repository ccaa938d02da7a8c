// SPDX-License-Identifier: MIT
/** @file Dumps and ELF files of a device, added to an image. */
#include "snapshot/snapshot.h"

#include <stdlib.h>

static struct pug_place place_of(const struct pug_snapshot_dump *dump)
{
    return (struct pug_place){.space = pug_space_by_name(dump->space ? dump->space : ""),
                              .has_context_id = dump->has_context_id,
                              .has_vmid = dump->has_vmid,
                              .context_id = (uint32_t)dump->context_id,
                              .vmid = (uint32_t)dump->vmid};
}

static bool same_place(const struct pug_place *a, const struct pug_place *b)
{
    return a->space == b->space && a->has_context_id == b->has_context_id &&
           a->context_id == b->context_id && a->has_vmid == b->has_vmid && a->vmid == b->vmid;
}

/** Was the same mapped already, for another core? */
static bool is_mapped(const struct memory *memory, const struct pug_snapshot_dump *dump)
{
    const struct pug_snapshot_dump *const *mapped = memory->mapped.items;
    struct pug_place place = place_of(dump);
    for (size_t i = 0; i < memory->mapped.count; i++) {
        const struct pug_snapshot_dump *other = mapped[i];
        struct pug_place other_place = place_of(other);
        if (other->elf == dump->elf && other->address == dump->address &&
            other->length == dump->length && other->offset == dump->offset &&
            other->bias == dump->bias && same_place(&place, &other_place) &&
            strcmp(other->file, dump->file) == 0)
            return true;
    }
    return false;
}

/**
 * Map one. Memory that lies where another core's is belongs to this source alone; the reference
 * has one map for all, and knows a file by its path only.
 */
static enum pug_status map(struct memory *memory, const struct pug_snapshot_dump *dump,
                           const char *path, uint16_t source)
{
    struct pug_place place = place_of(dump);
    struct pug_region region = {dump->offset, dump->address, dump->length};
    if (dump->elf)
        return pug_image_add_elf(memory->image, &place, path, dump->bias);
    if (!pug_snapshot_is_native(memory->snapshot) && pug_image_has_file(memory->image, path))
        return pug_image_update_file(memory->image, path, &region, 1);
    enum pug_status status = pug_image_add_file(memory->image, &place, path, &region, 1);
    if (status == PUG_ERR_MEM_ACC_OVERLAP && pug_snapshot_is_native(memory->snapshot)) {
        place.has_source = true;
        place.source = source;
        status = pug_image_add_file(memory->image, &place, path, &region, 1);
    }
    return status;
}

static void add_one(struct memory *memory, const struct pug_snapshot_dump *dump, uint16_t source)
{
    const struct pug_snapshot *snapshot = memory->snapshot;
    if (pug_snapshot_is_native(snapshot) && is_mapped(memory, dump))
        return;
    size_t size = pug_snapshot_path(snapshot, dump->file, NULL, 0) + 1;
    char *path = malloc(size);
    enum pug_status status = PUG_ERR_MEM;
    if (path) {
        pug_snapshot_path(snapshot, dump->file, path, size);
        status = map(memory, dump, path, source);
    }
    if (status != PUG_OK)
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, status,
                         "Failed to create memory accessor for file %s.", path ? path : dump->file);
    free(path);
    if (status == PUG_OK)
        pug_snapshot_list_add_pointer(&memory->mapped,
                                      dump); /* without memory it is tried again, that is all */
}

void pug_snapshot_memory_add(struct memory *memory, const struct pug_snapshot_device *device,
                             uint16_t source)
{
    for (size_t i = 0; i < device->dump_count; i++)
        add_one(memory, &device->dumps[i], source);
}
