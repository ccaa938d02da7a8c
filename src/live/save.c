// SPDX-License-Identifier: MIT
/** @file The files that keep a live input's bytes: one for each connection. */
#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool is_folder(const char *path)
{
    const size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/';
}

void pug_live_connection_file(size_t n, char *name, size_t size)
{
    snprintf(name, size, "connection_%zu.bin", n + 1);
}

/** FILE, FILE.2 and so on; or files of a folder, which is made. */
static void name_file(const char *path, unsigned number, char *name, size_t size)
{
    char file[64];
    if (is_folder(path)) {
        pug_live_connection_file(number - 1, file, sizeof(file));
        snprintf(name, size, "%s%s", path, file);
    } else if (number < 2) {
        snprintf(name, size, "%s", path);
    } else {
        snprintf(name, size, "%s.%u", path, number);
    }
}

/** The folder's list has one more. False: no memory. */
static bool add_connection(struct pug_live_save *save)
{
    if (save->count == save->room) {
        const size_t room = save->room ? 2 * save->room : 16;
        struct pug_live_connection *grown = realloc(save->connections, room * sizeof(*grown));
        if (!grown)
            return false;
        save->connections = grown;
        save->room = room;
    }
    save->connections[save->count++] = (struct pug_live_connection){.began = clock_now()};
    return true;
}

bool pug_live_save_begin(struct pug_live_save *save, unsigned number, char *why, size_t size)
{
    char name[4096 + 64];
    struct stat status;
    if (!save->path || save->failed)
        return true;
    const bool folder = is_folder(save->path);
    name_file(save->path, number, name, sizeof(name));
    if (folder && number == 1)
        (void)mkdir(save->path, 0777);
    save->reads_back = stat(name, &status) != 0 || S_ISREG(status.st_mode);
    save->file =
        open(name, (save->reads_back ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (save->file >= 0 && (!folder || add_connection(save)))
        return true;
    snprintf(why, size, "--save %s: %s: the bytes are not saved", name, strerror(errno));
    save->failed = true;
    return false;
}

void pug_live_save_end(struct pug_live_save *save, uint64_t bytes)
{
    if (save->file < 0)
        return;
    if (save->reads_back && save->failed && ftruncate(save->file, (off_t)bytes) != 0)
        errno = 0; /* a part of what did not fit stays */
    close(save->file);
    save->file = -1;
    if (save->count == 0)
        return;
    save->connections[save->count - 1].ended = clock_now();
    save->connections[save->count - 1].bytes = bytes;
}
