// SPDX-License-Identifier: MIT
/** @file ETMv3: the instructions that were met, linked as execution goes. */
#include "protocol/etmv3/count.h"

#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024u
#define FIRST_ROOM  64u
/* Instructions that have slots side by side. */
#define ROW_BITS 4u
#define ROW_MASK ((1u << ROW_BITS) - 1)
/* number of instructions to keep when one is missing: most of the next ones are needed soon */
#define ROW_MET 8u
/* … and so many where that is known: they came next. */
#define ROW_KNOWN 32u

static_assert(sizeof(struct pug_etmv3_insn) == 64, "an instruction is a cache line");
static_assert(offsetof(struct pug_element, flags) == PUG_ETMV3_TAIL,
              "flags, type and what a range tells of its last instruction end an element");

/* ---- keeping them ---- */

static bool set_slots(struct pug_etmv3_insns *insns, uint32_t count)
{
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return false;
    free(insns->slots);
    insns->slots = slots;
    insns->slot_count = count;
    return true;
}

enum pug_status pug_etmv3_insns_new(struct pug_etmv3_insns *insns)
{
    insns->count = 1;
    insns->room = FIRST_ROOM;
    insns->entries = aligned_alloc(64, insns->room * sizeof(*insns->entries));
    if (insns->entries && set_slots(insns, FIRST_SLOTS))
        return PUG_OK;
    pug_etmv3_insns_free(insns);
    return PUG_ERR_MEM;
}

void pug_etmv3_insns_free(struct pug_etmv3_insns *insns)
{
    free(insns->entries);
    free(insns->slots);
}

/** None is known to hold any more. */
static void leave(struct pug_etmv3_decoder *decoder)
{
    pug_etmv3_spread(decoder);
    decoder->insns.place = (struct pug_etmv3_place){.jumped = true};
}

static void forget(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    leave(decoder);
    const bool few = insns->slot_count > FIRST_SLOTS && insns->count < insns->slot_count / 16;
    insns->count = 1;
    if (!few || !set_slots(insns, FIRST_SLOTS)) /* clearing costs no more than filling did */
        memset(insns->slots, 0, insns->slot_count * sizeof(*insns->slots));
}

void pug_etmv3_refresh(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    const uint64_t stamp = pug_codemap_stamp(decoder->code);
    const bool outdated = pug_codemap_outdated(decoder->code);
    if (insns->stamp == stamp && !outdated)
        return;
    const bool last = insns->period == PUG_ETMV3_PERIODS - 1;
    if (insns->count > 1 && (outdated || last || !pug_codemap_stamps_near(insns->stamp, stamp)))
        forget(decoder);
    else if (insns->count > 1)
        leave(decoder);
    insns->stamp = stamp;
    insns->period = last ? 0 : insns->period + 1;
    insns->epochs[insns->period] = (uint32_t)(stamp >> 16);
}

/** Its slot, or the free one where it would be. What runs together lies together. */
static uint32_t *find_slot(const struct pug_etmv3_insns *insns, uint64_t address, uint8_t isa,
                           uint8_t it)
{
    const uint64_t state = (uint64_t)isa << 40 | (uint64_t)it << 48;
    const unsigned shift = isa == PUG_ISA_T32 ? 1 : 2;
    const uint32_t row = (uint32_t)pug_hash_mix(address >> shift >> ROW_BITS, state) << ROW_BITS;
    for (uint32_t at = row | (address >> shift & ROW_MASK);; at++) {
        uint32_t *slot = &insns->slots[at & (insns->slot_count - 1)];
        const struct pug_etmv3_insn *entry = &insns->entries[*slot];
        if (*slot == 0 || (entry->start == address && pug_etmv3_insn_isa(entry) == isa &&
                           entry->ways[1].it == it))
            return slot;
    }
}

static void grow(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    if (!set_slots(insns, insns->slot_count * 2)) {
        forget(decoder);
        return;
    }
    for (uint32_t i = 1; i < insns->count; i++) {
        const struct pug_etmv3_insn *entry = &insns->entries[i];
        *find_slot(insns, entry->start, pug_etmv3_insn_isa(entry), entry->ways[1].it) = i;
    }
}

/** Returns the new place of an entry of the old table. */
static const struct pug_etmv3_insn *moved(const struct pug_etmv3_insns *insns,
                                          const struct pug_etmv3_insn *entry,
                                          const struct pug_etmv3_insn *entries)
{
    return entry ? &entries[entry - insns->entries] : NULL;
}

