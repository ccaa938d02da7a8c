// SPDX-License-Identifier: MIT
/**
 * @file A large generated A64 program, and the ETMv4 trace of its run: the data of the ETMv4
 * benchmark where no capture is at hand. Functions of a few blocks each call each other; most
 * conditional branches go one way nearly always, as those of real programs do.
 */
#ifndef PUG_BENCH_OWN_PROGRAM_H
#define PUG_BENCH_OWN_PROGRAM_H

#include "bench.h"
#include "recorder/etmv4.h"
#include "recorder/frames.h"

#define OWN_BASE      UINT64_C(0x400000)
#define OWN_FUNCTIONS 2048u
#define OWN_BLOCKS    6u /* in a function */
#define OWN_WORDS     6u /* instructions in a block */
#define OWN_DEPTH     24u

#define OWN_NOP  0xd503201fu
#define OWN_RET  0xd65f03c0u
#define OWN_B_EQ 0x54000000u
#define OWN_BL   0x94000000u

/** How a block ends: the last one returns, some call, all others skip one block or do not. */
static inline bool own_calls(unsigned function, unsigned block)
{
    return (function * 7 + block * 3) % 5 == 0;
}

static inline unsigned own_callee(unsigned function, unsigned block)
{
    return (function * 31 + block * 17 + 1) % OWN_FUNCTIONS;
}

static inline uint64_t own_address(unsigned function, unsigned block)
{
    return OWN_BASE + 4 * (uint64_t)OWN_WORDS * (function * OWN_BLOCKS + block);
}

static inline struct bench_bytes own_program(void)
{
    const size_t words = (size_t)OWN_FUNCTIONS * OWN_BLOCKS * OWN_WORDS;
    uint32_t *code = malloc(words * sizeof(*code));
    if (!code)
        exit(2);
    for (size_t i = 0; i < words; i++)
        code[i] = OWN_NOP;
    for (unsigned f = 0; f < OWN_FUNCTIONS; f++) {
        for (unsigned b = 0; b < OWN_BLOCKS; b++) {
            const size_t last = (size_t)(f * OWN_BLOCKS + b) * OWN_WORDS + OWN_WORDS - 1;
            const int64_t callee = (int64_t)own_callee(f, b) * OWN_BLOCKS * OWN_WORDS;
            if (b == OWN_BLOCKS - 1)
                code[last] = OWN_RET;
            else if (own_calls(f, b))
                code[last] = OWN_BL | ((uint32_t)(callee - (int64_t)last) & 0x3ffffff);
            else /* over the next block, if one follows it */
                code[last] = OWN_B_EQ | (b + 2 < OWN_BLOCKS ? OWN_WORDS + 1 : 1u) << 5;
        }
    }
    return (struct bench_bytes){(uint8_t *)code, words * sizeof(*code)};
}

/** Run so many blocks; the trace in frames of source 0x10. */
static inline struct bench_bytes own_trace(unsigned blocks)
{
    struct rec_bytes trace = {0}, framed = {0};
    struct rec_etmv4 *unit = rec_etmv4_new(
        &(struct rec_etmv4_config){.idr0 = 0x28000EA1, .idr2 = 0x00000488, .configr = 1}, &trace);
    struct rec_random random = {.state = 5};
    struct {
        unsigned function, block;
    } stack[OWN_DEPTH], at = {0, 0};
    unsigned depth = 0;
    if (!unit)
        exit(2);
    rec_etmv4_sync(unit);
    rec_etmv4_trace_on(unit);
    rec_etmv4_start(unit, OWN_BASE, false, &(struct rec_context){.sf = true, .ns = true});
    for (unsigned n = 0; n < blocks; n++) {
        const unsigned f = at.function, b = at.block;
        if (b == OWN_BLOCKS - 1) {
            if (depth > 0)
                at.function = stack[--depth].function, at.block = stack[depth].block;
            else /* without a caller: on to one of the first functions */
                at.function = (unsigned)rec_random_below(&random, 16), at.block = 0;
            rec_etmv4_indirect(unit, own_address(at.function, at.block), false);
        } else if (own_calls(f, b) && depth < OWN_DEPTH) {
            stack[depth].function = f;
            stack[depth++].block = b + 1;
            at.function = own_callee(f, b);
            at.block = 0;
            rec_etmv4_atom(unit, true);
        } else if (own_calls(f, b)) {
            depth = 0; /* too deep: it forgets who called */
            at.function = own_callee(f, b);
            at.block = 0;
            rec_etmv4_atom(unit, true);
        } else {
            const bool usual = (f + b) % 3 == 0;
            const bool taken = rec_random_once_in(&random, 16) ? !usual : usual;
            at.block += taken && b + 2 < OWN_BLOCKS ? 2 : 1;
            rec_etmv4_atom(unit, taken);
        }
    }
    rec_etmv4_finish(unit);
    rec_etmv4_free(unit);
    struct rec_frames frames = {.out = &framed};
    rec_frames_put(&frames, 0x10, trace.data, trace.size);
    rec_frames_finish(&frames);
    rec_bytes_free(&trace);
    return (struct bench_bytes){framed.data, framed.size};
}

#endif
