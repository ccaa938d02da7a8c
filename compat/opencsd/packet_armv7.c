// SPDX-License-Identifier: MIT
/** @file ETMv3 and PTM packets, to the client's structs and back. */
#include "packets.h"

#include "protocol/builtin.h"
#include "pugmark/advanced/packet/etmv3.h"
#include "pugmark/advanced/packet/ptm.h"

static void put_address(const struct pug_armv7_address *in, ocsd_pkt_vaddr *out)
{
    out->size = VA_32BIT;
    out->val = in->value;
    out->pkt_bits = in->packet_bits;
    out->valid_bits = in->valid_bits;
}

static struct pug_armv7_address get_address(const ocsd_pkt_vaddr *in)
{
    return (struct pug_armv7_address){
        .value = in->val, .packet_bits = in->pkt_bits, .valid_bits = in->valid_bits};
}

static struct pug_armv7_atoms get_atoms(const ocsd_pkt_atom *in)
{
    return (struct pug_armv7_atoms){.bits = in->En_bits, .count = in->num > 32 ? 32 : in->num};
}

/* The client has two context structs of one shape. */
#define PUT_CONTEXT(in, out)                                                                       \
    do {                                                                                           \
        (out)->curr_alt_isa = (in)->alt_isa;                                                       \
        (out)->curr_NS = (in)->non_secure;                                                         \
        (out)->curr_Hyp = (in)->hyp;                                                               \
        (out)->updated = (in)->updated;                                                            \
        (out)->updated_c = (in)->updated_context_id;                                               \
        (out)->updated_v = (in)->updated_vmid;                                                     \
        (out)->ctxtID = (in)->context_id;                                                          \
        (out)->VMID = (in)->vmid;                                                                  \
    } while (0)

#define GET_CONTEXT(in)                                                                            \
    ((struct pug_armv7_context){                                                                   \
        .context_id = (in)->ctxtID,                                                                \
        .vmid = (in)->VMID,                                                                        \
        .alt_isa = (in)->curr_alt_isa,                                                             \
        .non_secure = (in)->curr_NS,                                                               \
        .hyp = (in)->curr_Hyp,                                                                     \
        .updated = (in)->updated,                                                                  \
        .updated_context_id = (in)->updated_c,                                                     \
        .updated_vmid = (in)->updated_v,                                                           \
        .vmid_as_character = true,                                                                 \
    })

/* ---- ETMv3 ---- */

static void put_data(const struct pug_etmv3_data *in, etmv3_data_t *out)
{
    out->value = in->value;
    put_address(&in->address, &out->addr);
    out->ooo_tag = in->tag & 3u;
    out->be = in->big_endian;
    out->update_be = in->updated_big_endian;
    out->update_addr = in->updated_address;
    out->update_dval = in->updated_value;
}

void shell_etmv3_to_client(const void *packet, union shell_client_packet *client)
{
    const struct pug_etmv3_packet *in = packet;
    ocsd_etmv3_pkt *out = &client->etmv3;
    memset(out, 0, sizeof(*out));
    out->type = (ocsd_etmv3_pkt_type)in->type;
    out->curr_isa = (ocsd_isa)in->isa;
    out->prev_isa = (ocsd_isa)in->previous_isa;
    PUT_CONTEXT(&in->context, &out->context);
    put_address(&in->address, &out->addr);
    out->isync_info.reason = (ocsd_iSync_reason)in->isync.reason;
    out->isync_info.has_cycle_count = in->isync.has_cycle_count;
    out->isync_info.has_LSipAddress = in->isync.has_lsip;
    out->isync_info.no_address = in->isync.no_address;
    out->exception.type = (ocsd_armv7_exception)in->exception.type;
    out->exception.number = in->exception.number;
    out->exception.bits.present = in->exception.present;
    out->exception.bits.cancel = in->exception.cancel;
    out->exception.bits.cm_type = in->exception.m_profile;
    out->exception.bits.cm_resume = in->exception.resume & 15u;
    out->exception.bits.cm_irq_n = in->exception.irq & 0x1ffu;
    out->atom.En_bits = in->atoms.bits;
    out->atom.num = in->atoms.count;
    out->p_hdr_fmt = in->format;
    out->cycle_count = in->cycle_count;
    out->timestamp = in->timestamp;
    out->ts_update_bits = in->timestamp_bits;
    put_data(&in->data, &out->data);
    out->err_type = (ocsd_etmv3_pkt_type)in->header_type;
}

