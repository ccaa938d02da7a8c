// SPDX-License-Identifier: MIT
/** @file pugmark pc: the address of every executed instruction, one hexadecimal number a line. */
#include "command.h"
#include "input.h"
#include "output.h"
#include "text_parts.h"

#include <stdlib.h>
#include <string.h>

struct pc_options {
    struct input_options input;
};

/* Ranges repeat: the instruction sizes of those seen last, by their place in a table. */
#define RANGES       4096u
#define RANGE_LENGTH 64u

struct range_sizes {
    uint64_t start, end;
    uint64_t space; /* what else tells two ranges apart: isa, context */
    uint8_t count;
    uint8_t sizes[RANGE_LENGTH];
};

struct pc_state {
    struct input *input;
    struct range_sizes **caches; /* of each worker, made when it first needs one */
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

/** The memory space that a range was executed in. */
static struct pug_reader_space space_of(const struct pug_element *range)
{
    return (struct pug_reader_space){
        .space = PUG_SPACE_ANY,
        .has_context_id = range->context_flags & PUG_CTX_CONTEXT_ID,
        .has_vmid = range->context_flags & PUG_CTX_VMID,
        .context_id = range->context_id,
        .vmid = range->vmid,
        .source = range->source,
    };
}

/** Size of the instruction at `address`; 0 where memory is not there. */
static unsigned size_at(const struct pc_state *state, const struct pug_element *range,
                        uint64_t address)
{
    uint8_t bytes[2];
    struct pug_reader_space space = space_of(range);
    if (pug_image_read(state->input->image, &space, address, bytes, 2) < 2)
        return 0;
    unsigned half = bytes[0] | (unsigned)bytes[1] << 8;
    if (range->isa == PUG_ISA_T32 || range->isa == PUG_ISA_TEE)
        return half >= 0xe800 ? 4 : 2;
    if ((half & 3) != 3)
        return 2;
    if ((half & 0x1c) != 0x1c)
        return 4;
    return (half & 0x3f) == 0x1f ? 6 : 8;
}

/** A worker's cache; NULL: no memory. */
static struct range_sizes *cache_of(const struct pc_state *state, unsigned worker)
{
    if (!state->caches[worker])
        state->caches[worker] = calloc(RANGES, sizeof(struct range_sizes));
    return state->caches[worker];
}

static void print_sized(const struct pc_state *state, unsigned worker,
                        const struct pug_element *range)
{
    struct range_sizes uncached, *const cache = cache_of(state, worker);
    uint64_t space = range->isa ^ (uint64_t)range->context_id << 8 ^ (uint64_t)range->vmid << 40;
    uint64_t slot = (range->start ^ range->end * 31 ^ space * 131) / 2 % RANGES;
    struct range_sizes *sizes = cache ? &cache[slot] : &uncached;
    bool cached = cache && sizes->count && sizes->start == range->start &&
                  sizes->end == range->end && sizes->space == space;
    if (!cached)
        *sizes = (struct range_sizes){.start = range->start, .end = range->end, .space = space};
    uint64_t address = range->start;
    for (uint32_t i = 0; i < range->count; i++) {
        unsigned size =
            cached && i < sizes->count ? sizes->sizes[i] : size_at(state, range, address);
        if (!cached && i < RANGE_LENGTH) {
            sizes->sizes[i] = (uint8_t)size;
            sizes->count = (uint8_t)(i + 1);
        }
        put_pc(address);
        if (size == 0)
            return;
        address += size;
    }
}

static void print_range(const struct pc_state *state, unsigned worker,
                        const struct pug_element *range)
{
    if (range->isa != PUG_ISA_A64 && range->isa != PUG_ISA_A32) {
        print_sized(state, worker, range);
        return;
    }
    for (uint32_t i = 0; i < range->count; i++)
        put_pc(range->start + 4 * (uint64_t)i);
}

static void print_elements(void *context, unsigned worker, const struct pug_element *elements,
                           size_t count)
{
    const struct pc_state *state = context;
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_INSTR_RANGE &&
            input_wants(state->input, elements[i].source))
            print_range(state, worker, &elements[i]);
}

static int pc_run(const struct command *self, int argc, char **argv)
{
    struct pc_options options = {0};
    const struct option_set sets[] = {INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 1, 1);
    if (end >= 0)
        return end;
    struct input input;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    const unsigned jobs = input_jobs(&input);
    struct pc_state state = {.input = &input, .caches = calloc(jobs, sizeof(*state.caches))};
    struct text_printer printer = {print_elements, &state};
    const struct pug_parts parts = text_parts(&printer);
    int code = EXIT_INPUT;
    input.piece = TEXT_PIECE;
    if (state.caches && input_flow_tree(&input)) {
        input_run(&input, &parts, output_wanted);
        code = input_result(&input);
    }
    for (unsigned i = 0; state.caches && i < jobs; i++)
        free(state.caches[i]);
    free(state.caches);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_pc = {
    "pc", "INPUT", "print the address of every executed instruction, in order", pc_run};
