// SPDX-License-Identifier: MIT
/**
 * @file What the fuzz targets have in common. An input is: protocol, transport, three bytes for the
 * target, the last of which chooses settings, then trace.
 */
#ifndef PUG_FUZZ_INPUTS_H
#define PUG_FUZZ_INPUTS_H

#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "pugmark/pugmark.h"

#define FUZZ_HEADER   5u
#define FUZZ_SETTINGS 40u

/** Program memory: real-looking code at the bottom; with `invented` a callback makes up the rest.
 */
struct pug_image *fuzz_image(bool invented);

const struct pug_protocol *fuzz_protocol(const uint8_t *data);
const struct pug_transport *fuzz_transport(const uint8_t *data);

/** Registers that make most features of the protocols reachable; how many. */
size_t fuzz_settings(const uint8_t *data, struct pug_setting settings[FUZZ_SETTINGS]);

#endif
