// SPDX-License-Identifier: MIT
/** @file The instructions of range elements, with a table of those that were seen last. */
#include "pugmark/walk.h"
#include "image/image.h"
#include "pugmark/advanced/isa.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 4096u /* of the table */

/** An instruction in the table, by its address. */
struct known_step {
    uint32_t era; /* it holds in this era of the walk; 0: free */
    uint8_t it;   /* T32: instructions left in an IT block, before it */
    uint8_t it_after;
    struct pug_step step;
};

struct pug_walk {
    const struct pug_image *image;
    struct pug_isa_config isa;
    struct known_step *known;
    /* The validity of the table: when it changes, so does the era. */
    uint32_t era;
    uint64_t generation;
    struct pug_reader_space space; /* of the range, without what nothing distinguishes */
    /* the range */
    struct pug_element range;
    struct pug_reader_space exact; /* as callbacks see it; once it is entered */
    uint64_t at, end;
    uint32_t left;
    enum pug_isa set;
    uint8_t it;
    bool taken, any_level;
    bool entered; /* `space` is of this range */
    enum pug_status status;
    struct pug_step step;
};

/** A walk may know everything: what a decoder does not mind is still what the instruction is. */
static const struct pug_isa_config everything = {
    .dsb_dmb_waypoints = true, .wfx_waypoints = true, .track_it = true, .zcmp_zcmt = true};

enum pug_status pug_walk_new(const struct pug_walk_config *config, struct pug_walk **walk)
{
    if (!walk)
        return PUG_ERR_INVALID_PARAM_VAL;
    *walk = NULL;
    if (!config || !config->image)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_walk *made = calloc(1, sizeof(*made));
    struct known_step *known = calloc(STEPS, sizeof(*known));
    if (!made || !known) {
        free(made);
        free(known);
        return PUG_ERR_MEM;
    }
    made->image = config->image;
    made->isa = config->isa ? *config->isa : everything;
    made->known = known;
    made->era = 1;
    *walk = made;
    return PUG_OK;
}

void pug_walk_free(struct pug_walk *walk)
{
    if (!walk)
        return;
    free(walk->known);
    free(walk);
}

/* ---- where a range was executed ---- */

static bool is_arm(unsigned isa)
{
    return isa == PUG_ISA_A64 || isa == PUG_ISA_A32 || isa == PUG_ISA_T32 || isa == PUG_ISA_TEE ||
           isa == PUG_ISA_JAZELLE;
}

/** The space of an Arm core whose level the trace does not give. */
static uint8_t space_of_security(unsigned security)
{
    static const uint8_t spaces[4] = {[PUG_SEC_SECURE] = PUG_SPACE_S,
                                      [PUG_SEC_NONSECURE] = PUG_SPACE_N,
                                      [PUG_SEC_ROOT] = PUG_SPACE_ROOT,
                                      [PUG_SEC_REALM] = PUG_SPACE_R};
    return spaces[security & 3];
}

void pug_element_space(const struct pug_element *element, struct pug_reader_space *space)
{
    *space = (struct pug_reader_space){
        .space = PUG_SPACE_ANY,
        .has_context_id = element->context_flags & PUG_CTX_CONTEXT_ID,
        .has_vmid = element->context_flags & PUG_CTX_VMID,
        .context_id = element->context_id,
        .vmid = element->vmid,
        .source = element->source,
    };
    if (is_arm(element->isa))
        space->space = element->context_flags & PUG_CTX_LEVEL
                           ? pug_space_of_level(element->security, (unsigned)element->level)
                           : space_of_security(element->security);
}

static bool same_space(const struct pug_reader_space *a, const struct pug_reader_space *b)
{
    return a->space == b->space && a->source == b->source &&
           a->has_context_id == b->has_context_id && a->has_vmid == b->has_vmid &&
           a->context_id == b->context_id && a->vmid == b->vmid;
}

/** The table belongs to this memory, or is empty. */
static void enter_space(struct pug_walk *walk)
{
    pug_element_space(&walk->range, &walk->exact);
    /* ETMv3 and PTM name the hypervisor's level, and read all non-secure memory there. */
    walk->any_level = walk->set != PUG_ISA_A64 && walk->exact.space == PUG_SPACE_EL2;
    walk->entered = true;
    struct pug_reader_space space = walk->exact;
    pug_image_reduce(walk->image, &space);
    if (walk->generation == pug_image_generation(walk->image) && same_space(&space, &walk->space))
        return;
    walk->generation = pug_image_generation(walk->image);
    walk->space = space;
    if (++walk->era == 0) {
        memset(walk->known, 0, STEPS * sizeof(*walk->known));
        walk->era = 1;
    }
}

