// SPDX-License-Identifier: MIT
/** @file The one consumer that struct pug_capture_decode described before it had a list of them. */
#include "capture/decode.h"
#include "pugmark/advanced/jobs.h"

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    const struct pug_capture_one *one = context;
    void *part = one->config->begin(one->config->context, worker);
    if (part && one->config->passage)
        one->config->passage(part, piece);
    return part;
}

static bool take(void *context, void *part)
{
    const struct pug_capture_one *one = context;
    return one->config->take(one->config->context, part);
}

static void counted(void *context, struct pug_counts *counts)
{
    const struct pug_capture_one *one = context;
    one->config->counted(one->config->context, counts);
}

static void *unpack(void *context, const uint8_t *bytes, size_t size)
{
    const struct pug_capture_one *one = context;
    return one->config->travel->unpack(one->config->context, bytes, size);
}

struct pug_consumers pug_capture_consumers(const struct pug_capture_decode *config,
                                           struct pug_capture_one *one)
{
    if (config->consumers || !config->begin || !config->take)
        return (struct pug_consumers){config->consumers, config->consumer_count};
    one->config = config;
    one->consumer = (struct pug_consumer){.context = one,
                                          .begin = begin,
                                          .elements = config->elements,
                                          .take = take,
                                          .drop = config->drop,
                                          .counted = config->counted ? counted : NULL};
    if (config->travel) {
        one->consumer.pack = config->travel->pack;
        one->consumer.unpack = config->travel->unpack ? unpack : NULL;
        one->consumer.fold = config->travel->fold;
    }
    one->consumer.wants =
        (config->times ? PUG_WANTS_TIMES : 0u) | (config->bare ? PUG_WANTS_TOTALS : 0u) |
        (config->any_order ? PUG_WANTS_ANY_ORDER : 0u) |
        (config->each_time ? PUG_WANTS_EACH_TIME : 0u) | (config->by_time ? PUG_WANTS_BY_TIME : 0u);
    return (struct pug_consumers){&one->consumer, 1};
}
