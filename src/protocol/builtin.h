// SPDX-License-Identifier: MIT
/** @file The built-in protocols, each from its own folder. */
#ifndef PUG_PROTOCOL_BUILTIN_H
#define PUG_PROTOCOL_BUILTIN_H

#include "pugmark/author/protocol.h"

extern const struct pug_protocol pug_protocol_etmv4;
extern const struct pug_protocol pug_protocol_etmv4d;
extern const struct pug_protocol pug_protocol_ete;
extern const struct pug_protocol pug_protocol_etmv3;
extern const struct pug_protocol pug_protocol_ptm;
extern const struct pug_protocol pug_protocol_stm;
extern const struct pug_protocol pug_protocol_itm;
extern const struct pug_protocol pug_protocol_mtb;
extern const struct pug_protocol pug_protocol_etrace;
extern const struct pug_protocol pug_protocol_ntrace;
extern const struct pug_protocol pug_protocol_osd_ctm;
extern const struct pug_protocol pug_protocol_osd_stm;

/** Has it all functions that are called without a look whether they are there? */
bool pug_protocol_is_whole(const struct pug_protocol *protocol);

#endif
