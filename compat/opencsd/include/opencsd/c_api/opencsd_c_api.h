// SPDX-License-Identifier: MIT
/**
 * @file The OpenCSD C API.
 *
 *     h = ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
 *     ocsd_dt_create_decoder(h, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &cfg, &id);
 *     ocsd_dt_add_binfile_mem_acc(h, address, OCSD_MEM_SPACE_ANY, "program.bin");
 *     ocsd_dt_set_gen_elem_outfn(h, my_elements, my_context);
 *     while (have bytes)
 *         response = ocsd_dt_process_data(h, OCSD_OP_DATA, index, size, bytes, &processed);
 *     ocsd_dt_process_data(h, OCSD_OP_EOT, 0, 0, NULL, NULL);
 *     ocsd_destroy_dcd_tree(h);
 *
 * A tree belongs to one thread at a time. The default log is the process's.
 */
#ifndef ARM_OPENCSD_C_API_H_INCLUDED
#define ARM_OPENCSD_C_API_H_INCLUDED

#include "opencsd/c_api/ocsd_c_api_custom.h"
#include "opencsd/c_api/ocsd_c_api_types.h"

#ifndef OCSD_C_API
#ifdef __cplusplus
#define OCSD_C_API extern "C"
#else
#define OCSD_C_API
#endif
#endif

/* ---- names of the built-in decoders ---- */

#define OCSD_BUILTIN_DCD_STM    "STM"
#define OCSD_BUILTIN_DCD_ETMV3  "ETMV3"
#define OCSD_BUILTIN_DCD_ETMV4I "ETMV4I"
#define OCSD_BUILTIN_DCD_ETMV4D "ETMV4D" /**< no such decoder exists */
#define OCSD_BUILTIN_DCD_PTM    "PTM"
#define OCSD_BUILTIN_DCD_ETE    "ETE"
#ifndef OCSD_STRICT_1_3
#define OCSD_BUILTIN_DCD_ITM "ITM"
#endif

/* ---- version ---- */

/** OCSD_VER_NUM of the library that runs. */
OCSD_C_API uint32_t ocsd_get_version(void);
OCSD_C_API const char *ocsd_get_version_str(void);

/* ---- trees ---- */

/** NULL when the deformatter's flags make no sense; a SINGLE tree ignores them. */
OCSD_C_API dcd_tree_handle_t ocsd_create_dcd_tree(const ocsd_dcd_tree_src_t src_type,
                                                  const uint32_t deformatterCfgFlags);
OCSD_C_API void ocsd_destroy_dcd_tree(const dcd_tree_handle_t handle);

/**
 * The data path. Only DATA has index and bytes; `*numBytesProcessed` is then set. After a WAIT
 * answer send FLUSH until the answer is another, then the DATA that follows what was processed.
 */
OCSD_C_API ocsd_datapath_resp_t ocsd_dt_process_data(
    const dcd_tree_handle_t handle, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
    const uint32_t dataBlockSize, const uint8_t *pDataBlock, uint32_t *numBytesProcessed);

/** The function that takes all elements of the tree. */
OCSD_C_API ocsd_err_t ocsd_dt_set_gen_elem_outfn(const dcd_tree_handle_t handle, FnTraceElemIn pFn,
                                                 const void *p_context);

/* ---- decoders ---- */

/** `decoder_cfg` is the configuration struct of the named protocol; `*pCSID` its trace ID. */
OCSD_C_API ocsd_err_t ocsd_dt_create_decoder(const dcd_tree_handle_t handle,
                                             const char *decoder_name, const int create_flags,
                                             const void *decoder_cfg, unsigned char *pCSID);
OCSD_C_API ocsd_err_t ocsd_dt_remove_decoder(const dcd_tree_handle_t handle,
                                             const unsigned char CSID);
/** A sink takes the place of a full decoder; a monitor only looks. */
OCSD_C_API ocsd_err_t ocsd_dt_attach_packet_callback(const dcd_tree_handle_t handle,
                                                     const unsigned char CSID,
                                                     const ocsd_c_api_cb_types callback_type,
                                                     void *p_fn_callback_data,
                                                     const void *p_context);
/** `*p_stats_block` stays valid until the decoder goes. */
OCSD_C_API ocsd_err_t ocsd_dt_get_decode_stats(const dcd_tree_handle_t handle,
                                               const unsigned char CSID,
                                               ocsd_decode_stats_t **p_stats_block);
OCSD_C_API ocsd_err_t ocsd_dt_reset_decode_stats(const dcd_tree_handle_t handle,
                                                 const unsigned char CSID);

/* ---- program memory; start and end addresses are inclusive ---- */

OCSD_C_API ocsd_err_t ocsd_dt_add_binfile_mem_acc(const dcd_tree_handle_t handle,
                                                  const ocsd_vaddr_t address,
                                                  const ocsd_mem_space_acc_t mem_space,
                                                  const char *filepath);
