// SPDX-License-Identifier: MIT
/**
 * @file pugmark calls: the functions that ran, as a tree, with the times that the trace has.
 *
 *     SRC         TIME         TOOK        INSNS  CALLS
 *      01          303                            main() {
 *      01          346          118           26    f0();
 *      01          467          164           40  }
 *
 * A function that calls none is one line; others have a line where they begin and one where they
 * end. With --summary each path of calls is one line, however often it was gone.
 */
#include "call_stack.h"
#include "command.h"
#include "input.h"
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT_LIMIT 64u        /* deeper calls stay in that column */
#define PATH_LIMIT   (1u << 20) /* paths of a summary */

struct calls_options {
    struct input_options input;
    bool summary;
};

static const struct option table[] = {
    {"summary", NULL, "one line for each path of calls: how often, time in all, own time",
     option_flag, offsetof(struct calls_options, summary)},
};

/** A path of calls, in the summary. */
struct path {
    struct path *parent, *child, *sibling;
    uint64_t function;
    const char *name;
    bool exception;
    uint32_t number;
    uint64_t calls, time, own_time, instructions;
};

/** A source, and what is printed of it. */
struct followed {
    struct call_stack stack;
    struct call_listener listener;
    bool held; /* the line of the top frame is not printed yet: it may be a leaf's */
    struct path root;
    size_t paths;
};

struct calls {
    struct input *input;
    bool summary;
    struct followed **sources;
    size_t count;
    bool failed;
};

/* ---- lines ---- */

static void put_number(bool known, uint64_t value)
{
    if (known)
        output_text(" %12" PRIu64, value);
    else
        output_text(" %12s", "");
}

/** The columns in front of the tree, and the indentation. */
static void begin_line(const struct call_stack *stack, uint64_t time, bool has_took, uint64_t took,
                       uint64_t ran, uint32_t depth)
{
    output_text("  %02x", stack->source);
    put_number(stack->has_time, time);
    put_number(stack->has_time && has_took, took);
    put_number(has_took, ran);
    output_text("  %*s", (int)(2 * (depth < INDENT_LIMIT ? depth : INDENT_LIMIT)), "");
}

static void put_name(const char *name, uint64_t function, bool exception, uint32_t number)
{
    if (exception)
        output_text("[exception %u] ", number);
    if (name)
        output_text("%s()", name);
    else
        output_text("0x%" PRIx64 "()", function);
}

static void print_begin(struct followed *followed, const struct call_frame *frame, uint32_t depth)
{
    begin_line(&followed->stack, frame->time, false, 0, 0, depth);
    put_name(frame->name, frame->start, frame->exception, frame->number);
    output_text(" {\n");
    followed->held = false;
}

static void on_enter(void *context, struct call_stack *stack, struct call_frame *frame)
{
    struct followed *followed = context;
    if (followed->held)
        print_begin(followed, frame - 1, stack->depth - 2);
    followed->held = true;
}

static void on_leave(void *context, struct call_stack *stack, struct call_frame *frame, bool ended)
{
    struct followed *followed = context;
    uint32_t depth = stack->depth - 1;
    begin_line(stack, followed->held ? frame->time : stack->time, true, stack->time - frame->time,
               stack->instructions - frame->instructions, depth);
    if (followed->held) {
        put_name(frame->name, frame->start, frame->exception, frame->number);
        output_text(";");
    } else {
        output_text("}");
    }
    output_text(ended ? "  /* the trace ends in it */\n" : "\n");
    followed->held = false;
}

static void on_gap(void *context, struct call_stack *stack)
{
    struct followed *followed = context;
    if (followed->held)
        print_begin(followed, &stack->frames[stack->depth - 1], stack->depth - 1);
    begin_line(stack, stack->time, false, 0, 0, stack->depth);
    output_text("/* trace is missing here */\n");
}

/* ---- the summary ---- */

static bool is_path(const struct path *path, const struct call_frame *frame)
{
    return path->function == frame->start && path->exception == frame->exception &&
           path->number == frame->number;
}

/** The path that a frame makes longer; the parent itself when there are too many. */
static struct path *path_of(struct followed *followed, struct path *parent,
                            const struct call_frame *frame)
{
    struct path *path = parent->child;
    while (path && !is_path(path, frame))
        path = path->sibling;
    if (path)
        return path;
    path = followed->paths < PATH_LIMIT ? calloc(1, sizeof(*path)) : NULL;
    if (!path)
        return parent;
    followed->paths++;
    path->parent = parent;
    path->function = frame->start;
    path->name = frame->name;
    path->exception = frame->exception;
    path->number = frame->number;
    path->sibling = parent->child;
    parent->child = path;
    return path;
}

