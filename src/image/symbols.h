// SPDX-License-Identifier: MIT
/** @file The function symbols of one ELF file. */
#ifndef PUG_IMAGE_SYMBOLS_H
#define PUG_IMAGE_SYMBOLS_H

#include "pugmark/advanced/image.h"

struct pug_accessor;

struct pug_symbol_entry {
    uint64_t start, end; /**< `end` is the address after it */
    const char *name;
    bool label; /**< without a size of its own: it reaches to the next symbol */
};

struct pug_symbols {
    struct pug_symbols *next;
    const struct pug_accessor *accessor; /**< NULL: it was removed */
    struct pug_symbol_entry *entries;    /**< by start */
    size_t count;
    char *strings;
};

/** Sort, drop labels inside of functions and second names, give labels their ends. */
void pug_symbols_finish(struct pug_symbols *symbols);

#endif
