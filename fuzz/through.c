// SPDX-License-Identifier: MIT
#include "through.h"

#include "pugmark/pugmark.h"

struct seen {
    uint64_t elements;
};

static void *begin(void *context, unsigned worker)
{
    (void)worker;
    return context;
}

static void elements(void *part, const struct pug_situation *where, const struct pug_element *given,
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
    return seen->elements < 1 << 20;
}

static void drop(void *part)
{
    (void)part;
}

void fuzz_go_through(const char *path)
{
    struct pug_capture *capture;
    struct pug_capture_result result;
    struct seen seen = {0};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    const struct pug_capture_options options = {
        .log = log, .roots = {.symfs = "/nowhere", .build_ids = ""}, .code_limit = 1 << 20};
    const struct pug_capture_decode decode = {.context = &seen,
                                              .begin = begin,
                                              .elements = elements,
                                              .take = take,
                                              .drop = drop,
                                              .threads = 1,
                                              .times = true};
    const char *name, *value;
    if (pug_capture_open(path, &options, &capture) == PUG_OK) {
        for (size_t n = 0; pug_capture_fact(capture, n, &name, &value); n++)
            continue;
        for (size_t n = 0; pug_capture_task_at(capture, n); n++)
            continue;
        for (size_t n = 0; pug_capture_object_at(capture, n); n++)
            continue;
        (void)pug_capture_times(capture);
        (void)pug_capture_decode(capture, &decode, &result);
        pug_capture_free(capture);
    }
    pug_log_free(log);
}
