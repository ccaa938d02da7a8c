// SPDX-License-Identifier: MIT
/** @file From elements to the events of a history. */
#include "debug/history.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_64 ((uint64_t)8 << 30)
#define LIMIT_32 ((uint64_t)1 << 30)

enum pug_status pug_history_new(const struct pug_history_config *config,
                                struct pug_history **history)
{
    if (!history)
        return PUG_ERR_INVALID_PARAM_VAL;
    *history = NULL;
    if (!config || !config->capture)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_history *made = calloc(1, sizeof(*made));
    if (!made)
        return PUG_ERR_MEM;
    made->config = *config;
    if (made->config.limit == 0)
        made->config.limit = sizeof(void *) > 4 ? LIMIT_64 : LIMIT_32;
    const struct pug_calls_config calls = {.locate = pug_history_function,
                                           .locate_context = made,
                                           .event = pug_history_on_call,
                                           .event_context = made};
    const enum pug_status status = pug_calls_new(&calls, &made->calls);
    if (status != PUG_OK) {
        free(made);
        return status;
    }
    *history = made;
    return PUG_OK;
}

void pug_history_free(struct pug_history *history)
{
    if (!history)
        return;
    for (uint32_t i = 0; i < history->event_count; i++)
        free(history->events[i].offsets);
    for (uint32_t i = 0; i < history->page_count; i++)
        free(history->pages[i].bytes);
    for (unsigned i = 0; i < PUG_PAGE_VIEWS; i++)
        free(history->views[i]);
    for (uint32_t i = 0; i < history->line_count; i++) {
        free(history->lines[i].frames);
        free(history->lines[i].stacks);
    }
    for (uint32_t i = 0; i < history->file_room; i++)
        pug_debug_program_free(&history->files[i].program);
    void *const owned[] = {history->events, history->slots,       history->pages,
                           history->lines,  history->notes.bytes, history->packed.bytes,
                           history->stamps, history->followers,   history->kept,
                           history->memos,  history->files,       history->breakpoints,
                           history->hits,   history->data,        history->by_task,
                           history->frames, history->pieces,      history->kept_names};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        free(owned[i]);
    pug_calls_free(history->calls);
    pug_walk_free(history->walk);
    free(history);
}

bool pug_history_ended(const struct pug_history *history)
{
    return history->ended;
}

enum pug_status pug_history_status(const struct pug_history *history)
{
    return history ? history->status : PUG_ERR_INVALID_PARAM_VAL;
}

uint64_t pug_history_memory(const struct pug_history *history)
{
    return history ? history->memory + sizeof(*history) : 0;
}

uint64_t pug_history_count(const struct pug_history *history)
{
    return history->positions;
}

const struct pug_history_thread *pug_history_thread_at(const struct pug_history *history, size_t n)
{
    return n < history->line_count ? &history->lines[n].thread : NULL;
}

/* ---- threads ---- */

static bool is_same_thread(const struct pug_history *history, const struct pug_history_line *line,
                           const struct pug_origin *origin)
{
    const struct pug_history_thread *thread = &line->thread;
    if (thread->task == PUG_NO_TASK || origin->task == PUG_NO_TASK)
        return thread->task == origin->task && thread->buffer == origin->buffer &&
               thread->source == origin->source;
    const struct pug_capture_task *a = pug_capture_task_at(history->config.capture, thread->task),
                                  *b = pug_capture_task_at(history->config.capture, origin->task);
    return thread->task == origin->task || (a && b && a->pid == b->pid && a->tid == b->tid);
}

static bool add_thread(struct pug_history *history, const struct pug_origin *origin,
                       const struct pug_element *element)
{
    if (!pug_history_grow(history, &history->lines, &history->line_room,
                          (uint64_t)history->line_count + 1, sizeof(*history->lines)))
        return false;
    const struct pug_capture_task *task =
        origin->task == PUG_NO_TASK ? NULL
                                    : pug_capture_task_at(history->config.capture, origin->task);
    history->line = history->line_count++;
    history->lines[history->line] =
        (struct pug_history_line){.thread = {.task = origin->task,
                                             .buffer = origin->buffer,
                                             .source = origin->source,
                                             .cpu = origin->cpu,
                                             .isa = element->isa,
                                             .first = history->positions},
                                  .pid = task ? task->pid : PUG_NO_CPU};
    return true;
}

