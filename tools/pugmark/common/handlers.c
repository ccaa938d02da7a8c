// SPDX-License-Identifier: MIT
#include "common/handlers.h"

#include <stdio.h>
#include <string.h>

static void look_in(struct handlers *handlers, bool own, uint16_t source)
{
    const unsigned n = handlers->count++;
    struct pug_reader_space space = {.space = pug_space_of_level(PUG_SEC_SECURE, 0),
                                     .source = source};
    handlers->tables[n].own = own;
    handlers->tables[n].source = source;
    (void)pug_vector_table(handlers->image, &space, &handlers->tables[n].secure);
    space.space = pug_space_of_level(PUG_SEC_NONSECURE, 0);
    (void)pug_vector_table(handlers->image, &space, &handlers->tables[n].non_secure);
}

static bool has_source(const struct handlers *handlers, uint16_t source)
{
    unsigned n = 1;
    while (n < handlers->count && handlers->tables[n].source != source)
        n++;
    return n < handlers->count;
}

void handlers_of(struct handlers *handlers, const struct pug_image *image)
{
    struct pug_image_range range;
    if (handlers->image == image)
        return;
    *handlers = (struct handlers){.image = image};
    if (!image)
        return;
    look_in(handlers, false, 0);
    if (handlers->tables[0].secure.found > 1 || handlers->tables[0].non_secure.found > 1)
        pug_vectors_find(&handlers->all, image, PUG_VECTORS_ANY);
    for (size_t n = 0; pug_image_range(image, n, &range); n++)
        if (range.place.has_source && handlers->count <= HANDLER_SOURCES &&
            !has_source(handlers, range.place.source))
            look_in(handlers, true, range.place.source);
}

/**
 * Is the exception taken in the state that it interrupts? An instruction makes it. Others are of a
 * state that their element does not tell.
 */
static bool is_of_state(unsigned vector)
{
    return (vector >= 4 && vector <= 7) || vector == 11 || vector == 12;
}

static bool find_handler(const struct handlers *handlers, const struct pug_vector_table *table,
                         unsigned vector, struct pug_symbol *symbol)
{
    return pug_vector_symbol(handlers->image, table, vector, symbol) ||
           (table->found > 1 && pug_vectors_handler(&handlers->all, vector, symbol));
}

const char *handlers_name(const struct handlers *handlers, const struct pug_element *element,
                          char *name, size_t size)
{
    struct pug_symbol symbol, other;
    const unsigned vector =
        element->type == PUG_ELEM_EXCEPTION
            ? pug_exception_vector((enum pug_exception_numbers)element->reason, element->number)
            : 0;
    unsigned n = 1;
    if (vector == 0 || handlers->count == 0)
        return NULL;
    while (n < handlers->count && handlers->tables[n].source != element->source)
        n++;
    n = n < handlers->count ? n : 0;
    const bool secure = element->security == PUG_SEC_SECURE;
    const struct pug_vector_table *tables[] = {&handlers->tables[n].secure,
                                               &handlers->tables[n].non_secure};
    if (!find_handler(handlers, tables[!secure], vector, &symbol))
        return NULL;
    if (!is_of_state(vector) && find_handler(handlers, tables[secure], vector, &other) &&
        strcmp(symbol.name, other.name) != 0)
        return NULL;
    const size_t length = pug_demangle(symbol.name, name, size);
    if (length == 0 || length >= size)
        snprintf(name, size, "%s", symbol.name);
    return name;
}
