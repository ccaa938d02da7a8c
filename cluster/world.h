// SPDX-License-Identifier: MIT
/** @file The processes as MPI knows them: for those files of this room that speak MPI themselves.
 */
#ifndef PUGMARK_CLUSTER_WORLD_H
#define PUGMARK_CLUSTER_WORLD_H

#include "peers.h"

#include <mpi.h>

MPI_Comm cluster_world(const struct cluster *cluster);

#endif
