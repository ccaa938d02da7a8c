// SPDX-License-Identifier: MIT
/**
 * @file Rows of branches that were counted in place of trace: gone along the program, they are
 * ranges and branches with counts.
 */
#include "profile/steps.h"

#include "capture/capture.h"
#include "pugmark/advanced/isa.h"

#include <stdlib.h>
#include <string.h>

/* No program goes on for longer without a branch; data that are no program do. */
#define MOST_INSTRUCTIONS 16384u

#define KEPT 4096u

/** From an address on to the next branch. */
struct block {
    uint32_t object;
    uint8_t isa;
    bool known;
    uint64_t first, last; /* addresses of instructions */
    uint32_t instructions;
    struct pug_insn insn; /* the last one; size 0: there is none */
};

struct rows {
    struct profile_objects *objects;
    struct block blocks[KEPT]; /* by hash */
    uint64_t no_memory, contradictions, no_target;
};

/* ---- the program ---- */

/** Does an instruction take a bit of the row? */
static bool has_bit(const struct pug_insn *insn)
{
    return insn->type == PUG_INSTR_BR || insn->type == PUG_INSTR_BR_INDIRECT ||
           insn->type == PUG_INSTR_ISB;
}

static void walk(struct pug_capture *capture, struct block *block)
{
    const struct pug_isa_config config = {.arch = PUG_ARCH_AA64};
    uint64_t at = block->first;
    uint8_t bytes[4], it_count = 0;
    for (; block->instructions < MOST_INSTRUCTIONS; at += block->insn.size) {
        const size_t got =
            capture->ops->read_object(capture, block->object, at, bytes, sizeof(bytes));
        if (got == 0 || pug_isa_classify(&config, block->isa, at, bytes, (unsigned)got, &it_count,
                                         &block->insn) != PUG_OK)
            break;
        block->instructions++;
        block->last = at;
        if (has_bit(&block->insn))
            return;
    }
    block->insn.size = 0;
}

static const struct block *block_at(struct rows *rows, uint32_t object, uint8_t isa,
                                    uint64_t address)
{
    const uint64_t hash = (address ^ (uint64_t)object << 40) * UINT64_C(0x9E3779B97F4A7C15);
    struct block *block = &rows->blocks[hash >> 52];
    if (block->known && block->object == object && block->isa == isa && block->first == address)
        return block;
    *block = (struct block){.object = object, .isa = isa, .known = true, .first = address};
    walk(rows->objects->capture, block);
    return block;
}

/* ---- counts ---- */

static uint8_t end_of(const struct pug_insn *insn, bool taken)
{
    if (insn->type == PUG_INSTR_ISB || insn->subtype == PUG_SUB_V8_ERET)
        return 0;
    unsigned end = PUG_END_BRANCH;
    end |= insn->type == PUG_INSTR_BR_INDIRECT ? PUG_END_INDIRECT : 0u;
    end |= insn->conditional ? PUG_END_CONDITIONAL : 0u;
    end |= insn->subtype == PUG_SUB_BR_LINK ? PUG_END_CALL : 0u;
    end |= insn->subtype == PUG_SUB_V8_RET || insn->subtype == PUG_SUB_V7_IMPLIED_RET
               ? PUG_END_RETURN
               : 0u;
    return (uint8_t)(end | (taken ? PUG_END_TAKEN : 0u));
}

static enum pug_status count_block(struct rows *rows, const struct block *block, bool taken,
                                   uint64_t count)
{
    struct pug_profile *profile = rows->objects->profile;
    struct pug_profile_range range = {.first = block->first,
                                      .last = block->last,
                                      .count = count,
                                      .instructions = block->instructions,
                                      .last_size = block->insn.size,
                                      .isa = block->isa,
                                      .end = end_of(&block->insn, taken)};
    enum pug_status status = pug_profile_object_number(rows->objects, block->object, &range.object);
    if (status == PUG_OK)
        status = pug_profile_range(profile, &range, NULL);
    if (status != PUG_OK || !(range.end & PUG_END_TAKEN))
        return status;
    const bool direct = block->insn.type == PUG_INSTR_BR;
    const struct pug_profile_branch branch = {.from = block->last,
                                              .to = direct ? block->insn.target : 0,
                                              .count = count,
                                              .object = range.object,
                                              .to_object =
                                                  direct ? range.object : PUG_PROFILE_NONE};
    if (!direct)
        rows->no_target = pug_profile_sum(rows->no_target, count);
    return pug_profile_branch(profile, &branch);
}

static enum pug_status take_row(struct rows *rows, const struct pug_capture_row *row)
{
    uint64_t address = row->vaddr;
    uint8_t isa = row->isa;
    enum pug_status status = PUG_OK;
    for (uint32_t n = 0; n < row->branches && status == PUG_OK; n++) {
        const bool taken = row->taken[n / 8] >> n % 8 & 1;
        const struct block *block = block_at(rows, row->object, isa, address);
        if (block->insn.size == 0) {
            rows->no_memory = pug_profile_sum(rows->no_memory, row->count);
            break;
        }
        const bool moves = taken && block->insn.type != PUG_INSTR_ISB;
        if (!taken && !block->insn.conditional) {
            rows->contradictions = pug_profile_sum(rows->contradictions, row->count);
            break;
        }
        status = count_block(rows, block, taken, row->count);
        if (moves && block->insn.type == PUG_INSTR_BR_INDIRECT)
            break;
        address = moves ? block->insn.target : block->last + block->insn.size;
        isa = moves ? block->insn.next_isa : isa;
    }
    return status;
}

enum pug_status pug_profile_rows(struct profile_objects *objects)
{
    struct pug_capture *capture = objects->capture;
    struct pug_capture_row row;
    enum pug_status status = PUG_OK;
    if (!capture->ops->row || !capture->ops->row(capture, 0, &row))
        return PUG_OK;
    struct rows *rows = calloc(1, sizeof(*rows));
    if (!rows)
        return PUG_ERR_MEM;
    rows->objects = objects;
    for (size_t n = 0; status == PUG_OK && capture->ops->row(capture, n, &row); n++)
        status = take_row(rows, &row);
    pug_profile_note(objects->profile, PUG_NOTE_NO_MEMORY, rows->no_memory);
    pug_profile_note(objects->profile, PUG_NOTE_CONTRADICTIONS, rows->contradictions);
    pug_profile_note(objects->profile, PUG_NOTE_NO_TARGET, rows->no_target);
    free(rows);
    return status;
}
