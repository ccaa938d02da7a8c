// SPDX-License-Identifier: MIT
/**
 * @file Program memory: buffers, files, ELF files and callbacks, by address space.
 *
 *     struct pug_image *image = pug_image_new();
 *     pug_image_add_elf(image, NULL, "program.elf", 0);              // seen by everybody
 *     pug_image_add_buffer(image, NULL, 0x8000, code, sizeof(code)); // borrowed
 *     pug_image_add_callback(image, NULL, 0, UINT64_MAX, my_memory, my_context);
 *
 * An image is filled, then read by any number of trees, walks and other readers, also on several
 * threads; adding and removing while another thread reads is the caller's to exclude. Each change
 * increases the image's generation, which makes all caches of it restart. It must outlive its
 * readers. Functions that read may be called from several threads at once, if the callbacks that
 * were added may.
 *
 * An image that is NULL is PUG_ERR_INVALID_PARAM_VAL where a status is returned. A failed call
 * changes nothing.
 */
#ifndef PUGMARK_IMAGE_H
#define PUGMARK_IMAGE_H

#include "pugmark/advanced/quirks.h"
#include "pugmark/names.h"
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

/** The name of a space ("EL1N", "Any S", "EL1S,EL3,"), always terminated; like snprintf(). */
size_t pug_space_text(uint8_t space, char *buffer, size_t size);

/** The space that a snapshot's `space` word names; ANY for NULL and words that it does not know. */
uint8_t pug_space_by_name(const char *name);

/**
 * The space in which a core in a security state (enum pug_security) and at an exception level (0 to
 * 3) reads its program.
 */
uint8_t pug_space_of_level(unsigned security, unsigned level);

/**
 * Where memory belongs. Zeroed, as a pointer that is NULL, it is everywhere: in every space, of
 * every context and source.
 */
struct pug_place {
    uint8_t space; /**< enum pug_space; 0: all (with the quirk reference_files: none) */
    bool behind;   /**< seen only where no other memory is: that of a bus, below all cores */
    bool has_context_id, has_vmid, has_source; /**< whether what follows is asked for */
    uint32_t context_id, vmid;                 /**< of the code that sees it */
    uint16_t source;   /**< trace id: this memory is seen by this source only */
    uint32_t spare[3]; /**< zero */
};

/** Who asks for memory: a decoder's current address space. Of space 0 it sees nothing. */
struct pug_reader_space {
    uint8_t space;                 /**< enum pug_space: the one that the code ran in */
    bool has_context_id, has_vmid; /**< whether these are known */
    uint32_t context_id, vmid;     /**< of the code */
    uint16_t source;               /**< trace id that asks */
};

