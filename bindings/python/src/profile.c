// SPDX-License-Identifier: MIT
/** @file Profiles: made of captures on threads, read and written, in the formats of other tools. */
#include "binding.h"

struct profile_object {
    PyObject_HEAD struct pug_profile *profile;
    struct core *core;       /* whose options names borrow; NULL: read from a file */
    struct pug_names *names; /* or NULL */
    bool busy;               /* another thread is at work with it */
};
static PyObject *profile_type;

/** An object that owns what it is given, also where it cannot be made. */
static PyObject *profile_new(struct pug_profile *profile, struct core *core,
                             struct pug_names *names)
{
    struct profile_object *object = new_object(profile_type);
    if (!object) {
        pug_profile_free(profile);
        pug_names_free(names);
        return NULL;
    }
    object->profile = profile;
    object->names = names;
    object->core = core ? core_hold(core) : NULL;
    return (PyObject *)object;
}

static void profile_free(PyObject *self)
{
    struct profile_object *object = (struct profile_object *)self;
    pug_profile_free(object->profile);
    pug_names_free(object->names);
    core_drop(object->core);
    free_object(self);
}

/** False, with an exception: another thread is at work with the profile. */
static bool profile_begin(PyObject *self)
{
    struct profile_object *object = (struct profile_object *)self;
    if (object->busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread uses this profile");
    else
        object->busy = true;
    return !PyErr_Occurred();
}

static void profile_end(PyObject *self)
{
    ((struct profile_object *)self)->busy = false;
}

/* ---- counting ---- */

struct counting {
    struct core *core;
    struct pug_profile *profile;
    struct pug_names *names;
    struct kept *kept;
    struct pug_capture_selection selection;
    struct pug_profiler_options options;
    struct pug_capture_result result;
    enum pug_status status;
    bool stacks_of_branches; /* are written as text, in place of a profile */
    struct bytes_out out;    /* that text */
    atomic_bool *stop;
};

static bool counting_on(void *context, uint64_t done)
{
    (void)done;
    return !atomic_load(((struct counting *)context)->stop);
}

static void counting_run(void *argument, atomic_bool *stop)
{
    struct counting *counting = argument;
    counting->stop = stop;
    struct pug_capture *capture = counting->core->capture;
    counting->status = counting->stacks_of_branches
                           ? pug_profile_brstack(capture, &counting->options, bytes_put,
                                                 &counting->out, &counting->result)
                           : pug_profile_capture(counting->profile, capture, &counting->options,
                                                 &counting->result);
    if (counting->status == PUG_OK && counting->out.failed)
        counting->status = PUG_ERR_MEM;
    struct pug_read_failure failure;
    if (counting->status == PUG_OK && counting->result.stopped > 0)
        counting->status = PUG_ERR_DATA_DECODE_FATAL;
    if (counting->status == PUG_OK && pug_capture_failure(counting->core->capture, &failure))
        counting->status = failure.status;
}

static void counting_end(void *argument)
{
    struct counting *counting = argument;
    pug_profile_free(counting->profile);
    pug_names_free(counting->names);
    kept_free(counting->kept);
    core_drop(counting->core);
    free(counting->out.bytes);
    free(counting);
}

/** What is counted, and how. NULL: with an exception. */
static struct counting *counting_new(PyObject *capture, PyObject *options)
{
    struct core *core = capture_core(capture);
    struct counting *counting = core ? calloc(1, sizeof(*counting)) : NULL;
    if (!counting) {
        if (core)
            PyErr_NoMemory();
        return NULL;
    }
    counting->core = core_hold(core);
    counting->profile = pug_profile_new();
    counting->names = core_names(core);
    if (!counting->profile || !counting->names ||
        !selection_take(options, &counting->kept, &counting->selection)) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        counting_end(counting);
        return NULL;
    }
    counting->options =
        (struct pug_profiler_options){.threads = (unsigned)option_number(options, "threads", 0),
                                      .stacks = option_is(options, "stacks"),
                                      .names = counting->names,
                                      .selection = &counting->selection,
                                      .progress = counting_on,
                                      .progress_context = counting};
    if (!PyErr_Occurred())
        return counting;
    counting_end(counting);
    return NULL;
}

