// SPDX-License-Identifier: MIT
/** @file Captures: opened on a thread of their own, described in dicts, closed once. */
#include "binding.h"

/* ---- cores ---- */

struct core *core_hold(struct core *core)
{
    atomic_fetch_add(&core->references, 1);
    return core;
}

void core_drop(struct core *core)
{
    if (!core || atomic_fetch_sub(&core->references, 1) != 1)
        return;
    pug_capture_free(core->capture);
    pug_log_free(core->log);
    kept_free(core->kept);
    free(core->messages);
    pthread_mutex_destroy(&core->lock);
    free(core);
}

struct pug_names *core_names(const struct core *core)
{
    return pug_names_new(&core->names);
}

static void take_message(void *context, const struct pug_log_record *record)
{
    struct core *core = context;
    pthread_mutex_lock(&core->lock);
    if (!core->messages)
        core->messages = calloc(MESSAGES, sizeof(*core->messages));
    if (core->messages && core->message_count < MESSAGES)
        message_fill(&core->messages[core->message_count++], record);
    pthread_mutex_unlock(&core->lock);
}

PyObject *core_messages(struct core *core)
{
    struct message *messages;
    size_t count;
    pthread_mutex_lock(&core->lock);
    messages = core->messages;
    count = core->message_count;
    core->messages = NULL;
    core->message_count = 0;
    pthread_mutex_unlock(&core->lock);
    PyObject *list = messages_list(messages, count);
    free(messages);
    return list;
}

/* ---- opening ---- */

struct opening {
    struct core *core;
    const char *path;
    struct pug_capture_options options;
    enum pug_status status;
};

static void opening_run(void *argument, atomic_bool *stop)
{
    struct opening *opening = argument;
    (void)stop;
    opening->status = pug_capture_open(opening->path, &opening->options, &opening->core->capture);
}

static void opening_end(void *argument)
{
    struct opening *opening = argument;
    core_drop(opening->core);
    free(opening);
}

/** Programs out of tuples (path, address, plain, source or -1). */
static bool programs_take(PyObject *list, struct opening *opening)
{
    const Py_ssize_t size = list && list != Py_None ? PySequence_Size(list) : 0;
    struct pug_capture_program *programs =
        kept_room(&opening->core->kept, ((size_t)(size > 0 ? size : 0) + 1) * sizeof(*programs));
    for (Py_ssize_t i = 0; programs && i < size; i++) {
        PyObject *item = PySequence_GetItem(list, i), *path = NULL;
        unsigned long long address;
        int plain;
        long source;
        const bool good = item && PyArg_ParseTuple(item, "O&Kpl", PyUnicode_FSConverter, &path,
                                                   &address, &plain, &source);
        char *copy = good ? kept_room(&opening->core->kept, (size_t)PyBytes_Size(path) + 1) : NULL;
        if (copy)
            memcpy(copy, PyBytes_AsString(path), (size_t)PyBytes_Size(path));
        Py_XDECREF(path);
        Py_XDECREF(item);
        if (!copy)
            return false;
        programs[i] = (struct pug_capture_program){.path = copy,
                                                   .address = address,
                                                   .plain = plain != 0,
                                                   .has_source = source >= 0,
                                                   .source = (uint16_t)source};
    }
    opening->options.programs = programs;
    opening->options.program_count = (size_t)(size > 0 ? size : 0);
    return programs && size >= 0;
}

static bool replacements_take(PyObject *list, struct opening *opening)
{
    struct pug_settings pairs; /* the same: pairs of texts */
    if (!settings_take(list, &opening->core->kept, &pairs))
        return false;
    struct pug_capture_replacement *items =
        kept_room(&opening->core->kept, (pairs.count + 1) * sizeof(*items));
    for (size_t i = 0; items && i < pairs.count; i++)
        items[i] = (struct pug_capture_replacement){.path = pairs.items[i].name,
                                                    .file = pairs.items[i].text};
    opening->options.roots.replacements = items;
    opening->options.roots.replacement_count = pairs.count;
    return items != NULL;
}

