// SPDX-License-Identifier: MIT
/** @file Keys of an ini file as settings: numbers where they are numbers, else words. */
#ifndef PUG_SNAPSHOT_SETTING_H
#define PUG_SNAPSHOT_SETTING_H

#include "snapshot/snapshot.h"

#include <stdlib.h>

static inline struct pug_setting pug_snapshot_setting_make(const char *name, const char *value)
{
    char *end;
    struct pug_setting setting = {.name = name, .value = strtoull(value, &end, 0)};
    if (end == value || *end)
        setting.text = value;
    return setting;
}

static inline bool pug_snapshot_setting_add(struct list *list, struct pug_setting setting)
{
    struct pug_setting *added = pug_snapshot_list_add(list, sizeof(*added));
    if (added)
        *added = setting;
    return added != NULL;
}

#endif
