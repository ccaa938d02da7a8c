// SPDX-License-Identifier: MIT
/**
 * @file The capture from inside, shared by its files and by the kinds of input that fill it.
 *
 * capture.c: what it is, and asking it. open.c: recognising an input. snapshot.c, raw.c: the kinds
 * that are decoded as a whole. decode.c: decoding; attribute.c: where elements belong.
 */
#ifndef PUG_CAPTURE_CAPTURE_H
#define PUG_CAPTURE_CAPTURE_H

#include "base/grow.h"
#include "image/image.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/capture.h"
#include "pugmark/names.h"

#include <pthread.h>
#include <stdatomic.h>

struct pug_capture_bytes {
    const uint8_t *bytes;
    uint64_t size;
    struct pug_map *map; /**< that they are of; NULL: they are allocated */
};

/** What a space is called by all that opened the same input: numbers are each one's own. */
struct pug_space_name {
    uint64_t words[6];
};

struct pug_address_space {
    const struct pug_image *image;
    struct pug_reader_space reader; /**< who reads it: where the image knows contexts */
    /** The object at an address; NULL: as the image's files say. */
    const struct pug_memory_map *map;
    uint64_t number; /**< no two spaces of a capture have the same; 0 is none */
};

/** The fields of elements that show where they belong. */
struct pug_capture_moment {
    uint32_t segment;
    uint64_t index;
    uint16_t source;
    struct pug_reader_space reader;
};

/**
 * What a thread that decodes keeps of the segment it is in. Kinds that need more put this struct
 * first in their own.
 */
struct pug_capture_worker {
    struct pug_capture *capture;
    uint32_t segment;
    bool times;     /**< origins are to have times from within the segment */
    bool moves;     /**< memory may change within it, without a change of ids */
    uint64_t until; /**< situate(): the time is that of everything up to this index */
    struct pug_capture_marks *reader; /**< of many workers: times are read with it; or NULL */
};

/**
 * What a recorder counted in place of trace: so often the program came to an address in a way that
 * trace would tell, and its next branches were taken or not. The bits end where trace would have to
 * tell an address again.
 */
struct pug_capture_row {
    uint32_t object;
    uint8_t isa;    /**< enum pug_isa */
    uint64_t vaddr; /**< as the object's own file has it */
    uint32_t branches;
    const uint8_t *taken; /**< bit n % 8 of byte n / 8: branch n was taken */
    uint64_t count;
};

