// SPDX-License-Identifier: MIT
/** @file Demanglers: a name as the linker has it, as people write it. Each gives 0 for other names.
 */
#ifndef PUG_NAMES_DEMANGLE_H
#define PUG_NAMES_DEMANGLE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Work on one name is bounded: by bytes of text, and by parts in each other. */
#define DEMANGLE_TEXT  ((size_t)64 << 10)
#define DEMANGLE_DEPTH 128u

/** The Itanium ABI's: "_Z…". The text's length, 0: it is none, or holds what is not known here. */
size_t pug_names_demangle_itanium(const char *name, char *buffer, size_t size);
/** Rust's v0: "_R…". */
size_t pug_names_demangle_rust(const char *name, char *buffer, size_t size);
/** Rust's before: "_ZN…17h" and 16 hexadecimal digits. */
size_t pug_names_demangle_rust_legacy(const char *name, char *buffer, size_t size);

#endif
