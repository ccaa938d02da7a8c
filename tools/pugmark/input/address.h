// SPDX-License-Identifier: MIT
/**
 * @file Addresses as users write them: a number, FUNCTION, FUNCTION+0x10 or FILE:LINE. Every option
 * that takes an address takes these.
 */
#ifndef PUGMARK_TOOL_ADDRESS_H
#define PUGMARK_TOOL_ADDRESS_H

#include "input.h"
#include "items/parts.h"

/**
 * Finds the places that the words of an option mean, in the programs of the input. False, having
 * said why: there is none. `names`: to look in; NULL: one is made for this.
 */
bool address_find(struct input *input, struct pug_names *names, const char *option,
                  const char *words, struct address_places *places);

/**
 * The same as addresses in memory. A perf.data may have several, since each process can have the
 * program elsewhere. False, having said why: there is none.
 */
bool address_find_absolute(struct input *input, const char *option, const char *words,
                           struct address_places *places);

/** Do the words say a number? Then no program is needed. */
bool address_is_number(const char *words);

#endif
