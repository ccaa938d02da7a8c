// SPDX-License-Identifier: MIT
/** @file Elements, to the client's struct and back. */
#include "base/text.h"
#include "host_bits.h"
#include "shell.h"

#include <assert.h>
#include <stdio.h>

#ifndef OCSD_STRICT_1_3
/* Where 1.3.3 has ptr_extended_data: the second word of the union, which only INSTRUMENTATION and
   ITMTRACE use. */
#define OLD_POINTER (offsetof(ocsd_generic_trace_elem, exception_number) + 8)
#endif

/* ---- to the client ---- */

/* Fields of flag_bits, and of the bits of software trace and of a context. */
#define FLAG_WIDTHS     "13111111111"
#define SOFTWARE_WIDTHS "8811111111"
#define CONTEXT_WIDTHS  "1111"

/* Bits of flag_bits, where the first field is the lowest. */
enum client_flag {
    FLAG_EXECUTED = 1 << 0,
    FLAG_SIZE_SHIFT = 1, /* three bits */
    FLAG_HAS_CC = 1 << 4,
    FLAG_FREQ_CHANGE = 1 << 5,
    FLAG_RET_ADDR = 1 << 6,
    FLAG_DATA_MARKER = 1 << 7,
    FLAG_EXTENDED_DATA = 1 << 8,
    FLAG_HAS_TS = 1 << 9,
    FLAG_CONDITIONAL = 1 << 10,
    FLAG_RET_ADDR_BR_TGT = 1 << 11,
    FLAG_M_TAIL_CHAIN = 1 << 12,
};

static const struct {
    uint16_t ours, client;
} flag_pairs[] = {
    {PUG_ELEM_EXECUTED, FLAG_EXECUTED},         {PUG_ELEM_HAS_CC, FLAG_HAS_CC},
    {PUG_ELEM_FREQ_CHANGE, FLAG_FREQ_CHANGE},   {PUG_ELEM_RET_ADDR, FLAG_RET_ADDR},
    {PUG_ELEM_DATA_MARKER, FLAG_DATA_MARKER},   {PUG_ELEM_HAS_TS, FLAG_HAS_TS},
    {PUG_ELEM_CONDITIONAL, FLAG_CONDITIONAL},   {PUG_ELEM_RET_ADDR_BR_TGT, FLAG_RET_ADDR_BR_TGT},
    {PUG_ELEM_M_TAIL_CHAIN, FLAG_M_TAIL_CHAIN},
};

#define FLAG_PAIRS (sizeof(flag_pairs) / sizeof(flag_pairs[0]))

static uint32_t client_flags(unsigned ours)
{
    uint32_t flags = 0;
    for (size_t i = 0; i < FLAG_PAIRS; i++)
        if (ours & flag_pairs[i].ours)
            flags |= flag_pairs[i].client;
    return flags;
}

static uint16_t our_flags(uint32_t client)
{
    uint16_t flags = 0;
    for (size_t i = 0; i < FLAG_PAIRS; i++)
        if (client & flag_pairs[i].client)
            flags |= flag_pairs[i].ours;
    return flags;
}

static void put_context(const struct pug_element *e, ocsd_generic_trace_elem *out)
{
    static_assert(PUG_CTX_BITS64 == 1 && PUG_CTX_CONTEXT_ID == 2 && PUG_CTX_VMID == 4 &&
                      PUG_CTX_LEVEL == 8 && offsetof(ocsd_pe_context, vmid) == 12,
                  "the client's bits, in the word behind vmid, are in our order");
    const uint32_t bits = e->context_flags, client = shell_host_bits(bits, CONTEXT_WIDTHS);
    out->context.security_level = (ocsd_sec_level)e->security;
    out->context.exception_level = bits & PUG_CTX_LEVEL ? (ocsd_ex_level)e->level : ocsd_EL_unknown;
    out->context.context_id = e->context_id;
    out->context.vmid = e->vmid;
    memcpy((char *)&out->context + 16, &client, sizeof(client));
}

