// SPDX-License-Identifier: MIT
/** @file The terminal of `pugmark top`: its size, its keys, and a page that is drawn over. */
#ifndef PUGMARK_TOOL_SCREEN_H
#define PUGMARK_TOOL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/** Is standard output a terminal that can be drawn on? */
bool screen_is_there(void);
/** Begin; keys are read from standard input where `keys`, one at a time. */
void screen_begin(bool keys);
void screen_end(void);
void screen_size(unsigned *rows, unsigned *columns);
/** Wait so long for a key; 0: none was pressed. */
int screen_key(int milliseconds);
/** Draw these lines over the page. */
void screen_draw(const char *text, size_t size);

#endif
