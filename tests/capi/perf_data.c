// SPDX-License-Identifier: MIT
/**
 * @file Records a random A64 program with the ETMv4 encoder and writes what `perf record` would
 * have written of it: FOLDER/perf.data, FOLDER/program.bin, and the branches that were taken,
 * FOLDER/branches.txt, one "from to" a line.
 *
 *     perf_data FOLDER SEED
 */
#include "pugmark/image.h"
#include "recorder/etmv4.h"
#include "recorder/flow.h"
#include "recorder/frames.h"
#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS    20000u
#define BASE     UINT64_C(0x400000)
#define TRACE_ID 0x10u
#define PID      4711u
#define EVENT_ID UINT64_C(1)

/* The registers that both the encoder and the decoder go by. */
enum registers { IDR0 = 0x28000ea1, IDR1 = 0x4100f403, IDR2 = 0x488, CONFIGR = 0x1 };

/* ---- the trace ---- */

static void record(const struct program *program, const struct pug_image *image, uint64_t seed,
                   struct rec_bytes *trace, FILE *branches)
{
    struct rec_bytes bytes = {0};
    struct rec_etmv4_config unit_config = {
        .idr0 = IDR0, .idr2 = IDR2, .configr = CONFIGR, .seed = seed};
    struct rec_etmv4 *unit = rec_etmv4_new(&unit_config, &bytes);
    struct rec_flow_config config = {
        .image = image, .context = {.sf = true, .ns = true}, .sync_once_in = 3000, .seed = seed};
    struct rec_flow *flow = rec_flow_new(&config, unit);
    struct rec_random random = {.state = seed};
    struct execution execution = {.program = program, .random = &random};
    uint64_t before = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t pc = execution_step(&execution);
        rec_flow_step(flow, pc, PUG_ISA_A64);
        if (i > 0 && pc != before + 4)
            fprintf(branches, "%llx %llx\n", (unsigned long long)before, (unsigned long long)pc);
        before = pc;
    }
    rec_flow_finish(flow);
    rec_flow_free(flow);
    rec_etmv4_free(unit);
    struct rec_frames frames = {.out = trace};
    rec_frames_put(&frames, TRACE_ID, bytes.data, bytes.size);
    rec_frames_finish(&frames);
    rec_bytes_free(&bytes);
}

/* ---- the file: little-endian, one event, one ID ---- */

enum record_type {
    RECORD_COMM = 3,
    RECORD_EXIT = 4,
    RECORD_MMAP2 = 10,
    RECORD_AUX = 11,
    RECORD_AUXTRACE_INFO = 70,
    RECORD_AUXTRACE = 71,
};

enum { HEADER_BYTES = 104, ATTR_BYTES = 128, FEATURE_ARCH = 6, FEATURE_AUXTRACE = 18 };

static void put32(struct rec_bytes *out, uint32_t value)
{
    rec_put_le(out, value, 4);
}

static void put64(struct rec_bytes *out, uint64_t value)
{
    rec_put_le(out, value, 8);
}

/** A string and zeros up to a multiple of 8. */
static void put_string(struct rec_bytes *out, const char *string)
{
    size_t size = strlen(string) + 1;
    rec_put_n(out, string, size);
    for (; size % 8 != 0; size++)
        rec_put(out, 0);
}

/** Begin a record; its size is filled in by end_record(). */
static size_t begin_record(struct rec_bytes *out, enum record_type type, unsigned misc)
{
    size_t at = out->size;
    put32(out, (uint32_t)type);
    rec_put_le(out, misc, 2);
    rec_put_le(out, 0, 2);
    return at;
}

static void end_record(struct rec_bytes *out, size_t at)
{
    size_t size = out->size - at;
    out->data[at + 6] = (uint8_t)size;
    out->data[at + 7] = (uint8_t)(size >> 8);
}

/** What every record of the kernel's ends with. */
static void put_trailer(struct rec_bytes *out)
{
    put32(out, PID);
    put32(out, PID);
    put64(out, 0);
    put32(out, UINT32_MAX); /* CPU: traced by thread */
    put32(out, 0);
    put64(out, EVENT_ID);
}

static void put_attr(struct rec_bytes *out)
{
    put32(out, 8); /* number of the trace unit's driver */
    put32(out, ATTR_BYTES);
    put64(out, 0);
    put64(out, 1);
    put64(out, 0x10187);
    put64(out, 4);
    put64(out, 1u << 8 | 1u << 18 | 1u << 23);
    for (unsigned i = 48; i < ATTR_BYTES; i += 8)
        put64(out, 0);
}

static void put_auxtrace_info(struct rec_bytes *out)
{
    size_t at = begin_record(out, RECORD_AUXTRACE_INFO, 0);
    put32(out, 3); /* CoreSight */
    put32(out, 0);
    put64(out, 1);
    put64(out, UINT64_C(8) << 32 | 1);
    put64(out, 0);
    static const uint64_t unit[] = {
        0x4040404040404040, 0, 7, CONFIGR, TRACE_ID, IDR0, IDR1, IDR2, 0, 0};
    for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
        put64(out, unit[i]);
    end_record(out, at);
}

