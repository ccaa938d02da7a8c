// SPDX-License-Identifier: MIT
/** @file Whatever a capture's file holds is asked for, and decoded. */
#ifndef PUG_FUZZ_THROUGH_H
#define PUG_FUZZ_THROUGH_H

/** Go through the capture at this path, if it is one. */
void fuzz_go_through(const char *path);

#endif
