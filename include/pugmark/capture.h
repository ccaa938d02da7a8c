// SPDX-License-Identifier: MIT
/**
 * @file Captures: whatever holds trace, opened by its contents, and asked and decoded in one way.
 *
 *     struct pug_capture *capture;
 *     if (pug_capture_open("perf.data", &(struct pug_capture_options){.log = log}, &capture))
 *         ...                                           // the log says what and why
 *     const struct pug_capture_task *task;
 *     for (size_t n = 0; (task = pug_capture_task_at(capture, n)) != NULL; n++)
 *         ...
 *     pug_capture_elements(capture, take, context);     // to your function, a pug_situated_fn
 *
 * A capture has *buffers*: bytes that one trace buffer took, of one transport. A buffer has
 * *segments*: pieces of it that each begin from reset. A snapshot's buffer is one segment, and so
 * is a file of trace; one AUX record of perf is one. *Sources* write into buffers. *Tasks* are the
 * threads that ran; captures without information about threads have none. *Objects* are the files
 * that the program's text comes from. An *address space* says which object lies at an address; it
 * belongs to a task, or to everybody, and changes in time: what decoders see is one version of it
 * at a time.
 *
 * Everything that is asked of a capture lives as long as it does. It may be asked and decoded by
 * several threads, but is opened and freed by one. All of an input is untrusted.
 */
#ifndef PUGMARK_CAPTURE_H
#define PUGMARK_CAPTURE_H

#include "pugmark/element.h"
#include "pugmark/log.h"
#include "pugmark/names.h"
#include "pugmark/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_consumer;
struct pug_peers;
struct pug_quirks;
struct pug_tree;

struct pug_capture;

/** The kind of an input. */
enum pug_capture_kind {
    PUG_CAPTURE_SNAPSHOT, /**< a folder with snapshot.ini */
    PUG_CAPTURE_RAW,      /**< one file of trace that the options describe */
    PUG_CAPTURE_STREAM,   /**< the same, from standard input, a FIFO, a device, a socket */
    PUG_CAPTURE_PERF,     /**< what `perf record` or simpleperf wrote */
};

/* ---- opening ---- */

/** A file of the program that lies at one place in every address space. */
struct pug_capture_program {
    const char *path;  /**< of the file */
    uint64_t address;  /**< an ELF file's bias, or where a plain image begins */
    bool plain;        /**< no ELF file: its bytes as they are */
    bool has_source;   /**< it is the program of one source alone, whose trace id is `source` */
    uint16_t source;   /**< trace id of the source, where has_source says that there is one */
    uint64_t spare[2]; /**< zero */
};

/** "For the DSO of this path take that file." Of those that fit the first that can be used. */
struct pug_capture_replacement {
    const char *path;  /**< as recorded, the end of a path after a "/", or the recorded build id */
    const char *file;  /**< what is taken for it */
    uint64_t spare[4]; /**< zero */
};

/** Where text is looked for that the capture names but does not hold. NULL: see each. */
struct pug_capture_roots {
    const char *symfs;          /**< recorded paths are below this folder; NULL: "/" */
    const char *const *symdirs; /**< folders that are searched, with all below them */
    size_t symdir_count;        /**< how many there are */
    const char *build_ids;      /**< build id cache; NULL: perf's own, $HOME/.debug; "": none */
    const struct pug_capture_replacement *replacements; /**< files for what has other paths here */
    size_t replacement_count;                           /**< how many there are */
    const char *kernel;     /**< vmlinux or a kcore; NULL: as the capture and the roots have it */
    const char *kallsyms;   /**< kernel symbols; NULL: the capture's own */
    const char *debuginfod; /**< server URLs, separated by spaces; NULL: no server */
    uint64_t spare[4];      /**< zero */
};

/** How a live input is read: a socket, a serial line, standard input, a FIFO, a device. */
struct pug_capture_stream {
    bool retry; /**< reconnect when the peer refuses or goes away: trace restarts after the gap */
    uint64_t retry_ms;    /**< for so long each time; 0: for ever */
    uint64_t duration_ms; /**< end as at the end of a file after so many milliseconds; 0: never */
    const char *save;     /**< keep the raw bytes in this file (PATH.2 … of later connections), or
                             in a folder ("PATH/") with a file for each connection */
    bool has_stop;        /**< end as at the end of a file when `stop` becomes readable */
    int stop;             /**< a descriptor */
    uint64_t ring;        /**< keep so many of the newest bytes between reading and decoding */
    uint64_t spare[3];    /**< zero */
};

