// SPDX-License-Identifier: MIT
/** @file Whose trace is in a segment (section 9), and the trees for it (section 10). */
#include "perfdata/perfdata.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct lining {
    struct pug_perf *perf;
    uint32_t *of_buffers; /* formatted; by buffer */
    uint32_t *of_sinks;   /* the same; by number in `cpus` of one that has the sink */
    uint32_t *of_cpus;    /* raw; by number in `cpus` */
    uint32_t all;         /* formatted: every processor */
    uint64_t collisions;
};

static struct pug_perf_cpu *cpus_of(const struct pug_perf *perf)
{
    return perf->cpus.items;
}

static uint32_t find_cpu(const struct pug_perf *perf, int32_t number)
{
    const struct pug_perf_cpu *cpus = cpus_of(perf);
    if ((uint32_t)number < perf->cpus.count && cpus[number].cpu == number)
        return (uint32_t)number;
    for (uint32_t i = 0; i < perf->cpus.count; i++)
        if (cpus[i].cpu == number)
            return i;
    return NONE;
}

/* ---- lineups ---- */

static bool has_id(const struct pug_perf *perf, const struct pug_perf_source_trees *source_trees,
                   uint8_t id)
{
    for (size_t i = 0; i < source_trees->count; i++)
        if (cpus_of(perf)[source_trees->cpus[i]].id == id)
            return true;
    return false;
}

static bool shares_sink(const struct pug_perf_cpu *cpu, const struct pug_perf_cpu *with)
{
    return !with || cpu == with || !with->has_sink || !cpu->has_sink || cpu->sink == with->sink;
}

/** All processors that have the sink of one, or all there are. NONE: no memory. */
static uint32_t add_source_trees(struct lining *lining, const struct pug_perf_cpu *with, bool raw)
{
    struct pug_perf *perf = lining->perf;
    struct pug_perf_source_trees *source_trees =
        pug_capture_add(perf->capture, &perf->source_tree_sets, sizeof(*source_trees));
    if (!source_trees ||
        !(source_trees->cpus = calloc(perf->cpus.count + 1, sizeof(*source_trees->cpus))))
        return NONE;
    source_trees->raw = raw;
    source_trees->one_sink = !raw && with && with->has_sink;
    for (uint32_t i = 0; i < perf->cpus.count; i++) {
        const struct pug_perf_cpu *cpu = &cpus_of(perf)[i];
        if (raw ? cpu != with : !cpu->has_trace || !shares_sink(cpu, with))
            continue;
        if (!raw && has_id(perf, source_trees, cpu->id))
            lining->collisions++;
        else
            source_trees->cpus[source_trees->count++] = i;
    }
    return (uint32_t)perf->source_tree_sets.count - 1;
}

/** Processors with one sink have one set of source trees. */
static uint32_t source_trees_of_sink(struct lining *lining, uint32_t cpu)
{
    const struct pug_perf *perf = lining->perf;
    const struct pug_perf_cpu *own = &cpus_of(perf)[cpu];
    uint32_t first = 0;
    while (!cpus_of(perf)[first].has_sink || cpus_of(perf)[first].sink != own->sink)
        first++;
    if (lining->of_sinks[first] == NONE)
        lining->of_sinks[first] = add_source_trees(lining, own, false);
    return lining->of_sinks[first];
}

/** A thread's trace is in the sink of the processor that it left. */
static uint32_t thread_source_trees(struct lining *lining, int32_t number)
{
    const struct pug_perf *perf = lining->perf;
    const uint32_t cpu = number >= 0 ? find_cpu(perf, number) : NONE;
    if (cpu != NONE && cpus_of(perf)[cpu].has_sink)
        return source_trees_of_sink(lining, cpu);
    if (lining->all == NONE)
        lining->all = add_source_trees(lining, NULL, false);
    return lining->all;
}

static uint32_t formatted_source_trees(struct lining *lining,
                                       const struct pug_capture_segment *segment)
{
    const int32_t number = pug_capture_buffers(lining->perf->capture)[segment->buffer].cpu;
    uint32_t *known = &lining->of_buffers[segment->buffer];
    if (number < 0)
        return thread_source_trees(lining, segment->cpu);
    if (*known == NONE)
        *known = thread_source_trees(lining, number);
    return *known;
}

/** Raw bytes are of the buffer's processor, or the record's, or else any. */
static uint32_t raw_source_trees(struct lining *lining, int32_t number)
{
    uint32_t cpu = find_cpu(lining->perf, number);
    if (cpu == NONE)
        cpu = 0;
    if (lining->of_cpus[cpu] == NONE)
        lining->of_cpus[cpu] = add_source_trees(lining, &cpus_of(lining->perf)[cpu], true);
    return lining->of_cpus[cpu];
}

static enum pug_status assign(struct lining *lining)
{
    struct pug_perf *perf = lining->perf;
    const struct pug_capture_segment *segments = pug_capture_segments(perf->capture);
    struct pug_perf_cut *cuts = perf->cuts.items;
    for (size_t i = 0; i < perf->cuts.count; i++) {
        cuts[i].source_trees = segments[i].flags & PUG_SEGMENT_RAW
                                   ? raw_source_trees(lining, segments[i].cpu)
                                   : formatted_source_trees(lining, &segments[i]);
        if (cuts[i].source_trees == NONE)
            return PUG_ERR_MEM;
    }
    return PUG_OK;
}

/* ---- sources ---- */

