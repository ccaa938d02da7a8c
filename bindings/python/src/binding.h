// SPDX-License-Identifier: MIT
/**
 * @file What the files of the extension share.
 *
 * Three kinds of object pass between threads. All three count their references, and need no GIL:
 *
 *   struct core     an open capture, with copies of the options that it borrows
 *   struct chunk    rows of one kind, such as elements, with the bytes that they refer to
 *   struct stream   a thread that decodes, and a bounded queue of the chunks that it made
 *
 * Everything else is a Python object, and belongs to the GIL.
 */
#ifndef PUGMARK_PYTHON_BINDING_H
#define PUGMARK_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pugmark/advanced/quirks.h"
#include "pugmark/pugmark.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows (kinds.c, chunks.c, rows.c) ---- */

/** How a field of a row becomes a Python object. Letters of the struct module, and some more. */
enum field_form {
    FIELD_U8 = 'B',
    FIELD_I8 = 'b',
    FIELD_U16 = 'H',
    FIELD_U32 = 'I',
    FIELD_I32 = 'i',
    FIELD_U64 = 'Q',
    FIELD_I64 = 'q',
    FIELD_BOOL = '?',
    FIELD_TEXT = 's', /**< a uint32_t: the number of a string of the stream; 0: None */
};

struct field {
    const char *name, *doc;
    uint16_t offset;
    char form;
    bool overlaps; /**< it shares its bytes with a field before it: buffers leave it out */
};

struct chunk;

/** A kind of row. */
struct row_kind {
    const char *name, *doc;
    uint16_t size;
    const struct field *fields;
    /** Optional: a row in words, like snprintf(). */
    size_t (*words)(const struct chunk *chunk, const void *row, char *text, size_t size);
    PyObject *type; /**< of single rows */
    char *format;   /**< as struct and PEP 3118 write it */
};

extern struct row_kind kind_element, kind_merged, kind_call, kind_instruction, kind_dwt,
    kind_packet, kind_correlated, kind_range, kind_branch, kind_slice;
/** All of them, up to a NULL. */
extern struct row_kind *const row_kinds[];

/** An element, with its origin, where batches mix them. */
struct merged_row {
    struct pug_element element;
    uint64_t time;
    uint32_t task;
    int32_t cpu;
};

/** A call that is over. */
struct call_row {
    uint64_t begin, end, took, own, instructions, own_instructions, cycles;
    uint64_t address, start, site;
    uint32_t function, file, line, task, depth, exception;
    int32_t tid;
    uint32_t caller, handler;
    uint8_t kind, unit;
    bool timed, lost, tail, ended;
    uint8_t exception_numbers, unused[5];
};

/** A part of a timeline. */
struct slice_row {
    uint64_t begin, end;
    int64_t value;
    uint32_t track, name, file, detail, line, number, depth;
    int32_t pid, tid;
    uint8_t kind;
    bool estimated;
    uint8_t unused[2];
};

/** An instruction that ran. */
struct instruction_row {
    uint64_t index, address, time, offset;
    uint32_t text, function, file, line, task, group;
    int32_t cpu;
    uint16_t source;
    uint8_t size, isa, type, subtype;
    bool executed, conditional, last;
    uint8_t bytes[PUG_STEP_BYTES];
    uint8_t unused[3];
};

/** A packet; its bytes and its text are in the chunk. */
struct packet_row {
    uint64_t index, at;
    uint32_t size, type, flags, text_size, name, protocol;
    uint16_t source;
    uint8_t unused[6];
};

struct stream;

/** Rows of one kind and, where it has one, of one origin. */
struct chunk {
    atomic_uint references;
    struct chunk *next;
    const struct row_kind *kind;
    struct stream *stream; /**< whose strings the rows name; or NULL */
    struct pug_origin origin;
    bool has_origin;
    size_t count, room; /**< rows */
    uint8_t *rows;
    uint8_t *payload; /**< bytes that rows refer to by their offset */
    size_t payload_size, payload_room;
};

/** Most rows of a chunk. */
#define CHUNK_ROWS 4096u

