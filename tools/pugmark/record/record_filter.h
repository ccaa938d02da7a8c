// SPDX-License-Identifier: MIT
/** @file Functions and ranges that are to be traced; where functions are is known when they run. */
#ifndef PUGMARK_TOOL_RECORD_FILTER_H
#define PUGMARK_TOOL_RECORD_FILTER_H

#include "record_options.h"
#include "recorder/engine.h"

struct record_filter {
    const struct record_list *names;
    struct rec_range ranges[RECORD_LIST];
    char program[4096]; /**< the file that has the functions; "" not known yet */
    bool by_name;
    bool placed; /**< where `program` is, is known: moved by `bias` */
    uint64_t bias;
};

/** Ranges by number. False, having said so: one is neither a range nor can be a name. */
bool record_filter_begin(struct record_filter *filter, const struct record_list *names);

/** The program, or where it was mapped, may be what names wait for. False, having said so: there is
 *  no such function. */
bool record_filter_take(struct record_filter *filter, const struct rec_path_item *item);

/** Find the functions of a program that is where it was linked to be. */
bool record_filter_find(struct record_filter *filter, const char *program, uint64_t bias);

#endif
