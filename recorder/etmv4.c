// SPDX-License-Identifier: MIT
#include "recorder/etmv4_state.h"

#include <stdlib.h>
#include <string.h>

static bool commit_in_cycles(const struct rec_etmv4 *unit)
{
    return !(rec_etmv4_bit(unit->config.idr0, 29) && rec_etmv4_bit(unit->config.idr0, 7));
}

struct rec_etmv4 *rec_etmv4_new(const struct rec_etmv4_config *config, struct rec_bytes *out)
{
    struct rec_etmv4 *unit = calloc(1, sizeof(*unit));
    if (!unit)
        return NULL;
    unit->config = *config;
    unit->out = out;
    unit->random.state = config->seed;
    return unit;
}

void rec_etmv4_free(struct rec_etmv4 *unit)
{
    free(unit);
}

/* ---- addresses ---- */

static void remember(struct rec_etmv4 *unit, uint64_t address, bool t32)
{
    unit->history[2] = unit->history[1];
    unit->history[1] = unit->history[0];
    unit->history[0] = (struct rec_etmv4_address){address, t32};
}

static unsigned shift_of(bool t32)
{
    return t32 ? 1 : 2;
}

static void put_short(struct rec_etmv4 *unit, uint64_t address, bool t32, bool two)
{
    unsigned shift = shift_of(t32);
    rec_put(unit->out, (uint8_t)((address >> shift & 0x7f) | (two ? 0x80 : 0)));
    if (two)
        rec_put(unit->out, (uint8_t)(address >> (shift + 7)));
}

/** Address bytes of the long forms. */
static void put_long(struct rec_etmv4 *unit, uint64_t address, bool t32, unsigned size)
{
    rec_put(unit->out, address >> shift_of(t32) & 0x7f);
    if (t32)
        rec_put(unit->out, (uint8_t)(address >> 8));
    else
        rec_put(unit->out, address >> 9 & 0x7f);
    rec_put_le(unit->out, address >> 16, size - 2);
}

/** Headers of one family of address packets: exact match, short, long 32, long 64; [t32]. */
struct address_headers {
    uint8_t match, short_[2], long32[2], long64[2];
};

static const struct address_headers plain_headers = {
    0x90, {0x95, 0x96}, {0x9A, 0x9B}, {0x9D, 0x9E}};
static const struct address_headers source_headers = {
    0xB0, {0xB4, 0xB5}, {0xB6, 0xB7}, {0xB8, 0xB9}};

/** The long form of 32 bits leaves the upper half as the last address had it. */
static bool keeps_upper_half(const struct rec_etmv4 *unit, uint64_t address)
{
    return (unit->history[0].value ^ address) >> 32 == 0;
}

enum address_form { MATCH, SHORT_ONE, SHORT_TWO, LONG_32, LONG_64 };

/**
 * Returns the shortest form that can express the address; `*entry`: which one of the history it is.
 */
static enum address_form shortest_form(const struct rec_etmv4 *unit, uint64_t address, bool t32,
                                       unsigned *entry)
{
    uint64_t changed = unit->history[0].value ^ address;
    unsigned low = shift_of(t32) + 7;
    for (*entry = 0; *entry < 3; ++*entry)
        if (unit->history[*entry].value == address && unit->history[*entry].t32 == t32)
            return MATCH;
    if (changed >> low == 0)
        return SHORT_ONE;
    if (changed >> (low + 8) == 0)
        return SHORT_TWO;
    return changed >> 32 == 0 ? LONG_32 : LONG_64;
}

/** The shortest one, or where that is asked for now and then a longer one, which is as legal. */
static enum address_form choose_form(struct rec_etmv4 *unit, enum address_form least)
{
    enum address_form most = unit->sf ? LONG_64 : LONG_32;
    uint32_t once_in = unit->config.longer_once_in;
    if (once_in == 0 || least >= most || !rec_random_once_in(&unit->random, once_in))
        return least;
    /* A match may be of any entry, so that it says nothing of what a short form leaves out. */
    if (least == MATCH)
        least = SHORT_TWO;
    return least + 1 + rec_random_below(&unit->random, most - least);
}

