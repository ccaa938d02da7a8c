// SPDX-License-Identifier: MIT
/**
 * @file A client of the OpenCSD C API that calls every function with good and bad arguments and
 * writes down what happens. It is built against any version's headers and run on any library: the
 * transcripts of two libraries tell how they differ. Each case runs in a process of its own, so
 * that a crash is one line of the transcript.
 *
 *     edge_client CASE | defined | undefined | version
 *
 * "defined": the cases that the reference answers; "undefined": those in which it crashes.
 */
#include <opencsd/c_api/opencsd_c_api.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- writing down ---- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fputs("\n", stdout);
    fflush(stdout);
}

#define CODE(call) say("%s = %d", #call, (int)(call))

/** Text of a callback, on one line. */
static void say_text(const char *who, const char *text)
{
    printf("%s \"", who);
    for (; *text; text++)
        if (*text == '\n')
            fputs("\\n", stdout);
        else if (*text == '\t')
            fputs("\\t", stdout);
        else
            putchar(*text);
    say("\"");
}

/* ---- trace that the cases share ---- */

/* ETMv4 with trace ID 0x10, no options; the bytes of one session. */
static const uint8_t session[] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0x80, /* 0: ASYNC */
    0x01, 0x01, 0x00,                                                    /* 12: TRACE_INFO */
    0x04,                                                                /* 15: TRACE_ON */
    0x85, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x31, /* 16: 0x4000, EL1 NS A64 */
    0x02, 0x81, 0x01,                                           /* 26: TIMESTAMP */
    0x06, 0x02, 0x90,                                           /* 29: EXCEPTION, exact match */
    0x70,                                                       /* 32: reserved */
};

/* The same beginning, then atoms over the program. */
static const uint8_t flow[] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0x80, /* 0: ASYNC */
    0x01, 0x01, 0x00,                                                    /* 12: TRACE_INFO */
    0x04,                                                                /* 15: TRACE_ON */
    0x85, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x31, /* 16: 0x4000, EL1 NS A64 */
    0xf7,                                                       /* 26: E */
    0xf6,                                                       /* 27: N */
    0xf7,                                                       /* 28: E */
    0xf7,                                                       /* 29: E */
    0xfb,                                                       /* 30: three atoms */
    0xf7, 0xf7, 0xf7,                                           /* 31: beyond the program */
};

/* A64 at 0x4000. */
static const uint32_t program[] = {
    0xd503201f, /* 4000 nop */
    0x94000003, /* 4004 bl 4010 */
    0x14000000, /* 4008 b . */
    0xd503201f, /* 400c nop */
    0x54000040, /* 4010 b.eq 4018 */
    0xd503201f, /* 4014 nop */
    0xb4000040, /* 4018 cbz x0, 4020 */
    0xd65f03c0, /* 401c ret */
    0xd503201f, /* 4020 nop */
    0x17fffffa, /* 4024 b 400c */
    0xd503201f, /* 4028 nop */
    0xd503201f, /* 402c nop */
};
#define PROGRAM ((const uint8_t *)program)

static const ocsd_etmv4_cfg etmv4 = {.reg_idr0 = 0x28000ea1,
                                     .reg_idr1 = 0x4100f403,
                                     .reg_idr2 = 0x488,
                                     .reg_configr = 0xc1,
                                     .reg_traceidr = 0x10,
                                     .arch_ver = ARCH_V8,
                                     .core_prof = profile_CortexA};
static const ocsd_etmv3_cfg etmv3 = {.reg_idr = 0x410cf250,
                                     .reg_ctrl = 0x10001860,
                                     .reg_ccer = 0x344008f2,
                                     .reg_trc_id = 0x11,
                                     .arch_ver = ARCH_V7,
                                     .core_prof = profile_CortexA};
static const ocsd_ptm_cfg ptm = {.reg_idr = 0x411cf312,
                                 .reg_ctrl = 0x10001000,
                                 .reg_ccer = 0x34c01ac2,
                                 .reg_trc_id = 0x13,
                                 .arch_ver = ARCH_V7,
                                 .core_prof = profile_CortexA};
static const ocsd_stm_cfg stm = {.reg_tcsr = 0x00200005, .reg_feat3r = 0x10000, .reg_devid = 0xff};
static const ocsd_ete_cfg ete = {.reg_idr0 = 0x288006a1,
                                 .reg_idr1 = 0x4100fff0,
                                 .reg_idr2 = 0xc0001088,
                                 .reg_devarch = 0x47715a13,
                                 .reg_configr = 0x80,
                                 .reg_traceidr = 0x15,
                                 .arch_ver = ARCH_AA64,
                                 .core_prof = profile_CortexA};

/* ---- callbacks that write down ---- */

static int waits;         /* so many elements are answered WAIT */
static int fatal_at = -1; /* this one is answered FATAL */
static int elements;      /* so far */

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *e)
{
    printf("  element%s idx=%u id=%02x type=%d", context ? (const char *)context : "",
           (unsigned)index, id, (int)e->elem_type);
    switch ((int)e->elem_type) {
    case OCSD_GEN_TRC_ELEM_NO_SYNC:
    case OCSD_GEN_TRC_ELEM_TRACE_ON: printf(" why=%u", e->exception_number); break;
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        printf(" isa=%d sec=%d el=%d valid=%d 64=%d", (int)e->isa, (int)e->context.security_level,
               (int)e->context.exception_level, (int)e->context.el_valid, (int)e->context.bits64);
        break;
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        printf(" isa=%d %llx-%llx n=%u type=%d/%d exec=%d size=%d cond=%d", (int)e->isa,
               (unsigned long long)e->st_addr, (unsigned long long)e->en_addr, e->num_instr_range,
               (int)e->last_i_type, (int)e->last_i_subtype, (int)e->last_instr_exec,
               (int)e->last_instr_sz, (int)e->last_instr_cond);
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC: printf(" %llx", (unsigned long long)e->st_addr); break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        printf(" number=%u ret=%d", e->exception_number, (int)e->excep_ret_addr);
        if (e->excep_ret_addr)
            printf(" %llx", (unsigned long long)e->en_addr);
        break;
    case OCSD_GEN_TRC_ELEM_TIMESTAMP: printf(" ts=%llx", (unsigned long long)e->timestamp); break;
    default: break;
    }
    if (e->has_cc)
        printf(" cc=%u", e->cycle_count);
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    if (elements++ == fatal_at)
        answer = OCSD_RESP_FATAL_SYS_ERR;
    else if (waits > 0) {
        waits--;
        answer = OCSD_RESP_WAIT;
    }
    say(" -> %d", (int)answer);
    return answer;
}

