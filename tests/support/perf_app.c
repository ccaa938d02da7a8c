// SPDX-License-Identifier: MIT
#include "support/perf_app.h"

#include "pugmark/advanced/consumer.h"
#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "support/elf_section.h"

#define NOP 0xd503201fu

/* ---- programs ---- */

void perf_app_put(struct rec_bytes *out, const struct perf_app_program *program)
{
    static const char names[] = "\0.text\0.note.gnu.build-id\0.gnu_debuglink\0.shstrtab";
    const uint64_t notes = PERF_APP_TEXT + 16, link = notes + 36, strings = link + 64,
                   table = strings + 64;
    rec_put_n(out, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
    rec_put_le(out, program->type ? program->type : 2, 2);
    rec_put_le(out, program->machine ? program->machine : 183, 2);
    rec_put_le(out, 1, 4);
    rec_put_le(out, PERF_APP_BASE, 8);
    rec_put_le(out, 64, 8);
    rec_put_le(out, table, 8);
    rec_put_le(out, 0, 4);
    static const uint16_t sizes[] = {64, 56, 1, 64, 5, 4};
    for (unsigned i = 0; i < 6; i++)
        rec_put_le(out, sizes[i], 2);
    rec_put_le(out, 1, 4);
    rec_put_le(out, 5, 4);
    const uint64_t segment[] = {PERF_APP_TEXT, PERF_APP_BASE, PERF_APP_BASE, 16, 16, PERF_APP_TEXT};
    for (unsigned i = 0; i < 6; i++)
        rec_put_le(out, segment[i], 8);
    while (out->size < PERF_APP_TEXT)
        rec_put(out, 0);
    for (unsigned i = 0; i < 3; i++)
        rec_put_le(out, NOP, 4);
    rec_put_le(out, 0x17fffffd, 4);
    rec_put_le(out, 4 | UINT64_C(20) << 32, 8);
    rec_put_le(out, 3, 4);
    rec_put_n(out, "GNU", 4);
    for (unsigned i = 0; i < 20; i++)
        rec_put(out, program->id ? program->id[i] : 0);
    if (program->link)
        rec_put_n(out, program->link, strlen(program->link) + 1);
    while (program->link && out->size % 4 != 0)
        rec_put(out, 0);
    if (program->link)
        rec_put_le(out, program->link_sum, 4);
    while (out->size < strings)
        rec_put(out, 0);
    rec_put_n(out, names, sizeof(names));
    while (out->size < table)
        rec_put(out, 0);
    elf_section_put(out, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    elf_section_put(out, 1, program->no_text ? 8 : 1, 6, PERF_APP_BASE, PERF_APP_TEXT, 16, 0, 0, 0);
    elf_section_put(out, 7, program->id ? 7 : 1, 0, 0, notes, 36, 0, 0, 0);
    elf_section_put(out, 26, program->link ? 1 : 0, 0, 0, link, 64, 0, 0, 0);
    elf_section_put(out, 41, 3, 0, 0, strings, sizeof(names), 0, 0, 0);
}

const char *perf_app_file(struct made_folder *folder, const char *name,
                          const struct perf_app_program *program)
{
    struct rec_bytes bytes = {0};
    perf_app_put(&bytes, program);
    const char *path = made_folder_file(folder, name, bytes.data, bytes.size);
    rec_bytes_free(&bytes);
    return path;
}

/* ---- a recording of one thread ---- */

/** A list of build ids says which one a path has. */
static void tell_build(struct rec_perf *perf, const char *path, const uint8_t *id)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, UINT32_MAX, 4);
    rec_put_n(&body, id, 20);
    rec_put_le(&body, 20, 4);
    rec_put_n(&body, path, strlen(path) + 1);
    while (body.size % 8 != 0)
        rec_put(&body, 0);
    rec_perf_record(perf, 67, 1u << 15 | 2, &body, NULL);
    rec_bytes_free(&body);
}

static void put_fork(struct rec_perf *perf, const struct rec_perf_sample *parent, uint16_t misc)
{
    const int32_t ids[] = {PERF_APP_THREAD, parent->pid, PERF_APP_THREAD, parent->tid};
    struct rec_bytes body = {0};
    for (unsigned i = 0; i < 4; i++)
        rec_put_le(&body, (uint32_t)ids[i], 4);
    rec_put_le(&body, parent->time, 8);
    rec_perf_record(perf, 7, misc, &body, parent);
    rec_bytes_free(&body);
}

