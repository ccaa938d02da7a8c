// SPDX-License-Identifier: MIT
/** @file From ITMTRACE elements to events: what the hardware source packets mean together. */
#include "pugmark/dwt.h"

#include <string.h>

/* Hardware sources (discriminators) of the DWT. */
#define SOURCE_COUNTERS  0
#define SOURCE_EXCEPTION 1
#define SOURCE_PC        2
#define SOURCE_PMU       3
#define SOURCE_PC_VALUE  8  /* + 2n: PC, comparator n; odd ones are the data address */
#define SOURCE_READ      16 /* + 2n: value read; odd ones written */
#define SOURCE_END       24

static void pc_sample(const struct pug_element *element, struct pug_dwt_event *event)
{
    if (element->last_size == 1) {
        event->kind = element->value == 0xff ? PUG_DWT_DENIED : PUG_DWT_SLEEPING;
        return;
    }
    event->kind = PUG_DWT_PC_SAMPLE;
    event->pc = (uint32_t)element->value;
    event->has_pc = true;
}

static void data_access(const struct pug_element *element, struct pug_dwt_event *event)
{
    event->comparator = element->number >> 1 & 3;
    event->kind = PUG_DWT_DATA;
    bool odd = element->number & 1;
    if (element->number >= SOURCE_READ) {
        event->has_value = true;
        event->write = odd;
        event->size = element->last_size;
    } else if (odd) {
        event->has_address = true;
        event->address = (uint32_t)element->value;
        event->address_size = element->last_size;
    } else if (element->last_size == 1) {
        event->kind = PUG_DWT_MATCH;
    } else {
        event->has_pc = true;
        event->pc = (uint32_t)element->value;
    }
}

static void hardware(const struct pug_element *element, struct pug_dwt_event *event)
{
    event->kind = PUG_DWT_RESERVED;
    switch (element->number) {
    case SOURCE_COUNTERS:
        event->kind = PUG_DWT_COUNTERS;
        event->counters = (uint8_t)element->value;
        break;
    case SOURCE_EXCEPTION:
        event->kind = PUG_DWT_EXCEPTION;
        event->number = element->value & 0x1ff;
        event->action = element->value >> 12 & 3;
        break;
    case SOURCE_PC: pc_sample(element, event); break;
    case SOURCE_PMU:
        event->kind = PUG_DWT_PMU;
        event->counters = (uint8_t)element->value;
        break;
    default:
        if (element->number >= SOURCE_PC_VALUE && element->number < SOURCE_END)
            data_access(element, event);
    }
}

bool pug_dwt_meaning(const struct pug_element *element, struct pug_dwt_event *event)
{
    if (element->type != PUG_ELEM_ITMTRACE || element->reason > PUG_ITM_DWT)
        return false;
    *event = (struct pug_dwt_event){
        .index = element->index,
        .kind = PUG_DWT_STIMULUS,
        .number = (uint16_t)element->number,
        .source = element->source,
        .value = (uint32_t)element->value,
        .size = element->last_size,
        .overflow = element->flags & PUG_ELEM_OVERFLOW,
        .guessed = PUG_ITM_FLAGS(element) & PUG_ITM_GUESSED,
    };
    if (element->reason == PUG_ITM_DWT)
        hardware(element, event);
    return true;
}

/* ---- packets to events ---- */

void pug_dwt_init(struct pug_dwt *dwt, bool timed)
{
    memset(dwt, 0, sizeof(*dwt));
    dwt->timed = timed;
}

void pug_dwt_set_comparator(struct pug_dwt *dwt, unsigned n, uint32_t address)
{
    if (n >= PUG_DWT_COMPARATORS)
        return;
    dwt->comparator_address[n] = address;
    dwt->comparator_set |= (uint8_t)(1u << n);
}

/** Forget the events that the last call gave. */
static void begin(struct pug_dwt *dwt)
{
    dwt->count -= dwt->ready;
    memmove(dwt->events, dwt->events + dwt->ready, dwt->count * sizeof(dwt->events[0]));
    dwt->ready = 0;
}

static void add(struct pug_dwt *dwt, const struct pug_dwt_event *event)
{
    dwt->events[dwt->count++] = *event;
}

