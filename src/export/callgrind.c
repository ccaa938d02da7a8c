// SPDX-License-Identifier: MIT
/**
 * @file callgrind's profile: instructions of each address and line, jumps, and calls with what they
 * cost, by the functions whose frames they ran on. callgrind_annotate and kcachegrind read it.
 */
#include "export/export.h"

#include "pugmark/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE    PUG_PROFILE_NONE
#define UNKNOWN "[unknown]" /* the function of callers that are not known */

struct place {
    uint32_t object;
    uint64_t vaddr;
};

/* Calls of one instruction to one function. */
struct edge {
    struct place site;
    uint32_t caller, function; /* by number; caller NONE: none that is written */
    uint64_t calls, inclusive;
};

/* Jumps of one instruction within an object. */
struct jump {
    struct place from;
    uint32_t function; /* by number */
    uint64_t to, taken, ran;
    bool conditional, leaves; /* leaves: to another function */
};

/* A range that ran on frames of a function. */
struct run {
    uint32_t function, range; /* by number */
    uint64_t count;
};

/* Instructions of a function that ran. */
struct cost {
    struct place place;
    uint64_t count;
};

struct callgrind {
    const struct exporter *exporter;
    struct export_functions functions;
    struct edge *edges;
    struct jump *jumps;
    struct run *runs;
    size_t edge_count, jump_count, run_count;
    uint64_t total;
    /* those that come next */
    size_t edge, jump, run, cost;
    /* the function that is written */
    uint32_t object;
    struct export_function_name name;
    struct cost *costs; /* by place, once they are joined */
    size_t cost_count, cost_room;
    bool failed;
    /* where the output is */
    const char *path, *own_path;
    struct pug_names_line line;
    uint32_t line_object;
};

static int by_place(const struct place *a, const struct place *b)
{
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* ---- calls ---- */

static int by_site(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->caller != b->caller)
        return order(a->caller, b->caller);
    const int site = by_place(&a->site, &b->site);
    return site != 0 ? site : order(a->function, b->function);
}

static bool is_written(const struct callgrind *all, uint32_t function)
{
    return pug_export_is_chosen(all->exporter, all->functions.items[function].object);
}

/*
 * A frame's call. What a recursive one costs is in the outermost one's cost already. For readers of
 * the file a function costs what its calls cost, if it has any. So frames without a caller also get
 * a call, from an unknown function. The cost of no calls would be the caller's own.
 */
static struct edge edge_of(const struct callgrind *all, const struct export_caller *callers,
                           const struct pug_profile_frame *frames, uint32_t at)
{
    const struct pug_profile_frame *frame = &frames[at];
    struct edge edge = {.site = {NONE, 0},
                        .caller = NONE,
                        .function = all->functions.of_frame[at],
                        .calls = frame->calls > 0 ? frame->calls : 1,
                        .inclusive = all->functions.cost_of_frame[at]};
    if (frame->parent != NONE && is_written(all, all->functions.of_frame[frame->parent])) {
        edge.caller = all->functions.of_frame[frame->parent];
        edge.site = (struct place){callers[at].object, callers[at].vaddr};
    }
    return edge;
}

static void join_edges(struct callgrind *all, size_t count)
{
    if (count > 0)
        qsort(all->edges, count, sizeof(*all->edges), by_site);
    for (size_t i = 0; i < count; i++) {
        struct edge *last = all->edge_count > 0 ? &all->edges[all->edge_count - 1] : NULL;
        if (!last || by_site(last, &all->edges[i]) != 0) {
            all->edges[all->edge_count++] = all->edges[i];
            continue;
        }
        last->calls = pug_profile_sum(last->calls, all->edges[i].calls);
        last->inclusive = pug_profile_sum(last->inclusive, all->edges[i].inclusive);
    }
}

/* Returns their number; edges from no function to functions that are not written are left out. */
static size_t add_edges(struct callgrind *all, const struct export_caller *callers)
{
    size_t count, added = 0;
    const struct pug_profile_frame *frames = pug_profile_frames(all->exporter->profile, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct edge edge = edge_of(all, callers, frames, i);
        if (edge.caller != NONE || is_written(all, edge.function))
            all->edges[added++] = edge;
    }
    return added;
}

