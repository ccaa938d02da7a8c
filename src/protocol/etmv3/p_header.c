// SPDX-License-Identifier: MIT
/** @file ETMv3: what the P-headers say, as tables for the two ways to write them. */
#include "protocol/etmv3/decoder.h"

/** `passed` E atoms, then an N atom where `failed`. */
static void set_run(struct pug_etmv3_p_header *header, unsigned passed, bool failed)
{
    header->format = 1;
    header->bits = (uint16_t)((1u << passed) - 1);
    header->count = (uint8_t)(passed + (failed ? 1 : 0));
}

/** Two atoms: bits 3 and 2 set are N. */
static void set_pair(struct pug_etmv3_p_header *header, uint8_t byte)
{
    header->format = 2;
    header->bits = (uint16_t)((byte & 0x08 ? 0 : 1) | (byte & 0x04 ? 0 : 2));
    header->count = 2;
}

/** A cycle-accurate header; false: there is no such one. */
static bool set_cycle_accurate(struct pug_etmv3_p_header *header, uint8_t byte)
{
    unsigned count = byte >> 2 & 7;
    switch (byte & 0xa3) {
    case 0x80:
        set_run(header, count, byte & 0x40);
        header->cycles = header->count;
        return header->count > 0;
    case 0x82:
        if (byte & 0x10) {
            header->format = 4;
            header->bits = byte & 0x04 ? 0 : 1;
            header->count = 1;
        } else {
            set_pair(header, byte);
            header->cycles = 1;
        }
        return true;
    case 0xa0:
        header->format = 3;
        header->bits = 1;
        header->count = byte & 0x40 ? 1 : 0;
        header->cycles = (uint8_t)(count + 1);
        return true;
    default: return false;
    }
}

/** Cycles of the n-th atom. */
static unsigned step_cycles(const struct pug_etmv3_p_header *header, unsigned n)
{
    if (header->format == 1 && header->cycles > 0)
        return 1;
    return n == 0 ? header->cycles : 0;
}

static void set_steps(struct pug_etmv3_p_header *header)
{
    for (unsigned i = 0; i < header->count; i++)
        header->steps[i] = (uint8_t)((header->bits >> i & 1 ? PUG_ETMV3_STEP_E : PUG_ETMV3_STEP_N) |
                                     step_cycles(header, i));
    header->step_count = header->count;
    if (header->count == 0 && header->format == 3) {
        header->steps[0] = (uint8_t)(PUG_ETMV3_STEP_WAIT | header->cycles);
        header->step_count = 1;
        header->waits = header->cycles;
    }
    if (header->step_count > 0)
        header->steps[header->step_count - 1] |= 1u << PUG_ETMV3_STEP_LAST;
}

static struct pug_etmv3_step step_of(unsigned bits)
{
    const uint32_t cycles = bits & PUG_ETMV3_STEP_CYCLES;
    if ((bits & PUG_ETMV3_STEP_KIND) == PUG_ETMV3_STEP_WAIT)
        return (struct pug_etmv3_step){.cycles = cycles};
    return (struct pug_etmv3_step){{UINT64_MAX, UINT64_MAX}, .count = 1, .cycles = cycles};
}

void pug_etmv3_set_p_headers(struct pug_etmv3_config *config)
{
    for (unsigned i = 0; i < PUG_ETMV3_STEPS; i++)
        config->steps[i] = step_of(i);
    for (unsigned byte = 0x80; byte < 0x100; byte += 2) {
        struct pug_etmv3_p_header *header = &config->p_headers[byte];
        header->valid = true;
        if (config->cycle_accurate)
            header->valid = set_cycle_accurate(header, (uint8_t)byte);
        else if (byte & 2)
            set_pair(header, (uint8_t)byte);
        else
            set_run(header, byte >> 2 & 15, byte & 0x40);
        if (header->valid)
            set_steps(header);
    }
}
