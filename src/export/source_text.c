// SPDX-License-Identifier: MIT
/**
 * @file Debug information may name any file of the machine that a page is made on, and the page
 * goes to somebody else. So a file's text is taken only from below folders that the options name,
 * where its path lies after all links in it are resolved.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "export/source_text.h"

#include "files/infile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SEPARATORS "/\\"

static bool separates(char byte)
{
#ifdef _WIN32
    return byte == '/' || byte == '\\';
#else
    return byte == '/';
#endif
}

/** The part of a path below a folder; NULL: it lies elsewhere. */
static const char *below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 0 && separates(folder[length - 1]))
        length--;
    return strncmp(path, folder, length) == 0 && separates(path[length]) ? path + length : NULL;
}

/** Does a component begin with a dot? Those that lead nowhere or up do not count. */
static bool is_hidden(const char *path)
{
    for (; *path; path += strcspn(path, SEPARATORS)) {
        path += strspn(path, SEPARATORS);
        const size_t length = strcspn(path, SEPARATORS);
        const bool step = length > 0 && length <= 2 && strspn(path, ".") >= length;
        if (*path == '.' && !step)
            return true;
    }
    return false;
}

/** Lies a file, called `path` and with all links resolved `real`, below a folder? */
static bool is_in(const char *path, const char *real, const char *folder)
{
    char *resolved = realpath(folder, NULL);
    const char *rest = resolved ? below(real, resolved) : NULL;
    const char *named = !resolved || !separates(*path) ? path : below(path, resolved);
    const bool in = rest && !is_hidden(rest) && !(named && is_hidden(named));
    free(resolved);
    return in;
}

static bool is_in_any(const char *path, const char *real, const char *const *folders, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_in(path, real, folders[i]))
            return true;
    return false;
}

static bool may_show(const struct pug_report *report, const char *path)
{
    char *real = realpath(path, NULL);
    const bool may =
        real && (is_in_any(path, real, report->source_dirs, report->source_dir_count) ||
                 is_in_any(path, real, report->permitted_dirs, report->permitted_dir_count));
    free(real);
    return may;
}

/** UTF-8 without control characters, but for those that part lines and words. */
static bool is_text(const uint8_t *bytes, size_t size)
{
    const char *at = (const char *)bytes, *end = at + size;
    while (at < end) {
        const unsigned length = pug_utf8_length(at);
        if (length == 0 || ((uint8_t)*at < ' ' && !strchr("\t\n\v\f\r", *at)) || *at == 0x7f)
            return false;
        at += length;
    }
    return true;
}

static bool load(const char *path, size_t most, uint8_t **bytes, size_t *size)
{
    struct stat status;
    if (pug_infile_load(path, most, bytes, size) == PUG_OK) {
        if (is_text(*bytes, *size))
            return true;
        free(*bytes);
    } else if (stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
               (uintmax_t)status.st_size > most) {
        *size = SIZE_MAX;
        return false;
    }
    *bytes = NULL;
    *size = 0;
    return false;
}

static void withhold(const struct pug_report *report, const char *path)
{
    struct pug_report_withheld *withheld = report ? report->withheld : NULL;
    struct stat status;
    if (!withheld || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    if (withheld->count++ == 0)
        snprintf(withheld->first, sizeof(withheld->first), "%s", path);
}

/** With as much of its path as exists below a folder. */
static bool load_moved(const struct pug_report *report, const char *folder, const char *path,
                       size_t most, uint8_t **bytes, size_t *size)
{
    char place[4096];
    for (const char *rest = path; rest; rest = strchr(rest, '/')) {
        rest += strspn(rest, "/");
        if (!*rest || strncmp(rest, "../", 3) == 0 || strstr(rest, "/../") || is_hidden(rest))
            continue;
        const int length = snprintf(place, sizeof(place), "%s/%s", folder, rest);
        if (length > 0 && (size_t)length < sizeof(place) && may_show(report, place) &&
            (load(place, most, bytes, size) || *size > 0))
            return *size != SIZE_MAX;
    }
    return false;
}

bool pug_export_source(const struct exporter *exporter, const char *path, size_t most,
                       uint8_t **bytes, size_t *size)
{
    const struct pug_report *report = exporter->options->report;
    *size = 0;
    if (report && may_show(report, path))
        return load(path, most, bytes, size);
    for (size_t i = 0; report && i < report->source_dir_count; i++)
        if (load_moved(report, report->source_dirs[i], path, most, bytes, size))
            return true;
    if (*size == 0)
        withhold(report, path);
    return false;
}
