// SPDX-License-Identifier: MIT
/** @file What the words of parameter files mean that options have, too. */
#ifndef PUG_PARAMS_PARAMS_H
#define PUG_PARAMS_PARAMS_H

#include "pugmark/advanced/params.h"

/** The transport of a container whose settings are fixed (NULL). */
const char *pug_params_container(const char *container);

/** The setting `layout` of E-Trace in it; NULL: the usual one. */
const char *pug_params_layout(const char *container);

#endif
