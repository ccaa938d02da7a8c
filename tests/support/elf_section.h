// SPDX-License-Identifier: MIT
/** @file Section headers of 64-bit ELF files that tests make. */
#ifndef PUG_TESTS_SUPPORT_ELF_SECTION_H
#define PUG_TESTS_SUPPORT_ELF_SECTION_H

#include "recorder/bytes.h"

#include <stdint.h>

/** Append a section's header; it is aligned to 4. */
void elf_section_put(struct rec_bytes *out, uint32_t name, uint32_t type, uint64_t flags,
                     uint64_t vaddr, uint64_t offset, uint64_t size, uint32_t link, uint32_t info,
                     uint64_t entry);

#endif
