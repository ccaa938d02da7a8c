// SPDX-License-Identifier: MIT
/** @file E-Trace: what its files share. */
#ifndef PUG_PROTOCOL_ETRACE_H
#define PUG_PROTOCOL_ETRACE_H

#include "base/fields.h"
#include "protocol/builtin.h"
#include "pugmark/advanced/packet/etrace.h"
#include "transport/unwrap.h"

/** Layouts of instruction payloads. */
enum pug_etrace_layout {
    PUG_ETRACE_LAYOUT_STANDARD,
    PUG_ETRACE_LAYOUT_ESP1, /**< ESP32 generation 1: whole bytes, full addresses */
    PUG_ETRACE_LAYOUT_ESP2, /**< ESP32 generation 2 */
    PUG_ETRACE_LAYOUT_PULP, /**< PULP rv_tracer: the address is cut in mid-packet */
};

/** Layouts of support packets. */
enum pug_etrace_support {
    PUG_ETRACE_SUPPORT_REF,        /**< the reference flow's */
    PUG_ETRACE_SUPPORT_REF_SIJUMP, /**< and a sijump bit */
    PUG_ETRACE_SUPPORT_STD,        /**< Standard Support Packet 0.8 */
};

/** How trap handlers are found where packets leave their address out. */
struct pug_etrace_vector {
    uint64_t base;
    bool vectored; /**< interrupts: base + 4 * cause */
};

/** Width of the field irdepth or irets. */
static inline unsigned pug_etrace_return_width(const struct pug_etrace_options *options)
{
    unsigned stack = options->return_stack_size;
    return options->irets ? 8 : stack + (stack > 0) + options->call_counter_size;
}

#define PUG_ETRACE_PRIVILEGES 8u

#define PUG_ETRACE_PRIVILEGE_U  0u
#define PUG_ETRACE_PRIVILEGE_S  1u
#define PUG_ETRACE_PRIVILEGE_M  3u
#define PUG_ETRACE_PRIVILEGE_D  4u
#define PUG_ETRACE_PRIVILEGE_VU 5u
#define PUG_ETRACE_PRIVILEGE_VS 6u

#define PUG_ETRACE_LRIDS 64u

struct pug_etrace_config {
    uint16_t source;
    enum pug_etrace_layout layout;
    enum pug_etrace_support support;
    enum pug_wrapping wrapping; /**< where the transport knows no packets */
    struct pug_unwrap_config unwrap;

    uint8_t xlen;
    uint8_t iaddress_width, iaddress_lsb;
    uint8_t privilege_width, ecause_width, context_width;
    bool has_context;
    struct pug_etrace_options options; /**< before the first support packet */

    bool full_address_known; /**< the settings say how addresses are sent */

    bool sign_extend_address;
    bool sijump_returns;
    bool zcmt;
    uint64_t jvt_base;
    struct pug_etrace_vector vectors[PUG_ETRACE_PRIVILEGES];
    bool asid_vmid; /**< context: ASID in bits 15:0, VMID in 29:16 */
    uint64_t walk_limit, branch_limit;

    /* data trace */
    bool only_data, data_trace;
    uint8_t data_width, daddress_width, lrid_width;
    uint8_t data_format_bits; /**< of the 2.0 set: 2 or 3 */
    uint8_t mma_format_bits;  /**< of the draft's set: 0 to 2 */
    uint8_t diff_bits;        /**< of packets with data only: 1 or 2 */
    bool split;
    bool one_bit_difference;   /**< what `diff` 1 means where it has one bit: difference, not XOR */
    bool diff1_is_subtraction; /**< reference model */
    bool ref_atomic_codes;     /**< reference model */
    bool daddr_bytes;          /**< address differences are in bytes, also of aligned accesses */
    uint32_t data_queue;       /**< accesses that may wait for their instructions */
};

/** The number of a packet's `notify` as an event: that of N-Trace's watchpoint. */
#define PUG_ETRACE_NOTIFY_EVENT 6u

/** Bits of an address that there are. */
static inline uint64_t pug_etrace_address_mask(const struct pug_etrace_config *config)
{
    const unsigned width = config->iaddress_width;
    return UINT64_MAX >> (64 - (width < config->xlen ? width : config->xlen));
}