static void sum_enter(void *context, struct call_stack *stack, struct call_frame *frame)
{
    struct followed *followed = context;
    frame->user = path_of(followed, stack->depth > 1 ? (frame - 1)->user : &followed->root, frame);
}

static void sum_leave(void *context, struct call_stack *stack, struct call_frame *frame, bool ended)
{
    struct path *path = frame->user;
    (void)context;
    (void)ended;
    path->calls++;
    path->time += stack->time - frame->time;
    path->own_time += stack->time - frame->time - frame->of_callees_time;
    path->instructions += stack->instructions - frame->instructions;
}

static void sum_gap(void *context, struct call_stack *stack)
{
    (void)context;
    (void)stack;
}

static int by_time(const void *a, const void *b)
{
    const struct path *x = *(struct path *const *)a, *y = *(struct path *const *)b;
    uint64_t left = x->time ? x->time : x->instructions;
    uint64_t right = y->time ? y->time : y->instructions;
    if (left != right)
        return left < right ? 1 : -1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/** Children of a path by their time; they are freed. */
static void print_children(const struct followed *followed, struct path *parent, uint32_t depth)
{
    size_t count = 0;
    for (struct path *path = parent->child; path; path = path->sibling)
        count++;
    struct path **sorted = calloc(count + 1, sizeof(*sorted));
    if (!sorted)
        return;
    count = 0;
    for (struct path *path = parent->child; path; path = path->sibling)
        sorted[count++] = path;
    qsort(sorted, count, sizeof(*sorted), by_time);
    for (size_t i = 0; i < count; i++) {
        struct path *path = sorted[i];
        output_text("  %02x", followed->stack.source);
        put_number(true, path->calls);
        put_number(followed->stack.has_time, path->time);
        put_number(followed->stack.has_time, path->own_time);
        put_number(true, path->instructions);
        output_text("  %*s", (int)(2 * (depth < INDENT_LIMIT ? depth : INDENT_LIMIT)), "");
        put_name(path->name, path->function, path->exception, path->number);
        output_text("\n");
        print_children(followed, path, depth + 1);
        free(path);
    }
    free(sorted);
}

/* ---- sources ---- */

static struct followed *find_source(struct calls *calls, uint16_t id)
{
    for (size_t i = 0; i < calls->count; i++)
        if (calls->sources[i]->stack.source == id)
            return calls->sources[i];
    struct followed **grown = realloc(calls->sources, (calls->count + 1) * sizeof(*calls->sources));
    struct followed *followed = calloc(1, sizeof(*followed));
    if (grown)
        calls->sources = grown;
    if (!grown || !followed) {
        free(followed);
        calls->failed = true;
        return NULL;
    }
    followed->listener = calls->summary
                             ? (struct call_listener){followed, sum_enter, sum_leave, sum_gap}
                             : (struct call_listener){followed, on_enter, on_leave, on_gap};
    followed->stack.image = calls->input->image;
    followed->stack.listener = &followed->listener;
    followed->stack.source = id;
    calls->sources[calls->count++] = followed;
    return followed;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct calls *calls = context;
    struct followed *followed = NULL;
    (void)taken;
    for (size_t i = 0; i < count && !calls->failed; i++) {
        if (!followed || followed->stack.source != elements[i].source)
            followed = input_wants(calls->input, elements[i].source)
                           ? find_source(calls, elements[i].source)
                           : NULL;
        if (followed)
            call_stack_take(&followed->stack, &elements[i]);
    }
    return PUG_RESP_CONT;
}

static void print_head(const struct calls *calls)
{
    if (calls->summary)
        output_text(" SRC %12s %12s %12s %12s  %s\n", "CALLS", "TIME", "OWN TIME", "INSNS", "PATH");
    else
        output_text(" SRC %12s %12s %12s  %s\n", "TIME", "TOOK", "INSNS", "CALLS");
}

static void finish(struct calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        struct followed *followed = calls->sources[i];
        call_stack_end(&followed->stack);
        if (calls->summary)
            print_children(followed, &followed->root, 0);
        free(followed);
    }
    free(calls->sources);
}

static int calls_run(const struct command *self, int argc, char **argv)
{
    struct calls_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    struct input input;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    struct calls calls = {.input = &input, .summary = options.summary};
    int code = EXIT_INPUT;
    if (input_flow_tree(&input)) {
        print_head(&calls);
        pug_tree_on_elements(input.tree, on_elements, &calls);
        input_run(&input, NULL, output_wanted);
        code = calls.failed ? EXIT_FATAL : input_result(&input);
    }
    finish(&calls);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_calls = {
    "calls", "INPUT", "print the functions that ran as a tree, with their times", calls_run};
