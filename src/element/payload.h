// SPDX-License-Identifier: MIT
/** @file Payloads of elements that are kept: they point to what is gone afterwards. */
#ifndef PUG_ELEMENT_PAYLOAD_H
#define PUG_ELEMENT_PAYLOAD_H

#include "pugmark/element.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** The element gets a copy of its payload, if it has one. False: no memory; it has none then. */
static inline bool pug_payload_keep(struct pug_element *element)
{
    if (!(element->flags & PUG_ELEM_PAYLOAD))
        return true;
    void *copy = malloc(element->count ? element->count : 1);
    if (copy && element->count)
        memcpy(copy, element->payload, element->count);
    element->payload = copy;
    return copy != NULL;
}

/** Free that copy. */
static inline void pug_payload_free(const struct pug_element *element)
{
    if (element->flags & PUG_ELEM_PAYLOAD)
        free((void *)(uintptr_t)element->payload);
}

#endif
