// SPDX-License-Identifier: MIT
/**
 * @file A session with ETMv3, recorded by the test: the input of its decoder, and the beginning of
 * its trace.
 */
#ifndef PUG_TESTS_CAPI_ETMV3_SESSION_H
#define PUG_TESTS_CAPI_ETMV3_SESSION_H

#include "recorder/etmv3.h"

#include <opencsd/c_api/opencsd_c_api.h>

#define ETMV3_SESSION_ID   0x410cf250
#define ETMV3_SESSION_CODE 0x344008f2

/** `control`: ETMCR. */
static inline ocsd_etmv3_cfg etmv3_session_config(uint32_t control)
{
    return (ocsd_etmv3_cfg){.reg_idr = ETMV3_SESSION_ID,
                            .reg_ctrl = control,
                            .reg_ccer = ETMV3_SESSION_CODE,
                            .reg_trc_id = 0x10,
                            .arch_ver = ARCH_V7,
                            .core_prof = profile_CortexA};
}

/** Synchronised, in A32 at 0x4000. */
static inline void etmv3_session_begin(struct rec_etmv3 *unit, uint32_t control,
                                       struct rec_bytes *trace)
{
    const struct rec_etmv3_config config = {control, ETMV3_SESSION_ID, ETMV3_SESSION_CODE, false};
    rec_etmv3_begin(unit, &config, trace);
    rec_etmv3_a_sync(unit);
    rec_etmv3_isync(unit, &(struct rec_etmv3_isync){.address = 0x4000, .reason = 1});
}

#endif
