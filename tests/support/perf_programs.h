// SPDX-License-Identifier: MIT
/** @file The programs that stories of threads tell of, and their files. */
#ifndef PUG_TESTS_SUPPORT_PERF_PROGRAMS_H
#define PUG_TESTS_SUPPORT_PERF_PROGRAMS_H

#include "recorder/bytes.h"

#define PERF_PROGRAMS  4u
#define PERF_BLOCKS    32u
#define PERF_BLOCK     16u /* bytes: three NOPs and a branch */
#define PERF_TEXT      (PERF_BLOCKS * PERF_BLOCK)
#define PERF_HEADERS   0x1000u /* of a program's file, before its text */
#define PERF_MAIN_BASE UINT64_C(0x400000)

/** The first ones are programs, the others libraries. */
extern const char *const perf_program_names[PERF_PROGRAMS];

/** The block that a block's branch leads to. */
unsigned perf_program_target(unsigned program, unsigned block);
/** Its code. */
void perf_program_text(struct rec_bytes *out, unsigned program);
/** All of them, below `bin` of a folder; false: they cannot be written. */
bool perf_programs_write(const char *folder);

#endif
