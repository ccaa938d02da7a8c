// SPDX-License-Identifier: MIT
/** @file Files and their regions as accessors. */
#include "image/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The file accessor of this path, first in the order of adding. */
static struct pug_accessor *known_file(const struct pug_image *image, const char *path)
{
    for (size_t i = 0; i < image->count; i++) {
        struct pug_accessor *accessor = image->accessors[i];
        if (accessor->kind == PUG_ACCESS_FILE && strcmp(pug_file_path(accessor->file), path) == 0)
            return accessor;
    }
    return NULL;
}

bool pug_image_has_file(const struct pug_image *image, const char *path)
{
    return image && path && known_file(image, path) != NULL;
}

static bool starts_range(const struct pug_accessor *accessor, uint64_t address)
{
    for (size_t i = 0; i < accessor->count; i++)
        if (accessor->ranges[i].start == address)
            return true;
    return false;
}

/* A region in bytes of the file; PUG_ERR_TRUNCATED where the file does not have them. */
static enum pug_status measure(const struct pug_accessor *accessor, struct pug_region *region)
{
    uint64_t length = pug_file_length(accessor->file);
    if (region->size == 0 && region->offset < length)
        region->size = length - region->offset;
    bool fits =
        region->size > 0 && region->offset <= length && region->size <= length - region->offset;
    return fits ? PUG_OK : PUG_ERR_TRUNCATED;
}

static struct pug_range *append(struct pug_accessor *accessor, const struct pug_region *region)
{
    struct pug_range *range = &accessor->ranges[accessor->count];
    *range = (struct pug_range){.start = region->address,
                                .end = region->address + (region->size - 1),
                                .offset = region->offset};
    if (pug_accessor_range(accessor, range->start) || pug_accessor_range(accessor, range->end))
        return NULL;
    accessor->count++;
    return range;
}

static enum pug_status add_region(const struct pug_image *image, struct pug_accessor *accessor,
                                  struct pug_region region)
{
    enum pug_status status = measure(accessor, &region);
    if (status != PUG_OK)
        return status;
    const struct pug_range *range = append(accessor, &region);
    if (!range)
        return PUG_ERR_MEMORY_OVERLAP;
    return pug_range_valid(image, range) ? PUG_OK : PUG_ERR_MEMORY_RANGE;
}

/* ---- the reference's way ---- */

/* The base stands first; it grows up to where the first other region begins in the file. */
static void grow_base(struct pug_accessor *accessor)
{
    if (accessor->count < 2 || !accessor->ranges[0].base)
        return;
    uint64_t end = accessor->ranges[0].start + accessor->ranges[1].offset - 1;
    if (end > accessor->ranges[0].end)
        accessor->ranges[0].end = end;
}

static bool add_base(struct pug_accessor *accessor, const struct pug_region *region)
{
    if (region->size == 0 || (accessor->count > 0 && accessor->ranges[0].base))
        return false;
    struct pug_range *range = append(accessor, region);
    if (!range)
        return false;
    struct pug_range base = *range;
    base.base = true;
    memmove(&accessor->ranges[1], &accessor->ranges[0],
            (accessor->count - 1) * sizeof(accessor->ranges[0]));
    accessor->ranges[0] = base;
    return true;
}

/* A later region: the base may be larger than the file; what is beyond is not there. */
static bool add_reference_region(struct pug_accessor *accessor, struct pug_region region)
{
    if (region.offset == 0)
        return add_base(accessor, &region);
    if (region.size == 0 || measure(accessor, &region) != PUG_OK || !append(accessor, &region))
        return false;
    grow_base(accessor);
    return true;
}

static enum pug_status add_reference_regions(struct pug_accessor *accessor,
                                             const struct pug_region *regions, size_t count)
{
    struct pug_region first = regions[0];
    if (first.size == 0 && first.offset != 0)
        return PUG_ERR_MEMORY_RANGE;
    enum pug_status status = measure(accessor, &first);
    if (status != PUG_OK)
        return status;
    (void)add_reference_region(accessor, first);
    for (size_t i = 1; i < count; i++)
        (void)add_reference_region(accessor, regions[i]);
    return PUG_OK;
}

/* ---- adding and updating ---- */

/**
 * A file that is in the image is held once: its bytes and its descriptor serve all, unless it is
 * another by now.
 */
static enum pug_status open_file(const struct pug_image *image, const struct pug_accessor *known,
                                 const char *path, struct pug_file **file)
{
    if (!known || !pug_file_is_current(known->file))
        return pug_file_open(path, image->quirks.reference_files, file);
    *file = pug_file_share(known->file);
    return PUG_OK;
}

static enum pug_status fill(struct pug_image *image, struct pug_accessor *accessor,
                            const struct pug_accessor *known, const char *path,
                            const struct pug_region *regions, size_t count)
{
    enum pug_status status = open_file(image, known, path, &accessor->file);
    if (status != PUG_OK)
        return status;
    if (pug_file_length(accessor->file) == 0)
        return PUG_ERR_TRUNCATED;
    if (image->quirks.reference_files)
        return add_reference_regions(accessor, regions, count);
    for (size_t i = 0; i < count && status == PUG_OK; i++)
        status = add_region(image, accessor, regions[i]);
    return status;
}

enum pug_status pug_image_add_file(struct pug_image *image, const struct pug_place *place,
                                   const char *path, const struct pug_region *regions, size_t count)
{
    if (!image || !path || !*path || !regions || count == 0)
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_accessor *known = known_file(image, path);
    if (known && image->quirks.reference_files)
        return starts_range(known, regions[0].address) ? PUG_ERR_MEMORY_OVERLAP
                                                       : PUG_ERR_MAPPED_ELSEWHERE;
    struct pug_accessor *accessor = pug_accessor_new(PUG_ACCESS_FILE, place, count);
    if (!accessor)
        return PUG_ERR_MEM;
    enum pug_status status = fill(image, accessor, known, path, regions, count);
    if (status == PUG_OK)
        return pug_image_add(image, accessor);
    const int reason = errno;
    pug_accessor_free(accessor);
    errno = reason;
    bool unusable = status == PUG_ERR_FILE || status == PUG_ERR_TRUNCATED;
    return unusable && image->quirks.reference_files ? PUG_ERR_NOT_READY : status;
}

enum pug_status pug_image_update_file(struct pug_image *image, const char *path,
                                      const struct pug_region *regions, size_t count)
{
    struct pug_accessor *accessor = image && path && regions ? known_file(image, path) : NULL;
    if (!accessor)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_range *ranges =
        realloc(accessor->ranges, (accessor->count + count) * sizeof(*ranges));
    if (!ranges)
        return PUG_ERR_MEM;
    accessor->ranges = ranges;
    bool good = true;
    const size_t first = accessor->count;
    for (size_t i = 0; i < count && good; i++) {
        if (starts_range(accessor, regions[i].address))
            continue;
        size_t before = accessor->count;
        good = image->quirks.reference_files ? add_reference_region(accessor, regions[i])
                                             : add_region(image, accessor, regions[i]) == PUG_OK;
        if (!good)
            accessor->count = before;
    }
    enum pug_status status = pug_image_reindex(image);
    if (status != PUG_OK)
        accessor->count = first;
    return good ? status : PUG_ERR_INVALID_PARAM_VAL;
}
