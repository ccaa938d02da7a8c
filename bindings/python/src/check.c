// SPDX-License-Identifier: MIT
/** @file Rules that captures have to keep (pugmark/check.h). */
#include "pugmark/check.h"
#include "binding.h"

struct checking {
    struct pug_check *check;
    struct pug_names *names;
    struct core **cores;
    size_t count, failed_at; /* captures; the one that could not be checked */
    struct kept *kept;
    struct pug_capture_selection selection;
    unsigned threads;
    bool strict;
    enum pug_status status;
    atomic_bool *stop;
};

static bool goes_on(void *context, uint64_t done)
{
    (void)done;
    return !atomic_load(((struct checking *)context)->stop);
}

static void run(void *argument, atomic_bool *stop)
{
    struct checking *checking = argument;
    checking->stop = stop;
    for (size_t n = 0; n < checking->count && checking->status == PUG_OK; n++) {
        const struct pug_check_options options = {.threads = checking->threads,
                                                  .names = checking->names,
                                                  .selection = &checking->selection,
                                                  .strict = checking->strict,
                                                  .progress = goes_on,
                                                  .progress_context = checking};
        struct pug_capture_result result = {0};
        struct pug_read_failure failure;
        checking->failed_at = n;
        checking->status =
            pug_check_capture(checking->check, checking->cores[n]->capture, &options, &result);
        if (checking->status == PUG_OK && result.stopped > 0)
            checking->status = PUG_ERR_DECODING_STOPPED;
        if (checking->status == PUG_OK &&
            pug_capture_failure(checking->cores[n]->capture, &failure))
            checking->status = failure.status;
    }
    if (checking->status == PUG_OK)
        checking->status = pug_check_finish(checking->check);
}

static void end(void *argument)
{
    struct checking *checking = argument;
    pug_check_free(checking->check);
    pug_names_free(checking->names);
    for (size_t n = 0; n < checking->count; n++)
        core_drop(checking->cores[n]);
    free(checking->cores);
    kept_free(checking->kept);
    free(checking);
}