/** What the options point to is borrowed, and must outlive the capture. */
struct pug_capture_options {
    struct pug_log *log;              /**< of the capture and of decoding; or NULL */
    const struct pug_quirks *quirks;  /**< for what imitates the reference; or NULL */
    struct pug_decode_options decode; /**< of all sources */
    size_t code_limit; /**< as in struct pug_tree_config; 0: less where there are many sources */

    /* A single file of trace: one of the first two makes it that. */
    const char *protocol;  /**< by name, or its begin; case and punctuation are no matter */
    const char *params;    /**< a parameter file (params.h) */
    const char *transport; /**< NULL: as the protocol usually travels */
    /** Go before the parameter file's, or the snapshot's (pug_snapshot_tree_config.sources). */
    struct pug_settings settings;
    const uint16_t *wanted; /**< sources that are looked for in it; others are left out */
    size_t wanted_count;    /**< 0: all */

    const char *buffer; /**< by name: the only one that is decoded; NULL: all are */
    const struct pug_capture_program *programs; /**< which no capture names */
    size_t program_count;                       /**< how many there are */
    struct pug_capture_roots roots;             /**< where text is looked for */
    /**
     * Most sources that ids in a single file make; 0: PUG_CAPTURE_SOURCES. Where there are more,
     * those with the most trace are decoded, and an error says so.
     */
    size_t source_limit;
    /** As in struct pug_snapshot_options; of perf.data: look only where `roots` says something. */
    bool confine;
    /**
     * Processes that decode it together (peers.h), all with a capture of the same input. A segment
     * that is in memory is cut among them; of others each has some. What counted() gets is what
     * each has for itself. NULL: it is one.
     */
    struct pug_peers *peers;
    const struct pug_capture_stream *live; /**< NULL: as usual */
    uint64_t spare[1];                     /**< zero */
};

/** So many sources are decoded where source_limit does not say another number. */
#define PUG_CAPTURE_SOURCES 256u

/**
 * Open a capture: a folder (a snapshot, a perf directory), a file (a snapshot.ini, perf.data, or
 * trace that the options describe), "-" for standard input, a FIFO or a device, or a live input:
 * "tcp:HOST:PORT", "tcp-listen:[HOST:]PORT", "unix:PATH", "serial:DEVICE[@BAUD]", or a preset
 * ("openocd", "openocd-tcl", "pyocd", "jlink", "orbuculum", each with [:HOST][:PORT]). A live input
 * without a protocol is ITM; its first bytes show how it is framed. PUG_ERR_FILE: it cannot be
 * opened, errno says why where it is not 0; PUG_ERR_DCDREG_NAME_UNKNOWN: no such protocol,
 * transport or buffer; PUG_ERR_INVALID_PARAM_VAL: settings cannot be; PUG_ERR_NOT_FOUND: nothing
 * says what it is, or the parameter file lists no source that is wanted. The log says more.
 */
enum pug_status pug_capture_open(const char *input, const struct pug_capture_options *options,
                                 struct pug_capture **capture);
/** NULL is left alone. */
void pug_capture_free(struct pug_capture *capture);

/* ---- what it is ---- */

/** Returns the kind of input. */
enum pug_capture_kind pug_capture_kind(const struct pug_capture *capture);
/** The input as it was given. */
const char *pug_capture_path(const struct pug_capture *capture);
/** In words: "snapshot", "perf.data, per thread, metadata version 1". */
const char *pug_capture_title(const struct pug_capture *capture);

/** The n-th fact about the whole capture ("arch", "aarch64"); false when there are no more. */
bool pug_capture_fact(const struct pug_capture *capture, size_t n, const char **name,
                      const char **value);

/** No processor is known. */
#define PUG_NO_CPU (-1)

/** The content of one trace buffer. */
struct pug_capture_buffer {
    const char *name;      /**< as the capture calls it; may be NULL */
    const char *file;      /**< where its bytes are */
    const char *transport; /**< by name; of some segments "plain", where flags say so */
    uint64_t size;         /**< bytes of trace in its segments */
    int32_t cpu, tid;      /**< whose buffer it is, or PUG_NO_CPU */
    bool chosen;           /**< it is decoded */
    size_t first_segment, segment_count; /**< those of other buffers may lie between them */
};

