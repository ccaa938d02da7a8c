// SPDX-License-Identifier: MIT
/**
 * @file Finds which of an OSD capture's modules trace, and what. A capture says so only where the
 * host read the modules' registers in it.
 */
#ifndef PUG_TRANSPORT_OSD_MODULES_H
#define PUG_TRANSPORT_OSD_MODULES_H

#include "pugmark/advanced/packet.h"

struct pug_osd_modules;

/** NULL: no memory. */
struct pug_osd_modules *pug_osd_modules_new(void);
void pug_osd_modules_free(struct pug_osd_modules *modules);

/** What the user's options say about the capture. */
struct pug_osd_expected {
    unsigned module; /**< that the named protocol is of: enum pug_osd_module; 0: any */
    unsigned width;  /**< bits of a core's addresses; 0: not given */
    bool odd;        /**< the core's instructions may be at odd addresses: it is no RISC-V */
};

/** Before the first run is noted. */
void pug_osd_modules_expect(struct pug_osd_modules *modules,
                            const struct pug_osd_expected *expected);

/** A run of the transport "osd". */
void pug_osd_modules_note(struct pug_osd_modules *modules, const struct pug_run *run);

/** Types of modules, as their register MOD_TYPE has them. */
enum pug_osd_module {
    PUG_OSD_MODULE_SILENT = 0, /* it sent no events */
    PUG_OSD_MODULE_STM = 4,
    PUG_OSD_MODULE_CTM = 5,
    PUG_OSD_MODULE_OTHER = UINT16_MAX, /* its events are neither's */
};

/** Returns the kind of a module by the content that it sent. */
enum pug_osd_module pug_osd_module(const struct pug_osd_modules *modules, uint16_t source);

#endif
