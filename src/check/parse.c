// SPDX-License-Identifier: MIT
/**
 * @file Rules from their text. The grammar is in docs/book/answers/check.md. A line's first mistake
 * is reported, with what was expected there; the next line is read all the same.
 */
#include "check/lexer.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct check_text *texts;
    struct pug_list *errors;
    const struct check_token *tokens, *at;
    struct check_rule rule;
    bool failed;
};

/* ---- mistakes ---- */

static void wrong_at(struct reader *reader, const struct check_token *token, const char *message)
{
    if (reader->failed)
        return;
    reader->failed = true;
    pug_check_wrong(reader->texts, reader->errors, &reader->rule, token->column,
                    token->length ? token->length : 1, message);
}

/** What was found here is none of what could be; the nearest of the words is named. */
static void expected(struct reader *reader, const char *what, const char *const *words,
                     size_t count)
{
    const struct check_token *token = reader->at;
    const char *found = token->kind == CHECK_END
                            ? "the rule ends here"
                            : pug_check_keep_format(reader->texts, "'%s' is not", token->text);
    const char *near =
        token->kind == CHECK_WORD ? pug_check_nearest(token->text, words, count) : NULL;
    const char *message =
        token->kind == CHECK_END
            ? pug_check_keep_format(reader->texts, "%s; expected was %s", found, what)
            : pug_check_keep_format(reader->texts, "%s what was expected here: %s%s%s%s", found,
                                    what, near ? "; did you mean '" : "", near ? near : "",
                                    near ? "'?" : "");
    wrong_at(reader, token, message);
}

/* ---- tokens ---- */

static bool is(const struct check_token *token, const char *word)
{
    return (token->kind == CHECK_WORD || token->kind == CHECK_SIGN) &&
           strcmp(token->text, word) == 0;
}

static bool take(struct reader *reader, const char *word)
{
    if (reader->failed || !is(reader->at, word))
        return false;
    reader->at++;
    return true;
}

/** Takes `first` and `second`, or neither. */
static bool take_two(struct reader *reader, const char *first, const char *second)
{
    if (reader->failed || !is(reader->at, first) || !is(reader->at + 1, second))
        return false;
    reader->at += 2;
    return true;
}

static void want(struct reader *reader, const char *word)
{
    if (!reader->failed && !take(reader, word))
        expected(reader, pug_check_keep_format(reader->texts, "'%s'", word), &word, 1);
}

/** A name, quoted or not; numbers count where a name may begin with one. */
static const char *take_name(struct reader *reader, const char *what)
{
    const struct check_token *token = reader->at;
    if (reader->failed)
        return "";
    if (token->kind != CHECK_WORD && token->kind != CHECK_STRING && token->kind != CHECK_NUMBER) {
        expected(reader, what, NULL, 0);
        return "";
    }
    reader->at++;
    return token->text;
}

/* ---- numbers ---- */

/** Digits with up to nine of a fraction: the number times 10^9. False: too large, or no number. */
static bool read_fixed(const char *text, uint64_t *value, const char **end)
{
    uint64_t whole = 0, part = 0, unit = 1000000000u;
    const char *at = text;
    if (at[0] == '0' && (at[1] | 0x20) == 'x') {
        char *stop;
        whole = strtoull(at, &stop, 16);
        *end = stop;
        *value = whole * 1000000000u;
        return stop > at + 2 && whole <= UINT64_MAX / 1000000000u;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        if (whole > UINT64_MAX / 1000000000u / 10)
            return false;
        whole = whole * 10 + (uint64_t)(*at - '0');
    }
    if (*at == '.' && at[1] >= '0' && at[1] <= '9')
        for (at++; *at >= '0' && *at <= '9'; at++) {
            unit /= 10;
            if (unit == 0 && *at != '0')
                return false;
            part += unit * (uint64_t)(*at - '0');
        }
    *end = at;
    if (whole > (UINT64_MAX - part) / 1000000000u)
        return false;
    *value = whole * 1000000000u + part;
    return at > text;
}

