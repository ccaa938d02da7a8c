// SPDX-License-Identifier: MIT
/** @file ETMv4 and ETE packets, to the client's struct and back. */
#include "host_bits.h"
#include "packets.h"

#include "protocol/builtin.h"
#include "pugmark/advanced/packet/etmv4.h"

#include <assert.h>
#include <stdalign.h>

/* Fields of trace_info and of pkt_valid. */
#define TRACE_INFO_WIDTHS "13111911"
#define VALID_WIDTHS      "11111111111"

#ifndef OCSD_STRICT_1_3
/* Where 1.3.3 has what moved when the packet grew. i386 does not align words of 64 bits and has no
   holes there: it serves clients of 1.8.0 alone. */
#define HAS_OLD_PLACES (alignof(uint64_t) == 8)
enum old_place {
    OLD_PKT_VALID = 140,
    OLD_ERR_TYPE = 144,
    OLD_ERR_HDR_VAL = 148,
    OLD_VERSION = 149
};

/** The holes of the larger struct serve clients that were built for the smaller one. */
static void put_old_places(ocsd_etmv4_i_pkt *out)
{
    static_assert(!HAS_OLD_PLACES || (offsetof(ocsd_etmv4_i_pkt, ite_pkt) == OLD_ERR_TYPE &&
                                      offsetof(ocsd_etmv4_i_pkt, ite_pkt.value) >= OLD_VERSION + 1),
                  "the old places are holes, but for the first byte of an ITE packet");
    char *bytes = (char *)out;
    uint32_t err_type = (uint32_t)out->err_type;
    memcpy(bytes + OLD_PKT_VALID, &out->pkt_valid.val, sizeof(out->pkt_valid.val));
    if (out->type != ETE_PKT_I_ITE)
        memcpy(bytes + OLD_ERR_TYPE, &err_type, sizeof(err_type));
    bytes[OLD_ERR_HDR_VAL] = (char)out->err_hdr_val;
    bytes[OLD_VERSION] = (char)out->protocol_version;
}
#endif

static void put_context(const struct pug_etmv4_context *in, etmv4_context_t *out)
{
    out->EL = in->el & 3u;
    out->SF = in->sf;
    out->NS = in->ns;
    out->NSE = in->nse;
    out->updated = in->updated;
    out->updated_c = in->updated_context_id;
    out->updated_v = in->updated_vmid;
    out->ctxtID = in->context_id;
    out->VMID = in->vmid;
}

static void put_conditional(const struct pug_etmv4_packet *in, ocsd_etmv4_i_pkt *out)
{
    out->cond_instr.cond_c_key = in->cond_instr.key;
    out->cond_instr.num_c_elem = in->cond_instr.elements;
    out->cond_instr.cond_key_set = in->cond_instr.key_set;
    out->cond_instr.f3_final_elem = in->cond_instr.f3_final;
    out->cond_instr.f2_cond_incr = in->cond_instr.f2_increment;
    out->cond_result.cond_r_key_0 = in->cond_result.key[0];
    out->cond_result.cond_r_key_1 = in->cond_result.key[1];
    out->cond_result.res_0 = in->cond_result.result[0] & 15u;
    out->cond_result.res_1 = in->cond_result.result[1] & 15u;
    out->cond_result.ci_0 = in->cond_result.ci[0];
    out->cond_result.ci_1 = in->cond_result.ci[1];
    out->cond_result.key_res_0_set = in->cond_result.has[0];
    out->cond_result.key_res_1_set = in->cond_result.has[1];
    out->cond_result.f2_key_incr = in->cond_result.f2_key_increment & 3u;
    out->cond_result.f2f4_token = in->cond_result.f2f4_token & 3u;
    out->cond_result.f3_tokens = in->cond_result.f3_tokens & 0xfffu;
}

