// SPDX-License-Identifier: MIT
#include "recorder/etmv3.h"

void rec_etmv3_begin(struct rec_etmv3 *unit, const struct rec_etmv3_config *config,
                     struct rec_bytes *out)
{
    *unit = (struct rec_etmv3){.config = *config, .out = out, .isa = PUG_ISA_UNKNOWN};
}

static bool cycle_accurate(const struct rec_etmv3 *unit)
{
    return unit->config.control >> 12 & 1;
}

static unsigned minor(const struct rec_etmv3 *unit)
{
    return unit->config.id >> 4 & 0xf;
}

/* ---- atoms ---- */

/** E atoms from `at` on, at most `most`, each after one cycle where they are traced. */
static unsigned run_of_e(const struct rec_etmv3 *unit, unsigned at, unsigned most)
{
    unsigned n = 0;
    while (at + n < unit->atom_count && n < most && unit->atoms[at + n].executed)
        n++;
    return n;
}

static bool is_n(const struct rec_etmv3 *unit, unsigned at)
{
    return at < unit->atom_count && !unit->atoms[at].executed;
}

/** A pair of atoms: bits 3 and 2 say N. */
static uint8_t pair(const struct rec_etmv3 *unit, unsigned at)
{
    return (uint8_t)(0x82 | (is_n(unit, at) ? 0x08 : 0) | (is_n(unit, at + 1) ? 0x04 : 0));
}

/** The next P-header of a trace without cycles; how many atoms are in it. */
static unsigned put_atoms(struct rec_etmv3 *unit, unsigned at)
{
    unsigned passed = run_of_e(unit, at, 15);
    bool failed = is_n(unit, at + passed);
    if (passed == 0 && at + 1 < unit->atom_count) {
        rec_put(unit->out, pair(unit, at));
        return 2;
    }
    rec_put(unit->out, (uint8_t)(0x80 | passed << 2 | (failed ? 0x40 : 0)));
    return passed + (failed ? 1 : 0);
}

static void put_waits(struct rec_bytes *out, uint32_t cycles, bool executed)
{
    while (cycles > 8) {
        rec_put(out, 0xa0 | 7 << 2);
        cycles -= 8;
    }
    rec_put(out, (uint8_t)(0xa0 | (cycles - 1) << 2 | (executed ? 0x40 : 0)));
}

/** Atoms from `at` on that come one a cycle and fit format 1; E atoms, then perhaps an N. */
static unsigned one_a_cycle(const struct rec_etmv3 *unit, unsigned at)
{
    unsigned n = 0;
    while (at + n < unit->atom_count && unit->atoms[at + n].cycles == 1 && n < 8) {
        bool executed = unit->atoms[at + n].executed;
        bool paired = at + n + 1 < unit->atom_count && unit->atoms[at + n + 1].cycles == 0;
        if (paired || (executed && n == 7))
            break;
        n++;
        if (!executed)
            break;
    }
    return n;
}

/** The next P-headers of a cycle-accurate trace; how many atoms are in them. */
static unsigned put_cycle_atoms(struct rec_etmv3 *unit, unsigned at)
{
    uint32_t cycles = unit->atoms[at].cycles;
    bool executed = unit->atoms[at].executed;
    if (cycles == 0) {
        rec_put(unit->out, executed ? 0x92 : 0x96);
        return 1;
    }
    if (cycles > 1 && executed) {
        put_waits(unit->out, cycles, true);
        return 1;
    }
    if (cycles > 1) {
        put_waits(unit->out, cycles - 1, false);
        unit->atoms[at].cycles = 1;
    }
    unsigned n = one_a_cycle(unit, at);
    if (n == 0) {
        rec_put(unit->out, pair(unit, at));
        return 2;
    }
    bool failed = !unit->atoms[at + n - 1].executed;
    rec_put(unit->out, (uint8_t)(0x80 | (n - (failed ? 1 : 0)) << 2 | (failed ? 0x40 : 0)));
    return n;
}

void rec_etmv3_flush(struct rec_etmv3 *unit)
{
    for (unsigned at = 0; at < unit->atom_count;)
        at += cycle_accurate(unit) ? put_cycle_atoms(unit, at) : put_atoms(unit, at);
    unit->atom_count = 0;
}

void rec_etmv3_atom(struct rec_etmv3 *unit, bool executed, uint32_t cycles)
{
    if (unit->atom_count == REC_ETMV3_ATOMS)
        rec_etmv3_flush(unit);
    unit->atoms[unit->atom_count].executed = executed;
    unit->atoms[unit->atom_count].cycles = cycles;
    unit->atom_count++;
    if (rec_armv7_sends_atoms(&unit->freedom))
        rec_etmv3_flush(unit);
}

void rec_etmv3_wait(struct rec_etmv3 *unit, uint32_t cycles)
{
    rec_etmv3_flush(unit);
    if (cycles > 0)
        put_waits(unit->out, cycles, false);
}

