// SPDX-License-Identifier: MIT
/** @file The words of an address that is no number: FUNCTION, FUNCTION+0x10, FILE:LINE. */
#ifndef PUGMARK_TOOL_ADDRESS_WORDS_H
#define PUGMARK_TOOL_ADDRESS_WORDS_H

#include "common/suggest.h"
#include "pugmark/names.h"

struct address_words {
    char name[256];  /**< the function, or the end of a source file's path */
    uint64_t offset; /**< from the function's start */
    uint32_t line;   /**< 0: a function is meant */
    struct suggestion suggestion;
};

/** Cuts "name+0x10", "file.c:12" or "name". False: there is no name, or it is too long. */
bool address_words_cut(const char *text, struct address_words *words);

/**
 * Is that the function? By the linker's name, the readable one, or that without its arguments. The
 * name is offered as a suggestion, too.
 */
bool address_words_are_function(struct address_words *words, const char *name);

/** Is that the line? By the end of its file's path, from a "/" on. */
bool address_words_are_line(const struct address_words *words, const struct pug_names_line *line);

#endif
