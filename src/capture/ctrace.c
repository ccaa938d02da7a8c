// SPDX-License-Identifier: MIT
/**
 * @file Captures that are trace folders of the CMSIS-Toolbox: one channel, SWO or TB, as a file of
 * trace that NAME.ctrace-run.yml describes.
 */
#include "ctrace/ctrace.h"
#include "capture/raw.h"
#include "files/infile.h"
#include "pugmark/author/transport.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUN ".ctrace-run.yml"

bool pug_capture_is_ctrace(const char *path)
{
    const size_t length = strlen(path), tail = sizeof(RUN) - 1;
    return length > tail && strcmp(path + length - tail, RUN) == 0;
}

/* ---- which one ---- */

/** The runs in a folder: the first one's path, and all names. */
struct runs {
    char path[PATH_MAX], names[160];
    unsigned count;
};

static void look_into(struct runs *runs, const char *folder, const char *below)
{
    char path[PATH_MAX];
    const struct dirent *entry;
    if ((size_t)snprintf(path, sizeof(path), "%s%s", folder, below) >= sizeof(path))
        return;
    DIR *open = opendir(path);
    while (open && (entry = readdir(open)) != NULL) {
        const size_t length = strlen(runs->names);
        if (!pug_capture_is_ctrace(entry->d_name))
            continue;
        snprintf(runs->names + length, sizeof(runs->names) - length, " %s", entry->d_name);
        if (runs->count++ == 0 &&
            (size_t)snprintf(runs->path, sizeof(runs->path), "%s%s/%s", folder, below,
                             entry->d_name) >= sizeof(runs->path))
            runs->count = 0;
    }
    if (open)
        closedir(open);
}

static enum pug_status refuse(const struct pug_capture *capture, const char *what)
{
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path, what);
    return PUG_ERR_FILE;
}

enum pug_status pug_capture_find_ctrace(const struct pug_capture *capture, char *path, size_t size)
{
    struct runs runs = {.count = 0};
    char why[400];
    look_into(&runs, capture->path, "");
    if (runs.count == 0)
        look_into(&runs, capture->path, "/.trace");
    if (runs.count == 0)
        return PUG_ERR_NOT_FOUND;
    if (runs.count > 1) {
        snprintf(why, sizeof(why), "there are several captures in it, name one:%s", runs.names);
        return refuse(capture, why);
    }
    return (size_t)snprintf(path, size, "%s", runs.path) < size ? PUG_OK : PUG_ERR_LIMIT;
}

/* ---- its channels ---- */

static const char *const channels[] = {"SWO", "TB"};
#define CHANNELS (sizeof(channels) / sizeof(channels[0]))
/** The Event Recorder's, which is no trace. */
#define EVENTS "ER"

/** The file of a channel; false: there is none. */
static bool channel_file(const char *run, const char *channel, char *path, size_t size)
{
    struct stat place;
    const int length = (int)(strlen(run) - (sizeof(RUN) - 1));
    return (size_t)snprintf(path, size, "%.*s.%s.raw", length, run, channel) < size &&
           stat(path, &place) == 0;
}

/** The channel that is asked for, or the first one that is there. */
static enum pug_status choose_channel(struct pug_capture *capture, const char *run, char *path,
                                      size_t size)
{
    struct pug_capture_raw *raw = capture->own;
    const char *wanted = capture->options.buffer;
    char others[PATH_MAX];
    for (size_t i = 0; i < CHANNELS; i++) {
        if (wanted && strcmp(wanted, channels[i]) != 0)
            continue;
        if (!raw->channel && channel_file(run, channels[i], path, size))
            raw->channel = channels[i];
        else if (raw->channel && channel_file(run, channels[i], others, sizeof(others)))
            pug_capture_say(capture, PUG_SEV_INFO, PUG_OK, "%s: there is %s, too (--buffer %s)",
                            capture->path, channels[i], channels[i]);
    }
    if (wanted && strncmp(wanted, "TB_", 3) == 0 && channel_file(run, wanted, path, size))
        raw->channel = wanted; /* one of several buffers */
    const bool events = channel_file(run, EVENTS, others, sizeof(others));
    if (raw->channel)
        return PUG_OK;
    if (events && (!wanted || strcmp(wanted, EVENTS) == 0))
        return refuse(capture, "NAME.ER.raw holds records of the Event Recorder, which are written "
                               "by software into memory and are no trace; CMSIS-View's eventlist "
                               "reads such records");
    return refuse(capture, "no NAME.SWO.raw or NAME.TB.raw lies beside its NAME.ctrace-run.yml, or "
                           "not the one that is asked for");
}

