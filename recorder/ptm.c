// SPDX-License-Identifier: MIT
#include "recorder/ptm.h"

#include <string.h>

void rec_ptm_begin(struct rec_ptm *unit, const struct rec_ptm_config *config, struct rec_bytes *out)
{
    *unit = (struct rec_ptm){.config = *config, .out = out, .isa = PUG_ISA_UNKNOWN};
}

static bool cycle_accurate(const struct rec_ptm *unit)
{
    return unit->config.control >> 12 & 1;
}

static bool return_stack(const struct rec_ptm *unit)
{
    return (unit->config.control >> 29 & 1) && (unit->config.code >> 23 & 1);
}

/** A cycle count; `first` are the bits of its first byte that are not its own. */
static void put_cycles(struct rec_ptm *unit, uint8_t first, uint32_t cycles)
{
    if (!cycle_accurate(unit))
        return;
    rec_put(unit->out, (uint8_t)(first | (cycles & 15) << 2 | (cycles > 15 ? 0x40 : 0)));
    if (cycles > 15)
        rec_put_leb(unit->out, cycles >> 4);
}

/* ---- atoms ---- */

void rec_ptm_flush(struct rec_ptm *unit)
{
    static const uint8_t headers[6] = {0, 0x84, 0x88, 0x90, 0xa0, 0xc0};
    if (unit->atom_count == 0)
        return;
    uint8_t header = headers[unit->atom_count];
    for (unsigned i = 0; i < unit->atom_count; i++)
        if (!unit->atoms[i])
            header |= (uint8_t)(1u << (unit->atom_count - i));
    rec_put(unit->out, header);
    unit->atom_count = 0;
}

void rec_ptm_atom(struct rec_ptm *unit, bool taken, uint32_t cycles)
{
    if (cycle_accurate(unit)) {
        put_cycles(unit, taken ? 0x80 : 0x82, cycles);
        return;
    }
    unit->atoms[unit->atom_count++] = taken;
    if (unit->atom_count == 5 || rec_armv7_sends_atoms(&unit->freedom))
        rec_ptm_flush(unit);
}

/* ---- return stack ---- */

void rec_ptm_call(struct rec_ptm *unit, uint32_t return_address, uint8_t isa)
{
    if (!return_stack(unit))
        return;
    if (unit->depth == REC_PTM_STACK)
        memmove(&unit->stack[0], &unit->stack[1], sizeof(unit->stack) - sizeof(unit->stack[0]));
    else
        unit->depth++;
    unit->stack[unit->depth - 1].address = return_address;
    unit->stack[unit->depth - 1].isa = isa;
}

void rec_ptm_indirect(struct rec_ptm *unit, uint32_t target, uint8_t isa, uint32_t cycles)
{
    unsigned top = unit->depth - 1;
    if (unit->depth == 0 || unit->stack[top].address != target || unit->stack[top].isa != isa) {
        rec_ptm_branch(unit, target, isa, NULL, cycles);
        return;
    }
    unit->depth--;
    rec_ptm_atom(unit, true, cycles);
    unit->running = isa;
}

void rec_ptm_runs_in(struct rec_ptm *unit, uint8_t isa)
{
    unit->running = isa;
}

/* ---- addresses ---- */

static void put_exception(struct rec_ptm *unit, const struct rec_ptm_exception *exception)
{
    bool byte2 = exception->number > 15 || exception->hyp != unit->hyp;
    rec_put(unit->out, (uint8_t)((exception->non_secure ? 1 : 0) | (exception->number & 15) << 1 |
                                 (unit->alt_isa ? 0x40 : 0) | (byte2 ? 0x80 : 0)));
    if (!byte2)
        return;
    rec_put(unit->out, (uint8_t)((exception->number >> 4) | (exception->hyp ? 0x20 : 0)));
    unit->hyp = exception->hyp;
}

/** Address byte 5: instruction set and top bits. */
static uint8_t byte5(uint8_t isa, uint32_t top)
{
    if (isa == PUG_ISA_A32)
        return (uint8_t)(top & 0x07);
    return isa == PUG_ISA_JAZELLE ? (uint8_t)(0x20 | (top & 0x1f)) : (uint8_t)(0x10 | (top & 0x0f));
}

/** The shortest address relative to the last one; `least` bytes; `more`: something follows it. */
static void put_address(struct rec_ptm *unit, uint8_t first, uint32_t target, uint8_t isa,
                        unsigned least, bool more)
{
    static const uint8_t bits[5] = {6, 12, 19, 26, 32};
    uint32_t value = target >> rec_armv7_shift(isa);
    uint32_t differ = value ^ unit->address >> rec_armv7_shift(isa);
    unsigned length =
        isa != unit->isa || isa != unit->running ? 5 : rec_armv7_length(&unit->freedom, least);
    while (length < 5 && differ >> bits[length - 1])
        length++;
    rec_put(unit->out, (uint8_t)(first | (value & 0x3f) << 1 | (length > 1 ? 0x80 : 0)));
    value >>= 6;
    for (unsigned n = 2; n <= length && n < 5; n++, value >>= 7)
        rec_put(unit->out, n == length ? (uint8_t)((value & 0x3f) | (more ? 0x40 : 0))
                                       : (uint8_t)(0x80 | (value & 0x7f)));
    if (length == 5)
        rec_put(unit->out, byte5(isa, value) | (more ? 0x40 : 0));
    unit->address = target;
    unit->isa = unit->running = isa;
}

