// SPDX-License-Identifier: MIT
/** @file C++ names of the Itanium ABI: encodings, which are functions, data and what compilers make
 * for them. */
#include "names/itanium.h"

#include <stdlib.h>

/* A virtual one has two offsets. */
static const char *thunk(struct itanium *in, bool is_virtual)
{
    for (int part = 0; part < 1 + is_virtual; part++) {
        pug_itanium_eat(in, "n");
        pug_itanium_number(in);
        pug_itanium_eat(in, "_");
    }
    return pug_itanium_join(in, is_virtual ? "virtual thunk to " : "non-virtual thunk to ",
                            pug_itanium_encoding(in), "");
}

static const char *transaction_clone(struct itanium *in)
{
    static const struct word kinds[] = {{"t", "transaction clone for "},
                                        {"n", "non-transaction clone for "}};
    const char *text = pug_itanium_find_word(in, kinds, sizeof(kinds) / sizeof(kinds[0]));
    if (!text)
        return pug_itanium_fail(in).left;
    return pug_itanium_join(in, text, pug_itanium_encoding(in), "");
}

/* Of a base while the object is made: the object's class, an offset, and the base. */
static const char *construction_vtable(struct itanium *in)
{
    const char *of = pug_itanium_whole(in, pug_itanium_type(in));
    pug_itanium_number(in);
    if (!pug_itanium_eat(in, "_"))
        return pug_itanium_fail(in).left;
    const char *base = pug_itanium_whole(in, pug_itanium_type(in));
    return pug_itanium_join(in, "construction vtable for ", base,
                            pug_itanium_join(in, "-in-", of, ""));
}

static const char *special(struct itanium *in)
{
    static const struct word of_types[] = {{"TV", "vtable for "},
                                           {"TT", "VTT for "},
                                           {"TI", "typeinfo for "},
                                           {"TS", "typeinfo name for "}};
    static const struct word of_names[] = {{"GV", "guard variable for "},
                                           {"TH", "TLS init function for "},
                                           {"TW", "TLS wrapper function for "}};
    const char *text = pug_itanium_find_word(in, of_types, sizeof(of_types) / sizeof(of_types[0]));
    if (text)
        return pug_itanium_join(in, text, pug_itanium_whole(in, pug_itanium_type(in)), "");
    if (pug_itanium_eat(in, "TC"))
        return construction_vtable(in);
    if (pug_itanium_eat(in, "TA"))
        return pug_itanium_join(in, "template parameter object for ",
                                pug_itanium_whole(in, pug_itanium_template_argument(in)), "");
    text = pug_itanium_find_word(in, of_names, sizeof(of_names) / sizeof(of_names[0]));
    if (text)
        return pug_itanium_join(in, text, pug_itanium_name(in), "");
    if (pug_itanium_eat(in, "GR")) {
        const char *of = pug_itanium_name(in);
        pug_itanium_sequence(in, 36);
        return pug_itanium_join(in, "reference temporary for ", of, "");
    }
    if (pug_itanium_eat(in, "GT"))
        return transaction_clone(in);
    if (pug_itanium_eat(in, "Th"))
        return thunk(in, false);
    if (pug_itanium_eat(in, "Tv"))
        return thunk(in, true);
    return NULL;
}

/* A function's result, where the name has one, and its parameters around the name. */
static const char *signature(struct itanium *in, const char *text, bool has_return,
                             bool without_result, const char *qualifiers)
{
    in->scope.type_depth++;
    const struct piece result = has_return ? pug_itanium_type(in) : nothing;
    const char *list = pug_itanium_parameters(in);
    in->scope.type_depth--;
    text = pug_itanium_join(in, text, list, qualifiers);
    if (!*result.left || without_result)
        return text;
    return pug_itanium_join(in, result.left, *result.right ? "" : " ",
                            pug_itanium_join(in, text, result.right, ""));
}

static const char *function_or_data(struct itanium *in)
{
    const char *qualifiers;
    const bool without_parameters = in->without_parameters, without_result = in->without_result;
    in->without_parameters = in->without_result = false;
    const char *text = pug_itanium_qualified_name(in, &qualifiers);
    const bool has_return = in->has_return;
    const char sign = pug_itanium_peek(in);
    if (in->failed || sign == '\0' || sign == 'E' || sign == '.')
        return text;
    const char *whole = signature(in, text, has_return, without_result, qualifiers);
    return without_parameters && text[strlen(text) - 1] != '>' ? text : whole;
}

/* One in another's signature leaves the other's arguments alone. */
static const char *in_own_scope(struct itanium *in)
{
    const struct scope outer = in->scope;
    if (outer.type_depth > 0)
        in->scope = (struct scope){
            outer.first, outer.count, outer.first + outer.count, outer.packed_count, 0, 0, 0};
    const char *text = function_or_data(in);
    if (outer.type_depth > 0)
        in->scope = outer;
    return text;
}

const char *pug_itanium_encoding(struct itanium *in)
{
    if (!pug_itanium_enter(in))
        return "";
    const char *text = special(in);
    if (!text)
        text = in_own_scope(in);
    in->depth--;
    return text;
}

static void put_whole(struct pug_text *out, const char *text, const char *rest)
{
    pug_text_put(out, text);
    if (*rest == '.') { /* what a compiler made of it: ".cold" */
        pug_text_put(out, " [clone ");
        pug_text_put(out, rest);
        pug_text_put(out, "]");
    }
}

size_t pug_names_demangle_itanium(const char *mangled, char *buffer, size_t size)
{
    if (strncmp(mangled, "_Z", 2) != 0)
        return 0;
    struct itanium *in = malloc(sizeof(*in));
    struct pug_text out = PUG_TEXT(buffer, size);
    if (!in)
        return 0;
    memset(in, 0, offsetof(struct itanium, substitutions));
    in->texts = malloc(DEMANGLE_TEXT);
    in->failed = !in->texts;
    in->at = mangled + 2;
    in->end = mangled + strlen(mangled);
    in->pack_index = NO_PACK;
    const char *text = pug_itanium_encoding(in);
    if (!in->failed && *text && (in->at == in->end || *in->at == '.'))
        put_whole(&out, text, in->at);
    free(in->texts);
    free(in);
    return out.length > 0 ? pug_text_end(&out) : 0;
}
