// SPDX-License-Identifier: MIT
/** @file C++ names: what is before a function's parameters, and operators. */
#include "names/itanium.h"

const char *pug_itanium_source_name(struct itanium *in)
{
    const size_t length = number(in);
    if (in->failed || length == 0 || length > (size_t)(in->end - in->at))
        return fail(in).left;
    const char *from = in->at;
    in->at += length;
    if (length >= 10 && strncmp(from, "_GLOBAL__N", 10) == 0)
        return "(anonymous namespace)";
    return keep(in, from, length);
}

static const char *abi_tags(struct itanium *in, const char *text)
{
    while (eat(in, "B"))
        text = join(in, text, "[abi:", join(in, pug_itanium_source_name(in), "]", ""));
    return text;
}

static const struct word operators[] = {
    {"nw", "operator new"},      {"na", "operator new[]"}, {"dl", "operator delete"},
    {"da", "operator delete[]"}, {"ps", "operator+"},      {"ng", "operator-"},
    {"ad", "operator&"},         {"de", "operator*"},      {"co", "operator~"},
    {"pl", "operator+"},         {"mi", "operator-"},      {"ml", "operator*"},
    {"dv", "operator/"},         {"rm", "operator%"},      {"an", "operator&"},
    {"or", "operator|"},         {"eo", "operator^"},      {"aS", "operator="},
    {"pL", "operator+="},        {"mI", "operator-="},     {"mL", "operator*="},
    {"dV", "operator/="},        {"rM", "operator%="},     {"aN", "operator&="},
    {"oR", "operator|="},        {"eO", "operator^="},     {"ls", "operator<<"},
    {"rs", "operator>>"},        {"lS", "operator<<="},    {"rS", "operator>>="},
    {"eq", "operator=="},        {"ne", "operator!="},     {"lt", "operator<"},
    {"gt", "operator>"},         {"le", "operator<="},     {"ge", "operator>="},
    {"ss", "operator<=>"},       {"nt", "operator!"},      {"aa", "operator&&"},
    {"oo", "operator||"},        {"pp", "operator++"},     {"mm", "operator--"},
    {"cm", "operator,"},         {"pm", "operator->*"},    {"pt", "operator->"},
    {"cl", "operator()"},        {"ix", "operator[]"},     {"qu", "operator?"},
    {"aw", "operator co_await"},
};

const char *pug_itanium_operator(struct itanium *in)
{
    return find_word(in, operators, sizeof(operators) / sizeof(operators[0]));
}

static const char *operator_name(struct itanium *in)
{
    const char *found = pug_itanium_operator(in);
    if (found)
        return found;
    if (eat(in, "cv")) {
        in->type_depth++;
        const char *to = whole(in, pug_itanium_type(in));
        in->type_depth--;
        return join(in, "operator ", to, "");
    }
    if (eat(in, "li"))
        return join(in, "operator\"\" ", pug_itanium_source_name(in), "");
    return fail(in).left;
}

/* "Ut_". */
static const char *unnamed_type(struct itanium *in)
{
    char text[40];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    pug_text_format(&out, "{unnamed type#%u}", (unsigned)sequence(in, 10) + 1);
    pug_text_end(&out);
    return keep(in, text, out.length);
}

/* "UlvE_". */
static const char *lambda(struct itanium *in)
{
    char text[40];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    in->type_depth++;
    in->lambda++;
    const char *list = pug_itanium_parameters(in);
    in->lambda--;
    in->type_depth--;
    if (!eat(in, "E"))
        return fail(in).left;
    pug_text_format(&out, "#%u}", (unsigned)sequence(in, 10) + 1);
    pug_text_end(&out);
    return join(in, "{lambda", list, keep(in, text, out.length));
}

static const char *structured_binding(struct itanium *in)
{
    const char *list = "[";
    while (!in->failed && !eat(in, "E"))
        list = listed(in, list, pug_itanium_source_name(in));
    return join(in, list, "]", "");
}

const char *pug_itanium_unqualified_name(struct itanium *in)
{
    const char *text;
    eat(in, "L"); /* internal linkage, as some compilers say */
    if (is_digit(peek(in)))
        text = pug_itanium_source_name(in);
    else if (eat(in, "Ut"))
        text = unnamed_type(in);
    else if (eat(in, "Ul"))
        text = lambda(in);
    else if (eat(in, "DC"))
        text = structured_binding(in);
    else
        text = operator_name(in);
    return abi_tags(in, text);
}

/* The last part of a name without template arguments: what a constructor is called. */
static const char *last_part(struct itanium *in, const char *text)
{
    size_t end = strlen(text), open = 0, begin;
    if (end > 0 && text[end - 1] == '>') {
        do {
            end--;
            open += text[end] == '>';
            open -= text[end] == '<';
        } while (end > 0 && open > 0);
    }
    for (begin = end; begin > 0 && text[begin - 1] != ':'; begin--)
        ;
    const char *tag = strstr(text + begin, "[abi:");
    if (tag && tag < text + end)
        end = (size_t)(tag - text);
    return keep(in, text + begin, end - begin);
}

/* Standard abbreviations, whole (for constructors of theirs, too). */
const char *pug_itanium_standard(struct itanium *in, bool *complete)
{
    static const struct word words[] = {
        {"Sa", "std::allocator"}, {"Sb", "std::basic_string"}, {"Ss", "std::string"},
        {"Si", "std::istream"},   {"So", "std::ostream"},      {"Sd", "std::iostream"},
    };
    *complete = false;
    const char *found = find_word(in, words, sizeof(words) / sizeof(words[0]));
    if (found)
        *complete = true;
    else if (eat(in, "St"))
        found = "std";
    return found;
}

