// SPDX-License-Identifier: MIT
/** @file Bodies of rules: subjects, and a function for each kind of rule. */
#include "check/reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- subjects ---- */

static void note_place(struct check_subject *subject, const struct check_token *from,
                       const struct check_token *behind)
{
    const struct check_token *last = behind - 1;
    subject->column = from->column;
    subject->length = behind > from ? last->column + last->length - from->column : from->length;
}

static struct check_subject take_function(struct reader *reader, const char *what)
{
    struct check_subject subject = {.kind = CHECK_FUNCTION};
    const struct check_token *token = reader->at;
    char *end;
    if (!reader->failed && token->kind == CHECK_NUMBER) {
        subject.by_address = true;
        subject.name = token->text;
        subject.number = strtoull(token->text, &end, 0);
        if (*end)
            pug_rule_wrong(
                reader, token,
                "a function is a name or an address, as 0x8000100; names that begin with a "
                "digit stand in quotes");
        reader->at++;
    } else {
        subject.name = pug_rule_name(reader, what);
        subject.glob = token->kind == CHECK_WORD && strpbrk(subject.name, "*?") != NULL;
    }
    note_place(&subject, token, reader->at);
    if (pug_rule_take(reader, "in"))
        subject.file = pug_rule_name(reader, "a source file, as motor.c");
    return subject;
}

static unsigned take_port(struct reader *reader)
{
    const struct check_token *token;
    pug_rule_want(reader, "port");
    token = reader->at;
    const uint64_t port = pug_rule_count(reader);
    if (!reader->failed && port > 255)
        pug_rule_wrong(reader, token, "stimulus ports are 0 to 255");
    return (unsigned)port;
}

static const char *take_string(struct reader *reader)
{
    const struct check_token *token = reader->at;
    if (!reader->failed && token->kind == CHECK_STRING && token->text[0] == '\0')
        pug_rule_wrong(reader, token, "an empty text is in every line");
    return pug_rule_name(reader, "a text, as \"ASSERT\"");
}

static struct check_subject take_event(struct reader *reader)
{
    struct check_subject subject = {0};
    const struct check_token *token = reader->at;
    if (pug_rule_is(token, "exception") && token[1].kind != CHECK_END &&
        !pug_rule_is(token + 1, "for") && !pug_rule_is(token + 1, "unless")) {
        reader->at++;
        subject.kind = CHECK_EXCEPTION_NAMED;
        subject.name = pug_rule_name(reader, "an exception, as SysTick");
    } else if (pug_rule_take_two(reader, "itm", "port")) {
        reader->at--;
        subject.kind = CHECK_PORT_LINE;
        subject.number = take_port(reader);
        subject.name = take_string(reader);
    } else {
        return take_function(reader, "a function, exception NAME, or itm port N \"TEXT\"");
    }
    note_place(&subject, token, reader->at);
    return subject;
}

/* ---- bodies that begin with a word of their own ---- */

static void take_no(struct reader *reader)
{
    static const char *const words[] = {"exception", "loss", "gap"};
    struct check_rule *rule = &reader->rule;
    if (pug_rule_take(reader, "loss")) {
        rule->kind = CHECK_NO_LOSS;
    } else if (pug_rule_take(reader, "gap")) {
        rule->kind = CHECK_NO_GAP;
        pug_rule_want(reader, "longer");
        pug_rule_want(reader, "than");
        rule->limit = pug_rule_quantity(reader);
    } else if (pug_rule_take(reader, "exception")) {
        rule->kind = CHECK_EXCEPTIONS;
        if (pug_rule_take(reader, "but"))
            do {
                const char *name = pug_rule_name(reader, "an exception, as SysTick");
                const char **item = pug_list_add(&rule->list, sizeof(*item));
                if (item)
                    *item = name;
                else
                    reader->texts->failed = true;
            } while (pug_rule_take(reader, ","));
    } else {
        pug_rule_expected(reader, "'exception', 'loss' or 'gap longer than'", words, 3);
    }
}

static void take_exception(struct reader *reader)
{
    const struct check_token *token = reader->at;
    reader->rule.kind = CHECK_EXCEPTION;
    reader->rule.subject.kind = CHECK_EXCEPTION_NAMED;
    reader->rule.subject.name = pug_rule_name(reader, "an exception, as SysTick");
    note_place(&reader->rule.subject, token, reader->at);
    pug_rule_want(reader, "never");
}

static void take_depth(struct reader *reader)
{
    reader->rule.kind = CHECK_DEPTH;
    pug_rule_want(reader, "of");
    reader->rule.subject = take_function(reader, "a function");
    reader->rule.cmp = pug_rule_cmp(reader);
    reader->rule.limit.value = pug_rule_count(reader);
}

