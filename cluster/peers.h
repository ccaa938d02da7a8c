// SPDX-License-Identifier: MIT
/**
 * @file Peers (pugmark/advanced/peers.h) that are the processes of an MPI job. All of MPI is in
 * this room.
 */
#ifndef PUGMARK_CLUSTER_PEERS_H
#define PUGMARK_CLUSTER_PEERS_H

#include "pugmark/advanced/peers.h"

struct cluster;

/** Begin: MPI is started, and says who we are. NULL, having said why. */
struct cluster *cluster_open(int *argc, char ***argv);

/** They belong to it. */
struct pug_peers *cluster_peers(struct cluster *cluster);

/** Where this process's messages to people go, whatever becomes of standard error. */
void cluster_say(const struct cluster *cluster, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** In the end each process is to say what it sent. */
void cluster_tell_traffic(struct cluster *cluster);

/** All processes: numbers below this one are handed out now, to whoever asks first. */
void cluster_hand_out(struct cluster *cluster, uint32_t numbers);
/** Until this answers false, which each process has to wait for: there are no more. */
bool cluster_next(struct cluster *cluster, uint32_t *number);

/**
 * This process has done all; `code` is what it makes of it. Number 0 says what the job's exit code
 * is, and ends the others also where they wait for something that will not come. Does not wait for
 * other processes. Others that end before number 0 had what it needs of them end the job.
 */
int cluster_close(struct cluster *cluster, int code);

#endif
