// SPDX-License-Identifier: MIT
#include "capi_calls.h"

#include "session.h"
#include "support/outcome.h"

#include <string.h>

static uint8_t next(struct capi_calls *calls)
{
    return calls->at < calls->end ? *calls->at++ : 0;
}

static void mix(struct capi_calls *calls, const void *bytes, size_t size)
{
    calls->hash = outcome_mix(calls->hash, bytes, size);
}

static void mix_text(struct capi_calls *calls, const char *text)
{
    mix(calls, text, strlen(text) + 1);
}

static ocsd_err_t answered(struct capi_calls *calls, ocsd_err_t error)
{
    mix(calls, &error, sizeof(error));
    calls->starved |= error == OCSD_ERR_MEM;
    return error;
}

static void responded(struct capi_calls *calls, ocsd_datapath_resp_t response)
{
    mix(calls, &response, sizeof(response));
    calls->starved |= response == OCSD_RESP_FATAL_SYS_ERR;
}

/* ---- what the library calls ---- */

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct capi_calls *calls = (struct capi_calls *)(uintptr_t)context;
    char text[256] = "";
    mix(calls, &index, sizeof(index));
    mix(calls, &id, sizeof(id));
    answered(calls, ocsd_gen_elem_str(element, text,
                                      (int)rec_random_below(&calls->waits, sizeof(text) + 1)));
    mix_text(calls, text);
    return rec_random_once_in(&calls->waits, 9) ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet)
{
    struct capi_calls *calls = (struct capi_calls *)(uintptr_t)context;
    char text[256] = "";
    mix(calls, &index, sizeof(index));
    if (op == OCSD_OP_DATA)
        answered(calls, ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, packet, text, sizeof(text)));
    mix_text(calls, text);
    return OCSD_RESP_CONT;
}

static void on_any_packet(const void *context, const ocsd_datapath_op_t op,
                          const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                          const uint8_t *data)
{
    struct capi_calls *calls = (struct capi_calls *)(uintptr_t)context;
    (void)packet;
    mix(calls, &index, sizeof(index));
    if (op == OCSD_OP_DATA)
        mix(calls, data, size);
}

static uint32_t on_memory(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint32_t wanted, uint8_t *buffer)
{
    (void)context;
    (void)space;
    memset(buffer, (int)(address >> 3), wanted);
    return address & 64 ? wanted : wanted / 2;
}

static void on_print(const void *context, const char *text, const int length)
{
    struct capi_calls *calls = (struct capi_calls *)(uintptr_t)context;
    mix(calls, text, (size_t)length);
    calls->starved |= strstr(text, "OCSD_ERR_MEM)") != NULL;
}

/* ---- calls ---- */

static void call_create(struct capi_calls *calls)
{
    static const ocsd_stm_cfg stm = {.reg_tcsr = 0x100005};
    static const ocsd_ptm_cfg ptm = {.reg_idr = 0x411cf312,
                                     .reg_ctrl = 0x10001000,
                                     .reg_trc_id = 0x11,
                                     .reg_ccer = 0x34c01ac2,
                                     .arch_ver = ARCH_V7,
                                     .core_prof = profile_CortexA};
    static const ocsd_etmv3_cfg etmv3 = {.reg_idr = 0x4100f250,
                                         .reg_ctrl = 0,
                                         .reg_ccer = 0x34c01ac2,
                                         .reg_trc_id = 0x12,
                                         .arch_ver = ARCH_V7,
                                         .core_prof = profile_CortexA};
    const struct {
        const char *name;
        const void *config;
    } kinds[] = {{OCSD_BUILTIN_DCD_ETMV4I, &session_config},
                 {OCSD_BUILTIN_DCD_STM, &stm},
                 {OCSD_BUILTIN_DCD_PTM, &ptm},
                 {OCSD_BUILTIN_DCD_ETMV3, &etmv3},
                 {"NONE_SUCH", &stm}};
    const unsigned kind = next(calls) % 5;
    unsigned char id;
    answered(calls, ocsd_dt_create_decoder(calls->tree, kinds[kind].name,
                                           next(calls) & 1 ? OCSD_CREATE_FLG_FULL_DECODER
                                                           : OCSD_CREATE_FLG_PACKET_PROC,
                                           kinds[kind].config, &id));
}

static void call_data(struct capi_calls *calls)
{
    uint32_t used = 0;
    const uint8_t op = next(calls) % 5;
    size_t size = next(calls);
    const size_t left = (size_t)(calls->end - calls->at);
    size = size < left ? size : left;
    if (op == 0 || op == 1) {
        /* a tree of frames takes whole ones */
        responded(calls, ocsd_dt_process_data(calls->tree, OCSD_OP_DATA, calls->index,
                                              (uint32_t)size, calls->at, &used));
        used = used < size ? used : (uint32_t)size;
        calls->index += used;
        calls->at += used;
        return;
    }
    static const ocsd_datapath_op_t others[] = {OCSD_OP_EOT, OCSD_OP_FLUSH, OCSD_OP_RESET};
    responded(calls,
              ocsd_dt_process_data(calls->tree, others[op - 2], calls->index, 0, NULL, &used));
}

