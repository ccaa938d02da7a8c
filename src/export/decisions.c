// SPDX-License-Identifier: MIT
/** @file Decisions, found in the object code and the line table. */
#include "export/decisions.h"

#include "base/bisect.h"
#include "names/names.h"
#include "pugmark/advanced/isa.h"

#include <stdlib.h>
#include <string.h>

#define WALK_MOST 4096u /* instructions between two conditions */

const char *pug_decision_doubt_text(enum decision_doubt doubt)
{
    switch (doubt) {
    case DECISION_MEASURED: return "";
    case DECISION_COMPUTED:
        return "a condition is computed without a branch (IT block, CSET, CSEL, predicated)";
    case DECISION_SHAPE: return "its branches are not those of one decision";
    case DECISION_COLUMNS: return "its conditions have no line and column of their own";
    case DECISION_LINES:
        return "it is on several lines, or these are ifs in each other, which look alike";
    case DECISION_MANY: return "it has too many conditions or evaluations";
    }
    return "";
}

/** An instruction of the function at hand. */
struct step {
    uint64_t vaddr, target;
    uint32_t row; /* of the line table */
    bool conditional, jumps, ends, computes;
};

struct finding {
    struct decisions *decisions;
    struct names_statements rows;
    struct step *steps;
    size_t count, room, decision_room;
    bool failed;
};

/* ---- instructions ---- */

