// SPDX-License-Identifier: MIT
/**
 * @file Each source is a buffer: of a thread, or of a processor. Tasks and maps carry times of a
 * clock that never stands still, so that a segment comes after everything that it needs. In a
 * circular buffer stretches wait for the end, and the oldest make room for new ones.
 */
#include "recorder/perf_write.h"

#include "files/outfile.h"
#include "perfdata/program.h"
#include "recorder/frames.h"
#include "recorder/perfdata.h"
#include "recorder/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS 128u
#define PIECE   65536u /* that a circular sink has too much before it is cut */

/** A source's stretch underway. */
struct lane {
    struct rec_bytes trace;
    struct rec_frames frames;
};

/** A stretch that waits for the end. */
struct kept {
    struct rec_perf_sample sample;
    struct rec_bytes trace;
};

struct map {
    uint64_t start, end;
};

struct perf_write {
    const struct rec_session_config *config;
    struct rec_perf perf;
    struct lane lanes[STREAMS];
    struct rec_perf_cpu cpus[STREAMS];
    struct kept *kept; /* of a circular sink, the oldest first */
    size_t kept_count, kept_room;
    struct map *maps;
    size_t map_count, map_room;
    uint64_t now;
    uint64_t offset; /* of the next stretch: one count for all buffers */
    uint64_t bytes;
    unsigned stretches;
    char name[16]; /* of the program; "" until it is known */
};

/** A kind of trace unit, and its registers in the order of the metadata. */
static const struct kind {
    const char *protocol;
    enum rec_perf_unit unit;
    bool raw; /* without frames, as it comes from a trace buffer extension */
    const char *registers[9];
} kinds[] = {
    {"etmv4",
     REC_PERF_ETMV4,
     false,
     {"TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS"}},
    {"ete",
     REC_PERF_ETE,
     true,
     {"TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS",
      "TRCDEVARCH"}},
    {"etmv3", REC_PERF_ETMV3, false, {"ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR"}},
    {"ptm", REC_PERF_ETMV3, false, {"ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR"}},
};

static const struct kind *kind_of(const struct rec_unit_class *unit_class)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].protocol, unit_class->name) == 0)
            return &kinds[i];
    return NULL;
}

bool perf_write_takes(const struct rec_unit_class *unit_class)
{
    return kind_of(unit_class) != NULL;
}

struct perf_write *perf_write_new(const struct rec_session_config *config)
{
    struct perf_write *perf = calloc(1, sizeof(*perf));
    if (!perf)
        return NULL;
    perf->config = config;
    perf->now = 1;
    rec_perf_begin(&perf->perf,
                   &(struct rec_perf_config){
                       .version = 1,
                       .snapshot = config->circular,
                       .arch = config->engine.path.family == REC_FAMILY_A64 ? "aarch64" : "arm",
                   });
    return perf;
}

void perf_write_free(struct perf_write *perf)
{
    struct rec_bytes nothing = {0};
    if (!perf)
        return;
    for (unsigned i = 0; i < STREAMS; i++)
        rec_bytes_free(&perf->lanes[i].trace);
    for (size_t i = 0; i < perf->kept_count; i++)
        rec_bytes_free(&perf->kept[i].trace);
    rec_perf_finish(&perf->perf, &nothing);
    rec_bytes_free(&nothing);
    free(perf->kept);
    free(perf->maps);
    free(perf);
}

/* ---- who, and when ---- */

static int32_t pid_of(const struct perf_write *perf)
{
    uint64_t pid = perf->config->engine.path.pid;
    return pid ? (int32_t)pid : 1;
}

static struct rec_perf_sample sample_at(struct perf_write *perf, uint64_t task, uint64_t time)
{
    perf->now = time > perf->now ? time : perf->now + 1;
    return (struct rec_perf_sample){.pid = pid_of(perf),
                                    .tid = task ? (int32_t)task : pid_of(perf),
                                    .cpu = -1,
                                    .time = perf->now};
}

/* ---- trace ---- */

static bool is_raw(const struct perf_write *perf)
{
    return kind_of(perf->config->engine.unit_class)->raw;
}

bool perf_write_trace(struct perf_write *perf, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct lane *lane = &perf->lanes[stream];
    const struct rec_session_config *config = perf->config;
    if (is_raw(perf)) {
        rec_put_n(&lane->trace, bytes, size);
    } else {
        if (lane->trace.size == 0 && lane->frames.at == 0)
            lane->frames = (struct rec_frames){.out = &lane->trace};
        rec_frames_put(&lane->frames, (uint8_t)(config->engine.first_source + stream), bytes, size);
    }
    if (config->circular && lane->trace.size > 2 * config->room + PIECE)
        rec_bytes_forget(&lane->trace, config->room);
    return !lane->trace.failed;
}

