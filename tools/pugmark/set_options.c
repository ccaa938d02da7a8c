// SPDX-License-Identifier: MIT
#include "set_options.h"

#include "input.h"

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

void set_options_free(struct set_options *set)
{
    free(set->items);
    free(set->words);
    *set = (struct set_options){0};
}
