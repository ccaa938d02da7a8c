// SPDX-License-Identifier: MIT
/**
 * @file LLVM's sample profile as text: per function, by line from its start on, with the bodies of
 * inlined functions at their call sites. clang reads it (-fprofile-sample-use), llvm-profdata too.
 */
#include "base/hash.h"
#include "export/export.h"
#include "profile/profile.h"

#include "pugmark/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 64u

/* A line of a body. */
struct place {
    uint32_t body, offset, discriminator;
};

struct sample {
    struct place at;
    uint64_t count;
};

/* The function called from a line of a body, and how often. */
struct call {
    struct place at;
    const char *callee;
    uint64_t count;
};

/* A function, or one inlined at a line of another; equal names are one text. */
struct body {
    const char *name;
    struct place at; /* of the call that it is inlined for; its body NONE: it is no inlined one */
    uint64_t entries, total;
    uint32_t first_child, last_child, next; /* those inlined into one, as they came */
    /* when they are sorted */
    const struct sample *samples;
    const struct call *calls;
    size_t sample_count, call_count;
};

#define NONE PUG_PROFILE_NONE

struct bodies {
    struct profile_table all, samples, calls; /* struct body, sample, call */
    enum pug_status status;
};

/* ---- what is equal ---- */

static uint64_t hash_place(const struct place *at, const char *name)
{
    const uint64_t hash = pug_hash_mix(pug_hash_mix(0, (uintptr_t)name), at->body);
    return pug_hash_mix(hash, at->offset | (uint64_t)at->discriminator << 32);
}

static bool same_place(const struct place *a, const struct place *b)
{
    return a->body == b->body && a->offset == b->offset && a->discriminator == b->discriminator;
}

static uint64_t hash_body(const void *item)
{
    const struct body *body = item;
    return hash_place(&body->at, body->name);
}

static bool same_body(const void *left, const void *right)
{
    const struct body *a = left, *b = right;
    return a->name == b->name && same_place(&a->at, &b->at);
}

static uint64_t hash_sample(const void *item)
{
    return hash_place(&((const struct sample *)item)->at, NULL);
}

static bool same_sample(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    return same_place(&a->at, &b->at);
}

static uint64_t hash_call(const void *item)
{
    const struct call *call = item;
    return hash_place(&call->at, call->callee);
}

static bool same_call(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    return a->callee == b->callee && same_place(&a->at, &b->at);
}

static struct bodies bodies_begin(void)
{
    return (struct bodies){
        .all = {.size = sizeof(struct body), .hash = hash_body, .same = same_body},
        .samples = {.size = sizeof(struct sample), .hash = hash_sample, .same = same_sample},
        .calls = {.size = sizeof(struct call), .hash = hash_call, .same = same_call},
    };
}

static void bodies_free(struct bodies *bodies)
{
    pug_profile_table_free(&bodies->all);
    pug_profile_table_free(&bodies->samples);
    pug_profile_table_free(&bodies->calls);
}

/* The item that equals this one, or a copy of it; NULL: there is no room. */
static void *find(struct bodies *bodies, struct profile_table *table, const void *item)
{
    uint32_t number;
    bool is_new;
    enum pug_status status = pug_profile_table_add(table, item, &number, &is_new);
    if (status != PUG_OK)
        bodies->status = status;
    return status == PUG_OK ? pug_profile_item(table, number) : NULL;
}

static struct body *body_at(const struct bodies *bodies, uint32_t number)
{
    return pug_profile_item(&bodies->all, number);
}

/* ---- which body ---- */

/* An inlined function whose name is unknown. */
static const char nameless[] = "";

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

/* The number of the body of that name and place; NONE: there is no room. */
static uint32_t body_of(struct bodies *bodies, const char *name, const struct place *at)
{
    const struct body wanted = {
        .name = name, .at = *at, .first_child = NONE, .last_child = NONE, .next = NONE};
    const uint32_t before = bodies->all.count;
    const struct body *body = find(bodies, &bodies->all, &wanted);
    if (!body)
        return NONE;
    const uint32_t number = (uint32_t)(body - body_at(bodies, 0));
    if (number < before || at->body == NONE)
        return number;
    struct body *parent = body_at(bodies, at->body);
    if (parent->last_child == NONE)
        parent->first_child = number;
    else
        body_at(bodies, parent->last_child)->next = number;
    parent->last_child = number;
    return number;
}

/* 16 bits, never negative: a line before the function's own is 0. */
static uint32_t offset_of(uint32_t line, uint32_t declared)
{
    return line > declared ? (line - declared) & 0xffff : 0;
}

/*
 * A discriminator distinguishes copies of a line; of LLVM's only the lowest part, coded so that 0
 * is an odd number. Its readers decode all discriminators so, whoever made them.
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
    const struct exporter *exporter;
    struct bodies *bodies;
    struct pug_names_file *file;
    const struct export_sites *sites;
    const struct export_entries *entries;
    uint32_t object;
    const struct pug_profile_branch *branches; /* of the profile: by object and place */
    size_t branch_count, branch;
};

