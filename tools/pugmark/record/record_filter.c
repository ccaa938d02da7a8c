// SPDX-License-Identifier: MIT
#include "record_filter.h"
#include "common/messages.h"
#include "input/address_words.h"

#include "recorder/program.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- words ---- */

/** "START-END", numbers. */
static bool parse_range(const char *text, struct rec_range *range)
{
    char start[64];
    const char *dash = strchr(text, '-');
    if (!dash || (size_t)(dash - text) >= sizeof(start))
        return false;
    snprintf(start, sizeof(start), "%.*s", (int)(dash - text), text);
    return parse_number(start, &range->start) && parse_number(dash + 1, &range->end) &&
           range->start < range->end;
}

bool record_filter_begin(struct record_filter *filter, const struct record_list *names)
{
    uint64_t number;
    *filter = (struct record_filter){.names = names};
    for (size_t i = 0; i < names->count; i++) {
        if (parse_range(names->items[i], &filter->ranges[i]))
            continue;
        if (parse_number(names->items[i], &number)) {
            message_say("pugmark: --filter '%s': expected a function, FUNCTION+0x10, FILE:LINE, or "
                        "START-END of these and of numbers\n",
                        names->items[i]);
            return false;
        }
        filter->by_name = true;
    }
    return true;
}

/* ---- in the program ---- */

/** A program whose places are looked for. */
struct search {
    const char *program;
    struct pug_names *names;
    struct pug_names_file *file;
    struct address_words words;
    struct rec_range found; /* from the place to the end of its function */
    bool any;
    bool told; /* what is wrong was said */
};

static bool take_line(void *context, const struct pug_names_line *line)
{
    struct search *search = context;
    struct pug_names_function function;
    if (!address_words_are_line(&search->words, line))
        return true;
    const bool known = pug_names_function(search->file, line->start, &function);
    search->found.start = line->start;
    search->found.end = known ? function.start + function.size : line->end;
    search->any = true;
    return false;
}

static void find_function(struct search *search)
{
    struct pug_names_function function;
    for (size_t n = 0; !search->any && pug_names_function_at(search->file, n, &function); n++)
        if (address_words_are_function(&search->words, function.name)) {
            search->found.start = function.start + search->words.offset;
            search->found.end = function.start + function.size;
            search->any = true;
        }
}

/** Finds the place that the words mean; a number stands for itself. */
static bool find_place(struct search *search, const char *text)
{
    search->any = parse_number(text, &search->found.start);
    search->found.end = search->found.start;
    if (search->any || !address_words_cut(text, &search->words))
        return search->any;
    if (search->words.line > 0)
        (void)pug_names_lines(search->file, take_line, search);
    else
        find_function(search);
    return search->any;
}

static bool refuse_order(struct search *search, const char *text)
{
    message_say("pugmark: %s: in --filter %s the end is not behind the start\n", search->program,
                text);
    search->told = true;
    return false;
}

/** "START-END" at one of the dashes: names of files may have some, too. */
static bool find_between(struct search *search, const char *text, struct rec_range *range)
{
    char start[512];
    for (const char *dash = strchr(text, '-'); dash; dash = strchr(dash + 1, '-')) {
        snprintf(start, sizeof(start), "%.*s", (int)(dash - text), text);
        if (!find_place(search, start))
            continue;
        range->start = search->found.start;
        if (!find_place(search, dash + 1))
            continue;
        range->end = search->found.start;
        return range->start < range->end || refuse_order(search, text);
    }
    return false;
}

static void refuse(const struct search *search)
{
    const struct address_words *words = &search->words;
    if (words->line > 0)
        message_say("pugmark: %s: no code of line %s:%u is known: it needs debug information (-g), "
                    "and a line that has code\n",
                    search->program, words->name, words->line);
    else
        message_say("pugmark: %s: there is no function '%s'%s\n", search->program, words->name,
                    words->suggestion.question);
}

static bool find_one(struct search *search, const char *text, uint64_t bias,
                     struct rec_range *range)
{
    struct rec_range numbers;
    if (parse_range(text, &numbers))
        return true;
    bool good = find_place(search, text);
    if (good && search->found.start < search->found.end)
        *range = search->found;
    else if (strchr(text, '-'))
        good = find_between(search, text, range);
    else if (good)
        *range = (struct rec_range){search->found.start, search->found.start + 1};
    if (!good) {
        if (!search->told)
            refuse(search);
        return false;
    }
    range->start += bias;
    range->end += bias;
    return true;
}

bool record_filter_find(struct record_filter *filter, const char *program, uint64_t bias)
{
    struct search search = {.program = program, .names = pug_names_new(NULL)};
    const struct pug_names_wanted wanted = {.path = program, .file = program};
    bool good = search.names && pug_names_open(search.names, &wanted, &search.file) == PUG_OK;
    if (!good)
        message_say("pugmark: %s: cannot read its symbols\n", program);
    for (size_t i = 0; good && i < filter->names->count; i++)
        good = find_one(&search, filter->names->items[i], bias, &filter->ranges[i]);
    pug_names_free(search.names);
    return good;
}

/* ---- where it is ---- */

static bool is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/** Does the item tell where the program is? */
static bool tells_place(struct record_filter *filter, const struct rec_path_item *item)
{
    struct rec_program program;
    if (item->kind == REC_PATH_NAMED) {
        snprintf(filter->program, sizeof(filter->program), "%s", item->text);
        return rec_program_read(item->text, &program) && !program.movable;
    }
    return item->kind == REC_PATH_MAPPED && filter->program[0] &&
           is_same_file(filter->program, item->text) &&
           rec_program_read(filter->program, &program) && program.movable &&
           rec_program_bias(&program, item->address, item->offset, &filter->bias);
}

bool record_filter_take(struct record_filter *filter, const struct rec_path_item *item)
{
    if (filter->placed || !tells_place(filter, item))
        return true;
    filter->placed = true;
    return !filter->by_name || record_filter_find(filter, filter->program, filter->bias);
}
