// SPDX-License-Identifier: MIT
/** @file Timelines: slices as rows, and files in every format that the library writes. */
#include "binding.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

static enum pug_timeline_clock clock_of(const char *word)
{
    static const char *const words[] = {"auto", "time", "cycles", "instructions"};
    for (unsigned n = 0; word && n < sizeof(words) / sizeof(words[0]); n++)
        if (strcmp(words[n], word) == 0)
            return (enum pug_timeline_clock)n;
    return PUG_TIMELINE_AUTO;
}

/** What every timeline takes from the options. False: with an exception. */
static bool take_options(PyObject *options, struct kept **kept, struct pug_timeline_options *wanted)
{
    *wanted = (struct pug_timeline_options){
        .rtos = option_text(options, "rtos", kept),
        .clock = clock_of(option_text(options, "clock", kept)),
        .exact = option_is(options, "exact"),
        .least = option_number(options, "least", 0),
        .depth = option_number(options, "depth", 0),
        .threads = (unsigned)option_number(options, "threads", 0),
    };
    return !PyErr_Occurred();
}

/* ---- rows ---- */

static void take_slice(void *context, const struct pug_slice *slice)
{
    struct stream *stream = context;
    struct slice_row *row = stream_row(stream, &kind_slice);
    if (!row) {
        if (!atomic_load(&stream->stop))
            stream->status = PUG_ERR_MEM; /* ends decoding */
        return;
    }
    *row = (struct slice_row){
        .begin = slice->begin,
        .end = slice->end,
        .value = slice->value,
        .track = stream_string(stream, slice->track),
        .name = *slice->name ? stream_string(stream, slice->name) : 0,
        .file = stream_string(stream, slice->file),
        .detail = stream_string(stream, slice->detail),
        .line = slice->line,
        .number = slice->number,
        .depth = slice->depth,
        .pid = slice->pid,
        .tid = slice->tid,
        .kind = (uint8_t)slice->kind,
        .estimated = slice->estimated,
    };
}

static bool stream_goes_on(void *context, uint64_t done)
{
    const struct stream *stream = context;
    (void)done;
    return !atomic_load(&stream->stop) && stream->status == PUG_OK;
}

static void run_slices(struct stream *stream)
{
    struct pug_timeline_options *options = stream->state;
    struct pug_timeline_result result = {0};
    struct pug_names *names = core_names(stream->core);
    options->names = names;
    options->selection = &stream->selection;
    options->progress = stream_goes_on;
    options->progress_context = stream;
    options->slice = take_slice;
    options->context = stream;
    const enum pug_status status =
        names ? pug_capture_timeline(stream->core->capture, options, &result) : PUG_ERR_MEM;
    pug_names_free(names);
    stream->result = result.decoded;
    stream_conclude(stream, status);
    if (!atomic_load(&stream->stop))
        (void)stream_flush(stream);
}

static void slices_free(struct stream *stream)
{
    free(stream->state);
}

PyObject *open_slices(struct core *core, PyObject *options)
{
    static const struct step step = {NULL, NULL, slices_free};
    struct stream *stream = stream_new(core);
    if (!stream)
        return NULL;
    stream->step = &step;
    stream->run = run_slices;
    stream->state = calloc(1, sizeof(struct pug_timeline_options));
    if (!stream->state || !stream_options(stream, options) ||
        !take_options(options, &stream->kept, stream->state)) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        stream_drop(stream);
        return NULL;
    }
    return stream_iterator(stream);
}

/* ---- files ---- */

struct writing {
    struct core *core;
    struct kept *kept;
    struct pug_capture_selection selection;
    struct pug_timeline_options options;
    struct pug_timeline_result result;
    const char *folder; /* of streams; NULL: none */
    FILE *file;         /* NULL: bytes go to memory */
    struct bytes_out out;
    enum pug_status status;
    int error; /* the errno of writing; 0: none */
    atomic_bool *stop;
};

static void put(void *context, const void *bytes, size_t size)
{
    struct writing *writing = context;
    if (!writing->file)
        bytes_put(&writing->out, bytes, size);
    else if (fwrite(bytes, 1, size, writing->file) != size && !writing->error)
        writing->error = errno;
}

static bool append(void *context, uint32_t number, const void *bytes, size_t size)
{
    struct writing *writing = context;
    char path[4200];
    snprintf(path, sizeof(path), "%s/stream_%" PRIu32, writing->folder, number);
    FILE *file = fopen(path, "ab");
    const bool good = file && fwrite(bytes, 1, size, file) == size;
    if (!good && !writing->error)
        writing->error = errno;
    return (!file || fclose(file) == 0) && good;
}

