// SPDX-License-Identifier: MIT
/** @file The transports, each from its own file. */
#ifndef PUG_TRANSPORT_BUILTIN_H
#define PUG_TRANSPORT_BUILTIN_H

#include "pugmark/transport.h"

extern const struct pug_transport pug_transport_plain;
extern const struct pug_transport pug_transport_coresight;
extern const struct pug_transport pug_transport_encapsulation;
extern const struct pug_transport pug_transport_nexus;
extern const struct pug_transport pug_transport_smi;
extern const struct pug_transport pug_transport_esp32;
extern const struct pug_transport pug_transport_pulp;
extern const struct pug_transport pug_transport_raw;
extern const struct pug_transport pug_transport_osd;
extern const struct pug_transport pug_transport_orbflow;

#endif
