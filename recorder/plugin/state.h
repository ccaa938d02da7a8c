// SPDX-License-Identifier: MIT
/**
 * @file A processor's state inside QEMU, by the names of its fields. QEMU before 9.0 lets plugins
 * read no registers, but it exports the description that it saves and restores processors by
 * (VMStateDescription), which has the name and the place of each field.
 */
#ifndef PUG_RECORDER_PLUGIN_STATE_H
#define PUG_RECORDER_PLUGIN_STATE_H

#include "../path_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A place in a processor's state; 0 bytes: this QEMU has none of that name. */
struct state_field {
    size_t offset, size; /**< size: of one element */
};

/** Looks a field up, as "env.regs". `family` chooses the description. */
struct state_field state_find(enum rec_path_family family, const char *name);

/** Returns the n-th element of a field of a processor; 0 where there is no such field. It is what
 *  the processor has when a block begins, not in the middle of one. */
uint64_t state_read(unsigned cpu, struct state_field field, unsigned n);

/** Reads 32 bits of the memory of an M profile processor, as its secure state sees it or not. */
bool state_memory(unsigned cpu, uint64_t address, bool secure, uint32_t *value);

/** Returns what QEMU calls the processors, as "cortex-m33"; "": unknown. */
const char *state_core(void);
/** Are they of Arm's M profile? */
bool state_is_m_profile(void);

#endif
