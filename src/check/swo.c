// SPDX-License-Identifier: MIT
/** @file What software and the DWT say: handlers, lines of text, accesses to memory. */
#include "capture/marks.h"
#include "check/engine.h"
#include "pugmark/author/protocol.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORTS 256u
#define LINE  512u

/** Numbers of exceptions are those of the vector table. */
#define BY_VECTOR PUG_EXCEPTIONS_KINDS

struct port {
    struct check_event stamp; /* of the line's first byte */
    size_t size;
    char line[LINE];
};

struct swo_core {
    struct pug_check *check;
    struct check_core *core;
    struct pug_swo_stream stream;
    struct pug_interrupts interrupts;
    struct port *ports[PORTS];
    struct check_event stamp; /* of the event at hand */
    uint64_t last;            /* time before it */
    bool has_last, itm;
};

struct check_swo {
    struct pug_list cores;             /* struct swo_core * */
    uint32_t handlers[PUG_INTERRUPTS]; /* functions plus 1; UINT32_MAX: looked for in vain */
};

/* ---- names of exceptions ---- */

static bool is_same_word(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        const char x = *a == '_' || *a == '-' ? ' ' : *a, y = *b == '_' || *b == '-' ? ' ' : *b;
        if (tolower((unsigned char)x) != tolower((unsigned char)y))
            return false;
    }
    return *a == *b;
}

struct named {
    const char *name;
    unsigned vector; /* 0: none is called so */
};

static unsigned vector_named(struct pug_check *check, const char *name)
{
    struct named *known = check->vector_names.items;
    for (size_t n = 0; n < check->vector_names.count; n++)
        if (known[n].name == name)
            return known[n].vector;
    unsigned vector;
    if (!pug_vectors_number(&check->vectors, name, &vector))
        vector = 0;
    known = pug_list_add(&check->vector_names, sizeof(*known));
    if (known)
        *known = (struct named){name, vector};
    return vector;
}

bool pug_check_is_exception(struct pug_check *check, const char *name, unsigned numbers,
                            uint32_t number)
{
    char words[96], *end;
    const unsigned vector = numbers == BY_VECTOR
                                ? number
                                : pug_exception_vector((enum pug_exception_numbers)numbers, number);
    const unsigned long given = strtoul(name, &end, 0);
    if (*end == '\0' && end != name)
        return given == number;
    if (vector > 0 && vector_named(check, name) == vector)
        return true;
    return numbers != BY_VECTOR &&
           pug_exception_name((enum pug_exception_numbers)numbers, number, words, sizeof(words)) >
               0 &&
           is_same_word(words, name);
}

/* ---- lines ---- */

void pug_check_line(struct pug_check *check, struct check_core *core, unsigned port,
                    const char *line, const struct check_event *stamp)
{
    struct check_stream *stream = pug_check_stream(check, core, NULL);
    const struct check_seen seen = {.core = core, .stream = stream, .stamp = &stamp->stamp};
    for (uint32_t n = 0; stream && n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        const struct check_rule *rule = &tally->rule;
        const struct check_subject *subjects[] = {&rule->subject, &rule->other};
        for (int i = 0; i < 2; i++) {
            if (subjects[i]->kind != CHECK_PORT_LINE || subjects[i]->number != port ||
                tally->impossible || !pug_check_holds_text(subjects[i]->name, line))
                continue;
            if (rule->kind == CHECK_PORT) {
                tally->count++;
                if (rule->never)
                    pug_check_violate(check, n, &seen, "it said \"%.200s\"", line);
            } else {
                struct check_event event = *stamp;
                event.order = pug_check_order_of(check, stream, n);
                event.op = i ? CHECK_OP_OTHER : CHECK_OP_ENTRY;
                if (event.order)
                    pug_check_queue(check, core, &event);
            }
        }
    }
}

static void end_line(struct swo_core *swo, unsigned number)
{
    struct port *port = swo->ports[number];
    if (port->size == 0)
        return;
    port->line[port->size] = '\0';
    port->size = 0;
    pug_check_line(swo->check, swo->core, number, port->line, &port->stamp);
}

static void take_byte(struct swo_core *swo, unsigned number, uint8_t byte)
{
    struct port *port = swo->ports[number];
    if (!port)
        port = swo->ports[number] = calloc(1, sizeof(*port));
    if (!port) {
        pug_check_starve(swo->check);
        return;
    }
    if (byte == '\n') {
        end_line(swo, number);
        return;
    }
    if (byte == '\0' || byte == '\r')
        return;
    if (port->size == 0)
        port->stamp = swo->stamp;
    port->line[port->size++] = (char)byte;
    if (port->size == LINE - 1)
        end_line(swo, number);
}