struct chunk *chunk_new(const struct row_kind *kind, size_t room);
/** Give up one reference. NULL is allowed. */
void chunk_drop(struct chunk *chunk);
/** Make the memory of a chunk that is complete as small as what it holds. */
struct chunk *chunk_shrink(struct chunk *chunk);
/** Put bytes into the payload; false: no memory. */
bool chunk_keep(struct chunk *chunk, const void *bytes, size_t size, uint64_t *at);
/** The payload of an element moves into the chunk: `start` is its offset there from now on. */
bool chunk_take_payload(struct chunk *chunk, struct pug_element *element);

/** Are its rows of this origin? */
bool chunk_is_of(const struct chunk *chunk, const struct pug_origin *origin);
/** Copy as many elements as there is room for; how many these were. */
size_t chunk_put(struct chunk *chunk, const struct pug_element *elements, size_t count);

/** A Python object of a chunk, whose reference it takes. */
PyObject *batch_new(struct chunk *chunk);
int rows_init(PyObject *module);

/* ---- captures (capture.c) ---- */

struct core {
    atomic_uint references;
    struct pug_capture *capture;
    struct pug_log *log;
    pthread_mutex_t lock; /**< of the messages */
    struct message *messages;
    size_t message_count;
    bool timed;
    struct pug_names_options names;
    struct pug_quirks quirks;           /**< of the options */
    struct pug_capture_options options; /**< that it was opened with */
    struct kept *kept;                  /**< memory that the options point to */
};

struct core *core_hold(struct core *core);
void core_drop(struct core *core);
struct pug_names *core_names(const struct core *core);
/** Messages of the capture that came meanwhile, which are taken out: a list; NULL: an exception. */
PyObject *core_messages(struct core *core);

/** The core of a Capture; NULL, with an exception, of a closed one. */
struct core *capture_core(PyObject *capture);
int capture_init(PyObject *module);

/** Capture.diagnose(): the findings, as tuples. */
PyObject *capture_diagnose(PyObject *capture, PyObject *threads);

/** Memory that lives as long as what keeps it. */
struct kept {
    struct kept *next;
};
void *kept_room(struct kept **list, size_t size);
void kept_free(struct kept *list);

/** A selection out of a dict. False: with an exception. */
bool selection_take(PyObject *options, struct kept **kept, struct pug_capture_selection *selection);
/** Settings out of a sequence of pairs. False: with an exception. */
bool settings_take(PyObject *pairs, struct kept **kept, struct pug_settings *settings);
/** An entry of a dict as text that is kept; NULL: None, or not there, or with an exception. */
const char *option_text(PyObject *options, const char *name, struct kept **kept);
/** Returns the option as a number. */
uint64_t option_number(PyObject *options, const char *name, uint64_t otherwise);
/** Returns the option as a truth value. */
bool option_is(PyObject *options, const char *name);

/** Bytes that grow. */
struct bytes_out {
    char *bytes;
    size_t size, room;
    bool failed; /**< no memory: what came since is missing */
};
/** Append to them; `context` is a struct bytes_out. */
void bytes_put(void *context, const void *bytes, size_t size);

/* ---- messages and errors (errors.c) ---- */

/** A record of the log, kept until Python takes it. */
struct message {
    enum pug_severity severity;
    enum pug_status code;
    uint64_t index;
    uint32_t source;
    char text[232];
};

/** Most messages that wait; of more the first ones are kept. */
#define MESSAGES 256u
/** Most messages with one text that a stream reports. */
#define SAME_MESSAGES 8u
/** Texts count as the same where their hashes agree modulo this. */
#define TOLD 1024u

/** Keep a record of the log, which lives during the call only. */
void message_fill(struct message *message, const struct pug_log_record *record);
/** A Python list of messages. */
PyObject *messages_list(const struct message *messages, size_t count);
/** Hand a list of messages to logging. */
bool messages_log(PyObject *list);
/** Raise the exception that a status stands for; `list` is a list of messages, or NULL. */
void *raise_status(enum pug_status status, const char *what, PyObject *list);
int errors_init(PyObject *module);

/* ---- work on other threads (jobs.c, stream.c) ---- */

/** How a stream turns elements into rows. */
struct step {
    /** Elements of one origin, on the stream's thread. False: no memory. */
    bool (*take)(struct stream *stream, const struct chunk *elements);
    /** The trace is over. */
    bool (*end)(struct stream *stream);
    void (*free)(struct stream *stream);
};

