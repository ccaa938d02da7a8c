// SPDX-License-Identifier: MIT
/** @file Which inputs there are: words of the command line, patterns, lists in files. */
#ifndef PUGMARK_CLUSTER_INPUTS_H
#define PUGMARK_CLUSTER_INPUTS_H

#include "common/options.h"

/**
 * Add what a word names: "@FILE": each line of FILE that is not empty, nor a comment (#); a pattern
 * of the shell: what fits, by name; else itself. False, having said why.
 */
bool inputs_add(struct option_list *inputs, const char *word);

/** Bytes of a file, or of all files in a folder; 0: unknown. */
uint64_t inputs_size(const char *path);

/**
 * Identifies words, and the files that they name, by sizes and times, so that changed ones differ.
 */
uint64_t inputs_identity(char *const *words, size_t count);

/** Frees what inputs_add() made. */
void inputs_free(void);

#endif