enum pug_status pug_walk_begin(struct pug_walk *walk, const struct pug_element *range)
{
    if (!walk || !range)
        return PUG_ERR_INVALID_PARAM_VAL;
    walk->left = 0;
    walk->status = PUG_OK;
    if (range->type != PUG_ELEM_INSTR_RANGE)
        return PUG_ERR_WRONG_KIND;
    walk->range = *range;
    walk->at = range->start;
    walk->end = range->end;
    walk->left = range->count;
    walk->set = (enum pug_isa)range->isa;
    walk->it = 0;
    walk->taken = range->flags & PUG_ELEM_EXECUTED;
    walk->entered = false; /* addresses alone may need no memory */
    return PUG_OK;
}

/* ---- one instruction ---- */

/** Up to PUG_STEP_BYTES bytes at an address. `lasting`: they are the image's own. */
static int64_t read_some(const struct pug_walk *walk, uint64_t address, uint8_t *bytes,
                         bool *lasting)
{
    struct pug_window window;
    int64_t got = pug_image_read(walk->image, &walk->exact, address, bytes, PUG_STEP_BYTES);
    if (got == 0 && walk->any_level) {
        struct pug_reader_space world = walk->exact;
        world.space = PUG_SPACE_N;
        got = pug_image_read(walk->image, &world, address, bytes, PUG_STEP_BYTES);
    }
    *lasting = true;
    for (int64_t at = 0; at < got && *lasting; at += (int64_t)(window.last - window.first) + 1)
        *lasting = pug_image_find(walk->image, &walk->exact, address + (uint64_t)at, &window) &&
                   window.bytes;
    return got;
}

/** Read and classify the instruction at walk->at into `found`. */
static enum pug_status examine(struct pug_walk *walk, struct known_step *found, bool *lasting)
{
    struct pug_step *step = &found->step;
    /* ThumbEE is T32 with a few meanings changed; sizes are the same. */
    const enum pug_isa set = walk->set == PUG_ISA_TEE ? PUG_ISA_T32 : walk->set;
    memset(step, 0, sizeof(*step));
    int64_t got = read_some(walk, walk->at, step->bytes, lasting);
    if (got < 0)
        return (enum pug_status)got;
    found->it = found->it_after = walk->it;
    enum pug_status status = pug_isa_classify(&walk->isa, set, walk->at, step->bytes, (unsigned)got,
                                              &found->it_after, &step->insn);
    if (status != PUG_OK)
        return status;
    if (step->insn.size == 0 || step->insn.size > PUG_STEP_BYTES)
        return PUG_ERR_INVALID_OPCODE;
    memset(step->bytes + step->insn.size, 0, PUG_STEP_BYTES - step->insn.size);
    step->address = walk->at;
    step->isa = (uint8_t)walk->set;
    return PUG_OK;
}

/** The instruction at walk->at, from the table or from memory; NULL: walk->status says why not. */
static const struct known_step *look(struct pug_walk *walk)
{
    if (!walk->entered)
        enter_space(walk);
    struct known_step *slot = &walk->known[(walk->at >> 1 ^ walk->at >> 13) % STEPS];
    if (slot->era == walk->era && slot->step.address == walk->at && slot->step.isa == walk->set &&
        slot->it == walk->it)
        return slot;
    bool lasting;
    slot->era = 0;
    walk->status = examine(walk, slot, &lasting);
    if (walk->status != PUG_OK)
        return NULL;
    if (lasting)
        slot->era = walk->era;
    return slot;
}

/** Continue after instructions. */
static void pass(struct pug_walk *walk, uint32_t count, uint64_t size)
{
    walk->at += size;
    walk->left -= count;
    if (walk->left == 0 && walk->at != walk->end)
        walk->status = PUG_ERR_TRACE_MISMATCH;
}

const struct pug_step *pug_walk_next(struct pug_walk *walk)
{
    if (walk->left == 0)
        return NULL;
    const struct known_step *known = look(walk);
    if (!known) {
        walk->left = 0;
        return NULL;
    }
    walk->step = known->step;
    walk->step.last = walk->left == 1;
    walk->step.executed = !walk->step.last || walk->taken;
    walk->it = known->it_after;
    pass(walk, 1, known->step.insn.size);
    return &walk->step;
}

/** For code in which all instructions have four bytes. */
static size_t count_on(struct pug_walk *walk, uint64_t *addresses, size_t room)
{
    size_t count = walk->left < room ? walk->left : room;
    for (size_t i = 0; i < count; i++)
        addresses[i] = walk->at + 4 * i;
    if (count > 0)
        pass(walk, (uint32_t)count, 4 * count);
    return count;
}

size_t pug_walk_addresses(struct pug_walk *walk, uint64_t *addresses, size_t room)
{
    size_t count = 0;
    if (walk->set == PUG_ISA_A64 || walk->set == PUG_ISA_A32)
        return count_on(walk, addresses, room);
    while (count < room && walk->left > 0) {
        addresses[count++] = walk->at;
        const struct known_step *known = look(walk);
        if (!known) {
            walk->left = 0;
            break;
        }
        walk->it = known->it_after;
        pass(walk, 1, known->step.insn.size);
    }
    return count;
}

enum pug_status pug_walk_status(const struct pug_walk *walk)
{
    if (!walk)
        return PUG_ERR_INVALID_PARAM_VAL;
    return walk->status;
}
