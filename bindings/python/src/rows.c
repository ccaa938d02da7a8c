// SPDX-License-Identifier: MIT
/** @file Rows of every kind, in chunks: as Python objects one by one, and as buffers. */
#include "binding.h"
#include "pugmark/advanced/correlate.h"

#include <stddef.h>

/* ---- kinds ---- */

#define AT(type, member, form, doc)                                                                \
    {                                                                                              \
#member, doc, offsetof(struct type, member), form, false                                   \
    }
#define ALSO(type, member, form, doc)                                                              \
    {                                                                                              \
#member, doc, offsetof(struct type, member), form, true                                    \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, NULL, 0, 0, false                                                                    \
    }

#define ELEMENT_FIELDS                                                                             \
    AT(pug_element, index, 'Q', "Trace index of the first byte of the packet."),                   \
        AT(pug_element, start, 'Q', "First address; of a payload its offset in the batch."),       \
        AT(pug_element, end, 'Q', "Address after the last instruction, or return address."),       \
        ALSO(pug_element, timestamp, 'Q', "Time, of elements that have one."),                     \
        AT(pug_element, value, 'Q', "Value; what it is depends on the type."),                     \
        AT(pug_element, count, 'I', "Instructions of a range, or bytes of a payload."),            \
        ALSO(pug_element, number, 'I', "Number of an exception, event, marker or port."),          \
        AT(pug_element, cycle_count, 'I', "Cycles since the last count, with HAS_CYCLES."),        \
        AT(pug_element, context_id, 'I', "Context id, where context_flags say so."),               \
        AT(pug_element, vmid, 'I', "Virtual machine, where context_flags say so."),                \
        AT(pug_element, source, 'H', "Trace id of the source."),                                   \
        AT(pug_element, security, 'B', "Security state, a number."),                               \
        AT(pug_element, level, 'b', "Exception level."),                                           \
        AT(pug_element, context_flags, 'B', "Bits: what of the context is known."),                \
        AT(pug_element, sw_flags, 'B', "Bits of software trace."),                                 \
        AT(pug_element, sw_bits, 'B', "Software trace: bits of payload a packet."),                \
        AT(pug_element, sw_packets, 'B', "Software trace: packets in the payload."),               \
        AT(pug_element, flags, 'H', "Bits: TAKEN, CONDITIONAL, HAS_CYCLES and others."),           \
        AT(pug_element, type, 'B', "Kind of element: RANGE, EXCEPTION, TIMESTAMP ..."),            \
        AT(pug_element, reason, 'B', "Number whose meaning depends on the type."),                 \
        AT(pug_element, last_type, 'B', "What the last instruction of a range does."),             \
        AT(pug_element, last_subtype, 'B', "What a branch is besides: call, return."),             \
        AT(pug_element, last_size, 'B', "Bytes of the last instruction, or of a value."),          \
        AT(pug_element, isa, 'B', "Instruction set, a number.")

static const struct field element_fields[] = {ELEMENT_FIELDS, END};
static const struct field merged_fields[] = {
    ELEMENT_FIELDS, AT(merged_row, time, 'Q', "When it happened, 0 where that is not known."),
    AT(merged_row, task, 'I', "Number of the task, NO_TASK where that is not known."),
    AT(merged_row, cpu, 'i', "Processor, -1 where that is not known."), END};
static const struct field correlated_fields[] = {
    ELEMENT_FIELDS,
    AT(pug_correlated, time, 'Q', "Time, as `when` says."),
    AT(pug_correlated, cycles, 'Q', "Cycles after `time`, as `when` says."),
    AT(pug_correlated, stream, 'I', "Number of the stream."),
    AT(pug_correlated, when, 'B',
       "What is known of the time: 0 exact, 1 cycles after, 2 at or "
       "after, 3 before, 4 unknown."),
    END};
