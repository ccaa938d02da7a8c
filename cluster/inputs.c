// SPDX-License-Identifier: MIT
#include "inputs.h"

#include "base/grow.h"
#include "schedule/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The inputs that other inputs point to, rather than words of the command line. */
static struct pug_list made;

static bool add_copy(struct option_list *inputs, const char *text)
{
    char **copy = pug_list_add(&made, sizeof(*copy));
    if (copy)
        *copy = strdup(text);
    return copy && *copy && option_list_add(inputs, *copy);
}

void inputs_free(void)
{
    char **texts = made.items;
    for (size_t i = 0; i < made.count; i++)
        free(texts[i]);
    free(texts);
}

static bool add_lines(struct option_list *inputs, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    if (!file) {
        fprintf(stderr, "pugmark: %s: %s\n", path, strerror(errno));
        return false;
    }
    while (good && (length = getline(&line, &room, file)) >= 0) {
        while (length > 0 && strchr("\r\n", line[length - 1]))
            line[--length] = 0;
        good = length == 0 || *line == '#' || add_copy(inputs, line);
    }
    free(line);
    fclose(file);
    return good;
}

static bool add_pattern(struct option_list *inputs, const char *pattern)
{
    glob_t found;
    bool good = true;
    if (glob(pattern, 0, NULL, &found) != 0)
        return option_list_add(inputs, pattern); /* it is said of it that it is not there */
    for (size_t i = 0; good && i < found.gl_pathc; i++)
        good = add_copy(inputs, found.gl_pathv[i]);
    globfree(&found);
    return good;
}

bool inputs_add(struct option_list *inputs, const char *word)
{
    if (*word == '@')
        return add_lines(inputs, word + 1);
    if (strpbrk(word, "*?[") && access(word, F_OK) != 0)
        return add_pattern(inputs, word);
    return option_list_add(inputs, word);
}

/** The sum, over a file or the files of a folder, of what each is. */
static uint64_t sum_files(const char *path, uint64_t (*what)(const struct stat *status))
{
    struct stat status;
    uint64_t sum = 0;
    if (stat(path, &status) != 0)
        return 0;
    if (!S_ISDIR(status.st_mode))
        return what(&status);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char name[4096];
        const int length = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (length > 0 && (size_t)length < sizeof(name) && stat(name, &status) == 0 &&
            S_ISREG(status.st_mode))
            sum += what(&status);
    }
    if (folder)
        closedir(folder);
    return sum;
}

static uint64_t size_of(const struct stat *status)
{
    return (uint64_t)status->st_size;
}

uint64_t inputs_size(const char *path)
{
    return sum_files(path, size_of);
}

static uint64_t version_of(const struct stat *status)
{
    const uint64_t size = pug_checkpoint_mix(0, (uint64_t)status->st_size);
    return pug_checkpoint_mix(size, (uint64_t)status->st_mtime);
}

uint64_t inputs_identity(char *const *words, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        char path[4096];
        const char *value = strchr(words[i], '=');
        for (const char *at = words[i]; *at; at++)
            hash = pug_checkpoint_mix(hash, (uint8_t)*at);
        hash = pug_checkpoint_mix(hash, sum_files(words[i], version_of));
        snprintf(path, sizeof(path), "%s", value ? value + 1 : words[i]);
        path[strcspn(path, "@")] = 0; /* IMAGE@ADDRESS */
        hash = pug_checkpoint_mix(hash, sum_files(path, version_of));
    }
    return hash;
}
