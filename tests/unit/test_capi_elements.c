// SPDX-License-Identifier: MIT
/**
 * @file Elements and packets as clients of the OpenCSD C API get them, old clients and new ones.
 */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capi/etmv3_session.h"
#include "capi/session.h"
#include "recorder/frames.h"
#include "recorder/stm.h"

#define MOST 16

struct seen {
    unsigned count;
    ocsd_trc_index_t index[MOST];
    ocsd_generic_trace_elem element[MOST];
    uint64_t payload[MOST];
};

/** A client reads a payload as a number of its size. */
static uint64_t payload_of(const ocsd_generic_trace_elem *element)
{
    const void *at = element->ptr_extended_data;
    switch ((element->sw_trace_info.swt_payload_pkt_bitsize + 7) / 8) {
    case 1: return *(const uint8_t *)at;
    case 2: return *(const uint16_t *)at;
    case 4: return *(const uint32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

static ocsd_datapath_resp_t keep(const void *context, const ocsd_trc_index_t index,
                                 const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct seen *seen = (struct seen *)(uintptr_t)context;
    (void)id;
    assert_true(seen->count < MOST);
    seen->index[seen->count] = index;
    seen->element[seen->count] = *element;
    if (element->extended_data)
        seen->payload[seen->count] = payload_of(element);
    seen->count++;
    return OCSD_RESP_CONT;
}

static void feed(dcd_tree_handle_t tree, ocsd_trc_index_t index, const uint8_t *bytes, size_t size)
{
    uint32_t used = 0;
    assert_int_equal(ocsd_dt_process_data(tree, OCSD_OP_DATA, index, (uint32_t)size, bytes, &used),
                     0);
    assert_int_equal(used, size);
}

static struct seen decode_session(void)
{
    struct seen seen = {0};
    dcd_tree_handle_t tree = session_tree(OCSD_TRC_SRC_SINGLE);
    ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, (const uint8_t *)session_program,
                               sizeof(session_program));
    ocsd_dt_set_gen_elem_outfn(tree, keep, &seen);
    feed(tree, 0, session_trace, sizeof(session_trace));
    ocsd_destroy_dcd_tree(tree);
    return seen;
}

/** Fields that a type does not define are zero; isa and context are those of the last context. */
static void undefined_fields_are_zero(void **state)
{
    (void)state;
    struct seen seen = decode_session();
    static const ocsd_gen_trc_elem_t types[] = {
        OCSD_GEN_TRC_ELEM_NO_SYNC,     OCSD_GEN_TRC_ELEM_TRACE_ON,    OCSD_GEN_TRC_ELEM_PE_CONTEXT,
        OCSD_GEN_TRC_ELEM_INSTR_RANGE, OCSD_GEN_TRC_ELEM_INSTR_RANGE, OCSD_GEN_TRC_ELEM_TIMESTAMP,
        OCSD_GEN_TRC_ELEM_INSTR_RANGE};
    assert_int_equal(seen.count, 7);
    for (unsigned i = 0; i < seen.count; i++)
        assert_int_equal(seen.element[i].elem_type, types[i]);

    ocsd_generic_trace_elem want;
    memset(&want, 0, sizeof(want));
    want.elem_type = OCSD_GEN_TRC_ELEM_INSTR_RANGE;
    want.isa = ocsd_isa_aarch64;
    want.context.security_level = ocsd_sec_nonsecure;
    want.context.exception_level = ocsd_EL1;
    want.context.bits64 = 1;
    want.context.el_valid = 1;
    want.st_addr = 0x4000;
    want.en_addr = 0x4008;
    want.last_i_type = OCSD_INSTR_BR;
    want.last_i_subtype = OCSD_S_INSTR_BR_LINK;
    want.last_instr_exec = 1;
    want.last_instr_sz = 4;
    want.num_instr_range = 2;
    assert_memory_equal(&seen.element[3], &want, sizeof(want));

    want.st_addr = 0x4010;
    want.en_addr = 0x4014;
    want.last_i_subtype = OCSD_S_INSTR_NONE;
    want.last_instr_exec = 0;
    want.last_instr_cond = 1;
    want.num_instr_range = 1;
    assert_memory_equal(&seen.element[4], &want, sizeof(want));

    want.elem_type = OCSD_GEN_TRC_ELEM_TIMESTAMP;
    want.st_addr = want.en_addr = 0;
    want.last_i_type = OCSD_INSTR_OTHER;
    want.flag_bits = 0;
    want.num_instr_range = 0;
    want.timestamp = 0x81;
    assert_memory_equal(&seen.element[5], &want, sizeof(want));
}

/** A count of cycles after a range has nothing of it, nor has a range anything of the count. */
static void cycles_leave_nothing(void **state)
{
    (void)state;
    static const uint32_t program[] = {LE32(0xe1a00000), LE32(0x01a00000), LE32(0xe1a00000)};
    const uint32_t cycle_accurate = 1 << 12;
    const ocsd_etmv3_cfg config = etmv3_session_config(cycle_accurate);
    struct rec_bytes bytes = {0};
    struct rec_etmv3 unit;
    etmv3_session_begin(&unit, cycle_accurate, &bytes);
    rec_etmv3_atom(&unit, true, 4);
    rec_etmv3_wait(&unit, 5);
    rec_etmv3_wait(&unit, 3);
    rec_etmv3_atom(&unit, false, 1);
    rec_etmv3_wait(&unit, 2);
    rec_etmv3_atom(&unit, true, 1);
    rec_etmv3_isync(&unit, &(struct rec_etmv3_isync){.address = 0x4000, .reason = 0});

    struct seen seen = {0};
    unsigned char id;
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV3, OCSD_CREATE_FLG_FULL_DECODER, &config,
                           &id);
    ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, (const uint8_t *)program,
                               sizeof(program));
    ocsd_dt_set_gen_elem_outfn(tree, keep, &seen);
    feed(tree, 0, bytes.data, bytes.size);
    ocsd_destroy_dcd_tree(tree);
    rec_bytes_free(&bytes);

    static const struct {
        uint32_t address, cycles;
        bool executed, conditional;
    } want[] = {{0x4000, 4, true, false}, {0, 5, 0, 0}, {0, 3, 0, 0},
                {0x4004, 1, false, true}, {0, 2, 0, 0}, {0x4008, 1, true, false}};
    unsigned first = 0;
    while (first < seen.count && seen.element[first].elem_type != OCSD_GEN_TRC_ELEM_INSTR_RANGE)
        first++;
    assert_true(first + 6 <= seen.count);
    for (unsigned i = 0; i < 6; i++) {
        const bool range = want[i].address != 0;
        ocsd_generic_trace_elem wanted;
        memset(&wanted, 0, sizeof(wanted));
        wanted.elem_type = range ? OCSD_GEN_TRC_ELEM_INSTR_RANGE : OCSD_GEN_TRC_ELEM_CYCLE_COUNT;
        wanted.context = seen.element[first].context;
        wanted.cycle_count = want[i].cycles;
        wanted.has_cc = 1;
        wanted.st_addr = want[i].address;
        wanted.en_addr = range ? want[i].address + 4 : 0;
        wanted.last_instr_exec = want[i].executed;
        wanted.last_instr_cond = want[i].conditional;
        wanted.last_instr_sz = range ? 4 : 0;
        wanted.num_instr_range = range;
        assert_memory_equal(&seen.element[first + i], &wanted, sizeof(wanted));
    }
}

