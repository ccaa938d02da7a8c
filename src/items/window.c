// SPDX-License-Identifier: MIT
#include "items/window.h"

#include <stdlib.h>

void pug_trace_list_append(struct trace_list *list, struct trace_item *item)
{
    item->next = NULL;
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
}

struct trace_item *pug_trace_list_take(struct trace_list *list)
{
    struct trace_item *item = list->first;
    if (!item)
        return NULL;
    list->first = item->next;
    if (!list->first)
        list->last = NULL;
    return item;
}

static void let_fall(struct trace_window *window, struct trace_item *item)
{
    if (window->spare)
        pug_trace_list_append(window->spare, item);
    else
        free(item);
}

static void clear(struct trace_window *window, struct trace_list *list)
{
    struct trace_item *item;
    while ((item = pug_trace_list_take(list)) != NULL)
        let_fall(window, item);
}

/** The oldest item of the ring goes: to where it is still wanted, or away. */
static void let_go(struct trace_window *window)
{
    struct trace_item *item = pug_trace_list_take(&window->ring);
    window->ring_weight -= item->weight;
    if (window->boundary) {
        if (item == window->boundary)
            window->boundary = NULL;
        pug_trace_list_append(&window->saved, item);
    } else if (!window->found && window->head_weight < window->limits.after) {
        window->head_weight += item->weight;
        pug_trace_list_append(&window->head, item);
    } else {
        let_fall(window, item);
    }
}

/** A newer end: of what was saved for the last one nothing is left to want. */
static void end_here(struct trace_window *window, struct trace_item *item)
{
    clear(window, &window->saved);
    window->found = true;
    window->boundary = item;
    window->to_come = window->limits.after;
}

void pug_trace_window_push(struct trace_window *window, struct trace_item *item)
{
    const struct trace_window_limits *limits = &window->limits;
    pug_trace_list_append(&window->ring, item);
    window->ring_weight += item->weight;
    if (limits->all)
        return;
    if (limits->until_wanted && item->wanted && !(limits->first && window->found)) {
        end_here(window, item);
    } else if (window->to_come > 0) {
        window->boundary = item;
        window->to_come -= item->weight < window->to_come ? item->weight : window->to_come;
    }
    while (window->ring.first != item &&
           window->ring_weight - window->ring.first->weight >= limits->before)
        let_go(window);
}

/** Items in the order of the trace: a window's lists may have been filled by turns. */
static void push_all(struct trace_window *window, struct trace_list *list)
{
    while (list->first)
        pug_trace_window_push(window, pug_trace_list_take(list));
}

void pug_trace_window_append(struct trace_window *window, struct trace_window *behind)
{
    push_all(window, &behind->head);
    push_all(window, &behind->saved);
    push_all(window, &behind->ring);
}

struct trace_item *pug_trace_window_items(struct trace_window *window)
{
    if (!window->limits.until_wanted || window->limits.all)
        return window->ring.first;
    /* Behind the boundary nothing is wanted; before it the ring goes on from what was saved. */
    while (window->ring.first && window->boundary)
        let_go(window);
    return window->saved.first;
}

void pug_trace_window_clear(struct trace_window *window)
{
    clear(window, &window->head);
    clear(window, &window->saved);
    clear(window, &window->ring);
    *window = (struct trace_window){.limits = window->limits, .spare = window->spare};
}
