// SPDX-License-Identifier: MIT
/**
 * @file What one of several processes reads of a capture, and where its strands meet those of its
 * neighbours: docs/cluster.md. Each begins its range as if the trace began there, as a strand does,
 * and keeps what it makes. After its end it continues until its state is that which the process on
 * the right had at the same place. Only then it says where the other's products begin to count.
 */
#ifndef PUG_SCHEDULE_RANKS_H
#define PUG_SCHEDULE_RANKS_H

#include "schedule/peers.h"
#include "schedule/threads_internal.h"

/** Can the work be cut among peers? The same answer on all of them. */
bool pug_rank_range_wanted(const struct pug_jobs_state *jobs);

/** Which pieces are this process's, and what it kept of them. False: no memory. */
bool pug_rank_range_open(struct pug_jobs_state *jobs);
void pug_rank_range_free(struct pug_rank_range *range);

/**
 * Is something of them to be read? From where on is set in `jobs`. Asked again until it is not: who
 * goes on with what was kept may have begun to read too late.
 */
bool pug_rank_range_reads(struct pug_jobs_state *jobs);

/** Reading begins with a tree in this state. */
void pug_rank_range_begin(struct pug_rank_range *range, const struct pug_state *state);

/** Of a block that is about to be taken: what its strand's state says. Under the lock. */
void pug_rank_range_note(struct pug_jobs_state *jobs, const struct pug_jobs_strand *strand);

/** Take what the caller's thread gets in its order; false: that was all of it. */
bool pug_rank_range_chunk(struct pug_jobs_state *jobs, struct pug_parts *parts);
bool pug_rank_range_block(struct pug_jobs_state *jobs, struct pug_jobs_block *block, uint64_t end);

/** This process's part is read: put it together with that of the others. */
void pug_rank_range_finish(struct pug_jobs_state *jobs);

#endif
