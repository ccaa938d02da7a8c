// SPDX-License-Identifier: MIT
/** @file C++ names: what is before a function's parameters, and operators. */
#include "names/itanium.h"

const char *pug_itanium_source_name(struct itanium *in)
{
    const size_t length = pug_itanium_number(in);
    if (in->failed || length == 0 || length > (size_t)(in->end - in->at))
        return pug_itanium_fail(in).left;
    const char *from = in->at;
    in->at += length;
    if (length >= 10 && strncmp(from, "_GLOBAL__N", 10) == 0)
        return "(anonymous namespace)";
    return pug_itanium_keep(in, from, length);
}

static const char *abi_tags(struct itanium *in, const char *text)
{
    while (pug_itanium_eat(in, "B"))
        text = pug_itanium_join(
            in, text, "[abi:", pug_itanium_join(in, pug_itanium_source_name(in), "]", ""));
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
    return pug_itanium_find_word(in, operators, sizeof(operators) / sizeof(operators[0]));
}

/* The target type of a conversion operator may be a parameter of a template whose arguments follow
 * it. */
static const char *conversion(struct itanium *in)
{
    const unsigned outer = in->scope.conversion;
    const struct itanium_place place = pug_itanium_place(in);
    in->scope.conversion = ++in->scope.type_depth;
    const char *to = pug_itanium_whole(in, pug_itanium_type(in));
    if (pug_itanium_peek(in) == 'I') {
        in->scope.type_depth--;
        pug_itanium_template_arguments(in);
        in->scope.type_depth++;
        pug_itanium_return_to(in, &place);
        to = pug_itanium_whole(in, pug_itanium_type(in));
    }
    in->scope.type_depth--;
    in->scope.conversion = outer;
    in->resultless = true;
    return pug_itanium_join(in, "operator ", to, "");
}

static const char *operator_name(struct itanium *in)
{
    const char *found = pug_itanium_operator(in);
    if (found)
        return found;
    if (pug_itanium_eat(in, "cv"))
        return conversion(in);
    if (pug_itanium_eat(in, "li"))
        return pug_itanium_join(in, "operator\"\" ", pug_itanium_source_name(in), "");
    return pug_itanium_fail(in).left;
}

/* "Ut_". */
static const char *unnamed_type(struct itanium *in)
{
    char text[40];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    pug_text_format(&out, "{unnamed type#%u}", (unsigned)pug_itanium_sequence(in, 10) + 1);
    pug_text_end(&out);
    return pug_itanium_keep(in, text, out.length);
}

/* "UlvE_". */
static const char *lambda(struct itanium *in)
{
    char text[40];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    in->scope.type_depth++;
    in->scope.lambda++;
    const char *list = pug_itanium_parameters(in);
    in->scope.lambda--;
    in->scope.type_depth--;
    if (!pug_itanium_eat(in, "E"))
        return pug_itanium_fail(in).left;
    pug_text_format(&out, "#%u}", (unsigned)pug_itanium_sequence(in, 10) + 1);
    pug_text_end(&out);
    return pug_itanium_join(in, "{lambda", list, pug_itanium_keep(in, text, out.length));
}

static const char *structured_binding(struct itanium *in)
{
    const char *list = "[";
    while (!in->failed && !pug_itanium_eat(in, "E"))
        list = pug_itanium_listed(in, list, pug_itanium_source_name(in));
    return pug_itanium_join(in, list, "]", "");
}

const char *pug_itanium_unqualified_name(struct itanium *in)
{
    const char *text;
    pug_itanium_eat(in, "L"); /* internal linkage, as some compilers say */
    if (pug_itanium_is_digit(pug_itanium_peek(in)))
        text = pug_itanium_source_name(in);
    else if (pug_itanium_eat(in, "Ut"))
        text = unnamed_type(in);
    else if (pug_itanium_eat(in, "Ul"))
        text = lambda(in);
    else if (pug_itanium_eat(in, "DC"))
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
    return pug_itanium_keep(in, text + begin, end - begin);
}

