// SPDX-License-Identifier: MIT
/** @file The ITM sources of a tree, each with what joins its packets to events. */
#ifndef PUGMARK_TOOL_DWT_SOURCES_H
#define PUGMARK_TOOL_DWT_SOURCES_H

#include "pugmark/pugmark.h"

struct dwt_sources;

/** NULL where the tree has no ITM, or no memory is left. */
struct dwt_sources *dwt_sources_new(struct pug_tree *tree, bool timed);
void dwt_sources_free(struct dwt_sources *sources);

/** The events of one source, or NULL where it is no ITM; and the n-th, or NULL. */
struct pug_dwt *dwt_sources_find(struct dwt_sources *sources, uint16_t id);
struct pug_dwt *dwt_sources_at(struct dwt_sources *sources, size_t n);

#endif
