// SPDX-License-Identifier: MIT
/** @file Checking where a kernel's threads run: its threads become streams of their own. */
#ifndef PUG_CHECK_THREADS_H
#define PUG_CHECK_THREADS_H

#include "pugmark/check.h"
#include "rtos/find.h"

struct check_threads;

/**
 * After pug_check_begin(): *threads is NULL where no kernel's threads are to be followed.
 * PUG_ERR_INVALID_PARAM_VAL: the kernel that was wanted is wrong, as was reported; PUG_ERR_MEM.
 */
enum pug_status pug_check_threads_new(struct pug_check *check,
                                      const struct thread_kernel_wanted *kernel,
                                      struct check_threads **threads);
/** In place of pug_check_decode(); the threads must outlive it. */
void pug_check_threads_decode(struct check_threads *threads, struct pug_capture_decode *decode);
/** After decoding, which ended like that: what is held comes. Frees. */
enum pug_status pug_check_threads_end(struct check_threads *threads, enum pug_status status);

#endif