struct piece pug_itanium_substitution(struct itanium *in)
{
    if (!eat(in, "S"))
        return fail(in);
    const uint32_t which = sequence(in, 36);
    return which < in->substitution_count ? in->substitutions[which] : fail(in);
}

/* "C1", "D0", and constructors that are inherited, "CI1" and the class that they are of. */
static bool is_structor(const struct itanium *in)
{
    return peek(in) == 'C' || (peek(in) == 'D' && is_digit(peek_second(in)));
}

static const char *structor(struct itanium *in, const char *class)
{
    const bool destructor = peek(in) == 'D', inherited = !destructor && peek_second(in) == 'I';
    const size_t length = inherited ? 3 : 2;
    if ((size_t)(in->end - in->at) < length)
        return fail(in).left;
    in->at += length;
    if (inherited)
        pug_itanium_type(in);
    const char *part = abi_tags(in, last_part(in, class));
    return join(in, class, destructor ? "::~" : "::", part);
}

/* What a nested name begins with, and may be all of it: "St", "S_", "T_", "Dt…E". NULL: none of
 * these. */
static const char *prefix(struct itanium *in, bool *substitutable)
{
    bool complete;
    *substitutable = false;
    if (is_substitution(in))
        return whole(in, pug_itanium_substitution(in));
    if (peek(in) == 'S') {
        const char *text = pug_itanium_standard(in, &complete);
        return text ? text : fail(in).left;
    }
    *substitutable = true;
    if (peek(in) == 'T')
        return whole(in, pug_itanium_template_parameter(in));
    return peek(in) == 'D' && (peek_second(in) == 't' || peek_second(in) == 'T')
               ? pug_itanium_decltype_of(in)
               : NULL;
}

/* One more part of a nested name; `text` is what is before it, NULL: nothing. */
static const char *prefix_part(struct itanium *in, const char *text, bool *substitutable)
{
    in->has_return = false;
    const char *begun = prefix(in, substitutable);
    if (begun)
        return begun;
    if (peek(in) == 'I') {
        const char *arguments = text ? pug_itanium_template_arguments(in) : fail(in).left;
        in->has_return = true;
        return join(in, text ? text : "", arguments, "");
    }
    if (text && is_structor(in))
        return structor(in, text);
    const char *part = pug_itanium_unqualified_name(in);
    return text ? join(in, text, "::", part) : part;
}

/* What is behind a member function's parameters. */
const char *pug_itanium_member_qualifiers(struct itanium *in)
{
    const char *text = "";
    bool is_const = false, is_volatile = false, is_restrict = false;
    for (;;) {
        if (eat(in, "r"))
            is_restrict = true;
        else if (eat(in, "V"))
            is_volatile = true;
        else if (eat(in, "K"))
            is_const = true;
        else
            break;
    }
    text = is_const ? " const" : "";
    text = is_volatile ? join(in, text, " volatile", "") : text;
    text = is_restrict ? join(in, text, " __restrict__", "") : text;
    if (eat(in, "R"))
        return join(in, text, " &", "");
    return eat(in, "O") ? join(in, text, " &&", "") : text;
}

static const char *nested_name(struct itanium *in, const char **qualifiers)
{
    const char *text = NULL;
    *qualifiers = pug_itanium_member_qualifiers(in);
    while (!in->failed && !eat(in, "E")) {
        bool substitutable;
        text = prefix_part(in, text, &substitutable);
        if (substitutable && peek(in) != 'E')
            substitute(in, plain(text));
    }
    return text ? text : fail(in).left;
}

static void discriminator(struct itanium *in)
{
    if (eat(in, "__")) {
        number(in);
        eat(in, "_");
    } else if (eat(in, "_")) {
        number(in);
    }
}

static const char *local_name(struct itanium *in, const char **qualifiers)
{
    const char *function = pug_itanium_encoding(in);
    if (!eat(in, "E"))
        return fail(in).left;
    if (eat(in, "s")) {
        discriminator(in);
        return join(in, function, "::string literal", "");
    }
    if (eat(in, "d")) { /* in a default argument */
        if (is_digit(peek(in)))
            number(in);
        eat(in, "_");
    }
    in->has_return = false;
    const char *inner = eat(in, "N") ? nested_name(in, qualifiers) : pug_itanium_name(in);
    discriminator(in);
    return join(in, function, "::", inner);
}

static const char *unscoped(struct itanium *in)
{
    bool complete;
    if (peek(in) != 'S')
        return pug_itanium_unqualified_name(in);
    const char *space = pug_itanium_standard(in, &complete);
    if (!space)
        return fail(in).left;
    return complete ? space : join(in, space, "::", pug_itanium_unqualified_name(in));
}

const char *pug_itanium_qualified_name(struct itanium *in, const char **qualifiers)
{
    const char *text;
    *qualifiers = "";
    in->has_return = false;
    if (eat(in, "N"))
        return nested_name(in, qualifiers);
    if (eat(in, "Z"))
        return local_name(in, qualifiers);
    const bool numbered = is_substitution(in);
    text = numbered ? whole(in, pug_itanium_substitution(in)) : unscoped(in);
    if (peek(in) == 'I') {
        if (!numbered)
            substitute(in, plain(text));
        text = join(in, text, pug_itanium_template_arguments(in), "");
        in->has_return = true;
    }
    return text;
}

const char *pug_itanium_name(struct itanium *in)
{
    const char *qualifiers;
    if (!enter(in))
        return "";
    const char *text = pug_itanium_qualified_name(in, &qualifiers);
    in->depth--;
    return text;
}
