// SPDX-License-Identifier: MIT
/** @file What a complete packet says: its fields, and the state that packets build on. */
#include "protocol/etmv4/address.h"

typedef struct pug_etmv4_reader reader;

/** The bytes of one packet, read from the front. */
struct bytes {
    const uint8_t *at, *end;
    bool missing; /**< more were asked for than there are */
};

static uint8_t get_byte(struct bytes *b)
{
    if (b->at < b->end)
        return *b->at++;
    b->missing = true;
    return 0;
}

static uint64_t get_number(struct bytes *b, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)get_byte(b) << 8 * i;
    return value;
}

/** Groups of seven bits, bit 7 says that there is another; at most `limit` of them are read. */
static uint32_t get_leb(struct bytes *b, unsigned limit)
{
    uint64_t value = 0;
    uint8_t byte = 0x80;
    for (unsigned i = 0; i < limit && (byte & 0x80); i++) {
        byte = get_byte(b);
        value |= (uint64_t)(byte & 0x7F) << 7 * i;
    }
    return (uint32_t)value;
}

/* ---- errors ---- */

static void report(reader *r, enum pug_status code, const char *text)
{
    pug_stage_log(r->stage, r->stage->reader_name, PUG_SEV_ERROR, code, r->index, text);
}

static void set_error(reader *r, uint32_t type)
{
    r->special |= PUG_ETMV4_USED;
    r->packet.err_type = r->packet.type;
    r->packet.type = type;
}

/* ---- context ---- */

static void read_context(reader *r, struct bytes *b)
{
    struct pug_etmv4_context *context = &r->packet.context;
    uint8_t info = get_byte(b);
    r->special |= PUG_ETMV4_USED;
    context->updated = true;
    context->el = info & 3;
    context->nse = info >> 3 & 1;
    context->sf = info >> 4 & 1;
    context->ns = info >> 5 & 1;
    if ((info & 0x40) && r->config->vmid_size) {
        context->vmid = (uint32_t)get_number(b, r->config->vmid_size);
        context->updated_vmid = true;
    }
    if ((info & 0x80) && r->config->context_id_size) {
        context->context_id = (uint32_t)get_number(b, r->config->context_id_size);
        context->updated_context_id = true;
    }
    r->packet.valid |= PUG_ETMV4_HAS_CONTEXT;
}

/* ---- addresses ---- */

static void read_address(reader *r, struct bytes *b, unsigned row)
{
    const uint64_t payload = pug_etmv4_ahead(b->at, b->end);
    const uint64_t head = pug_etmv4_address_head(row, payload);
    pug_etmv4_read_address(r, pug_etmv4_form_of(pug_etmv4_forms_of(r), head), payload);
    pug_etmv4_show_address(r);
    b->at += pug_etmv4_address_size(head) - 1;
}

/* ---- synchronisation and time ---- */

static void read_extension(reader *r, const uint8_t *raw, size_t size)
{
    if (size == PUG_ETMV4_ASYNC_SIZE && raw[size - 1] == 0x80) {
        r->packet.type = PUG_ETMV4_ASYNC;
    } else if (raw[1] == 0x03) {
        r->packet.type = PUG_ETMV4_DISCARD;
    } else if (raw[1] == 0x05) {
        r->packet.type = PUG_ETMV4_OVERFLOW;
    } else {
        if (raw[1] == 0x00)
            r->packet.type = PUG_ETMV4_ASYNC;
        set_error(r, PUG_ETMV4_BAD_SEQUENCE);
    }
}

