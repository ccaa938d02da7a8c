// SPDX-License-Identifier: MIT
/**
 * @file hottest INPUT: the range of instructions that ran most, of a capture that is counted on all
 * processors.
 *
 * Build against an installed library: cc hottest.c $(pkg-config --cflags --libs pugmark)
 */
#include "pugmark/capture.h"
#include "pugmark/profile.h"
#include "pugmark/profiler.h"
#include "pugmark/status.h"

#include <pugmark/pugmark.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print(const struct pug_profile *profile)
{
    size_t ranges = 0, objects = 0;
    const struct pug_profile_range *range = pug_profile_ranges(profile, &ranges), *most = NULL;
    const struct pug_profile_object *object = pug_profile_objects(profile, &objects);
    for (size_t i = 0; i < ranges; i++)
        if (!most || range[i].count > most->count)
            most = &range[i];
    if (most)
        printf("%" PRIu64 " times: 0x%" PRIx64 " to 0x%" PRIx64 " of %s\n", most->count,
               most->first, most->last,
               most->object < objects ? object[most->object].path : "(no file)");
}

int main(int argc, char **argv)
{
    struct pug_capture *capture = NULL;
    struct pug_profile *profile = pug_profile_new();
    enum pug_status status = PUG_ERR_INVALID_PARAM_VAL;
    if (argc == 2 && profile)
        status = pug_capture_open(argv[1], NULL, &capture);
    if (status == PUG_OK)
        status = pug_profile_capture(profile, capture, NULL, NULL);
    if (status == PUG_OK)
        print(profile);
    else
        fprintf(stderr, "usage: hottest INPUT\n%s. %s\n", pug_status_text(status),
                pug_status_help(status));
    pug_profile_free(profile);
    pug_capture_free(capture);
    return status == PUG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
