// SPDX-License-Identifier: MIT
#include "common/handlers.h"

#include <stdio.h>

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

const char *handlers_name(const struct handlers *handlers, const struct pug_element *element,
                          char *name, size_t size)
{
    struct pug_symbol symbol;
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
    const struct pug_vector_table *table = element->security == PUG_SEC_SECURE
                                               ? &handlers->tables[n].secure
                                               : &handlers->tables[n].non_secure;
    if (!pug_vector_symbol(handlers->image, table, vector, &symbol) &&
        !(table->found > 1 && pug_vectors_handler(&handlers->all, vector, &symbol)))
        return NULL;
    const size_t length = pug_demangle(symbol.name, name, size);
    if (length == 0 || length >= size)
        snprintf(name, size, "%s", symbol.name);
    return name;
}
