// SPDX-License-Identifier: MIT
/** @file What an encoder and its decoder learn alike: predictor, jump cache, return stack. */
#include "recorder/etrace_state.h"

#include <string.h>

void rec_etrace_forget(struct rec_etrace *e)
{
    if (e->options.options.resync_disabled && !e->fresh)
        return;
    memset(e->predictor, 1, sizeof(e->predictor));
    memset(e->cached, 0, sizeof(e->cached));
    e->entries = 0;
}

bool rec_etrace_predict(struct rec_etrace *e, uint64_t pc, bool taken)
{
    unsigned mask = (1u << e->options.options.bpred_size) - 1;
    uint8_t *entry = &e->predictor[pc >> e->options.iaddress_lsb & mask];
    unsigned prediction = *entry >> 1, last = *entry & 1;
    bool correct = prediction == taken;
    *entry = (uint8_t)((prediction != last ? taken : prediction) << 1 | taken);
    return correct;
}

unsigned rec_etrace_cache_index(const struct rec_etrace *e, uint64_t address)
{
    return (unsigned)(address >> e->options.iaddress_lsb) &
           ((1u << e->options.options.cache_size) - 1);
}

void rec_etrace_learn(struct rec_etrace *e, uint64_t target)
{
    unsigned index = rec_etrace_cache_index(e, target);
    e->targets[index] = target;
    e->cached[index] = true;
}

static unsigned stack_limit(const struct rec_etrace *e)
{
    const struct pug_etrace_options *o = &e->options.options;
    unsigned size = o->return_stack_size > 0 ? o->return_stack_size : o->call_counter_size;
    return size > 0 ? 1u << size : 0;
}

void rec_etrace_push(struct rec_etrace *e, uint64_t address)
{
    const struct pug_etrace_options *o = &e->options.options;
    bool counted = o->return_stack_size > 0 && o->call_counter_size > 0 && o->irets;
    uint32_t limit = stack_limit(e), most = (1u << o->call_counter_size) - 1;
    if (limit == 0)
        return;
    struct rec_etrace_link *top = e->entries > 0 ? &e->stack[e->entries - 1] : NULL;
    if (counted && top && top->address == address && top->count < most) {
        top->count++;
        return;
    }
    if (e->entries == limit) {
        memmove(e->stack, e->stack + 1, (limit - 1) * sizeof(e->stack[0]));
        e->entries--;
    }
    e->stack[e->entries++] = (struct rec_etrace_link){.address = address};
}

void rec_etrace_pop(struct rec_etrace *e)
{
    struct rec_etrace_link *top = &e->stack[e->entries - 1];
    if (top->count > 0)
        top->count--;
    else
        e->entries--;
}
