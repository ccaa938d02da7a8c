// SPDX-License-Identifier: MIT
/** @file Parts for programs with bytes from elsewhere: program memory, trees, and places in a
 * capture. */
#include "binding.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/diagnose.h"
#include "pugmark/advanced/image.h"
#include "pugmark/advanced/index.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/tree.h"

/* ---- images ---- */

/** A Python function that reads memory. */
struct reader {
    struct reader *next;
    PyObject *function;
    bool failed; /* it raised something, which was said then */
};

struct image_object {
    PyObject_HEAD struct pug_image *image;
    PyObject *buffers; /* bytes that the image borrows */
    struct reader *readers;
};
static PyObject *image_type;

static PyObject *image_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)type;
    if ((args && PyTuple_Size(args) > 0) || (keywords && PyDict_Size(keywords) > 0)) {
        PyErr_SetString(PyExc_TypeError, "Image() takes no arguments");
        return NULL;
    }
    struct image_object *image = new_object(image_type);
    if (!image)
        return NULL;
    image->image = pug_image_new();
    image->buffers = PyList_New(0);
    if (!image->image || !image->buffers) {
        Py_DECREF(image);
        return PyErr_NoMemory();
    }
    return (PyObject *)image;
}

static void image_free(PyObject *self)
{
    struct image_object *image = (struct image_object *)self;
    pug_image_free(image->image);
    Py_XDECREF(image->buffers);
    for (struct reader *next, *r = image->readers; r; r = next) {
        next = r->next;
        Py_XDECREF(r->function);
        free(r);
    }
    free_object(self);
}

static PyObject *image_add_bytes(PyObject *self, PyObject *args)
{
    struct image_object *image = (struct image_object *)self;
    unsigned long long address;
    PyObject *bytes;
    if (!PyArg_ParseTuple(args, "KO!", &address, &PyBytes_Type, &bytes))
        return NULL;
    const enum pug_status status = pug_image_add_buffer(
        image->image, NULL, address, PyBytes_AsString(bytes), (uint64_t)PyBytes_Size(bytes));
    if (status != PUG_OK)
        return raise_status(status, "program memory", NULL);
    if (PyList_Append(image->buffers, bytes) != 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *image_add_elf(PyObject *self, PyObject *args)
{
    PyObject *path;
    unsigned long long bias = 0;
    if (!PyArg_ParseTuple(args, "O&|K", PyUnicode_FSConverter, &path, &bias))
        return NULL;
    const enum pug_status status =
        pug_image_add_elf(((struct image_object *)self)->image, NULL, PyBytes_AsString(path), bias);
    if (status != PUG_OK)
        raise_status(status, PyBytes_AsString(path), NULL);
    Py_DECREF(path);
    return status == PUG_OK ? Py_NewRef(Py_None) : NULL;
}

static PyObject *image_add_file(PyObject *self, PyObject *args)
{
    PyObject *path;
    unsigned long long address, offset = 0, size = 0;
    if (!PyArg_ParseTuple(args, "O&K|KK", PyUnicode_FSConverter, &path, &address, &offset, &size))
        return NULL;
    const struct pug_region region = {.offset = offset, .address = address, .size = size};
    const enum pug_status status = pug_image_add_file(((struct image_object *)self)->image, NULL,
                                                      PyBytes_AsString(path), &region, 1);
    if (status != PUG_OK)
        raise_status(status, PyBytes_AsString(path), NULL);
    Py_DECREF(path);
    return status == PUG_OK ? Py_NewRef(Py_None) : NULL;
}

static uint32_t call_reader(void *context, uint64_t address, const struct pug_reader_space *space,
                            uint32_t wanted, uint8_t *buffer)
{
    struct reader *reader = context;
    const PyGILState_STATE state = PyGILState_Ensure();
    char *bytes = NULL;
    Py_ssize_t size = 0;
    (void)space;
    PyObject *result = PyObject_CallFunction(reader->function, "KI", (unsigned long long)address,
                                             (unsigned)wanted);
    if (!result || PyBytes_AsStringAndSize(result, &bytes, &size) != 0) {
        PyErr_WriteUnraisable(reader->function);
        size = 0;
    }
    if (size > (Py_ssize_t)wanted)
        size = (Py_ssize_t)wanted;
    if (size > 0)
        memcpy(buffer, bytes, (size_t)size);
    Py_XDECREF(result);
    PyGILState_Release(state);
    return (uint32_t)size;
}

static PyObject *image_add_reader(PyObject *self, PyObject *args)
{
    struct image_object *image = (struct image_object *)self;
    unsigned long long start, end;
    PyObject *function;
    if (!PyArg_ParseTuple(args, "KKO", &start, &end, &function))
        return NULL;
    if (!PyCallable_Check(function) || end <= start) {
        PyErr_SetString(PyExc_TypeError, "a range of addresses and a function are expected");
        return NULL;
    }
    struct reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PyErr_NoMemory();
    *reader = (struct reader){.next = image->readers, .function = Py_NewRef(function)};
    image->readers = reader;
    const enum pug_status status =
        pug_image_add_callback(image->image, NULL, start, end - 1, call_reader, reader);
    if (status != PUG_OK)
        return raise_status(status, "program memory", NULL);
    Py_RETURN_NONE;
}

static PyObject *image_read(PyObject *self, PyObject *args)
{
    struct image_object *image = (struct image_object *)self;
    unsigned long long address;
    Py_ssize_t size;
    const struct pug_reader_space space = {.space = 0xff};
    if (!PyArg_ParseTuple(args, "Kn", &address, &size))
        return NULL;
    if (size < 0 || size > 1 << 20) {
        PyErr_SetString(PyExc_ValueError, "at most 1048576 bytes can be read at once");
        return NULL;
    }
    uint8_t *bytes = malloc((size_t)size + 1);
    if (!bytes)
        return PyErr_NoMemory();
    const int64_t got = pug_image_read(image->image, &space, address, bytes, (uint32_t)size);
    PyObject *result = got < 0 ? raise_status((enum pug_status)got, "program memory", NULL)
                               : PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)got);
    free(bytes);
    return result;
}

