// SPDX-License-Identifier: MIT
/** @file An element as a line: text, JSON, or CSV. */
#ifndef PUGMARK_TOOL_ELEMENT_LINES_H
#define PUGMARK_TOOL_ELEMENT_LINES_H

#include "pugmark/pugmark.h"

/**
 * Puts a line out. `front` comes first: text of a few columns, names and values that end with ", "
 * (JSON), columns that end with a comma (CSV); "" where there is nothing.
 */
typedef void element_line_fn(const struct pug_element *element, const char *front);
element_line_fn element_line_text, element_line_json, element_line_csv;

#define ELEMENT_CSV_HEADER                                                                         \
    "index,source,type,isa,start,end_or_time,value,count_or_number,reason,last_type,"              \
    "last_subtype,last_size,flags,context_flags,level,security,context_id,vmid\n"

#endif
