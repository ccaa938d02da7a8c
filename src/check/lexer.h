// SPDX-License-Identifier: MIT
/** @file Words of a rule's line. */
#ifndef PUG_CHECK_LEXER_H
#define PUG_CHECK_LEXER_H

#include "check/rules.h"

enum check_token_kind {
    CHECK_END,
    CHECK_WORD,
    CHECK_NUMBER, /**< begins with a digit; the letters after the digits belong to it: "20us" */
    CHECK_STRING, /**< without its quotes */
    CHECK_SIGN,   /**< ":" "," "%" "<" "<=" ">" ">=" "==" "±" */
};

struct check_token {
    uint8_t kind;     /**< enum check_token_kind */
    const char *text; /**< kept with the check */
    uint32_t column, length;
};

/**
 * Cuts a line into tokens, the last one CHECK_END. False: a mistake, which `rule`'s errors have.
 */
bool pug_check_cut(struct check_text *texts, struct pug_list *errors, const struct check_rule *rule,
                   const char *line, struct pug_list *tokens);

#endif