static ocsd_datapath_resp_t on_sink(const void *context, const ocsd_datapath_op_t op,
                                    const ocsd_trc_index_t index, const void *packet)
{
    const ocsd_etmv4_i_pkt *p = packet;
    if (p)
        say("  sink%s op=%d idx=%u type=%x", context ? (const char *)context : "", (int)op,
            (unsigned)index, (unsigned)p->type);
    else
        say("  sink%s op=%d idx=%u no packet", context ? (const char *)context : "", (int)op,
            (unsigned)index);
    return OCSD_RESP_CONT;
}

static void on_monitor(const void *context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                       const uint8_t *bytes)
{
    const ocsd_etmv4_i_pkt *p = packet;
    (void)context;
    printf("  monitor op=%d idx=%u", (int)op, (unsigned)index);
    if (p) {
        printf(" type=%x [", (unsigned)p->type);
        for (uint32_t i = 0; i < size; i++)
            printf("%02x", bytes[i]);
        say("]");
    } else {
        say(" size=%u bytes=%d no packet", (unsigned)size, bytes != NULL);
    }
}

static void on_string(const void *context, const char *text, const int length)
{
    (void)context;
    if ((int)strlen(text) != length)
        say("  length is %d!", length);
    say_text("  text", text);
}

static uint32_t give_memory(const ocsd_vaddr_t address, uint32_t wanted, uint8_t *buffer)
{
    const uint64_t base = 0x4000, size = sizeof(program);
    if (address < base || address >= base + size)
        return 0;
    uint64_t left = base + size - address;
    uint32_t n = wanted < left ? wanted : (uint32_t)left;
    memcpy(buffer, PROGRAM + (address - base), n);
    return n;
}

static uint32_t on_memory(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint32_t wanted, uint8_t *buffer)
{
    (void)context;
    uint32_t got = give_memory(address, wanted, buffer);
    say("  memory %llx space=%x wanted=%u -> %u", (unsigned long long)address, (unsigned)space,
        (unsigned)wanted, (unsigned)got);
    return got;
}

static uint32_t on_memory_id(const void *context, const ocsd_vaddr_t address,
                             const ocsd_mem_space_acc_t space, const uint8_t id,
                             const uint32_t wanted, uint8_t *buffer)
{
    (void)context;
    uint32_t got = give_memory(address, wanted, buffer);
    say("  memory %llx space=%x id=%02x wanted=%u -> %u", (unsigned long long)address,
        (unsigned)space, id, (unsigned)wanted, (unsigned)got);
    return got;
}

/* ---- shortcuts ---- */

static dcd_tree_handle_t formatted(void)
{
    return ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
}

static dcd_tree_handle_t single(void)
{
    return ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
}

static int create(dcd_tree_handle_t tree, const char *name, int flags, const void *cfg)
{
    unsigned char id = 0xee;
    int error = ocsd_dt_create_decoder(tree, name, flags, cfg, &id);
    say("create %s flags %x = %d id %02x", name, (unsigned)flags, error, id);
    return error;
}

static dcd_tree_handle_t full_single(void)
{
    dcd_tree_handle_t tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    return tree;
}

static ocsd_datapath_resp_t op(dcd_tree_handle_t tree, ocsd_datapath_op_t operation)
{
    static const char *const names[] = {"DATA", "EOT", "FLUSH", "RESET"};
    ocsd_datapath_resp_t answer = ocsd_dt_process_data(tree, operation, 0, 0, NULL, NULL);
    say("%s = %d", names[operation], (int)answer);
    return answer;
}

static uint32_t data(dcd_tree_handle_t tree, uint32_t index, const uint8_t *bytes, uint32_t size)
{
    uint32_t used = 0x5555;
    ocsd_datapath_resp_t answer =
        ocsd_dt_process_data(tree, OCSD_OP_DATA, index, size, bytes, &used);
    say("DATA %u at %u = %d processed %u", (unsigned)size, (unsigned)index, (int)answer,
        (unsigned)used);
    return used;
}

/** Bytes of one source in CoreSight frames. */
static uint32_t frame(uint8_t id, const uint8_t *bytes, uint32_t size, uint8_t *frames)
{
    uint32_t out = 0;
    for (uint32_t at = 0; at < size; out += 16) {
        uint8_t *f = frames + out, flags = 0;
        f[0] = (uint8_t)(id << 1 | 1);
        f[1] = at < size ? bytes[at++] : 0;
        for (unsigned i = 2; i < 15; i++) {
            if (at == size && i % 2 == 0 && f[i - 2] != 1 && i < 14) {
                f[i] = 1; /* ID 0 from here: padding */
                memset(f + i + 1, 0, 14 - i);
                break;
            }
            uint8_t byte = at < size ? bytes[at++] : 0;
            if (i % 2 == 0) {
                flags |= (uint8_t)((byte & 1) << i / 2);
                byte &= 0xfe;
            }
            f[i] = byte;
        }
        f[15] = flags;
    }
    return out;
}

/* ---- the cases ---- */

static void version(void)
{
    say("version %s", ocsd_get_version() >= 0x10303 ? "1.3.3 or newer" : "older");
    char text[32];
    uint32_t n = ocsd_get_version();
    snprintf(text, sizeof(text), "%u.%u.%u", n >> 16, n >> 8 & 0xff, n & 0xff);
    say("number and string agree: %d", strcmp(text, ocsd_get_version_str()) == 0);
}

static void create_tree(void)
{
    for (unsigned flags = 0; flags <= 0x48; flags++)
        say("formatted %02x: %d", flags,
            ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, flags) != NULL);
    say("single: %d", ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0) != NULL);
    say("single, mad flags: %d", ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0xffff) != NULL);
    ocsd_destroy_dcd_tree(C_API_INVALID_TREE_HANDLE);
    say("destroyed nothing");
    dcd_tree_handle_t a = formatted(), b = single();
    ocsd_destroy_dcd_tree(a);
    ocsd_destroy_dcd_tree(b);
    say("destroyed two");
}

