// SPDX-License-Identifier: MIT
/** @file What a program is for, and where its parts go: the head of its ELF file. */
#ifndef PUG_RECORDER_PROGRAM_H
#define PUG_RECORDER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_program {
    uint16_t machine; /**< e_machine */
    bool wide;        /**< 64 bits */
    bool movable;     /**< position-independent */
    bool m_profile;   /**< of Arm: its build attributes say so; it has T32 alone */
    uint8_t family;   /**< enum rec_path_family; 0: none that can be traced */
    struct {
        uint64_t offset, address, size;
    } segments[16];
    unsigned segment_count;
    char interpreter[256]; /**< the dynamic linker that it names; "": it is linked statically */
};

/** False: it cannot be read, or is no little-endian ELF file; errno says why (ENOEXEC). */
bool rec_program_read(const char *path, struct rec_program *program);

/** How far it was moved, when this part of the file is mapped there. False: that is no code. */
bool rec_program_bias(const struct rec_program *program, uint64_t address, uint64_t offset,
                      uint64_t *bias);

/** "aarch64", "x86_64", …; NULL: not known. */
const char *rec_program_machine(const struct rec_program *program);

#endif
