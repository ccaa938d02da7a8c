// SPDX-License-Identifier: MIT
/**
 * @file Evidence that a program is not the one that ran, from elements alone and, now and then,
 * from the code between them.
 */
#include "diagnose/evidence.h"

#include "base/bisect.h"

#include <assert.h>
#include <string.h>

/* Of the trace all up to here is looked at, … */
#define ALL_UP_TO (UINT64_C(1) << 16)
/* … after it one window in so many. */
#define WINDOW_BITS 12u
#define ONE_IN      128u

/* Branches of a window whose code is read. */
#define READ_MOST 16u
/* Elements to read for a window that is among the first. */
#define READ_MANY 4096u

/* Bytes of code that are looked through in a window, however many ranges a byte of trace gives. */
#define LOOKED_THROUGH 65536u

const char *pug_contradiction_text(enum pug_contradiction kind)
{
    static const char *const texts[PUG_CONTRADICTIONS] = {
        [PUG_CONTRA_UNTAKEN] = "an unconditional branch was not taken",
        [PUG_CONTRA_GAP] = "execution did not go on where the code leads",
        [PUG_CONTRA_TARGET] = "a branch went elsewhere than the code says",
        [PUG_CONTRA_EXCEPTION] = "an exception came where execution had not been",
        [PUG_CONTRA_NOT_EXECUTED] = "an instruction without a condition was not executed",
        [PUG_CONTRA_BOUNDARY] = "execution went on inside of an instruction",
        [PUG_CONTRA_DECODER] = "the decoder could not follow the trace through the code",
        [PUG_CONTRA_UNTOLD] = "an indirect branch has no target in the trace, as if it were none",
        [PUG_CONTRA_CALLER] = "a call returned to before itself",
        [PUG_CONTRA_RETURN] = "a return went to where no call is",
    };
    return kind < PUG_CONTRADICTIONS ? texts[kind] : "";
}

static void contradict(struct pug_evidence *evidence, enum pug_contradiction kind, uint64_t index,
                       uint64_t address)
{
    if (evidence->counts[kind]++ > 0)
        return;
    evidence->first[kind].index = index;
    evidence->first[kind].address = address;
}

/* ---- code ---- */

static bool read_insn(const struct pug_image *image, const struct pug_element *where,
                      uint64_t address, struct pug_insn *insn)
{
    static const struct pug_isa_config config = {.arch = PUG_ARCH_AA64};
    struct pug_reader_space space;
    uint8_t bytes[8], it = 0;
    pug_element_space(where, &space);
    int64_t got = pug_image_read(image, &space, address, bytes, sizeof(bytes));
    return got >= 2 && pug_isa_classify(&config, (enum pug_isa)where->isa, address, bytes,
                                        (unsigned)got, &it, insn) == PUG_OK;
}

static bool is_call(const struct pug_image *image, const struct pug_element *where,
                    uint64_t address, unsigned size)
{
    struct pug_insn insn;
    if (!read_insn(image, where, address, &insn) || insn.size != size)
        return false;
    return insn.link || insn.kind == PUG_RV_CALL || insn.kind == PUG_RV_SWAP ||
           insn.kind == PUG_RV_JUMP_LINK;
}

/** Is there a call before the first instruction of a range? */
static bool follows_call(const struct pug_image *image, const struct pug_element *range)
{
    return is_call(image, range, range->start - 4, 4) ||
           (range->isa != PUG_ISA_A64 && range->isa != PUG_ISA_A32 &&
            is_call(image, range, range->start - 2, 2));
}

static bool is_return(const struct pug_element *range)
{
    return range->last_type == PUG_INSTR_BR_INDIRECT &&
           (range->last_subtype == PUG_SUB_V8_RET ||
            range->last_subtype == PUG_SUB_V7_IMPLIED_RET || range->last_subtype == PUG_SUB_RETURN);
}

static bool is_call_range(const struct pug_element *range)
{
    return range->last_subtype == PUG_SUB_BR_LINK;
}

/** Look at calls, and at returns to them whose target the trace gives. */
static void look_at_calls(struct pug_source_evidence *source, const struct pug_element *range)
{
    const struct pug_element *before = &source->last;
    unsigned *const top = &source->call_top;
    if (!(before->flags & PUG_ELEM_EXECUTED))
        return;
    if (is_call_range(before)) {
        *top = (*top + 1) % PUG_CALLS_KEPT;
        source->calls[*top] = before->end;
        source->callers[*top] = before->start;
        source->call_count += source->call_count < PUG_CALLS_KEPT;
    } else if (source->call_count > 0 && is_return(before) && source->calls[*top] == range->start) {
        *top = (*top + PUG_CALLS_KEPT - 1) % PUG_CALLS_KEPT;
        source->call_count--;
        source->evidence.told_returns++;
    } else if (source->call_count > 0 && is_return(before) &&
               range->start > source->callers[*top] && range->start < source->calls[*top]) {
        contradict(&source->evidence, PUG_CONTRA_CALLER, range->index, range->start);
    }
}

