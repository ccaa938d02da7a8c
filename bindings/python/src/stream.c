// SPDX-License-Identifier: MIT
/** @file Threads that decode into a bounded queue. */
#include "binding.h"
#include "pugmark/advanced/consumer.h"

#include <stddef.h>
#include <structmember.h>

/* Chunks that wait at most, beside one for each thread. */
#define QUEUE 16u
/* The first chunks wake the consumer at once, later ones when half of the queue is full. */
#define PROMPT 4u

/* ---- streams ---- */

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash;
}

/** Has the stream kept enough messages like this one? With the lock. */
static bool is_repeated(struct stream *stream, const struct pug_log_record *record)
{
    const uint32_t hash = record->text ? hash_text(record->text) : (uint32_t)record->code;
    unsigned char *told = &stream->told[hash % TOLD];
    if (*told < SAME_MESSAGES)
        (*told)++;
    else
        return true;
    return false;
}

static void take_message(void *context, const struct pug_log_record *record)
{
    struct stream *stream = context;
    pthread_mutex_lock(&stream->lock);
    if (!stream->messages)
        stream->messages = calloc(MESSAGES, sizeof(*stream->messages));
    if (stream->messages && stream->message_count < MESSAGES && !is_repeated(stream, record))
        message_fill(&stream->messages[stream->message_count++], record);
    pthread_mutex_unlock(&stream->lock);
}

struct stream *stream_new(struct core *core)
{
    struct stream *stream = calloc(1, sizeof(*stream));
    struct pug_log *log = stream ? pug_log_new(PUG_SEV_WARN) : NULL;
    if (!log) {
        free(stream);
        PyErr_NoMemory();
        return NULL;
    }
    atomic_init(&stream->references, 1);
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    stream->core = core_hold(core);
    stream->log = log;
    stream->run = stream_decode;
    pug_log_set_sink(log, take_message, stream);
    return stream;
}

void stream_drop(struct stream *stream)
{
    if (!stream || atomic_fetch_sub(&stream->references, 1) != 1)
        return;
    if (stream->step && stream->step->free)
        stream->step->free(stream);
    for (uint32_t i = 0; i < stream->strings.count; i++)
        free(stream->strings.items[i]);
    free(stream->strings.items);
    free(stream->strings.table);
    free(stream->messages);
    chunk_drop(stream->filling);
    kept_free(stream->kept);
    pug_log_free(stream->log);
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->changed);
    core_drop(stream->core);
    free(stream);
}

bool stream_options(struct stream *stream, PyObject *options)
{
    stream->threads = (unsigned)option_number(options, "threads", 0);
    stream->merge = option_is(options, "merge");
    stream->live = pug_capture_is_live(stream->core->capture);
    stream->times = option_is(options, "times") && !stream->live;
    if (PyErr_Occurred())
        return false;
    return selection_take(options, &stream->kept, &stream->selection);
}

bool stream_put(struct stream *stream, struct chunk *chunk)
{
    const size_t most = QUEUE + stream->threads;
    pthread_mutex_lock(&stream->lock);
    while (stream->queued >= most && !atomic_load(&stream->stop))
        pthread_cond_wait(&stream->changed, &stream->lock);
    const bool wanted = !atomic_load(&stream->stop);
    if (wanted) {
        chunk->next = NULL;
        if (stream->last)
            stream->last->next = chunk;
        else
            stream->first = chunk;
        stream->last = chunk;
        stream->queued++;
        /* To wake somebody for each chunk costs more than the chunk. */
        if (stream->live || stream->put++ < PROMPT || stream->queued == most / 2)
            pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->lock);
    if (!wanted)
        chunk_drop(chunk);
    return wanted;
}

bool stream_flush(struct stream *stream)
{
    struct chunk *chunk = stream->filling;
    stream->filling = NULL;
    return !chunk || stream_put(stream, chunk_shrink(chunk));
}

void *stream_row(struct stream *stream, const struct row_kind *kind)
{
    if (stream->filling && stream->filling->count == CHUNK_ROWS && !stream_flush(stream))
        return NULL;
    if (!stream->filling) {
        stream->filling = chunk_new(kind, CHUNK_ROWS);
        if (!stream->filling)
            return NULL;
        atomic_fetch_add(&stream->references, 1);
        stream->filling->stream = stream;
    }
    struct chunk *chunk = stream->filling;
    return memset(chunk->rows + chunk->count++ * kind->size, 0, kind->size);
}

/* ---- strings ---- */

