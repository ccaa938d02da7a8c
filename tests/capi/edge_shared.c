// SPDX-License-Identifier: MIT
#include "edge.h"

#include <stdarg.h>

/* ---- writing down ---- */

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fputs("\n", stdout);
    fflush(stdout);
}

void say_text(const char *who, const char *text)
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

/* ---- callbacks that write down ---- */

int waits, fatal_at = -1, elements;

ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
                                const ocsd_generic_trace_elem *e)
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

ocsd_datapath_resp_t on_sink(const void *context, const ocsd_datapath_op_t op,
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

void on_monitor(const void *context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                const void *packet, const uint32_t size, const uint8_t *bytes)
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

void on_string(const void *context, const char *text, const int length)
{
    (void)context;
    if ((int)strlen(text) != length)
        say("  length is %d!", length);
    say_text("  text", text);
}

uint32_t give_memory(const ocsd_vaddr_t address, uint32_t wanted, uint8_t *buffer)
{
    const uint64_t base = 0x4000, size = sizeof(program);
    if (address < base || address >= base + size)
        return 0;
    uint64_t left = base + size - address;
    uint32_t n = wanted < left ? wanted : (uint32_t)left;
    memcpy(buffer, PROGRAM + (address - base), n);
    return n;
}

uint32_t on_memory(const void *context, const ocsd_vaddr_t address,
                   const ocsd_mem_space_acc_t space, const uint32_t wanted, uint8_t *buffer)
{
    (void)context;
    uint32_t got = give_memory(address, wanted, buffer);
    say("  memory %llx space=%x wanted=%u -> %u", (unsigned long long)address, (unsigned)space,
        (unsigned)wanted, (unsigned)got);
    return got;
}

uint32_t on_memory_id(const void *context, const ocsd_vaddr_t address,
                      const ocsd_mem_space_acc_t space, const uint8_t id, const uint32_t wanted,
                      uint8_t *buffer)
{
    (void)context;
    uint32_t got = give_memory(address, wanted, buffer);
    say("  memory %llx space=%x id=%02x wanted=%u -> %u", (unsigned long long)address,
        (unsigned)space, id, (unsigned)wanted, (unsigned)got);
    return got;
}

/* ---- shortcuts ---- */

dcd_tree_handle_t formatted(void)
{
    return ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
}

dcd_tree_handle_t single(void)
{
    return ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
}

int create(dcd_tree_handle_t tree, const char *name, int flags, const void *cfg)
{
    unsigned char id = 0xee;
    int error = ocsd_dt_create_decoder(tree, name, flags, cfg, &id);
    say("create %s flags %x = %d id %02x", name, (unsigned)flags, error, id);
    return error;
}

dcd_tree_handle_t full_single(void)
{
    dcd_tree_handle_t tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    return tree;
}

ocsd_datapath_resp_t op(dcd_tree_handle_t tree, ocsd_datapath_op_t operation)
{
    static const char *const names[] = {"DATA", "EOT", "FLUSH", "RESET"};
    ocsd_datapath_resp_t answer = ocsd_dt_process_data(tree, operation, 0, 0, NULL, NULL);
    say("%s = %d", names[operation], (int)answer);
    return answer;
}

uint32_t data(dcd_tree_handle_t tree, uint32_t index, const uint8_t *bytes, uint32_t size)
{
    uint32_t used = 0x5555;
    ocsd_datapath_resp_t answer =
        ocsd_dt_process_data(tree, OCSD_OP_DATA, index, size, bytes, &used);
    say("DATA %u at %u = %d processed %u", (unsigned)size, (unsigned)index, (int)answer,
        (unsigned)used);
    return used;
}

uint32_t frame(uint8_t id, const uint8_t *bytes, uint32_t size, uint8_t *frames)
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