/** Payload or NULL; 1.3.3 keeps the pointer where 1.8.0 has the second word of the union. */
static inline void put_payload_pointer(ocsd_generic_trace_elem *client, const void *payload)
{
    client->ptr_extended_data = payload;
#ifndef OCSD_STRICT_1_3
    memcpy((char *)client + OLD_POINTER, &payload, sizeof(payload));
#endif
}

/** What `sw_flags` says in the client's word of bit fields; few say more than two bits do. */
static inline uint32_t software_flags(uint32_t ours)
{
    static_assert(PUG_SW_ID_VALID == 1 && PUG_SW_MARKER == 2 && PUG_SW_MARKER_FIRST == 4 &&
                      PUG_SW_TRIGGER == 8 && PUG_SW_FREQUENCY == 16 && PUG_SW_MASTER_ERROR == 32 &&
                      PUG_SW_GLOBAL_ERROR == 64,
                  "the shifts below fit");
    uint32_t flags = (ours & PUG_SW_ID_VALID) << 23 | (ours & PUG_SW_MARKER) << 15;
    if (ours > (PUG_SW_ID_VALID | PUG_SW_MARKER))
        flags |= (ours & PUG_SW_MARKER_FIRST) << 16 |
                 (ours & (PUG_SW_TRIGGER | PUG_SW_FREQUENCY)) << 18 |
                 (ours & (PUG_SW_MASTER_ERROR | PUG_SW_GLOBAL_ERROR)) << 14;
    return flags;
}

/**
 * All that differs between two elements of software trace: they have no context, and here their
 * payloads are not joined.
 */
static inline void put_software(const struct pug_element *e, struct shell_element *out)
{
    static_assert(PUG_ELEM_HAS_TS == 1 << 3 && FLAG_HAS_TS == 1 << 9, "the shifts below fit");
    ocsd_generic_trace_elem *client = &out->client;
    /* One word, as it was written: parts of it would wait for the store. */
    const uint32_t word = e->context_flags | (uint32_t)e->sw_flags << 8 |
                          (uint32_t)e->sw_bits << 16 | (uint32_t)e->sw_packets << 24;
    const uint32_t timed = e->flags & (uint32_t)PUG_ELEM_HAS_TS;
    const bool loaded = (word >> 16 & 0xff) != 0;
    out->payload = shell_host_part(e->value, e->sw_bits);
    client->timestamp = timed ? e->timestamp : 0;
    client->flag_bits =
        shell_host_bits(timed << 6 | (loaded ? FLAG_EXTENDED_DATA : 0u), FLAG_WIDTHS);
    client->sw_trace_info.swt_master_id = (uint16_t)PUG_SW_MASTER(e);
    client->sw_trace_info.swt_channel_id = (uint16_t)PUG_SW_CHANNEL(e);
    client->sw_trace_info.swt_flag_bits = shell_host_bits(
        word >> 16 | software_flags(word >> 8 & 0xff) | timed << 14, SOFTWARE_WIDTHS);
    put_payload_pointer(client, loaded ? &out->payload : NULL);
}

#ifndef OCSD_STRICT_1_3
static void put_itm(const struct pug_element *e, ocsd_generic_trace_elem *out)
{
    out->swt_itm.pkt_type = (swt_itm_type)e->reason;
    out->swt_itm.payload_src_id = (uint8_t)e->number;
    out->swt_itm.payload_size = e->last_size;
    out->swt_itm.value = (uint32_t)e->value;
    out->swt_itm.overflow = (e->flags & PUG_ELEM_OVERFLOW) != 0;
    out->timestamp = e->timestamp;
}
#endif

static ocsd_gen_trc_elem_t client_type(unsigned type)
{
    return type == PUG_ELEM_CUSTOM ? OCSD_GEN_TRC_ELEM_CUSTOM : (ocsd_gen_trc_elem_t)type;
}

