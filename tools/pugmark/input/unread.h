// SPDX-License-Identifier: MIT
/** @file Names in the files of an input that nothing reads. */
#ifndef PUGMARK_TOOL_UNREAD_H
#define PUGMARK_TOOL_UNREAD_H

#include "input.h"
#include "pugmark/author/protocol.h"

/** `meant`: a name that is known and missing there, and differs by a slip of the hand; or NULL. */
typedef void unread_fn(void *context, const char *file, const char *name, const char *meant);

/**
 * Tell the names in parameter files, or among the registers of the devices whose trace is in the
 * buffer at hand, that neither transport nor protocol look for. A tree has to be made before.
 * False: no memory.
 */
bool unread_each(const struct input *input, unread_fn *tell, void *context);

/** Is there a parameter file whose names are all unread? */
bool unread_wholly(const struct input *input);

/** Is it one of these, which may be NULL? */
bool unread_is_register(const struct pug_register *registers, const char *name);

#endif