static struct seen decode_stm(const struct pug_stm_packet *packets, size_t count)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    for (size_t i = 0; i < count; i++)
        rec_stm_put(&stm, &packets[i]);
    rec_stm_end(&stm);

    const ocsd_stm_cfg config = {.reg_tcsr = 0x00200005, .reg_feat3r = 0x10000, .reg_devid = 0xff};
    struct seen seen = {0};
    unsigned char id;
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_FULL_DECODER, &config, &id);
    ocsd_dt_set_gen_elem_outfn(tree, keep, &seen);
    feed(tree, 0, bytes.data, bytes.size);
    ocsd_destroy_dcd_tree(tree);
    rec_bytes_free(&bytes);
    return seen;
}

/* Of 1.3.3: where its struct has the pointer, which is its last field; 80 and 88 on x86-64. */
#define OLD_POINTER (offsetof(ocsd_generic_trace_elem, exception_number) + 8)
#define OLD_SIZE    (OLD_POINTER + sizeof(void *))

static const void *old_pointer(const ocsd_generic_trace_elem *e)
{
    const void *old;
    memcpy(&old, (const char *)e + OLD_POINTER, sizeof(old));
    return old;
}

/** The payload's address is where 1.8.0 has it and where 1.3.3 has it. */
static void software_trace_payload(void **state)
{
    (void)state;
    static const struct pug_stm_packet packets[] = {
        {.type = PUG_STM_ASYNC},
        {.type = PUG_STM_VERSION, .payload = 3},
        {.type = PUG_STM_M8, .master = 0x21},
        {.type = PUG_STM_C8, .channel = 0x43},
        {.type = PUG_STM_D32, .marker = true, .payload = 0x12345678},
    };
    struct seen seen = decode_stm(packets, sizeof(packets) / sizeof(packets[0]));
    const ocsd_generic_trace_elem *e = &seen.element[seen.count - 1];
    assert_int_equal(e->elem_type, OCSD_GEN_TRC_ELEM_SWTRACE);
    assert_int_equal(e->sw_trace_info.swt_master_id, 0x21);
    assert_int_equal(e->sw_trace_info.swt_channel_id, 0x43);
    assert_int_equal(e->sw_trace_info.swt_payload_pkt_bitsize, 32);
    assert_int_equal(e->sw_trace_info.swt_marker_packet, 1);
    assert_int_equal(e->sw_trace_info.swt_id_valid, 1);
    assert_int_equal(e->extended_data, 1);
    assert_int_equal(seen.payload[seen.count - 1], 0x12345678);
    assert_ptr_equal(old_pointer(e), e->ptr_extended_data);
}

