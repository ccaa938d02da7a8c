// SPDX-License-Identifier: MIT
/**
 * @file What a machine's processors are in, from their registers, where QEMU lets plugins read
 * them.
 */
#ifndef PUG_RECORDER_PLUGIN_ORIGIN_H
#define PUG_RECORDER_PLUGIN_ORIGIN_H

#include "../path_format.h"

#include <stdbool.h>
#include <stdint.h>

struct situation {
    bool known;
    uint32_t privilege; /**< exception level, or privilege mode */
    uint32_t context;   /**< CONTEXTIDR; of RISC-V the address space of satp */
};

/** Can registers be read here? */
bool situation_can(void);
/** In QEMU before 9.0: or the state that holds them? */
bool situation_finds(enum rec_path_family family);
/** The context id was written, and is this: what situation_finds() does not find. */
void situation_context(unsigned cpu, uint32_t context);
/** Find the registers of a processor; from its own thread. */
void situation_begin(unsigned cpu);
/** Read them; from a callback that may read registers. */
struct situation situation_of(unsigned cpu, enum rec_path_family family);

#endif
