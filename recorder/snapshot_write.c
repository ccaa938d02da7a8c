// SPDX-License-Identifier: MIT
/**
 * @file One buffer for each version of the code. The first one's devices are cpu_N and NAME_N;
 * those of others also have the buffer's number at the end. Arm's cores have the dumps; RISC-V has
 * them with its trace sources, which need no core.
 */
#include "recorder/snapshot_write.h"

#include "files/outfile.h"
#include "recorder/page.h"
#include "recorder/programs.h"
#include "recorder/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_MEMORY (UINT64_C(4) << 30) /* bytes of all dumps together */

struct dump {
    unsigned buffer, n;
    struct rec_memory_place place;
    uint64_t size;
    unsigned in_buffer, in_n; /* the dump whose file it is: an earlier version's, if equal */
    uint8_t *bytes;           /* NULL: of no version that is compared any more */
};

struct snapshot_write {
    const struct rec_session_config *config;
    struct dump *dumps; /* by version */
    size_t dump_count, dump_room;
    size_t last, now;      /* where the dumps of the last version and of this one begin */
    uint64_t memory_bytes; /* written */
    unsigned buffers, dumps_of_buffer;
    struct rec_programs programs;
};

struct snapshot_write *snapshot_write_new(const struct rec_session_config *config)
{
    struct snapshot_write *snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot)
        return NULL;
    snapshot->config = config;
    return snapshot;
}

void snapshot_write_free(struct snapshot_write *snapshot)
{
    if (!snapshot)
        return;
    for (size_t i = snapshot->last; i < snapshot->dump_count; i++)
        free(snapshot->dumps[i].bytes);
    free(snapshot->dumps);
    rec_programs_free(&snapshot->programs);
    free(snapshot);
}

void snapshot_write_item(struct snapshot_write *snapshot, const struct rec_path_item *item)
{
    rec_programs_take(&snapshot->programs, item);
}

/* ---- names ---- */

static const struct rec_unit_class *class_of(const struct snapshot_write *snapshot)
{
    return snapshot->config->engine.unit_class;
}

/** A name without its folder. */
static void plain_name(enum snapshot_file what, unsigned buffer, unsigned n, char *name,
                       size_t size)
{
    char version[16] = "";
    if (buffer > 0)
        snprintf(version, sizeof(version), "_v%u", buffer + 1);
    switch (what) {
    case SNAPSHOT_TRACE: snprintf(name, size, "trace%s.bin", version); break;
    case SNAPSHOT_DUMP: snprintf(name, size, "memory_%u%s.bin", n, version); break;
    case SNAPSHOT_CORE: snprintf(name, size, "cpu_%u%s", n, version); break;
    case SNAPSHOT_SOURCE: snprintf(name, size, "trace_%u%s", n, version); break;
    }
}

void snapshot_write_name(const struct snapshot_write *snapshot, enum snapshot_file what,
                         unsigned buffer, unsigned n, char *name, size_t size)
{
    char plain[64];
    plain_name(what, buffer, n, plain, sizeof(plain));
    bool ini = what == SNAPSHOT_CORE || what == SNAPSHOT_SOURCE;
    snprintf(name, size, "%s/%s%s", snapshot->config->folder, plain, ini ? ".ini" : "");
}

/* ---- memory ---- */

/** Is a dump's place before this one? Those that all contexts share come first. */
static bool is_before(const struct dump *dump, unsigned buffer,
                      const struct rec_memory_place *place)
{
    if (dump->buffer != buffer)
        return dump->buffer < buffer;
    if (dump->place.in_context != place->in_context)
        return place->in_context;
    if (dump->place.context_id != place->context_id)
        return dump->place.context_id < place->context_id;
    return dump->place.address < place->address;
}

static bool is_at(const struct dump *dump, const struct rec_memory_place *place)
{
    return dump->place.address == place->address && dump->place.in_context == place->in_context &&
           dump->place.context_id == place->context_id;
}

