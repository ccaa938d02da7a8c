// SPDX-License-Identifier: MIT
/**
 * @file Reading a snapshot's files: section by section, keys by tables of rules, errors that say
 * file and line. main_file.c, device_file.c and trace_file.c are the three kinds of file.
 */
#ifndef PUG_SNAPSHOT_FILE_H
#define PUG_SNAPSHOT_FILE_H

#include "snapshot/ini.h"
#include "snapshot/snapshot.h"

enum key_kind { KEY_TEXT, KEY_QUOTED, KEY_NUMBER };

/** A key that a section knows, and where its value goes. */
struct key_rule {
    const char *name;
    size_t offset; /* of a const char *, or of a uint64_t */
    enum key_kind kind;
    bool unique; /* a second one is an error */
    bool native; /* the reference does not know it */
};

/** The section being read. */
struct section {
    struct pug_snapshot *snapshot;
    struct ini *ini;
    const char *name;     /* as messages call it */
    unsigned header_line; /* where it began */
    uint32_t seen;        /* bit n: rule n was used */
};

/** The input, and the reader's position in it. */
struct reader {
    struct section section;
    int in;        /* one of the kind's sections; 0: an ignored one */
    bool headless; /* no section yet */
    void *state;   /* the kind's own */
};

/** A kind of file. */
struct file_kind {
    bool headless_is_error; /* keys before the first section */
    bool quiet;             /* sections are not reported */
    enum pug_status (*begin)(struct reader *reader, const char *section);
    enum pug_status (*key)(struct reader *reader, char *key, char *value);
    enum pug_status (*end)(struct reader *reader);    /* of a section, and once before the first */
    enum pug_status (*finish)(struct reader *reader); /* of the file; optional */
};

/** Read a file with the functions of its kind. PUG_ERR_FILE where it cannot be opened. */
enum pug_status pug_snapshot_file_read(struct pug_snapshot *snapshot, const char *path,
                                       const struct file_kind *kind, void *state);

#define KEY_UNKNOWN 1 /* beside the negative codes: no rule has this name */

/** Put a value where its key's rule says. PUG_OK, KEY_UNKNOWN, or an error that was logged. */
int pug_snapshot_section_set(struct section *section, const struct key_rule *rules, size_t count,
                             void *object, const char *key, char *value);

/** For sections where unknown keys are no error. */
static inline enum pug_status known_or_ignored(int result)
{
    return result == KEY_UNKNOWN ? PUG_OK : (enum pug_status)result;
}

/** Log a syntax error of the line just read; always PUG_ERR_SNAPSHOT_PARSE. */
enum pug_status pug_snapshot_section_error(const struct section *section, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Reports a section that ended without something. */
enum pug_status pug_snapshot_section_incomplete(const struct section *section, const char *text);

/** Reports another line: the one from which something wrong was read. */
enum pug_status pug_snapshot_section_wrong(const struct section *section, unsigned line,
                                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** A warning: it is reported and does not stop reading. */
void pug_snapshot_section_warn(const struct section *section, unsigned line, const char *format,
                               ...) __attribute__((format(printf, 3, 4)));

/** PUG_ERR_LIMIT, with a message. */
enum pug_status pug_snapshot_section_limit(const struct section *section, const char *what);

/** An unsigned number that is the whole value; an empty one is 0. */
enum pug_status pug_snapshot_section_number(const struct section *section, const char *value,
                                            uint64_t *number);

/** May the section hold what the reference does not know? */
static inline bool pug_snapshot_section_is_native(const struct section *section)
{
    return pug_snapshot_is_native(section->snapshot);
}

/* ---- the kinds ---- */

enum pug_status pug_snapshot_main_file_read(struct pug_snapshot *snapshot, const char *path);
enum pug_status pug_snapshot_device_file_read(struct pug_snapshot *snapshot, const char *path,
                                              const char *file);
enum pug_status pug_snapshot_trace_file_read(struct pug_snapshot *snapshot, const char *path);

void pug_snapshot_device_free(struct device *device);
void pug_snapshot_buffer_free(struct buffer *buffer);

#endif