/* ---- branches ---- */

static void put_exception(struct rec_etmv3 *unit, const struct rec_etmv3_exception *exception,
                          bool alt_isa)
{
    struct rec_bytes *out = unit->out;
    bool byte1 = exception->number > 15 || exception->hyp != unit->hyp;
    bool byte2 = exception->resume != 0;
    rec_put(out, (uint8_t)((exception->non_secure ? 1 : 0) | (exception->number & 15) << 1 |
                           (exception->cancel ? 0x20 : 0) | (alt_isa ? 0x40 : 0) |
                           (byte1 || byte2 ? 0x80 : 0)));
    if (byte1)
        rec_put(out, (uint8_t)(exception->number >> 4 | (exception->hyp ? 0x20 : 0) |
                               (byte2 ? 0x80 : 0)));
    if (byte2)
        rec_put(out, 0x40 | exception->resume);
    if (byte1)
        unit->hyp = exception->hyp;
    unit->alt_isa = alt_isa;
}

/** Address byte 5: instruction set and top bits. */
static uint8_t byte5(uint8_t isa, uint32_t top)
{
    if (isa == PUG_ISA_A32)
        return (uint8_t)(0x08 | (top & 0x07));
    return isa == PUG_ISA_JAZELLE ? (uint8_t)(0x20 | (top & 0x1f)) : (uint8_t)(0x10 | (top & 0x0f));
}

/** The shortest address, relative to the last one; then the exception bytes. */
static void put_address(struct rec_etmv3 *unit, uint32_t target, uint8_t isa,
                        const struct rec_etmv3_exception *exception)
{
    static const uint8_t original[5] = {6, 13, 20, 27, 32}, alternative[5] = {6, 12, 19, 26, 32};
    bool alternate = (unit->config.id >> 20 & 1) && minor(unit) >= 4;
    const uint8_t *bits = alternate ? alternative : original;
    bool thumb = isa == PUG_ISA_T32 || isa == PUG_ISA_TEE, alt_isa = isa == PUG_ISA_TEE;
    struct rec_etmv3_exception none = {.hyp = unit->hyp};
    if (!exception && thumb && alt_isa != unit->alt_isa)
        exception = &none;
    uint32_t value = target >> rec_armv7_shift(isa);
    uint32_t differ = value ^ unit->address >> rec_armv7_shift(isa);
    unsigned length;
    if (isa != unit->isa || isa != unit->running || (exception && !alternate))
        length = 5;
    else
        length = rec_armv7_length(&unit->freedom, exception ? 2 : 1);
    while (length < 5 && differ >> bits[length - 1])
        length++;
    rec_put(unit->out, (uint8_t)(1 | (value & 0x3f) << 1 | (length > 1 ? 0x80 : 0)));
    value >>= 6;
    for (unsigned n = 2; n <= length && n < 5; n++, value >>= 7) {
        uint8_t last = alternate ? (value & 0x3f) | (exception ? 0x40 : 0) : value & 0x7f;
        rec_put(unit->out, n == length ? last : (uint8_t)(0x80 | (value & 0x7f)));
    }
    if (length == 5)
        rec_put(unit->out, byte5(isa, value) | (exception ? 0x40 : 0));
    if (exception)
        put_exception(unit, exception, alt_isa);
    unit->address = target;
    unit->isa = unit->running = isa;
}

void rec_etmv3_runs_in(struct rec_etmv3 *unit, uint8_t isa)
{
    unit->running = isa;
}

void rec_etmv3_branch(struct rec_etmv3 *unit, uint32_t target, uint8_t isa,
                      const struct rec_etmv3_exception *exception)
{
    rec_etmv3_flush(unit);
    put_address(unit, target, isa, exception);
}

/* ---- synchronisation and others ---- */

void rec_etmv3_a_sync(struct rec_etmv3 *unit)
{
    rec_etmv3_flush(unit);
    rec_armv7_a_sync(unit->out);
}

void rec_etmv3_isync(struct rec_etmv3 *unit, const struct rec_etmv3_isync *isync)
{
    rec_etmv3_flush(unit);
    bool thumb = isync->isa == PUG_ISA_T32 || isync->isa == PUG_ISA_TEE;
    rec_put(unit->out, isync->has_cycles ? 0x70 : 0x08);
    if (isync->has_cycles)
        rec_put_leb(unit->out, isync->cycles);
    rec_put_le(unit->out, isync->context_id, rec_armv7_context_id_bytes(unit->config.control));
    rec_put(unit->out,
            (uint8_t)(1 | (isync->hyp ? 0x02 : 0) | (isync->isa == PUG_ISA_TEE ? 0x04 : 0) |
                      (isync->non_secure ? 0x08 : 0) | (isync->isa == PUG_ISA_JAZELLE ? 0x10 : 0) |
                      isync->reason << 5 | (isync->has_lsip ? 0x80 : 0)));
    unit->hyp = isync->hyp;
    if (unit->config.control >> 20 & 1) /* data only */
        return;
    rec_put_le(unit->out, isync->address | (thumb ? 1 : 0), 4);
    unit->address = isync->address;
    unit->isa = unit->running = isync->isa;
    unit->data_synced = unit->data_synced && isync->reason == PUG_ISYNC_PERIODIC;
    if (isync->has_lsip)
        put_address(unit, isync->lsip, isync->isa, NULL);
}