/** Properties of a segment. */
enum pug_segment_flag {
    PUG_SEGMENT_LOST = 1 << 0,     /**< trace was lost in or before it */
    PUG_SEGMENT_GAPS = 1 << 1,     /**< and inside */
    PUG_SEGMENT_SNAPSHOT = 1 << 2, /**< the end of an endless recording */
    PUG_SEGMENT_COLLISION = 1 << 3,
    PUG_SEGMENT_RAW = 1 << 4, /**< bytes of one source, without frames */
};

/** A piece of a buffer that begins from reset. */
struct pug_capture_segment {
    uint32_t buffer; /**< by number */
    uint32_t flags;  /**< enum pug_segment_flag */
    uint64_t offset; /**< trace index of its first byte */
    uint64_t size;   /**< bytes */
    uint64_t time;   /**< when it was taken, in the time of records; 0: not known */
    int32_t cpu;     /**< where it was recorded, or PUG_NO_CPU */
};

/** A source that writes trace into a buffer. */
struct pug_capture_source {
    uint32_t buffer;                     /**< that it writes into */
    uint16_t id;                         /**< trace id */
    const char *name;                    /**< of its device, its processor, or the file */
    const char *core;                    /**< that it traces, or NULL */
    const char *protocol;                /**< by name */
    int32_t cpu;                         /**< or PUG_NO_CPU */
    const struct pug_settings *settings; /**< NULL: more than a list */
};

/** The task is unknown. */
#define PUG_NO_TASK UINT32_MAX

/** A thread, under one name. A thread that takes another name is another task. */
struct pug_capture_task {
    int32_t pid, tid; /**< of the process, and of the thread */
    const char *comm; /**< "" if unknown */
    uint64_t begin;   /**< from when on it is called so, in the time of records */
};

/** The kind of thing that text comes from. */
enum pug_object_kind {
    PUG_OBJECT_FILE, /**< a program or library */
    PUG_OBJECT_KERNEL,
    PUG_OBJECT_MODULE,
    PUG_OBJECT_VDSO,
    PUG_OBJECT_MEMORY, /**< anonymous, JIT, what no file holds */
};

/** The result of the search for an object's text. */
enum pug_object_state {
    PUG_OBJECT_FOUND,       /**< its build id is the recorded one */
    PUG_OBJECT_UNVERIFIED,  /**< found; the capture has no build id for it */
    PUG_OBJECT_OTHER_BUILD, /**< what is there has another build id: not used */
    PUG_OBJECT_MISSING,
    PUG_OBJECT_UNUSABLE, /**< what is there cannot be read as a program */
};

/** A file or memory that the program's text comes from. */
struct pug_capture_object {
    enum pug_object_kind kind;   /**< what it is */
    enum pug_object_state state; /**< whether its text is there */
    const char *path;            /**< as recorded */
    const char *file;            /**< where its text was found, or NULL */
    const char *symbols;         /**< a file with symbols, where that is another one; or NULL */
    const char *why; /**< where it was looked for, and what would bring it; NULL: it is there */
    uint8_t build_id[20];  /**< as recorded */
    uint8_t build_id_size; /**< 0: not known */
};

/** The n-th of each, or NULL. Segments are in the order in which they are decoded. */
const struct pug_capture_buffer *pug_capture_buffer_at(const struct pug_capture *capture, size_t n);
/** As pug_capture_buffer_at(). */
const struct pug_capture_segment *pug_capture_segment_at(const struct pug_capture *capture,
                                                         size_t n);
/** As pug_capture_buffer_at(). */
const struct pug_capture_source *pug_capture_source_at(const struct pug_capture *capture, size_t n);
/** As pug_capture_buffer_at(). */
const struct pug_capture_task *pug_capture_task_at(const struct pug_capture *capture, size_t n);
/** Looking for an object's text happens when it is first asked for, here or by decoding. */
const struct pug_capture_object *pug_capture_object_at(struct pug_capture *capture, size_t n);

