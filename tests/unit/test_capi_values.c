// SPDX-License-Identifier: MIT
/**
 * @file The binary interface of the OpenCSD C API: the value of every enumerator but those of
 * packet types (test_capi_packets.c), and macros.
 */
#include "support/capi_abi.h"

static void errors(void **state)
{
    (void)state;
    IS(OCSD_OK, 0);
    IS(OCSD_ERR_FAIL, 1);
    IS(OCSD_ERR_MEM, 2);
    IS(OCSD_ERR_NOT_INIT, 3);
    IS(OCSD_ERR_INVALID_ID, 4);
    IS(OCSD_ERR_BAD_HANDLE, 5);
    IS(OCSD_ERR_INVALID_PARAM_VAL, 6);
    IS(OCSD_ERR_INVALID_PARAM_TYPE, 7);
    IS(OCSD_ERR_FILE_ERROR, 8);
    IS(OCSD_ERR_NO_PROTOCOL, 9);
    IS(OCSD_ERR_ATTACH_TOO_MANY, 10);
    IS(OCSD_ERR_ATTACH_INVALID_PARAM, 11);
    IS(OCSD_ERR_ATTACH_COMP_NOT_FOUND, 12);
    IS(OCSD_ERR_RDR_FILE_NOT_FOUND, 13);
    IS(OCSD_ERR_RDR_INVALID_INIT, 14);
    IS(OCSD_ERR_RDR_NO_DECODER, 15);
    IS(OCSD_ERR_DATA_DECODE_FATAL, 16);
    IS(OCSD_ERR_DFMTR_NOTCONTTRACE, 17);
    IS(OCSD_ERR_DFMTR_BAD_FHSYNC, 18);
    IS(OCSD_ERR_BAD_PACKET_SEQ, 19);
    IS(OCSD_ERR_INVALID_PCKT_HDR, 20);
    IS(OCSD_ERR_PKT_INTERP_FAIL, 21);
    IS(OCSD_ERR_UNSUPPORTED_ISA, 22);
    IS(OCSD_ERR_HW_CFG_UNSUPP, 23);
    IS(OCSD_ERR_UNSUPP_DECODE_PKT, 24);
    IS(OCSD_ERR_BAD_DECODE_PKT, 25);
    IS(OCSD_ERR_COMMIT_PKT_OVERRUN, 26);
    IS(OCSD_ERR_MEM_NACC, 27);
    IS(OCSD_ERR_RET_STACK_OVERFLOW, 28);
    IS(OCSD_ERR_DCDT_NO_FORMATTER, 29);
    IS(OCSD_ERR_MEM_ACC_OVERLAP, 30);
    IS(OCSD_ERR_MEM_ACC_FILE_NOT_FOUND, 31);
    IS(OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE, 32);
    IS(OCSD_ERR_MEM_ACC_RANGE_INVALID, 33);
    IS(OCSD_ERR_MEM_ACC_BAD_LEN, 34);
    IS(OCSD_ERR_TEST_SNAPSHOT_PARSE, 35);
    IS(OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO, 36);
    IS(OCSD_ERR_TEST_SNAPSHOT_READ, 37);
    IS(OCSD_ERR_TEST_SS_TO_DECODER, 38);
    IS(OCSD_ERR_DCDREG_NAME_REPEAT, 39);
    IS(OCSD_ERR_DCDREG_NAME_UNKNOWN, 40);
    IS(OCSD_ERR_DCDREG_TYPE_UNKNOWN, 41);
    IS(OCSD_ERR_DCDREG_TOOMANY, 42);
    IS(OCSD_ERR_DCD_INTERFACE_UNUSED, 43);
    IS(OCSD_ERR_LAST, SINCE_1_4(47, 44));
    IS(OCSD_ERR_SEV_NONE, 0);
    IS(OCSD_ERR_SEV_ERROR, 1);
    IS(OCSD_ERR_SEV_WARN, 2);
    IS(OCSD_ERR_SEV_INFO, 3);
#ifndef OCSD_STRICT_1_3
    IS(OCSD_ERR_INVALID_OPCODE, 44);
    IS(OCSD_ERR_I_RANGE_LIMIT_OVERRUN, 45);
    IS(OCSD_ERR_BAD_DECODE_IMAGE, 46);
#endif
}