static const struct field call_fields[] = {
    AT(call_row, begin, 'Q', "When it was entered, in `unit`."),
    AT(call_row, end, 'Q', "When it was left, in `unit`."),
    AT(call_row, took, 'Q', "Time between them."),
    AT(call_row, own, 'Q', "Of this, not spent in what it called."),
    AT(call_row, instructions, 'Q', "Instructions that ran, with those of callees."),
    AT(call_row, own_instructions, 'Q', "Instructions of its own."),
    AT(call_row, cycles, 'Q', "Cycles that the trace counted meanwhile."),
    AT(call_row, address, 'Q', "Where it was entered."),
    AT(call_row, start, 'Q', "Where the function begins; the entry where none is known."),
    AT(call_row, site, 'Q', "Instruction that called it; 0 where that is not known."),
    AT(call_row, function, 's', "Name of the function or exception, or None."),
    AT(call_row, file, 's', "Source file of the function, or None."),
    AT(call_row, line, 'I', "Line where the function begins; 0: not known."),
    AT(call_row, task, 'I', "Number of the task, or the trace id where there are no tasks."),
    AT(call_row, depth, 'I', "Calls around it that are known."),
    AT(call_row, exception, 'I', "Number of the exception that it is, or runs in."),
    AT(call_row, tid, 'i', "Thread, -1 where there are no tasks."),
    AT(call_row, caller, 's', "Name of the function below it, or None."),
    AT(call_row, kind, 'B', "How it was entered: FOUND, CALLED, TAIL, EXCEPTION_ENTRY."),
    AT(call_row, unit, 'B', "What times count: 0 nothing, 1 ticks or nanoseconds, 2 cycles."),
    AT(call_row, timed, '?', "The time of entry is known, not the first one after it."),
    AT(call_row, lost, '?', "It was not seen to return."),
    AT(call_row, tail, '?', "It was left by a tail call."),
    AT(call_row, ended, '?', "The trace ends in it."),
    AT(call_row, exception_numbers, 'B', "What `exception` means."),
    END};
static const struct field instruction_fields[] = {
    AT(instruction_row, index, 'Q', "Trace index of the packet that it comes from."),
    AT(instruction_row, address, 'Q', "Address of the instruction."),
    AT(instruction_row, time, 'Q', "Time of what it belongs to; 0: not known."),
    AT(instruction_row, offset, 'Q', "Bytes from the begin of the function."),
    AT(instruction_row, text, 's', "Mnemonic and operands."),
    AT(instruction_row, function, 's', "Name of the function, or None."),
    AT(instruction_row, file, 's', "Source file, or None."),
    AT(instruction_row, line, 'I', "Line of the source; 0: not known."),
    AT(instruction_row, task, 'I', "Number of the task, NO_TASK where that is not known."),
    AT(instruction_row, group, 'I', "Which of the events it came before, from 0 on."),
    AT(instruction_row, cpu, 'i', "Processor, -1 where that is not known."),
    AT(instruction_row, source, 'H', "Trace id of the source."),
    AT(instruction_row, size, 'B', "Bytes of the instruction; 0: its memory is missing."),
    AT(instruction_row, isa, 'B', "Instruction set, a number."),
    AT(instruction_row, type, 'B', "What it does to the flow: 0 nothing, 1 direct, 2 indirect."),
    AT(instruction_row, subtype, 'B', "What a branch is besides: call, return."),
    AT(instruction_row, executed, '?', "It was executed; a branch was taken."),
    AT(instruction_row, conditional, '?', "It may fail its condition."),
    AT(instruction_row, last, '?', "A range ends with it."),
    END};
static const struct field dwt_fields[] = {
    AT(pug_dwt_event, index, 'Q', "Trace index of its first packet."),
    AT(pug_dwt_event, time, 'Q', "Local time in cycles, with has_time."),
    AT(pug_dwt_event, pc, 'I', "Address of the instruction, with has_pc."),
    AT(pug_dwt_event, address, 'I', "Address of the access, with has_address."),
    AT(pug_dwt_event, value, 'I', "What was read, written or counted."),
    AT(pug_dwt_event, number, 'H', "Number of the exception or the port."),
    AT(pug_dwt_event, source, 'H', "Trace id of the source."),
    AT(pug_dwt_event, kind, 'B', "Kind of event: DWT_STIMULUS, DWT_EXCEPTION, DWT_DATA ..."),
    AT(pug_dwt_event, action, 'B', "Of an exception: 1 entered, 2 exited, 3 returned to."),
    AT(pug_dwt_event, counters, 'B', "Bits: counters that wrapped."),
    AT(pug_dwt_event, comparator, 'B', "Comparator that matched."),
    AT(pug_dwt_event, size, 'B', "Bytes of the value."),
    AT(pug_dwt_event, address_size, 'B', "Bytes of the address that are known."),
    AT(pug_dwt_event, time_kind, 'B', "How exact the time is."),
    AT(pug_dwt_event, has_pc, '?', "The address of the instruction is known."),
    AT(pug_dwt_event, has_address, '?', "The address is known."),
    AT(pug_dwt_event, has_value, '?', "The value is known."),
    AT(pug_dwt_event, has_time, '?', "The time is known."),
    AT(pug_dwt_event, write, '?', "Data was written, not read."),
    AT(pug_dwt_event, overflow, '?', "Trace was lost before it."),
    END};
