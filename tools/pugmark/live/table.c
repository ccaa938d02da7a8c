// SPDX-License-Identifier: MIT
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool top_table_open(struct top_table *table, const struct pug_image *image)
{
    *table = (struct top_table){.image = image};
    table->functions = calloc(TOP_FUNCTIONS + 1, sizeof(*table->functions));
    return table->functions != NULL;
}

void top_table_close(struct top_table *table)
{
    free(table->functions);
}

void top_table_reset(struct top_table *table)
{
    struct top_function *functions = table->functions;
    memset(functions, 0, (TOP_FUNCTIONS + 1) * sizeof(*functions));
    *table = (struct top_table){.image = table->image,
                                .functions = functions,
                                .bytes = table->bytes,
                                .bytes_before = table->bytes,
                                .seconds = table->seconds};
}

/* ---- functions ---- */

/** An open hash by name, at most half full but for the last ones. */
static size_t slot_of(struct top_table *table, const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    for (size_t n = 0; n < TOP_FUNCTIONS; n++) {
        const size_t slot = (hash + n) % TOP_FUNCTIONS;
        struct top_function *function = &table->functions[slot];
        if (strcmp(function->name, name) == 0)
            return slot;
        if (function->name[0])
            continue;
        if (table->function_count == TOP_FUNCTIONS / 4 * 3)
            break;
        table->function_count++;
        memcpy(function->name, name, strlen(name) + 1);
        return slot;
    }
    memcpy(table->functions[TOP_FUNCTIONS].name, "[others]", sizeof("[others]"));
    return TOP_FUNCTIONS;
}

