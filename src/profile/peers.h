// SPDX-License-Identifier: MIT
/** @file Profiles of several processes, as one. */
#ifndef PUG_PROFILE_PEERS_H
#define PUG_PROFILE_PEERS_H

#include "pugmark/advanced/peers.h"
#include "pugmark/profile.h"

/**
 * Merges as pug_profile_merge() does. Where one is of samples and the other of counts, the samples
 * are not added: how many they are becomes a note.
 */
enum pug_status pug_profile_merge_noting(struct pug_profile *profile,
                                         const struct pug_profile *other);

/** What each has goes in pairs to the first one, whose profile has all then. NULL: there is one. */
enum pug_status pug_profile_merge_peers(struct pug_peers *peers, struct pug_profile *profile);

#endif
