// SPDX-License-Identifier: MIT
/** @file Filling a history of a real-time kernel's threads. */
#ifndef PUGMARK_TOOL_DEBUG_FILL_THREADS_H
#define PUGMARK_TOOL_DEBUG_FILL_THREADS_H

#include "session.h"

/**
 * Reads all of an input whose program has a kernel: its threads are those of the history. *code is
 * the exit code. False: it has none.
 */
bool fill_threads(struct session *session, int *code);

#endif
