// SPDX-License-Identifier: MIT
#include "pugmark/advanced/settings.h"

#include <stdlib.h>
#include <string.h>

static const struct pug_setting *look_for(const struct pug_settings *settings, const char *name,
                                          bool word)
{
    if (!settings || !name)
        return NULL;
    if (settings->watch)
        settings->watch->asked(settings->watch->context, name, word);
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->items[i].name, name) == 0)
            return &settings->items[i];
    return NULL;
}

const struct pug_setting *pug_settings_find(const struct pug_settings *settings, const char *name)
{
    return look_for(settings, name, false);
}

uint64_t pug_settings_number(const struct pug_settings *settings, const char *name,
                             uint64_t otherwise)
{
    const struct pug_setting *setting = pug_settings_find(settings, name);
    return setting && !setting->text ? setting->value : otherwise;
}

const char *pug_settings_word(const struct pug_settings *settings, const char *name,
                              const char *otherwise)
{
    const struct pug_setting *setting = look_for(settings, name, true);
    return setting && setting->text ? setting->text : otherwise;
}

static size_t length(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static const char *copy_text(char **room, const char *text)
{
    char *copy = *room;
    if (!text)
        return NULL;
    memcpy(copy, text, length(text));
    *room += length(text);
    return copy;
}

bool pug_settings_copy(const struct pug_settings *settings, struct pug_settings *copy)
{
    size_t size = settings->count * sizeof(*settings->items);
    for (size_t i = 0; i < settings->count; i++)
        size += length(settings->items[i].name) + length(settings->items[i].text);
    struct pug_setting *items = malloc(size > 0 ? size : 1);
    if (!items)
        return false;
    char *room = (char *)(items + settings->count);
    for (size_t i = 0; i < settings->count; i++) {
        items[i] = settings->items[i];
        items[i].name = copy_text(&room, settings->items[i].name);
        items[i].text = copy_text(&room, settings->items[i].text);
    }
    *copy = (struct pug_settings){.items = items, .count = settings->count};
    return true;
}

void pug_settings_free(struct pug_settings *copy)
{
    if (!copy)
        return;
    free((void *)(uintptr_t)copy->items);
    *copy = (struct pug_settings){.items = NULL};
}
