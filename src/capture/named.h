// SPDX-License-Identifier: MIT
/**
 * @file Address spaces by name, for what goes to another process, or to a later run: their numbers
 * are each one's own.
 */
#ifndef PUG_CAPTURE_NAMED_H
#define PUG_CAPTURE_NAMED_H

#include "base/bytes.h"
#include "base/grow.h"
#include "capture/capture.h"

/** Numbers whose names are wanted. */
struct pug_named {
    struct pug_list all; /**< uint64_t; some are there more than once */
    bool failed;         /**< no memory */
};

/** Note a number; 0 is no space. */
void pug_named_note(struct pug_named *named, uint64_t number);
/** Their names; nothing is left. */
void pug_named_pack(struct pug_named *named, struct pug_capture *capture, struct pug_state *bytes);

/** The present numbers of spaces that had a number there. */
struct pug_named_known {
    struct pug_named_space *spaces;
    size_t count;
};

/** False: no memory, or these are none. Freed with free(known->spaces). */
bool pug_named_unpack(struct pug_named_known *known, struct pug_capture *capture,
                      struct pug_bytes *bytes);
/** NULL: none. */
const struct pug_address_space *pug_named_space(const struct pug_named_known *known,
                                                uint64_t number);

/** All that counts are in is noted. */
void pug_named_note_counts(struct pug_named *named, const struct pug_counts *counts);
/** Counts from there get the numbers of here. */
void pug_named_renumber(const struct pug_named_known *known, struct pug_counts *counts);

#endif
