// SPDX-License-Identifier: MIT
/**
 * @file A file that all processes write at once, with MPI-IO. The first one knows the order of all
 * that goes there, and so where everything begins; what others made they keep until they are told,
 * and then write it where it belongs. It has a name of its own beside its last one until it is
 * whole.
 */
#ifndef PUGMARK_CLUSTER_FILE_H
#define PUGMARK_CLUSTER_FILE_H

#include "common/output.h"
#include "peers.h"

struct cluster_file;

/** All processes. NULL, having said why: it cannot be written. */
struct cluster_file *cluster_file_open(struct cluster *cluster, const char *path);

/** What this process has for it is safe; false: it is not. */
bool cluster_file_settle(void *file);

/** For output_into(). */
const struct output_target *cluster_file_target(struct cluster_file *file);

/** All processes: write the rest. With `good` it gets its name. False, having said why: it did not.
 */
bool cluster_file_close(struct cluster_file *file, bool good);

#endif