static void put_address(struct rec_etmv4 *unit, const struct address_headers *headers,
                        uint64_t address, bool t32)
{
    unsigned entry;
    enum address_form form = shortest_form(unit, address, t32, &entry);
    bool upper = !keeps_upper_half(unit, address);
    form = choose_form(unit, form);
    if (form == LONG_32 && upper)
        form = LONG_64;
    switch (form) {
    case MATCH: rec_put(unit->out, (uint8_t)(headers->match + entry)); break;
    case SHORT_ONE:
    case SHORT_TWO:
        rec_put(unit->out, headers->short_[t32]);
        put_short(unit, address, t32, form == SHORT_TWO);
        break;
    case LONG_32:
        rec_put(unit->out, headers->long32[t32]);
        put_long(unit, address, t32, 4);
        break;
    case LONG_64:
        rec_put(unit->out, headers->long64[t32]);
        put_long(unit, address, t32, 8);
        break;
    }
    remember(unit, address, t32);
}

void rec_etmv4_address(struct rec_etmv4 *unit, uint64_t address, bool t32)
{
    rec_etmv4_flush_atoms(unit);
    put_address(unit, &plain_headers, address, t32);
    unit->stack_active = true;
}

/* ---- context ---- */

static unsigned vmid_size(const struct rec_etmv4 *unit)
{
    return unit->config.idr2 >> 10 & 0x1f;
}

static unsigned context_id_size(const struct rec_etmv4 *unit)
{
    return (unit->config.idr2 >> 5 & 0x1f) == 4 ? 4 : 0;
}

static void put_context_bytes(struct rec_etmv4 *unit, const struct rec_context *context)
{
    bool vmid = context->has_vmid && vmid_size(unit);
    bool context_id = context->has_context_id && context_id_size(unit);
    rec_put(unit->out, (uint8_t)((context->el & 3) | context->nse << 3 | context->sf << 4 |
                                 context->ns << 5 | vmid << 6 | context_id << 7));
    if (vmid)
        rec_put_le(unit->out, context->vmid, vmid_size(unit));
    if (context_id)
        rec_put_le(unit->out, context->context_id, context_id_size(unit));
    unit->context = *context;
    unit->has_context = true;
    unit->sf = context->sf;
}

static bool same_context(const struct rec_context *a, const struct rec_context *b)
{
    return a->el == b->el && a->sf == b->sf && a->ns == b->ns && a->nse == b->nse &&
           a->has_vmid == b->has_vmid && a->has_context_id == b->has_context_id &&
           a->vmid == b->vmid && a->context_id == b->context_id;
}

void rec_etmv4_context(struct rec_etmv4 *unit, const struct rec_context *context)
{
    rec_etmv4_flush_atoms(unit);
    if (unit->has_context && same_context(&unit->context, context)) {
        rec_put(unit->out, 0x80);
        return;
    }
    rec_put(unit->out, 0x81);
    put_context_bytes(unit, context);
}

void rec_etmv4_start(struct rec_etmv4 *unit, uint64_t address, bool t32,
                     const struct rec_context *context)
{
    rec_etmv4_flush_atoms(unit);
    bool wide =
        !keeps_upper_half(unit, address) || (context->sf && rec_random_once_in(&unit->random, 2));
    rec_put(unit->out, (uint8_t)((wide ? 0x85 : 0x82) + t32));
    put_long(unit, address, t32, wide ? 8 : 4);
    put_context_bytes(unit, context);
    remember(unit, address, t32);
    unit->stack_active = true;
}

/* ---- indirect branches and the return stack ---- */

static bool return_stack_enabled(const struct rec_etmv4 *unit)
{
    return rec_etmv4_bit(unit->config.configr, 12);
}

void rec_etmv4_call(struct rec_etmv4 *unit, uint64_t return_address, bool t32)
{
    if (!return_stack_enabled(unit) || !unit->stack_active)
        return;
    if (unit->stack_count == RETURN_STACK) {
        memmove(unit->stack, unit->stack + 1, (RETURN_STACK - 1) * sizeof(unit->stack[0]));
        unit->stack_count--;
    }
    unit->stack[unit->stack_count++] = (struct rec_etmv4_address){return_address, t32};
}

