// SPDX-License-Identifier: MIT
/** @file perf.data of a few records, made by hand, of one ETMv4 per processor. */
#ifndef PUG_TESTS_SUPPORT_PERF_MADE_H
#define PUG_TESTS_SUPPORT_PERF_MADE_H

#include "pugmark/pugmark.h"
#include "recorder/perfdata.h"
#include "support/made_folder.h"

/* Settings of its trace: contexts and timestamps. */
#define PERF_MADE_CPU(cpu_)                                                                        \
    {                                                                                              \
        .cpu = (cpu_), .unit = REC_PERF_ETMV4, .count = 8, .words = {                              \
            0x840,                                                                                 \
            0x10 + 2 * (cpu_),                                                                     \
            0x28000ea1,                                                                            \
            0x4100f403,                                                                            \
            0x20001088,                                                                            \
            0,                                                                                     \
            0xcc,                                                                                  \
            1                                                                                      \
        }                                                                                          \
    }

static const struct rec_perf_cpu perf_made_cpus[] = {PERF_MADE_CPU(0), PERF_MADE_CPU(1)};

static inline void perf_made_begin(struct rec_perf *perf)
{
    rec_perf_begin(
        perf,
        &(struct rec_perf_config){
            .version = 1, .cpus = perf_made_cpus, .cpu_count = 2, .has_clock = true, .mult = 1});
}

/** The whole file, in a folder that it is looked for below, as a capture. */
static inline struct pug_capture *perf_made_open(struct rec_perf *perf, struct made_folder *folder)
{
    struct rec_bytes file = {0};
    struct pug_capture *capture;
    const struct pug_capture_options options = {.roots = {.symfs = folder->path, .build_ids = ""}};
    rec_perf_finish(perf, &file);
    assert_false(file.failed);
    const char *path = made_folder_file(folder, "perf.data", file.data, file.size);
    rec_bytes_free(&file);
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    return capture;
}

#endif
