// SPDX-License-Identifier: MIT
/** @file The end of a recording: what was made goes where it belongs, or is discarded. */
#include "common/messages.h"
#include "recording.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

bool record_refuse(const char *what, const char *why)
{
    message_say("pugmark: %s: %s\n", what, why);
    return false;
}

const char *record_target(const struct record_options *options)
{
    return options->perf ? options->perf : options->out;
}

const char *record_path_within(const struct record *record)
{
    const char *path = record->options->path;
    return record->folder && path ? rec_folder_holds(record->folder, path) : NULL;
}

/**
 * What was recorded before the input turned out to be damaged is worth having, but not in place of
 * what was there. False, having said so: it is left as it was.
 */
static bool may_replace(const struct record *record, bool whole)
{
    const struct record_options *options = record->options;
    struct stat status;
    const char *kept = NULL;
    if (whole)
        return true;
    if (record->folder && rec_folder_is_used(record->folder))
        kept = options->out;
    else if (options->perf && stat(options->perf, &status) == 0 && S_ISREG(status.st_mode))
        kept = options->perf;
    else if (options->path && !record_path_within(record) && stat(options->path, &status) == 0 &&
             S_ISREG(status.st_mode))
        kept = options->path;
    return !kept || record_refuse(kept, "left as it was, since the input is not whole");
}

static bool commit_path(struct record *record)
{
    struct pug_outfile *path = record->path;
    record->path = NULL;
    return !path || pug_outfile_commit(path) == PUG_OK ||
           record_refuse(record->options->path, strerror(errno));
}

bool record_end_path(struct record *record, bool whole)
{
    return may_replace(record, whole) &&
           (rec_path_writer_end(record->writer) ||
            record_refuse(record->options->path, strerror(errno))) &&
           commit_path(record);
}

bool record_commit_folder(struct record *record)
{
    char why[512];
    return !record->folder || rec_folder_commit(record->folder, why, sizeof(why)) ||
           record_refuse(record->options->out, why);
}

/** Put what was recorded where it belongs: the path at last, so that it is never alone. */
static bool write_session(struct record *record)
{
    char why[256];
    if (!rec_session_end(record->session, why, sizeof(why)))
        return record_refuse(record_target(record->options), why);
    return record_path_within(record) ? commit_path(record) && record_commit_folder(record)
                                      : record_commit_folder(record) && commit_path(record);
}

static void say_session(const struct record *record)
{
    const struct rec_session_result result = rec_session_result(record->session);
    message_say("pugmark: %" PRIu64 " instructions of %u processor%s, %" PRIu64
                " bytes of trace, in %s\n",
                result.instructions, result.sources, result.sources == 1 ? "" : "s", result.bytes,
                record_target(record->options));
    if (result.lost)
        message_say("pugmark: %" PRIu64 " overflows\n", result.lost);
    if (result.buffers > 1)
        message_say("pugmark: code changed: there are %u buffers, one for each version\n",
                    result.buffers);
    if (record->filter.placed && !record->options->perf && result.programs == 0)
        message_say("pugmark: its functions have names with --elf %s%s%.0" PRIx64 "\n",
                    record->filter.program, record->filter.bias ? "@0x" : "", record->filter.bias);
}

bool record_end_session(struct record *record, bool whole)
{
    const bool good = may_replace(record, whole) && write_session(record);
    if (good && !record->options->quiet)
        say_session(record);
    if (good && rec_session_result(record->session).left_out)
        message_say("pugmark: there are more processors than ids; some are not traced\n");
    return good;
}

void record_release(struct record *record)
{
    rec_session_free(record->session);
    rec_path_writer_free(record->writer);
    pug_outfile_abandon(record->path);
    rec_folder_free(record->folder);
}
