// SPDX-License-Identifier: MIT
#include "support/elf_section.h"

void elf_section_put(struct rec_bytes *out, uint32_t name, uint32_t type, uint64_t flags,
                     uint64_t vaddr, uint64_t offset, uint64_t size, uint32_t link, uint32_t info,
                     uint64_t entry)
{
    rec_put_le(out, name, 4);
    rec_put_le(out, type, 4);
    rec_put_le(out, flags, 8);
    rec_put_le(out, vaddr, 8);
    rec_put_le(out, offset, 8);
    rec_put_le(out, size, 8);
    rec_put_le(out, link, 4);
    rec_put_le(out, info, 4);
    rec_put_le(out, 4, 8);
    rec_put_le(out, entry, 8);
}
