// SPDX-License-Identifier: MIT
/** @file What streams make of elements: calls, instructions, events of an ITM or DWT. */
#include "binding.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/tree.h"

/* ---- places: what is known of addresses ---- */

/** The properties of an address, in one version of an address space. */
struct place {
    const struct pug_address_space *space;
    uint64_t address, start, size;
    bool used, known;
    uint32_t object, function, file, line;
    const char *name;
    uint32_t text; /* of the instruction there */
};

/** Names of a stream, and places that were looked up before. */
struct places {
    struct pug_names *names;
    struct place *table;
    size_t count, room;
    struct pug_names_file **files; /* by object */
    bool *opened;
    uint32_t file_count;
};

/* So many places are kept; then all are forgotten, and looked up again. */
#define PLACES_MOST (UINT32_C(1) << 22)

static void places_free(struct places *places)
{
    pug_names_free(places->names);
    free(places->table);
    free(places->files);
    free(places->opened);
}

static size_t place_slot(const struct place *table, size_t room,
                         const struct pug_address_space *space, uint64_t address)
{
    uint64_t hash = (address ^ (uintptr_t)space * UINT64_C(0x9e3779b97f4a7c15));
    hash *= UINT64_C(0xff51afd7ed558ccd);
    size_t at = (size_t)(hash >> 32) & (room - 1);
    while (table[at].used && (table[at].space != space || table[at].address != address))
        at = (at + 1) & (room - 1);
    return at;
}

static bool places_grow(struct places *places)
{
    if (2 * places->count < places->room)
        return true;
    const bool full = places->count >= PLACES_MOST;
    const size_t room = full ? places->room : places->room ? 2 * places->room : 4096;
    struct place *table = calloc(room, sizeof(*table));
    if (!table)
        return false;
    for (size_t i = 0; !full && i < places->room; i++) {
        const struct place *old = &places->table[i];
        if (old->used)
            table[place_slot(table, room, old->space, old->address)] = *old;
    }
    free(places->table);
    places->table = table;
    places->room = room;
    if (full)
        places->count = 0;
    return true;
}

static struct pug_names_file *file_of(struct stream *stream, struct places *places, uint32_t object)
{
    if (object >= places->file_count) {
        const uint32_t count = object + object / 2 + 16;
        struct pug_names_file **files =
            realloc(places->files, count * sizeof(struct pug_names_file *));
        if (!files)
            return NULL;
        places->files = files;
        bool *opened = realloc(places->opened, count);
        if (!opened)
            return NULL;
        places->opened = opened;
        memset(opened + places->file_count, 0, count - places->file_count);
        places->file_count = count;
    }
    if (!places->opened[object]) {
        places->opened[object] = true;
        if (!pug_capture_names(stream->core->capture, object, places->names,
                               &places->files[object]))
            places->files[object] = NULL;
    }
    return places->files[object];
}

static void place_find(struct stream *stream, struct places *places,
                       const struct pug_origin *origin, struct place *place)
{
    struct pug_location location;
    struct pug_names_function function;
    struct pug_names_line line;
    place->object = PUG_NO_OBJECT;
    if (!pug_capture_locate(stream->core->capture, origin, place->address, &location))
        return;
    place->object = location.object;
    struct pug_names_file *file = file_of(stream, places, location.object);
    if (!file)
        return;
    if (pug_names_function(file, location.vaddr, &function)) {
        place->known = true;
        place->name = function.name;
        place->size = function.size;
        place->start = place->address - (location.vaddr - function.start);
        place->function = stream_string(stream, pug_names_readable(places->names, function.name));
    }
    if (pug_names_line(file, location.vaddr, &line)) {
        place->file = stream_string(stream, line.path);
        place->line = line.line;
    }
}

/** What is known of an address; NULL: no memory. Valid until the next call. */
static struct place *places_get(struct stream *stream, struct places *places,
                                const struct pug_origin *origin, uint64_t address)
{
    if (!places_grow(places))
        return NULL;
    struct place *place =
        &places->table[place_slot(places->table, places->room, origin->space, address)];
    if (!place->used) {
        *place = (struct place){.space = origin->space, .address = address, .used = true};
        places->count++;
        place_find(stream, places, origin, place);
    }
    return place;
}

