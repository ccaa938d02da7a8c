// SPDX-License-Identifier: MIT
#include "known.h"
#include "messages.h"

#include "base/edit_distance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known_name {
    char *name;
    bool number, word; /* what it was asked for as; something else than a word is a number */
};

static struct known_name *find(const struct known *known, const char *name)
{
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->names[i].name, name) == 0)
            return &known->names[i];
    return NULL;
}

static struct known_name *add(struct known *known, const char *name)
{
    struct known_name *names = realloc(known->names, (known->count + 1) * sizeof(*names));
    char *copy = strdup(name);
    if (names)
        known->names = names;
    if (!names || !copy) {
        known->incomplete = true;
        free(copy);
        return NULL;
    }
    names[known->count] = (struct known_name){.name = copy};
    return &names[known->count++];
}

void known_note(void *context, const char *name, bool word)
{
    struct known *known = context;
    struct known_name *found = find(known, name);
    if (!found)
        found = add(known, name);
    if (found)
        *(word ? &found->word : &found->number) = true;
}

static const char *trouble(const struct known_name *found, const struct pug_setting *setting)
{
    if (!found)
        return "no such setting";
    if (setting->text && !found->word)
        return "not a number";
    return setting->text || found->number ? NULL : "a number, not a word";
}

/** The name that was meant, where one is near; or NULL. */
static const char *find_meant(const struct known *known, const char *name)
{
    const char *nearest = NULL;
    unsigned least = PUG_NAME_FAR;
    for (size_t i = 0; i < known->count; i++) {
        const unsigned distance = pug_name_distance(name, known->names[i].name);
        if (distance >= least)
            continue;
        least = distance;
        nearest = known->names[i].name;
    }
    return nearest;
}

static void print_names(const struct known *known, const char *whose)
{
    message_say("pugmark: settings of %s:", whose);
    for (size_t i = 0; i < known->count; i++)
        message_say(" %s", known->names[i].name);
    message_say("\n");
}

bool known_take(const struct known *known, const struct pug_setting *settings, size_t count,
                const char *whose)
{
    bool good = true, all_found = true;
    for (size_t i = 0; i < count && !known->incomplete; i++) {
        const struct known_name *found = find(known, settings[i].name);
        const char *wrong = trouble(found, &settings[i]);
        if (!wrong)
            continue;
        const char *meant = found ? NULL : find_meant(known, settings[i].name);
        message_say("pugmark: --set %s: %s%s%s%s\n", settings[i].name, wrong, meant ? "; is " : "",
                    meant ? meant : "", meant ? " meant?" : "");
        good = false;
        all_found = all_found && found;
    }
    if (!all_found)
        print_names(known, whose);
    return good;
}

const char *known_name_at(const struct known *known, size_t n)
{
    return n < known->count ? known->names[n].name : NULL;
}

bool known_has(const struct known *known, const char *name)
{
    return find(known, name) != NULL;
}

void known_free(struct known *known)
{
    for (size_t i = 0; i < known->count; i++)
        free(known->names[i].name);
    free(known->names);
    *known = (struct known){0};
}
