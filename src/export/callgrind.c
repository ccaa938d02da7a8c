// SPDX-License-Identifier: MIT
/**
 * @file callgrind's profile: instructions of each address and line, jumps, and calls with what they
 * cost. callgrind_annotate and kcachegrind read it.
 */
#include "export/export.h"

#include "pugmark/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE PUG_PROFILE_NONE

/* Calls of one instruction to one function. */
struct edge {
    uint32_t site_object, object;
    uint64_t site, function;
    uint64_t calls, inclusive;
};

/* Jumps of one instruction within an object. */
struct jump {
    uint32_t object;
    uint64_t from, to, taken, ran;
    bool conditional;
};

struct callgrind {
    const struct export *export;
    struct export_functions functions;
    struct export_sites sites;
    struct edge *edges;
    struct jump *jumps;
    size_t edge_count, jump_count, edge, jump;
    uint64_t total;
    /* where the output is */
    uint32_t object;
    uint64_t function;
    const char *path, *own_path;
    struct pug_names_file *file;
    bool begun;
};

/* ---- calls ---- */

static int by_site(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->site_object != b->site_object)
        return a->site_object < b->site_object ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

/* Frames as a tree, gone through with what is below each. */
struct tree {
    const struct pug_profile_frame *frames;
    uint64_t *totals;
    uint32_t *first, *next, *active;
    size_t count;
};

static bool tree_make(struct tree *tree, const struct export *export, size_t functions)
{
    uint64_t *weights = pug_export_frame_weights(export, PUG_WEIGHT_INSTRUCTIONS);
    *tree = (struct tree){.frames = pug_profile_frames(export->profile, &tree->count),
                          .totals = weights};
    pug_profile_frames(export->profile, &tree->count);
    tree->first = calloc(tree->count + 1, sizeof(*tree->first));
    tree->next = calloc(tree->count + 1, sizeof(*tree->next));
    tree->active = calloc(functions + 1, sizeof(*tree->active));
    if (!weights || !tree->first || !tree->next || !tree->active)
        return false;
    for (size_t i = 0; i < tree->count; i++)
        tree->first[i] = tree->next[i] = NONE;
    for (size_t i = tree->count; i-- > 0;) {
        const uint32_t parent = tree->frames[i].parent;
        if (parent == NONE)
            continue;
        tree->totals[parent] = pug_profile_sum(tree->totals[parent], tree->totals[i]);
        tree->next[i] = tree->first[parent];
        tree->first[parent] = (uint32_t)i;
    }
    return true;
}

static void tree_free(struct tree *tree)
{
    free(tree->totals);
    free(tree->first);
    free(tree->next);
    free(tree->active);
}

/* What a recursive call costs is in the outermost one's cost already. */
static void add_edge(struct callgrind *all, const struct tree *tree, uint32_t at)
{
    const struct pug_profile_frame *frame = &tree->frames[at];
    if (frame->site_object == NONE)
        return;
    all->edges[all->edge_count++] = (struct edge){
        .site_object = frame->site_object,
        .site = frame->site,
        .object = frame->object,
        .function = frame->function,
        .calls = frame->calls,
        .inclusive = tree->active[all->functions.of_frame[at]] == 0 ? tree->totals[at] : 0};
}

static void walk(struct callgrind *all, const struct tree *tree, uint32_t root)
{
    uint32_t at = root;
    bool down = true;
    for (;;) {
        if (down) {
            add_edge(all, tree, at);
            tree->active[all->functions.of_frame[at]]++;
            if (tree->first[at] != NONE) {
                at = tree->first[at];
                continue;
            }
        }
        tree->active[all->functions.of_frame[at]]--;
        if (at == root)
            return;
        down = tree->next[at] != NONE;
        at = down ? tree->next[at] : tree->frames[at].parent;
    }
}

static bool find_edges(struct callgrind *all)
{
    struct tree tree = {0};
    size_t kept = 0;
    bool good = tree_make(&tree, all->export, all->functions.count);
    all->edges = good ? calloc(tree.count + 1, sizeof(*all->edges)) : NULL;
    for (size_t i = 0; all->edges && i < tree.count; i++)
        if (tree.frames[i].parent == NONE)
            walk(all, &tree, (uint32_t)i);
    tree_free(&tree);
    if (!all->edges)
        return false;
    if (all->edge_count > 0)
        qsort(all->edges, all->edge_count, sizeof(*all->edges), by_site);
    for (size_t i = 0; i < all->edge_count; i++) {
        struct edge *last = kept > 0 ? &all->edges[kept - 1] : NULL;
        if (!last || by_site(last, &all->edges[i]) != 0) {
            all->edges[kept++] = all->edges[i];
            continue;
        }
        last->calls = pug_profile_sum(last->calls, all->edges[i].calls);
        last->inclusive = pug_profile_sum(last->inclusive, all->edges[i].inclusive);
    }
    all->edge_count = kept;
    return true;
}

/* ---- jumps ---- */

