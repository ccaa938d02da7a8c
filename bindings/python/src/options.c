// SPDX-License-Identifier: MIT
/** @file Options out of dicts, in memory that lives as long as what borrows them; bytes that grow.
 */
#include "binding.h"

/* The kept bytes follow their link, aligned for any type. */
#define HEAD 16u

void *kept_room(struct kept **list, size_t size)
{
    struct kept *kept = calloc(1, HEAD + size);
    if (!kept)
        return NULL;
    kept->next = *list;
    *list = kept;
    return (uint8_t *)kept + HEAD;
}

void kept_free(struct kept *list)
{
    for (struct kept *next; list; list = next) {
        next = list->next;
        free(list);
    }
}

/** A text of a str, bytes or path. NULL: with an exception. */
static char *keep_text(PyObject *object, struct kept **kept)
{
    PyObject *bytes = NULL;
    char *text = NULL, *copy = NULL;
    Py_ssize_t size = 0;
    if (PyUnicode_FSConverter(object, &bytes) &&
        PyBytes_AsStringAndSize(bytes, &text, &size) == 0) {
        copy = kept_room(kept, (size_t)size + 1);
        if (copy)
            memcpy(copy, text, (size_t)size);
        else
            PyErr_NoMemory();
    }
    Py_XDECREF(bytes);
    return copy;
}

static PyObject *entry(PyObject *options, const char *name)
{
    PyObject *value = options && options != Py_None ? PyDict_GetItemString(options, name) : NULL;
    return value == Py_None ? NULL : value;
}

const char *option_text(PyObject *options, const char *name, struct kept **kept)
{
    PyObject *value = entry(options, name);
    return value ? keep_text(value, kept) : NULL;
}

uint64_t option_number(PyObject *options, const char *name, uint64_t otherwise)
{
    PyObject *value = entry(options, name);
    return value ? PyLong_AsUnsignedLongLong(value) : otherwise;
}

bool option_is(PyObject *options, const char *name)
{
    PyObject *value = entry(options, name);
    return value && PyObject_IsTrue(value) == 1;
}

/** Texts out of a sequence; NULL: there are none, or with an exception. */
static const char *const *texts_of(PyObject *options, const char *name, struct kept **kept,
                                   size_t *count)
{
    PyObject *list = entry(options, name);
    const Py_ssize_t size = list ? PySequence_Size(list) : 0;
    *count = 0;
    if (size <= 0)
        return NULL;
    const char **texts = kept_room(kept, (size_t)size * sizeof(*texts));
    if (!texts) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        texts[i] = item ? keep_text(item, kept) : NULL;
        Py_XDECREF(item);
        if (!texts[i])
            return NULL;
    }
    *count = (size_t)size;
    return texts;
}

/** Numbers out of a sequence, each of `width` bytes; NULL: there are none, or with an exception. */
static void *numbers_of(PyObject *options, const char *name, struct kept **kept, size_t width,
                        size_t *count)
{
    PyObject *list = entry(options, name);
    const Py_ssize_t size = list ? PySequence_Size(list) : 0;
    *count = 0;
    if (size <= 0)
        return NULL;
    uint8_t *numbers = kept_room(kept, (size_t)size * width);
    if (!numbers) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        const long value = item ? PyLong_AsLong(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return NULL;
        if (value < (width == 2 ? 0 : INT32_MIN) || value > (width == 2 ? UINT16_MAX : INT32_MAX)) {
            PyErr_Format(PyExc_ValueError, "%s: %ld is out of range", name, value);
            return NULL;
        }
        const int32_t whole = (int32_t)value;
        const uint16_t half = (uint16_t)value;
        memcpy(numbers + (size_t)i * width, width == 2 ? (const void *)&half : &whole, width);
    }
    *count = (size_t)size;
    return numbers;
}

bool selection_take(PyObject *options, struct kept **kept, struct pug_capture_selection *selection)
{
    *selection = (struct pug_capture_selection){
        .has_from = entry(options, "time_from") != NULL,
        .has_to = entry(options, "time_to") != NULL,
        .from = option_number(options, "time_from", 0),
        .to = option_number(options, "time_to", 0),
    };
    selection->pids = numbers_of(options, "pid", kept, 4, &selection->pid_count);
    selection->tids = numbers_of(options, "tid", kept, 4, &selection->tid_count);
    selection->cpus = numbers_of(options, "cpu", kept, 4, &selection->cpu_count);
    selection->sources = numbers_of(options, "source", kept, 2, &selection->source_count);
    selection->comms = texts_of(options, "comm", kept, &selection->comm_count);
    selection->objects = texts_of(options, "dso", kept, &selection->object_count);
    return !PyErr_Occurred();
}

bool settings_take(PyObject *pairs, struct kept **kept, struct pug_settings *settings)
{
    const Py_ssize_t size = pairs && pairs != Py_None ? PySequence_Size(pairs) : 0;
    if (size < 0)
        return false;
    struct pug_setting *items = kept_room(kept, ((size_t)size + 1) * sizeof(*items));
    if (!items) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *pair = PySequence_GetItem(pairs, i), *name, *value;
        if (!pair || !PyArg_ParseTuple(pair, "OO", &name, &value)) {
            Py_XDECREF(pair);
            return false;
        }
        items[i].name = keep_text(name, kept);
        if (PyLong_Check(value))
            items[i].value = PyLong_AsUnsignedLongLong(value);
        else
            items[i].text = keep_text(value, kept);
        Py_DECREF(pair);
        if (PyErr_Occurred())
            return false;
    }
    settings->items = items;
    settings->count = (size_t)size;
    return true;
}

void bytes_put(void *context, const void *bytes, size_t size)
{
    struct bytes_out *out = context;
    if (out->room - out->size < size) {
        const size_t room = out->room + out->room / 2 + size + 4096;
        char *more = out->failed ? NULL : realloc(out->bytes, room);
        if (!more) {
            out->failed = true;
            return;
        }
        out->bytes = more;
        out->room = room;
    }
    if (size > 0)
        memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}
