// SPDX-License-Identifier: MIT
/** @file What one input came to: what was printed, and the exit code. */
#ifndef PUGMARK_CLUSTER_DONE_H
#define PUGMARK_CLUSTER_DONE_H

#include "pugmark/advanced/peers.h"

#include <stdio.h>

struct done {
    bool is;
    int code;
    FILE *printed[2]; /**< standard output and error; NULL: nothing */
    int before[2];    /**< descriptors of what they were, while it is being done */
};

/** What this process prints is kept from now on; false: it cannot be. */
bool done_begin(struct done *done);
/** Until now. */
void done_end(struct done *done, int code);
/** To standard output and error. */
void done_print(struct done *done);
void done_free(struct done *done);

void done_send(struct done *done, struct pug_peers *peers);
void done_receive(struct done *done, struct pug_peers *peers, unsigned from);

/**
 * Save results in a folder, under the number and the name of their input; `command` identifies the
 * command.
 */
void done_save(struct done *done, const char *folder, uint32_t number, const char *input,
               uint64_t command);
/** False: it was not done, or not of this input as it is now. */
bool done_load(struct done *done, const char *folder, uint32_t number, const char *input,
               uint64_t command);

#endif
