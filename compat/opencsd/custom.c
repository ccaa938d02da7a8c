// SPDX-License-Identifier: MIT
/**
 * @file Decoders from outside: their registration, and the protocol that adapts one. Such a decoder
 * takes trace bytes and gives elements itself; the shell passes on what it says.
 */
#include "pugmark/advanced/isa.h"
#include "pugmark/author/protocol.h"
#include "shell.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_KINDS 10u /* OCSD_PROTOCOL_CUSTOM_0 to _9 */

struct shell_custom_kind {
    char *name; /* NULL: deregistered */
    ocsd_extern_dcd_fact_t fact;
};

/** One decoder. */
struct shell_custom_decoder {
    ocsd_extern_dcd_fact_t fact;
    ocsd_extern_dcd_inst_t instance;
    struct shell_decoder *decoder;
    char component[64];
};

/* ---- registration: the process's, by the nature of the API ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shell_custom_kind kinds[MOST_KINDS];
static size_t kind_count; /* numbers are never used again */

static const struct shell_custom_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < kind_count; i++)
        if (kinds[i].name && strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

const struct shell_custom_kind *shell_custom_by_name(const char *name)
{
    pthread_mutex_lock(&lock);
    const struct shell_custom_kind *kind = find_kind(name);
    pthread_mutex_unlock(&lock);
    return kind;
}

static ocsd_err_t add_kind(const char *name, ocsd_extern_dcd_fact_t *fact)
{
    if (shell_protocol_by_name(name) || find_kind(name))
        return OCSD_ERR_DCDREG_NAME_REPEAT;
    if (!fact || !fact->createDecoder || !fact->destroyDecoder || !fact->csidFromConfig)
        return OCSD_ERR_INVALID_PARAM_VAL;
    fact->protocol_id = (ocsd_trace_protocol_t)(OCSD_PROTOCOL_CUSTOM_0 + kind_count);
    if (kind_count == MOST_KINDS)
        return OCSD_ERR_DCDREG_TOOMANY;
    struct shell_custom_kind *kind = &kinds[kind_count];
    kind->name = strdup(name);
    if (!kind->name)
        return OCSD_ERR_MEM;
    kind_count++;
    kind->fact = *fact;
    return OCSD_OK;
}

ocsd_err_t ocsd_register_custom_decoder(const char *name, ocsd_extern_dcd_fact_t *p_dcd_fact)
{
    if (!name)
        return OCSD_ERR_INVALID_PARAM_VAL;
    pthread_mutex_lock(&lock);
    ocsd_err_t error = add_kind(name, p_dcd_fact);
    pthread_mutex_unlock(&lock);
    return error;
}

ocsd_err_t ocsd_deregister_decoders(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < kind_count; i++) {
        free(kinds[i].name);
        kinds[i].name = NULL;
    }
    pthread_mutex_unlock(&lock);
    return OCSD_OK;
}

ocsd_err_t ocsd_cust_protocol_to_str(const ocsd_trace_protocol_t pkt_protocol, const void *trc_pkt,
                                     char *buffer, const int buflen)
{
    if (!buffer || buflen < 2)
        return OCSD_ERR_INVALID_PARAM_VAL;
    buffer[0] = '\0';
    fnPacketToString to_string = NULL;
    bool known = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < kind_count; i++) {
        if (!kinds[i].name || kinds[i].fact.protocol_id != pkt_protocol)
            continue;
        known = true;
        to_string = kinds[i].fact.pktToString;
    }
    pthread_mutex_unlock(&lock);
    if (!known)
        return OCSD_ERR_NO_PROTOCOL;
    if (to_string)
        return to_string(trc_pkt, buffer, buflen);
    snprintf(buffer, (size_t)buflen, "CUSTOM_PKT[]: print unsupported; protocol(%d).",
             (int)pkt_protocol);
    return OCSD_OK;
}

/* ---- what a decoder is offered; `context` is its struct shell_custom_decoder ---- */

static ocsd_datapath_resp_t element_out(const void *context, const ocsd_trc_index_t index,
                                        const uint8_t id, const ocsd_generic_trace_elem *element)
{
    const struct shell_custom_decoder *custom = context;
    return shell_tree_client_element(custom->decoder->tree, index, id, element);
}

