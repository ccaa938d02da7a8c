// SPDX-License-Identifier: MIT
#include "address_words.h"

#include "common/options.h"

#include <string.h>

bool address_words_cut(const char *text, struct address_words *words)
{
    uint64_t number;
    const char *plus = strrchr(text, '+'), *colon = strrchr(text, ':');
    size_t length = strlen(text);
    words->offset = words->line = 0;
    if (colon && colon > text && colon[-1] != ':' && parse_number(colon + 1, &number) &&
        number > 0 && number <= UINT32_MAX) {
        words->line = (uint32_t)number;
        length = (size_t)(colon - text);
    } else if (plus && plus > text && parse_number(plus + 1, &number)) {
        words->offset = number;
        length = (size_t)(plus - text);
    }
    if (length == 0 || length >= sizeof(words->name))
        return false;
    memcpy(words->name, text, length);
    words->name[length] = 0;
    suggest_begin(&words->suggestion, words->name);
    return true;
}

bool address_words_are_function(struct address_words *words, const char *name)
{
    char readable[512];
    suggest_offer(&words->suggestion, name);
    if (strcmp(name, words->name) == 0)
        return true;
    const size_t length = pug_demangle(name, readable, sizeof(readable));
    if (length == 0 || length >= sizeof(readable))
        return false;
    if (strcmp(readable, words->name) == 0)
        return true;
    readable[strcspn(readable, "(")] = 0;
    suggest_offer(&words->suggestion, readable);
    return strcmp(readable, words->name) == 0;
}

/** Is `end` the end of the path, from a "/" on? */
static bool ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), wanted = strlen(end);
    return length >= wanted && strcmp(path + length - wanted, end) == 0 &&
           (length == wanted || path[length - wanted - 1] == '/' || *end == '/');
}

bool address_words_are_line(const struct address_words *words, const struct pug_names_line *line)
{
    return line->line == words->line && line->path && ends_with(line->path, words->name);
}
