// SPDX-License-Identifier: MIT
/**
 * @file What a kernel's description says: share/rtos/NAME.rtos, as docs/book/answers/threads.md has
 * it.
 *
 *     kernel NAME
 *       if      SYMBOLS that all are in its programs
 *       current EXPRESSION | EXPRESSION...      the object that says which thread runs
 *       type    TYPE | TYPE                     of a thread's control block
 *       name    MEMBER | +OFFSET:string | +OFFSET:pointer
 *       object  PREFIX of a static control block's symbol, that its thread's name is without
 *       none    VALUES that are no thread
 *       switch  FUNCTIONS whose exception returns switch threads
 *       idle    FUNCTIONS of the thread that runs when no other can
 *       ready   MEMBER = VALUE | MEMBER in SYMBOL: the write of a control block that makes it ready
 */
#ifndef PUG_RTOS_KERNEL_H
#define PUG_RTOS_KERNEL_H

#include "pugmark/element.h"
#include "pugmark/status.h"

#define RTOS_WORDS      32u
#define RTOS_NONES      8u
#define RTOS_TEXT_LIMIT (UINT32_C(1) << 16) /**< bytes of a description */

/** Words of one line, or what is between its bars. */
struct rtos_words {
    const char *at[RTOS_WORDS];
    size_t count;
};

struct rtos_kernel {
    const char *name;
    struct rtos_words symbols, current, types, names, switches, idle, ready;
    const char *object; /**< or NULL */
    uint64_t none[RTOS_NONES];
    size_t none_count;
    char *text; /**< that all these are in */
};

/** The place of a mistake in a description. */
struct rtos_mistake {
    unsigned line, column;
    const char *message; /**< what was expected there */
};

/**
 * Read a description. PUG_ERR_INVALID_PARAM_VAL: it is wrong, as *mistake says; PUG_ERR_MEM. Free
 * it where it was read.
 */
enum pug_status pug_rtos_kernel_read(const char *text, size_t size, struct rtos_kernel **kernel,
                                     struct rtos_mistake *mistake);
/** NULL is left alone. */
void pug_rtos_kernel_free(struct rtos_kernel *kernel);

/** A description that is compiled in. */
struct rtos_builtin {
    const char *name, *text; /**< "freertos" */
};
/** The n-th, or NULL. */
const struct rtos_builtin *pug_rtos_builtin_at(size_t n);

/** Where an expression of `current` or `name` leads without debug information. */
struct rtos_offset {
    char symbol[128]; /**< "" of a name */
    uint64_t offset, size;
    bool is_pointer; /**< of a name: to its text */
};
/** "SYMBOL+OFFSET:SIZE", "+OFFSET:string", "+OFFSET:pointer"; false: it is no such. */
bool pug_rtos_offset_read(const char *word, struct rtos_offset *offset);

#endif
