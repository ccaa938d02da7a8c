// SPDX-License-Identifier: MIT
/** @file The reader of a rule's line: words, names, numbers, quantities, and what was expected. */
#include "check/reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- mistakes ---- */

void pug_rule_wrong(struct reader *reader, const struct check_token *token, const char *message)
{
    if (reader->failed)
        return;
    reader->failed = true;
    pug_check_wrong(reader->texts, reader->errors, &reader->rule, token->column,
                    token->length ? token->length : 1, message);
}

/** What was found here is none of what could be; the nearest of the words is named. */
void pug_rule_expected(struct reader *reader, const char *what, const char *const *words,
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
    pug_rule_wrong(reader, token, message);
}

/* ---- tokens ---- */

bool pug_rule_is(const struct check_token *token, const char *word)
{
    return (token->kind == CHECK_WORD || token->kind == CHECK_SIGN) &&
           strcmp(token->text, word) == 0;
}

bool pug_rule_take(struct reader *reader, const char *word)
{
    if (reader->failed || !pug_rule_is(reader->at, word))
        return false;
    reader->at++;
    return true;
}

/** Takes `first` and `second`, or neither. */
bool pug_rule_take_two(struct reader *reader, const char *first, const char *second)
{
    if (reader->failed || !pug_rule_is(reader->at, first) || !pug_rule_is(reader->at + 1, second))
        return false;
    reader->at += 2;
    return true;
}

void pug_rule_want(struct reader *reader, const char *word)
{
    if (!reader->failed && !pug_rule_take(reader, word))
        pug_rule_expected(reader, pug_check_keep_format(reader->texts, "'%s'", word), &word, 1);
}

/** A name, quoted or not; numbers count where a name may begin with one. */
const char *pug_rule_name(struct reader *reader, const char *what)
{
    const struct check_token *token = reader->at;
    if (reader->failed)
        return "";
    if (token->kind != CHECK_WORD && token->kind != CHECK_STRING && token->kind != CHECK_NUMBER) {
        pug_rule_expected(reader, what, NULL, 0);
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
        pug_rule_expected(reader, what, NULL, 0);
        return 0;
    }
    if (!read_fixed(token->text, &value, &end)) {
        pug_rule_wrong(reader, token, "this number is too large or too exact");
        return 0;
    }
    reader->at++;
    *suffix = end;
    return value;
}

/** A whole number without a unit. */
uint64_t pug_rule_count(struct reader *reader)
{
    const struct check_token *token = reader->at;
    const char *suffix;
    const uint64_t value = take_fixed(reader, "a whole number", &suffix);
    if (!reader->failed && (*suffix || value % 1000000000u != 0))
        pug_rule_wrong(reader, token, "a whole number without a unit was expected here");
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

struct check_quantity pug_rule_quantity(struct reader *reader)
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
        pug_rule_wrong(reader, token,
                       pug_check_keep_format(
                           reader->texts, "'%s' is no unit; units are " UNITS "%s%s%s", suffix,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ""));
        return quantity;
    }
    if (!unit) {
        pug_rule_expected(reader, "a unit: " UNITS, words, 7);
        return quantity;
    }
    if (!*suffix)
        reader->at++;
    const uint64_t divisor = 1000000000u / unit->scale;
    if (fixed % divisor != 0) {
        pug_rule_wrong(reader, token,
                       unit->unit == PUG_CHECK_NANOSECONDS
                           ? "times are compared in whole nanoseconds"
                           : "these are counted in whole numbers");
        return quantity;
    }
    quantity.value = fixed / divisor;
    quantity.unit = unit->unit;
    return quantity;
}

/** A share in thousandths of a percent. */
struct check_quantity pug_rule_percent(struct reader *reader)
{
    const struct check_token *token = reader->at;
    const char *suffix;
    const uint64_t fixed = take_fixed(reader, "a share, as 85%", &suffix);
    if (!reader->failed && (*suffix || fixed % 1000000u != 0))
        pug_rule_wrong(reader, token,
                       "a share in percent with at most three decimals was expected here");
    pug_rule_want(reader, "%");
    return (struct check_quantity){.value = fixed / 1000000u, .unit = PUG_CHECK_THOUSANDTHS};
}

uint8_t pug_rule_cmp(struct reader *reader)
{
    static const char *const signs[] = {"<", "<=", ">", ">=", "=="};
    for (uint8_t i = 0; i < 5; i++)
        if (pug_rule_take(reader, signs[i]))
            return i;
    pug_rule_expected(reader, "<, <=, >, >= or ==", NULL, 0);
    return CHECK_LESS;
}

/** Statistics; without one it is each call. */
void pug_rule_stat(struct reader *reader)
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
        if (pug_rule_take(reader, words[i].word)) {
            reader->rule.stat = words[i].stat;
            return;
        }
    if (reader->failed || token->kind != CHECK_WORD || token->text[0] != 'p' ||
        token->text[1] < '0' || token->text[1] > '9')
        return;
    if (!read_fixed(token->text + 1, &percent, &end) || *end || percent % 1000000u != 0 ||
        percent < UINT64_C(1000000000) || percent >= UINT64_C(100000000000)) {
        pug_rule_wrong(reader, token, "percentiles are p1 to p99.999");
        return;
    }
    reader->at++;
    reader->rule.stat = CHECK_PERCENTILE;
    reader->rule.percentile = (uint32_t)(percent / 1000000u);
}
