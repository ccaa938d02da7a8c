// SPDX-License-Identifier: MIT
/** @file A folder that goes when a signal ends the process. One at a time. */
#ifndef PUG_RECORDER_UNFINISHED_H
#define PUG_RECORDER_UNFINISHED_H

/** From now on SIGINT, SIGTERM and SIGHUP remove this folder and all that is in it. */
void rec_unfinished_begin(const char *path);
/** No more. */
void rec_unfinished_end(void);
/** Removes the folder, two levels deep: files, and folders of files. No link is followed. */
void rec_unfinished_remove(const char *path);

#endif