static const struct field packet_fields[] = {
    AT(packet_row, index, 'Q', "Trace index of its first byte."),
    AT(packet_row, at, 'Q', "Offset of its bytes in the batch's payload."),
    AT(packet_row, size, 'I', "Bytes of the packet."),
    AT(packet_row, type, 'I', "Packet type number of the protocol."),
    AT(packet_row, flags, 'I', "Bits: 4 bad, 8 synchronisation."),
    AT(packet_row, text_size, 'I', "Bytes of its text, which follows its bytes."),
    AT(packet_row, name, 's', "Name of the packet's type."),
    AT(packet_row, protocol, 's', "Name of the protocol."),
    AT(packet_row, source, 'H', "Trace id of the source."),
    END};
static const struct field range_fields[] = {
    AT(pug_profile_range, first, 'Q', "Address of the first instruction, in the object."),
    AT(pug_profile_range, last, 'Q', "Address of the last instruction."),
    AT(pug_profile_range, count, 'Q', "How often it ran."),
    AT(pug_profile_range, cycles, 'Q', "Cycles that were counted after it."),
    AT(pug_profile_range, object, 'I', "Number of the object."),
    AT(pug_profile_range, instructions, 'I', "Instructions in it."),
    AT(pug_profile_range, last_size, 'B', "Bytes of the last instruction."),
    AT(pug_profile_range, isa, 'B', "Instruction set, a number."),
    ALSO(pug_profile_range, end, 'B', "Bits: how it ended."),
    END};
static const struct field branch_fields[] = {
    AT(pug_profile_branch, from, 'Q', "Address of the branch, in its object."),
    AT(pug_profile_branch, to, 'Q', "Where it went, in that object."),
    AT(pug_profile_branch, count, 'Q', "How often it was taken."),
    AT(pug_profile_branch, object, 'I', "Number of the branch's object."),
    AT(pug_profile_branch, to_object, 'I', "Number of the target's object."),
    END};

static size_t element_words(const struct chunk *chunk, const void *row, char *text, size_t size)
{
    struct pug_element element = *(const struct pug_element *)row;
    if (element.flags & PUG_ELEM_PAYLOAD)
        element.payload = chunk->payload + element.start; /* in a chunk it is an offset */
    return pug_element_text(&element, text, size);
}

static size_t dwt_words(const struct chunk *chunk, const void *row, char *text, size_t size)
{
    (void)chunk;
    return pug_dwt_text(row, text, size);
}

#define KIND(variable, title, type, list, in_words, what)                                          \
    struct row_kind variable = {title, what, sizeof(struct type), list, in_words, NULL, NULL}

KIND(kind_element, "Element", pug_element, element_fields, element_words,
     "An element of the trace: a range of instructions, an exception, a timestamp ...");
KIND(kind_merged, "MergedElement", merged_row, merged_fields, element_words,
     "An element with its task, processor and time.");
KIND(kind_correlated, "CorrelatedElement", pug_correlated, correlated_fields, element_words,
     "An element in the order of time.");
KIND(kind_call, "Call", call_row, call_fields, NULL, "A call of a function that is over.");
KIND(kind_instruction, "Instruction", instruction_row, instruction_fields, NULL,
     "An instruction that ran.");
KIND(kind_dwt, "DwtEvent", pug_dwt_event, dwt_fields, dwt_words,
     "What an ITM or DWT reported: a write to a port, an exception, a PC sample ...");
KIND(kind_packet, "Packet", packet_row, packet_fields, NULL, "A packet of a trace protocol.");
KIND(kind_range, "ProfileRange", pug_profile_range, range_fields, NULL,
     "Instructions that ran without a break, and how often.");
