// SPDX-License-Identifier: MIT
#include "window.h"
#include "common/messages.h"

#include "index_input.h"
#include "input/input_lists.h"
#include "tree/embed.h"

/* Bytes handed to the tree at once. */
#define PIECE (UINT64_C(1) << 16)
/* A gap up to this size before a window is read in a row. */
#define FAR (UINT64_C(1) << 20)
/* An index of a part covers this much after the window. */
#define MARGIN (UINT64_C(1) << 20)

const struct option window_option_table[] = {
    OPTION_GROUP("A part of the trace"),
    {"from-time", "T",
     "from the first timestamp of T or later on: seconds.fraction, or a number in the unit that "
     "info names",
     option_string, offsetof(struct window_options, from_time)},
    {"to-time", "T", "up to the first timestamp behind T; the same", option_string,
     offsetof(struct window_options, to_time)},
    {"around", "OFFSET", "what begins near this trace offset", option_given,
     offsetof(struct window_options, around)},
    {"radius", "BYTES", "how near (default: 1024)", option_given,
     offsetof(struct window_options, radius)},
    {"count", "N", "instead of near: the N listed before it and the N from it on",
     option_some_given, offsetof(struct window_options, count)},
    {"index", "FILE", "the index file (default: the trace's name and .pugindex)", option_string,
     offsetof(struct window_options, index)},
};
const size_t window_option_count = sizeof(window_option_table) / sizeof(window_option_table[0]);

bool window_wanted(const struct window_options *options)
{
    return options->from_time || options->to_time || options->around.given;
}

bool window_take_times(struct window_options *options, const struct input *input)
{
    return (!options->from_time ||
            input_lists_timestamp(input->capture, "--from-time", options->from_time, false,
                                  &options->first)) &&
           (!options->to_time || input_lists_timestamp(input->capture, "--to-time",
                                                       options->to_time, true, &options->behind));
}

/** Where the first timestamp of at least `time` is that a source, or any, has. */
static enum pug_status find_time_of(const struct input *input, const struct pug_index *index,
                                    uint32_t source, uint64_t time, uint64_t *at)
{
    struct pug_index_mark mark;
    const struct pug_index_query query = {
        .kind = PUG_MARK_TIMESTAMP, .source = source, .least = time, .greatest = UINT64_MAX};
    const enum pug_status status = index_find_time(index, input, &query, &mark);
    if (status == PUG_OK)
        *at = mark.at;
    return status;
}

/**
 * Of chosen sources, whose clocks may differ, the first place or the `last` one; beyond everything
 * if none has such a time. False, having said it: the index is of a capture that has changed.
 */
static bool find_time(const struct input *input, const struct pug_index *index, uint64_t time,
                      bool last, uint64_t *at)
{
    const struct option_list *wanted = &input->options->sources;
    enum pug_status status = PUG_OK;
    *at = UINT64_MAX;
    if (wanted->count == 0)
        status = find_time_of(input, index, PUG_INDEX_ANY, time, at);
    for (size_t i = 0; i < wanted->count && status != PUG_ERR_INDEX_FOREIGN; i++) {
        uint64_t id = 0, place = 0;
        (void)parse_number(wanted->items[i], &id);
        status = find_time_of(input, index, (uint32_t)id, time, &place);
        if (status == PUG_OK && (*at == UINT64_MAX || (place > *at) == last))
            *at = place;
    }
    if (status == PUG_ERR_INDEX_FOREIGN)
        message_say("pugmark: %s: %s\n", input->trace_path, pug_status_text(status));
    return status != PUG_ERR_INDEX_FOREIGN;
}

static void narrow(struct window *window, uint64_t from, uint64_t to)
{
    window->from = from > window->from ? from : window->from;
    window->to = to < window->to ? to : window->to;
}

void window_close(struct window *window)
{
    pug_index_tail_reads_free(&window->rest);
    pug_index_free(window->index);
    window->index = NULL;
}

/** Can a tree come to `begin` by the index as it is? Then what is before need not be decoded. */
static bool is_in_reach(const struct window *window, struct input *input, uint64_t begin)
{
    struct pug_index_info info;
    struct pug_tree *reached = NULL;
    uint64_t at;
    pug_index_info(window->index, &info);
    if (!index_tree(input, true))
        return false;
    const bool in_reach = pug_index_reach(window->index, input->tree, input->trace,
                                          input->trace_size, true, begin, &reached, &at) &&
                          begin - at <= 2 * info.block;
    pug_tree_free(reached);
    return in_reach && index_tree(input, false);
}

/** How much of the capture the index must have, if it lies in no file; 0: all. */
static uint64_t enough(const struct window *window, const struct window_options *options,
                       bool elements)
{
    const uint64_t end = options->count.given ? options->around.value : window->to;
    const bool all = !elements || options->from_time || options->to_time;
    return all || end > UINT64_MAX - MARGIN ? 0 : end + MARGIN;
}

