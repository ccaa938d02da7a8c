// SPDX-License-Identifier: MIT
/** @file perf_turns.h as a capture, with its programs. */
#ifndef PUG_TESTS_SUPPORT_TURNS_STORY_H
#define PUG_TESTS_SUPPORT_TURNS_STORY_H

#include "support/perf_made.h"
#include "support/perf_programs.h"
#include "support/perf_turns.h"

static inline struct pug_capture *turns_story_open(const struct perf_turns *turns,
                                                   struct made_folder *folder)
{
    struct rec_perf perf;
    char name[64];
    made_folder_begin(folder);
    perf_turns_tell(&perf, turns);
    assert_true(perf_programs_write(folder->path));
    (void)made_folder_path(folder, "bin");
    for (unsigned i = 0; i < PERF_PROGRAMS; i++) {
        snprintf(name, sizeof(name), "bin/%s", perf_program_names[i]);
        (void)made_folder_path(folder, name);
    }
    return perf_made_open(&perf, folder);
}

static inline void turns_story_end(struct pug_capture *capture, struct made_folder *folder)
{
    pug_capture_free(capture);
    made_folder_end(folder);
}

#endif
