// SPDX-License-Identifier: MIT
/** @file The kernel whose threads run: the one that a user names, or that the program shows. */
#ifndef PUG_RTOS_FIND_H
#define PUG_RTOS_FIND_H

#include "pugmark/capture.h"
#include "rtos/program.h"

/** Kernels that were read, and the one that was found. */
struct thread_kernel {
    struct rtos_kernel *kernel;  /**< NULL: none, threads are found by program flow alone */
    struct pug_names_file *file; /**< the program that has it; or, without one, the first program */
};

enum thread_kernel_answer {
    THREAD_KERNEL_NONE,  /**< no threads are to be followed */
    THREAD_KERNEL_THERE, /**< *found says how */
    THREAD_KERNEL_WRONG  /**< what was wanted is wrong, as tell() said */
};

/** What is wrong with a kernel that was wanted. */
struct thread_kernel_told {
    const char *wanted;
    enum pug_status status; /**< PUG_ERR_FILE: the description cannot be read, errno says why … */
    const struct rtos_mistake *mistake; /**< … or it is wrong here; or NULL */
    const struct rtos_kernel *absent;   /**< a kernel that no program has; or NULL */
};

/** What kernel is looked for. */
struct thread_kernel_wanted {
    struct pug_capture *capture;
    struct pug_names *names;
    /**
     * "off": none; "flow": threads are distinguished by program flow alone; else a kernel's name or
     * a description's path. NULL: whatever the program has.
     */
    const char *wanted;
    void (*tell)(void *context, const struct thread_kernel_told *told); /**< or NULL */
    void *context;
};

/** Looks a kernel up. */
enum thread_kernel_answer pug_thread_kernel_find(const struct thread_kernel_wanted *wanted,
                                                 struct thread_kernel *found);
void pug_thread_kernel_end(struct thread_kernel *found);

#endif