static void put_log(const struct shell_custom_decoder *custom, ocsd_err_severity_t severity,
                    ocsd_err_t code, ocsd_trc_index_t index, uint8_t id, const char *text)
{
    struct pug_log_record record = {
        .severity = (enum pug_severity)severity,
        .code = (enum pug_status) - (int)code,
        .index = index == OCSD_BAD_TRC_INDEX ? PUG_NO_INDEX : index,
        .source = id == OCSD_BAD_CS_SRC_ID ? PUG_NO_SOURCE : id,
        .component = custom->component,
        .text = text ? text : "",
    };
    errlog_put(&record, custom->decoder->verbosity);
}

static void log_error(const void *context, const ocsd_err_severity_t severity,
                      const ocsd_err_t code, const ocsd_trc_index_t index, const uint8_t id,
                      const char *text)
{
    put_log(context, severity, code, index, id, text);
}

static void log_message(const void *context, const ocsd_err_severity_t severity, const char *text)
{
    put_log(context, severity, OCSD_OK, OCSD_BAD_TRC_INDEX, OCSD_BAD_CS_SRC_ID, text);
}

/** The word holds the opcode as it lies in memory; T32 goes back with its first half uppermost. */
static ocsd_err_t classify(const void *context, ocsd_instr_info *info)
{
    (void)context;
    struct pug_isa_config config = {
        .arch = (uint16_t)info->pe_type.arch,
        .dsb_dmb_waypoints = info->dsb_dmb_waypoints,
        .wfx_waypoints = info->wfi_wfe_branch,
#ifndef OCSD_STRICT_1_3
        .track_it = info->track_it_block,
#endif
    };
    struct pug_quirks quirks = pug_quirks_reference();
    pug_isa_config_quirks(&config, &quirks);
    uint8_t bytes[4] = {(uint8_t)info->opcode, (uint8_t)(info->opcode >> 8),
                        (uint8_t)(info->opcode >> 16), (uint8_t)(info->opcode >> 24)};
    struct pug_insn insn = {0};
    uint8_t it = info->thumb_it_conditions;
    enum pug_status status = pug_isa_classify(&config, (enum pug_isa)info->isa, info->instr_addr,
                                              bytes, sizeof(bytes), &it, &insn);
    if (status != PUG_OK)
        return shell_error(status);
    if (info->isa == ocsd_isa_thumb2)
        info->opcode = info->opcode >> 16 | info->opcode << 16;
    info->type = (ocsd_instr_type)insn.type;
    info->sub_type = (ocsd_instr_subtype)insn.subtype;
    if (insn.type == PUG_INSTR_BR)
        info->branch_addr = insn.target;
    info->next_isa = (ocsd_isa)insn.next_isa;
    info->instr_size = insn.size;
    info->is_conditional = insn.conditional;
    info->is_link = insn.link;
    info->thumb_it_conditions = it;
    return OCSD_OK;
}

static ocsd_err_t read_memory(const void *context, const ocsd_vaddr_t address, const uint8_t id,
                              const ocsd_mem_space_acc_t space, uint32_t *num_bytes,
                              uint8_t *buffer)
{
    const struct shell_custom_decoder *custom = context;
    struct pug_reader_space reader = {.space = shell_space(space), .source = id};
    int64_t got =
        pug_image_read(custom->decoder->tree->image, &reader, address, buffer, *num_bytes);
    *num_bytes = got > 0 ? (uint32_t)got : 0;
    return got < 0 ? shell_error((enum pug_status)got) : OCSD_OK;
}

static void monitor_packet(const void *context, const ocsd_datapath_op_t op,
                           const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                           const uint8_t *bytes)
{
    const struct shell_decoder *decoder = ((const struct shell_custom_decoder *)context)->decoder;
    if (decoder->monitor)
        decoder->monitor(decoder->monitor_context, op, index, packet, size, bytes);
}

static ocsd_datapath_resp_t sink_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    const struct shell_decoder *decoder = ((const struct shell_custom_decoder *)context)->decoder;
    return decoder->sink ? decoder->sink(decoder->sink_context, op, index, packet) : OCSD_RESP_CONT;
}

void shell_custom_update(struct shell_decoder *decoder)
{
    const struct shell_custom_decoder *custom = decoder->custom;
    int flags = (decoder->monitor ? OCSD_CUST_DCD_PKT_CB_USE_MON : 0) |
                (decoder->sink ? OCSD_CUST_DCD_PKT_CB_USE_SINK : 0);
    custom->instance.fn_update_pkt_mon(custom->instance.decoder_handle, flags);
}

