// SPDX-License-Identifier: MIT
/** @file Where the libraries of a program of another architecture are. */
#ifndef PUGMARK_TOOL_SYSROOT_H
#define PUGMARK_TOOL_SYSROOT_H

#include "recorder/program.h"

/**
 * The folder that QEMU is to take for the root where the program looks for its libraries. `given`:
 * what the user says, or NULL. NULL: none is needed. *good: false, having said which package has
 * them: they are not here.
 */
const char *sysroot_find(const char *name, const struct rec_program *program, const char *given,
                         bool *good);

#endif