KIND(kind_branch, "ProfileBranch", pug_profile_branch, branch_fields, NULL,
     "A taken branch, and how often it was taken.");

static struct row_kind *const kinds[] = {&kind_element,     &kind_merged, &kind_call,
                                         &kind_instruction, &kind_dwt,    &kind_packet,
                                         &kind_correlated,  &kind_range,  &kind_branch};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t size_of_form(char form)
{
    switch (form) {
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

/* ---- chunks ---- */

/* Memory of chunks that are full is so large that malloc() maps it each time, which costs more than
 * what is done with it. So some of it is kept for the next ones. */
#define POOL       64u
#define POOL_BYTES (CHUNK_ROWS * sizeof(struct merged_row))
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static void *pool[POOL];
static unsigned pooled;

static void *pool_take(void)
{
    void *memory = NULL;
    pthread_mutex_lock(&pool_lock);
    if (pooled > 0)
        memory = pool[--pooled];
    pthread_mutex_unlock(&pool_lock);
    return memory ? memory : malloc(POOL_BYTES);
}

static void pool_give(void *memory)
{
    pthread_mutex_lock(&pool_lock);
    if (pooled < POOL) {
        pool[pooled++] = memory;
        memory = NULL;
    }
    pthread_mutex_unlock(&pool_lock);
    free(memory);
}

static bool is_pooled(const struct chunk *chunk)
{
    return chunk->room == CHUNK_ROWS && chunk->kind->size <= sizeof(struct merged_row);
}

struct chunk *chunk_new(const struct row_kind *kind, size_t room)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (!chunk)
        return NULL;
    atomic_init(&chunk->references, 1);
    chunk->kind = kind;
    chunk->room = room;
    chunk->rows = is_pooled(chunk) ? pool_take() : malloc(room ? room * kind->size : 1);
    if (!chunk->rows) {
        free(chunk);
        return NULL;
    }
    return chunk;
}

static void rows_free(struct chunk *chunk)
{
    if (is_pooled(chunk))
        pool_give(chunk->rows);
    else
        free(chunk->rows);
}

void chunk_drop(struct chunk *chunk)
{
    if (!chunk || atomic_fetch_sub(&chunk->references, 1) != 1)
        return;
    rows_free(chunk);
    free(chunk->payload);
    if (chunk->stream)
        stream_drop(chunk->stream);
    free(chunk);
}

struct chunk *chunk_shrink(struct chunk *chunk)
{
    if (chunk->count > chunk->room / 2 || chunk->room <= 16)
        return chunk;
    const size_t size = chunk->count * chunk->kind->size;
    uint8_t *rows = malloc(size ? size : 1);
    if (!rows)
        return chunk;
    memcpy(rows, chunk->rows, size);
    rows_free(chunk);
    chunk->rows = rows;
    chunk->room = chunk->count;
    return chunk;
}

bool chunk_keep(struct chunk *chunk, const void *bytes, size_t size, uint64_t *at)
{
    if (chunk->payload_room - chunk->payload_size < size) {
        const size_t room = chunk->payload_room + chunk->payload_room / 2 + size + 256;
        uint8_t *payload = realloc(chunk->payload, room);
        if (!payload)
            return false;
        chunk->payload = payload;
        chunk->payload_room = room;
    }
    *at = chunk->payload_size;
    if (size > 0)
        memcpy(chunk->payload + chunk->payload_size, bytes, size);
    chunk->payload_size += size;
    return true;
}

bool chunk_take_payload(struct chunk *chunk, struct pug_element *element)
{
    uint64_t at = 0;
    if (!(element->flags & PUG_ELEM_PAYLOAD))
        return true;
    const bool kept = chunk_keep(chunk, element->payload, element->count, &at);
    element->start = at; /* never a pointer, for Python */
    if (!kept)
        element->count = 0;
    return kept;
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
    const bool insn = kind == &kind_instruction, elements = kind->words == element_words;
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
    for (size_t i = 0; i < KINDS; i++) {
        const struct row_kind *kind = kinds[i];
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
    for (size_t i = 0; i < KINDS; i++)
        if (add_row_type(module, kinds[i]) != 0)
            return -1;
    batch_type = add_type(module, &batch_spec);
    iterator_type = add_type(module, &iterator_spec);
    return batch_type && iterator_type ? PyModule_AddFunctions(module, functions) : -1;
}