/** The operations of a kind of input. */
struct pug_capture_ops {
    void (*free)(struct pug_capture *capture);
    /** A tree for a segment's buffer, and its image, which is the capture's. */
    enum pug_status (*tree)(struct pug_capture *capture, uint32_t segment, bool decode,
                            struct pug_log *log, struct pug_tree **tree);
    /** Segments with the same number can be decoded by one tree; NULL: those of a buffer. */
    uint32_t (*tree_kind)(const struct pug_capture *capture, uint32_t segment);
    /** As pug_capture_bytes(). */
    size_t (*read)(const struct pug_capture *capture, uint32_t segment, uint64_t from, void *bytes,
                   size_t size, enum pug_status *status);
    /** As pug_capture_memory(); NULL: never. */
    const uint8_t *(*memory)(const struct pug_capture *capture, uint32_t segment);
    /** As pug_capture_live(), while the capture is live. NULL: it never is. */
    size_t (*live)(struct pug_capture *capture, uint64_t from, uint8_t *bytes, size_t size,
                   enum pug_status *status);
    /** Read all that is still to come; it is not live any more. */
    void (*settle)(struct pug_capture *capture);
    /** NULL: a plain one will do. */
    struct pug_capture_worker *(*worker)(struct pug_capture *capture);
    void (*worker_free)(struct pug_capture_worker *worker);
    /** The worker, and the tree, go over to worker->segment; NULL: nothing to do. */
    enum pug_status (*begin)(struct pug_capture_worker *worker, struct pug_tree *tree);
    /** Task, time, processor and space of a moment; the origin has buffer, segment, source. */
    void (*situate)(struct pug_capture_worker *worker, const struct pug_capture_moment *moment,
                    struct pug_origin *origin);
    /** The processor that a source of the segment traces, or PUG_NO_CPU; NULL: unknown. */
    int32_t (*cpu)(const struct pug_capture *capture, uint32_t segment, uint16_t source);
    /** As pug_capture_clock(); NULL: no clock is known. */
    bool (*clock)(const struct pug_capture *capture, uint64_t timestamp, uint64_t *time);
    /** As pug_capture_timestamp(), where there is a clock. */
    bool (*timestamp)(const struct pug_capture *capture, uint64_t time, uint64_t *timestamp);
    /** As pug_capture_space(); NULL: spaces are those of image_space.c. */
    const struct pug_address_space *(*space)(const struct pug_capture *capture, uint64_t number);
    /** What a space is called, and the space of a name; NULL: image_space.c knows. */
    void (*name)(const struct pug_address_space *space, struct pug_space_name *name);
    const struct pug_address_space *(*named)(struct pug_capture *capture,
                                             const struct pug_space_name *name);
    /** NULL: by the files of the space's image. */
    bool (*locate)(struct pug_capture *capture, const struct pug_address_space *space,
                   uint64_t address, struct pug_location *location);
    /** As pug_capture_segment_taken(); NULL: unknown. */
    bool (*taken)(const struct pug_capture *capture, uint32_t segment, uint64_t *time);
    /** As pug_capture_failure(), of what is the kind's own. */
    bool (*failure)(const struct pug_capture *capture, struct pug_read_failure *failure);
    /** Look for an object's text, once; NULL: there is nothing to look for. */
    void (*seek)(struct pug_capture *capture, uint32_t object);
    /** Symbols that an object has besides its file's; false: none. NULL: never. */
    bool (*symbols)(struct pug_capture *capture, uint32_t object,
                    struct pug_names_symbols *symbols);
    /** The n-th row; false: there are no more. NULL: it has none. */
    bool (*row)(struct pug_capture *capture, size_t n, struct pug_capture_row *row);
    /** Text of an object by its own addresses: up to `size` bytes, 0: it is not there. */
    size_t (*read_object)(struct pug_capture *capture, uint32_t object, uint64_t vaddr,
                          uint8_t *bytes, size_t size);
};

struct pug_capture {
    enum pug_capture_kind kind;
    const struct pug_capture_ops *ops;
    void *own; /**< the kind's */
    struct pug_capture_options options;
    struct pug_quirks quirks; /**< of these; zero: none */
    struct pug_log *log;
    char *path, *title;
    struct pug_list facts;    /**< struct pug_capture_fact */
    struct pug_list buffers;  /**< struct pug_capture_buffer */
    struct pug_list segments; /**< struct pug_capture_segment */
    struct pug_list sources;  /**< struct pug_capture_source */
    struct pug_list tasks;    /**< struct pug_capture_task */
    struct pug_list
        threads; /**< struct pug_capture_task *: those that decoding found, after these */
    struct pug_list objects;   /**< struct pug_capture_object * */
    struct pug_list texts;     /**< char *: strings of all these */
    struct pug_list unread;    /**< uint32_t: objects whose debug information was asked after */
    struct pug_list too_large; /**< uint32_t: those where it is left out, which was said */
    struct pug_list nameless;  /**< uint32_t: those whose text of symbols, in memory, has none */
    struct pug_capture_time times, record_times;
    uint64_t hertz;                     /**< of its times, from settings; 0: not given */
    uint64_t local_hertz, global_hertz; /**< of local timestamps, and of those that all share */
    struct pug_capture_marks **marks;   /**< by segment, once asked for; or NULL */
    pthread_mutex_t marks_lock;         /**< guards these */
    pthread_mutex_t lock;               /**< guards what is found and made while it is decoded */
    struct pug_list images;             /**< struct pug_capture_images: by buffer */
    uint64_t spaces;                    /**< that were made in them */
    atomic_bool starved;                /**< there was no memory for a space, a text, or times */
    struct pug_capture_bytes head;      /**< of a stream: what was read to recognise it */
    struct pug_live *stream;            /**< the stream, or NULL */
    const char *guessed;                /**< a setting that its first bytes ask for; or NULL */
    bool unknown;                       /**< nothing known begins as its first bytes do */
    bool begins;                        /**< its first byte is taken for a packet's */
    bool restarted;                     /**< what live() gave last does not continue: … */
    uint64_t dropped;                   /**< … so many bytes did not fit; 0: a new connection */
    bool gap;             /**< that is so of what comes after the bytes at hand, … */
    uint64_t gap_dropped; /**< … of which so many did not fit */
    bool live;            /**< its trace comes from a stream, and is not over */
    bool told_times;      /**< sources of perf.data have timestamps, all of one clock */
};

