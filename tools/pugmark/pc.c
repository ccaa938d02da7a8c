// SPDX-License-Identifier: MIT
/** @file pugmark pc: the address of every executed instruction, one hexadecimal number a line. */
#include "command.h"
#include "input.h"
#include "output.h"
#include "pugmark/dwt.h"
#include "text_parts.h"
#include "verify.h"

#include <stdatomic.h>
#include <stdlib.h>

struct pc_options {
    struct input_options input;
    bool samples;
    struct verify_options verify;
};

static const struct option table[] = {
    {"samples", NULL, "the addresses of PC samples (N-Trace, DWT) instead", option_flag,
     offsetof(struct pc_options, samples)},
    {"verify", "PATH", "compare with the path that ran (docs/path-format.md)", option_string,
     offsetof(struct pc_options, verify.path)},
    {"tail", NULL, "of that: the trace may have lost its beginning", option_flag,
     offsetof(struct pc_options, verify.tail)},
};

#define ADDRESSES 256u /* that are taken from a walk at a time */

struct pc_state {
    struct input *input;
    struct pug_walk **walks; /* of each worker, made when it first needs one */
    atomic_bool failed;
};

static char *put_hex(char *at, uint64_t value)
{
    char digits[16];
    unsigned n = 0;
    do {
        digits[n++] = "0123456789abcdef"[value & 0xf];
        value >>= 4;
    } while (value);
    while (n > 0)
        *at++ = digits[--n];
    *at++ = '\n';
    return at;
}

static void put_pc(uint64_t address)
{
    char *room = output_room();
    output_took((size_t)(put_hex(room, address) - room));
}

/** A worker's walk; NULL: no memory. */
static struct pug_walk *walk_of(struct pc_state *state, unsigned worker)
{
    const struct pug_walk_config config = {.image = state->input->image};
    if (!state->walks[worker] && pug_walk_new(&config, &state->walks[worker]) != PUG_OK)
        state->failed = true;
    return state->walks[worker];
}

static void print_range(struct pug_walk *walk, const struct pug_element *range)
{
    uint64_t addresses[ADDRESSES];
    size_t count;
    (void)pug_walk_begin(walk, range);
    while ((count = pug_walk_addresses(walk, addresses, ADDRESSES)) > 0)
        for (size_t i = 0; i < count; i++)
            put_pc(addresses[i]);
}

/** An address that was sampled: N-Trace's events, a DWT's packets. */
static bool is_sample(const struct pug_element *e, uint64_t *address)
{
    bool event = e->type == PUG_ELEM_EVENT && e->reason == PUG_EVENT_PC_SAMPLE &&
                 (e->flags & PUG_ELEM_HAS_ADDRESS);
    struct pug_dwt_event dwt;
    *address = e->start;
    if (event || e->type != PUG_ELEM_ITMTRACE || e->reason != PUG_ITM_DWT ||
        !pug_dwt_meaning(e, &dwt) || dwt.kind != PUG_DWT_PC_SAMPLE)
        return event;
    *address = dwt.pc;
    return true;
}

static void print_samples(void *context, unsigned worker, const struct pug_element *elements,
                          size_t count)
{
    struct pc_state *state = context;
    uint64_t address;
    (void)worker;
    for (size_t i = 0; i < count; i++)
        if (is_sample(&elements[i], &address) && input_wants(state->input, elements[i].source))
            put_pc(address);
}

static void print_elements(void *context, unsigned worker, const struct pug_element *elements,
                           size_t count)
{
    struct pc_state *state = context;
    struct pug_walk *walk = walk_of(state, worker);
    for (size_t i = 0; walk && i < count; i++)
        if (elements[i].type == PUG_ELEM_INSTR_RANGE &&
            input_wants(state->input, elements[i].source))
            print_range(walk, &elements[i]);
}

static int pc_run(const struct command *self, int argc, char **argv)
{
    struct pc_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    if (options.verify.path)
        return verify_run(&options.input, &options.verify, argv[1]);
    struct input input;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    const unsigned jobs = input_jobs(&input);
    struct pc_state state = {.input = &input, .walks = calloc(jobs, sizeof(struct pug_walk *))};
    struct text_printer printer = {options.samples ? print_samples : print_elements, &state};
    const struct pug_parts parts = text_parts(&printer);
    int code = EXIT_INPUT;
    input.piece = TEXT_PIECE;
    if (state.walks && (options.samples ? input_tree(&input, true) : input_flow_tree(&input))) {
        input_run(&input, &parts, output_wanted);
        code = state.failed ? EXIT_FATAL : input_result(&input);
    }
    for (unsigned i = 0; state.walks && i < jobs; i++)
        pug_walk_free(state.walks[i]);
    free(state.walks);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_pc = {
    "pc", "INPUT", "print the address of every executed instruction, in order", pc_run};
