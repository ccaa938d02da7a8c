// SPDX-License-Identifier: MIT
/** @file Paths of calls, added up: what `pugmark calls --summary` prints of a source. */
#ifndef PUGMARK_TOOL_CALLS_PATHS_H
#define PUGMARK_TOOL_CALLS_PATHS_H

#include "pugmark/calls.h"

/** A path of calls. */
struct call_path {
    struct call_path *parent, *child, *sibling;
    struct call_path *alike; /* next in the table, of those whose hash has the same end */
    uint64_t function;
    const char *name;
    bool exception;
    uint8_t numbers; /* enum pug_exception_numbers */
    uint32_t number;
    uint64_t calls, time, own_time, instructions;
};

/** All paths of a source. */
struct call_paths {
    struct call_path root;
    struct call_path **slots; /* by their hash */
    size_t count, slot_count;
    bool failed; /* memory ran out: they are not sorted */
};

/** Adds a call that begins or ends. Of too many paths the last ones count for their callers. */
void call_paths_take(struct call_paths *paths, const struct pug_call_event *event);

/**
 * Prints all paths, each before those that continue it, those with the most time first, and frees
 * them. False: out of memory.
 */
bool call_paths_print(struct call_paths *paths, const char *label, enum pug_time_unit unit);

#endif