static enum pug_status list_source(struct pug_perf *perf, uint32_t buffer,
                                   const struct pug_perf_cpu *cpu)
{
    struct pug_capture *capture = perf->capture;
    struct pug_capture_source *source =
        pug_capture_add(capture, &capture->sources, sizeof(*source));
    struct pug_setting items[12];
    size_t count;
    if (!source)
        return PUG_ERR_MEM;
    *source = (struct pug_capture_source){
        .buffer = buffer,
        .id = cpu->id,
        .name = pug_capture_keep_format(capture, "cpu%d", (int)cpu->cpu),
        .protocol = pug_perf_source(cpu, items, &count),
        .cpu = cpu->cpu};
    return PUG_OK;
}

/** A thread's buffer may have what several sinks took. */
static enum pug_status list_all_sources(struct pug_perf *perf, uint32_t buffer)
{
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < perf->cpus.count && status == PUG_OK; i++)
        if (cpus_of(perf)[i].has_trace)
            status = list_source(perf, buffer, &cpus_of(perf)[i]);
    return status;
}

/** Sources of a buffer: those of its first segment. */
static enum pug_status list_sources(struct pug_perf *perf)
{
    const struct pug_capture *capture = perf->capture;
    const struct pug_capture_buffer *buffers = pug_capture_buffers(capture);
    const struct pug_perf_cut *cuts = perf->cuts.items;
    const struct pug_perf_source_trees *source_tree_sets = perf->source_tree_sets.items;
    enum pug_status status = PUG_OK;
    for (uint32_t i = 0; i < capture->buffers.count && status == PUG_OK; i++) {
        if (buffers[i].segment_count == 0)
            continue;
        const struct pug_perf_source_trees *source_trees =
            &source_tree_sets[cuts[buffers[i].first_segment].source_trees];
        if (buffers[i].cpu < 0 && source_trees->one_sink) {
            status = list_all_sources(perf, i);
            continue;
        }
        for (size_t n = 0; n < source_trees->count && status == PUG_OK; n++)
            status = list_source(perf, i, &cpus_of(perf)[source_trees->cpus[n]]);
    }
    return status;
}

enum pug_status pug_perf_line_up(struct pug_perf *perf)
{
    struct lining lining = {.perf = perf, .all = NONE};
    const size_t buffers = perf->capture->buffers.count;
    if (perf->cuts.count == 0 || perf->cpus.count == 0)
        return PUG_OK;
    lining.of_buffers = malloc((buffers + 1) * sizeof(*lining.of_buffers));
    lining.of_sinks = malloc((perf->cpus.count + 1) * sizeof(*lining.of_sinks));
    lining.of_cpus = malloc((perf->cpus.count + 1) * sizeof(*lining.of_cpus));
    enum pug_status status =
        lining.of_buffers && lining.of_sinks && lining.of_cpus ? PUG_OK : PUG_ERR_MEM;
    if (status == PUG_OK) {
        memset(lining.of_buffers, 0xff, buffers * sizeof(*lining.of_buffers));
        memset(lining.of_sinks, 0xff, perf->cpus.count * sizeof(*lining.of_sinks));
        memset(lining.of_cpus, 0xff, perf->cpus.count * sizeof(*lining.of_cpus));
        status = assign(&lining);
    }
    if (status == PUG_OK)
        status = list_sources(perf);
    if (lining.collisions)
        pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK,
                        "%s: processors share a trace id in a buffer; their trace is decoded as "
                        "that of the first one",
                        perf->capture->path);
    free(lining.of_buffers);
    free(lining.of_sinks);
    free(lining.of_cpus);
    return status;
}

const struct pug_perf_cpu *pug_perf_cpu_of(const struct pug_perf *perf, uint32_t number,
                                           uint16_t id)
{
    const struct pug_perf_source_trees *source_trees =
        (const struct pug_perf_source_trees *)perf->source_tree_sets.items + number;
    for (size_t i = 0; i < source_trees->count; i++)
        if (source_trees->raw || cpus_of(perf)[source_trees->cpus[i]].id == id)
            return &cpus_of(perf)[source_trees->cpus[i]];
    return NULL;
}

/* ---- trees ---- */

enum pug_status pug_perf_tree(struct pug_perf *perf, uint32_t number, bool decode,
                              struct pug_log *log, struct pug_tree **out)
{
    static const struct pug_setting frames[] = {{.name = "mem_align", .value = 1},
                                                {.name = "reset_on_4x_fsync", .value = 1}};
    const struct pug_perf_source_trees *source_trees =
        (const struct pug_perf_source_trees *)perf->source_tree_sets.items + number;
    const struct pug_capture_options *options = &perf->capture->options;
    struct pug_tree_config config = {
        .transport = source_trees->raw ? "plain" : "coresight",
        .settings = {.items = frames, .count = source_trees->raw ? 0 : 2},
        .log = log,
        .quirks = perf->capture->quirks,
        .code_limit = pug_capture_code_limit(perf->capture, source_trees->count),
    };
    *out = NULL;
    enum pug_status status = pug_tree_new(&config, out);
    bool any = false;
    if (status == PUG_OK)
        pug_tree_few_speak(*out);
    for (size_t i = 0; i < source_trees->count && status == PUG_OK; i++) {
        struct pug_setting items[12];
        struct pug_source_config source = {.decode = decode, .options = options->decode};
        const struct pug_perf_cpu *cpu = &cpus_of(perf)[source_trees->cpus[i]];
        source.protocol = pug_perf_source(cpu, items, &source.settings.count);
        source.settings.items = items;
        const enum pug_status added = pug_tree_add_source(*out, &source, NULL);
        any |= added == PUG_OK;
        if (added == PUG_ERR_MEM)
            status = added;
    }
    if (status == PUG_OK && !any)
        status = PUG_ERR_NO_SOURCE;
    if (status != PUG_OK) {
        pug_tree_free(*out);
        *out = NULL;
    }
    return status;
}