static unsync_info_t client_unsync(unsigned reason)
{
#ifdef OCSD_STRICT_1_3
    if (reason == PUG_UNSYNC_BAD_IMAGE)
        return UNSYNC_BAD_PACKET;
#endif
    return reason == PUG_UNSYNC_EOT ? UNSYNC_EOT : (unsync_info_t)reason;
}

/** Fill in the fields that types other than ranges define. */
static bool put_details(const struct pug_element *e, struct shell_element *out)
{
    ocsd_generic_trace_elem *client = &out->client;
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_EO_TRACE: client->unsync_eot_info = client_unsync(e->reason); break;
    case PUG_ELEM_TRACE_ON: client->trace_on_reason = (trace_on_reason_t)e->reason; break;
    case PUG_ELEM_I_RANGE_NOPATH:
        client->st_addr = e->start;
        client->en_addr = e->end;
        client->num_instr_range = e->count;
        break;
    case PUG_ELEM_ADDR_NACC:
        client->st_addr = e->start;
        client->exception_number = e->number;
        break;
    case PUG_ELEM_EXCEPTION:
        client->exception_number = e->number;
        if (e->flags & PUG_ELEM_RET_ADDR)
            client->en_addr = e->end;
        break;
    case PUG_ELEM_TIMESTAMP: client->timestamp = e->timestamp; break;
    case PUG_ELEM_EVENT:
        client->trace_event.ev_type = e->reason;
        client->trace_event.ev_number = (uint16_t)e->number;
        break;
    case PUG_ELEM_SWTRACE: put_software(e, out); break;
    case PUG_ELEM_SYNC_MARKER:
        client->sync_marker.type = (trace_sync_marker_t)e->reason;
        client->sync_marker.value = e->number;
        break;
    case PUG_ELEM_MEMTRANS: client->mem_trans = (trace_memtrans_t)e->reason; break;
#ifdef OCSD_STRICT_1_3
    case PUG_ELEM_INSTRUMENTATION:
    case PUG_ELEM_ITMTRACE: return false;
#else
    case PUG_ELEM_INSTRUMENTATION:
        client->sw_ite.el = (uint8_t)e->level;
        client->sw_ite.value = e->value;
        break;
    case PUG_ELEM_ITMTRACE: put_itm(e, client); break;
#endif
    case PUG_ELEM_DATA_ADDRESS:
    case PUG_ELEM_DATA_VALUE:
    case PUG_ELEM_BUS_TRANSFER: return false;
    default: break;
    }
    return true;
}

/** Types whose context words are something else. */
static bool has_context(const struct pug_element *e)
{
    return e->type != PUG_ELEM_SWTRACE && e->type != PUG_ELEM_ITMTRACE;
}

/** FLAG_… of a range, without branches: ranges are nearly all that there is. */
static uint32_t range_flags(const struct pug_element *e)
{
    static_assert(PUG_ELEM_EXECUTED == 1 && PUG_ELEM_CONDITIONAL == 2 && PUG_ELEM_HAS_CC == 4,
                  "the shifts below fit");
    uint32_t ours = e->flags;
    return (ours & PUG_ELEM_EXECUTED) | (ours & PUG_ELEM_CONDITIONAL) << 9 |
           (ours & PUG_ELEM_HAS_CC) << 2 | (e->last_size & 7u) << FLAG_SIZE_SHIFT;
}

static void put_range(const struct pug_element *e, ocsd_generic_trace_elem *client)
{
    client->isa = (ocsd_isa)e->isa;
    client->st_addr = e->start;
    client->en_addr = e->end;
    client->cycle_count = e->cycle_count;
    client->last_i_type = (ocsd_instr_type)e->last_type;
    client->last_i_subtype = (ocsd_instr_subtype)e->last_subtype;
    client->flag_bits = shell_host_bits(range_flags(e), FLAG_WIDTHS);
    client->num_instr_range = e->count;
}

