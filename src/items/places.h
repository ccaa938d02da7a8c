// SPDX-License-Identifier: MIT
/** @file Places of tasks in order: where each is, and what functions and files its addresses are
 * in. */
#ifndef PUG_ITEMS_PLACES_H
#define PUG_ITEMS_PLACES_H

#include "items/window.h"

struct places;

/** NULL: no memory. Capture and names are borrowed. */
struct places *pug_places_new(struct pug_capture *capture, struct pug_names *names);
void pug_places_free(struct places *places);

/**
 * Do items have a time from somebody who dates them? Else the timestamps among them are all there
 * is, and they come where they stand.
 */
bool pug_places_have_times(const struct pug_capture *capture);

/** Tasks by number; where there are none, sources. */
uint32_t pug_places_task(const struct trace_item *item);

/** A task has come to an item; false: no memory. */
bool pug_places_follow(struct places *places, const struct trace_item *item);

/**
 * How often a thread came from one processor's trace to another's that is older, as where both
 * share a buffer: what is made of it is not in the order of time then.
 */
uint64_t pug_places_returns(const struct places *places);

/** An address in what a task ran last: its address in the file. False: it lies elsewhere. */
bool pug_places_vaddr(const struct places *places, uint32_t task, uint64_t address,
                      uint64_t *vaddr);

/**
 * An address in what a task ran last, or around it: its file and address there; NULL: not known.
 */
struct pug_names_file *pug_places_find(struct places *places, uint32_t task, uint64_t address,
                                       uint64_t *vaddr);

/** As pug_locate_fn; the context is a struct places. */
bool pug_places_locate(void *places, uint32_t task, const struct pug_element *element,
                       uint64_t address, struct pug_function *function);

/** The words for a task: "thread 500 paw", "source 0x10". */
void pug_places_task_words(struct places *places, const struct trace_item *item, char *words,
                           size_t size);

#endif