/** A number, and the word after its digits, or the next token; "" where none is wanted. */
static uint64_t take_fixed(struct reader *reader, const char *what, const char **suffix)
{
    const struct check_token *token = reader->at;
    uint64_t value = 0;
    const char *end = "";
    *suffix = "";
    if (reader->failed)
        return 0;
    if (token->kind != CHECK_NUMBER) {
        expected(reader, what, NULL, 0);
        return 0;
    }
    if (!read_fixed(token->text, &value, &end)) {
        wrong_at(reader, token, "this number is too large or too exact");
        return 0;
    }
    reader->at++;
    *suffix = end;
    return value;
}

/** A whole number without a unit. */
static uint64_t take_count(struct reader *reader)
{
    const struct check_token *token = reader->at;
    const char *suffix;
    const uint64_t value = take_fixed(reader, "a whole number", &suffix);
    if (!reader->failed && (*suffix || value % 1000000000u != 0))
        wrong_at(reader, token, "a whole number without a unit was expected here");
    return value / 1000000000u;
}

static const struct unit {
    const char *name;
    uint8_t unit;
    uint32_t scale; /* nanoseconds of one */
} units[] = {
    {"ns", PUG_CHECK_NANOSECONDS, 1},
    {"us", PUG_CHECK_NANOSECONDS, 1000},
    {"\xc2\xb5s", PUG_CHECK_NANOSECONDS, 1000}, /* micro sign */
    {"\xce\xbcs", PUG_CHECK_NANOSECONDS, 1000}, /* Greek mu */
    {"ms", PUG_CHECK_NANOSECONDS, 1000000},
    {"s", PUG_CHECK_NANOSECONDS, 1000000000},
    {"cycles", PUG_CHECK_CYCLES, 1},
    {"cycle", PUG_CHECK_CYCLES, 1},
    {"instructions", PUG_CHECK_INSTRUCTIONS, 1},
    {"instruction", PUG_CHECK_INSTRUCTIONS, 1},
    {"ticks", PUG_CHECK_TICKS, 1},
    {"tick", PUG_CHECK_TICKS, 1},
};

#define UNITS "ns, us, ms, s, cycles, instructions or ticks"

static const struct unit *find_unit(const char *name)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

static struct check_quantity take_quantity(struct reader *reader)
{
    static const char *const words[] = {"ns", "us", "ms", "s", "cycles", "instructions", "ticks"};
    const struct check_token *token = reader->at;
    const char *suffix;
    const uint64_t fixed = take_fixed(reader, "a quantity, as 20us or 300 cycles", &suffix);
    struct check_quantity quantity = {0};
    if (reader->failed)
        return quantity;
    const struct unit *unit = find_unit(*suffix ? suffix : reader->at->text);
    if (!unit && *suffix) {
        const char *near = pug_check_nearest(suffix, words, 7);
        wrong_at(reader, token,
                 pug_check_keep_format(reader->texts, "'%s' is no unit; units are " UNITS "%s%s%s",
                                       suffix, near ? "; did you mean '" : "", near ? near : "",
                                       near ? "'?" : ""));
        return quantity;
    }
    if (!unit) {
        expected(reader, "a unit: " UNITS, words, 7);
        return quantity;
    }
    if (!*suffix)
        reader->at++;
    const uint64_t divisor = 1000000000u / unit->scale;
    if (fixed % divisor != 0) {
        wrong_at(reader, token,
                 unit->unit == PUG_CHECK_NANOSECONDS ? "times are compared in whole nanoseconds"
                                                     : "these are counted in whole numbers");
        return quantity;
    }
    quantity.value = fixed / divisor;
    quantity.unit = unit->unit;
    return quantity;
}