static uint32_t word_of(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/** Does an instruction that is no branch depend on a condition? */
static bool computes(uint8_t isa, const uint8_t *bytes, unsigned size, bool in_it)
{
    if (isa == PUG_ISA_A64)
        return (word_of(bytes) & 0x1fe00000) == 0x1a800000 ||
               (word_of(bytes) & 0x1fe00000) == 0x1a400000;
    if (isa == PUG_ISA_A32)
        return word_of(bytes) >> 28 < 0xe;
    return isa == PUG_ISA_T32 && size > 0 && in_it;
}

static uint32_t row_at(const struct finding *finding, uint64_t vaddr)
{
    const size_t low =
        pug_bisect_to(finding->rows.items, finding->rows.count, sizeof(*finding->rows.items),
                      offsetof(struct names_statement, at), vaddr);
    return low > 0 && !finding->rows.items[low - 1].ends ? (uint32_t)low - 1 : UINT32_MAX;
}

static bool add_step(struct finding *finding, const struct step *step)
{
    if (finding->count == finding->room) {
        const size_t room = finding->room ? finding->room * 2 : 256;
        void *grown = realloc(finding->steps, room * sizeof(*finding->steps));
        if (!grown)
            return !(finding->failed = true);
        finding->steps = grown;
        finding->room = room;
    }
    finding->steps[finding->count++] = *step;
    return true;
}

/** The instructions of [start, end) in a stretch of code. */
static void read_steps(struct finding *finding, const struct pug_names_code *code, uint64_t start,
                       uint64_t end)
{
    static const struct pug_isa_config config = {.zcmp_zcmt = true, .track_it = true};
    uint8_t it_count = 0;
    finding->count = 0;
    for (uint64_t at = start; at < end && !finding->failed;) {
        const uint8_t *bytes = code->bytes + (at - code->start);
        const uint64_t left = code->end - at;
        struct pug_insn insn;
        const bool in_it = it_count > 0;
        if (left < 2 ||
            pug_isa_classify(&config, (enum pug_isa)code->isa, at, bytes,
                             left < 8 ? (unsigned)left : 8, &it_count, &insn) != PUG_OK ||
            insn.size == 0 || insn.size > left)
            return;
        const bool branch = insn.type == PUG_INSTR_BR,
                   indirect = insn.type == PUG_INSTR_BR_INDIRECT;
        (void)add_step(finding,
                       &(struct step){.vaddr = at,
                                      .target = insn.target,
                                      .row = row_at(finding, at),
                                      .conditional = branch && insn.conditional && !insn.link,
                                      .jumps = branch && !insn.conditional && !insn.link,
                                      .ends = indirect && !insn.link,
                                      .computes = !branch && !indirect &&
                                                  computes(code->isa, bytes, insn.size, in_it)});
        at += insn.size;
    }
}

static size_t step_at(const struct finding *finding, uint64_t vaddr)
{
    const size_t low = pug_bisect_to(finding->steps, finding->count, sizeof(*finding->steps),
                                     offsetof(struct step, vaddr), vaddr);
    return low > 0 && finding->steps[low - 1].vaddr == vaddr ? low - 1 : SIZE_MAX;
}

static bool begins(const struct finding *finding, size_t n)
{
    const struct step *step = &finding->steps[n];
    return step->row != UINT32_MAX && finding->rows.items[step->row].begins &&
           finding->rows.items[step->row].at == step->vaddr;
}

/* ---- graphs ---- */

/** A statement: its instructions are from first to last. */
struct statement {
    size_t first, last;
    size_t conditions[DECISION_CONDITIONS];
    uint32_t count;
    uint64_t exits[2];
    uint32_t exit_count;
    bool many, odd, computed;
};

/** Behind plain jumps: what is done at an exit. */
static uint64_t behind_jumps(const struct finding *finding, size_t n)
{
    for (unsigned i = 0; i < 16 && n < finding->count && finding->steps[n].jumps; i++) {
        const size_t to = step_at(finding, finding->steps[n].target);
        if (to == SIZE_MAX)
            return finding->steps[n].target;
        n = to;
    }
    return n < finding->count ? finding->steps[n].vaddr : UINT64_MAX;
}

/**
 * The condition that control comes to from an instruction; UINT32_MAX: to none of the statement.
 */
static uint32_t next_condition(const struct finding *finding, const struct statement *statement,
                               size_t n)
{
    for (unsigned i = 0; i < WALK_MOST && n < finding->count; i++) {
        const struct step *step = &finding->steps[n];
        if (n < statement->first || n > statement->last ||
            (begins(finding, n) && n != statement->first))
            return UINT32_MAX;
        for (uint32_t c = 0; c < statement->count; c++)
            if (statement->conditions[c] == n)
                return c;
        if (step->ends || step->conditional)
            return UINT32_MAX;
        n = step->jumps ? step_at(finding, step->target) : n + 1;
        if (n == SIZE_MAX || n == statement->first)
            return UINT32_MAX;
    }
    return UINT32_MAX;
}

static uint8_t exit_of(struct statement *statement, uint64_t place)
{
    for (uint32_t i = 0; i < statement->exit_count; i++)
        if (statement->exits[i] == place)
            return (uint8_t)(DECISION_EXIT_0 + i);
    if (statement->exit_count == 2) {
        statement->odd = true;
        return DECISION_EXIT_0;
    }
    statement->exits[statement->exit_count] = place;
    return (uint8_t)(DECISION_EXIT_0 + statement->exit_count++);
}

/** The target of an outcome. */
static uint8_t leads_to(const struct finding *finding, struct statement *statement, size_t n)
{
    if (n == SIZE_MAX || n >= finding->count) {
        statement->odd = true;
        return DECISION_EXIT_0;
    }
    const uint32_t condition = next_condition(finding, statement, n);
    return condition != UINT32_MAX ? (uint8_t)condition
                                   : exit_of(statement, behind_jumps(finding, n));
}

/** One entry, which is the first; conditions lead to later ones alone; both ways matter. */
static bool is_decision(const struct decision *decision, const struct statement *statement)
{
    bool reached[DECISION_CONDITIONS] = {true};
    for (uint32_t i = 0; i < decision->count; i++) {
        const uint8_t *to = decision->conditions[i].to;
        if (to[0] == to[1])
            return false;
        for (unsigned way = 0; way < 2; way++) {
            if (to[way] < DECISION_EXIT_0 && to[way] <= i)
                return false;
            if (to[way] < DECISION_EXIT_0)
                reached[to[way]] = true;
        }
    }
    for (uint32_t i = 0; i < decision->count; i++)
        if (!reached[i])
            return false;
    return statement->exit_count == 2 && !statement->odd;
}

static enum decision_doubt doubt_of(const struct decision *decision,
                                    const struct statement *statement)
{
    if (statement->many)
        return DECISION_MANY;
    if (statement->computed)
        return DECISION_COMPUTED;
    if (!is_decision(decision, statement))
        return DECISION_SHAPE;
    for (uint32_t i = 0; i < decision->count && decision->count > 1; i++) {
        const struct decision_condition *a = &decision->conditions[i];
        for (uint32_t n = 0; n < i; n++)
            if (a->column == 0 || (a->line == decision->conditions[n].line &&
                                   a->column == decision->conditions[n].column))
                return DECISION_COLUMNS;
    }
    return DECISION_MEASURED;
}

static struct decision *add_decision(struct finding *finding)
{
    struct decisions *all = finding->decisions;
    if (all->count == finding->decision_room) {
        const size_t room = finding->decision_room ? finding->decision_room * 2 : 64;
        void *grown = realloc(all->items, room * sizeof(*all->items));
        if (!grown)
            return NULL;
        all->items = grown;
        finding->decision_room = room;
    }
    return &all->items[all->count++];
}

/** The branches of a statement are a decision, or not. */
static void take_statement(struct finding *finding, struct statement *statement)
{
    struct decision_condition *conditions = calloc(statement->count, sizeof(*conditions));
    struct decision *decision = conditions ? add_decision(finding) : NULL;
    if (!decision) {
        free(conditions);
        finding->failed = true;
        return;
    }
    *decision = (struct decision){.count = statement->count, .conditions = conditions};
    for (uint32_t i = 0; i < statement->count; i++) {
        const size_t n = statement->conditions[i];
        const struct step *step = &finding->steps[n];
        const struct names_statement *row =
            step->row != UINT32_MAX ? &finding->rows.items[step->row] : NULL;
        conditions[i] = (struct decision_condition){
            .vaddr = step->vaddr,
            .line = row ? row->line : 0,
            .column = row ? row->column : 0,
            .to = {leads_to(finding, statement, n + 1),
                   leads_to(finding, statement, step_at(finding, step->target))}};
    }
    decision->line = conditions[0].line;
    decision->column = conditions[0].column;
    decision->doubt = doubt_of(decision, statement);
}

/** Both exits of a decision, as addresses. */
static uint64_t exit_place(const struct finding *finding, const struct decision *decision,
                           unsigned exit)
{
    for (uint32_t i = 0; i < decision->count; i++)
        for (unsigned way = 0; way < 2; way++) {
            const size_t n = step_at(finding, decision->conditions[i].vaddr);
            if (decision->conditions[i].to[way] != DECISION_EXIT_0 + exit || n == SIZE_MAX)
                continue;
            const size_t to = way == 0 ? n + 1 : step_at(finding, finding->steps[n].target);
            return to == SIZE_MAX ? finding->steps[n].target : behind_jumps(finding, to);
        }
    return UINT64_MAX;
}

/** Does a place lead straight to the entry of a decision? */
static bool leads_into(const struct finding *finding, uint64_t place, const struct decision *to)
{
    size_t n = step_at(finding, place);
    for (unsigned i = 0; i < WALK_MOST && n < finding->count; i++) {
        const struct step *step = &finding->steps[n];
        if (step->vaddr == to->conditions[0].vaddr)
            return true;
        if (step->conditional || step->ends || (i > 0 && begins(finding, n)))
            return false;
        n = step->jumps ? step_at(finding, step->target) : n + 1;
    }
    return false;
}

/** One exit leads to the next decision at once, and the other is an exit of that, too. */
static void doubt_lines(struct finding *finding, size_t first)
{
    struct decision *all = finding->decisions->items;
    for (size_t i = first; i + 1 < finding->decisions->count; i++) {
        struct decision *a = &all[i], *b = &all[i + 1];
        if (a->doubt == DECISION_SHAPE || b->doubt == DECISION_SHAPE)
            continue;
        for (unsigned exit = 0; exit < 2; exit++) {
            const uint64_t other = exit_place(finding, a, !exit);
            if (leads_into(finding, exit_place(finding, a, exit), b) && other != UINT64_MAX &&
                (other == exit_place(finding, b, 0) || other == exit_place(finding, b, 1)))
                a->doubt = b->doubt = DECISION_LINES;
        }
    }
}

static void take_function(struct finding *finding)
{
    const size_t before = finding->decisions->count;
    struct statement statement = {.first = 0};
    for (size_t n = 0; n < finding->count && !finding->failed; n++) {
        const struct step *step = &finding->steps[n];
        const bool last = n + 1 == finding->count || begins(finding, n + 1);
        if (step->conditional && statement.count == DECISION_CONDITIONS)
            statement.many = true;
        else if (step->conditional)
            statement.conditions[statement.count++] = n;
        statement.computed |= step->computes;
        if (!last)
            continue;
        statement.last = n;
        if (statement.count > 0)
            take_statement(finding, &statement);
        statement = (struct statement){.first = n + 1};
    }
    if (!finding->failed)
        doubt_lines(finding, before);
}

static int by_address(const void *left, const void *right)
{
    const struct decision_place *a = left, *b = right;
    return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static bool list_places(struct decisions *decisions)
{
    size_t count = 0;
    for (size_t i = 0; i < decisions->count; i++)
        count += decisions->items[i].count;
    decisions->places = calloc(count + 1, sizeof(*decisions->places));
    if (!decisions->places)
        return false;
    for (size_t i = 0; i < decisions->count; i++)
        for (uint32_t c = 0;
             decisions->items[i].doubt == DECISION_MEASURED && c < decisions->items[i].count; c++)
            decisions->places[decisions->place_count++] =
                (struct decision_place){.vaddr = decisions->items[i].conditions[c].vaddr,
                                        .decision = (uint32_t)i,
                                        .condition = c};
    if (decisions->place_count > 0)
        qsort(decisions->places, decisions->place_count, sizeof(*decisions->places), by_address);
    return true;
}

/** Functions in a stretch of code, both by address. */
static void take_code(struct finding *finding, const struct pug_names_code *code)
{
    struct pug_names_function function;
    for (size_t n = 0;
         pug_names_function_at(finding->decisions->file, n, &function) && !finding->failed; n++) {
        uint64_t end = function.start + function.size;
        if (function.start < code->start || function.start >= code->end)
            continue;
        end = end > code->end ? code->end : end;
        read_steps(finding, code, function.start, end);
        take_function(finding);
    }
}

static bool same_functions(struct pug_names_file *a, struct pug_names_file *b)
{
    struct pug_names_function one, other;
    for (size_t n = 0; pug_names_function_at(a, n, &one); n++)
        if (!pug_names_function_at(b, n, &other) || one.start != other.start ||
            one.size != other.size || strcmp(one.name, other.name) != 0)
            return false;
    return true;
}

bool pug_decisions_same_code(struct pug_names_file *a, struct pug_names_file *b)
{
    struct pug_names_code one, other;
    if (!a || !b)
        return false;
    if (a == b)
        return true;
    for (size_t n = 0;; n++) {
        const bool more = pug_names_code_at(a, n, &one);
        if (more != pug_names_code_at(b, n, &other))
            return false;
        if (!more)
            return n > 0 && same_functions(a, b);
        if (one.start != other.start || one.end != other.end || one.isa != other.isa ||
            memcmp(one.bytes, other.bytes, (size_t)(one.end - one.start)) != 0)
            return false;
    }
}

struct decisions *pug_decisions_of(struct pug_names_file *file)
{
    struct finding finding = {.decisions = calloc(1, sizeof(*finding.decisions))};
    struct pug_names_code code;
    if (!finding.decisions)
        return NULL;
    finding.decisions->file = file;
    finding.failed = !pug_names_statements_of(file, &finding.rows);
    for (size_t n = 0; !finding.failed && pug_names_code_at(file, n, &code); n++)
        if (!code.plt)
            take_code(&finding, &code);
    finding.failed = finding.failed || !list_places(finding.decisions);
    free(finding.steps);
    free(finding.rows.items);
    if (!finding.failed)
        return finding.decisions;
    pug_decisions_free(finding.decisions);
    return NULL;
}

void pug_decisions_free(struct decisions *decisions)
{
    if (!decisions)
        return;
    for (size_t i = 0; i < decisions->count; i++) {
        free(decisions->items[i].conditions);
        free(decisions->items[i].evaluations);
    }
    free(decisions->items);
    free(decisions->places);
    free(decisions);
}
