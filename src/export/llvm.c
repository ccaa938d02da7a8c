// SPDX-License-Identifier: MIT
/**
 * @file LLVM's sample profile as text: per function, by line from its start on, with the bodies of
 * inlined functions at their call sites. clang reads it (-fprofile-sample-use), llvm-profdata too.
 */
#include "export/export.h"

#include "pugmark/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 64u

/* A line of a body. */
struct sample {
    uint32_t offset, discriminator;
    uint64_t count;
};

/* Who is called from a line of a body, and how often. */
struct call {
    uint32_t offset, discriminator;
    const char *callee;
    uint64_t count;
};

/* A function, or one inlined at a line of another. */
struct body {
    const char *name;
    uint32_t offset, discriminator; /* of the call that it is inlined for */
    uint32_t parent;                /* UINT32_MAX: it is no inlined one */
    uint32_t declared;
    uint64_t entries, total;
    struct sample *samples;
    struct call *calls;
    uint32_t *children;
    size_t sample_count, sample_room, call_count, call_room, child_count, child_room;
};

struct bodies {
    struct body *items;
    size_t count, room;
    bool failed;
};

/* Room for one more; NULL: no memory. */
static void *add(void *list, size_t *count, size_t *room, size_t size)
{
    void **items = list;
    if (*count == *room) {
        const size_t larger = *room ? *room * 2 : 8;
        void *grown = realloc(*items, larger * size);
        if (!grown)
            return NULL;
        *items = grown;
        *room = larger;
    }
    return memset((char *)*items + (*count)++ * size, 0, size);
}

static void bodies_free(struct bodies *bodies)
{
    for (size_t i = 0; i < bodies->count; i++) {
        free(bodies->items[i].samples);
        free(bodies->items[i].calls);
        free(bodies->items[i].children);
    }
    free(bodies->items);
}

/* ---- which body ---- */

/* What the compiler made of a function is the function: ".cold", ".part.0", ".llvm.123" say how. */
static const char *plain_name(struct pug_names *names, const char *name)
{
    static const char *const suffixes[] = {".cold", ".part.", ".llvm.", ".isra.", ".constprop."};
    const char *end = NULL;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        const char *found = strstr(name, suffixes[i]);
        if (found && found > name && (!end || found < end))
            end = found;
    }
    return end ? pug_names_keep(names, name, (size_t)(end - name)) : name;
}

static bool is_body(const struct body *body, const char *name, uint32_t offset,
                    uint32_t discriminator)
{
    return body->offset == offset && body->discriminator == discriminator &&
           strcmp(body->name, name) == 0;
}

static uint32_t new_body(struct bodies *bodies, const char *name, uint32_t parent, uint32_t offset,
                         uint32_t discriminator, uint32_t declared)
{
    struct body *body = add(&bodies->items, &bodies->count, &bodies->room, sizeof(*bodies->items));
    if (!body) {
        bodies->failed = true;
        return UINT32_MAX;
    }
    body->name = name;
    body->parent = parent;
    body->offset = offset;
    body->discriminator = discriminator;
    body->declared = declared;
    return (uint32_t)bodies->count - 1;
}

/* Functions of a profile are found by name, again and again: the one before is mostly it. */
static uint32_t outer_body(struct bodies *bodies, const char *name, uint32_t declared,
                           uint32_t *last)
{
    if (*last != UINT32_MAX && bodies->items[*last].name == name)
        return *last;
    for (size_t i = 0; i < bodies->count; i++)
        if (bodies->items[i].parent == UINT32_MAX && strcmp(bodies->items[i].name, name) == 0)
            return *last = (uint32_t)i;
    return *last = new_body(bodies, name, UINT32_MAX, 0, 0, declared);
}