static void wrong_data(void)
{
    uint32_t used = 77;
    uint8_t bytes[64] = {0};
    CODE(ocsd_dt_process_data(NULL, OCSD_OP_DATA, 0, 16, bytes, &used));
    say("processed %u", (unsigned)used);
    dcd_tree_handle_t tree = single();
    data(tree, 0, bytes, 16);
    ocsd_destroy_dcd_tree(tree);
    tree = formatted();
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 0, bytes, &used));
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, NULL, &used));
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, bytes, NULL));
    CODE(ocsd_dt_process_data(tree, (ocsd_datapath_op_t)4, 0, 16, bytes, &used));
    CODE(ocsd_dt_process_data(tree, (ocsd_datapath_op_t)-1, 0, 16, bytes, &used));
    say("processed %u", (unsigned)used);
    data(tree, 0, bytes, 15);
    data(tree, 0, bytes, 16);
    data(tree, 16, bytes, 48);
    data(tree, 64, bytes, 17);
    data(tree, 64, bytes, 16);
    op(tree, OCSD_OP_FLUSH);
    op(tree, OCSD_OP_EOT);
    op(tree, OCSD_OP_RESET);
    data(tree, 0xfffffff0u, bytes, 16);
    data(tree, 0, bytes, 16);
    ocsd_destroy_dcd_tree(tree);
    tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_HAS_FSYNCS);
    data(tree, 0, bytes, 15);
    ocsd_destroy_dcd_tree(tree);
    tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED,
                                OCSD_DFRMTR_HAS_HSYNCS | OCSD_DFRMTR_HAS_FSYNCS);
    data(tree, 0, bytes, 15);
    ocsd_destroy_dcd_tree(tree);
    tree = full_single();
    data(tree, 0, bytes, 0);
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, NULL, &used));
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, bytes, NULL));
    CODE(ocsd_dt_process_data(tree, (ocsd_datapath_op_t)7, 0, 16, bytes, &used));
    ocsd_destroy_dcd_tree(tree);
}

static void single_without_decoder(void)
{
    dcd_tree_handle_t tree = single();
    op(tree, OCSD_OP_RESET);
}

static void gap_in_index(void)
{
    uint8_t bytes[64] = {0};
    dcd_tree_handle_t tree = formatted();
    data(tree, 32, bytes, 32);
    data(tree, 32, bytes, 32);
}

static void without_consumer(void)
{
    dcd_tree_handle_t tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    op(tree, OCSD_OP_RESET);
    say("no element function, no memory");
    uint32_t used = 0;
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(flow), flow, &used));
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    say("no memory");
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(flow), flow, &used));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY, "no such file"));
    op(tree, OCSD_OP_RESET);
    say("a memory in which nothing is");
    data(tree, 0, flow, sizeof(flow));
    ocsd_destroy_dcd_tree(tree);
}

static void null_consumer(void)
{
    uint32_t used;
    dcd_tree_handle_t tree = full_single();
    CODE(ocsd_dt_set_gen_elem_outfn(tree, NULL, NULL));
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(flow), flow, &used));
}

static void create_decoder(void)
{
    dcd_tree_handle_t tree = formatted();
    create(tree, "NOSUCH", OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, "etmv4i", OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4D, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, "", OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV3, OCSD_CREATE_FLG_FULL_DECODER, &etmv3);
    create(tree, OCSD_BUILTIN_DCD_PTM, OCSD_CREATE_FLG_PACKET_PROC | OCSD_CREATE_FLG_FULL_DECODER,
           &ptm);
    create(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_PACKET_PROC, &stm);
    create(tree, OCSD_BUILTIN_DCD_ETE, OCSD_CREATE_FLG_FULL_DECODER | 0x40000000, &ete);
    ocsd_etmv4_cfg odd = etmv4;
    static const uint32_t ids[] = {0, 0x70, 0x7f, 0x80 | 0x20, 0xfff};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        odd.reg_traceidr = ids[i];
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &odd);
    }
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV3, OCSD_CREATE_FLG_FULL_DECODER, &etmv3);
    ocsd_destroy_dcd_tree(tree);
}

static void create_without_mode(void)
{
    dcd_tree_handle_t tree = formatted();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, 0, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_INST_ID, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
}

static void create_null_handle(void)
{
    create(NULL, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
}

static void create_null_name(void)
{
    unsigned char id;
    CODE(ocsd_dt_create_decoder(formatted(), NULL, OCSD_CREATE_FLG_FULL_DECODER, &etmv4, &id));
}

static void create_null_config(void)
{
    create(formatted(), OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, NULL);
}

static void create_null_id(void)
{
    CODE(ocsd_dt_create_decoder(formatted(), OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER,
                                &etmv4, NULL));
}

static void unsupported_config(void)
{
    dcd_tree_handle_t tree = single();
    ocsd_etmv4_cfg odd = etmv4;
    odd.reg_configr = 0x1c3; /* conditional trace */
    odd.reg_idr0 |= 0x40;
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &odd);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
    uint32_t used;
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(flow), flow, &used));
}

static void remove_decoder(void)
{
    dcd_tree_handle_t tree = formatted();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_remove_decoder(tree, 0));
    CODE(ocsd_dt_remove_decoder(tree, 0x70));
    CODE(ocsd_dt_remove_decoder(tree, 0xff));
    CODE(ocsd_dt_remove_decoder(tree, 0x6f));
    CODE(ocsd_dt_remove_decoder(tree, 0x10));
    CODE(ocsd_dt_remove_decoder(tree, 0x10));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    CODE(ocsd_dt_remove_decoder(tree, 0x33));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_remove_decoder(tree, 0x33));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    ocsd_destroy_dcd_tree(tree);
}

static void remove_then_data(void)
{
    uint8_t frames[128];
    uint32_t size = frame(0x10, flow, sizeof(flow), frames);
    dcd_tree_handle_t tree = formatted();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_dt_remove_decoder(tree, 0x10));
    data(tree, 0, frames, size);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_dt_remove_decoder(tree, 0x10));
    data(tree, 0, flow, sizeof(flow));
}

static void null_handle_remove(void)
{
    CODE(ocsd_dt_remove_decoder(NULL, 0x10));
}

static void null_handle_attach(void)
{
    CODE(ocsd_dt_attach_packet_callback(NULL, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
}

static void null_handle_stats(void)
{
    ocsd_decode_stats_t *stats;
    CODE(ocsd_dt_get_decode_stats(NULL, 0x10, &stats));
}

static void null_handle_reset_stats(void)
{
    CODE(ocsd_dt_reset_decode_stats(NULL, 0x10));
}

static void null_handle_outfn(void)
{
    CODE(ocsd_dt_set_gen_elem_outfn(NULL, on_element, NULL));
}

static void packet_callbacks(void)
{
    dcd_tree_handle_t tree = formatted();
    CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    ocsd_etmv4_cfg other = etmv4;
    other.reg_traceidr = 0x12;
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &other);
    CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK, (void *)on_sink, NULL));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x10, (ocsd_c_api_cb_types)2, (void *)on_sink, NULL));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x12, OCSD_C_API_CB_PKT_SINK, (void *)on_sink,
                                        " first"));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x12, OCSD_C_API_CB_PKT_SINK, (void *)on_sink,
                                        " second"));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x12, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
    uint8_t frames[256];
    uint32_t size = frame(0x12, session, sizeof(session), frames);
    data(tree, 0, frames, size);
    op(tree, OCSD_OP_FLUSH);
    op(tree, OCSD_OP_EOT);
    op(tree, OCSD_OP_RESET);
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_dt_attach_packet_callback(tree, 0x55, OCSD_C_API_CB_PKT_SINK, (void *)on_sink, NULL));
    data(tree, 1000, session, sizeof(session));
    op(tree, OCSD_OP_EOT);
    ocsd_destroy_dcd_tree(tree);
}