void rec_etmv3_cycle_count(struct rec_etmv3 *unit, uint32_t cycles)
{
    rec_etmv3_flush(unit);
    rec_put(unit->out, 0x04);
    rec_put_leb(unit->out, cycles);
}

void rec_etmv3_context_id(struct rec_etmv3 *unit, uint32_t id)
{
    rec_etmv3_flush(unit);
    rec_put(unit->out, 0x6e);
    rec_put_le(unit->out, id, rec_armv7_context_id_bytes(unit->config.control));
}

void rec_etmv3_vmid(struct rec_etmv3 *unit, uint8_t vmid)
{
    rec_etmv3_flush(unit);
    rec_put(unit->out, 0x3c);
    rec_put(unit->out, vmid);
}

void rec_etmv3_timestamp(struct rec_etmv3 *unit, uint64_t value, bool clock_changed)
{
    rec_etmv3_flush(unit);
    rec_put(unit->out, clock_changed ? 0x46 : 0x42);
    rec_armv7_timestamp(unit->out, value, unit->timestamp, unit->config.code >> 29 & 1 ? 9 : 7);
    unit->timestamp = value;
}

void rec_etmv3_plain(struct rec_etmv3 *unit, enum pug_etmv3_packet_type type)
{
    static const uint8_t headers[] = {
        [PUG_ETMV3_TRIGGER] = 0x0c,         [PUG_ETMV3_IGNORE] = 0x66,
        [PUG_ETMV3_EXCEPTION_ENTRY] = 0x7e, [PUG_ETMV3_EXCEPTION_EXIT] = 0x76,
        [PUG_ETMV3_STORE_FAIL] = 0x50,      [PUG_ETMV3_DATA_SUPPRESSED] = 0x62,
    };
    rec_etmv3_flush(unit);
    rec_put(unit->out, headers[type]);
    if (type == PUG_ETMV3_DATA_SUPPRESSED && minor(unit) <= 2)
        unit->data_synced = false;
}

/* ---- data ---- */

/** A header with its A bit, and the address where addresses are traced. */
static void put_data_header(struct rec_etmv3 *unit, uint8_t header, uint8_t a_bit,
                            const uint32_t *address)
{
    rec_etmv3_flush(unit);
    rec_put(unit->out, address ? header | a_bit : header);
    if (!address || !(unit->config.control >> 3 & 1))
        return;
    uint32_t value = *address, differ = value ^ unit->data_address;
    unsigned length = unit->data_synced ? 1 : 5;
    while (length < 5 && differ >> 7 * length)
        length++;
    for (unsigned n = 1; n < length; n++, value >>= 7)
        rec_put(unit->out, (uint8_t)(0x80 | (value & 0x7f)));
    rec_put(unit->out, value & 0x7f);
    unit->data_address = *address;
    unit->data_synced = true;
}

/** SS of a value, and its bytes: those at its top that are zero are left out. */
static unsigned value_size(const struct rec_etmv3 *unit, uint32_t value)
{
    if (!(unit->config.control >> 2 & 1) || value == 0)
        return 0;
    return value < 0x100 ? 1 : value < 0x10000 ? 2 : 3;
}

static void put_value(struct rec_etmv3 *unit, uint32_t value)
{
    static const uint8_t bytes[4] = {0, 1, 2, 4};
    rec_put_le(unit->out, value, bytes[value_size(unit, value)]);
}

void rec_etmv3_data(struct rec_etmv3 *unit, const uint32_t *address, uint32_t value)
{
    put_data_header(unit, (uint8_t)(0x02 | value_size(unit, value) << 2), 0x20, address);
    put_value(unit, value);
}

void rec_etmv3_data_not_traced(struct rec_etmv3 *unit, const uint32_t *address)
{
    put_data_header(unit, 0x6a, 0x10, address);
}

void rec_etmv3_data_placeholder(struct rec_etmv3 *unit, uint8_t tag, const uint32_t *address)
{
    put_data_header(unit, (uint8_t)(0x50 | tag << 2), 0x20, address);
}

void rec_etmv3_data_value(struct rec_etmv3 *unit, uint8_t tag, uint32_t value)
{
    rec_etmv3_flush(unit);
    rec_put(unit->out, (uint8_t)(tag << 5 | value_size(unit, value) << 2));
    put_value(unit, value);
}

void rec_etmv3_data_sync(struct rec_etmv3 *unit)
{
    unit->data_synced = false;
}
