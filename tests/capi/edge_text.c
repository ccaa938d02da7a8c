// SPDX-License-Identifier: MIT
/** @file Error codes, elements and packets in words. */
#include "edge.h"

static void error_strings(void)
{
    char text[256];
    for (int code = 0; code < 50; code++) {
        ocsd_err_str((ocsd_err_t)code, text, sizeof(text));
        say("%d %s", code, text);
    }
    for (int size = 2; size < 10; size++) {
        strcpy(text, "untouched");
        ocsd_err_str(OCSD_ERR_FAIL, text, size);
        say("size %d %s", size, text);
    }
}

static void error_string_no_room(void)
{
    for (int size = 0; size < 2; size++) {
        char text[16] = "untouched";
        ocsd_err_str(OCSD_ERR_FAIL, text, size);
        say("size %d %s", size, text);
    }
}

static void error_string_nowhere(void)
{
    ocsd_err_str(OCSD_ERR_FAIL, NULL, 10);
    say("still here");
}

static void element_strings(void)
{
    char text[256];
    ocsd_generic_trace_elem e;
    for (int type = 0; type < 22; type++) {
        if (type >= 17 && type <= 19)
            continue; /* CUSTOM in one version, newer types in the other */
        memset(&e, 0, sizeof(e));
        e.elem_type = (ocsd_gen_trc_elem_t)type;
        e.st_addr = 0x1000;
        e.en_addr = 0x1010;
        CODE(ocsd_gen_elem_str(&e, text, sizeof(text)));
        say_text("", text);
        for (unsigned value = 1; value < 6; value++) {
            if (type != OCSD_GEN_TRC_ELEM_TRACE_ON || value < 3)
                e.exception_number = value;
            e.isa = (ocsd_isa)value;
            e.timestamp = 0x123456789abcdull;
            e.flag_bits = value * 0x213 & ~0x100u;
            e.last_i_type = (ocsd_instr_type)value;
            e.last_i_subtype = (ocsd_instr_subtype)value;
            e.context.security_level = (ocsd_sec_level)(value % 4);
            e.context.exception_level = (ocsd_ex_level)(value % 4);
            e.context.el_valid = value & 1;
            e.context.bits64 = value >> 1 & 1;
            e.context.ctxt_id_valid = value >> 2 & 1;
            e.context.vmid_valid = value & 1;
            e.context.context_id = 0xabc;
            e.context.vmid = 0x22;
            e.cycle_count = 99;
            ocsd_gen_elem_str(&e, text, sizeof(text));
            say_text("  ", text);
        }
    }
    uint64_t payload = 0xfedcba9876543210ull;
    for (unsigned bits = 0; bits <= 64; bits = bits ? bits * 2 : 4)
        for (unsigned flags = 0; flags < 0x100; flags = flags ? flags * 2 : 1) {
            memset(&e, 0, sizeof(e));
            e.elem_type = OCSD_GEN_TRC_ELEM_SWTRACE;
            e.sw_trace_info.swt_master_id = 0x1234;
            e.sw_trace_info.swt_channel_id = 5;
            e.sw_trace_info.swt_flag_bits = flags << 16 | 1u << 8 | bits;
            e.timestamp = 0xabc;
            e.has_ts = e.sw_trace_info.swt_has_timestamp;
            e.ptr_extended_data = &payload;
            e.extended_data = bits != 0;
            ocsd_gen_elem_str(&e, text, sizeof(text));
            say_text("  ", text);
        }
    memset(&e, 0, sizeof(e));
    for (int size = 0; size < 12; size++) {
        strcpy(text, "untouched");
        int error = ocsd_gen_elem_str(&e, text, size);
        say("size %d = %d %s", size, error, text);
    }
    CODE(ocsd_gen_elem_str(&e, NULL, 20));
    e.flag_bits = 0xfff;
    e.ptr_extended_data = text;
    ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_EVENT);
    say("init: type %d flags %x pointer %d", (int)e.elem_type, (unsigned)e.flag_bits,
        e.ptr_extended_data != NULL);
}