/* ---- calls ---- */

struct calls_state {
    struct places places;
    struct pug_calls *calls;
    struct pug_origin origin;
    bool began, failed, stopped;
};

static bool locate(void *context, uint32_t task, const struct pug_element *element,
                   uint64_t address, struct pug_function *function)
{
    struct stream *stream = context;
    struct calls_state *state = stream->state;
    (void)task;
    (void)element;
    const struct place *place = places_get(stream, &state->places, &state->origin, address);
    if (!place || !place->known)
        return false;
    *function = (struct pug_function){
        .name = place->name, .start = place->start, .size = place->size, .id = place->object};
    return true;
}

static uint32_t function_name(struct stream *stream, const struct pug_call_frame *frame)
{
    const struct calls_state *state = stream->state;
    const char *name = frame->function.name;
    return stream_string(stream, name ? pug_names_readable(state->places.names, name) : NULL);
}

static uint32_t frame_name(struct stream *stream, const struct pug_call_frame *frame)
{
    char text[96];
    if (frame->kind != PUG_CALL_EXCEPTION)
        return function_name(stream, frame);
    pug_exception_text((enum pug_exception_numbers)frame->exception_numbers, frame->exception, text,
                       sizeof(text));
    return stream_string(stream, text);
}

static void put_call(struct stream *stream, const struct pug_call_event *event)
{
    struct calls_state *state = stream->state;
    const struct pug_call_frame *frame = event->frame;
    const enum pug_time_unit unit = (enum pug_time_unit)event->unit;
    struct call_row *row = stream_row(stream, &kind_call);
    if (!row) {
        state->stopped = true;
        state->failed = !atomic_load(&stream->stop);
        return;
    }
    const struct pug_capture_task *task = pug_capture_task_at(stream->core->capture, event->task);
    *row = (struct call_row){
        .begin = pug_call_time(&frame->entered, unit),
        .end = pug_call_time(&event->now, unit),
        .took = pug_call_time(&event->took, unit),
        .own = pug_call_time(&event->own, unit),
        .instructions = event->took.instructions,
        .own_instructions = event->own.instructions,
        .cycles = event->took.cycles,
        .address = frame->address,
        .start = frame->function.start,
        .site = frame->site,
        .function = frame_name(stream, frame),
        .handler = frame->kind == PUG_CALL_EXCEPTION ? function_name(stream, frame) : 0,
        .caller = event->depth > 0 ? frame_name(stream, frame - 1) : 0,
        .task = event->task,
        .tid = task ? task->tid : -1,
        .depth = event->depth,
        .exception = frame->exception,
        .kind = frame->kind,
        .unit = event->unit,
        .timed = frame->timed,
        .lost = event->lost,
        .tail = event->tail,
        .ended = event->ended,
        .exception_numbers = frame->exception_numbers,
    };
    const struct place *place =
        places_get(stream, &state->places, &state->origin, frame->function.start);
    if (place && frame->function.name && place->name == frame->function.name) {
        row->file = place->file;
        row->line = place->line;
    }
}

static void on_call(void *context, const struct pug_call_event *event)
{
    struct stream *stream = context;
    struct calls_state *state = stream->state;
    if (event->kind == PUG_CALL_LEAVE && !state->stopped)
        put_call(stream, event);
}

static bool calls_take(struct stream *stream, const struct chunk *chunk)
{
    struct calls_state *state = stream->state;
    /* A capture without tasks has a stack for each source, which ends with its buffer. */
    if (state->began && !pug_capture_task_at(stream->core->capture, 0) &&
        state->origin.buffer != chunk->origin.buffer)
        pug_calls_end(state->calls);
    state->began = true;
    state->origin = chunk->origin;
    const uint32_t task =
        chunk->origin.task == PUG_NO_TASK ? chunk->origin.source : chunk->origin.task;
    const enum pug_status status = pug_calls_take(
        state->calls, task, (const struct pug_element *)(const void *)chunk->rows, chunk->count);
    if (status != PUG_OK)
        stream->status = status;
    else if (state->failed)
        stream->status = PUG_ERR_MEM;
    return status == PUG_OK && !state->stopped;
}