/** Frames, packets, or memory of an MTB? `buffer`: it is of no pin. */
static enum pug_status look_at(struct pug_capture *capture, const char *path, bool buffer)
{
    const struct pug_capture_raw *raw = capture->own;
    const enum pug_ctrace_framing told = raw->ctrace->framing;
    uint8_t head[4096];
    struct pug_infile *file;
    enum pug_status status = pug_infile_open(path, &file);
    if (status != PUG_OK)
        return refuse(capture, strerror(errno));
    const uint64_t all = pug_infile_size(file);
    const size_t size = all < sizeof(head) ? (size_t)all : sizeof(head);
    status = pug_infile_read(file, 0, head, size);
    pug_infile_close(file);
    if (status != PUG_OK)
        return refuse(capture, pug_status_text(status));
    const bool mtb = buffer && told != PUG_CTRACE_FRAMES && pug_ctrace_is_mtb(head, size);
    const bool framed =
        !mtb && (told == PUG_CTRACE_FRAMES ||
                 (told == PUG_CTRACE_UNTOLD && (buffer || pug_ctrace_is_framed(head, size))));
    capture->options.protocol = mtb ? "MTB" : "ITM";
    capture->options.transport = framed ? "coresight" : NULL;
    return PUG_OK;
}

/* ---- opening ---- */

enum pug_status pug_capture_open_ctrace(struct pug_capture *capture, const char *run)
{
    char path[PATH_MAX], why[160], message[PATH_MAX];
    struct pug_capture_raw *raw = pug_capture_raw_new(capture);
    if (!raw || !(raw->ctrace = calloc(1, sizeof(*raw->ctrace))))
        return PUG_ERR_MEM;
    if (!pug_ctrace_read(run, raw->ctrace, why, sizeof(why))) {
        snprintf(message, sizeof(message), "%.400s: %s", run, why);
        return refuse(capture, message);
    }
    enum pug_status status = choose_channel(capture, run, path, sizeof(path));
    if (status != PUG_OK)
        return status;
    raw->file = pug_capture_keep(capture, path, sizeof(path));
    status = look_at(capture, path, strncmp(raw->channel, "TB", 2) == 0);
    return status == PUG_OK ? pug_capture_open_raw(capture) : status;
}

/** SWO is of one processor: the first of which something is traced. */
const struct pug_ctrace_processor *pug_capture_ctrace_first(const struct pug_ctrace *ctrace)
{
    for (size_t i = 0; i < ctrace->count; i++)
        if (ctrace->processors[i].traced)
            return &ctrace->processors[i];
    return ctrace->count > 0 ? &ctrace->processors[0] : NULL;
}

bool pug_capture_ctrace_wants(const struct pug_ctrace *ctrace, uint16_t id)
{
    bool told = false;
    for (size_t i = 0; i < ctrace->count; i++) {
        told |= ctrace->processors[i].has_stream;
        if (ctrace->processors[i].has_stream && ctrace->processors[i].stream == id)
            return true;
    }
    return !told && id > 0 && id < 0x70; /* others are no sources */
}

/** The processor of an id, or, without ids, the n-th one. */
static const struct pug_ctrace_processor *processor_of(const struct pug_ctrace *ctrace, uint16_t id,
                                                       size_t n)
{
    for (size_t i = 0; i < ctrace->count; i++)
        if (ctrace->processors[i].has_stream && ctrace->processors[i].stream == id)
            return &ctrace->processors[i];
    return n < ctrace->count ? &ctrace->processors[n] : NULL;
}

size_t pug_capture_ctrace_settings(const struct pug_capture_raw *raw, uint16_t id, size_t n,
                                   struct pug_setting items[PUG_CAPTURE_CTRACE_SETTINGS])
{
    static const char *const names[PUG_CTRACE_COMPARATORS] = {"DWT_COMP0", "DWT_COMP1", "DWT_COMP2",
                                                              "DWT_COMP3"};
    const struct pug_ctrace_processor *processor = raw->transport->single
                                                       ? pug_capture_ctrace_first(raw->ctrace)
                                                       : processor_of(raw->ctrace, id, n);
    size_t count = 0;
    const uint32_t prescaler = processor ? processor->prescaler : 0;
    items[count++] = (struct pug_setting){.name = "ITMTCR",
                                          .value = (uint32_t)(id & 0x7f) << 16 | prescaler << 8};
    for (unsigned i = 0; processor && i < PUG_CTRACE_COMPARATORS; i++)
        if (processor->comparator_set >> i & 1)
            items[count++] =
                (struct pug_setting){.name = names[i], .value = processor->comparators[i]};
    return count;
}