/* Standard abbreviations, whole (for constructors of theirs, too). */
const char *pug_itanium_standard(struct itanium *in, bool *complete)
{
    static const struct word words[] = {
        {"Sa", "std::allocator"}, {"Sb", "std::basic_string"}, {"Ss", "std::string"},
        {"Si", "std::istream"},   {"So", "std::ostream"},      {"Sd", "std::iostream"},
    };
    *complete = false;
    const char *found = pug_itanium_find_word(in, words, sizeof(words) / sizeof(words[0]));
    if (found)
        *complete = true;
    else if (pug_itanium_eat(in, "St"))
        found = "std";
    return found;
}

static struct piece parameter_again(struct itanium *in, const char *from)
{
    const char *after = in->at;
    in->at = from;
    const struct piece is = pug_itanium_template_parameter(in);
    in->at = after;
    return is;
}

struct piece pug_itanium_substitution(struct itanium *in)
{
    if (!pug_itanium_eat(in, "S"))
        return pug_itanium_fail(in);
    const uint32_t which = pug_itanium_sequence(in, 36);
    if (which >= in->substitution_count)
        return pug_itanium_fail(in);
    const struct substitution *found = &in->substitutions[which];
    if (found->parameter)
        return parameter_again(in, found->parameter);
    if (found->stride == 0 || in->pack_index == NO_PACK)
        return found->is;
    if (in->pack_size == NO_PACK)
        in->pack_size = found->count;
    return in->pack_index < found->count
               ? in->variants[found->first + in->pack_index * found->stride]
               : found->is;
}

/* "C1", "D0", and constructors that are inherited, "CI1" and the class that they are of. */
static bool is_structor(const struct itanium *in)
{
    return pug_itanium_peek(in) == 'C' ||
           (pug_itanium_peek(in) == 'D' && pug_itanium_is_digit(pug_itanium_peek_second(in)));
}

static const char *structor(struct itanium *in, const char *class)
{
    const bool destructor = pug_itanium_peek(in) == 'D',
               inherited = !destructor && pug_itanium_peek_second(in) == 'I';
    const size_t length = inherited ? 3 : 2;
    if ((size_t)(in->end - in->at) < length)
        return pug_itanium_fail(in).left;
    in->at += length;
    if (inherited)
        pug_itanium_type(in);
    const char *part = abi_tags(in, last_part(in, class));
    return pug_itanium_join(in, class, destructor ? "::~" : "::", part);
}

/* What a nested name begins with, and may be all of it: "St", "S_", "T_", "Dt…E". NULL: none of
 * these. */
static const char *prefix(struct itanium *in, bool *substitutable)
{
    bool complete;
    *substitutable = false;
    if (pug_itanium_is_substitution(in))
        return pug_itanium_whole(in, pug_itanium_substitution(in));
    if (pug_itanium_peek(in) == 'S') {
        const char *text = pug_itanium_standard(in, &complete);
        return text ? text : pug_itanium_fail(in).left;
    }
    *substitutable = true;
    if (pug_itanium_peek(in) == 'T')
        return pug_itanium_whole(in, pug_itanium_template_parameter(in));
    return pug_itanium_peek(in) == 'D' &&
                   (pug_itanium_peek_second(in) == 't' || pug_itanium_peek_second(in) == 'T')
               ? pug_itanium_decltype_of(in)
               : NULL;
}

/* One more part of a nested name; `text` is what is before it, NULL: nothing. */
static const char *prefix_part(struct itanium *in, const char *text, bool *substitutable)
{
    const bool resultless = in->resultless;
    in->has_return = in->resultless = false;
    const char *begun = prefix(in, substitutable);
    if (begun)
        return begun;
    if (pug_itanium_peek(in) == 'I') {
        const char *arguments =
            text ? pug_itanium_template_arguments(in) : pug_itanium_fail(in).left;
        in->has_return = !resultless;
        return pug_itanium_join(in, text ? text : "", arguments, "");
    }
    if (text && is_structor(in)) {
        const char *whole = structor(in, text);
        in->resultless = true;
        return whole;
    }
    const char *part = pug_itanium_unqualified_name(in);
    return text ? pug_itanium_join(in, text, "::", part) : part;
}

