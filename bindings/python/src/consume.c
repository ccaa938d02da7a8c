// SPDX-License-Identifier: MIT
/**
 * @file A consumer in Python: parts of the trace on all threads, taken in order. The GIL is held
 * only while the consumer's own methods run.
 */
#include "binding.h"
#include "pugmark/advanced/consumer.h"

struct consuming {
    struct core *core;
    struct kept *kept;
    struct pug_capture_selection selection;
    PyObject *consumer;
    pthread_mutex_t lock; /* of the error */
    PyObject *error;      /* what a method raised first, or NULL */
    struct pug_capture_decode decode;
    struct pug_consumer functions;
    struct pug_capture_result result;
    enum pug_status status;
    atomic_bool failed, *stop;
};

/** What one thread makes of a part of the trace. */
struct consumed {
    struct consuming *all;
    PyObject *part; /* what the consumer's begin() gave */
    struct chunk *filling;
};

/** Keeps the exception that is set, if it is the first. With the GIL. */
static void fail(struct consuming *all)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace && value)
        PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    pthread_mutex_lock(&all->lock);
    PyObject *other = all->error ? value : NULL;
    if (!other)
        all->error = value;
    pthread_mutex_unlock(&all->lock);
    Py_XDECREF(other);
    atomic_store(&all->failed, true);
}

static bool is_over(const struct consuming *all)
{
    return atomic_load(&all->failed) || atomic_load(all->stop);
}

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct consuming *all = context;
    struct consumed *consumed = calloc(1, sizeof(*consumed));
    (void)worker;
    (void)piece;
    if (!consumed)
        return NULL;
    consumed->all = all;
    const PyGILState_STATE state = PyGILState_Ensure();
    consumed->part = PyObject_CallMethod(all->consumer, "begin", NULL);
    if (!consumed->part)
        fail(all);
    PyGILState_Release(state);
    return consumed;
}

/** The rows so far go to the consumer's elements(). */
static void hand_on(struct consumed *consumed)
{
    struct consuming *all = consumed->all;
    struct chunk *chunk = consumed->filling;
    consumed->filling = NULL;
    if (!chunk || is_over(all) || !consumed->part) {
        chunk_drop(chunk);
        return;
    }
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *batch = batch_new(chunk_shrink(chunk));
    PyObject *done =
        batch ? PyObject_CallMethod(all->consumer, "elements", "OO", consumed->part, batch) : NULL;
    if (!done)
        fail(all);
    Py_XDECREF(done);
    Py_XDECREF(batch);
    PyGILState_Release(state);
}

static void elements(void *context, const struct pug_origin *origin,
                     const struct pug_element *given, size_t count)
{
    struct consumed *consumed = context;
    while (count > 0 && !is_over(consumed->all)) {
        struct chunk *chunk = consumed->filling;
        if (chunk && (chunk->count == chunk->room || !chunk_is_of(chunk, origin))) {
            hand_on(consumed);
            chunk = NULL;
        }
        if (!chunk) {
            chunk = consumed->filling = chunk_new(&kind_element, CHUNK_ROWS);
            if (!chunk) {
                consumed->all->status = PUG_ERR_MEM;
                atomic_store(&consumed->all->failed, true);
                return;
            }
            chunk->origin = *origin;
            chunk->has_origin = true;
        }
        const size_t n = chunk_put(chunk, given, count);
        given += n;
        count -= n;
    }
}

static void drop(void *context)
{
    struct consumed *consumed = context;
    chunk_drop(consumed->filling);
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF(consumed->part);
    PyGILState_Release(state);
    free(consumed);
}

static bool end_part(void *context, const struct pug_piece_end *end)
{
    (void)end;
    hand_on(context);
    return true;
}

/** The consumer's take(); False ends decoding. */
static bool take(void *context, void *taken)
{
    struct consuming *all = context;
    struct consumed *consumed = taken;
    bool more = !is_over(all) && consumed->part;
    hand_on(consumed);
    if (more) {
        const PyGILState_STATE state = PyGILState_Ensure();
        PyObject *answer = PyObject_CallMethod(all->consumer, "take", "O", consumed->part);
        if (!answer)
            fail(all);
        more = answer && answer != Py_False;
        Py_XDECREF(answer);
        PyGILState_Release(state);
    }
    drop(consumed);
    return more && !is_over(all);
}

static bool goes_on(void *context, uint64_t done)
{
    (void)done;
    return !is_over(context);
}

static void run(void *argument, atomic_bool *stop)
{
    struct consuming *all = argument;
    struct pug_read_failure failure;
    all->stop = stop;
    enum pug_status status = pug_capture_decode(all->core->capture, &all->decode, &all->result);
    if (all->status == PUG_OK)
        all->status = status;
    if (all->status == PUG_OK && all->result.stopped > 0)
        all->status = PUG_ERR_DATA_DECODE_FATAL;
    if (all->status == PUG_OK && pug_capture_failure(all->core->capture, &failure))
        all->status = failure.status;
}

static void end(void *argument)
{
    struct consuming *all = argument;
    const PyGILState_STATE state = PyGILState_Ensure(); /* an abandoned job ends elsewhere */
    Py_XDECREF(all->consumer);
    Py_XDECREF(all->error);
    PyGILState_Release(state);
    pthread_mutex_destroy(&all->lock);
    kept_free(all->kept);
    core_drop(all->core);
    free(all);
}

static bool set_up(struct consuming *all, PyObject *options)
{
    all->functions = (struct pug_consumer){
        .context = all,
        .wants = option_is(options, "times") ? PUG_WANTS_TIMES : 0u,
        .begin = begin,
        .elements = elements,
        .end = end_part,
        .take = take,
        .drop = drop,
    };
    all->decode = (struct pug_capture_decode){
        .consumers = &all->functions,
        .consumer_count = 1,
        .threads = (unsigned)option_number(options, "threads", 0),
        .selection = &all->selection,
        .progress = goes_on,
        .progress_context = all,
    };
    return !PyErr_Occurred() && selection_take(options, &all->kept, &all->selection);
}

/** Raises what went wrong. NULL. */
static PyObject *raise_failure(struct consuming *all, PyObject *messages)
{
    if (all->error) {
        PyObject *type = Py_NewRef((PyObject *)Py_TYPE(all->error));
        PyErr_Restore(type, all->error, PyException_GetTraceback(all->error));
        all->error = NULL;
        return NULL;
    }
    return raise_status(all->status, pug_capture_path(all->core->capture), messages);
}

/** consume(capture, consumer, options) */
static PyObject *consume(PyObject *module, PyObject *args)
{
    PyObject *capture, *consumer, *options, *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO!", &capture, &consumer, &PyDict_Type, &options))
        return NULL;
    struct core *core = capture_core(capture);
    struct consuming *all = core ? calloc(1, sizeof(*all)) : NULL;
    if (!all)
        return core ? PyErr_NoMemory() : NULL;
    all->core = core_hold(core);
    all->consumer = Py_NewRef(consumer);
    pthread_mutex_init(&all->lock, NULL);
    if (!set_up(all, options)) {
        end(all);
        return NULL;
    }
    if (!job_run(run, all, end))
        return NULL;
    PyObject *messages = core_messages(core);
    if (messages && (all->error || all->status != PUG_OK))
        raise_failure(all, messages);
    else if (messages && messages_log(messages))
        result = Py_NewRef(consumer);
    Py_XDECREF(messages);
    end(all);
    return result;
}

static PyMethodDef functions[] = {
    {"consume", consume, METH_VARARGS, "Decode to a consumer of the caller's."},
    {NULL, NULL, 0, NULL}};

int consume_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
