// SPDX-License-Identifier: MIT
/**
 * @file A line for each exception: how often its handler ran, how long, how often other handlers
 * preempted it, and how far apart its entries were.
 */
#include "interrupts.h"
#include "common/messages.h"

#include "common/command.h"
#include "events/sources.h"
#include "items/parts.h"
#include "swo_doubts.h"
#include "text/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct counting {
    struct swo_sources sources;
    bool failed;
};

static void on_event(struct swo_source *source, const struct pug_dwt_event *event)
{
    if (!source->user && (source->user = malloc(sizeof(struct pug_interrupts))) != NULL)
        pug_interrupts_init(source->user, NULL, NULL);
    if (source->user)
        pug_interrupts_take(source->user, event);
    else
        source->all->failed = true;
}

static bool take_item(void *context, const struct trace_item *item)
{
    struct counting *counting = context;
    if (!item->others)
        pug_swo_sources_take(&counting->sources, item->where, &item->element);
    return !counting->sources.failed;
}

/* ---- the table ---- */

static void put_times(struct pug_table *table, uint64_t count, uint64_t least, uint64_t total,
                      uint64_t most)
{
    if (count == 0) {
        pug_table_none(table);
        pug_table_none(table);
        pug_table_none(table);
        return;
    }
    pug_table_number(table, least);
    pug_table_number(table, total / count);
    pug_table_number(table, most);
}

static void put_row(struct pug_table *table, struct swo_source *source, unsigned number,
                    const struct pug_interrupt_sum *sum)
{
    char id[16], name[256];
    snprintf(id, sizeof(id), "0x%02x", source->id);
    pug_vectors_name(pug_swo_source_vectors(source), number, name, sizeof(name));
    pug_table_text(table, id);
    pug_table_number(table, number);
    pug_table_text(table, name);
    pug_table_number(table, sum->entries);
    put_times(table, sum->whole, sum->shortest, sum->total, sum->longest);
    if (sum->whole > 0) {
        pug_table_number(table, sum->total);
        pug_table_number(table, sum->own);
    } else {
        pug_table_none(table);
        pug_table_none(table);
    }
    put_times(table, sum->gaps, sum->gap_least, sum->gap_total, sum->gap_most);
    pug_table_number(table, sum->deepest);
    pug_table_number(table, sum->preempted);
    pug_table_number(table, sum->chained);
    pug_table_number(table, sum->cut);
    pug_table_number(table, sum->inexact);
}

static bool is_shown(const struct pug_interrupt_sum *sum)
{
    return sum->entries > 0 || sum->cut > 0;
}

static size_t put_rows(struct pug_table *table, struct counting *counting, bool with_unit)
{
    size_t rows = 0;
    for (size_t i = 0; i < counting->sources.count; i++) {
        struct swo_source *source = counting->sources.items[i];
        struct pug_interrupts *interrupts = source->user;
        if (!interrupts)
            continue;
        pug_interrupts_end(interrupts);
        for (unsigned number = 0; number < PUG_INTERRUPTS; number++) {
            if (!is_shown(&interrupts->sums[number]))
                continue;
            put_row(table, source, number, &interrupts->sums[number]);
            if (with_unit)
                pug_table_text(table, pug_swo_sources_unit(&counting->sources));
            rows++;
        }
    }
    return rows;
}

/** Say what the numbers rest on. */
static void say_doubts(const struct counting *counting)
{
    uint64_t losses = 0, contradictions = 0;
    for (size_t i = 0; i < counting->sources.count; i++) {
        const struct pug_interrupts *interrupts = counting->sources.items[i]->user;
        losses += interrupts ? interrupts->losses : 0;
        contradictions += interrupts ? interrupts->contradictions : 0;
    }
    if (losses > 0)
        message_say("pugmark: trace was lost %" PRIu64 " times: handlers that ran then are in the "
                    "column `cut`, and not in the times\n",
                    losses);
    if (contradictions > 0)
        message_say("pugmark: %" PRIu64
                    " exception packets do not follow from those before: some are "
                    "missing, and what was open is in the column `cut`\n",
                    contradictions);
}

static int put_table(struct counting *counting, const struct input *input, bool json,
                     struct pug_sink *sink)
{
    static const struct pug_column columns[] = {
        {"source", PUG_CELL_TEXT},          {"number", PUG_CELL_NUMBER},
        {"interrupt", PUG_CELL_TEXT},       {"count", PUG_CELL_NUMBER},
        {"shortest", PUG_CELL_NUMBER},      {"mean", PUG_CELL_NUMBER},
        {"longest", PUG_CELL_NUMBER},       {"total", PUG_CELL_NUMBER},
        {"own", PUG_CELL_NUMBER},           {"least interval", PUG_CELL_NUMBER},
        {"mean interval", PUG_CELL_NUMBER}, {"most interval", PUG_CELL_NUMBER},
        {"nesting", PUG_CELL_NUMBER},       {"preempted", PUG_CELL_NUMBER},
        {"tail-chained", PUG_CELL_NUMBER},  {"cut", PUG_CELL_NUMBER},
        {"inexact", PUG_CELL_NUMBER},       {"unit", PUG_CELL_TEXT},
    };
    const size_t count = sizeof(columns) / sizeof(columns[0]) - (json ? 0 : 1); /* text says it */
    struct pug_table *table = pug_table_new(columns, count);
    const size_t rows = table ? put_rows(table, counting, json) : 0;
    enum pug_status status = PUG_OK;
    if (!table) {
        status = PUG_ERR_MEM;
    } else if (rows > 0) {
        if (!json)
            pug_sink_format(sink, "Interrupts, times in %s\n",
                            pug_swo_sources_unit(&counting->sources));
        status = pug_table_write(table, json ? PUG_TABLE_JSON : PUG_TABLE_TEXT, sink);
    }
    pug_table_free(table);
    if (status != PUG_OK || rows > 0)
        return status == PUG_OK ? EXIT_DONE : EXIT_FATAL;
    message_say("pugmark: %s: no exception trace in it: a DWT sends it where DWT_CTRL.EXCTRCENA is "
                "set, and an ITM passes it on where ITM_TCR.TXENA is\n",
                pug_capture_path(input->capture));
    return EXIT_TRACE_ERRORS;
}

int interrupts_print(struct input *input, bool json, struct pug_sink *sink)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct counting counting = {.failed = false};
    pug_swo_sources_init(&counting.sources, input->capture, on_event, NULL);
    struct trace_parts parts = {.capture = input->capture,
                                .wanted = &wanted,
                                .print = take_item,
                                .print_context = &counting};
    struct pug_capture_decode decode = {.threads = 0};
    struct pug_capture_result result;
    pug_trace_parts_decode(&parts, &decode);
    int code = EXIT_INPUT;
    if (input_decode(input, &decode, NULL, &result)) {
        pug_swo_sources_end(&counting.sources);
        if (parts.failed || counting.sources.failed)
            input_starve(input);
        const int put = put_table(&counting, input, json, sink);
        if (!input->options->quiet)
            say_doubts(&counting);
        for (size_t i = 0; i < counting.sources.count; i++)
            if (counting.sources.items[i]->user)
                swo_doubts_tell(input->capture,
                                pug_interrupts_tick(counting.sources.items[i]->user),
                                input->options->quiet);
        code = input_result(input);
        code = code == EXIT_DONE ? put : code;
    }
    pug_swo_sources_free(&counting.sources);
    return code;
}
