// SPDX-License-Identifier: MIT
/** @file The image from inside, for the code map and the readers of files. */
#ifndef PUG_IMAGE_IMAGE_H
#define PUG_IMAGE_IMAGE_H

#include "image/file.h"
#include "pugmark/advanced/image.h"

#include <stdatomic.h>

enum pug_accessor_kind { PUG_ACCESS_BUFFER, PUG_ACCESS_FILE, PUG_ACCESS_CALLBACK };

struct pug_range {
    uint64_t start, end; /**< inclusive */
    uint64_t offset;     /**< into the file or the buffer */
    bool base;           /**< reference_files: the file's region at offset 0 */
};

struct pug_accessor {
    enum pug_accessor_kind kind;
    struct pug_place place;
    const uint8_t *bytes;    /**< of a buffer */
    struct pug_file *file;   /**< of a file */
    pug_memory_fn *function; /**< of a callback */
    void *context;
    struct pug_range *ranges;
    size_t count;
    uint64_t order; /**< of adding */
    bool program;   /**< it is an ELF file */
    uint64_t bias;  /**< of that: added to its own addresses */
};

/** One range in the order of its start; `reach` is the highest end up to here. */
struct pug_index_entry {
    uint64_t start, end, reach;
    const struct pug_accessor *accessor;
    uint64_t offset;
};

struct pug_symbols;

/** Memory from an address on, in one piece, that stays while the image does. */
struct pug_image_piece {
    const uint8_t *bytes;
    uint64_t first, last; /**< that `bytes` holds, inclusive */
    uint64_t end;         /**< last address that more pieces may have */
};

/** Memory that another room keeps; false where it has none. On any thread. */
typedef bool pug_image_lookup_fn(void *context, uint64_t address, struct pug_image_piece *piece);

struct pug_image {
    struct pug_accessor **accessors; /**< in the order of adding */
    size_t count, capacity;
    struct pug_index_entry *index;
    size_t index_count, index_capacity;
    struct pug_symbols *symbols; /**< a list, kept until the image goes: names point into it */
    struct pug_quirks quirks;
    uint64_t generation, next_order;
    size_t callbacks, in_spaces, in_contexts; /**< accessors that are, or are placed, so */
    /** Asked for what no accessor has; or NULL. It never changes its mind. */
    pug_image_lookup_fn *lookup;
    void *lookup_context;
    struct pug_accessor looked_up; /**< stands for what lookup() finds */
    atomic_uint starved;           /**< how often there was no memory for what was read here */
};

/**
 * There was no memory for code that was read here: see pug_image_failure(). Any thread may say so.
 */
static inline void pug_image_starve(const struct pug_image *image)
{
    atomic_fetch_add_explicit((atomic_uint *)(uintptr_t)&image->starved, 1, memory_order_relaxed);
}

/** How often that was said. */
static inline unsigned pug_image_starved(const struct pug_image *image)
{
    return atomic_load_explicit(&image->starved, memory_order_relaxed);
}

/** Memory from an address on, as far as one accessor has it in one piece (at most 64 KiB). */
struct pug_window {
    const struct pug_accessor *accessor;
    const uint8_t *bytes; /**< of `first` to `last`; NULL for a callback */
    uint64_t first, last; /**< inclusive */
    uint64_t end;         /**< last address of the accessor's range */
};

/** The memory that answers for `address`; false where there is none. */
bool pug_image_find(const struct pug_image *image, const struct pug_reader_space *space,
                    uint64_t address, struct pug_window *window);

/**
 * Forget of `space` what no accessor distinguishes. Two spaces that reduce to the same see the same
 * memory (callbacks: by memory space).
 */
void pug_image_reduce(const struct pug_image *image, struct pug_reader_space *space);

/** Takes the accessor over, also on failure. */
enum pug_status pug_image_add(struct pug_image *image, struct pug_accessor *accessor);

/**
 * A new accessor with room for `ranges` ranges, `count` 0; NULL: no memory. A place of NULL is
 * everywhere.
 */
struct pug_accessor *pug_accessor_new(enum pug_accessor_kind kind, const struct pug_place *place,
                                      size_t ranges);
void pug_accessor_free(struct pug_accessor *accessor);

/**
 * The ELF file that has an address, also where memory from elsewhere answers for it; up to *last.
 * NULL: none has it.
 */
const struct pug_accessor *pug_image_program(const struct pug_image *image,
                                             const struct pug_reader_space *space, uint64_t address,
                                             uint64_t *last);

/** Is the accessor, which may be freed, one of the image, whose function answers for `address`? */
bool pug_image_asks(const struct pug_image *image, const struct pug_accessor *accessor,
                    uint64_t address);

/** The range of an accessor that holds `address`, or NULL. */
const struct pug_range *pug_accessor_range(const struct pug_accessor *accessor, uint64_t address);

/** The reference takes whole halfwords only. */
static inline bool pug_range_valid(const struct pug_image *image, const struct pug_range *range)
{
    bool whole = (range->start & 1) == 0 && (range->end & 1) != 0;
    return range->start <= range->end && (whole || !image->quirks.reference_files);
}

/** Sort the ranges again, after one grew or was added. */
enum pug_status pug_image_reindex(struct pug_image *image);

void pug_symbols_free(struct pug_symbols *symbols);
/** The symbols of a removed accessor are not found any more. */
void pug_symbols_hide(struct pug_symbols *symbols, const struct pug_accessor *accessor);

#endif