static bool find_edges(struct callgrind *all)
{
    size_t count;
    (void)pug_profile_frames(all->exporter->profile, &count);
    if (pug_profile_is_sampled(all->exporter->profile)) /* which tell of no calls */
        return true;
    struct export_caller *callers = pug_export_callers(all->exporter);
    all->edges = calloc(count + 1, sizeof(*all->edges));
    const bool good = callers && all->edges;
    if (good)
        join_edges(all, add_edges(all, callers));
    free(callers);
    return good;
}

/* ---- jumps ---- */

static int by_ends(const void *left, const void *right)
{
    const struct jump *a = left, *b = right;
    const int from = by_place(&a->from, &b->from);
    return from != 0 ? from : order(a->to, b->to);
}

static int by_from(const void *left, const void *right)
{
    const struct jump *a = left, *b = right;
    return a->function != b->function ? order(a->function, b->function) : by_ends(a, b);
}

/* Branches that ended ranges, but for calls and returns, and how often they ran; how many. */
static size_t find_ends(const struct callgrind *all, struct jump *ends)
{
    size_t count, found = 0, kept = 0;
    const struct pug_profile_range *ranges = pug_profile_ranges(all->exporter->profile, &count);
    for (size_t i = 0; i < count; i++)
        if ((ranges[i].end & (PUG_END_BRANCH | PUG_END_CALL | PUG_END_RETURN)) == PUG_END_BRANCH)
            ends[found++] =
                (struct jump){.from = {ranges[i].object, ranges[i].last},
                              .ran = ranges[i].count,
                              .conditional = (ranges[i].end & PUG_END_CONDITIONAL) != 0};
    if (found > 0)
        qsort(ends, found, sizeof(*ends), by_ends);
    for (size_t i = 0; i < found; i++) {
        if (kept > 0 && by_ends(&ends[kept - 1], &ends[i]) == 0)
            ends[kept - 1].ran = pug_profile_sum(ends[kept - 1].ran, ends[i].ran);
        else
            ends[kept++] = ends[i];
    }
    return kept;
}

/* A branch as a jump of the function that it lies in; false: it is none of those. */
static bool take_branch(const struct callgrind *all, const struct pug_profile_branch *branch,
                        const struct jump *ends, size_t end_count, struct jump *jump)
{
    struct export_function_name from, to;
    const struct jump wanted = {.from = {branch->object, branch->from}};
    const struct jump *end = bsearch(&wanted, ends, end_count, sizeof(wanted), by_ends);
    if (branch->object != branch->to_object || branch->object == NONE || !end)
        return false;
    pug_export_function(all->exporter, branch->object, branch->from, &from);
    pug_export_function(all->exporter, branch->object, branch->to, &to);
    *jump = *end;
    jump->function = pug_export_function_number(&all->functions, branch->object, from.start);
    jump->to = branch->to;
    jump->taken = branch->count;
    jump->leaves = from.start != to.start;
    return from.known && to.known && jump->function != NONE && is_written(all, jump->function);
}

static bool find_jumps(struct callgrind *all)
{
    size_t branch_count, count;
    const struct pug_profile_branch *branches =
        pug_profile_branches(all->exporter->profile, &branch_count);
    (void)pug_profile_ranges(all->exporter->profile, &count);
    struct jump *ends = calloc(count + 1, sizeof(*ends));
    all->jumps = calloc(branch_count + 1, sizeof(*all->jumps));
    const bool good = ends && all->jumps;
    const size_t end_count = good ? find_ends(all, ends) : 0;
    for (size_t i = 0; good && i < branch_count; i++)
        all->jump_count +=
            take_branch(all, &branches[i], ends, end_count, &all->jumps[all->jump_count]);
    free(ends);
    if (good && all->jump_count > 0)
        qsort(all->jumps, all->jump_count, sizeof(*all->jumps), by_from);
    return good;
}

/* ---- instructions ---- */

static int by_function(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    return a->function != b->function ? order(a->function, b->function) : order(a->range, b->range);
}

