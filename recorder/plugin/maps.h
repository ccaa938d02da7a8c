// SPDX-License-Identifier: MIT
/** @file What file the program's memory came from: QEMU's own map, seen from the program's side. */
#ifndef PUG_RECORDER_PLUGIN_MAPS_H
#define PUG_RECORDER_PLUGIN_MAPS_H

#include <stdint.h>

/** Code at `address`, which QEMU has at `host`, runs: write what it is a part of, if that is new.
 */
void maps_meet(uint64_t address, const void *host);

/** The program changed its memory map. */
void maps_changed(void);

#endif
