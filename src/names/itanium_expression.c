// SPDX-License-Identifier: MIT
/**
 * @file C++ expressions, as signatures of templates have them. Operands are in brackets unless they
 * are a name, a parameter or a list in braces.
 */
#include "names/itanium.h"

const char *pug_itanium_decltype_of(struct itanium *in)
{
    if (!pug_itanium_eat(in, "Dt") && !pug_itanium_eat(in, "DT"))
        return pug_itanium_fail(in).left;
    const char *of = pug_itanium_expression(in);
    return pug_itanium_eat(in, "E") ? pug_itanium_join(in, "decltype (", of, ")")
                                    : pug_itanium_fail(in).left;
}

static const char *type_of(struct itanium *in)
{
    return pug_itanium_whole(in, pug_itanium_type(in));
}

static const char *bracketed(struct itanium *in, const char *text)
{
    return pug_itanium_join(in, "(", text, ")");
}

/* Whether the expression at `from` needs no brackets as an operand. */
static bool stands_alone(const char *from, const char *text)
{
    static const char *const codes[] = {"fp", "fL", "il", "tl", "sr", "L_Z"};
    const size_t length = strlen(text);
    bool alone = pug_itanium_is_digit(*from);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        alone |= strncmp(from, codes[i], strlen(codes[i])) == 0;
    return alone && length > 0 && text[length - 1] != '>' && text[length - 1] != ')';
}

static const char *operand(struct itanium *in)
{
    const char *from = in->at, *text = pug_itanium_expression(in);
    return stands_alone(from, text) ? text : bracketed(in, text);
}

/* Expressions up to `end`, after a sign. */
static const char *expressions(struct itanium *in, const char *list, const char *end)
{
    while (!in->failed && !pug_itanium_eat(in, end))
        list = pug_itanium_listed(in, list, pug_itanium_expression(in));
    return list;
}

static const char *expressions_in_brackets(struct itanium *in)
{
    return pug_itanium_join(in, expressions(in, "(", "E"), ")", "");
}

/* ---- names that are only looked up when the template is used ---- */

static const char *unresolved_level(struct itanium *in)
{
    const bool is_destructor = pug_itanium_eat(in, "dn");
    const char *text;
    pug_itanium_eat(in, "on");
    in->scope.type_depth++;
    if (is_destructor && !pug_itanium_is_digit(pug_itanium_peek(in)))
        text = type_of(in);
    else
        text = pug_itanium_unqualified_name(in);
    if (pug_itanium_peek(in) == 'I')
        text = pug_itanium_join(in, text, pug_itanium_template_arguments(in), "");
    in->scope.type_depth--;
    return is_destructor ? pug_itanium_join(in, "~", text, "") : text;
}

static const char *unresolved_levels(struct itanium *in)
{
    const char *text = unresolved_level(in);
    while (!in->failed && !pug_itanium_eat(in, "E"))
        text = pug_itanium_join(in, text, "::", unresolved_level(in));
    return text;
}

static const char *unresolved_name(struct itanium *in)
{
    const char *of =
        pug_itanium_is_digit(pug_itanium_peek(in)) ? unresolved_levels(in) : type_of(in);
    return pug_itanium_join(in, of, "::", unresolved_level(in));
}

/* ---- parameters and packs ---- */

/* Behind "fp", or "fL", a level and "p": "this", or a number. */
static const char *function_parameter(struct itanium *in)
{
    char text[40];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    if (pug_itanium_eat(in, "T"))
        return "this";
    pug_itanium_member_qualifiers(in);
    pug_text_format(&out, "{parm#%u}", (unsigned)pug_itanium_sequence(in, 10) + 1);
    pug_text_end(&out);
    return pug_itanium_keep(in, text, out.length);
}

static const char *parameter_of_level(struct itanium *in)
{
    pug_itanium_number(in);
    return pug_itanium_eat(in, "p") ? function_parameter(in) : pug_itanium_fail(in).left;
}

static const char *expansion(struct itanium *in)
{
    const char *from = in->at, *list;
    if (pug_itanium_expansion(in, pug_itanium_expression, &list))
        return list;
    return pug_itanium_join(in, stands_alone(from, list) ? list : bracketed(in, list), "...", "");
}