/** One of 64. */
static unsigned place_hash(uint64_t address)
{
    return (unsigned)((address >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/** Look at a branch that was taken, and at the code after it. */
static void look_at_branch(struct pug_source_evidence *source, const struct pug_image *image,
                           const struct pug_element *range)
{
    const struct pug_element *before = &source->last;
    struct pug_evidence *evidence = &source->evidence;
    struct pug_insn insn;
    if (before->last_type == PUG_INSTR_BR) {
        uint64_t at = before->end - before->last_size;
        if (read_insn(image, before, at, &insn) && insn.type == PUG_INSTR_BR &&
            insn.target != range->start)
            contradict(evidence, PUG_CONTRA_TARGET, range->index, at);
    } else if (is_return(before)) {
        evidence->returns++;
        if (!follows_call(image, range)) {
            contradict(evidence, PUG_CONTRA_RETURN, range->index, range->start);
            evidence->return_places |= UINT64_C(1) << place_hash(range->start);
        }
    }
}

/* ---- elements ---- */

/** Does execution continue after a range? */
static bool falls_through(const struct pug_element *range)
{
    bool branch = range->last_type == PUG_INSTR_BR || range->last_type == PUG_INSTR_BR_INDIRECT;
    return !branch || !(range->flags & PUG_ELEM_EXECUTED);
}

/** A branch in an IT block looks unconditional when execution enters in the middle of the block. */
static bool must_be_taken(const struct pug_element *range)
{
    bool branch = range->last_type == PUG_INSTR_BR || range->last_type == PUG_INSTR_BR_INDIRECT;
    return branch && range->isa != PUG_ISA_T32 && range->isa != PUG_ISA_TEE &&
           !(range->flags & (PUG_ELEM_EXECUTED | PUG_ELEM_CONDITIONAL));
}

/** What no condition keeps from being executed. Only ETMv3 reports each instruction. */
static bool must_be_executed(const struct pug_element *range)
{
    return range->last_type == PUG_INSTR_OTHER && range->isa == PUG_ISA_A32 &&
           !(range->flags & (PUG_ELEM_EXECUTED | PUG_ELEM_CONDITIONAL));
}

/** Slots for addresses; which one, of an address's. */
static unsigned slot_of(uint64_t address)
{
    return (unsigned)((address >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PUG_LONG_BITS));
}

/**
 * Instructions of 4 bytes that execution came through are kept, where others have 2: none begins
 * in the middle of them. What lies there may change, so what came last counts.
 */
static void look_at_boundary(struct pug_source_evidence *source, const struct pug_element *range)
{
    const bool mixed =
        range->isa == PUG_ISA_T32 || range->isa == PUG_ISA_RV32 || range->isa == PUG_ISA_RV64;
    const uint64_t last = range->end - range->last_size, middle = range->start - 2;
    if (!mixed) {
        if (range->start & 3)
            contradict(&source->evidence, PUG_CONTRA_BOUNDARY, range->index, range->start);
        return;
    }
    if (source->longs[slot_of(middle)] == middle && middle != 0)
        contradict(&source->evidence, PUG_CONTRA_BOUNDARY, range->index, range->start);
    if (range->last_size == 4)
        source->longs[slot_of(last)] = last;
}

/** What ran has no undefined encodings. Ranges that were looked through lately are not again. */
static void look_through(struct pug_source_evidence *source, const struct pug_image *image,
                         const struct pug_element *range)
{
    const uint64_t mixed =
        (range->start ^ (range->end << 24 | range->end >> 40)) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t *const known = &source->ranges[(mixed >> 32) % PUG_RANGES_KEPT];
    struct pug_insn insn;
    struct pug_reader_space space;
    const uint64_t size = range->end - range->start;
    if (*known == mixed || size > LOOKED_THROUGH - source->looked_through)
        return;
    *known = mixed;
    source->looked_through += (unsigned)size;
    pug_element_space(range, &space);
    for (uint64_t at = range->start; at < range->end; at += insn.size) {
        uint8_t bytes[8] = {0};
        if (pug_image_read(image, &space, at, bytes, sizeof(bytes)) < 2 ||
            !read_insn(image, range, at, &insn) || insn.size == 0)
            return;
        if (!pug_isa_is_undefined((enum pug_isa)range->isa, bytes, insn.size))
            continue;
        if (source->evidence.undefined++ > 0)
            continue;
        source->evidence.first_undefined.index = range->index;
        source->evidence.first_undefined.address = at;
        source->evidence.first_undefined.opcode = pug_bytes_32(bytes);
    }
}

static bool is_looked_at(uint64_t index)
{
    return index < ALL_UP_TO || (index >> WINDOW_BITS) % ONE_IN == 0;
}

/** Packets that began in a window may end in the next one. */
bool pug_diagnosis_looks(uint64_t at, uint64_t *end)
{
    const uint64_t window = at >> WINDOW_BITS, turn = window % ONE_IN;
    const bool looks = at < ALL_UP_TO + (UINT64_C(1) << WINDOW_BITS) || turn < 2;
    *end = (looks ? window + 1 : window - turn + ONE_IN) << WINDOW_BITS;
    return looks;
}

static bool in_sample(struct pug_source_evidence *source, uint64_t index)
{
    uint64_t window = index >> WINDOW_BITS;
    if (window != source->window) {
        source->window = window;
        source->reads = source->looked_through = 0;
        source->follows = false;
        source->call_count = 0;
        if (is_looked_at(index)) { /* parts are cut between windows: nothing may last longer */
            memset(source->longs, 0, sizeof(source->longs));
            memset(source->ranges, 0, sizeof(source->ranges));
        }
    }
    return is_looked_at(index);
}

/** Each of these counts, wherever it is. */
static bool is_notable(const struct pug_element *e)
{
    return e->type == PUG_ELEM_ADDR_NACC || e->type == PUG_ELEM_NO_SYNC ||
           e->type == PUG_ELEM_TRACE_ON;
}

/** The last bytes of an element at once: [0] whose it is, [1] type, reason and what is beside. */
typedef uint64_t ending __attribute__((vector_size(16)));

static inline ending ending_of(const struct pug_element *e)
{
    ending bytes;
    static_assert(sizeof(*e) - offsetof(struct pug_element, source) == sizeof(bytes), "all of it");
    memcpy(&bytes, (const char *)e + offsetof(struct pug_element, source), sizeof(bytes));
    return bytes;
}

/** The elements at a glance. */
struct glance {
    bool notable; /**< one of them is; the others are not looked at then */
    bool several; /**< they are of more than one source … */
    bool apart;   /**< … or not all in one window */
};

/**
 * All elements come by here, so it has to be cheap to see that nearly all are ranges: eight at a
 * time have no reason, and no bit of a notable type but those of a range. (NO_SYNC has a reason.)
 */
static struct glance glance_at(const struct pug_element *elements, size_t count)
{
    enum { TOGETHER = 8 };
    const struct pug_element bits = {.type = UINT8_MAX, .reason = UINT8_MAX, .source = UINT16_MAX};
    const struct pug_element range = {.type = PUG_ELEM_INSTR_RANGE};
    const ending mask = ending_of(&bits), usual = ending_of(&range);
    ending in_all = ending_of(elements), in_any = in_all;
    uint64_t apart = 0; /* bits in which indexes differ from the first one */
    for (size_t i = 0; i < count; i += TOGETHER) {
        const size_t end = i + TOGETHER < count ? i + TOGETHER : count;
        ending any = {0};
#pragma GCC unroll 8
        for (size_t k = i; k < end; k++) {
            any |= ending_of(&elements[k]);
            in_all &= ending_of(&elements[k]);
            apart |= elements[k].index ^ elements->index;
        }
        in_any |= any;
        if ((any[1] & mask[1]) == usual[1])
            continue;
        for (size_t k = i; k < end; k++)
            if (is_notable(&elements[k]))
                return (struct glance){.notable = true};
    }
    return (struct glance){.several = ((in_any[0] ^ in_all[0]) & mask[0]) != 0,
                           .apart = apart >> WINDOW_BITS != 0};
}

/** Does an element tell what was decoded? Losses and the end do not. */
static bool tells(const struct pug_element *e)
{
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_EXCEPTION_RET:
    case PUG_ELEM_ADDR_UNKNOWN:
    case PUG_ELEM_I_RANGE_NOPATH:
    case PUG_ELEM_UNKNOWN:
    case PUG_ELEM_EO_TRACE:
    case PUG_ELEM_MEMTRANS: return false;
    default: return true;
    }
}

/**
 * Elements of a window that is not looked at, with nothing notable among them. Most are ranges.
 * With several sources each has its own order: only the elements in one window are reported as a
 * whole, so that nothing depends on how elements come together.
 */
static bool can_pass_over(const struct pug_element *elements, size_t count, bool *several)
{
    if (is_looked_at(elements[0].index))
        return false;
    const struct glance seen = glance_at(elements, count);
    *several = seen.several;
    return !seen.notable && !seen.apart;
}

/** All that is to be known of them is whose they are. */
static void pass_over(struct pug_diagnosis_part *part, const struct pug_element *elements,
                      size_t count, bool several)
{
    struct pug_source_evidence *source = NULL;
    for (size_t i = 0; i < count && (several || !source || source->evidence.told == 0); i++) {
        if (!source || source->evidence.source != elements[i].source)
            source = pug_evidence_source(&part->sources, elements[i].source);
        if (!source)
            return;
        source->evidence.told += tells(&elements[i]);
    }
}

static void look_at_range(struct pug_diagnosis_part *part, struct pug_source_evidence *source,
                          const struct pug_element *range)
{
    struct pug_evidence *evidence = &source->evidence;
    const struct pug_element *before = &source->last;
    evidence->looked++;
    evidence->branches += range->last_type != PUG_INSTR_OTHER;
    if (must_be_taken(range))
        contradict(evidence, PUG_CONTRA_UNTAKEN, range->index, range->end - range->last_size);
    if (must_be_executed(range))
        contradict(evidence, PUG_CONTRA_NOT_EXECUTED, range->index, range->end - range->last_size);
    look_at_boundary(source, range);
    if (part->image)
        look_through(source, part->image, range);
    if (source->follows)
        look_at_calls(source, range);
    if (source->follows && falls_through(before)) {
        if (range->start != before->end)
            contradict(evidence, PUG_CONTRA_GAP, range->index, range->start);
    } else if (source->follows && part->image &&
               source->reads < (range->index < ALL_UP_TO ? READ_MANY : READ_MOST)) {
        source->reads++;
        look_at_branch(source, part->image, range);
    }
    source->last = *range;
    source->follows = true;
}

/* The return address of an exception may be inside an instruction, which did not complete. */
#define LONGEST_INSTRUCTION 4u

/**
 * The return address of an exception is where execution stands, or an instruction that just ran.
 */
static void look_at_exception(struct pug_source_evidence *source, const struct pug_element *e)
{
    const struct pug_element *before = &source->last;
    if (source->follows && (e->flags & PUG_ELEM_RET_ADDR) &&
        !(e->flags & PUG_ELEM_RET_ADDR_BR_TGT) && falls_through(before) &&
        (e->end < before->start || e->end >= before->end + LONGEST_INSTRUCTION))
        contradict(&source->evidence, PUG_CONTRA_EXCEPTION, e->index, e->end);
    source->follows = false;
}

/** Any order of pages that has nothing to do with where they are and when they were met. */
static uint64_t rank_of(uint64_t page)
{
    page ^= page >> 33;
    page *= UINT64_C(0xff51afd7ed558ccd);
    return page ^ page >> 33;
}

/** Pages are kept in the order of their ranks. */
static uint64_t rank_at(const void *context, uint64_t at)
{
    return rank_of(((const struct pug_missing *)context)[at].address);
}

/**
 * Where there are more pages than room those of lowest rank are kept. So a page that is kept was
 * never let go: its count is whole, whatever the parts are that evidence is added up from.
 */
static void note_missing(struct pug_evidence *evidence, uint64_t address, uint64_t count)
{
    const uint64_t page = address & ~UINT64_C(0xfff), rank = rank_of(page);
    struct pug_missing *const pages = evidence->pages;
    const size_t at = pug_bisect_value(0, evidence->page_count, rank, rank_at, pages);
    evidence->missing += count;
    if (at < evidence->page_count && pages[at].address == page) {
        pages[at].count += count;
        return;
    }
    if (at == PUG_MISSING_PAGES)
        return;
    if (evidence->page_count < PUG_MISSING_PAGES)
        evidence->page_count++;
    memmove(&pages[at + 1], &pages[at], (evidence->page_count - 1 - at) * sizeof(*pages));
    pages[at] = (struct pug_missing){page, count};
}

/** NO_SYNC stands at the beginning, too. */
static bool is_loss(uint8_t reason)
{
    return reason == PUG_UNSYNC_DISCARD || reason == PUG_UNSYNC_BAD_PACKET;
}

static void take_other(struct pug_source_evidence *source, const struct pug_element *e)
{
    struct pug_evidence *evidence = &source->evidence;
    evidence->told += tells(e);
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_EXCEPTION: look_at_exception(source, e); return;
    case PUG_ELEM_ADDR_NACC: note_missing(evidence, e->start, 1); break;
    case PUG_ELEM_NO_SYNC:
        evidence->no_syncs += is_loss(e->reason);
        if (e->reason == PUG_UNSYNC_BAD_IMAGE)
            contradict(evidence, PUG_CONTRA_DECODER, e->index,
                       source->follows ? source->last.end : PUG_ADDRESS_UNKNOWN);
        break;
    case PUG_ELEM_ADDR_UNKNOWN:
        if (source->follows && source->last.last_type == PUG_INSTR_BR_INDIRECT &&
            (source->last.flags & PUG_ELEM_EXECUTED))
            contradict(evidence, PUG_CONTRA_UNTOLD, e->index,
                       source->last.end - source->last.last_size);
        break;
    case PUG_ELEM_TRACE_ON: evidence->overflows += e->reason == PUG_TRACE_ON_OVERFLOW; break;
    default:
        if (tells(e))
            return; /* these come between any two instructions */
    }
    source->follows = false;
    memset(source->callers, UINT8_MAX, sizeof(source->callers)); /* what ran since is not known */
}

static void look_at(struct pug_diagnosis_part *part, const struct pug_element *elements,
                    size_t count)
{
    struct pug_source_evidence *source = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (!source || source->evidence.source != e->source)
            source = pug_evidence_source(&part->sources, e->source);
        if (!source)
            return;
        const bool sampled = in_sample(source, e->index);
        if (e->type != PUG_ELEM_INSTR_RANGE) {
            take_other(source, e);
            continue;
        }
        source->evidence.told++;
        if (sampled)
            look_at_range(part, source, e);
        else
            source->follows = false;
    }
}

