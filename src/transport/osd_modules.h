// SPDX-License-Identifier: MIT
/**
 * @file Which of an OSD capture's modules trace, and what: a capture does not say, but for who
 * reads the modules' registers in it.
 */
#ifndef PUG_TRANSPORT_OSD_MODULES_H
#define PUG_TRANSPORT_OSD_MODULES_H

#include "pugmark/packet.h"

struct pug_osd_modules;

/** NULL: no memory. */
struct pug_osd_modules *pug_osd_modules_new(void);
void pug_osd_modules_free(struct pug_osd_modules *modules);

/** A run of the transport "osd". */
void pug_osd_modules_note(struct pug_osd_modules *modules, const struct pug_run *run);

/**
 * The protocol of a module by what it sent: "OSD-CTM", "OSD-STM"; "" if its events are neither's;
 * NULL if it sent none.
 */
const char *pug_osd_modules_protocol(const struct pug_osd_modules *modules, uint16_t source);

#endif
