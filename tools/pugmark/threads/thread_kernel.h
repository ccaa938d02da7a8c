// SPDX-License-Identifier: MIT
/** @file The kernel whose threads run: the one that --rtos names, or that the program shows. */
#ifndef PUGMARK_TOOL_THREAD_KERNEL_H
#define PUGMARK_TOOL_THREAD_KERNEL_H

#include "input/input.h"
#include "rtos/program.h"

/** Kernels that were read, and the one that was found. */
struct thread_kernel {
    struct rtos_kernel *kernel;  /**< NULL: none, threads are found by program flow alone */
    struct pug_names_file *file; /**< the program that has it; or, without one, the first program */
};

enum thread_kernel_answer {
    THREAD_KERNEL_NONE,  /**< no threads are to be followed */
    THREAD_KERNEL_THERE, /**< *found says how */
    THREAD_KERNEL_WRONG  /**< what --rtos says is wrong, and that was said */
};

/**
 * Looks a kernel up. `wanted` is what --rtos says, or NULL: whatever the program has. "off": none;
 * "flow": threads are distinguished by program flow alone; else a kernel's name or a description's
 * path.
 */
enum thread_kernel_answer thread_kernel_find(struct pug_capture *capture, struct pug_names *names,
                                             const char *wanted, struct thread_kernel *found);
void thread_kernel_end(struct thread_kernel *found);

/** Print the kernels that are known, a line each. */
void thread_kernel_list(void);

#endif
