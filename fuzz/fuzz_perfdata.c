// SPDX-License-Identifier: MIT
/** @file Any bytes as a perf.data, opened and decoded. */
#include "driver.h"
#include "files.h"
#include "support/perf_story.h"
#include "through.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_write("perf.data", data, size);
    fuzz_go_through(fuzz_place("perf.data"));
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    struct perf_story story;
    const uint64_t choice = rec_random(random);
    perf_story_make(&story, &(struct perf_story_config){.seed = 1 + choice % 3,
                                                        .slices = 6,
                                                        .cpus = 2,
                                                        .per_thread = choice & 4,
                                                        .one_sink = choice & 8,
                                                        .sinks = choice & 16,
                                                        .pipe = choice & 32,
                                                        .shuffled = choice & 64});
    const size_t size = story.file.size < room ? story.file.size : room;
    memcpy(data, story.file.data, size);
    perf_story_free(&story);
    return size;
}
