// SPDX-License-Identifier: MIT
#include "files/roots.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many links as the kernel follows. */
#define MOST_LINKS 40u

struct way {
    const char *root;
    char done[PATH_MAX]; /* after the root: "/a/b" */
    char rest[PATH_MAX]; /* that is still to go */
    unsigned links;
};

/** Put what a link says in front of the rest. */
static bool follow(struct way *way, const char *link)
{
    char rest[PATH_MAX];
    const int length = snprintf(rest, sizeof(rest), "%s/%s", link, way->rest);
    if (++way->links > MOST_LINKS || length < 0 || (size_t)length >= sizeof(rest))
        return false;
    memcpy(way->rest, rest, (size_t)length + 1);
    if (*link == '/')
        way->done[0] = 0;
    return true;
}

/** One component further; false: it cannot be. */
static bool step(struct way *way, const char *name, size_t length)
{
    char path[2 * PATH_MAX], link[PATH_MAX];
    if (length == 1 && name[0] == '.')
        return true;
    if (length == 2 && memcmp(name, "..", 2) == 0) {
        char *slash = strrchr(way->done, '/');
        if (slash)
            *slash = 0;
        return true;
    }
    const size_t at = strlen(way->done);
    if (at + 1 + length >= sizeof(way->done))
        return false;
    const int written =
        snprintf(path, sizeof(path), "%s%s/%.*s", way->root, way->done, (int)length, name);
    if (written < 0 || (size_t)written >= sizeof(path))
        return false;
    const ssize_t size = readlink(path, link, sizeof(link) - 1);
    if (size > 0) {
        link[size] = 0;
        return follow(way, link);
    }
    way->done[at] = '/';
    memcpy(way->done + at + 1, name, length);
    way->done[at + 1 + length] = 0;
    return true;
}

size_t pug_root_resolve(const char *root, const char *path, char *buffer, size_t size)
{
    struct way way = {.root = root && strcmp(root, "/") != 0 ? root : ""};
    char name[NAME_MAX + 1];
    const size_t path_length = strlen(path);
    if (!root || path_length >= sizeof(way.rest))
        return 0;
    memcpy(way.rest, path, path_length + 1);
    for (;;) {
        const size_t skip = strspn(way.rest, "/"), length = strcspn(way.rest + skip, "/");
        if (length == 0)
            break;
        if (length >= sizeof(name))
            return 0;
        memcpy(name, way.rest + skip, length);
        memmove(way.rest, way.rest + skip + length, strlen(way.rest + skip + length) + 1);
        if (!step(&way, name, length))
            return 0;
    }
    const int written = snprintf(buffer, size, "%s%s", way.root, way.done);
    return written < 0 || (size_t)written >= size ? 0 : (size_t)written;
}

size_t pug_root_resolve_packed(const char *root, const char *path, char *buffer, size_t size)
{
    const char *mark = strstr(path, "!/");
    char *archive = mark ? strndup(path, (size_t)(mark - path)) : NULL;
    if (!archive)
        return mark ? 0 : pug_root_resolve(root, path, buffer, size);
    const size_t length = pug_root_resolve(root, archive, buffer, size);
    free(archive);
    const size_t rest = strlen(mark);
    if (length == 0 || rest >= size - length)
        return 0;
    memcpy(buffer + length, mark, rest + 1);
    return length + rest;
}

/* ---- searching folders ---- */

bool pug_root_is_folder(const char *path)
{
    DIR *stream = opendir(path);
    if (stream)
        closedir(stream);
    return stream != NULL;
}

#define MOST_DEPTH 32u
#define MOST_FILES 1000000u

struct search {
    const char *folder, *name;
    enum pug_root_links links;
    pug_root_found_fn *found;
    void *context;
    size_t files;
    bool done, outside; /* outside: below a link that leads out of the folder */
};

static void search_folder(struct search *search, const char *folder, unsigned depth);

static void take_file(struct search *search, const char *path, const char *file)
{
    const char *slash = strrchr(path, '/');
    if (!search->name || strcmp(slash ? slash + 1 : path, search->name) == 0)
        search->done = search->found(search->context, path, file);
}

/** What a link leads to within the folder is searched anyway, if it is a folder. */
static void search_link(struct search *search, const char *path, unsigned depth)
{
    char file[PATH_MAX];
    struct stat status;
    if (search->links != PUG_ROOT_NO_LINKS &&
        pug_root_resolve(search->folder, path + strlen(search->folder), file, sizeof(file)) > 0 &&
        lstat(file, &status) == 0) {
        if (S_ISREG(status.st_mode))
            take_file(search, path, file);
        return;
    }
    if (search->links != PUG_ROOT_LINKS || stat(path, &status) != 0)
        return;
    if (S_ISREG(status.st_mode))
        take_file(search, path, path);
    if (!S_ISDIR(status.st_mode) || search->outside || depth >= MOST_DEPTH)
        return; /* links to folders that follow one may go in a circle */
    search->outside = true;
    search_folder(search, path, depth + 1);
    search->outside = false;
}

static void search_entry(struct search *search, const char *folder, const char *name,
                         unsigned depth)
{
    char path[PATH_MAX];
    struct stat status;
    const int written = snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (written < 0 || (size_t)written >= sizeof(path) || lstat(path, &status) != 0)
        return;
    if (S_ISDIR(status.st_mode) && depth < MOST_DEPTH)
        search_folder(search, path, depth + 1);
    else if (S_ISREG(status.st_mode))
        take_file(search, path, path);
    else
        search_link(search, path, depth); /* or what is never opened */
}

static void search_stream(struct search *search, DIR *stream, const char *folder, unsigned depth)
{
    const struct dirent *entry;
    while (!search->done && search->files <= MOST_FILES && (entry = readdir(stream)) != NULL) {
        search->files++;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            search_entry(search, folder, entry->d_name, depth);
    }
    closedir(stream);
}

static void search_folder(struct search *search, const char *folder, unsigned depth)
{
    DIR *stream = opendir(folder);
    if (stream)
        search_stream(search, stream, folder, depth);
}

enum pug_status pug_root_search(const char *folder, const char *name, enum pug_root_links links,
                                pug_root_found_fn *found, void *context)
{
    struct search search = {
        .folder = folder, .name = name, .links = links, .found = found, .context = context};
    DIR *stream = opendir(folder);
    if (!stream)
        return PUG_ERR_FILE;
    search_stream(&search, stream, folder, 0);
    return search.files > MOST_FILES ? PUG_ERR_LIMIT : PUG_OK;
}
