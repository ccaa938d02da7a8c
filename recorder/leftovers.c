// SPDX-License-Identifier: MIT
#include "recorder/leftovers.h"

#include "snapshot/ini.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST   ((size_t)64 << 20) /* of a description */
#define FOLDER    "program_"         /* and a number: what a program's copy is in */
#define SIGNATURE "made by pugmark record"

/** Does a recording write such a name? It may be listed because somebody has added it. */
static bool is_own_name(const char *name)
{
    static const char *const begins[] = {"trace", "cpu_", "memory_"};
    const char *slash = strchr(name, '/');
    if (slash)
        return strncmp(name, FOLDER, strlen(FOLDER)) == 0 && slash[1] && slash[1] != '.' &&
               !strchr(slash + 1, '/') &&
               strspn(name + strlen(FOLDER), "0123456789") ==
                   (size_t)(slash - name) - strlen(FOLDER);
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static void add(struct rec_listed *listed, const char *name)
{
    if (!is_own_name(name))
        return;
    if (listed->count == listed->room) {
        size_t room = listed->room * 2 + 16;
        char **grown = realloc(listed->names, room * sizeof(*grown));
        if (!grown)
            return; /* it stays, that is all */
        listed->names = grown;
        listed->room = room;
    }
    char *copy = strdup(name);
    if (copy)
        listed->names[listed->count++] = copy;
}

/** Keys whose values are files' names, of one of the descriptions; `device1` is `device` here. */
static bool names_file(const char *key)
{
    static const char *const keys[] = {"device", "file", "metadata"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        size_t length = strlen(keys[i]);
        if (strncmp(key, keys[i], length) == 0 &&
            key[length + strspn(key + length, "0123456789")] == 0)
            return true;
    }
    return false;
}

/** False: it is no description of a recording. */
static bool read_description(struct rec_listed *listed, const char *folder, const char *name,
                             bool recording)
{
    char path[4096], *text, *key, *value;
    struct ini ini;
    enum ini_kind kind;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (pug_snapshot_ini_load(&ini, path, LARGEST) != PUG_OK)
        return false;
    char *whole = ini.text;
    while ((kind = pug_snapshot_ini_next(&ini, &text)) != INI_END) {
        if (kind != INI_TEXT || !pug_snapshot_ini_split(text, &key, &value))
            continue;
        if (strcmp(key, "description") == 0 && strcmp(value, SIGNATURE) == 0)
            recording = true;
        if (recording && names_file(key))
            add(listed, value);
    }
    free(whole);
    return recording;
}

void rec_listed_read(struct rec_listed *listed, const char *folder)
{
    *listed = (struct rec_listed){0};
    if (!read_description(listed, folder, "snapshot.ini", false))
        return;
    for (size_t i = 0, count = listed->count; i < count; i++)
        (void)read_description(listed, folder, listed->names[i], true);
}

void rec_listed_free(struct rec_listed *listed)
{
    for (size_t i = 0; i < listed->count; i++)
        free(listed->names[i]);
    free(listed->names);
    *listed = (struct rec_listed){0};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/** A program's folder goes with the last file in it. */
static void remove_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)unlink(path);
    char *slash = strrchr(path, '/');
    if (strchr(name, '/')) {
        *slash = 0;
        (void)rmdir(path);
    }
}

void rec_listed_remove(const struct rec_listed *former, const char *folder)
{
    struct rec_listed now;
    rec_listed_read(&now, folder);
    if (now.count > 0) {
        qsort(now.names, now.count, sizeof(*now.names), by_name);
        for (size_t i = 0; i < former->count; i++)
            if (!bsearch(&former->names[i], now.names, now.count, sizeof(*now.names), by_name))
                remove_file(folder, former->names[i]);
    }
    rec_listed_free(&now);
}