/** A share in thousandths of a percent. */
static struct check_quantity take_percent(struct reader *reader)
{
    const struct check_token *token = reader->at;
    const char *suffix;
    const uint64_t fixed = take_fixed(reader, "a share, as 85%", &suffix);
    if (!reader->failed && (*suffix || fixed % 1000000u != 0))
        wrong_at(reader, token, "a share in percent with at most three decimals was expected here");
    want(reader, "%");
    return (struct check_quantity){.value = fixed / 1000000u, .unit = PUG_CHECK_THOUSANDTHS};
}

static uint8_t take_cmp(struct reader *reader)
{
    static const char *const signs[] = {"<", "<=", ">", ">=", "=="};
    for (uint8_t i = 0; i < 5; i++)
        if (take(reader, signs[i]))
            return i;
    expected(reader, "<, <=, >, >= or ==", NULL, 0);
    return CHECK_LESS;
}

/** Statistics; without one it is each call. */
static void take_stat(struct reader *reader)
{
    static const struct {
        const char *word;
        uint8_t stat;
    } words[] = {{"each", CHECK_EACH},
                 {"mean", CHECK_MEAN},
                 {"total", CHECK_TOTAL},
                 {"longest", CHECK_LONGEST},
                 {"shortest", CHECK_SHORTEST}};
    const struct check_token *token = reader->at;
    uint64_t percent;
    const char *end;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (take(reader, words[i].word)) {
            reader->rule.stat = words[i].stat;
            return;
        }
    if (reader->failed || token->kind != CHECK_WORD || token->text[0] != 'p' ||
        token->text[1] < '0' || token->text[1] > '9')
        return;
    if (!read_fixed(token->text + 1, &percent, &end) || *end || percent % 1000000u != 0 ||
        percent < UINT64_C(1000000000) || percent >= UINT64_C(100000000000)) {
        wrong_at(reader, token, "percentiles are p1 to p99.999");
        return;
    }
    reader->at++;
    reader->rule.stat = CHECK_PERCENTILE;
    reader->rule.percentile = (uint32_t)(percent / 1000000u);
}

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
            wrong_at(reader, token,
                     "a function is a name or an address, as 0x8000100; names that begin with a "
                     "digit stand in quotes");
        reader->at++;
    } else {
        subject.name = take_name(reader, what);
        subject.glob = token->kind == CHECK_WORD && strpbrk(subject.name, "*?") != NULL;
    }
    note_place(&subject, token, reader->at);
    if (take(reader, "in"))
        subject.file = take_name(reader, "a source file, as motor.c");
    return subject;
}

static unsigned take_port(struct reader *reader)
{
    const struct check_token *token;
    want(reader, "port");
    token = reader->at;
    const uint64_t port = take_count(reader);
    if (!reader->failed && port > 255)
        wrong_at(reader, token, "stimulus ports are 0 to 255");
    return (unsigned)port;
}

static const char *take_string(struct reader *reader)
{
    const struct check_token *token = reader->at;
    if (!reader->failed && token->kind == CHECK_STRING && token->text[0] == '\0')
        wrong_at(reader, token, "an empty text is in every line");
    return take_name(reader, "a text, as \"ASSERT\"");
}

