// SPDX-License-Identifier: MIT
/**
 * @file A file that all processes write at once, with MPI-IO. The first process knows the order of
 * all bytes, and so where everything begins. The others keep what they made until they get its
 * place, and then write it there. It has a name of its own beside its last one until it is whole.
 */
#ifndef PUGMARK_CLUSTER_FILE_H
#define PUGMARK_CLUSTER_FILE_H

#include "common/output.h"
#include "peers.h"

struct cluster_file;

/** All processes. NULL, having said why: it cannot be written. */
struct cluster_file *cluster_file_open(struct cluster *cluster, const char *path);

/** All bytes of this process for it are on disk; false: they are not. */
bool cluster_file_settle(void *file);

/** For output_into(). */
const struct output_target *cluster_file_target(struct cluster_file *file);

/**
 * All processes: write the rest. With `good` it gets its name. False, having said why: it did not.
 */
bool cluster_file_close(struct cluster_file *file, bool good);

#endif
