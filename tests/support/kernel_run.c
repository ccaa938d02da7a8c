// SPDX-License-Identifier: MIT
#include "support/kernel_run.h"

#include "pugmark/advanced/consumer.h"
#include "recorder/frames.h"
#include "support/temporary.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a recording ---- */

static const struct rec_perf_cpu cpu = {
    .unit = REC_PERF_ETMV4,
    .words = {0x840, 0x10, 0x28000ea1, 0x4100f403, 0x20001088, 0, 0xcc, 1},
    .count = 8};
static const struct rec_etmv4_config unit_config = {
    .idr0 = 0x28000ea1, .idr2 = 0x20001088, .configr = 0x840, .seed = 1};

void kernel_run_bytes(const struct kernel_run *r, const char *name, const void *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", r->folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

void kernel_run_file(const struct kernel_run *r, const char *name, const struct kernel_file *file)
{
    struct rec_bytes bytes = {0};
    kernel_file_put(&bytes, file);
    kernel_run_bytes(r, name, bytes.data, bytes.size);
    rec_bytes_free(&bytes);
}

static const struct rec_perf_sample early = {.pid = -1, .tid = 0, .time = 1};

void kernel_run_map_of(struct kernel_run *r, uint32_t pid, uint16_t mode, uint64_t address,
                       uint64_t size, uint64_t offset, const char *path)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, pid, 4);
    rec_put_le(&body, 0, 4);
    rec_put_le(&body, address, 8);
    rec_put_le(&body, size, 8);
    rec_put_le(&body, offset, 8);
    rec_put_n(&body, path, strlen(path));
    do
        rec_put(&body, 0);
    while (body.size % 8 != 0);
    rec_perf_record(&r->perf, 1, mode, &body, &early);
    rec_bytes_free(&body);
}

void kernel_run_map_as(struct kernel_run *r, uint16_t mode, uint64_t address, uint64_t size,
                       uint64_t offset, const char *path)
{
    kernel_run_map_of(r, UINT32_MAX, mode, address, size, offset, path);
}

void kernel_run_map(struct kernel_run *r, uint64_t address, uint64_t size, uint64_t offset,
                    const char *path)
{
    kernel_run_map_as(r, 1, address, size, offset, path);
}

void kernel_run_begin_with(struct kernel_run *r, const struct rec_perf_cpu *traced,
                           const struct rec_etmv4_config *config)
{
    *r = (struct kernel_run){0};
    assert_true(temporary_folder(r->folder, sizeof(r->folder), "kernel"));
    rec_perf_begin(&r->perf,
                   &(struct rec_perf_config){
                       .version = 1, .cpus = traced, .cpu_count = 1, .has_clock = true, .mult = 1});
    kernel_run_map(r, KERNEL, 0x10000, KERNEL, "[kernel.kallsyms]_stext");
    r->unit = rec_etmv4_new(config, &r->trace);
    rec_etmv4_sync(r->unit);
}

void kernel_run_begin(struct kernel_run *r)
{
    kernel_run_begin_with(r, &cpu, &unit_config);
}

void kernel_run_at(struct kernel_run *r, uint64_t time, uint64_t address, unsigned taken,
                   uint64_t end)
{
    const struct rec_context context = {
        .el = 1, .sf = true, .ns = true, .has_context_id = true, .context_id = 7};
    rec_etmv4_trace_on(r->unit);
    rec_etmv4_start(r->unit, address, false, &context);
    rec_etmv4_timestamp(r->unit, time);
    for (unsigned i = 0; i < taken; i++)
        rec_etmv4_atom(r->unit, true);
    rec_etmv4_exception(r->unit, 0x0e, end, false, false);
}

void kernel_run_finish(struct kernel_run *r, const char *name)
{
    struct rec_bytes framed = {0}, file = {0};
    struct rec_frames frames = {.out = &framed};
    rec_etmv4_finish(r->unit);
    rec_etmv4_free(r->unit);
    rec_frames_put(&frames, 0x10, r->trace.data, r->trace.size);
    rec_frames_finish(&frames);
    const struct rec_perf_sample late = {.pid = 7, .tid = 7, .time = 1000000};
    rec_perf_aux(&r->perf, &late, 0, framed.size, 0);
    rec_perf_trace(&r->perf, 0, 0, 0, &framed);
    rec_perf_finish(&r->perf, &file);
    kernel_run_bytes(r, name, file.data, file.size);
    rec_bytes_free(&file);
    rec_bytes_free(&framed);
    rec_bytes_free(&r->trace);
}

