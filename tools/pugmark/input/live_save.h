// SPDX-License-Identifier: MIT
/** @file --save FOLDER/: what the folder needs to be opened again. */
#ifndef PUGMARK_TOOL_LIVE_SAVE_H
#define PUGMARK_TOOL_LIVE_SAVE_H

#include "input.h"

struct pug_live;

/** Can bytes be saved there? False, having said why: a folder holds other files. */
bool live_save_may(const char *save);

/** The input is open: describe its first connection, so that an accident leaves a snapshot, too. */
void live_save_begin(const struct input *input);
/** Reading is over: describe all connections. */
void live_save_end(const struct input *input);
/** The same of connections that are not those of the input itself. */
void live_save_describe(const struct input *input, const char *folder, const struct pug_live *live);

#endif