PyObject *profile_capture(PyObject *capture, PyObject *options)
{
    struct counting *counting = counting_new(capture, options);
    if (!counting || !job_run(counting_run, counting, counting_end))
        return NULL;
    const enum pug_status status = counting->status;
    PyObject *messages = core_messages(counting->core), *profile = NULL;
    if (messages && messages_log(messages)) {
        profile = profile_new(counting->profile, counting->core, counting->names);
        counting->profile = NULL;
        counting->names = NULL;
    }
    Py_XDECREF(messages);
    counting_end(counting);
    return profile ? Py_BuildValue("(iN)", (int)status, profile) : NULL;
}

/** brstack(capture, options): bytes. */
static PyObject *brstack(PyObject *module, PyObject *args)
{
    PyObject *capture, *options, *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!", &capture, &PyDict_Type, &options))
        return NULL;
    struct counting *counting = counting_new(capture, options);
    if (!counting)
        return NULL;
    counting->stacks_of_branches = true;
    if (!job_run(counting_run, counting, counting_end))
        return NULL;
    PyObject *messages = core_messages(counting->core);
    if (messages && counting->status != PUG_OK)
        raise_status(counting->status, pug_capture_path(counting->core->capture), messages);
    else if (messages && messages_log(messages))
        result = PyBytes_FromStringAndSize(counting->out.bytes ? counting->out.bytes : "",
                                           (Py_ssize_t)counting->out.size);
    Py_XDECREF(messages);
    counting_end(counting);
    return result;
}

/* ---- files ---- */

static PyObject *profile_read(PyObject *module, PyObject *args)
{
    Py_buffer view;
    struct pug_profile *profile = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*", &view))
        return NULL;
    const enum pug_status status = pug_profile_read(view.buf, (size_t)view.len, &profile);
    PyBuffer_Release(&view);
    if (status != PUG_OK)
        return raise_status(status, "a profile", NULL);
    return profile_new(profile, NULL, pug_names_new(NULL));
}

static PyObject *profile_write(PyObject *self, PyObject *unused)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    (void)unused;
    if (!profile_begin(self))
        return NULL;
    const enum pug_status status =
        pug_profile_write(((struct profile_object *)self)->profile, &bytes, &size);
    profile_end(self);
    if (status != PUG_OK)
        return raise_status(status, "the profile", NULL);
    PyObject *result = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
    free(bytes);
    return result;
}

static PyObject *profile_merge(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, (PyTypeObject *)profile_type)) {
        PyErr_SetString(PyExc_TypeError, "a profile is expected");
        return NULL;
    }
    if (other == self || !profile_begin(self)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a profile cannot be added to itself");
        return NULL;
    }
    enum pug_status status = PUG_OK;
    const bool good = profile_begin(other);
    if (good) {
        status = pug_profile_merge(((struct profile_object *)self)->profile,
                                   ((struct profile_object *)other)->profile);
        profile_end(other);
    }
    profile_end(self);
    if (!good)
        return NULL;
    if (status != PUG_OK)
        return raise_status(status, "the profiles", NULL);
    Py_RETURN_NONE;
}

/* ---- exports ---- */

static struct pug_export_options export_options(PyObject *options, struct kept **kept,
                                                const struct pug_capture_selection *selection)
{
    const char *weight = option_text(options, "weight", kept);
    return (struct pug_export_options){
        .objects = selection->objects,
        .object_count = selection->object_count,
        .weight = !weight || *weight == 'i' ? PUG_WEIGHT_INSTRUCTIONS
                  : *weight == 'c'          ? PUG_WEIGHT_CYCLES
                                            : PUG_WEIGHT_TIME,
        .like_simpleperf = option_is(options, "like_simpleperf"),
        .without_plt = option_is(options, "without_plt"),
        .mangled = option_is(options, "mangled"),
        .rows = (size_t)option_number(options, "rows", 0),
        .json = option_is(options, "json"),
    };
}