/** Returns where the version's dump at the place is, or would be: dumps are in that order. */
static size_t place_of(const struct snapshot_write *snapshot, unsigned buffer,
                       const struct rec_memory_place *place)
{
    size_t from = 0, to = snapshot->dump_count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (is_before(&snapshot->dumps[middle], buffer, place))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/** Returns the dump of the last version that has these bytes; NULL: none. */
static const struct dump *find_equal(const struct snapshot_write *snapshot,
                                     const struct rec_memory_place *place, const uint8_t *bytes,
                                     size_t size)
{
    if (snapshot->buffers == 0)
        return NULL;
    const size_t at = place_of(snapshot, snapshot->buffers - 1, place);
    const struct dump *dump = &snapshot->dumps[at];
    bool same = at < snapshot->now && is_at(dump, place) && dump->size == size &&
                memcmp(dump->bytes, bytes, size) == 0;
    return same ? dump : NULL;
}

static bool write_dump(void *context, const struct rec_memory_place *place, const uint8_t *bytes,
                       size_t size)
{
    struct snapshot_write *snapshot = context;
    char name[4096];
    if (snapshot->dump_count == snapshot->dump_room) {
        size_t room = snapshot->dump_room * 2 + 64;
        struct dump *grown = realloc(snapshot->dumps, room * sizeof(*grown));
        if (!grown)
            return false;
        snapshot->dumps = grown;
        snapshot->dump_room = room;
    }
    struct dump *dump = &snapshot->dumps[snapshot->dump_count];
    const struct dump *equal = find_equal(snapshot, place, bytes, size);
    *dump = (struct dump){.buffer = snapshot->buffers,
                          .n = snapshot->dumps_of_buffer++,
                          .place = *place,
                          .size = size,
                          .bytes = malloc(size)};
    if (!dump->bytes)
        return false;
    snapshot->dump_count++;
    memcpy(dump->bytes, bytes, size);
    dump->in_buffer = equal ? equal->in_buffer : dump->buffer;
    dump->in_n = equal ? equal->in_n : dump->n;
    if (equal)
        return true;
    snapshot->memory_bytes += size;
    if (snapshot->memory_bytes > LARGEST_MEMORY) {
        errno = EFBIG;
        return false;
    }
    snapshot_write_name(snapshot, SNAPSHOT_DUMP, dump->buffer, dump->n, name, sizeof(name));
    return pug_outfile_save(name, bytes, size) == PUG_OK;
}

/** Dumps that no later version is compared with. */
static void forget_last(struct snapshot_write *snapshot)
{
    for (size_t i = snapshot->last; i < snapshot->now; i++) {
        free(snapshot->dumps[i].bytes);
        snapshot->dumps[i].bytes = NULL;
    }
    snapshot->last = snapshot->now;
    snapshot->now = snapshot->dump_count;
}

bool snapshot_write_memory(struct snapshot_write *snapshot, const struct rec_memory *memory)
{
    snapshot->dumps_of_buffer = 0;
    bool good = rec_memory_each(memory, write_dump, snapshot);
    forget_last(snapshot);
    snapshot->buffers++;
    return good;
}

/* ---- descriptions ---- */

/** What was executed is in dumps; the programs are there for their names. */
static void put_memory(const struct snapshot_write *snapshot, unsigned buffer, FILE *file)
{
    const struct rec_memory_place first = {.address = 0};
    char name[64];
    for (size_t i = place_of(snapshot, buffer, &first);
         i < snapshot->dump_count && snapshot->dumps[i].buffer == buffer; i++) {
        const struct dump *dump = &snapshot->dumps[i];
        plain_name(SNAPSHOT_DUMP, dump->in_buffer, dump->in_n, name, sizeof(name));
        fprintf(file, "\n[dump%u]\nfile=%s\naddress=0x%" PRIx64 "\nlength=0x%" PRIx64 "\n", dump->n,
                name, dump->place.address, dump->size);
        if (dump->place.in_context)
            fprintf(file, "context_id=0x%" PRIx32 "\n", dump->place.context_id);
    }
    for (unsigned i = 0; i < snapshot->programs.count; i++) {
        char program[256];
        rec_programs_name(&snapshot->programs, i, program, sizeof(program));
        fprintf(file, "\n[elf%u]\nfile=%s\nbias=0x%" PRIx64 "\n", i, program,
                snapshot->programs.items[i].bias);
    }
}

static bool write_core(const struct snapshot_write *snapshot, const struct rec_engine *engine,
                       unsigned buffer, unsigned cpu)
{
    const char *known = snapshot->config->core ? snapshot->config->core : rec_engine_core(engine);
    const char *core = known ? known : class_of(snapshot)->core;
    char name[4096], plain[64];
    struct rec_page page;
    if (!rec_page_open(&page))
        return false;
    plain_name(SNAPSHOT_CORE, buffer, cpu, plain, sizeof(plain));
    fprintf(page.file, "[device]\nname=%s\nclass=core\ntype=%s\n\n[regs]\n", plain, core);
    put_memory(snapshot, buffer, page.file);
    snapshot_write_name(snapshot, SNAPSHOT_CORE, buffer, cpu, name, sizeof(name));
    return rec_page_save(&page, name);
}

static struct rec_unit_setup setup_of(const struct snapshot_write *snapshot,
                                      const struct rec_engine *engine, unsigned stream)
{
    const struct rec_engine_config *config = &snapshot->config->engine;
    struct rec_unit_setup setup = {.family = config->path.family,
                                   .source = (uint16_t)(config->first_source + stream),
                                   .sources = config->sources,
                                   .values = config->values,
                                   .data = config->data};
    rec_engine_profile(engine, &setup);
    return setup;
}

static bool write_source(const struct snapshot_write *snapshot, const struct rec_engine *engine,
                         unsigned buffer, unsigned stream, unsigned cpu)
{
    const struct rec_unit_class *unit_class = class_of(snapshot);
    const struct rec_unit_setup setup = setup_of(snapshot, engine, stream);
    char name[4096], plain[64];
    struct rec_page page;
    if (!rec_page_open(&page))
        return false;
    plain_name(SNAPSHOT_SOURCE, buffer, cpu, plain, sizeof(plain));
    fprintf(page.file, "[device]\nname=%s\nclass=trace_source\ntype=%s\n\n[regs]\n", plain,
            unit_class->device);
    unit_class->describe(&setup, page.file);
    if (!unit_class->frames)
        put_memory(snapshot, buffer, page.file);
    snapshot_write_name(snapshot, SNAPSHOT_SOURCE, buffer, cpu, name, sizeof(name));
    return rec_page_save(&page, name);
}

/** For each buffer and each of its streams; `line` writes into the page. */
typedef void line_fn(const struct snapshot_write *snapshot, unsigned buffer, unsigned cpu,
                     unsigned *n, FILE *file);

static void each_device(const struct snapshot_write *snapshot, const struct rec_engine *engine,
                        line_fn *line, FILE *file)
{
    unsigned n = 0;
    for (unsigned buffer = 0; buffer < snapshot->buffers; buffer++) {
        for (unsigned stream = 0; stream < rec_engine_streams(engine); stream++) {
            unsigned cpu;
            uint64_t task;
            rec_engine_stream(engine, stream, &cpu, &task);
            line(snapshot, buffer, cpu, &n, file);
        }
    }
}

static void device_line(const struct snapshot_write *snapshot, unsigned buffer, unsigned cpu,
                        unsigned *n, FILE *file)
{
    char plain[64];
    if (class_of(snapshot)->frames) {
        plain_name(SNAPSHOT_CORE, buffer, cpu, plain, sizeof(plain));
        fprintf(file, "device%u=%s.ini\n", (*n)++, plain);
    }
    plain_name(SNAPSHOT_SOURCE, buffer, cpu, plain, sizeof(plain));
    fprintf(file, "device%u=%s.ini\n", (*n)++, plain);
}

static void source_line(const struct snapshot_write *snapshot, unsigned buffer, unsigned cpu,
                        unsigned *n, FILE *file)
{
    char plain[64];
    (void)snapshot, (void)n;
    plain_name(SNAPSHOT_SOURCE, buffer, cpu, plain, sizeof(plain));
    fprintf(file, "%s=buffer_%u\n", plain, buffer);
}

static void core_line(const struct snapshot_write *snapshot, unsigned buffer, unsigned cpu,
                      unsigned *n, FILE *file)
{
    char core[64], source[64];
    (void)snapshot, (void)n;
    plain_name(SNAPSHOT_CORE, buffer, cpu, core, sizeof(core));
    plain_name(SNAPSHOT_SOURCE, buffer, cpu, source, sizeof(source));
    fprintf(file, "%s=%s\n", core, source);
}

static void put_buffers(const struct snapshot_write *snapshot, const struct rec_engine *engine,
                        FILE *file)
{
    const struct rec_unit_class *unit_class = class_of(snapshot);
    const struct rec_unit_setup setup = setup_of(snapshot, engine, 0);
    fprintf(file, "[trace_buffers]\nbuffers=");
    for (unsigned i = 0; i < snapshot->buffers; i++)
        fprintf(file, "%sbuffer%u", i ? "," : "", i);
    fprintf(file, "\n");
    for (unsigned i = 0; i < snapshot->buffers; i++) {
        char name[64];
        plain_name(SNAPSHOT_TRACE, i, 0, name, sizeof(name));
        fprintf(file, "\n[buffer%u]\nname=buffer_%u\nfile=%s\nformat=%s\n", i, i, name,
                unit_class->format(&setup));
        if (unit_class->describe_buffer)
            unit_class->describe_buffer(&setup, file);
    }
}

static bool write_metadata(const struct snapshot_write *snapshot, const struct rec_engine *engine)
{
    char name[4096];
    struct rec_page page;
    if (!rec_page_open(&page))
        return false;
    put_buffers(snapshot, engine, page.file);
    fprintf(page.file, "\n[source_buffers]\n");
    each_device(snapshot, engine, source_line, page.file);
    if (class_of(snapshot)->frames) {
        fprintf(page.file, "\n[core_trace_sources]\n");
        each_device(snapshot, engine, core_line, page.file);
    }
    snprintf(name, sizeof(name), "%s/trace.ini", snapshot->config->folder);
    return rec_page_save(&page, name);
}

static bool write_main(const struct snapshot_write *snapshot, const struct rec_engine *engine)
{
    char name[4096];
    struct rec_page page;
    if (!rec_page_open(&page))
        return false;
    fprintf(page.file, "[snapshot]\nversion=1.0\ndescription=made by pugmark record\n\n"
                       "[device_list]\n");
    each_device(snapshot, engine, device_line, page.file);
    fprintf(page.file, "\n[trace]\nmetadata=trace.ini\n");
    snprintf(name, sizeof(name), "%s/snapshot.ini", snapshot->config->folder);
    return rec_page_save(&page, name);
}

bool snapshot_write_descriptions(struct snapshot_write *snapshot, const struct rec_engine *engine)
{
    if (!rec_programs_copy(&snapshot->programs, snapshot->config->folder))
        return false;
    for (unsigned buffer = 0; buffer < snapshot->buffers; buffer++) {
        for (unsigned stream = 0; stream < rec_engine_streams(engine); stream++) {
            unsigned cpu;
            uint64_t task;
            rec_engine_stream(engine, stream, &cpu, &task);
            if (!write_source(snapshot, engine, buffer, stream, cpu) ||
                (class_of(snapshot)->frames && !write_core(snapshot, engine, buffer, cpu)))
                return false;
        }
    }
    return write_metadata(snapshot, engine) && write_main(snapshot, engine);
}

unsigned snapshot_write_programs(const struct snapshot_write *snapshot)
{
    return snapshot->programs.count;
}
