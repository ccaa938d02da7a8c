// SPDX-License-Identifier: MIT
/** @file A folder for what processes keep (struct pug_peers_keep), and how they die. */
#ifndef TEST_KEPT_FOLDER_H
#define TEST_KEPT_FOLDER_H

#include <stdbool.h>

#define KEPT_ALWAYS (~0u)

/** A group's setup and teardown. */
int kept_folder_open(void **state);
int kept_folder_close(void **state);

/** Its path. */
const char *kept_folder(void);
/** The same; nothing is in it. */
const char *kept_folder_empty(void);

/** For `settle`: the context is an unsigned. After so many times nothing more is kept, as if the
 * process had died. */
bool kept_folder_settle(void *times);

#endif
