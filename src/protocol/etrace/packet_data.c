// SPDX-License-Identifier: MIT
/**
 * @file Data trace payloads: the 2.0 set of packets, and the draft's (multi-memory access, CAS).
 */
#include "protocol/etrace/packet_fields.h"

#include "pugmark/element.h"

/** One payload on its way. */
struct parser {
    const struct pug_etrace_config *config;
    const struct pug_etrace_options *options;
    uint8_t *request_sizes;
    struct pug_fields fields;
    struct pug_etrace_packet *packet;
    struct pug_etrace_data *data;
};

static unsigned clog2(unsigned value)
{
    unsigned bits = 0;
    while ((1u << bits) < value)
        bits++;
    return bits;
}

static unsigned take(struct parser *p, unsigned width)
{
    return (unsigned)pug_fields_take(&p->fields, width);
}

static void take_size(struct parser *p)
{
    unsigned width = clog2(clog2(p->config->data_width / 8u + 1));
    p->data->size = (uint8_t)take(p, width > 1 ? width : 1);
}

/** Keep the bytes of the access. */
static uint64_t cut(const struct parser *p, uint64_t value)
{
    return p->data->size >= 3 ? value : value & ((UINT64_C(1) << (8u << p->data->size)) - 1);
}

/** A length, in `width` bits, and a signed value of so many bytes. */
static uint64_t take_sized(struct parser *p, unsigned width)
{
    unsigned bits = 8 * (take(p, width) + 1);
    return cut(p, pug_sign_extend(pug_fields_take(&p->fields, bits), bits));
}

static void take_value(struct parser *p)
{
    p->data->has_value = true;
    p->data->value = take_sized(p, p->data->size);
}

static void take_operand(struct parser *p)
{
    p->data->has_operand = true;
    p->data->operand = take_sized(p, p->data->size);
}

/** The whole width, shortened by the payload's own sign. */
static uint64_t take_wide(struct parser *p)
{
    return cut(p, pug_sign_extend(pug_fields_take(&p->fields, p->config->data_width),
                                  p->config->data_width));
}

static void take_address(struct parser *p)
{
    unsigned width = p->config->daddress_width;
    p->data->has_address = true;
    p->data->address = pug_sign_extend(pug_fields_take(&p->fields, width), width);
}

static void take_request(struct parser *p)
{
    p->data->split = true;
    p->data->lrid = (uint16_t)take(p, p->config->lrid_width);
    p->request_sizes[p->data->lrid % PUG_ETRACE_LRIDS] = p->data->size;
}

/* ---- the kinds of packet, by the fields that follow their format ---- */

static bool has_both(const struct parser *p)
{
    return !p->options->data_no_address && !p->options->data_no_value;
}

static void load_store(struct parser *p, uint8_t access, bool unaligned)
{
    struct pug_etrace_data *data = p->data;
    data->access = access;
    data->unaligned = unaligned;
    take_size(p);
    if (p->config->split && access == PUG_ACCESS_LOAD && has_both(p)) {
        take_request(p);
        data->diff = (uint8_t)take(p, 1);
        take_address(p);
    } else if (has_both(p)) {
        data->diff = (uint8_t)take(p, 2);
        take_value(p);
        take_address(p);
    } else if (p->options->data_no_value) {
        data->diff = (uint8_t)take(p, 1);
        if (!p->options->data_no_address)
            take_address(p);
    } else {
        data->diff = (uint8_t)take(p, p->config->diff_bits);
        data->has_value = true;
        data->value = take_wide(p);
    }
}

/** Only an address, whatever else is traced. */
static void failed_store(struct parser *p)
{
    p->data->access = PUG_ACCESS_SC_FAIL;
    take_size(p);
    p->data->diff = (uint8_t)take(p, 1);
    take_address(p);
}

static void failed_swap(struct parser *p)
{
    p->data->access = PUG_ACCESS_CAS_FAIL;
    take_size(p);
    p->data->diff = (uint8_t)take(p, 2);
    take_operand(p);
    take_address(p);
}

static void split_atomic(struct parser *p)
{
    take_request(p);
    p->data->diff = (uint8_t)take(p, 2);
    if (p->options->data_no_address) {
        p->data->has_operand = true;
        p->data->operand = take_wide(p);
        return;
    }
    take_operand(p);
    take_address(p);
}

static void atomic(struct parser *p, uint8_t access)
{
    struct pug_etrace_data *data = p->data;
    data->access = access;
    take_size(p);
    if (p->options->data_no_value) {
        data->diff = (uint8_t)take(p, 1);
        take_address(p);
    } else if (p->config->split && (has_both(p) || p->options->data_mma_cas)) {
        split_atomic(p);
    } else if (has_both(p)) {
        data->diff = (uint8_t)take(p, 2);
        take_operand(p);
        take_value(p);
        take_address(p);
    } else {
        data->diff = (uint8_t)take(p, p->config->diff_bits);
        take_operand(p);
        data->has_value = true;
        data->value = take_wide(p);
    }
}

