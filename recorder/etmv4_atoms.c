// SPDX-License-Identifier: MIT
/** @file Atoms: in which formats they are written, and wrong ones that are taken back. */
#include "recorder/etmv4_state.h"

#include <string.h>

/** How many of the pending atoms, from the oldest, the format with this header would take. */
static unsigned try_format6(const struct rec_etmv4 *unit, uint8_t *header)
{
    unsigned run = 0;
    while (run < unit->atom_count && unit->atoms[run])
        run++;
    if (run >= 24 || (run >= 4 && run == unit->atom_count)) {
        unsigned count = run < 24 ? run : 24;
        *header = (uint8_t)(0xC0 | (count - 4)); /* count - 1 times E, then E */
        return count;
    }
    if (run < 3 || run == unit->atom_count)
        return 0;
    *header = (uint8_t)(0xE0 | (run - 3)); /* then N */
    return run + 1;
}

static const struct {
    uint8_t header, count, pattern; /* bit 0: oldest; 1: E */
} fixed_formats[] = {
    {0xF5, 5, 0x1E}, {0xD5, 5, 0x00}, {0xD6, 5, 0x0A}, {0xD7, 5, 0x15},
    {0xDC, 4, 0x0E}, {0xDD, 4, 0x00}, {0xDE, 4, 0x0A}, {0xDF, 4, 0x05},
};

static unsigned pattern_of(const struct rec_etmv4 *unit, unsigned count)
{
    unsigned pattern = 0;
    for (unsigned i = 0; i < count; i++)
        pattern |= (unsigned)unit->atoms[i] << i;
    return pattern;
}

/** Formats 1 to 3 have up to three atoms, whatever they are. */
static unsigned use_free_format(const struct rec_etmv4 *unit, unsigned most, uint8_t *header)
{
    static const uint8_t base[] = {0, 0xF6, 0xD8, 0xF8};
    unsigned taken = unit->atom_count < most ? unit->atom_count : most;
    *header = (uint8_t)(base[taken] | pattern_of(unit, taken));
    return taken;
}

static unsigned choose_format(struct rec_etmv4 *unit, uint8_t *header)
{
    uint32_t shorter = unit->config.shorter_once_in;
    if (shorter > 0 && rec_random_once_in(&unit->random, shorter))
        return use_free_format(unit, 1 + rec_random_below(&unit->random, 3), header);
    unsigned taken = try_format6(unit, header);
    if (taken)
        return taken;
    for (size_t i = 0; i < sizeof(fixed_formats) / sizeof(fixed_formats[0]); i++) {
        if (unit->atom_count < fixed_formats[i].count ||
            pattern_of(unit, fixed_formats[i].count) != fixed_formats[i].pattern)
            continue;
        *header = fixed_formats[i].header;
        return fixed_formats[i].count;
    }
    return use_free_format(unit, 3, header);
}

static void write_atoms(struct rec_etmv4 *unit, unsigned leave)
{
    while (unit->atom_count > leave) {
        uint8_t header;
        unsigned taken = choose_format(unit, &header);
        rec_put(unit->out, header);
        unit->atom_count -= taken;
        memmove(unit->atoms, unit->atoms + taken, unit->atom_count * sizeof(unit->atoms[0]));
    }
}

void rec_etmv4_flush_atoms(struct rec_etmv4 *unit)
{
    write_atoms(unit, 0);
}

void rec_etmv4_deepen(struct rec_etmv4 *unit)
{
    if (unit->depth < unit->config.idr8)
        unit->depth++;
}

void rec_etmv4_put_atom(struct rec_etmv4 *unit, bool taken)
{
    unit->atoms[unit->atom_count++] = taken;
    rec_etmv4_deepen(unit);
    if (unit->atom_count == ATOMS)
        write_atoms(unit, 24);
}

/* ---- speculation ---- */

/** A wrong path: some atoms that never happened, then their cancellation. */
static void guess_wrong_path(struct rec_etmv4 *unit)
{
    uint32_t limit = unit->config.idr8 < 8 ? unit->config.idr8 : 8;
    uint32_t count = 1 + rec_random_below(&unit->random, limit);
    for (uint32_t i = 0; i < count; i++)
        rec_etmv4_put_atom(unit, rec_random_once_in(&unit->random, 2));
    rec_etmv4_flush_atoms(unit);
    rec_put(unit->out, 0x2E); /* CANCEL_F1 */
    rec_put_leb(unit->out, count);
    unit->depth -= count;
}

/** Send the atom wrong, perhaps with later atoms, and correct it. */
static void guess_wrong_atom(struct rec_etmv4 *unit, bool taken)
{
    uint32_t behind = rec_random_below(&unit->random, 6);
    if (behind + 1 > unit->config.idr8)
        behind = 0;
    rec_etmv4_put_atom(unit, !taken);
    for (uint32_t i = 0; i < behind; i++)
        rec_etmv4_put_atom(unit, rec_random_once_in(&unit->random, 2));
    rec_etmv4_flush_atoms(unit);
    if (behind == 0) {
        rec_put(unit->out, 0x30); /* MISPREDICT */
    } else if (behind == 1) {
        rec_put(unit->out, 0x34); /* CANCEL_F2: 1 */
    } else if (rec_random_once_in(&unit->random, 2)) {
        rec_put(unit->out, (uint8_t)(0x38 | (behind - 2) << 1)); /* CANCEL_F3: 2 to 5 */
    } else {
        rec_put(unit->out, 0x2F); /* CANCEL_F1_MISPRED */
        rec_put_leb(unit->out, behind);
    }
    unit->depth -= behind;
}

static void maybe_commit(struct rec_etmv4 *unit)
{
    if (unit->depth == 0 || !rec_random_once_in(&unit->random, 16))
        return;
    rec_etmv4_flush_atoms(unit);
    uint32_t count = 1 + rec_random_below(&unit->random, unit->depth);
    rec_put(unit->out, 0x2D);
    rec_put_leb(unit->out, count);
    unit->depth -= count;
}

void rec_etmv4_atom(struct rec_etmv4 *unit, bool taken)
{
    bool guess = unit->config.idr8 > 0 && unit->config.guess_once_in > 0 &&
                 rec_random_once_in(&unit->random, unit->config.guess_once_in);
    if (guess && rec_random_once_in(&unit->random, 2)) {
        guess_wrong_atom(unit, taken);
    } else {
        rec_etmv4_put_atom(unit, taken);
        if (guess)
            guess_wrong_path(unit);
    }
    maybe_commit(unit);
}