/** A text, or None. Bytes that are no UTF-8 are replaced. */
static PyObject *text_of(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static const char *unit_name(unsigned unit)
{
    static const char *const names[] = {NULL,     "ns",           "ticks",
                                        "cycles", "instructions", "thousandths of a percent"};
    return unit < sizeof(names) / sizeof(names[0]) ? names[unit] : NULL;
}

static PyObject *place_of(const struct pug_check_place *place)
{
    return Py_BuildValue("{s:N,s:K,s:i,s:N,s:N,s:N,s:N,s:N,s:I}", "capture",
                         text_of(place->capture), "offset", (unsigned long long)place->index,
                         "source", (int)place->source, "time",
                         place->has_time ? PyLong_FromUnsignedLongLong(place->time) : text_of(NULL),
                         "unit", text_of(place->has_time ? unit_name(place->unit) : NULL), "thread",
                         text_of(place->thread), "function", text_of(place->function), "file",
                         text_of(place->path), "line", (unsigned)place->line);
}

static PyObject *verdict_of(const struct pug_check_verdict *verdict)
{
    PyObject *place = verdict->has_place ? place_of(&verdict->place) : text_of(NULL);
    if (!place)
        return NULL;
    return Py_BuildValue(
        "{s:N,s:N,s:N,s:I,s:N,s:N,s:O,s:O,s:N,s:K,s:K,s:K,s:N,s:K,s:K,s:K,s:K,s:O}", "rule",
        text_of(verdict->rule), "name", text_of(verdict->name), "file", text_of(verdict->file),
        "line", (unsigned)verdict->line, "verdict", text_of(pug_verdict_name(verdict->verdict)),
        "why", text_of(verdict->why), "excused", verdict->excused ? Py_True : Py_False,
        "beforehand", verdict->beforehand ? Py_True : Py_False, "place", place, "violations",
        (unsigned long long)verdict->violations, "unknown", (unsigned long long)verdict->unknown,
        "count", (unsigned long long)verdict->count, "unit", text_of(unit_name(verdict->unit)),
        "shortest", (unsigned long long)verdict->shortest, "longest",
        (unsigned long long)verdict->longest, "total", (unsigned long long)verdict->total, "value",
        (unsigned long long)verdict->value, "exact", verdict->rough ? Py_False : Py_True);
}

/** "FILE:LINE:COLUMN: message", a text each. */
static PyObject *errors_of(const struct pug_check *check)
{
    PyObject *list = PyList_New(0);
    struct pug_check_error error;
    for (size_t n = 0; list && pug_check_error_at(check, n, &error); n++) {
        char text[2048];
        snprintf(text, sizeof(text), "%.400s:%u:%u: %.1200s", error.file, (unsigned)error.line,
                 (unsigned)error.column, error.message);
        PyObject *item = text_of(text);
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *verdicts_of(const struct pug_check *check)
{
    PyObject *list = PyList_New(0);
    struct pug_check_verdict verdict;
    for (size_t n = 0; list && pug_check_verdict_at(check, n, &verdict); n++) {
        PyObject *item = verdict_of(&verdict);
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/** Takes pairs of a file's name and its text. False: with an exception. */
static bool take_rules(struct checking *checking, PyObject *rules)
{
    const Py_ssize_t count = PyList_Size(rules);
    for (Py_ssize_t n = 0; n < count; n++) {
        const char *file, *text;
        Py_ssize_t size;
        if (!PyArg_ParseTuple(PyList_GetItem(rules, n), "ss#", &file, &text, &size))
            return false;
        const enum pug_status status = pug_check_read(checking->check, file, text, (size_t)size);
        if (status == PUG_ERR_MEM || status == PUG_ERR_LIMIT) {
            raise_status(status, file, NULL);
            return false;
        }
        if (status != PUG_OK)
            checking->status = status;
    }
    return true;
}

static bool take_captures(struct checking *checking, PyObject *captures)
{
    const Py_ssize_t count = PyList_Size(captures);
    checking->cores = calloc((size_t)count + 1, sizeof(struct core *));
    if (!checking->cores) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t n = 0; n < count; n++) {
        struct core *core = capture_core(PyList_GetItem(captures, n));
        if (!core)
            return false;
        checking->cores[checking->count++] = core_hold(core);
    }
    return true;
}

/** Arguments: a list of captures, one of (file, text), options. */
static PyObject *check(PyObject *module, PyObject *args)
{
    PyObject *captures, *rules, *options;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &captures, &PyList_Type, &rules,
                          &PyDict_Type, &options))
        return NULL;
    struct checking *checking = calloc(1, sizeof(*checking));
    if (!checking)
        return PyErr_NoMemory();
    checking->check = pug_check_new();
    if (!checking->check)
        PyErr_NoMemory();
    if (!checking->check || !take_captures(checking, captures) || !take_rules(checking, rules) ||
        !selection_take(options, &checking->kept, &checking->selection)) {
        end(checking);
        return NULL;
    }
    checking->threads = (unsigned)option_number(options, "threads", 0);
    checking->strict = option_is(options, "strict");
    checking->names = checking->count > 0 ? core_names(checking->cores[0]) : pug_names_new(NULL);
    if (!checking->names && !PyErr_Occurred())
        PyErr_NoMemory();
    if (PyErr_Occurred()) {
        end(checking);
        return NULL;
    }
    if (checking->status == PUG_OK && !job_run(run, checking, end))
        return NULL;
    PyObject *errors = errors_of(checking->check);
    PyObject *verdicts = errors ? verdicts_of(checking->check) : NULL;
    const int status = (int)checking->status, saw = pug_check_saw(checking->check);
    end(checking);
    if (!verdicts) {
        Py_XDECREF(errors);
        return NULL;
    }
    return Py_BuildValue("(iiNN)", status, saw, errors, verdicts);
}

static PyObject *status_error(PyObject *module, PyObject *args)
{
    int status;
    const char *what;
    (void)module;
    if (!PyArg_ParseTuple(args, "is", &status, &what))
        return NULL;
    return raise_status((enum pug_status)status, what, NULL);
}

static PyMethodDef functions[] = {
    {"check", check, METH_VARARGS, "What becomes of rules in captures."},
    {"raise_status", status_error, METH_VARARGS, "Raise the exception of a status."},
    {NULL, NULL, 0, NULL}};

int check_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