static const char *pack_size(struct itanium *in)
{
    char text[16];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    const uint32_t outer = in->pack_size;
    in->pack_size = NO_PACK;
    const char *of = pug_itanium_peek(in) == 'T'
                         ? pug_itanium_whole(in, pug_itanium_template_parameter(in))
                         : pug_itanium_expression(in);
    const uint32_t size = in->pack_size;
    in->pack_size = outer;
    if (size == NO_PACK)
        return pug_itanium_join(in, "sizeof...(", of, ")");
    pug_text_format(&out, "%u", (unsigned)size);
    pug_text_end(&out);
    return pug_itanium_keep(in, text, out.length);
}

/* "+" of "operator+"; NULL: no sign is there. */
static const char *sign_of(struct itanium *in)
{
    const char *word = pug_itanium_operator(in);
    return word && word[strlen("operator")] != ' ' ? word + strlen("operator") : NULL;
}

/* "fl" and "fr" have one operand, "fL" and "fR" two; the pack in them stays together. */
static const char *fold(struct itanium *in, char kind)
{
    const char *sign = sign_of(in);
    const uint32_t outer = in->pack_index;
    if (!sign)
        return pug_itanium_fail(in).left;
    in->pack_index = NO_PACK;
    const char *left = kind == 'l' ? "..." : operand(in);
    const char *right = kind == 'r' ? "..." : operand(in);
    in->pack_index = outer;
    if (kind == 'L' || kind == 'R')
        right = pug_itanium_join(in, "...", sign, right);
    return bracketed(in, pug_itanium_join(in, left, sign, right));
}

/* ---- operators ---- */

static const char *call(struct itanium *in)
{
    in->without_parameters = strncmp(in->at, "L_Z", 3) == 0;
    const char *function = operand(in);
    return pug_itanium_join(in, function, expressions_in_brackets(in), "");
}

static const char *conversion(struct itanium *in)
{
    const char *to = bracketed(in, type_of(in));
    return pug_itanium_join(
        in, to, pug_itanium_eat(in, "_") ? expressions_in_brackets(in) : operand(in), "");
}

static const char *conditional(struct itanium *in)
{
    const char *condition = operand(in);
    const char *yes = pug_itanium_join(in, condition, "?", operand(in));
    return pug_itanium_join(in, yes, " : ", operand(in));
}

static const char *new_object(struct itanium *in)
{
    const char *place = expressions(in, "(", "_");
    const char *text = pug_itanium_join(in, "new ", place[1] ? place : "", place[1] ? ") " : "");
    text = pug_itanium_join(in, text, type_of(in), "");
    if (pug_itanium_eat(in, "pi"))
        return pug_itanium_join(in, text, expressions_in_brackets(in), "");
    if (pug_itanium_peek(in) == 'i')
        text = pug_itanium_join(in, text, pug_itanium_expression(in), "");
    return pug_itanium_eat(in, "E") ? text : pug_itanium_fail(in).left;
}

static const char *list_in_braces(struct itanium *in, const char *of)
{
    return pug_itanium_join(in, of, expressions(in, "{", "E"), "}");
}

static const char *subscript(struct itanium *in)
{
    const char *of = operand(in);
    return pug_itanium_join(in, pug_itanium_join(in, of, "[", pug_itanium_expression(in)), "]", "");
}

/* An operator with an operand on each side. ">" would look like the end of arguments. */
static const char *operation(struct itanium *in)
{
    const char *sign = pug_itanium_eat(in, "dt")   ? "."
                       : pug_itanium_eat(in, "ds") ? ".*"
                                                   : sign_of(in);
    if (!sign)
        return pug_itanium_fail(in).left;
    const char *left = operand(in);
    const char *text = pug_itanium_join(in, left, sign, operand(in));
    return strcmp(sign, ">") == 0 ? bracketed(in, text) : text;
}

