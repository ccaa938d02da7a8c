// SPDX-License-Identifier: MIT
/** @file E-Trace's data trace, as the engine's view of an E-Trace encoder needs it. */
#ifndef PUG_RECORDER_UNIT_ETRACE_DATA_H
#define PUG_RECORDER_UNIT_ETRACE_DATA_H

#include "recorder/etrace.h"
#include "recorder/unit.h"

#define REC_ETRACE_REQUESTS 64u

struct rec_etrace_accesses {
    struct rec_etrace_data encoder;
    struct rec_random random;
    struct pug_etrace_data *waiting; /**< accesses of the instruction that retired last */
    uint32_t count, room;
    struct pug_etrace_data requests[REC_ETRACE_REQUESTS]; /**< whose data come later, by lrid */
    bool requested[REC_ETRACE_REQUESTS];
    bool failed; /**< no memory */
};

/** The accesses for which an encoder has packets. */
struct rec_etrace_told {
    bool values;         /**< not addresses alone */
    unsigned data_width; /**< wider ones are not sent */
    unsigned kinds;      /**< 1: loads and stores; 2: also of several at once; 3: all */
};

/** As rec_unit_class.tells. An atomic instruction's value and operand must be known. */
uint32_t rec_etrace_tells(const struct rec_etrace_told *told, const uint8_t *bytes,
                          struct rec_path_access *accesses, uint32_t count);

/** The instruction retired; its accesses wait until it is encoded. */
void rec_etrace_accesses_take(struct rec_etrace_accesses *data, const struct rec_step *step);
/** It is encoded. `synced`: that synchronised; `last`: nothing follows it. */
void rec_etrace_accesses_put(struct rec_etrace_accesses *data, bool synced, bool last,
                             rec_payload_fn *put, void *context);

#endif
