// SPDX-License-Identifier: MIT
#include "snapshot/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- errors ---- */

static void say_at(const struct section *section, enum pug_status code, unsigned line,
                   const char *text)
{
    pug_snapshot_say(section->snapshot, "snapshot_parser",
                     code == PUG_OK ? PUG_SEV_WARN : PUG_SEV_ERROR, code, "%s:%u: %s\n",
                     section->ini->path, line, text);
}

__attribute__((format(printf, 4, 0))) static void say_format(const struct section *section,
                                                             enum pug_status code, unsigned line,
                                                             const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof(text), format, args);
    say_at(section, code, line, text);
}

enum pug_status pug_snapshot_section_error(const struct section *section, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_format(section, PUG_ERR_SNAPSHOT_PARSE, section->ini->line, format, args);
    va_end(args);
    return PUG_ERR_SNAPSHOT_PARSE;
}

enum pug_status pug_snapshot_section_wrong(const struct section *section, unsigned line,
                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_format(section, PUG_ERR_SNAPSHOT_PARSE, line, format, args);
    va_end(args);
    return PUG_ERR_SNAPSHOT_PARSE;
}

void pug_snapshot_section_warn(const struct section *section, unsigned line, const char *format,
                               ...)
{
    va_list args;
    va_start(args, format);
    say_format(section, PUG_OK, line, format, args);
    va_end(args);
}

enum pug_status pug_snapshot_section_incomplete(const struct section *section, const char *text)
{
    say_at(section, PUG_ERR_SNAPSHOT_PARSE, section->header_line, text);
    return PUG_ERR_SNAPSHOT_PARSE;
}

enum pug_status pug_snapshot_section_limit(const struct section *section, const char *what)
{
    char text[64];
    snprintf(text, sizeof(text), "Too many %s", what);
    say_at(section, PUG_ERR_LIMIT, section->ini->line, text);
    return PUG_ERR_LIMIT;
}

/* ---- values ---- */

enum pug_status pug_snapshot_section_number(const struct section *section, const char *value,
                                            uint64_t *number)
{
    char *end;
    *number = strtoull(value, &end, 0);
    if (*end == 0)
        return PUG_OK;
    return pug_snapshot_section_error(section, "Could not parse '%s' as unsigned integer", value);
}

int pug_snapshot_section_set(struct section *section, const struct key_rule *rules, size_t count,
                             void *object, const char *key, char *value)
{
    for (size_t i = 0; i < count; i++) {
        const struct key_rule *rule = &rules[i];
        if (strcmp(rule->name, key) != 0 ||
            (rule->native && !pug_snapshot_section_is_native(section)))
            continue;
        if (rule->unique && (section->seen >> i & 1))
            return pug_snapshot_section_error(section, "Duplicate %s key found in %s section", key,
                                              section->name);
        section->seen |= 1u << i;
        void *target = (char *)object + rule->offset;
        if (rule->kind == KEY_NUMBER)
            return pug_snapshot_section_number(section, value, target);
        *(const char **)target = rule->kind == KEY_QUOTED ? pug_snapshot_ini_unquote(value) : value;
        return PUG_OK;
    }
    return KEY_UNKNOWN;
}

/* ---- lines ---- */

static enum pug_status read_line(struct reader *reader, const struct file_kind *kind, char *text)
{
    char *key, *value;
    bool headless_error = reader->headless && kind->headless_is_error;
    if (reader->in == 0 && !headless_error)
        return PUG_OK;
    if (!pug_snapshot_ini_split(text, &key, &value))
        return pug_snapshot_section_error(&reader->section, "Couldn't parse '%s' as key=value",
                                          text);
    if (headless_error)
        return pug_snapshot_section_error(&reader->section,
                                          "Definition of '%s' has no section header", key);
    return kind->key(reader, key, value);
}

static enum pug_status begin_section(struct reader *reader, const struct file_kind *kind,
                                     const char *name)
{
    struct section *section = &reader->section;
    if (section->snapshot->options.verbose && !kind->quiet)
        pug_snapshot_say(section->snapshot, "snapshot_parser", PUG_SEV_INFO, PUG_OK,
                         "Start of %s section\n", name);
    reader->headless = false;
    reader->in = 0;
    section->name = name;
    section->seen = 0;
    section->header_line = section->ini->line;
    return kind->begin(reader, name);
}

static enum pug_status end_of_file(struct reader *reader, const struct file_kind *kind)
{
    enum pug_status status = kind->end(reader);
    return status == PUG_OK && kind->finish ? kind->finish(reader) : status;
}

static enum pug_status read_lines(struct reader *reader, const struct file_kind *kind)
{
    enum pug_status status = PUG_OK;
    while (status == PUG_OK) {
        char *text;
        switch (pug_snapshot_ini_next(reader->section.ini, &text)) {
        case INI_END: return end_of_file(reader, kind);
        case INI_TEXT: status = read_line(reader, kind, text); break;
        case INI_SECTION:
            status = kind->end(reader);
            if (status == PUG_OK)
                status = begin_section(reader, kind, text);
        }
    }
    return status;
}

enum pug_status pug_snapshot_file_read(struct pug_snapshot *snapshot, const char *path,
                                       const struct file_kind *kind, void *state)
{
    struct ini ini;
    size_t left = 4 * (size_t)PUG_SNAPSHOT_FILE_LIMIT - snapshot->text_bytes;
    enum pug_status status = pug_snapshot_ini_load(
        &ini, path, left < PUG_SNAPSHOT_FILE_LIMIT ? left : PUG_SNAPSHOT_FILE_LIMIT);
    if (status == PUG_ERR_LIMIT)
        pug_snapshot_say(snapshot, "snapshot_parser", PUG_SEV_ERROR, status, "%s: Too large\n",
                         path);
    if (status != PUG_OK)
        return status;
    char **kept = pug_snapshot_list_add(&snapshot->texts, sizeof(*kept));
    if (!kept) {
        free(ini.text);
        return PUG_ERR_MEM;
    }
    *kept = ini.text;
    snapshot->text_bytes += (size_t)(ini.end - ini.text);
    struct reader reader = {.section = {.snapshot = snapshot, .ini = &ini, .name = ""},
                            .headless = true,
                            .state = state};
    return read_lines(&reader, kind);
}