static struct check_subject take_event(struct reader *reader)
{
    struct check_subject subject = {0};
    const struct check_token *token = reader->at;
    if (is(token, "exception") && token[1].kind != CHECK_END && !is(token + 1, "for") &&
        !is(token + 1, "unless")) {
        reader->at++;
        subject.kind = CHECK_EXCEPTION_NAMED;
        subject.name = take_name(reader, "an exception, as SysTick");
    } else if (take_two(reader, "itm", "port")) {
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
    if (take(reader, "loss")) {
        rule->kind = CHECK_NO_LOSS;
    } else if (take(reader, "gap")) {
        rule->kind = CHECK_NO_GAP;
        want(reader, "longer");
        want(reader, "than");
        rule->limit = take_quantity(reader);
    } else if (take(reader, "exception")) {
        rule->kind = CHECK_EXCEPTIONS;
        if (take(reader, "but"))
            do {
                const char *name = take_name(reader, "an exception, as SysTick");
                const char **item = pug_list_add(&rule->list, sizeof(*item));
                if (item)
                    *item = name;
                else
                    reader->texts->failed = true;
            } while (take(reader, ","));
    } else {
        expected(reader, "'exception', 'loss' or 'gap longer than'", words, 3);
    }
}

static void take_exception(struct reader *reader)
{
    const struct check_token *token = reader->at;
    reader->rule.kind = CHECK_EXCEPTION;
    reader->rule.subject.kind = CHECK_EXCEPTION_NAMED;
    reader->rule.subject.name = take_name(reader, "an exception, as SysTick");
    note_place(&reader->rule.subject, token, reader->at);
    want(reader, "never");
}

static void take_depth(struct reader *reader)
{
    reader->rule.kind = CHECK_DEPTH;
    want(reader, "of");
    reader->rule.subject = take_function(reader, "a function");
    reader->rule.cmp = take_cmp(reader);
    reader->rule.limit.value = take_count(reader);
}

static void take_covered(struct reader *reader, enum check_covered covered)
{
    struct check_rule *rule = &reader->rule;
    const struct check_token *token;
    rule->kind = CHECK_COVERED;
    rule->covered = (uint8_t)covered;
    want(reader, "of");
    token = reader->at;
    rule->subject.name = take_name(reader, "a source file, as driver/*.c");
    note_place(&rule->subject, token, reader->at);
    take(reader, "covered");
    want(reader, ">=");
    rule->cmp = CHECK_AT_LEAST;
    rule->limit = take_percent(reader);
}

static void take_itm(struct reader *reader)
{
    reader->rule.kind = CHECK_PORT;
    reader->rule.subject.kind = CHECK_PORT_LINE;
    reader->rule.subject.number = take_port(reader);
    reader->rule.never = take(reader, "never");
    want(reader, "matches");
    reader->rule.subject.name = take_string(reader);
}

static void take_watch(struct reader *reader)
{
    static const char *const words[] = {"never", "stays"};
    struct check_rule *rule = &reader->rule;
    const struct check_token *token = reader->at;
    rule->kind = CHECK_WATCH;
    rule->subject.name = take_name(reader, "a variable or an address");
    rule->subject.by_address = token->kind == CHECK_NUMBER;
    if (rule->subject.by_address) {
        char *end;
        rule->subject.number = strtoull(token->text, &end, 0);
        if (*end)
            wrong_at(reader, token, "an address is a number, as 0x20000010");
    }
    note_place(&rule->subject, token, reader->at);
    if (take(reader, "never")) {
        rule->never = true;
    } else if (take(reader, "stays")) {
        rule->cmp = take_cmp(reader);
        rule->limit.value = take_count(reader);
    } else {
        expected(reader, "'never' or 'stays'", words, 2);
    }
}

static void take_share(struct reader *reader)
{
    reader->rule.kind = CHECK_SHARE;
    reader->rule.thread = take_name(reader, "a thread's name");
    want(reader, "share");
    reader->rule.cmp = take_cmp(reader);
    reader->rule.limit = take_percent(reader);
}

/* ---- bodies that begin with a function ---- */

static void take_every(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    const struct check_token *token = reader->at;
    rule->kind = CHECK_EVERY;
    rule->limit = take_quantity(reader);
    if (!reader->failed && rule->limit.unit != PUG_CHECK_NANOSECONDS)
        wrong_at(reader, token, "a period is a time, as 1ms");
    want(reader, "\xc2\xb1");
    token = reader->at;
    if (!reader->failed && token->kind == CHECK_NUMBER && is(token + 1, "%")) {
        const uint64_t thousandths = take_percent(reader).value;
        if (!reader->failed && (thousandths > 100000 || rule->limit.value > UINT64_MAX / 100000))
            wrong_at(reader, token, "more than the period itself");
        else
            rule->tolerance.value = rule->limit.value * thousandths / 100000;
        rule->tolerance.unit = rule->limit.unit;
        return;
    }
    rule->tolerance = take_quantity(reader);
    if (!reader->failed && rule->tolerance.unit != PUG_CHECK_NANOSECONDS)
        wrong_at(reader, token, "how far a period may be off is a time or a share, as 50us or 5%");
}

static void take_runs(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    if (take(reader, "every")) {
        take_every(reader);
        return;
    }
    rule->kind = CHECK_RUNS;
    if (reader->at->kind != CHECK_SIGN)
        return;
    rule->has_limit = true;
    rule->cmp = take_cmp(reader);
    rule->limit.value = take_count(reader);
    want(reader, "times");
}

static void take_takes(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_TAKES;
    rule->cmp = take_cmp(reader);
    rule->limit = take_quantity(reader);
    if (take(reader, "own"))
        rule->part = CHECK_PART_OWN;
    else if (take_two(reader, "without", "interrupts"))
        rule->part = CHECK_PART_NO_INTERRUPTS;
    else if (take(reader, "wall"))
        rule->part = CHECK_PART_WALL;
    take_stat(reader);
}

static void take_counted(struct reader *reader, enum pug_check_unit unit)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_TAKES;
    rule->part = CHECK_PART_NO_INTERRUPTS;
    rule->cmp = take_cmp(reader);
    rule->limit.value = take_count(reader);
    rule->limit.unit = (uint8_t)unit;
    take_stat(reader);
}

