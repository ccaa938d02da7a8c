// SPDX-License-Identifier: MIT
/** @file Case files in memory; case.h says what they look like. */
#ifndef PUG_TESTS_SUPPORT_CASE_FILE_H
#define PUG_TESTS_SUPPORT_CASE_FILE_H

#include "pugmark/advanced/quirks.h"
#include "pugmark/pugmark.h"

struct case_memory {
    uint64_t address;
    uint8_t space;
    uint8_t *bytes;
    size_t size;
};

struct case_expect {
    int line;
    char *text; /**< with its first character: = > ! ~ */
};

struct case_step {
    int line;
    enum pug_op op;
    uint8_t *bytes;
    size_t size;
    struct case_expect *expects;
    size_t expect_count;
};

struct case_case {
    const char *file;
    char *title;
    char *protocol, *transport;
    struct pug_setting *settings, *transport_settings;
    size_t setting_count, transport_setting_count;
    struct pug_decode_options options;
    struct pug_quirks quirks;
    bool packets_only;
    uint64_t wait_at;
    struct case_memory *memory;
    size_t memory_count;
    struct case_step *steps;
    size_t step_count;
};

struct case_file {
    char *path;
    struct case_case *cases;
    size_t case_count;
};

/** NULL, and a message, for a file that is not a case file. */
struct case_file *case_file_read(const char *path);
void case_file_free(struct case_file *file);

/** Memory or the end. */
void *case_realloc(void *memory, size_t size);
char *case_copy(const char *text);

#endif