static int by_from(const void *left, const void *right)
{
    const struct jump *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static bool find_jumps(struct callgrind *all)
{
    size_t branch_count, count, kept = 0;
    const struct pug_profile_branch *branches =
        pug_profile_branches(all->export->profile, &branch_count);
    const struct pug_profile_range *ranges = pug_profile_ranges(all->export->profile, &count);
    struct jump *jumps = calloc(branch_count + 1, sizeof(*jumps));
    struct jump *ends = calloc(count + 1, sizeof(*ends));
    for (size_t i = 0; jumps && ends && i < count; i++)
        if (ranges[i].end & PUG_END_BRANCH)
            ends[kept++] = (struct jump){.object = ranges[i].object,
                                         .from = ranges[i].last,
                                         .ran = ranges[i].count,
                                         .conditional = (ranges[i].end & PUG_END_CONDITIONAL) != 0};
    size_t end_count = 0;
    if (ends)
        qsort(ends, kept, sizeof(*ends), by_from);
    for (size_t i = 0; i < kept; i++) {
        if (end_count > 0 && by_from(&ends[end_count - 1], &ends[i]) == 0)
            ends[end_count - 1].ran = pug_profile_sum(ends[end_count - 1].ran, ends[i].ran);
        else
            ends[end_count++] = ends[i];
    }
    for (size_t i = 0; jumps && ends && i < branch_count; i++) {
        const struct pug_profile_branch *branch = &branches[i];
        const struct jump wanted = {.object = branch->object, .from = branch->from};
        const struct jump *end = bsearch(&wanted, ends, end_count, sizeof(wanted), by_from);
        struct export_function_name from, to;
        if (branch->object != branch->to_object || branch->object == NONE || !end ||
            pug_export_is_call(&all->sites, branch->object, branch->from))
            continue;
        pug_export_function(all->export, branch->object, branch->from, &from);
        pug_export_function(all->export, branch->object, branch->to, &to);
        if (from.start == to.start)
            jumps[all->jump_count++] =
                (struct jump){branch->object, branch->from, branch->to,
                              branch->count,  end->ran,     end->conditional};
    }
    free(ends);
    all->jumps = jumps;
    if (jumps)
        qsort(jumps, all->jump_count, sizeof(*jumps), by_from);
    return jumps != NULL;
}

/* ---- writing ---- */

static void put_path(struct pug_sink *sink, const char *key, const char *path)
{
    pug_sink_text(sink, key);
    pug_sink_printable(sink, path ? path : "???");
    pug_sink_text(sink, "\n");
}

static void put_function_name(struct callgrind *all, const char *key, uint32_t object,
                              uint64_t vaddr)
{
    struct export_function_name name;
    struct pug_names_file *file = pug_export_file(all->export, object);
    uint64_t start;
    pug_export_function(all->export, object, vaddr, &name);
    const char *stub = !name.known && file ? pug_names_stub(file, vaddr, &start) : NULL;
    pug_sink_text(all->export->sink, key);
    pug_sink_printable(all->export->sink, stub         ? stub
                                          : name.known ? pug_export_readable(all->export, name.name)
                                                       : name.name);
    pug_sink_text(all->export->sink, stub ? "@plt\n" : "\n");
}

static const char *path_of(struct callgrind *all, uint32_t object, uint64_t vaddr, uint32_t *number)
{
    struct pug_names_file *file = pug_export_file(all->export, object);
    struct pug_names_line line;
    *number = 0;
    if (!file || !pug_names_line(file, vaddr, &line))
        return NULL;
    *number = line.line;
    return line.path;
}

static bool same_path(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A new object or function: where the counts that follow belong. */
static void go_to(struct callgrind *all, const struct export_instruction *instruction)
{
    struct pug_sink *sink = all->export->sink;
    struct export_function_name name;
    uint64_t start = 0;
    pug_export_function(all->export, all->object, instruction->vaddr, &name);
    if (!name.known && all->file && pug_names_stub(all->file, instruction->vaddr, &start))
        name.start = start;
    if (!all->begun || name.start != all->function) {
        uint32_t line;
        all->function = name.start;
        all->own_path = path_of(all, all->object, name.start, &line);
        all->path = all->own_path;
        pug_sink_text(sink, "\n");
        put_path(sink, "ob=", export_object(all->export, all->object)->path);
        put_path(sink, "fl=", all->own_path);
        put_function_name(all, "fn=", all->object, instruction->vaddr);
        all->begun = true;
    }
    if (!same_path(all->path, instruction->path)) {
        all->path = instruction->path;
        put_path(sink, same_path(all->path, all->own_path) ? "fe=" : "fi=", all->path);
    }
}

static void put_edges(struct callgrind *all, const struct export_instruction *instruction)
{
    struct pug_sink *sink = all->export->sink;
    while (all->edge < all->edge_count && (all->edges[all->edge].site_object < all->object ||
                                           (all->edges[all->edge].site_object == all->object &&
                                            all->edges[all->edge].site < instruction->vaddr)))
        all->edge++;
    for (; all->edge < all->edge_count; all->edge++) {
        const struct edge *edge = &all->edges[all->edge];
        uint32_t line;
        if (edge->site_object != all->object || edge->site != instruction->vaddr)
            return;
        const char *path = path_of(all, edge->object, edge->function, &line);
        if (edge->object != all->object && edge->object != NONE)
            put_path(sink, "cob=", export_object(all->export, edge->object)->path);
        /* callgrind_annotate takes the same file, named again, for another one */
        if (!same_path(path, all->own_path) || edge->object != all->object)
            put_path(sink, "cfi=", path);
        put_function_name(all, "cfn=", edge->object, edge->function);
        pug_sink_format(sink,
                        "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n0x%" PRIx64 " %" PRIu32
                        " %" PRIu64 "\n",
                        edge->calls, edge->function, line, instruction->vaddr, instruction->line,
                        edge->inclusive);
    }
}

static void put_jumps(struct callgrind *all, const struct export_instruction *instruction)
{
    struct pug_sink *sink = all->export->sink;
    while (all->jump < all->jump_count && (all->jumps[all->jump].object < all->object ||
                                           (all->jumps[all->jump].object == all->object &&
                                            all->jumps[all->jump].from < instruction->vaddr)))
        all->jump++;
    for (; all->jump < all->jump_count; all->jump++) {
        const struct jump *jump = &all->jumps[all->jump];
        uint32_t line;
        if (jump->object != all->object || jump->from != instruction->vaddr)
            return;
        path_of(all, jump->object, jump->to, &line);
        if (jump->conditional)
            pug_sink_format(sink, "jcnd=%" PRIu64 "/%" PRIu64, jump->taken, jump->ran);
        else
            pug_sink_format(sink, "jump=%" PRIu64, jump->taken);
        pug_sink_format(sink, " 0x%" PRIx64 " %" PRIu32 "\n0x%" PRIx64 " %" PRIu32 "\n", jump->to,
                        line, instruction->vaddr, instruction->line);
    }
}

static bool take(void *context, const struct export_instruction *instruction)
{
    struct callgrind *all = context;
    if (instruction->count == 0)
        return true;
    go_to(all, instruction);
    pug_sink_format(all->export->sink, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n",
                    instruction->vaddr, instruction->line, instruction->count);
    put_jumps(all, instruction);
    put_edges(all, instruction);
    return true;
}

static bool add_up(void *context, const struct export_instruction *instruction)
{
    struct callgrind *all = context;
    all->total = pug_profile_sum(all->total, instruction->count);
    return true;
}

static enum pug_status each_object(struct callgrind *all,
                                   bool (*what)(void *, const struct export_instruction *))
{
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < all->export->object_count && status == PUG_OK; i++) {
        all->object = all->export->objects[i];
        all->file = pug_export_file(all->export, all->object);
        all->begun = false;
        status = pug_export_instructions(all->export, all->object, what, all);
        if (status == PUG_ERR_NOT_FOUND) /* its file is not there */
            status = PUG_OK;
    }
    return status;
}

static void put_head(const struct callgrind *all)
{
    struct pug_sink *sink = all->export->sink;
    size_t count;
    const struct pug_profile_task *tasks = pug_profile_tasks(all->export->profile, &count);
    pug_sink_text(sink, "# callgrind format\nversion: 1\ncreator: pugmark\n");
    if (count > 0 && tasks[0].pid >= 0)
        pug_sink_format(sink, "pid: %" PRIi32 "\n", tasks[0].pid);
    const struct pug_profile_frame *frames = pug_profile_frames(all->export->profile, &count);
    if (count > 0 && frames[0].object != NONE) /* where the first thread begins */
        put_path(sink, "cmd: ", export_object(all->export, frames[0].object)->path);
    for (int note = PUG_NOTE_LOST; note < PUG_NOTE_COUNT; note++)
        if (pug_profile_noted(all->export->profile, note) > 0)
            pug_sink_format(sink, "desc: Doubtful: %" PRIu64 " %s\n",
                            pug_profile_noted(all->export->profile, note),
                            pug_profile_note_text(note));
    pug_sink_format(sink,
                    "part: 1\n\npositions: instr line\nevent: Ir : Instructions\nevents: Ir\n"
                    "summary: %" PRIu64 "\n",
                    all->total);
}

enum pug_status pug_export_callgrind(const struct export *export)
{
    struct callgrind all = {.export = export};
    enum pug_status status = pug_export_functions(export, &all.functions);
    if (status == PUG_OK)
        status = pug_export_call_sites(export, &all.sites);
    if (status == PUG_OK && (!find_edges(&all) || !find_jumps(&all)))
        status = PUG_ERR_MEM;
    if (status == PUG_OK)
        status = each_object(&all, add_up);
    if (status == PUG_OK) {
        put_head(&all);
        status = each_object(&all, take);
        pug_sink_format(export->sink, "\ntotals: %" PRIu64 "\n", all.total);
    }
    free(all.edges);
    free(all.jumps);
    free(all.sites.items);
    pug_export_functions_free(&all.functions);
    return status;
}
