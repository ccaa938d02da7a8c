// SPDX-License-Identifier: MIT
/**
 * @file What the tests of the OpenCSD C API's binary interface share: its headers, and values. They
 * are compiled a second time with OCSD_STRICT_1_3 by tests/run/capi_headers.sh, there also against
 * the reference's own headers where they are.
 */
#ifndef PUG_TEST_CAPI_ABI_H
#define PUG_TEST_CAPI_ABI_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <opencsd/c_api/opencsd_c_api.h>
#ifndef OCSD_STRICT_1_3
#include <opencsd/c_api/ocsd_c_api_cust_fact.h>
#include <opencsd/c_api/ocsd_c_api_cust_impl.h>
#include <opencsd/itm/trc_pkt_types_itm.h>
#endif

/** Layouts that grew with 1.4.0: the one of 1.8.0, the one of 1.3.3. */
#ifdef OCSD_STRICT_1_3
#define SINCE_1_4(new_value, old_value) (old_value)
#else
#define SINCE_1_4(new_value, old_value) (new_value)
#endif

#define IS(name, value) assert_int_equal((long long)(name), (long long)(value))

#endif