/* ---- handlers ---- */

/** The function that handles an exception: its number plus 1, or 0. */
static uint32_t handler_of(struct pug_check *check, unsigned number)
{
    char name[256];
    uint32_t *known = &check->swo->handlers[number % PUG_INTERRUPTS];
    if (*known == 0) {
        pug_vectors_name(&check->vectors, number, name, sizeof(name));
        const uint32_t function = pug_check_named(check, name);
        *known = function ? function : UINT32_MAX;
    }
    return *known == UINT32_MAX ? 0 : *known;
}

static void on_interrupt(void *context, const struct pug_interrupt *interrupt)
{
    struct swo_core *swo = context;
    struct pug_check *check = swo->check;
    struct check_stream *stream = pug_check_stream(check, swo->core, NULL);
    const uint32_t function = handler_of(check, interrupt->number);
    if (!stream)
        return;
    swo->core->current = stream;
    check->saw = true;
    if (!interrupt->leave) {
        pug_check_pause_interrupted(check, stream, &swo->stamp, false);
        stream->exceptions++;
        if (function)
            pug_check_enter(check, stream, function, &swo->stamp, interrupt->depth,
                            !interrupt->begun);
        return;
    }
    if (function)
        pug_check_leave(check, stream, function, &swo->stamp, interrupt->depth,
                        interrupt->cut ? CHECK_CUT : 0);
    stream->exceptions -= stream->exceptions > 0;
    pug_check_pause_interrupted(check, stream, &swo->stamp, true);
}

/* ---- samples ---- */

static void take_sample(struct swo_core *swo, const struct pug_dwt_event *event)
{
    struct pug_check *check = swo->check;
    const struct pug_element sample = {.type = PUG_ELEM_INSTR_RANGE,
                                       .start = event->pc,
                                       .end = (uint64_t)event->pc + 2,
                                       .index = event->index,
                                       .source = swo->core->source};
    check->saw = true;
    check->samples++;
    check->stream = NULL;
    if (check->looks_spans && check->where)
        pug_check_look(check, &sample);
}

/* ---- events ---- */

static void stamp_event(struct swo_core *swo, const struct pug_dwt_event *event)
{
    struct check_event *stamp = &swo->stamp;
    const bool exact = event->has_time && event->time_kind == PUG_ITM_TS_SYNC;
    *stamp = (struct check_event){
        .stamp = {.index = event->index}, .time_known = true, .cycles_known = true};
    stamp->stamp.time.to = event->has_time ? event->time : CHECK_UNKNOWN;
    stamp->stamp.time.from = exact ? event->time : swo->has_last ? swo->last : 0;
    stamp->stamp.cycles = stamp->stamp.time;
    if (swo->stream.clock.anchored)
        stamp->stamp.cycles = (struct check_interval){0, CHECK_UNKNOWN};
    if (!event->has_time)
        return;
    if (!swo->core->has_time)
        swo->core->first_time = event->time;
    swo->core->has_time = true;
    swo->core->time = event->time;
    swo->has_last = true;
    swo->last = event->time;
}

static void on_event(void *context, const struct pug_dwt_event *event)
{
    struct swo_core *swo = context;
    struct pug_check *check = swo->check;
    stamp_event(swo, event);
    if (event->kind == PUG_DWT_LOST || event->overflow)
        pug_check_lose(check, swo->core, PUG_GAP_LOST, event->index);
    if (event->kind == PUG_DWT_EXCEPTION && event->action == PUG_DWT_ENTERED) {
        struct check_stream *stream = pug_check_stream(check, swo->core, NULL);
        if (stream)
            pug_check_exception(check, stream, BY_VECTOR, event->number, &swo->stamp);
    }
    pug_interrupts_take(&swo->interrupts, event);
    switch (event->kind) {
    case PUG_DWT_STIMULUS:
        check->saw = true;
        for (unsigned i = 0; i < event->size; i++)
            take_byte(swo, event->number % PORTS, (uint8_t)(event->value >> 8 * i));
        break;
    case PUG_DWT_PC_SAMPLE: take_sample(swo, event); break;
    case PUG_DWT_DATA:
        if (event->has_address)
            pug_check_access(check, swo->core, event->address, event->has_value, event->value,
                             event->size, &swo->stamp);
        break;
    default: break;
    }
}

