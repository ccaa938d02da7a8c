// SPDX-License-Identifier: MIT
/** @file Where in memory a place of a program was, in any process of a perf.data. */
#ifndef PUG_PERFDATA_MAPPED_H
#define PUG_PERFDATA_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

struct pug_capture;

/**
 * Gives each address at which the object's place `vaddr` was mapped, in the order of processes and
 * times, some of them again and again. Until `take` returns false.
 */
void pug_perf_mapped(struct pug_capture *capture, uint32_t object, uint64_t vaddr,
                     bool (*take)(void *context, uint64_t address), void *context);

#endif
