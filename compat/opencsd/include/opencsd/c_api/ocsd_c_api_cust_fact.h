// SPDX-License-Identifier: MIT
/** @file C API: the four functions of a decoder's factory, under the names that authors use. */
#ifndef ARM_OCSD_C_API_CUST_FACT_H_INCLUDED
#define ARM_OCSD_C_API_CUST_FACT_H_INCLUDED

#include "opencsd/c_api/ocsd_c_api_custom.h"

ocsd_err_t CreateCustomDecoder(const int create_flags, const void *decoder_cfg,
                               const ocsd_extern_dcd_cb_fns *p_lib_callbacks,
                               ocsd_extern_dcd_inst_t *p_decoder_inst);
ocsd_err_t DestroyCustomDecoder(const void *decoder_handle);
ocsd_err_t GetCSIDFromConfig(const void *decoder_cfg, unsigned char *pCSID);
ocsd_err_t PacketToString(const void *trc_pkt, char *buffer, const int buflen);

#endif