/** The unit of times. */
enum pug_capture_unit { PUG_CAPTURE_NO_TIME, PUG_CAPTURE_TICKS, PUG_CAPTURE_NANOSECONDS };

/** The unit of times, and their range. */
struct pug_capture_time {
    enum pug_capture_unit unit; /**< what they are counted in */
    const char *origin;         /**< in words: "perf clock", "trace timestamps" */
    uint64_t first, last;       /**< of the whole capture, 0 where unknown */
};
/**
 * What times are in origins, and in selections. The trace's timestamps are ticks, from whatever
 * their counter began with, unless the setting "timestamp_hz" says how many a second are; or, in
 * perf.data, the virtual counter's, with what turns them into perf's clock. (If they are known to
 * be the virtual counter's and the file does not say so, use the setting "timestamp_virtual".)
 */
struct pug_capture_time pug_capture_times(const struct pug_capture *capture);

/**
 * When a timestamp in the trace was taken, in nanoseconds of the capture's time. False: its unit or
 * its rate is unknown; *time is unchanged.
 */
bool pug_capture_clock(const struct pug_capture *capture, uint64_t timestamp, uint64_t *time);
/**
 * The other way: the first timestamp that was taken at a time, in the capture's unit, or later.
 * False: unknown; *timestamp is unchanged.
 */
bool pug_capture_timestamp(const struct pug_capture *capture, uint64_t time, uint64_t *timestamp);

/* ---- decoding ---- */

/** One version of an address space. It lives as long as the capture. */
struct pug_address_space;

/** The place that elements belong to. */
struct pug_origin {
    uint32_t buffer, segment; /**< by number */
    uint32_t task;            /**< by number, or PUG_NO_TASK */
    int32_t cpu;              /**< that ran it, or PUG_NO_CPU */
    uint16_t source;          /**< trace id */
    /**
     * When the first of these elements happened: the next timestamp of its source. In perf.data
     * without one, when both use one clock, it is the time at which the segment was taken. Within
     * one source of a buffer it never goes back. 0: unknown, or not requested (PUG_WANTS_TIMES in
     * consumer.h).
     */
    uint64_t time;
    const struct pug_address_space *space; /**< what lies at addresses then */
    uint64_t spare[4];                     /**< zero */
};

/** Which tasks, processors and sources count. All lists are NULL or empty: all of them. */
struct pug_capture_selection {
    const int32_t *pids, *tids, *cpus;      /**< processes, threads, processors */
    size_t pid_count, tid_count, cpu_count; /**< how many of each there are */
    const char *const *comms;               /**< names of tasks */
    size_t comm_count;                      /**< how many there are */
    const uint16_t *sources;                /**< trace ids */
    size_t source_count;                    /**< how many there are */
    const char *const *objects;             /**< DSOs, as pug_profile_object_is() has it */
    size_t object_count;                    /**< how many there are */
    bool has_from, has_to;                  /**< whether the next two count */
    uint64_t from, to; /**< what is dated `from` or later, and before `to` (pug_origin.time) */
    uint64_t spare[4]; /**< zero */
};

/** Takes elements of one origin; false: stop. */
typedef bool pug_situated_fn(void *context, const struct pug_origin *origin,
                             const struct pug_element *elements, size_t count);

/**
 * The simple way: all elements of all chosen buffers to a function, on this thread; those of a
 * segment in the order of decoding, and segments in theirs. Returns as pug_capture_decode(), which
 * does the same on all processors, with a selection, and counts.
 */
enum pug_status pug_capture_elements(struct pug_capture *capture, pug_situated_fn *give,
                                     void *context);

/** The consumers of a capture, and how much of it is decoded. */
struct pug_capture_decode {
    /**
     * All of these get the elements (consumer.h), each as if it were alone. Those of one part are
     * of one segment, and come in the order of decoding. Ranges are counted for consumers with
     * counted() only if pug_capture_counts(); otherwise elements() gets them.
     */
    const struct pug_consumer *consumers;
    size_t consumer_count; /**< of these */
    unsigned threads;      /**< 0: as many as there are processors for this process; at most 1024 */
    size_t piece;          /**< bytes that a thread takes at once; 0: a good size */
    const struct pug_capture_selection *selection; /**< NULL: everything */
    /** Called now and then on the caller's thread with how many bytes are done; false: stop. */
    bool (*progress)(void *context, uint64_t done);
    void *progress_context; /**< is handed to progress() */
    /**
     * Only bytes [from, to) of all that is chosen, counted in the order of decoding; to is 0: up to
     * the end. In the segment that `from` cuts decoders begin as if the trace began there, without
     * anything from earlier packets.
     */
    uint64_t from, to;
    struct pug_log *log; /**< where messages of decoding go; NULL: the capture's log */
    uint64_t spare[4];   /**< zero */
};