static void put_process(struct rec_bytes *out, const char *path, size_t size)
{
    size_t at = begin_record(out, RECORD_COMM, 0);
    put32(out, PID);
    put32(out, PID);
    put_string(out, "traced");
    put_trailer(out);
    end_record(out, at);

    at = begin_record(out, RECORD_MMAP2, 2);
    put32(out, PID);
    put32(out, PID);
    put64(out, BASE);
    put64(out, size);
    put64(out, 0);
    put64(out, 0); /* device */
    put64(out, 0); /* inode */
    put64(out, 0);
    put32(out, 5); /* readable, executable */
    put32(out, 2); /* private */
    put_string(out, path);
    put_trailer(out);
    end_record(out, at);
}

static void put_aux(struct rec_bytes *out, size_t size)
{
    size_t at = begin_record(out, RECORD_AUX, 0);
    put64(out, 0);
    put64(out, size);
    put64(out, 0);
    put_trailer(out);
    end_record(out, at);
}

/** Returns where the record is. */
static size_t put_auxtrace(struct rec_bytes *out, const struct rec_bytes *trace)
{
    size_t at = begin_record(out, RECORD_AUXTRACE, 0);
    put64(out, trace->size);
    put64(out, 0);
    put64(out, 0);
    put32(out, 0);
    put32(out, PID);
    put32(out, UINT32_MAX);
    put32(out, 0);
    end_record(out, at);
    rec_put_n(out, trace->data, trace->size);
    return at;
}

static void put_exit(struct rec_bytes *out)
{
    size_t at = begin_record(out, RECORD_EXIT, 0);
    put32(out, PID);
    put32(out, 1);
    put32(out, PID);
    put32(out, 1);
    put64(out, 0);
    put_trailer(out);
    end_record(out, at);
}

static void put_header(struct rec_bytes *out, size_t data_size)
{
    const uint64_t attrs = HEADER_BYTES + 8, data = attrs + ATTR_BYTES + 16;
    rec_put_n(out, "PERFILE2", 8);
    put64(out, HEADER_BYTES);
    put64(out, ATTR_BYTES + 16);
    put64(out, attrs);
    put64(out, ATTR_BYTES + 16);
    put64(out, data);
    put64(out, data_size);
    put64(out, 0);
    put64(out, 0);
    put64(out, 1u << FEATURE_ARCH | 1u << FEATURE_AUXTRACE);
    for (unsigned i = 0; i < 3; i++)
        put64(out, 0);
    put64(out, EVENT_ID); /* the list of IDs */
    put_attr(out);
    put64(out, HEADER_BYTES);
    put64(out, 8);
}

/** Behind the records: where the features are, then they. */
static void put_features(struct rec_bytes *out, uint64_t auxtrace_at)
{
    enum { ARCH_BYTES = 4 + 64, AUXTRACE_BYTES = 24 };
    uint64_t at = out->size + 2 * 16;
    put64(out, at);
    put64(out, ARCH_BYTES);
    put64(out, at + ARCH_BYTES);
    put64(out, AUXTRACE_BYTES);
    char arch[64] = "aarch64";
    put32(out, sizeof(arch));
    rec_put_n(out, arch, sizeof(arch));
    put64(out, 1);
    put64(out, auxtrace_at);
    put64(out, 48);
}

static void make_perf_data(const struct rec_bytes *trace, const char *program_path,
                           size_t program_size, struct rec_bytes *file)
{
    struct rec_bytes records = {0};
    put_process(&records, program_path, program_size);
    put_auxtrace_info(&records);
    put_aux(&records, trace->size);
    size_t auxtrace_at = put_auxtrace(&records, trace);
    put_exit(&records);
    put_header(file, records.size);
    auxtrace_at += file->size;
    rec_put_n(file, records.data, records.size);
    put_features(file, auxtrace_at);
    rec_bytes_free(&records);
}

/* ---- main ---- */

static FILE *open_in(const char *folder, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s FOLDER SEED\n", argv[0]);
        return 2;
    }
    uint64_t seed = strtoull(argv[2], NULL, 0);
    struct rec_random random = {.state = seed};
    struct program program;
    program_make(&program, PUG_ISA_A64, BASE, &random);
    struct pug_image *image = pug_image_new();
    struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    pug_image_add_buffer(image, &anywhere, BASE, program.code.data, program.code.size);

    char path[4096], program_path[4096];
    FILE *file = open_in(argv[1], "program.bin", program_path, sizeof(program_path));
    fwrite(program.code.data, 1, program.code.size, file);
    fclose(file);

    struct rec_bytes trace = {0}, data = {0};
    file = open_in(argv[1], "branches.txt", path, sizeof(path));
    record(&program, image, seed, &trace, file);
    fclose(file);

    make_perf_data(&trace, program_path, program.code.size, &data);
    file = open_in(argv[1], "perf.data", path, sizeof(path));
    fwrite(data.data, 1, data.size, file);
    fclose(file);

    bool failed = trace.failed || data.failed;
    rec_bytes_free(&trace);
    rec_bytes_free(&data);
    pug_image_free(image);
    program_free(&program);
    return failed;
}
