// SPDX-License-Identifier: MIT
/** @file Efficient Trace for RISC-V 2.0, and the drafts that go with it. */
#include "protocol/etrace/packet_fields.h"

/* Bits of an address, the flags after it, and the widest field of implicit returns. */
#define ADDRESS_BITS (64u + 3 + 16)

/** How many bits a packet has at most; 0: that depends on the encoder. */
static unsigned most_bits(const struct pug_etrace_packet *packet)
{
    const unsigned address = packet->has_address ? ADDRESS_BITS : 0;
    switch (packet->type) {
    case PUG_ETRACE_ADDRESS: return 2 + address;
    case PUG_ETRACE_BRANCHES: return 2 + 5 + pug_etrace_map_width(packet->branches) + address;
    case PUG_ETRACE_COUNT: return 2 + 3 + 32 + 2 + address;
    default: return 0;
    }
}

/** What a payload has besides its packet does not fill its last byte, nor the wrapping's. */
static enum pug_fit fit(const struct pug_packet *packet)
{
    const struct pug_etrace_packet *fields = packet->data;
    const unsigned most = most_bits(fields);
    if (most > 0 && packet->raw_size > (most + 7 + 7) / 8)
        return PUG_FIT_DOUBTFUL;
    return fields->type == PUG_ETRACE_SUPPORT ? PUG_FIT_LEADING : PUG_FIT_USUAL;
}

#define WRAPPED(bits)                                                                              \
    {                                                                                              \
        "xlen=64 srcid_bits=" bits, "srcid_bits=" bits, "encapsulation", 0                         \
    }

static const struct pug_doubt doubts[] = {
    {"time_width_p", "bits of a time", UINT64_MAX, {8, 16, 24, 32, 40, 48, 56, 64}, 8},
    {"notime_p", "packets without times", UINT64_MAX, {0, 1}, 2},
    {"context_width_p", "bits of a context", UINT64_MAX, {8, 16, 24, 32}, 4},
    {"nocontext_p", "packets without contexts", UINT64_MAX, {0, 1}, 2},
    {"ecause_width_p", "bits of a cause", UINT64_MAX, {4, 5, 6}, 3},
    {"privilege_width_p", "bits of a privilege", UINT64_MAX, {1, 2, 3}, 3},
    {"iaddress_width_p", "bits of an address", UINT64_MAX, {32, 39, 40, 48, 56, 57, 64}, 7},
    {"iaddress_lsb_p", "bits that addresses are told without", UINT64_MAX, {0, 1}, 2},
    {"f0s_width_p", "bits of a subformat", UINT64_MAX, {0, 1}, 2},
    {"xlen", "bits of a register", UINT64_MAX, {32, 64}, 2},
    {"timestamp_bytes", "of the encapsulation", UINT64_MAX, {0, 1, 2, 3, 4, 5, 6, 7, 8}, 9},
    {"src_bits", "of the encapsulation", UINT64_MAX, {0, 1, 2, 3, 4, 5, 6, 8, 12, 16}, 10},
    {"hart_index_bits", "of Siemens' messages", UINT64_MAX, {0, 1, 2, 3, 4, 6, 8, 10, 12, 16}, 10},
    {"type_bits", "of the encapsulation", UINT64_MAX, {0, 1, 2}, 3},
    {0},
};

/** Its framing takes almost anything. */
static const struct pug_description description = {
    .transport = "encapsulation",
    .of_parameters = true,
    .takes_all = true,
    .fit = fit,
    .doubts = doubts,
    .usual = (const struct pug_usual[]){{"xlen=64", "", "encapsulation", 0},
                                        WRAPPED("1"),
                                        WRAPPED("2"),
                                        WRAPPED("3"),
                                        WRAPPED("4"),
                                        WRAPPED("5"),
                                        WRAPPED("6"),
                                        WRAPPED("7"),
                                        WRAPPED("8"),
                                        WRAPPED("12"),
                                        WRAPPED("16"),
                                        {"xlen=64", "", "smi", 0},
                                        {0}},
};

const struct pug_protocol pug_protocol_etrace = {
    .name = "E-Trace",
    .title = "RISC-V Efficient Trace",
    .reader_name = "PKTP_ETRACE",
    .decoder_name = "DCD_ETRACE",
    .program_flow = true,
    .description = &description,
    .config_new = pug_etrace_config_new,
    .config_free = pug_etrace_config_free,
    .trace_id = pug_etrace_trace_id,
    .config_text = pug_etrace_config_text,
    .reader_new = pug_etrace_reader_new,
    .reader_free = pug_etrace_reader_free,
    .read = pug_etrace_read,
    .read_end = pug_etrace_read_end,
    .reader_reset = pug_etrace_reader_reset,
    .decoder_new = pug_etrace_decoder_new,
    .decoder_free = pug_etrace_decoder_free,
    .decode = pug_etrace_decode,
    .fast_path = pug_etrace_fast_path,
    .resume = pug_etrace_resume,
    .decode_end = pug_etrace_decode_end,
    .decoder_reset = pug_etrace_decoder_reset,
    .packet_text = pug_etrace_packet_text,
    .packet_name = pug_etrace_packet_name,
    .packet_marks = pug_etrace_marks,
    .reader_state = pug_etrace_reader_state,
    .decoder_state = pug_etrace_decoder_state,
    .reader_clock = pug_etrace_reader_clock,
    .reader_set_time = pug_etrace_reader_set_time,
    .decoder_begin = pug_etrace_decoder_begin,
    .self_synced = pug_etrace_self_synced,
};
