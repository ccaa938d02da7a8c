// SPDX-License-Identifier: MIT
/**
 * @file Damaged profile files whose checksum is right: they are refused, or can be merged,
 * compared, written again, and exported in every format.
 */
#include "driver.h"
#include "profile/format.h"
#include "pugmark/export.h"
#include "pugmark/profile.h"

#include <stdlib.h>
#include <string.h>

static void put(void *context, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)context += size;
}

/** Two files that were read are one file when written and read again. */
static void write_again(struct pug_profile *profile)
{
    uint8_t *bytes = NULL;
    size_t size;
    struct pug_profile *same = NULL;
    if (pug_profile_write(profile, &bytes, &size) != PUG_OK)
        return;
    if (pug_profile_read(bytes, size, &same) != PUG_OK)
        abort();
    pug_profile_free(same);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pug_profile *profile = NULL, *sum = NULL;
    const struct pug_export_format *format;
    size_t written = 0;
    if (pug_profile_read(data, size, &profile) != PUG_OK)
        return 0;
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL; n++)
        (void)pug_export(profile, format->name, &(struct pug_export_options){0}, put, &written);
    sum = pug_profile_new();
    if (sum && pug_profile_merge(sum, profile) == PUG_OK &&
        pug_profile_merge(sum, profile) == PUG_OK)
        write_again(sum);
    pug_profile_free(sum);
    pug_profile_free(profile);
    return 0;
}

/* ---- profiles to begin with ---- */

static uint64_t address(struct rec_random *random)
{
    return 4 * (uint64_t)rec_random_below(random, 4096);
}

static void add_range(struct pug_profile *profile, uint32_t object, uint32_t frame,
                      struct rec_random *random)
{
    uint32_t range;
    const uint64_t first = address(random);
    const struct pug_profile_range ran = {.object = object,
                                          .first = first,
                                          .last = first + 12,
                                          .instructions = 4,
                                          .last_size = 4,
                                          .end = (uint8_t)rec_random_below(random, 64),
                                          .count = rec_random(random)};
    if (pug_profile_range(profile, &ran, &range) == PUG_OK)
        (void)pug_profile_use(
            profile, &(struct pug_profile_use){.count = ran.count, .frame = frame, .range = range});
}

static void fill(struct pug_profile *profile, struct rec_random *random)
{
    static const char *const paths[] = {"/usr/bin/paw", "/lib/libclaw.so.1", "[kernel]"};
    uint32_t objects[3] = {0}, task = 0, frame = PUG_PROFILE_NONE;
    for (uint8_t i = 0; i < 3; i++)
        (void)pug_profile_object(profile,
                                 &(struct pug_profile_object){.path = paths[i], .build_id_size = i},
                                 &objects[i]);
    (void)pug_profile_task(profile, &(struct pug_profile_task){.pid = 7, .tid = 8, .name = "paw"},
                           &task);
    for (uint32_t i = rec_random_below(random, 30); i > 0; i--) {
        const uint32_t object = objects[rec_random_below(random, 3)];
        const struct pug_profile_branch branch = {.object = object,
                                                  .from = address(random),
                                                  .to_object = object,
                                                  .to = address(random),
                                                  .count = rec_random(random)};
        const struct pug_profile_frame above = {.parent = frame,
                                                .task = task,
                                                .object = object,
                                                .function = address(random),
                                                .site_object = object,
                                                .site = address(random),
                                                .calls = i};
        (void)pug_profile_branch(profile, &branch);
        if (pug_profile_frame(profile, &above, &frame) != PUG_OK)
            frame = PUG_PROFILE_NONE;
        add_range(profile, object, frame, random);
    }
    pug_profile_note(profile, PUG_NOTE_LOST, rec_random_below(random, 3));
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    struct pug_profile *profile = pug_profile_new();
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (!profile)
        abort();
    fill(profile, random);
    if (pug_profile_write(profile, &bytes, &size) != PUG_OK)
        abort();
    size = size < room ? size : room;
    memcpy(data, bytes, size);
    free(bytes);
    pug_profile_free(profile);
    return size;
}

void fuzz_mend(uint8_t *data, size_t size)
{
    if (size < FORMAT_AT_UNIT)
        return;
    pug_bytes_set_64(data + FORMAT_AT_SIZE, size);
    pug_bytes_set_64(data + FORMAT_AT_CHECKSUM,
                     pug_profile_checksum(data + FORMAT_AT_SIZE, size - FORMAT_AT_SIZE));
}
