// SPDX-License-Identifier: MIT
/** @file A decoder of the client. */
#include "edge.h"

static struct custom {
    ocsd_extern_dcd_cb_fns callbacks;
    int flags;
    bool incomplete;
} custom;

static ocsd_datapath_resp_t custom_data(const void *handle, const ocsd_datapath_op_t operation,
                                        const ocsd_trc_index_t index, const uint32_t size,
                                        const uint8_t *bytes, uint32_t *processed)
{
    const ocsd_extern_dcd_cb_fns *lib = &custom.callbacks;
    say("  custom op=%d idx=%u size=%u handle=%d", (int)operation, (unsigned)index, (unsigned)size,
        handle == &custom);
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    if (custom.flags & OCSD_CUST_DCD_PKT_CB_USE_MON)
        lib->fn_packet_mon(lib->lib_context, operation, index, NULL, size, bytes);
    if (custom.flags & OCSD_CUST_DCD_PKT_CB_USE_SINK)
        answer = lib->fn_packet_data_sink(lib->lib_context, operation, index, NULL);
    if (operation != OCSD_OP_DATA)
        return answer;
    ocsd_generic_trace_elem element;
    memset(&element, 0, sizeof(element));
    element.elem_type = OCSD_GEN_TRC_ELEM_EVENT;
    element.trace_event.ev_type = EVENT_NUMBERED;
    element.trace_event.ev_number = bytes[0];
    answer = lib->fn_gen_elem_out(lib->lib_context, index, 0x42, &element);
    lib->fn_log_error(lib->lib_context, OCSD_ERR_SEV_ERROR, OCSD_ERR_BAD_PACKET_SEQ, index, 0x42,
                      "custom error");
    lib->fn_log_msg(lib->lib_context, OCSD_ERR_SEV_INFO, "custom message\n");
    uint8_t word[8] = {0};
    uint32_t n = 4;
    int error = lib->fn_memory_access(lib->lib_context, 0x4004, 0x42, OCSD_MEM_SPACE_N, &n, word);
    say("  memory = %d, %u bytes %02x%02x%02x%02x", error, (unsigned)n, word[0], word[1], word[2],
        word[3]);
    n = 4;
    error = lib->fn_memory_access(lib->lib_context, 0x9004, 0x42, OCSD_MEM_SPACE_N, &n, word);
    say("  memory = %d, %u bytes", error, (unsigned)n);
    *processed = size;
    return answer;
}

static void custom_classify(void)
{
    static const struct {
        ocsd_isa isa;
        uint32_t opcode;
    } opcodes[] = {
        {ocsd_isa_aarch64, 0x94000003}, {ocsd_isa_aarch64, 0xd65f03c0},
        {ocsd_isa_aarch64, 0x54000040}, {ocsd_isa_aarch64, 0xd5033fdf},
        {ocsd_isa_aarch64, 0xd503201f}, {ocsd_isa_arm, 0xeb000003},
        {ocsd_isa_arm, 0xe12fff1e},     {ocsd_isa_arm, 0x0a000003},
        {ocsd_isa_arm, 0xe8bd8000},     {ocsd_isa_thumb2, 0xf800f000},
        {ocsd_isa_thumb2, 0xbf004770},  {ocsd_isa_thumb2, 0xbf00d0fe},
        {ocsd_isa_thumb2, 0x0000bf08},  {ocsd_isa_jazelle, 0},
        {ocsd_isa_custom, 0},
    };
    const ocsd_extern_dcd_cb_fns *lib = &custom.callbacks;
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
        ocsd_instr_info info;
        memset(&info, 0, sizeof(info));
        info.pe_type.arch = ARCH_V8;
        info.pe_type.profile = profile_CortexA;
        info.isa = opcodes[i].isa;
        info.opcode = opcodes[i].opcode;
        info.instr_addr = 0x8000;
        int error = lib->fn_arm_instruction_decode(lib->lib_context, &info);
        printf("  classify %d %08x = %d", (int)opcodes[i].isa, (unsigned)opcodes[i].opcode, error);
        if (error == 0)
            printf(" type=%d/%d size=%d cond=%d link=%d next=%d opcode=%08x", (int)info.type,
                   (int)info.sub_type, info.instr_size, info.is_conditional, info.is_link,
                   (int)info.next_isa, (unsigned)info.opcode);
        if (error == 0 && info.type == OCSD_INSTR_BR)
            printf(" to %llx", (unsigned long long)info.branch_addr);
        say("%s", "");
    }
}

