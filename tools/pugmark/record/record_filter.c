// SPDX-License-Identifier: MIT
#include "record_filter.h"
#include "common/messages.h"
#include "common/suggest.h"

#include "image/image.h"
#include "image/symbols.h"
#include "recorder/program.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
    *filter = (struct record_filter){.names = names};
    for (size_t i = 0; i < names->count; i++) {
        if (parse_range(names->items[i], &filter->ranges[i]))
            continue;
        if (names->items[i][0] >= '0' && names->items[i][0] <= '9') {
            message_say("pugmark: --filter '%s': expected a function, or START-END\n",
                        names->items[i]);
            return false;
        }
        filter->by_name = true;
    }
    return true;
}

static bool find_symbol(const struct pug_image *image, const char *name, struct rec_range *range,
                        struct suggestion *suggestion)
{
    suggest_begin(suggestion, name);
    for (const struct pug_symbols *list = image->symbols; list; list = list->next) {
        for (size_t i = 0; i < list->count; i++) {
            suggest_offer(suggestion, list->entries[i].name);
            if (strcmp(list->entries[i].name, name) != 0)
                continue;
            range->start = list->entries[i].start & ~UINT64_C(1); /* T32's bit */
            range->end = list->entries[i].end;
            return true;
        }
    }
    return false;
}

bool record_filter_find(struct record_filter *filter, const char *program, uint64_t bias)
{
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    struct rec_range range;
    bool good = image && pug_image_add_elf(image, &anywhere, program, bias) == PUG_OK;
    if (!good)
        message_say("pugmark: %s: cannot read its symbols\n", program);
    for (size_t i = 0; good && i < filter->names->count; i++) {
        const char *name = filter->names->items[i];
        if (parse_range(name, &range))
            continue;
        struct suggestion near;
        good = find_symbol(image, name, &filter->ranges[i], &near);
        if (!good)
            message_say("pugmark: %s: there is no function '%s'%s%s%s\n", program, name,
                        *near.meant ? "; is " : "", near.meant, *near.meant ? " meant?" : "");
    }
    pug_image_free(image);
    return good;
}

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
