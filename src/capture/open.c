// SPDX-License-Identifier: MIT
/** @file Recognising an input by what it holds. */
#include "capture/capture.h"
#include "files/infile.h"
#include "files/roots.h"
#include "live/live.h"
#include "schedule/peers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** The folder: the input, or what its snapshot.ini stands in. NULL: no memory. */
static char *folder_of(const char *path)
{
    static const char name[] = "snapshot.ini";
    size_t length = strlen(path), tail = sizeof(name) - 1;
    bool is_file = length >= tail && strcmp(path + length - tail, name) == 0 &&
                   (length == tail || path[length - tail - 1] == '/');
    if (!is_file)
        return strdup(path);
    return length == tail ? strdup(".") : strndup(path, length - tail);
}

static enum pug_status open_folder(struct pug_capture *capture)
{
    char *folder = folder_of(capture->path);
    enum pug_status status = folder ? pug_capture_open_snapshot(capture, folder) : PUG_ERR_MEM;
    free(folder);
    return status;
}

/* ---- what is in it ---- */

#define HEAD 16u

static enum pug_status refuse(const struct pug_capture *capture, const char *why)
{
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path, why);
    return PUG_ERR_FILE;
}

/** Does a file begin as perf.data do? PUG_ERR_FILE: it cannot be read, errno says why. */
static enum pug_status look_for_perf(const char *path, bool *is_perf)
{
    uint8_t head[HEAD];
    struct pug_infile *file;
    *is_perf = false;
    enum pug_status status = pug_infile_open(path, &file);
    if (status != PUG_OK)
        return status;
    const size_t size = pug_infile_size(file) < HEAD ? (size_t)pug_infile_size(file) : HEAD;
    status = pug_infile_read(file, 0, head, size);
    *is_perf = status == PUG_OK && pug_perf_recognise(head, size);
    const int reason = errno;
    pug_infile_close(file);
    errno = reason;
    return status == PUG_ERR_TRUNCATED ? PUG_OK : status;
}

static enum pug_status open_file(struct pug_capture *capture)
{
    bool is_perf;
    const enum pug_status status = look_for_perf(capture->path, &is_perf);
    if (status == PUG_ERR_FILE)
        return refuse(capture, strerror(errno));
    if (status != PUG_OK)
        return status;
    if (is_perf)
        return pug_perf_open(capture);
    refuse(capture, "no snapshot; a single file of trace needs --protocol or --params");
    return PUG_ERR_NOT_FOUND;
}

/** A snapshot, the directory that `perf record` makes for some of its options, or a trace folder.
 */
static enum pug_status open_any_folder(struct pug_capture *capture)
{
    char path[PATH_MAX];
    bool is_perf;
    const int length = snprintf(path, sizeof(path), "%s/data", capture->path);
    if (length < 0 || (size_t)length >= sizeof(path))
        return open_folder(capture);
    const enum pug_status status = look_for_perf(path, &is_perf);
    if (status == PUG_ERR_MEM)
        return status;
    if (is_perf)
        return pug_perf_open(capture);
    const enum pug_status found = pug_capture_find_ctrace(capture, path, sizeof(path));
    if (found != PUG_ERR_NOT_FOUND)
        return found == PUG_OK ? pug_capture_open_ctrace(capture, path) : found;
    return open_folder(capture);
}

static enum pug_status open_stream(struct pug_capture *capture)
{
    bool perf = false;
    capture->kind = PUG_CAPTURE_STREAM;
    const enum pug_status status = pug_capture_open_stream(capture, &perf);
    if (status != PUG_OK)
        return status;
    return perf ? pug_perf_open(capture) : pug_capture_open_raw(capture);
}

static enum pug_status recognise(struct pug_capture *capture)
{
    struct stat place;
    const bool described = capture->options.protocol || capture->options.params;
    if (strcmp(capture->path, "-") == 0)
        return open_stream(capture);
    const bool there = stat(capture->path, &place) == 0;
    if (pug_live_names(capture->path) && !there)
        return open_stream(capture);
    if (!there)
        return refuse(capture, strerror(errno));
    if (pug_live_names(capture->path))
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: taken for the file of this name, not for the live input",
                        capture->path);
    if (S_ISFIFO(place.st_mode) || S_ISCHR(place.st_mode))
        return open_stream(capture);
    if (described)
        return pug_capture_open_raw(capture);
    if (S_ISDIR(place.st_mode))
        return open_any_folder(capture);
    if (pug_capture_is_ctrace(capture->path))
        return pug_capture_open_ctrace(capture, capture->path);
    char *folder = folder_of(capture->path);
    const bool names_snapshot = folder && strcmp(folder, capture->path) != 0;
    free(folder);
    return names_snapshot ? open_folder(capture) : open_file(capture);
}

/** Report what the options name for programs to be found, and what cannot be opened. */
static void say_missing(const struct pug_capture *capture)
{
    const struct pug_capture_roots *roots = &capture->options.roots;
    const struct {
        const char *path, *what;
    } files[] = {{roots->kernel, "there is no kernel"}, {roots->kallsyms, "there are no symbols"}};
    struct pug_infile *file;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i].path && pug_infile_open(files[i].path, &file) == PUG_OK)
            pug_infile_close(file);
        else if (files[i].path)
            pug_capture_say(capture, PUG_SEV_WARN, PUG_OK, "%s: %s: %s", files[i].path,
                            files[i].what, strerror(errno));
    }
    for (size_t i = 0; i < roots->symdir_count; i++)
        if (!pug_root_is_folder(roots->symdirs[i]))
            pug_capture_say(capture, PUG_SEV_WARN, PUG_OK, "%s: there are no programs: %s",
                            roots->symdirs[i], strerror(errno));
}

enum pug_status pug_capture_open(const char *input, const struct pug_capture_options *options,
                                 struct pug_capture **out)
{
    static const struct pug_capture_options usual;
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!input)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!options)
        options = &usual;
    if (!pug_peers_are_whole(options->peers))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_capture *capture = calloc(1, sizeof(*capture));
    if (!capture)
        return PUG_ERR_MEM;
    pthread_mutex_init(&capture->lock, NULL);
    pthread_mutex_init(&capture->marks_lock, NULL);
    capture->options = *options;
    if (options->quirks)
        capture->quirks = *options->quirks;
    capture->log = options->log;
    capture->path = strdup(input);
    enum pug_status status = capture->path ? recognise(capture) : PUG_ERR_MEM;
    if (status == PUG_OK && capture->starved)
        status = PUG_ERR_MEM;
    if (status == PUG_OK) {
        say_missing(capture);
        *out = capture;
    } else {
        pug_capture_free(capture);
    }
    return status;
}