static void add_sample(struct bodies *bodies, const struct place *at, uint64_t count)
{
    const struct sample wanted = {*at, count};
    struct sample *sample = find(bodies, &bodies->samples, &wanted);
    if (sample && count > sample->count)
        sample->count = count;
}

static void add_call(struct bodies *bodies, const struct place *at, const char *callee,
                     uint64_t count)
{
    const struct call wanted = {*at, callee, 0};
    struct call *call = find(bodies, &bodies->calls, &wanted);
    if (call)
        call->count = pug_profile_sum(call->count, count);
}

/* The function that a place is the start of, or NULL. */
static const char *function_at(const struct pass *pass, uint32_t object, uint64_t vaddr)
{
    struct pug_names_file *file = pug_export_file(pass->exporter, object);
    struct pug_names_function function;
    if (!file || !pug_names_function(file, vaddr, &function) || function.start != vaddr)
        return NULL;
    return plain_name(pass->exporter->options->names, function.name);
}

/* Branches out of an instruction to where functions start: calls. */
static void take_calls(struct pass *pass, uint64_t vaddr, const struct place *at, const char *own)
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
        /* to its own start a function calls itself, or loops: the instruction decides */
        if (callee &&
            (callee != own || pug_export_is_call(pass->sites, branch->object, branch->from)))
            add_call(pass->bodies, at, callee, branch->count);
    }
}

/* A function without a known entry was entered as often as it began. */
static void add_entries(const struct pass *pass, uint32_t number, uint64_t start, uint64_t count)
{
    struct body *body = body_at(pass->bodies, number);
    const uint64_t entered = pug_export_entered(pass->entries, pass->object, start);
    body->entries = pug_profile_sum(body->entries, entered > 0 ? entered : count);
}

/* Where an instruction is: from its function into what is inlined, call site by call site. */
static struct place place_of(struct bodies *bodies, uint32_t outer,
                             const struct pug_names_frame *frames, size_t depth)
{
    struct place at = {.body = outer};
    for (;;) {
        const struct pug_names_frame *frame = &frames[--depth];
        at.offset = offset_of(frame->line, frame->declared);
        at.discriminator = base_of(frame->discriminator);
        if (depth == 0 || at.body == NONE)
            return at;
        const char *name = frames[depth - 1].function;
        at.body = body_of(bodies, name ? name : nameless, &at);
    }
}

static bool take(void *context, const struct export_instruction *instruction)
{
    static const struct place nowhere = {.body = NONE};
    struct pass *pass = context;
    struct pug_names_frame frames[FRAMES];
    struct pug_names_function function;
    if (instruction->plt || instruction->count == 0 || !instruction->path)
        return true;
    const size_t depth = pug_names_frames(pass->file, instruction->vaddr, frames, FRAMES);
    if (depth == 0 || !frames[depth - 1].function)
        return true;
    struct pug_names *names = pass->exporter->options->names;
    const bool known = pug_names_function(pass->file, instruction->vaddr, &function);
    const char *outer = plain_name(names, known ? function.name : frames[depth - 1].function);
    const uint32_t number = outer ? body_of(pass->bodies, outer, &nowhere) : NONE;
    if (number == NONE)
        return pass->bodies->status == PUG_OK;
    const struct place at = place_of(pass->bodies, number, frames, depth);
    if (at.body == NONE)
        return false;
    if (frames[0].line > 0)
        add_sample(pass->bodies, &at, instruction->count);
    if (known && instruction->vaddr == function.start && outer == function.name)
        add_entries(pass, number, function.start, instruction->count);
    take_calls(pass, instruction->vaddr, &at, outer);
    return pass->bodies->status == PUG_OK;
}

/* ---- writing ---- */

static int by_place(const struct place *a, const struct place *b)
{
    if (a->body != b->body)
        return a->body < b->body ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->discriminator < b->discriminator ? -1 : a->discriminator > b->discriminator;
}

static int by_sample(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    return by_place(&a->at, &b->at);
}

static int by_call(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    const int place = by_place(&a->at, &b->at);
    if (place != 0)
        return place;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->callee, b->callee);
}

static void put_place(struct pug_sink *sink, unsigned depth, const struct place *at)
{
    for (unsigned i = 0; i < depth; i++)
        pug_sink_text(sink, " ");
    pug_sink_format(sink, "%" PRIu32, at->offset);
    if (at->discriminator > 0)
        pug_sink_format(sink, ".%" PRIu32, at->discriminator);
    pug_sink_text(sink, ": ");
}

static void put_named(struct pug_sink *sink, const char *before, const char *name, uint64_t count)
{
    pug_sink_text(sink, before);
    pug_sink_printable(sink, name);
    pug_sink_text(sink, ":");
    pug_sink_decimal(sink, count);
}

