// SPDX-License-Identifier: MIT
/** @file perf.data of one thread that runs four instructions of a program, and such programs. */
#ifndef PUG_TESTS_SUPPORT_PERF_APP_H
#define PUG_TESTS_SUPPORT_PERF_APP_H

#include "pugmark/pugmark.h"
#include "recorder/perfdata.h"
#include "support/made_folder.h"

#define PERF_APP_BASE   UINT64_C(0x400000)
#define PERF_APP_TEXT   0x1000u
#define PERF_APP_THREAD 77

/** The content of a program file. */
struct perf_app_program {
    const uint8_t *id; /* a build id of 20 bytes, or NULL */
    const char *link;  /* .gnu_debuglink, or NULL … */
    uint32_t link_sum; /* … and the sum of the file that it names */
    uint16_t type;     /* 0: 2, a program */
    uint16_t machine;  /* 0: AArch64 */
    bool no_text;      /* debug information only: the text has no bytes */
};

/** Three NOPs and a branch to the first of them. */
void perf_app_put(struct rec_bytes *out, const struct perf_app_program *program);
/** The same program as a file. Returns its path. */
const char *perf_app_file(struct made_folder *folder, const char *name,
                          const struct perf_app_program *program);

/** The other records of the recording. */
struct perf_app_story {
    const uint8_t *id; /* what the list of build ids says of the path, or NULL */
    bool forked;   /* the map is that of another process, of which the thread's is a child … */
    uint16_t misc; /* … as this record says */
};

/** Its program lies at the base: a map of this path and offset. The path of the recording. */
const char *perf_app_record(struct made_folder *folder, const struct rec_perf_map *map);
const char *perf_app_record_story(struct made_folder *folder, const struct rec_perf_map *map,
                                  const struct perf_app_story *story);

struct pug_capture *perf_app_open(const char *path, const struct pug_capture_roots *roots);
/** How many instructions of the four are found. */
uint64_t perf_app_instructions(struct pug_capture *capture);
/** By its path; NULL: there is none. */
const struct pug_capture_object *perf_app_object(struct pug_capture *capture, const char *path);

#endif
