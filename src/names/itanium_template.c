// SPDX-License-Identifier: MIT
/**
 * @file C++ templates: their parameters and arguments, and expressions as far as names of functions
 * have them. Of others nothing is said.
 */
#include "names/itanium.h"

struct piece pug_itanium_template_parameter(struct itanium *in)
{
    if (!pug_itanium_eat(in, "T"))
        return pug_itanium_fail(in);
    const uint32_t which = pug_itanium_sequence(in, 10);
    if (in->failed)
        return nothing;
    if (which >= in->argument_count)
        return in->lambda > 0 ? pug_itanium_plain("auto") : pug_itanium_fail(in);
    const struct argument *argument = &in->arguments[which];
    if (!argument->pack)
        return argument->is;
    in->pack_size = argument->count;
    if (in->pack_index != NO_PACK)
        return in->pack_index < argument->count ? in->packed[argument->first + in->pack_index]
                                                : nothing;
    const char *list = "";
    for (uint32_t i = 0; i < argument->count; i++)
        list = pug_itanium_join(in, list, i > 0 ? ", " : "",
                                pug_itanium_whole(in, in->packed[argument->first + i]));
    return pug_itanium_plain(list);
}

const char *pug_itanium_decltype_of(struct itanium *in)
{
    if (!pug_itanium_eat(in, "Dt") && !pug_itanium_eat(in, "DT"))
        return pug_itanium_fail(in).left;
    const char *of = pug_itanium_expression(in);
    return pug_itanium_eat(in, "E") ? pug_itanium_join(in, "decltype (", of, ")")
                                    : pug_itanium_fail(in).left;
}

/* ---- template arguments ---- */

static struct piece literal(struct itanium *in)
{
    static const struct {
        char kind;
        const char *text;
    } suffixes[] = {{'i', ""}, {'j', "u"}, {'l', "l"}, {'m', "ul"}, {'x', "ll"}, {'y', "ull"}};
    if (pug_itanium_eat(in, "_Z")) {
        const char *text = pug_itanium_encoding(in);
        return pug_itanium_eat(in, "E") ? pug_itanium_plain(text) : pug_itanium_fail(in);
    }
    const char kind = pug_itanium_peek(in);
    const char *of = pug_itanium_whole(in, pug_itanium_type(in));
    const bool negative = pug_itanium_eat(in, "n");
    const char *digits = in->at;
    while (pug_itanium_peek(in) != 'E' && pug_itanium_peek(in) != '\0')
        in->at++;
    const char *value = pug_itanium_keep(in, digits, (size_t)(in->at - digits));
    if (!pug_itanium_eat(in, "E"))
        return pug_itanium_fail(in);
    value = negative ? pug_itanium_join(in, "-", value, "") : value;
    if (kind == 'b')
        return pug_itanium_plain(strcmp(value, "0") == 0 ? "false" : "true");
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (suffixes[i].kind == kind)
            return pug_itanium_plain(pug_itanium_join(in, value, suffixes[i].text, ""));
    return pug_itanium_plain(pug_itanium_join(in, pug_itanium_join(in, "(", of, ")"), value, ""));
}

static struct piece one_argument(struct itanium *in)
{
    if (pug_itanium_eat(in, "L"))
        return literal(in);
    if (pug_itanium_eat(in, "X")) {
        const char *text = pug_itanium_expression(in);
        return pug_itanium_eat(in, "E") ? pug_itanium_plain(text) : pug_itanium_fail(in);
    }
    return pug_itanium_type(in);
}

/* "J…E": several arguments in the place of one. They are kept where a signature may name them. */
static struct argument pack(struct itanium *in, bool outermost, const char **list)
{
    struct argument argument = {.pack = true, .is = nothing, .first = in->packed_count};
    struct piece members[ARGUMENTS / 4];
    while (!in->failed && !pug_itanium_eat(in, "E")) {
        if (argument.count == ARGUMENTS / 4) {
            in->failed = true;
            break;
        }
        members[argument.count] = one_argument(in);
        *list = pug_itanium_listed(in, *list, pug_itanium_whole(in, members[argument.count++]));
    }
    in->failed |= outermost && argument.count > ARGUMENTS - in->packed_count;
    argument.first = in->packed_count;
    for (uint32_t i = 0; outermost && !in->failed && i < argument.count; i++)
        in->packed[in->packed_count++] = members[i];
    return argument;
}

