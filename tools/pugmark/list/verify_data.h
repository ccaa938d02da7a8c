// SPDX-License-Identifier: MIT
/**
 * @file pugmark pc --verify: data trace, access by access, against the path that ran.
 */
#ifndef PUGMARK_TOOL_VERIFY_DATA_H
#define PUGMARK_TOOL_VERIFY_DATA_H

#include "pugmark/element.h"

#include <stdbool.h>

struct verify_data;

/** Of the path in this file. NULL: no memory. */
struct verify_data *verify_data_new(const char *path, uint32_t expansion);
void verify_data_free(struct verify_data *data);

/**
 * The next element of data that a processor's source gives. False, having printed how: it differs
 * from the path's next access there.
 */
bool verify_data_take(struct verify_data *data, unsigned cpu, const struct pug_element *element);
/** All were given. False, having printed which: the path has more of a processor that had any. */
bool verify_data_end(struct verify_data *data);
/** Returns how many were compared. */
uint64_t verify_data_count(const struct verify_data *data);

#endif
