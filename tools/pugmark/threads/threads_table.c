// SPDX-License-Identifier: MIT
#include "common/output.h"
#include "text/json.h"
#include "threads_swo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void threads_table_begin(struct threads_table *table, bool json, bool csv, bool cycles,
                         const char *unit)
{
    *table = (struct threads_table){.json = json, .csv = csv, .cycles = cycles, .unit = unit};
}

void threads_table_add(struct threads_table *table, uint16_t source, const char *name,
                       bool has_value, uint64_t value, const char *kind,
                       const struct thread_tally *tally)
{
    struct threads_row *grown = realloc(table->rows, (table->count + 1) * sizeof(*grown));
    const size_t size = strlen(name) + 1;
    char *copy = grown ? malloc(size) : NULL;
    if (grown)
        table->rows = grown;
    if (!copy) {
        table->failed = true;
        return;
    }
    memcpy(copy, name, size);
    table->rows[table->count++] = (struct threads_row){.source = source,
                                                       .name = copy,
                                                       .kind = kind,
                                                       .has_value = has_value,
                                                       .value = value,
                                                       .tally = *tally};
}

static uint64_t weight_of(const struct threads_table *table, const struct threads_row *row)
{
    return table->cycles ? row->tally.cycles : row->tally.instructions;
}

/** Those that ran most first; where they ran alike, by name. */
static int by_instructions(const void *left, const void *right)
{
    const struct threads_row *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->tally.instructions != b->tally.instructions)
        return a->tally.instructions > b->tally.instructions ? -1 : 1;
    if (a->tally.cycles != b->tally.cycles)
        return a->tally.cycles > b->tally.cycles ? -1 : 1;
    return strcmp(a->name, b->name);
}

/** Hundredths of a percent, rounded down. */
static unsigned share_of(uint64_t part, uint64_t whole)
{
    while (whole >> 48) {
        whole >>= 1;
        part >>= 1;
    }
    return whole ? (unsigned)(part * 10000 / whole) : 0;
}

static void put_json(const struct threads_table *table, const struct threads_row *row,
                     unsigned share)
{
    struct pug_json json = pug_json_begin(output_sink());
    char percent[32];
    snprintf(percent, sizeof(percent), "%u.%02u", share / 100, share % 100);
    pug_json_object(&json, NULL);
    pug_json_number(&json, "source", row->source);
    pug_json_string(&json, "thread", row->name);
    pug_json_string(&json, "kind", row->kind);
    if (row->has_value)
        pug_json_hex(&json, "control_block", row->value);
    pug_json_string(&json, "share_percent", percent);
    pug_json_number(&json, "instructions", row->tally.instructions);
    if (table->cycles)
        pug_json_number(&json, "cycles", row->tally.cycles);
    pug_json_number(&json, "switches", row->tally.switches);
    pug_json_number(&json, "longest", row->tally.longest);
    pug_json_close(&json);
    pug_json_line(&json);
}

/** A name as a field of CSV: quoted, quotes doubled. */
void threads_put_field(const char *text)
{
    pug_sink_text(output_sink(), "\"");
    for (; *text; text++) {
        const char one[] = {*text, 0};
        pug_sink_printable(output_sink(), *text == '"' ? "\"\"" : one);
    }
    pug_sink_text(output_sink(), "\"");
}

static void put_csv(const struct threads_table *table, const struct threads_row *row,
                    unsigned share)
{
    output_text("%u,", row->source);
    threads_put_field(row->name);
    output_text(",%s,", row->kind);
    if (row->has_value)
        output_text("0x%" PRIx64, row->value);
    output_text(",%u.%02u,%" PRIu64 ",", share / 100, share % 100, row->tally.instructions);
    if (table->cycles)
        output_text("%" PRIu64, row->tally.cycles);
    output_text(",%" PRIu64 ",%" PRIu64 "\n", row->tally.switches, row->tally.longest);
}

static void put_text(const struct threads_table *table, const struct threads_row *row,
                     unsigned share)
{
    output_text("  %02x %8u.%02u %% %14" PRIu64 " %14" PRIu64 " %9" PRIu64 " %14" PRIu64 "  ",
                row->source, share / 100, share % 100, row->tally.instructions, row->tally.cycles,
                row->tally.switches, row->tally.longest);
    pug_sink_printable(output_sink(), row->name);
    if (strcmp(row->kind, "idle") == 0)
        pug_sink_text(output_sink(), "  (idle)");
    (void)table;
    pug_sink_text(output_sink(), "\n");
}

static void put_head(const struct threads_table *table)
{
    if (table->csv)
        output_text("source,thread,kind,control_block,share_percent,instructions,cycles,switches,"
                    "longest\n");
    else if (!table->json)
        output_text(" SRC      SHARE    INSTRUCTIONS         CYCLES  SWITCHES        LONGEST  "
                    "THREAD  (shares of %s)\n",
                    table->unit);
}

bool threads_table_end(struct threads_table *table)
{
    if (table->count > 0)
        qsort(table->rows, table->count, sizeof(*table->rows), by_instructions);
    put_head(table);
    for (size_t i = 0; i < table->count; i++) {
        const struct threads_row *row = &table->rows[i];
        uint64_t all = 0;
        for (size_t n = 0; n < table->count; n++)
            if (table->rows[n].source == row->source)
                all += weight_of(table, &table->rows[n]);
        const unsigned share = share_of(weight_of(table, row), all);
        if (table->json)
            put_json(table, row, share);
        else if (table->csv)
            put_csv(table, row, share);
        else
            put_text(table, row, share);
    }
    for (size_t i = 0; i < table->count; i++)
        free(table->rows[i].name);
    free(table->rows);
    return !table->failed;
}

void threads_put_switch(uint64_t index, uint16_t source, uint64_t time, const char *from,
                        const char *to, bool json, bool csv)
{
    if (json) {
        struct pug_json line = pug_json_begin(output_sink());
        pug_json_object(&line, NULL);
        pug_json_number(&line, "index", index);
        pug_json_number(&line, "source", source);
        pug_json_number(&line, "time", time);
        pug_json_string(&line, "from", from);
        pug_json_string(&line, "to", to);
        pug_json_close(&line);
        pug_json_line(&line);
        return;
    }
    output_text(csv ? "%" PRIu64 ",%02x,%" PRIu64 "," : "%10" PRIu64 "  %02x %14" PRIu64 "  ",
                index, source, time);
    if (csv) {
        threads_put_field(from);
        pug_sink_text(output_sink(), ",");
        threads_put_field(to);
    } else {
        pug_sink_printable(output_sink(), *from ? from : "(begin)");
        pug_sink_text(output_sink(), " -> ");
        pug_sink_printable(output_sink(), to);
    }
    pug_sink_text(output_sink(), "\n");
}