static struct argument argument(struct itanium *in, bool outermost, const char **list)
{
    if (pug_itanium_eat(in, "J"))
        return pack(in, outermost, list);
    const struct argument argument = {.is = one_argument(in)};
    *list = pug_itanium_listed(in, *list, pug_itanium_whole(in, argument.is));
    return argument;
}

/* Arguments become those that the signature's parameters mean, unless they are a type's own. */
const char *pug_itanium_template_arguments(struct itanium *in)
{
    struct argument own[ARGUMENTS / 4];
    uint32_t count = 0;
    const char *list = "<";
    if (!pug_itanium_eat(in, "I") || !pug_itanium_enter(in))
        return pug_itanium_fail(in).left;
    const bool outermost = in->type_depth++ == 0;
    while (!in->failed && !pug_itanium_eat(in, "E")) {
        if (count == ARGUMENTS / 4)
            return pug_itanium_fail(in).left;
        own[count++] = argument(in, outermost, &list);
    }
    in->type_depth--;
    in->depth--;
    if (outermost && !in->failed) {
        memcpy(in->arguments, own, count * sizeof(*own));
        in->argument_count = count;
    }
    const size_t length = strlen(list);
    return pug_itanium_join(in, list, length > 0 && list[length - 1] == '>' ? " >" : ">", "");
}

/* ---- expressions ---- */

/* A name that is only looked up when the template is used, with its arguments. */
static const char *unresolved_level(struct itanium *in)
{
    const char *text = pug_itanium_unqualified_name(in);
    in->type_depth++;
    if (pug_itanium_peek(in) == 'I')
        text = pug_itanium_join(in, text, pug_itanium_template_arguments(in), "");
    in->type_depth--;
    return text;
}

static const char *unresolved_levels(struct itanium *in)
{
    const char *text = unresolved_level(in);
    while (!in->failed && !pug_itanium_eat(in, "E"))
        text = pug_itanium_join(in, text, "::", unresolved_level(in));
    return text;
}

static const char *bracketed(struct itanium *in, const char *text)
{
    return pug_itanium_join(in, "(", text, ")");
}

/* An operator and one or two operands. */
static const char *operation(struct itanium *in)
{
    static const char *const unary[] = {"ps", "ng", "ad", "de", "co", "nt"};
    const char *code = in->at, *word = pug_itanium_operator(in);
    const size_t before = strlen("operator");
    if (!word || word[before] == ' ')
        return pug_itanium_fail(in).left;
    bool single = false;
    for (size_t i = 0; i < sizeof(unary) / sizeof(unary[0]); i++)
        single |= strncmp(code, unary[i], 2) == 0;
    const char *left = bracketed(in, pug_itanium_expression(in));
    if (single)
        return pug_itanium_join(in, word + before, left, "");
    return pug_itanium_join(in, left, word + before, bracketed(in, pug_itanium_expression(in)));
}

static const char *expression_of(struct itanium *in)
{
    if (pug_itanium_eat(in, "L"))
        return literal(in).left;
    if (pug_itanium_peek(in) == 'T')
        return pug_itanium_whole(in, pug_itanium_template_parameter(in));
    if (pug_itanium_eat(in, "sZ"))
        return pug_itanium_join(in, "sizeof...(",
                                pug_itanium_whole(in, pug_itanium_template_parameter(in)), ")");
    if (pug_itanium_eat(in, "st"))
        return pug_itanium_join(in, "sizeof (", pug_itanium_whole(in, pug_itanium_type(in)), ")");
    if (pug_itanium_eat(in, "sr")) {
        const char *of = pug_itanium_is_digit(pug_itanium_peek(in))
                             ? unresolved_levels(in)
                             : pug_itanium_whole(in, pug_itanium_type(in));
        return pug_itanium_join(in, of, "::", unresolved_level(in));
    }
    return operation(in);
}

const char *pug_itanium_expression(struct itanium *in)
{
    const char *text = pug_itanium_enter(in) ? expression_of(in) : "";
    in->depth--;
    return text;
}
