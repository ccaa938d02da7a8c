// SPDX-License-Identifier: MIT
#include "recorder/unit_etrace_data.h"

#include <stdlib.h>

enum { LR = 2, SC = 3, LOAD_ACQUIRE = 6, STORE_RELEASE = 7 };

/**
 * Returns bits 31 to 27 of an atomic instruction; -1 for every other one. A compressed instruction,
 * which is none, has two bytes, and nothing needs to follow them.
 */
static int atomic_of(const uint8_t *bytes)
{
    if (rec_path_insn_size(REC_PATH_RISCV, bytes) != 4)
        return -1;
    const int atomic = bytes[3] >> 3;
    const bool plain = atomic == LOAD_ACQUIRE || atomic == STORE_RELEASE;
    return (bytes[0] & 0x7f) == 0x2f && !plain ? atomic : -1;
}

uint32_t rec_etrace_tells(const struct rec_etrace_told *told, const uint8_t *bytes,
                          struct rec_path_access *accesses, uint32_t count)
{
    int atomic = atomic_of(bytes);
    if (accesses[0].size == REC_ACCESS_REGISTER)
        return told->kinds < 3 ? 0 : count;
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].size > (told->values ? 3 : 4) ||
            8u << accesses[i].size > told->data_width || (told->values && !accesses[i].known))
            return 0;
    if (told->kinds < 3 && ((atomic >= 0 && atomic != LR && atomic != SC) ||
                            (told->kinds < 2 && atomic < 0 && count > 1)))
        return 0;
    if (atomic == SC) { /* QEMU loads, too, to compare */
        *accesses = accesses[count - 1];
        return accesses->store;
    }
    bool both = count == 2 && !accesses[0].store && accesses[1].store;
    return atomic < 0 || atomic == LR || !told->values || both ? count : 0;
}

static struct pug_etrace_data *add(struct rec_etrace_accesses *data)
{
    if (data->count == data->room) {
        uint32_t room = data->room * 2 + 8;
        struct pug_etrace_data *grown = realloc(data->waiting, room * sizeof(*grown));
        if (!grown) {
            data->failed = true;
            return NULL;
        }
        data->waiting = grown;
        data->room = room;
    }
    return &data->waiting[data->count++];
}

/** A CSR instruction: what it found and what it has to put there, two accesses in a path. */
static void add_control(struct rec_etrace_accesses *data, const struct rec_step *step)
{
    const struct rec_etrace_data_options *o = &data->encoder.options;
    struct pug_etrace_data *to = add(data);
    if (!to)
        return;
    *to = (struct pug_etrace_data){.access =
                                       (uint8_t)(PUG_ACCESS_CSR_RW + (step->bytes[1] >> 4 & 3) - 1),
                                   .size = o->xlen == 64 ? 3 : 2,
                                   .has_address = true,
                                   .has_value = !o->no_value,
                                   .has_operand = !o->no_value && step->access_count > 1,
                                   .address = step->accesses[0].address,
                                   .value = step->accesses[0].value,
                                   .operand = step->accesses[step->access_count - 1].value};
}

static uint64_t within(uint64_t value, unsigned size)
{
    return size >= 3 ? value : value & ((UINT64_C(1) << (8u << size)) - 1);
}

static void add_access(struct rec_etrace_accesses *data, const struct rec_path_access *access,
                       unsigned kind, bool multi)
{
    const struct rec_etrace_data_options *o = &data->encoder.options;
    struct pug_etrace_data *to = add(data);
    if (!to)
        return;
    *to = (struct pug_etrace_data){.access = (uint8_t)kind,
                                   .size = access->size,
                                   .multi = multi,
                                   .unaligned = access->address % (1u << access->size) != 0,
                                   .has_address = !o->no_address,
                                   .has_value = !o->no_value,
                                   .address = access->address,
                                   .value = within(access->value, access->size)};
}