static PyObject *image_symbol(PyObject *self, PyObject *args)
{
    unsigned long long address;
    struct pug_symbol symbol;
    if (!PyArg_ParseTuple(args, "K", &address))
        return NULL;
    if (!pug_image_symbol(((struct image_object *)self)->image, address, &symbol))
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(symbol.name, (Py_ssize_t)strlen(symbol.name), "replace");
}

static PyMethodDef image_methods[] = {
    {"add_bytes", image_add_bytes, METH_VARARGS,
     "add_bytes(address, data)\n--\n\nAdd memory that bytes hold."},
    {"add_elf", image_add_elf, METH_VARARGS,
     "add_elf(path, bias=0)\n--\n\nAdd the segments and symbols of an ELF file."},
    {"add_file", image_add_file, METH_VARARGS,
     "add_file(path, address, offset=0, size=0)\n--\n\nAdd a piece of a file; size 0: up to its "
     "end."},
    {"add_reader", image_add_reader, METH_VARARGS,
     "add_reader(start, end, function)\n--\n\nAdd memory that function(address, size) returns as "
     "bytes."},
    {"read", image_read, METH_VARARGS,
     "read(address, size)\n--\n\nThe bytes at an address, as many as there are."},
    {"symbol", image_symbol, METH_VARARGS,
     "symbol(address)\n--\n\nName of the function symbol at an address, or None."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot image_slots[] = {
    {Py_tp_new, (void *)image_new},
    {Py_tp_dealloc, (void *)image_free},
    {Py_tp_methods, image_methods},
    {Py_tp_doc, "Image()\n--\n\nProgram memory: bytes, files, ELF files, and functions."},
    {0, NULL}};
static PyType_Spec image_spec = {"pugmark.advanced.Image", sizeof(struct image_object), 0,
                                 Py_TPFLAGS_DEFAULT, image_slots};

/* ---- trees ---- */

struct tree_object {
    PyObject_HEAD struct pug_tree *tree;
    PyObject *image;
    struct pug_log *log;
    struct message *messages; /* that came meanwhile */
    size_t message_count;
    struct kept *kept;
    uint64_t at;
    struct chunk *chunk;
    bool failed, busy, over;
};
static PyObject *tree_type;

static enum pug_response tree_elements(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    struct tree_object *tree = context;
    (void)taken;
    for (size_t i = 0; i < count && !tree->failed; i++) {
        struct chunk *chunk = tree->chunk;
        if (!chunk || chunk->count == chunk->room) {
            struct chunk *more = chunk_new(&kind_element, CHUNK_ROWS);
            tree->failed = !more;
            if (!more)
                break;
            more->next = chunk; /* the newest one first */
            tree->chunk = chunk = more;
        }
        struct pug_element *to = (struct pug_element *)(void *)chunk->rows + chunk->count++;
        *to = elements[i];
        tree->failed = !chunk_take_payload(chunk, to);
    }
    return tree->failed ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

static void tree_message(void *context, const struct pug_log_record *record)
{
    struct tree_object *tree = context;
    if (!tree->messages)
        tree->messages = calloc(MESSAGES, sizeof(*tree->messages));
    if (tree->messages && tree->message_count < MESSAGES)
        message_fill(&tree->messages[tree->message_count++], record);
}

/** Messages that came meanwhile, which are taken out: a list; NULL: with an exception. */
static PyObject *tree_messages(struct tree_object *tree)
{
    PyObject *list = messages_list(tree->messages, tree->message_count);
    tree->message_count = 0;
    return list;
}

/** Raises what a status stands for, with the messages that came. */
static PyObject *tree_raise(struct tree_object *tree, enum pug_status status, const char *what)
{
    PyObject *messages = tree_messages(tree);
    if (messages)
        raise_status(status, what, messages);
    Py_XDECREF(messages);
    return NULL;
}

static PyObject *tree_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"transport", "settings", "image", NULL};
    const char *transport = NULL;
    PyObject *settings = NULL, *image = NULL;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|zOO", names, &transport, &settings, &image))
        return NULL;
    if (image == Py_None)
        image = NULL;
    if (image && !PyObject_TypeCheck(image, (PyTypeObject *)image_type)) {
        PyErr_SetString(PyExc_TypeError, "image: an Image is expected");
        return NULL;
    }
    struct tree_object *tree = new_object(tree_type);
    if (!tree)
        return NULL;
    tree->log = pug_log_new(PUG_SEV_WARN);
    pug_log_set_sink(tree->log, tree_message, tree);
    struct pug_tree_config config = {.transport = transport,
                                     .log = tree->log,
                                     .image = image ? ((struct image_object *)image)->image : NULL};
    tree->image = image ? Py_NewRef(image) : NULL;
    if (!settings_take(settings, &tree->kept, &config.settings)) {
        Py_DECREF(tree);
        return NULL;
    }
    const enum pug_status status = pug_tree_new(&config, &tree->tree);
    if (status != PUG_OK) {
        tree_raise(tree, status, transport ? transport : "plain");
        Py_DECREF(tree);
        return NULL;
    }
    pug_tree_on_elements(tree->tree, tree_elements, tree);
    return (PyObject *)tree;
}

static void tree_chunks_free(struct tree_object *tree)
{
    for (struct chunk *next; tree->chunk; tree->chunk = next) {
        next = tree->chunk->next;
        chunk_drop(tree->chunk);
    }
}

static void tree_free(PyObject *self)
{
    struct tree_object *tree = (struct tree_object *)self;
    pug_tree_free(tree->tree);
    pug_log_free(tree->log);
    free(tree->messages);
    tree_chunks_free(tree);
    Py_XDECREF(tree->image);
    kept_free(tree->kept);
    free_object(self);
}

static PyObject *tree_add_source(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"protocol", "settings", NULL};
    struct tree_object *tree = (struct tree_object *)self;
    struct pug_source_config config = {.decode = true, .options = {.data_elements = true}};
    struct pug_source *source = NULL;
    PyObject *settings = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|O", names, &config.protocol, &settings) ||
        !settings_take(settings, &tree->kept, &config.settings))
        return NULL;
    const enum pug_status status = pug_tree_add_source(tree->tree, &config, &source);
    if (status != PUG_OK)
        return tree_raise(tree, status, config.protocol);
    return PyLong_FromUnsignedLong(pug_source_id(source));
}