/** Of a range: what is no range is not written in such words, and waits for loads of them. */
static struct shell_context context_words(const struct pug_element *e)
{
    static_assert(
        offsetof(struct pug_element, vmid) == offsetof(struct pug_element, context_id) + 4 &&
            offsetof(struct pug_element, sw_flags) == offsetof(struct pug_element, security) + 3,
        "context_id and vmid are a word, security to sw_flags another");
    struct shell_context words;
    memcpy(&words.ids, &e->context_id, sizeof(words.ids));
    memcpy(&words.levels, &e->security, sizeof(words.levels));
    return words;
}

/** Fill in the whole struct; false: this client's version has no such element. */
static __attribute__((noinline)) bool convert(const struct pug_element *e,
                                              struct shell_element *out)
{
    /* Copied, since of memset() a string instruction is made, which takes longer to begin. */
    static const ocsd_generic_trace_elem cleared;
    ocsd_generic_trace_elem *client = &out->client;
    out->type = e->type;
    *client = cleared;
    client->elem_type = client_type(e->type);
    client->isa = (ocsd_isa)e->isa;
    client->cycle_count = e->cycle_count;
    if (has_context(e))
        put_context(e, client);
    if (e->type == PUG_ELEM_INSTR_RANGE) {
        out->context = context_words(e);
        put_range(e, client);
        return true;
    }
    client->flag_bits = shell_host_bits(client_flags(e->flags), FLAG_WIDTHS);
    return put_details(e, out);
}

/** A range that follows a range of the same context: only a few words of the struct differ. */
static inline bool is_next_range(const struct pug_element *e, const struct shell_element *out)
{
    if (out->type != PUG_ELEM_INSTR_RANGE || e->type != PUG_ELEM_INSTR_RANGE)
        return false;
    struct shell_context words = context_words(e);
    return words.ids == out->context.ids && words.levels == out->context.levels;
}

/** Software trace that follows software trace. */
static inline bool is_next_software(const struct pug_element *e, const struct shell_element *out)
{
    return out->type == PUG_ELEM_SWTRACE && e->type == PUG_ELEM_SWTRACE;
}

/**
 * Change only what differs from the element before; false: the struct has to be filled in from
 * scratch.
 */
static inline bool make_over(const struct pug_element *e, struct shell_element *out)
{
    bool range = is_next_range(e, out), software = is_next_software(e, out);
    if (range)
        put_range(e, &out->client);
    if (software)
        put_software(e, out);
    return range || software;
}

static __attribute__((noinline)) enum pug_response give_several(struct shell_tree *tree,
                                                                const struct pug_element *elements,
                                                                size_t count, size_t *taken)
{
    struct shell_element *out = &tree->element;
    const FnTraceElemIn function = tree->element_fn;
    const void *const client_context = tree->element_context;
    const struct pug_element *const end = elements + count;
    ocsd_datapath_resp_t response = OCSD_RESP_CONT;
    for (const struct pug_element *e = elements; e != end; e++) {
        if (!make_over(e, out) && !convert(e, out))
            continue;
        response =
            function(client_context, (ocsd_trc_index_t)e->index, (uint8_t)e->source, &out->client);
        if (!OCSD_DATA_RESP_IS_CONT(response)) {
            *taken = (size_t)(e + 1 - elements);
            break;
        }
    }
    return (enum pug_response)response;
}

/** Most come alone: each packet's are delivered before the next one is read. */
enum pug_response shell_give_elements(void *context, const struct pug_element *elements,
                                      size_t count, size_t *taken)
{
    struct shell_tree *tree = context;
    if (count != 1 || !make_over(elements, &tree->element))
        return give_several(tree, elements, count, taken);
    *taken = 1;
    return (enum pug_response)tree->element_fn(tree->element_context,
                                               (ocsd_trc_index_t)elements->index,
                                               (uint8_t)elements->source, &tree->element.client);
}

/* ---- from the client, for printing ---- */

