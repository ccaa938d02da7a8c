// SPDX-License-Identifier: MIT
/** @file Places of tasks in order: where each is, and what functions and files its addresses are
 * in. */
#ifndef PUGMARK_TOOL_PLACES_H
#define PUGMARK_TOOL_PLACES_H

#include "trace/trace_window.h"

struct places;

/** NULL: no memory. Capture and names are borrowed. */
struct places *places_new(struct pug_capture *capture, struct pug_names *names);
void places_free(struct places *places);

/**
 * Do items have a time from somebody who dates them? Else the timestamps among them are all there
 * is, and they come where they stand.
 */
bool places_have_times(const struct pug_capture *capture);

/** Tasks by number; where there are none, sources. */
uint32_t places_task(const struct trace_item *item);

/** A task has come to an item; false: no memory. */
bool places_follow(struct places *places, const struct trace_item *item);

/**
 * Say on standard error, unless `quiet`, how often a thread came from one processor's trace to
 * another's that is older, as where both share a buffer: `what` is not in the order of time then.
 */
void places_tell(const struct places *places, const char *what, bool quiet);

/** An address in what a task ran last: its address in the file. False: it lies elsewhere. */
bool places_vaddr(const struct places *places, uint32_t task, uint64_t address, uint64_t *vaddr);

/**
 * An address in what a task ran last, or around it: its file and address there; NULL: not known.
 */
struct pug_names_file *places_find(struct places *places, uint32_t task, uint64_t address,
                                   uint64_t *vaddr);

/** As pug_locate_fn; the context is a struct places. */
bool places_locate(void *places, uint32_t task, const struct pug_element *element, uint64_t address,
                   struct pug_function *function);

/** The words for a task: "thread 500 paw", "source 0x10". */
void places_task_words(struct places *places, const struct trace_item *item, char *words,
                       size_t size);

#endif
