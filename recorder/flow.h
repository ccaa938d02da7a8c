// SPDX-License-Identifier: MIT
/**
 * @file From an executed path to an ETMv4 / ETE unit: the caller names each instruction that ran,
 * the program image says what it was, and the flow tells the unit what it must trace.
 */
#ifndef PUG_RECORDER_FLOW_H
#define PUG_RECORDER_FLOW_H

#include "pugmark/image.h"
#include "pugmark/isa.h"
#include "recorder/etmv4.h"

struct rec_flow_config {
    const struct pug_image *image;
    struct pug_isa_config isa;
    struct rec_context context;
    bool ete;
    /* Once in so many instructions; 0 never. */
    uint32_t sync_once_in, timestamp_once_in, cycles_once_in, event_once_in, overflow_once_in;
    /* Once in so many taken branches; 0 never. */
    uint32_t source_once_in, q_once_in;
    uint64_t seed;
};

struct rec_flow;

struct rec_flow *rec_flow_new(const struct rec_flow_config *config, struct rec_etmv4 *unit);
void rec_flow_free(struct rec_flow *flow);

/** This instruction ran next. False: program memory is not there. */
bool rec_flow_step(struct rec_flow *flow, uint64_t pc, enum pug_isa isa);

/** Before the handler's first instruction: an exception, with the address to go on at later. */
void rec_flow_exception(struct rec_flow *flow, uint32_t number, uint64_t return_address);

/** The context changes before the next instruction. */
void rec_flow_context(struct rec_flow *flow, const struct rec_context *context);

void rec_flow_finish(struct rec_flow *flow);

#endif
