// SPDX-License-Identifier: MIT
/** @file Handlers of interrupts, by the vector tables of M profile programs. */
#ifndef PUGMARK_TOOL_HANDLERS_H
#define PUGMARK_TOOL_HANDLERS_H

#include "image/vectors.h"
#include "pugmark/pugmark.h"

/** Sources that may have programs of their own. */
#define HANDLER_SOURCES 16u

struct handlers {
    const struct pug_image *image; /* that they were looked for in; or NULL */
    struct {
        struct pug_vector_table secure, non_secure;
        bool own; /* of `source` alone */
        uint16_t source;
    } tables[1 + HANDLER_SOURCES];
    unsigned count;
    struct pug_vectors all; /* where a space has several tables */
};

/** Look for the vector tables of a program; where it is the same as before nothing is done. */
void handlers_of(struct handlers *handlers, const struct pug_image *image);

/**
 * The function that handles an exception, as people write it, where the vector table of its
 * security state names it, or all tables name the same; else NULL. `name` is room for it.
 */
const char *handlers_name(const struct handlers *handlers, const struct pug_element *element,
                          char *name, size_t size);

#endif