static bool give(struct perf_write *perf, const struct rec_perf_sample *sample,
                 const struct rec_bytes *trace)
{
    uint64_t flags = (is_raw(perf) ? REC_PERF_AUX_RAW : 0) |
                     (perf->config->circular ? REC_PERF_AUX_OVERWRITE : 0);
    uint64_t end = perf->offset + trace->size; /* a snapshot gives it in place of its beginning */
    rec_perf_aux(&perf->perf, sample, perf->config->circular ? end : perf->offset, trace->size,
                 flags);
    rec_perf_trace(&perf->perf, sample->cpu, perf->config->perf_by_cpu ? -1 : sample->tid,
                   perf->offset, trace);
    perf->offset += (trace->size + 7) & ~UINT64_C(7);
    perf->bytes += trace->size;
    return !trace->failed && !perf->perf.data.failed;
}

/** Forget the bytes of a buffer that keeps only its newest ones. */
static void forget_kept(struct perf_write *perf, const struct rec_perf_sample *of)
{
    uint64_t room = perf->config->room;
    size_t stays = 0;
    for (size_t i = perf->kept_count; i-- > 0;) {
        struct kept *kept = &perf->kept[i];
        if (kept->sample.cpu != of->cpu || (of->cpu < 0 && kept->sample.tid != of->tid))
            continue;
        rec_bytes_forget(&kept->trace, room);
        room -= kept->trace.size < room ? kept->trace.size : room;
    }
    for (size_t i = 0; i < perf->kept_count; i++) {
        if (perf->kept[i].trace.size > 0)
            perf->kept[stays++] = perf->kept[i];
        else
            rec_bytes_free(&perf->kept[i].trace);
    }
    perf->kept_count = stays;
}

static bool keep(struct perf_write *perf, const struct rec_perf_sample *sample,
                 struct rec_bytes *trace)
{
    if (perf->kept_count == perf->kept_room) {
        size_t room = perf->kept_room * 2 + 16;
        struct kept *grown = realloc(perf->kept, room * sizeof(*grown));
        if (!grown)
            return false;
        perf->kept = grown;
        perf->kept_room = room;
    }
    perf->kept[perf->kept_count++] = (struct kept){*sample, *trace};
    *trace = (struct rec_bytes){0};
    forget_kept(perf, sample);
    return true;
}

bool perf_write_cut(struct perf_write *perf, const struct rec_engine *engine, unsigned stream,
                    uint64_t time)
{
    struct lane *lane = &perf->lanes[stream];
    unsigned cpu;
    uint64_t task;
    rec_engine_stream(engine, stream, &cpu, &task);
    if (!is_raw(perf))
        rec_frames_finish(&lane->frames);
    if (lane->trace.size == 0)
        return true;
    struct rec_perf_sample sample = sample_at(perf, task, time);
    if (perf->config->perf_by_cpu)
        sample.cpu = (int32_t)cpu;
    perf->stretches++;
    if (perf->config->circular)
        return !lane->trace.failed && keep(perf, &sample, &lane->trace);
    bool good = give(perf, &sample, &lane->trace);
    rec_perf_round(&perf->perf);
    lane->trace.size = 0;
    return good;
}

/* ---- tasks and maps ---- */

static void name_program(struct perf_write *perf, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (perf->name[0])
        return;
    snprintf(perf->name, sizeof(perf->name), "%s", slash ? slash + 1 : path);
    const struct rec_perf_sample sample = sample_at(perf, 0, 0);
    rec_perf_comm(&perf->perf, &sample, perf->name, true);
    rec_perf_itrace_start(&perf->perf, &sample);
}

static void begin_task(struct perf_write *perf, uint64_t task)
{
    const struct rec_perf_sample sample = sample_at(perf, task, 0);
    name_program(perf, "program");
    if (sample.tid == sample.pid)
        return;
    rec_perf_fork(&perf->perf, &sample, sample.pid);
    rec_perf_comm(&perf->perf, &sample, perf->name, false);
}

bool perf_write_has(void *context, uint64_t address)
{
    const struct perf_write *perf = context;
    for (size_t i = perf->map_count; i > 0; i--)
        if (address >= perf->maps[i - 1].start && address < perf->maps[i - 1].end)
            return true;
    return false;
}

static bool add_map(struct perf_write *perf, uint64_t start, uint64_t size)
{
    if (perf->map_count == perf->map_room) {
        size_t room = perf->map_room * 2 + 64;
        struct map *grown = realloc(perf->maps, room * sizeof(*grown));
        if (!grown)
            return false;
        perf->maps = grown;
        perf->map_room = room;
    }
    perf->maps[perf->map_count++] = (struct map){start, start + size};
    return true;
}