void rec_etmv4_indirect(struct rec_etmv4 *unit, uint64_t target, bool t32)
{
    rec_etmv4_put_atom(unit, true);
    if (unit->stack_count > 0) {
        struct rec_etmv4_address top = unit->stack[unit->stack_count - 1];
        if (top.value == target && top.t32 == t32) {
            unit->stack_count--;
            return;
        }
    }
    rec_etmv4_address(unit, target, t32);
}

/* ---- exceptions ---- */

void rec_etmv4_exception(struct rec_etmv4 *unit, uint32_t number, uint64_t return_address, bool t32,
                         bool follows_branch)
{
    rec_etmv4_flush_atoms(unit);
    unsigned interpretation = follows_branch ? 2 : 1;
    bool third = number > 0x1f || (unit->config.ete && (number & 0x1f) % 0x18 == 0);
    rec_put(unit->out, 0x06);
    rec_put(unit->out, (uint8_t)((interpretation & 1) | (number & 0x1f) << 1 |
                                 (interpretation >> 1) << 6 | third << 7));
    if (third)
        rec_put(unit->out, number >> 5 & 0x1f);
    put_address(unit, &plain_headers, return_address, t32);
    rec_etmv4_deepen(unit);
}

void rec_etmv4_exception_return(struct rec_etmv4 *unit)
{
    rec_etmv4_flush_atoms(unit);
    if (!unit->config.ete)
        rec_put(unit->out, 0x07);
    if (unit->config.m_profile)
        rec_etmv4_deepen(unit);
}

/* ---- ETE's and Q ---- */

void rec_etmv4_source_address(struct rec_etmv4 *unit, uint64_t address, bool t32)
{
    rec_etmv4_flush_atoms(unit);
    put_address(unit, &source_headers, address, t32);
    rec_etmv4_deepen(unit);
}

bool rec_etmv4_q_reaches(const struct rec_etmv4 *unit, uint64_t address)
{
    return keeps_upper_half(unit, address);
}

void rec_etmv4_q(struct rec_etmv4 *unit, uint32_t count, uint64_t address, bool t32)
{
    rec_etmv4_flush_atoms(unit);
    uint64_t changed = unit->history[0].value ^ address;
    if (changed >> (shift_of(t32) + 15) == 0) {
        rec_put(unit->out, t32 ? 0xA6 : 0xA5);
        put_short(unit, address, t32, changed >> (shift_of(t32) + 7) != 0);
    } else {
        rec_put(unit->out, t32 ? 0xAB : 0xAA);
        put_long(unit, address, t32, 4);
    }
    remember(unit, address, t32);
    rec_put_leb(unit->out, count);
    rec_etmv4_deepen(unit);
}

/* ---- everything that is no flow ---- */

void rec_etmv4_timestamp(struct rec_etmv4 *unit, uint64_t value)
{
    rec_etmv4_flush_atoms(unit);
    bool with_cycles = rec_etmv4_bit(unit->config.configr, 4);
    uint64_t changed = unit->timestamp_valid ? unit->timestamp ^ value : UINT64_MAX;
    rec_put(unit->out, with_cycles ? 0x03 : 0x02);
    for (unsigned i = 0; i < 9; i++) {
        bool more = i < 8 && changed >> 7 * (i + 1) != 0;
        rec_put(unit->out,
                (uint8_t)((i == 8 ? value >> 56 : value >> 7 * i & 0x7f) | (more ? 0x80u : 0)));
        if (!more)
            break;
    }
    if (with_cycles)
        rec_put_leb(unit->out, rec_random_below(&unit->random, 4096));
    unit->timestamp = value;
    unit->timestamp_valid = true;
}

/** Commits in the packet's four bits: the count from 1, or from the most that can wait less 15. */
static bool put_middle_cycles(struct rec_etmv4 *unit, uint32_t count, bool commit, uint32_t commits)
{
    uint32_t most = unit->config.idr8, from = most >= 15 ? most - 15 : UINT32_MAX;
    bool low = !commit || (commits >= 1 && commits <= 16);
    bool high = commit && commits > 0 && from <= commits && commits - from <= 15;
    if (count >= 16 || (!low && !high))
        return false;
    high = high && (!low || rec_random_once_in(&unit->random, 2));
    rec_put(unit->out, 0x0C | high);
    rec_put(unit->out, (uint8_t)(count | (commit ? commits - (high ? from : 1) : 0) << 4));
    return true;
}