#define FEW 32u /* elements that are looked at if one of them has to be */

void pug_diagnosis_elements(struct pug_diagnosis_part *part, const struct pug_element *elements,
                            size_t count)
{
    bool several = false;
    if (count > FEW && can_pass_over(elements, count, &several)) {
        pass_over(part, elements, count, several);
        return;
    }
    for (size_t at = 0; at < count; at += FEW) {
        const size_t few = count - at < FEW ? count - at : FEW;
        if (can_pass_over(elements + at, few, &several))
            pass_over(part, elements + at, few, several);
        else
            look_at(part, elements + at, few);
    }
}

/* ---- sums ---- */

void pug_evidence_add(struct pug_evidence *sum, const struct pug_evidence *more)
{
    sum->looked += more->looked;
    sum->branches += more->branches;
    sum->returns += more->returns;
    sum->told_returns += more->told_returns;
    sum->return_places |= more->return_places;
    for (unsigned kind = 0; kind < PUG_CONTRADICTIONS; kind++) {
        if (sum->counts[kind] == 0)
            sum->first[kind] = more->first[kind];
        sum->counts[kind] += more->counts[kind];
    }
    uint64_t listed = 0;
    for (uint32_t i = 0; i < more->page_count; i++) {
        note_missing(sum, more->pages[i].address, more->pages[i].count);
        listed += more->pages[i].count;
    }
    sum->missing += more->missing - listed;
    if (sum->undefined == 0)
        sum->first_undefined = more->first_undefined;
    sum->undefined += more->undefined;
    sum->no_syncs += more->no_syncs;
    sum->overflows += more->overflows;
    sum->told += more->told;
}

