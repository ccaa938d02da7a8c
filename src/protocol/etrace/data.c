// SPDX-License-Identifier: MIT
/**
 * @file Data trace. Accesses come in program order when their instructions retire, and instruction
 * packets come later. So accesses queue up, and each retired instruction that accesses memory or a
 * CSR takes its own from the queue, or waits for it. Counting begins at a synchronisation. Elements
 * leave in the order of the accesses.
 */
#include "protocol/etrace/decoder.h"

#include <stdlib.h>

#define SIZES       8u
#define FIRST_QUEUE 64u
#define INSNS       4096u /* retired accesses that may wait for their data packets */

struct access {
    struct pug_etrace_data data; /* addresses and values as they are, in bytes */
    uint64_t index, pc;
    bool has_pc;
    bool settled; /* its instruction is found, or will not be looked for */
    bool waiting; /* for the data of its request */
};

/** A retired instruction that accesses memory or a CSR. */
struct retired {
    uint64_t pc;
    uint8_t access; /* enum pug_access */
    uint8_t size;   /* of the access, 2^size bytes; SIZE_ANY */
    uint8_t left;   /* accesses; PUG_RV_ACCESS_VECTOR: any number */
};

#define SIZE_ANY 0xffu

struct base {
    uint64_t value;
    bool known;
};

struct etrace_data_state {
    const struct pug_etrace_config *config;
    struct access *queue; /* a ring */
    uint32_t capacity, head, count;
    uint32_t settled;            /* so many of them, from the head on */
    struct retired insns[INSNS]; /* a ring */
    uint32_t insn_head, insn_count;
    bool enabled;
    bool filtered; /* an instruction was not traced since the last synchronisation */
    struct base addresses[SIZES], values[SIZES];
    bool bases_used; /* not as set_bases() left them */
};

struct etrace_data_state *pug_etrace_data_new(const struct pug_etrace_config *config)
{
    struct etrace_data_state *data = calloc(1, sizeof(*data));
    if (data)
        data->config = config;
    return data;
}

void pug_etrace_data_free(struct etrace_data_state *data)
{
    if (data)
        free(data->queue);
    free(data);
}

static struct access *at(struct etrace_data_state *data, uint32_t n)
{
    return &data->queue[(data->head + n) & (data->capacity - 1)];
}

/* ---- compression ---- */

static void set_bases(struct etrace_data_state *data, bool known)
{
    if (!data->bases_used && data->values[0].known == known)
        return;
    data->bases_used = false;
    for (unsigned i = 0; i < SIZES; i++)
        data->addresses[i] = data->values[i] = (struct base){.known = known};
}

enum method { METHOD_FULL, METHOD_XOR, METHOD_DIFFERENCE };

static uint64_t mask_of(unsigned size)
{
    return size >= 3 ? UINT64_MAX : (UINT64_C(1) << (8u << size)) - 1;
}

/** What is meant by the number sent. False: it is a difference to something unknown. */
static bool restore(struct etrace_data_state *state, struct base *base, enum method method,
                    uint64_t mask, uint64_t *value)
{
    state->bases_used = true;
    if (method != METHOD_FULL && !base->known)
        return false;
    if (method == METHOD_XOR)
        *value ^= base->value;
    else if (method == METHOD_DIFFERENCE)
        *value += base->value;
    *value &= mask;
    *base = (struct base){.value = *value, .known = true};
    return true;
}

/** Code 1 of a field that can say more: XOR, but for the reference model. */
static enum method value_method(const struct pug_etrace_config *config, unsigned diff)
{
    switch (diff) {
    case 1: return config->diff1_is_subtraction ? METHOD_DIFFERENCE : METHOD_XOR;
    case 3: return METHOD_DIFFERENCE;
    default: return METHOD_FULL;
    }
}

static bool is_csr(unsigned access)
{
    return access >= PUG_ACCESS_CSR_RW && access <= PUG_ACCESS_CSR_RC;
}

static enum method packet_method(const struct pug_etrace_config *config,
                                 const struct pug_etrace_data *data)
{
    bool only_value = !data->has_address || is_csr(data->access);
    if (only_value && config->diff_bits == 1 && data->diff == 1)
        return config->one_bit_difference ? METHOD_DIFFERENCE : METHOD_XOR;
    return value_method(config, data->diff);
}