/** The bit fields as one word, the first one lowest. */
static uint32_t software_bits(const ocsd_swt_info_t *info)
{
    return info->swt_payload_pkt_bitsize | (uint32_t)info->swt_payload_num_packets << 8 |
           (uint32_t)info->swt_marker_packet << 16 | (uint32_t)info->swt_has_timestamp << 17 |
           (uint32_t)info->swt_marker_first << 18 | (uint32_t)info->swt_master_err << 19 |
           (uint32_t)info->swt_global_err << 20 | (uint32_t)info->swt_trigger_event << 21 |
           (uint32_t)info->swt_frequency << 22 | (uint32_t)info->swt_id_valid << 23;
}

/** One struct serves all elements: what one has and the next has not is not there any more. */
static void software_trace_leaves_nothing(void **state)
{
    (void)state;
    static const struct pug_stm_packet packets[] = {
        {.type = PUG_STM_ASYNC},
        {.type = PUG_STM_VERSION, .payload = 3},
        {.type = PUG_STM_M8, .master = 0x21},
        {.type = PUG_STM_FREQ, .payload = 0x01020304},
        {.type = PUG_STM_D8,
         .marker = true,
         .has_ts = true,
         .payload = 9,
         .timestamp = 5,
         .ts_bits = 4},
        {.type = PUG_STM_FLAG},
        {.type = PUG_STM_TRIG, .payload = 7},
        {.type = PUG_STM_C8, .channel = 0x43},
        {.type = PUG_STM_D64, .payload = UINT64_MAX},
        {.type = PUG_STM_MERR, .payload = 6},
        {.type = PUG_STM_D4, .payload = 4},
        {.type = PUG_STM_GERR, .payload = 3},
        {.type = PUG_STM_D16, .payload = 2},
    };
    enum { MARKER = 1 << 16, TIMED = 1 << 17, MERR = 1 << 19, GERR = 1 << 20, TRIG = 1 << 21 };
    enum { FREQ = 1 << 22, VALID = 1 << 23, ONE = 1 << 8 };
    static const struct {
        uint16_t master, channel;
        uint32_t bits;
        uint64_t payload;
    } want[] = {
        {0x21, 0, VALID | FREQ | ONE | 32, 0x01020304},
        {0x21, 0, VALID | MARKER | TIMED | ONE | 8, 9},
        {0x21, 0, VALID | MARKER, 0},
        {0x21, 0, VALID | TRIG | ONE | 8, 7},
        {0x21, 0x43, VALID | ONE | 64, UINT64_MAX},
        {0x21, 0, VALID | MERR | ONE | 8, 6},
        {0x21, 0, VALID | ONE | 4, 4},
        {0, 0, GERR | ONE | 8, 3},
        {0, 0, ONE | 16, 2},
    };
    struct seen seen = decode_stm(packets, sizeof(packets) / sizeof(packets[0]));
    assert_int_equal(seen.count, 1 + sizeof(want) / sizeof(want[0]));
    for (unsigned i = 0; i < seen.count - 1; i++) {
        const ocsd_generic_trace_elem *e = &seen.element[i + 1];
        bool timed = want[i].bits & TIMED, loaded = want[i].bits & ONE;
        assert_int_equal(e->elem_type, OCSD_GEN_TRC_ELEM_SWTRACE);
        assert_int_equal(e->sw_trace_info.swt_master_id, want[i].master);
        assert_int_equal(e->sw_trace_info.swt_channel_id, want[i].channel);
        assert_int_equal(software_bits(&e->sw_trace_info), want[i].bits);
        assert_int_equal(e->has_ts, timed);
        assert_int_equal(e->timestamp, timed ? 5 : 0);
        assert_int_equal(e->extended_data, loaded);
        assert_int_equal(e->ptr_extended_data != NULL, loaded);
        assert_ptr_equal(old_pointer(e), e->ptr_extended_data);
        assert_int_equal(seen.payload[i + 1], want[i].payload);
    }
}

