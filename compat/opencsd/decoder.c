// SPDX-License-Identifier: MIT
/** @file Decoders of a tree: making them, their packets and statistics. */
#include "listing/listing.h"
#include "shell.h"

#include <stdlib.h>

/* ---- options ---- */

#ifdef OCSD_STRICT_1_3
#define FLAG(name) 0
#else
#define FLAG(name) (name)
#endif

static uint32_t range_limit_from_environment(void)
{
    const char *text = getenv("OPENCSD_INSTR_RANGE_LIMIT");
    long limit = text ? strtol(text, NULL, 0) : 0;
    return limit > 0 && (unsigned long)limit <= UINT32_MAX ? (uint32_t)limit : 0;
}

static struct pug_decode_options options_of(const struct shell_tree *tree, int flags)
{
    return (struct pug_decode_options){
        .error_on_bad_packet = flags & OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS,
        .halt_on_bad_packet = flags & OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS,
        .check_direct_branch = flags & FLAG(OCSD_OPFLG_N_UNCOND_DIR_BR_CHK),
        .check_strict_branch = flags & FLAG(OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK),
        .check_range_continuity = flags & FLAG(OCSD_OPFLG_CHK_RANGE_CONTINUE),
        .check_skips_thumb = flags & FLAG(OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB),
        .split_source_address = flags & ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS,
        .check_opcode = (flags & FLAG(ETM4_OPFLG_PKTDEC_AA64_OPCODE_CHK)) || tree->check_opcode,
        .range_limit = range_limit_from_environment(),
    };
}

/* ---- making and freeing ---- */

static size_t registers_of(const struct shell_protocol *protocol, const void *cfg,
                           struct pug_setting *settings)
{
    for (size_t i = 0; i < protocol->register_count; i++) {
        uint32_t value;
        memcpy(&value, (const char *)cfg + protocol->registers[i].offset, sizeof(value));
        settings[i] = (struct pug_setting){.name = protocol->registers[i].name, .value = value};
    }
    return protocol->register_count;
}

static void free_decoder(struct shell_decoder *decoder)
{
    shell_decoder_forget_printer(&decoder->sink_printer);
    shell_decoder_forget_printer(&decoder->monitor_printer);
    free(decoder);
}

void shell_decoders_free(struct shell_tree *tree)
{
    while (tree->decoders) {
        struct shell_decoder *next = tree->decoders->next;
        free_decoder(tree->decoders);
        tree->decoders = next;
    }
}

/** Make the source that does the work; `decoder` is ready but for it. */
static enum pug_status make_source(struct shell_decoder *decoder,
                                   const struct shell_custom_kind *kind, int flags, const void *cfg)
{
    struct shell_tree *tree = decoder->tree;
    struct pug_setting settings[SHELL_MOST_REGISTERS];
    struct pug_source_config config = {
        .settings = {.items = settings},
        .decode = decoder->full,
        .number_component = flags & OCSD_CREATE_FLG_INST_ID,
        .options = options_of(tree, flags),
    };
    struct shell_custom_request request = {
        .kind = kind,
        .decoder = decoder,
        .cfg = cfg,
        .flags = tree->single ? flags : flags | OCSD_CREATE_FLG_INST_ID,
    };
    if (decoder->protocol) {
        config.protocol = decoder->protocol->name;
        config.settings.count = registers_of(decoder->protocol, cfg, settings);
    } else {
        config.definition = &shell_custom_protocol;
        config.settings.count = 1;
        settings[0] = (struct pug_setting){.name = SHELL_CUSTOM_REQUEST,
                                           .value = (uint64_t)(uintptr_t)&request};
    }
    return pug_tree_add_source(tree->tree, &config, &decoder->source);
}