static void restore_value(struct etrace_data_state *state, struct pug_etrace_data *data,
                          enum method method)
{
    uint64_t mask = mask_of(data->size);
    if (data->has_value)
        data->has_value = restore(state, &state->values[data->size], method, mask, &data->value);
}

static void restore_operand(struct etrace_data_state *state, struct pug_etrace_data *data,
                            enum method method)
{
    uint64_t mask = mask_of(data->size);
    if (data->has_operand)
        data->has_operand =
            restore(state, &state->values[data->size], method, mask, &data->operand);
}

/**
 * Aligned accesses send their address in units of their size. What differences refer to is the
 * number as sent, or the byte address: implementations differ.
 */
static void restore_address(struct etrace_data_state *state, struct pug_etrace_data *data)
{
    const struct pug_etrace_config *config = state->config;
    unsigned shift = data->unaligned ? 0 : data->size;
    uint64_t mask = UINT64_MAX >> (64 - config->daddress_width);
    enum method method = data->diff != 0 ? METHOD_DIFFERENCE : METHOD_FULL;
    if (!data->has_address || is_csr(data->access))
        return;
    if (config->daddr_bytes)
        data->address <<= shift;
    data->has_address = restore(state, &state->addresses[data->size], method, mask, &data->address);
    if (!config->daddr_bytes)
        data->address = data->address << shift & mask;
}

/** Atomics send the operand first, CSR accesses last; each refers to the value before it. */
static void decompress(struct etrace_data_state *state, struct pug_etrace_data *data)
{
    enum method method = packet_method(state->config, data);
    if (!is_csr(data->access))
        restore_operand(state, data, method);
    restore_value(state, data, method);
    if (is_csr(data->access))
        restore_operand(state, data, method);
    restore_address(state, data);
}

/* ---- the queue ---- */

static void note(struct pug_etrace_decoder *d)
{
    struct etrace_data_state *data = d->data;
    d->data_complete = data->count > 0 && at(data, 0)->settled && !at(data, 0)->waiting;
}

/** Nobody looks for the instructions of the accesses so far. */
static void settle_all(struct pug_etrace_decoder *d)
{
    struct etrace_data_state *data = d->data;
    for (uint32_t i = data->settled; i < data->count; i++)
        at(data, i)->settled = true;
    data->settled = data->count;
    note(d);
}

static void stop_counting(struct pug_etrace_decoder *d)
{
    d->data_counts = false;
    d->data->insn_count = 0;
    settle_all(d);
}

static void stop_waiting(struct pug_etrace_decoder *d)
{
    for (uint32_t i = 0; i < d->data->count; i++)
        at(d->data, i)->waiting = false;
    note(d);
}

static bool grow(struct etrace_data_state *data)
{
    uint32_t capacity = data->capacity ? 2 * data->capacity : FIRST_QUEUE;
    struct access *queue = malloc(capacity * sizeof(*queue));
    if (!queue)
        return false;
    for (uint32_t i = 0; i < data->count; i++)
        queue[i] = *at(data, i);
    free(data->queue);
    data->queue = queue;
    data->capacity = capacity;
    data->head = 0;
    return true;
}

static void enqueue(struct pug_etrace_decoder *d, const struct access *access)
{
    struct etrace_data_state *data = d->data;
    if (data->count == data->capacity && !grow(data)) {
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_MEM, d->index,
                      "no room for a data access");
        return;
    }
    *at(data, data->count++) = *access;
    if (access->settled && data->settled == data->count - 1)
        data->settled++;
    if (data->count < data->config->data_queue)
        return;
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_LIMIT, d->index,
                  "too many data accesses wait for their instructions");
    stop_counting(d);
    stop_waiting(d);
}

