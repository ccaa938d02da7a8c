// SPDX-License-Identifier: MIT
/**
 * @file The default log of the OpenCSD C API: one error logger and the current output, both the
 * process's by the nature of that API. Safe on several threads; a callback is called without a
 * lock.
 */
#ifndef OPENCSD_ERRLOG_H
#define OPENCSD_ERRLOG_H

#include "base/text.h"
#include "pugmark/log.h"

#include <opencsd/c_api/ocsd_c_api_types.h>
#include <stdbool.h>

/** Where text goes: standard output, standard error, a file, a callback. */
struct errlog_output;

/** The current output, kept alive for the caller; NULL when none was made yet. */
struct errlog_output *errlog_output_hold(void);
void errlog_output_release(struct errlog_output *output);

/** Write a text, which may have NULs in it; to NULL it goes nowhere. */
void errlog_print(struct errlog_output *output, const char *text, size_t size);
/** The same; what had no room is left out. */
void errlog_print_text(struct errlog_output *output, struct pug_text *text);

/** Does anybody read what is written there? */
bool errlog_output_is_used(const struct errlog_output *output);

/** Returns the severity from which messages are logged. */
enum pug_severity errlog_verbosity(void);

/**
 * Log an error (code not PUG_OK) or a message. `latched` is the verbosity that the component took
 * over when it was made.
 */
void errlog_put(const struct pug_log_record *record, enum pug_severity latched);

/** Callbacks that came with this tree are not called any more. */
void errlog_forget_tree(const void *tree);

#endif
