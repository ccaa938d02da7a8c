// SPDX-License-Identifier: MIT
/** @file Output that people read: through a pager on a terminal, as git has it, else straight. */
#ifndef PUGMARK_TOOL_PAGER_H
#define PUGMARK_TOOL_PAGER_H

#include "text/sink.h"

struct pager;

/**
 * Standard output; on a terminal, unless `straight`, through $PUGMARK_PAGER, $PAGER or `less`,
 * where none of these is empty or `cat`. NULL: no memory, which is said.
 */
struct pager *pager_open(bool straight);
/** Will that start a program? */
bool pager_starts(bool straight);
struct pug_sink pager_sink(struct pager *pager);

/** Is standard output a terminal that takes colours (no $NO_COLOR, no dumb one)? */
bool pager_colour(const struct pager *pager);

/** False once the reader has gone, or it cannot be written. */
bool pager_wanted(struct pager *pager);

/** Write what is left, and wait for the pager; EXIT_DONE, or EXIT_INPUT, having said why. */
int pager_close(struct pager *pager);

/** Writes everything put so far. */
void pager_flush(struct pager *pager);

#endif