/** What was there, and what was put there: the operand is one that makes this of that. */
static void add_atomic(struct rec_etrace_accesses *data, const struct rec_step *step, int atomic)
{
    static const uint8_t kinds[32] = {
        [0] = PUG_ACCESS_ADD,  [1] = PUG_ACCESS_SWAP, [4] = PUG_ACCESS_XOR,  [5] = PUG_ACCESS_SWAP,
        [8] = PUG_ACCESS_OR,   [9] = PUG_ACCESS_SWAP, [12] = PUG_ACCESS_AND, [16] = PUG_ACCESS_MIN,
        [20] = PUG_ACCESS_MAX, [24] = PUG_ACCESS_MIN, [28] = PUG_ACCESS_MAX,
    };
    const struct rec_path_access *before = step->accesses;
    const struct rec_path_access *after = &step->accesses[step->access_count - 1];
    unsigned kind = kinds[atomic];
    uint64_t operand = kind == PUG_ACCESS_ADD   ? after->value - before->value
                       : kind == PUG_ACCESS_XOR ? after->value ^ before->value
                                                : after->value;
    uint32_t count = data->count;
    add_access(data, before, kind, false);
    if (data->count == count)
        return;
    struct pug_etrace_data *to = &data->waiting[data->count - 1];
    to->unaligned = false;
    to->has_operand = to->has_value;
    to->operand = within(operand, to->size);
}

void rec_etrace_accesses_take(struct rec_etrace_accesses *data, const struct rec_step *step)
{
    int atomic = atomic_of(step->bytes);
    data->count = 0;
    if (step->access_count == 0)
        return;
    if (step->accesses[0].size == REC_ACCESS_REGISTER) {
        add_control(data, step);
        return;
    }
    if (atomic >= 0 && atomic != LR && atomic != SC) {
        add_atomic(data, step, atomic);
    } else {
        bool multi = data->encoder.options.mma_cas && step->access_count > 1;
        for (uint32_t i = 0; i < step->access_count; i++)
            add_access(data, &step->accesses[i],
                       step->accesses[i].store ? PUG_ACCESS_STORE : PUG_ACCESS_LOAD, multi);
    }
}

/** The data of a request that waits. */
static void answer(struct rec_etrace_accesses *data, unsigned lrid, rec_payload_fn *put,
                   void *context)
{
    if (data->requested[lrid])
        rec_etrace_reply(&data->encoder, &data->requests[lrid], put, context);
    data->requested[lrid] = false;
}

/** Does the access's data come later? */
static bool splits(const struct rec_etrace_data_options *o, const struct pug_etrace_data *access)
{
    bool atomic = access->access >= PUG_ACCESS_SWAP, both = !o->no_address && !o->no_value;
    return o->split && ((both && (access->access == PUG_ACCESS_LOAD || atomic)) ||
                        (o->mma_cas && !o->no_value && atomic));
}

void rec_etrace_accesses_put(struct rec_etrace_accesses *data, bool synced, bool last,
                             rec_payload_fn *put, void *context)
{
    const struct rec_etrace_data_options *o = &data->encoder.options;
    unsigned lrids = 1u << o->lrid_width;
    if (synced)
        rec_etrace_data_restart(&data->encoder);
    for (uint32_t i = 0; i < data->count; i++) {
        struct pug_etrace_data *access = &data->waiting[i];
        if (splits(o, access)) {
            access->split = true;
            access->lrid = (uint16_t)rec_random_below(&data->random, lrids);
            answer(data, access->lrid, put, context);
            data->requests[access->lrid] = *access;
            data->requested[access->lrid] = true;
        }
        rec_etrace_access(&data->encoder, access, put, context);
    }
    data->count = 0;
    if (o->split)
        answer(data, rec_random_below(&data->random, lrids), put, context);
    for (unsigned lrid = 0; last && lrid < lrids; lrid++)
        answer(data, lrid, put, context);
}
