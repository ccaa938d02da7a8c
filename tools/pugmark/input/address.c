// SPDX-License-Identifier: MIT
#include "address.h"

#include "address_words.h"
#include "capture_options.h"

#include "perfdata/mapped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The target of a search. */
struct search {
    struct input *input;
    struct pug_names *names;
    const struct pug_image *image; /* of all, where there is one of all; or NULL */
    struct address_words words;
    struct address_places *places;
    /* Of the object at hand: */
    uint32_t object;
    bool has_bias;
    uint64_t bias;
    uint64_t behind; /* the end of the last row of the line */
};

bool address_is_number(const char *words)
{
    uint64_t number;
    return parse_number(words, &number);
}

static void add(struct search *search, const struct address_place *place)
{
    struct address_places *places = search->places;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].object == place->object && places->items[i].vaddr == place->vaddr &&
            places->items[i].absolute == place->absolute)
            return;
    if (places->count < ADDRESS_PLACES)
        places->items[places->count++] = *place;
}

static void add_vaddr(struct search *search, uint64_t vaddr)
{
    add(search, &(struct address_place){.object = search->object,
                                        .vaddr = vaddr,
                                        .is_absolute = search->has_bias,
                                        .absolute = search->has_bias ? vaddr + search->bias : 0});
}

/* ---- functions ---- */

/** Functions of the one image that all sources have. */
static void find_symbols(struct search *search)
{
    struct pug_symbol symbol;
    for (size_t n = 0; search->image && pug_image_symbol_at(search->image, n, &symbol); n++)
        if (address_words_are_function(&search->words, symbol.name))
            add(search, &(struct address_place){.object = PUG_NO_OBJECT,
                                                .is_absolute = true,
                                                .absolute = symbol.start + search->words.offset});
}

static void find_functions(struct search *search, struct pug_names_file *file)
{
    struct pug_names_function function;
    for (size_t n = 0; pug_names_function_at(file, n, &function); n++)
        if (address_words_are_function(&search->words, function.name))
            add_vaddr(search, function.start + search->words.offset);
}

/* ---- lines ---- */

/** The first address of each piece of code that the line became. */
static bool take_line(void *context, const struct pug_names_line *line)
{
    struct search *search = context;
    if (!address_words_are_line(&search->words, line))
        return true;
    if (line->start != search->behind)
        add_vaddr(search, line->start);
    search->behind = line->end;
    return true;
}

/* ---- programs ---- */

static bool find_symbol(const struct pug_image *image, const char *name, uint64_t *start)
{
    struct pug_symbol symbol;
    for (size_t n = 0; pug_image_symbol_at(image, n, &symbol); n++)
        if (strcmp(symbol.name, name) == 0) {
            *start = symbol.start;
            return true;
        }
    return false;
}

/** How far the program was moved: by a function that the image has, too. */
static void find_bias(struct search *search, struct pug_names_file *file)
{
    struct pug_names_function function;
    uint64_t start;
    const size_t most = 64; /* of a program that is not in the image none is */
    search->has_bias = false;
    for (size_t n = 0; search->image && n < most && pug_names_function_at(file, n, &function);
         n++) {
        if (!find_symbol(search->image, function.name, &start))
            continue;
        search->has_bias = true;
        search->bias = start - function.start;
        return;
    }
}

static void find_in_objects(struct search *search)
{
    struct pug_capture *capture = search->input->capture;
    struct pug_names_file *file;
    for (uint32_t n = 0; pug_capture_object_at(capture, n); n++) {
        if (!pug_capture_names(capture, n, search->names, &file))
            continue;
        search->object = n;
        search->behind = UINT64_MAX;
        find_bias(search, file);
        if (search->words.line > 0)
            (void)pug_names_lines(file, take_line, search);
        else
            find_functions(search, file);
    }
}

/* ---- all of it ---- */

static bool refuse(const struct search *search, const char *option, const char *words)
{
    const char *meant = search->words.suggestion.meant;
    if (search->words.line > 0)
        message_say("pugmark: %s %s: no code of that line is in the programs at hand; --elf FILE "
                    "gives one with debug information\n",
                    option, words);
    else if (*meant)
        message_say("pugmark: %s %s: there is no function '%s' in the programs at hand; is %s "
                    "meant?\n",
                    option, words, search->words.name, meant);
    else
        message_say("pugmark: %s %s: there is no function '%s' in the programs at hand; write a "
                    "number, FUNCTION+0x10 or FILE:LINE, and give the program with --elf FILE\n",
                    option, words, search->words.name);
    return false;
}

static bool search_all(struct search *search)
{
    struct pug_tree *tree = NULL;
    const bool perf = pug_capture_kind(search->input->capture) == PUG_CAPTURE_PERF;
    const bool own = !search->names;
    if (!perf && pug_capture_tree(search->input->capture, 0, false, NULL, &tree) == PUG_OK)
        search->image = pug_tree_image(tree);
    if (search->words.line == 0)
        find_symbols(search);
    if (own && search->places->count == 0)
        search->names =
            capture_names(search->input->options, &(const struct capture_options){.rtos = NULL});
    if (search->names && search->places->count == 0)
        find_in_objects(search);
    if (own)
        capture_names_end(search->names);
    pug_tree_free(tree);
    return search->places->count > 0;
}

bool address_find(struct input *input, struct pug_names *names, const char *option,
                  const char *words, struct address_places *places)
{
    struct search search = {.input = input, .names = names, .places = places};
    uint64_t number;
    *places = (struct address_places){.count = 0};
    if (parse_number(words, &number)) {
        add(&search, &(struct address_place){
                         .object = PUG_NO_OBJECT, .is_absolute = true, .absolute = number});
        return true;
    }
    if (!address_words_cut(words, &search.words)) {
        message_say("pugmark: %s %s: expected a number, a function, FUNCTION+0x10 or FILE:LINE\n",
                    option, words);
        return false;
    }
    return search_all(&search) || refuse(&search, option, words);
}

/* ---- in memory ---- */

static bool take_mapped(void *context, uint64_t address)
{
    struct address_places *places = context;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].absolute == address)
            return true;
    if (places->count == ADDRESS_PLACES)
        return false;
    places->items[places->count++] =
        (struct address_place){.object = PUG_NO_OBJECT, .is_absolute = true, .absolute = address};
    return true;
}

bool address_find_absolute(struct input *input, const char *option, const char *words,
                           struct address_places *places)
{
    const bool perf = pug_capture_kind(input->capture) == PUG_CAPTURE_PERF;
    struct address_places found;
    if (!address_find(input, NULL, option, words, &found))
        return false;
    places->count = 0;
    for (size_t i = 0; i < found.count; i++)
        if (found.items[i].is_absolute)
            (void)take_mapped(places, found.items[i].absolute);
        else if (perf)
            pug_perf_mapped(input->capture, found.items[i].object, found.items[i].vaddr,
                            take_mapped, places);
    if (places->count == 0)
        message_say("pugmark: %s %s: that program lies in the memory of no process here; give the "
                    "address as a number\n",
                    option, words);
    return places->count > 0;
}
