// SPDX-License-Identifier: MIT
/** @file Rows of every kind: as Python objects one by one, and as buffers. */
#include "binding.h"

#include <stddef.h>

static size_t size_of_form(char form)
{
    switch (form) {
    case FIELD_I64:
    case FIELD_U64: return 8;
    case FIELD_U32:
    case FIELD_I32:
    case FIELD_TEXT: return 4;
    case FIELD_U16: return 2;
    default: return 1;
    }
}

/** "T{<Q:index:<Q:start:...}": fields in their order, and padding between them. */
static char *format_of(const struct row_kind *kind)
{
    size_t room = 64, at = 0, used = 0;
    for (const struct field *f = kind->fields; f->name; f++)
        room += strlen(f->name) + 16;
    char *text = malloc(room);
    if (!text)
        return NULL;
    used = (size_t)snprintf(text, room, "T{");
    for (const struct field *f = kind->fields; f->name; f++) {
        if (f->overlaps || f->offset < at)
            continue;
        if (f->offset > at)
            used += (size_t)snprintf(text + used, room - used, "%zux", f->offset - at);
        used += (size_t)snprintf(text + used, room - used, "%c%c:%s:", PY_LITTLE_ENDIAN ? '<' : '>',
                                 f->form == 's' ? 'I' : f->form, f->name);
        at = f->offset + size_of_form(f->form);
    }
    if (at < kind->size)
        used += (size_t)snprintf(text + used, room - used, "%zux", kind->size - at);
    snprintf(text + used, room - used, "}");
    return text;
}

/* ---- batches ---- */

struct batch {
    PyObject_HEAD struct chunk *chunk;
};
static PyObject *batch_type;

PyObject *batch_new(struct chunk *chunk)
{
    struct batch *batch = new_object(batch_type);
    if (!batch) {
        chunk_drop(chunk);
        return NULL;
    }
    batch->chunk = chunk;
    return (PyObject *)batch;
}

static void batch_free(PyObject *self)
{
    chunk_drop(((struct batch *)self)->chunk);
    free_object(self);
}

static Py_ssize_t batch_length(PyObject *self)
{
    return (Py_ssize_t)((struct batch *)self)->chunk->count;
}

/* ---- single rows ---- */

/** A row, and the chunk that it is in. */
struct row {
    PyObject_HEAD struct chunk *chunk;
    const uint8_t *bytes;
    const struct row_kind *kind;
};

static PyObject *row_new(struct chunk *chunk, size_t n)
{
    struct row *row = new_object(chunk->kind->type);
    if (!row)
        return NULL;
    atomic_fetch_add(&chunk->references, 1);
    row->chunk = chunk;
    row->kind = chunk->kind;
    row->bytes = chunk->rows + n * chunk->kind->size;
    return (PyObject *)row;
}

static void row_free(PyObject *self)
{
    chunk_drop(((struct row *)self)->chunk);
    free_object(self);
}

