// SPDX-License-Identifier: MIT
#include "snapshot/ini.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** What is in the file, with a NUL after it; read in growing steps, since sizes can be untrue. */
static enum pug_status read_all(FILE *file, size_t limit, char **text, size_t *size)
{
    size_t room = 0, length = 0;
    char *bytes = NULL;
    do {
        room = room ? 2 * room : 4096;
        char *grown = realloc(bytes, room + 1);
        if (!grown) {
            free(bytes);
            return PUG_ERR_MEM;
        }
        bytes = grown;
        length += fread(bytes + length, 1, room - length, file);
    } while (length == room && length <= limit);
    if (length > limit || ferror(file)) {
        free(bytes);
        return length > limit ? PUG_ERR_LIMIT : PUG_ERR_FILE;
    }
    bytes[length] = 0;
    *text = bytes;
    *size = length;
    return PUG_OK;
}

enum pug_status pug_snapshot_ini_load(struct ini *ini, const char *path, size_t limit)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return PUG_ERR_FILE; /* a directory or a pipe is no ini file */
    FILE *file = fopen(path, "rb");
    if (!file)
        return PUG_ERR_FILE;
    size_t size = 0;
    *ini = (struct ini){.path = path};
    enum pug_status status = read_all(file, limit, &ini->text, &size);
    fclose(file);
    if (status == PUG_OK) {
        ini->at = ini->text;
        ini->end = ini->text + size;
    }
    return status;
}

char *pug_snapshot_ini_trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    text[length] = 0;
    return text;
}

char *pug_snapshot_ini_unquote(char *text)
{
    text += strspn(text, "\"'");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == '"' || text[length - 1] == '\''))
        length--;
    text[length] = 0;
    return text;
}

enum ini_kind pug_snapshot_ini_next(struct ini *ini, char **text)
{
    while (ini->at < ini->end) {
        char *line = ini->at, *stop = memchr(line, '\n', (size_t)(ini->end - line));
        ini->at = stop ? stop + 1 : ini->end;
        if (stop)
            *stop = 0;
        ini->line++;
        line[strcspn(line, "\r;#")] = 0;
        char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;
        if (close) {
            *close = 0;
            *text = pug_snapshot_ini_trim(open + 1);
            return INI_SECTION;
        }
        *text = line;
        if (line[strspn(line, " \t")])
            return INI_TEXT;
    }
    return INI_END;
}

bool pug_snapshot_ini_split(char *text, char **key, char **value)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return false;
    *equals = 0;
    *key = pug_snapshot_ini_trim(text);
    *value = pug_snapshot_ini_trim(equals + 1);
    return true;
}

char *pug_snapshot_ini_piece(char **list)
{
    char *piece = *list, *comma = piece ? strchr(piece, ',') : NULL;
    if (comma)
        *comma = 0;
    *list = comma ? comma + 1 : NULL;
    return piece ? pug_snapshot_ini_trim(piece) : NULL;
}