static void custom_flags(const void *handle, const int flags)
{
    say("  custom packet flags %d handle=%d", flags, handle == &custom);
    custom.flags = flags;
}

static ocsd_err_t custom_create(const int flags, const void *cfg,
                                const ocsd_extern_dcd_cb_fns *callbacks,
                                ocsd_extern_dcd_inst_t *instance)
{
    static char name[] = "EDGE";
    say("  custom create flags %x cfg %d callbacks %d%d%d%d%d%d%d flags %d", (unsigned)flags,
        *(const int *)cfg, callbacks->fn_gen_elem_out != NULL, callbacks->fn_log_error != NULL,
        callbacks->fn_log_msg != NULL, callbacks->fn_arm_instruction_decode != NULL,
        callbacks->fn_memory_access != NULL, callbacks->fn_packet_mon != NULL,
        callbacks->fn_packet_data_sink != NULL, callbacks->packetCBFlags);
    custom.callbacks = *callbacks;
    instance->fn_data_in = custom_data;
    instance->fn_update_pkt_mon = custom_flags;
    instance->decoder_handle = &custom;
    instance->p_decoder_name = custom.incomplete ? NULL : name;
    instance->cs_id = 0x42;
    return OCSD_OK;
}

static ocsd_err_t custom_destroy(const void *handle)
{
    say("  custom destroy handle=%d", handle == &custom);
    return OCSD_OK;
}

static ocsd_err_t custom_id(const void *cfg, unsigned char *id)
{
    if (*(const int *)cfg < 0)
        return OCSD_ERR_BAD_HANDLE;
    *id = 0x42;
    return OCSD_OK;
}

static ocsd_err_t custom_text(const void *packet, char *buffer, const int size)
{
    (void)packet;
    snprintf(buffer, (size_t)size, "a packet of its own");
    return OCSD_OK;
}

static const ocsd_extern_dcd_fact_t factory = {.createDecoder = custom_create,
                                               .destroyDecoder = custom_destroy,
                                               .csidFromConfig = custom_id,
                                               .pktToString = custom_text};

static void custom_registration(void)
{
    char text[128];
    ocsd_extern_dcd_fact_t f = factory;
    CODE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_0, NULL, text, sizeof(text)));
    f.createDecoder = NULL;
    CODE(ocsd_register_custom_decoder("A", &f));
    f = factory;
    f.destroyDecoder = NULL;
    CODE(ocsd_register_custom_decoder("A", &f));
    f = factory;
    f.csidFromConfig = NULL;
    CODE(ocsd_register_custom_decoder("A", &f));
    f = factory;
    CODE(ocsd_register_custom_decoder("A", &f));
    say("protocol %d", (int)f.protocol_id);
    CODE(ocsd_register_custom_decoder("A", &f));
    f = factory;
    f.pktToString = NULL;
    CODE(ocsd_register_custom_decoder("B", &f));
    say("protocol %d", (int)f.protocol_id);
    CODE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_0, "p", text, sizeof(text)));
    say_text("", text);
    CODE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_1, "p", text, sizeof(text)));
    say_text("", text);
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_CUSTOM_0, "p", text, sizeof(text)));
    say_text("", text);
    CODE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_ETMV3, "p", text, sizeof(text)));
    for (int i = 2; i < 12; i++) {
        char name[8];
        snprintf(name, sizeof(name), "N%d", i);
        f = factory;
        int error = ocsd_register_custom_decoder(name, &f);
        say("register %s = %d protocol %d", name, error, (int)f.protocol_id);
    }
}