/** Strings by number. Number 0 is none. */
struct strings {
    char **items;
    uint32_t count, room;
    uint32_t *table;
    uint32_t table_room;
};

struct stream {
    atomic_uint references;
    struct core *core;
    struct pug_log *log;
    const struct step *step;
    void *state;                        /**< the step's own */
    void (*run)(struct stream *stream); /**< what the thread does */
    struct kept *kept;                  /**< of the selection */
    struct pug_capture_selection selection;
    unsigned threads;
    bool merge, live, times, by_time;
    pthread_t thread;
    pthread_mutex_t lock; /**< of all that follows */
    pthread_cond_t changed;
    struct chunk *first, *last;
    size_t queued, put;
    bool started, joined, joining;
    atomic_bool stop;
    bool ended; /**< the thread puts nothing more */
    enum pug_status status;
    struct pug_capture_result result;
    struct message *messages;
    size_t message_count;
    unsigned char told[TOLD];
    struct strings strings;
    struct chunk *filling; /**< rows that the step makes; the thread's alone */
};

struct stream *stream_new(struct core *core);
void stream_drop(struct stream *stream);
/** Start the thread. False: with an exception. */
bool stream_start(struct stream *stream);
/** Put a chunk into the queue, which takes it. False: the consumer has stopped. */
bool stream_put(struct stream *stream, struct chunk *chunk);
/** Room for one more row of a kind; NULL: no memory, or the consumer has stopped. */
void *stream_row(struct stream *stream, const struct row_kind *kind);
/** Hand on the rows that were made. */
bool stream_flush(struct stream *stream);
/** The number of a string; 0: of NULL, or no memory. */
uint32_t stream_string(struct stream *stream, const char *text);
/** Decode the capture: elements go to the step, or where there is none into the queue. */
void stream_decode(struct stream *stream);
/** An iterator over the chunks of a stream, whose reference it takes. */
PyObject *stream_iterator(struct stream *stream);
int stream_init(PyObject *module);

/**
 * Run a function on another thread, without the GIL, and wait for it. False: with an exception, of
 * a signal; `stop` was set, and the function goes on alone until it sees that. Then `end` frees the
 * argument, on whatever thread; otherwise the caller does.
 */
bool job_run(void (*run)(void *argument, atomic_bool *stop), void *argument,
             void (*end)(void *argument));
/** Wait for a change, for 20 ms at most. Called with the lock, without the GIL. */
void wait_slice(pthread_cond_t *changed, pthread_mutex_t *lock);

/* ---- what streams make of elements (steps.c, packets.c) ---- */

PyObject *open_calls(struct core *core, PyObject *options);
PyObject *open_instructions(struct core *core, PyObject *options);
PyObject *open_dwt(struct core *core, PyObject *options);
PyObject *open_batches(struct core *core, PyObject *options);
PyObject *open_packets(struct core *core, PyObject *options);
PyObject *open_correlated(struct core *core, PyObject *options);
PyObject *open_slices(struct core *core, PyObject *options);

/** Fill in a stream what every kind of it takes from the options. False: with an exception. */
bool stream_options(struct stream *stream, PyObject *options);

/* ---- profiles (profile.c), parts (advanced.c), tables for others (arrow.c) ---- */

int profile_init(PyObject *module);
int advanced_init(PyObject *module);
int arrow_init(PyObject *module);
int check_init(PyObject *module);
PyObject *profile_capture(PyObject *capture, PyObject *options);
int timeline_init(PyObject *module);
int encode_init(PyObject *module);
int consume_init(PyObject *module);
/** How a decoding that a stream ran ended goes into its status. */
void stream_conclude(struct stream *stream, enum pug_status status);

/** Add a type to the module; NULL: with an exception. The module keeps a reference. */
PyObject *add_type(PyObject *module, PyType_Spec *spec);

/** An object of a type without __init__; NULL: with an exception. */
static inline void *new_object(PyObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    return allocate((PyTypeObject *)type, 0);
}

/** Free an object, and its reference to its type. */
static inline void free_object(void *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

#endif
