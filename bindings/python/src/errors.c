// SPDX-License-Identifier: MIT
/** @file Messages for logging, and exceptions. Python code of the package makes both. */
#include "binding.h"

static PyObject *make_error, *log_messages;

void message_fill(struct message *message, const struct pug_log_record *record)
{
    const bool named = record->component && *record->component;
    *message = (struct message){.severity = record->severity,
                                .code = record->code,
                                .index = record->index,
                                .source = record->source};
    snprintf(message->text, sizeof(message->text), "%s%s%s", named ? record->component : "",
             named ? ": " : "",
             record->text && *record->text ? record->text : pug_status_text(record->code));
}

PyObject *messages_list(const struct message *messages, size_t count)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        const struct message *m = &messages[i];
        PyObject *index =
            m->index == PUG_NO_INDEX ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(m->index);
        PyObject *source =
            m->source == PUG_NO_SOURCE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(m->source);
        PyObject *text = PyUnicode_DecodeUTF8(m->text, (Py_ssize_t)strlen(m->text), "replace");
        PyObject *item = index && source && text ? Py_BuildValue("(iiOOO)", (int)m->severity,
                                                                 (int)m->code, index, source, text)
                                                 : NULL;
        Py_XDECREF(index);
        Py_XDECREF(source);
        Py_XDECREF(text);
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

bool messages_log(PyObject *list)
{
    if (!list)
        return false;
    if (PyList_Size(list) == 0 || !log_messages)
        return true;
    PyObject *done = PyObject_CallFunctionObjArgs(log_messages, list, NULL);
    Py_XDECREF(done);
    return done != NULL;
}

void *raise_status(enum pug_status status, const char *what, PyObject *list)
{
    if (!make_error) {
        PyErr_Format(PyExc_RuntimeError, "%s: %s", what, pug_status_text(status));
        return NULL;
    }
    PyObject *error =
        PyObject_CallFunction(make_error, "isssO", (int)status, pug_status_text(status),
                              pug_status_help(status), what ? what : "", list ? list : Py_None);
    if (error) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

static PyObject *set_hooks(PyObject *self, PyObject *args)
{
    PyObject *error, *log;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &error, &log))
        return NULL;
    Py_XDECREF(make_error);
    Py_XDECREF(log_messages);
    make_error = Py_NewRef(error);
    log_messages = Py_NewRef(log);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_hooks", set_hooks, METH_VARARGS, "Say what makes exceptions, and what logs messages."},
    {NULL, NULL, 0, NULL}};

int errors_init(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