static void take_within(struct reader *reader)
{
    static const char *const words[] = {"after", "before"};
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_WITHIN;
    rule->limit = take_quantity(reader);
    if (take(reader, "before"))
        rule->before = true;
    else if (!take(reader, "after"))
        expected(reader, "'after' or 'before'", words, 2);
    rule->other = take_event(reader);
}

static void take_follows(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_FOLLOWS;
    rule->other = take_function(reader, "a function");
    rule->has_limit = take(reader, "within");
    if (rule->has_limit)
        rule->limit = take_quantity(reader);
}

static void take_only(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_ONLY_IN;
    want(reader, "in");
    const struct check_token *token = reader->at;
    if (is(token, "thread") && token[1].kind != CHECK_END && !is(token + 1, "for") &&
        !is(token + 1, "unless")) {
        reader->at++;
        rule->other.kind = CHECK_THREAD;
        rule->other.name = take_name(reader, "a thread's name");
        note_place(&rule->other, token, reader->at);
        return;
    }
    rule->other = take_function(reader, "a function, or thread NAME");
}

static void take_not(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->kind = CHECK_NOT_IN;
    want(reader, "in");
    if (take(reader, "interrupt") || take(reader, "interrupts"))
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
        if (is(token, verbs[i]))
            return true;
    return false;
}

static void take_verb(struct reader *reader)
{
    struct check_rule *rule = &reader->rule;
    rule->subject = take_function(reader, "a rule: a function and what it does, 'no', 'exception', "
                                          "'depth of', 'lines of', 'itm port', 'watch', 'thread'");
    if (take(reader, "runs")) {
        take_runs(reader);
    } else if (take(reader, "takes")) {
        take_takes(reader);
    } else if (take(reader, "within")) {
        take_within(reader);
    } else if (take(reader, "follows")) {
        take_follows(reader);
    } else if (take_two(reader, "never", "runs")) {
        rule->kind = CHECK_NEVER;
    } else if (take(reader, "never")) {
        want(reader, "runs");
    } else if (take(reader, "not")) {
        take_not(reader);
    } else if (take(reader, "only")) {
        take_only(reader);
    } else if (take(reader, "instructions")) {
        take_counted(reader, PUG_CHECK_INSTRUCTIONS);
    } else if (take(reader, "cycles")) {
        take_counted(reader, PUG_CHECK_CYCLES);
    } else {
        expected(reader,
                 "what the function does: 'runs', 'never runs', 'takes', 'within', 'follows', "
                 "'not in', 'only in', 'instructions' or 'cycles'",
                 verbs, VERBS);
    }
}