ocsd_err_t ocsd_dt_create_decoder(const dcd_tree_handle_t handle, const char *decoder_name,
                                  const int create_flags, const void *decoder_cfg,
                                  unsigned char *pCSID)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    if (!decoder_name)
        return OCSD_ERR_INVALID_PARAM_VAL;
    const struct shell_protocol *protocol = shell_protocol_by_name(decoder_name);
    const struct shell_custom_kind *kind = protocol ? NULL : shell_custom_by_name(decoder_name);
    if (!protocol && !kind)
        return OCSD_ERR_DCDREG_NAME_UNKNOWN;
    if (!decoder_cfg ||
        !(create_flags & (OCSD_CREATE_FLG_PACKET_PROC | OCSD_CREATE_FLG_FULL_DECODER)))
        return OCSD_ERR_INVALID_PARAM_VAL;
    struct shell_decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return OCSD_ERR_MEM;
    decoder->tree = tree;
    decoder->protocol = protocol;
    decoder->full = create_flags & OCSD_CREATE_FLG_FULL_DECODER;
    decoder->verbosity = errlog_verbosity();
    decoder->stats.version = OCSD_VER_NUM;
    decoder->stats.revision = OCSD_STATS_REVISION;
    enum pug_status status = make_source(decoder, kind, create_flags, decoder_cfg);
    if (status != PUG_OK) {
        free(decoder);
        return shell_error(status);
    }
    decoder->next = tree->decoders;
    tree->decoders = decoder;
    pug_source_hide_bad_packets(decoder->source, create_flags & OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS,
                                create_flags & OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS);
    if (pCSID)
        *pCSID = (unsigned char)pug_source_id(decoder->source);
    return OCSD_OK;
}

struct shell_decoder *shell_decoder_of(struct shell_tree *tree, uint8_t id)
{
    struct shell_decoder *decoder = tree->decoders;
    while (decoder && !tree->single && pug_source_id(decoder->source) != id)
        decoder = decoder->next;
    return decoder;
}

ocsd_err_t ocsd_dt_remove_decoder(const dcd_tree_handle_t handle, const unsigned char CSID)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    if (!tree->single && !OCSD_IS_VALID_CS_SRC_ID(CSID))
        return OCSD_ERR_INVALID_ID;
    struct shell_decoder *decoder = shell_decoder_of(tree, CSID);
    if (!decoder)
        return OCSD_OK;
    struct shell_decoder **link = &tree->decoders;
    while (*link != decoder)
        link = &(*link)->next;
    *link = decoder->next;
    pug_tree_remove_source(tree->tree, CSID);
    free_decoder(decoder);
    return OCSD_OK;
}

/* ---- packets ---- */

static void print_packet(const struct shell_decoder *decoder, const struct shell_printer *printer,
                         enum pug_op op, const struct pug_packet *packet, bool bytes)
{
    if (!errlog_output_is_used(printer->output))
        return;
    size_t room = 1024 + (bytes && packet ? 5u * (size_t)packet->raw_size : 0);
    char *buffer = malloc(room);
    decoder->tree->text_starved |= !buffer;
    if (!buffer)
        return;
    struct pug_text text = PUG_TEXT(buffer, room);
    if (packet)
        pug_listing_packet(&text, pug_source_protocol(decoder->source), printer->id, packet, bytes);
    else
        pug_listing_operation(&text, printer->id, op);
    errlog_print_text(printer->output, &text);
    free(buffer);
}

/** The packet as the client knows it; NULL for other operations. */
static const void *client_packet(struct shell_decoder *decoder, const struct pug_packet *packet)
{
    if (!packet)
        return NULL;
    decoder->protocol->to_client(packet->data, &decoder->packet);
    return &decoder->packet;
}

static enum pug_response on_sink(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct shell_decoder *decoder = context;
    if (decoder->sink_printer.on)
        print_packet(decoder, &decoder->sink_printer, op, packet, false);
    if (!decoder->sink)
        return PUG_RESP_CONT;
    ocsd_trc_index_t index = packet ? (ocsd_trc_index_t)packet->index : 0;
    return (enum pug_response)decoder->sink(decoder->sink_context, (ocsd_datapath_op_t)op, index,
                                            client_packet(decoder, packet));
}

static void on_monitor(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct shell_decoder *decoder = context;
    if (decoder->monitor_printer.on)
        print_packet(decoder, &decoder->monitor_printer, op, packet, true);
    if (!decoder->monitor)
        return;
    if (packet)
        decoder->monitor(decoder->monitor_context, (ocsd_datapath_op_t)op,
                         (ocsd_trc_index_t)packet->index, client_packet(decoder, packet),
                         packet->raw_size, packet->raw);
    else
        decoder->monitor(decoder->monitor_context, (ocsd_datapath_op_t)op, 0, NULL, 0, NULL);
}

