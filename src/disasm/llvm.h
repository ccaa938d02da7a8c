// SPDX-License-Identifier: MIT
/** @file The disassembler that is built in, or none. */
#ifndef PUG_DISASM_LLVM_H
#define PUG_DISASM_LLVM_H

#include "pugmark/disasm.h"

struct pug_llvm;

/** NULL: no memory, or a build without it. */
struct pug_llvm *pug_llvm_new(void);
void pug_llvm_free(struct pug_llvm *llvm);

/** As pug_disasm_fn; the context is a struct pug_llvm. Blanks are as LLVM writes them. */
bool pug_llvm_text(void *llvm, enum pug_isa isa, uint64_t address, const uint8_t *bytes,
                   size_t size, char *text, size_t room);

/** There was no memory for LLVM, or for what it was asked: from there on it knows nothing. */
bool pug_llvm_starved(const struct pug_llvm *llvm);

/** LLVM writes the offset of a direct branch in this instruction set, not where it leads. */
bool pug_llvm_writes_offsets(enum pug_isa isa);

#endif
