// SPDX-License-Identifier: MIT
/**
 * @file Lines of an ini file: sections and keys. A comment begins at the first CR, ';' or '#';
 * a line with '[' and a later ']' is a section header, whatever stands around them.
 */
#ifndef PUG_SNAPSHOT_INI_H
#define PUG_SNAPSHOT_INI_H

#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>

/** A file in memory, read line by line. The lines are pieces of `text`, which is changed. */
struct ini {
    const char *path;
    char *text, *at, *end;
    unsigned line; /* number of the last line */
};

enum ini_kind { INI_END, INI_SECTION, INI_TEXT };

/** Read a file of at most `limit` bytes. PUG_ERR_FILE: it is none that can be opened. */
enum pug_status pug_snapshot_ini_load(struct ini *ini, const char *path, size_t limit);

/** The next line that says something: a section's name, or a line's text. */
enum ini_kind pug_snapshot_ini_next(struct ini *ini, char **text);

/** Split `key=value`, both trimmed; false without '='. */
bool pug_snapshot_ini_split(char *text, char **key, char **value);

/** The next piece of a list separated by commas, trimmed; NULL after the last. */
char *pug_snapshot_ini_piece(char **list);

/** Take quotes away from both ends. */
char *pug_snapshot_ini_unquote(char *text);

/** Take blanks and tabs away from both ends. */
char *pug_snapshot_ini_trim(char *text);

#endif