/** How many of the entries are at the address or before it. */
static size_t entries_to(const struct top_table *table, uint64_t address)
{
    size_t low = 0, high = table->entry_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (table->entries[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** A call, or the begin of trace, led there. */
static void enter(struct top_table *table, uint64_t address)
{
    const size_t at = entries_to(table, address);
    if ((at > 0 && table->entries[at - 1] == address) || table->entry_count == TOP_ENTRIES)
        return;
    memmove(table->entries + at + 1, table->entries + at,
            (table->entry_count - at) * sizeof(table->entries[0]));
    table->entries[at] = address;
    table->entry_count++;
    table->last.size = 0; /* it may have become shorter */
}

/** Code without a name is called by where it was entered, as in every other command. */
static void name_unnamed(struct top_table *table, uint64_t address, char name[TOP_NAME])
{
    const size_t count = entries_to(table, address);
    if (count == 0)
        return;
    const uint64_t start = table->entries[count - 1];
    snprintf(name, TOP_NAME, "[%" PRIx64 "]", start);
    table->last = (struct pug_symbol){.start = start, .size = address - start + 1};
}

static size_t function_at(struct top_table *table, uint64_t address)
{
    struct pug_symbol symbol;
    char name[TOP_NAME] = "[unknown]";
    if (table->last.size > 0 && address >= table->last.start &&
        address - table->last.start < table->last.size)
        return table->last_function;
    table->last.size = 0;
    if (table->image && pug_image_symbol(table->image, address, &symbol)) {
        strncpy(name, symbol.name, sizeof(name) - 1);
        name[sizeof(name) - 1] = 0;
        table->last = symbol;
    } else {
        name_unnamed(table, address, name);
    }
    return table->last_function = slot_of(table, *name ? name : "[unknown]");
}

static void count_at(struct top_table *table, uint64_t address, uint64_t weight)
{
    table->functions[function_at(table, address)].all += weight;
    table->all += weight;
}

/* ---- interrupts ---- */

static struct top_interrupt *interrupt_of(struct top_table *table, uint16_t number)
{
    for (size_t i = 0; i < table->interrupt_count; i++)
        if (table->interrupts[i].number == number)
            return &table->interrupts[i];
    if (table->interrupt_count == TOP_INTERRUPTS)
        return NULL;
    struct top_interrupt *interrupt = &table->interrupts[table->interrupt_count++];
    interrupt->number = number;
    return interrupt;
}

static void leave(struct top_interrupt *interrupt, const struct pug_dwt_event *event)
{
    const uint64_t begun = interrupt->entered;
    interrupt->entered = 0;
    if (!begun || !event->has_time || event->time < begun - 1)
        return;
    const uint64_t cycles = event->time - (begun - 1);
    interrupt->timed++;
    interrupt->total += cycles;
    interrupt->longest = cycles > interrupt->longest ? cycles : interrupt->longest;
}

static void take_exception(struct top_table *table, const struct pug_dwt_event *event)
{
    struct top_interrupt *interrupt = event->number ? interrupt_of(table, event->number) : NULL;
    if (interrupt)
        interrupt->m_profile = true;
    if (event->action == PUG_DWT_ENTERED) {
        if (interrupt) {
            interrupt->count++;
            interrupt->entered = event->has_time ? event->time + 1 : 0;
        }
        table->nesting++;
        if (table->nesting > table->nesting_most)
            table->nesting_most = table->nesting;
    } else if (event->action == PUG_DWT_EXITED) {
        if (interrupt)
            leave(interrupt, event);
        table->nesting -= table->nesting > 0;
    } else if (event->action == PUG_DWT_RETURNED_TO && event->number == 0) {
        table->nesting = 0;
    }
}

/* ---- what comes ---- */

void top_table_element(struct top_table *table, const struct pug_element *e)
{
    struct top_interrupt *interrupt;
    table->elements++;
    switch (e->type) {
    case PUG_ELEM_TRACE_ON: table->enters = true; break;
    case PUG_ELEM_INSTR_RANGE:
        if (table->enters)
            enter(table, e->start);
        table->enters = e->last_subtype == PUG_SUB_BR_LINK && (e->flags & PUG_ELEM_EXECUTED);
        count_at(table, e->start, e->count);
        break;
    case PUG_ELEM_EXCEPTION:
        if ((interrupt = interrupt_of(table, (uint16_t)e->number)) != NULL)
            interrupt->count++;
        break;
    case PUG_ELEM_NO_SYNC: table->losses += e->index > 0; break;
    default: break;
    }
}

static void take_byte(struct top_port *port, char byte)
{
    port->bytes++;
    if (byte == '\n' || port->size == TOP_LINE - 1) {
        port->part[port->size] = 0;
        memcpy(port->line, port->part, port->size + 1);
        port->size = 0;
    }
    if (byte != '\n' && byte != '\r')
        port->part[port->size++] = byte;
}

static void take_data(struct top_table *table, const struct pug_dwt_event *event)
{
    struct top_watch *watch = &table->watches[event->comparator % PUG_DWT_COMPARATORS];
    watch->count++;
    watch->address = event->has_address ? event->address : watch->address;
    watch->has_value = event->has_value;
    watch->value = event->value;
    watch->write = event->write;
}

void top_table_event(struct top_table *table, const struct pug_dwt_event *event)
{
    table->losses += event->overflow;
    switch (event->kind) {
    case PUG_DWT_STIMULUS:
        for (unsigned i = 0; i < event->size && event->number < TOP_PORTS; i++)
            if ((char)(event->value >> 8 * i))
                take_byte(&table->ports[event->number], (char)(event->value >> 8 * i));
        break;
    case PUG_DWT_EXCEPTION: take_exception(table, event); break;
    case PUG_DWT_PC_SAMPLE:
        table->samples = true;
        count_at(table, event->pc, 1);
        break;
    case PUG_DWT_SLEEPING:
        table->samples = true;
        table->functions[slot_of(table, "[asleep]")].all++;
        table->all++;
        break;
    case PUG_DWT_COUNTERS:
        for (unsigned i = 0; i < 8; i++)
            table->counters[i] += event->counters >> i & 1;
        break;
    case PUG_DWT_DATA:
    case PUG_DWT_MATCH: take_data(table, event); break;
    default: break;
    }
}

void top_table_second(struct top_table *table, double seconds, double passed)
{
    for (size_t i = 0; i <= TOP_FUNCTIONS; i++) {
        struct top_function *function = &table->functions[i];
        function->now = function->all - function->before;
        function->before = function->all;
    }
    table->now = table->all - table->before;
    table->before = table->all;
    table->rate =
        passed > 0 ? (uint64_t)((double)(table->bytes - table->bytes_before) / passed) : 0;
    table->bytes_before = table->bytes;
    table->seconds = seconds;
}

/* ---- sorted ---- */

static int compare_names(const struct top_function *a, const struct top_function *b)
{
    return strcmp(a->name, b->name);
}

static int by_all(const void *left, const void *right)
{
    const struct top_function *a = *(struct top_function *const *)left;
    const struct top_function *b = *(struct top_function *const *)right;
    return a->all != b->all ? (a->all < b->all ? 1 : -1) : compare_names(a, b);
}

static int by_now(const void *left, const void *right)
{
    const struct top_function *a = *(struct top_function *const *)left;
    const struct top_function *b = *(struct top_function *const *)right;
    return a->now != b->now ? (a->now < b->now ? 1 : -1) : by_all(left, right);
}

static int by_name(const void *left, const void *right)
{
    return compare_names(*(struct top_function *const *)left, *(struct top_function *const *)right);
}

/** Those that ran, in order; free() it. NULL: no memory. */
static const struct top_function **sorted(const struct top_table *table, enum top_sort sort,
                                          size_t *count)
{
    static int (*const orders[])(const void *, const void *) = {by_now, by_all, by_name};
    const struct top_function **list = malloc((TOP_FUNCTIONS + 1) * sizeof(*list));
    *count = 0;
    for (size_t i = 0; list && i <= TOP_FUNCTIONS; i++)
        if (table->functions[i].all > 0)
            list[(*count)++] = &table->functions[i];
    if (list)
        qsort(list, *count, sizeof(*list), orders[sort]);
    return list;
}

static double share(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

/* ---- as text ---- */

#include "text/json.h"

#include <stdarg.h>
#include <stdio.h>

struct page {
    struct pug_sink *sink;
    unsigned left, columns; /* lines */
};

static void put_line(struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A line that is cut at the last column, and steers no terminal. */
static void put_line(struct page *page, const char *format, ...)
{
    char text[512];
    va_list args;
    if (page->left == 0)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (page->columns < sizeof(text))
        text[page->columns] = 0;
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
            *at = '?';
    pug_sink_text(page->sink, text);
    pug_sink_text(page->sink, "\n");
    page->left--;
}

static void put_functions(const struct top_table *table, struct page *page, enum top_sort sort,
                          unsigned rows)
{
    size_t count;
    const struct top_function **list = sorted(table, sort, &count);
    if (list && count > 0)
        put_line(page, "   now     all  %-12s function",
                 table->samples ? "samples" : "instructions");
    for (size_t i = 0; list && i < count && i + 1 < rows; i++)
        put_line(page, "%5.1f %% %5.1f %% %12" PRIu64 " %s", share(list[i]->now, table->now),
                 share(list[i]->all, table->all), list[i]->all, list[i]->name);
    free(list);
}

static void put_interrupts(const struct top_table *table, struct page *page, unsigned rows)
{
    char name[32];
    if (table->interrupt_count > 0)
        put_line(page, "interrupt          count    longest       mean        total  nesting %u/%u",
                 table->nesting, table->nesting_most);
    for (size_t i = 0; i < table->interrupt_count && i + 1 < rows; i++) {
        const struct top_interrupt *interrupt = &table->interrupts[i];
        if (!interrupt->m_profile ||
            pug_dwt_exception_name(interrupt->number, name, sizeof(name)) == 0)
            snprintf(name, sizeof(name), "%u", interrupt->number);
        if (interrupt->timed)
            put_line(page, "%-14s %9" PRIu64 " %10" PRIu64 " %10" PRIu64 " %12" PRIu64, name,
                     interrupt->count, interrupt->longest, interrupt->total / interrupt->timed,
                     interrupt->total);
        else
            put_line(page, "%-14s %9" PRIu64 "          -          -            -", name,
                     interrupt->count);
    }
}

static void put_ports(const struct top_table *table, struct page *page, unsigned rows)
{
    bool any = false;
    for (unsigned port = 0; port < TOP_PORTS && rows > 1; port++) {
        const struct top_port *at = &table->ports[port];
        if (at->bytes == 0)
            continue;
        if (!any)
            put_line(page, "port      bytes last line");
        any = true;
        put_line(page, "%4u %10" PRIu64 " %s", port, at->bytes, at->line);
        rows--;
    }
}

static void put_counters(const struct top_table *table, struct page *page)
{
    static const char *const names[] = {"CPI", "exception", "sleep", "LSU", "fold", "cycles"};
    char text[256] = "";
    size_t size = 0;
    for (unsigned i = 0; i < 6; i++)
        if (table->counters[i])
            size += (size_t)snprintf(text + size, sizeof(text) - size, "  %s %" PRIu64, names[i],
                                     table->counters[i]);
    if (size > 0)
        put_line(page, "counters wrapped:%s", text);
    for (unsigned i = 0; i < PUG_DWT_COMPARATORS; i++) {
        const struct top_watch *watch = &table->watches[i];
        if (watch->count == 0)
            continue;
        put_line(page,
                 "watchpoint %u: %" PRIu64 " accesses, the last one %s 0x%08" PRIx32
                 " value 0x%" PRIx32,
                 i, watch->count, watch->write ? "write" : "read", watch->address,
                 watch->has_value ? watch->value : 0);
    }
}

void top_table_print(const struct top_table *table, struct pug_sink *sink, unsigned rows,
                     unsigned columns, enum top_sort sort, const char *source)
{
    static const char *const sorts[] = {"now", "all", "name"};
    struct page page = {.sink = sink, .left = rows, .columns = columns};
    put_line(&page,
             "%.1f s, %" PRIu64 " bytes, %" PRIu64 " bytes a second, %" PRIu64 " losses, by %s%s%s",
             table->seconds, table->bytes, table->rate, table->losses, sorts[sort],
             *source ? ", source " : "", source);
    put_counters(table, &page);
    put_interrupts(table, &page, rows / 4 + 1);
    put_ports(table, &page, rows / 4 + 1);
    put_functions(table, &page, sort, page.left);
}

/* ---- as JSON ---- */

static void put_functions_json(const struct top_table *table, struct pug_json *json,
                               enum top_sort sort)
{
    size_t count;
    const struct top_function **list = sorted(table, sort, &count);
    pug_json_array(json, "functions");
    for (size_t i = 0; list && i < count; i++) {
        pug_json_object(json, NULL);
        pug_json_string(json, "name", list[i]->name);
        pug_json_number(json, "count", list[i]->all);
        pug_json_real(json, "share", share(list[i]->all, table->all));
        pug_json_real(json, "share_now", share(list[i]->now, table->now));
        pug_json_close(json);
    }
    pug_json_close(json);
    free(list);
}

static void put_interrupts_json(const struct top_table *table, struct pug_json *json)
{
    pug_json_array(json, "interrupts");
    for (size_t i = 0; i < table->interrupt_count; i++) {
        const struct top_interrupt *interrupt = &table->interrupts[i];
        char name[32] = "";
        if (interrupt->m_profile)
            pug_dwt_exception_name(interrupt->number, name, sizeof(name));
        pug_json_object(json, NULL);
        pug_json_number(json, "number", interrupt->number);
        pug_json_string(json, "name", name);
        pug_json_number(json, "count", interrupt->count);
        if (interrupt->timed) {
            pug_json_number(json, "longest", interrupt->longest);
            pug_json_number(json, "mean", interrupt->total / interrupt->timed);
            pug_json_number(json, "total", interrupt->total);
        }
        pug_json_close(json);
    }
    pug_json_close(json);
    pug_json_number(json, "nesting", table->nesting_most);
}

static void put_ports_json(const struct top_table *table, struct pug_json *json)
{
    pug_json_array(json, "ports");
    for (unsigned port = 0; port < TOP_PORTS; port++) {
        if (table->ports[port].bytes == 0)
            continue;
        pug_json_object(json, NULL);
        pug_json_number(json, "port", port);
        pug_json_number(json, "bytes", table->ports[port].bytes);
        pug_json_string(json, "line", table->ports[port].line);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_counters_json(const struct top_table *table, struct pug_json *json)
{
    static const char *const names[] = {"cpi", "exception", "sleep", "lsu", "fold", "cycles"};
    pug_json_object(json, "counters");
    for (unsigned i = 0; i < 6; i++)
        if (table->counters[i])
            pug_json_number(json, names[i], table->counters[i]);
    pug_json_close(json);
    pug_json_array(json, "watchpoints");
    for (unsigned i = 0; i < PUG_DWT_COMPARATORS; i++) {
        const struct top_watch *watch = &table->watches[i];
        if (watch->count == 0)
            continue;
        pug_json_object(json, NULL);
        pug_json_number(json, "comparator", i);
        pug_json_number(json, "count", watch->count);
        pug_json_hex(json, "address", watch->address);
        if (watch->has_value)
            pug_json_number(json, "value", watch->value);
        pug_json_bool(json, "write", watch->write);
        pug_json_close(json);
    }
    pug_json_close(json);
}

void top_table_json(const struct top_table *table, struct pug_sink *sink, enum top_sort sort)
{
    struct pug_json json = pug_json_begin(sink);
    pug_json_object(&json, NULL);
    pug_json_real(&json, "seconds", table->seconds);
    pug_json_number(&json, "trace_bytes", table->bytes);
    pug_json_number(&json, "bytes_a_second", table->rate);
    pug_json_number(&json, "losses", table->losses);
    pug_json_number(&json, "elements", table->elements);
    put_functions_json(table, &json, sort);
    put_interrupts_json(table, &json);
    put_ports_json(table, &json);
    put_counters_json(table, &json);
    pug_json_close(&json);
    pug_json_line(&json);
}