void rec_etmv4_cycles(struct rec_etmv4 *unit, uint32_t count)
{
    rec_etmv4_flush_atoms(unit);
    bool commit = commit_in_cycles(unit), unknown = count == UINT32_MAX;
    uint32_t commits = commit && unit->depth ? 1 + rec_random_below(&unit->random, unit->depth) : 0;
    count -= unknown ? 0 : unit->config.threshold;
    if (count < 4 && (!commit || (commits >= 1 && commits <= 4))) {
        rec_put(unit->out, (uint8_t)(0x10 | count | (commit ? (commits - 1) << 2 : 0)));
    } else if (!put_middle_cycles(unit, count, commit, commits)) {
        rec_put(unit->out, 0x0E | unknown);
        if (commit)
            rec_put_leb(unit->out, commits);
        if (!unknown)
            rec_put_leb(unit->out, count);
    }
    unit->depth -= commits;
}

void rec_etmv4_event(struct rec_etmv4 *unit, uint8_t events)
{
    rec_etmv4_flush_atoms(unit);
    if (events & 0xf)
        rec_put(unit->out, (uint8_t)(0x70 | (events & 0xf)));
}

void rec_etmv4_timestamp_marker(struct rec_etmv4 *unit)
{
    rec_etmv4_flush_atoms(unit);
    rec_put(unit->out, 0x88);
}

void rec_etmv4_instrumentation(struct rec_etmv4 *unit, uint8_t el, uint64_t value)
{
    rec_etmv4_flush_atoms(unit);
    rec_put(unit->out, 0x09);
    rec_put(unit->out, el);
    rec_put_le(unit->out, value, 8);
}

void rec_etmv4_transaction(struct rec_etmv4 *unit, enum rec_transaction what)
{
    rec_etmv4_flush_atoms(unit);
    switch (what) {
    case REC_TRANS_START:
        rec_put(unit->out, 0x0A);
        if (!rec_etmv4_bit(unit->config.idr0, 30))
            rec_etmv4_deepen(unit);
        break;
    case REC_TRANS_COMMIT: rec_put(unit->out, 0x0B); break;
    case REC_TRANS_FAIL:
        rec_put_n(unit->out, (const uint8_t[]){0x06, 0x30, 0x70}, 3);
        remember(unit, 0, false);
        break;
    }
}

/* ---- losing and finding ---- */

void rec_etmv4_sync(struct rec_etmv4 *unit)
{
    rec_etmv4_flush_atoms(unit);
    for (int i = 0; i < 11; i++)
        rec_put(unit->out, 0);
    rec_put(unit->out, 0x80);
    bool cycles = rec_etmv4_bit(unit->config.configr, 4);
    bool spec = unit->depth > 0;
    rec_put(unit->out, 0x01); /* TRACE_INFO: INFO, and SPEC where something is uncommitted */
    rec_put(unit->out, (uint8_t)(0x01 | (spec ? 0x04 : 0) | (cycles ? 0x08 : 0)));
    rec_put(unit->out, cycles);
    if (spec)
        rec_put_leb(unit->out, unit->depth);
    if (cycles)
        rec_put_leb(unit->out, unit->config.threshold);
    memset(unit->history, 0, sizeof(unit->history));
    unit->timestamp_valid = false;
    unit->stack_count = 0;
    unit->stack_active = false;
    unit->has_context = false;
}

static void lose(struct rec_etmv4 *unit, uint8_t what)
{
    rec_etmv4_finish(unit);
    rec_put(unit->out, 0x00);
    rec_put(unit->out, what);
    unit->stack_count = 0;
}

void rec_etmv4_overflow(struct rec_etmv4 *unit)
{
    lose(unit, 0x05);
}

void rec_etmv4_discard(struct rec_etmv4 *unit)
{
    lose(unit, 0x03);
}

void rec_etmv4_trace_on(struct rec_etmv4 *unit)
{
    rec_etmv4_flush_atoms(unit);
    rec_put(unit->out, 0x04);
    unit->stack_count = 0;
}

void rec_etmv4_finish(struct rec_etmv4 *unit)
{
    rec_etmv4_flush_atoms(unit);
    if (unit->depth == 0)
        return;
    rec_put(unit->out, 0x2D);
    rec_put_leb(unit->out, unit->depth);
    unit->depth = 0;
}