static const char *const *paths_take(PyObject *options, const char *name, struct kept **kept,
                                     size_t *count)
{
    struct pug_capture_selection selection;
    PyObject *only = PyDict_New(), *value = PyDict_GetItemString(options, name);
    *count = 0;
    if (only && value && PyDict_SetItemString(only, "comm", value) == 0 &&
        selection_take(only, kept, &selection)) {
        Py_DECREF(only);
        *count = selection.comm_count;
        return selection.comms;
    }
    Py_XDECREF(only);
    return NULL;
}

static bool take_options(struct opening *opening, PyObject *options)
{
    struct core *core = opening->core;
    struct kept **kept = &core->kept;
    struct pug_capture_options *o = &opening->options;
    struct pug_capture_selection selection;
    const bool reference = option_is(options, "reference");
    o->log = core->log;
    o->protocol = option_text(options, "protocol", kept);
    o->params = option_text(options, "params", kept);
    o->transport = option_text(options, "transport", kept);
    o->buffer = option_text(options, "buffer", kept);
    o->roots.symfs = option_text(options, "symfs", kept);
    o->roots.build_ids = option_text(options, "buildid_dir", kept);
    o->roots.kernel = option_text(options, "vmlinux", kept);
    o->roots.kallsyms = option_text(options, "kallsyms", kept);
    o->roots.debuginfod = option_text(options, "debuginfod", kept);
    o->roots.symdirs = paths_take(options, "symdir", kept, &o->roots.symdir_count);
    o->source_limit = (size_t)option_number(options, "source_limit", 0);
    o->confine = option_is(options, "confine");
    o->decode =
        (struct pug_decode_options){.data_elements = !reference,
                                    .join_payloads = !reference,
                                    .expansion = (uint32_t)option_number(options, "expansion", 0)};
    if (reference) {
        core->quirks = pug_quirks_reference();
        o->quirks = &core->quirks;
    }
    core->names = (struct pug_names_options){.symfs = o->roots.symfs,
                                             .symdirs = o->roots.symdirs,
                                             .symdir_count = o->roots.symdir_count};
    core->names.debug_dirs = paths_take(options, "debug_dir", kept, &core->names.debug_dir_count);
    if (PyErr_Occurred() || !selection_take(options, kept, &selection))
        return false;
    o->wanted = selection.sources;
    o->wanted_count = selection.source_count;
    return settings_take(PyDict_GetItemString(options, "settings"), kept, &o->settings) &&
           replacements_take(PyDict_GetItemString(options, "replacements"), opening) &&
           programs_take(PyDict_GetItemString(options, "programs"), opening);
}

static struct opening *opening_new(void)
{
    struct opening *opening = calloc(1, sizeof(*opening));
    struct core *core = opening ? calloc(1, sizeof(*core)) : NULL;
    if (!core) {
        free(opening);
        return NULL;
    }
    atomic_init(&core->references, 1);
    pthread_mutex_init(&core->lock, NULL);
    core->log = pug_log_new(PUG_SEV_WARN);
    pug_log_set_sink(core->log, take_message, core);
    opening->core = core;
    return opening;
}

/* ---- the type ---- */

struct capture_object {
    PyObject_HEAD struct core *core;
    PyObject *weak;
};
static PyObject *capture_type;

struct core *capture_core(PyObject *capture)
{
    if (!PyObject_TypeCheck(capture, (PyTypeObject *)capture_type)) {
        PyErr_SetString(PyExc_TypeError, "a capture is expected");
        return NULL;
    }
    struct core *core = ((struct capture_object *)capture)->core;
    if (!core)
        PyErr_SetString(PyExc_ValueError, "the capture is closed");
    return core;
}

