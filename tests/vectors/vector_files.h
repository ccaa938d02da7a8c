// SPDX-License-Identifier: MIT
/** @file Files of the test vectors: whole files, lists in xz, programs as images. */
#ifndef TEST_VECTOR_FILES_H
#define TEST_VECTOR_FILES_H

#include "pugmark/advanced/image.h"
#include "pugmark/pugmark.h"
#include "tests/support/whole_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** A text file in memory, as lines. */
struct vector_lines {
    char *text;
    char **lines;
    size_t count;
};

static inline void vector_fatal(const char *what, const char *path)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(1);
}

/** Unpack an .xz file and split it into lines. */
static inline struct vector_lines vector_lines(const char *path)
{
    struct vector_lines lines = {0};
    size_t size, capacity = 1024;
    lines.text = (char *)whole_file_unpacked(path, &size);
    if (!lines.text)
        vector_fatal("cannot be unpacked", path);
    lines.lines = malloc(capacity * sizeof(*lines.lines));
    char *rest = lines.text;
    for (char *line; (line = strtok_r(rest, "\r\n", &rest)) != NULL;) {
        if (lines.count == capacity)
            lines.lines = realloc(lines.lines, (capacity *= 2) * sizeof(*lines.lines));
        lines.lines[lines.count++] = line;
    }
    return lines;
}

static inline void vector_lines_free(struct vector_lines *lines)
{
    free(lines->text);
    free(lines->lines);
}

/** program.elf and the boot ROM of a folder, for one source or for all (-1). */
static inline void vector_program(struct pug_image *image, const char *folder, int source)
{
    char path[1100];
    struct pug_place place = {.space = PUG_SPACE_ANY};
    if (source >= 0) {
        place.has_source = true;
        place.source = (uint16_t)source;
    }
    snprintf(path, sizeof(path), "%s/program.elf", folder);
    if (pug_image_add_elf(image, &place, path, 0) != PUG_OK)
        vector_fatal("not added to the image", path);
    snprintf(path, sizeof(path), "%s/bootrom.bin", folder);
    struct pug_region region = {.address = 0x1000};
    if (pug_image_add_file(image, &place, path, &region, 1) != PUG_OK)
        vector_fatal("not added to the image", path);
}

/** Bytes of the RISC-V instruction at an address; 0 where there is none. */
static inline unsigned vector_insn_size(const struct pug_image *image, uint16_t source,
                                        uint64_t address)
{
    uint8_t bytes[2];
    struct pug_reader_space space = {.space = PUG_SPACE_ANY, .source = source};
    if (pug_image_read(image, &space, address, bytes, 2) != 2)
        return 0;
    if ((bytes[0] & 3) != 3)
        return 2;
    if ((bytes[0] & 0x1f) != 0x1f)
        return 4;
    return (bytes[0] & 0x3f) == 0x1f ? 6 : 8;
}

/** The stream that a parameter file belongs to. False: it only describes others. */
static inline bool vector_trace_of(const char *params, bool data, char *trace, size_t size)
{
    static const char *const kinds[] = {"", ".te", ".te_inst_raw", ".te_data", ".te_data_raw"};
    struct stat info;
    for (size_t i = 0; i < (data ? 5 : 3); i++) {
        snprintf(trace, size, "%.*s%s", (int)(strlen(params) - strlen(".params")), params,
                 kinds[i]);
        if (stat(trace, &info) == 0 && S_ISREG(info.st_mode))
            return true;
    }
    return false;
}

#endif