static void data_path(void **state)
{
    (void)state;
    IS(OCSD_OP_DATA, 0);
    IS(OCSD_OP_EOT, 1);
    IS(OCSD_OP_FLUSH, 2);
    IS(OCSD_OP_RESET, 3);
    IS(OCSD_RESP_CONT, 0);
    IS(OCSD_RESP_WARN_CONT, 1);
    IS(OCSD_RESP_ERR_CONT, 2);
    IS(OCSD_RESP_WAIT, 3);
    IS(OCSD_RESP_WARN_WAIT, 4);
    IS(OCSD_RESP_ERR_WAIT, 5);
    IS(OCSD_RESP_FATAL_NOT_INIT, 6);
    IS(OCSD_RESP_FATAL_INVALID_OP, 7);
    IS(OCSD_RESP_FATAL_INVALID_PARAM, 8);
    IS(OCSD_RESP_FATAL_INVALID_DATA, 9);
    IS(OCSD_RESP_FATAL_SYS_ERR, 10);
    IS(OCSD_FRM_NONE, 0);
    IS(OCSD_FRM_PACKED, 1);
    IS(OCSD_FRM_HSYNC, 2);
    IS(OCSD_FRM_FSYNC, 3);
    IS(OCSD_FRM_ID_DATA, 4);
    IS(OCSD_TRC_SRC_FRAME_FORMATTED, 0);
    IS(OCSD_TRC_SRC_SINGLE, 1);
    IS(OCSD_C_API_CB_PKT_SINK, 0);
    IS(OCSD_C_API_CB_PKT_MON, 1);
}

static void cores(void **state)
{
    (void)state;
    IS(ARCH_UNKNOWN, 0);
    IS(ARCH_CUSTOM, 1);
    IS(ARCH_V7, 1792);
    IS(ARCH_V8, 2048);
    IS(ARCH_V8r3, 2051);
    IS(ARCH_AA64, 2148);
    IS(ARCH_V8_max, 2148);
    IS(profile_Unknown, 0);
    IS(profile_CortexM, 1);
    IS(profile_CortexR, 2);
    IS(profile_CortexA, 3);
    IS(profile_Custom, 4);
    IS(ocsd_isa_arm, 0);
    IS(ocsd_isa_thumb2, 1);
    IS(ocsd_isa_aarch64, 2);
    IS(ocsd_isa_tee, 3);
    IS(ocsd_isa_jazelle, 4);
    IS(ocsd_isa_custom, 5);
    IS(ocsd_isa_unknown, 6);
    IS(ocsd_sec_secure, 0);
    IS(ocsd_sec_nonsecure, 1);
    IS(ocsd_sec_root, 2);
    IS(ocsd_sec_realm, 3);
    IS(ocsd_EL_unknown, -1);
    IS(ocsd_EL0, 0);
    IS(ocsd_EL1, 1);
    IS(ocsd_EL2, 2);
    IS(ocsd_EL3, 3);
    IS(OCSD_INSTR_OTHER, 0);
    IS(OCSD_INSTR_BR, 1);
    IS(OCSD_INSTR_BR_INDIRECT, 2);
    IS(OCSD_INSTR_ISB, 3);
    IS(OCSD_INSTR_DSB_DMB, 4);
    IS(OCSD_INSTR_WFI_WFE, 5);
    IS(OCSD_INSTR_TSTART, 6);
    IS(OCSD_S_INSTR_NONE, 0);
    IS(OCSD_S_INSTR_BR_LINK, 1);
    IS(OCSD_S_INSTR_V8_RET, 2);
    IS(OCSD_S_INSTR_V8_ERET, 3);
    IS(OCSD_S_INSTR_V7_IMPLIED_RET, 4);
    IS(OCSD_MEM_SPACE_EL1S, 1);
    IS(OCSD_MEM_SPACE_EL1N, 2);
    IS(OCSD_MEM_SPACE_EL2, 4);
    IS(OCSD_MEM_SPACE_EL3, 8);
    IS(OCSD_MEM_SPACE_EL2S, 16);
    IS(OCSD_MEM_SPACE_S, 25);
    IS(OCSD_MEM_SPACE_N, 6);
    IS(OCSD_MEM_SPACE_ANY, SINCE_1_4(0xff, 0x1f));
#ifndef OCSD_STRICT_1_3
    IS(OCSD_MEM_SPACE_NONE, 0);
    IS(OCSD_MEM_SPACE_EL1R, 32);
    IS(OCSD_MEM_SPACE_EL2R, 64);
    IS(OCSD_MEM_SPACE_ROOT, 128);
    IS(OCSD_MEM_SPACE_R, 96);
#endif
}

