// SPDX-License-Identifier: MIT
#include "live_save.h"

#include "capture/capture.h"
#include "common/messages.h"
#include "live/live.h"
#include "record/snapshot_files.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_folder(const char *save)
{
    const size_t length = save ? strlen(save) : 0;
    return length > 0 && save[length - 1] == '/';
}

bool live_save_may(const char *save)
{
    DIR *stream = is_folder(save) ? opendir(save) : NULL;
    bool empty = true;
    for (const struct dirent *entry; stream && (entry = readdir(stream)) != NULL;)
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (stream)
        closedir(stream);
    if (!empty)
        message_say("pugmark: --save %s: the folder holds files; name a new or an empty one\n",
                    save);
    return empty;
}

/** "2026-01-31T12:00:00.123456Z". */
static void put_time(uint64_t time, char *text, size_t size)
{
    const time_t seconds = (time_t)(time / 1000000000u);
    char whole[32] = "";
    const struct tm *parts = gmtime(&seconds);
    if (parts)
        strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", parts);
    snprintf(text, size, "%s.%06uZ", whole, (unsigned)(time % 1000000000u / 1000));
}

struct described {
    char name[32], file[64], times[128];
};

static void describe(const struct pug_live_connection *connection, size_t n,
                     struct described *described)
{
    char began[64], ended[64] = "?";
    put_time(connection->began, began, sizeof(began));
    if (connection->ended)
        put_time(connection->ended, ended, sizeof(ended));
    snprintf(described->name, sizeof(described->name), "connection_%zu", n + 1);
    pug_live_connection_file(n, described->file, sizeof(described->file));
    snprintf(described->times, sizeof(described->times), "%s to %s, %" PRIu64 " bytes", began,
             ended, connection->bytes);
}

void live_save_describe(const struct input *input, const char *folder, const struct pug_live *live)
{
    const struct pug_live_connection *connection;
    size_t count = 0, used = 0;
    while (pug_live_connection_at(live, count))
        count++;
    struct described *described = calloc(count + 1, sizeof(*described));
    struct snapshot_buffer *buffers = calloc(count + 1, sizeof(*buffers));
    for (size_t n = 0; described && buffers && n < count; n++) {
        connection = pug_live_connection_at(live, n);
        if (connection->ended && connection->bytes == 0)
            continue; /* nothing came */
        describe(connection, n, &described[n]);
        buffers[used++] =
            (struct snapshot_buffer){described[n].name, described[n].file, described[n].times};
    }
    if (used > 0)
        (void)snapshot_describe(input, folder, buffers, used, true);
    free(described);
    free(buffers);
}

/** NULL: no folder is asked for, or the input says by itself what it is. */
static struct pug_live *live_of(const struct input *input)
{
    const char *save = input->options->live.save;
    return input->is_stream && is_folder(save) && input->capture &&
                   pug_capture_kind(input->capture) == PUG_CAPTURE_STREAM
               ? input->capture->stream
               : NULL;
}

void live_save_begin(const struct input *input)
{
    const struct pug_live *live = live_of(input);
    if (live && snapshot_copy_programs(input, input->options->live.save))
        live_save_describe(input, input->options->live.save, live);
}

void live_save_end(const struct input *input)
{
    struct pug_live *live = live_of(input);
    if (!live)
        return;
    pug_live_close(live);
    live_save_describe(input, input->options->live.save, live);
}
