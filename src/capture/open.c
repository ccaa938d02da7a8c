// SPDX-License-Identifier: MIT
/** @file Recognising an input by what it holds. */
#include "capture/capture.h"

#include <errno.h>
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

static enum pug_status recognise(struct pug_capture *capture)
{
    struct stat place;
    const bool described = capture->options.protocol || capture->options.params;
    const bool standard = strcmp(capture->path, "-") == 0;
    if (!standard && stat(capture->path, &place) != 0)
        return pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path,
                               strerror(errno)),
               PUG_ERR_FILE;
    if (standard || S_ISFIFO(place.st_mode) || S_ISCHR(place.st_mode))
        capture->kind = PUG_CAPTURE_STREAM;
    if (described)
        return pug_capture_open_raw(capture);
    char *folder = capture->kind == PUG_CAPTURE_STREAM ? NULL : folder_of(capture->path);
    const bool other = folder && strcmp(folder, capture->path) != 0;
    free(folder);
    if (capture->kind != PUG_CAPTURE_STREAM && (S_ISDIR(place.st_mode) || other))
        return open_folder(capture);
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK,
                    "%s: no snapshot; a single file of trace needs --protocol or --params",
                    capture->path);
    return PUG_ERR_NOT_FOUND;
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
    struct pug_capture *capture = calloc(1, sizeof(*capture));
    if (!capture)
        return PUG_ERR_MEM;
    pthread_mutex_init(&capture->lock, NULL);
    capture->options = *options;
    capture->log = options->log;
    capture->path = strdup(input);
    enum pug_status status = capture->path ? recognise(capture) : PUG_ERR_MEM;
    if (status == PUG_OK)
        *out = capture;
    else
        pug_capture_free(capture);
    return status;
}