static void protocols(void **state)
{
    (void)state;
    IS(OCSD_PROTOCOL_UNKNOWN, 0);
    IS(OCSD_PROTOCOL_ETMV3, 1);
    IS(OCSD_PROTOCOL_ETMV4I, 2);
    IS(OCSD_PROTOCOL_ETMV4D, 3);
    IS(OCSD_PROTOCOL_PTM, 4);
    IS(OCSD_PROTOCOL_STM, 5);
    IS(OCSD_PROTOCOL_ETE, 6);
    IS(OCSD_PROTOCOL_BUILTIN_END, SINCE_1_4(8, 7));
    IS(OCSD_PROTOCOL_CUSTOM_0, 100);
    IS(OCSD_PROTOCOL_CUSTOM_1, 101);
    IS(OCSD_PROTOCOL_CUSTOM_2, 102);
    IS(OCSD_PROTOCOL_CUSTOM_3, 103);
    IS(OCSD_PROTOCOL_CUSTOM_4, 104);
    IS(OCSD_PROTOCOL_CUSTOM_5, 105);
    IS(OCSD_PROTOCOL_CUSTOM_6, 106);
    IS(OCSD_PROTOCOL_CUSTOM_7, 107);
    IS(OCSD_PROTOCOL_CUSTOM_8, 108);
    IS(OCSD_PROTOCOL_CUSTOM_9, 109);
    IS(OCSD_PROTOCOL_END, 110);
#ifndef OCSD_STRICT_1_3
    IS(OCSD_PROTOCOL_ITM, 7);
#endif
}

static void elements(void **state)
{
    (void)state;
    IS(OCSD_GEN_TRC_ELEM_UNKNOWN, 0);
    IS(OCSD_GEN_TRC_ELEM_NO_SYNC, 1);
    IS(OCSD_GEN_TRC_ELEM_TRACE_ON, 2);
    IS(OCSD_GEN_TRC_ELEM_EO_TRACE, 3);
    IS(OCSD_GEN_TRC_ELEM_PE_CONTEXT, 4);
    IS(OCSD_GEN_TRC_ELEM_INSTR_RANGE, 5);
    IS(OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH, 6);
    IS(OCSD_GEN_TRC_ELEM_ADDR_NACC, 7);
    IS(OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN, 8);
    IS(OCSD_GEN_TRC_ELEM_EXCEPTION, 9);
    IS(OCSD_GEN_TRC_ELEM_EXCEPTION_RET, 10);
    IS(OCSD_GEN_TRC_ELEM_TIMESTAMP, 11);
    IS(OCSD_GEN_TRC_ELEM_CYCLE_COUNT, 12);
    IS(OCSD_GEN_TRC_ELEM_EVENT, 13);
    IS(OCSD_GEN_TRC_ELEM_SWTRACE, 14);
    IS(OCSD_GEN_TRC_ELEM_SYNC_MARKER, 15);
    IS(OCSD_GEN_TRC_ELEM_MEMTRANS, 16);
    IS(OCSD_GEN_TRC_ELEM_CUSTOM, SINCE_1_4(19, 17));
    IS(TRACE_ON_NORMAL, 0);
    IS(TRACE_ON_OVERFLOW, 1);
    IS(TRACE_ON_EX_DEBUG, 2);
    IS(UNSYNC_UNKNOWN, 0);
    IS(UNSYNC_INIT_DECODER, 1);
    IS(UNSYNC_RESET_DECODER, 2);
    IS(UNSYNC_OVERFLOW, 3);
    IS(UNSYNC_DISCARD, 4);
    IS(UNSYNC_BAD_PACKET, 5);
    IS(UNSYNC_EOT, SINCE_1_4(7, 6));
    IS(ELEM_MARKER_TS, 0);
    IS(OCSD_MEM_TRANS_TRACE_INIT, 0);
    IS(OCSD_MEM_TRANS_START, 1);
    IS(OCSD_MEM_TRANS_COMMIT, 2);
    IS(OCSD_MEM_TRANS_FAIL, 3);
    IS(EVENT_UNKNOWN, 0);
    IS(EVENT_TRIGGER, 1);
    IS(EVENT_NUMBERED, 2);
#ifndef OCSD_STRICT_1_3
    IS(OCSD_GEN_TRC_ELEM_INSTRUMENTATION, 17);
    IS(OCSD_GEN_TRC_ELEM_ITMTRACE, 18);
    IS(UNSYNC_BAD_IMAGE, 6);
    IS(SWIT_PAYLOAD, 0);
    IS(DWT_PAYLOAD, 1);
    IS(TS_SYNC, 2);
    IS(TS_DELAY, 3);
    IS(TS_PKT_DELAY, 4);
    IS(TS_PKT_TS_DELAY, 5);
    IS(TS_GLOBAL, 6);
#endif
}

