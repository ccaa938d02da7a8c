// SPDX-License-Identifier: MIT
/**
 * @file C++ names of the Itanium ABI, section 5.1 "External Names". A type is two texts, since what
 * is declared may stand in its middle ("void (*" and ")(int)"). Expressions are known as far as
 * names of functions have them; of others nothing is said.
 */
#include "names/demangle.h"

#include <stdlib.h>
#include <string.h>

#define SUBSTITUTIONS 512u
#define ARGUMENTS     256u
#define NO_PACK       UINT32_MAX

/** A type or name: `right` is what comes behind what is declared. */
struct piece {
    const char *left, *right;
};

/** A template argument; a pack has several. */
struct argument {
    struct piece is;
    uint32_t first, count; /* in `packed` */
    bool pack;
};

struct itanium {
    const char *at, *end;
    char *texts; /* where pieces are put together */
    size_t used;
    struct piece substitutions[SUBSTITUTIONS];
    struct argument arguments[ARGUMENTS]; /* of the function's own template */
    struct piece packed[ARGUMENTS];
    uint32_t substitution_count, argument_count, packed_count;
    uint32_t pack_index, pack_size; /* while a pack is expanded */
    unsigned depth, type_depth, lambda;
    bool has_return; /* a template's signature begins with its return type */
    bool failed;
};

static const struct piece nothing = {"", ""};

/* ---- texts ---- */

static const char *keep(struct itanium *in, const char *text, size_t length)
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

static const char *join(struct itanium *in, const char *a, const char *b, const char *c)
{
    const size_t x = strlen(a), y = strlen(b), z = strlen(c);
    if (in->failed || x + y + z >= DEMANGLE_TEXT - in->used) {
        in->failed = true;
        return "";
    }
    char *text = in->texts + in->used;
    memcpy(text, a, x);
    memcpy(text + x, b, y);
    memcpy(text + x + y, c, z + 1);
    in->used += x + y + z + 1;
    return text;
}

static struct piece plain(const char *text)
{
    return (struct piece){text, ""};
}

static const char *whole(struct itanium *in, struct piece piece)
{
    return *piece.right ? join(in, piece.left, piece.right, "") : piece.left;
}

/* ---- reading ---- */

static char peek(const struct itanium *in)
{
    return in->at < in->end ? *in->at : '\0';
}