static void packet_flags(void)
{
    static const int flags[] = {0, OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS,
                                OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS, OCSD_OPFLG_PKTPROC_COMMON};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        dcd_tree_handle_t tree = single();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC | flags[i], &etmv4);
        CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK, (void *)on_sink,
                                            NULL));
        CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                            NULL));
        data(tree, 0, session, sizeof(session));
        op(tree, OCSD_OP_EOT);
        ocsd_destroy_dcd_tree(tree);
    }
}

static void decode_flags(void)
{
    static const int flags[] = {0, OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS,
                                OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS};
    uint8_t twice[2 * sizeof(session)];
    memcpy(twice, session, sizeof(session));
    memcpy(twice + sizeof(session), session, sizeof(session));
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        dcd_tree_handle_t tree = single();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER | flags[i], &etmv4);
        CODE(
            ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
        CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
        uint32_t used = data(tree, 0, twice, sizeof(twice));
        data(tree, used, twice, sizeof(session));
        op(tree, OCSD_OP_EOT);
        ocsd_destroy_dcd_tree(tree);
    }
}

static void statistics(void)
{
    dcd_tree_handle_t tree = formatted();
    ocsd_decode_stats_t *stats = NULL;
    CODE(ocsd_dt_get_decode_stats(tree, 0x10, &stats));
    CODE(ocsd_dt_reset_decode_stats(tree, 0x10));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV3, OCSD_CREATE_FLG_PACKET_PROC, &etmv3);
    create(tree, OCSD_BUILTIN_DCD_PTM, OCSD_CREATE_FLG_PACKET_PROC, &ptm);
    create(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_PACKET_PROC, &stm);
    uint8_t frames[512], junk[40];
    memset(junk, 0x55, sizeof(junk));
    uint32_t size = frame(0x10, junk, sizeof(junk), frames);
    size += frame(0x10, session, sizeof(session), frames + size);
    size += frame(0x44, junk, sizeof(junk), frames + size);
    data(tree, 0, frames, size);
    static const uint8_t ids[] = {0x10, 0x11, 0x13, 0x20, 0x44};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < sizeof(ids); i++) {
            stats = NULL;
            int error = ocsd_dt_get_decode_stats(tree, ids[i], &stats);
            say("stats %02x = %d, set %d", ids[i], error, stats != NULL);
            if (error == 0 && stats)
                say("  revision %d total %llu unsynced %llu headers %u sequences %u",
                    stats->revision, (unsigned long long)stats->channel_total,
                    (unsigned long long)stats->channel_unsynced, stats->bad_header_errs,
                    stats->bad_sequence_errs);
            if (error == 0 && stats)
                say("  demux %llu %llu %llu %llu %llu",
                    (unsigned long long)stats->demux.valid_id_bytes,
                    (unsigned long long)stats->demux.no_id_bytes,
                    (unsigned long long)stats->demux.reserved_id_bytes,
                    (unsigned long long)stats->demux.unknown_id_bytes,
                    (unsigned long long)stats->demux.frame_bytes);
            say("reset stats %02x = %d", ids[i], (int)ocsd_dt_reset_decode_stats(tree, ids[i]));
        }
    ocsd_destroy_dcd_tree(tree);
}

static void waiting(void)
{
    uint8_t twice[2 * sizeof(session)];
    memcpy(twice, session, sizeof(session));
    memcpy(twice + sizeof(session), session, sizeof(session));
    for (int how_many = 0; how_many < 6; how_many++) {
        dcd_tree_handle_t tree = full_single();
        waits = how_many;
        uint32_t at = 0;
        for (int calls = 0; at < sizeof(twice) && calls < 20; calls++) {
            at += data(tree, at, twice + at, (uint32_t)sizeof(twice) - at);
            while (OCSD_DATA_RESP_IS_WAIT(op(tree, OCSD_OP_FLUSH)))
                ;
        }
        op(tree, OCSD_OP_EOT);
        ocsd_destroy_dcd_tree(tree);
    }
}

static void waiting_formatted(void)
{
    uint8_t frames[256];
    uint32_t size = frame(0x10, flow, sizeof(flow), frames);
    size += frame(0x10, session, sizeof(session), frames + size);
    for (int how_many = 0; how_many < 12; how_many += 3) {
        dcd_tree_handle_t tree = formatted();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
        CODE(
            ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
        CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
        waits = how_many;
        uint32_t at = 0;
        for (int calls = 0; at < size && calls < 30; calls++) {
            at += data(tree, at, frames + at, size - at);
            while (OCSD_DATA_RESP_IS_WAIT(op(tree, OCSD_OP_FLUSH)))
                ;
        }
        op(tree, OCSD_OP_EOT);
        ocsd_destroy_dcd_tree(tree);
    }
}

static void wait_then_reset(void)
{
    dcd_tree_handle_t tree = full_single();
    waits = 1;
    data(tree, 0, session, sizeof(session));
    op(tree, OCSD_OP_RESET);
    data(tree, 0, session, sizeof(session));
    op(tree, OCSD_OP_EOT);
}

static void wait_on_end(void)
{
    dcd_tree_handle_t tree = full_single();
    data(tree, 0, session, 29);
    waits = 1;
    op(tree, OCSD_OP_EOT);
    op(tree, OCSD_OP_FLUSH);
}

static void fatal_answer(void)
{
    dcd_tree_handle_t tree = full_single();
    fatal_at = 3;
    uint32_t used = data(tree, 0, flow, sizeof(flow));
    data(tree, used, flow + used, (uint32_t)sizeof(flow) - used);
    op(tree, OCSD_OP_EOT);
}

static void two_trees(void)
{
    dcd_tree_handle_t a = full_single(), b = full_single();
    CODE(ocsd_dt_set_gen_elem_outfn(b, on_element, " of b"));
    data(a, 0, flow, 27);
    data(b, 500, flow, sizeof(flow));
    data(a, 27, flow + 27, sizeof(flow) - 27);
    ocsd_destroy_dcd_tree(a);
    op(b, OCSD_OP_EOT);
    ocsd_destroy_dcd_tree(b);
}

static void memory_codes(void)
{
    static const uint8_t bytes[64] = {0};
    CODE(ocsd_dt_add_buffer_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY, bytes, 64));
    CODE(ocsd_dt_add_callback_mem_acc(NULL, 0, 1, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_add_callback_trcid_mem_acc(NULL, 0, 1, OCSD_MEM_SPACE_ANY, on_memory_id, NULL));
    CODE(ocsd_dt_remove_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_binfile_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY, "x"));
    ocsd_tl_log_mapped_mem_ranges(NULL);
    dcd_tree_handle_t tree = single();
    CODE(ocsd_dt_remove_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, NULL, 64));
    CODE(ocsd_dt_remove_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 0));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 3));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 5));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1001, OCSD_MEM_SPACE_ANY, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1N, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1N, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x103e, OCSD_MEM_SPACE_N, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x103e, OCSD_MEM_SPACE_S, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0xfc2, OCSD_MEM_SPACE_ANY, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0xfc0, OCSD_MEM_SPACE_ANY, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0xfffffffffffffffcull, OCSD_MEM_SPACE_ANY, bytes, 4));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0xfffffffffffffffcull, OCSD_MEM_SPACE_ANY, bytes, 8));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x1020, OCSD_MEM_SPACE_S));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x1020, OCSD_MEM_SPACE_N));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x1020, OCSD_MEM_SPACE_N));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x2fff, OCSD_MEM_SPACE_ANY, NULL, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x1fff, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x2ffe, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x2fff, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_add_callback_trcid_mem_acc(tree, 0x2000, 0x2fff, OCSD_MEM_SPACE_ANY, NULL, NULL));
    CODE(
        ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~0ull, OCSD_MEM_SPACE_ANY, on_memory_id, NULL));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x5000, OCSD_MEM_SPACE_ANY));
    ocsd_destroy_dcd_tree(tree);
}

