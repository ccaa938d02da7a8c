// SPDX-License-Identifier: MIT
/** @file All elements of a capture to one function: one part after the other, on one thread. */
#include "pugmark/capture.h"

#include "pugmark/advanced/consumer.h"

struct simple {
    pug_situated_fn *give;
    void *context;
    bool ended;
};

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)worker;
    (void)piece;
    return context;
}

static void elements(void *part, const struct pug_origin *origin,
                     const struct pug_element *elements, size_t count)
{
    struct simple *simple = part;
    if (!simple->ended)
        simple->ended = !simple->give(simple->context, origin, elements, count);
}

static bool take(void *context, void *part)
{
    const struct simple *simple = context;
    (void)part;
    return !simple->ended;
}

static void drop(void *part)
{
    (void)part;
}

enum pug_status pug_capture_elements(struct pug_capture *capture, pug_situated_fn *give,
                                     void *context)
{
    struct simple simple = {.give = give, .context = context};
    const struct pug_consumer consumer = {
        .context = &simple, .begin = begin, .elements = elements, .take = take, .drop = drop};
    const struct pug_capture_decode decode = {
        .consumers = &consumer, .consumer_count = 1, .threads = 1};
    struct pug_capture_result result;
    return give ? pug_capture_decode(capture, &decode, &result) : PUG_ERR_INVALID_PARAM_VAL;
}