static uint32_t inlined_body(struct bodies *bodies, uint32_t parent, const char *name,
                             uint32_t offset, uint32_t discriminator, uint32_t declared)
{
    for (size_t i = 0; i < bodies->items[parent].child_count; i++) {
        const uint32_t child = bodies->items[parent].children[i];
        if (is_body(&bodies->items[child], name, offset, discriminator))
            return child;
    }
    const uint32_t number = new_body(bodies, name, parent, offset, discriminator, declared);
    if (number == UINT32_MAX)
        return number;
    struct body *body = &bodies->items[parent];
    uint32_t *child =
        add(&body->children, &body->child_count, &body->child_room, sizeof(*body->children));
    if (child)
        *child = number;
    bodies->failed |= !child;
    return number;
}

/* 16 bits, never negative: a line before the function's own is 0. */
static uint32_t offset_of(uint32_t line, uint32_t declared)
{
    return line > declared ? (line - declared) & 0xffff : 0;
}

/*
 * A discriminator tells copies of a line apart; of LLVM's only the lowest part, coded so that 0 is
 * an odd number. Its readers decode all discriminators so, whoever made them.
 */
static uint32_t base_of(uint32_t discriminator)
{
    if (discriminator & 1)
        return 0;
    const uint32_t coded = discriminator >> 1;
    return coded & 0x20 ? (coded >> 1 & 0xfe0) | (coded & 0x1f) : coded & 0x1f;
}

/* ---- counting ---- */

struct pass {
    const struct export *export;
    struct bodies *bodies;
    struct pug_names_file *file;
    const struct export_sites *sites;
    const struct export_entries *entries;
    uint32_t object, last;
    const struct pug_profile_branch *branches; /* of the profile: by object and place */
    size_t branch_count, branch;
};

static void add_sample(struct bodies *bodies, uint32_t number, uint32_t offset,
                       uint32_t discriminator, uint64_t count)
{
    struct body *body = &bodies->items[number];
    for (size_t i = 0; i < body->sample_count; i++) {
        struct sample *sample = &body->samples[i];
        if (sample->offset != offset || sample->discriminator != discriminator)
            continue;
        if (count > sample->count)
            sample->count = count;
        return;
    }
    struct sample *sample =
        add(&body->samples, &body->sample_count, &body->sample_room, sizeof(*body->samples));
    if (sample)
        *sample = (struct sample){offset, discriminator, count};
    bodies->failed |= !sample;
}

static void add_call(struct bodies *bodies, uint32_t number, uint32_t offset,
                     uint32_t discriminator, const char *callee, uint64_t count)
{
    struct body *body = &bodies->items[number];
    for (size_t i = 0; i < body->call_count; i++) {
        struct call *call = &body->calls[i];
        if (call->offset != offset || call->discriminator != discriminator ||
            strcmp(call->callee, callee) != 0)
            continue;
        call->count = pug_profile_sum(call->count, count);
        return;
    }
    struct call *call =
        add(&body->calls, &body->call_count, &body->call_room, sizeof(*body->calls));
    if (call)
        *call = (struct call){offset, discriminator, callee, count};
    bodies->failed |= !call;
}

/* The function that a place is the start of, or NULL. */
static const char *function_at(const struct pass *pass, uint32_t object, uint64_t vaddr)
{
    struct pug_names_file *file = pug_export_file(pass->export, object);
    struct pug_names_function function;
    if (!file || !pug_names_function(file, vaddr, &function) || function.start != vaddr)
        return NULL;
    return plain_name(pass->export->options->names, function.name);
}

/* Branches out of an instruction to where functions start: calls. */
static void take_calls(struct pass *pass, uint64_t vaddr, uint32_t body, uint32_t offset,
                       uint32_t discriminator, const char *own)
{
    while (pass->branch < pass->branch_count &&
           (pass->branches[pass->branch].object < pass->object ||
            (pass->branches[pass->branch].object == pass->object &&
             pass->branches[pass->branch].from < vaddr)))
        pass->branch++;
    for (size_t i = pass->branch; i < pass->branch_count; i++) {
        const struct pug_profile_branch *branch = &pass->branches[i];
        if (branch->object != pass->object || branch->from != vaddr)
            return;
        const char *callee = function_at(pass, branch->to_object, branch->to);
        /* to its own start a function calls itself, or loops: who knows the instruction says */
        if (callee && (strcmp(callee, own) != 0 ||
                       pug_export_is_call(pass->sites, branch->object, branch->from)))
            add_call(pass->bodies, body, offset, discriminator, callee, branch->count);
    }
}