static void make_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "wb");
    for (size_t i = 0; i < size; i++)
        fputc((int)(i & 0xff), file);
    fclose(file);
}

static void memory_files(void)
{
    make_file("edge_even.bin", 256);
    make_file("edge_odd.bin", 255);
    make_file("edge_empty.bin", 0);
    make_file("edge_one.bin", 1);
    dcd_tree_handle_t tree = single();
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, ""));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_missing.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_empty.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_one.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1001, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_ANY, "./edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_ANY, "edge_odd.bin"));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x30fe, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x30fd, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_ANY, "edge_odd.bin"));
    dcd_tree_handle_t other = single();
    CODE(ocsd_dt_add_binfile_mem_acc(other, 0x8000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(other, 0x1000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    ocsd_destroy_dcd_tree(tree);
    CODE(ocsd_dt_add_binfile_mem_acc(other, 0x3000, OCSD_MEM_SPACE_ANY, "edge_odd.bin"));
    ocsd_destroy_dcd_tree(other);
    tree = single();
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x8000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    ocsd_destroy_dcd_tree(tree);
}

static void memory_null_path(void)
{
    CODE(ocsd_dt_add_binfile_mem_acc(single(), 0x1000, OCSD_MEM_SPACE_ANY, NULL));
}

static void memory_null_region_path(void)
{
    ocsd_file_mem_region_t region = {.region_size = 0x20};
    CODE(ocsd_dt_add_binfile_region_mem_acc(single(), &region, 1, OCSD_MEM_SPACE_ANY, NULL));
}

static void memory_negative_regions(void)
{
    make_file("edge_even.bin", 256);
    ocsd_file_mem_region_t region = {.region_size = 0x20};
    CODE(ocsd_dt_add_binfile_region_mem_acc(single(), &region, -1, OCSD_MEM_SPACE_ANY,
                                            "edge_even.bin"));
}

static void memory_removed_file(void)
{
    make_file("edge_even.bin", 256);
    dcd_tree_handle_t tree = single();
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
}

static void memory_regions(void)
{
    make_file("edge_even.bin", 256);
    dcd_tree_handle_t tree = single();
    ocsd_file_mem_region_t regions[] = {
        {.file_offset = 0x40, .start_address = 0x5000, .region_size = 0x20},
        {.file_offset = 0x80, .start_address = 0x6000, .region_size = 0x40},
        {.file_offset = 0xf0, .start_address = 0x7000, .region_size = 0x40},
    };
    CODE(ocsd_dt_add_binfile_region_mem_acc(NULL, regions, 1, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_region_mem_acc(tree, NULL, 1, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_region_mem_acc(tree, regions, 0, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_region_mem_acc(tree, &regions[2], 1, OCSD_MEM_SPACE_ANY,
                                            "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_region_mem_acc(tree, regions, 3, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x7000, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x6000, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x5000, OCSD_MEM_SPACE_ANY));
}

static void mapped_ranges(void)
{
    static const uint8_t bytes[64] = {0};
    make_file("edge_even.bin", 256);
    dcd_tree_handle_t tree = single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    ocsd_tl_log_mapped_mem_ranges(tree);
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0, OCSD_MEM_SPACE_S, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1N, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1100, (ocsd_mem_space_acc_t)0x1b, bytes, 64));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x2fff, OCSD_MEM_SPACE_N, on_memory, NULL));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_EL3, "edge_even.bin"));
    ocsd_tl_log_mapped_mem_ranges(tree);
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 0));
    ocsd_tl_log_mapped_mem_ranges(tree);
}

static void memory_callback(void)
{
    dcd_tree_handle_t tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    CODE(ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~0ull, (ocsd_mem_space_acc_t)0x1f,
                                            on_memory_id, NULL));
    data(tree, 0, flow, sizeof(flow));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x4000, 0x4fff, OCSD_MEM_SPACE_N, on_memory, NULL));
    op(tree, OCSD_OP_RESET);
    data(tree, 0, flow, sizeof(flow));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_N));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x4000, 0x4fff, OCSD_MEM_SPACE_S, on_memory, NULL));
    op(tree, OCSD_OP_RESET);
    data(tree, 0, flow, sizeof(flow));
}

static uint32_t on_memory_boast(const void *context, const ocsd_vaddr_t address,
                                const ocsd_mem_space_acc_t space, const uint32_t wanted,
                                uint8_t *buffer)
{
    (void)context;
    (void)address;
    (void)space;
    memset(buffer, 0, wanted);
    return wanted + 1;
}

static void memory_bad_length(void)
{
    dcd_tree_handle_t tree = single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0, ~0ull, OCSD_MEM_SPACE_ANY, on_memory_boast, NULL));
    data(tree, 0, flow, 27);
}