static bool find_runs(struct callgrind *all)
{
    size_t count, found = 0;
    const struct pug_profile_use *uses = pug_profile_uses(all->exporter->profile, &count);
    struct run *runs = all->runs = calloc(count + 1, sizeof(*runs));
    for (size_t i = 0; runs && i < count; i++) {
        const uint32_t function = all->functions.of_frame[uses[i].frame];
        if (is_written(all, function))
            runs[found++] = (struct run){function, uses[i].range, uses[i].count};
    }
    if (found > 0)
        qsort(runs, found, sizeof(*runs), by_function);
    for (size_t i = 0; i < found; i++) {
        struct run *last = all->run_count > 0 ? &runs[all->run_count - 1] : NULL;
        if (last && by_function(last, &runs[i]) == 0)
            last->count = pug_profile_sum(last->count, runs[i].count);
        else
            runs[all->run_count++] = runs[i];
    }
    return runs != NULL;
}

static int by_cost_place(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;
    return by_place(&a->place, &b->place);
}

static void join_costs(struct callgrind *all)
{
    size_t kept = 0;
    if (all->cost_count > 0)
        qsort(all->costs, all->cost_count, sizeof(*all->costs), by_cost_place);
    for (size_t i = 0; i < all->cost_count; i++) {
        struct cost *last = kept > 0 ? &all->costs[kept - 1] : NULL;
        if (last && by_cost_place(last, &all->costs[i]) == 0)
            last->count = pug_profile_sum(last->count, all->costs[i].count);
        else
            all->costs[kept++] = all->costs[i];
    }
    all->cost_count = kept;
}

/* Room for one more; ranges may have many instructions in common, so these are joined first. */
static bool make_room(struct callgrind *all)
{
    join_costs(all);
    if (all->cost_count < all->cost_room / 2)
        return true;
    const size_t room = all->cost_room ? all->cost_room * 2 : 1024;
    void *costs = realloc(all->costs, room * sizeof(*all->costs));
    all->failed |= !costs;
    if (!costs)
        return false;
    all->costs = costs;
    all->cost_room = room;
    return true;
}

static void add_cost(struct callgrind *all, uint32_t object, uint64_t vaddr, uint64_t count)
{
    if (all->cost_count < all->cost_room || make_room(all))
        all->costs[all->cost_count++] = (struct cost){{object, vaddr}, count};
}

/* Does an address lie in the function that is written? */
static bool is_own(const struct callgrind *all, uint32_t object, uint64_t vaddr)
{
    struct export_function_name name;
    if (!all->name.known || object != all->object)
        return false;
    pug_export_function(all->exporter, object, vaddr, &name);
    return name.known && name.start == all->name.start;
}

/*
 * Instructions without a named function, or whose code is missing, are reported together, and so
 * are those of other functions that execution continued into.
 */
static void take_run(struct callgrind *all, const struct run *run)
{
    size_t range_count;
    const struct pug_profile_range *range =
        &pug_profile_ranges(all->exporter->profile, &range_count)[run->range];
    struct export_walk walk = pug_export_walk(all->exporter, range);
    uint64_t foreign = 0, at = range->first;
    if (!walk.bytes || !all->name.known) {
        foreign = walk.left;
        walk.left = 0;
    }
    while (walk.left > 0 && !all->failed) {
        if (is_own(all, range->object, walk.at))
            add_cost(all, range->object, walk.at, run->count);
        else if (foreign++ == 0)
            at = walk.at;
        pug_export_walk_to(&walk, walk.at + 1);
    }
    if (foreign > 0)
        add_cost(all, range->object, at, pug_profile_product(run->count, foreign));
}

/* ---- writing ---- */

static void put_path(struct pug_sink *sink, const char *key, const char *path)
{
    pug_sink_text(sink, key);
    pug_sink_printable(sink, path ? path : "???");
    pug_sink_text(sink, "\n");
}

static void put_object(const struct callgrind *all, const char *key, uint32_t object)
{
    put_path(all->exporter->sink, key,
             object != NONE ? export_object(all->exporter, object)->path : NULL);
}

static void put_function_name(struct callgrind *all, const char *key, uint32_t object,
                              uint64_t vaddr)
{
    struct export_function_name name;
    struct pug_names_file *file = pug_export_file(all->exporter, object);
    uint64_t start;
    pug_export_function(all->exporter, object, vaddr, &name);
    const char *stub = !name.known && file ? pug_names_stub(file, vaddr, &start) : NULL;
    pug_sink_text(all->exporter->sink, key);
    pug_sink_printable(all->exporter->sink, stub ? stub
                                            : name.known
                                                ? pug_export_readable(all->exporter, name.name)
                                                : name.name);
    pug_sink_text(all->exporter->sink, stub ? "@plt\n" : "\n");
}