/** The result of decoding. */
struct pug_capture_result {
    uint64_t bytes;    /**< decoded */
    uint64_t stopped;  /**< segments that ended before their end: decoding them was fatal */
    uint64_t at;       /**< the trace index where the last of them did */
    unsigned threads;  /**< that were at work */
    bool ended;        /**< take() or progress() said so */
    uint64_t spare[4]; /**< zero */
};

/**
 * Decodes all chosen buffers to elements. Parts are taken in the order of segments (or, if a
 * consumer wants that, of time), and within one in that of decoding: the same for any number of
 * threads. elements() does not get what the selection leaves out. A selection of `objects` leaves
 * out ranges of other objects alone. PUG_ERR_RDR_NO_DECODER: no source can be decoded.
 * PUG_ERR_INVALID_PARAM_VAL: something is NULL, no consumer is given, or one lacks a function that
 * is not optional. PUG_ERR_MEM.
 */
enum pug_status pug_capture_decode(struct pug_capture *capture,
                                   const struct pug_capture_decode *decode,
                                   struct pug_capture_result *result);

/**
 * Is it trace from a stream, with more to come? The size of its segment is 0 then.
 * pug_capture_decode() takes it as it comes, once, with at most some 64 KiB of it in memory; so
 * does pug_capture_live(). Who asks for its bytes otherwise has all of it read into memory first.
 */
bool pug_capture_is_live(const struct pug_capture *capture);

/**
 * Did reading the capture fail after it was opened: its trace shrank, program memory could not be
 * read, or there was no memory for that? What was missing counts as zeros, or as not there, and
 * what was decoded of it is not true: who decodes asks in the end. False: all is well. (Trace in
 * files is mapped; the library handles SIGBUS of these mappings alone.)
 */
bool pug_capture_failure(const struct pug_capture *capture, struct pug_read_failure *failure);

/* ---- places ---- */

/** No object is known to lie there. */
#define PUG_NO_OBJECT UINT32_MAX

/** The place of an address of an origin. */
struct pug_location {
    uint32_t object; /**< by number */
    uint64_t vaddr;  /**< as the object's own file has it: what symbols and line tables use */
    uint64_t offset; /**< in the file */
    /** The same holds for all addresses around: from first to last, both inclusive. */
    uint64_t first, last;
    /**
     * The segment or mapping of the file that it is in, which may begin before and end after it.
     */
    uint64_t piece_first, piece_last;
    uint64_t text;     /**< 0: as the file has it; else written over it, each by another number */
    uint64_t spare[1]; /**< zero */
};

/** False: nothing is known to lie there. `location` then has the hole in first and last. */
bool pug_capture_locate(struct pug_capture *capture, const struct pug_origin *origin,
                        uint64_t address, struct pug_location *location);

/**
 * The names of an object's places (names.h): by its vaddr, of its own file and its debug
 * information; of a kernel without one by kallsyms, of code that a JIT compiler made by its map.
 * False: there are none. One thread at a time, as the names.
 */
bool pug_capture_names(struct pug_capture *capture, uint32_t object, struct pug_names *names,
                       struct pug_names_file **file);

/**
 * The source line of an address of an origin: in the memory that its task had then. As
 * pug_image_line(); `location` may be NULL.
 */
bool pug_capture_line(struct pug_capture *capture, const struct pug_origin *origin,
                      uint64_t address, struct pug_names *names, struct pug_names_line *line,
                      struct pug_location *location);

/** The functions at an address of an origin, as pug_names_frames(); `location` may be NULL. */
size_t pug_capture_frames(struct pug_capture *capture, const struct pug_origin *origin,
                          uint64_t address, struct pug_names *names, struct pug_names_frame *frames,
                          size_t room, struct pug_location *location);

#ifdef __cplusplus
}
#endif
#endif
