// SPDX-License-Identifier: MIT
/** @file The log: what went wrong, where in the trace, for which source. */
#ifndef PUGMARK_LOG_H
#define PUGMARK_LOG_H

#include "pugmark/status.h"

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The severity of a message. As a verbosity: the lowest severity that is logged. */
enum pug_severity { PUG_SEV_NONE, PUG_SEV_ERROR, PUG_SEV_WARN, PUG_SEV_INFO };

/** The message is of no place in the trace. */
#define PUG_NO_INDEX UINT64_MAX
/** The message is of no source. */
#define PUG_NO_SOURCE 0xFFFFFFFFu

/** One message. Strings are valid during the call only, or, of pug_log_last(), until the next. */
struct pug_log_record {
    enum pug_severity severity; /**< how bad it is */
    enum pug_status code;       /**< PUG_OK for a message that is no error */
    uint64_t index;             /**< trace index, or PUG_NO_INDEX */
    uint32_t source;            /**< trace id, or PUG_NO_SOURCE */
    const char *component; /**< who says it: "DCD_ETMV4_0016", "PKTP_STM", "DFMT_CSFRAMES" … */
    const char *text;      /**< what it says; may be empty */
    uint64_t spare[2];     /**< zero */
};

/** Takes messages, on the thread that they come from. */
typedef void pug_log_fn(void *context, const struct pug_log_record *record);

struct pug_log;

/**
 * A log that passes on records up to `verbosity`, for the caller to free. Starts without an output.
 * NULL: no memory. Where a log is asked for NULL is one that swallows all, and knows nothing. A log
 * may be shared by trees of one thread; it must outlive them.
 */
struct pug_log *pug_log_new(enum pug_severity verbosity);
/** NULL is left alone. */
void pug_log_free(struct pug_log *log);

/** Messages less severe than this are dropped. */
void pug_log_set_verbosity(struct pug_log *log, enum pug_severity verbosity);
/** Returns the verbosity. */
enum pug_severity pug_log_verbosity(const struct pug_log *log);

/** Send records to a function as well; NULL: no more. */
void pug_log_set_sink(struct pug_log *log, pug_log_fn *sink, void *context);
/** Write records into a file in words, a line each, as well; NULL: no more. */
void pug_log_set_file(struct pug_log *log, FILE *file);

/** Put a record in the log. A NULL log swallows it. */
void pug_log_put(struct pug_log *log, const struct pug_log_record *record);

/** The last record with an error code, whatever the verbosity; NULL if there was none. */
const struct pug_log_record *pug_log_last(const struct pug_log *log);

/** How many errors there were, whatever the verbosity. */
uint64_t pug_log_errors(const struct pug_log *log);
/** How many warnings there were, whatever the verbosity. */
uint64_t pug_log_warnings(const struct pug_log *log);

/** A record in words, without a newline; returns the length of the whole text. */
size_t pug_log_text(const struct pug_log_record *record, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