static void error_strings(void)
{
    char text[256];
    for (int code = 0; code < 50; code++) {
        ocsd_err_str((ocsd_err_t)code, text, sizeof(text));
        say("%d %s", code, text);
    }
    for (int size = 2; size < 10; size++) {
        strcpy(text, "untouched");
        ocsd_err_str(OCSD_ERR_FAIL, text, size);
        say("size %d %s", size, text);
    }
}

static void error_string_no_room(void)
{
    for (int size = 0; size < 2; size++) {
        char text[16] = "untouched";
        ocsd_err_str(OCSD_ERR_FAIL, text, size);
        say("size %d %s", size, text);
    }
}

static void error_string_nowhere(void)
{
    ocsd_err_str(OCSD_ERR_FAIL, NULL, 10);
    say("still here");
}

static void element_strings(void)
{
    char text[256];
    ocsd_generic_trace_elem e;
    for (int type = 0; type < 22; type++) {
        if (type >= 17 && type <= 19)
            continue; /* CUSTOM in one version, newer types in the other */
        memset(&e, 0, sizeof(e));
        e.elem_type = (ocsd_gen_trc_elem_t)type;
        e.st_addr = 0x1000;
        e.en_addr = 0x1010;
        CODE(ocsd_gen_elem_str(&e, text, sizeof(text)));
        say_text("", text);
        for (unsigned value = 1; value < 6; value++) {
            if (type != OCSD_GEN_TRC_ELEM_TRACE_ON || value < 3)
                e.exception_number = value;
            e.isa = (ocsd_isa)value;
            e.timestamp = 0x123456789abcdull;
            e.flag_bits = value * 0x213 & ~0x100u;
            e.last_i_type = (ocsd_instr_type)value;
            e.last_i_subtype = (ocsd_instr_subtype)value;
            e.context.security_level = (ocsd_sec_level)(value % 4);
            e.context.exception_level = (ocsd_ex_level)(value % 4);
            e.context.el_valid = value & 1;
            e.context.bits64 = value >> 1 & 1;
            e.context.ctxt_id_valid = value >> 2 & 1;
            e.context.vmid_valid = value & 1;
            e.context.context_id = 0xabc;
            e.context.vmid = 0x22;
            e.cycle_count = 99;
            ocsd_gen_elem_str(&e, text, sizeof(text));
            say_text("  ", text);
        }
    }
    uint64_t payload = 0xfedcba9876543210ull;
    for (unsigned bits = 0; bits <= 64; bits = bits ? bits * 2 : 4)
        for (unsigned flags = 0; flags < 0x100; flags = flags ? flags * 2 : 1) {
            memset(&e, 0, sizeof(e));
            e.elem_type = OCSD_GEN_TRC_ELEM_SWTRACE;
            e.sw_trace_info.swt_master_id = 0x1234;
            e.sw_trace_info.swt_channel_id = 5;
            e.sw_trace_info.swt_flag_bits = flags << 16 | 1u << 8 | bits;
            e.timestamp = 0xabc;
            e.has_ts = e.sw_trace_info.swt_has_timestamp;
            e.ptr_extended_data = &payload;
            e.extended_data = bits != 0;
            ocsd_gen_elem_str(&e, text, sizeof(text));
            say_text("  ", text);
        }
    memset(&e, 0, sizeof(e));
    for (int size = 0; size < 12; size++) {
        strcpy(text, "untouched");
        int error = ocsd_gen_elem_str(&e, text, size);
        say("size %d = %d %s", size, error, text);
    }
    CODE(ocsd_gen_elem_str(&e, NULL, 20));
    e.flag_bits = 0xfff;
    e.ptr_extended_data = text;
    ocsd_gen_elem_init(&e, OCSD_GEN_TRC_ELEM_EVENT);
    say("init: type %d flags %x pointer %d", (int)e.elem_type, (unsigned)e.flag_bits,
        e.ptr_extended_data != NULL);
}