/* ---- rules ---- */

static void take_body(struct reader *reader)
{
    if (reader->at->kind != CHECK_WORD || is_verb(reader->at + 1)) {
        if (is(reader->at, "exception") && is(reader->at + 1, "never") &&
            !is(reader->at + 2, "runs")) { /* "exception never never" is not worth a rule */
            reader->at++;
            take_exception(reader);
            return;
        }
        take_verb(reader);
    } else if (take(reader, "no")) {
        take_no(reader);
    } else if (take(reader, "exception")) {
        take_exception(reader);
    } else if (take(reader, "depth")) {
        take_depth(reader);
    } else if (take(reader, "lines")) {
        take_covered(reader, CHECK_LINES);
    } else if (take(reader, "functions")) {
        take_covered(reader, CHECK_FUNCTIONS);
    } else if (take(reader, "branch")) {
        want(reader, "outcomes");
        take_covered(reader, CHECK_OUTCOMES);
    } else if (take(reader, "mcdc")) {
        take_covered(reader, CHECK_MCDC);
    } else if (take(reader, "itm")) {
        take_itm(reader);
    } else if (take(reader, "watch")) {
        take_watch(reader);
    } else if (take(reader, "program")) {
        reader->rule.kind = CHECK_PROGRAM;
        want(reader, "matches");
    } else if (take(reader, "thread")) {
        take_share(reader);
    } else {
        take_verb(reader);
    }
}

/** "each thread", "each core", "thread NAME", "all". */
static void take_scope(struct reader *reader)
{
    static const char *const words[] = {"each", "thread", "all"}, *const each[] = {"thread",
                                                                                   "core"};
    if (take(reader, "all"))
        return;
    if (take(reader, "thread")) {
        reader->rule.scope = CHECK_SCOPE_THREAD;
        reader->rule.thread = take_name(reader, "a thread's name");
    } else if (!take(reader, "each")) {
        expected(reader, "'each thread', 'each core', 'thread NAME' or 'all'", words, 3);
    } else if (take(reader, "thread")) {
        reader->rule.scope = CHECK_SCOPE_THREADS;
    } else if (take(reader, "core")) {
        reader->rule.scope = CHECK_SCOPE_CORES;
    } else {
        expected(reader, "'thread' or 'core'", each, 2);
    }
}

/** Kinds of rules that are not about what threads or cores do one by one. */
static bool has_scope(const struct check_rule *rule)
{
    return rule->kind != CHECK_COVERED && rule->kind != CHECK_PROGRAM &&
           rule->kind != CHECK_SHARE && rule->kind != CHECK_PORT && rule->kind != CHECK_WATCH &&
           rule->kind != CHECK_NO_LOSS && rule->kind != CHECK_NO_GAP;
}

static void take_end(struct reader *reader)
{
    static const char *const words[] = {"for", "unless"};
    const struct check_token *token = reader->at;
    if (take(reader, "for"))
        take_scope(reader);
    if (!reader->failed && reader->rule.scope != CHECK_SCOPE_ALL && !has_scope(&reader->rule))
        wrong_at(reader, token, "this rule is about the whole trace: it has no scope");
    if (take(reader, "unless")) {
        want(reader, "undecided");
        reader->rule.unless_undecided = true;
    }
    if (!reader->failed && reader->at->kind != CHECK_END)
        expected(reader, "the end of the rule, 'for', or 'unless undecided'", words, 2);
}

/** "NAME:" in front. */
static void take_label(struct reader *reader)
{
    if (reader->at->kind == CHECK_END || !is(reader->at + 1, ":"))
        return;
    reader->rule.name = take_name(reader, "the rule's name");
    reader->at++;
}

