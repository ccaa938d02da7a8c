// SPDX-License-Identifier: MIT
#include "support/captures.h"

#include "recorder/bytes.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define OWN    PUG_SOURCE_DIR "/tests/captures"
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

/** The operation on each buffer. */
struct buffers {
    capture_fn *function;
    void *context;
};

static void one_snapshot(const char *path, void *context)
{
    const struct buffers *buffers = context;
    struct capture capture = {.bytes = NULL};
    assert_int_equal(pug_snapshot_open(path, &(struct pug_snapshot_options){0}, &capture.snapshot),
                     PUG_OK);
    for (size_t n = 0; (capture.buffer = pug_snapshot_buffer_at(capture.snapshot, n)) != NULL;
         n++) {
        if (!load(&capture))
            continue;
        buffers->function(&capture, buffers->context);
        free(capture.bytes);
    }
    pug_snapshot_free(capture.snapshot);
}

void captures_bundled(capture_fn *function, void *context)
{
    one_snapshot(DEMO, &(struct buffers){function, context});
}

/** For each folder of captures in this one. How many there were. */
static size_t each_of(const char *folder_name, void (*look)(const char *path, void *context),
                      void *context)
{
    DIR *folder = opendir(folder_name);
    size_t count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s/snapshot.ini", folder_name, entry->d_name);
        if (entry->d_name[0] == '.' || access(path, R_OK) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder_name, entry->d_name);
        look(path, context);
        count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

const enum captures captures_own = CAPTURES_OWN, captures_shared = CAPTURES_SHARED;

void captures_folders(enum captures captures, void (*look)(const char *path, void *context),
                      void *context)
{
    if (captures == CAPTURES_OWN) {
        look(DEMO, context);
        assert_true(each_of(OWN, look, context) > 0);
    } else if (each_of(SHARED, look, context) == 0) {
        print_message("%s is not there\n", SHARED);
        skip();
    }
}

void captures_each(enum captures captures, capture_fn *function, void *context)
{
    captures_folders(captures, one_snapshot, &(struct buffers){function, context});
}

/* ---- many of one ---- */

struct damages {
    size_t most;
    unsigned count;
    void (*look)(const struct capture *capture, const char *what);
};

static void damage(struct capture *capture, struct rec_random *random)
{
    for (unsigned n = 1 + (unsigned)rec_random_below(random, 8); n > 0; n--) {
        size_t at = (size_t)rec_random_below(random, capture->size);
        capture->bytes[at] ^= (uint8_t)(1 + rec_random_below(random, 255));
    }
}

static void look_at_damages(struct capture *capture, void *context)
{
    const struct damages *damages = context;
    struct rec_random random = {.state = 7};
    if (capture->size > damages->most)
        capture->size = damages->most;
    damages->look(capture, "whole");
    for (unsigned n = 0; n < damages->count && capture->size <= damages->most / 4; n++) {
        damage(capture, &random);
        damages->look(capture, "damaged");
    }
}

void captures_damaged(enum captures captures, size_t most, unsigned damages,
                      void (*look)(const struct capture *capture, const char *what))
{
    struct damages context = {most, damages, look};
    captures_each(captures, look_at_damages, &context);
}

struct capture capture_repeated(const struct capture *capture, size_t size)
{
    struct capture repeated = *capture;
    const size_t times = size / capture->size;
    repeated.size = capture->size * times;
    repeated.bytes = malloc(repeated.size);
    for (size_t i = 0; i < times; i++)
        memcpy(repeated.bytes + i * capture->size, capture->bytes, capture->size);
    return repeated;
}

void captures_use_callback(struct pug_image *image, pug_memory_fn *function, void *context)
{
    struct pug_image_range range;
    while (pug_image_range(image, 0, &range))
        assert_int_equal(pug_image_remove(image, range.start, PUG_SPACE_ANY), PUG_OK);
    assert_int_equal(pug_image_add_callback(image, &(struct pug_place){.space = PUG_SPACE_ANY}, 0,
                                            UINT64_MAX, function, context),
                     PUG_OK);
}