static bool push_value(struct pug_etrace_decoder *d, const struct access *access, bool operand)
{
    const struct pug_etrace_data *data = &access->data;
    bool address = !operand && !data->has_value;
    struct pug_element *e =
        pug_out_push(d->out, address ? PUG_ELEM_DATA_ADDRESS : PUG_ELEM_DATA_VALUE, access->index);
    e->reason = (uint8_t)(data->access | (operand ? PUG_ACCESS_OPERAND : 0));
    e->last_size = (uint8_t)(1u << data->size);
    if (data->has_address) {
        e->start = data->address;
        e->flags |= PUG_ELEM_HAS_ADDRESS;
    }
    if (access->has_pc) {
        e->end = access->pc;
        e->flags |= PUG_ELEM_HAS_PC;
    }
    if (!address) {
        e->value = operand ? data->operand : data->value;
        e->flags |= PUG_ELEM_HAS_VALUE;
    }
    return true;
}

bool pug_etrace_data_drain(struct pug_etrace_decoder *d)
{
    struct etrace_data_state *data = d->data;
    while (d->data_complete) {
        if (!pug_out_ready(d->out))
            return false;
        const struct access *access = at(data, 0);
        if (access->data.has_operand)
            push_value(d, access, true);
        if (access->data.has_value || !access->data.has_operand)
            push_value(d, access, false);
        data->head = (data->head + 1) & (data->capacity - 1);
        data->count--;
        data->settled--;
        note(d);
    }
    return true;
}

/* ---- accesses and their instructions ---- */

static bool takes(const struct retired *insn, const struct pug_etrace_data *data)
{
    if (insn->size != SIZE_ANY && insn->size != data->size)
        return false;
    switch (data->access) {
    case PUG_ACCESS_SC_FAIL: return insn->access == PUG_ACCESS_STORE;
    case PUG_ACCESS_CAS_FAIL: return insn->access == PUG_ACCESS_SWAP;
    default: return insn->access == data->access;
    }
}

/** An instruction whose kind is not the next access's is not traced. */
static void match(struct pug_etrace_decoder *d)
{
    struct etrace_data_state *data = d->data;
    while (data->insn_count > 0 && data->settled < data->count) {
        struct retired *insn = &data->insns[data->insn_head];
        struct access *access = at(data, data->settled);
        bool vector = insn->left == PUG_RV_ACCESS_VECTOR;
        bool fits = takes(insn, &access->data);
        if (fits && vector && !access->data.multi) {
            stop_counting(d); /* how many accesses it makes is not known */
            return;
        }
        if (fits) {
            access->pc = insn->pc;
            access->has_pc = access->settled = true;
            data->settled++;
        }
        data->filtered = data->filtered || !fits;
        if (!fits || (!vector && --insn->left == 0)) {
            data->insn_head = (data->insn_head + 1) % INSNS;
            data->insn_count--;
        }
    }
    note(d);
}

/**
 * LR and a load-acquire are loads, SC and a store-release stores; a compare-and-swap that succeeds
 * and SSAMOSWAP are swaps.
 */
static uint8_t atomic_access(unsigned funct5)
{
    static const uint8_t accesses[32] = {
        [0] = PUG_ACCESS_ADD,  [1] = PUG_ACCESS_SWAP, [2] = PUG_ACCESS_LOAD, [3] = PUG_ACCESS_STORE,
        [4] = PUG_ACCESS_XOR,  [5] = PUG_ACCESS_SWAP, [6] = PUG_ACCESS_LOAD, [7] = PUG_ACCESS_STORE,
        [8] = PUG_ACCESS_OR,   [9] = PUG_ACCESS_SWAP, [12] = PUG_ACCESS_AND, [16] = PUG_ACCESS_MIN,
        [20] = PUG_ACCESS_MAX, [24] = PUG_ACCESS_MIN, [28] = PUG_ACCESS_MAX,
    };
    return accesses[funct5];
}

