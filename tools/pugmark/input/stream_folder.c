// SPDX-License-Identifier: MIT
#include "stream_folder.h"
#include "common/messages.h"

#include "common/command.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- signals ---- */

typedef void handler(int number);

/** Those that end the process, and what was there for them. */
static const int numbers[] = {
    SIGINT,
    SIGTERM,
#ifdef SIGHUP
    SIGHUP,
#endif
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
static handler *before[NUMBERS];

/* What a signal's handler removes: it may not look what is in the folder. */
static char doomed[4096];             /* the folder, followed by the name of one of its files */
static size_t doomed_size;            /* of the folder's own */
static char metadata[32];             /* beside `metadata`, where files have names from the start */
static volatile sig_atomic_t streams; /* numbers of streams are below this */
static volatile sig_atomic_t is_removing; /* no stream is made any more */

static void remove_one(const char *name)
{
    size_t at = doomed_size;
    doomed[at++] = '/';
    while (*name && at + 1 < sizeof(doomed))
        doomed[at++] = *name++;
    doomed[at] = 0;
    (void)unlink(doomed);
    doomed[doomed_size] = 0;
}

static void remove_stream(unsigned number)
{
    char name[24] = "stream_";
    char digits[12];
    size_t count = 0, at = strlen(name);
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count > 0)
        name[at++] = digits[--count];
    name[at] = 0;
    remove_one(name);
}

/** Another thread may be about to make one more stream: it is tried so often. */
#define TRIES 1000

static void on_signal(int number)
{
    is_removing = 1;
    for (int tries = 0; tries < TRIES; tries++) {
        for (int stream = 0; stream < streams; stream++)
            remove_stream((unsigned)stream);
        remove_one("metadata");
        remove_one(metadata);
        if (rmdir(doomed) == 0 || access(doomed, F_OK) != 0)
            break;
    }
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i] == number)
            signal(number, before[i]);
    raise(number); /* comes when this has returned */
}

static void watch(const struct stream_folder *folder)
{
    snprintf(doomed, sizeof(doomed), "%s", folder->path);
    doomed_size = strlen(doomed);
    snprintf(metadata, sizeof(metadata), "metadata.%lx.0", (long)getpid());
    streams = 0;
    is_removing = 0;
    for (size_t i = 0; i < NUMBERS; i++) {
        before[i] = signal(numbers[i], on_signal);
        if (before[i] == SIG_IGN)
            signal(numbers[i], SIG_IGN);
    }
}

static void watch_no_more(void)
{
    for (size_t i = 0; i < NUMBERS; i++)
        signal(numbers[i], before[i]);
}

/* ---- the folder ---- */

bool stream_folder_append(void *context, uint32_t stream, const void *bytes, size_t size)
{
    struct stream_folder *folder = context;
    const int length =
        snprintf(folder->name, sizeof(folder->name), "%s/stream_%" PRIu32, folder->path, stream);
    if ((uint64_t)stream + 1 > (uint64_t)streams)
        streams = (sig_atomic_t)(stream + 1);
    FILE *file =
        (size_t)length < sizeof(folder->name) && !is_removing ? fopen(folder->name, "ab") : NULL;
    bool good = file && fwrite(bytes, 1, size, file) == size;
    good = file && fclose(file) == 0 && good;
    if (!good && !folder->error)
        folder->error = errno;
    return good;
}

/** A new folder: streams are appended to, so what is there already would be mixed with them. */
bool stream_folder_make(struct stream_folder *folder)
{
    const int length =
        snprintf(folder->path, sizeof(folder->path), "%s.%lx", folder->target, (long)getpid());
    errno = EEXIST;
    if (length < (int)sizeof(folder->path) && access(folder->target, F_OK) != 0 &&
        errno == ENOENT) {
        watch(folder);
        if (mkdir(folder->path, 0777) == 0)
            return true;
        const int why = errno;
        watch_no_more();
        errno = why;
    }
    message_say("pugmark: %s: %s\n", folder->target, strerror(errno ? errno : EEXIST));
    return false;
}

static void remove_all(const struct stream_folder *folder)
{
    char name[5000];
    DIR *open = opendir(folder->path);
    for (const struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        snprintf(name, sizeof(name), "%s/%s", folder->path, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)remove(name);
    }
    if (open)
        closedir(open);
    (void)rmdir(folder->path);
}

int stream_folder_end(struct stream_folder *folder, int code)
{
    bool good = code != EXIT_INPUT && rename(folder->path, folder->target) == 0;
    if (!good && code != EXIT_INPUT)
        message_say("pugmark: %s: %s\n", folder->target, strerror(errno));
    if (!good)
        remove_all(folder);
    watch_no_more();
    return good ? code : EXIT_INPUT;
}
