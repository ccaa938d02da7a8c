// SPDX-License-Identifier: MIT
/** @file Data accesses that a DWT saw, in the program's words: `speed = 37 at motor.c:81`. */
#ifndef PUG_EVENTS_NAMES_H
#define PUG_EVENTS_NAMES_H

#include "events/sources.h"

struct swo_names;

/** Sources and names are borrowed; `names` may be NULL. NULL: no memory. */
struct swo_names *pug_swo_names_new(struct swo_sources *sources, struct pug_names *names);
void pug_swo_names_free(struct swo_names *swo);

/** What an access is of: "speed", "motor.state", "0x20000010"; "comparator 1" of no address. */
void pug_swo_names_place(struct swo_names *swo, const struct pug_dwt_event *event, char *text,
                         size_t size);
/** The value of an access by the type of its variable: "-3", "1.5", "RUNNING"; "" without one. */
void pug_swo_names_value(struct swo_names *swo, const struct pug_dwt_event *event, char *text,
                         size_t size);
/** The value as a whole number, with its sign; false: it has none, or is a fraction. */
bool pug_swo_names_number(struct swo_names *swo, const struct pug_dwt_event *event,
                          int64_t *number);
/** The type of the variable in words, "unsigned int"; "" where it is not known. */
void pug_swo_names_type(struct swo_names *swo, const struct pug_dwt_event *event, char *text,
                        size_t size);
/** The whole event in words; of other events as pug_dwt_text(), handlers by their names. */
void pug_swo_names_event(struct swo_names *swo, const struct pug_dwt_event *event, char *text,
                         size_t size);

#endif