/* A function that nobody was seen to enter was entered as often as it began. */
static void add_entries(struct pass *pass, uint64_t start, uint64_t count)
{
    struct body *body = &pass->bodies->items[pass->last];
    const uint64_t entered = pug_export_entered(pass->entries, pass->object, start);
    body->entries = pug_profile_sum(body->entries, entered > 0 ? entered : count);
}

static bool take(void *context, const struct export_instruction *instruction)
{
    struct pass *pass = context;
    struct pug_names_frame frames[FRAMES];
    struct pug_names_function function;
    if (instruction->plt || instruction->count == 0 || !instruction->path)
        return true;
    size_t depth = pug_names_frames(pass->file, instruction->vaddr, frames, FRAMES);
    if (depth == 0 || !frames[depth - 1].function)
        return true;
    struct pug_names *names = pass->export->options->names;
    const bool known = pug_names_function(pass->file, instruction->vaddr, &function);
    const char *outer = plain_name(names, known ? function.name : frames[depth - 1].function);
    uint32_t body = outer ? outer_body(pass->bodies, outer, frames[depth - 1].declared, &pass->last)
                          : UINT32_MAX;
    while (body != UINT32_MAX && --depth > 0) { /* into what is inlined, call site by call site */
        const uint32_t offset = offset_of(frames[depth].line, frames[depth].declared);
        const char *name = frames[depth - 1].function ? frames[depth - 1].function : "";
        body = inlined_body(pass->bodies, body, name, offset, base_of(frames[depth].discriminator),
                            frames[depth - 1].declared);
    }
    if (body == UINT32_MAX)
        return !pass->bodies->failed;
    const uint32_t offset = offset_of(frames[0].line, frames[0].declared);
    const uint32_t discriminator = base_of(frames[0].discriminator);
    if (frames[0].line > 0)
        add_sample(pass->bodies, body, offset, discriminator, instruction->count);
    if (known && instruction->vaddr == function.start && strcmp(outer, function.name) == 0)
        add_entries(pass, function.start, instruction->count);
    take_calls(pass, instruction->vaddr, body, offset, discriminator, outer);
    return !pass->bodies->failed;
}

/* ---- writing ---- */

static int by_offset(uint32_t a, uint32_t a_discriminator, uint32_t b, uint32_t b_discriminator)
{
    if (a != b)
        return a < b ? -1 : 1;
    return a_discriminator < b_discriminator ? -1 : a_discriminator > b_discriminator;
}

static int by_sample(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    return by_offset(a->offset, a->discriminator, b->offset, b->discriminator);
}

static int by_call(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    const int place = by_offset(a->offset, a->discriminator, b->offset, b->discriminator);
    if (place != 0)
        return place;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->callee, b->callee);
}

static void put_offset(struct pug_sink *sink, unsigned depth, uint32_t offset,
                       uint32_t discriminator)
{
    for (unsigned i = 0; i < depth; i++)
        pug_sink_text(sink, " ");
    pug_sink_format(sink, "%" PRIu32, offset);
    if (discriminator > 0)
        pug_sink_format(sink, ".%" PRIu32, discriminator);
    pug_sink_text(sink, ": ");
}

