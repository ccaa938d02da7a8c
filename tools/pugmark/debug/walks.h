// SPDX-License-Identifier: MIT
/** @file Moving by source lines, in a session. */
#ifndef PUGMARK_TOOL_WALKS_H
#define PUGMARK_TOOL_WALKS_H

#include "session.h"

/** One instruction back; false: there is none, or trace is missing before it. */
bool walks_back(struct session *session, struct pug_history_move *move);

/**
 * Goes back to where the line before this one begins; `over`: what was called from it counts as
 * part of it. DONE, or why it stopped earlier.
 */
enum pug_history_end_kind walks_back_line(struct session *session, bool over);

/** Goes forward to the next line; `over`: over what it calls. */
enum pug_history_end_kind walks_line(struct session *session, bool over);

#endif
