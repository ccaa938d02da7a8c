// SPDX-License-Identifier: MIT
/** @file The shared N-Trace vectors: their files, lists, options and programs. */
#ifndef PUG_TESTS_NTRACE_VECTORS_H
#define PUG_TESTS_NTRACE_VECTORS_H

#include "support/ntrace_stream.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
/* cmocka.h wants the four above first */
#include <cmocka.h>

#define VECTORS PUG_SOURCE_DIR "/../shared/vectors/ntrace"

/** What a list expects: program counters and events, timestamps, data. */
struct ntrace_expected {
    struct lines flow, times, data;
};

struct ntrace_options {
    struct pug_setting items[12];
    size_t count;
};

/** Lists that differ, of the test that runs. */
extern unsigned ntrace_failures;

void ntrace_need_vectors(void);
uint8_t *ntrace_load(const char *path, size_t *size);
void ntrace_expected_free(struct ntrace_expected *expected);
void ntrace_load_lines(const char *path, struct ntrace_expected *expected);
void ntrace_set(struct ntrace_options *options, const char *name, uint64_t value);
struct pug_settings ntrace_as_settings(const struct ntrace_options *options);
/** "s 6 iret vao": the words of the README's table. */
void ntrace_set_words(struct ntrace_options *options, const char *words);
/** The first ELF file of a folder, or the one named. */
void ntrace_find_elf(const char *folder, const char *name, char *path, size_t size);
/** The program; supervisor code of `vm` is seen at an alias too. Sets xlen. */
struct pug_image *ntrace_program(const char *folder, const char *name,
                                 struct ntrace_options *options);
void ntrace_compare(const char *name, const struct lines *got, const struct lines *want);
bool ntrace_has_suffix(const char *name, const char *suffix);
/** One row of the README's table of streams; its cells. False: another row. */
bool ntrace_spec_row(char *line, char **folder, char **file, char **words);
void ntrace_only_pcs(struct lines *lines);

#endif