static bool calls_end(struct stream *stream)
{
    struct calls_state *state = stream->state;
    if (!state->stopped)
        pug_calls_end(state->calls);
    return !state->failed;
}

static void calls_free(struct stream *stream)
{
    struct calls_state *state = stream->state;
    pug_calls_free(state->calls);
    places_free(&state->places);
    free(state);
}

static const struct step calls_step = {calls_take, calls_end, calls_free};

PyObject *open_calls(struct core *core, PyObject *options)
{
    struct stream *stream = stream_new(core);
    struct calls_state *state = stream ? calloc(1, sizeof(*state)) : NULL;
    if (!state) {
        stream_drop(stream);
        return PyErr_NoMemory();
    }
    stream->state = state;
    stream->step = &calls_step;
    if (!stream_options(stream, options)) {
        stream_drop(stream);
        return NULL;
    }
    stream->by_time = true;
    state->places.names = core_names(core);
    const struct pug_calls_config config = {
        .locate = locate, .locate_context = stream, .event = on_call, .event_context = stream};
    if (!state->places.names || pug_calls_new(&config, &state->calls) != PUG_OK) {
        stream_drop(stream);
        return PyErr_NoMemory();
    }
    return stream_iterator(stream);
}

/* ---- instructions ---- */

/** A walk through the memory of one version of an address space. */
struct space_walk {
    const struct pug_image *image;
    struct pug_walk *walk;
};

#define WALKS 64u

struct instructions_state {
    struct places places;
    struct pug_disasm *disasm; /* NULL: texts are not wanted */
    struct space_walk walks[WALKS];
    unsigned walk_count;
    struct instruction_row *ring; /* the last ones, where only these are wanted */
    struct pug_origin *origins;   /* of those */
    size_t last, held, next;
    int before; /* type of the element that they come before; -1: the end */
    uint32_t group;
    bool failed;
};

static struct pug_walk *walk_of(struct instructions_state *state, const struct pug_image *image)
{
    for (unsigned i = 0; i < state->walk_count; i++)
        if (state->walks[i].image == image)
            return state->walks[i].walk;
    struct pug_walk *walk = NULL;
    if (pug_walk_new(&(struct pug_walk_config){.image = image}, &walk) != PUG_OK)
        return NULL;
    if (state->walk_count == WALKS)
        pug_walk_free(state->walks[--state->walk_count].walk);
    state->walks[state->walk_count++] = (struct space_walk){image, walk};
    return walk;
}

/** Names and words of an instruction. */
static bool describe(struct stream *stream, struct instruction_row *row,
                     const struct pug_origin *origin)
{
    struct instructions_state *state = stream->state;
    struct place *place = places_get(stream, &state->places, origin, row->address);
    if (!place)
        return false;
    row->function = place->function;
    row->file = place->file;
    row->line = place->line;
    row->offset = place->known ? row->address - place->start : 0;
    if (state->disasm && row->size > 0) {
        char text[PUG_DISASM_TEXT];
        if (!place->text) {
            (void)pug_disasm_text(state->disasm, (enum pug_isa)row->isa, row->address, row->bytes,
                                  row->size, text, sizeof(text));
            place->text = stream_string(stream, text);
        }
        row->text = place->text;
    }
    return true;
}

static bool put_instruction(struct stream *stream, const struct instruction_row *row,
                            const struct pug_origin *origin)
{
    struct instructions_state *state = stream->state;
    if (state->last > 0) {
        state->ring[state->next] = *row;
        state->origins[state->next] = *origin;
        state->next = (state->next + 1) % state->last;
        state->held += state->held < state->last;
        return true;
    }
    struct instruction_row *to = stream_row(stream, &kind_instruction);
    if (!to)
        return false;
    *to = *row;
    state->failed = !describe(stream, to, origin);
    return !state->failed;
}

