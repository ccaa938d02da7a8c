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
 * The same where one address is needed that is right for all that ran. False, having said why, of
 * a perf.data, too, where programs lie elsewhere in each process, unless it is a number.
 */
bool address_find_absolute(struct input *input, const char *option, const char *words,
                           struct address_places *places);

/** Do the words say a number? Then no program is needed. */
bool address_is_number(const char *words);

#endif
