// SPDX-License-Identifier: MIT
/** @file The little that the plugin must know of opcodes: sizes, and who may fault. */
#ifndef PUG_RECORDER_PLUGIN_OPCODE_H
#define PUG_RECORDER_PLUGIN_OPCODE_H

#include "../path_format.h"

#include <stdbool.h>
#include <stdint.h>

/** Bytes of the instruction that begins with these two bytes. */
unsigned opcode_size(enum rec_path_isa isa, const uint8_t *bytes);

/** May it access memory? Too often yes costs time only. */
bool opcode_accesses(enum rec_path_isa isa, const uint8_t *bytes);

/** May QEMU leave the block after it, to wait for an interrupt? */
bool opcode_sleeps(enum rec_path_isa isa, const uint8_t *bytes);

/** Does it access memory, whenever it runs? */
bool opcode_surely_accesses(enum rec_path_isa isa, const uint8_t *bytes);

/** Does it trap wherever it runs, in place of retiring: breakpoints, what is undefined for good? */
bool opcode_traps(enum rec_path_isa isa, const uint8_t *bytes);

/** Does it return from an exception? Of the M profile no instruction says so. */
bool opcode_returns(enum rec_path_isa isa, const uint8_t *bytes);

/** Does it write the context id (CONTEXTIDR) of Arm's A profile? `*number`: out of which register.
 */
bool opcode_sets_context(enum rec_path_isa isa, const uint8_t *bytes, unsigned *number);

/** Is it a T32 store of one register? `*number`: which one. */
bool opcode_stores(const uint8_t *bytes, unsigned *number);

/** Four bytes that could be A32 as well as T32: does the text that QEMU made say T32? */
bool opcode_text_is_t32(const uint8_t *bytes, const char *text);

#endif
