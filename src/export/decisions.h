// SPDX-License-Identifier: MIT
/**
 * @file Decisions in object code, and the evaluations of each that ran: for decision coverage and
 * MC/DC.
 *
 * A decision is the conditional branches of one statement that form a graph with one entry, no
 * cycle and two exits. Each branch is a condition. An evaluation is the way that was taken through
 * it: which conditions were evaluated, how, and by which exit it was left.
 */
#ifndef PUG_EXPORT_DECISIONS_H
#define PUG_EXPORT_DECISIONS_H

#include "pugmark/names.h"

#define DECISION_CONDITIONS  32u
#define DECISION_EVALUATIONS 1024u

/** Why a decision is not measured. */
enum decision_doubt {
    DECISION_MEASURED,
    DECISION_COMPUTED, /**< a condition is computed without a branch: IT block, CSET, CSEL */
    DECISION_SHAPE,    /**< the branches are no graph of a decision */
    DECISION_COLUMNS,  /**< conditions have no line and column of their own */
    DECISION_LINES,    /**< on several lines, or ifs in each other: they look alike */
    DECISION_MANY,     /**< too many conditions or evaluations */
};
/** In words. */
const char *pug_decision_doubt_text(enum decision_doubt doubt);

/** Where an outcome of a condition leads: a condition's number, or one of these. */
#define DECISION_EXIT_0 254u
#define DECISION_EXIT_1 255u

struct decision_condition {
    uint64_t vaddr; /**< of its branch */
    uint32_t line, column;
    uint8_t to[2]; /**< not taken, taken */
};

/** A way through the conditions: a bit for each. */
struct decision_evaluation {
    uint32_t evaluated, taken;
    uint8_t exit;
    uint64_t count;
};

struct decision {
    uint32_t line, column; /**< of the first condition */
    enum decision_doubt doubt;
    uint32_t count; /**< of conditions; the first one is the entry */
    struct decision_condition *conditions;
    struct decision_evaluation *evaluations;
    uint32_t evaluation_count, evaluation_room;
    bool masking; /**< covered as masking MC/DC has it, else by unique cause */
};

/** All decisions of a program. */
struct decisions {
    struct pug_names_file *file;
    struct decision *items; /**< by address of the entry */
    size_t count;
    struct decision_place {
        uint64_t vaddr;
        uint32_t decision;
        uint32_t condition;
    } * places; /**< of all conditions that are measured, by address */
    size_t place_count;
};

/** NULL: no memory. */
struct decisions *pug_decisions_of(struct pug_names_file *file);
void pug_decisions_free(struct decisions *decisions);

/** Have two programs the same instructions at the same addresses, and the same functions? */
bool pug_decisions_same_code(struct pug_names_file *a, struct pug_names_file *b);

/**
 * How many conditions are covered as MC/DC has it: two evaluations differ in the condition and in
 * the result, and in no other condition that both evaluated (unique cause with short circuit), or,
 * with masking, in no other one that was evaluated after it: what was evaluated before is masked,
 * since both came to the condition.
 */
uint32_t pug_decision_covered(const struct decision *decision, uint32_t *covered);
/** The exits that were seen: bits 0 and 1. */
unsigned pug_decision_exits(const struct decision *decision);

/* ---- evaluations, as branches come ---- */

struct pug_mcdc;

/** NULL: no memory. */
struct pug_mcdc *pug_mcdc_new(void);
/** From the next program on: masking MC/DC in place of unique cause. */
void pug_mcdc_mask(struct pug_mcdc *mcdc);
void pug_mcdc_free(struct pug_mcdc *mcdc);

/** A conditional branch of a program ran in a task. False: no memory. */
bool pug_mcdc_take(struct pug_mcdc *mcdc, uint32_t task, struct pug_names_file *file,
                   uint64_t vaddr, bool taken);
/** Something is missing: what a task evaluates is not known any more. */
void pug_mcdc_forget(struct pug_mcdc *mcdc, uint32_t task);

/** The decisions of a program, with what was seen; NULL: no branch of it came, or no memory. */
struct decisions *pug_mcdc_decisions(struct pug_mcdc *mcdc, struct pug_names_file *file);

#endif