static void custom_deregister(void)
{
    char text[128];
    ocsd_extern_dcd_fact_t f = factory;
    CODE(ocsd_register_custom_decoder("A", &f));
    CODE(ocsd_deregister_decoders());
    CODE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_0, "p", text, sizeof(text)));
    CODE(ocsd_register_custom_decoder("A", &f));
    say("protocol %d", (int)f.protocol_id);
}

static void custom_string_nowhere(void)
{
    ocsd_extern_dcd_fact_t f = factory;
    CODE(ocsd_register_custom_decoder("A", &f));
    CODE(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_0, "p", NULL, 20));
}

static void custom_name_of_builtin(void)
{
    ocsd_extern_dcd_fact_t f = factory;
    CODE(ocsd_register_custom_decoder(OCSD_BUILTIN_DCD_STM, &f));
}

static void custom_name_of_used_builtin(void)
{
    ocsd_extern_dcd_fact_t f = factory;
    create(single(), OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_register_custom_decoder(OCSD_BUILTIN_DCD_STM, &f));
}

static void custom_deregister_after_builtin(void)
{
    dcd_tree_handle_t tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_deregister_decoders());
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
}

static void custom_decoder(void)
{
    static const int cfg = 7, bad_cfg = -1;
    ocsd_extern_dcd_fact_t f = factory;
    CODE(ocsd_register_custom_decoder("EDGE_KIND", &f));
    dcd_tree_handle_t tree = formatted();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    create(tree, "EDGE_KIND", OCSD_CREATE_FLG_FULL_DECODER, &bad_cfg);
    create(tree, "EDGE_KIND", OCSD_CREATE_FLG_FULL_DECODER, &cfg);
    create(tree, "EDGE_KIND", OCSD_CREATE_FLG_FULL_DECODER, &cfg);
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x42, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x42, 1));
    ocsd_decode_stats_t *stats;
    CODE(ocsd_dt_get_decode_stats(tree, 0x42, &stats));
    CODE(ocsd_dt_reset_decode_stats(tree, 0x42));
    op(tree, OCSD_OP_RESET);
    uint8_t frames[128];
    uint32_t size = frame(0x42, session, 20, frames);
    data(tree, 0, frames, size);
    waits = 1;
    data(tree, size, frames, size);
    op(tree, OCSD_OP_FLUSH);
    op(tree, OCSD_OP_EOT);
    custom_classify();
    say_last_error();
    CODE(ocsd_dt_remove_decoder(tree, 0x42));
    tree = single();
    create(tree, "EDGE_KIND", OCSD_CREATE_FLG_PACKET_PROC, &cfg);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0, ~0ull, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x42, OCSD_C_API_CB_PKT_SINK, (void *)on_sink, NULL));
    data(tree, 0, session, 20);
    op(tree, OCSD_OP_EOT);
    ocsd_destroy_dcd_tree(tree);
}

static void custom_incomplete(void)
{
    static const int cfg = 7;
    ocsd_extern_dcd_fact_t f = factory;
    custom.incomplete = true;
    CODE(ocsd_register_custom_decoder("EDGE_KIND", &f));
    create(single(), "EDGE_KIND", OCSD_CREATE_FLG_FULL_DECODER, &cfg);
}

const struct edge_case edge_custom[] = {
    CASE(custom_registration),
    CASE(custom_deregister),
    UNDEFINED(custom_string_nowhere),
    CASE(custom_name_of_builtin),
    CASE(custom_name_of_used_builtin),
    UNDEFINED(custom_deregister_after_builtin),
    CASE(custom_decoder),
    CASE(custom_incomplete),
    {.name = NULL},
};