/* ---- what is heard ---- */

static void *begin_part(void *context, unsigned worker, struct pug_piece *piece)
{
    void **part = malloc(sizeof(*part));
    (void)worker;
    (void)piece;
    assert_non_null(part);
    *part = context;
    return part;
}

static bool take_part(void *context, void *part)
{
    (void)context;
    free(part);
    return true;
}

static void elements(void *part, const struct pug_origin *origin, const struct pug_element *given,
                     size_t count)
{
    struct kernel_heard *heard = *(struct kernel_heard **)part;
    struct pug_location place = {.vaddr = 0};
    const struct pug_capture_task *task = pug_capture_task_at(heard->capture, origin->task);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t n = 0; given[i].type == PUG_ELEM_INSTR_RANGE && n < given[i].count; n++) {
            const uint64_t pc = given[i].start + 4 * (uint64_t)n;
            assert_true(heard->count < 64);
            (void)pug_capture_locate(heard->capture, origin, pc, &place);
            heard->places[heard->count] = place.vaddr;
            heard->texts[heard->count] = place.text;
            heard->tids[heard->count] = task ? task->tid : -1;
            heard->pcs[heard->count++] = pc;
        }
    }
}

struct kernel_heard kernel_run_hear_with(const struct kernel_run *r, const char *name,
                                         const struct pug_capture_options *options)
{
    char path[256];
    struct kernel_heard heard = {.count = 0};
    struct pug_capture_result result;
    const struct pug_consumer consumer = {.context = &heard,
                                          .begin = begin_part,
                                          .elements = elements,
                                          .take = take_part,
                                          .drop = free};
    const struct pug_capture_decode config = {
        .consumers = &consumer, .consumer_count = 1, .threads = 1};
    snprintf(path, sizeof(path), "%s/%s", r->folder, name);
    assert_int_equal(pug_capture_open(path, options, &heard.capture), PUG_OK);
    assert_int_equal(pug_capture_decode(heard.capture, &config, &result), PUG_OK);
    return heard;
}

struct kernel_heard kernel_run_hear(const struct kernel_run *r, const char *name,
                                    const struct pug_capture_roots *roots)
{
    return kernel_run_hear_with(r, name, &(struct pug_capture_options){.roots = *roots});
}

void kernel_heard_check(const struct kernel_heard *heard, const uint64_t *wanted, size_t count)
{
    assert_int_equal(heard->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(heard->pcs[i], wanted[i]);
}

static void remove_all(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    DIR *folder = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char inner[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        assert_true(snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) <
                    (int)sizeof(inner));
        remove_all(inner);
    }
    if (folder)
        closedir(folder);
    assert_int_equal(remove(path), 0);
}

void kernel_run_end(const struct kernel_run *r)
{
    remove_all(r->folder);
}

const char *kernel_heard_name(const struct kernel_heard *heard, struct pug_names *names,
                              const char *path, uint64_t vaddr)
{
    const struct pug_capture_object *object;
    struct pug_names_file *file;
    struct pug_names_function function;
    for (uint32_t n = 0; (object = pug_capture_object_at(heard->capture, n)) != NULL; n++)
        if (strcmp(object->path, path) == 0 && pug_capture_names(heard->capture, n, names, &file) &&
            pug_names_function(file, vaddr, &function))
            return function.name;
    return NULL;
}

const struct rec_perf_cpu kernel_run_vhe_cpu = {
    .unit = REC_PERF_ETMV4,
    .words = {0x8880, 0x10, 0x28000ea1, 0x4100f422, 0x20001088, 0, 0xcc, 1},
    .count = 8};
const struct rec_etmv4_config kernel_run_vhe_config = {
    .idr0 = 0x28000ea1, .idr2 = 0x20001088, .configr = 0x8880, .seed = 1};