static void classify_32(uint32_t opcode, struct retired *insn)
{
    unsigned function = opcode >> 12 & 7, funct5 = opcode >> 27;
    bool store = opcode & 0x20;
    switch (opcode & 0x7f) {
    case 0x03: /* LB to LD, then LBU to LWU */ insn->size = function & 3; break;
    case 0x23: insn->size = (uint8_t)function; break;
    case 0x07: /* FLH, FLW, FLD, FLQ; vectors are of any size */
    case 0x27:
        if (function >= 1 && function <= 4)
            insn->size = (uint8_t)function;
        break;
    case 0x2f:
        insn->access = atomic_access(funct5);
        insn->size = (uint8_t)function;
        return;
    case 0x73: /* HLV, HSV; CSRRW, CSRRS, CSRRC and their immediate forms */
        if (function != 4) {
            insn->access = (uint8_t)(PUG_ACCESS_CSR_RW + (function & 3) - 1);
            return;
        }
        store = opcode >> 25 & 1;
        break;
    default: break;
    }
    insn->access = store ? PUG_ACCESS_STORE : PUG_ACCESS_LOAD;
}

/* Quadrants 0 and 2 are alike: functions 1 to 3 load, 5 to 7 store; 2 and 6 are words. */
static void classify_16(const struct pug_etrace_config *config, uint32_t opcode,
                        struct retired *insn)
{
    unsigned function = opcode >> 13 & 7, wide = config->xlen == 64 ? 3 : 2;
    bool store = function >= 5;
    if ((opcode & 3) == 0 && function == 4) { /* C.LBU, C.LHU and C.LH, then C.SB and C.SH */
        store = opcode >> 11 & 1;
        insn->size = opcode >> 10 & 1;
    } else if ((opcode & 3) == 2 && function == 5 && config->zcmt) { /* CM.PUSH; CM.POP… */
        store = (opcode >> 8 & 0xff) == 0xb8;
        insn->size = (uint8_t)wide;
    } else {
        static const uint8_t sizes[] = {0, 3, 2, 0};
        insn->size = (function & 3) == 3 ? (uint8_t)wide : sizes[function & 3];
    }
    insn->access = store ? PUG_ACCESS_STORE : PUG_ACCESS_LOAD;
}

static void classify(struct pug_etrace_decoder *d, struct retired *insn)
{
    uint8_t bytes[4] = {0};
    pug_codemap_read(d->code, insn->pc, bytes, sizeof(bytes));
    uint32_t opcode =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    insn->size = SIZE_ANY;
    if ((opcode & 3) == 3)
        classify_32(opcode, insn);
    else
        classify_16(d->config, opcode & 0xffff, insn);
}

static void retire(struct pug_etrace_decoder *d, uint64_t pc, const struct pug_insn *insn)
{
    struct etrace_data_state *data = d->data;
    if (data->insn_count == INSNS) { /* none of them has its data: nothing to count by */
        stop_counting(d);
        return;
    }
    struct retired *retired = &data->insns[(data->insn_head + data->insn_count++) % INSNS];
    *retired = (struct retired){.pc = pc, .left = insn->csr ? 1 : insn->access};
    classify(d, retired);
}

void pug_etrace_data_range(struct pug_etrace_decoder *d, uint64_t start, uint32_t count)
{
    struct pug_insn insn;
    uint64_t pc = start;
    for (uint32_t i = 0; i < count && d->data_counts; i++) {
        uint8_t it = 0;
        if (pug_codemap_insn(d->code, pc, d->isa, &it, &insn) != PUG_OK)
            break;
        if (insn.access > 0 || insn.csr)
            retire(d, pc, &insn);
        pc += insn.size;
    }
    match(d);
}

/* ---- what the decoder says ---- */

void pug_etrace_data_restart(struct pug_etrace_decoder *d)
{
    set_bases(d->data, true);
}

/**
 * Instructions before it keep their places in the queue, as their data may be on the way, unless
 * some instructions were not traced: then those may be as well.
 */
void pug_etrace_data_sync(struct pug_etrace_decoder *d)
{
    struct etrace_data_state *data = d->data;
    pug_etrace_data_restart(d);
    settle_all(d);
    if (data->filtered || !d->data_counts)
        data->insn_count = 0;
    data->filtered = false;
    d->data_counts = data->enabled;
}

void pug_etrace_data_uncount(struct pug_etrace_decoder *d)
{
    stop_counting(d);
}

void pug_etrace_data_lose(struct pug_etrace_decoder *d)
{
    pug_etrace_data_uncount(d);
    stop_waiting(d);
    set_bases(d->data, false);
}

