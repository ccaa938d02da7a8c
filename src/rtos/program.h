// SPDX-License-Identifier: MIT
/** @file A kernel in one program: where its objects are, and what its threads are called. */
#ifndef PUG_RTOS_PROGRAM_H
#define PUG_RTOS_PROGRAM_H

#include "pugmark/names.h"
#include "rtos/follow.h"
#include "rtos/kernel.h"

/** Memory that is known, as the capture, the program or data trace have it. */
struct rtos_memory {
    /** Reads up to `size` bytes; how many are known from the first on. */
    size_t (*read)(void *context, uint64_t address, uint8_t *bytes, size_t size);
    void *context;
};

/** The place of a thread's name. */
struct rtos_naming {
    bool has_member;
    uint64_t offset; /**< in the control block */
    uint64_t size;   /**< of an array; 0: not known */
    bool is_pointer;
};

/** The write that makes a thread ready to run: of a member, a value from `first` to `last`. */
struct rtos_ready {
    bool known;
    uint64_t offset, size; /**< of the member in the control block */
    uint64_t first, last;
};

struct rtos_program {
    const struct rtos_kernel *kernel;
    struct pug_names_file *file; /**< borrowed */
    struct rtos_object object;
    const char *current; /**< the expression that led to it; NULL: none did */
    struct rtos_naming naming;
    struct rtos_ready ready;
};

/** Has a program all symbols of the kernel's "if"? */
bool pug_rtos_is_in(const struct rtos_kernel *kernel, struct pug_names_file *file);

/** Look the kernel's objects up. `cpu` is the core's number, where there is an object for each. */
void pug_rtos_look_up(const struct rtos_kernel *kernel, struct pug_names_file *file, unsigned cpu,
                      struct rtos_program *program);

/**
 * What a thread is called: by its control block in memory, by the symbol of a static object,
 * "task 0x20000410", or, of a thread without a value, by the function that it was first seen in, in
 * brackets since that is an estimate: "(worker)". Never empty.
 */
void pug_rtos_name(const struct rtos_program *program, const struct rtos_thread *thread,
                   const struct rtos_memory *memory, char *name, size_t size);

#endif