static PyObject *capture_open(PyObject *module, PyObject *args)
{
    PyObject *path, *options;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&O!", PyUnicode_FSConverter, &path, &PyDict_Type, &options))
        return NULL;
    struct opening *opening = opening_new();
    char *copy = opening ? kept_room(&opening->core->kept, (size_t)PyBytes_Size(path) + 1) : NULL;
    if (copy)
        memcpy(copy, PyBytes_AsString(path), (size_t)PyBytes_Size(path));
    Py_DECREF(path);
    if (!copy || !take_options(opening, options)) {
        if (opening)
            opening_end(opening);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    opening->path = copy;
    opening->core->options = opening->options;
    if (!job_run(opening_run, opening, opening_end))
        return NULL;
    PyObject *messages = core_messages(opening->core);
    struct capture_object *capture = NULL;
    if (messages && opening->status != PUG_OK)
        raise_status(opening->status, copy, messages);
    else if (messages && messages_log(messages))
        capture = new_object(capture_type);
    Py_XDECREF(messages);
    if (capture)
        capture->core = core_hold(opening->core);
    opening_end(opening);
    return (PyObject *)capture;
}

static PyObject *capture_close(PyObject *self, PyObject *unused)
{
    struct capture_object *capture = (struct capture_object *)self;
    struct core *core = capture->core;
    (void)unused;
    capture->core = NULL;
    PyThreadState *const python = PyEval_SaveThread();
    core_drop(core);
    PyEval_RestoreThread(python);
    Py_RETURN_NONE;
}

static void capture_free(PyObject *self)
{
    struct capture_object *capture = (struct capture_object *)self;
    if (capture->weak)
        PyObject_ClearWeakRefs(self);
    core_drop(capture->core);
    free_object(self);
}

/* ---- what it is ---- */

static int put(PyObject *dict, const char *name, PyObject *value)
{
    const int failed = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return failed;
}

static PyObject *text_or_none(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *number_or_none(int64_t number, int64_t none)
{
    if (number == none)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(number);
}

/** Put an item into a list, both of which may be NULL. */
static bool append(PyObject *list, PyObject *item)
{
    const bool good = list && item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return good;
}

static PyObject *describe_times(const struct pug_capture_time times)
{
    static const char *const units[] = {"", "ticks", "ns"};
    return Py_BuildValue("{sssNsKsK}", "unit", units[times.unit], "origin",
                         text_or_none(times.origin), "first", (unsigned long long)times.first,
                         "last", (unsigned long long)times.last);
}

static PyObject *describe_sources(struct pug_capture *capture)
{
    PyObject *list = PyList_New(0);
    const struct pug_capture_source *s;
    for (size_t n = 0; list && (s = pug_capture_source_at(capture, n)) != NULL; n++)
        if (!append(list, Py_BuildValue("(iINNNN)", (int)s->id, (unsigned)s->buffer,
                                        text_or_none(s->name), text_or_none(s->protocol),
                                        text_or_none(s->core), number_or_none(s->cpu, PUG_NO_CPU))))
            Py_CLEAR(list);
    return list;
}

static PyObject *describe_buffers(struct pug_capture *capture)
{
    PyObject *list = PyList_New(0);
    const struct pug_capture_buffer *b;
    for (size_t n = 0; list && (b = pug_capture_buffer_at(capture, n)) != NULL; n++)
        if (!append(list,
                    Py_BuildValue("(NNNKNNN)", text_or_none(b->name), text_or_none(b->file),
                                  text_or_none(b->transport), (unsigned long long)b->size,
                                  number_or_none(b->cpu, PUG_NO_CPU),
                                  number_or_none(b->tid, PUG_NO_CPU), PyBool_FromLong(b->chosen))))
            Py_CLEAR(list);
    return list;
}

static PyObject *describe_tasks(struct pug_capture *capture)
{
    PyObject *list = PyList_New(0);
    const struct pug_capture_task *t;
    for (size_t n = 0; list && (t = pug_capture_task_at(capture, n)) != NULL; n++)
        if (!append(list, Py_BuildValue("(iiNK)", (int)t->pid, (int)t->tid, text_or_none(t->comm),
                                        (unsigned long long)t->begin)))
            Py_CLEAR(list);
    return list;
}

static PyObject *describe_objects(struct pug_capture *capture)
{
    static const char *const kinds[] = {"file", "kernel", "module", "vdso", "memory"};
    static const char *const states[] = {"found", "unverified", "other build", "missing",
                                         "unusable"};
    PyObject *list = PyList_New(0);
    const struct pug_capture_object *o;
    for (size_t n = 0; list && (o = pug_capture_object_at(capture, n)) != NULL; n++)
        if (!append(list, Py_BuildValue("(NsssNNy#)", text_or_none(o->path), kinds[o->kind],
                                        states[o->state], o->file ? o->file : "",
                                        text_or_none(o->symbols), text_or_none(o->why),
                                        (const char *)o->build_id, (Py_ssize_t)o->build_id_size)))
            Py_CLEAR(list);
    return list;
}

static PyObject *describe_facts(struct pug_capture *capture)
{
    PyObject *dict = PyDict_New();
    const char *name, *value;
    for (size_t n = 0; dict && pug_capture_fact(capture, n, &name, &value); n++)
        if (put(dict, name, text_or_none(value)) != 0)
            Py_CLEAR(dict);
    return dict;
}

static PyObject *capture_describe(PyObject *self, PyObject *what)
{
    struct core *core = capture_core(self);
    const char *word = core ? PyUnicode_AsUTF8AndSize(what, NULL) : NULL;
    static const char *const kinds[] = {"snapshot", "raw", "stream", "perf"};
    if (!word)
        return NULL;
    struct pug_capture *capture = core->capture;
    if (strcmp(word, "sources") == 0)
        return describe_sources(capture);
    if (strcmp(word, "buffers") == 0)
        return describe_buffers(capture);
    if (strcmp(word, "tasks") == 0)
        return describe_tasks(capture);
    if (strcmp(word, "objects") == 0)
        return describe_objects(capture);
    if (strcmp(word, "facts") == 0)
        return describe_facts(capture);
    if (strcmp(word, "times") == 0)
        return describe_times(pug_capture_times(capture));
    return Py_BuildValue("(ssNO)", kinds[pug_capture_kind(capture)], pug_capture_title(capture),
                         text_or_none(pug_capture_path(capture)),
                         pug_capture_is_live(capture) ? Py_True : Py_False);
}

/* ---- decoding ---- */

static PyObject *capture_stream(PyObject *self, PyObject *args)
{
    static const struct {
        const char *name;
        PyObject *(*open)(struct core *core, PyObject *options);
    } streams[] = {
        {"batches", open_batches}, {"calls", open_calls},     {"instructions", open_instructions},
        {"dwt", open_dwt},         {"packets", open_packets}, {"correlated", open_correlated},
        {"slices", open_slices}};
    const char *what;
    PyObject *options;
    struct core *core = capture_core(self);
    if (!core || !PyArg_ParseTuple(args, "sO!", &what, &PyDict_Type, &options))
        return NULL;
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
        if (strcmp(streams[i].name, what) == 0)
            return streams[i].open(core, options);
    PyErr_Format(PyExc_ValueError, "no stream is called %s", what);
    return NULL;
}

static PyObject *capture_profiled(PyObject *self, PyObject *options)
{
    return profile_capture(self, options);
}

static PyObject *capture_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((struct capture_object *)self)->core == NULL);
}

static PyMethodDef capture_methods[] = {
    {"close", capture_close, METH_NOARGS, "Close it."},
    {"describe", capture_describe, METH_O, "What it holds, as tuples."},
    {"stream", capture_stream, METH_VARARGS, "Decode to rows of a kind."},
    {"profile", capture_profiled, METH_O, "Count what ran."},
    {"diagnose", capture_diagnose, METH_O, "Find what is wrong, as tuples."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef capture_getters[] = {
    {"closed", capture_closed, NULL, "Whether it was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot capture_slots[] = {{Py_tp_dealloc, (void *)capture_free},
                                      {Py_tp_methods, capture_methods},
                                      {Py_tp_getset, capture_getters},
                                      {Py_tp_doc, "An open capture."},
                                      {0, NULL}};
static PyType_Spec capture_spec = {"pugmark._core.Capture", sizeof(struct capture_object), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   capture_slots};

static PyMethodDef functions[] = {{"open", capture_open, METH_VARARGS, "Open a capture."},
                                  {NULL, NULL, 0, NULL}};

int capture_init(PyObject *module)
{
    capture_type = add_type(module, &capture_spec);
    return capture_type ? PyModule_AddFunctions(module, functions) : -1;
}
