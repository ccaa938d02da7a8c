// SPDX-License-Identifier: MIT
/** @file All messages of a log, as text. */
#ifndef PUG_TESTS_SAID_H
#define PUG_TESTS_SAID_H

#include "pugmark/log.h"

#include <stdio.h>
#include <string.h>

struct said {
    char text[4096];
};

/** A log's sink; its context is a struct said. */
static inline void said_record(void *context, const struct pug_log_record *record)
{
    struct said *said = context;
    const size_t at = strlen(said->text);
    snprintf(said->text + at, sizeof(said->text) - at, "%s\n", record->text);
}

#endif
