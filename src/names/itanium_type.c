// SPDX-License-Identifier: MIT
/** @file C++ types, and the parameters of functions. */
#include "names/itanium.h"

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
    const char byte = peek(in);
    if (byte >= 'a' && byte <= 'z' && names[byte - 'a']) {
        in->at++;
        return names[byte - 'a'];
    }
    return find_word(in, longer, sizeof(longer) / sizeof(longer[0]));
}

/* "E", "RE", "OE" and what a compiler put behind a dot. */
static bool ends_parameters(const struct itanium *in)
{
    const char sign = peek(in);
    return sign == '\0' || sign == 'E' || sign == '.' ||
           ((sign == 'R' || sign == 'O') && peek_second(in) == 'E');
}

/* "(int, char)"; "()" for void. */
const char *pug_itanium_parameters(struct itanium *in)
{
    const char *list = "(";
    if (eat(in, "v"))
        return "()";
    while (!in->failed && !ends_parameters(in))
        list = listed(in, list, whole(in, pug_itanium_type(in)));
    return join(in, list, ")", "");
}

static struct piece function_type(struct itanium *in)
{
    eat(in, "Y");
    const struct piece result = pug_itanium_type(in);
    const char *list = pug_itanium_parameters(in);
    const char *reference = eat(in, "R") ? " &" : eat(in, "O") ? " &&" : "";
    if (!eat(in, "E"))
        return fail(in);
    return (struct piece){join(in, result.left, " ", ""), join(in, list, reference, result.right)};
}

static struct piece array_type(struct itanium *in)
{
    const char *from = in->at, *size = "";
    if (is_digit(peek(in))) {
        number(in);
        size = keep(in, from, (size_t)(in->at - from));
    } else if (peek(in) != '_') {
        size = pug_itanium_expression(in);
    }
    if (!eat(in, "_"))
        return fail(in);
    const struct piece of = pug_itanium_type(in);
    return (struct piece){join(in, of.left, *of.right == '[' ? "" : " ", ""),
                          join(in, join(in, "[", size, "]"), of.right, "")};
}

/* A sign between what a type has on its left and on its right. */
static struct piece decorated(struct itanium *in, struct piece of, const char *sign)
{
    if (*of.right == '(' || *of.right == '[') {
        const size_t length = strlen(of.left);
        const bool blank = length > 0 && of.left[length - 1] == ' ';
        return (struct piece){join(in, of.left, blank ? "(" : " (", sign),
                              join(in, *of.right == '[' ? ") " : ")", of.right, "")};
    }
    return (struct piece){join(in, of.left, sign, ""), of.right};
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
        return (struct piece){keep(in, of.left, length - 1), of.right};
    return of;
}

/* Const and its like stand behind; of a function they stand behind its parameters. */
static struct piece qualified(struct itanium *in)
{
    const char *words = pug_itanium_member_qualifiers(in);
    struct piece of = pug_itanium_type(in);
    if (*of.right == '(')
        return (struct piece){of.left, join(in, of.right, words, "")};
    return (struct piece){join(in, of.left, words, ""), of.right};
}

static struct piece member_pointer(struct itanium *in)
{
    const char *class = whole(in, pug_itanium_type(in));
    const struct piece member = pug_itanium_type(in);
    return decorated(in, member, join(in, *member.right == '(' ? "" : " ", class, "::*"));
}

/* "Dp": the pattern once for each member of the pack in it. */
static struct piece expansion(struct itanium *in)
{
    const char *from = in->at;
    const uint32_t outer = in->pack_index;
    in->pack_index = 0;
    in->pack_size = NO_PACK;
    const char *list = whole(in, pug_itanium_type(in));
    const uint32_t size = in->pack_size, substitutions = in->substitution_count;
    const char *after = in->at;
    if (size == NO_PACK)
        list = join(in, list, "...", "");
    else if (size == 0)
        list = "";
    for (uint32_t i = 1; size != NO_PACK && i < size && !in->failed; i++) {
        in->at = from;
        in->pack_index = i;
        list = join(in, list, ", ", whole(in, pug_itanium_type(in)));
        in->substitution_count = substitutions;
    }
    in->at = after;
    in->pack_index = outer;
    return plain(list);
}

/* A class, an enumeration, or a part of a template: whatever has a name. */
static struct piece named(struct itanium *in)
{
    const bool outer_return = in->has_return;
    const bool numbered = peek(in) == 'S' && in->at + 1 < in->end && in->at[1] != 't';
    const char *before = in->at;
    struct piece of;
    bool complete;
    in->type_depth++;
    if (numbered) {
        const char *whole_name = pug_itanium_standard(in, &complete);
        of = whole_name ? plain(whole_name) : pug_itanium_substitution(in);
        if (peek(in) == 'I') {
            of = plain(join(in, whole(in, of), pug_itanium_template_arguments(in), ""));
            substitute(in, of);
        }
    } else {
        in->at = before;
        of = plain(pug_itanium_name(in));
        substitute(in, of);
    }
    in->type_depth--;
    in->has_return = outer_return;
    return of;
}

static struct piece parameter_type(struct itanium *in)
{
    struct piece of = pug_itanium_template_parameter(in);
    substitute(in, of);
    if (peek(in) == 'I') {
        of = plain(join(in, whole(in, of), pug_itanium_template_arguments(in), ""));
        substitute(in, of);
    }
    return of;
}

/* Those that can be named again. */
static struct piece compound(struct itanium *in)
{
    if (eat(in, "P"))
        return decorated(in, pug_itanium_type(in), "*");
    if (eat(in, "R"))
        return reference(in, pug_itanium_type(in), "&");
    if (eat(in, "O"))
        return reference(in, pug_itanium_type(in), "&&");
    if (eat(in, "C"))
        return plain(join(in, whole(in, pug_itanium_type(in)), " _Complex", ""));
    if (eat(in, "F") || eat(in, "DoF"))
        return function_type(in);
    if (eat(in, "A"))
        return array_type(in);
    if (eat(in, "M"))
        return member_pointer(in);
    if (eat(in, "Dp"))
        return expansion(in);
    if (peek(in) == 'D')
        return plain(pug_itanium_decltype_of(in));
    if (eat(in, "U")) {
        const char *word = pug_itanium_source_name(in);
        return plain(join(in, whole(in, pug_itanium_type(in)), " ", word));
    }
    return fail(in);
}

struct piece pug_itanium_type(struct itanium *in)
{
    if (!enter(in))
        return nothing;
    struct piece of;
    const char byte = peek(in);
    const char *simple = builtin(in);
    const bool has_name = is_digit(byte) || byte == 'N' || byte == 'Z' || byte == 'S';
    if (simple) {
        of = plain(simple);
    } else if (eat(in, "u")) {
        of = plain(pug_itanium_source_name(in));
        substitute(in, of);
    } else if (has_name) {
        of = named(in);
    } else if (byte == 'T') {
        of = parameter_type(in);
    } else {
        of = byte == 'r' || byte == 'V' || byte == 'K' ? qualified(in) : compound(in);
        substitute(in, of);
    }
    in->depth--;
    return of;
}
