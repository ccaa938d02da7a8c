// SPDX-License-Identifier: MIT
#include "recorder/stream.h"

#include "pugmark/advanced/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BURST    16384u /* bytes of a source that are given at once */
#define VERSIONS 4096u  /* of the code, of all sources: each is a buffer with its descriptions */

/* ---- making ---- */

/** "cortex-m33", as QEMU writes it, is "Cortex-M33". */
static void name_core(char *to, size_t size, const char *name)
{
    snprintf(to, size, "%s", name);
    for (char *at = to; *at; at++)
        if ((at == to || at[-1] == '-') && *at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
}

/** The processors are such. What is of no M profile says nothing that an encoder has to know. */
static void take_core(struct rec_engine *engine, const char *name)
{
    const struct rec_unit_class *unit_class = engine->config.unit_class;
    enum pug_arch arch;
    enum pug_arch_profile profile;
    char core[sizeof(engine->core)];
    name_core(core, sizeof(core), name);
    if (!pug_core_by_name(core, &arch, &profile) || profile != PUG_PROFILE_M)
        return;
    if (unit_class->m_profile == 0 || arch < unit_class->m_profile || arch > unit_class->m_newest) {
        rec_engine_fail(engine, "a core of the M profile has no such trace unit");
        return;
    }
    memcpy(engine->core, core, sizeof(core));
    engine->m_profile = true;
    engine->isa.arch = (uint16_t)arch;
}

struct rec_engine *rec_engine_new(const struct rec_engine_config *config,
                                  const struct rec_engine_output *output)
{
    struct rec_engine *engine = calloc(1, sizeof(*engine));
    if (!engine)
        return NULL;
    engine->config = *config;
    engine->output = *output;
    engine->random.state = config->seed;
    engine->memory = rec_memory_new();
    engine->version = 1;
    config->unit_class->isa(config->values, &engine->isa);
    if (!engine->memory) {
        free(engine);
        return NULL;
    }
    if (config->core)
        take_core(engine, config->core);
    return engine;
}

static void free_stream(struct rec_engine *engine, struct rec_stream *stream)
{
    if (stream->unit)
        engine->config.unit_class->free(stream->unit);
    prepared_free(stream->empty);
    rec_bytes_free(&stream->out);
    free(stream->accesses);
    free(stream);
}

void rec_engine_free(struct rec_engine *engine)
{
    if (!engine)
        return;
    for (unsigned i = 0; i < engine->stream_count; i++)
        free_stream(engine, engine->streams[i]);
    for (uint32_t i = 0; i < engine->block_count; i++)
        prepared_free(engine->blocks[i]);
    rec_memory_free(engine->memory);
    free(engine->blocks);
    free(engine);
}

bool rec_engine_fail(struct rec_engine *engine, const char *why)
{
    if (!engine->error)
        engine->error = why;
    return false;
}

static bool make_unit(struct rec_engine *engine, unsigned index)
{
    struct rec_stream *stream = engine->streams[index];
    struct rec_unit_setup setup = {
        .family = engine->config.path.family,
        .source = (uint16_t)(engine->config.first_source + index),
        .sources = engine->config.sources,
        .values = engine->config.values,
        .data = engine->config.data,
        .seed = rec_random(&engine->random) | 1,
        .out = &stream->out,
    };
    rec_engine_profile(engine, &setup);
    if (engine->config.unit_class->m_only && !engine->m_profile)
        return rec_engine_fail(engine, "only cores of the M profile have such a trace unit: which "
                                       "one it is --core tells");
    if (stream->unit)
        engine->config.unit_class->free(stream->unit);
    stream->unit = engine->config.unit_class->make(&setup);
    stream->fresh = true;
    stream->why = REC_WHY_START;
    return stream->unit || rec_engine_fail(engine, "no memory");
}

/** Something between half and one and a half of it: nothing in a trace should come in step. */
static uint64_t about(struct rec_engine *engine, uint64_t period)
{
    uint32_t half = (uint32_t)(period / 2 < UINT32_MAX ? period / 2 : UINT32_MAX);
    return period == 0 ? UINT64_MAX
                       : period - half + rec_random_below(&engine->random, 2 * half + 1);
}

static uint64_t next_at(struct rec_engine *engine, const struct rec_stream *stream, uint64_t period)
{
    uint64_t after = about(engine, period);
    return after > UINT64_MAX - stream->ran ? UINT64_MAX : stream->ran + after;
}

/** How long trace stays on where some of it is lost: what is lost then lasts a while, too. */
#define LOST_AT_ONCE 400u

static uint64_t until_loss(struct rec_engine *engine, const struct rec_stream *stream)
{
    double loss = engine->config.loss;
    if (loss <= 0)
        return UINT64_MAX;
    return next_at(engine, stream, (uint64_t)(LOST_AT_ONCE * (1 - loss) / loss) + 1);
}

/** The processor's stream, which it gets when something runs there; NULL: it has none. */
static struct rec_stream *stream_at(struct rec_engine *engine, unsigned cpu, bool runs)
{
    if (cpu >= REC_PATH_CPUS)
        return NULL;
    if (engine->stream_of[cpu])
        return engine->streams[engine->stream_of[cpu] - 1];
    if (!runs)
        return NULL;
    if (engine->stream_count >= engine->config.sources || engine->stream_count == REC_STREAMS) {
        engine->left_out++;
        return NULL;
    }
    struct rec_stream *stream = calloc(1, sizeof(*stream));
    if (!stream) {
        rec_engine_fail(engine, "no memory");
        return NULL;
    }
    unsigned index = engine->stream_count++;
    engine->streams[index] = stream;
    engine->stream_of[cpu] = (uint8_t)(index + 1);
    stream->cpu = cpu;
    stream->is = engine->before[cpu];
    stream->t32_bit = engine->config.path.traps && !engine->m_profile &&
                      engine->config.path.family == REC_FAMILY_ARM;
    if (!stream->is.in_context)
        stream->is.coming.context_id = engine->config.context_ids ? cpu + 1 : 1;
    stream->sync_at = next_at(engine, stream, engine->config.sync_every);
    stream->time_at = next_at(engine, stream, engine->config.time_every);
    stream->cycles_at = next_at(engine, stream, engine->config.cycles_every);
    stream->other_at = next_at(engine, stream, engine->config.other_every);
    stream->lose_at = until_loss(engine, stream);
    stream->room = engine->config.room;
    return make_unit(engine, index) ? stream : NULL;
}

/* ---- output ---- */

static unsigned index_of(const struct rec_engine *engine, const struct rec_stream *stream)
{
    return engine->stream_of[stream->cpu] - 1u;
}

static bool give_trace(struct rec_engine *engine, struct rec_stream *stream)
{
    if (stream->out.failed)
        return rec_engine_fail(engine, "no memory");
    if (stream->out.size == 0)
        return true;
    bool good = engine->output.trace(engine->output.context, index_of(engine, stream),
                                     stream->out.data, stream->out.size);
    stream->given += stream->out.size;
    stream->out.size = 0;
    return good || rec_engine_fail(engine, "the trace cannot be written");
}

void rec_engine_give_path(struct rec_engine *engine, const struct rec_path_item *item)
{
    if (engine->output.path && !engine->output.path(engine->output.context, item))
        rec_engine_fail(engine, "the path cannot be written");
}

/** The next part is not in the trace: say so in the path once. */
static void give_gap(struct rec_engine *engine, struct rec_stream *stream)
{
    if (!stream->told_gap && !stream->fresh)
        rec_engine_give_path(
            engine, &(struct rec_path_item){.kind = REC_PATH_LEFT_OUT, .cpu = stream->cpu});
    stream->told_gap = true;
}

/* ---- blocks ---- */

static enum pug_isa isa_of(const struct rec_engine *engine, uint8_t isa)
{
    switch ((enum rec_path_isa)isa) {
    case REC_PATH_A32: return PUG_ISA_A32;
    case REC_PATH_T32: return PUG_ISA_T32;
    case REC_PATH_A64: return PUG_ISA_A64;
    default: return engine->config.path.family == REC_FAMILY_RV32 ? PUG_ISA_RV32 : PUG_ISA_RV64;
    }
}

static struct prepared **slot_of(struct rec_engine *engine, uint32_t id)
{
    if (id >= engine->block_count) {
        uint32_t count = id + id / 2 + 256;
        struct prepared **grown = realloc(engine->blocks, count * sizeof(*grown));
        if (!grown)
            return NULL;
        memset(grown + engine->block_count, 0, (count - engine->block_count) * sizeof(*grown));
        engine->blocks = grown;
        engine->block_count = count;
    }
    return &engine->blocks[id];
}

/** Returns the block, classified for an arrival with `it`. NULL: something failed. */
static struct prepared *prepare(struct rec_engine *engine, const struct rec_path_block *block,
                                uint8_t it)
{
    struct prepared **slot = slot_of(engine, block->id);
    if (slot && *slot && (*slot)->it != it) {
        prepared_free(*slot);
        *slot = NULL;
    }
    if (slot && !*slot)
        *slot = prepared_new(block, &engine->isa, isa_of(engine, block->isa), it);
    if (!slot || !*slot)
        rec_engine_fail(engine, "no memory");
    return slot ? *slot : NULL;
}

static void close_stream(struct rec_engine *engine, struct rec_stream *stream);

/** A stretch of the source's trace is complete. */
static bool give_stretch(struct rec_engine *engine, unsigned index)
{
    struct rec_stream *stream = engine->streams[index];
    close_stream(engine, stream);
    if (!give_trace(engine, stream))
        return false;
    stream->given = 0;
    return !engine->output.cut ||
           engine->output.cut(engine->output.context, index, stream->is.coming.time) ||
           rec_engine_fail(engine, "the trace cannot be written");
}

/** The source restarts. */
static bool restart(struct rec_engine *engine, unsigned index)
{
    if (!give_stretch(engine, index) || !make_unit(engine, index))
        return false;
    engine->streams[index]->fresh = false;
    return true;
}

bool rec_engine_cut(struct rec_engine *engine)
{
    for (unsigned i = 0; i < engine->stream_count && !engine->error; i++)
        restart(engine, i);
    return !engine->error;
}

/** Code changed: what was traced so far is closed with the memory that it ran in. */
static bool begin_version(struct rec_engine *engine)
{
    if (engine->version * engine->stream_count >= VERSIONS) /* a snapshot has no room for more */
        return rec_engine_fail(engine, "code changes too often for a snapshot");
    if (!rec_engine_cut(engine))
        return false;
    engine->version++;
    return engine->output.memory(engine->output.context, engine->memory) ||
           rec_engine_fail(engine, "what memory held cannot be written");
}

/**
 * Where the processor has the block. Code of user programs that a machine runs is of one context,
 * if trace says of which; what runs with privilege is the same in all.
 */
static struct rec_memory_place place_of(const struct rec_engine *engine,
                                        const struct rec_stream *stream, uint64_t address)
{
    const struct rec_engine_config *config = &engine->config;
    const struct rec_identity *is = &stream->is;
    return (struct rec_memory_place){
        .address = address,
        .in_context = is->of_machine && is->coming.privilege == 0 &&
                      config->unit_class->by_context &&
                      config->unit_class->by_context(config->values),
        .context_id = is->coming.context_id,
    };
}

/** The block's bytes are what memory holds. */
static bool remember(struct rec_engine *engine, const struct rec_stream *stream,
                     struct prepared *block)
{
    const struct rec_path_block *of = &block->block;
    const struct rec_memory_place place = place_of(engine, stream, of->address);
    if (block->version == engine->version && block->in_context == place.in_context &&
        (!place.in_context || block->context_id == place.context_id))
        return true;
    if (rec_memory_differs(engine->memory, &place, of->bytes, of->size) && !begin_version(engine))
        return false;
    block->version = engine->version;
    block->in_context = place.in_context;
    block->context_id = place.context_id;
    return rec_memory_put(engine->memory, &place, of->bytes, of->size) ||
           rec_engine_fail(engine, "no memory");
}

/** Trace goes off at `next`, where a waypoint has just been or the path is cut. */
static void stop(struct rec_engine *engine, struct rec_stream *stream, const struct rec_place *next)
{
    if (!stream->on)
        return;
    engine->config.unit_class->end(stream->unit, &stream->last, next, stream->since);
    stream->on = false;
    stream->since = 0;
    stream->why = REC_WHY_START;
}

/** The path ends here, or continues at a place that trace cannot give. */
static void close_stream(struct rec_engine *engine, struct rec_stream *stream)
{
    struct rec_place next = stream->last;
    if (stream->block)
        next = rec_stream_natural_next(stream);
    rec_stream_resolve(engine, stream, &next);
    stop(engine, stream, &next);
}

static void lose(struct rec_engine *engine, struct rec_stream *stream, const struct rec_place *at)
{
    engine->config.unit_class->lose(stream->unit, at);
    engine->lost++;
    stream->on = false;
    stream->why = REC_WHY_OVERFLOW;
    stream->resume_at = stream->ran + 1 + rec_random_below(&engine->random, 2 * LOST_AT_ONCE);
    stream->lose_at = UINT64_MAX;
}

static bool in_ranges(const struct rec_engine *engine, uint64_t address)
{
    if (engine->config.wanted && !engine->config.wanted(engine->config.wanted_context, address))
        return false;
    for (size_t i = 0; i < engine->config.range_count; i++)
        if (address >= engine->config.ranges[i].start && address < engine->config.ranges[i].end)
            return true;
    return engine->config.range_count == 0;
}

/** On or off: decided where a waypoint has just been. */
static void decide(struct rec_engine *engine, struct rec_stream *stream, const struct rec_place *at)
{
    bool wanted = in_ranges(engine, at->address) && stream->ran >= stream->resume_at;
    uint64_t stretch = engine->config.stretch;
    if (stream->on && stream->since == 0 && stretch &&
        stream->given + stream->out.size >= stretch) {
        stop(engine, stream, at);
        if (!restart(engine, index_of(engine, stream)))
            return;
    }
    if (stream->on && stream->since == 0 && !wanted) {
        stop(engine, stream, at);
    } else if (stream->on && stream->since == 0 &&
               !stream->told_trap && /* it may wait to be sent */
               (stream->ran >= stream->lose_at || (engine->config.room > 0 && stream->room == 0))) {
        lose(engine, stream, at);
        wanted = false;
    }
    if (stream->on || !wanted)
        return;
    if (stream->why == REC_WHY_OVERFLOW) {
        stream->lose_at = until_loss(engine, stream);
        stream->room = engine->config.room;
    }
    if (!stream->fresh)
        give_gap(engine, stream);
    engine->config.unit_class->begin(stream->unit, at, &stream->situation, stream->why);
    stream->told = stream->situation;
    stream->on = true;
    stream->fresh = stream->told_gap = false;
    stream->since = 0;
}

/**
 * Another context or privilege. A unit that takes every instruction gets it anywhere, others only
 * directly after a waypoint.
 */
static unsigned context_changes(const struct rec_engine *engine, const struct rec_stream *stream)
{
    bool changes = stream->situation.context_id != stream->told.context_id ||
                   stream->situation.privilege != stream->told.privilege;
    return changes && (stream->since == 0 || engine->config.unit_class->every) ? REC_BETWEEN_CONTEXT
                                                                               : 0;
}

/** Time and synchronisation where a waypoint has just been. */
static unsigned periodic(struct rec_engine *engine, struct rec_stream *stream)
{
    const struct rec_engine_config *config = &engine->config;
    unsigned what = 0;
    if (stream->since > 0)
        return 0;
    if (stream->ran >= stream->sync_at) {
        what |= REC_BETWEEN_SYNC;
        stream->sync_at = next_at(engine, stream, config->sync_every);
    }
    if (stream->ran >= stream->time_at) {
        what |= REC_BETWEEN_TIME;
        stream->time_at = next_at(engine, stream, config->time_every);
    }
    if (stream->ran >= stream->cycles_at) {
        what |= REC_BETWEEN_CYCLES;
        stream->cycles_at = next_at(engine, stream, config->cycles_every);
    }
    if (stream->ran >= stream->other_at) {
        what |= REC_BETWEEN_OTHER;
        stream->other_at = next_at(engine, stream, config->other_every);
    }
    return what;
}

static void decorate(struct rec_engine *engine, struct rec_stream *stream,
                     const struct rec_place *at)
{
    unsigned what = context_changes(engine, stream) | periodic(engine, stream);
    if (what & REC_BETWEEN_CONTEXT || stream->since == 0)
        stream->told = stream->situation;
    if (what)
        engine->config.unit_class->between(stream->unit, what, at, &stream->situation);
}

/** A processor's own clock: an instruction takes a nanosecond, unless the path says otherwise. */
static void advance(struct rec_stream *stream, uint32_t count)
{
    stream->ran += count;
    stream->is.coming.time += count;
}

/** Trace in pieces: small ones where sources share a sink, or where it may be full. */
static bool give_some(struct rec_engine *engine, struct rec_stream *stream)
{
    size_t size = stream->out.size;
    size_t piece = engine->config.room ? 1 : engine->stream_count > 1 ? 64 : BURST;
    if (size < piece)
        return true;
    stream->room = stream->room > size ? stream->room - size : 0;
    return give_trace(engine, stream);
}

/** Keep those accesses of the block that the protocol reports. */
static bool keep_accesses(struct rec_engine *engine, struct rec_stream *stream,
                          const struct prepared *block, const struct rec_path_item *item)
{
    const struct rec_path_access *from = item->accesses;
    uint32_t count = engine->config.data ? item->access_count : 0, run;
    stream->access_count = stream->access_at = 0;
    if (count > stream->access_room) {
        struct rec_path_access *grown = realloc(stream->accesses, count * sizeof(*grown));
        if (!grown)
            return rec_engine_fail(engine, "no memory");
        stream->accesses = grown;
        stream->access_room = count;
    }
    for (uint32_t i = 0; i < count; i += run) {
        for (run = 1; i + run < count && from[i + run].insn == from[i].insn;)
            run++;
        struct rec_path_access *to = stream->accesses + stream->access_count;
        memcpy(to, from + i, run * sizeof(*from));
        stream->access_count += engine->config.unit_class->tells(
            engine->config.values, block->isa, block->bytes + block->offset[to->insn], to, run);
    }
    return true;
}

static bool take_block(struct rec_engine *engine, struct rec_stream *stream,
                       const struct rec_path_item *item)
{
    struct rec_place at = {item->block->address, (uint8_t)isa_of(engine, item->block->isa)};
    uint8_t it = 0;
    if (stream->gap) /* the path itself is not whole here */
        close_stream(engine, stream);
    stream->gap = false;
    if (stream->block) {
        struct rec_place after = rec_stream_place_in(stream->block, stream->count);
        if (after.address == at.address && stream->count == stream->block->count)
            it = stream->block->it_left;
    }
    rec_stream_resolve(engine, stream, &at);
    struct prepared *block = prepare(engine, item->block, it);
    if (!block || !remember(engine, stream, block) || !keep_accesses(engine, stream, block, item))
        return false;
    bool was_on = stream->on;
    stream->situation = stream->is.coming;
    decide(engine, stream, &at);
    stream->told_trap = false;
    if (stream->on && was_on)
        decorate(engine, stream, &at);
    stream->block = block;
    stream->count = item->count;
    advance(stream, item->count);
    engine->instructions += item->count;
    struct rec_path_item told = *item;
    told.accesses = stream->accesses;
    told.access_count = stream->access_count;
    if (stream->on)
        rec_engine_give_path(engine, &told);
    else
        give_gap(engine, stream);
    return give_some(engine, stream);
}

static uint8_t path_isa_of(uint8_t isa)
{
    static const uint8_t isas[PUG_ISA_COUNT] = {[PUG_ISA_A32] = REC_PATH_A32,
                                                [PUG_ISA_T32] = REC_PATH_T32,
                                                [PUG_ISA_A64] = REC_PATH_A64,
                                                [PUG_ISA_RV32] = REC_PATH_RISCV,
                                                [PUG_ISA_RV64] = REC_PATH_RISCV};
    return isas[isa];
}

/**
 * An exception. It may come before the first instruction of another one's handler, or of what an
 * exception was returned to.
 */
static bool take_trap(struct rec_engine *engine, struct rec_stream *stream,
                      const struct rec_path_item *item)
{
    if (item->value == REC_TRAP_RETURN) {
        stream->returned = stream->block != NULL;
        stream->back = *item;
        return true;
    }
    if ((stream->trapped || stream->returned) && stream->block && item->known) {
        const struct rec_place at = rec_stream_place_of(stream, item);
        const struct rec_path_block empty = {.address = at.address, .isa = path_isa_of(at.isa)};
        stream->preempted = stream->returned;
        rec_stream_resolve(engine, stream, &at);
        prepared_free(stream->empty);
        stream->empty = prepared_new(&empty, &engine->isa, at.isa, 0);
        if (!stream->empty)
            return rec_engine_fail(engine, "no memory");
        stream->block = stream->empty;
        stream->count = 0;
    }
    stream->trapped = true;
    stream->trap = *item;
    return true;
}

/** The processor runs another one. */
static void take_task(struct rec_engine *engine, struct rec_stream *stream)
{
    close_stream(engine, stream);
    if (engine->output.cut && stream->given + stream->out.size > 0)
        restart(engine, index_of(engine, stream));
}

/** Describes a processor for the trace's metadata: its identity and its context. */
static void identify(const struct rec_engine *engine, struct rec_identity *is,
                     const struct rec_path_item *item)
{
    bool ids = engine->config.context_ids;
    if (ids && (item->kind == REC_PATH_NEW_TASK || item->kind == REC_PATH_IN_CONTEXT)) {
        is->coming.context_id = (uint32_t)item->value;
        is->in_context = true;
        is->of_machine = item->kind == REC_PATH_IN_CONTEXT;
    }
    if (item->kind == REC_PATH_NEW_TASK)
        is->task = item->value;
    else if (item->kind == REC_PATH_IN_PRIVILEGE)
        is->coming.privilege = (uint8_t)item->value;
    else if (item->kind == REC_PATH_AT && item->value > is->coming.time)
        is->coming.time = item->value;
}

bool rec_engine_take(struct rec_engine *engine, const struct rec_path_item *item)
{
    if (engine->error || engine->ended)
        return false;
    if (item->kind >= REC_PATH_MAPPED) {
        if (item->kind == REC_PATH_IS_CORE && !engine->config.core && engine->stream_count == 0)
            take_core(engine, item->text);
        rec_engine_give_path(engine, item);
        return !engine->error;
    }
    struct rec_stream *stream = stream_at(engine, item->cpu, item->kind == REC_PATH_RAN);
    if (engine->error)
        return false;
    if (!stream && item->kind != REC_PATH_RAN && item->cpu < REC_PATH_CPUS) {
        identify(engine, &engine->before[item->cpu], item);
        rec_engine_give_path(engine, item);
    }
    if (!stream)
        return !engine->error;
    switch (item->kind) {
    case REC_PATH_RAN:
        if (!take_block(engine, stream, item))
            return false;
        break;
    case REC_PATH_ASKED: stream->asked = stream->block != NULL; break;
    case REC_PATH_TRAPPED:
        if (!take_trap(engine, stream, item))
            return false;
        break;
    case REC_PATH_LEFT_OUT: stream->gap = true; break;
    case REC_PATH_NEW_TASK: take_task(engine, stream); break;
    default: break;
    }
    identify(engine, &stream->is, item);
    if (item->kind != REC_PATH_RAN && item->kind != REC_PATH_LEFT_OUT &&
        item->kind != REC_PATH_TRAPPED)
        rec_engine_give_path(engine, item);
    if (engine->config.limit && engine->instructions >= engine->config.limit)
        engine->ended = true;
    return !engine->error && !engine->ended;
}

bool rec_engine_end(struct rec_engine *engine)
{
    for (unsigned i = 0; i < engine->stream_count && !engine->error; i++)
        give_stretch(engine, i);
    if (!engine->error && !engine->output.memory(engine->output.context, engine->memory))
        rec_engine_fail(engine, "what memory held cannot be written");
    return !engine->error;
}

/* ---- asking ---- */

const char *rec_engine_error(const struct rec_engine *engine)
{
    return engine->error;
}

uint64_t rec_engine_instructions(const struct rec_engine *engine)
{
    return engine->instructions;
}

unsigned rec_engine_streams(const struct rec_engine *engine)
{
    return engine->stream_count;
}

void rec_engine_stream(const struct rec_engine *engine, unsigned stream, unsigned *cpu,
                       uint64_t *task)
{
    *cpu = engine->streams[stream]->cpu;
    *task = engine->streams[stream]->is.task;
}

const char *rec_engine_core(const struct rec_engine *engine)
{
    return engine->core[0] ? engine->core : NULL;
}

void rec_engine_profile(const struct rec_engine *engine, struct rec_unit_setup *setup)
{
    setup->m_profile = engine->m_profile;
    setup->arch = engine->isa.arch;
}

uint64_t rec_engine_left_out(const struct rec_engine *engine)
{
    return engine->left_out;
}

uint64_t rec_engine_lost(const struct rec_engine *engine)
{
    return engine->lost;
}