static void get_context(const ocsd_pe_context *context, struct pug_element *out)
{
    out->security = (uint8_t)context->security_level;
    out->level = (int8_t)context->exception_level;
    out->context_id = context->context_id;
    out->vmid = context->vmid;
    out->context_flags = (uint8_t)((context->bits64 ? PUG_CTX_BITS64 : 0) |
                                   (context->ctxt_id_valid ? PUG_CTX_CONTEXT_ID : 0) |
                                   (context->vmid_valid ? PUG_CTX_VMID : 0) |
                                   (context->el_valid ? PUG_CTX_LEVEL : 0));
}

/** A client of 1.3.3 has it, and its struct ends, where 1.8.0 has the end of the union. */
static const void *payload_pointer(const ocsd_generic_trace_elem *client)
{
    if (!client->extended_data)
        return NULL;
#ifndef OCSD_STRICT_1_3
    const void *old;
    memcpy(&old, (const char *)client + OLD_POINTER, sizeof(old));
    if (old)
        return old;
#endif
    return client->ptr_extended_data;
}

static void get_software(const ocsd_generic_trace_elem *client, struct pug_element *out)
{
    const ocsd_swt_info_t *info = &client->sw_trace_info;
    out->context_id = info->swt_master_id;
    out->vmid = info->swt_channel_id;
    out->sw_bits = (uint8_t)info->swt_payload_pkt_bitsize;
    out->sw_packets = (uint8_t)info->swt_payload_num_packets;
    out->sw_flags = (uint8_t)((info->swt_marker_packet ? PUG_SW_MARKER : 0) |
                              (info->swt_marker_first ? PUG_SW_MARKER_FIRST : 0) |
                              (info->swt_master_err ? PUG_SW_MASTER_ERROR : 0) |
                              (info->swt_global_err ? PUG_SW_GLOBAL_ERROR : 0) |
                              (info->swt_trigger_event ? PUG_SW_TRIGGER : 0) |
                              (info->swt_frequency ? PUG_SW_FREQUENCY : 0) |
                              (info->swt_id_valid ? PUG_SW_ID_VALID : 0));
    out->flags &= (uint16_t)~PUG_ELEM_HAS_TS;
    if (info->swt_has_timestamp)
        out->flags |= PUG_ELEM_HAS_TS;
    out->timestamp = client->timestamp;
    const void *payload = payload_pointer(client);
    if (payload && out->sw_bits <= 64) {
        uint64_t value = 0;
        memcpy(&value, payload, (out->sw_bits + 7u) / 8);
        out->value = shell_plain_part(value, out->sw_bits);
    }
}

static uint8_t our_type(ocsd_gen_trc_elem_t type)
{
#ifdef OCSD_STRICT_1_3
    if (type == OCSD_GEN_TRC_ELEM_CUSTOM)
        return PUG_ELEM_CUSTOM;
#endif
    return (uint8_t)type;
}

static uint8_t our_unsync(uint32_t reason)
{
    if (reason == UNSYNC_EOT)
        return PUG_UNSYNC_EOT;
    return reason > UNSYNC_EOT ? UINT8_MAX : (uint8_t)reason;
}

static uint8_t small(uint32_t value)
{
    return value > UINT8_MAX ? UINT8_MAX : (uint8_t)value;
}