/** An element made by a client of 1.3.3 ends after its pointer. */
static void old_clients_element_is_printed(void **state)
{
    (void)state;
    const uint16_t payload = 0xcafe;
    const void *pointer = &payload;
    ocsd_generic_trace_elem element;
    char text[128];
    memset(&element, 0, sizeof(element));
    element.elem_type = OCSD_GEN_TRC_ELEM_SWTRACE;
    element.sw_trace_info.swt_payload_pkt_bitsize = 16;
    element.extended_data = 1;
    void *old = malloc(OLD_SIZE);
    memcpy(old, &element, OLD_SIZE);
    memcpy((char *)old + OLD_POINTER, &pointer, sizeof(pointer));
    assert_int_equal(ocsd_gen_elem_str(old, text, sizeof(text)), 0);
    assert_string_equal(text, "OCSD_GEN_TRC_ELEM_SWTRACE((Ma:0x?\?; Ch:0x?\?) 0xcafe; )");
    free(old);
}

/** Initialising writes nothing after an element of 1.3.3, and clears its pointer. */
static void old_clients_element_is_initialised(void **state)
{
    (void)state;
    char *old = malloc(OLD_SIZE);
    memset(old, 0xa5, OLD_SIZE);
    ocsd_gen_elem_init((ocsd_generic_trace_elem *)(void *)old, OCSD_GEN_TRC_ELEM_EVENT);
    uint32_t type, flags;
    uintptr_t pointer;
    memcpy(&type, old, sizeof(type));
    memcpy(&flags, old + offsetof(ocsd_generic_trace_elem, flag_bits), sizeof(flags));
    memcpy(&pointer, old + OLD_POINTER, sizeof(pointer));
    assert_int_equal(type, OCSD_GEN_TRC_ELEM_EVENT);
    assert_int_equal(flags, 0);
    assert_int_equal(pointer, 0);
    free(old);
}

/* ---- packets ---- */

static ocsd_datapath_resp_t check_old_places(const void *context, const ocsd_datapath_op_t op,
                                             const ocsd_trc_index_t index, const void *packet)
{
    if (op != OCSD_OP_DATA)
        return OCSD_RESP_CONT;
    const ocsd_etmv4_i_pkt *p = packet;
    const char *bytes = packet;
    uint32_t valid, err_type;
    memcpy(&valid, bytes + 140, 4);
    memcpy(&err_type, bytes + 144, 4);
    assert_int_equal(valid, p->pkt_valid.val);
    assert_int_equal(err_type, p->err_type);
    assert_int_equal((uint8_t)bytes[148], p->err_hdr_val);
    assert_int_equal((uint8_t)bytes[149], p->protocol_version);
    assert_int_equal(p->protocol_version, 0x40);

    /* 152 bytes of it are enough to print it. */
    char whole[256], cut[256];
    void *copy = malloc(152);
    memcpy(copy, packet, 152);
    assert_int_equal(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, packet, whole, sizeof(whole)), 0);
    assert_int_equal(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, copy, cut, sizeof(cut)), 0);
    assert_string_equal(whole, cut);
    free(copy);
    if (p->type == ETM4_PKT_I_TIMESTAMP) {
        assert_int_equal(index, 28);
        assert_int_equal(p->ts.timestamp, 0x81);
        assert_int_equal(p->pkt_valid.bits.ts_valid, 1);
        assert_string_equal(whole, "I_TIMESTAMP : Timestamp.; Updated val = 0x81");
    }
    ++*(unsigned *)(uintptr_t)context;
    return OCSD_RESP_CONT;
}

