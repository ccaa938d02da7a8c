// SPDX-License-Identifier: MIT
/** @file Text and a little Markdown as man(7) source. */
#ifndef PUGMARK_TOOL_ROFF_H
#define PUGMARK_TOOL_ROFF_H

#include <stdio.h>

/** Writes words as they are: nothing in them is a request or an escape. Ends no line. */
void roff_words(FILE *file, const char *words);

/** Writes a command as a shell takes it, which goes on in further lines where it is long. */
void roff_command(FILE *file, const char *line);

/**
 * Writes paragraphs: `code` is bold, *words* are italic, lines that begin with four blanks are
 * examples, those that begin with "- " are a list, "## " begins a subsection. The first paragraph
 * begins without a request. Lines stay below 80 characters.
 */
void roff_text(FILE *file, const char *markdown);

#endif
