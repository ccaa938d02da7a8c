// SPDX-License-Identifier: MIT
/** @file Messages that are delivered later. */
#ifndef PUG_LOG_DIVERT_H
#define PUG_LOG_DIVERT_H

#include "pugmark/log.h"

/** From now on records go to this function alone, uncounted; NULL: no more. A NULL log has none. */
void pug_log_divert(struct pug_log *log, pug_log_fn *function, void *context);

#endif
