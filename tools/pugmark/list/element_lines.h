// SPDX-License-Identifier: MIT
/** @file An element as a line: text or CSV. JSON is in json_lines.h. */
#ifndef PUGMARK_TOOL_ELEMENT_LINES_H
#define PUGMARK_TOOL_ELEMENT_LINES_H

#include "pugmark/pugmark.h"

/**
 * Puts a line out. `front` comes first: columns of text, or for CSV, which end with a comma; "".
 */
void element_line_text(const struct pug_element *element, const char *front);
/** Writes the text with more words after it; NULL: none. */
void element_line_text_with(const struct pug_element *element, const char *front,
                            const char *behind);
void element_line_csv(const struct pug_element *element, const char *front);

#define ELEMENT_CSV_HEADER                                                                         \
    "index,source,type,isa,start,end_or_time,value,count_or_number,reason,last_type,"              \
    "last_subtype,last_size,flags,context_flags,level,security,context_id,vmid\n"

#endif