static void read_trace_info(reader *r, struct bytes *b)
{
    struct pug_etmv4_packet *packet = &r->packet;
    uint8_t sections = get_byte(b), control = sections;
    r->special |= PUG_ETMV4_USED;
    while ((control & 0x80) && !b->missing)
        control = get_byte(b);
    packet->valid &=
        ~(uint32_t)(PUG_ETMV4_HAS_TIMESTAMP | PUG_ETMV4_HAS_CC_THRESHOLD | PUG_ETMV4_HAS_P0_KEY);
    packet->valid |= PUG_ETMV4_HAS_TRACE_INFO | PUG_ETMV4_HAS_SPEC_DEPTH;
    packet->trace_info = 0;
    packet->spec_depth = 0;
    packet->address = (struct pug_etmv4_address){.size = 64, .valid_bits = 64};
    for (unsigned i = 0; i <= PUG_ETMV4_REGISTER; i++)
        r->stack[i] = packet->address;
    if (sections & 1 << 0) {
        packet->trace_info = get_leb(b, 5);
        if (!r->stage->quirks.etm4_info_marks)
            packet->trace_info &= 0xFFFF;
    }
    if (sections & 1 << 1) {
        packet->p0_key = get_leb(b, 5);
        packet->valid |= PUG_ETMV4_HAS_P0_KEY;
    }
    if (sections & 1 << 2) {
        packet->spec_depth = get_leb(b, 5);
        packet->trace_info |= PUG_ETMV4_INFO_SPEC_FIELD;
    }
    if (sections & 1 << 3) {
        packet->cc_threshold = get_leb(b, 5);
        packet->valid |= PUG_ETMV4_HAS_CC_THRESHOLD;
    }
    if (sections & 1 << 4)
        get_leb(b, 5); /* WINDOW */
    if (!r->info_seen)
        packet->trace_info |= PUG_ETMV4_INFO_INITIAL;
    r->info_seen = true;
}

/** Eight bytes of seven bits, each of which says whether another follows, then one of eight. */
static void read_timestamp(reader *r, struct bytes *b, uint8_t header)
{
    struct pug_etmv4_packet *packet = &r->packet;
    uint64_t value = 0;
    unsigned bits = 0;
    uint8_t byte = 0x80;
    while ((byte & 0x80) && bits < 56) {
        byte = get_byte(b);
        value |= (uint64_t)(byte & 0x7F) << bits;
        bits += 7;
    }
    if (byte & 0x80) {
        value |= (uint64_t)get_byte(b) << 56;
        bits = 64;
    }
    if (r->info_seen && !(packet->valid & PUG_ETMV4_HAS_TIMESTAMP))
        bits = 64; /* the first one after a TRACE_INFO is complete */
    uint64_t kept = bits == 64 ? 0 : packet->timestamp & ~((UINT64_C(1) << bits) - 1);
    packet->timestamp = kept | value;
    packet->timestamp_bits = (uint8_t)bits;
    packet->valid |= PUG_ETMV4_HAS_TIMESTAMP;
    if (header == 0x03) {
        r->special |= PUG_ETMV4_USED;
        packet->cycle_count = get_leb(b, 3) & ((UINT32_C(1) << r->config->cycle_count_bits) - 1);
        packet->valid |= PUG_ETMV4_HAS_CYCLE_COUNT;
    }
}

static void set_cycle_count(reader *r, uint32_t count)
{
    r->special |= PUG_ETMV4_USED;
    r->packet.cycle_count =
        count + (r->packet.valid & PUG_ETMV4_HAS_CC_THRESHOLD ? r->packet.cc_threshold : 0);
    r->packet.valid |= PUG_ETMV4_HAS_CYCLE_COUNT;
}

/** Cycle count packets carry the commit that they go with, but for commit option 1. */
static void set_commit(reader *r, uint32_t count)
{
    if (r->config->commit_option_1)
        return;
    r->special |= PUG_ETMV4_USED;
    r->packet.commit_count = count;
    r->packet.valid |= PUG_ETMV4_HAS_COMMIT;
}

static void read_ccnt_f1(reader *r, struct bytes *b, uint8_t header)
{
    if (!r->config->commit_option_1)
        set_commit(r, get_leb(b, 5));
    if (header & 1) { /* the count is unknown */
        r->special |= PUG_ETMV4_USED;
        r->packet.cycle_count = 0;
        r->packet.valid |= PUG_ETMV4_HAS_CYCLE_COUNT;
    } else {
        set_cycle_count(r, get_leb(b, 3));
    }
}

static void read_ccnt_f2(reader *r, struct bytes *b, uint8_t header)
{
    uint8_t byte = get_byte(b);
    set_cycle_count(r, byte & 0xF);
    set_commit(r, (byte >> 4) + (header & 1 ? r->config->idr8 - 15 : 1));
}

/* ---- everything else ---- */