/** Register addresses are complete; those from 0xC00 on are read-only and have no operand. */
static void csr(struct parser *p, uint8_t access)
{
    struct pug_etrace_data *data = p->data;
    unsigned length = p->config->xlen == 64 ? 3 : 2;
    bool with_value = !p->options->data_no_value;
    data->access = access;
    data->size = (uint8_t)length;
    data->has_address = true;
    data->diff = (uint8_t)take(p, with_value ? p->config->diff_bits : 1);
    if (with_value)
        take_value(p);
    unsigned high = take(p, 6);
    if (with_value && high >> 4 != 3)
        take_operand(p);
    data->address = high << 6 | take(p, 6);
}

/** Data of a split load, or of an atomic in the draft's set. */
static void reply(struct parser *p)
{
    p->packet->type = PUG_ETRACE_DATA_REPLY;
    take_size(p);
    p->data->lrid = (uint16_t)take(p, p->config->lrid_width);
    p->data->diff = (uint8_t)take(p, 2);
    p->data->has_value = p->data->diff != 0;
    if (p->data->has_value)
        p->data->value = take_wide(p);
}

/** Data of a split atomic in the 2.0 set: its request said how many bytes. */
static void atomic_reply(struct parser *p)
{
    p->packet->type = PUG_ETRACE_DATA_REPLY;
    p->data->lrid = (uint16_t)take(p, p->config->lrid_width);
    p->data->size = p->request_sizes[p->data->lrid % PUG_ETRACE_LRIDS];
    p->data->diff = (uint8_t)take(p, 2);
    if (p->data->diff != 0)
        take_value(p);
}

/* ---- formats ---- */

static void parse_2_0(struct parser *p)
{
    static const uint8_t atomics[] = {PUG_ACCESS_SWAP, PUG_ACCESS_ADD, PUG_ACCESS_AND,
                                      PUG_ACCESS_OR,   PUG_ACCESS_XOR, PUG_ACCESS_MAX,
                                      PUG_ACCESS_MIN};
    static const uint8_t ref_atomics[] = {PUG_ACCESS_SWAP, PUG_ACCESS_ADD,     PUG_ACCESS_AND,
                                          PUG_ACCESS_OR,   PUG_ACCESS_UNKNOWN, PUG_ACCESS_XOR,
                                          PUG_ACCESS_MAX,  PUG_ACCESS_MIN};
    unsigned format = take(p, p->config->data_format_bits), subtype;
    switch (format) {
    case 4: reply(p); break;
    case 5:
        subtype = take(p, 2);
        if (subtype == 3)
            pug_etrace_bad(p->packet, "reserved subtype of a CSR access");
        else
            csr(p, (uint8_t)(PUG_ACCESS_CSR_RW + subtype));
        break;
    case 6:
        subtype = take(p, 3);
        if (p->config->ref_atomic_codes)
            atomic(p, ref_atomics[subtype]);
        else if (subtype == 7)
            failed_store(p);
        else
            atomic(p, atomics[subtype]);
        break;
    case 7: atomic_reply(p); break;
    default: load_store(p, format >= 2 ? PUG_ACCESS_STORE : PUG_ACCESS_LOAD, format & 1);
    }
}

static void parse_draft(struct parser *p)
{
    unsigned format = take(p, p->config->mma_format_bits);
    if (format < 2) {
        unsigned subformat = take(p, 2);
        p->data->multi = format == 1;
        load_store(p, subformat >= 2 ? PUG_ACCESS_STORE : PUG_ACCESS_LOAD, subformat & 1);
        return;
    }
    if (format == 3)
        return reply(p);
    unsigned access = take(p, 4);
    switch (access) {
    case PUG_ACCESS_CSR_RW:
    case PUG_ACCESS_CSR_RS:
    case PUG_ACCESS_CSR_RC: csr(p, (uint8_t)access); break;
    case PUG_ACCESS_CAS_FAIL: failed_swap(p); break;
    case PUG_ACCESS_SC_FAIL: failed_store(p); break;
    default:
        if (access < PUG_ACCESS_SWAP)
            pug_etrace_bad(p->packet, "reserved subformat of a data packet");
        else
            atomic(p, (uint8_t)access);
    }
}

unsigned pug_etrace_parse_data(const struct pug_etrace_config *config,
                               const struct pug_etrace_options *options, const uint8_t *payload,
                               unsigned size, uint8_t request_sizes[PUG_ETRACE_LRIDS],
                               struct pug_etrace_packet *packet)
{
    struct parser parser = {.config = config,
                            .options = options,
                            .request_sizes = request_sizes,
                            .packet = packet,
                            .data = &packet->data};
    packet->type = PUG_ETRACE_DATA;
    packet->data = (struct pug_etrace_data){0};
    pug_fields_set(&parser.fields, payload, size);
    if (options->data_mma_cas)
        parse_draft(&parser);
    else
        parse_2_0(&parser);
    if (packet->type != PUG_ETRACE_BAD && (1u << packet->data.size) * 8 > config->data_width &&
        packet->data.access != PUG_ACCESS_CSR_RW && packet->data.access != PUG_ACCESS_CSR_RS &&
        packet->data.access != PUG_ACCESS_CSR_RC)
        pug_etrace_bad(packet, "access is wider than the data width");
    return parser.fields.at;
}