OCSD_C_API ocsd_err_t ocsd_dt_add_binfile_region_mem_acc(const dcd_tree_handle_t handle,
                                                         const ocsd_file_mem_region_t *region_array,
                                                         const int num_regions,
                                                         const ocsd_mem_space_acc_t mem_space,
                                                         const char *filepath);
/** The buffer stays the caller's and has to outlive the tree. */
OCSD_C_API ocsd_err_t ocsd_dt_add_buffer_mem_acc(const dcd_tree_handle_t handle,
                                                 const ocsd_vaddr_t address,
                                                 const ocsd_mem_space_acc_t mem_space,
                                                 const uint8_t *p_mem_buffer,
                                                 const uint32_t mem_length);
OCSD_C_API ocsd_err_t ocsd_dt_add_callback_mem_acc(const dcd_tree_handle_t handle,
                                                   const ocsd_vaddr_t st_address,
                                                   const ocsd_vaddr_t en_address,
                                                   const ocsd_mem_space_acc_t mem_space,
                                                   Fn_MemAcc_CB p_cb_func, const void *p_context);
OCSD_C_API ocsd_err_t ocsd_dt_add_callback_trcid_mem_acc(
    const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address, const ocsd_vaddr_t en_address,
    const ocsd_mem_space_acc_t mem_space, Fn_MemAccID_CB p_cb_func, const void *p_context);
OCSD_C_API ocsd_err_t ocsd_dt_remove_mem_acc(const dcd_tree_handle_t handle,
                                             const ocsd_vaddr_t st_address,
                                             const ocsd_mem_space_acc_t mem_space);
/** Pages of `page_size` bytes (64 to 16384), `nr_pages` of them (4 to 256), or none. */
OCSD_C_API ocsd_err_t ocsd_dt_set_mem_acc_cacheing(const dcd_tree_handle_t handle, const int enable,
                                                   const uint16_t page_size, const int nr_pages);
/** Log the mapped ranges, at verbosity INFO. */
OCSD_C_API void ocsd_tl_log_mapped_mem_ranges(const dcd_tree_handle_t handle);

/* ---- the default log: first init, then config_output, then set_strprint_cb ---- */

OCSD_C_API ocsd_err_t ocsd_def_errlog_init(const ocsd_err_severity_t verbosity,
                                           const int create_output_logger);
OCSD_C_API ocsd_err_t ocsd_def_errlog_config_output(const int output_flags,
                                                    const char *log_file_name);
OCSD_C_API ocsd_err_t ocsd_def_errlog_set_strprint_cb(const dcd_tree_handle_t handle,
                                                      void *p_context,
                                                      FnDefLoggerPrintStrCB p_str_print_cb);
OCSD_C_API void ocsd_def_errlog_msgout(const char *msg);

/* ---- words ---- */

OCSD_C_API void ocsd_err_str(const ocsd_err_t err, char *buffer, const int buffer_size);
/** The last error that was logged in this process. */
OCSD_C_API ocsd_err_t ocsd_get_last_err(ocsd_trc_index_t *index, uint8_t *chan_id, char *message,
                                        const int message_len);
OCSD_C_API ocsd_err_t ocsd_pkt_str(const ocsd_trace_protocol_t pkt_protocol, const void *p_pkt,
                                   char *buffer, const int buffer_size);
OCSD_C_API ocsd_err_t ocsd_gen_elem_str(const ocsd_generic_trace_elem *p_pkt, char *buffer,
                                        const int buffer_size);
/** Make an element of a type, for a custom decoder. */
OCSD_C_API void ocsd_gen_elem_init(ocsd_generic_trace_elem *p_pkt,
                                   const ocsd_gen_trc_elem_t elem_type);

/* ---- printers, into the default log ---- */

/** `flags`: OCSD_DFRMTR_PACKED_RAW_OUT and _UNPACKED_RAW_OUT. */
OCSD_C_API ocsd_err_t ocsd_dt_set_raw_frame_printer(const dcd_tree_handle_t handle, int flags);
OCSD_C_API ocsd_err_t ocsd_dt_set_gen_elem_printer(const dcd_tree_handle_t handle);
/** As monitor, or in place of a decoder. */
OCSD_C_API ocsd_err_t ocsd_dt_set_pkt_protocol_printer(const dcd_tree_handle_t handle,
                                                       uint8_t cs_id, int monitor);

/* ---- custom decoders ---- */

/** Sets `p_dcd_fact->protocol_id`; the struct is copied. */
OCSD_C_API ocsd_err_t ocsd_register_custom_decoder(const char *name,
                                                   ocsd_extern_dcd_fact_t *p_dcd_fact);
OCSD_C_API ocsd_err_t ocsd_deregister_decoders(void);
OCSD_C_API ocsd_err_t ocsd_cust_protocol_to_str(const ocsd_trace_protocol_t pkt_protocol,
                                                const void *trc_pkt, char *buffer,
                                                const int buflen);

#endif