void pug_etrace_data_reset(struct pug_etrace_decoder *d)
{
    struct etrace_data_state *data = d->data;
    data->head = data->count = data->settled = data->insn_count = 0;
    data->enabled = d->config->data_trace;
    d->data_counts = d->data_complete = false;
    set_bases(data, true);
}

void pug_etrace_data_enable(struct pug_etrace_decoder *d)
{
    if (!d->data->enabled) /* synchronisations have more to do from now on */
        pug_memos_forget(&d->memos);
    d->data->enabled = true;
}

bool pug_etrace_data_enabled(const struct pug_etrace_decoder *d)
{
    return d->data->enabled;
}

/** The data of a request complete the access that waits for them. */
static void reply(struct pug_etrace_decoder *d, const struct pug_etrace_packet *packet)
{
    struct etrace_data_state *data = d->data;
    struct pug_etrace_data answer = packet->data;
    struct access *access = NULL;
    for (uint32_t i = 0; i < data->count && !access; i++)
        if (at(data, i)->waiting && at(data, i)->data.lrid == answer.lrid)
            access = at(data, i);
    if (access)
        answer.size = access->data.size;
    restore_value(data, &answer, value_method(data->config, answer.diff));
    if (!access) {
        pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_WARN, PUG_ERR_PACKET_SEQUENCE,
                      d->index, "data of a request that is not known");
        return;
    }
    access->data.has_value = answer.has_value;
    access->data.value = answer.value;
    access->waiting = false;
    note(d);
}

void pug_etrace_data_packet(struct pug_etrace_decoder *d, const struct pug_etrace_packet *packet)
{
    struct etrace_data_state *data = d->data;
    data->enabled = true;
    if (packet->type == PUG_ETRACE_DATA_REPLY) {
        reply(d, packet);
        return;
    }
    struct access access = {.data = packet->data,
                            .index = d->index,
                            .settled = !d->data_counts,
                            .waiting = packet->data.split};
    for (uint32_t i = 0; access.waiting && i < data->count; i++)
        if (at(data, i)->waiting && at(data, i)->data.lrid == access.data.lrid)
            at(data, i)->waiting = false; /* one request an id: its data are lost */
    decompress(data, &access.data);
    enqueue(d, &access);
    match(d);
}

/* ---- for comparison ---- */

static void write_access(const struct access *access, struct pug_state *state)
{
    const struct pug_etrace_data *data = &access->data;
    pug_state_number(state, access->index);
    pug_state_number(state, access->has_pc ? access->pc : 0);
    const uint8_t flags[] = {access->has_pc,    access->settled, access->waiting,
                             data->access,      data->size,      data->multi,
                             data->has_address, data->has_value, data->has_operand,
                             data->lrid & 0xff, data->lrid >> 8};
    pug_state_put(state, flags, sizeof(flags));
    pug_state_number(state, data->has_address ? data->address : 0);
    pug_state_number(state, data->has_value ? data->value : 0);
    pug_state_number(state, data->has_operand ? data->operand : 0);
}

static void write_bases(const struct base *bases, struct pug_state *state)
{
    for (unsigned i = 0; i < SIZES; i++) {
        pug_state_number(state, bases[i].known);
        pug_state_number(state, bases[i].known ? bases[i].value : 0);
    }
}

void pug_etrace_data_write(const struct pug_etrace_decoder *d, struct pug_state *state)
{
    struct etrace_data_state *data = d->data;
    pug_state_number(state, data->enabled);
    pug_state_number(state, d->data_counts);
    pug_state_number(state, d->data_counts && data->filtered); /* else asked after being set */
    pug_state_number(state, data->count);
    for (uint32_t i = 0; i < data->count; i++)
        write_access(at(data, i), state);
    pug_state_number(state, data->insn_count);
    for (uint32_t i = 0; i < data->insn_count; i++) {
        const struct retired *insn = &data->insns[(data->insn_head + i) % INSNS];
        pug_state_number(state, insn->pc);
        pug_state_number(state, insn->access | insn->size << 8 | insn->left << 16);
    }
    write_bases(data->addresses, state);
    write_bases(data->values, state);
}
