// SPDX-License-Identifier: MIT
/**
 * @file A signal's handler may not use opendir(). On Linux it reads folders by the system call
 * itself; elsewhere the folder stays when a signal comes.
 */
#define _GNU_SOURCE /* O_DIRECTORY, syscall() */
#include "recorder/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

static char path_of[4096];
static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
static struct sigaction before[NUMBERS];

#ifdef __linux__
/** As the kernel has it. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static void remove_in(int folder, unsigned depth);

static void remove_entry(int folder, const char *name, unsigned depth)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(folder, name, 0) == 0 ||
        depth == 0)
        return;
    const int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0)
        return;
    remove_in(below, depth - 1);
    close(below);
    (void)unlinkat(folder, name, AT_REMOVEDIR);
}

/** Entries that are gone may move others: it is read again until nothing more goes. */
static void remove_in(int folder, unsigned depth)
{
    _Alignas(struct entry) char room[4096];
    for (unsigned pass = 0; pass < 8; pass++) {
        long size, seen = 0;
        (void)lseek(folder, 0, SEEK_SET);
        while ((size = syscall(SYS_getdents64, folder, room, sizeof(room))) > 0) {
            for (long at = 0; at < size; seen++) {
                const struct entry *entry = (const struct entry *)(const void *)(room + at);
                at += entry->length;
                remove_entry(folder, entry->name, depth);
            }
        }
        if (seen <= 2)
            break;
    }
}

void rec_unfinished_remove(const char *path)
{
    const int why = errno;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) {
        remove_in(folder, 1);
        close(folder);
    }
    (void)rmdir(path);
    errno = why;
}

static void remove_now(void)
{
    rec_unfinished_remove(path_of);
}
#else
#include <dirent.h>

static void remove_in(const char *path, unsigned depth)
{
    char name[4096 + 256];
    DIR *stream = opendir(path);
    for (const struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >= (int)sizeof(name) ||
            unlink(name) == 0 || depth == 0)
            continue;
        remove_in(name, depth - 1);
    }
    if (stream)
        closedir(stream);
    (void)rmdir(path);
}

void rec_unfinished_remove(const char *path)
{
    const int why = errno;
    remove_in(path, 1);
    errno = why;
}

static void remove_now(void)
{
}
#endif

static void on_signal(int number)
{
    remove_now();
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i] == number)
            (void)sigaction(number, &before[i], NULL);
    (void)raise(number); /* comes when this has returned */
}

void rec_unfinished_begin(const char *path)
{
    const struct sigaction action = {.sa_handler = on_signal};
    snprintf(path_of, sizeof(path_of), "%s", path);
    for (size_t i = 0; i < NUMBERS; i++)
        if (sigaction(numbers[i], NULL, &before[i]) == 0 && before[i].sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &action, NULL);
}

void rec_unfinished_end(void)
{
    struct sigaction now;
    for (size_t i = 0; i < NUMBERS; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == on_signal)
            (void)sigaction(numbers[i], &before[i], NULL);
}
