// SPDX-License-Identifier: MIT
/**
 * @file Paths of sources as a coverage report has them: without steps that lead nowhere, with what
 * --path-map says in the place of their begin.
 */
#include "export/coverage.h"

#include "pugmark/names.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096u

/** "/a/./b/../c//d" becomes "/a/c/d"; ".." at the begin of a relative path stays. */
static void walk(const char *path, char *out)
{
    const bool absolute = *path == '/';
    size_t length = 0, fixed = 0; /* `fixed`: what ".." cannot take back */
    if (absolute)
        out[length++] = '/';
    fixed = length;
    while (*path) {
        path += strspn(path, "/");
        const size_t size = strcspn(path, "/");
        if (size == 2 && path[0] == '.' && path[1] == '.' && (length > fixed || absolute)) {
            while (length > fixed && out[length - 1] != '/')
                length--;
            if (length > fixed)
                length--;
        } else if (size > 0 && !(size == 1 && path[0] == '.')) {
            if (length > 0 && out[length - 1] != '/')
                out[length++] = '/';
            memcpy(out + length, path, size);
            length += size;
            if (size == 2 && path[0] == '.' && path[1] == '.')
                fixed = length;
        }
        path += size;
    }
    if (length == 0)
        out[length++] = '.';
    out[length] = 0;
}

/** "OLD=NEW": the begin OLD, which ends where a name does, becomes NEW. False: it has another. */
static bool map(const char *rule, const char *path, char *out)
{
    const char *equal = strchr(rule, '=');
    size_t length = equal ? (size_t)(equal - rule) : 0;
    while (length > 1 && rule[length - 1] == '/')
        length--;
    if (length == 0 || strncmp(path, rule, length) != 0 ||
        (path[length] != '/' && path[length] != 0 && rule[length - 1] != '/'))
        return false;
    const char *begin = equal + 1, *rest = path + length;
    rest += !*begin && *rest == '/'; /* OLD= makes it relative */
    const int size = snprintf(out, PATH_SIZE, "%s%s", begin, rest);
    return size >= 0 && (size_t)size < PATH_SIZE;
}

const char *pug_coverage_path(const struct exporter *exporter, const char *path)
{
    const struct pug_export_options *options = exporter->options;
    char plain[PATH_SIZE], mapped[PATH_SIZE];
    if (strlen(path) + 2 >= PATH_SIZE)
        return path;
    walk(path, plain);
    const char *result = plain;
    for (size_t i = 0; i < options->path_map_count && result == plain; i++)
        if (map(options->path_map[i], plain, mapped))
            result = mapped;
    if (strcmp(result, path) == 0)
        return path;
    const char *kept = pug_names_keep(options->names, result, strlen(result));
    return kept ? kept : path;
}