static void read_except(reader *r, struct bytes *b)
{
    struct pug_etmv4_packet *packet = &r->packet;
    uint8_t first = get_byte(b), second = 0;
    if (first & 0x80)
        second = get_byte(b);
    packet->exception_type = (uint16_t)((first >> 1 & 0x1F) | (second & 0x1F) << 5);
    packet->exception_address = (uint8_t)((first & 1) | (first >> 5 & 2));
    packet->exception_fault = second >> 5 & 1;
    packet->exception_m = r->config->profile == PUG_PROFILE_M;
    packet->exception_unnamed = r->config->profile == PUG_PROFILE_UNKNOWN && !packet->context.sf &&
                                r->stack[PUG_ETMV4_REGISTER].is != 0 &&
                                !pug_quirks_any(&r->stage->quirks);
    if (!r->config->ete || (packet->exception_type != 0x000 && packet->exception_type != 0x018))
        return;
    packet->type = packet->exception_type == 0x000 ? PUG_ETMV4_PE_RESET : PUG_ETMV4_TRANS_FAIL;
    pug_etmv4_read_address(r, &pug_etmv4_address_forms[1][0xD], 0);
    pug_etmv4_show_address(r);
}

static void set_cancel(reader *r, uint32_t count)
{
    r->special |= PUG_ETMV4_USED;
    r->packet.cancel_count = count;
    r->packet.valid |= PUG_ETMV4_HAS_CANCEL;
}

static void read_cancel(reader *r, uint8_t header)
{
    if (r->packet.type == PUG_ETMV4_CANCEL_F3)
        set_cancel(r, (header >> 1 & 3u) + 2);
    else
        set_cancel(r, r->packet.type == PUG_ETMV4_CANCEL_F2);
}

static void read_q(reader *r, struct bytes *b, uint8_t header)
{
    struct pug_etmv4_packet *packet = &r->packet;
    uint8_t type = header & 0xF;
    packet->q_type = type;
    packet->q_has_match = type <= 2;
    packet->q_has_address = type <= 0xB;
    packet->q_has_count = type != 0xF;
    if (packet->q_has_match)
        packet->match = type;
    if (packet->q_has_address)
        read_address(r, b, type);
    packet->q_count = packet->q_has_count ? get_leb(b, 5) : 0;
}

static void read_cond_instr(reader *r, struct bytes *b, uint8_t header)
{
    struct pug_etmv4_cond_instr *cond = &r->packet.cond_instr;
    *cond = (struct pug_etmv4_cond_instr){0};
    if (r->packet.type == PUG_ETMV4_COND_I_F1) {
        cond->key = get_leb(b, 5);
        cond->key_set = true;
        cond->elements = 1;
        r->packet.valid |= PUG_ETMV4_HAS_COND_C_KEY;
    } else if (r->packet.type == PUG_ETMV4_COND_I_F2) {
        cond->f2_increment = (header & 3) != 1;
        cond->elements = (header & 3) == 2 ? 2 : 1;
    } else {
        uint8_t byte = get_byte(b);
        cond->elements = (uint8_t)((byte >> 1 & 0x3F) + (byte & 1));
        cond->f3_final = byte & 1;
    }
}

static void read_cond_result_f1(reader *r, struct bytes *b, uint8_t header)
{
    struct pug_etmv4_cond_result *cond = &r->packet.cond_result;
    unsigned results = (header & 0xFC) == 0x6C ? 1 : 2;
    for (unsigned i = 0; i < results; i++) {
        uint8_t byte = get_byte(b);
        uint64_t key = byte >> 4 & 7;
        cond->result[i] = byte & 0xF;
        for (unsigned bits = 3; (byte & 0x80) && bits < 3 + 5 * 7; bits += 7) {
            byte = get_byte(b);
            key |= (uint64_t)(byte & 0x7F) << bits;
        }
        cond->key[i] = (uint32_t)key;
        cond->ci[i] = header >> i & 1;
        cond->has[i] = true;
    }
    r->packet.valid |= PUG_ETMV4_HAS_COND_R_KEY;
}

static void read_cond_result(reader *r, struct bytes *b, uint8_t header)
{
    struct pug_etmv4_cond_result *cond = &r->packet.cond_result;
    *cond = (struct pug_etmv4_cond_result){0};
    switch (r->packet.type) {
    case PUG_ETMV4_COND_RES_F1: read_cond_result_f1(r, b, header); break;
    case PUG_ETMV4_COND_RES_F2:
        cond->f2_key_increment = header & 4 ? 2 : 1;
        cond->f2f4_token = header & 3;
        break;
    case PUG_ETMV4_COND_RES_F3:
        cond->f3_tokens = (uint16_t)((header & 0xF) << 8 | get_byte(b));
        break;
    default: cond->f2f4_token = header & 3;
    }
}