/** The chunks that came, as a list of batches in their order. */
static PyObject *tree_batches(struct tree_object *tree)
{
    PyObject *list = PyList_New(0);
    while (tree->chunk && list) {
        struct chunk *chunk = tree->chunk;
        tree->chunk = chunk->next;
        chunk->next = NULL;
        PyObject *batch = batch_new(chunk_shrink(chunk));
        if (!batch || PyList_Append(list, batch) != 0)
            Py_CLEAR(list);
        Py_XDECREF(batch);
    }
    if (list && PyList_Reverse(list) != 0)
        Py_CLEAR(list);
    return list;
}

static PyObject *tree_operate(struct tree_object *tree, const uint8_t *bytes, size_t size,
                              enum pug_op op)
{
    enum pug_response response = PUG_RESP_CONT;
    if (tree->busy || tree->over) {
        PyErr_SetString(PyExc_RuntimeError, tree->busy ? "another thread uses this tree"
                                                       : "the trace has ended: reset() it first");
        return NULL;
    }
    tree->busy = true;
    PyThreadState *const python = PyEval_SaveThread();
    if (op != PUG_OP_DATA)
        response = pug_tree_op(tree->tree, op, 0, NULL, 0, NULL);
    for (size_t done = 0, used; op == PUG_OP_DATA && done < size; done += used) {
        used = 0;
        response = pug_tree_data(tree->tree, tree->at + done, bytes + done, size - done, &used);
        while (PUG_RESP_IS_WAIT(response))
            response = pug_tree_flush(tree->tree);
        if (used == 0 || PUG_RESP_IS_FATAL(response))
            break;
    }
    PyEval_RestoreThread(python);
    tree->at += size;
    tree->busy = false;
    if (PUG_RESP_IS_FATAL(response)) {
        tree_chunks_free(tree);
        return tree_raise(tree, tree->failed ? PUG_ERR_MEM : PUG_ERR_DATA_DECODE_FATAL, "the tree");
    }
    PyObject *messages = tree_messages(tree);
    const bool good = messages && messages_log(messages);
    Py_XDECREF(messages);
    return good ? tree_batches(tree) : NULL;
}

