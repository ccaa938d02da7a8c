// SPDX-License-Identifier: MIT
/** @file The module pugmark._core: types, functions and constants of the library. */
#include "binding.h"
#include "pugmark/advanced/packet.h"

PyObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    const char *dot = strrchr(spec->name, '.');
    if (type && PyModule_AddObjectRef(module, dot ? dot + 1 : spec->name, type) != 0)
        Py_CLEAR(type);
    return type;
}

static const struct {
    const char *name;
    long value;
} constants[] = {
    /* kinds of element */
    {"UNKNOWN", PUG_ELEM_UNKNOWN},
    {"NO_SYNC", PUG_ELEM_NO_SYNC},
    {"TRACE_ON", PUG_ELEM_TRACE_ON},
    {"END_OF_TRACE", PUG_ELEM_EO_TRACE},
    {"CONTEXT", PUG_ELEM_PE_CONTEXT},
    {"RANGE", PUG_ELEM_INSTR_RANGE},
    {"RANGE_NO_PATH", PUG_ELEM_I_RANGE_NOPATH},
    {"NO_MEMORY", PUG_ELEM_ADDR_NACC},
    {"NO_ADDRESS", PUG_ELEM_ADDR_UNKNOWN},
    {"EXCEPTION", PUG_ELEM_EXCEPTION},
    {"EXCEPTION_RETURN", PUG_ELEM_EXCEPTION_RET},
    {"TIMESTAMP", PUG_ELEM_TIMESTAMP},
    {"CYCLES", PUG_ELEM_CYCLE_COUNT},
    {"EVENT", PUG_ELEM_EVENT},
    {"SOFTWARE", PUG_ELEM_SWTRACE},
    {"SYNC_MARKER", PUG_ELEM_SYNC_MARKER},
    {"TRANSACTION", PUG_ELEM_MEMTRANS},
    {"INSTRUMENTATION", PUG_ELEM_INSTRUMENTATION},
    {"ITM", PUG_ELEM_ITMTRACE},
    {"CUSTOM", PUG_ELEM_CUSTOM},
    {"DATA_ADDRESS", PUG_ELEM_DATA_ADDRESS},
    {"DATA_VALUE", PUG_ELEM_DATA_VALUE},
    {"BUS_TRANSFER", PUG_ELEM_BUS_TRANSFER},
    /* bits of flags */
    {"TAKEN", PUG_ELEM_EXECUTED},
    {"CONDITIONAL", PUG_ELEM_CONDITIONAL},
    {"HAS_CYCLES", PUG_ELEM_HAS_CC},
    {"HAS_TIMESTAMP", PUG_ELEM_HAS_TS},
    {"HAS_RETURN_ADDRESS", PUG_ELEM_RET_ADDR},
    {"HAS_PAYLOAD", PUG_ELEM_PAYLOAD},
    {"HAS_PC", PUG_ELEM_HAS_PC},
    {"HAS_ADDRESS", PUG_ELEM_HAS_ADDRESS},
    {"HAS_VALUE", PUG_ELEM_HAS_VALUE},
    {"OVERFLOW", PUG_ELEM_OVERFLOW},
    /* what the last instruction of a range does, and what a branch is besides */
    {"OTHER", PUG_INSTR_OTHER},
    {"BRANCH", PUG_INSTR_BR},
    {"INDIRECT_BRANCH", PUG_INSTR_BR_INDIRECT},
    {"CALL", PUG_SUB_BR_LINK},
    {"RETURN", PUG_SUB_V8_RET},
    {"NO_TASK", (long)PUG_NO_TASK},
    /* how a call was entered */
    {"FOUND", PUG_CALL_FOUND},
    {"CALLED", PUG_CALL_CALLED},
    {"TAIL", PUG_CALL_TAIL},
    {"EXCEPTION_ENTRY", PUG_CALL_EXCEPTION},
    /* events of an ITM or DWT */
    {"DWT_RESERVED", PUG_DWT_RESERVED},
    {"DWT_STIMULUS", PUG_DWT_STIMULUS},
    {"DWT_COUNTERS", PUG_DWT_COUNTERS},
    {"DWT_EXCEPTION", PUG_DWT_EXCEPTION},
    {"DWT_PC_SAMPLE", PUG_DWT_PC_SAMPLE},
    {"DWT_SLEEPING", PUG_DWT_SLEEPING},
    {"DWT_DENIED", PUG_DWT_DENIED},
    {"DWT_PMU", PUG_DWT_PMU},
    {"DWT_MATCH", PUG_DWT_MATCH},
    {"DWT_DATA", PUG_DWT_DATA},
    /* kinds of slice */
    {"SLICE_CALL", PUG_SLICE_CALL},
    {"SLICE_INSTANT", PUG_SLICE_INSTANT},
    {"SLICE_COUNTER", PUG_SLICE_COUNTER},
    {"SLICE_GAP", PUG_SLICE_GAP},
    /* marks of an index */
    {"MARK_SYNC", PUG_MARK_SYNC},
    {"MARK_TIMESTAMP", PUG_MARK_TIMESTAMP},
    {"MARK_TRIGGER", PUG_MARK_TRIGGER},
    {"MARK_EVENT", PUG_MARK_EVENT},
    {"MARK_CONTEXT", PUG_MARK_CONTEXT},
    {"MARK_OVERFLOW", PUG_MARK_OVERFLOW},
    {"MARK_EXCEPTION", PUG_MARK_EXCEPTION},
    {"MARK_ADDRESS", PUG_MARK_ADDRESS},
    {"MARK_TRACE_ON", PUG_MARK_TRACE_ON},
};

static PyObject *element_name(PyObject *module, PyObject *number)
{
    const long type = PyLong_AsLong(number);
    (void)module;
    if (type == -1 && PyErr_Occurred())
        return NULL;
    return PyUnicode_FromString(pug_element_type_name((enum pug_element_type)type));
}

static PyObject *disassembler(PyObject *module, PyObject *unused)
{
    const char *name = pug_disasm_built_in();
    (void)module;
    (void)unused;
    return Py_BuildValue("s", name);
}

static PyObject *exception_name(PyObject *module, PyObject *args)
{
    unsigned numbers, number;
    char text[96];
    (void)module;
    if (!PyArg_ParseTuple(args, "II", &numbers, &number))
        return NULL;
    pug_exception_text((enum pug_exception_numbers)numbers, number, text, sizeof(text));
    return PyUnicode_FromString(text);
}

static PyMethodDef functions[] = {
    {"element_name", element_name, METH_O, "Name of a kind of element."},
    {"exception_name", exception_name, METH_VARARGS, "Name of an exception."},
    {"disassembler", disassembler, METH_NOARGS, "What disassembles, or None."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "pugmark._core",
                                        "The library, as Python sees it.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    int failed = errors_init(module) || rows_init(module) || stream_init(module) ||
                 capture_init(module) || profile_init(module) || advanced_init(module) ||
                 arrow_init(module) || check_init(module) || timeline_init(module) ||
                 encode_init(module) || consume_init(module);
    for (size_t i = 0; !failed && i < sizeof(constants) / sizeof(constants[0]); i++) {
        PyObject *value = PyLong_FromUnsignedLong((unsigned long)constants[i].value & UINT32_MAX);
        failed = !value || PyModule_AddObjectRef(module, constants[i].name, value) != 0;
        Py_XDECREF(value);
    }
    if (failed)
        Py_CLEAR(module);
    return module;
}