static void read_reserved(reader *r, uint8_t header, uint32_t type)
{
    set_error(r, type);
    r->packet.err_header = header;
    r->stage->stats.bad_headers++;
    report(r, PUG_ERR_PACKET_HEADER, "");
}

static void read_form(reader *r, struct bytes *b, const uint8_t *raw, size_t size)
{
    const uint8_t header = raw[0];
    const unsigned row = pug_etmv4_address_row(r->header);
    switch ((enum pug_etmv4_form)r->header->form) {
    case PUG_ETMV4_FORM_ATOM:
    case PUG_ETMV4_FORM_BARE: break;
    case PUG_ETMV4_FORM_RESERVED: read_reserved(r, header, PUG_ETMV4_RESERVED); break;
    case PUG_ETMV4_FORM_RESERVED_CFG: read_reserved(r, header, PUG_ETMV4_RESERVED_CFG); break;
    case PUG_ETMV4_FORM_EXTENSION: read_extension(r, raw, size); break;
    case PUG_ETMV4_FORM_TRACE_INFO: read_trace_info(r, b); break;
    case PUG_ETMV4_FORM_TIMESTAMP: read_timestamp(r, b, header); break;
    case PUG_ETMV4_FORM_EXCEPT: read_except(r, b); break;
    case PUG_ETMV4_FORM_ITE:
        r->packet.ite_el = get_byte(b);
        r->packet.ite_value = get_number(b, 8);
        break;
    case PUG_ETMV4_FORM_CCNT_F1: read_ccnt_f1(r, b, header); break;
    case PUG_ETMV4_FORM_CCNT_F2: read_ccnt_f2(r, b, header); break;
    case PUG_ETMV4_FORM_CCNT_F3:
        set_cycle_count(r, header & 3);
        set_commit(r, (header >> 2 & 3u) + 1);
        break;
    case PUG_ETMV4_FORM_DS_MARKER: r->packet.marker = header & 7; break;
    case PUG_ETMV4_FORM_COMMIT:
        r->special |= PUG_ETMV4_USED;
        r->packet.commit_count = get_leb(b, 5);
        r->packet.valid |= PUG_ETMV4_HAS_COMMIT;
        break;
    case PUG_ETMV4_FORM_CANCEL_F1: set_cancel(r, get_leb(b, 5)); break;
    case PUG_ETMV4_FORM_CANCEL: read_cancel(r, header); break;
    case PUG_ETMV4_FORM_COND_I: read_cond_instr(r, b, header); break;
    case PUG_ETMV4_FORM_COND_RES: read_cond_result(r, b, header); break;
    case PUG_ETMV4_FORM_EVENT: r->packet.event = header & 0xF; break;
    case PUG_ETMV4_FORM_CTXT:
        r->packet.valid |= PUG_ETMV4_HAS_CONTEXT;
        if (header & 1)
            read_context(r, b);
        break;
    case PUG_ETMV4_FORM_MATCH:
        r->packet.match = r->header->is;
        read_address(r, b, row);
        break;
    case PUG_ETMV4_FORM_ADDR_S:
    case PUG_ETMV4_FORM_ADDR_32:
    case PUG_ETMV4_FORM_ADDR_64: read_address(r, b, row); break;
    case PUG_ETMV4_FORM_ADDR_CTXT_32:
    case PUG_ETMV4_FORM_ADDR_CTXT_64:
        read_address(r, b, row);
        read_context(r, b);
        break;
    case PUG_ETMV4_FORM_Q: read_q(r, b, header); break;
    }
}

void pug_etmv4_read_fields(reader *r, const uint8_t *raw, size_t size)
{
    struct bytes b = {.at = raw + 1, .end = raw + size};
    read_form(r, &b, raw, size);
    if (!b.missing)
        return;
    set_error(r, PUG_ETMV4_BAD_SEQUENCE);
    r->stage->stats.bad_sequences++;
    report(r, PUG_ERR_PACKET_SEQUENCE, "Invalid 32 bit continuation fields in packet");
}