/** The thread that elements are of becomes history->line; false: it is new, or no memory. */
static bool find_thread(struct pug_history *history, const struct pug_origin *origin)
{
    uint32_t *known = NULL;
    if (history->line < history->line_count) {
        const struct pug_history_thread *last = &history->lines[history->line].thread;
        if (last->task == origin->task &&
            (last->task != PUG_NO_TASK ||
             (last->buffer == origin->buffer && last->source == origin->source)))
            return true;
    }
    if (origin->task != PUG_NO_TASK) {
        if (!pug_history_grow(history, &history->by_task, &history->task_room,
                              (uint64_t)origin->task + 1, sizeof(*history->by_task)))
            return false;
        known = &history->by_task[origin->task];
        if (*known > 0) {
            history->line = *known - 1;
            return true;
        }
    }
    for (uint32_t i = 0; i < history->line_count; i++) {
        if (!is_same_thread(history, &history->lines[i], origin))
            continue;
        history->line = i;
        if (known)
            *known = i + 1;
        return true;
    }
    return false;
}

/* ---- ends of stretches ---- */

static struct pug_history_event event_of(const struct pug_history *history,
                                         const struct pug_element *element,
                                         const struct pug_address_space *space,
                                         enum pug_history_what what)
{
    return (struct pug_history_event){
        .what = (uint8_t)what,
        .thread = history->line,
        .space = space,
        .buffer = history->lines[history->line].thread.buffer,
        .source = element->source,
        .isa = element->isa,
        .context_flags = element->context_flags,
        .context_id = element->context_flags & PUG_CTX_CONTEXT_ID ? element->context_id : 0,
        .vmid = element->context_flags & PUG_CTX_VMID ? element->vmid : 0,
        .security = element->security,
        .level = element->level};
}

static bool append(struct pug_history *history, const struct pug_history_event *event)
{
    return pug_history_append(history, pug_history_event(history, event));
}

/** The last range was the end of a stretch: a position where it goes on, if that is known. */
static bool stop_stretch(struct pug_history *history)
{
    struct pug_history_line *line = &history->lines[history->line];
    if (line->range.count == 0)
        return true;
    struct pug_history_event event = event_of(history, &line->range, line->space, PUG_WHAT_STOP);
    const bool known = !line->trapped && pug_history_next(history, line, &event.start, &event.isa);
    event.count = 1;
    line->range.count = 0;
    return !known || append(history, &event);
}

static enum pug_call_gap gap_of(const struct pug_element *element)
{
    switch (element->type) {
    case PUG_ELEM_EO_TRACE: return PUG_GAP_UNTRACED;
    case PUG_ELEM_TRACE_ON:
        return element->reason == PUG_TRACE_ON_OVERFLOW ? PUG_GAP_LOST : PUG_GAP_UNTRACED;
    case PUG_ELEM_NO_SYNC:
        return element->reason == PUG_UNSYNC_INIT_DECODER ||
                       element->reason == PUG_UNSYNC_RESET_DECODER ||
                       element->reason == PUG_UNSYNC_EOT
                   ? PUG_GAP_UNTRACED
                   : PUG_GAP_LOST;
    case PUG_ELEM_ADDR_NACC:
    case PUG_ELEM_I_RANGE_NOPATH: return PUG_GAP_UNKNOWN;
    default: return PUG_GAP_LOST;
    }
}

static void miss(struct pug_history_line *line, const struct pug_element *element)
{
    const enum pug_call_gap gap = gap_of(element);
    if (line->missing && gap <= line->gap)
        return;
    line->missing = true;
    line->gap = (uint8_t)gap;
    line->unsync = element->type == PUG_ELEM_NO_SYNC ? element->reason : PUG_UNSYNC_UNKNOWN;
}

/** Trace goes on at `address`; is something missing before? */
static bool resume(struct pug_history *history, uint64_t address)
{
    struct pug_history_line *line = &history->lines[history->line];
    if (!line->missing)
        return true;
    line->missing = false;
    uint64_t next = line->next;
    uint8_t isa;
    const bool known =
        line->range.count > 0 &&
        (line->trapped ? line->has_next : pug_history_next(history, line, &next, &isa));
    if (line->gap == PUG_GAP_UNTRACED && known && next == address)
        return true;
    if (line->range.count == 0 && line->thread.first == history->positions)
        return true; /* nothing was there before */
    const struct pug_history_event gap = {
        .what = PUG_WHAT_GAP, .thread = history->line, .kind = line->gap, .numbers = line->unsync};
    return stop_stretch(history) && append(history, &gap);
}