static void put_exception_and_q(const struct pug_etmv4_packet *in, ocsd_etmv4_i_pkt *out)
{
    out->exception_info.exceptionType = in->exception_type & 0x3ffu;
    out->exception_info.addr_interp = in->exception_address & 3u;
    out->exception_info.m_fault_pending = in->exception_fault;
    out->exception_info.m_type = in->exception_m;
    out->Q_pkt.q_count = in->q_count;
    out->Q_pkt.addr_present = in->q_has_address;
    out->Q_pkt.addr_match = in->q_has_match;
    out->Q_pkt.count_present = in->q_has_count;
    out->Q_pkt.q_type = in->q_type & 15u;
}

void shell_etmv4_to_client(const void *packet, union shell_client_packet *client)
{
    const struct pug_etmv4_packet *in = packet;
    ocsd_etmv4_i_pkt *out = &client->etmv4;
    memset(out, 0, sizeof(*out));
    out->type = (ocsd_etmv4_i_pkt_type)in->type;
    out->v_addr.size = in->address.size == 64 ? VA_64BIT : VA_32BIT;
    out->v_addr.val = in->address.value;
    out->v_addr.pkt_bits = in->address.pkt_bits;
    out->v_addr.valid_bits = in->address.valid_bits;
    out->v_addr_ISA = in->address.is;
    put_context(&in->context, &out->context);
    out->ts.timestamp = in->timestamp;
    out->ts.bits_changed = in->timestamp_bits;
    out->cc_threshold = in->cc_threshold;
    out->atom.En_bits = in->atom_bits;
    out->atom.num = in->atom_count;
    out->cycle_count = in->cycle_count;
    out->curr_spec_depth = in->spec_depth;
    out->p0_key = in->p0_key;
    out->commit_elements = in->commit_count;
    out->cancel_elements = in->cancel_count;
    out->trace_info.val = shell_host_bits(in->trace_info, TRACE_INFO_WIDTHS);
    put_exception_and_q(in, out);
    out->addr_exact_match_idx = in->match;
    out->dsm_val = in->marker;
    out->event_val = in->event;
    put_conditional(in, out);
    out->pkt_valid.val = shell_host_bits(in->valid, VALID_WIDTHS);
    out->err_type = (ocsd_etmv4_i_pkt_type)in->err_type;
    out->err_hdr_val = in->err_header;
    out->protocol_version = in->version;
#ifndef OCSD_STRICT_1_3
    if (in->type == PUG_ETMV4_ITE) {
        out->ite_pkt.el = in->ite_el;
        out->ite_pkt.value = in->ite_value;
    }
    if (HAS_OLD_PLACES)
        put_old_places(out);
#endif
}

/* ---- back, for printing ---- */

static void get_context(const etmv4_context_t *in, struct pug_etmv4_context *out)
{
    out->el = (uint8_t)in->EL;
    out->sf = in->SF;
    out->ns = in->NS;
    out->nse = in->NSE;
    out->updated = in->updated;
    out->updated_context_id = in->updated_c;
    out->updated_vmid = in->updated_v;
    out->context_id = in->ctxtID;
    out->vmid = in->VMID;
}

static void get_conditional(const ocsd_etmv4_i_pkt *in, struct pug_etmv4_packet *out)
{
    out->cond_instr = (struct pug_etmv4_cond_instr){
        .key = in->cond_instr.cond_c_key,
        .elements = in->cond_instr.num_c_elem,
        .key_set = in->cond_instr.cond_key_set,
        .f3_final = in->cond_instr.f3_final_elem,
        .f2_increment = in->cond_instr.f2_cond_incr,
    };
    out->cond_result = (struct pug_etmv4_cond_result){
        .key = {in->cond_result.cond_r_key_0, in->cond_result.cond_r_key_1},
        .result = {(uint8_t)in->cond_result.res_0, (uint8_t)in->cond_result.res_1},
        .ci = {in->cond_result.ci_0, in->cond_result.ci_1},
        .has = {in->cond_result.key_res_0_set, in->cond_result.key_res_1_set},
        .f2_key_increment = (uint8_t)in->cond_result.f2_key_incr,
        .f2f4_token = (uint8_t)in->cond_result.f2f4_token,
        .f3_tokens = (uint16_t)in->cond_result.f3_tokens,
    };
}

