// SPDX-License-Identifier: MIT
/** @file The protocol of a device by its type, as captures of other kinds need it, too. */
#ifndef PUG_SNAPSHOT_PROTOCOLS_H
#define PUG_SNAPSHOT_PROTOCOLS_H

#include "pugmark/author/protocol.h"

/** The protocol of a device of this type ("ETM4.2", "PTM1.1"); NULL: none is known. */
const struct pug_protocol *pug_snapshot_protocol_of_type(const char *type);

#endif