static void take_covered(struct reader *reader, enum check_covered covered)
{
    struct check_rule *rule = &reader->rule;
    const struct check_token *token;
    rule->kind = CHECK_COVERED;
    rule->covered = (uint8_t)covered;
    pug_rule_want(reader, "of");
    token = reader->at;
    rule->subject.name = pug_rule_name(reader, "a source file, as driver/*.c");
    note_place(&rule->subject, token, reader->at);
    pug_rule_take(reader, "covered");
    pug_rule_want(reader, ">=");
    rule->cmp = CHECK_AT_LEAST;
    rule->limit = pug_rule_percent(reader);
}

static void take_itm(struct reader *reader)
{
    reader->rule.kind = CHECK_PORT;
    reader->rule.subject.kind = CHECK_PORT_LINE;
    reader->rule.subject.number = take_port(reader);
    reader->rule.never = pug_rule_take(reader, "never");
    pug_rule_want(reader, "matches");
    reader->rule.subject.name = take_string(reader);
}

static void take_watch(struct reader *reader)
{
    static const char *const words[] = {"never", "stays"};
    struct check_rule *rule = &reader->rule;
    const struct check_token *token = reader->at;
    rule->kind = CHECK_WATCH;
    rule->subject.name = pug_rule_name(reader, "a variable or an address");
    rule->subject.by_address = token->kind == CHECK_NUMBER;
    if (rule->subject.by_address) {
        char *end;
        rule->subject.number = strtoull(token->text, &end, 0);
        if (*end)
            pug_rule_wrong(reader, token, "an address is a number, as 0x20000010");
    }
    note_place(&rule->subject, token, reader->at);
    if (pug_rule_take(reader, "never")) {
        rule->never = true;
    } else if (pug_rule_take(reader, "stays")) {
        rule->cmp = pug_rule_cmp(reader);
        rule->limit.value = pug_rule_count(reader);
    } else {
        pug_rule_expected(reader, "'never' or 'stays'", words, 2);
    }
}

static void take_share(struct reader *reader)
{
    reader->rule.kind = CHECK_SHARE;
    reader->rule.thread = pug_rule_name(reader, "a thread's name");
    pug_rule_want(reader, "share");
    reader->rule.cmp = pug_rule_cmp(reader);
    reader->rule.limit = pug_rule_percent(reader);
}

/* ---- bodies that begin with a function ---- */

static void take_every(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    const struct check_token *token = reader->at;
    rule->kind = CHECK_EVERY;
    rule->limit = pug_rule_quantity(reader);
    if (!reader->failed && rule->limit.unit != PUG_CHECK_NANOSECONDS)
        pug_rule_wrong(reader, token, "a period is a time, as 1ms");
    pug_rule_want(reader, "\xc2\xb1");
    token = reader->at;
    if (!reader->failed && token->kind == CHECK_NUMBER && pug_rule_is(token + 1, "%")) {
        const uint64_t thousandths = pug_rule_percent(reader).value;
        if (!reader->failed && (thousandths > 100000 || rule->limit.value > UINT64_MAX / 100000))
            pug_rule_wrong(reader, token, "more than the period itself");
        else
            rule->tolerance.value = rule->limit.value * thousandths / 100000;
        rule->tolerance.unit = rule->limit.unit;
        return;
    }
    rule->tolerance = pug_rule_quantity(reader);
    if (!reader->failed && rule->tolerance.unit != PUG_CHECK_NANOSECONDS)
        pug_rule_wrong(reader, token,
                       "how far a period may be off is a time or a share, as 50us or 5%");
}

static void take_runs(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    if (pug_rule_take(reader, "every")) {
        take_every(reader);
        return;
    }
    rule->kind = CHECK_RUNS;
    if (reader->at->kind != CHECK_SIGN)
        return;
    rule->has_limit = true;
    rule->cmp = pug_rule_cmp(reader);
    rule->limit.value = pug_rule_count(reader);
    pug_rule_want(reader, "times");
}

static void take_takes(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_TAKES;
    rule->cmp = pug_rule_cmp(reader);
    rule->limit = pug_rule_quantity(reader);
    if (pug_rule_take(reader, "own"))
        rule->part = CHECK_PART_OWN;
    else if (pug_rule_take_two(reader, "without", "interrupts"))
        rule->part = CHECK_PART_NO_INTERRUPTS;
    else if (pug_rule_take(reader, "wall"))
        rule->part = CHECK_PART_WALL;
    pug_rule_stat(reader);
}

static void take_counted(struct reader *reader, enum pug_check_unit unit)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_TAKES;
    rule->part = CHECK_PART_NO_INTERRUPTS;
    rule->cmp = pug_rule_cmp(reader);
    rule->limit.value = pug_rule_count(reader);
    rule->limit.unit = (uint8_t)unit;
    pug_rule_stat(reader);
}