/* Returns must go to so many places before they say anything: some code has a call of its own. */
#define RETURNS_LEAST 8u

static bool returns_count(const struct pug_evidence *evidence)
{
    return (unsigned)__builtin_popcountll(evidence->return_places) >= RETURNS_LEAST &&
           evidence->counts[PUG_CONTRA_RETURN] * 2 > evidence->returns;
}

uint64_t pug_evidence_contradictions(const struct pug_evidence *evidence)
{
    uint64_t sum = returns_count(evidence) ? evidence->counts[PUG_CONTRA_RETURN] : 0;
    for (unsigned kind = 0; kind < PUG_CONTRA_RETURN; kind++)
        sum += evidence->counts[kind];
    return sum;
}

enum pug_contradiction pug_evidence_first(const struct pug_evidence *evidence)
{
    enum pug_contradiction first = PUG_CONTRADICTIONS;
    for (unsigned kind = 0; kind < PUG_CONTRADICTIONS; kind++) {
        if (evidence->counts[kind] == 0 || (kind == PUG_CONTRA_RETURN && !returns_count(evidence)))
            continue;
        if (first == PUG_CONTRADICTIONS ||
            evidence->first[kind].index < evidence->first[first].index)
            first = (enum pug_contradiction)kind;
    }
    return first;
}
