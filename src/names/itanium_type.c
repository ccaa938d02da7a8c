// SPDX-License-Identifier: MIT
/** @file C++ types, and the parameters of functions. */
#include "names/itanium.h"

/* "DF16_", "DF32x", "DF16b". */
static const char *float_type(struct itanium *in)
{
    const char *from = in->at;
    pug_itanium_number(in);
    const char *bits = pug_itanium_keep(in, from, (size_t)(in->at - from));
    if (pug_itanium_eat(in, "b"))
        return pug_itanium_join(in, "std::bfloat", bits, "_t");
    const char *rest = pug_itanium_eat(in, "x") ? "x" : pug_itanium_eat(in, "_") ? "" : NULL;
    return rest ? pug_itanium_join(in, "_Float", bits, rest) : pug_itanium_fail(in).left;
}

static const char *builtin(struct itanium *in)
{
    static const char *const names[26] = {
        ['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
        ['b' - 'a'] = "bool",        ['c' - 'a'] = "char",
        ['a' - 'a'] = "signed char", ['h' - 'a'] = "unsigned char",
        ['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
        ['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
        ['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
        ['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
        ['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
        ['f' - 'a'] = "float",       ['d' - 'a'] = "double",
        ['e' - 'a'] = "long double", ['g' - 'a'] = "__float128",
        ['z' - 'a'] = "..."};
    static const struct word longer[] = {
        {"Dn", "decltype(nullptr)"},
        {"Di", "char32_t"},
        {"Ds", "char16_t"},
        {"Du", "char8_t"},
        {"Da", "auto"},
        {"Dc", "decltype(auto)"},
        {"Df", "decimal32"},
        {"Dd", "decimal64"},
        {"De", "decimal128"},
        {"Dh", "half"},
    };
    const char byte = pug_itanium_peek(in);
    if (byte >= 'a' && byte <= 'z' && names[byte - 'a']) {
        in->at++;
        return names[byte - 'a'];
    }
    if (pug_itanium_eat(in, "DF"))
        return float_type(in);
    return pug_itanium_find_word(in, longer, sizeof(longer) / sizeof(longer[0]));
}

/* "E", "RE", "OE" and the suffix that a compiler put after a dot. */
static bool ends_parameters(const struct itanium *in)
{
    const char sign = pug_itanium_peek(in);
    return sign == '\0' || sign == 'E' || sign == '.' ||
           ((sign == 'R' || sign == 'O') && pug_itanium_peek_second(in) == 'E');
}

/* "(int, char)"; "()" for void. */
const char *pug_itanium_parameters(struct itanium *in)
{
    const char *list = "(";
    if (pug_itanium_eat(in, "v"))
        return "()";
    while (!in->failed && !ends_parameters(in))
        list = pug_itanium_listed(in, list, pug_itanium_whole(in, pug_itanium_type(in)));
    return pug_itanium_join(in, list, ")", "");
}

/* "Do", "DOL…E", "Dw…E": what it throws; "Dx". */
static const char *exceptions(struct itanium *in)
{
    const char *list = "(";
    if (pug_itanium_eat(in, "Do"))
        return " noexcept";
    if (pug_itanium_eat(in, "DO")) {
        list = pug_itanium_join(in, " noexcept(", pug_itanium_expression(in), ")");
        return pug_itanium_eat(in, "E") ? list : pug_itanium_fail(in).left;
    }
    if (!pug_itanium_eat(in, "Dw"))
        return "";
    while (!in->failed && !pug_itanium_eat(in, "E"))
        list = pug_itanium_listed(in, list, pug_itanium_whole(in, pug_itanium_type(in)));
    return pug_itanium_join(in, " throw", list, ")");
}

static bool begins_function(const struct itanium *in)
{
    const char sign = pug_itanium_peek(in), second = pug_itanium_peek_second(in);
    return sign == 'F' || (sign == 'D' && second && strchr("oOwx", second));
}

/* With what qualifies it, of which it is one part. */
static struct piece function_type(struct itanium *in, const char *qualifiers)
{
    const char *throws = exceptions(in);
    const char *safe = pug_itanium_eat(in, "Dx") ? " transaction_safe" : "";
    if (!pug_itanium_eat(in, "F"))
        return pug_itanium_fail(in);
    pug_itanium_eat(in, "Y");
    const struct piece result = pug_itanium_type(in);
    const char *list = pug_itanium_join(in, pug_itanium_parameters(in), safe, qualifiers);
    const char *reference = pug_itanium_eat(in, "R") ? " &" : pug_itanium_eat(in, "O") ? " &&" : "";
    if (!pug_itanium_eat(in, "E"))
        return pug_itanium_fail(in);
    list = pug_itanium_join(in, list, reference, throws);
    return (struct piece){pug_itanium_join(in, result.left, " ", ""),
                          pug_itanium_join(in, list, result.right, "")};
}

static struct piece array_type(struct itanium *in)
{
    const char *from = in->at, *size = "";
    if (pug_itanium_is_digit(pug_itanium_peek(in))) {
        pug_itanium_number(in);
        size = pug_itanium_keep(in, from, (size_t)(in->at - from));
    } else if (pug_itanium_peek(in) != '_') {
        size = pug_itanium_expression(in);
    }
    if (!pug_itanium_eat(in, "_"))
        return pug_itanium_fail(in);
    const struct piece of = pug_itanium_type(in);
    return (struct piece){pug_itanium_join(in, of.left, *of.right == '[' ? "" : " ", ""),
                          pug_itanium_join(in, pug_itanium_join(in, "[", size, "]"), of.right, "")};
}

/* A sign between what a type has on its left and on its right. */
static struct piece decorated(struct itanium *in, struct piece of, const char *sign)
{
    if (*of.right == '(' || *of.right == '[') {
        const size_t length = strlen(of.left);
        const bool blank = length > 0 && of.left[length - 1] == ' ';
        return (struct piece){pug_itanium_join(in, of.left, blank ? "(" : " (", sign),
                              pug_itanium_join(in, *of.right == '[' ? ") " : ")", of.right, "")};
    }
    return (struct piece){pug_itanium_join(in, of.left, sign, ""), of.right};
}

/* References to references are the weaker one. */
static struct piece reference(struct itanium *in, struct piece of, const char *sign)
{
    const size_t length = strlen(of.left);
    const bool already = length > 0 && of.left[length - 1] == '&';
    const bool twice = length > 1 && already && of.left[length - 2] == '&';
    if (!already)
        return decorated(in, of, sign);
    if (twice && strcmp(sign, "&") == 0)
        return (struct piece){pug_itanium_keep(in, of.left, length - 1), of.right};
    return of;
}

/* Const and similar words come last; for a function they follow its parameters. */
static struct piece qualified(struct itanium *in)
{
    const char *words = pug_itanium_member_qualifiers(in);
    if (begins_function(in))
        return function_type(in, words);
    struct piece of = pug_itanium_type(in);
    if (*of.right == '(')
        return (struct piece){of.left, pug_itanium_join(in, of.right, words, "")};
    return (struct piece){pug_itanium_join(in, of.left, words, ""), of.right};
}

static struct piece member_pointer(struct itanium *in)
{
    const char *class = pug_itanium_whole(in, pug_itanium_type(in));
    const struct piece member = pug_itanium_type(in);
    return decorated(in, member,
                     pug_itanium_join(in, *member.right == '(' ? "" : " ", class, "::*"));
}

static const char *whole_type(struct itanium *in)
{
    return pug_itanium_whole(in, pug_itanium_type(in));
}

static struct piece expansion(struct itanium *in)
{
    const char *list;
    const bool expanded = pug_itanium_expansion(in, whole_type, &list);
    return pug_itanium_plain(expanded ? list : pug_itanium_join(in, list, "...", ""));
}

/* "Dv4_f", or with an expression in front of the sign. */
static struct piece vector_type(struct itanium *in)
{
    const char *from = in->at, *size = "";
    if (pug_itanium_is_digit(pug_itanium_peek(in))) {
        pug_itanium_number(in);
        size = pug_itanium_keep(in, from, (size_t)(in->at - from));
    } else if (pug_itanium_eat(in, "_")) {
        size = pug_itanium_expression(in);
    }
    if (!pug_itanium_eat(in, "_"))
        return pug_itanium_fail(in);
    const char *of = whole_type(in);
    return pug_itanium_plain(
        pug_itanium_join(in, of, " __vector", pug_itanium_join(in, "(", size, ")")));
}

/* A class, an enumeration, or a part of a template: whatever has a name. */
static struct piece named(struct itanium *in)
{
    const bool outer_return = in->has_return, outer_resultless = in->resultless;
    const bool numbered = pug_itanium_peek(in) == 'S' && in->at + 1 < in->end && in->at[1] != 't';
    const char *before = in->at;
    struct piece of;
    bool complete;
    in->scope.type_depth++;
    if (numbered) {
        const char *whole_name = pug_itanium_standard(in, &complete);
        of = whole_name ? pug_itanium_plain(whole_name) : pug_itanium_substitution(in);
        if (pug_itanium_peek(in) == 'I') {
            of = pug_itanium_plain(pug_itanium_join(in, pug_itanium_whole(in, of),
                                                    pug_itanium_template_arguments(in), ""));
            pug_itanium_substitute(in, of);
        }
    } else {
        in->at = before;
        of = pug_itanium_plain(pug_itanium_name(in));
        pug_itanium_substitute(in, of);
    }
    in->scope.type_depth--;
    in->has_return = outer_return;
    in->resultless = outer_resultless;
    return of;
}

static struct piece parameter_type(struct itanium *in)
{
    const char *from = in->at;
    struct piece of = pug_itanium_template_parameter(in);
    pug_itanium_substitute(in, of);
    if (!in->failed)
        in->substitutions[in->substitution_count - 1].parameter = from;
    if (pug_itanium_peek(in) == 'I' && in->scope.type_depth != in->scope.conversion) {
        of = pug_itanium_plain(pug_itanium_join(in, pug_itanium_whole(in, of),
                                                pug_itanium_template_arguments(in), ""));
        pug_itanium_substitute(in, of);
    }
    return of;
}

/* Those that can be named again. */
static struct piece compound(struct itanium *in)
{
    if (pug_itanium_eat(in, "P"))
        return decorated(in, pug_itanium_type(in), "*");
    if (pug_itanium_eat(in, "R"))
        return reference(in, pug_itanium_type(in), "&");
    if (pug_itanium_eat(in, "O"))
        return reference(in, pug_itanium_type(in), "&&");
    if (pug_itanium_eat(in, "C"))
        return pug_itanium_plain(
            pug_itanium_join(in, pug_itanium_whole(in, pug_itanium_type(in)), " _Complex", ""));
    if (begins_function(in))
        return function_type(in, "");
    if (pug_itanium_eat(in, "A"))
        return array_type(in);
    if (pug_itanium_eat(in, "M"))
        return member_pointer(in);
    if (pug_itanium_eat(in, "Dp"))
        return expansion(in);
    if (pug_itanium_eat(in, "Dv"))
        return vector_type(in);
    if (pug_itanium_peek(in) == 'D')
        return pug_itanium_plain(pug_itanium_decltype_of(in));
    if (pug_itanium_eat(in, "U")) {
        const char *word = pug_itanium_source_name(in);
        return pug_itanium_plain(
            pug_itanium_join(in, pug_itanium_whole(in, pug_itanium_type(in)), " ", word));
    }
    return pug_itanium_fail(in);
}

struct piece pug_itanium_type(struct itanium *in)
{
    if (!pug_itanium_enter(in))
        return nothing;
    struct piece of;
    const char byte = pug_itanium_peek(in);
    const char *simple = builtin(in);
    const bool has_name = pug_itanium_is_digit(byte) || byte == 'N' || byte == 'Z' || byte == 'S';
    if (simple) {
        of = pug_itanium_plain(simple);
    } else if (pug_itanium_eat(in, "u")) {
        of = pug_itanium_plain(pug_itanium_source_name(in));
        pug_itanium_substitute(in, of);
    } else if (has_name) {
        of = named(in);
    } else if (byte == 'T') {
        of = parameter_type(in);
    } else {
        of = byte == 'r' || byte == 'V' || byte == 'K' ? qualified(in) : compound(in);
        pug_itanium_substitute(in, of);
    }
    in->depth--;
    return of;
}