/** Something was mapped there before: what ran in that is complete. */
static bool leave_old(struct perf_write *perf, struct rec_engine *engine, uint64_t start,
                      uint64_t end)
{
    for (size_t i = 0; i < perf->map_count; i++) {
        if (start >= perf->maps[i].end || perf->maps[i].start >= end)
            continue;
        perf->maps[i] = perf->maps[--perf->map_count];
        if (!rec_engine_cut(engine))
            return false;
        i--;
    }
    return true;
}

static bool take_map(struct perf_write *perf, struct rec_engine *engine,
                     const struct rec_path_item *item)
{
    struct pug_perf_program *program;
    atomic_bool starved = false;
    if (!leave_old(perf, engine, item->address, item->address + item->size))
        return false;
    if (!item->text[0])
        return true;
    name_program(perf, "program");
    const struct rec_perf_sample sample = sample_at(perf, 0, 0);
    struct rec_perf_map map = {.address = item->address,
                               .size = item->size,
                               .offset = item->offset,
                               .prot = 5,
                               .path = item->text};
    if (pug_perf_program_open(item->text, &starved, &program) != PUG_OK)
        program = NULL;
    if (starved)
        return false;
    if (program) {
        map.build_id = program->build_id;
        map.build_id_size = program->build_id_size;
    }
    rec_perf_map(&perf->perf, &sample, &map);
    pug_perf_program_free(program);
    return add_map(perf, item->address, item->size);
}

bool perf_write_item(struct perf_write *perf, struct rec_engine *engine,
                     const struct rec_path_item *item)
{
    switch (item->kind) {
    case REC_PATH_NAMED: name_program(perf, item->text); return true;
    case REC_PATH_NEW_TASK: begin_task(perf, item->value); return true;
    case REC_PATH_MAPPED: return take_map(perf, engine, item);
    default: return true;
    }
}

uint64_t perf_write_bytes(const struct perf_write *perf)
{
    return perf->bytes;
}

unsigned perf_write_stretches(const struct perf_write *perf)
{
    return perf->stretches;
}

/* ---- the file ---- */

/** The value of a register in lines "NAME(0x010)=0x…" of a device's description. */
static uint64_t register_in(const char *lines, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = lines; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && (line[length] == '(' || line[length] == '='))
            return strtoull(line + strcspn(line, "=") + 1, NULL, 0);
    }
    return 0;
}

static bool describe_cpu(struct perf_write *perf, const struct rec_engine *engine, unsigned stream)
{
    const struct rec_engine_config *config = &perf->config->engine;
    const struct kind *kind = kind_of(config->unit_class);
    const struct rec_unit_setup setup = {.family = config->path.family,
                                         .source = (uint16_t)(config->first_source + stream),
                                         .sources = config->sources,
                                         .values = config->values};
    struct rec_perf_cpu *to = &perf->cpus[stream];
    char *lines = NULL;
    size_t size;
    unsigned cpu;
    uint64_t task;
    FILE *file = open_memstream(&lines, &size);
    if (!file)
        return false;
    config->unit_class->describe(&setup, file);
    const bool written = fflush(file) == 0 && !ferror(file);
    if (fclose(file) != 0 || !written || !lines) { /* NULL: no memory for the end of the last word
                                                    */
        free(lines);
        return false;
    }
    rec_engine_stream(engine, stream, &cpu, &task);
    *to = (struct rec_perf_cpu){.cpu = (int32_t)cpu, .unit = kind->unit};
    while (to->count < 9 && kind->registers[to->count]) {
        to->words[to->count] = register_in(lines, kind->registers[to->count]);
        to->count++;
    }
    free(lines);
    return true;
}

static int by_cpu(const void *a, const void *b)
{
    const struct rec_perf_cpu *left = a, *right = b;
    return (left->cpu > right->cpu) - (left->cpu < right->cpu);
}

bool perf_write_end(struct perf_write *perf, const struct rec_engine *engine)
{
    struct rec_bytes file = {0};
    unsigned count = rec_engine_streams(engine);
    for (size_t i = 0; i < perf->kept_count; i++)
        if (!give(perf, &perf->kept[i].sample, &perf->kept[i].trace))
            return false;
    rec_perf_round(&perf->perf);
    for (unsigned i = 0; i < count; i++)
        if (!describe_cpu(perf, engine, i))
            return false;
    qsort(perf->cpus, count, sizeof(perf->cpus[0]), by_cpu);
    perf->perf.config.cpus = perf->cpus;
    perf->perf.config.cpu_count = count;
    rec_perf_finish(&perf->perf, &file);
    bool good =
        !file.failed && pug_outfile_save_any(perf->config->perf, file.data, file.size) == PUG_OK;
    rec_bytes_free(&file);
    return good;
}