/** Room for a row: in a larger table, or where all are forgotten. */
static void make_room(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    const uint32_t room = insns->room * 2;
    if (insns->count + ROW_MET <= insns->room)
        return;
    struct pug_etmv3_insn *entries = NULL;
    if (room <= PUG_ETMV3_INSNS && pug_etmv3_count_room(&decoder->counting, insns->room, room))
        entries = aligned_alloc(64, room * sizeof(*entries));
    if (!entries) {
        forget(decoder);
        return;
    }
    memcpy(entries, insns->entries, insns->count * sizeof(*entries));
    insns->place.insn = moved(insns, insns->place.insn, entries);
    insns->place.from = moved(insns, insns->place.from, entries);
    free(insns->entries);
    insns->entries = entries;
    insns->room = room;
}

/* ---- making them ---- */

static uint32_t link_to(const struct pug_etmv3_insns *insns, const struct pug_etmv3_insn *entry)
{
    return entry ? (uint32_t)((const char *)entry - (const char *)insns->entries) : 0;
}

/** An entry, to make a link in it. */
static struct pug_etmv3_insn *own(const struct pug_etmv3_insns *insns,
                                  const struct pug_etmv3_insn *entry)
{
    return &insns->entries[entry - insns->entries];
}

static void fill(const struct pug_etmv3_decoder *decoder, struct pug_etmv3_insn *entry,
                 uint64_t address, uint8_t it, const struct pug_code_insn *code)
{
    const struct pug_insn *insn = &code->insn;
    const uint8_t isa = decoder->isa;
    uint16_t cycles = decoder->config->cycle_accurate ? PUG_ELEM_HAS_CC : 0;
    const struct pug_element waiting = {.type = PUG_ELEM_CYCLE_COUNT, .flags = cycles, .isa = isa};
    struct pug_element range = {
        .type = PUG_ELEM_INSTR_RANGE,
        .flags = (uint16_t)(cycles | (insn->conditional ? PUG_ELEM_CONDITIONAL : 0)),
        .last_type = insn->type,
        .last_subtype = insn->subtype,
        .last_size = insn->size,
        .isa = isa,
    };
    const uint64_t not_executed = pug_etmv3_tail(&range);
    range.flags |= PUG_ELEM_EXECUTED;
    *entry = (struct pug_etmv3_insn){
        .ways = {{.goes = insn->type == PUG_INSTR_BR ? (uint32_t)insn->target : 0,
                  .tail = not_executed},
                 {.next_isa = insn->next_isa,
                  .it = it,
                  .it_behind = code->it_behind,
                  .period = decoder->insns.period,
                  .tail = pug_etmv3_tail(&range)},
                 {.next = link_to(&decoder->insns, entry), .tail = pug_etmv3_tail(&waiting)}},
        .start = address,
        .end = address + insn->size,
    };
}

static bool always_leaves(const struct pug_etmv3_insn *insn)
{
    const uint8_t type = pug_etmv3_insn_byte(insn, offsetof(struct pug_element, last_type));
    uint16_t flags;
    memcpy(&flags, &insn->ways[0].tail, sizeof(flags));
    return type != PUG_INSTR_OTHER && !(flags & PUG_ELEM_CONDITIONAL);
}

static bool holds(const struct pug_etmv3_insns *insns, const struct pug_etmv3_insn *entry)
{
    return entry->ways[1].period == insns->period;
}

/** Link an instruction to the next one in memory, for all outcomes that lead there. */
static void link_on(const struct pug_etmv3_decoder *decoder, struct pug_etmv3_insn *from,
                    const struct pug_etmv3_insn *to)
{
    const uint8_t isa = pug_etmv3_insn_isa(from);
    if (decoder->quirky && to->ways[1].next_isa != isa)
        return;
    for (unsigned executed = 0; executed < 2; executed++)
        if (!(executed && pug_etmv3_is_indirect(from)) &&
            pug_etmv3_next_address(from, executed) == to->start &&
            pug_etmv3_isa_behind(from, executed) == isa &&
            pug_etmv3_it_behind(from, executed) == to->ways[1].it)
            from->ways[executed].next = link_to(&decoder->insns, to);
}

/** The entry for an instruction; NULL: it has none, or one is there that holds. */
static struct pug_etmv3_insn *place_for(struct pug_etmv3_decoder *decoder, uint64_t address,
                                        uint8_t it)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    if (address > UINT32_MAX)
        return NULL;
    if (insns->count * 2 >= insns->slot_count)
        grow(decoder); /* or all are forgotten, but for what their entries say */
    uint32_t *slot = find_slot(insns, address, decoder->isa, it);
    if (*slot != 0 && holds(insns, &insns->entries[*slot]))
        return NULL;
    if (*slot == 0)
        *slot = insns->count++;
    return &insns->entries[*slot];
}

/**
 * Keep the instruction at the decoder's place and those after it, up to one that is kept already.
 */