/** A piece of a file: `size` bytes from `offset`, seen at `address`. */
struct pug_region {
    uint64_t offset, address, size; /**< in the file; in memory; bytes */
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

/** A new image without memory, for the caller to free; NULL: no memory. */
struct pug_image *pug_image_new(void);
/** Frees the image. No reader may use it any more. NULL is left alone. */
void pug_image_free(struct pug_image *image);

/**
 * The quirks (reference_files, reads_end_with_image) that memory added from now on follows; NULL:
 * none, as at first.
 */
void pug_image_set_quirks(struct pug_image *image, const struct pug_quirks *quirks);

/*
 * Adding. A range that is empty or goes round the end of the address space is
 * PUG_ERR_MEMORY_RANGE. One whose start or end lies in memory that is there already, for
 * the same place, is PUG_ERR_MEMORY_OVERLAP; one that encloses what is there fits around it.
 * Reading takes the memory with the most specific place (context, VMID, source), of several the
 * one that was added first.
 */

/**
 * Add memory that stays the caller's, and must stay as it is until the image is freed or the range
 * removed. PUG_ERR_INVALID_PARAM_VAL: no bytes.
 */
enum pug_status pug_image_add_buffer(struct pug_image *image, const struct pug_place *place,
                                     uint64_t address, const void *bytes, uint64_t size);

/**
 * Add regions of a file, as one accessor; at least one. A size of 0 means to the end of the file.
 * PUG_ERR_FILE: the file cannot be opened, or is none of bytes; PUG_ERR_TRUNCATED: it is empty, or
 * ends before a region does; PUG_ERR_INVALID_PARAM_VAL: no path, no regions. Path and regions are
 * copied. The file is read when its bytes are needed, and must not change.
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
 * PUG_ERR_FILE: it cannot be opened; PUG_ERR_FORMAT: not an ELF file, or a damaged one;
 * PUG_ERR_LIMIT: of more than 4096 segments.
 */
enum pug_status pug_image_add_elf(struct pug_image *image, const struct pug_place *place,
                                  const char *path, uint64_t bias);

/** Add a callback for `start` to `end` inclusive. PUG_ERR_INVALID_PARAM_VAL: no function. */
enum pug_status pug_image_add_callback(struct pug_image *image, const struct pug_place *place,
                                       uint64_t start, uint64_t end, pug_memory_fn *function,
                                       void *context);

/**
 * Remove the first accessor that holds `address` in a matching space, with all its ranges.
 * PUG_ERR_INVALID_PARAM_VAL: there is none.
 */
enum pug_status pug_image_remove(struct pug_image *image, uint64_t address, uint8_t space);

/**
 * Read; returns how many bytes it got, 0 where there is no memory, or a negative enum pug_status:
 * PUG_ERR_MEMORY_CALLBACK if a callback said it gave more than was wanted, and
 * PUG_ERR_INVALID_PARAM_VAL of no image or buffer. (With the quirk reads_end_with_image: from one
 * accessor only.)
 */
int64_t pug_image_read(const struct pug_image *image, const struct pug_reader_space *space,
                       uint64_t address, void *buffer, uint32_t wanted);

/** Bumped by each change. */
uint64_t pug_image_generation(const struct pug_image *image);

/** One mapped range, as pug_image_range() lists them. */
struct pug_image_range {
    const char *kind;       /**< "file", "buffer", "callback" */
    const char *path;       /**< of a file, else NULL */
    uint64_t start, end;    /**< inclusive */
    uint64_t offset;        /**< where in its file it begins */
    struct pug_place place; /**< who sees it */
    bool first;             /**< the first range of its accessor */
    uint64_t spare[2];      /**< zero */
};

/** The n-th range in order of adding; false when there are no more. */
bool pug_image_range(const struct pug_image *image, size_t n, struct pug_image_range *range);

/**
 * Did a read of a file of program memory fail, or was there no memory for it, or for its code?
 * Bytes that could not be had count as not there, so who decodes asks in the end. False: all is
 * well. Any thread may ask.
 */
bool pug_image_failure(const struct pug_image *image, struct pug_read_failure *failure);

/** A place in an ELF file of program memory. */
struct pug_program_place {
    const char *file;  /**< its path; lives as long as the image */
    uint64_t vaddr;    /**< the address as the file itself has it */
    uint64_t offset;   /**< in the file */
    uint64_t spare[2]; /**< zero */
};

/**
 * Where an address lies in the ELF files that were added, also where memory from elsewhere answers
 * for it; `space` NULL: for whoever asks. False: in none. Lines and functions of addresses are in
 * names.h.
 */
bool pug_image_program_at(const struct pug_image *image, const struct pug_reader_space *space,
                          uint64_t address, struct pug_program_place *place);

/** A function symbol of the ELF files that were added; labels in code count too. */
struct pug_symbol {
    const char *name;     /**< lives as long as the image */
    uint64_t start, size; /**< where it begins, and its bytes */
    const char *file;     /**< path of the ELF file; lives as long as the image */
    uint64_t vaddr;       /**< where it begins as the file itself has it */
};

/** The symbol that covers `address`, the innermost one; false where no ELF file has one. */
bool pug_image_symbol(const struct pug_image *image, uint64_t address, struct pug_symbol *symbol);

/** The n-th symbol, file by file, in each by address; false when there are no more. */
bool pug_image_symbol_at(const struct pug_image *image, size_t n, struct pug_symbol *symbol);

/**
 * The first function that has bytes in [start, end): the one that covers `start`, else the next one
 * after it; false if none has. All functions of a range:
 *
 *     for (at = start; pug_image_symbol_in(image, at, end, &s); at = s.start + s.size)
 *         ...
 */
bool pug_image_symbol_in(const struct pug_image *image, uint64_t start, uint64_t end,
                         struct pug_symbol *symbol);

/** The place of the vector table of an M profile program. */
struct pug_vector_table {
    uint64_t address;              /**< of its first word, the stack pointer */
    unsigned count;                /**< its words; 0 where there is no single table */
    unsigned found;                /**< how many tables there are */
    struct pug_reader_space space; /**< who asked */
};

/**
 * Looks for the vector table in the ELF files that `space` sees (NULL: in all of them): in the
 * first 16 MiB, at multiples of 128 bytes, a stack pointer and the addresses of functions. True:
 * there is exactly one. Where several programs share an image, a secure and a non-secure one or a
 * loader and an application, only their places can tell the tables apart.
 */
bool pug_vector_table(const struct pug_image *image, const struct pug_reader_space *space,
                      struct pug_vector_table *table);

/**
 * The function that the table names for a vector: 1 reset, 2 NMI … 15 SysTick, 16 + n external
 * interrupt n. False: there is no single table, no such vector, or several vectors have the same
 * handler, whose name then says nothing of this one. pug_exception_vector() gives the vector of an
 * EXCEPTION element.
 */
bool pug_vector_symbol(const struct pug_image *image, const struct pug_vector_table *table,
                       unsigned vector, struct pug_symbol *symbol);

/**
 * A number for all memory of an image and its places. Another image of the same memory, added in
 * the same order, has the same number. It is 0 only where callbacks give memory, because their
 * bytes are unknown.
 */
uint64_t pug_image_hash(const struct pug_image *image);

/** The memory space and context that an element was executed in, for pug_image_read(). */
void pug_element_space(const struct pug_element *element, struct pug_reader_space *space);

/* ---- lines and functions (names.h) ---- */

/**
 * The source line of an address of an image, by the ELF file that has it (pug_image_program_at()).
 * The line's start and end are addresses of memory. `place`, which may be NULL, says which file,
 * and where in it. False: no file has the address, or no line is known there.
 */
bool pug_image_line(const struct pug_image *image, const struct pug_reader_space *space,
                    uint64_t address, struct pug_names *names, struct pug_names_line *line,
                    struct pug_program_place *place);

/** The functions at an address of an image, as pug_names_frames(); `place` as pug_image_line(). */
size_t pug_image_frames(const struct pug_image *image, const struct pug_reader_space *space,
                        uint64_t address, struct pug_names *names, struct pug_names_frame *frames,
                        size_t room, struct pug_program_place *place);

#ifdef __cplusplus
}
#endif
#endif
