// SPDX-License-Identifier: MIT
#include "swo/handlers.h"

#include "pugmark/dwt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void pug_vectors_name(const struct pug_vectors *vectors, unsigned number, char *name, size_t size)
{
    struct pug_symbol symbol;
    if (pug_vectors_handler(vectors, number, &symbol))
        snprintf(name, size, "%s", symbol.name);
    else if (pug_dwt_exception_name(number, name, size) == 0)
        snprintf(name, size, "exception %u", number);
}

/** The same letters, up to an ending that handlers have. */
static bool is_called(const char *name, const char *wanted)
{
    static const char *const endings[] = {"", "_Handler", "_IRQHandler"};
    size_t length = 0;
    while (wanted[length] &&
           tolower((unsigned char)name[length]) == tolower((unsigned char)wanted[length]))
        length++;
    if (wanted[length])
        return false;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (strcmp(name + length, endings[i]) == 0)
            return true;
    return false;
}

bool pug_vectors_number(const struct pug_vectors *vectors, const char *name, unsigned *number)
{
    struct pug_symbol symbol;
    char own[48];
    for (*number = 1; *number < PUG_VECTORS; (*number)++) {
        if (pug_dwt_exception_name(*number, own, sizeof(own)) > 0 && is_called(own, name))
            return true;
        for (unsigned n = 0; pug_vectors_handler_at(vectors, *number, n, &symbol); n++)
            if (is_called(symbol.name, name))
                return true;
    }
    return false;
}