/* The text after a member function's parameters. */
const char *pug_itanium_member_qualifiers(struct itanium *in)
{
    const char *text = "";
    bool is_const = false, is_volatile = false, is_restrict = false;
    for (;;) {
        if (pug_itanium_eat(in, "r"))
            is_restrict = true;
        else if (pug_itanium_eat(in, "V"))
            is_volatile = true;
        else if (pug_itanium_eat(in, "K"))
            is_const = true;
        else
            break;
    }
    text = is_const ? " const" : "";
    text = is_volatile ? pug_itanium_join(in, text, " volatile", "") : text;
    text = is_restrict ? pug_itanium_join(in, text, " __restrict__", "") : text;
    if (pug_itanium_eat(in, "R"))
        return pug_itanium_join(in, text, " &", "");
    return pug_itanium_eat(in, "O") ? pug_itanium_join(in, text, " &&", "") : text;
}

static const char *nested_name(struct itanium *in, const char **qualifiers)
{
    const char *text = NULL;
    *qualifiers = pug_itanium_member_qualifiers(in);
    while (!in->failed && !pug_itanium_eat(in, "E")) {
        bool substitutable;
        text = prefix_part(in, text, &substitutable);
        pug_itanium_eat(in, "M"); /* a member, in whose initialiser is what follows */
        if (substitutable && pug_itanium_peek(in) != 'E')
            pug_itanium_substitute(in, pug_itanium_plain(text));
    }
    return text ? text : pug_itanium_fail(in).left;
}

static void discriminator(struct itanium *in)
{
    if (pug_itanium_eat(in, "__")) {
        pug_itanium_number(in);
        pug_itanium_eat(in, "_");
    } else if (pug_itanium_eat(in, "_")) {
        pug_itanium_number(in);
    }
}

static const char *local_name(struct itanium *in, const char **qualifiers)
{
    in->without_result = true;
    const char *function = pug_itanium_encoding(in);
    if (!pug_itanium_eat(in, "E"))
        return pug_itanium_fail(in).left;
    if (pug_itanium_eat(in, "s")) {
        discriminator(in);
        return pug_itanium_join(in, function, "::string literal", "");
    }
    if (pug_itanium_eat(in, "d")) { /* in a default argument */
        if (pug_itanium_is_digit(pug_itanium_peek(in)))
            pug_itanium_number(in);
        pug_itanium_eat(in, "_");
    }
    in->has_return = false;
    const char *inner =
        pug_itanium_eat(in, "N") ? nested_name(in, qualifiers) : pug_itanium_name(in);
    discriminator(in);
    return pug_itanium_join(in, function, "::", inner);
}

static const char *unscoped(struct itanium *in)
{
    bool complete;
    if (pug_itanium_peek(in) != 'S')
        return pug_itanium_unqualified_name(in);
    const char *space = pug_itanium_standard(in, &complete);
    if (!space)
        return pug_itanium_fail(in).left;
    return complete ? space : pug_itanium_join(in, space, "::", pug_itanium_unqualified_name(in));
}

const char *pug_itanium_qualified_name(struct itanium *in, const char **qualifiers)
{
    const char *text;
    *qualifiers = "";
    in->has_return = false;
    if (pug_itanium_eat(in, "N"))
        return nested_name(in, qualifiers);
    if (pug_itanium_eat(in, "Z"))
        return local_name(in, qualifiers);
    const bool numbered = pug_itanium_is_substitution(in);
    text = numbered ? pug_itanium_whole(in, pug_itanium_substitution(in)) : unscoped(in);
    if (pug_itanium_peek(in) == 'I') {
        if (!numbered)
            pug_itanium_substitute(in, pug_itanium_plain(text));
        text = pug_itanium_join(in, text, pug_itanium_template_arguments(in), "");
        in->has_return = true;
    }
    return text;
}

const char *pug_itanium_name(struct itanium *in)
{
    const char *qualifiers;
    if (!pug_itanium_enter(in))
        return "";
    const char *text = pug_itanium_qualified_name(in, &qualifiers);
    in->depth--;
    return text;
}