static PyObject *tree_data(PyObject *self, PyObject *args)
{
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "y*", &view))
        return NULL;
    PyObject *result =
        tree_operate((struct tree_object *)self, view.buf, (size_t)view.len, PUG_OP_DATA);
    PyBuffer_Release(&view);
    return result;
}

static PyObject *tree_end(PyObject *self, PyObject *unused)
{
    struct tree_object *tree = (struct tree_object *)self;
    (void)unused;
    PyObject *result = tree_operate(tree, NULL, 0, PUG_OP_END);
    tree->over |= result != NULL;
    return result;
}

static PyObject *tree_reset(PyObject *self, PyObject *unused)
{
    struct tree_object *tree = (struct tree_object *)self;
    (void)unused;
    tree->over = false;
    tree->at = 0;
    return tree_operate(tree, NULL, 0, PUG_OP_RESET);
}

static PyMethodDef tree_methods[] = {
    {"add_source", (PyCFunction)(void (*)(void))tree_add_source, METH_VARARGS | METH_KEYWORDS,
     "add_source(protocol, settings=())\n--\n\nAdd a source; its trace id is returned."},
    {"data", tree_data, METH_VARARGS,
     "data(trace)\n--\n\nDecode bytes of trace; a list of batches is returned."},
    {"end", tree_end, METH_NOARGS, "end()\n--\n\nThe trace is over: the last batches."},
    {"reset", tree_reset, METH_NOARGS, "reset()\n--\n\nForget the trace: another one follows."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot tree_slots[] = {
    {Py_tp_new, (void *)tree_new},
    {Py_tp_dealloc, (void *)tree_free},
    {Py_tp_methods, tree_methods},
    {Py_tp_doc, "Tree(transport=None, settings=(), image=None)\n--\n\nDecodes bytes of trace that "
                "come from elsewhere."},
    {0, NULL}};
static PyType_Spec tree_spec = {"pugmark.advanced.Tree", sizeof(struct tree_object), 0,
                                Py_TPFLAGS_DEFAULT, tree_slots};

/* ---- indexes ---- */

struct index_object {
    PyObject_HEAD struct core *core;
    struct pug_tree *tree;
    struct pug_index *index;
    uint8_t *bytes;
    size_t size, segment;
    bool busy;
};
static PyObject *index_type;

struct indexing {
    struct core *core;
    struct pug_tree *tree;
    struct pug_index *index;
    uint8_t *bytes;
    size_t size, segment;
    enum pug_status status;
    atomic_bool *stop;
};

static bool indexing_on(void *context, uint64_t done)
{
    (void)done;
    return !atomic_load(((struct indexing *)context)->stop);
}

static void indexing_end(void *argument)
{
    struct indexing *work = argument;
    pug_index_free(work->index);
    pug_tree_free(work->tree);
    core_drop(work->core);
    free(work->bytes);
    free(work);
}

static void indexing_run(void *argument, atomic_bool *stop)
{
    struct indexing *work = argument;
    struct pug_capture *capture = work->core->capture;
    const struct pug_capture_segment *segment = pug_capture_segment_at(capture, work->segment);
    struct pug_tree *tree = NULL;
    work->stop = stop;
    work->status = segment ? PUG_OK : PUG_ERR_NOT_FOUND;
    if (segment && segment->size > PTRDIFF_MAX)
        work->status = PUG_ERR_LIMIT;
    work->bytes = work->status == PUG_OK ? malloc((size_t)segment->size + 1) : NULL;
    if (work->status == PUG_OK && !work->bytes)
        work->status = PUG_ERR_MEM;
    if (work->status == PUG_OK)
        work->size = pug_capture_bytes(capture, work->segment, 0, work->bytes,
                                       (size_t)segment->size, &work->status);
    if (work->status == PUG_OK)
        work->status = pug_capture_tree(capture, work->segment, false, NULL, &work->tree);
    if (work->status == PUG_OK)
        work->status = pug_capture_tree(capture, work->segment, false, NULL, &tree);
    const struct pug_index_options options = {.progress = indexing_on, .progress_context = work};
    if (work->status == PUG_OK)
        work->status = pug_index_build(tree, work->bytes, work->size, &options, &work->index);
    pug_tree_free(tree);
}

static PyObject *index_new(PyObject *module, PyObject *args)
{
    PyObject *capture;
    Py_ssize_t segment = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O|n", &capture, &segment))
        return NULL;
    struct core *core = capture_core(capture);
    struct indexing *work = core ? calloc(1, sizeof(*work)) : NULL;
    if (!work)
        return core ? PyErr_NoMemory() : NULL;
    work->core = core_hold(core);
    work->segment = (size_t)segment;
    if (!job_run(indexing_run, work, indexing_end))
        return NULL;
    struct index_object *index = NULL;
    if (work->status != PUG_OK)
        raise_status(work->status, pug_capture_path(core->capture), NULL);
    else
        index = new_object(index_type);
    if (index) {
        index->core = core_hold(core);
        index->tree = work->tree;
        index->index = work->index;
        index->bytes = work->bytes;
        index->size = work->size;
        index->segment = work->segment;
        work->tree = NULL;
        work->index = NULL;
        work->bytes = NULL;
    }
    indexing_end(work);
    return (PyObject *)index;
}

static void index_free(PyObject *self)
{
    struct index_object *index = (struct index_object *)self;
    pug_index_free(index->index);
    pug_tree_free(index->tree);
    free(index->bytes);
    core_drop(index->core);
    free_object(self);
}

static PyObject *index_find(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"kind", "source", "start", "backwards", "least", "greatest", NULL};
    struct index_object *index = (struct index_object *)self;
    int kind, backwards = 0;
    unsigned source = PUG_INDEX_ANY;
    unsigned long long from = 0, least = 0, greatest = UINT64_MAX;
    struct pug_index_mark mark;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "i|IKpKK", names, &kind, &source, &from,
                                     &backwards, &least, &greatest))
        return NULL;
    if (kind < 0 || kind >= PUG_MARK_KINDS || index->busy) {
        PyErr_SetString(PyExc_ValueError,
                        index->busy ? "another thread uses this index" : "no such kind of mark");
        return NULL;
    }
    const struct pug_index_query query = {.kind = (enum pug_mark_kind)kind,
                                          .source = source,
                                          .from = from,
                                          .backwards = backwards != 0,
                                          .least = least,
                                          .greatest = greatest};
    enum pug_status status;
    index->busy = true;
    PyThreadState *const python = PyEval_SaveThread();
    status = pug_index_find(index->index, index->tree, index->bytes, index->size, &query, &mark);
    PyEval_RestoreThread(python);
    index->busy = false;
    if (status == PUG_ERR_NOT_FOUND)
        Py_RETURN_NONE;
    if (status != PUG_OK)
        return raise_status(status, "the index", NULL);
    return Py_BuildValue("(KKi)", (unsigned long long)mark.at, (unsigned long long)mark.value,
                         (int)mark.source);
}