static void packet_strings(void)
{
    char text[512];
    union {
        ocsd_etmv4_i_pkt etmv4;
        ocsd_etmv3_pkt etmv3;
        ocsd_ptm_pkt ptm;
        ocsd_stm_pkt stm;
        uint8_t bytes[256];
    } packet;
    memset(&packet, 0, sizeof(packet));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_UNKNOWN, &packet, text, sizeof(text)));
    say_text("", text);
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4D, &packet, text, sizeof(text)));
    say_text("", text);
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_CUSTOM_0, &packet, text, sizeof(text)));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_CUSTOM_9, &packet, text, sizeof(text)));
    CODE(ocsd_pkt_str((ocsd_trace_protocol_t)50, &packet, text, sizeof(text)));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_STM, &packet, NULL, sizeof(text)));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_STM, &packet, text, 1));
    CODE(ocsd_pkt_str(OCSD_PROTOCOL_STM, &packet, text, 6));
    say_text("", text);
    for (int type = 0; type < 0x110; type++) {
        memset(&packet, 0, sizeof(packet));
        packet.etmv4.type = (ocsd_etmv4_i_pkt_type)type;
        packet.etmv4.err_type = ETM4_PKT_I_NO_ERR_TYPE;
        packet.etmv4.protocol_version = 0x42;
        packet.etmv4.v_addr.size = VA_64BIT;
        packet.etmv4.v_addr.val = 0x12345678;
        packet.etmv4.v_addr.pkt_bits = 17;
        packet.etmv4.v_addr.valid_bits = 64;
        bool atoms = type >= ETM4_PKT_I_ATOM_F6 && type <= ETM4_PKT_I_ATOM_F3;
        packet.etmv4.atom.num = atoms ? 3 : type == ETM4_PKT_I_CANCEL_F2;
        packet.etmv4.atom.En_bits = 5;
        packet.etmv4.cancel_elements = 1;
        packet.etmv4.exception_info.exceptionType = 3;
        packet.etmv4.exception_info.addr_interp = 1;
        packet.etmv4.context.updated = 1;
        packet.etmv4.context.EL = 2;
        packet.etmv4.context.NS = 1;
        packet.etmv4.cycle_count = 0x33;
        packet.etmv4.ts.timestamp = 0x123456;
        packet.etmv4.ts.bits_changed = 21;
        packet.etmv4.pkt_valid.bits.ts_valid = 1;
        packet.etmv4.pkt_valid.bits.cc_valid = 1;
        ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, &packet, text, sizeof(text));
        if (!strstr(text, "I_RESERVED") && !strstr(text, "I_UNKNOWN"))
            say("etmv4 %x %s", (unsigned)type, text);
    }
    for (int type = 0; type < 28; type++) {
        if (type == ETM3_PKT_INCOMPLETE_EOT || type == ETM3_PKT_BRANCH_OR_BYPASS_EOT)
            continue; /* never given */
        memset(&packet, 0, sizeof(packet));
        packet.etmv3.type = (ocsd_etmv3_pkt_type)type;
        packet.etmv3.err_type = type < ETM3_PKT_BAD_SEQUENCE ? ETM3_PKT_NOERROR : ETM3_PKT_P_HDR;
        packet.etmv3.curr_isa = ocsd_isa_thumb2;
        packet.etmv3.addr.val = 0x8000;
        packet.etmv3.addr.pkt_bits = 8;
        packet.etmv3.addr.valid_bits = 32;
        packet.etmv3.atom.num = 4;
        packet.etmv3.atom.En_bits = 0xb;
        packet.etmv3.cycle_count = 7;
        packet.etmv3.timestamp = 0xabcdef;
        packet.etmv3.ts_update_bits = 24;
        packet.etmv3.exception.number = 5;
        packet.etmv3.p_hdr_fmt = 1;
        packet.etmv3.context.ctxtID = 0x77;
        packet.etmv3.data.value = 0x99;
        packet.etmv3.data.addr.val = 0x1234;
        packet.etmv3.data.update_dval = type == ETM3_PKT_OOO_DATA || type == ETM3_PKT_NORM_DATA;
        ocsd_pkt_str(OCSD_PROTOCOL_ETMV3, &packet, text, sizeof(text));
        say("etmv3 %d %s", type, text);
    }
    for (int type = 0; type < 20; type++) {
        memset(&packet, 0, sizeof(packet));
        packet.ptm.type = (ocsd_ptm_pkt_type)type;
        packet.ptm.err_type = PTM_PKT_ATOM;
        packet.ptm.addr.val = 0x8000;
        packet.ptm.addr.pkt_bits = 8;
        packet.ptm.addr.valid_bits = 32;
        packet.ptm.atom.num = 4;
        packet.ptm.atom.En_bits = 0xb;
        packet.ptm.timestamp = 0xabcdef;
        packet.ptm.ts_update_bits = 24;
        packet.ptm.context.ctxtID = 0x77;
        ocsd_pkt_str(OCSD_PROTOCOL_PTM, &packet, text, sizeof(text));
        say("ptm %d %s", type, text);
    }
    for (int type = 0; type < 23; type++) {
        memset(&packet, 0, sizeof(packet));
        packet.stm.type = (ocsd_stm_pkt_type)type;
        packet.stm.err_type = STM_PKT_D8;
        packet.stm.master = 3;
        packet.stm.channel = 4;
        packet.stm.payload.D64 = 0x1122334455667788ull;
        packet.stm.pkt_has_ts = type & 1;
        packet.stm.pkt_has_marker = type >> 1 & 1;
        packet.stm.timestamp = 0x55;
        ocsd_pkt_str(OCSD_PROTOCOL_STM, &packet, text, sizeof(text));
        say("stm %d %s", type, text);
    }
}

static void log_order(void)
{
    dcd_tree_handle_t tree;
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(NULL, NULL, on_string));
    ocsd_def_errlog_msgout("to nobody\n");
    tree = single();
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 0));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 1));
    CODE(ocsd_def_errlog_set_strprint_cb((dcd_tree_handle_t)(uintptr_t)0x1234, NULL, on_string));
    CODE(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_STDOUT, NULL));
    ocsd_def_errlog_msgout("to stdout\n");
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    ocsd_def_errlog_msgout("to stdout and callback\n");
    CODE(ocsd_def_errlog_config_output(0, NULL));
    ocsd_def_errlog_msgout("to nobody\n");
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    ocsd_def_errlog_msgout("to callback");
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, NULL));
    ocsd_def_errlog_msgout("to nobody\n");
    CODE(ocsd_def_errlog_config_output(0xfff8, "edge.ppl"));
    unlink("edge.ppl");
    ocsd_def_errlog_msgout("to file\n");
    say("file there: %d", access("edge.ppl", R_OK) == 0);
    CODE(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, ""));
    unlink("edge.ppl");
    ocsd_def_errlog_msgout("to nobody\n");
    say("file there: %d", access("edge.ppl", R_OK) == 0);
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, NULL));
    unlink("ocsd_trace_decode.log");
    ocsd_def_errlog_msgout("to the default file\n");
    say("file there: %d", access("ocsd_trace_decode.log", R_OK) == 0);
    unlink("ocsd_trace_decode.log");
}

static void say_last_error(void)
{
    ocsd_trc_index_t index = 5;
    uint8_t id = 5;
    char text[256] = "untouched";
    int error = ocsd_get_last_err(&index, &id, text, sizeof(text));
    say("last error %d index %u id %02x", error, (unsigned)index, id);
    say_text("  message", text);
}

static void last_error(void)
{
    static const ocsd_err_severity_t levels[] = {OCSD_ERR_SEV_NONE, OCSD_ERR_SEV_ERROR,
                                                 OCSD_ERR_SEV_INFO};
    say_last_error();
    for (size_t i = 0; i < 3; i++) {
        CODE(ocsd_def_errlog_init(levels[i], 1));
        dcd_tree_handle_t tree = single();
        CODE(ocsd_def_errlog_config_output(0, NULL));
        CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
        data(tree, 0, session, sizeof(session));
        op(tree, OCSD_OP_EOT);
        say_last_error();
        tree = full_single();
        data(tree, 0, session, sizeof(session));
        say_last_error();
        ocsd_destroy_dcd_tree(tree);
        tree = formatted();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
        uint8_t frames[128];
        uint32_t size = frame(0x10, session, sizeof(session), frames);
        data(tree, 0, frames, size);
        data(tree, 0, frames, size);
        say_last_error();
        ocsd_destroy_dcd_tree(tree);
    }
}

static void last_error_nowhere(void)
{
    CODE(ocsd_get_last_err(NULL, NULL, NULL, 0));
}

static void callback_of_destroyed_tree(void)
{
    dcd_tree_handle_t tree = single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    data(tree, 0, session, sizeof(session));
    ocsd_def_errlog_msgout("to nobody\n");
    op(tree, OCSD_OP_EOT);
}

static void latched_verbosity(void)
{
    dcd_tree_handle_t tree = single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 1));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    data(tree, 0, session, sizeof(session));
    op(tree, OCSD_OP_EOT);
    say_last_error();
}