static bool grow_strings(struct strings *strings)
{
    if (strings->count < strings->room)
        return true;
    const uint32_t room = strings->room ? 2 * strings->room : 256;
    char **items = realloc(strings->items, room * sizeof(*items));
    if (!items)
        return false;
    strings->items = items;
    uint32_t *table = calloc(2 * (size_t)room, sizeof(*table));
    if (!table)
        return false;
    for (uint32_t i = 0; i < strings->count; i++) {
        uint32_t at = hash_text(items[i]) & (2 * room - 1);
        while (table[at])
            at = (at + 1) & (2 * room - 1);
        table[at] = i + 1;
    }
    free(strings->table);
    strings->table = table;
    strings->table_room = 2 * room;
    strings->room = room;
    return true;
}

uint32_t stream_string(struct stream *stream, const char *text)
{
    struct strings *strings = &stream->strings;
    if (!text)
        return 0;
    uint32_t number = 0, at = hash_text(text);
    pthread_mutex_lock(&stream->lock);
    if (grow_strings(strings)) {
        const uint32_t mask = strings->table_room - 1;
        for (at &= mask; strings->table[at]; at = (at + 1) & mask)
            if (strcmp(strings->items[strings->table[at] - 1], text) == 0)
                break;
        number = strings->table[at];
        char *copy = number ? NULL : strdup(text);
        if (copy) {
            strings->items[strings->count++] = copy;
            number = strings->table[at] = strings->count;
        }
    }
    pthread_mutex_unlock(&stream->lock);
    return number;
}

/* ---- decoding ---- */

/** What a thread makes of a part of the trace; chunks are emitted before it. */
struct part {
    struct chunk head; /**< kind NULL marks a part, not a chunk */
    struct stream *stream;
    struct pug_piece *piece;
    struct chunk *filling;
    bool over, failed;
};

static void *begin_part(void *context, unsigned worker, struct pug_piece *piece)
{
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    if (part) {
        part->stream = context;
        part->piece = piece;
    }
    return part;
}

static void hand_on(struct part *part)
{
    struct chunk *chunk = part->filling ? chunk_shrink(part->filling) : NULL;
    part->filling = NULL;
    if (chunk)
        part->over =
            !pug_piece_emit(part->piece, chunk,
                            sizeof(*chunk) + chunk->room * chunk->kind->size + chunk->payload_size);
}

/** A chunk with room for elements of an origin; NULL: no memory. */
static struct chunk *room_for(struct part *part, const struct pug_origin *origin)
{
    struct chunk *chunk = part->filling;
    if (chunk &&
        (chunk->count == chunk->room || (chunk->has_origin && !chunk_is_of(chunk, origin)))) {
        hand_on(part);
        chunk = NULL;
    }
    if (!chunk && !part->over) {
        chunk = chunk_new(part->stream->merge ? &kind_merged : &kind_element, CHUNK_ROWS);
        part->filling = chunk;
        if (chunk) {
            chunk->origin = *origin;
            chunk->has_origin = !part->stream->merge;
        }
        part->failed = !chunk;
    }
    return chunk;
}

static size_t put_merged(struct chunk *chunk, const struct pug_origin *origin,
                         const struct pug_element *elements, size_t count)
{
    const size_t room = chunk->room - chunk->count, n = count < room ? count : room;
    struct merged_row *to = (struct merged_row *)(void *)chunk->rows + chunk->count;
    for (size_t i = 0; i < n; i++) {
        to[i] = (struct merged_row){elements[i], origin->time, origin->task, origin->cpu};
        chunk_take_payload(chunk, &to[i].element);
    }
    chunk->count += n;
    return n;
}

static void put_elements(void *context, const struct pug_origin *origin,
                         const struct pug_element *elements, size_t count)
{
    struct part *part = context;
    part->over |= atomic_load_explicit(&part->stream->stop, memory_order_relaxed);
    while (count > 0 && !part->over) {
        struct chunk *chunk = room_for(part, origin);
        if (!chunk)
            break;
        const size_t n = part->stream->merge ? put_merged(chunk, origin, elements, count)
                                             : chunk_put(chunk, elements, count);
        elements += n;
        count -= n;
    }
    if (part->stream->live)
        hand_on(part);
}

static bool use_chunk(struct stream *stream, struct chunk *chunk)
{
    if (!stream->step)
        return stream_put(stream, chunk);
    bool more = stream->step->take(stream, chunk);
    if (more && stream->live)
        more = stream_flush(stream);
    chunk_drop(chunk);
    return more && !atomic_load(&stream->stop);
}