static PyObject *profile_export(PyObject *self, PyObject *args)
{
    struct profile_object *object = (struct profile_object *)self;
    const char *format;
    PyObject *options;
    int coverage;
    struct kept *kept = NULL;
    struct bytes_out out = {NULL, 0, 0, false};
    struct pug_capture_selection selection;
    if (!PyArg_ParseTuple(args, "spO!", &format, &coverage, &PyDict_Type, &options))
        return NULL;
    if (!selection_take(options, &kept, &selection) || !profile_begin(self)) {
        kept_free(kept);
        return NULL;
    }
    struct pug_export_options wanted = export_options(options, &kept, &selection);
    const char *title = option_text(options, "title", &kept);
    const char *source_dir = option_text(options, "source_dir", &kept);
    const struct pug_report report = {.title = title ? title : "",
                                      .source_dirs = &source_dir,
                                      .source_dir_count = source_dir ? 1 : 0};
    wanted.names = object->names;
    wanted.report = title || source_dir ? &report : NULL;
    enum pug_status status = PyErr_Occurred() ? PUG_ERR_INVALID_PARAM_VAL : PUG_OK;
    PyThreadState *const python = PyEval_SaveThread();
    if (status == PUG_OK)
        status = (coverage ? pug_export_coverage : pug_export)(object->profile, format, &wanted,
                                                               bytes_put, &out);
    PyEval_RestoreThread(python);
    profile_end(self);
    kept_free(kept);
    PyObject *result = NULL;
    if (status == PUG_OK && out.failed)
        status = PUG_ERR_MEM;
    if (status == PUG_OK)
        result = PyBytes_FromStringAndSize(out.bytes ? out.bytes : "", (Py_ssize_t)out.size);
    else if (!PyErr_Occurred())
        raise_status(status, format, NULL);
    free(out.bytes);
    return result;
}

/** diff(other, options): bytes. */
static PyObject *profile_diff(PyObject *self, PyObject *args)
{
    struct profile_object *before = (struct profile_object *)self, *after;
    PyObject *other, *options, *result = NULL;
    struct kept *kept = NULL;
    struct bytes_out out = {NULL, 0, 0, false};
    struct pug_capture_selection selection;
    if (!PyArg_ParseTuple(args, "O!O!", profile_type, &other, &PyDict_Type, &options))
        return NULL;
    after = (struct profile_object *)other;
    if (other == self) {
        PyErr_SetString(PyExc_ValueError, "a profile is compared with another one");
        return NULL;
    }
    if (!selection_take(options, &kept, &selection) || !profile_begin(self)) {
        kept_free(kept);
        return NULL;
    }
    enum pug_status status = PUG_OK;
    if (profile_begin(other)) {
        struct pug_export_options wanted = export_options(options, &kept, &selection);
        wanted.names = after->names;
        if (!PyErr_Occurred())
            status = pug_export_diff(before->profile, after->profile, &wanted, bytes_put, &out);
        profile_end(other);
    }
    profile_end(self);
    kept_free(kept);
    if (status == PUG_OK && out.failed)
        status = PUG_ERR_MEM;
    if (status != PUG_OK)
        raise_status(status, "the profiles", NULL);
    else if (!PyErr_Occurred())
        result = PyBytes_FromStringAndSize(out.bytes ? out.bytes : "", (Py_ssize_t)out.size);
    free(out.bytes);
    return result;
}

/* ---- what is in it ---- */

static PyObject *copy_rows(const struct row_kind *kind, const void *rows, size_t count)
{
    struct chunk *chunk = chunk_new(kind, count);
    if (!chunk)
        return PyErr_NoMemory();
    if (count > 0)
        memcpy(chunk->rows, rows, count * kind->size);
    chunk->count = count;
    return batch_new(chunk);
}

