// SPDX-License-Identifier: MIT
/** @file Lines for the packets of the RISC-V packet encapsulation, above those of their payloads.
 */
#ifndef PUGMARK_TOOL_ENCAPSULATION_LINES_H
#define PUGMARK_TOOL_ENCAPSULATION_LINES_H

#include "input.h"

#include "pugmark/encapsulation.h"

/** Prints a packet; one that is not to be listed it leaves out. */
typedef void encapsulation_lines_fn(void *context, const struct pug_encapsulation_packet *packet);

struct encapsulation_lines;

/** Watch the tree's transport. NULL: it is another, or there is no memory. */
struct encapsulation_lines *encapsulation_lines_new(const struct input *input,
                                                    encapsulation_lines_fn *print, void *context);
void encapsulation_lines_free(struct encapsulation_lines *lines);

#endif
