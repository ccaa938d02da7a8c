// SPDX-License-Identifier: MIT
/** @file Rules that other consumers decide: coverage, and whether the program is the right one. */
#ifndef PUG_CHECK_COVER_H
#define PUG_CHECK_COVER_H

#include "check/engine.h"
#include "profile/profiling.h"

/** Do source files match? False: no memory. */
bool pug_check_cover_begin(struct pug_check *check);
/** All captures were counted: decides the rules about coverage. */
enum pug_status pug_check_cover_end(struct pug_check *check);
/** Decides whether the program matches, of the capture at hand. */
void pug_check_match_program(struct pug_check *check);

#endif
