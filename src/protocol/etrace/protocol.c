// SPDX-License-Identifier: MIT
/** @file Efficient Trace for RISC-V 2.0, and the drafts that go with it. */
#include "protocol/etrace/etrace.h"

const struct pug_protocol pug_protocol_etrace = {
    .name = "E-Trace",
    .title = "RISC-V Efficient Trace",
    .reader_name = "PKTP_ETRACE",
    .decoder_name = "DCD_ETRACE",
    .program_flow = true,
    .config_new = etrace_config_new,
    .config_free = etrace_config_free,
    .trace_id = etrace_trace_id,
    .config_text = etrace_config_text,
    .reader_new = etrace_reader_new,
    .reader_free = etrace_reader_free,
    .read = etrace_read,
    .read_end = etrace_read_end,
    .reader_reset = etrace_reader_reset,
    .decoder_new = etrace_decoder_new,
    .decoder_free = etrace_decoder_free,
    .decode = etrace_decode,
    .run = etrace_run,
    .resume = etrace_resume,
    .decode_end = etrace_decode_end,
    .decoder_reset = etrace_decoder_reset,
    .packet_text = etrace_packet_text,
    .packet_name = etrace_packet_name,
    .marks = etrace_marks,
    .skim = etrace_skim,
    .reader_state = etrace_reader_state,
    .decoder_state = etrace_decoder_state,
};