/* ---- elements ---- */

static bool take_range(struct pug_history *history, const struct pug_origin *origin,
                       const struct pug_element *element)
{
    struct pug_history_line *line = &history->lines[history->line];
    if (!resume(history, element->start) || !pug_history_leave(history))
        return false;
    struct pug_history_event event = event_of(history, element, origin->space, PUG_WHAT_RANGE);
    event.start = element->start;
    event.end = element->end;
    event.count = element->count;
    event.last_size = element->last_size;
    if ((element->flags & PUG_ELEM_EXECUTED) && element->last_subtype == PUG_SUB_BR_LINK)
        event.flags = PUG_FLAG_CALLS;
    line->range = *element;
    line->space = origin->space;
    line->trapped = false;
    line->begin = history->positions;
    line->ran = 0;
    if (element->count == 0)
        return true;
    const uint32_t number = pug_history_event(history, &event);
    line->ran = number == UINT32_MAX ? 0 : number + 1;
    return pug_history_append(history, number);
}

/** Was the instruction that the exception returns to the one that caused it? */
static bool is_fault(const struct pug_element *exception)
{
    const uint32_t number = exception->number;
    switch (exception->reason) {
    case PUG_EXCEPTIONS_ARMV8:
        return number == 3 || number == 6 || number == 7 || (number >= 10 && number <= 12);
    case PUG_EXCEPTIONS_ARMV7: return number == 5 || number == 9 || number == 11 || number == 12;
    case PUG_EXCEPTIONS_ARMV7M:
    case PUG_EXCEPTIONS_ARMV8M: {
        const unsigned vector = pug_exception_vector(exception->reason, number);
        return vector >= 3 && vector <= 7;
    }
    case PUG_EXCEPTIONS_RISCV: return number < 8 || (number >= 12 && number < 24);
    default: return number == 2;
    }
}

static bool take_exception(struct pug_history *history, const struct pug_origin *origin,
                           const struct pug_element *element)
{
    struct pug_history_line *line = &history->lines[history->line];
    const bool m_profile =
        element->reason == PUG_EXCEPTIONS_ARMV7M || element->reason == PUG_EXCEPTIONS_ARMV8M;
    const bool returns =
        (element->flags & PUG_ELEM_RET_ADDR) && !(m_profile && element->end >= 0xffffff00u);
    if (element->flags & PUG_ELEM_DATA_MARKER)
        return true;
    line->thread.m_profile |= m_profile;
    if (line->missing && returns && !resume(history, element->end))
        return false;
    struct pug_history_event event = event_of(history, element, origin->space, PUG_WHAT_TRAP);
    event.start = returns ? element->end : 0;
    event.count = returns;
    event.number = element->number;
    event.numbers = element->reason;
    event.kind = is_fault(element);
    if (element->isa >= PUG_ISA_TEE && element->isa <= PUG_ISA_UNKNOWN)
        event.isa = line->range.isa;
    line->trapped = line->has_next = returns;
    line->next = element->end;
    return append(history, &event);
}

/**
 * The position from which on an access is done: the one after its instruction, which is in the
 * thread's last range.
 */
static uint64_t position_of(struct pug_history *history, const struct pug_element *access)
{
    const struct pug_history_line *line = &history->lines[history->line];
    if (!(access->flags & PUG_ELEM_HAS_PC) || line->range.count == 0 || line->ran == 0)
        return history->positions;
    struct pug_history_event *event = &history->events[line->ran - 1];
    const uint32_t n = pug_event_instruction(history, event, access->end);
    return n == UINT32_MAX ? history->positions : line->begin + n + 1;
}

/** Puts an access after those that were done before. */
static bool insert_access(struct pug_history *history, const struct pug_data_access *access)
{
    if (!pug_history_grow(history, &history->data, &history->data_room,
                          (uint64_t)history->data_count + 1, sizeof(*history->data)))
        return false;
    uint32_t at = history->data_count++;
    for (; at > 0 && history->data[at - 1].position > access->position; at--)
        history->data[at] = history->data[at - 1];
    history->data[at] = *access;
    return true;
}

