// SPDX-License-Identifier: MIT
/** @file The page of `pugmark debug`: source, instructions, call stack, and where they are. */
#ifndef PUGMARK_TOOL_DEBUG_VIEW_H
#define PUGMARK_TOOL_DEBUG_VIEW_H

#include "pugmark/disasm.h"
#include "pugmark/export.h"
#include "session.h"

#define VIEW_BREAKPOINTS 64u
#define VIEW_MARKS       26u

struct view {
    struct session *session;
    struct pug_disasm *disasm;       /**< or NULL */
    const struct pug_report *report; /**< whose source text may be shown */
    const char *title;               /**< of the input */
    char message[256];               /**< what the last key did */
    /* the file that is shown */
    char *path;
    char *text; /**< NULL: it cannot be had */
    size_t size;
    /* places of the user */
    struct pug_history_breakpoint breakpoints[VIEW_BREAKPOINTS];
    size_t breakpoint_count;
    uint64_t marks[VIEW_MARKS]; /**< position + 1 */
    /* what a page is made in */
    struct pug_memory page;
    unsigned columns;
};

/** Makes a page of so many lines and columns in view->page. */
void view_draw(struct view *view, unsigned rows, unsigned columns);
void view_free(struct view *view);

#endif