static bool goes_on(void *context, uint64_t done)
{
    struct writing *writing = context;
    (void)done;
    return !atomic_load(writing->stop) && !writing->error && !writing->out.failed;
}

static void run(void *argument, atomic_bool *stop)
{
    struct writing *writing = argument;
    struct pug_read_failure failure;
    struct pug_names *names = core_names(writing->core);
    writing->stop = stop;
    writing->options.names = names;
    writing->status =
        names ? pug_capture_timeline(writing->core->capture, &writing->options, &writing->result)
              : PUG_ERR_MEM;
    pug_names_free(names);
    if (writing->file && fflush(writing->file) != 0 && !writing->error)
        writing->error = errno;
    if (writing->status == PUG_OK && writing->out.failed)
        writing->status = PUG_ERR_MEM;
    if (writing->status == PUG_OK && writing->result.decoded.stopped > 0)
        writing->status = PUG_ERR_DATA_DECODE_FATAL;
    if (writing->status == PUG_OK && pug_capture_failure(writing->core->capture, &failure))
        writing->status = failure.status;
}

static void end(void *argument)
{
    struct writing *writing = argument;
    if (writing->file)
        fclose(writing->file);
    free(writing->out.bytes);
    kept_free(writing->kept);
    core_drop(writing->core);
    free(writing);
}

/** Everything out of the arguments. False: with an exception. */
static bool begin(struct writing *writing, PyObject *options)
{
    struct kept **kept = &writing->kept;
    const char *path = option_text(options, "path", kept);
    writing->folder = option_text(options, "folder", kept);
    if (PyErr_Occurred() || !take_options(options, kept, &writing->options) ||
        !selection_take(options, kept, &writing->selection))
        return false;
    writing->options.format = option_text(options, "format", kept);
    writing->options.selection = &writing->selection;
    writing->options.progress = goes_on;
    writing->options.progress_context = writing;
    writing->options.put = put;
    writing->options.append = writing->folder ? append : NULL;
    writing->options.context = writing;
    if (path && !(writing->file = fopen(path, "wb")))
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    return !PyErr_Occurred();
}

static PyObject *result_of(const struct writing *writing)
{
    const struct pug_timeline_result *r = &writing->result;
    return Py_BuildValue(
        "{s:s,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "unit", r->unit ? r->unit : "", "calls",
        (unsigned long long)r->calls, "left_out", (unsigned long long)r->left_out, "estimated",
        (unsigned long long)r->estimated, "handlers", (unsigned long long)r->handlers, "untraced",
        (unsigned long long)r->untraced, "unknown", (unsigned long long)r->unknown, "lost",
        (unsigned long long)r->lost, "out_of_order", (unsigned long long)r->out_of_order);
}

/** timeline(capture, options): (bytes, counts). Bytes are empty where they went to a file. */
static PyObject *timeline(PyObject *module, PyObject *args)
{
    PyObject *capture, *options, *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!", &capture, &PyDict_Type, &options))
        return NULL;
    struct core *core = capture_core(capture);
    struct writing *writing = core ? calloc(1, sizeof(*writing)) : NULL;
    if (!writing)
        return core ? PyErr_NoMemory() : NULL;
    writing->core = core_hold(core);
    if (!begin(writing, options)) {
        end(writing);
        return NULL;
    }
    if (!job_run(run, writing, end))
        return NULL;
    PyObject *messages = core_messages(core);
    if (messages && writing->error) {
        errno = writing->error;
        PyErr_SetFromErrno(PyExc_OSError);
    } else if (messages && writing->status != PUG_OK) {
        raise_status(writing->status, pug_capture_path(core->capture), messages);
    } else if (messages && messages_log(messages)) {
        result = Py_BuildValue("(y#N)", writing->out.bytes ? writing->out.bytes : "",
                               (Py_ssize_t)writing->out.size, result_of(writing));
    }
    Py_XDECREF(messages);
    end(writing);
    return result;
}

static PyObject *timeline_formats(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    const struct pug_timeline_format *f;
    (void)module;
    (void)unused;
    for (size_t n = 0; list && (f = pug_timeline_format_at(n)) != NULL; n++) {
        PyObject *item =
            Py_BuildValue("(ssOO)", f->name, f->summary, f->binary ? Py_True : Py_False,
                          f->folder ? Py_True : Py_False);
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"timeline", timeline, METH_VARARGS, "Write the timeline of a capture."},
    {"timeline_formats", timeline_formats, METH_NOARGS, "Formats of timelines."},
    {NULL, NULL, 0, NULL}};

int timeline_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
