// SPDX-License-Identifier: MIT
#include "set_options.h"

#include "input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** "NAME=VALUE", a number or a word. The name is cut off in its place. */
static struct pug_setting parse_setting(char *word)
{
    char *equals = strchr(word, '=');
    struct pug_setting setting = {.name = word};
    *equals = 0;
    if (!parse_number(equals + 1, &setting.value))
        setting.text = equals + 1;
    return setting;
}

bool set_options_take(struct set_options *set, const struct input_options *options, size_t spare)
{
    const struct option_list *list = &options->settings;
    size_t bytes = 1;
    for (size_t i = 0; i < list->count; i++)
        bytes += strlen(list->items[i]) + 1;
    *set = (struct set_options){.items = calloc(list->count + 1 + spare, sizeof(*set->items)),
                                .words = malloc(bytes)};
    if (!set->items || !set->words)
        return false;
    if (options->core)
        set->items[set->count++] = (struct pug_setting){.name = "core", .text = options->core};
    char *at = set->words;
    for (size_t i = 0; i < list->count; i++) {
        size_t size = strlen(list->items[i]) + 1;
        memcpy(at, list->items[i], size);
        set->items[set->count++] = parse_setting(at);
        at += size;
    }
    return true;
}

/** The source whose id a word of this length is; NULL: it is none's, or a source's name. */
static const struct pug_capture_source *find_source(const struct pug_capture *capture,
                                                    const char *word, size_t length)
{
    const struct pug_capture_source *source, *found = NULL;
    char id[24];
    uint64_t number;
    if (length >= sizeof(id))
        return NULL;
    memcpy(id, word, length);
    id[length] = 0;
    if (!parse_number(id, &number))
        return NULL;
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++) {
        if (strcmp(source->name, id) == 0)
            return NULL;
        if (source->id == number && !found)
            found = source;
    }
    return found;
}

bool set_options_name_sources(struct set_options *set, const struct pug_capture *capture)
{
    set->named = calloc(set->count + 1, sizeof(*set->named));
    for (size_t i = 0; set->named && i < set->count; i++) {
        const char *name = set->items[i].name, *colon = strrchr(name, ':');
        const struct pug_capture_source *source =
            colon ? find_source(capture, name, (size_t)(colon - name)) : NULL;
        if (!source)
            continue;
        const size_t size = strlen(source->name) + strlen(colon) + 1;
        set->named[i] = malloc(size);
        if (!set->named[i])
            return false;
        snprintf(set->named[i], size, "%s%s", source->name, colon);
        set->items[i].name = set->named[i];
    }
    return set->named != NULL;
}

void set_options_free(struct set_options *set)
{
    for (size_t i = 0; set->named && i < set->count; i++)
        free(set->named[i]);
    free(set->named);
    free(set->items);
    free(set->words);
    *set = (struct set_options){0};
}
