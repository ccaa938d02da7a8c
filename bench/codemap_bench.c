// SPDX-License-Identifier: MIT
/**
 * @file What a hop in the code map costs: nanoseconds for a block's link, for a link and a range
 * element, for a look-up by address, for a single instruction, and the same with memory from a
 * callback whose pages are checked again at each context change.
 *
 *     codemap_bench [BLOCKS [HOPS]]
 */
#include "bench.h"
#include "image/codemap.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BASE  0x400000u
#define WORDS 5u /* instructions a block */

static uint32_t *program;
static uint32_t program_size;

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Blocks of a few instructions that each end in a conditional branch to somewhere near. */
static void make_program(uint32_t blocks)
{
    program_size = blocks * WORDS * 4;
    program = malloc(program_size);
    for (uint32_t i = 0; i < blocks; i++) {
        for (uint32_t j = 0; j < WORDS - 1; j++)
            program[i * WORDS + j] = 0xd503201f;
        int32_t reach = blocks < 2000 ? (int32_t)blocks : 2000;
        int32_t to = (int32_t)i + (int32_t)(next_random() % (uint32_t)reach) - reach / 2;
        to = to < 0 ? to + (int32_t)blocks : to % (int32_t)blocks;
        if (i == blocks - 1)
            to = 0;
        uint32_t offset = (uint32_t)((to - (int32_t)i) * (int32_t)WORDS - (int32_t)WORDS + 1);
        program[i * WORDS + WORDS - 1] = i == blocks - 1 ? 0x14000000u | (offset & 0x3ffffff)
                                                         : 0x54000000u | (offset & 0x7ffff) << 5;
    }
}

static uint32_t read_program(void *context, uint64_t address, const struct pug_reader_space *space,
                             uint32_t wanted, uint8_t *buffer)
{
    (void)context;
    (void)space;
    if (address < BASE || address >= BASE + program_size)
        return 0;
    uint64_t left = BASE + program_size - address;
    uint32_t size = left < wanted ? (uint32_t)left : wanted;
    memcpy(buffer, (const uint8_t *)program + (address - BASE), size);
    return size;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* ---- the decoders' inner loops ---- */

static struct pug_element ring[256];

static uint64_t hop(struct pug_codemap *map, uint64_t hops)
{
    const struct pug_block *block = pug_codemap_block(map, BASE, PUG_ISA_A64, 0);
    uint64_t bits = 0, sum = 0;
    for (uint64_t i = 0; i < hops; i++) {
        bits = bits > 1 ? bits >> 1 : next_random() | 1;
        sum += block->count;
        block = pug_block_follow(map, block, !block->insn.conditional || (bits & 1));
    }
    return sum;
}

static uint64_t hop_and_push(struct pug_codemap *map, uint64_t hops)
{
    const struct pug_block *block = pug_codemap_block(map, BASE, PUG_ISA_A64, 0);
    struct pug_element blank = {.source = 1, .isa = PUG_ISA_A64};
    uint64_t bits = 0, address = BASE;
    for (uint64_t i = 0; i < hops; i++) {
        bits = bits > 1 ? bits >> 1 : next_random() | 1;
        bool taken = !block->insn.conditional || (bits & 1);
        struct pug_element *element = &ring[i % 256];
        *element = blank;
        element->type = PUG_ELEM_INSTR_RANGE;
        element->index = i;
        element->start = address;
        element->end = block->end;
        element->count = block->count;
        element->last_type = block->insn.type;
        element->last_subtype = block->insn.subtype;
        element->last_size = block->insn.size;
        element->flags = (uint16_t)((taken ? PUG_ELEM_EXECUTED : 0) |
                                    (block->insn.conditional ? PUG_ELEM_CONDITIONAL : 0));
        address = taken ? block->insn.target : block->end;
        block = pug_block_follow(map, block, taken);
    }
    return address;
}

static uint64_t look_up(struct pug_codemap *map, uint64_t hops)
{
    const struct pug_block *block = pug_codemap_block(map, BASE, PUG_ISA_A64, 0);
    uint64_t bits = 0;
    for (uint64_t i = 0; i < hops; i++) {
        bits = bits > 1 ? bits >> 1 : next_random() | 1;
        bool taken = !block->insn.conditional || (bits & 1);
        block = pug_codemap_block(map, taken ? block->insn.target : block->end, PUG_ISA_A64, 0);
    }
    return block->start;
}

static uint64_t single(struct pug_codemap *map, uint64_t hops)
{
    uint64_t address = BASE;
    for (uint64_t i = 0; i < hops; i++) {
        struct pug_insn insn;
        uint8_t it = 0;
        (void)pug_codemap_insn(map, address, PUG_ISA_A64, &it, &insn);
        address = insn.type == PUG_INSTR_BR && (i & 4) ? insn.target : address + insn.size;
        if (address >= BASE + program_size)
            address = BASE;
    }
    return address;
}

static uint64_t switching(struct pug_codemap *map, uint64_t hops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < hops; i += 10000) {
        pug_codemap_context_changed(map);
        sum += hop(map, 10000);
    }
    return sum;
}

static void measure(const char *what, const struct pug_image *image,
                    uint64_t (*run)(struct pug_codemap *, uint64_t), uint64_t hops)
{
    struct pug_codemap *map =
        pug_codemap_new(&(struct pug_codemap_config){.image = image, .limit = 64 << 20});
    double best = 0;
    volatile uint64_t result = 0;
    for (int pass = 0; pass < 4; pass++) {
        double start = now();
        result = result + run(map, hops);
        double each = (now() - start) / (double)hops;
        best = pass == 0 || each < best ? each : best;
    }
    struct pug_codemap_stats stats;
    pug_codemap_get_stats(map, &stats);
    printf("%-44s %7.2f ns  (%llu blocks made, %llu pages read, %zu KiB)\n", what, best,
           (unsigned long long)stats.blocks_made, (unsigned long long)stats.pages_read,
           stats.bytes / 1024);
    pug_codemap_free(map);
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments = bench_begin(argc, argv, "[BLOCKS [HOPS]]");
    uint32_t blocks = (uint32_t)bench_number(&arguments, 1, 2000);
    uint64_t hops = bench_number(&arguments, 2, 20000000);
    struct pug_place place = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new(), *asked = pug_image_new();
    make_program(blocks);
    pug_image_add_buffer(image, &place, BASE, program, program_size);
    pug_image_add_callback(asked, &place, 0, UINT64_MAX, read_program, NULL);
    printf("%u blocks of %u instructions, %llu hops, best of 4\n", blocks, WORDS,
           (unsigned long long)hops);
    measure("hop along a link", image, hop, hops);
    measure("hop and a range element", image, hop_and_push, hops);
    measure("look-up by address", image, look_up, hops);
    measure("single instruction", image, single, hops);
    measure("static memory, context changes every 10000", image, switching, hops);
    measure("callback: hop along a link", asked, hop, hops);
    measure("callback, context changes every 10000", asked, switching, hops);
    pug_image_free(image);
    pug_image_free(asked);
    free(program);
    return 0;
}