struct pug_capture_fact {
    const char *name, *value;
};

/** The memory of one buffer's elements, where spaces do not change. */
struct pug_capture_images {
    struct pug_image *image;
    struct pug_list spaces; /**< struct pug_address_space *, by reader */
};

/* ---- capture.c ---- */

/** Segments with the same number can be decoded by one tree. */
uint32_t pug_capture_tree_kind(const struct pug_capture *capture, uint32_t segment);

/** Bytes for the code map of each of so many sources: together they stay within bounds. */
size_t pug_capture_code_limit(const struct pug_capture *capture, size_t sources);

/** Put a message in the log; the status is handed back. `format` may say all: PUG_OK is no code. */
enum pug_status pug_capture_say(const struct pug_capture *capture, enum pug_severity severity,
                                enum pug_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** There was no memory for something, so that answers may lack it: pug_capture_failure(). */
static inline void pug_capture_starve(struct pug_capture *capture)
{
    atomic_store(&capture->starved, true);
}

/** pug_list_add(); a lack of memory is reported by the capture. */
void *pug_capture_add(struct pug_capture *capture, struct pug_list *list, size_t item_size);

/**
 * The number of a task that decoding found, at least `from`: of an equal one that was found before,
 * or a new one. PUG_NO_TASK: no memory.
 */
uint32_t pug_capture_found_task(struct pug_capture *capture, uint32_t from,
                                const struct pug_capture_task *task);

/** A copy that lives as long as the capture; "" without memory. At most `size` bytes are read. */
const char *pug_capture_keep(struct pug_capture *capture, const char *text, size_t size);
const char *pug_capture_keep_format(struct pug_capture *capture, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void pug_capture_add_fact(struct pug_capture *capture, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline struct pug_capture_buffer *pug_capture_buffers(const struct pug_capture *capture)
{
    return capture->buffers.items;
}

static inline struct pug_capture_segment *pug_capture_segments(const struct pug_capture *capture)
{
    return capture->segments.items;
}

static inline struct pug_capture_object **pug_capture_objects(const struct pug_capture *capture)
{
    return capture->objects.items;
}

static inline struct pug_capture_task *pug_capture_tasks(const struct pug_capture *capture)
{
    return capture->tasks.items;
}

/** A zeroed object at the end of the list, or NULL. */
struct pug_capture_object *pug_capture_add_object(struct pug_capture *capture);

/* ---- the kinds ---- */

/** Fill a new capture, whose `path` and `options` are there. */
enum pug_status pug_capture_open_snapshot(struct pug_capture *capture, const char *folder);
enum pug_status pug_capture_open_raw(struct pug_capture *capture);
/** A trace folder of the CMSIS-Toolbox, by the path of its NAME.ctrace-run.yml. */
enum pug_status pug_capture_open_ctrace(struct pug_capture *capture, const char *run);
/** Does a path end as the name of such a file? */
bool pug_capture_is_ctrace(const char *path);
/** The one in a folder, or in `.trace` there. PUG_ERR_NOT_FOUND, silently: it has none. */
enum pug_status pug_capture_find_ctrace(const struct pug_capture *capture, char *path, size_t size);
enum pug_status pug_perf_open(struct pug_capture *capture);
/** Is it the begin of a perf.data file? */
bool pug_perf_recognise(const uint8_t *bytes, size_t size);

/** Add what the options say of the program to an image. */
enum pug_status pug_capture_add_programs(struct pug_capture *capture, struct pug_image *image,
                                         const struct pug_settings *transport);

/* ---- vectors.c ---- */

struct pug_vectors;

/**
 * The vector tables of a source's core, or of any (PUG_VECTORS_ANY): those of its program, of which
 * the source's settings VTOR and VTOR_NS choose. `image` may be NULL.
 */
void pug_capture_vectors(struct pug_capture *capture, const struct pug_image *image,
                         uint16_t source, struct pug_vectors *vectors);

/* ---- image_space.c: spaces that do not change in time ---- */

/** The space of a moment in a buffer's image, made when first asked for; NULL: no memory. */
const struct pug_address_space *pug_capture_image_space(struct pug_capture *capture,
                                                        uint32_t buffer,
                                                        const struct pug_reader_space *reader);
/** That of an element, where it is found by ids: not in perf.data. */
const struct pug_address_space *pug_capture_element_space(struct pug_capture *capture,
                                                          uint32_t buffer,
                                                          const struct pug_element *element);
const struct pug_address_space *pug_capture_numbered_space(struct pug_capture *capture,
                                                           uint64_t number);
/** The name of a number; false: no space has it. */
bool pug_capture_space_name(struct pug_capture *capture, uint64_t number,
                            struct pug_space_name *name);
/** NULL: there is none with that name. */
const struct pug_address_space *pug_capture_space_named(struct pug_capture *capture,
                                                        const struct pug_space_name *name);
bool pug_capture_locate_in_image(struct pug_capture *capture, const struct pug_address_space *space,
                                 uint64_t address, struct pug_location *location);
/**
 * Does an object answer to this name: its path, the end of it from a slash on, or its build id in
 * hexadecimal digits?
 */
bool pug_object_is(const char *path, const uint8_t *build_id, unsigned size, const char *name);
/** The path of the first one that does, which stays; NULL: none. */
const char *pug_capture_object_called(struct pug_capture *capture, const char *name);

/** Make objects of the files in a buffer's image. */
enum pug_status pug_capture_list_objects(struct pug_capture *capture, struct pug_image *image);
void pug_capture_images_free(struct pug_capture *capture);

/* ---- stream.c: opening streams ---- */

/**
 * Open the capture's stream: a pipe, a device, a socket. Where nothing describes it, its first
 * bytes do: they are the capture's head. *perf: it is perf.data. The log says why not.
 */
enum pug_status pug_capture_open_stream(struct pug_capture *capture, bool *perf);
/** Does it come from a peer, who may never end? Pipes and files that are read as such do. */
bool pug_capture_stream_waits(const struct pug_capture *capture);
/** Read more of a stream; 0: it is over, or it restarts; below 0: the log says why not. */
int64_t pug_capture_stream_read(struct pug_capture *capture, void *bytes, size_t size);
/** Say at which rate these first bytes of a serial line would be text; false: at none, or at its
 * own. */
bool pug_capture_stream_rate(const struct pug_capture *capture, const uint8_t *bytes,
                             uint64_t size);
/** After PUG_LIVE_GAP: note, and report, what is missing. */
void pug_capture_stream_gap(struct pug_capture *capture);
/** Has the tree restart where what the stream gave last does not continue. */
void pug_capture_restart(const struct pug_capture *capture, struct pug_tree *tree);

/* ---- live.c: reading streams ---- */

/** The first `most` bytes of a stream stay, while it is read as it comes. False: no memory. */
bool pug_capture_keep_begin(struct pug_capture *capture, uint64_t most);
/**
 * What stayed of a stream that was read as it came, and how many bytes came; NULL: it was not, or
 * not yet.
 */
const uint8_t *pug_capture_begun(const struct pug_capture *capture, uint64_t *size, uint64_t *came);

/* ---- decode.c ---- */

/**
 * Are there buffers of several processors, of which it is known what comes first? They are decoded
 * side by side where the consumer asks for by_time.
 */
bool pug_capture_has_sides(const struct pug_capture *capture);

/**
 * Does it have a time, or the information that the time is unknown? That is what counts of what is
 * left out.
 */
static inline bool pug_capture_tells_time(const struct pug_element *element)
{
    return element->type == PUG_ELEM_TIMESTAMP || element->type == PUG_ELEM_TRACE_ON ||
           element->type == PUG_ELEM_NO_SYNC;
}

/* ---- memory.c: bytes of a file ---- */

/** Map a regular file. The log says why not. */
enum pug_status pug_capture_map(const struct pug_capture *capture, const char *path,
                                struct pug_capture_bytes *bytes);
/** Unmapped, or freed. */
void pug_capture_release(struct pug_capture_bytes *bytes);
/** Did the file that they are of shrink? */
bool pug_capture_shrank(const struct pug_capture_bytes *bytes, const char *path,
                        struct pug_read_failure *failure);

#endif
