// SPDX-License-Identifier: MIT
#include "text_parts.h"

#include "output.h"

#include <stdlib.h>

struct text_part {
    const struct text_printer *printer;
    unsigned worker;
    struct output_text_buffer text;
};

static void *begin(void *context, unsigned worker)
{
    struct text_part *part = calloc(1, sizeof(*part));
    if (part) {
        part->printer = context;
        part->worker = worker;
    }
    return part;
}

static void print(void *context, const struct pug_element *elements, size_t count)
{
    struct text_part *part = context;
    output_to(&part->text);
    part->printer->print(part->printer->context, part->worker, elements, count);
    output_to(NULL);
}

static void drop(void *context)
{
    struct text_part *part = context;
    free(part->text.bytes);
    free(part);
}

static bool take(void *context, void *taken)
{
    struct text_part *part = taken;
    (void)context;
    output_buffer(&part->text);
    drop(part);
    return output_wanted();
}

struct pug_parts text_parts(struct text_printer *printer)
{
    return (struct pug_parts){
        .context = printer, .begin = begin, .elements = print, .take = take, .drop = drop};
}