static void put_body(struct pug_sink *sink, struct bodies *bodies, uint32_t number, unsigned depth)
{
    struct body *body = &bodies->items[number];
    size_t call = 0;
    for (size_t i = 0; i < body->sample_count; i++) {
        const struct sample *sample = &body->samples[i];
        put_offset(sink, depth, sample->offset, sample->discriminator);
        pug_sink_decimal(sink, sample->count);
        for (; call < body->call_count; call++) {
            const struct call *is = &body->calls[call];
            const int order =
                by_offset(is->offset, is->discriminator, sample->offset, sample->discriminator);
            if (order > 0)
                break;
            if (order == 0)
                pug_sink_format(sink, " %s:%" PRIu64, is->callee, is->count);
        }
        pug_sink_text(sink, "\n");
    }
    for (size_t i = 0; i < body->child_count; i++) {
        const struct body *child = &bodies->items[body->children[i]];
        put_offset(sink, depth, child->offset, child->discriminator);
        pug_sink_format(sink, "%s:%" PRIu64 "\n", child->name, child->total);
        if (depth < FRAMES)
            put_body(sink, bodies, body->children[i], depth + 1);
    }
}

/* Inlined bodies come behind those that they are in: their totals are ready first. */
static void sum_up(struct bodies *bodies)
{
    for (size_t i = bodies->count; i-- > 0;) {
        struct body *body = &bodies->items[i];
        if (body->sample_count > 0)
            qsort(body->samples, body->sample_count, sizeof(*body->samples), by_sample);
        if (body->call_count > 0)
            qsort(body->calls, body->call_count, sizeof(*body->calls), by_call);
        for (size_t n = 0; n < body->sample_count; n++)
            body->total = pug_profile_sum(body->total, body->samples[n].count);
        if (body->parent != UINT32_MAX)
            bodies->items[body->parent].total =
                pug_profile_sum(bodies->items[body->parent].total, body->total);
    }
}

struct ranked {
    const struct body *body;
    uint32_t number;
};

static int by_total(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->body->total != b->body->total)
        return a->body->total > b->body->total ? -1 : 1;
    return strcmp(a->body->name, b->body->name);
}

static enum pug_status put_all(struct pug_sink *sink, struct bodies *bodies)
{
    struct ranked *ranked = calloc(bodies->count + 1, sizeof(*ranked));
    size_t count = 0;
    if (!ranked)
        return PUG_ERR_MEM;
    sum_up(bodies);
    for (size_t i = 0; i < bodies->count; i++)
        if (bodies->items[i].parent == UINT32_MAX && bodies->items[i].total > 0)
            ranked[count++] = (struct ranked){&bodies->items[i], (uint32_t)i};
    qsort(ranked, count, sizeof(*ranked), by_total);
    for (size_t i = 0; i < count; i++) {
        pug_sink_format(sink, "%s:%" PRIu64 ":%" PRIu64 "\n", ranked[i].body->name,
                        ranked[i].body->total, ranked[i].body->entries);
        put_body(sink, bodies, ranked[i].number, 1);
    }
    free(ranked);
    return PUG_OK;
}

static enum pug_status pass_over(const struct export *export, struct bodies *bodies,
                                 const struct export_sites *sites,
                                 const struct export_entries *entries)
{
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < export->object_count && status == PUG_OK; i++) {
        struct pass pass = {.export = export,
                            .bodies = bodies,
                            .sites = sites,
                            .entries = entries,
                            .file = pug_export_file(export, export->objects[i]),
                            .object = export->objects[i],
                            .last = UINT32_MAX};
        pass.branches = pug_profile_branches(export->profile, &pass.branch_count);
        if (pass.file)
            status = pug_export_instructions(export, export->objects[i], take, &pass);
        if (status == PUG_ERR_NOT_FOUND)
            status = PUG_OK;
    }
    return bodies->failed ? PUG_ERR_MEM : status;
}

enum pug_status pug_export_llvm(const struct export *export)
{
    struct bodies bodies = {0};
    struct export_sites sites = {0};
    struct export_entries entries = {0};
    enum pug_status status = pug_export_call_sites(export, &sites);
    if (status == PUG_OK)
        status = pug_export_entries(export, &sites, &entries);
    if (status == PUG_OK)
        status = pass_over(export, &bodies, &sites, &entries);
    if (status == PUG_OK)
        status = bodies.count > 0 ? put_all(export->sink, &bodies) : PUG_ERR_NOT_INIT;
    bodies_free(&bodies);
    free(sites.items);
    free(entries.items);
    return status;
}
