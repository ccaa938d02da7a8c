// SPDX-License-Identifier: MIT
/** @file Trace, programs and configurations that the cases of edge_client share. */
#ifndef PUG_TESTS_CAPI_EDGE_TRACE_H
#define PUG_TESTS_CAPI_EDGE_TRACE_H

#include <opencsd/c_api/opencsd_c_api.h>

/* ETMv4 with trace ID 0x10, no options; the bytes of one session. */
static const uint8_t session[] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0x80, /* 0: ASYNC */
    0x01, 0x01, 0x00,                                                    /* 12: TRACE_INFO */
    0x04,                                                                /* 15: TRACE_ON */
    0x85, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x31, /* 16: 0x4000, EL1 NS A64 */
    0x02, 0x81, 0x01,                                           /* 26: TIMESTAMP */
    0x06, 0x02, 0x90,                                           /* 29: EXCEPTION, exact match */
    0x70,                                                       /* 32: reserved */
};

/* The same beginning, then atoms over the program. */
static const uint8_t flow[] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0x80, /* 0: ASYNC */
    0x01, 0x01, 0x00,                                                    /* 12: TRACE_INFO */
    0x04,                                                                /* 15: TRACE_ON */
    0x85, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x31, /* 16: 0x4000, EL1 NS A64 */
    0xf7,                                                       /* 26: E */
    0xf6,                                                       /* 27: N */
    0xf7,                                                       /* 28: E */
    0xf7,                                                       /* 29: E */
    0xfb,                                                       /* 30: three atoms */
    0xf7, 0xf7, 0xf7,                                           /* 31: beyond the program */
};

/* A64 at 0x4000. */
static const uint32_t program[] = {
    0xd503201f, /* 4000 nop */
    0x94000003, /* 4004 bl 4010 */
    0x14000000, /* 4008 b . */
    0xd503201f, /* 400c nop */
    0x54000040, /* 4010 b.eq 4018 */
    0xd503201f, /* 4014 nop */
    0xb4000040, /* 4018 cbz x0, 4020 */
    0xd65f03c0, /* 401c ret */
    0xd503201f, /* 4020 nop */
    0x17fffffa, /* 4024 b 400c */
    0xd503201f, /* 4028 nop */
    0xd503201f, /* 402c nop */
};
#define PROGRAM ((const uint8_t *)program)

static const ocsd_etmv4_cfg etmv4 = {.reg_idr0 = 0x28000ea1,
                                     .reg_idr1 = 0x4100f403,
                                     .reg_idr2 = 0x488,
                                     .reg_configr = 0xc1,
                                     .reg_traceidr = 0x10,
                                     .arch_ver = ARCH_V8,
                                     .core_prof = profile_CortexA};
static const ocsd_etmv3_cfg etmv3 = {.reg_idr = 0x410cf250,
                                     .reg_ctrl = 0x10001860,
                                     .reg_ccer = 0x344008f2,
                                     .reg_trc_id = 0x11,
                                     .arch_ver = ARCH_V7,
                                     .core_prof = profile_CortexA};
static const ocsd_ptm_cfg ptm = {.reg_idr = 0x411cf312,
                                 .reg_ctrl = 0x10001000,
                                 .reg_ccer = 0x34c01ac2,
                                 .reg_trc_id = 0x13,
                                 .arch_ver = ARCH_V7,
                                 .core_prof = profile_CortexA};
static const ocsd_stm_cfg stm = {.reg_tcsr = 0x00200005, .reg_feat3r = 0x10000, .reg_devid = 0xff};
static const ocsd_ete_cfg ete = {.reg_idr0 = 0x288006a1,
                                 .reg_idr1 = 0x4100fff0,
                                 .reg_idr2 = 0xc0001088,
                                 .reg_devarch = 0x47715a13,
                                 .reg_configr = 0x80,
                                 .reg_traceidr = 0x15,
                                 .arch_ver = ARCH_AA64,
                                 .core_prof = profile_CortexA};

#endif
