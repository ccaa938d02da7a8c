// SPDX-License-Identifier: MIT
/** @file Inlined copies of the functions that rules name, from debug information. */
#include "base/edit_distance.h"
#include "base/hash.h"
#include "check/engine.h"
#include "names/copies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Most copies of an object that are followed. */
#define COPIES_MOST 65536u

/** Functions by object and name, so that all copies of one are one function. */
struct by_name {
    uint32_t *table; /* numbers plus 1 */
    uint32_t size, taken;
};

struct binding {
    struct pug_check *check;
    struct check_bound *bound;
    uint32_t count, object;
    struct by_name functions;
};

/* ---- functions by name ---- */

static uint32_t slot_of(const struct binding *binding, uint32_t object, const char *name)
{
    const struct by_name *functions = &binding->functions;
    uint64_t hash = object;
    for (const char *c = name; *c; c++)
        hash = pug_hash_mix(hash, (unsigned char)*c);
    uint32_t at = (uint32_t)hash & (functions->size - 1);
    for (; functions->table[at]; at = (at + 1) & (functions->size - 1)) {
        const struct check_function *known =
            CHECK_FUNCTION_AT(binding->check, functions->table[at] - 1);
        if (known->object == object && strcmp(known->name, name) == 0)
            break;
    }
    return at;
}

static bool grow(struct binding *binding)
{
    struct by_name *functions = &binding->functions;
    uint32_t size = functions->size ? functions->size : 64;
    while (size < 4 * (binding->check->functions.count + 1))
        size *= 2;
    uint32_t *table = calloc(size, sizeof(*table));
    if (!table)
        return false;
    free(functions->table);
    *functions = (struct by_name){.table = table, .size = size};
    for (uint32_t n = 0; n < binding->check->functions.count; n++) {
        const struct check_function *function = CHECK_FUNCTION_AT(binding->check, n);
        const uint32_t at = slot_of(binding, function->object, function->name);
        if (!table[at])
            table[at] = n + 1;
    }
    return true;
}

/** The number of the function that a copy is of, plus 1; 0: no memory. */
static uint32_t function_of(struct binding *binding, const struct pug_names_copy *copy)
{
    struct pug_check *check = binding->check;
    if (2 * (check->functions.count + 1) > binding->functions.size && !grow(binding)) {
        pug_check_starve(check);
        return 0;
    }
    uint32_t *slot = &binding->functions.table[slot_of(binding, binding->object, copy->function)];
    if (*slot)
        return *slot;
    struct check_function *function = pug_list_add(&check->functions, sizeof(*function));
    if (!function) {
        pug_check_starve(check);
        return 0;
    }
    *function = (struct check_function){
        .name = copy->function, .start = copy->ranges[0].start, .object = binding->object};
    return *slot = (uint32_t)check->functions.count;
}

/* ---- copies ---- */

/** A copy is followed, once. */
static bool add_copy(struct pug_check *check, uint32_t number, const struct pug_names_range *range,
                     uint32_t function)
{
    struct check_object *object = &check->objects[number];
    const struct check_copy *last =
        object->copies.count > 0
            ? &((struct check_copy *)object->copies.items)[object->copies.count - 1]
            : NULL;
    if (last && last->start == range->start && last->end == range->end &&
        last->function == function)
        return true;
    struct check_copy *copy =
        object->copies.count < COPIES_MOST ? pug_list_add(&object->copies, sizeof(*copy)) : NULL;
    if (!copy) {
        if (object->copies.count == COPIES_MOST)
            check->status = PUG_ERR_LIMIT;
        else
            pug_check_starve(check);
        return false;
    }
    *copy = (struct check_copy){.start = range->start, .end = range->end, .function = function};
    if (range->end - range->start > object->longest_copy)
        object->longest_copy = range->end - range->start;
    check->looks_copies = true;
    return true;
}

static void forbid(struct pug_check *check, const struct check_bound *bound, uint32_t object,
                   const struct pug_names_copy *copy, uint32_t function)
{
    for (size_t n = 0; n < copy->range_count && check->status == PUG_OK; n++)
        pug_check_span(check, object, copy->ranges[n].start, copy->ranges[n].end, bound->rule,
                       function);
}

/** A copy is of a function that a rule names. */
static void take_match(struct binding *binding, struct check_bound *bound,
                       const struct pug_names_copy *copy)
{
    struct pug_check *check = binding->check;
    const struct check_tally *tally = CHECK_TALLY(check, bound->rule);
    bound->copies++;
    if (copy->range_count != 1 && !bound->unseen) {
        bound->unseen = true;
        bound->scattered = copy->range_count > 1;
        bound->path = copy->call_path;
        bound->line = copy->call_line;
    }
    if (tally->impossible || copy->range_count == 0)
        return;
    const uint32_t function = function_of(binding, copy);
    if (function == 0)
        return;
    if (tally->rule.kind == CHECK_NEVER)
        forbid(check, bound, binding->object, copy, function);
    else if (copy->range_count == 1 &&
             add_copy(check, binding->object, &copy->ranges[0], function)) /* once is enough */
        (void)pug_check_link(check, bound->rule, (enum check_role)bound->role, function - 1);
}

static void note_near(struct check_bound *bound, const char *name)
{
    const unsigned distance = pug_name_distance(bound->subject.name, name);
    if (distance >= (bound->near ? bound->distance : PUG_NAME_FAR))
        return;
    bound->near = name;
    bound->distance = distance;
}

static bool take_copy(void *context, const struct pug_names_copy *copy)
{
    struct binding *binding = context;
    for (uint32_t n = 0; n < binding->count && binding->check->status == PUG_OK; n++) {
        struct check_bound *bound = &binding->bound[n];
        const struct check_subject *subject = &bound->subject;
        if (!bound->looks || subject->by_address)
            continue;
        if (!pug_check_is_name(binding->check, subject, copy->function)) {
            if (!bound->found && !bound->copies && !subject->glob)
                note_near(bound, copy->function);
            continue;
        }
        if (!subject->file ||
            (copy->declared_path && pug_check_glob_path(subject->file, copy->declared_path)))
            take_match(binding, bound, copy);
    }
    return binding->check->status == PUG_OK;
}

/** Outer ones first. */
static int by_start(const void *left, const void *right)
{
    const struct check_copy *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

void pug_check_bind_copies(struct pug_check *check, struct check_bound *bound, uint32_t count)
{
    struct binding binding = {.check = check, .bound = bound, .count = count};
    bool any = false;
    for (uint32_t n = 0; n < count; n++)
        any |= bound[n].looks && !bound[n].subject.by_address;
    for (uint32_t n = 0; any && n < check->object_count && check->status == PUG_OK; n++) {
        struct check_object *object = &check->objects[n];
        binding.object = n;
        if (object->file && pug_names_copies(object->file, take_copy, &binding) == PUG_ERR_MEM)
            pug_check_starve(check);
        if (object->copies.count > 1)
            qsort(object->copies.items, object->copies.count, sizeof(struct check_copy), by_start);
    }
    free(binding.functions.table);
}

void pug_check_say_inlined(struct pug_check *check, const struct check_bound *bound)
{
    const char *const name = bound->subject.name, *const path = bound->path ? bound->path : "?";
    pug_check_refuse(check, &CHECK_TALLY(check, bound->rule)->rule, &bound->subject,
                     pug_check_keep_format(
                         &check->texts,
                         "%s is inlined at %s:%" PRIu32 ", %s: its calls cannot be seen "
                         "there; build with noinline, or ask for lines",
                         name, path, bound->line,
                         bound->scattered ? "in several pieces" : "and no code is left of it"));
}