static void packets_in_both_layouts(void **state)
{
    (void)state;
    if (alignof(uint64_t) != 8)
        skip(); /* i386 has no holes for them */
    unsigned packets = 0;
    unsigned char id;
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC,
                           &session_config, &id);
    assert_int_equal(ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK,
                                                    (void *)(uintptr_t)check_old_places, &packets),
                     0);
    feed(tree, 0, session_trace, sizeof(session_trace));
    assert_int_equal(packets, 8);
    ocsd_destroy_dcd_tree(tree);
}

/* ---- the index ---- */

/** The index has 32 bits; after 4 GiB a formatted tree continues at 0, and reports it. */
static void index_wraps(void **state)
{
    (void)state;
    struct rec_bytes bytes = {0};
    struct rec_frames frames = {.out = &bytes};
    rec_frames_put(&frames, 0x10, session_trace, sizeof(session_trace));
    rec_frames_finish(&frames);
    assert_int_equal(bytes.size, 48);

    struct seen seen = {0};
    dcd_tree_handle_t tree = session_tree(OCSD_TRC_SRC_FRAME_FORMATTED);
    ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, (const uint8_t *)session_program,
                               sizeof(session_program));
    ocsd_dt_set_gen_elem_outfn(tree, keep, &seen);
    feed(tree, 0xfffffff0, bytes.data, 16);
    feed(tree, 0, bytes.data + 16, 16);
    feed(tree, 16, bytes.data + 32, 16);
    assert_int_equal(seen.count, 7);
    assert_int_equal(seen.index[0], 0xfffffff0);
    assert_true(seen.index[6] < 48);
    uint32_t used;
    assert_int_equal(ocsd_dt_process_data(tree, OCSD_OP_DATA, 64, 16, bytes.data, &used),
                     OCSD_RESP_FATAL_INVALID_DATA);
    assert_int_equal(used, 0);
    ocsd_destroy_dcd_tree(tree);
    rec_bytes_free(&bytes);
}

struct printed {
    char text[256];
    size_t size;
};

static void keep_text(const void *context, const char *text, const int size)
{
    struct printed *printed = (struct printed *)(uintptr_t)context;
    assert_true(printed->size + (size_t)size < sizeof(printed->text));
    memcpy(printed->text + printed->size, text, (size_t)size);
    printed->size += (size_t)size;
}

/** A VMID is printed as a character; that of number 0 does not end the line. */
static void texts_with_nul(void **state)
{
    (void)state;
    static const uint8_t trace[] = {0, 0, 0, 0, 0, 0x80, 0x3c, 0x00, 0x66};
    static const char wanted[] = "Idx:6; ID:13;\tVMID : VM ID packet; VMID=0x0\0; \n";
    struct printed printed = {.size = 0};
    ocsd_ptm_cfg config = {.reg_trc_id = 0x13, .arch_ver = ARCH_V7, .core_prof = profile_CortexA};
    unsigned char id = 0;
    assert_int_equal(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1), OCSD_OK);
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    assert_int_equal(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_PTM, OCSD_CREATE_FLG_PACKET_PROC,
                                            &config, &id),
                     OCSD_OK);
    assert_int_equal(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL), OCSD_OK);
    assert_int_equal(ocsd_def_errlog_set_strprint_cb(tree, &printed, keep_text), OCSD_OK);
    assert_int_equal(ocsd_dt_set_pkt_protocol_printer(tree, id, 0), OCSD_OK);
    feed(tree, 0, trace, 6);
    printed.size = 0;
    feed(tree, 6, trace + 6, 2);
    assert_int_equal(printed.size, sizeof(wanted) - 1);
    assert_memory_equal(printed.text, wanted, sizeof(wanted) - 1);
    ocsd_destroy_dcd_tree(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undefined_fields_are_zero),
        cmocka_unit_test(cycles_leave_nothing),
        cmocka_unit_test(software_trace_payload),
        cmocka_unit_test(software_trace_leaves_nothing),
        cmocka_unit_test(old_clients_element_is_printed),
        cmocka_unit_test(old_clients_element_is_initialised),
        cmocka_unit_test(packets_in_both_layouts),
        cmocka_unit_test(index_wraps),
        cmocka_unit_test(texts_with_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
