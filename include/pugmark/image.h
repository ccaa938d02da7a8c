// SPDX-License-Identifier: MIT
/**
 * @file Program memory: buffers, files, ELF files and callbacks, by address space.
 *
 * An image is filled, then read by any number of trees, also on several threads; adding and
 * removing while another thread decodes is the caller's to exclude. Each change bumps the image's
 * generation, which makes every code map built on it start anew.
 */
#ifndef PUGMARK_IMAGE_H
#define PUGMARK_IMAGE_H

#include "pugmark/quirks.h"
#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Memory spaces: a bit set. Two spaces match when they share a bit. */
enum pug_space {
    PUG_SPACE_NONE = 0x00,
    PUG_SPACE_EL1S = 0x01,
    PUG_SPACE_EL1N = 0x02,
    PUG_SPACE_EL2 = 0x04,
    PUG_SPACE_EL3 = 0x08,
    PUG_SPACE_EL2S = 0x10,
    PUG_SPACE_EL1R = 0x20,
    PUG_SPACE_EL2R = 0x40,
    PUG_SPACE_ROOT = 0x80,
    PUG_SPACE_S = 0x19,
    PUG_SPACE_N = 0x06,
    PUG_SPACE_R = 0x60,
    PUG_SPACE_ANY = 0xff,
};

/** The name of a space ("EL1N", "Any S", "EL1S,EL3,"), always terminated; returns its length. */
size_t pug_space_text(uint8_t space, char *buffer, size_t size);

/** The space that a snapshot's `space` word names; ANY for words that it does not know. */
uint8_t pug_space_by_name(const char *name);

/**
 * The space in which a core in a security state (enum pug_security) and at an exception level (0 to
 * 3) reads its program.
 */
uint8_t pug_space_of_level(unsigned security, unsigned level);

/** Where memory belongs. Zeroed but for `space` it belongs to every context and source. */
struct pug_place {
    uint8_t space; /**< enum pug_space */
    bool behind;   /**< seen only where no other memory is: that of a bus, below all cores */
    bool has_context_id, has_vmid, has_source;
    uint32_t context_id, vmid;
    uint16_t source; /**< trace id: this memory is seen by this source only */
};

/** Who asks for memory: a decoder's current address space. */
struct pug_reader_space {
    uint8_t space;
    bool has_context_id, has_vmid;
    uint32_t context_id, vmid;
    uint16_t source;
};

/** A piece of a file: `size` bytes from `offset`, seen at `address`. */
struct pug_region {
    uint64_t offset, address, size;
};

/**
 * Reads `wanted` bytes at `address` into `buffer` and returns how many it gave: fewer at the end
 * of a mapping, 0 where there is none. May answer differently at different times; a decoder asks
 * again when a context packet says that the address space may have changed. It must not change the
 * image. It is asked for `wanted` bytes also where fewer are left in the range it was added for.
 */
typedef uint32_t pug_memory_fn(void *context, uint64_t address,
                               const struct pug_reader_space *space, uint32_t wanted,
                               uint8_t *buffer);

struct pug_image;

struct pug_image *pug_image_new(void);
void pug_image_free(struct pug_image *image);

/** The quirks that memory added from now on follows (reference_files). */
void pug_image_set_quirks(struct pug_image *image, const struct pug_quirks *quirks);

/*
 * Adding. A range that goes beyond the last address is PUG_ERR_MEM_ACC_RANGE_INVALID, and so, with
 * the quirk reference_files, is one with an odd start or an even end (its last byte). A range whose
 * start or end lies in memory that is there already, for the same place, is
 * PUG_ERR_MEM_ACC_OVERLAP; one that encloses what is there fits around it. Reading takes the memory
 * with the most specific place (context, VMID, source), of several the one that was added first. A
 * failed call changes nothing.
 */

/** Add memory that stays the caller's. PUG_ERR_INVALID_PARAM_VAL: none, or less than 4 bytes. */
enum pug_status pug_image_add_buffer(struct pug_image *image, const struct pug_place *place,
                                     uint64_t address, const void *bytes, uint64_t size);

/**
 * Add regions of a file, as one accessor; at least one. A size of 0 means to the end of the file
 * (reference_files: whose last odd byte does not count). PUG_ERR_NOT_INIT: the file cannot be
 * opened or is too short; PUG_ERR_INVALID_PARAM_VAL: no path, no regions. The file is read when its
 * bytes are needed.
 */
enum pug_status pug_image_add_file(struct pug_image *image, const struct pug_place *place,
                                   const char *path, const struct pug_region *regions,
                                   size_t count);

/**
 * Add further regions to the first accessor that is a file of this path. Regions that start where
 * one starts already are skipped, others are not tested against other memory.
 * PUG_ERR_INVALID_PARAM_VAL: no such file, or a region that does not fit.
 */
enum pug_status pug_image_update_file(struct pug_image *image, const char *path,
                                      const struct pug_region *regions, size_t count);

/** Is there an accessor that is a file of this path? */
bool pug_image_has_file(const struct pug_image *image, const char *path);

/**
 * Add the loadable segments of an ELF file, moved by `bias`, and its function symbols.
 * PUG_ERR_NO_PROTOCOL: built without libelf; PUG_ERR_FILE: not an ELF file, or a damaged one.
 */
enum pug_status pug_image_add_elf(struct pug_image *image, const struct pug_place *place,
                                  const char *path, uint64_t bias);

/** Add a callback for `start` to `end` inclusive. */
enum pug_status pug_image_add_callback(struct pug_image *image, const struct pug_place *place,
                                       uint64_t start, uint64_t end, pug_memory_fn *function,
                                       void *context);

/**
 * Remove the first accessor that holds `address` in a matching space, with all its ranges.
 * PUG_ERR_INVALID_PARAM_VAL: there is none.
 */
enum pug_status pug_image_remove(struct pug_image *image, uint64_t address, uint8_t space);

/**
 * Read; returns how many bytes it got, up to where no memory goes on, 0 where there is none, or a
 * negative enum pug_status: PUG_ERR_MEM_ACC_BAD_LEN if a callback said it gave more than was
 * wanted. (With the quirk `reads_end_with_image`: from one accessor only.)
 */
int64_t pug_image_read(const struct pug_image *image, const struct pug_reader_space *space,
                       uint64_t address, void *buffer, uint32_t wanted);

/** Bumped by each change. */
uint64_t pug_image_generation(const struct pug_image *image);

/** One mapped range, as pug_image_range() lists them. */
struct pug_image_range {
    const char *kind;    /**< "file", "buffer", "callback" */
    const char *path;    /**< of a file, else NULL */
    uint64_t start, end; /**< inclusive */
    uint64_t offset;     /**< where in its file it begins */
    struct pug_place place;
    bool first; /**< the first range of its accessor */
};

/** The n-th range in order of adding; false when there are no more. */
bool pug_image_range(const struct pug_image *image, size_t n, struct pug_image_range *range);

/** A function symbol of the ELF files that were added; labels in code count too. */
struct pug_symbol {
    const char *name; /**< lives as long as the image */
    uint64_t start, size;
};

/** The symbol that covers `address`, the innermost one; false where no ELF file has one. */
bool pug_image_symbol(const struct pug_image *image, uint64_t address, struct pug_symbol *symbol);

/**
 * A number for all memory of an image and where it belongs, which another image of the same memory,
 * added in the same order, has as well; never 0 but where callbacks give memory: nobody knows
 * theirs.
 */
uint64_t pug_image_hash(const struct pug_image *image);

#ifdef __cplusplus
}
#endif
#endif
