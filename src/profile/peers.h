// SPDX-License-Identifier: MIT
/** @file Profiles of several processes, as one. */
#ifndef PUG_PROFILE_PEERS_H
#define PUG_PROFILE_PEERS_H

#include "pugmark/advanced/peers.h"
#include "pugmark/profile.h"

/** What each has goes in pairs to the first one, whose profile has all then. NULL: there is one. */
enum pug_status pug_profile_merge_peers(struct pug_peers *peers, struct pug_profile *profile);

#endif
