// SPDX-License-Identifier: MIT
#include "recorder/spike.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIZE_UNKNOWN = 6 };

/** The content of a line. */
struct written {
    unsigned integers, floats; /* registers */
    unsigned number;           /* of the last integer register */
    uint64_t value;            /* of the last register of either kind */
    bool control;
    uint64_t control_value; /* of the first control register */
    unsigned loads, stores;
};

static unsigned function_of(const uint8_t *bytes)
{
    return bytes[1] >> 4 & 7;
}

/** Exponent of the bytes that an instruction of 32 bits loads or stores in one access. */
static unsigned size_of_32(const uint8_t *bytes)
{
    unsigned function = function_of(bytes);
    switch (bytes[0] & 0x7f) {
    case 0x03: return function & 3;
    case 0x23: return function;
    case 0x2f: return function;
    case 0x07: /* floating point; else vectors */
    case 0x27: return function >= 1 && function <= 4 ? function : SIZE_UNKNOWN;
    case 0x73: return function == 4 ? bytes[3] >> 2 & 3 : SIZE_UNKNOWN; /* of a hypervisor */
    default: return SIZE_UNKNOWN;
    }
}

/** And one of 16 bits. */
static unsigned size_of_16(const uint8_t *bytes, unsigned wide)
{
    unsigned function = bytes[1] >> 5, quadrant = bytes[0] & 3;
    if (quadrant == 0 && function == 4)
        return bytes[1] >> 2 & 1; /* C.LBU, C.SB; C.LHU, C.LH, C.SH */
    if (quadrant == 2 && function == 5)
        return wide; /* CM.PUSH, CM.POP; C.FSDSP stores, and says itself how much */
    switch (function & 3) {
    case 1: return 3;
    case 2: return 2;
    case 3: return wide;
    default: return SIZE_UNKNOWN;
    }
}

static uint64_t cut(uint64_t value, unsigned size)
{
    return size >= 3 ? value : value & ((UINT64_C(1) << (8u << size)) - 1);
}

/** "mem 0x80001000", which loads, or "mem 0x80001000 0x00ff", which stores two bytes. */
static const char *take_memory(const char *at, unsigned load_size, struct written *written,
                               struct rec_path_access *access)
{
    int end = 0, from = 0, to = 0;
    *access = (struct rec_path_access){.size = (uint8_t)load_size};
    if (sscanf(at, "mem 0x%" SCNx64 "%n", &access->address, &end) < 1)
        return at + strlen(at);
    at += end;
    if (sscanf(at, " 0x%n%" SCNx64 "%n", &from, &access->value, &to) < 1) {
        written->loads++;
        return at;
    }
    unsigned digits = (unsigned)(to - from);
    access->store = true;
    access->known = digits <= 16;
    for (access->size = 0; (2u << access->size) < digits && access->size < 5;)
        access->size++;
    written->stores++;
    return at + to;
}

/** "x5  0x01", "f10 0x01", "c768_mstatus 0x01", and what says how vectors are. */
static const char *take_register(const char *at, struct rec_spike_registers *registers,
                                 struct written *written)
{
    char kind = *at;
    unsigned number;
    uint64_t value;
    int end = 0;
    if (sscanf(at + 1, "%u%*[^ ] 0x%" SCNx64 "%n", &number, &value, &end) < 2 &&
        sscanf(at + 1, "%u 0x%" SCNx64 "%n", &number, &value, &end) < 2)
        return at + strcspn(at, " ");
    if (kind == 'x' && number < 32) {
        written->integers++;
        written->number = number;
        registers->value[number] = value;
        registers->known |= 1u << number;
    }
    written->floats += kind == 'f';
    if (kind == 'c' && !written->control) {
        written->control = true;
        written->control_value = value;
    } else if (kind != 'c') {
        written->value = value;
    }
    return at + 1 + end;
}

/**
 * The value of a control register, and its source: the register or the number that the instruction
 * names, or, where that is unknown, the change of the value.
 */
static unsigned control_accesses(const struct rec_spike_registers *before,
                                 const struct written *written, const uint8_t *bytes,
                                 struct rec_path_access *accesses)
{
    enum { SET = 2, CLEAR = 3 };
    unsigned source = (bytes[1] >> 7 | (unsigned)bytes[2] << 1) & 31, function = function_of(bytes);
    unsigned number = bytes[2] >> 4 | (unsigned)bytes[3] << 4;
    uint64_t old = written->integers ? written->value : 0, operand = written->control_value;
    bool immediate = function >> 2, knows = immediate || source == 0;
    if (knows)
        operand = immediate ? source : 0;
    else if (before->known >> source & 1)
        operand = before->value[source];
    else if ((function & 3) == CLEAR)
        operand = old & ~operand;
    accesses[0] = (struct rec_path_access){
        .address = number, .value = old, .size = REC_ACCESS_REGISTER, .known = true};
    accesses[1] = accesses[0];
    accesses[1].store = true;
    accesses[1].value = operand;
    return number >> 10 == 3 ? 1 : 2;
}

static bool is_control(const uint8_t *bytes)
{
    return (bytes[0] & 0x7f) == 0x73 && (function_of(bytes) & 3) != 0;
}

unsigned rec_spike_accesses(struct rec_spike_registers *registers, enum rec_path_family family,
                            const uint8_t *bytes, const char *text,
                            struct rec_path_access accesses[REC_SPIKE_ACCESSES])
{
    const struct rec_spike_registers before = *registers;
    struct written written = {0};
    unsigned count = 0, wide = family == REC_FAMILY_RV32 ? 2 : 3;
    unsigned size = (bytes[0] & 3) == 3 ? size_of_32(bytes) : size_of_16(bytes, wide);
    bool all = true;
    for (text += strspn(text, " "); *text >= ' '; text += strspn(text, " ")) {
        if (strncmp(text, "mem ", 4) != 0) {
            text = take_register(text, registers, &written);
            continue;
        }
        struct rec_path_access access;
        text = take_memory(text, size, &written, &access);
        all = all && count < REC_SPIKE_ACCESSES && access.size < SIZE_UNKNOWN;
        if (all)
            accesses[count++] = access;
    }
    if (is_control(bytes))
        return control_accesses(&before, &written, bytes, accesses);
    if (!all)
        return 0;
    if (written.loads == 1 && written.integers + written.floats == 1 && size <= 3 &&
        !accesses[0].store) {
        accesses[0].value = cut(written.value, size);
        accesses[0].known = true;
    }
    return count;
}