void shell_decoder_forget_printer(struct shell_printer *printer)
{
    errlog_output_release(printer->output);
    *printer = (struct shell_printer){0};
}

/** Sinks and monitors have changed. */
static void attach(struct shell_decoder *decoder)
{
    if (!decoder->protocol) {
        shell_custom_update(decoder);
        return;
    }
    bool sink = decoder->sink || decoder->sink_printer.on;
    bool monitor = decoder->monitor || decoder->monitor_printer.on;
    if (!decoder->full)
        pug_source_sink(decoder->source, sink ? on_sink : NULL, decoder);
    pug_source_monitor(decoder->source, monitor ? on_monitor : NULL, decoder);
}

ocsd_err_t ocsd_dt_attach_packet_callback(const dcd_tree_handle_t handle, const unsigned char CSID,
                                          const ocsd_c_api_cb_types callback_type,
                                          void *p_fn_callback_data, const void *p_context)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    struct shell_decoder *decoder = shell_decoder_of(tree, CSID);
    if (!decoder)
        return OCSD_ERR_INVALID_ID;
    switch (callback_type) {
    case OCSD_C_API_CB_PKT_SINK:
        if (decoder->full)
            return OCSD_ERR_INVALID_PARAM_TYPE;
        shell_decoder_forget_printer(&decoder->sink_printer);
        memcpy(&decoder->sink, &p_fn_callback_data, sizeof(decoder->sink));
        decoder->sink_context = p_context;
        break;
    case OCSD_C_API_CB_PKT_MON:
        shell_decoder_forget_printer(&decoder->monitor_printer);
        memcpy(&decoder->monitor, &p_fn_callback_data, sizeof(decoder->monitor));
        decoder->monitor_context = p_context;
        break;
    default: return OCSD_ERR_INVALID_PARAM_VAL;
    }
    attach(decoder);
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_set_pkt_protocol_printer(const dcd_tree_handle_t handle, uint8_t cs_id,
                                            int monitor)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    struct shell_decoder *decoder = shell_decoder_of(tree, cs_id);
    if (!decoder || !decoder->protocol)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (!monitor && decoder->full)
        return OCSD_ERR_INVALID_PARAM_TYPE;
    struct shell_printer *printer = monitor ? &decoder->monitor_printer : &decoder->sink_printer;
    shell_decoder_forget_printer(printer);
    *printer = (struct shell_printer){.output = errlog_output_hold(), .id = cs_id, .on = true};
    if (monitor)
        decoder->monitor = NULL;
    else
        decoder->sink = NULL;
    attach(decoder);
    return OCSD_OK;
}

/* ---- statistics ---- */

ocsd_err_t ocsd_dt_get_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID,
                                    ocsd_decode_stats_t **p_stats_block)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    struct shell_decoder *decoder = shell_decoder_of(tree, CSID);
    if (!decoder || !decoder->protocol || !p_stats_block)
        return OCSD_ERR_INVALID_PARAM_VAL;
    *p_stats_block = &decoder->stats;
    if (!decoder->protocol->has_stats)
        return OCSD_ERR_NOT_INIT;
    const struct pug_reader_stats *reader = pug_source_stats(decoder->source);
    const struct pug_transport_stats *demux = pug_tree_transport_stats(tree->tree);
    decoder->stats.channel_total = reader->bytes;
    decoder->stats.channel_unsynced = reader->unsynced;
    decoder->stats.bad_header_errs = (uint32_t)reader->bad_headers;
    decoder->stats.bad_sequence_errs = (uint32_t)reader->bad_sequences;
    if (!tree->single)
        decoder->stats.demux = (ocsd_demux_stats_t){.valid_id_bytes = demux->delivered,
                                                    .no_id_bytes = demux->no_decoder,
                                                    .reserved_id_bytes = demux->reserved,
                                                    .unknown_id_bytes = demux->unknown,
                                                    .frame_bytes = demux->framing};
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_reset_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID)
{
    ocsd_decode_stats_t *stats = NULL;
    ocsd_err_t error = ocsd_dt_get_decode_stats(handle, CSID, &stats);
    if (!stats)
        return error;
    struct shell_tree *tree = handle;
    pug_tree_reset_transport_stats(tree->tree);
    if (error == OCSD_OK)
        pug_source_reset_stats(shell_decoder_of(tree, CSID)->source);
    return error;
}