static PyObject *index_save(PyObject *self, PyObject *args)
{
    PyObject *path;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const enum pug_status status =
        pug_index_save(((struct index_object *)self)->index, PyBytes_AsString(path));
    if (status != PUG_OK)
        raise_status(status, PyBytes_AsString(path), NULL);
    Py_DECREF(path);
    return status == PUG_OK ? Py_NewRef(Py_None) : NULL;
}

static PyObject *index_counts(PyObject *self, PyObject *unused)
{
    struct index_object *index = (struct index_object *)self;
    struct pug_index_source source;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t n = 0; list && pug_index_source_at(index->index, n, &source); n++) {
        PyObject *counts = PyList_New(0);
        for (int kind = 0; counts && kind < PUG_MARK_KINDS; kind++) {
            PyObject *count = PyLong_FromUnsignedLongLong(source.counts[kind]);
            if (!count || PyList_Append(counts, count) != 0)
                Py_CLEAR(counts);
            Py_XDECREF(count);
        }
        PyObject *item = counts ? Py_BuildValue("(isKN)", (int)source.id, source.protocol,
                                                (unsigned long long)source.bytes, counts)
                                : NULL;
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyMethodDef index_methods[] = {
    {"find", (PyCFunction)(void (*)(void))index_find, METH_VARARGS | METH_KEYWORDS,
     "find(kind, source=ANY, start=0, backwards=False, least=0, greatest=2**64-1)\n--\n\nThe first "
     "mark of a kind: (offset, value, source), or None."},
    {"save", index_save, METH_VARARGS, "save(path)\n--\n\nWrite it to a file."},
    {"counts", index_counts, METH_NOARGS,
     "counts()\n--\n\nFor each source: (id, protocol, bytes, marks of each kind)."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot index_slots[] = {{Py_tp_dealloc, (void *)index_free},
                                    {Py_tp_methods, index_methods},
                                    {Py_tp_doc, "Where marks are in a capture."},
                                    {0, NULL}};
static PyType_Spec index_spec = {"pugmark.advanced.Index", sizeof(struct index_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 index_slots};

/* ---- what bytes look like ---- */

static PyObject *guess(PyObject *module, PyObject *args)
{
    Py_buffer view;
    struct pug_guess guesses[PUG_GUESSES];
    (void)module;
    if (!PyArg_ParseTuple(args, "y*", &view))
        return NULL;
    const size_t count = pug_guess_format(view.buf, (size_t)view.len, guesses);
    PyBuffer_Release(&view);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *item = Py_BuildValue("(szIss)", guesses[i].transport, guesses[i].protocol,
                                       guesses[i].score, guesses[i].reason, guesses[i].settings);
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyMethodDef functions[] = {{"index", index_new, METH_VARARGS, "An index of a segment."},
                                  {"guess", guess, METH_VARARGS, "What bytes look like."},
                                  {NULL, NULL, 0, NULL}};

int advanced_init(PyObject *module)
{
    image_type = add_type(module, &image_spec);
    tree_type = add_type(module, &tree_spec);
    index_type = add_type(module, &index_spec);
    return image_type && tree_type && index_type ? PyModule_AddFunctions(module, functions) : -1;
}
