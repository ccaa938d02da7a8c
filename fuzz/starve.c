// SPDX-License-Identifier: MIT
#include "starve.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct {
    atomic_bool armed;
    atomic_long left; /**< before the first that fails */
    bool on;          /**< and all later ones */
} fault;

static bool fails(void)
{
    if (!atomic_load(&fault.armed))
        return false;
    const long left = atomic_fetch_sub(&fault.left, 1);
    const bool fail = left == 0 || (left < 0 && fault.on);
    if (fail)
        errno = ENOMEM;
    return fail;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

void fuzz_starve(unsigned left, bool on)
{
    atomic_store(&fault.left, (long)left);
    fault.on = on;
    atomic_store(&fault.armed, true);
}

bool fuzz_feast(void)
{
    atomic_store(&fault.armed, false);
    return atomic_load(&fault.left) < 0;
}