bool window_open(struct window *window, struct input *input, const struct window_options *options,
                 bool elements)
{
    if (options->around.given && !options->count.given) {
        uint64_t at = options->around.value, radius = options->radius.value;
        narrow(window, at > radius ? at - radius : 0,
               at < UINT64_MAX - radius ? at + radius : UINT64_MAX);
    }
    struct pug_index *index = index_open(input, options->index, enough(window, options, elements));
    if (!index)
        return false;
    window->index = index;
    window->asked = options->index;
    uint64_t first = 0, behind = UINT64_MAX;
    if ((options->from_time && !find_time(input, index, options->first, false, &first)) ||
        (options->to_time && options->behind < UINT64_MAX &&
         !find_time(input, index, options->behind, true, &behind))) {
        window_close(window);
        return false;
    }
    window->dated = first < UINT64_MAX;
    narrow(window, first, behind);
    const uint64_t begin = options->count.given ? options->around.value : window->from;
    if (!elements || !window->dated || is_in_reach(window, input, begin) ||
        index_add_states(input, window->asked, begin, &window->index))
        return true;
    window_close(window);
    return false;
}

/**
 * Is it an index of all that could have more states? An index of a part could not show more by
 * them.
 */
static bool may_know_more(const struct window *window)
{
    struct pug_index_info info;
    pug_index_info(window->index, &info);
    return info.indexed == info.trace_size && info.states < info.indexed;
}

/**
 * For sources that fall silent after the window, the marks of the whole say where they continue.
 */
static bool find_rest(struct window *window, struct input *input, uint64_t from, uint64_t to)
{
    return pug_index_tail_reads_find(window->index, input->tree, input->trace, input->trace_size,
                                     from, to, &window->rest);
}

/** How far to read in a row; UINT64_MAX: that is not known. */
static uint64_t settled_near(struct window *window, struct input *input, uint64_t from, uint64_t to,
                             bool leaps)
{
    uint64_t settled = pug_index_settled(window->index, input->tree, from, to);
    if (settled < UINT64_MAX && settled - to < FAR)
        return settled;
    if (leaps && find_rest(window, input, from, to))
        return window->rest.until;
    if (settled < UINT64_MAX)
        return settled;
    settled =
        pug_index_settle(window->index, input->tree, input->trace, input->trace_size, from, to);
    if (settled == UINT64_MAX && leaps &&
        !pug_index_has_all_marks(window->index, input->trace_size) &&
        index_add_marks(input, &window->index) && index_tree(input, true) &&
        find_rest(window, input, from, to))
        settled = window->rest.until;
    return settled;
}

uint64_t window_settled(struct window *window, struct input *input, uint64_t from, uint64_t to,
                        bool leaps)
{
    if (to >= input->trace_size || !index_tree(input, true))
        return UINT64_MAX;
    const uint64_t settled = settled_near(window, input, from, to, leaps);
    if (settled == UINT64_MAX && may_know_more(window) &&
        index_add_states(input, window->asked, UINT64_MAX, &window->index) &&
        index_tree(input, true))
        return pug_index_settled(window->index, input->tree, from, to);
    return settled;
}

/** Reading with leaps needs a copy of the tree. */
static bool enter_at_begin(struct window *window, struct input *input)
{
    struct pug_tree *copy;
    if (window->rest.count == 0)
        return true;
    if (pug_tree_clone(input->tree, input->log, &copy) != PUG_OK)
        return false;
    window->model = input->tree;
    input->tree = copy;
    return true;
}

bool window_enter(struct window *window, struct input *input, bool elements, uint64_t before,
                  uint64_t margin, uint64_t *at)
{
    struct pug_tree *reached = NULL;
    *at = 0;
    window->model = NULL;
    if (!input_tree(input, elements))
        return false;
    if (before <= margin)
        return enter_at_begin(window, input);
    /* The index knows the state of all sources together. */
    pug_tree_enable_all(input->tree, true);
    if (pug_index_reach(window->index, input->tree, input->trace, input->trace_size, elements,
                        before - margin, &reached, at)) {
        window->model = input->tree;
        input->tree = reached;
        pug_tree_set_log(reached, input->log);
        return true;
    }
    *at = 0;
    return input_tree(input, elements) && enter_at_begin(window, input);
}

void window_leave(struct window *window, struct input *input)
{
    if (!window->model)
        return;
    pug_tree_free(input->tree);
    input->tree = window->model;
    window->model = NULL;
}

/** Bytes to hand to the tree at once. */
static size_t next_piece(const struct window *window, const struct input *input, uint64_t at)
{
    const uint64_t until = window->rest.until > at ? window->rest.until : input->trace_size;
    return (size_t)(until - at < PIECE ? until - at : PIECE);
}

/** That trace ends inside something is nothing of a window that does not go to its end. */
static enum pug_response end_tree(const struct window *window, const struct input *input)
{
    if (window->to < input->trace_size)
        pug_tree_set_log(input->tree, NULL);
    return pug_tree_end(input->tree);
}

void window_run(const struct window *window, struct input *input, uint64_t at,
                bool (*go_on)(void *context, uint64_t at), void *context)
{
    enum pug_response response = PUG_RESP_CONT;
    bool wanted = true;
    while (at < input->trace_size && PUG_RESP_IS_CONT(response) && (wanted = go_on(context, at))) {
        size_t used = 0;
        response =
            pug_tree_data(input->tree, at, input->trace + at, next_piece(window, input, at), &used);
        at += used;
        if (used == 0)
            break;
    }
    if (PUG_RESP_IS_CONT(response) && wanted)
        response = end_tree(window, input);
    input->fatal |= PUG_RESP_IS_FATAL(response);
}

void window_rest(struct window *window, struct input *input)
{
    if (window->rest.until > 0 && !input->fatal &&
        !pug_index_tail_reads_read(&window->rest, window->index, window->model, input->trace,
                                   &input->tree))
        input_starve(input);
}
