// SPDX-License-Identifier: MIT
/** @file pugmark list: of a part of the trace, found through an index. */
#include "common/command.h"
#include "common/messages.h"
#include "common/output.h"
#include "events/dwt_sources.h"
#include "index/index_input.h"
#include "list.h"
#include "pugmark/author/protocol.h"

/** May more of the window come from `at` on? */
static bool is_wanted(void *context, uint64_t at)
{
    const struct list_state *state = context;
    const struct list_options *options = state->options;
    if (!output_wanted())
        return false;
    if (options->window.count.given)
        return state->looking
                   ? (state->found ? state->seen - state->pivot < state->last : at < state->look_to)
                   : state->seen < state->last;
    if (state->looking)
        return !state->found && at < options->to;
    if (at < state->until)
        return true;
    const struct list_watch *watch = state->watches;
    for (size_t i = 0; watch && i < watch->count; i++)
        if (!watch->packets[i].past)
            return true;
    return false;
}

static bool is_among(uint16_t id, const uint16_t *ids, size_t count)
{
    size_t n = 0;
    while (n < count && ids[n] != id)
        n++;
    return n < count;
}

/** A source that the index has no byte of near the window has no packet that begins in it. */
static void excuse_silent(struct list_state *state, const struct pug_index *index)
{
    const struct list_options *options = state->options;
    struct pug_index_info info;
    uint16_t ids[PUG_INDEX_SOURCE_LIMIT];
    pug_index_info(index, &info);
    if (info.indexed != state->input->trace_size)
        return;
    /* bytes of a run may lie in the block after that of its first */
    const uint64_t from = options->from > info.block ? options->from - info.block : 0;
    const size_t count = pug_index_active(index, from, options->to, ids, PUG_INDEX_SOURCE_LIMIT);
    struct list_watch *watch = state->watches;
    for (size_t i = 0; watch && i < watch->count; i++)
        watch->packets[i].past |= !is_among(watch->packets[i].id, ids, count);
}

/**
 * What is wrong with the trace elsewhere depends on what an index spares to read. The places of
 * counted lines are unknown in advance: elements show them, and no messages.
 */
static void narrow(struct list_state *state, const struct window *window)
{
    struct input *input = state->input;
    const bool counts = state->options->window.count.given, nothing = counts || state->looking;
    input_narrow(input, nothing ? 0 : window->from, nothing ? 0 : window->to);
}

/** Read what the window needs, from `at` on. */
static void read_window(struct list_state *state, struct window *window, bool elements, uint64_t at)
{
    narrow(state, window);
    list_attach(state, elements);
    excuse_silent(state, window->index);
    if (state->dwt && at > 0)
        pug_dwt_sources_forget(state->dwt);
    state->seen = state->pivot = state->unsure = 0;
    state->found = false;
    window_run(window, state->input, at, is_wanted, state);
    if (!state->looking && output_wanted())
        window_rest(window, state->input);
    list_detach(state);
    if (!state->found)
        state->pivot = state->seen;
    window_leave(window, state->input);
}

/** Events in words join packets, which may have begun before the window. */
static bool has_events(const struct input *input)
{
    const struct pug_capture_source *source;
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++)
        if (pug_dwt_sources_carries(pug_protocol_find(source->protocol)))
            return true;
    return false;
}

/** Where all has come that is listed before the pivot; events in words may come later. */
static uint64_t before_pivot(const struct list_state *state, const struct window *window)
{
    struct input *input = state->input;
    return state->options->packets || has_events(input) || !index_tree(input, true)
               ? UINT64_MAX
               : pug_index_settle(window->index, input->tree, input->trace, input->trace_size, 0,
                                  state->pivot_at);
}

/** How far before the window to begin so that all is known that it needs. */
static bool find_margin(struct list_state *state, struct window *window, bool elements,
                        uint64_t *margin)
{
    const struct window_options *options = &state->options->window;
    struct pug_index_info info;
    uint64_t at, count = options->count.given ? options->count.value : 0;
    pug_index_info(window->index, &info);
    state->counts = state->looking = true;
    /* only events in words are unknown before what follows the pivot */
    state->last = has_events(state->input) ? count : 0;
    state->look_to = elements ? before_pivot(state, window) : UINT64_MAX;
    for (uint64_t next = info.block;; next *= 4) {
        *margin = next;
        if (!window_enter(window, state->input, elements, state->pivot_at, next, &at))
            return false;
        read_window(state, window, elements, at);
        if (at == 0 || (state->pivot >= count && state->pivot - count >= state->unsure))
            break;
    }
    state->looking = false;
    state->first = state->pivot > count ? state->pivot - count : 0;
    state->last = UINT64_MAX;
    if (options->count.given && count < UINT64_MAX - state->pivot)
        state->last = state->pivot + count;
    if (!options->count.given)
        state->first = 0;
    return true;
}

/** List the buffer at hand. */
static int list_near(struct list_state *state, struct list_options *options, bool elements)
{
    struct window window = {.from = options->from, .to = options->to};
    uint64_t margin = 0, at;
    if (!window_open(&window, state->input, &options->window, elements))
        return EXIT_INPUT;
    state->dated = window.dated;
    narrow(state, &window);
    if (!window.dated) {
        window_close(&window);
        return EXIT_DONE;
    }
    options->from = window.from;
    options->to = window.to;
    state->pivot_at = options->window.count.given ? options->window.around.value : window.from;
    state->until = elements ? window_settled(&window, state->input, options->from, options->to,
                                             !options->packets)
                            : options->to;
    bool good = true;
    if (options->window.count.given || (elements && has_events(state->input)))
        good = find_margin(state, &window, elements, &margin);
    good = good && window_enter(&window, state->input, elements, state->pivot_at, margin, &at);
    bool all = good && at == 0 && state->until == UINT64_MAX && !state->counts;
    if (good && !all) {
        list_head(state, state->input->segment);
        read_window(state, &window, elements, at);
    }
    window_close(&window);
    if (all) /* by all threads, and with what there is to say of the trace */
        return list_segment(state, elements);
    return good ? input_result(state->input) : EXIT_INPUT;
}

int list_window(struct list_state *state, struct list_options *options, bool elements)
{
    const struct list_state fresh = *state;
    const uint64_t from = options->from, to = options->to;
    int code, worst = EXIT_DONE;
    bool dated = false;
    if (!index_is_of_one(state->input, "--index", options->window.index))
        return EXIT_USAGE;
    do {
        *state = fresh;
        options->from = from;
        options->to = to;
        code = list_near(state, options, elements);
        worst = code > worst ? code : worst;
        dated |= state->dated || code > EXIT_TRACE_ERRORS;
    } while (output_wanted() && input_next(state->input));
    if (dated)
        return worst;
    message_say("pugmark: nothing has a timestamp of %s or later\n", options->window.from_time);
    return worst > EXIT_TRACE_ERRORS ? worst : EXIT_TRACE_ERRORS;
}
