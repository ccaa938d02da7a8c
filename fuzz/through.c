// SPDX-License-Identifier: MIT
#include "through.h"

#include "pugmark/advanced/consumer.h"
#include "pugmark/pugmark.h"

#include <stdlib.h>

#define MOST (UINT64_C(1) << 20)

struct seen {
    uint64_t elements;
};

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)worker;
    (void)piece;
    return context;
}

static void elements(void *part, const struct pug_origin *where, const struct pug_element *given,
                     size_t count)
{
    struct seen *seen = part;
    (void)where;
    (void)given;
    seen->elements += count;
}

static bool take(void *context, void *part)
{
    struct seen *seen = context;
    (void)part;
    return seen->elements < MOST;
}

static void drop(void *part)
{
    (void)part;
}

/** How many elements there are in one order; none where it cannot be decoded. */
static uint64_t decode(struct pug_capture *capture, bool by_time)
{
    struct seen seen = {0};
    struct pug_capture_result result;
    const struct pug_consumer consumer = {.context = &seen,
                                          .wants =
                                              PUG_WANTS_TIMES | (by_time ? PUG_WANTS_BY_TIME : 0u),
                                          .begin = begin,
                                          .elements = elements,
                                          .take = take,
                                          .drop = drop};
    const struct pug_capture_decode config = {
        .consumers = &consumer, .consumer_count = 1, .threads = 1};
    (void)pug_capture_decode(capture, &config, &result);
    return seen.elements;
}

void fuzz_go_through(const char *path)
{
    struct pug_capture *capture;
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    const struct pug_capture_options options = {
        .log = log, .roots = {.symfs = "/nowhere", .build_ids = ""}, .code_limit = 1 << 20};
    const char *name, *value;
    if (pug_capture_open(path, &options, &capture) == PUG_OK) {
        for (size_t n = 0; pug_capture_fact(capture, n, &name, &value); n++)
            continue;
        for (size_t n = 0; pug_capture_task_at(capture, n); n++)
            continue;
        for (size_t n = 0; pug_capture_object_at(capture, n); n++)
            continue;
        (void)pug_capture_times(capture);
        const uint64_t plain = decode(capture, false), by_time = decode(capture, true);
        if (plain != by_time && plain < MOST && by_time < MOST)
            abort();
        pug_capture_free(capture);
    }
    pug_log_free(log);
}
