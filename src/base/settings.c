// SPDX-License-Identifier: MIT
#include "pugmark/settings.h"

#include <string.h>

const struct pug_setting *pug_settings_find(const struct pug_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->items[i].name, name) == 0)
            return &settings->items[i];
    return NULL;
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
    const struct pug_setting *setting = pug_settings_find(settings, name);
    return setting && setting->text ? setting->text : otherwise;
}
