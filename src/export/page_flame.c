// SPDX-License-Identifier: MIT
/**
 * @file The page's flame graph: call stacks merged by function. A profile has a frame for each call
 * site; in the page calls of one function from one place of the graph are one node. What has less
 * than a ten-thousandth of the whole becomes one node without a name below its caller.
 */
#include "export/page_data.h"

#include <stdlib.h>
#include <string.h>

#define PARTS_OF_WHOLE UINT64_C(10000)
#define WEIGHTS        3u

struct node {
    uint32_t parent, function; /* PUG_PROFILE_NONE: none */
    uint32_t number;           /* in the page, or PUG_PROFILE_NONE */
    uint32_t rest;             /* the node that stands for what is left out below it, or none */
    uint64_t own[WEIGHTS], total;
};

struct graph {
    const struct export_functions *functions;
    struct node *nodes;
    uint32_t count;
    uint32_t *table, *node_of; /* node + 1 by hash; node of each frame */
    uint32_t room;             /* of the table, a power of two */
    unsigned weights;
    uint32_t rest; /* the node for what is left out of the outermost ones, or none */
    uint64_t whole;
};

/** The node of a function below a parent, which is made where there is none. */
static uint32_t node_at(struct graph *graph, uint32_t parent, uint32_t function)
{
    uint64_t hash = ((uint64_t)parent << 32 | function) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 32) & (graph->room - 1);
    for (; graph->table[at]; at = (at + 1) & (graph->room - 1)) {
        const struct node *node = &graph->nodes[graph->table[at] - 1];
        if (node->parent == parent && node->function == function)
            return graph->table[at] - 1;
    }
    graph->nodes[graph->count] = (struct node){.parent = parent,
                                               .function = function,
                                               .number = PUG_PROFILE_NONE,
                                               .rest = PUG_PROFILE_NONE};
    graph->table[at] = ++graph->count;
    return graph->count - 1;
}

static bool set_up(struct graph *graph, size_t count)
{
    if (count > UINT32_MAX / 4)
        return false;
    graph->room = 16;
    while (graph->room < 2 * count)
        graph->room *= 2;
    /* Each node may have one more for what is left out below it. */
    graph->nodes = calloc(2 * count + 2, sizeof(*graph->nodes));
    graph->node_of = calloc(count + 1, sizeof(*graph->node_of));
    graph->table = calloc(graph->room, sizeof(*graph->table));
    return graph->nodes && graph->node_of && graph->table;
}

static bool add_weights(const struct exporter *exporter, struct graph *graph, size_t count)
{
    const bool has[WEIGHTS] = {true, graph->functions->has_cycles, graph->functions->has_time};
    for (unsigned kind = 0; kind < WEIGHTS; kind++) {
        uint64_t *weights =
            has[kind] ? pug_export_frame_weights(exporter, (enum pug_export_weight)kind) : NULL;
        if (has[kind] && !weights)
            return false;
        for (size_t i = 0; has[kind] && i < count; i++) {
            uint64_t *own = &graph->nodes[graph->node_of[i]].own[graph->weights];
            *own = pug_profile_sum(*own, weights[i]);
        }
        graph->weights += has[kind];
        free(weights);
    }
    return true;
}

static bool merge(const struct exporter *exporter, struct graph *graph)
{
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(exporter->profile, &count);
    if (!graph->functions->has_stacks)
        count = 0;
    if (!set_up(graph, count))
        return false;
    for (size_t i = 0; i < count; i++) { /* children come after their parents */
        const uint32_t parent = frames[i].parent == PUG_PROFILE_NONE
                                    ? PUG_PROFILE_NONE
                                    : graph->node_of[frames[i].parent];
        graph->node_of[i] = node_at(graph, parent, graph->functions->of_frame[i]);
    }
    if (!add_weights(exporter, graph, count))
        return false;
    for (uint32_t i = graph->count; i-- > 0;) {
        struct node *node = &graph->nodes[i];
        node->total = pug_profile_sum(node->total, node->own[0]);
        uint64_t *sum =
            node->parent == PUG_PROFILE_NONE ? &graph->whole : &graph->nodes[node->parent].total;
        *sum = pug_profile_sum(*sum, node->total);
    }
    return true;
}

