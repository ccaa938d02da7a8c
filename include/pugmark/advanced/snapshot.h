// SPDX-License-Identifier: MIT
/**
 * @file Snapshots: a directory that holds a capture with everything needed to decode it.
 *
 *     struct pug_snapshot *snapshot;
 *     if (pug_snapshot_open("captures/x", &(struct pug_snapshot_options){.log = log}, &snapshot))
 *         ...                                           // the log says file, line and reason
 *     const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer_at(snapshot, 0);
 *     pug_snapshot_tree(snapshot, buffer, &(struct pug_snapshot_tree_config){
 *                       .image = image, .decode = true, .log = log}, &tree);
 *     pug_trace_open(snapshot, buffer, &trace);         // and feed what pug_trace_read() gives
 *
 * Files: `snapshot.ini` lists device files and clusters and names the trace metadata; each device
 * file describes a core, a trace source or a bus with its registers and memory dumps; the metadata
 * (`trace.ini`) lists trace buffers and says which source writes into which, and which core it
 * traces. What must be there (`[snapshot]` with its version, `[device_list]`, names, a buffer's
 * name and file) and what must be unique (names, locations, buffer ids) is checked; the log says
 * file, line and reason. What can be done without is a warning: a core's type, a buffer's format.
 *
 * A source's `type` is a protocol and a version, whatever the version ("ETM4.5", "PFT1.1",
 * "STM1.0"); a core's is a product or an architecture (pug_core_by_name()). A dump may begin and
 * end anywhere; those of a device of class `memory_space` are seen where no core's memory is; those
 * of space "H" are the hypervisor's alone where a core has some.
 *
 * Beyond the Arm format, a device's `type` may be the name of any known protocol ("E-Trace",
 * "N-Trace", "OSD-STM"): its `[regs]`, numbers or words, are the protocol's settings. A buffer's
 * `format` may be the name of any transport, and further keys of its section are that transport's
 * settings. `[elf…]` sections (`file`, `bias`, `space`) map ELF files, and `context_id` and `vmid`
 * in a dump or ELF section map it for one context only.
 *
 * With the quirk reference_snapshots all of it is as the reference has it.
 *
 * All of it is untrusted. A file has at most PUG_SNAPSHOT_FILE_LIMIT bytes, all of them at most
 * four times that; lists have documented lengths below. What is longer is PUG_ERR_LIMIT.
 */
#ifndef PUGMARK_SNAPSHOT_H
#define PUGMARK_SNAPSHOT_H

#include "pugmark/advanced/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PUG_SNAPSHOT_FILE_LIMIT     (16u << 20) /**< bytes of one ini file */
#define PUG_SNAPSHOT_DEVICE_LIMIT   8192u       /**< devices */
#define PUG_SNAPSHOT_REGISTER_LIMIT 8192u       /**< registers of a device */
#define PUG_SNAPSHOT_DUMP_LIMIT     262144u     /**< dumps, ELF files of all devices */
#define PUG_SNAPSHOT_BUFFER_LIMIT   4096u       /**< buffers, associations */
#define PUG_SNAPSHOT_STREAM_LIMIT   127u        /**< highest stream of a source */

struct pug_snapshot;

/** How a snapshot is to be read. */
struct pug_snapshot_options {
    struct pug_log *log;      /**< or NULL */
    bool verbose;             /**< say what is read, as INFO */
    bool confine;             /**< refuse files that are not in its folder */
    struct pug_quirks quirks; /**< how the reference reads it */
    uint64_t spare[4];        /**< zero */
};

/**
 * Read a snapshot. PUG_ERR_FILE: there is no snapshot.ini to open; PUG_ERR_SNAPSHOT_PARSE: a
 * file is malformed. A device file that cannot be opened is logged and left out.
 */
enum pug_status pug_snapshot_open(const char *directory, const struct pug_snapshot_options *options,
                                  struct pug_snapshot **snapshot);
/** NULL is left alone. */
void pug_snapshot_free(struct pug_snapshot *snapshot);

/* ---- what is in it; everything lives as long as the snapshot ---- */

/** A line of a `[regs]` section. */
struct pug_snapshot_register {
    const char *key;   /**< as written: "TRCIDR0(0x078)", "D0 (id: 90, size: 64)" */
    const char *name;  /**< without what is in parentheses: "TRCIDR0", "D0" */
    const char *value; /**< as written, without quotes */
    uint32_t id;       /**< its number, where has_id; of CoreSight parts its offset / 4 */
    uint32_t size;     /**< bits; 32 where the key does not say */
    bool has_id;       /**< whether the key says it */
};

/** A `[dump…]` or `[elf…]` section. */
struct pug_snapshot_dump {
    const char *file;                   /**< relative to the snapshot */
    uint64_t address, length, offset;   /**< length 0: to the end of the file */
    uint64_t bias;                      /**< ELF: added to its addresses */
    const char *space;                  /**< or NULL */
    uint64_t context_id, vmid;          /**< where it is seen, if these are given */
    bool elf, has_context_id, has_vmid; /**< an `[elf]` section; whether these are given */
};

/** A device file. */
struct pug_snapshot_device {
    const char *name, *class_name, *type;          /**< "" where the file does not say */
    const char *location;                          /**< "" where the file does not say */
    const char *file;                              /**< the device file's name */
    const struct pug_snapshot_register *registers; /**< in alphabetical order */
    size_t register_count;                         /**< how many there are */
    const struct pug_snapshot_dump *dumps;         /**< its memory */
    size_t dump_count;                             /**< how many there are */
};