const char *perf_app_record_story(struct made_folder *folder, const struct rec_perf_map *map,
                                  const struct perf_app_story *story)
{
    static const struct rec_perf_cpu cpu = {
        .unit = REC_PERF_ETMV4, .words = {0, 0x10, 0x28000ea1, 0x4100f403, 0x20001088}, .count = 7};
    static const struct rec_etmv4_config config = {
        .idr0 = 0x28000ea1, .idr2 = 0x20001088, .seed = 1};
    const struct rec_context context = {.sf = true, .ns = true};
    const int32_t first = story->forked ? PERF_APP_THREAD - 1 : PERF_APP_THREAD;
    struct rec_perf_sample sample = {.pid = first, .tid = first, .cpu = -1, .time = 5};
    struct rec_bytes trace = {0}, framed = {0}, file = {0};
    struct rec_frames frames = {.out = &framed};
    struct rec_perf perf;
    struct rec_etmv4 *unit = rec_etmv4_new(&config, &trace);
    rec_etmv4_sync(unit);
    rec_etmv4_trace_on(unit);
    rec_etmv4_start(unit, PERF_APP_BASE, false, &context);
    rec_etmv4_atom(unit, true);
    rec_etmv4_exception(unit, 0x0e, PERF_APP_BASE, false, false);
    rec_etmv4_finish(unit);
    rec_etmv4_free(unit);
    rec_frames_put(&frames, 0x10, trace.data, trace.size);
    rec_frames_finish(&frames);
    rec_perf_begin(&perf, &(struct rec_perf_config){.version = 1, .cpus = &cpu, .cpu_count = 1});
    rec_perf_comm(&perf, &sample, "app", true);
    struct rec_perf_map whole = *map;
    whole.address = PERF_APP_BASE;
    whole.size = 0x1000;
    whole.prot = 5;
    rec_perf_map(&perf, &sample, &whole);
    if (story->forked)
        put_fork(&perf, &sample, story->misc);
    sample = (struct rec_perf_sample){
        .pid = PERF_APP_THREAD, .tid = PERF_APP_THREAD, .cpu = -1, .time = 9};
    rec_perf_aux(&perf, &sample, 0, framed.size, 0);
    rec_perf_trace(&perf, -1, PERF_APP_THREAD, 0, &framed);
    if (story->id)
        tell_build(&perf, map->path, story->id);
    rec_perf_finish(&perf, &file);
    const char *path = made_folder_file(folder, "perf.data", file.data, file.size);
    rec_bytes_free(&trace);
    rec_bytes_free(&framed);
    rec_bytes_free(&file);
    return path;
}

const char *perf_app_record(struct made_folder *folder, const struct rec_perf_map *map)
{
    return perf_app_record_story(folder, map, &(struct perf_app_story){.id = NULL});
}

static void *begin_part(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)worker;
    (void)piece;
    return context;
}

static void count_instructions(void *part, const struct pug_origin *origin,
                               const struct pug_element *elements, size_t count)
{
    uint64_t *instructions = part;
    (void)origin;
    for (size_t i = 0; i < count; i++)
        *instructions += elements[i].type == PUG_ELEM_INSTR_RANGE ? elements[i].count : 0;
}

static bool take_part(void *context, void *part)
{
    (void)context;
    (void)part;
    return true;
}

static void drop_part(void *part)
{
    (void)part;
}

struct pug_capture *perf_app_open(const char *path, const struct pug_capture_roots *roots)
{
    struct pug_capture *capture;
    const struct pug_capture_options options = {.roots = *roots};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    return capture;
}

uint64_t perf_app_instructions(struct pug_capture *capture)
{
    uint64_t instructions = 0;
    struct pug_capture_result result;
    const struct pug_consumer consumer = {.context = &instructions,
                                          .begin = begin_part,
                                          .elements = count_instructions,
                                          .take = take_part,
                                          .drop = drop_part};
    const struct pug_capture_decode decode = {
        .consumers = &consumer, .consumer_count = 1, .threads = 1};
    assert_int_equal(pug_capture_decode(capture, &decode, &result), PUG_OK);
    return instructions;
}

const struct pug_capture_object *perf_app_object(struct pug_capture *capture, const char *path)
{
    const struct pug_capture_object *object;
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++)
        if (strcmp(object->path, path) == 0)
            return object;
    return NULL;
}
