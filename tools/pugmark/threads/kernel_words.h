// SPDX-License-Identifier: MIT
/** @file Words about kernels: the list of those that are known, and what is wrong with --rtos. */
#ifndef PUGMARK_TOOL_KERNEL_WORDS_H
#define PUGMARK_TOOL_KERNEL_WORDS_H

#include "input/input.h"
#include "rtos/stage.h"

/** What is looked for in an input, as --rtos has it; problems are said on standard error. */
struct thread_kernel_wanted kernel_wanted(const struct input *input, struct pug_names *names,
                                          const char *rtos);

/**
 * Is what --tid and --comm choose to be found? False, having said why: --rtos is wrong, or threads
 * are chosen and there are none.
 */
bool kernel_choice(const struct input *input, struct pug_names *names, const char *rtos);

/** Makes a stage as pug_thread_stage_new() does. False, having said why: it cannot be made. */
bool kernel_stage(struct input *input, struct thread_stage_options *options,
                  struct thread_stage **stage);

/** As the field of struct thread_kernel_wanted. */
void kernel_tell(void *context, const struct thread_kernel_told *told);

/** Print the kernels that are known, a line each. */
void kernel_list(void);

#endif
