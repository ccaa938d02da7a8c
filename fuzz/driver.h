// SPDX-License-Identifier: MIT
/**
 * @file What every fuzz target has. With libFuzzer it is called by that; else driver.c is the
 * program: it begins with inputs that the target makes, or with those of files, damages them, and
 * gives them to the target. The same seed gives the same inputs.
 */
#ifndef PUG_FUZZ_DRIVER_H
#define PUG_FUZZ_DRIVER_H

#include "recorder/bytes.h"

#include <stddef.h>
#include <stdint.h>

/** Try one input. What is found ends the program, by a sanitizer or by abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Make an input to begin with, of at most `room` bytes; how long it is. */
size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random);

/** After damage: what a reader checks first, like a checksum, is made right again. May do nothing.
 */
void fuzz_mend(uint8_t *data, size_t size);

#endif