/** A section of a trace buffer. */
struct pug_snapshot_buffer {
    const char *section, *name;   /**< of the section, and its `name` */
    const char *file;             /**< file names, separated by commas */
    const char *format;           /**< "" where the section does not say */
    struct pug_settings settings; /**< further keys of the section */
};

/** A source that writes into a buffer. */
struct pug_snapshot_source {
    const char *name;                         /**< of its device */
    const struct pug_snapshot_device *device; /**< NULL: no such device in the snapshot */
    const char *core_name;                    /**< the core it traces, or NULL */
    const struct pug_snapshot_device *core;   /**< NULL: none, or no such device */
    const char *protocol;                     /**< NULL: not known from its type */
    unsigned stream;   /**< which of the device's streams: its trace id is the device's + so many */
    bool assumed_core; /**< no file names the core: it is the only one without trace */
};

/** The folder that the snapshot is in. */
const char *pug_snapshot_directory(const struct pug_snapshot *snapshot);
const char *pug_snapshot_description(const struct pug_snapshot *snapshot); /**< "" if none */

/** The n-th, or NULL. Devices in order of their files, buffers in that of their sections' ends. */
const struct pug_snapshot_device *pug_snapshot_device_at(const struct pug_snapshot *snapshot,
                                                         size_t n);
/** As pug_snapshot_device_at(). */
const struct pug_snapshot_buffer *pug_snapshot_buffer_at(const struct pug_snapshot *snapshot,
                                                         size_t n);

/** By name, or NULL. Names are as written in the files. */
const struct pug_snapshot_device *pug_snapshot_device(const struct pug_snapshot *snapshot,
                                                      const char *name);
/** As pug_snapshot_device(). */
const struct pug_snapshot_buffer *pug_snapshot_buffer(const struct pug_snapshot *snapshot,
                                                      const char *name);

/** The n-th source of a buffer, in alphabetical order of names; false when there are no more. */
bool pug_snapshot_source_at(const struct pug_snapshot *snapshot,
                            const struct pug_snapshot_buffer *buffer, size_t n,
                            struct pug_snapshot_source *source);

/**
 * The trace id of a source, as its decoder reads it from the registers; `overrides` go before what
 * the snapshot says. False: its protocol is not known, or the registers do not make sense.
 */
bool pug_snapshot_source_id(const struct pug_snapshot *snapshot,
                            const struct pug_snapshot_source *source,
                            const struct pug_settings *overrides, uint16_t *id);

/** A cluster: cores that belong together. */
struct pug_snapshot_cluster {
    const char *name; /**< "" where the snapshot has no clusters: all cores are one then */
    const char *const *devices; /**< their names */
    size_t count;               /**< how many there are */
};

/** The n-th cluster, in the order of the file; false when there are no more. */
bool pug_snapshot_cluster_at(const struct pug_snapshot *snapshot, size_t n,
                             struct pug_snapshot_cluster *cluster);

/** A file's path: directory, slash, name. Like snprintf(). */
size_t pug_snapshot_path(const struct pug_snapshot *snapshot, const char *file, char *buffer,
                         size_t size);

/* ---- decoding it ---- */

/** How a buffer's tree is made. */
struct pug_snapshot_tree_config {
    struct pug_image *image;           /**< the cores' memory is added to it; NULL: none */
    bool filled;                       /**< it was, for another tree of this buffer */
    bool decode;                       /**< to elements; else packets only */
    struct pug_decode_options options; /**< of all sources */
    struct pug_settings transport;     /**< settings that go before the buffer's own */
    /**
     * Registers and parameters that go before the devices' own: "NAME" of all sources,
     * "SOURCE:NAME" of one. `core`, a word, is what the traced core is (pug_core_by_name()).
     */
    struct pug_settings sources;
    bool first_only;          /**< leave sources out that name another buffer before this one */
    struct pug_log *log;      /**< the tree's; may be NULL */
    struct pug_quirks quirks; /**< for what imitates the reference */
    size_t code_limit;        /**< as in struct pug_tree_config */
    uint64_t spare[4];        /**< zero */
};

/**
 * Make the decode tree for a buffer, with every source that can be made; what cannot is in the
 * log. PUG_ERR_NO_SOURCE: not one could.
 */
enum pug_status pug_snapshot_tree(const struct pug_snapshot *snapshot,
                                  const struct pug_snapshot_buffer *buffer,
                                  const struct pug_snapshot_tree_config *config,
                                  struct pug_tree **tree);

/** Name of the transport that a buffer's format asks for. */
const char *pug_snapshot_transport(const struct pug_snapshot *snapshot,
                                   const struct pug_snapshot_buffer *buffer);

/** The bytes of a buffer, from its files one after the other. */
struct pug_trace;
/** Open a buffer's files, for the caller to close before the snapshot. PUG_ERR_FILE, with errno. */
enum pug_status pug_trace_open(const struct pug_snapshot *snapshot,
                               const struct pug_snapshot_buffer *buffer, struct pug_trace **trace);
/** Fewer than `size` only at the end, or where a file cannot be read (then *status says so). */
size_t pug_trace_read(struct pug_trace *trace, void *bytes, size_t size, enum pug_status *status);
/** Bytes of all its files together, as far as the file system knows; 0: not known. */
uint64_t pug_trace_size(const struct pug_trace *trace);
/** NULL is left alone. */
void pug_trace_close(struct pug_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
