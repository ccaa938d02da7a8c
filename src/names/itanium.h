// SPDX-License-Identifier: MIT
/**
 * @file C++ names of the Itanium ABI, section 5.1 "External Names": the state of one name's
 * demangling, and its rules as far as another file begins them. A type is two texts, since what is
 * declared may stand in its middle ("void (*" and ")(int)").
 */
#ifndef PUG_NAMES_ITANIUM_H
#define PUG_NAMES_ITANIUM_H

#include "names/demangle.h"

#include <string.h>

#define SUBSTITUTIONS 512u
#define ARGUMENTS     256u
#define VARIANTS      2048u
#define NO_PACK       UINT32_MAX

/** A type or name: `right` is the text after the declared name. */
struct piece {
    const char *left, *right;
};

/** A template argument; a pack has several. */
struct argument {
    struct piece is;
    uint32_t first, count; /* in `packed` */
    bool pack;
};

/** What may be named again; in the pattern of a pack it was something else for each member. */
struct substitution {
    struct piece is;
    uint32_t first, stride, count; /* in `variants`; no stride: there are none */
    const char *parameter; /* it is a template's, read here: another one in another's signature */
};

/** What a function's name is read with; that of one in another's signature has its own. */
struct scope {
    uint32_t first, count, base; /* arguments, and where arguments of its own begin */
    uint32_t packed_count;
    unsigned type_depth, lambda;
    unsigned conversion; /* the depth of the type that an operator converts to; 0: none */
};

struct itanium {
    const char *at, *end;
    char *texts; /* where pieces are put together */
    size_t used;
    uint32_t substitution_count, variant_count;
    uint32_t pack_index, pack_size; /* while a pack is expanded */
    unsigned depth;
    struct scope scope;
    bool has_return; /* a template's signature begins with its return type */
    bool resultless; /* but not that of a constructor and its like */
    bool without_parameters, without_result; /* for the next encoding */
    bool failed;
    /* Those that are counted above; it is not cleared. */
    struct substitution substitutions[SUBSTITUTIONS];
    struct piece variants[VARIANTS];
    struct argument arguments[ARGUMENTS]; /* of functions, after those of the outer ones */
    struct piece packed[ARGUMENTS];
};

static const struct piece nothing = {"", ""};

/* ---- texts ---- */

static inline const char *pug_itanium_keep(struct itanium *in, const char *text, size_t length)
{
    if (in->failed || length >= DEMANGLE_TEXT - in->used) {
        in->failed = true;
        return "";
    }
    char *copy = in->texts + in->used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    in->used += length + 1;
    return copy;
}

static inline const char *pug_itanium_join(struct itanium *in, const char *a, const char *b,
                                           const char *c)
{
    const size_t x = strlen(a), y = strlen(b), z = strlen(c);
    if (in->failed || x + y + z >= DEMANGLE_TEXT - in->used) {
        in->failed = true;
        return "";
    }
    char *text = in->texts + in->used;
    memcpy(text, a, x + 1);
    memcpy(text + x, b, y + 1);
    memcpy(text + x + y, c, z + 1);
    in->used += x + y + z + 1;
    return text;
}

/** A list that begins with a sign, and one more text in it; an empty one is left out. */
static inline const char *pug_itanium_listed(struct itanium *in, const char *list, const char *text)
{
    if (in->failed || !*text)
        return list;
    return pug_itanium_join(in, list, list[1] ? ", " : "", text);
}

static inline struct piece pug_itanium_plain(const char *text)
{
    return (struct piece){text, ""};
}

static inline const char *pug_itanium_whole(struct itanium *in, struct piece piece)
{
    return *piece.right ? pug_itanium_join(in, piece.left, piece.right, "") : piece.left;
}

/* ---- reading ---- */

static inline char pug_itanium_peek(const struct itanium *in)
{
    return in->at < in->end ? *in->at : '\0';
}

static inline char pug_itanium_peek_second(const struct itanium *in)
{
    return in->at + 1 < in->end ? in->at[1] : '\0';
}

