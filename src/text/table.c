// SPDX-License-Identifier: MIT
#include "text/table.h"

#include "text/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    bool none;
    union {
        uint64_t number;
        double real;
        char *text;
    };
};

struct pug_table {
    const struct pug_column *columns;
    size_t column_count;
    struct cell *cells;
    size_t count, room;
    bool failed;
};

struct pug_table *pug_table_new(const struct pug_column *columns, size_t count)
{
    struct pug_table *table = calloc(1, sizeof(*table));
    if (table)
        *table = (struct pug_table){.columns = columns, .column_count = count};
    return table;
}

static const struct pug_column *column_of(const struct pug_table *table, size_t cell)
{
    return &table->columns[cell % table->column_count];
}

void pug_table_free(struct pug_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        if (column_of(table, i)->kind == PUG_CELL_TEXT && !table->cells[i].none)
            free(table->cells[i].text);
    free(table->cells);
    free(table);
}

/* When a cell could not be kept, no other one follows it in its column. */
static void add(struct pug_table *table, struct cell cell)
{
    if (table->failed)
        return;
    if (table->count == table->room) {
        size_t room = 2 * table->room + 64;
        struct cell *grown = realloc(table->cells, room * sizeof(*grown));
        if (!grown) {
            table->failed = true;
            return;
        }
        table->cells = grown;
        table->room = room;
    }
    table->cells[table->count++] = cell;
}

void pug_table_text(struct pug_table *table, const char *text)
{
    assert(table->failed || column_of(table, table->count)->kind == PUG_CELL_TEXT);
    size_t size = strlen(text) + 1, before = table->count;
    char *copy = malloc(size);
    table->failed |= !copy;
    if (copy)
        memcpy(copy, text, size);
    add(table, (struct cell){.text = copy});
    if (table->count == before)
        free(copy);
}

void pug_table_number(struct pug_table *table, uint64_t value)
{
    assert(table->failed || column_of(table, table->count)->kind == PUG_CELL_NUMBER ||
           column_of(table, table->count)->kind == PUG_CELL_HEX);
    add(table, (struct cell){.number = value});
}

void pug_table_real(struct pug_table *table, double value)
{
    assert(table->failed || column_of(table, table->count)->kind == PUG_CELL_REAL ||
           column_of(table, table->count)->kind == PUG_CELL_PERCENT);
    add(table, (struct cell){.real = value});
}

void pug_table_none(struct pug_table *table)
{
    add(table, (struct cell){.none = true});
}

/* ---- forms ---- */

static void put_words(const struct pug_column *column, const struct cell *cell,
                      struct pug_sink *sink)
{
    if (cell->none) {
        pug_sink_text(sink, "-");
        return;
    }
    switch (column->kind) {
    case PUG_CELL_TEXT: pug_sink_printable(sink, cell->text); break;
    case PUG_CELL_NUMBER: pug_sink_decimal(sink, cell->number); break;
    case PUG_CELL_HEX: pug_sink_format(sink, "0x%llx", (unsigned long long)cell->number); break;
    case PUG_CELL_PERCENT: pug_sink_format(sink, "%.2f %%", 100 * cell->real); break;
    case PUG_CELL_REAL: pug_sink_format(sink, "%.2f", cell->real); break;
    }
}

