// SPDX-License-Identifier: MIT
/**
 * @file The snapshot's own shape, shared by its files: ini.c (lines), file.c and the *_file.c
 * (sections and keys), snapshot.c (what is in it), recipe.c (devices to protocols and settings),
 * memory.c (dumps to an image), tree.c (a buffer to a decode tree), trace.c (a buffer's bytes).
 */
#ifndef PUG_SNAPSHOT_SNAPSHOT_H
#define PUG_SNAPSHOT_SNAPSHOT_H

#include "pugmark/snapshot.h"

/** A list that grows; `items` is an array of whatever the user keeps in it. */
struct list {
    void *items;
    size_t count, room;
};

/** A zeroed new item at the end; NULL without memory. */
void *pug_snapshot_list_add(struct list *list, size_t item_size);

/** The same for a list of pointers. */
bool pug_snapshot_list_add_pointer(struct list *list, const void *pointer);

/** `key=value` of an association. */
struct pair {
    const char *key, *value;
};

struct device {
    struct pug_snapshot_device public; /* first: the device that users see */
    struct list registers;             /* struct pug_snapshot_register */
    struct list dumps;                 /* struct pug_snapshot_dump */
};

struct buffer {
    struct pug_snapshot_buffer public; /* first */
    struct list settings;              /* struct pug_setting */
};

struct pug_snapshot {
    struct pug_snapshot_options options;
    char *directory;
    struct list texts; /* char *: files in memory, which all strings point into */
    size_t text_bytes;
    const char *version, *description, *metadata;
    struct list device_files;   /* const char * */
    struct list devices;        /* struct device * */
    struct list buffer_names;   /* const char *: sections that are buffers */
    struct list buffers;        /* struct buffer * */
    struct list source_buffers; /* struct pair: source, buffer */
    struct list core_sources;   /* struct pair: source, core */
    size_t dump_count;
};

/** May it hold what the reference does not know? */
static inline bool pug_snapshot_is_native(const struct pug_snapshot *snapshot)
{
    return !snapshot->options.quirks.reference_snapshots;
}

/** Put a message in the log. */
void pug_snapshot_say(const struct pug_snapshot *snapshot, const char *component,
                      enum pug_severity severity, enum pug_status code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- recipe.c ---- */

/** How a source is made. */
struct recipe {
    const char *protocol;
    struct list settings; /* struct pug_setting */
};

/** The protocol of a device, by its type; NULL: not known, or not with (or without) a core. */
const char *pug_snapshot_recipe_protocol(const struct pug_snapshot *snapshot,
                                         const struct pug_snapshot_device *device, bool core);

/**
 * Protocol and settings of a source whose core, if `source->core_name` says so, is known. What is
 * missing is logged; false: it cannot be made.
 */
bool pug_snapshot_recipe_make(const struct pug_snapshot *snapshot,
                              const struct pug_snapshot_source *source, struct recipe *recipe);
void pug_snapshot_recipe_free(struct recipe *recipe);

/* ---- memory.c ---- */

/** What is mapped already, so that cores that share a dump map it once. */
struct memory {
    const struct pug_snapshot *snapshot;
    struct pug_image *image;
    struct list mapped; /* const struct pug_snapshot_dump * */
};

/** Map a device's dumps and ELF files. What cannot be is logged. */
void pug_snapshot_memory_add(struct memory *memory, const struct pug_snapshot_device *device,
                             uint16_t source);

#define BUILDER "ss2_dcdtree"

#endif
