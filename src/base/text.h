// SPDX-License-Identifier: MIT
/** @file Text into a buffer that it cannot leave; like snprintf(), it counts what did not fit. */
#ifndef PUG_BASE_TEXT_H
#define PUG_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct pug_text {
    char *buffer;
    size_t size;
    size_t length; /**< of the whole text, whether it fitted or not */
};

#define PUG_TEXT(buffer_, size_) ((struct pug_text){.buffer = (buffer_), .size = (size_)})

void pug_text_put(struct pug_text *text, const char *string);
void pug_text_put_n(struct pug_text *text, const char *string, size_t length);
void pug_text_format(struct pug_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Lower-case hexadecimal with at least `digits` digits. */
void pug_text_hex(struct pug_text *text, uint64_t value, unsigned digits);
void pug_text_decimal(struct pug_text *text, uint64_t value);
/** Terminate; the length of the whole text. */
size_t pug_text_end(struct pug_text *text);

#endif
