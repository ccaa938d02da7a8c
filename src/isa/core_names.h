// SPDX-License-Identifier: MIT
/** @file The core that a source's settings describe. */
#ifndef PUG_ISA_CORE_NAMES_H
#define PUG_ISA_CORE_NAMES_H

#include "pugmark/advanced/settings.h"
#include "pugmark/log.h"

/**
 * By its name, the word `core`, or by the numbers `arch` and `profile`, which go before what the
 * name says. *arch and *profile are what holds where they say nothing. An unknown name is a
 * warning.
 */
void pug_core_of_settings(const struct pug_settings *settings, struct pug_log *log,
                          const char *component, enum pug_arch *arch,
                          enum pug_arch_profile *profile);

/**
 * Log that an exception has no name, since the core may be of the A or the M profile. The record
 * has no place, so that tools show it once.
 */
void pug_log_profile_unknown(struct pug_log *log, const char *component);

#endif