static void packet_values(void **state)
{
    (void)state;
    IS(VA_32BIT, 0);
    IS(VA_64BIT, 1);
    IS(ATOM_PATTERN, 0);
    IS(ATOM_REPEAT, 1);
    IS(ATOM_N, 0);
    IS(ATOM_E, 1);
    IS(iSync_Periodic, 0);
    IS(iSync_TraceEnable, 1);
    IS(iSync_TraceRestartAfterOverflow, 2);
    IS(iSync_DebugExit, 3);
    IS(Excp_Reserved, 0);
    IS(Excp_NoException, 1);
    IS(Excp_Reset, 2);
    IS(Excp_IRQ, 3);
    IS(Excp_FIQ, 4);
    IS(Excp_AsyncDAbort, 5);
    IS(Excp_DebugHalt, 6);
    IS(Excp_Jazelle, 7);
    IS(Excp_SVC, 8);
    IS(Excp_SMC, 9);
    IS(Excp_Hyp, 10);
    IS(Excp_Undef, 11);
    IS(Excp_PrefAbort, 12);
    IS(Excp_Generic, 13);
    IS(Excp_SyncDataAbort, 14);
    IS(Excp_CMUsageFault, 15);
    IS(Excp_CMNMI, 16);
    IS(Excp_CMDebugMonitor, 17);
    IS(Excp_CMMemManage, 18);
    IS(Excp_CMPendSV, 19);
    IS(Excp_CMSysTick, 20);
    IS(Excp_CMBusFault, 21);
    IS(Excp_CMHardFault, 22);
    IS(Excp_CMIRQn, 23);
    IS(Excp_ThumbEECheckFail, 24);
    IS(HwEvent_Unknown_Disabled, 0);
    IS(HwEvent_Enabled, 1);
    IS(HwEvent_UseRegisters, 2);
    IS(STM_TS_UNKNOWN, 0);
    IS(STM_TS_NATBINARY, 1);
    IS(STM_TS_GREY, 2);
}

static void flags(void **state)
{
    (void)state;
    IS(OCSD_DFRMTR_HAS_FSYNCS, 0x01);
    IS(OCSD_DFRMTR_HAS_HSYNCS, 0x02);
    IS(OCSD_DFRMTR_FRAME_MEM_ALIGN, 0x04);
    IS(OCSD_DFRMTR_PACKED_RAW_OUT, 0x08);
    IS(OCSD_DFRMTR_UNPACKED_RAW_OUT, 0x10);
    IS(OCSD_DFRMTR_RESET_ON_4X_FSYNC, 0x20);
    IS(OCSD_DFRMTR_VALID_MASK, 0x3f);
    IS(OCSD_DFRMTR_FRAME_SIZE, 0x10);
    IS(OCSD_CREATE_FLG_PACKET_PROC, 0x1);
    IS(OCSD_CREATE_FLG_FULL_DECODER, 0x2);
    IS(OCSD_CREATE_FLG_INST_ID, 0x4);
    IS(OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, 0x10);
    IS(OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS, 0x20);
    IS(OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS, 0x40);
    IS(OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS, 0x80);
    IS(OCSD_OPFLG_PKTPROC_COMMON, 0xf0);
    IS(OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS, 0x100);
    IS(OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS, 0x200);
    IS(OCSD_OPFLG_COMP_MODE_MASK, 0xffff0000);
    IS(OCSD_OPFLG_PKTDEC_COMMON, SINCE_1_4(0x3f00, 0x300));
    IS(ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS, 0x10000);
    IS(ETE_ARCH_VERSION, 5);
    IS(C_API_MSGLOGOUT_FLG_NONE, 0x0);
    IS(C_API_MSGLOGOUT_FLG_FILE, 0x1);
    IS(C_API_MSGLOGOUT_FLG_STDERR, 0x2);
    IS(C_API_MSGLOGOUT_FLG_STDOUT, 0x4);
    IS(C_API_MSGLOGOUT_MASK, 0x7);
    IS(OCSD_STATS_REVISION, 1);
    IS(SWT_ID_VALID_MASK, 1 << 23);
    IS(DATA_ADDR_EXPECTED_FLAG, 0x20);
    IS(OCSD_CUST_DCD_PKT_CB_USE_MON, 1);
    IS(OCSD_CUST_DCD_PKT_CB_USE_SINK, 2);
    IS(OCSD_MAX_VA_BITSIZE, 64);
    IS(OCSD_BAD_CS_SRC_ID, 0xff);
    IS(OCSD_BAD_TRC_INDEX, 0xffffffffu);
    IS(OCSD_INVALID_HANDLE, 0xffffffffu);
    IS(OCSD_BIT_MASK(12), 0xfff);
    IS(OCSD_VER_NUM, SINCE_1_4(0x10800, 0x10303));
#ifndef OCSD_STRICT_1_3
    IS(OCSD_OPFLG_N_UNCOND_DIR_BR_CHK, 0x400);
    IS(OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK, 0x800);
    IS(OCSD_OPFLG_CHK_RANGE_CONTINUE, 0x1000);
    IS(OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB, 0x2000);
    IS(ETM4_OPFLG_PKTDEC_AA64_OPCODE_CHK, 0x20000);
    IS(ETE_ETM4_OPFLG_MASK, 0x30000);
#endif
}