static void printers(void)
{
    CODE(ocsd_dt_set_raw_frame_printer(NULL, 0x18));
    CODE(ocsd_dt_set_gen_elem_printer(NULL));
    CODE(ocsd_dt_set_pkt_protocol_printer(NULL, 0x10, 0));
    dcd_tree_handle_t tree = formatted();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 0));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    ocsd_etmv4_cfg other = etmv4;
    other.reg_traceidr = 0x12;
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &other);
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 0));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x12, 0));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x12, 0));
    CODE(ocsd_dt_set_gen_elem_printer(tree));
    CODE(ocsd_dt_set_raw_frame_printer(tree, OCSD_DFRMTR_PACKED_RAW_OUT));
    CODE(ocsd_dt_set_raw_frame_printer(tree, OCSD_DFRMTR_UNPACKED_RAW_OUT));
    uint8_t frames[256];
    uint32_t size = frame(0x10, session, sizeof(session), frames);
    size += frame(0x12, session, sizeof(session), frames + size);
    size += frame(0x10, flow, sizeof(flow), frames + size);
    data(tree, 0, frames, size);
    op(tree, OCSD_OP_FLUSH);
    op(tree, OCSD_OP_EOT);
    op(tree, OCSD_OP_RESET);
}

static void printer_outputs(void)
{
    static char one[] = "one", two[] = "two";
    dcd_tree_handle_t first = single(), second = single();
    create(first, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    create(second, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_dt_set_pkt_protocol_printer(first, 0x21, 1));
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(first, one, on_string));
    CODE(ocsd_dt_set_pkt_protocol_printer(first, 0x22, 0));
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    data(first, 0, session, 29);
    CODE(ocsd_dt_set_pkt_protocol_printer(second, 0x33, 0));
    CODE(ocsd_def_errlog_set_strprint_cb(second, two, on_string));
    data(second, 0, session, 29);
    ocsd_destroy_dcd_tree(first);
    data(second, 29, session + 29, sizeof(session) - 29);
    ocsd_destroy_dcd_tree(second);
}

static void raw_printer_single(void)
{
    CODE(ocsd_dt_set_raw_frame_printer(single(), 0x18));
}

static void element_printer_then_function(void)
{
    dcd_tree_handle_t tree = full_single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    CODE(ocsd_dt_set_gen_elem_printer(tree));
    data(tree, 0, flow, 27);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    data(tree, 27, flow + 27, sizeof(flow) - 27);
    ocsd_destroy_dcd_tree(tree);
}

/* ---- a decoder of the client ---- */

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

static void environment(void)
{
    setenv("OPENCSD_INSTR_RANGE_LIMIT", "1", 1);
    dcd_tree_handle_t tree = full_single();
    data(tree, 0, flow, 28);
    ocsd_destroy_dcd_tree(tree);
    unsetenv("OPENCSD_INSTR_RANGE_LIMIT");
    static const char *const sizes[] = {"100", "0x40", "10", "65536", "-5", "x", "20000"};
    for (size_t i = 0; i <= sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsetenv("OPENCSD_MEMACC_CACHE_PAGE_SIZE");
        if (i < sizeof(sizes) / sizeof(sizes[0]))
            setenv("OPENCSD_MEMACC_CACHE_PAGE_SIZE", sizes[i], 1);
        else
            setenv("OPENCSD_MEMACC_CACHE_OFF", "", 1);
        tree = single();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
        CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
        CODE(ocsd_dt_add_callback_mem_acc(tree, 0, ~0ull, OCSD_MEM_SPACE_ANY, on_memory, NULL));
        data(tree, 0, flow, 27);
        ocsd_destroy_dcd_tree(tree);
    }
}

/* ---- running them ---- */

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name, true                                                                          \
    }
#define UNDEFINED(name)                                                                            \
    {                                                                                              \
#name, name, false                                                                         \
    } /* crashes, or may crash, in the reference */
static const struct {
    const char *name;
    void (*run)(void);
    bool defined;
} cases[] = {
    CASE(version),
    CASE(create_tree),
    CASE(wrong_data),
    UNDEFINED(single_without_decoder),
    CASE(gap_in_index),
    CASE(without_consumer),
    UNDEFINED(null_consumer),
    CASE(create_decoder),
    CASE(create_without_mode),
    UNDEFINED(create_null_handle),
    UNDEFINED(create_null_name),
    UNDEFINED(create_null_config),
    UNDEFINED(create_null_id),
    CASE(unsupported_config),
    CASE(remove_decoder),
    UNDEFINED(remove_then_data),
    UNDEFINED(null_handle_remove),
    UNDEFINED(null_handle_attach),
    UNDEFINED(null_handle_stats),
    UNDEFINED(null_handle_reset_stats),
    UNDEFINED(null_handle_outfn),
    CASE(packet_callbacks),
    CASE(packet_flags),
    CASE(decode_flags),
    CASE(statistics),
    CASE(waiting),
    CASE(waiting_formatted),
    CASE(wait_then_reset),
    CASE(wait_on_end),
    CASE(fatal_answer),
    CASE(two_trees),
    CASE(memory_codes),
    CASE(memory_files),
    UNDEFINED(memory_null_path),
    UNDEFINED(memory_null_region_path),
    CASE(memory_negative_regions),
    CASE(memory_removed_file),
    CASE(memory_regions),
    CASE(mapped_ranges),
    CASE(memory_callback),
    CASE(memory_bad_length),
    CASE(error_strings),
    UNDEFINED(error_string_no_room),
    UNDEFINED(error_string_nowhere),
    CASE(element_strings),
    CASE(packet_strings),
    CASE(log_order),
    CASE(last_error),
    UNDEFINED(last_error_nowhere),
    UNDEFINED(callback_of_destroyed_tree),
    CASE(latched_verbosity),
    CASE(printers),
    CASE(printer_outputs),
    UNDEFINED(raw_printer_single),
    CASE(element_printer_then_function),
    CASE(custom_registration),
    CASE(custom_deregister),
    UNDEFINED(custom_string_nowhere),
    CASE(custom_name_of_builtin),
    CASE(custom_name_of_used_builtin),
    UNDEFINED(custom_deregister_after_builtin),
    CASE(custom_decoder),
    CASE(custom_incomplete),
    CASE(environment),
};

static bool is_wanted(size_t i, const char *what)
{
    if (strcmp(what, "defined") == 0)
        return cases[i].defined;
    if (strcmp(what, "undefined") == 0)
        return !cases[i].defined;
    return strcmp(what, cases[i].name) == 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "defined";
    if (strcmp(what, "version") == 0) {
        say("%s", ocsd_get_version_str());
        return 0;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!is_wanted(i, what))
            continue;
        say("==== %s", cases[i].name);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            cases[i].run();
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
            say("crashed");
    }
    return 0;
}