static void put_body(struct pug_sink *sink, const struct bodies *bodies, const struct body *body,
                     unsigned depth)
{
    size_t call = 0;
    for (size_t i = 0; i < body->sample_count; i++) {
        const struct sample *sample = &body->samples[i];
        put_place(sink, depth, &sample->at);
        pug_sink_decimal(sink, sample->count);
        for (; call < body->call_count; call++) {
            const struct call *is = &body->calls[call];
            const int order = by_place(&is->at, &sample->at);
            if (order > 0)
                break;
            if (order == 0)
                put_named(sink, " ", is->callee, is->count);
        }
        pug_sink_text(sink, "\n");
    }
    for (uint32_t number = body->first_child; number != NONE;) {
        const struct body *child = body_at(bodies, number);
        put_place(sink, depth, &child->at);
        put_named(sink, "", child->name, child->total);
        pug_sink_text(sink, "\n");
        if (depth < FRAMES)
            put_body(sink, bodies, child, depth + 1);
        number = child->next;
    }
}

/* Each body's lines in their order. They are not looked for any more. */
static void sort_lines(struct bodies *bodies)
{
    struct sample *samples = bodies->samples.items;
    struct call *calls = bodies->calls.items;
    if (bodies->samples.count > 0)
        qsort(samples, bodies->samples.count, sizeof(*samples), by_sample);
    if (bodies->calls.count > 0)
        qsort(calls, bodies->calls.count, sizeof(*calls), by_call);
    for (uint32_t i = bodies->samples.count; i-- > 0;) {
        struct body *body = body_at(bodies, samples[i].at.body);
        body->samples = &samples[i];
        body->sample_count++;
        body->total = pug_profile_sum(body->total, samples[i].count);
    }
    for (uint32_t i = bodies->calls.count; i-- > 0;) {
        struct body *body = body_at(bodies, calls[i].at.body);
        body->calls = &calls[i];
        body->call_count++;
    }
}

/* Inlined bodies come after those that they are in: their totals are ready first. */
static void sum_up(struct bodies *bodies)
{
    for (uint32_t i = bodies->all.count; i-- > 0;) {
        const struct body *body = body_at(bodies, i);
        if (body->at.body == NONE)
            continue;
        struct body *parent = body_at(bodies, body->at.body);
        parent->total = pug_profile_sum(parent->total, body->total);
    }
}

static int by_total(const void *left, const void *right)
{
    const struct body *a = *(const struct body *const *)left;
    const struct body *b = *(const struct body *const *)right;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return strcmp(a->name, b->name);
}

static enum pug_status put_all(struct pug_sink *sink, struct bodies *bodies)
{
    const struct body **ranked = calloc((size_t)bodies->all.count + 1, sizeof(*ranked));
    size_t count = 0;
    if (!ranked)
        return PUG_ERR_MEM;
    sort_lines(bodies);
    sum_up(bodies);
    for (uint32_t i = 0; i < bodies->all.count; i++) {
        const struct body *body = body_at(bodies, i);
        if (body->at.body == NONE && body->total > 0)
            ranked[count++] = body;
    }
    qsort(ranked, count, sizeof(*ranked), by_total);
    for (size_t i = 0; i < count; i++) {
        put_named(sink, "", ranked[i]->name, ranked[i]->total);
        pug_sink_format(sink, ":%" PRIu64 "\n", ranked[i]->entries);
        put_body(sink, bodies, ranked[i], 1);
    }
    free(ranked);
    return PUG_OK;
}

static enum pug_status pass_over(const struct exporter *exporter, struct bodies *bodies,
                                 const struct export_sites *sites,
                                 const struct export_entries *entries)
{
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < exporter->object_count && status == PUG_OK; i++) {
        struct pass pass = {.exporter = exporter,
                            .bodies = bodies,
                            .sites = sites,
                            .entries = entries,
                            .file = pug_export_file(exporter, exporter->objects[i]),
                            .object = exporter->objects[i]};
        pass.branches = pug_profile_branches(exporter->profile, &pass.branch_count);
        if (pass.file)
            status = pug_export_instructions(exporter, exporter->objects[i], take, &pass);
        if (status == PUG_ERR_NOT_FOUND)
            status = PUG_OK;
    }
    return bodies->status != PUG_OK ? bodies->status : status;
}

enum pug_status pug_export_llvm(const struct exporter *exporter)
{
    struct bodies bodies = bodies_begin();
    struct export_sites sites = {0};
    struct export_entries entries = {0};
    enum pug_status status = pug_export_call_sites(exporter, &sites);
    if (status == PUG_OK)
        status = pug_export_entries(exporter, &sites, &entries);
    if (status == PUG_OK)
        status = pass_over(exporter, &bodies, &sites, &entries);
    if (status == PUG_OK)
        status = bodies.all.count > 0 ? put_all(exporter->sink, &bodies) : PUG_ERR_NOT_READY;
    bodies_free(&bodies);
    free(sites.items);
    free(entries.items);
    return status;
}