static PyObject *string_of(const struct chunk *chunk, uint32_t number)
{
    const char *text = NULL;
    struct stream *stream = chunk->stream;
    if (stream && number > 0) {
        pthread_mutex_lock(&stream->lock);
        if (number <= stream->strings.count)
            text = stream->strings.items[number - 1];
        pthread_mutex_unlock(&stream->lock);
    }
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *value_of(const struct chunk *chunk, const uint8_t *row, const struct field *field)
{
    const uint8_t *at = row + field->offset;
    uint64_t wide;
    uint32_t word;
    uint16_t half;
    int32_t whole;
    switch (field->form) {
    case FIELD_I64: memcpy(&wide, at, 8); return PyLong_FromLongLong((int64_t)wide);
    case FIELD_U64: memcpy(&wide, at, 8); return PyLong_FromUnsignedLongLong(wide);
    case FIELD_U32: memcpy(&word, at, 4); return PyLong_FromUnsignedLong(word);
    case FIELD_I32: memcpy(&whole, at, 4); return PyLong_FromLong(whole);
    case FIELD_TEXT: memcpy(&word, at, 4); return string_of(chunk, word);
    case FIELD_U16: memcpy(&half, at, 2); return PyLong_FromUnsignedLong(half);
    case FIELD_I8: return PyLong_FromLong((int8_t)*at);
    case FIELD_BOOL: return PyBool_FromLong(*at);
    default: return PyLong_FromUnsignedLong(*at);
    }
}

static PyObject *row_get(PyObject *self, void *field)
{
    const struct row *row = (struct row *)self;
    return value_of(row->chunk, row->bytes, field);
}

static PyObject *row_str(PyObject *self)
{
    const struct row *row = (struct row *)self;
    char text[1024];
    if (!row->kind->words)
        return PyObject_Repr(self);
    row->kind->words(row->chunk, row->bytes, text, sizeof(text));
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *payload_of(const struct chunk *chunk, const uint8_t *row)
{
    uint64_t at = 0, size = 0;
    if (chunk->kind->fields[1].offset == offsetof(struct pug_element, start) &&
        strcmp(chunk->kind->fields[1].name, "start") == 0) {
        const struct pug_element *e = (const struct pug_element *)(const void *)row;
        if (e->flags & PUG_ELEM_PAYLOAD) {
            at = e->start;
            size = e->count;
        }
    } else if (chunk->kind == &kind_packet) {
        const struct packet_row *packet = (const struct packet_row *)(const void *)row;
        at = packet->at;
        size = packet->size;
    } else if (chunk->kind == &kind_instruction) {
        const struct instruction_row *insn = (const struct instruction_row *)(const void *)row;
        return PyBytes_FromStringAndSize((const char *)insn->bytes,
                                         insn->size < PUG_STEP_BYTES ? insn->size : PUG_STEP_BYTES);
    }
    if (size == 0 || at > chunk->payload_size || size > chunk->payload_size - at)
        return PyBytes_FromStringAndSize("", 0);
    return PyBytes_FromStringAndSize((const char *)chunk->payload + at, (Py_ssize_t)size);
}

static PyObject *row_payload(PyObject *self, void *unused)
{
    const struct row *row = (struct row *)self;
    (void)unused;
    return payload_of(row->chunk, row->bytes);
}

static PyObject *row_words(PyObject *self, void *unused)
{
    const struct row *row = (struct row *)self;
    (void)unused;
    if (row->kind == &kind_packet) {
        const struct packet_row *packet = (const struct packet_row *)(const void *)row->bytes;
        return PyUnicode_DecodeUTF8((const char *)row->chunk->payload + packet->at + packet->size,
                                    packet->text_size, "replace");
    }
    return row_str(self);
}

static PyObject *row_tuple(PyObject *self, PyObject *unused)
{
    const struct row *row = (struct row *)self;
    Py_ssize_t count = 0;
    (void)unused;
    while (row->kind->fields[count].name)
        count++;
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *value = value_of(row->chunk, row->bytes, &row->kind->fields[i]);
        if (!value || PyTuple_SetItem(tuple, i, value) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyMethodDef row_methods[] = {
    {"_values", row_tuple, METH_NOARGS, "The values of all fields, in their order."},
    {NULL, NULL, 0, NULL}};

/** Make the type of a kind's single rows. */
static int add_row_type(PyObject *module, struct row_kind *kind)
{
    size_t count = 0;
    while (kind->fields[count].name)
        count++;
    PyGetSetDef *getters = PyMem_Calloc(count + 3, sizeof(*getters));
    char *name = PyMem_Calloc(1, 64);
    kind->format = format_of(kind);
    if (!getters || !name || !kind->format)
        return -1;
    for (size_t i = 0; i < count; i++)
        getters[i] = (PyGetSetDef){kind->fields[i].name, row_get, NULL, kind->fields[i].doc,
                                   (void *)(uintptr_t)&kind->fields[i]};
    const bool insn = kind == &kind_instruction, elements = kind->words && kind != &kind_dwt;
    if (insn || elements || kind == &kind_packet)
        getters[count++] = (PyGetSetDef){insn ? "bytes" : "payload", row_payload, NULL,
                                         "The bytes that belong to it.", NULL};
    if (kind->words || kind == &kind_packet)
        getters[count] = (PyGetSetDef){"text", row_words, NULL, "The same in words.", NULL};
    snprintf(name, 64, "pugmark.%s", kind->name);
    PyType_Slot slots[] = {{Py_tp_dealloc, (void *)row_free},
                           {Py_tp_getset, getters},
                           {Py_tp_methods, row_methods},
                           {Py_tp_doc, (void *)(uintptr_t)kind->doc},
                           {kind->words ? Py_tp_str : 0, (void *)row_str},
                           {0, NULL}};
    PyType_Spec spec = {name, sizeof(struct row), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    kind->type = add_type(module, &spec);
    return kind->type ? 0 : -1;
}

/* ---- batches as sequences and buffers ---- */

static PyObject *batch_item(PyObject *self, Py_ssize_t n)
{
    struct chunk *chunk = ((struct batch *)self)->chunk;
    if (n < 0 || (size_t)n >= chunk->count) {
        PyErr_SetString(PyExc_IndexError, "the batch has no such row");
        return NULL;
    }
    return row_new(chunk, (size_t)n);
}

/** An iterator over the rows of a batch. */
struct rows_iterator {
    PyObject_HEAD struct chunk *chunk;
    size_t next;
};
static PyObject *iterator_type;

static PyObject *batch_iterate(PyObject *self)
{
    struct rows_iterator *iterator = new_object(iterator_type);
    if (!iterator)
        return NULL;
    iterator->chunk = ((struct batch *)self)->chunk;
    atomic_fetch_add(&iterator->chunk->references, 1);
    return (PyObject *)iterator;
}

static PyObject *rows_next(PyObject *self)
{
    struct rows_iterator *iterator = (struct rows_iterator *)self;
    if (iterator->next >= iterator->chunk->count)
        return NULL;
    return row_new(iterator->chunk, iterator->next++);
}

static void iterator_free(PyObject *self)
{
    chunk_drop(((struct rows_iterator *)self)->chunk);
    free_object(self);
}

static int batch_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct chunk *chunk = ((struct batch *)self)->chunk;
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "a batch is read-only");
        return -1;
    }
    const bool shaped = (flags & PyBUF_ND) == PyBUF_ND;
    Py_ssize_t *shape = PyMem_Malloc(2 * sizeof(*shape));
    if (!shape) {
        PyErr_NoMemory();
        return -1;
    }
    shape[0] = (Py_ssize_t)chunk->count;
    shape[1] = chunk->kind->size;
    *view = (Py_buffer){.buf = chunk->rows,
                        .obj = Py_NewRef(self),
                        .len = (Py_ssize_t)(chunk->count * chunk->kind->size),
                        .itemsize = chunk->kind->size,
                        .readonly = 1,
                        .ndim = 1,
                        .format = flags & PyBUF_FORMAT ? chunk->kind->format : NULL,
                        .shape = shaped ? shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape + 1 : NULL,
                        .internal = shape};
    return 0;
}

static void batch_release(PyObject *self, Py_buffer *view)
{
    (void)self;
    PyMem_Free(view->internal);
}

static PyObject *batch_payload(PyObject *self, PyObject *number)
{
    struct chunk *chunk = ((struct batch *)self)->chunk;
    Py_ssize_t n = PyNumber_AsSsize_t(number, PyExc_IndexError);
    if (n == -1 && PyErr_Occurred())
        return NULL;
    if (n < 0)
        n += (Py_ssize_t)chunk->count;
    if (n < 0 || (size_t)n >= chunk->count) {
        PyErr_SetString(PyExc_IndexError, "the batch has no such row");
        return NULL;
    }
    return payload_of(chunk, chunk->rows + (size_t)n * chunk->kind->size);
}

static PyObject *batch_strings(PyObject *self, PyObject *unused)
{
    struct chunk *chunk = ((struct batch *)self)->chunk;
    (void)unused;
    PyObject *list = PyList_New(0);
    uint32_t count = 0;
    if (chunk->stream) {
        pthread_mutex_lock(&chunk->stream->lock);
        count = chunk->stream->strings.count;
        pthread_mutex_unlock(&chunk->stream->lock);
    }
    for (uint32_t i = 0; list && i <= count; i++) {
        PyObject *text = string_of(chunk, i);
        if (!text || PyList_Append(list, text) != 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *batch_origin(PyObject *self, void *what)
{
    const struct chunk *chunk = ((struct batch *)self)->chunk;
    const struct pug_origin *origin = &chunk->origin;
    if (!chunk->has_origin)
        Py_RETURN_NONE;
    switch (*(const char *)what) {
    case 's': return PyLong_FromUnsignedLong(origin->source);
    case 'b': return PyLong_FromUnsignedLong(origin->buffer);
    case 'S': return PyLong_FromUnsignedLong(origin->segment);
    case 't':
        if (origin->task == PUG_NO_TASK)
            Py_RETURN_NONE;
        return PyLong_FromUnsignedLong(origin->task);
    case 'c':
        if (origin->cpu == PUG_NO_CPU)
            Py_RETURN_NONE;
        return PyLong_FromLong(origin->cpu);
    default:
        if (origin->time == 0)
            Py_RETURN_NONE;
        return PyLong_FromUnsignedLongLong(origin->time);
    }
}

static PyObject *batch_kind(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((struct batch *)self)->chunk->kind->name);
}

static PyGetSetDef batch_getters[] = {
    {"kind", batch_kind, NULL, "Name of the type of its rows: \"Element\", \"Call\" ...", NULL},
    {"source", batch_origin, NULL, "Trace id of the source; None where rows are mixed.", "s"},
    {"buffer", batch_origin, NULL, "Number of the buffer.", "b"},
    {"segment", batch_origin, NULL, "Number of the segment.", "S"},
    {"task", batch_origin, NULL, "Number of the task, or None.", "t"},
    {"cpu", batch_origin, NULL, "Processor, or None.", "c"},
    {"time", batch_origin, NULL, "When the first of the elements happened, or None.", "T"},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef batch_methods[] = {
    {"payload", batch_payload, METH_O,
     "payload(i)\n--\n\nThe bytes that belong to row i, such as those of software trace."},
    {"strings", batch_strings, METH_NOARGS,
     "strings()\n--\n\nTexts by the numbers that columns of texts have in arrays."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot batch_slots[] = {
    {Py_tp_dealloc, (void *)batch_free},
    {Py_tp_getset, batch_getters},
    {Py_tp_methods, batch_methods},
    {Py_tp_iter, (void *)batch_iterate},
    {Py_sq_length, (void *)batch_length},
    {Py_sq_item, (void *)batch_item},
    {Py_bf_getbuffer, (void *)batch_buffer},
    {Py_bf_releasebuffer, (void *)batch_release},
    {Py_tp_doc, "Rows of one kind, which own their memory and are read-only."},
    {0, NULL}};
static PyType_Spec batch_spec = {"pugmark.Batch", sizeof(struct batch), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 batch_slots};

static PyType_Slot iterator_slots[] = {{Py_tp_dealloc, (void *)iterator_free},
                                       {Py_tp_iter, (void *)PyObject_SelfIter},
                                       {Py_tp_iternext, (void *)rows_next},
                                       {0, NULL}};
static PyType_Spec iterator_spec = {"pugmark.RowsIterator", sizeof(struct rows_iterator), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    iterator_slots};

/** ("Element", 64, (("index", "Q", 0, False), ...)): what dtypes are made of. */
static PyObject *fields_of(PyObject *self, PyObject *name)
{
    (void)self;
    for (size_t i = 0; row_kinds[i]; i++) {
        const struct row_kind *kind = row_kinds[i];
        if (PyUnicode_CompareWithASCIIString(name, kind->name) != 0)
            continue;
        PyObject *list = PyList_New(0);
        for (const struct field *f = kind->fields; list && f->name; f++) {
            PyObject *item = Py_BuildValue("(sCiO)", f->name, f->form, (int)f->offset,
                                           f->overlaps ? Py_True : Py_False);
            if (!item || PyList_Append(list, item) != 0)
                Py_CLEAR(list);
            Py_XDECREF(item);
        }
        return list ? Py_BuildValue("(iN)", (int)kind->size, list) : NULL;
    }
    PyErr_SetObject(PyExc_KeyError, name);
    return NULL;
}

static PyMethodDef functions[] = {
    {"fields", fields_of, METH_O, "Size and fields of a kind of row."}, {NULL, NULL, 0, NULL}};

int rows_init(PyObject *module)
{
    for (size_t i = 0; row_kinds[i]; i++)
        if (add_row_type(module, row_kinds[i]) != 0)
            return -1;
    batch_type = add_type(module, &batch_spec);
    iterator_type = add_type(module, &iterator_spec);
    return batch_type && iterator_type ? PyModule_AddFunctions(module, functions) : -1;
}