/** The least total with which a node is kept, so that there are at most so many. */
static uint64_t choose_least(const struct graph *graph, size_t most)
{
    uint64_t least = graph->whole / PARTS_OF_WHOLE + 1;
    for (;; least *= 2) {
        size_t kept = 0;
        for (uint32_t i = 0; i < graph->count; i++)
            kept += graph->nodes[i].total >= least;
        if (kept <= most || least > UINT64_MAX / 2)
            return least;
    }
}

/** The node for what is left out below a node that is kept, or beside the outermost ones. */
static uint32_t rest_below(struct graph *graph, uint32_t parent)
{
    uint32_t *rest = parent == PUG_PROFILE_NONE ? &graph->rest : &graph->nodes[parent].rest;
    if (*rest == PUG_PROFILE_NONE) {
        *rest = graph->count++;
        graph->nodes[*rest] = (struct node){.parent = parent,
                                            .function = PUG_PROFILE_NONE,
                                            .number = PUG_PROFILE_NONE,
                                            .rest = PUG_PROFILE_NONE};
    }
    return *rest;
}

/** Number what is kept. What is not kept goes, with all above it, to a node without a name. */
static void cut(struct graph *graph, size_t most)
{
    const uint64_t least = choose_least(graph, most);
    const uint32_t count = graph->count;
    uint32_t number = 0;
    graph->rest = PUG_PROFILE_NONE;
    for (uint32_t i = 0; i < count; i++) {
        struct node *node = &graph->nodes[i];
        const bool below_kept = node->parent == PUG_PROFILE_NONE ||
                                graph->nodes[node->parent].number != PUG_PROFILE_NONE;
        if (below_kept && node->total >= least) {
            node->number = number++;
            continue;
        }
        /* For a node that is not kept, `rest` is the one that it went to. */
        node->rest = below_kept ? rest_below(graph, node->parent) : graph->nodes[node->parent].rest;
        for (unsigned w = 0; w < graph->weights; w++) {
            uint64_t *sum = &graph->nodes[node->rest].own[w];
            *sum = pug_profile_sum(*sum, node->own[w]);
        }
    }
    for (uint32_t i = count; i < graph->count; i++)
        graph->nodes[i].number = number++;
}

static void put_nodes(struct page *page, const struct graph *graph,
                      int64_t (*number)(const struct page *page, uint32_t function))
{
    struct pug_json *json = &page->json;
    pug_json_array(json, "parent");
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->number != PUG_PROFILE_NONE)
            pug_json_signed(
                json, NULL,
                node->parent == PUG_PROFILE_NONE ? -1 : (int64_t)graph->nodes[node->parent].number);
    }
    pug_json_close(json);
    /* -2: less than a ten-thousandth of the whole each */
    pug_json_array(json, "function");
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->number != PUG_PROFILE_NONE)
            pug_json_signed(json, NULL,
                            node->function == PUG_PROFILE_NONE ? -2 : number(page, node->function));
    }
    pug_json_close(json);
    pug_json_array(json, "own");
    for (unsigned w = 0; w < graph->weights; w++) {
        pug_json_array(json, NULL);
        for (uint32_t i = 0; i < graph->count; i++)
            if (graph->nodes[i].number != PUG_PROFILE_NONE)
                pug_page_count(json, NULL, graph->nodes[i].own[w]);
        pug_json_close(json);
    }
    pug_json_close(json);
}

void pug_page_flame_of(struct page *page, const struct exporter *exporter,
                       const struct export_functions *functions,
                       int64_t (*number)(const struct page *page, uint32_t function), size_t most)
{
    struct pug_json *json = &page->json;
    struct graph graph = {.functions = functions};
    pug_json_object(json, "flame");
    if (merge(exporter, &graph)) {
        cut(&graph, most);
        pug_json_array(json, "weights");
        pug_json_string(json, NULL, "instructions");
        if (functions->has_cycles)
            pug_json_string(json, NULL, "cycles");
        if (functions->has_time)
            pug_json_string(json, NULL, "time");
        pug_json_close(json);
        put_nodes(page, &graph, number);
    } else {
        page->status = PUG_ERR_MEM;
    }
    pug_json_close(json);
    free(graph.nodes);
    free(graph.table);
    free(graph.node_of);
}

void pug_page_flame(struct page *page, size_t most)
{
    pug_json_object(&page->json, NULL);
    pug_page_flame_of(page, page->exporter, &page->functions, pug_page_function, most);
    pug_json_close(&page->json);
}