static const void *config_of(struct pug_check *check, uint16_t id)
{
    const struct pug_source *source = NULL;
    for (size_t n = 0; check->tree && (source = pug_tree_source_at(check->tree, n)) != NULL; n++) {
        const struct pug_protocol *protocol = pug_source_protocol(source);
        if (pug_source_id(source) == id && protocol && protocol->description &&
            protocol->description->dwt)
            return pug_source_config(source);
    }
    return NULL;
}

static struct swo_core *core_of(struct pug_check *check, struct check_core *core)
{
    if (!check->swo)
        check->swo = calloc(1, sizeof(*check->swo));
    if (!check->swo) {
        pug_check_starve(check);
        return NULL;
    }
    struct swo_core **cores = check->swo->cores.items;
    for (size_t n = 0; n < check->swo->cores.count; n++)
        if (cores[n]->core == core)
            return cores[n];
    struct swo_core *swo = calloc(1, sizeof(*swo));
    struct swo_core **slot = swo ? pug_list_add(&check->swo->cores, sizeof(*slot)) : NULL;
    if (!slot) {
        free(swo);
        pug_check_starve(check);
        return NULL;
    }
    *slot = swo;
    swo->check = check;
    swo->core = core;
    core->software = true;
    struct pug_swo_clock clock = pug_capture_swo_clock(check->capture, core->buffer, core->source);
    clock.local_hertz = check->local_hertz;
    clock.global_hertz = check->global_hertz;
    pug_swo_stream_init(&swo->stream, config_of(check, core->source), &clock, on_event, swo);
    pug_interrupts_init(&swo->interrupts, on_interrupt, swo);
    return swo;
}

static void take_software(struct swo_core *swo, const struct pug_element *e)
{
    const unsigned bytes = e->sw_bits >= 8 && e->sw_bits <= 64 ? e->sw_bits / 8u : 0;
    swo->check->saw = true;
    if (e->sw_flags & PUG_SW_OVERFLOW) {
        pug_check_lose(swo->check, swo->core, PUG_GAP_LOST, e->index);
        return;
    }
    const bool dated = e->flags & PUG_ELEM_HAS_TS;
    swo->stamp = (struct check_event){
        .stamp = {.time = {dated ? e->timestamp : swo->last, dated ? e->timestamp : CHECK_UNKNOWN},
                  .cycles = {0, CHECK_UNKNOWN},
                  .index = e->index},
        .time_known = true,
        .cycles_known = true};
    if (dated) {
        swo->core->first_time = swo->core->has_time ? swo->core->first_time : e->timestamp;
        swo->core->has_time = true;
        swo->core->time = swo->last = e->timestamp;
    }
    if (PUG_SW_CHANNEL(e) >= PORTS)
        return;
    if (e->flags & PUG_ELEM_PAYLOAD) {
        const uint8_t *payload = e->payload;
        for (uint32_t i = 0; i < e->count; i++)
            take_byte(swo, PUG_SW_CHANNEL(e), payload[i]);
        return;
    }
    for (unsigned i = 0; i < bytes; i++)
        take_byte(swo, PUG_SW_CHANNEL(e), (uint8_t)(e->value >> 8 * i));
}

bool pug_check_swo_take(struct pug_check *check, struct check_core *core,
                        const struct pug_element *element)
{
    struct swo_core *swo = core_of(check, core);
    if (!swo)
        return false;
    if (element->type == PUG_ELEM_SWTRACE) {
        take_software(swo, element);
        return true;
    }
    swo->itm = true;
    pug_swo_stream_take(&swo->stream, element);
    return true;
}

void pug_check_swo_end(struct pug_check *check)
{
    struct swo_core **cores = check->swo ? check->swo->cores.items : NULL;
    for (size_t n = 0; cores && n < check->swo->cores.count; n++) {
        pug_swo_stream_end(&cores[n]->stream);
        if (cores[n]->stream.failed)
            pug_check_starve(check);
        pug_interrupts_end(&cores[n]->interrupts);
        for (unsigned port = 0; port < PORTS; port++)
            if (cores[n]->ports[port])
                end_line(cores[n], port);
    }
}

void pug_check_swo_free(struct pug_check *check)
{
    struct swo_core **cores = check->swo ? check->swo->cores.items : NULL;
    for (size_t n = 0; cores && n < check->swo->cores.count; n++) {
        free(cores[n]->stream.waiting);
        for (unsigned port = 0; port < PORTS; port++)
            free(cores[n]->ports[port]);
        free(cores[n]);
    }
    free(cores);
    free(check->swo);
    check->swo = NULL;
    free(check->vector_names.items);
    check->vector_names = (struct pug_list){0};
}