/** The address as far as the comparator and the trace together tell it. */
static void complete_address(const struct pug_dwt *dwt, struct pug_dwt_event *access)
{
    if (!(dwt->comparator_set & 1u << access->comparator))
        return;
    uint32_t watched = dwt->comparator_address[access->comparator];
    uint32_t known = 0;
    if (access->has_address && access->address_size < 4)
        known = (UINT32_C(1) << 8 * access->address_size) - 1;
    else if (access->has_address)
        known = UINT32_MAX;
    access->address = (watched & ~known) | (access->address & known);
    access->address_size = 4;
    access->has_address = true;
}

static void close_access(struct pug_dwt *dwt, unsigned n)
{
    complete_address(dwt, &dwt->access[n]);
    add(dwt, &dwt->access[n]);
    dwt->held &= (uint8_t) ~(1u << n);
}

/** All accesses under way are complete; the oldest first. */
static void close_accesses(struct pug_dwt *dwt)
{
    while (dwt->held) {
        unsigned oldest = PUG_DWT_COMPARATORS;
        for (unsigned n = 0; n < PUG_DWT_COMPARATORS; n++)
            if ((dwt->held & 1u << n) &&
                (oldest == PUG_DWT_COMPARATORS || dwt->access[n].index < dwt->access[oldest].index))
                oldest = n;
        close_access(dwt, oldest);
    }
}

/** A data packet: PC and address wait for the value, which completes the access. */
static void take_data(struct pug_dwt *dwt, const struct pug_dwt_event *packet)
{
    unsigned n = packet->comparator;
    struct pug_dwt_event *access = &dwt->access[n];
    bool held = dwt->held & 1u << n;
    if (held &&
        ((packet->has_pc && access->has_pc) || (packet->has_address && access->has_address))) {
        close_access(dwt, n);
        held = false;
    }
    if (!held) {
        *access = *packet;
    } else if (packet->has_value) {
        access->has_value = true;
        access->value = packet->value;
        access->size = packet->size;
        access->write = packet->write;
    } else if (packet->has_address) {
        access->has_address = true;
        access->address = packet->address;
        access->address_size = packet->address_size;
    } else {
        access->has_pc = true;
        access->pc = packet->pc;
    }
    dwt->held |= (uint8_t)(1u << n);
    if (access->has_value)
        close_access(dwt, n);
}

/** The events have the last known time. */
static void give_time(struct pug_dwt *dwt, uint8_t kind)
{
    for (size_t i = 0; i < dwt->count; i++) {
        dwt->events[i].time = dwt->time;
        dwt->events[i].has_time = dwt->has_time;
        dwt->events[i].time_kind = kind;
    }
}

static void take_time(struct pug_dwt *dwt, const struct pug_element *element)
{
    close_accesses(dwt);
    dwt->time = element->timestamp;
    dwt->has_time = true;
    give_time(dwt, element->reason);
    dwt->ready = dwt->count;
}

size_t pug_dwt_push(struct pug_dwt *dwt, const struct pug_element *element)
{
    struct pug_dwt_event event;
    begin(dwt);
    if (pug_dwt_meaning(element, &event)) {
        if (event.kind == PUG_DWT_DATA) {
            take_data(dwt, &event);
        } else {
            close_accesses(dwt);
            add(dwt, &event);
        }
    } else if (element->type == PUG_ELEM_NO_SYNC || element->type == PUG_ELEM_EO_TRACE) {
        return pug_dwt_finish(dwt);
    } else if (element->type == PUG_ELEM_ITMTRACE && element->reason != PUG_ITM_TS_GLOBAL) {
        take_time(dwt, element);
    }
    /* The next call adds at most the accesses under way and one event. */
    if (!dwt->timed || dwt->count + PUG_DWT_COMPARATORS + 1 > PUG_DWT_EVENTS)
        dwt->ready = dwt->count;
    return dwt->ready;
}

size_t pug_dwt_finish(struct pug_dwt *dwt)
{
    begin(dwt);
    close_accesses(dwt);
    give_time(dwt, PUG_ITM_TS_PKT_TS_DELAY);
    return dwt->ready = dwt->count;
}
