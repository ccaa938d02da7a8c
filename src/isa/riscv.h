// SPDX-License-Identifier: MIT
#ifndef PUG_ISA_RISCV_H
#define PUG_ISA_RISCV_H

#include "pugmark/advanced/isa.h"

/** `insn` is zeroed but for next_isa. */
enum pug_status pug_isa_riscv(const struct pug_isa_config *config, unsigned xlen, uint64_t address,
                              const uint8_t *bytes, unsigned avail, struct pug_insn *insn);

#endif
