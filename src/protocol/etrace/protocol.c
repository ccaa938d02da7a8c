// SPDX-License-Identifier: MIT
/** @file Efficient Trace for RISC-V 2.0, and the drafts that go with it. */
#include "protocol/etrace/etrace.h"

/** Its framing takes almost anything. */
static const struct pug_description description = {
    .transport = "encapsulation",
    .of_parameters = true,
    .takes_all = true,
    .usual = (const struct pug_usual[]){{"", "", "encapsulation", 0},
                                        {"srcid_bits=4", "srcid_bits=4", "encapsulation", 0},
                                        {"srcid_bits=8", "srcid_bits=8", "encapsulation", 0},
                                        {"", "", "smi", 0},
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
    .lane = pug_etrace_lane,
    .resume = pug_etrace_resume,
    .decode_end = pug_etrace_decode_end,
    .decoder_reset = pug_etrace_decoder_reset,
    .packet_text = pug_etrace_packet_text,
    .packet_name = pug_etrace_packet_name,
    .packet_marks = pug_etrace_marks,
    .reader_state = pug_etrace_reader_state,
    .decoder_state = pug_etrace_decoder_state,
};
