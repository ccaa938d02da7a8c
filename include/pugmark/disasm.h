// SPDX-License-Identifier: MIT
/**
 * @file Instructions in words: mnemonic and operands, as assemblers write them.
 *
 *     struct pug_disasm *disasm;
 *     pug_disasm_new(NULL, &disasm);
 *     pug_disasm_text(disasm, PUG_ISA_A64, address, bytes, 4, text, sizeof(text));
 *     puts(text);                                     // "bl 0x400334"
 *     pug_disasm_free(disasm);
 *
 * It knows no trace. What is built in asks the LLVM that is on the machine, which is loaded with
 * the first instruction; a client that has a disassembler of its own gives it.
 */
#ifndef PUGMARK_DISASM_H
#define PUGMARK_DISASM_H

#include "pugmark/element.h"
#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pug_disasm;

/** A text of an instruction is never longer, its end included. */
#define PUG_DISASM_TEXT 160

/**
 * A client's own disassembler. Writes mnemonic, a blank and operands into `text`, at most `room`
 * bytes with the NUL; true if it knows the instruction.
 */
typedef bool pug_disasm_fn(void *context, enum pug_isa isa, uint64_t address, const uint8_t *bytes,
                           size_t size, char *text, size_t room);

/** How instructions are written. */
struct pug_disasm_options {
    pug_disasm_fn *function; /**< in place of what is built in; NULL: that */
    void *context;           /**< is handed to it */
    uint64_t spare[4];       /**< zero */
};

/**
 * Make one; it belongs to one thread at a time. `options` may be NULL. PUG_ERR_MEM. Where there
 * is no disassembler it knows no instruction; see pug_disasm_built_in().
 */
enum pug_status pug_disasm_new(const struct pug_disasm_options *options,
                               struct pug_disasm **disasm);
void pug_disasm_free(struct pug_disasm *disasm); /**< may be NULL */

/**
 * The instruction of `size` bytes at `address` into `text`, at most `room` bytes with the NUL.
 * Addresses that it names are absolute. Always terminated; what is not known is ".word 0x…",
 * ".short 0x…" and the answer false. Instructions are best asked for in the order in which they
 * ran, since those in a T32 IT block take their condition from the IT before them.
 */
bool pug_disasm_text(struct pug_disasm *disasm, enum pug_isa isa, uint64_t address,
                     const uint8_t *bytes, size_t size, char *text, size_t room);

/**
 * PUG_ERR_MEM: there was no memory to load LLVM or to ask it, and instructions from there on are
 * not known for want of it. PUG_OK: all is well.
 */
enum pug_status pug_disasm_status(const struct pug_disasm *disasm);

/**
 * What disassembles where the client gives nothing of its own ("LLVM 19"), or NULL: the build has
 * none, or LLVM is not on this machine (or there is no memory to load it).
 */
const char *pug_disasm_built_in(void);

#ifdef __cplusplus
}
#endif
#endif
