// SPDX-License-Identifier: MIT
/** @file Findings about a capture, for Capture.diagnosis(). */
#include "binding.h"

#include "pugmark/advanced/findings.h"

struct diagnosing {
    struct core *core;
    struct pug_diagnose_options options;
    struct pug_findings *findings;
    enum pug_status status;
};

static void diagnosing_run(void *argument, atomic_bool *stop)
{
    struct diagnosing *diagnosing = argument;
    (void)stop;
    diagnosing->status = pug_capture_diagnose(diagnosing->core->capture, &diagnosing->options,
                                              &diagnosing->findings);
}

static void diagnosing_end(void *argument)
{
    struct diagnosing *diagnosing = argument;
    pug_findings_free(diagnosing->findings);
    core_drop(diagnosing->core);
    free(diagnosing);
}

/** A number, or None for one that is not known. */
static PyObject *number_or_none(uint64_t value, bool known)
{
    if (!known)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(value);
}

/** (code, about, source, offset, address, count, total, text) */
static PyObject *finding_tuple(const struct pug_finding *finding)
{
    static const char *const abouts[] = {[PUG_FINDING_WRONG] = "wrong",
                                         [PUG_FINDING_LOST] = "lost",
                                         [PUG_FINDING_NOTE] = "note",
                                         [PUG_FINDING_CHECKED] = "checked"};
    char text[4096];
    (void)pug_finding_text(finding, text, sizeof(text));
    PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
    return words
               ? Py_BuildValue(
                     "(ssNKNKKN)", pug_finding_name(finding->code), abouts[finding->about],
                     number_or_none(finding->source, finding->source != PUG_SOURCE_UNKNOWN),
                     (unsigned long long)finding->index,
                     number_or_none(finding->address, finding->address != PUG_ADDRESS_UNKNOWN),
                     (unsigned long long)finding->count, (unsigned long long)finding->total, words)
               : NULL;
}

static PyObject *findings_list(const struct pug_findings *findings)
{
    PyObject *list = PyList_New(0);
    const struct pug_finding *finding;
    for (size_t n = 0; list && (finding = pug_finding_at(findings, n)) != NULL; n++) {
        PyObject *tuple = finding_tuple(finding);
        if (!tuple || PyList_Append(list, tuple) < 0)
            Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    return list;
}

PyObject *capture_diagnose(PyObject *capture, PyObject *threads)
{
    struct core *core = capture_core(capture);
    struct diagnosing *diagnosing = core ? calloc(1, sizeof(*diagnosing)) : NULL;
    if (!diagnosing)
        return core ? PyErr_NoMemory() : NULL;
    const unsigned long count = PyLong_AsUnsignedLong(threads);
    diagnosing->core = core_hold(core);
    diagnosing->options = (struct pug_diagnose_options){
        .threads = count < 1024 ? (unsigned)count : 1024u, .opened = &core->options};
    if (PyErr_Occurred()) {
        diagnosing_end(diagnosing);
        return NULL;
    }
    if (!job_run(diagnosing_run, diagnosing, diagnosing_end))
        return NULL;
    PyObject *list = diagnosing->status == PUG_OK
                         ? findings_list(diagnosing->findings)
                         : raise_status(diagnosing->status, "the diagnosis", NULL);
    diagnosing_end(diagnosing);
    return list;
}