static const struct pug_etmv3_insn *keep(struct pug_etmv3_decoder *decoder,
                                         const struct pug_code_insn *row, size_t count)
{
    const struct pug_etmv3_insn *here = NULL;
    struct pug_etmv3_insn *before = NULL;
    uint64_t address = decoder->address;
    uint8_t it = decoder->it;
    make_room(decoder);
    for (size_t i = 0; i < count; i++) {
        struct pug_etmv3_insn *entry = place_for(decoder, address, it);
        if (!entry)
            break;
        fill(decoder, entry, address, it, &row[i]);
        if (before)
            link_on(decoder, before, entry);
        here = i == 0 ? entry : here;
        before = entry;
        if (always_leaves(entry))
            break;
        address = entry->end;
        it = row[i].it_behind;
    }
    return here;
}

/**
 * The instruction at the decoder's place, kept in an earlier period, is valid again. So are those
 * after it, as far as memory has not changed. False: it does not.
 */
static bool hold_again(struct pug_etmv3_decoder *decoder, uint32_t number)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    const uint8_t isa = decoder->isa;
    struct pug_etmv3_insn *before = NULL;
    uint64_t last;
    const uint32_t since = pug_codemap_same_since(decoder->code, decoder->address, &last);
    if (since == UINT32_MAX || pug_etmv3_is_outdated(decoder))
        return false;
    for (unsigned i = 0; i < ROW_KNOWN && number != 0; i++) {
        struct pug_etmv3_insn *entry = &insns->entries[number];
        if (holds(insns, entry) || insns->epochs[entry->ways[1].period] < since ||
            entry->end - 1 > last)
            break;
        entry->ways[1].period = insns->period;
        entry->ways[0].next = entry->ways[1].next = 0;
        if (pug_etmv3_is_indirect(entry))
            entry->ways[0].goes = 0;
        if (before)
            link_on(decoder, before, entry);
        before = entry;
        number =
            always_leaves(entry) ? 0 : *find_slot(insns, entry->end, isa, entry->ways[1].it_behind);
    }
    return before != NULL;
}

enum pug_status pug_etmv3_insn_here(struct pug_etmv3_decoder *decoder,
                                    const struct pug_etmv3_insn **out)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    const uint64_t address = decoder->address;
    const uint8_t isa = decoder->isa, it = decoder->it;
    struct pug_code_insn row[ROW_MET];
    size_t count = ROW_MET;
    bool lasts;
    if (pug_etmv3_is_outdated(decoder))
        pug_etmv3_refresh(decoder);
    uint32_t number = *find_slot(insns, address, isa, it);
    if (number > 0) {
        *out = &insns->entries[number];
        if (holds(insns, *out) || hold_again(decoder, number))
            return PUG_OK;
    }
    enum pug_status status =
        pug_codemap_insns(decoder->code, address, isa, it, row, &count, &lasts);
    pug_etmv3_refresh(decoder);
    if (status != PUG_OK)
        return status;
    *out = lasts && address <= UINT32_MAX ? keep(decoder, row, count) : NULL;
    if (!*out) {
        fill(decoder, &insns->passing, address, it, &row[0]);
        *out = &insns->passing;
    }
    return PUG_OK;
}

const struct pug_etmv3_insn *pug_etmv3_kept_insn(const struct pug_etmv3_decoder *decoder,
                                                 uint64_t address, uint8_t isa, uint8_t it)
{
    const struct pug_etmv3_insns *insns = &decoder->insns;
    const uint32_t number = *find_slot(insns, address, isa, it);
    const struct pug_etmv3_insn *insn = &insns->entries[number];
    if (number == 0 || !holds(insns, insn) || (decoder->quirky && insn->ways[1].next_isa != isa))
        return NULL;
    return insn;
}

/* ---- from one to the next ---- */

const struct pug_etmv3_insn *pug_etmv3_follow(struct pug_etmv3_decoder *decoder,
                                              const struct pug_etmv3_insn *from, bool executed)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    if (executed && pug_etmv3_is_indirect(from))
        return NULL;
    const struct pug_etmv3_insn *next = pug_etmv3_kept_insn(
        decoder, pug_etmv3_next_address(from, executed), pug_etmv3_isa_behind(from, executed),
        pug_etmv3_it_behind(from, executed));
    if (next && pug_etmv3_insn_isa(next) == pug_etmv3_insn_isa(from)) /* else rows end here */
        own(insns, from)->ways[executed].next = link_to(insns, next);
    return next;
}

const struct pug_etmv3_insn *pug_etmv3_jump(struct pug_etmv3_decoder *decoder,
                                            const struct pug_etmv3_insn *from)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    const struct pug_etmv3_insn *next = pug_etmv3_linked(insns->entries, from->ways[0].goes);
    if (from->ways[0].goes != 0 && pug_etmv3_is_here(decoder, next))
        return next;
    next = pug_etmv3_kept_insn(decoder, decoder->address, decoder->isa, decoder->it);
    own(insns, from)->ways[0].goes = link_to(insns, next);
    return next;
}
