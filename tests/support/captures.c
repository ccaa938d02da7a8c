// SPDX-License-Identifier: MIT
#include "support/captures.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SHARED PUG_SOURCE_DIR "/../shared/captures"
#define DEMO   PUG_SOURCE_DIR "/examples/demo"

/** False: it cannot be read. */
static bool load(struct capture *capture)
{
    struct pug_trace *trace;
    enum pug_status status;
    if (pug_trace_open(capture->snapshot, capture->buffer, &trace) != PUG_OK)
        return false;
    size_t size = (size_t)pug_trace_size(trace);
    capture->bytes = malloc(size + 1);
    assert_non_null(capture->bytes);
    capture->size = pug_trace_read(trace, capture->bytes, size, &status);
    pug_trace_close(trace);
    return true;
}

static void one_snapshot(const char *path, capture_fn *function, void *context)
{
    struct capture capture = {.bytes = NULL};
    assert_int_equal(pug_snapshot_open(path, &(struct pug_snapshot_options){0}, &capture.snapshot),
                     PUG_OK);
    for (size_t n = 0; (capture.buffer = pug_snapshot_buffer_at(capture.snapshot, n)) != NULL;
         n++) {
        if (!load(&capture))
            continue;
        function(&capture, context);
        free(capture.bytes);
    }
    pug_snapshot_free(capture.snapshot);
}

void captures_bundled(capture_fn *function, void *context)
{
    one_snapshot(DEMO, function, context);
}

void captures_shared(capture_fn *function, void *context)
{
    DIR *folder = opendir(SHARED);
    if (!folder) {
        print_message("skipped: %s is not there\n", SHARED);
        skip();
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", SHARED, entry->d_name);
        one_snapshot(path, function, context);
    }
    closedir(folder);
}
