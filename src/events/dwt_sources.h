// SPDX-License-Identifier: MIT
/** @file The ITM sources of a tree, each with what joins its packets to events. */
#ifndef PUG_EVENTS_DWT_SOURCES_H
#define PUG_EVENTS_DWT_SOURCES_H

#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"

struct dwt_sources;

/** Do its elements tell of events of a DWT? Of NULL: no. */
bool pug_dwt_sources_carries(const struct pug_protocol *protocol);

/** *sources is NULL where the tree has no ITM. False: no memory. */
bool pug_dwt_sources_new(struct pug_tree *tree, bool timed, struct dwt_sources **sources);
void pug_dwt_sources_free(struct dwt_sources *sources);

/** The events of one source, or NULL where it is no ITM; and the n-th, or NULL. */
struct pug_dwt *pug_dwt_sources_find(struct dwt_sources *sources, uint16_t id);
struct pug_dwt *pug_dwt_sources_at(struct dwt_sources *sources, size_t n);

/** Nothing is known of what the sources sent before. */
void pug_dwt_sources_forget(struct dwt_sources *sources);

/**
 * An element of an ITM was taken: is it known which packets wait to be joined to the next ones? Not
 * while what was sent before may matter.
 */
bool pug_dwt_sources_knows(struct dwt_sources *sources, const struct pug_element *element);

#endif
