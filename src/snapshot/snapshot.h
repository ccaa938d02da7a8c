// SPDX-License-Identifier: MIT
/**
 * @file The snapshot's own shape, shared by its files: ini.c (lines), file.c and the *_file.c
 * (sections and keys), snapshot.c (what is in it), lookup.c (found by name), clusters.c,
 * device_config.c (devices to protocols and settings), memory.c (dumps to an image), tree.c (a
 * buffer to a decode tree), trace.c (a buffer's bytes).
 */
#ifndef PUG_SNAPSHOT_SNAPSHOT_H
#define PUG_SNAPSHOT_SNAPSHOT_H

#include "pugmark/advanced/snapshot.h"

/** A list that grows; `items` is an array of whatever the user keeps in it. */
struct list {
    void *items;
    size_t count, room;
    bool starved; /* there was no memory for an item */
};

/** A zeroed new item at the end; NULL without memory. */
void *pug_snapshot_list_add(struct list *list, size_t item_size);

/** Adds to a list of pointers. */
bool pug_snapshot_list_add_pointer(struct list *list, const void *pointer);

#define WHOLE_SOURCE (-1)

/** `key=value` of an association. */
struct pair {
    const char *key, *value;
    int stream;            /* of a source that has several, or WHOLE_SOURCE */
    unsigned line;         /* in the trace metadata */
    uint32_t first_buffer; /* number of the buffer that the value names first */
};

struct device {
    struct pug_snapshot_device public; /* first: the device that users see */
    struct list registers;             /* struct pug_snapshot_register */
    struct list dumps;                 /* struct pug_snapshot_dump */
    unsigned name_line, location_line; /* where its file says so */
};

struct cluster {
    const char *name;
    struct list devices; /* const char * */
    unsigned line;
};

struct buffer {
    struct pug_snapshot_buffer public; /* first */
    struct list settings;              /* struct pug_setting */
    unsigned line;                     /* where its file names it */
    uint32_t number;                   /* among the snapshot's */
    struct list sources;               /* uint32_t: places in `source_buffers` */
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
    struct list clusters;       /* struct cluster */
    /* Pointers to what is in these, in the order of names; see lookup.c. */
    struct list devices_by_name, buffers_by_name, cores_by_source, cores_by_name;
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

/* ---- lookup.c ---- */

/** When all buffers are known: what pug_snapshot_names_buffer() needs. False: no memory. */
bool pug_snapshot_order_buffers(struct pug_snapshot *snapshot);
/** When all is read: what all below and pug_snapshot_device() need. PUG_ERR_MEM. */
enum pug_status pug_snapshot_order(struct pug_snapshot *snapshot);
void pug_snapshot_order_free(struct pug_snapshot *snapshot);

/** Does a value name a buffer that is there? It may name several, separated by commas. */
bool pug_snapshot_names_buffer(const struct pug_snapshot *snapshot, const char *value);

/** The core that a source traces; by the source's name, or by `@` and its location. Or NULL. */
const char *pug_snapshot_core_of(const struct pug_snapshot *snapshot, const char *name,
                                 const struct pug_snapshot_device *device);

/** Is it named in [core_trace_sources] as a core that has a source? */
bool pug_snapshot_is_traced(const struct pug_snapshot *snapshot, const char *core);

/* ---- tree.c ---- */

/** Is it a format of the Arm snapshots, or a transport's name? */
bool pug_snapshot_format_known(const char *format);

/* ---- clusters.c ---- */

enum pug_status pug_snapshot_cluster_add(struct pug_snapshot *snapshot, const char *name,
                                         char *devices, unsigned line);
/** When all devices are known: tell who is missing; without clusters all cores are one. */
enum pug_status pug_snapshot_clusters_finish(struct pug_snapshot *snapshot);
void pug_snapshot_clusters_free(struct pug_snapshot *snapshot);

/** Is the device a core, by its class or by what the metadata say? */
bool pug_snapshot_is_core(const struct pug_snapshot *snapshot,
                          const struct pug_snapshot_device *device);

/* ---- device_config.c ---- */

/** How a source is made. */
struct device_config {
    const char *protocol;
    struct list settings; /* struct pug_setting */
};

/** The protocol of a device, by its type; NULL: not known, or not with (or without) a core. */
const char *pug_snapshot_device_config_protocol(const struct pug_snapshot *snapshot,
                                                const struct pug_snapshot_device *device,
                                                unsigned stream, bool core);

/** Is its type one that traces a core's program flow? */
bool pug_snapshot_traces_core(const struct pug_snapshot *snapshot,
                              const struct pug_snapshot_device *device);

/**
 * Protocol and settings of a source whose core, if `source->core_name` says so, is known. The
 * overrides go before what the snapshot says. What is missing is logged; false: it cannot be made.
 */
bool pug_snapshot_device_config_make(const struct pug_snapshot *snapshot,
                                     const struct pug_snapshot_source *source,
                                     const struct pug_settings *overrides,
                                     struct device_config *device_config);
void pug_snapshot_device_config_free(struct device_config *device_config);

/* ---- memory.c ---- */

/** What is mapped already, so that cores that share a dump map it once. */
struct memory {
    const struct pug_snapshot *snapshot;
    struct pug_image *image;
    struct list mapped; /* struct mapped */
    bool behind;        /* later additions have lower priority than earlier ones */
    bool starved;       /* there was no memory for something */
};

/** Map a device's dumps and ELF files. What cannot be is logged. */
void pug_snapshot_memory_add(struct memory *memory, const struct pug_snapshot_device *device,
                             uint16_t source);

#define BUILDER "ss2_dcdtree"

/* ---- confine.c ---- */

/** Has the snapshot to stay in its folder, and is the file not there? Then that is said. */
bool pug_snapshot_refuses(struct pug_snapshot *snapshot, const char *file);
/** Confines all files with trace or memory. */
enum pug_status pug_snapshot_confine(struct pug_snapshot *snapshot);

/**
 * Has the buffer sources, and name all of them another buffer before it? Then it has the same trace
 * once more.
 */
bool pug_snapshot_buffer_repeats(const struct pug_snapshot *snapshot,
                                 const struct pug_snapshot_buffer *buffer);

#endif
