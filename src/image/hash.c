// SPDX-License-Identifier: MIT
/** @file An image as a number: the same memory in the same places. */
#include "base/bytes.h"
#include "image/image.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t mix_bytes(uint64_t hash, const uint8_t *bytes, uint64_t size)
{
    for (; size >= 8; size -= 8, bytes += 8)
        hash = mix(hash, pug_bytes_64(bytes));
    return mix(hash, pug_bytes_number(bytes, (unsigned)size));
}

static uint64_t mix_file(uint64_t hash, struct pug_file *file, uint64_t offset, uint64_t size)
{
    while (size > 0) {
        uint64_t piece = 0;
        const uint8_t *bytes = pug_file_piece(file, offset, &piece);
        if (!bytes || piece == 0)
            break;
        piece = piece < size ? piece : size;
        hash = mix_bytes(hash, bytes, piece);
        offset += piece;
        size -= piece;
    }
    return mix(hash, size);
}

static uint64_t mix_place(uint64_t hash, const struct pug_place *place)
{
    hash = mix(hash, (uint64_t)place->space | (uint64_t)place->has_context_id << 8 |
                         (uint64_t)place->has_vmid << 9 | (uint64_t)place->has_source << 10 |
                         (uint64_t)place->behind << 11);
    hash = mix(hash, place->has_context_id ? place->context_id : 0);
    hash = mix(hash, place->has_vmid ? place->vmid : 0);
    return mix(hash, place->has_source ? place->source : 0);
}

uint64_t pug_image_hash(const struct pug_image *image)
{
    uint64_t hash = 1;
    for (size_t i = 0; image && i < image->count; i++) {
        const struct pug_accessor *accessor = image->accessors[i];
        if (accessor->kind == PUG_ACCESS_CALLBACK)
            return 0;
        hash = mix_place(hash, &accessor->place);
        for (size_t n = 0; n < accessor->count; n++) {
            const struct pug_range *range = &accessor->ranges[n];
            uint64_t size = range->end - range->start + 1;
            hash = mix(mix(hash, range->start), size);
            hash = accessor->kind == PUG_ACCESS_FILE
                       ? mix_file(hash, accessor->file, range->offset, size)
                       : mix_bytes(hash, accessor->bytes + range->offset, size);
        }
    }
    return hash ? hash : 1;
}
