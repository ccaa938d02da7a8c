// SPDX-License-Identifier: MIT
/** @file What the files of `pugmark record` share. */
#ifndef PUGMARK_TOOL_RECORDING_H
#define PUGMARK_TOOL_RECORDING_H

#include "common/progress.h"
#include "files/outfile.h"
#include "record_filter.h"
#include "record_options.h"
#include "recorder/recording_folder.h"
#include "recorder/session.h"

/** A recording underway. */
struct record {
    const struct record_options *options;
    const struct rec_unit_class *unit;
    uint64_t values[REC_OPTIONS];
    struct record_filter filter;
    struct rec_session *session;
    struct rec_path_writer *writer; /* where the path alone is wanted */
    struct pug_outfile *path;       /* of the writer, or of the session */
    struct rec_folder *folder;      /* of the session, or of a script */
    bool begun;                     /* there is a path, or was */
    bool stopped;                   /* no more is wanted */
    bool misused;                   /* an option is wrong: that was said */
    bool m_core;                    /* --core names one without A32 */
    uint64_t items;
    uint64_t instructions; /* where the path alone is wanted */
    FILE *log;             /* that is read; or NULL */
    struct progress log_progress;
};

/** Says why something cannot be. Returns false. */
bool record_refuse(const char *what, const char *why);

/** Where the trace goes: a folder or a perf.data; NULL: no trace is made. */
const char *record_target(const struct record_options *options);

/** The name of the path beside the recording's files; NULL: it goes elsewhere, or nowhere. */
const char *record_path_within(const struct record *record);

/* ---- record_end.c ---- */

/** Puts the folder where it belongs; false, having said why. */
bool record_commit_folder(struct record *record);
/** Puts a path that was wanted alone where it belongs. `whole`: the input was read to its end. */
bool record_end_path(struct record *record, bool whole);
/** Puts trace and path where they belong, and says what was recorded. */
bool record_end_session(struct record *record, bool whole);
/** Discards what was not committed. */
void record_release(struct record *record);

#endif
