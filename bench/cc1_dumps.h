// SPDX-License-Identifier: MIT
/** @file Where the program memory of the capture bugfix-exact-match belongs. */
#ifndef CC1_DUMPS_H
#define CC1_DUMPS_H

#include <stdint.h>

static const struct {
    const char *file;
    uint64_t address;
} dumps[] = {{"cc1.init_dump.bin", 0x4001D8},
             {"cc1.text_dump.bin", 0x400200},
             {"cc1__libc_freeres_fn_dump.bin", 0x5CE9C0},
             {"cc1__libc_thread_freeres_fn_dump.bin", 0x5CF610},
             {"cc1.fini_dump.bin", 0x5CF700}};

#define DUMPS (sizeof(dumps) / sizeof(dumps[0]))

#endif