static inline bool pug_itanium_eat(struct itanium *in, const char *word)
{
    const size_t length = strlen(word);
    if (in->failed || (size_t)(in->end - in->at) < length || strncmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

static inline struct piece pug_itanium_fail(struct itanium *in)
{
    in->failed = true;
    return nothing;
}

static inline bool pug_itanium_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static inline size_t pug_itanium_number(struct itanium *in)
{
    size_t value = 0;
    if (!pug_itanium_is_digit(pug_itanium_peek(in)))
        in->failed = true;
    while (pug_itanium_is_digit(pug_itanium_peek(in)) && value < 1000000)
        value = value * 10 + (size_t)(*in->at++ - '0');
    return value;
}

/** "S_", "S0_", not one of the standard abbreviations. */
static inline bool pug_itanium_is_substitution(const struct itanium *in)
{
    const char second = pug_itanium_peek_second(in);
    return pug_itanium_peek(in) == 'S' &&
           (second == '_' || pug_itanium_is_digit(second) || (second >= 'A' && second <= 'Z'));
}

/** "_" is 0, "0_" is 1; in base 36 for substitutions. */
static inline uint32_t pug_itanium_sequence(struct itanium *in, unsigned base)
{
    uint32_t value = 0;
    if (pug_itanium_eat(in, "_"))
        return 0;
    while (!in->failed && !pug_itanium_eat(in, "_")) {
        const char byte = pug_itanium_peek(in);
        const uint32_t digit = pug_itanium_is_digit(byte)   ? (uint32_t)(byte - '0')
                               : byte >= 'A' && byte <= 'Z' ? (uint32_t)(byte - 'A') + 10
                                                            : 99;
        if (digit >= base || value > 100000) {
            in->failed = true;
            return 0;
        }
        value = value * base + digit;
        in->at++;
    }
    return value + 1;
}

static inline void pug_itanium_substitute(struct itanium *in, struct piece piece)
{
    if (in->substitution_count == SUBSTITUTIONS)
        in->failed = true;
    else if (!in->failed)
        in->substitutions[in->substitution_count++] = (struct substitution){.is = piece};
}

/** A place in the name that is read again, and what could be named again there. */
struct itanium_place {
    const char *at;
    uint32_t substitution_count;
};

static inline struct itanium_place pug_itanium_place(const struct itanium *in)
{
    return (struct itanium_place){in->at, in->substitution_count};
}

static inline void pug_itanium_return_to(struct itanium *in, const struct itanium_place *place)
{
    in->at = place->at;
    in->substitution_count = place->substitution_count;
}

static inline bool pug_itanium_enter(struct itanium *in)
{
    if (++in->depth > DEMANGLE_DEPTH)
        in->failed = true;
    return !in->failed;
}

/** A code of the ABI and what it stands for. */
struct word {
    const char code[3];
    const char *text;
};

static inline const char *pug_itanium_find_word(struct itanium *in, const struct word *words,
                                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pug_itanium_eat(in, words[i].code))
            return words[i].text;
    return NULL;
}

/* ---- encodings: demangle_itanium.c ---- */

const char *pug_itanium_encoding(struct itanium *in);

/* ---- names: itanium_name.c ---- */

const char *pug_itanium_name(struct itanium *in);
/** The qualified name; *qualifiers is the text after a member function's parameters. */
const char *pug_itanium_qualified_name(struct itanium *in, const char **qualifiers);
const char *pug_itanium_unqualified_name(struct itanium *in);
const char *pug_itanium_source_name(struct itanium *in);
/** "operator+", without operators of conversion and literals; NULL: it is none. */
const char *pug_itanium_operator(struct itanium *in);
struct piece pug_itanium_substitution(struct itanium *in);
/** "Sa", "St", …; NULL: none of them. *complete: it is a class, not the namespace. */
const char *pug_itanium_standard(struct itanium *in, bool *complete);
/** " const &": const and its like, of member functions and types. */
const char *pug_itanium_member_qualifiers(struct itanium *in);

/* ---- templates: itanium_template.c ---- */

struct piece pug_itanium_template_parameter(struct itanium *in);
/** "<int, 3>". */
const char *pug_itanium_template_arguments(struct itanium *in);
struct piece pug_itanium_template_argument(struct itanium *in);
struct piece pug_itanium_literal(struct itanium *in);
/** The pattern once for each member of the pack in it; false: there is no pack in it. */
bool pug_itanium_expansion(struct itanium *in, const char *(*pattern)(struct itanium *),
                           const char **list);

/* ---- expressions: itanium_expression.c ---- */

const char *pug_itanium_expression(struct itanium *in);
const char *pug_itanium_decltype_of(struct itanium *in);

/* ---- types: itanium_type.c ---- */

struct piece pug_itanium_type(struct itanium *in);
/** "(int, char)". */
const char *pug_itanium_parameters(struct itanium *in);

#endif