/* An operator or a word before or after one operand; NULL: neither. */
static const char *wording(struct itanium *in)
{
    static const struct {
        const char *code, *before, *after;
        const char *(*of)(struct itanium *);
    } words[] = {
        {"ps", "+", "", operand},
        {"ng", "-", "", operand},
        {"de", "*", "", operand},
        {"co", "~", "", operand},
        {"nt", "!", "", operand},
        {"ad", "&", "", operand},
        {"pp_", "++", "", operand},
        {"mm_", "--", "", operand},
        {"pp", "", "++", operand},
        {"mm", "", "--", operand},
        {"dl", "delete ", "", operand},
        {"da", "delete[] ", "", operand},
        {"tw", "throw ", "", operand},
        {"aw", "co_await ", "", operand},
        {"sz", "sizeof ", "", operand},
        {"az", "alignof ", "", operand},
        {"st", "sizeof (", ")", type_of},
        {"at", "alignof (", ")", type_of},
        {"ti", "typeid (", ")", type_of},
        {"te", "typeid (", ")", pug_itanium_expression},
        {"nx", "noexcept (", ")", pug_itanium_expression},
        {"gs", "::", "", pug_itanium_expression},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (pug_itanium_eat(in, words[i].code)) {
            in->without_parameters = *words[i].before == '&' && strncmp(in->at, "L_ZN", 4) == 0;
            return pug_itanium_join(in, words[i].before, words[i].of(in), words[i].after);
        }
    return NULL;
}

/* "static_cast<int>(…)"; NULL: it is none. */
static const char *cast(struct itanium *in)
{
    static const struct word words[] = {{"sc", "static_cast<"},
                                        {"dc", "dynamic_cast<"},
                                        {"cc", "const_cast<"},
                                        {"rc", "reinterpret_cast<"}};
    const char *word = pug_itanium_find_word(in, words, sizeof(words) / sizeof(words[0]));
    if (!word)
        return NULL;
    const char *text = pug_itanium_join(in, word, type_of(in), ">");
    return pug_itanium_join(in, text, bracketed(in, pug_itanium_expression(in)), "");
}

/* Those that are nothing but a name, a value or a pack; NULL: it is none of them. */
static const char *primary(struct itanium *in)
{
    const char sign = pug_itanium_peek(in), second = pug_itanium_peek_second(in);
    if (pug_itanium_eat(in, "L"))
        return pug_itanium_literal(in).left;
    if (sign == 'T')
        return pug_itanium_whole(in, pug_itanium_template_parameter(in));
    if (pug_itanium_eat(in, "sr"))
        return unresolved_name(in);
    if (pug_itanium_is_digit(sign) || strncmp(in->at, "on", 2) == 0 ||
        strncmp(in->at, "dn", 2) == 0)
        return unresolved_level(in);
    if (pug_itanium_eat(in, "fp"))
        return function_parameter(in);
    if (sign == 'f' && second == 'L' && in->end - in->at > 2 && pug_itanium_is_digit(in->at[2])) {
        in->at += 2;
        return parameter_of_level(in);
    }
    if (pug_itanium_eat(in, "sp"))
        return expansion(in);
    return pug_itanium_eat(in, "sZ") ? pack_size(in) : NULL;
}

static const char *expression_of(struct itanium *in)
{
    const char *text = primary(in);
    if (!text)
        text = wording(in);
    if (!text)
        text = cast(in);
    if (text)
        return text;
    const char kind = pug_itanium_peek_second(in);
    if (pug_itanium_peek(in) == 'f' && kind && strchr("lrLR", kind)) {
        in->at += 2;
        return fold(in, kind);
    }
    if (pug_itanium_eat(in, "cl") || pug_itanium_eat(in, "cp"))
        return call(in);
    if (pug_itanium_eat(in, "cv"))
        return conversion(in);
    if (pug_itanium_eat(in, "qu"))
        return conditional(in);
    if (pug_itanium_eat(in, "ix"))
        return subscript(in);
    if (pug_itanium_eat(in, "nw") || pug_itanium_eat(in, "na"))
        return new_object(in);
    if (pug_itanium_eat(in, "il"))
        return list_in_braces(in, "");
    if (pug_itanium_eat(in, "tl"))
        return list_in_braces(in, type_of(in));
    if (pug_itanium_eat(in, "sP"))
        return pug_itanium_join(in, "sizeof...", expressions_in_brackets(in), "");
    return pug_itanium_eat(in, "tr") ? "throw" : operation(in);
}

const char *pug_itanium_expression(struct itanium *in)
{
    const char *text = pug_itanium_enter(in) ? expression_of(in) : "";
    in->depth--;
    return text;
}