static bool changes_alt_isa(const struct rec_ptm *unit, uint8_t isa)
{
    bool thumb = isa == PUG_ISA_T32 || isa == PUG_ISA_TEE;
    return thumb && unit->alt_isa != (isa == PUG_ISA_TEE);
}

void rec_ptm_branch(struct rec_ptm *unit, uint32_t target, uint8_t isa,
                    const struct rec_ptm_exception *exception, uint32_t cycles)
{
    struct rec_ptm_exception none = {.hyp = unit->hyp};
    rec_ptm_flush(unit);
    if (!exception && changes_alt_isa(unit, isa))
        exception = &none;
    put_address(unit, 1, target, isa, exception ? 2 : 1, exception != NULL);
    if (isa == PUG_ISA_T32 || isa == PUG_ISA_TEE)
        unit->alt_isa = isa == PUG_ISA_TEE;
    if (exception)
        put_exception(unit, exception);
    put_cycles(unit, 0, cycles);
}

void rec_ptm_waypoint(struct rec_ptm *unit, uint32_t address, uint8_t isa)
{
    bool changes = changes_alt_isa(unit, isa);
    rec_ptm_flush(unit);
    rec_put(unit->out, 0x72);
    put_address(unit, 0, address, isa, changes ? 5 : 1, changes);
    if (!changes)
        return;
    unit->alt_isa = isa == PUG_ISA_TEE;
    rec_put(unit->out, unit->alt_isa ? 0x40 : 0);
}

/* ---- synchronisation and others ---- */

void rec_ptm_a_sync(struct rec_ptm *unit)
{
    rec_ptm_flush(unit);
    rec_armv7_a_sync(unit->out);
}

void rec_ptm_isync(struct rec_ptm *unit, const struct rec_ptm_isync *isync)
{
    bool thumb = isync->isa == PUG_ISA_T32 || isync->isa == PUG_ISA_TEE;
    rec_ptm_flush(unit);
    rec_put(unit->out, 0x08);
    rec_put_le(unit->out, isync->address | (thumb ? 1 : 0), 4);
    rec_put(unit->out,
            (uint8_t)(1 | (isync->hyp ? 0x02 : 0) | (isync->isa == PUG_ISA_TEE ? 0x04 : 0) |
                      (isync->non_secure ? 0x08 : 0) | isync->reason << 5));
    if (isync->reason != PUG_ISYNC_PERIODIC)
        put_cycles(unit, 0, isync->cycles);
    rec_put_le(unit->out, isync->context_id, rec_armv7_context_id_bytes(unit->config.control));
    unit->address = isync->address;
    unit->isa = unit->running = isync->isa;
    unit->alt_isa = isync->isa == PUG_ISA_TEE;
    unit->hyp = isync->hyp;
    unit->depth = 0;
}

void rec_ptm_context_id(struct rec_ptm *unit, uint32_t id)
{
    rec_ptm_flush(unit);
    rec_put(unit->out, 0x6e);
    rec_put_le(unit->out, id, rec_armv7_context_id_bytes(unit->config.control));
}

void rec_ptm_vmid(struct rec_ptm *unit, uint8_t vmid)
{
    rec_ptm_flush(unit);
    rec_put(unit->out, 0x3c);
    rec_put(unit->out, vmid);
}

void rec_ptm_timestamp(struct rec_ptm *unit, uint64_t value, bool clock_changed, uint32_t cycles)
{
    bool wide = (unit->config.id >> 4 & 0xf) > 0 && (unit->config.code >> 29 & 1);
    rec_ptm_flush(unit);
    rec_put(unit->out, clock_changed ? 0x46 : 0x42);
    rec_armv7_timestamp(unit->out, value, unit->timestamp, wide ? 9 : 7);
    put_cycles(unit, 0, cycles);
    unit->timestamp = value;
}

void rec_ptm_plain(struct rec_ptm *unit, enum pug_ptm_packet_type type)
{
    static const uint8_t headers[] = {
        [PUG_PTM_TRIGGER] = 0x0c, [PUG_PTM_IGNORE] = 0x66, [PUG_PTM_EXCEPTION_RET] = 0x76};
    rec_ptm_flush(unit);
    rec_put(unit->out, headers[type]);
}