static bool eat(struct itanium *in, const char *word)
{
    const size_t length = strlen(word);
    if (in->failed || (size_t)(in->end - in->at) < length || strncmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

static struct piece fail(struct itanium *in)
{
    in->failed = true;
    return nothing;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t number(struct itanium *in)
{
    size_t value = 0;
    if (!is_digit(peek(in)))
        in->failed = true;
    while (is_digit(peek(in)) && value < 1000000)
        value = value * 10 + (size_t)(*in->at++ - '0');
    return value;
}

/* "_" is 0, "0_" is 1; in base 36 for substitutions. */
static uint32_t sequence(struct itanium *in, unsigned base)
{
    uint32_t value = 0;
    if (eat(in, "_"))
        return 0;
    while (!in->failed && !eat(in, "_")) {
        const char byte = peek(in);
        const uint32_t digit = is_digit(byte)               ? (uint32_t)(byte - '0')
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

static void substitute(struct itanium *in, struct piece piece)
{
    if (in->substitution_count == SUBSTITUTIONS)
        in->failed = true;
    else if (!in->failed)
        in->substitutions[in->substitution_count++] = piece;
}

static bool enter(struct itanium *in)
{
    if (++in->depth > DEMANGLE_DEPTH)
        in->failed = true;
    return !in->failed;
}

static struct piece type(struct itanium *in);
static const char *name(struct itanium *in);
static const char *encoding(struct itanium *in);
static const char *expression(struct itanium *in);
static const char *template_arguments(struct itanium *in);

/* ---- names ---- */

static const char *source_name(struct itanium *in)
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
        text = join(in, text, "[abi:", join(in, source_name(in), "]", ""));
    return text;
}

struct word {
    const char code[3];
    const char *text;
};

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

static const char *find_word(struct itanium *in, const struct word *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (eat(in, words[i].code))
            return words[i].text;
    return NULL;
}

static const char *operator_name(struct itanium *in)
{
    const char *found = find_word(in, operators, sizeof(operators) / sizeof(operators[0]));
    if (found)
        return found;
    if (eat(in, "cv")) {
        in->type_depth++;
        const char *to = whole(in, type(in));
        in->type_depth--;
        return join(in, "operator ", to, "");
    }
    if (eat(in, "li"))
        return join(in, "operator\"\" ", source_name(in), "");
    return fail(in).left;
}

static const char *parameters(struct itanium *in);

/* "Ut_" and lambdas "UlvE_". */
static const char *unnamed(struct itanium *in)
{
    char text[40];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    if (eat(in, "Ut")) {
        pug_text_format(&out, "{unnamed type#%u}", (unsigned)sequence(in, 10) + 1);
    } else if (eat(in, "Ul")) {
        in->type_depth++;
        in->lambda++;
        const char *list = parameters(in);
        in->lambda--;
        in->type_depth--;
        if (!eat(in, "E"))
            return fail(in).left;
        pug_text_format(&out, "#%u}", (unsigned)sequence(in, 10) + 1);
        pug_text_end(&out);
        return join(in, "{lambda", list, keep(in, text, out.length));
    } else {
        return fail(in).left;
    }
    pug_text_end(&out);
    return keep(in, text, out.length);
}

static const char *unqualified_name(struct itanium *in)
{
    const char *text;
    eat(in, "L"); /* internal linkage, as some compilers say */
    if (is_digit(peek(in)))
        text = source_name(in);
    else if (peek(in) == 'U')
        text = unnamed(in);
    else if (eat(in, "DC")) { /* structured binding */
        text = "[";
        for (bool first = true; !in->failed && !eat(in, "E"); first = false)
            text = join(in, text, first ? "" : ", ", source_name(in));
        text = join(in, text, "]", "");
    } else
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
static const char *standard(struct itanium *in, bool *complete)
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

static struct piece substitution(struct itanium *in)
{
    if (!eat(in, "S"))
        return fail(in);
    const uint32_t which = sequence(in, 36);
    return which < in->substitution_count ? in->substitutions[which] : fail(in);
}

static struct piece template_parameter(struct itanium *in)
{
    if (!eat(in, "T"))
        return fail(in);
    const uint32_t which = sequence(in, 10);
    if (in->failed)
        return nothing;
    if (which >= in->argument_count)
        return in->lambda > 0 ? plain("auto") : fail(in);
    const struct argument *argument = &in->arguments[which];
    if (!argument->pack)
        return argument->is;
    in->pack_size = argument->count;
    if (in->pack_index != NO_PACK)
        return in->pack_index < argument->count ? in->packed[argument->first + in->pack_index]
                                                : nothing;
    const char *list = "";
    for (uint32_t i = 0; i < argument->count; i++)
        list = join(in, list, i > 0 ? ", " : "", whole(in, in->packed[argument->first + i]));
    return plain(list);
}

static const char *decltype_of(struct itanium *in)
{
    if (!eat(in, "Dt") && !eat(in, "DT"))
        return fail(in).left;
    const char *of = expression(in);
    return eat(in, "E") ? join(in, "decltype (", of, ")") : fail(in).left;
}

/* One more part of a nested name; *text is what is before it, NULL: nothing. False: it is no part.
 */
static bool prefix_part(struct itanium *in, const char **text, bool *substitutable)
{
    const char *part;
    bool complete;
    *substitutable = true;
    in->has_return = false;
    if (peek(in) == 'S' && in->at + 1 < in->end && in->at[1] != '_' && !is_digit(in->at[1]) &&
        !(in->at[1] >= 'A' && in->at[1] <= 'Z')) {
        *text = standard(in, &complete);
        *substitutable = false;
        return *text != NULL;
    }
    if (peek(in) == 'S') {
        *text = whole(in, substitution(in));
        *substitutable = false;
        return true;
    }
    if (peek(in) == 'T') {
        *text = whole(in, template_parameter(in));
        return true;
    }
    if (peek(in) == 'I') {
        if (!*text)
            return false;
        part = template_arguments(in);
        *text = join(in, *text, part, "");
        in->has_return = true;
        return true;
    }
    if (peek(in) == 'D' && in->at + 1 < in->end && (in->at[1] == 't' || in->at[1] == 'T')) {
        *text = decltype_of(in);
        return true;
    }
    if (*text &&
        (peek(in) == 'C' || (peek(in) == 'D' && in->at + 1 < in->end && is_digit(in->at[1])))) {
        const bool destructor = peek(in) == 'D';
        const bool inherited = !destructor && in->at + 1 < in->end && in->at[1] == 'I';
        in->at += inherited ? 3 : 2;
        if (in->at > in->end)
            return false;
        if (inherited)
            type(in);
        part = abi_tags(in, last_part(in, *text));
        *text = join(in, *text, destructor ? "::~" : "::", part);
        return true;
    }
    part = unqualified_name(in);
    *text = *text ? join(in, *text, "::", part) : part;
    return true;
}

/* What is behind a member function's parameters. */
static const char *member_qualifiers(struct itanium *in)
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
    *qualifiers = member_qualifiers(in);
    while (!in->failed && !eat(in, "E")) {
        bool substitutable;
        if (!prefix_part(in, &text, &substitutable))
            return fail(in).left;
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
    const char *function = encoding(in);
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
    const char *inner = eat(in, "N") ? nested_name(in, qualifiers) : name(in);
    discriminator(in);
    return join(in, function, "::", inner);
}

static const char *unscoped(struct itanium *in)
{
    bool complete;
    if (peek(in) != 'S')
        return unqualified_name(in);
    const char *space = standard(in, &complete);
    if (!space)
        return fail(in).left;
    return complete ? space : join(in, space, "::", unqualified_name(in));
}

static const char *qualified_name(struct itanium *in, const char **qualifiers)
{
    const char *text;
    *qualifiers = "";
    in->has_return = false;
    if (eat(in, "N"))
        return nested_name(in, qualifiers);
    if (eat(in, "Z"))
        return local_name(in, qualifiers);
    const bool numbered =
        peek(in) == 'S' && in->at + 1 < in->end &&
        (in->at[1] == '_' || is_digit(in->at[1]) || (in->at[1] >= 'A' && in->at[1] <= 'Z'));
    text = numbered ? whole(in, substitution(in)) : unscoped(in);
    if (peek(in) == 'I') {
        if (!numbered)
            substitute(in, plain(text));
        text = join(in, text, template_arguments(in), "");
        in->has_return = true;
    }
    return text;
}

static const char *name(struct itanium *in)
{
    const char *qualifiers;
    if (!enter(in))
        return "";
    const char *text = qualified_name(in, &qualifiers);
    in->depth--;
    return text;
}

/* ---- template arguments ---- */

static struct piece literal(struct itanium *in)
{
    if (eat(in, "_Z")) {
        const char *text = encoding(in);
        return eat(in, "E") ? plain(text) : fail(in);
    }
    const char kind = peek(in);
    const char *of = whole(in, type(in));
    const bool negative = eat(in, "n");
    const char *digits = in->at;
    while (peek(in) != 'E' && peek(in) != '\0')
        in->at++;
    const char *value = keep(in, digits, (size_t)(in->at - digits));
    if (!eat(in, "E"))
        return fail(in);
    value = negative ? join(in, "-", value, "") : value;
    switch (kind) {
    case 'b': return plain(strcmp(value, "0") == 0 ? "false" : "true");
    case 'i': return plain(value);
    case 'j': return plain(join(in, value, "u", ""));
    case 'l': return plain(join(in, value, "l", ""));
    case 'm': return plain(join(in, value, "ul", ""));
    case 'x': return plain(join(in, value, "ll", ""));
    case 'y': return plain(join(in, value, "ull", ""));
    default: return plain(join(in, join(in, "(", of, ")"), value, ""));
    }
}

static struct piece one_argument(struct itanium *in)
{
    if (eat(in, "L"))
        return literal(in);
    if (eat(in, "X")) {
        const char *text = expression(in);
        return eat(in, "E") ? plain(text) : fail(in);
    }
    return type(in);
}

/* Arguments become those that the signature's parameters mean, unless they are a type's own. */
static const char *template_arguments(struct itanium *in)
{
    struct argument own[ARGUMENTS / 4];
    uint32_t count = 0;
    const char *list = "<";
    bool first = true;
    if (!eat(in, "I") || !enter(in))
        return fail(in).left;
    const bool outermost = in->type_depth++ == 0;
    while (!in->failed && !eat(in, "E")) {
        struct argument argument = {.is = nothing};
        if (eat(in, "J")) {
            argument.pack = true;
            struct piece members[ARGUMENTS / 4];
            while (!in->failed && !eat(in, "E")) {
                if (argument.count == ARGUMENTS / 4)
                    return fail(in).left;
                members[argument.count] = one_argument(in);
                list = join(in, list, first ? "" : ", ", whole(in, members[argument.count++]));
                first = false;
            }
            argument.first = in->packed_count;
            if (outermost && argument.count > ARGUMENTS - in->packed_count)
                return fail(in).left;
            for (uint32_t i = 0; outermost && i < argument.count; i++)
                in->packed[in->packed_count++] = members[i];
        } else {
            argument.is = one_argument(in);
            const char *text = whole(in, argument.is);
            if (*text || in->pack_index == NO_PACK) {
                if (*text)
                    list = join(in, list, first ? "" : ", ", text);
                first = first && !*text;
            }
        }
        if (count == ARGUMENTS / 4)
            return fail(in).left;
        own[count++] = argument;
    }
    in->type_depth--;
    in->depth--;
    if (outermost && !in->failed) {
        memcpy(in->arguments, own, count * sizeof(*own));
        in->argument_count = count;
    }
    const size_t length = strlen(list);
    return join(in, list, length > 0 && list[length - 1] == '>' ? " >" : ">", "");
}

/* ---- expressions ---- */

/* A name that is only looked up when the template is used, with its arguments. */
static const char *unresolved_level(struct itanium *in)
{
    const char *text = unqualified_name(in);
    in->type_depth++;
    if (peek(in) == 'I')
        text = join(in, text, template_arguments(in), "");
    in->type_depth--;
    return text;
}

static const char *unresolved_levels(struct itanium *in)
{
    const char *text = unresolved_level(in);
    while (!in->failed && !eat(in, "E"))
        text = join(in, text, "::", unresolved_level(in));
    return text;
}

static const char *expression(struct itanium *in)
{
    if (!enter(in))
        return "";
    const char *text;
    if (eat(in, "L")) {
        text = literal(in).left;
    } else if (peek(in) == 'T') {
        text = whole(in, template_parameter(in));
    } else if (eat(in, "sZ")) {
        const char *pack = whole(in, template_parameter(in));
        text = join(in, "sizeof...(", pack, ")");
    } else if (eat(in, "st")) {
        text = join(in, "sizeof (", whole(in, type(in)), ")");
    } else if (eat(in, "sr")) {
        const char *of = is_digit(peek(in)) ? unresolved_levels(in) : whole(in, type(in));
        text = join(in, of, "::", unresolved_level(in));
    } else {
        /* an operator of one or two operands */
        const char *code = in->at;
        const char *sign = find_word(in, operators, sizeof(operators) / sizeof(operators[0]));
        static const char *const unary[] = {"ps", "ng", "ad", "de", "co", "nt"};
        if (!sign || strncmp(sign, "operator", 8) != 0 || sign[8] == ' ')
            return fail(in).left;
        bool single = false;
        for (size_t i = 0; i < sizeof(unary) / sizeof(unary[0]); i++)
            single |= strncmp(code, unary[i], 2) == 0;
        const char *left = expression(in);
        if (single) {
            text = join(in, sign + 8, join(in, "(", left, ")"), "");
        } else {
            const char *right = expression(in);
            text = join(in, join(in, "(", left, ")"), sign + 8, join(in, "(", right, ")"));
        }
    }
    in->depth--;
    return text;
}

/* ---- types ---- */

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

/* "(int, char)"; "()" for void. */
static const char *parameters(struct itanium *in)
{
    const char *list = "(";
    bool first = true;
    if (eat(in, "v"))
        return "()";
    while (!in->failed && in->at < in->end && peek(in) != 'E' && peek(in) != '.' &&
           !(peek(in) == 'R' && in->at + 1 < in->end && in->at[1] == 'E') &&
           !(peek(in) == 'O' && in->at + 1 < in->end && in->at[1] == 'E')) {
        const char *text = whole(in, type(in));
        if (!*text)
            continue; /* an empty pack */
        list = join(in, list, first ? "" : ", ", text);
        first = false;
    }
    return join(in, list, ")", "");
}

static struct piece function_type(struct itanium *in)
{
    eat(in, "Y");
    const struct piece result = type(in);
    const char *list = parameters(in);
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
        size = expression(in);
    }
    if (!eat(in, "_"))
        return fail(in);
    const struct piece of = type(in);
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
    const char *words = member_qualifiers(in);
    struct piece of = type(in);
    if (*of.right == '(')
        return (struct piece){of.left, join(in, of.right, words, "")};
    return (struct piece){join(in, of.left, words, ""), of.right};
}

static struct piece member_pointer(struct itanium *in)
{
    const char *class = whole(in, type(in));
    const struct piece member = type(in);
    return decorated(in, member, join(in, *member.right == '(' ? "" : " ", class, "::*"));
}

/* "Dp": the pattern once for each member of the pack in it. */
static struct piece expansion(struct itanium *in)
{
    const char *from = in->at;
    const uint32_t outer = in->pack_index;
    in->pack_index = 0;
    in->pack_size = NO_PACK;
    const char *list = whole(in, type(in));
    const uint32_t size = in->pack_size, substitutions = in->substitution_count;
    const char *after = in->at;
    if (size == NO_PACK)
        list = join(in, list, "...", "");
    else if (size == 0)
        list = "";
    for (uint32_t i = 1; size != NO_PACK && i < size && !in->failed; i++) {
        in->at = from;
        in->pack_index = i;
        list = join(in, list, ", ", whole(in, type(in)));
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
        const char *whole_name = standard(in, &complete);
        of = whole_name ? plain(whole_name) : substitution(in);
        if (peek(in) == 'I') {
            of = plain(join(in, whole(in, of), template_arguments(in), ""));
            substitute(in, of);
        }
    } else {
        in->at = before;
        of = plain(name(in));
        substitute(in, of);
    }
    in->type_depth--;
    in->has_return = outer_return;
    return of;
}

static struct piece parameter_type(struct itanium *in)
{
    struct piece of = template_parameter(in);
    substitute(in, of);
    if (peek(in) == 'I') {
        of = plain(join(in, whole(in, of), template_arguments(in), ""));
        substitute(in, of);
    }
    return of;
}

/* Those that can be named again. */
static struct piece compound(struct itanium *in)
{
    if (eat(in, "P"))
        return decorated(in, type(in), "*");
    if (eat(in, "R"))
        return reference(in, type(in), "&");
    if (eat(in, "O"))
        return reference(in, type(in), "&&");
    if (eat(in, "C"))
        return plain(join(in, whole(in, type(in)), " _Complex", ""));
    if (eat(in, "F") || eat(in, "DoF"))
        return function_type(in);
    if (eat(in, "A"))
        return array_type(in);
    if (eat(in, "M"))
        return member_pointer(in);
    if (eat(in, "Dp"))
        return expansion(in);
    if (peek(in) == 'D')
        return plain(decltype_of(in));
    if (eat(in, "U")) {
        const char *word = source_name(in);
        return plain(join(in, whole(in, type(in)), " ", word));
    }
    return fail(in);
}

static struct piece type(struct itanium *in)
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
        of = plain(source_name(in));
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

/* ---- all of it ---- */

static const char *special(struct itanium *in)
{
    static const struct word of_types[] = {{"TV", "vtable for "},
                                           {"TT", "VTT for "},
                                           {"TI", "typeinfo for "},
                                           {"TS", "typeinfo name for "}};
    static const struct word of_names[] = {{"GV", "guard variable for "},
                                           {"TH", "TLS init function for "},
                                           {"TW", "TLS wrapper function for "}};
    const char *text = find_word(in, of_types, sizeof(of_types) / sizeof(of_types[0]));
    if (text)
        return join(in, text, whole(in, type(in)), "");
    text = find_word(in, of_names, sizeof(of_names) / sizeof(of_names[0]));
    if (text)
        return join(in, text, name(in), "");
    if (eat(in, "GR")) {
        const char *of = name(in);
        sequence(in, 36);
        return join(in, "reference temporary for ", of, "");
    }
    if (eat(in, "Th") || eat(in, "Tv")) {
        const bool is_virtual = in->at[-1] == 'v';
        for (int part = 0; part < 1 + is_virtual; part++) {
            eat(in, "n");
            number(in);
            eat(in, "_");
        }
        return join(in, is_virtual ? "virtual thunk to " : "non-virtual thunk to ", encoding(in),
                    "");
    }
    return NULL;
}

static const char *encoding(struct itanium *in)
{
    const char *qualifiers = "";
    if (!enter(in))
        return "";
    const char *text = special(in);
    if (!text) {
        const unsigned outer = in->type_depth;
        in->type_depth = 0;
        text = qualified_name(in, &qualifiers);
        const bool has_return = in->has_return && strstr(text, "operator ") == NULL;
        in->type_depth = outer;
        if (!in->failed && in->at < in->end && peek(in) != 'E' && peek(in) != '.') {
            struct piece result = nothing;
            in->type_depth++;
            if (has_return)
                result = type(in);
            const char *list = parameters(in);
            in->type_depth--;
            text = join(in, text, list, qualifiers);
            if (*result.left)
                text = join(in, result.left, *result.right ? "" : " ",
                            join(in, text, result.right, ""));
        }
    }
    in->depth--;
    return text;
}

size_t pug_names_demangle_itanium(const char *mangled, char *buffer, size_t size)
{
    if (strncmp(mangled, "_Z", 2) != 0)
        return 0;
    struct itanium *in = calloc(1, sizeof(*in));
    char *texts = in ? malloc(DEMANGLE_TEXT) : NULL;
    struct pug_text out = PUG_TEXT(buffer, size);
    if (texts) {
        in->at = mangled + 2;
        in->end = mangled + strlen(mangled);
        in->texts = texts;
        in->pack_index = NO_PACK;
        const char *text = encoding(in);
        const char *rest = in->at;
        const bool good = !in->failed && *text && (in->at == in->end || *rest == '.');
        if (good)
            pug_text_put(&out, text);
        if (good && *rest == '.') { /* what a compiler made of it: ".cold" */
            pug_text_put(&out, " [clone ");
            pug_text_put(&out, rest);
            pug_text_put(&out, "]");
        }
    }
    free(texts);
    free(in);
    return out.length > 0 ? pug_text_end(&out) : 0;
}
