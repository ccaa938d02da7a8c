// SPDX-License-Identifier: MIT
/** @file Where separate debug information lies, and how files are opened for the libraries. */
#include "names/names.h"

#include "files/crc32.h"
#include "files/packed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int pug_names_open_regular(const char *path)
{
    struct stat status;
    if (pug_packed_is(path))
        return pug_packed_open(path);
    /* Looked at before it is opened; what became a FIFO since does not hang. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* The regular file of this path, if it is the one meant; the path is kept where it is. */
static int try_file(const char *path, const uint32_t *checksum, char **found)
{
    int file = pug_names_open_regular(path);
    if (file >= 0 && checksum && pug_crc32_of(file) != *checksum) {
        close(file);
        file = -1;
    }
    if (file >= 0 && !(*found = strdup(path))) {
        close(file);
        file = -1;
    }
    return file;
}

static int by_build_id(const struct pug_names *names, const uint8_t *id, size_t size, char **found)
{
    char path[4096], digits[129] = "";
    if (size < 2 || size > 64)
        return -1;
    for (size_t i = 0; i < size; i++)
        snprintf(digits + 2 * i, 3, "%02x", id[i]);
    for (size_t i = 0; i < names->debug_dir_count; i++) {
        if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", names->debug_dirs[i], digits,
                     digits + 2) >= (int)sizeof(path))
            continue;
        int file = try_file(path, NULL, found);
        if (file >= 0)
            return file;
    }
    return -1;
}

static int by_link(const struct pug_names *names, const char *path, const char *link,
                   uint32_t checksum, char **found)
{
    char tried[4096];
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) : 1;
    const char *at = slash ? path : ".";
    if (!*link || strchr(link, '/')) /* the link is a plain name */
        return -1;
    static const char *const beside[] = {"", ".debug/"};
    for (size_t i = 0; i < 2; i++) {
        if (snprintf(tried, sizeof(tried), "%.*s/%s%s", folder, at, beside[i], link) >=
                (int)sizeof(tried) ||
            strcmp(tried, path) == 0)
            continue;
        int file = try_file(tried, &checksum, found);
        if (file >= 0)
            return file;
    }
    for (size_t i = 0; i < names->debug_dir_count; i++) {
        if (snprintf(tried, sizeof(tried), "%s/%.*s/%s", names->debug_dirs[i], folder, at, link) >=
            (int)sizeof(tried))
            continue;
        int file = try_file(tried, &checksum, found);
        if (file >= 0)
            return file;
    }
    return -1;
}

int pug_names_separate(const struct pug_names *names, const char *path, const uint8_t *build_id,
                       size_t build_id_size, const char *link, uint32_t checksum, char **found)
{
    int file = by_build_id(names, build_id, build_id_size, found);
    return file >= 0 || !link ? file : by_link(names, path, link, checksum, found);
}
