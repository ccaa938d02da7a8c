// SPDX-License-Identifier: MIT
/** @file ELF files of a kernel: modules, vmlinux, and copies of its memory. */
#ifndef PUG_TESTS_SUPPORT_KERNEL_FILE_H
#define PUG_TESTS_SUPPORT_KERNEL_FILE_H

#include "recorder/bytes.h"

#include <stddef.h>
#include <stdint.h>

/** The start of a file's text. */
#define KERNEL_FILE_TEXT 0x1000u

struct kernel_symbol {
    const char *name;
    uint64_t value;
    uint16_t section; /* 1: .text; 0: undefined */
};

struct kernel_file {
    uint16_t type; /* 1: a module, 2: a program, 4: a core */
    uint64_t vaddr;
    const uint32_t *text;
    size_t words;
    const struct kernel_symbol *symbols;
    size_t symbol_count;
    uint64_t call_at; /* of a module: the offset of a call of symbol 1 */
};

/** Append the file. */
void kernel_file_put(struct rec_bytes *out, const struct kernel_file *file);

#endif
