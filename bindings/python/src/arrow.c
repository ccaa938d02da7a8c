// SPDX-License-Identifier: MIT
/**
 * @file Tables as an Arrow C stream: one record batch, whose buffers are those of Python objects.
 *
 * The structs are those of the Arrow specification, "The Arrow C data interface" and "The Arrow C
 * stream interface".
 */
#include "binding.h"

#include <errno.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};

#define BUFFERS 3

/** A column: its name, its format, and the buffers of its values. */
struct column {
    char *name, *format;
    unsigned buffer_count;
    Py_buffer views[BUFFERS];
    bool held[BUFFERS];
};

/** Columns, shared by a stream and the arrays that it gave. */
struct table {
    atomic_uint references;
    int64_t length;
    size_t count;
    bool given;
    struct column *columns;
};

static void table_drop(struct table *table)
{
    if (!table || atomic_fetch_sub(&table->references, 1) != 1)
        return;
    const PyGILState_STATE state = PyGILState_Ensure();
    for (size_t i = 0; i < table->count; i++) {
        for (unsigned b = 0; b < BUFFERS; b++)
            if (table->columns[i].held[b])
                PyBuffer_Release(&table->columns[i].views[b]);
        free(table->columns[i].name);
        free(table->columns[i].format);
    }
    PyGILState_Release(state);
    free(table->columns);
    free(table);
}

/* ---- schemas ---- */

static void schema_release(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children && i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];
        if (child && child->release)
            child->release(child);
        free(child);
    }
    free(schema->children);
    free((char *)(uintptr_t)schema->format);
    free((char *)(uintptr_t)schema->name);
    schema->release = NULL;
}

static bool schema_make(struct ArrowSchema *schema, const char *format, const char *name)
{
    *schema = (struct ArrowSchema){
        .format = strdup(format), .name = strdup(name), .flags = 2, .release = schema_release};
    return schema->format && schema->name;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const struct table *table = stream->private_data;
    bool good = schema_make(out, "+s", "");
    out->flags = 0;
    out->children = calloc(table->count + 1, sizeof(struct ArrowSchema *));
    good = good && out->children;
    for (size_t i = 0; good && i < table->count; i++) {
        out->children[i] = calloc(1, sizeof(struct ArrowSchema));
        out->n_children++;
        good = out->children[i] &&
               schema_make(out->children[i], table->columns[i].format, table->columns[i].name);
    }
    if (!good)
        schema_release(out);
    return good ? 0 : ENOMEM;
}

/* ---- arrays ---- */

static void array_release(struct ArrowArray *array)
{
    for (int64_t i = 0; array->children && i < array->n_children; i++) {
        struct ArrowArray *child = array->children[i];
        if (child && child->release)
            child->release(child);
        free(child);
    }
    free(array->children);
    free(array->buffers);
    table_drop(array->private_data);
    array->release = NULL;
}

static bool array_make(struct ArrowArray *array, struct table *table, const struct column *column)
{
    *array = (struct ArrowArray){.length = table->length,
                                 .n_buffers = column ? column->buffer_count : 1,
                                 .buffers = calloc(BUFFERS, sizeof(void *)),
                                 .release = array_release,
                                 .private_data = table};
    atomic_fetch_add(&table->references, 1);
    for (unsigned b = 0; array->buffers && column && b < column->buffer_count; b++)
        array->buffers[b] = column->held[b] ? column->views[b].buf : NULL;
    if (column && column->held[0])
        array->null_count = -1;
    return array->buffers != NULL;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct table *table = stream->private_data;
    if (table->given) {
        *out = (struct ArrowArray){.release = NULL};
        return 0;
    }
    bool good = array_make(out, table, NULL);
    out->children = calloc(table->count + 1, sizeof(struct ArrowArray *));
    good = good && out->children;
    for (size_t i = 0; good && i < table->count; i++) {
        out->children[i] = calloc(1, sizeof(struct ArrowArray));
        out->n_children++;
        good = out->children[i] && array_make(out->children[i], table, &table->columns[i]);
    }
    if (!good)
        array_release(out);
    table->given = good;
    return good ? 0 : ENOMEM;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "out of memory";
}

static void stream_release(struct ArrowArrayStream *stream)
{
    table_drop(stream->private_data);
    stream->release = NULL;
}

/* ---- capsules ---- */

static void capsule_free(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

static bool column_take(struct column *column, PyObject *item)
{
    const char *name, *format;
    PyObject *buffers;
    if (!PyArg_ParseTuple(item, "ssO", &name, &format, &buffers))
        return false;
    column->name = strdup(name);
    column->format = strdup(format);
    const Py_ssize_t count = PySequence_Size(buffers);
    if (!column->name || !column->format || count < 0 || count > BUFFERS) {
        PyErr_SetString(PyExc_ValueError, "a column has at most three buffers");
        return false;
    }
    column->buffer_count = (unsigned)count;
    for (Py_ssize_t b = 0; b < count; b++) {
        PyObject *buffer = PySequence_GetItem(buffers, b);
        if (buffer && buffer != Py_None)
            column->held[b] = PyObject_GetBuffer(buffer, &column->views[b], PyBUF_SIMPLE) == 0;
        Py_XDECREF(buffer);
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

/** arrow_stream(length, [(name, format, (validity or None, values[, data])), ...]). */
static PyObject *arrow_stream(PyObject *module, PyObject *args)
{
    long long length;
    PyObject *columns;
    (void)module;
    if (!PyArg_ParseTuple(args, "LO", &length, &columns))
        return NULL;
    const Py_ssize_t count = PySequence_Size(columns);
    struct table *table = count >= 0 ? calloc(1, sizeof(*table)) : NULL;
    struct ArrowArrayStream *stream = table ? calloc(1, sizeof(*stream)) : NULL;
    if (!stream) {
        free(table);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    atomic_init(&table->references, 1);
    table->length = length;
    table->columns = calloc((size_t)count + 1, sizeof(*table->columns));
    for (Py_ssize_t i = 0; table->columns && i < count && !PyErr_Occurred(); i++) {
        PyObject *item = PySequence_GetItem(columns, i);
        table->count++;
        if (item)
            (void)column_take(&table->columns[i], item);
        Py_XDECREF(item);
    }
    *stream =
        (struct ArrowArrayStream){get_schema, get_next, get_last_error, stream_release, table};
    PyObject *capsule = !table->columns || PyErr_Occurred()
                            ? NULL
                            : PyCapsule_New(stream, "arrow_array_stream", capsule_free);
    if (!capsule) {
        table_drop(table);
        free(stream);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return capsule;
}

static PyMethodDef functions[] = {
    {"arrow_stream", arrow_stream, METH_VARARGS, "A capsule of an Arrow C stream of columns."},
    {NULL, NULL, 0, NULL}};

int arrow_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