static const char *path_of(struct callgrind *all, uint32_t object, uint64_t vaddr, uint32_t *number)
{
    struct pug_names_line *line = &all->line;
    if (!line->path || object != all->line_object || vaddr < line->start || vaddr >= line->end) {
        struct pug_names_file *file = pug_export_file(all->exporter, object);
        if (!file || !pug_names_line(file, vaddr, line))
            *line = (struct pug_names_line){0};
        all->line_object = object;
    }
    *number = line->line;
    return line->path;
}

static bool same_path(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* To the source of a place; its line. */
static uint32_t go_to(struct callgrind *all, const struct place *place)
{
    uint32_t line;
    const char *path = path_of(all, place->object, place->vaddr, &line);
    if (!same_path(all->path, path)) {
        all->path = path;
        put_path(all->exporter->sink, same_path(path, all->own_path) ? "fe=" : "fi=", path);
    }
    return line;
}

/* Files that are named are others than that of the place: what is not named is that one. */
static void put_edge(struct callgrind *all, const struct edge *edge, uint32_t site_line)
{
    struct pug_sink *sink = all->exporter->sink;
    const struct export_function *function = &all->functions.items[edge->function];
    uint32_t line;
    const char *path = path_of(all, function->object, function->start, &line);
    if (function->object != all->object)
        put_object(all, "cob=", function->object);
    if (!same_path(path, all->path))
        put_path(sink, "cfi=", path);
    put_function_name(all, "cfn=", function->object, function->start);
    pug_sink_format(
        sink,
        "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n",
        edge->calls, function->start, line, edge->site.vaddr, site_line, edge->inclusive);
}

static void put_jump(struct callgrind *all, const struct jump *jump, uint32_t from_line)
{
    struct pug_sink *sink = all->exporter->sink;
    uint32_t line;
    const char *path = path_of(all, jump->from.object, jump->to, &line);
    if (!same_path(path, all->path))
        put_path(sink, "jfi=", path);
    if (jump->leaves)
        put_function_name(all, "jfn=", jump->from.object, jump->to);
    if (jump->conditional)
        pug_sink_format(sink, "jcnd=%" PRIu64 "/%" PRIu64, jump->taken, jump->ran);
    else
        pug_sink_format(sink, "jump=%" PRIu64, jump->taken);
    pug_sink_format(sink, " 0x%" PRIx64 " %" PRIu32 "\n0x%" PRIx64 " %" PRIu32 "\n", jump->to, line,
                    jump->from.vaddr, from_line);
}

/* The next place of the function that has something to report; NULL: no more. */
static const struct place *next_place(const struct callgrind *all, uint32_t function)
{
    const struct place *const places[] = {
        all->cost < all->cost_count ? &all->costs[all->cost].place : NULL,
        all->edge < all->edge_count && all->edges[all->edge].caller == function
            ? &all->edges[all->edge].site
            : NULL,
        all->jump < all->jump_count && all->jumps[all->jump].function == function
            ? &all->jumps[all->jump].from
            : NULL,
    };
    const struct place *first = NULL;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (places[i] && (!first || by_place(places[i], first) < 0))
            first = places[i];
    return first;
}

static void put_place(struct callgrind *all, uint32_t function, const struct place *place)
{
    const uint32_t line = go_to(all, place);
    if (all->cost < all->cost_count && by_place(&all->costs[all->cost].place, place) == 0)
        pug_sink_format(all->exporter->sink, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n",
                        place->vaddr, line, all->costs[all->cost++].count);
    for (; all->jump < all->jump_count; all->jump++) {
        const struct jump *jump = &all->jumps[all->jump];
        if (jump->function != function || by_place(&jump->from, place) != 0)
            break;
        put_jump(all, jump, line);
    }
    for (; all->edge < all->edge_count; all->edge++) {
        const struct edge *edge = &all->edges[all->edge];
        if (edge->caller != function || by_place(&edge->site, place) != 0)
            break;
        put_edge(all, edge, line);
    }
}

/* A new function: where the counts that follow belong. */
static void begin_function(struct callgrind *all, uint32_t function)
{
    struct pug_sink *sink = all->exporter->sink;
    const struct export_function unknown = {.object = NONE};
    const struct export_function *is =
        function != NONE ? &all->functions.items[function] : &unknown;
    uint32_t line;
    all->path = all->own_path = path_of(all, is->object, is->start, &line);
    pug_sink_text(sink, "\n");
    put_object(all, "ob=", is->object);
    put_path(sink, "fl=", all->own_path);
    if (function == NONE)
        pug_sink_text(sink, "fn=" UNKNOWN "\n");
    else
        put_function_name(all, "fn=", is->object, is->start);
}

/* NONE: functions without a known caller. */
static void put_function(struct callgrind *all, uint32_t function)
{
    const struct place *place;
    all->object = NONE;
    all->cost = all->cost_count = 0;
    if (function != NONE) {
        const struct export_function *is = &all->functions.items[function];
        all->object = is->object;
        pug_export_function(all->exporter, is->object, is->start, &all->name);
    }
    for (; all->run < all->run_count && all->runs[all->run].function == function; all->run++)
        take_run(all, &all->runs[all->run]);
    join_costs(all);
    if ((place = next_place(all, function)) != NULL)
        begin_function(all, function);
    for (; place && !all->failed; place = next_place(all, function))
        put_place(all, function, place);
}

static void put_head(const struct callgrind *all)
{
    struct pug_sink *sink = all->exporter->sink;
    size_t count;
    const struct pug_profile_task *tasks = pug_profile_tasks(all->exporter->profile, &count);
    pug_sink_text(sink, "# callgrind format\nversion: 1\ncreator: pugmark\n");
    if (count > 0 && tasks[0].pid >= 0)
        pug_sink_format(sink, "pid: %" PRIi32 "\n", tasks[0].pid);
    const struct pug_profile_frame *frames = pug_profile_frames(all->exporter->profile, &count);
    if (count > 0 && frames[0].object != NONE) /* where the first thread begins */
        put_path(sink, "cmd: ", export_object(all->exporter, frames[0].object)->path);
    char sampled[160];
    pug_export_sampled(all->exporter, sampled, sizeof(sampled));
    if (*sampled)
        pug_sink_format(sink, "desc: Samples: %s\n", sampled);
    for (int note = PUG_NOTE_LOST; note < PUG_NOTE_COUNT; note++)
        if (pug_profile_noted(all->exporter->profile, note) > 0)
            pug_sink_format(sink, "desc: Doubtful: %" PRIu64 " %s\n",
                            pug_profile_noted(all->exporter->profile, note),
                            pug_profile_note_text(note));
    pug_sink_format(sink,
                    "part: 1\n\npositions: instr line\n%s"
                    "summary: %" PRIu64 "\n",
                    *sampled ? "event: Samples : PC samples\nevents: Samples\n"
                             : "event: Ir : Instructions\nevents: Ir\n",
                    all->total);
}

static void put_all(struct callgrind *all)
{
    for (size_t i = 0; i < all->functions.count; i++)
        if (is_written(all, (uint32_t)i))
            all->total = pug_profile_sum(all->total, all->functions.items[i].self);
    put_head(all);
    for (size_t i = 0; i < all->functions.count; i++)
        put_function(all, (uint32_t)i);
    put_function(all, NONE);
    pug_sink_format(all->exporter->sink, "\ntotals: %" PRIu64 "\n", all->total);
}

enum pug_status pug_export_callgrind(const struct exporter *exporter)
{
    struct callgrind all = {.exporter = exporter};
    enum pug_status status = pug_export_functions(exporter, &all.functions);
    if (status == PUG_OK && (!find_edges(&all) || !find_jumps(&all) || !find_runs(&all)))
        status = PUG_ERR_MEM;
    if (status == PUG_OK)
        put_all(&all);
    free(all.edges);
    free(all.jumps);
    free(all.runs);
    free(all.costs);
    pug_export_functions_free(&all.functions);
    return status == PUG_OK && all.failed ? PUG_ERR_MEM : status;
}
