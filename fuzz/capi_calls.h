// SPDX-License-Identifier: MIT
/**
 * @file Any bytes as calls of the OpenCSD C API: trees, decoders, memory, data, printers, strings,
 * in any order that a client could use. A byte chooses the call; its arguments follow.
 */
#ifndef PUG_FUZZ_CAPI_CALLS_H
#define PUG_FUZZ_CAPI_CALLS_H

#include "recorder/bytes.h"

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capi_calls {
    const uint8_t *at, *end;
    dcd_tree_handle_t tree;
    struct rec_random waits;
    ocsd_trc_index_t index;
    uint64_t hash; /**< of all that was answered, delivered and printed */
    bool starved;  /**< an answer, or what was logged, said that there is no memory */
};

/** The first two bytes say which tree; false: there is none. */
bool capi_calls_begin(struct capi_calls *calls, const uint8_t *data, size_t size);

/** One call; false: no bytes are left. */
bool capi_calls_next(struct capi_calls *calls);

void capi_calls_end(struct capi_calls *calls);

/** Calls at random, and then the trace of the tests, in pieces; how many bytes. */
size_t capi_calls_make(uint8_t *data, size_t room, struct rec_random *random);

#endif