/** The fields that have different places in the versions. */
struct moved_fields {
    uint32_t valid, err_type;
    uint8_t err_header, version;
};

static struct moved_fields get_moved(const ocsd_etmv4_i_pkt *in)
{
#ifndef OCSD_STRICT_1_3
    /* A version of ETMv4 or ETE in its old place: all are there, and the struct may end there. */
    const char *bytes = (const char *)in;
    uint8_t version = (uint8_t)bytes[OLD_VERSION];
    if (HAS_OLD_PLACES && version >= 0x40 && version < 0x60) {
        struct moved_fields old = {
            .err_type = ETM4_PKT_I_NO_ERR_TYPE,
            .err_header = (uint8_t)bytes[OLD_ERR_HDR_VAL],
            .version = version,
        };
        memcpy(&old.valid, bytes + OLD_PKT_VALID, sizeof(old.valid));
        if (in->type != ETE_PKT_I_ITE)
            memcpy(&old.err_type, bytes + OLD_ERR_TYPE, sizeof(old.err_type));
        return old;
    }
#endif
    return (struct moved_fields){.valid = in->pkt_valid.val,
                                 .err_type = (uint32_t)in->err_type,
                                 .err_header = in->err_hdr_val,
                                 .version = in->protocol_version};
}

size_t shell_etmv4_client_text(const void *client, char *buffer, size_t size)
{
    const ocsd_etmv4_i_pkt *in = client;
    struct moved_fields moved = get_moved(in);
    struct pug_etmv4_packet packet = {
        .type = (uint32_t)in->type,
        .err_type = moved.err_type,
        .atom_bits = in->atom.En_bits,
        .atom_count = in->atom.num > 32 ? 32 : in->atom.num,
        .err_header = moved.err_header,
        .version = moved.version,
        .match = in->addr_exact_match_idx,
        .valid = shell_plain_bits(moved.valid, VALID_WIDTHS),
        .address = {.value = in->v_addr.val,
                    .size = in->v_addr.size == VA_64BIT ? 64 : 32,
                    .valid_bits = in->v_addr.valid_bits,
                    .pkt_bits = in->v_addr.pkt_bits,
                    .is = in->v_addr_ISA},
        .timestamp = in->ts.timestamp,
        .timestamp_bits = in->ts.bits_changed,
        .marker = in->dsm_val,
        .event = in->event_val,
        .q_type = (uint8_t)in->Q_pkt.q_type,
        .q_count = in->Q_pkt.q_count,
        .q_has_address = in->Q_pkt.addr_present,
        .q_has_match = in->Q_pkt.addr_match,
        .q_has_count = in->Q_pkt.count_present,
        .exception_address = (uint8_t)in->exception_info.addr_interp,
        .exception_type = (uint16_t)in->exception_info.exceptionType,
        .exception_fault = in->exception_info.m_fault_pending,
        .exception_m = in->exception_info.m_type,
        .trace_info = shell_plain_bits(in->trace_info.val, TRACE_INFO_WIDTHS),
        .cc_threshold = in->cc_threshold,
        .cycle_count = in->cycle_count,
        .spec_depth = in->curr_spec_depth,
        .p0_key = in->p0_key,
        .commit_count = in->commit_elements,
        .cancel_count = in->cancel_elements,
    };
#ifndef OCSD_STRICT_1_3
    if (in->type == ETE_PKT_I_ITE) {
        packet.ite_el = in->ite_pkt.el;
        packet.ite_value = in->ite_pkt.value;
    }
#endif
    get_context(&in->context, &packet.context);
    get_conditional(in, &packet);
    return pug_protocol_etmv4.packet_text(&packet, buffer, size);
}
