// SPDX-License-Identifier: MIT
/**
 * @file What a command can do while it reads inputs: read below the folders that its words name,
 * and write below those of its outputs. Linux's Landlock sees to that, for all threads that begin
 * later. SECURITY.md says what is promised.
 */
#ifndef PUGMARK_TOOL_SANDBOX_H
#define PUGMARK_TOOL_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

struct input_options;

/** The inputs of the command; they stay. Options are known by option_word_at(). */
void sandbox_operands(char *const *operands, size_t count);

/** The folder of the input may be written. */
void sandbox_allow_input(void);
/** The same where it holds an index, which is completed there; but for --sandbox. */
void sandbox_allow_index(void);

/** Inputs name programs by their paths, so that reading stays open. */
void sandbox_read_all(void);

/** A program will be started, or more is needed by others in the process: only --sandbox goes
 * before that. */
void sandbox_waive(void);

/**
 * Enters it, once, before an input is opened; NULL: the command has no such options. False, having
 * said why: --sandbox asks for it, and it cannot be.
 */
bool sandbox_start(const struct input_options *options);

/** What is left of that when the input is open: --sandbox with servers that were asked for it. */
bool sandbox_settle(const struct input_options *options);

/**
 * After a message: where it says that a file may not be read, and the sandbox may be why, says so
 * once, and what to do.
 */
void sandbox_explain(const char *message);

/** The version of Landlock's interface; 0: the system has none. */
unsigned sandbox_level(void);

#endif