/** Columns that words take on a screen: characters, not bytes. */
static size_t width_of(const char *text, size_t size)
{
    size_t width = 0;
    for (size_t i = 0; i < size; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static void put_blanks(struct pug_sink *sink, size_t count)
{
    for (; count > 0; count--)
        pug_sink_put(sink, " ", 1);
}

/** The last column, if it is text, is not filled up: lines end where their words do. */
static void put_field(const struct pug_table *table, size_t column, const char *text, size_t size,
                      size_t width, struct pug_sink *sink)
{
    size_t blanks = width - width_of(text, size);
    bool is_text = table->columns[column].kind == PUG_CELL_TEXT;
    bool last = column + 1 == table->column_count;
    if (column > 0)
        put_blanks(sink, 2);
    if (!is_text)
        put_blanks(sink, blanks);
    pug_sink_put(sink, text, size);
    if (is_text && !last)
        put_blanks(sink, blanks);
    if (last)
        pug_sink_put(sink, "\n", 1);
}

static enum pug_status write_text(const struct pug_table *table, struct pug_sink *sink)
{
    size_t *widths = calloc(table->column_count, sizeof(*widths));
    struct pug_memory words = {0};
    struct pug_sink memory = pug_memory_sink(&words);
    for (size_t c = 0; widths && c < table->column_count; c++)
        widths[c] = strlen(table->columns[c].name);
    for (size_t i = 0; widths && i < table->count; i++) {
        words.count = 0;
        put_words(column_of(table, i), &table->cells[i], &memory);
        size_t width = width_of(words.bytes, words.count);
        if (width > widths[i % table->column_count])
            widths[i % table->column_count] = width;
    }
    if (!widths || words.failed) {
        free(words.bytes);
        free(widths);
        return PUG_ERR_MEM;
    }
    for (size_t c = 0; c < table->column_count; c++)
        put_field(table, c, table->columns[c].name, strlen(table->columns[c].name), widths[c],
                  sink);
    for (size_t i = 0; i < table->count; i++) {
        words.count = 0;
        put_words(column_of(table, i), &table->cells[i], &memory);
        put_field(table, i % table->column_count, words.bytes, words.count,
                  widths[i % table->column_count], sink);
    }
    free(words.bytes);
    free(widths);
    return PUG_OK;
}

static void put_json(const struct pug_column *column, const struct cell *cell,
                     struct pug_json *json)
{
    if (cell->none) {
        pug_json_null(json, column->name);
        return;
    }
    switch (column->kind) {
    case PUG_CELL_TEXT: pug_json_string(json, column->name, cell->text); break;
    case PUG_CELL_NUMBER: pug_json_number(json, column->name, cell->number); break;
    case PUG_CELL_HEX: pug_json_hex(json, column->name, cell->number); break;
    case PUG_CELL_PERCENT:
    case PUG_CELL_REAL: pug_json_real(json, column->name, cell->real); break;
    }
}

static void write_json(const struct pug_table *table, struct pug_sink *sink)
{
    struct pug_json json = pug_json_begin(sink);
    for (size_t i = 0; i < table->count; i++) {
        if (i % table->column_count == 0)
            pug_json_object(&json, NULL);
        put_json(column_of(table, i), &table->cells[i], &json);
        if ((i + 1) % table->column_count == 0) {
            pug_json_close(&json);
            pug_json_line(&json);
        }
    }
}

void pug_csv_field(struct pug_sink *sink, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        pug_sink_text(sink, text);
        return;
    }
    pug_sink_put(sink, "\"", 1);
    for (; *text; text++) {
        if (*text == '"')
            pug_sink_put(sink, "\"", 1);
        pug_sink_put(sink, text, 1);
    }
    pug_sink_put(sink, "\"", 1);
}

static void put_csv(const struct pug_column *column, const struct cell *cell, struct pug_sink *sink)
{
    if (cell->none)
        return;
    switch (column->kind) {
    case PUG_CELL_TEXT: pug_csv_field(sink, cell->text); break;
    case PUG_CELL_NUMBER: pug_sink_decimal(sink, cell->number); break;
    case PUG_CELL_HEX: pug_sink_format(sink, "0x%llx", (unsigned long long)cell->number); break;
    case PUG_CELL_PERCENT:
    case PUG_CELL_REAL: pug_sink_format(sink, "%.15g", cell->real); break;
    }
}

static void write_csv(const struct pug_table *table, struct pug_sink *sink)
{
    const size_t columns = table->column_count;
    const struct cell *cell = table->cells, *const end = cell + table->count;
    for (size_t c = 0; c < columns; c++) {
        pug_csv_field(sink, table->columns[c].name);
        pug_sink_text(sink, c + 1 < columns ? "," : "\n");
    }
    while (cell < end) {
        for (size_t c = 0; c < columns; c++) {
            put_csv(&table->columns[c], cell++, sink);
            pug_sink_text(sink, c + 1 < columns ? "," : "\n");
        }
    }
}

enum pug_status pug_table_write(const struct pug_table *table, enum pug_table_form form,
                                struct pug_sink *sink)
{
    if (table->failed)
        return PUG_ERR_MEM;
    assert(table->count % table->column_count == 0);
    switch (form) {
    case PUG_TABLE_TEXT: return write_text(table, sink);
    case PUG_TABLE_JSON: write_json(table, sink); break;
    case PUG_TABLE_CSV: write_csv(table, sink); break;
    }
    return PUG_OK;
}
