// SPDX-License-Identifier: MIT
/** @file The names of settings that a protocol and a transport look for, as they ask for them. */
#ifndef PUGMARK_TOOL_KNOWN_H
#define PUGMARK_TOOL_KNOWN_H

#include "pugmark/advanced/settings.h"

struct known_name;

struct known {
    struct known_name *names;
    size_t count;
    bool incomplete; /**< there was no memory for one of them */
};

/** A watch's function (see settings.h); its context is a struct known. */
void known_note(void *known, const char *name, bool word);

/**
 * Will the settings of the option --set all be read? False, having said which won't, and where it
 * is for their names, those that `whose` has.
 */
bool known_take(const struct known *known, const struct pug_setting *settings, size_t count,
                const char *whose);

/** The n-th name; NULL after the last one. */
const char *known_name_at(const struct known *known, size_t n);
bool known_has(const struct known *known, const char *name);

void known_free(struct known *known);

#endif
