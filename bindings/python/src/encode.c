// SPDX-License-Identifier: MIT
/** @file Packets in words to bytes, as `pugmark encode` makes them. */
#include "binding.h"
#include "recorder/lines.h"

/** "NAME=VALUE" texts out of a list. False: with an exception. */
static bool take_settings(PyObject *list, struct rec_words *settings)
{
    const Py_ssize_t count = PyList_Size(list);
    if (count > (Py_ssize_t)REC_SCRIPT_WORDS) {
        PyErr_SetString(PyExc_ValueError, "too many settings");
        return false;
    }
    for (Py_ssize_t n = 0; n < count; n++)
        if (!(settings->at[n] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, n), NULL)))
            return false;
    settings->count = (size_t)count;
    return true;
}

/** One line, which may come without its end. False: with an exception. */
static bool put_line(struct rec_lines *lines, PyObject *text, Py_ssize_t number)
{
    Py_ssize_t size = 0;
    const char *line = PyUnicode_AsUTF8AndSize(text, &size);
    char *copy = line ? PyMem_Malloc((size_t)size + 1) : NULL;
    if (!copy) {
        if (line)
            PyErr_NoMemory();
        return false;
    }
    memcpy(copy, line, (size_t)size + 1);
    const bool good = strlen(copy) == (size_t)size && rec_lines_put(lines, copy);
    PyMem_Free(copy);
    if (!good)
        PyErr_Format(PyExc_ValueError, "line %zd: no such packet, or what it has does not fit",
                     number);
    return good;
}

/** encode(lines, osd, settings): bytes. */
static PyObject *encode(PyObject *module, PyObject *args)
{
    PyObject *texts, *list, *result = NULL;
    int osd;
    struct rec_words settings = {.count = 0};
    struct rec_bytes out = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!pO!", &PyList_Type, &texts, &osd, &PyList_Type, &list) ||
        !take_settings(list, &settings))
        return NULL;
    const size_t unknown = rec_lines_unknown(osd != 0, &settings);
    if (unknown < settings.count)
        return PyErr_Format(PyExc_ValueError, "no such setting: %s", settings.at[unknown]);
    struct rec_lines *lines = rec_lines_new(osd != 0, &settings, &out);
    if (!lines) {
        PyErr_SetString(PyExc_ValueError, "the value of a setting is out of range");
        return NULL;
    }
    bool good = true;
    for (Py_ssize_t n = 0; good && n < PyList_Size(texts); n++)
        good = put_line(lines, PyList_GetItem(texts, n), n + 1);
    if (good) {
        rec_lines_end(lines);
        result = out.failed
                     ? PyErr_NoMemory()
                     : PyBytes_FromStringAndSize((const char *)out.data, (Py_ssize_t)out.size);
    }
    rec_lines_free(lines);
    rec_bytes_free(&out);
    return result;
}

static PyMethodDef functions[] = {{"encode", encode, METH_VARARGS, "Packets in words, as bytes."},
                                  {NULL, NULL, 0, NULL}};

int encode_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