static void get_details(const ocsd_generic_trace_elem *client, struct pug_element *out)
{
    switch ((enum pug_element_type)out->type) {
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_EO_TRACE: out->reason = our_unsync((uint32_t)client->unsync_eot_info); break;
    case PUG_ELEM_TRACE_ON: out->reason = small((uint32_t)client->trace_on_reason); break;
    case PUG_ELEM_EVENT:
        out->reason = small(client->trace_event.ev_type);
        if (out->reason > PUG_EVENT_NUMBERED) /* which the reference does not know */
            out->reason = PUG_EVENT_UNKNOWN;
        out->number = client->trace_event.ev_number;
        break;
    case PUG_ELEM_TIMESTAMP: out->timestamp = client->timestamp; break;
    case PUG_ELEM_SWTRACE: get_software(client, out); break;
    case PUG_ELEM_SYNC_MARKER: out->number = client->sync_marker.value; break;
    case PUG_ELEM_MEMTRANS: out->reason = small((uint32_t)client->mem_trans); break;
#ifndef OCSD_STRICT_1_3
    case PUG_ELEM_INSTRUMENTATION:
        out->level = (int8_t)client->sw_ite.el;
        out->value = client->sw_ite.value;
        break;
    case PUG_ELEM_ITMTRACE:
        out->reason = small((uint32_t)client->swt_itm.pkt_type);
        out->number = client->swt_itm.payload_src_id;
        out->last_size = client->swt_itm.payload_size;
        out->value = client->swt_itm.value;
        out->timestamp = client->timestamp;
        if (client->swt_itm.overflow)
            out->flags |= PUG_ELEM_OVERFLOW;
        break;
#endif
    default: out->number = client->exception_number; break;
    }
}

void shell_element_from_client(const ocsd_generic_trace_elem *client, struct pug_element *out)
{
    *out = (struct pug_element){
        .start = client->st_addr,
        .end = client->en_addr,
        .cycle_count = client->cycle_count,
        .flags = our_flags(shell_plain_bits(client->flag_bits, FLAG_WIDTHS)),
        .type = our_type(client->elem_type),
        .isa = client->isa > ocsd_isa_unknown ? PUG_ISA_UNKNOWN : (uint8_t)client->isa,
        .last_type = small((uint32_t)client->last_i_type),
        .last_subtype = client->last_i_subtype > OCSD_S_INSTR_V7_IMPLIED_RET
                            ? PUG_SUB_NONE
                            : (uint8_t)client->last_i_subtype,
        .last_size = (uint8_t)client->last_instr_sz,
    };
    get_context(&client->context, out);
    get_details(client, out);
}

/* ---- words ---- */

size_t shell_element_text(const struct pug_element *element, char *buffer, size_t size)
{
    static const char prefix[] = "OCSD_GEN_TRC_ELEM_";
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_put(&text, prefix);
    size_t length = pug_text_end(&text);
    size_t at = length < size ? length : size;
    struct pug_element plain = *element;
    if (plain.type == PUG_ELEM_EXCEPTION)
        plain.reason = PUG_EXCEPTIONS_UNNAMED; /* the reference has no names for them */
    return length + pug_element_text(&plain, buffer + at, size - at);
}

ocsd_err_t ocsd_gen_elem_str(const ocsd_generic_trace_elem *p_pkt, char *buffer,
                             const int buffer_size)
{
    if (!buffer || buffer_size < 2)
        return OCSD_ERR_INVALID_PARAM_VAL;
    buffer[0] = '\0';
    if (!p_pkt)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if ((unsigned)p_pkt->elem_type > OCSD_GEN_TRC_ELEM_CUSTOM) {
        snprintf(buffer, (size_t)buffer_size, "OCSD_GEN_TRC_ELEM??: index out of range.");
        return OCSD_OK;
    }
    struct pug_element element;
    shell_element_from_client(p_pkt, &element);
    shell_element_text(&element, buffer, (size_t)buffer_size);
    return OCSD_OK;
}

void ocsd_gen_elem_init(ocsd_generic_trace_elem *p_pkt, const ocsd_gen_trc_elem_t elem_type)
{
    if (!p_pkt)
        return;
    p_pkt->elem_type = elem_type;
    p_pkt->flag_bits = 0; /* with it goes extended_data */
#ifdef OCSD_STRICT_1_3
    p_pkt->ptr_extended_data = NULL;
#else
    /* The struct is the client's, and one of 1.3.3 ends before the place of 1.8.0. */
    memset((char *)p_pkt + OLD_POINTER, 0, sizeof(void *));
#endif
}
