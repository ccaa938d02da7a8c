// SPDX-License-Identifier: MIT
/**
 * @file Counting what ran beside something else that looks at the same elements: parts of a profile
 * inside the parts of another consumer. Ranges have to be given as elements.
 */
#ifndef PUG_PROFILE_PROFILING_H
#define PUG_PROFILE_PROFILING_H

#include "pugmark/profiler.h"

struct pug_profiling;

/** Of `options` only names and selection are looked at. All are borrowed. NULL: no memory. */
struct pug_profiling *pug_profiling_new(struct pug_profile *profile, struct pug_capture *capture,
                                        const struct pug_profiler_options *options);

/* As in struct pug_capture_decode. */
void *pug_profiling_begin(struct pug_profiling *profiling);
void pug_profiling_elements(void *part, const struct pug_origin *origin,
                            const struct pug_element *elements, size_t count);
bool pug_profiling_take(struct pug_profiling *profiling, void *part);
void pug_profiling_drop(void *part);

/** All came: the profile has it now. Frees. As pug_profile_capture(). */
enum pug_status pug_profiling_end(struct pug_profiling *profiling);

#endif