/* ---- the protocol ---- */

/** Its configuration: what is to be made, valid while it is made, and the trace ID. */
struct custom_config {
    struct shell_custom_request request;
    uint8_t id;
};

static enum pug_status custom_config_new(const struct pug_settings *settings, struct pug_log *log,
                                         void **out)
{
    (void)log;
    const struct shell_custom_request *request =
        (const struct shell_custom_request *)(uintptr_t)pug_settings_number(
            settings, SHELL_CUSTOM_REQUEST, 0);
    struct custom_config *config = calloc(1, sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    config->request = *request;
    ocsd_err_t error = request->kind->fact.csidFromConfig(request->cfg, &config->id);
    if (error != OCSD_OK) {
        free(config);
        return (enum pug_status) - (int)error;
    }
    *out = config;
    return PUG_OK;
}

static void custom_config_free(void *config)
{
    free(config);
}

static uint16_t custom_trace_id(const void *config)
{
    return ((const struct custom_config *)config)->id;
}

static bool is_complete(const ocsd_extern_dcd_inst_t *instance)
{
    return instance->fn_data_in && instance->fn_update_pkt_mon && instance->decoder_handle &&
           instance->p_decoder_name && instance->cs_id != 0;
}

static ocsd_err_t create(struct shell_custom_decoder *custom,
                         const struct shell_custom_request *request)
{
    const ocsd_extern_dcd_cb_fns callbacks = {
        .fn_gen_elem_out = element_out,
        .fn_log_error = log_error,
        .fn_log_msg = log_message,
        .fn_arm_instruction_decode = classify,
        .fn_memory_access = read_memory,
        .fn_packet_mon = monitor_packet,
        .fn_packet_data_sink = sink_packet,
        .lib_context = custom,
    };
    ocsd_err_t error =
        custom->fact.createDecoder(request->flags, request->cfg, &callbacks, &custom->instance);
    if (error != OCSD_OK || is_complete(&custom->instance))
        return error;
    if (custom->instance.decoder_handle)
        custom->fact.destroyDecoder(custom->instance.decoder_handle);
    return OCSD_ERR_INVALID_PARAM_VAL;
}

static enum pug_status custom_reader_new(const void *config, struct pug_stage *stage, void **reader)
{
    (void)stage;
    const struct shell_custom_request *request = &((const struct custom_config *)config)->request;
    struct shell_custom_decoder *custom = calloc(1, sizeof(*custom));
    if (!custom)
        return PUG_ERR_MEM;
    custom->fact = request->kind->fact;
    custom->decoder = request->decoder;
    ocsd_err_t error = create(custom, request);
    if (error != OCSD_OK) {
        free(custom);
        return (enum pug_status) - (int)error;
    }
    snprintf(custom->component, sizeof(custom->component), "%.48s_%04d",
             custom->instance.p_decoder_name, custom->instance.cs_id);
    custom->decoder->custom = custom;
    *reader = custom;
    return PUG_OK;
}

static void custom_reader_free(void *reader)
{
    struct shell_custom_decoder *custom = reader;
    custom->fact.destroyDecoder(custom->instance.decoder_handle);
    free(custom);
}

static enum pug_response custom_operate(void *reader, enum pug_op op, const struct pug_run *run,
                                        size_t *used)
{
    const struct shell_custom_decoder *custom = reader;
    const ocsd_extern_dcd_inst_t *instance = &custom->instance;
    if (op != PUG_OP_DATA)
        return (enum pug_response)instance->fn_data_in(instance->decoder_handle,
                                                       (ocsd_datapath_op_t)op, 0, 0, NULL, NULL);
    uint32_t processed = 0;
    ocsd_datapath_resp_t response =
        instance->fn_data_in(instance->decoder_handle, OCSD_OP_DATA, (ocsd_trc_index_t)run->index,
                             (uint32_t)run->size, run->bytes, &processed);
    *used = processed < run->size ? processed : run->size;
    return (enum pug_response)response;
}

const struct pug_protocol shell_custom_protocol = {
    .abi = PUG_AUTHOR_ABI,
    .name = "custom",
    .title = "a decoder of the client",
    .config_new = custom_config_new,
    .config_free = custom_config_free,
    .trace_id = custom_trace_id,
    .reader_new = custom_reader_new,
    .reader_free = custom_reader_free,
    .operate = custom_operate,
};
