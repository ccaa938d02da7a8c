// SPDX-License-Identifier: MIT
/** @file ETE: configuration. Its packets are ETMv4's, with more types. */
#ifndef ARM_TRC_PKT_TYPES_ETE_H_INCLUDED
#define ARM_TRC_PKT_TYPES_ETE_H_INCLUDED

#include "opencsd/ocsd_if_types.h"

typedef struct _ocsd_ete_cfg {
    uint32_t reg_idr0;
    uint32_t reg_idr1;
    uint32_t reg_idr2;
    uint32_t reg_idr8;
    uint32_t reg_devarch;
    uint32_t reg_configr;
    uint32_t reg_traceidr;
    ocsd_arch_version_t arch_ver;
    ocsd_core_profile_t core_prof;
} ocsd_ete_cfg;

#define ETE_ARCH_VERSION 0x5

/** A source address range is split at the N atoms inside it. */
#define ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS 0x00010000

#endif
