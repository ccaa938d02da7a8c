// SPDX-License-Identifier: MIT
/**
 * @file Addresses as users write them: a number, FUNCTION, FUNCTION+0x10 or FILE:LINE. Every option
 * that takes an address takes these.
 */
#ifndef PUGMARK_TOOL_ADDRESS_H
#define PUGMARK_TOOL_ADDRESS_H

#include "input.h"

/** A place that words mean. One of `object` and `absolute` is known at least. */
struct address_place {
    uint32_t object; /**< the program; PUG_NO_OBJECT: not known */
    uint64_t vaddr;  /**< of the object: as its file has it */
    bool is_absolute;
    uint64_t absolute; /**< where it ran, if that is the same for all */
};

#define ADDRESS_PLACES 64u

struct address_places {
    struct address_place items[ADDRESS_PLACES];
    size_t count;
};

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
