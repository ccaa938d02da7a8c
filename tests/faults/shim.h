// SPDX-License-Identifier: MIT
/**
 * @file What the two parts of the shim know of each other: calls that fail, and which of them in
 * turn.
 */
#ifndef PUG_TESTS_FAULTS_SHIM_H
#define PUG_TESTS_FAULTS_SHIM_H

#include <stdatomic.h>
#include <stdbool.h>

enum fault_kind { MEMORY, OPEN, READ, WRITE, STAT, MAP, RENAME, THREAD, SYNC, CLOSE, FAULT_KINDS };

/** By its name; FAULT_KINDS: there is none. */
enum fault_kind fault_kind(const char *name);

/**
 * From now on calls of this kind are counted.
 * @param at the one that fails; 0: none.
 * @param on also all later ones.
 */
void fault_ready(enum fault_kind kind, long at, bool on, atomic_long *count);

/**
 * Try all that FAULT_TURNS says, in processes of their own: it returns in these, to run the
 * program.
 */
void fault_turns(const char *command);

#endif
