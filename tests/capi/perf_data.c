// SPDX-License-Identifier: MIT
/**
 * @file Records a random A64 program and writes what `perf record` would have written of it:
 * FOLDER/perf.data, FOLDER/program.bin, and the branches that were taken, FOLDER/branches.txt, one
 * "from to" a line.
 *
 *     perf_data FOLDER SEED
 */
#include "pugmark/advanced/image.h"
#include "recorder/path_build.h"
#include "recorder/session.h"
#include "support/program.h"
#include "support/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 20000u
#define BASE  UINT64_C(0x400000)
#define PID   4711u

static bool take(void *session, const struct rec_path_item *item)
{
    return rec_session_take(session, item);
}

/** The running task and its file. */
static bool introduce(struct rec_session *session, const char *path, size_t size)
{
    return rec_session_take(session,
                            &(struct rec_path_item){.kind = REC_PATH_NAMED, .text = path}) &&
           rec_session_take(session, &(struct rec_path_item){.kind = REC_PATH_MAPPED,
                                                             .address = BASE,
                                                             .size = size,
                                                             .text = path}) &&
           rec_session_take(session, &(struct rec_path_item){
                                         .kind = REC_PATH_NEW_TASK, .pid = PID, .value = PID});
}

/** Run it; false: something cannot be had or written. */
static bool run(struct rec_session *session, const struct program *program,
                const struct pug_image *image, uint64_t seed, FILE *branches)
{
    struct rec_path_builder *builder = rec_path_builder_new(REC_FAMILY_A64, take, session);
    struct rec_random random = {.state = seed};
    struct execution execution = {.program = program, .random = &random};
    uint64_t before = 0;
    bool good = builder != NULL;
    for (unsigned i = 0; good && i < STEPS; i++) {
        uint8_t bytes[8];
        uint64_t pc = execution_step(&execution);
        unsigned size = recording_fetch(image, pc, REC_PATH_A64, bytes);
        good = size > 0 && rec_path_builder_insn(builder, 0, pc, REC_PATH_A64, bytes, size);
        if (i > 0 && pc != before + 4)
            fprintf(branches, "%llx %llx\n", (unsigned long long)before, (unsigned long long)pc);
        before = pc;
    }
    good = good && rec_path_builder_end(builder);
    rec_path_builder_free(builder);
    return good;
}

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
    static const bool given[REC_OPTIONS];
    static uint64_t values[REC_OPTIONS];
    if (argc != 3) {
        fprintf(stderr, "usage: %s FOLDER SEED\n", argv[0]);
        return 2;
    }
    uint64_t seed = strtoull(argv[2], NULL, 0);
    struct rec_random random = {.state = seed};
    struct program program;
    program_make(&program, PUG_ISA_A64, BASE, &random);
    struct pug_image *image = pug_image_new();
    program_add_to(&program, image);

    char path[4096], data[4096], program_path[4096], why[256] = "";
    FILE *file = open_in(argv[1], "program.bin", program_path, sizeof(program_path));
    fwrite(program.code.data, 1, program.code.size, file);
    fclose(file);

    snprintf(data, sizeof(data), "%s/perf.data", argv[1]);
    rec_unit_values(&rec_unit_etmv4, REC_FAMILY_A64, given, 0, values);
    const struct rec_session_config config = {
        .engine = {.unit_class = &rec_unit_etmv4,
                   .values = values,
                   .path = {.family = REC_FAMILY_A64, .pid = PID},
                   .first_source = 0x10,
                   .sources = 1,
                   .context_ids = true,
                   .sync_every = 3000,
                   .seed = seed},
        .perf = data};
    struct rec_session *session = rec_session_new(&config, why, sizeof(why));
    file = open_in(argv[1], "branches.txt", path, sizeof(path));
    bool good = session && introduce(session, program_path, program.code.size) &&
                run(session, &program, image, seed, file) &&
                rec_session_end(session, why, sizeof(why));
    if (!good)
        fprintf(stderr, "%s: %s\n", data, why);
    fclose(file);
    rec_session_free(session);
    pug_image_free(image);
    program_free(&program);
    return !good;
}
