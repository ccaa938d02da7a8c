// SPDX-License-Identifier: MIT
/** @file C++ templates: their parameters and arguments, and packs of these. */
#include "names/itanium.h"

/* A parameter of a lambda that is a template: "auto:1". */
static struct piece generic(struct itanium *in, uint32_t which)
{
    char text[24];
    struct pug_text out = PUG_TEXT(text, sizeof(text));
    pug_text_format(&out, "auto:%u", (unsigned)which + 1);
    pug_text_end(&out);
    return pug_itanium_plain(pug_itanium_keep(in, text, out.length));
}

struct piece pug_itanium_template_parameter(struct itanium *in)
{
    if (!pug_itanium_eat(in, "T"))
        return pug_itanium_fail(in);
    const uint32_t which = pug_itanium_sequence(in, 10);
    if (in->failed)
        return nothing;
    if (in->scope.lambda > 0)
        return generic(in, which);
    if (which >= in->scope.count)
        return in->scope.conversion > 0 ? pug_itanium_plain("auto") : pug_itanium_fail(in);
    const struct argument *argument = &in->arguments[in->scope.first + which];
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

/* Keep what could be named again of this member's pattern. */
static void keep_variants(struct itanium *in, const struct itanium_place *place)
{
    const uint32_t count = in->substitution_count - place->substitution_count;
    in->failed |= count > VARIANTS - in->variant_count;
    for (uint32_t i = 0; !in->failed && i < count; i++)
        in->variants[in->variant_count++] = in->substitutions[place->substitution_count + i].is;
}

static const char *member(struct itanium *in, const struct itanium_place *place, uint32_t index,
                          const char *(*pattern)(struct itanium *))
{
    pug_itanium_return_to(in, place);
    in->pack_index = index;
    const char *text = pattern(in);
    keep_variants(in, place);
    return text;
}

bool pug_itanium_expansion(struct itanium *in, const char *(*pattern)(struct itanium *),
                           const char **list)
{
    const struct itanium_place place = pug_itanium_place(in);
    const uint32_t outer = in->pack_index, outer_size = in->pack_size, begin = in->variant_count;
    in->pack_size = NO_PACK;
    *list = member(in, &place, 0, pattern);
    const uint32_t size = in->pack_size, stride = in->variant_count - begin;
    const uint32_t count = in->substitution_count - place.substitution_count;
    const uint32_t first = in->variant_count - count;
    if (size == 0)
        *list = "";
    for (uint32_t i = 1; size != NO_PACK && i < size && !in->failed; i++) {
        *list = pug_itanium_join(in, *list, ", ", member(in, &place, i, pattern));
        in->failed |= in->variant_count != begin + stride * (i + 1);
    }
    for (uint32_t i = 0; size != NO_PACK && !in->failed && i < count; i++) {
        struct substitution *of = &in->substitutions[place.substitution_count + i];
        if (of->stride == 0) /* it is not of a pack in this one */
            *of = (struct substitution){of->is, first + i, stride, size, of->parameter};
    }
    in->pack_index = outer;
    in->pack_size = outer_size;
    return size != NO_PACK;
}

/* ---- template arguments ---- */

struct piece pug_itanium_literal(struct itanium *in)
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

struct piece pug_itanium_template_argument(struct itanium *in)
{
    if (pug_itanium_eat(in, "L"))
        return pug_itanium_literal(in);
    if (pug_itanium_eat(in, "X")) {
        const char *text = pug_itanium_expression(in);
        return pug_itanium_eat(in, "E") ? pug_itanium_plain(text) : pug_itanium_fail(in);
    }
    return pug_itanium_type(in);
}

/* "J…E": several arguments in the place of one. They are kept where a signature may name them. */
static struct argument pack(struct itanium *in, bool outermost, const char **list)
{
    struct argument argument = {.pack = true, .is = nothing, .first = in->scope.packed_count};
    struct piece members[ARGUMENTS / 4];
    while (!in->failed && !pug_itanium_eat(in, "E")) {
        if (argument.count == ARGUMENTS / 4) {
            in->failed = true;
            break;
        }
        members[argument.count] = pug_itanium_template_argument(in);
        *list = pug_itanium_listed(in, *list, pug_itanium_whole(in, members[argument.count++]));
    }
    in->failed |= outermost && argument.count > ARGUMENTS - in->scope.packed_count;
    argument.first = in->scope.packed_count;
    for (uint32_t i = 0; outermost && !in->failed && i < argument.count; i++)
        in->packed[in->scope.packed_count++] = members[i];
    return argument;
}

static struct argument argument(struct itanium *in, bool outermost, const char **list)
{
    if (pug_itanium_eat(in, "J"))
        return pack(in, outermost, list);
    const struct argument argument = {.is = pug_itanium_template_argument(in)};
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
    const bool outermost = in->scope.type_depth++ == 0;
    while (!in->failed && !pug_itanium_eat(in, "E")) {
        if (count == ARGUMENTS / 4)
            return pug_itanium_fail(in).left;
        own[count++] = argument(in, outermost, &list);
    }
    in->scope.type_depth--;
    in->depth--;
    in->failed |= outermost && count > ARGUMENTS - in->scope.base;
    if (outermost && !in->failed) {
        memcpy(in->arguments + in->scope.base, own, count * sizeof(*own));
        in->scope.first = in->scope.base;
        in->scope.count = count;
    }
    const size_t length = strlen(list);
    return pug_itanium_join(in, list, length > 0 && list[length - 1] == '>' ? " >" : ">", "");
}
