// SPDX-License-Identifier: MIT
/** @file Peers (pugmark/advanced/peers.h) that are threads of one process: for tests. */
#ifndef TEST_CREW_H
#define TEST_CREW_H

#include "pugmark/advanced/peers.h"

/** The work of one of them. */
typedef void crew_fn(struct pug_peers *peers, void *context);

/** The messages that they sent each other. */
struct crew_traffic {
    uint64_t messages, bytes;
};

/** So many do it, with pieces and blocks of these sizes, and all have to come to its end. */
struct crew_traffic crew_run(unsigned count, size_t piece, size_t block, crew_fn *work,
                             void *context);

#endif