static void drop_part(void *item)
{
    struct chunk *chunk = item;
    if (chunk->kind) {
        chunk_drop(chunk);
        return;
    }
    struct part *part = item;
    chunk_drop(part->filling);
    free(part);
}

static bool take_part(void *context, void *item)
{
    struct stream *stream = context;
    struct chunk *chunk = item;
    if (chunk->kind)
        return use_chunk(stream, chunk);
    struct part *part = item;
    bool more = !part->failed;
    if (part->failed)
        stream->status = PUG_ERR_MEM;
    if (more && part->filling) {
        chunk = chunk_shrink(part->filling);
        part->filling = NULL;
        more = use_chunk(stream, chunk);
    }
    drop_part(part);
    return more;
}

static bool go_on(void *context, uint64_t done)
{
    struct stream *stream = context;
    (void)done;
    return !atomic_load(&stream->stop);
}

void stream_conclude(struct stream *stream, enum pug_status status)
{
    struct pug_read_failure failure;
    if (stream->status == PUG_OK)
        stream->status = status;
    if (stream->status == PUG_OK && stream->result.stopped > 0)
        stream->status = PUG_ERR_DATA_DECODE_FATAL;
    if (stream->status == PUG_OK && pug_capture_failure(stream->core->capture, &failure))
        stream->status = failure.status;
}

void stream_decode(struct stream *stream)
{
    const struct pug_consumer consumer = {.context = stream,
                                          .wants = (stream->times ? PUG_WANTS_TIMES : 0u) |
                                                   (stream->by_time ? PUG_WANTS_BY_TIME : 0u),
                                          .begin = begin_part,
                                          .elements = put_elements,
                                          .take = take_part,
                                          .drop = drop_part};
    const struct pug_capture_decode decode = {.consumers = &consumer,
                                              .consumer_count = 1,
                                              .threads = stream->threads,
                                              .selection = &stream->selection,
                                              .progress = go_on,
                                              .progress_context = stream,
                                              .log = stream->log};
    stream_conclude(stream, pug_capture_decode(stream->core->capture, &decode, &stream->result));
    if (!stream->step || atomic_load(&stream->stop))
        return;
    if ((stream->step->end && !stream->step->end(stream)) || !stream_flush(stream))
        stream->status =
            stream->status == PUG_OK && !atomic_load(&stream->stop) ? PUG_ERR_MEM : stream->status;
}

static void *stream_thread(void *argument)
{
    struct stream *stream = argument;
    stream->run(stream);
    chunk_drop(stream->filling); /* it refers to the stream */
    stream->filling = NULL;
    pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    stream_drop(stream);
    return NULL;
}

bool stream_start(struct stream *stream)
{
    atomic_fetch_add(&stream->references, 1);
    if (pthread_create(&stream->thread, NULL, stream_thread, stream) != 0) {
        stream_drop(stream);
        PyErr_SetString(PyExc_RuntimeError, "cannot start a thread");
        return false;
    }
    stream->started = true;
    return true;
}

/* ---- iterators ---- */

struct stream_object {
    PyObject_HEAD struct stream *stream;
    PyObject *weak;
};
static PyObject *stream_type;

PyObject *stream_iterator(struct stream *stream)
{
    struct stream_object *object = new_object(stream_type);
    if (!object || !stream_start(stream)) {
        Py_XDECREF((PyObject *)object);
        stream_drop(stream);
        return NULL;
    }
    object->stream = stream;
    return (PyObject *)object;
}

/** Stop the thread, wait for its end, and drop what is in the queue. */
static void stream_stop(struct stream *stream)
{
    struct chunk *first;
    PyThreadState *const python = PyEval_SaveThread();
    pthread_mutex_lock(&stream->lock);
    atomic_store(&stream->stop, true);
    pthread_cond_broadcast(&stream->changed);
    const bool join = stream->started && !stream->joining;
    stream->joining = true;
    pthread_mutex_unlock(&stream->lock);
    if (join)
        pthread_join(stream->thread, NULL);
    pthread_mutex_lock(&stream->lock);
    first = stream->first;
    stream->first = stream->last = NULL;
    stream->queued = 0;
    pthread_mutex_unlock(&stream->lock);
    for (struct chunk *next; first; first = next) {
        next = first->next;
        chunk_drop(first);
    }
    PyEval_RestoreThread(python);
}

static void stream_free(PyObject *self)
{
    struct stream_object *object = (struct stream_object *)self;
    if (object->weak)
        PyObject_ClearWeakRefs(self);
    if (object->stream) {
        stream_stop(object->stream);
        stream_drop(object->stream);
    }
    free_object(self);
}