static void take_within(struct reader *reader)
{
    static const char *const words[] = {"after", "before"};
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_WITHIN;
    rule->limit = pug_rule_quantity(reader);
    if (pug_rule_take(reader, "before"))
        rule->before = true;
    else if (!pug_rule_take(reader, "after"))
        pug_rule_expected(reader, "'after' or 'before'", words, 2);
    rule->other = take_event(reader);
}

static void take_follows(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_FOLLOWS;
    rule->other = take_function(reader, "a function");
    rule->has_limit = pug_rule_take(reader, "within");
    if (rule->has_limit)
        rule->limit = pug_rule_quantity(reader);
}

static void take_only(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_ONLY_IN;
    pug_rule_want(reader, "in");
    const struct check_token *token = reader->at;
    if (pug_rule_is(token, "thread") && token[1].kind != CHECK_END &&
        !pug_rule_is(token + 1, "for") && !pug_rule_is(token + 1, "unless")) {
        reader->at++;
        rule->other.kind = CHECK_THREAD;
        rule->other.name = pug_rule_name(reader, "a thread's name");
        note_place(&rule->other, token, reader->at);
        return;
    }
    rule->other = take_function(reader, "a function, or thread NAME");
}

static void take_not(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_NOT_IN;
    pug_rule_want(reader, "in");
    if (pug_rule_take(reader, "interrupt") || pug_rule_take(reader, "interrupts"))
        rule->other.kind = CHECK_INTERRUPT;
    else
        rule->other = take_function(reader, "'interrupt', or a function");
}

static const char *const verbs[] = {"runs", "takes", "within",       "follows", "never",
                                    "not",  "only",  "instructions", "cycles"};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static bool is_verb(const struct check_token *token)
{
    for (size_t i = 0; i < VERBS; i++)
        if (pug_rule_is(token, verbs[i]))
            return true;
    return false;
}

static void take_verb(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->subject = take_function(reader, "a rule: a function and what it does, 'no', 'exception', "
                                          "'depth of', 'lines of', 'itm port', 'watch', 'thread'");
    if (pug_rule_take(reader, "runs")) {
        take_runs(reader);
    } else if (pug_rule_take(reader, "takes")) {
        take_takes(reader);
    } else if (pug_rule_take(reader, "within")) {
        take_within(reader);
    } else if (pug_rule_take(reader, "follows")) {
        take_follows(reader);
    } else if (pug_rule_take_two(reader, "never", "runs")) {
        rule->kind = CHECK_NEVER;
    } else if (pug_rule_take(reader, "never")) {
        pug_rule_want(reader, "runs");
    } else if (pug_rule_take(reader, "not")) {
        take_not(reader);
    } else if (pug_rule_take(reader, "only")) {
        take_only(reader);
    } else if (pug_rule_take(reader, "instructions")) {
        take_counted(reader, PUG_CHECK_INSTRUCTIONS);
    } else if (pug_rule_take(reader, "cycles")) {
        take_counted(reader, PUG_CHECK_CYCLES);
    } else {
        pug_rule_expected(
            reader,
            "what the function does: 'runs', 'never runs', 'takes', 'within', 'follows', "
            "'not in', 'only in', 'instructions' or 'cycles'",
            verbs, VERBS);
    }
}

/* ---- a body ---- */

void pug_rule_body(struct reader *reader)
{
    if (reader->at->kind != CHECK_WORD || is_verb(reader->at + 1)) {
        if (pug_rule_is(reader->at, "exception") && pug_rule_is(reader->at + 1, "never") &&
            !pug_rule_is(reader->at + 2,
                         "runs")) { /* "exception never never" is not worth a rule */
            reader->at++;
            take_exception(reader);
            return;
        }
        take_verb(reader);
    } else if (pug_rule_take(reader, "no")) {
        take_no(reader);
    } else if (pug_rule_take(reader, "exception")) {
        take_exception(reader);
    } else if (pug_rule_take(reader, "depth")) {
        take_depth(reader);
    } else if (pug_rule_take(reader, "lines")) {
        take_covered(reader, CHECK_LINES);
    } else if (pug_rule_take(reader, "functions")) {
        take_covered(reader, CHECK_FUNCTIONS);
    } else if (pug_rule_take(reader, "branch")) {
        pug_rule_want(reader, "outcomes");
        take_covered(reader, CHECK_OUTCOMES);
    } else if (pug_rule_take(reader, "mcdc")) {
        take_covered(reader, CHECK_MCDC);
    } else if (pug_rule_take(reader, "itm")) {
        take_itm(reader);
    } else if (pug_rule_take(reader, "watch")) {
        take_watch(reader);
    } else if (pug_rule_take(reader, "program")) {
        reader->rule.kind = CHECK_PROGRAM;
        pug_rule_want(reader, "matches");
    } else if (pug_rule_take(reader, "thread")) {
        take_share(reader);
    } else {
        take_verb(reader);
    }
}