static PyObject *profile_rows(PyObject *self, PyObject *args)
{
    struct pug_profile *profile = ((struct profile_object *)self)->profile;
    const char *what;
    size_t count = 0;
    if (!PyArg_ParseTuple(args, "s", &what))
        return NULL;
    if (strcmp(what, "ranges") == 0) {
        const struct pug_profile_range *rows = pug_profile_ranges(profile, &count);
        return copy_rows(&kind_range, rows, count);
    }
    if (strcmp(what, "branches") == 0) {
        const struct pug_profile_branch *rows = pug_profile_branches(profile, &count);
        return copy_rows(&kind_branch, rows, count);
    }
    PyErr_Format(PyExc_ValueError, "a profile has no %s", what);
    return NULL;
}

static PyObject *profile_paths(PyObject *self, PyObject *unused)
{
    size_t count = 0;
    const struct pug_profile_object *objects =
        pug_profile_objects(((struct profile_object *)self)->profile, &count);
    (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *path = PyUnicode_DecodeFSDefault(objects[i].path);
        if (!path || PyList_Append(list, path) != 0)
            Py_CLEAR(list);
        Py_XDECREF(path);
    }
    return list;
}

static PyObject *profile_notes(PyObject *self, PyObject *unused)
{
    const struct pug_profile *profile = ((struct profile_object *)self)->profile;
    (void)unused;
    PyObject *dict = PyDict_New();
    for (int note = 0; dict && note < PUG_NOTE_COUNT; note++) {
        const uint64_t count = pug_profile_noted(profile, (enum pug_profile_note)note);
        PyObject *value = PyLong_FromUnsignedLongLong(count);
        if (!value || (count > 0 &&
                       PyDict_SetItemString(
                           dict, pug_profile_note_text((enum pug_profile_note)note), value) != 0))
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *formats(PyObject *module, PyObject *coverage)
{
    PyObject *list = PyList_New(0);
    const bool of_coverage = PyObject_IsTrue(coverage) == 1;
    const struct pug_export_format *f;
    (void)module;
    for (size_t n = 0;
         list && (f = of_coverage ? pug_export_coverage_at(n) : pug_export_format_at(n)) != NULL;
         n++) {
        PyObject *item =
            Py_BuildValue("(ssii)", f->name, f->summary, (int)f->needs_stacks, (int)f->one_object);
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyMethodDef profile_methods[] = {
    {"write", profile_write, METH_NOARGS, "The profile as the bytes of a file."},
    {"merge", profile_merge, METH_O, "Add another profile."},
    {"export", profile_export, METH_VARARGS, "The bytes of a format."},
    {"diff", profile_diff, METH_VARARGS, "What ran more and what less in another profile."},
    {"rows", profile_rows, METH_VARARGS, "Its ranges or branches, copied."},
    {"paths", profile_paths, METH_NOARGS, "Paths of its objects, by number."},
    {"notes", profile_notes, METH_NOARGS, "What is not in the counts."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot profile_slots[] = {{Py_tp_dealloc, (void *)profile_free},
                                      {Py_tp_methods, profile_methods},
                                      {Py_tp_doc, "How often what ran."},
                                      {0, NULL}};
static PyType_Spec profile_spec = {"pugmark._core.Profile", sizeof(struct profile_object), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   profile_slots};
static PyMethodDef functions[] = {
    {"profile_read", profile_read, METH_VARARGS, "A profile out of a file's bytes."},
    {"brstack", brstack, METH_VARARGS, "Branch stacks as text."},
    {"formats", formats, METH_O, "Formats of profiles, or of coverage."},
    {NULL, NULL, 0, NULL}};

int profile_init(PyObject *module)
{
    profile_type = add_type(module, &profile_spec);
    return profile_type ? PyModule_AddFunctions(module, functions) : -1;
}
