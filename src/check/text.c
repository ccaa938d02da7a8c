// SPDX-License-Identifier: MIT
/** @file Texts that a check keeps, names that are near each other, and patterns. */
#include "check/engine.h"

#include "base/edit_distance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_text_block {
    struct check_text_block *next;
    char bytes[];
};

const char *pug_check_keep(struct check_text *texts, const char *text, size_t size)
{
    struct check_text_block *block = malloc(sizeof(*block) + size + 1);
    if (!block) {
        texts->failed = true;
        return "";
    }
    memcpy(block->bytes, text, size);
    block->bytes[size] = '\0';
    block->next = texts->blocks;
    texts->blocks = block;
    return block->bytes;
}

const char *pug_check_keep_format(struct check_text *texts, const char *format, ...)
{
    char room[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(room, sizeof(room), format, arguments);
    va_end(arguments);
    if (length < 0)
        return "";
    return pug_check_keep(texts, room,
                          (size_t)length < sizeof(room) ? (size_t)length : sizeof(room) - 1);
}

void pug_check_text_free(struct check_text *texts)
{
    for (struct check_text_block *block = texts->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    texts->blocks = NULL;
}

void pug_check_wrong(struct check_text *texts, struct pug_list *errors,
                     const struct check_rule *rule, uint32_t column, uint32_t length,
                     const char *message)
{
    struct pug_check_error *error = pug_list_add(errors, sizeof(*error));
    if (!error) {
        texts->failed = true;
        return;
    }
    error->file = rule->file;
    error->line = rule->line;
    error->column = column;
    error->length = length;
    error->text = rule->line_text;
    error->message = message;
}

const char *pug_check_nearest(const char *word, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    unsigned least = PUG_NAME_FAR;
    for (size_t i = 0; i < count; i++) {
        const unsigned distance = pug_name_distance(word, words[i]);
        if (distance < least) {
            least = distance;
            nearest = words[i];
        }
    }
    return nearest;
}

bool pug_check_glob(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL; /* the last "*", and where what it stands for ends */
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool pug_check_glob_path(const char *pattern, const char *path)
{
    while (strncmp(pattern, "./", 2) == 0)
        pattern += 2;
    if (pug_check_glob(pattern, path))
        return true;
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
        if (pug_check_glob(pattern, at + 1))
            return true;
    return false;
}

bool pug_check_holds_text(const char *text, const char *line)
{
    char pattern[1024];
    const int length = snprintf(pattern, sizeof(pattern), "*%s*", text);
    if (length < 0 || (size_t)length >= sizeof(pattern))
        return strstr(line, text) != NULL;
    return pug_check_glob(pattern, line);
}