/** Hand on the instructions that were held. */
static bool put_held(struct stream *stream)
{
    struct instructions_state *state = stream->state;
    const size_t first =
        (state->next + state->last - state->held) % (state->last ? state->last : 1);
    for (size_t i = 0; i < state->held; i++) {
        const size_t at = (first + i) % state->last;
        struct instruction_row *to = stream_row(stream, &kind_instruction);
        if (!to)
            return false;
        *to = state->ring[at];
        to->group = state->group;
        if (!describe(stream, to, &state->origins[at])) {
            state->failed = true;
            return false;
        }
    }
    state->group++;
    state->held = 0;
    return true;
}

static bool walk_range(struct stream *stream, const struct pug_element *e,
                       const struct pug_origin *origin)
{
    struct instructions_state *state = stream->state;
    const struct pug_image *image = origin->space ? pug_address_space_image(origin->space) : NULL;
    struct pug_walk *walk = image ? walk_of(state, image) : NULL;
    struct instruction_row row = {.index = e->index,
                                  .time = origin->time,
                                  .task = origin->task,
                                  .cpu = origin->cpu,
                                  .source = e->source,
                                  .isa = e->isa};
    const struct pug_step *step;
    if (image && !walk) {
        state->failed = true;
        return false;
    }
    if (!walk || pug_walk_begin(walk, e) != PUG_OK)
        return true;
    while ((step = pug_walk_next(walk)) != NULL) {
        row.address = step->address;
        row.size = step->insn.size;
        memcpy(row.bytes, step->bytes, sizeof(row.bytes));
        row.isa = step->isa;
        row.last = step->last;
        row.executed = step->executed;
        row.conditional = step->last && (e->flags & PUG_ELEM_CONDITIONAL);
        row.type = step->last ? e->last_type : PUG_INSTR_OTHER;
        row.subtype = step->last ? e->last_subtype : PUG_SUB_NONE;
        if (!put_instruction(stream, &row, origin))
            return false;
    }
    return true;
}

static bool instructions_take(struct stream *stream, const struct chunk *chunk)
{
    struct instructions_state *state = stream->state;
    const struct pug_element *elements = (const struct pug_element *)(const void *)chunk->rows;
    bool more = true;
    for (size_t i = 0; more && i < chunk->count; i++) {
        if (elements[i].type == PUG_ELEM_INSTR_RANGE)
            more = walk_range(stream, &elements[i], &chunk->origin);
        if (more && state->last > 0 && elements[i].type == state->before)
            more = put_held(stream);
    }
    if (state->failed)
        stream->status = PUG_ERR_MEM;
    return more;
}

static bool instructions_end(struct stream *stream)
{
    struct instructions_state *state = stream->state;
    return !(state->last > 0 && state->before < 0) || put_held(stream);
}

static void instructions_free(struct stream *stream)
{
    struct instructions_state *state = stream->state;
    for (unsigned i = 0; i < state->walk_count; i++)
        pug_walk_free(state->walks[i].walk);
    pug_disasm_free(state->disasm);
    places_free(&state->places);
    free(state->ring);
    free(state->origins);
    free(state);
}

static const struct step instructions_step = {instructions_take, instructions_end,
                                              instructions_free};

/* Most instructions that can be held. */
#define LAST_MOST (UINT64_C(1) << 20)

PyObject *open_instructions(struct core *core, PyObject *options)
{
    struct stream *stream = stream_new(core);
    struct instructions_state *state = stream ? calloc(1, sizeof(*state)) : NULL;
    if (!state) {
        stream_drop(stream);
        return PyErr_NoMemory();
    }
    stream->state = state;
    stream->step = &instructions_step;
    const uint64_t last = option_number(options, "last", 0);
    state->before = (int)(int64_t)option_number(options, "before", UINT32_MAX);
    if (!stream_options(stream, options) || last > LAST_MOST) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "last: at most 1048576 instructions can be held");
        stream_drop(stream);
        return NULL;
    }
    state->last = (size_t)last;
    state->ring = calloc(state->last + 1, sizeof(*state->ring));
    state->origins = calloc(state->last + 1, sizeof(*state->origins));
    state->places.names = core_names(core);
    const bool texts = option_is(options, "text");
    if (!state->ring || !state->origins || !state->places.names ||
        (texts && pug_disasm_new(NULL, &state->disasm) != PUG_OK)) {
        stream_drop(stream);
        return PyErr_NoMemory();
    }
    return stream_iterator(stream);
}