static void packet_strings(void)
{
    char text[512];
    union {
        ocsd_etmv4_i_pkt etmv4;
        ocsd_etmv3_pkt etmv3;
        ocsd_ptm_pkt ptm;
        ocsd_stm_pkt stm;
        uint8_t bytes[256];
    } packet;
    memset(&packet, 0, sizeof(packet));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_UNKNOWN, &packet, text, sizeof(text)));
    say_text("", text);
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4D, &packet, text, sizeof(text)));
    say_text("", text);
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_CUSTOM_0, &packet, text, sizeof(text)));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_CUSTOM_9, &packet, text, sizeof(text)));
    CODE(ocsd_pkt_str((ocsd_trace_protocol_t)50, &packet, text, sizeof(text)));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_STM, &packet, NULL, sizeof(text)));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_STM, &packet, text, 1));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_STM, &packet, text, 6));
    say_text("", text);
    for (int type = 0; type < 0x110; type++) {
        memset(&packet, 0, sizeof(packet));
        packet.etmv4.type = (ocsd_etmv4_i_pkt_type)type;
        packet.etmv4.err_type = ETM4_PKT_I_NO_ERR_TYPE;
        packet.etmv4.protocol_version = 0x42;
        packet.etmv4.v_addr.size = VA_64BIT;
        packet.etmv4.v_addr.val = 0x12345678;
        packet.etmv4.v_addr.pkt_bits = 17;
        packet.etmv4.v_addr.valid_bits = 64;
        bool atoms = type >= ETM4_PKT_I_ATOM_F6 && type <= ETM4_PKT_I_ATOM_F3;
        packet.etmv4.atom.num = atoms ? 3 : type == ETM4_PKT_I_CANCEL_F2;
        packet.etmv4.atom.En_bits = 5;
        packet.etmv4.cancel_elements = 1;
        packet.etmv4.exception_info.exceptionType = 3;
        packet.etmv4.exception_info.addr_interp = 1;
        packet.etmv4.context.updated = 1;
        packet.etmv4.context.EL = 2;
        packet.etmv4.context.NS = 1;
        packet.etmv4.cycle_count = 0x33;
        packet.etmv4.ts.timestamp = 0x123456;
        packet.etmv4.ts.bits_changed = 21;
        packet.etmv4.pkt_valid.bits.ts_valid = 1;
        packet.etmv4.pkt_valid.bits.cc_valid = 1;
        ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, &packet, text, sizeof(text));
        if (!strstr(text, "I_RESERVED") && !strstr(text, "I_UNKNOWN"))
            say("etmv4 %x %s", (unsigned)type, text);
    }
    for (int type = 0; type < 28; type++) {
        if (type == ETM3_PKT_INCOMPLETE_EOT || type == ETM3_PKT_BRANCH_OR_BYPASS_EOT)
            continue; /* never given */
        memset(&packet, 0, sizeof(packet));
        packet.etmv3.type = (ocsd_etmv3_pkt_type)type;
        packet.etmv3.err_type = type < ETM3_PKT_BAD_SEQUENCE ? ETM3_PKT_NOERROR : ETM3_PKT_P_HDR;
        packet.etmv3.curr_isa = ocsd_isa_thumb2;
        packet.etmv3.addr.val = 0x8000;
        packet.etmv3.addr.pkt_bits = 8;
        packet.etmv3.addr.valid_bits = 32;
        packet.etmv3.atom.num = 4;
        packet.etmv3.atom.En_bits = 0xb;
        packet.etmv3.cycle_count = 7;
        packet.etmv3.timestamp = 0xabcdef;
        packet.etmv3.ts_update_bits = 24;
        packet.etmv3.exception.number = 5;
        packet.etmv3.p_hdr_fmt = 1;
        packet.etmv3.context.ctxtID = 0x77;
        packet.etmv3.data.value = 0x99;
        packet.etmv3.data.addr.val = 0x1234;
        packet.etmv3.data.update_dval = type == ETM3_PKT_OOO_DATA || type == ETM3_PKT_NORM_DATA;
        ocsd_pkt_str(OCSD_PROTOCOL_ETMV3, &packet, text, sizeof(text));
        say("etmv3 %d %s", type, text);
    }
    for (int type = 0; type < 20; type++) {
        memset(&packet, 0, sizeof(packet));
        packet.ptm.type = (ocsd_ptm_pkt_type)type;
        packet.ptm.err_type = PTM_PKT_ATOM;
        packet.ptm.addr.val = 0x8000;
        packet.ptm.addr.pkt_bits = 8;
        packet.ptm.addr.valid_bits = 32;
        packet.ptm.atom.num = 4;
        packet.ptm.atom.En_bits = 0xb;
        packet.ptm.timestamp = 0xabcdef;
        packet.ptm.ts_update_bits = 24;
        packet.ptm.context.ctxtID = 0x77;
        ocsd_pkt_str(OCSD_PROTOCOL_PTM, &packet, text, sizeof(text));
        say("ptm %d %s", type, text);
    }
    for (int type = 0; type < 23; type++) {
        memset(&packet, 0, sizeof(packet));
        packet.stm.type = (ocsd_stm_pkt_type)type;
        packet.stm.err_type = STM_PKT_D8;
        packet.stm.master = 3;
        packet.stm.channel = 4;
        packet.stm.payload.D64 = 0x1122334455667788ull;
        packet.stm.pkt_has_ts = type & 1;
        packet.stm.pkt_has_marker = type >> 1 & 1;
        packet.stm.timestamp = 0x55;
        ocsd_pkt_str(OCSD_PROTOCOL_STM, &packet, text, sizeof(text));
        say("stm %d %s", type, text);
    }
}

const struct edge_case edge_text[] = {
    CASE(error_strings),
    UNDEFINED(error_string_no_room),
    UNDEFINED(error_string_nowhere),
    CASE(element_strings),
    CASE(packet_strings),
    {.name = NULL},
};