static void call_memory(struct capi_calls *calls)
{
    const ocsd_vaddr_t address = (ocsd_vaddr_t)next(calls) << 8;
    const ocsd_mem_space_acc_t space = (ocsd_mem_space_acc_t)next(calls);
    const uint8_t id = next(calls);
    switch (next(calls) % 7) {
    case 0:
        answered(calls, ocsd_dt_add_buffer_mem_acc(calls->tree, address, space,
                                                   (const uint8_t *)session_program,
                                                   sizeof(session_program)));
        break;
    case 1:
        answered(calls, ocsd_dt_add_callback_mem_acc(calls->tree, address, address + 0x10000, space,
                                                     on_memory, calls));
        break;
    case 2: answered(calls, ocsd_dt_remove_mem_acc(calls->tree, address, space)); break;
    case 3:
        answered(calls,
                 ocsd_dt_add_binfile_mem_acc(calls->tree, address, space, "/nowhere/at/all"));
        break;
    case 4: answered(calls, ocsd_dt_set_mem_acc_cacheing(calls->tree, id & 1, id * 16, id)); break;
    case 5: ocsd_tl_log_mapped_mem_ranges(calls->tree); break;
    default:
        answered(calls, ocsd_dt_add_binfile_mem_acc(calls->tree, address, space,
                                                    PUG_SOURCE_DIR "/LICENSE"));
    }
}

static void call_decoder(struct capi_calls *calls)
{
    const uint8_t id = next(calls);
    const uint8_t which = next(calls);
    ocsd_decode_stats_t *stats;
    switch (which % 9) {
    case 0: answered(calls, ocsd_dt_remove_decoder(calls->tree, id)); break;
    case 1:
        answered(calls, ocsd_dt_attach_packet_callback(calls->tree, id, OCSD_C_API_CB_PKT_SINK,
                                                       (void *)(uintptr_t)on_packet, calls));
        break;
    case 2:
        answered(calls, ocsd_dt_attach_packet_callback(calls->tree, id, OCSD_C_API_CB_PKT_MON,
                                                       (void *)(uintptr_t)on_any_packet, calls));
        break;
    case 3:
        if (answered(calls, ocsd_dt_get_decode_stats(calls->tree, id, &stats)) == OCSD_OK)
            mix(calls, &stats->channel_total, sizeof(stats->channel_total));
        break;
    case 4: answered(calls, ocsd_dt_reset_decode_stats(calls->tree, id)); break;
    case 5: answered(calls, ocsd_dt_set_gen_elem_outfn(calls->tree, on_element, calls)); break;
    case 6: answered(calls, ocsd_dt_set_gen_elem_printer(calls->tree)); break;
    case 7: answered(calls, ocsd_dt_set_pkt_protocol_printer(calls->tree, id, which & 16)); break;
    default: answered(calls, ocsd_dt_set_raw_frame_printer(calls->tree, which >> 4));
    }
}

static void call_text(struct capi_calls *calls)
{
    char text[200] = "";
    ocsd_trc_index_t index;
    uint8_t id;
    const int size = next(calls);
    ocsd_err_str((ocsd_err_t)next(calls), text, size < (int)sizeof(text) ? size : 0);
    mix_text(calls, text); /* not that of the last error, which is the process's */
    (void)ocsd_get_last_err(&index, &id, text, size < (int)sizeof(text) ? size : 0);
}

/* ---- a session ---- */

/** Send messages and prints to the session. */
static void listen(struct capi_calls *calls)
{
    answered(calls, ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    answered(calls, ocsd_def_errlog_config_output(0, NULL));
    answered(calls, ocsd_def_errlog_set_strprint_cb(calls->tree, calls, on_print));
}

bool capi_calls_begin(struct capi_calls *calls, const uint8_t *data, size_t size)
{
    *calls = (struct capi_calls){.at = data, .end = data + size};
    calls->waits.state = next(calls) + 1u;
    const uint8_t form = next(calls);
    calls->tree =
        ocsd_create_dcd_tree(form & 1 ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                             form & 2 ? OCSD_DFRMTR_HAS_FSYNCS : OCSD_DFRMTR_FRAME_MEM_ALIGN);
    calls->starved = !calls->tree;
    if (!calls->tree)
        return false;
    if (form & 8)
        listen(calls);
    if (form & 4) {
        unsigned char id;
        answered(calls, ocsd_dt_create_decoder(calls->tree, OCSD_BUILTIN_DCD_ETMV4I,
                                               OCSD_CREATE_FLG_FULL_DECODER, &session_config, &id));
        answered(calls, ocsd_dt_add_buffer_mem_acc(calls->tree, 0x4000, OCSD_MEM_SPACE_ANY,
                                                   (const uint8_t *)session_program,
                                                   sizeof(session_program)));
        answered(calls, ocsd_dt_set_gen_elem_outfn(calls->tree, on_element, calls));
    }
    return true;
}

bool capi_calls_next(struct capi_calls *calls)
{
    if (calls->at >= calls->end)
        return false;
    switch (next(calls) % 8) {
    case 0: call_create(calls); break;
    case 1: call_memory(calls); break;
    case 2: call_decoder(calls); break;
    case 3: call_text(calls); break;
    default: call_data(calls);
    }
    return true;
}

void capi_calls_end(struct capi_calls *calls)
{
    ocsd_destroy_dcd_tree(calls->tree);
}

/* ---- inputs ---- */

size_t capi_calls_make(uint8_t *data, size_t room, struct rec_random *random)
{
    size_t size = 2 + rec_random_below(random, 60);
    size = size < room ? size : room;
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rec_random(random);
    data[1] |= 4;
    for (size_t at = 0; at < sizeof(session_trace);) {
        size_t piece = 1 + rec_random_below(random, 20);
        piece = piece < sizeof(session_trace) - at ? piece : sizeof(session_trace) - at;
        if (size + piece + 3 > room)
            break;
        data[size++] = 4;
        data[size++] = 0;
        data[size++] = (uint8_t)piece;
        memcpy(data + size, session_trace + at, piece);
        size += piece;
        at += piece;
    }
    return size;
}
