// SPDX-License-Identifier: MIT
/** @file A little ETMv4 trace and its program, for the tests of the OpenCSD C API. */
#ifndef PUG_TESTS_CAPI_SESSION_H
#define PUG_TESTS_CAPI_SESSION_H

#include "support/words.h"

#include <opencsd/c_api/opencsd_c_api.h>

static const ocsd_etmv4_cfg session_config = {.reg_idr0 = 0x28000ea1,
                                              .reg_idr1 = 0x4100f403,
                                              .reg_idr2 = 0x488,
                                              .reg_configr = 0xc1,
                                              .reg_traceidr = 0x10,
                                              .arch_ver = ARCH_V8,
                                              .core_prof = profile_CortexA};

/* A64 at 0x4000: 4000 nop; 4004 bl 4010; 4008 b .; 400c nop; 4010 b.eq 4018; 4014 nop; 4018 ret */
static const uint32_t session_program[] = {LE32(0xd503201f), LE32(0x94000003), LE32(0x14000000),
                                           LE32(0xd503201f), LE32(0x54000040), LE32(0xd503201f),
                                           LE32(0xd65f03c0), LE32(0xd503201f)};

static const uint8_t session_trace[] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0x80, /* 0: ASYNC */
    0x01, 0x01, 0x00,                                                    /* 12: TRACE_INFO */
    0x04,                                                                /* 15: TRACE_ON */
    0x85, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x31, /* 16: 0x4000, EL1 NS A64 */
    0xf7,                                                       /* 26: E, bl */
    0xf6,                                                       /* 27: N, b.eq */
    0x02, 0x81, 0x01,                                           /* 28: TIMESTAMP 0x81 */
    0xf7,                                                       /* 31: E, ret */
};

/** A tree with one full ETMv4 decoder for the trace above. */
static inline dcd_tree_handle_t session_tree(ocsd_dcd_tree_src_t source)
{
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(source, OCSD_DFRMTR_FRAME_MEM_ALIGN);
    unsigned char id;
    ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER,
                           &session_config, &id);
    return tree;
}

#endif
