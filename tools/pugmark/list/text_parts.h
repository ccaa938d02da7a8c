// SPDX-License-Identifier: MIT
/** @file Elements to text on many threads. */
#ifndef PUGMARK_TOOL_TEXT_PARTS_H
#define PUGMARK_TOOL_TEXT_PARTS_H

#include "common/output.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/pugmark.h"

/** Puts out what it has to say of some elements; `worker` as in struct pug_consumer. */
typedef void text_print_fn(void *context, unsigned worker, const struct pug_element *elements,
                           size_t count);

/** Prints elements of one origin. */
typedef void text_situated_fn(void *context, unsigned worker, const struct pug_origin *origin,
                              const struct pug_element *elements, size_t count);

struct text_printer {
    text_print_fn *print;       /**< for input_run() */
    text_situated_fn *situated; /**< for input_decode() */
    void *context;
    /** Says of which segment what follows is; or NULL. */
    void (*head)(void *context, uint32_t segment);
    /**
     * For who puts out more than what elements say, or NULL: the text of what a worker reads from
     * now on; and that worker's tree, as in struct pug_consumer. For input_run().
     */
    void (*begin)(void *context, unsigned worker, struct output_text_buffer *text);
    bool (*watch)(void *context, unsigned worker, struct pug_tree *tree);
    bool begun; /**< private: segment of the last head */
    uint32_t segment;
    struct pug_consumer consumer; /**< private: of text_decode() */
};

/** Text is much longer than trace: threads take less at once. */
#define TEXT_PIECE ((size_t)128 << 10)

/** A consumer for input_run(); the printer must outlive it. */
struct pug_consumer text_consumer(struct text_printer *printer);

/** Returns the settings for input_decode(). */
struct pug_capture_decode text_decode(struct text_printer *printer);

#endif