static bool take_access(struct pug_history *history, const struct pug_element *element)
{
    const bool valued = element->type == PUG_ELEM_DATA_VALUE;
    const bool moves = element->reason == PUG_ACCESS_LOAD || element->reason == PUG_ACCESS_STORE;
    const bool addressed = !valued || (element->flags & PUG_ELEM_HAS_ADDRESS);
    /* The result of an atomic access is unknown, and so is the effect of a store without a value.
     */
    const bool changes = (element->reason == PUG_ACCESS_STORE && !valued) ||
                         ((element->reason & ~PUG_ACCESS_OPERAND) >= PUG_ACCESS_SWAP &&
                          (element->reason & ~PUG_ACCESS_OPERAND) <= PUG_ACCESS_MIN) ||
                         element->reason == PUG_ACCESS_UNKNOWN;
    const unsigned size =
        element->last_size > 0 && element->last_size <= 8 ? element->last_size : 8;
    if (!addressed || !(changes || (valued && moves && element->last_size > 0)))
        return true;
    const struct pug_data_access access = {.position = position_of(history, element),
                                           .address = element->start,
                                           .value = element->value,
                                           .thread = history->line,
                                           .size = (uint8_t)size,
                                           .unknown = changes,
                                           .big_endian = element->flags & PUG_ELEM_BIG_ENDIAN};
    return insert_access(history, &access);
}

bool pug_history_access(struct pug_history *history, uint64_t address, uint64_t value,
                        unsigned size)
{
    if (!history || size == 0 || size > 8)
        return false;
    const struct pug_data_access access = {
        .position = history->positions, .address = address, .value = value, .size = (uint8_t)size};
    return insert_access(history, &access);
}

static bool is_flow(const struct pug_element *element)
{
    return element->type == PUG_ELEM_INSTR_RANGE || element->type == PUG_ELEM_EXCEPTION;
}

static bool take(struct pug_history *history, const struct pug_origin *origin,
                 const struct pug_element *element)
{
    history->origin = origin;
    if (!find_thread(history, origin)) {
        if (history->status != PUG_OK)
            return false;
        if (!is_flow(element))
            return true;
        if (!add_thread(history, origin, element))
            return false;
    }
    struct pug_history_line *line = &history->lines[history->line];
    if (element->type == PUG_ELEM_TIMESTAMP && origin->time == 0)
        line->time = element->timestamp;
    if (origin->time != 0)
        line->time = origin->time;
    if (is_flow(element) &&
        !pug_history_note(history, origin->buffer, origin->segment, element->index, line->time))
        return false;
    if (pug_calls_take(history->calls, history->line, element, 1) != PUG_OK) {
        history->status = PUG_ERR_MEM;
        return false;
    }
    switch (element->type) {
    case PUG_ELEM_INSTR_RANGE: return take_range(history, origin, element);
    case PUG_ELEM_EXCEPTION:
        return pug_history_leave(history) && take_exception(history, origin, element);
    case PUG_ELEM_EXCEPTION_RET: line->trapped = false; return true;
    case PUG_ELEM_DATA_ADDRESS:
    case PUG_ELEM_DATA_VALUE: return take_access(history, element);
    case PUG_ELEM_EO_TRACE:
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_UNKNOWN:
    case PUG_ELEM_ADDR_NACC:
    case PUG_ELEM_I_RANGE_NOPATH: miss(line, element); return true;
    default: return true;
    }
}

bool pug_history_take(void *context, const struct pug_origin *origin,
                      const struct pug_element *elements, size_t count)
{
    struct pug_history *history = context;
    for (size_t i = 0; i < count && history->status == PUG_OK; i++)
        if (!take(history, origin, &elements[i]))
            break;
    return history->status == PUG_OK;
}

void pug_history_end(struct pug_history *history)
{
    for (uint32_t i = 0; i < history->line_count && history->status == PUG_OK; i++) {
        history->line = i;
        (void)stop_stretch(history);
    }
    if (history->status == PUG_OK)
        (void)pug_history_seal(history);
    history->ended = true;
}