static void strings(void **state)
{
    (void)state;
    assert_string_equal(OCSD_LIB_NAME, "OpenCSD Library");
    assert_string_equal(OCSD_LIB_SHORT_NAME, "OCSD");
    assert_string_equal(OCSD_VER_STRING, SINCE_1_4("1.8.0", "1.3.3"));
    assert_string_equal(OCSD_TRC_IDX_STR, "u");
    assert_string_equal(OCSD_BUILTIN_DCD_STM, "STM");
    assert_string_equal(OCSD_BUILTIN_DCD_ETMV3, "ETMV3");
    assert_string_equal(OCSD_BUILTIN_DCD_ETMV4I, "ETMV4I");
    assert_string_equal(OCSD_BUILTIN_DCD_ETMV4D, "ETMV4D");
    assert_string_equal(OCSD_BUILTIN_DCD_PTM, "PTM");
    assert_string_equal(OCSD_BUILTIN_DCD_ETE, "ETE");
#ifndef OCSD_STRICT_1_3
    assert_string_equal(OCSD_BUILTIN_DCD_ITM, "ITM");
#endif
    assert_string_equal(OCSD_CMPNAME_PREFIX_SOURCE_READER, "SRDR");
    assert_string_equal(OCSD_CMPNAME_PREFIX_FRAMEDEFORMATTER, "DFMT");
    assert_string_equal(OCSD_CMPNAME_PREFIX_PKTPROC, "PKTP");
    assert_string_equal(OCSD_CMPNAME_PREFIX_PKTDEC, "PDEC");
}

static void predicates(void **state)
{
    (void)state;
    for (int r = OCSD_RESP_CONT; r <= OCSD_RESP_FATAL_SYS_ERR; r++) {
        IS(OCSD_DATA_RESP_IS_CONT(r), r < 3);
        IS(OCSD_DATA_RESP_IS_WAIT(r), r >= 3 && r <= 5);
        IS(OCSD_DATA_RESP_IS_FATAL(r), r >= 6);
        IS(OCSD_DATA_RESP_IS_WARN(r), r == 1 || r == 4);
        IS(OCSD_DATA_RESP_IS_ERR(r), r == 2 || r == 5);
        IS(OCSD_DATA_RESP_IS_WARN_OR_ERR(r), r == 1 || r == 2 || r == 4 || r == 5);
    }
    for (int id = 0; id < 0x90; id++)
        IS(OCSD_IS_VALID_CS_SRC_ID(id), id >= 1 && id <= 0x6f);
    for (int p = 0; p < 120; p++) {
        IS(OCSD_PROTOCOL_IS_BUILTIN(p), p > 0 && p < OCSD_PROTOCOL_BUILTIN_END);
        IS(OCSD_PROTOCOL_IS_CUSTOM(p), p >= 100 && p < 110);
    }
    IS(OCSD_IS_V8_ARCH(ARCH_V7), 0);
    IS(OCSD_IS_V8_ARCH(ARCH_V8), 1);
    IS(OCSD_IS_V8_ARCH(ARCH_AA64), 1);
    IS(OCSD_IS_ARCH_MINVER(ARCH_V8, ARCH_V8r3), 0);
    IS(OCSD_IS_ARCH_MINVER(ARCH_AA64, ARCH_V8r3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),    cmocka_unit_test(data_path), cmocka_unit_test(cores),
        cmocka_unit_test(protocols), cmocka_unit_test(elements),  cmocka_unit_test(packet_values),
        cmocka_unit_test(flags),     cmocka_unit_test(strings),   cmocka_unit_test(predicates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
