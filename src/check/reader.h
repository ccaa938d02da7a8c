// SPDX-License-Identifier: MIT
/** @file Reading a rule's line word by word. After the first mistake nothing more is taken. */
#ifndef PUG_CHECK_READER_H
#define PUG_CHECK_READER_H

#include "check/lexer.h"

/** A line while it is read. */
struct reader {
    struct check_text *texts;
    struct pug_list *errors;
    const struct check_token *tokens, *at;
    struct check_rule rule;
    bool failed;
};

/* ---- mistakes ---- */

/** A token is wrong, for this reason. */
void pug_rule_wrong(struct reader *reader, const struct check_token *token, const char *message);
/** What was found here is none of what could be; the nearest of the words is named. */
void pug_rule_expected(struct reader *reader, const char *what, const char *const *words,
                       size_t count);

/* ---- words ---- */

/** Is a token this word or sign? */
bool pug_rule_is(const struct check_token *token, const char *word);
/** Takes the word if it comes next. */
bool pug_rule_take(struct reader *reader, const char *word);
/** Takes `first` and `second`, or neither. */
bool pug_rule_take_two(struct reader *reader, const char *first, const char *second);
/** Takes the word; another one is a mistake. */
void pug_rule_want(struct reader *reader, const char *word);
/** A name, quoted or not; numbers count where a name may begin with one. */
const char *pug_rule_name(struct reader *reader, const char *what);

/* ---- numbers ---- */

/** A whole number without a unit. */
uint64_t pug_rule_count(struct reader *reader);
/** A number with its unit. */
struct check_quantity pug_rule_quantity(struct reader *reader);
/** A share in thousandths of a percent. */
struct check_quantity pug_rule_percent(struct reader *reader);
/** A comparison: enum check_cmp. */
uint8_t pug_rule_cmp(struct reader *reader);
/** A statistic; without one it is each call. */
void pug_rule_stat(struct reader *reader);

/* ---- bodies.c ---- */
/** What the rule says, without its name, its scope and what follows. */
void pug_rule_body(struct reader *reader);

#endif