/** The rule without blanks around it and without its comment, as reports show it. */
static const char *tidy(struct check_text *texts, const struct check_token *tokens,
                        const char *line)
{
    const struct check_token *last = tokens;
    size_t from, to, at = 0;
    uint32_t column = 1;
    while (last->kind != CHECK_END)
        last++;
    if (last == tokens)
        return "";
    const uint32_t end = last[-1].column + last[-1].length;
    for (from = to = strlen(line); line[at]; at++) {
        if (((unsigned char)line[at] & 0xc0) == 0x80)
            continue;
        if (column == tokens->column)
            from = at;
        if (column == end)
            to = at;
        column++;
    }
    return pug_check_keep(texts, line + from, to - from);
}

static void read_rule(struct check_text *texts, struct check_rule rule, struct pug_list *rules,
                      struct pug_list *errors)
{
    struct pug_list tokens = {0};
    struct reader reader = {.texts = texts, .errors = errors, .rule = rule};
    if (pug_check_cut(texts, errors, &rule, rule.line_text, &tokens)) {
        /* three ends after the last word, so that none looks beyond them */
        const struct check_token end = ((struct check_token *)tokens.items)[tokens.count - 1];
        for (int i = 0; i < 3; i++) {
            struct check_token *more = pug_list_add(&tokens, sizeof(*more));
            if (more)
                *more = end;
            else
                texts->failed = true;
        }
        reader.tokens = reader.at = tokens.items;
        if (!texts->failed && reader.at->kind != CHECK_END) {
            reader.rule.text = tidy(texts, reader.tokens, rule.line_text);
            take_label(&reader);
            take_body(&reader);
            take_end(&reader);
            struct check_rule *kept =
                reader.failed ? NULL : pug_list_add(rules, sizeof(struct check_rule));
            if (kept)
                *kept = reader.rule;
            else
                free(reader.rule.list.items);
            texts->failed |= !reader.failed && !kept;
        }
    }
    free(tokens.items);
}

/** The next line with those that "\" joins to it; returns how many lines that were. */
static uint32_t next_line(const char **at, const char *end, char *room, size_t *size, bool *fits)
{
    uint32_t lines = 0;
    bool more = true;
    *size = 0;
    *fits = true;
    while (more && *at < end) {
        const char *stop = memchr(*at, '\n', (size_t)(end - *at));
        const char *next = stop ? stop + 1 : end;
        size_t length = (size_t)((stop ? stop : end) - *at);
        while (length > 0 && (*at)[length - 1] == '\r')
            length--;
        more = length > 0 && (*at)[length - 1] == '\\';
        length -= more;
        if (*size + length + 2 > CHECK_LINE) {
            *fits = false;
        } else {
            memcpy(room + *size, *at, length);
            *size += length;
            if (more)
                room[(*size)++] = ' ';
        }
        *at = next;
        lines++;
    }
    return lines;
}

enum pug_status pug_check_parse(struct check_text *texts, const char *file, const char *text,
                                size_t size, struct pug_list *rules, struct pug_list *errors)
{
    const char *at = text, *const end = text + size;
    const size_t before = errors->count;
    uint32_t line = 1;
    char *room = malloc(CHECK_LINE);
    if (!room)
        return PUG_ERR_MEM;
    const char *const kept = pug_check_keep(texts, file, strlen(file));
    enum pug_status status = PUG_OK;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        at += 3;
    while (at < end && status == PUG_OK && !texts->failed) {
        size_t length;
        bool fits;
        const uint32_t lines = next_line(&at, end, room, &length, &fits);
        struct check_rule rule = {.file = kept, .line = line};
        line += lines;
        if (!fits || rules->count == CHECK_RULES) {
            status = PUG_ERR_LIMIT;
            break;
        }
        rule.line_text = pug_check_keep(texts, room, length);
        if (memchr(room, '\0', length)) {
            pug_check_wrong(texts, errors, &rule, (uint32_t)strlen(rule.line_text) + 1, 1,
                            "a zero byte: this is no text");
            break;
        }
        read_rule(texts, rule, rules, errors);
    }
    free(room);
    if (texts->failed)
        return PUG_ERR_MEM;
    return status == PUG_OK && errors->count > before ? PUG_ERR_FORMAT : status;
}