size_t shell_etmv3_client_text(const void *client, char *buffer, size_t size)
{
    const ocsd_etmv3_pkt *in = client;
    struct pug_etmv3_packet packet = {
        .type = (uint8_t)in->type,
        .header_type = (uint8_t)in->err_type,
        .isa = (uint8_t)in->curr_isa,
        .previous_isa = (uint8_t)in->prev_isa,
        .has_isa = in->curr_isa != in->prev_isa,
        .context = GET_CONTEXT(&in->context),
        .address = get_address(&in->addr),
        .isync = {.reason = (uint8_t)in->isync_info.reason,
                  .has_cycle_count = in->isync_info.has_cycle_count,
                  .has_lsip = in->isync_info.has_LSipAddress,
                  .no_address = in->isync_info.no_address},
        .exception = {.number = in->exception.number,
                      .irq = (uint16_t)in->exception.bits.cm_irq_n,
                      .type = (uint8_t)in->exception.type,
                      .resume = (uint8_t)in->exception.bits.cm_resume,
                      .present = in->exception.bits.present,
                      .cancel = in->exception.bits.cancel,
                      .m_profile = in->exception.bits.cm_type},
        .atoms = get_atoms(&in->atom),
        .format = in->p_hdr_fmt,
        .cycle_count = in->cycle_count,
        .timestamp = in->timestamp,
        .timestamp_bits = in->ts_update_bits,
        .data = {.address = get_address(&in->data.addr),
                 .value = in->data.value,
                 .tag = (uint8_t)in->data.ooo_tag,
                 .big_endian = in->data.be,
                 .updated_big_endian = in->data.update_be,
                 .updated_address = in->data.update_addr,
                 .updated_value = in->data.update_dval},
    };
    return pug_protocol_etmv3.packet_text(&packet, buffer, size);
}

/* ---- PTM ---- */

void shell_ptm_to_client(const void *packet, union shell_client_packet *client)
{
    const struct pug_ptm_packet *in = packet;
    ocsd_ptm_pkt *out = &client->ptm;
    memset(out, 0, sizeof(*out));
    out->type = (ocsd_ptm_pkt_type)in->type;
    out->curr_isa = (ocsd_isa)in->isa;
    out->prev_isa = (ocsd_isa)in->previous_isa;
    put_address(&in->address, &out->addr);
    PUT_CONTEXT(&in->context, &out->context);
    out->atom.En_bits = in->atoms.bits;
    out->atom.num = in->atoms.count;
    out->i_sync_reason = (ocsd_iSync_reason)in->isync_reason;
    out->cycle_count = in->cycle_count;
    out->cc_valid = in->has_cycle_count;
    out->timestamp = in->timestamp;
    out->ts_update_bits = in->timestamp_bits;
    out->exception.type = (ocsd_armv7_exception)in->exception.type;
    out->exception.number = in->exception.number;
    out->exception.bits.present = in->exception.present;
    out->err_type = (ocsd_ptm_pkt_type)in->header_type;
}

size_t shell_ptm_client_text(const void *client, char *buffer, size_t size)
{
    const ocsd_ptm_pkt *in = client;
    struct pug_ptm_packet packet = {
        .type = (uint8_t)in->type,
        .header_type = (uint8_t)in->err_type,
        .isa = (uint8_t)in->curr_isa,
        .previous_isa = (uint8_t)in->prev_isa,
        .address = get_address(&in->addr),
        .context = GET_CONTEXT(&in->context),
        .atoms = get_atoms(&in->atom),
        .isync_reason = (uint8_t)in->i_sync_reason,
        .has_cycle_count = in->cc_valid,
        .cycle_count = in->cycle_count,
        .timestamp = in->timestamp,
        .timestamp_bits = in->ts_update_bits,
        .exception = {.number = in->exception.number,
                      .type = (uint8_t)in->exception.type,
                      .present = in->exception.bits.present},
    };
    return pug_protocol_ptm.packet_text(&packet, buffer, size);
}