/** Take a chunk out of the queue, if it has one. With the lock. */
static struct chunk *take_chunk(struct stream *stream)
{
    struct chunk *chunk = stream->first;
    if (!chunk || atomic_load(&stream->stop))
        return NULL;
    stream->first = chunk->next;
    if (!stream->first)
        stream->last = NULL;
    chunk->next = NULL;
    if (--stream->queued == (QUEUE + stream->threads) / 2)
        pthread_cond_broadcast(&stream->changed);
    return chunk;
}

/** Messages that came meanwhile go to logging. NULL: with an exception. */
static PyObject *tell_messages(struct stream *stream)
{
    struct message copy[8];
    PyObject *all = PyList_New(0);
    size_t done = 0, count = 1;
    while (all && count > 0) {
        pthread_mutex_lock(&stream->lock);
        count = stream->message_count - done;
        if (count > 8)
            count = 8;
        if (count > 0)
            memcpy(copy, stream->messages + done, count * sizeof(*copy));
        done += count;
        if (count == 0)
            stream->message_count = 0;
        pthread_mutex_unlock(&stream->lock);
        PyObject *list = messages_list(copy, count);
        if (!list || PyList_SetSlice(all, PyList_Size(all), PyList_Size(all), list) != 0)
            Py_CLEAR(all);
        Py_XDECREF(list);
    }
    if (all && !messages_log(all))
        Py_CLEAR(all);
    return all;
}

static PyObject *stream_over(struct stream *stream)
{
    const enum pug_status status = stream->status;
    PyObject *messages = tell_messages(stream), *others = core_messages(stream->core);
    if (messages &&
        !(others && messages_log(others) &&
          PyList_SetSlice(messages, PyList_Size(messages), PyList_Size(messages), others) == 0))
        Py_CLEAR(messages);
    Py_XDECREF(others);
    if (messages && status != PUG_OK && !atomic_load(&stream->stop)) {
        stream->status = PUG_OK; /* it is raised once */
        raise_status(status, pug_capture_path(stream->core->capture), messages);
    }
    Py_XDECREF(messages);
    return NULL;
}

static PyObject *stream_next(PyObject *self)
{
    struct stream *stream = ((struct stream_object *)self)->stream;
    for (;;) {
        pthread_mutex_lock(&stream->lock);
        struct chunk *chunk = take_chunk(stream);
        const bool over = !chunk && (stream->ended || atomic_load(&stream->stop));
        const bool has_messages = stream->message_count > 0;
        pthread_mutex_unlock(&stream->lock);
        if (over)
            return stream_over(stream);
        if (chunk && has_messages) {
            PyObject *messages = tell_messages(stream);
            if (!messages) {
                chunk_drop(chunk);
                return NULL;
            }
            Py_DECREF(messages);
        }
        if (chunk)
            return batch_new(chunk);
        PyThreadState *const python = PyEval_SaveThread();
        pthread_mutex_lock(&stream->lock);
        if (!stream->first && !stream->ended && !atomic_load(&stream->stop))
            wait_slice(&stream->changed, &stream->lock);
        pthread_mutex_unlock(&stream->lock);
        PyEval_RestoreThread(python);
        if (PyErr_CheckSignals() != 0)
            return NULL;
    }
}

static PyObject *stream_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    stream_stop(((struct stream_object *)self)->stream);
    Py_RETURN_NONE;
}

static PyObject *stream_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *stream_exit(PyObject *self, PyObject *args)
{
    (void)args;
    return stream_close(self, NULL);
}

static PyMethodDef stream_methods[] = {
    {"close", stream_close, METH_NOARGS,
     "close()\n--\n\nStop decoding and wait for its threads. Also from another thread."},
    {"__enter__", stream_enter, METH_NOARGS, NULL},
    {"__exit__", stream_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef stream_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct stream_object, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot stream_slots[] = {{Py_tp_dealloc, (void *)stream_free},
                                     {Py_tp_iter, (void *)PyObject_SelfIter},
                                     {Py_tp_iternext, (void *)stream_next},
                                     {Py_tp_methods, stream_methods},
                                     {Py_tp_members, stream_members},
                                     {Py_tp_doc, "Batches of rows, as decoding makes them."},
                                     {0, NULL}};
static PyType_Spec stream_spec = {"pugmark.Stream", sizeof(struct stream_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  stream_slots};

int stream_init(PyObject *module)
{
    stream_type = add_type(module, &stream_spec);
    return stream_type ? 0 : -1;
}
