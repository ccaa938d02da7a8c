// SPDX-License-Identifier: MIT
#include "address.h"

#include "capture_options.h"
#include "common/suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The target of a search. */
struct search {
    struct input *input;
    struct pug_names *names;
    const struct pug_image *image; /* of all, where there is one of all; or NULL */
    char name[256];                /* the function, or the end of a source file's path */
    uint64_t offset;               /* from the function's start */
    uint32_t line;                 /* 0: a function is looked for */
    struct address_places *places;
    struct suggestion suggestion;
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

/** "name+0x10", "file.c:12", "name"; false: too long. */
static bool cut_words(const char *words, struct search *search)
{
    uint64_t number;
    const char *plus = strrchr(words, '+'), *colon = strrchr(words, ':');
    size_t length = strlen(words);
    if (colon && colon > words && colon[-1] != ':' && parse_number(colon + 1, &number) &&
        number > 0 && number <= UINT32_MAX) {
        search->line = (uint32_t)number;
        length = (size_t)(colon - words);
    } else if (plus && plus > words && parse_number(plus + 1, &number)) {
        search->offset = number;
        length = (size_t)(plus - words);
    }
    if (length == 0 || length >= sizeof(search->name))
        return false;
    memcpy(search->name, words, length);
    search->name[length] = 0;
    return true;
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

/** Is that the function? By the linker's name, the readable one, or that without its arguments. */
static bool is_function(struct search *search, const char *name)
{
    char readable[512];
    suggest_offer(&search->suggestion, name);
    if (strcmp(name, search->name) == 0)
        return true;
    const size_t length = pug_demangle(name, readable, sizeof(readable));
    if (length == 0 || length >= sizeof(readable))
        return false;
    if (strcmp(readable, search->name) == 0)
        return true;
    readable[strcspn(readable, "(")] = 0;
    suggest_offer(&search->suggestion, readable);
    return strcmp(readable, search->name) == 0;
}

/** Functions of the one image that all sources have. */
static void find_symbols(struct search *search)
{
    struct pug_symbol symbol;
    for (size_t n = 0; search->image && pug_image_symbol_at(search->image, n, &symbol); n++)
        if (is_function(search, symbol.name))
            add(search, &(struct address_place){.object = PUG_NO_OBJECT,
                                                .is_absolute = true,
                                                .absolute = symbol.start + search->offset});
}

static void find_functions(struct search *search, struct pug_names_file *file)
{
    struct pug_names_function function;
    for (size_t n = 0; pug_names_function_at(file, n, &function); n++)
        if (is_function(search, function.name))
            add_vaddr(search, function.start + search->offset);
}

/* ---- lines ---- */

/** Is `end` the end of the path, from a "/" on? */
static bool ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), wanted = strlen(end);
    return length >= wanted && strcmp(path + length - wanted, end) == 0 &&
           (length == wanted || path[length - wanted - 1] == '/' || *end == '/');
}

/** The first address of each piece of code that the line became. */
static bool take_line(void *context, const struct pug_names_line *line)
{
    struct search *search = context;
    if (line->line != search->line || !line->path || !ends_with(line->path, search->name))
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
        if (search->line > 0)
            (void)pug_names_lines(file, take_line, search);
        else
            find_functions(search, file);
    }
}

/* ---- all of it ---- */

static bool refuse(const struct search *search, const char *option, const char *words)
{
    const char *meant = search->suggestion.meant;
    if (search->line > 0)
        message_say("pugmark: %s %s: no code of that line is in the programs at hand; --elf FILE "
                    "gives one with debug information\n",
                    option, words);
    else if (*meant)
        message_say("pugmark: %s %s: there is no function '%s' in the programs at hand; is %s "
                    "meant?\n",
                    option, words, search->name, meant);
    else
        message_say("pugmark: %s %s: there is no function '%s' in the programs at hand; write a "
                    "number, FUNCTION+0x10 or FILE:LINE, and give the program with --elf FILE\n",
                    option, words, search->name);
    return false;
}

static bool search_all(struct search *search)
{
    struct pug_tree *tree = NULL;
    const bool perf = pug_capture_kind(search->input->capture) == PUG_CAPTURE_PERF;
    const bool own = !search->names;
    if (!perf && pug_capture_tree(search->input->capture, 0, false, NULL, &tree) == PUG_OK)
        search->image = pug_tree_image(tree);
    if (search->line == 0)
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
    if (!cut_words(words, &search)) {
        message_say("pugmark: %s %s: expected a number, a function, FUNCTION+0x10 or FILE:LINE\n",
                    option, words);
        return false;
    }
    suggest_begin(&search.suggestion, search.name);
    return search_all(&search) || refuse(&search, option, words);
}

bool address_find_absolute(struct input *input, const char *option, const char *words,
                           struct address_places *places)
{
    size_t count = 0;
    if (!address_find(input, NULL, option, words, places))
        return false;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].is_absolute)
            places->items[count++] = places->items[i];
    places->count = count;
    if (count == 0)
        message_say("pugmark: %s %s: in this input programs lie elsewhere in each process; give "
                    "the address as a number, or use `pugmark trace --before`\n",
                    option, words);
    return count > 0;
}
