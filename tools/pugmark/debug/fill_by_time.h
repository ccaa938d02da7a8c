// SPDX-License-Identifier: MIT
/** @file Filling a history from several sources in the order of their timestamps. */
#ifndef PUGMARK_TOOL_FILL_BY_TIME_H
#define PUGMARK_TOOL_FILL_BY_TIME_H

#include "session.h"

/** Do several sources write trace that timestamps can put in order? */
bool fill_is_by_time(const struct session *session);

/** Reads all of the input; the exit code. */
int fill_by_time(struct session *session);

#endif