/* ---- ITM and DWT ---- */

struct dwt_source {
    uint16_t id;
    struct pug_dwt dwt;
};

struct dwt_state {
    struct dwt_source *sources;
    size_t count;
    struct pug_tree *tree; /* its sources' settings have the comparators */
    bool timed;
};

static struct pug_dwt *dwt_of(struct dwt_state *state, uint16_t id)
{
    for (size_t i = 0; i < state->count; i++)
        if (state->sources[i].id == id)
            return &state->sources[i].dwt;
    struct dwt_source *sources = realloc(state->sources, (state->count + 1) * sizeof(*sources));
    if (!sources)
        return NULL;
    state->sources = sources;
    struct dwt_source *source = &sources[state->count++];
    source->id = id;
    pug_dwt_init(&source->dwt, state->timed);
    struct pug_source *known;
    for (size_t n = 0; state->tree && (known = pug_tree_source_at(state->tree, n)) != NULL; n++)
        if (pug_source_id(known) == id &&
            strcmp(pug_protocol_name(pug_source_protocol(known)), "ITM") == 0)
            pug_dwt_use_config(&source->dwt, pug_source_config(known));
    return &source->dwt;
}

static bool put_events(struct stream *stream, const struct pug_dwt *dwt, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pug_dwt_event *row = stream_row(stream, &kind_dwt);
        if (!row)
            return false;
        *row = dwt->events[i];
    }
    return true;
}

static bool dwt_take(struct stream *stream, const struct chunk *chunk)
{
    struct dwt_state *state = stream->state;
    const struct pug_element *elements = (const struct pug_element *)(const void *)chunk->rows;
    bool more = true;
    for (size_t i = 0; more && i < chunk->count; i++) {
        if (elements[i].type != PUG_ELEM_ITMTRACE && elements[i].type != PUG_ELEM_NO_SYNC &&
            elements[i].type != PUG_ELEM_EO_TRACE)
            continue;
        struct pug_dwt *dwt = dwt_of(state, elements[i].source);
        if (!dwt)
            stream->status = PUG_ERR_MEM;
        more = dwt && put_events(stream, dwt, pug_dwt_push(dwt, &elements[i]));
    }
    return more;
}

static bool dwt_end(struct stream *stream)
{
    struct dwt_state *state = stream->state;
    bool more = true;
    for (size_t i = 0; more && i < state->count; i++)
        more = put_events(stream, &state->sources[i].dwt, pug_dwt_finish(&state->sources[i].dwt));
    return more;
}

static void dwt_free(struct stream *stream)
{
    struct dwt_state *state = stream->state;
    pug_tree_free(state->tree);
    free(state->sources);
    free(state);
}

static const struct step dwt_step = {dwt_take, dwt_end, dwt_free};

PyObject *open_dwt(struct core *core, PyObject *options)
{
    struct stream *stream = stream_new(core);
    struct dwt_state *state = stream ? calloc(1, sizeof(*state)) : NULL;
    if (!state) {
        stream_drop(stream);
        return PyErr_NoMemory();
    }
    stream->state = state;
    stream->step = &dwt_step;
    state->timed = option_is(options, "timed");
    if (!stream_options(stream, options)) {
        stream_drop(stream);
        return NULL;
    }
    if (!stream->live)
        (void)pug_capture_tree(core->capture, 0, true, NULL, &state->tree);
    return stream_iterator(stream);
}

/* ---- elements as they are ---- */

PyObject *open_batches(struct core *core, PyObject *options)
{
    struct stream *stream = stream_new(core);
    if (!stream)
        return NULL;
    if (!stream_options(stream, options)) {
        stream_drop(stream);
        return NULL;
    }
    return stream_iterator(stream);
}
