// SPDX-License-Identifier: MIT
/** @file Any calls of the OpenCSD C API. */
#include "capi_calls.h"
#include "driver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct capi_calls calls;
    if (capi_calls_begin(&calls, data, size))
        while (capi_calls_next(&calls))
            ;
    capi_calls_end(&calls);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    return capi_calls_make(data, room, random);
}
