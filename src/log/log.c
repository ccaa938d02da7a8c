// SPDX-License-Identifier: MIT
/** @file The log: filters by verbosity, keeps the last error, passes records on. */
#include "pugmark/log.h"

#include "base/text.h"
#include "log/divert.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct pug_log {
    enum pug_severity verbosity;
    pug_log_fn *sink, *diverted; /* NULL: there is none */
    void *context, *diverted_context;
    FILE *file;
    uint64_t errors, warnings;
    bool has_last;
    struct pug_log_record last;
    char last_component[32];
    char last_text[256];
};

struct pug_log *pug_log_new(enum pug_severity verbosity)
{
    struct pug_log *log = calloc(1, sizeof(*log));
    if (log)
        log->verbosity = verbosity;
    return log;
}

void pug_log_free(struct pug_log *log)
{
    free(log);
}

void pug_log_set_verbosity(struct pug_log *log, enum pug_severity verbosity)
{
    if (log)
        log->verbosity = verbosity;
}

enum pug_severity pug_log_verbosity(const struct pug_log *log)
{
    return log ? log->verbosity : PUG_SEV_NONE;
}

void pug_log_set_sink(struct pug_log *log, pug_log_fn *sink, void *context)
{
    if (!log)
        return;
    log->sink = sink;
    log->context = context;
}

void pug_log_set_file(struct pug_log *log, FILE *file)
{
    if (log)
        log->file = file;
}

void pug_log_divert(struct pug_log *log, pug_log_fn *function, void *context)
{
    if (!log)
        return;
    log->diverted = function;
    log->diverted_context = context;
}

/** As much as has room; of these there can be millions. */
static void copy_text(char *to, size_t room, const char *text)
{
    struct pug_text copy = PUG_TEXT(to, room);
    pug_text_put(&copy, text ? text : "");
    pug_text_end(&copy);
}

static void keep_last(struct pug_log *log, const struct pug_log_record *record)
{
    log->last = *record;
    copy_text(log->last_component, sizeof(log->last_component), record->component);
    copy_text(log->last_text, sizeof(log->last_text), record->text);
    log->last.component = log->last_component;
    log->last.text = log->last_text;
    log->has_last = true;
}

void pug_log_put(struct pug_log *log, const struct pug_log_record *record)
{
    if (!log)
        return;
    if (log->diverted) {
        log->diverted(log->diverted_context, record);
        return;
    }
    log->errors += record->severity == PUG_SEV_ERROR;
    log->warnings += record->severity == PUG_SEV_WARN;
    if (record->code != PUG_OK)
        keep_last(log, record);
    if (record->severity > log->verbosity)
        return;
    if (log->sink)
        log->sink(log->context, record);
    if (log->file) {
        char text[512];
        pug_log_text(record, text, sizeof(text));
        fprintf(log->file, "%s\n", text);
    }
}

const struct pug_log_record *pug_log_last(const struct pug_log *log)
{
    return log && log->has_last ? &log->last : NULL;
}

uint64_t pug_log_errors(const struct pug_log *log)
{
    return log ? log->errors : 0;
}

uint64_t pug_log_warnings(const struct pug_log *log)
{
    return log ? log->warnings : 0;
}

size_t pug_log_text(const struct pug_log_record *record, char *buffer, size_t size)
{
    static const char *const names[] = {"", "error: ", "warning: ", ""};
    char where[64] = "";
    size_t at = 0;
    if (record->source != PUG_NO_SOURCE)
        at += (size_t)snprintf(where, sizeof(where), "source 0x%x, ", record->source);
    if (record->index != PUG_NO_INDEX)
        snprintf(where + at, sizeof(where) - at, "offset %llu, ",
                 (unsigned long long)record->index);
    const char *severity = record->severity <= PUG_SEV_INFO ? names[record->severity] : "";
    const char *text = record->text ? record->text : "";
    const char *code = record->code != PUG_OK ? pug_status_text(record->code) : "";
    size_t length = strcspn(text, "\r\n");
    int n = snprintf(buffer, size, "%s%s%s: %s%s%.*s", severity, where,
                     record->component ? record->component : "", code, *code && length ? ": " : "",
                     (int)length, text);
    if (n >= 0 && size > 0)
        pug_text_tame(buffer, strlen(buffer));
    return n < 0 ? 0 : (size_t)n;
}