/** An address of such bits as the core has it. */
static inline uint64_t pug_etrace_extend(const struct pug_etrace_config *config, uint64_t address)
{
    if (!config->sign_extend_address)
        return address;
    address = (uint64_t)pug_sign_extend(address, config->iaddress_width);
    return config->xlen == 32 ? address & UINT32_MAX : address;
}

/* Returns the exception for `number` and the context field. */

static inline uint32_t pug_etrace_exception(const struct pug_etrace_packet *packet)
{
    return (uint32_t)packet->ecause | (packet->interrupt ? UINT32_C(1) << 31 : 0);
}

static inline uint32_t pug_etrace_context_id(const struct pug_etrace_config *config,
                                             const struct pug_etrace_packet *packet)
{
    return config->asid_vmid ? packet->context & 0xffff : (uint32_t)packet->context;
}

/** False: it says nothing of a virtual machine. */
static inline bool pug_etrace_vmid(const struct pug_etrace_config *config,
                                   const struct pug_etrace_packet *packet, uint32_t *vmid)
{
    const unsigned privilege = packet->privilege;
    if (!config->asid_vmid ||
        (privilege != PUG_ETRACE_PRIVILEGE_VU && privilege != PUG_ETRACE_PRIVILEGE_VS))
        return false;
    *vmid = packet->context >> 16 & 0x3fff;
    return true;
}

/* config.c */
enum pug_status pug_etrace_config_new(const struct pug_settings *settings, struct pug_log *log,
                                      void **config);
void pug_etrace_config_free(void *config);
uint16_t pug_etrace_trace_id(const void *config);
size_t pug_etrace_config_text(const void *config, char *buffer, size_t size);

/* packet.c */
enum pug_status pug_etrace_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_etrace_reader_free(void *reader);
bool pug_etrace_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_etrace_read_end(void *reader, struct pug_packet *packet);
void pug_etrace_reader_reset(void *reader);
void pug_etrace_reader_state(const void *reader, struct pug_state *state);
unsigned pug_etrace_reader_clock(const void *reader, uint64_t *time);
void pug_etrace_reader_set_time(void *reader, uint64_t time);

/* Payload to packet; all but the wrapping's fields. `options` are updated by support packets. The
 * answer is how many bits all its fields have: a payload may be shortened, or filled up. */
unsigned pug_etrace_parse_instruction(const struct pug_etrace_config *config,
                                      struct pug_etrace_options *options, const uint8_t *payload,
                                      unsigned size, struct pug_etrace_packet *packet);
unsigned pug_etrace_parse_data(const struct pug_etrace_config *config,
                               const struct pug_etrace_options *options, const uint8_t *payload,
                               unsigned size, uint8_t request_sizes[PUG_ETRACE_LRIDS],
                               struct pug_etrace_packet *packet);

/* written.c */
void pug_etrace_write_options(const struct pug_etrace_options *options, struct pug_state *state);
void pug_etrace_decoder_state(const void *decoder, struct pug_state *state);
bool pug_etrace_decoder_begin(void *decoder, const void *reader);
bool pug_etrace_self_synced(const void *decoder);

/* packet_vendor.c */
void pug_etrace_parse_esp(const struct pug_etrace_config *config,
                          struct pug_etrace_options *options, struct pug_fields *fields,
                          unsigned size, struct pug_etrace_packet *packet);
void pug_etrace_parse_pulp(const struct pug_etrace_config *config,
                           struct pug_etrace_options *options, struct pug_fields *fields,
                           unsigned size, struct pug_etrace_packet *packet);

/* text.c */
size_t pug_etrace_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_etrace_packet_name(uint32_t type);

/* mark.c */
size_t pug_etrace_marks(const void *config, const void *packet,
                        struct pug_mark marks[PUG_MARK_LIMIT]);
/** The fast path of marks. */
void pug_etrace_scan_marks(void *reader, struct pug_span *span);

/* decode.c */
enum pug_status pug_etrace_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void pug_etrace_decoder_free(void *decoder);
enum pug_response pug_etrace_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_etrace_fast_path(void *reader, void *decoder, struct pug_span *span,
                                       enum pug_want want);
enum pug_response pug_etrace_resume(void *decoder);
enum pug_response pug_etrace_decode_end(void *decoder);
void pug_etrace_decoder_reset(void *decoder);

#endif
