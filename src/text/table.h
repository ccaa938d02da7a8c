// SPDX-License-Identifier: MIT
/**
 * @file Tables for people (columns lined up), spreadsheets (CSV) and programs (JSON lines): filled
 * once, a cell after the other, row by row, and written in any of these forms.
 *
 *     static const struct pug_column columns[] = {{"function", PUG_CELL_TEXT}, {"count", …NUMBER}};
 *     struct pug_table *table = pug_table_new(columns, 2);
 *     pug_table_text(table, name);
 *     pug_table_number(table, count);
 *     pug_table_write(table, PUG_TABLE_TEXT, &sink);
 */
#ifndef PUG_TEXT_TABLE_H
#define PUG_TEXT_TABLE_H

#include "text/sink.h"

#include "pugmark/status.h"

enum pug_cell_kind {
    PUG_CELL_TEXT,
    PUG_CELL_NUMBER,
    PUG_CELL_HEX,     /**< "0x…" */
    PUG_CELL_PERCENT, /**< of a share between 0 and 1; JSON and CSV have the share */
    PUG_CELL_REAL,    /**< with two digits; JSON and CSV have all */
};

struct pug_column {
    const char *name; /**< the heading; in JSON the key */
    enum pug_cell_kind kind;
};

enum pug_table_form { PUG_TABLE_TEXT, PUG_TABLE_JSON, PUG_TABLE_CSV };

struct pug_table;

/** Columns are borrowed. NULL: no memory. */
struct pug_table *pug_table_new(const struct pug_column *columns, size_t count);
void pug_table_free(struct pug_table *table);

/** The next cell; the column says which of these it is to be. The text is copied. */
void pug_table_text(struct pug_table *table, const char *text);
void pug_table_number(struct pug_table *table, uint64_t value); /**< NUMBER and HEX */
void pug_table_real(struct pug_table *table, double value);     /**< REAL and PERCENT */
/** A cell without a value: "-", null, nothing. */
void pug_table_none(struct pug_table *table);

/** Write all rows. PUG_ERR_MEM: there was no memory for some cell, and nothing is written. */
enum pug_status pug_table_write(const struct pug_table *table, enum pug_table_form form,
                                struct pug_sink *sink);

/** A CSV field, in quotes where it must be. */
void pug_csv_field(struct pug_sink *sink, const char *text);

#endif
