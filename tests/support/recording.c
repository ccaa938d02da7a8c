// SPDX-License-Identifier: MIT
#include "support/recording.h"

#include "recorder/path_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool good)
{
    if (good)
        return;
    fprintf(stderr, "recording: it cannot be made\n");
    abort();
}

static bool take_trace(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct recording *recording = context;
    (void)stream;
    rec_put_n(&recording->trace, bytes, size);
    return !recording->trace.failed;
}

static bool take_memory(void *context, const struct rec_memory *memory)
{
    (void)context, (void)memory; /* the test has it */
    return true;
}

static bool take_item(void *context, const struct rec_path_item *item)
{
    struct recording *recording = context;
    return rec_engine_take(recording->engine, item);
}

/** Lines "NAME(0x010)=VALUE" of a description. */
static void take_registers(struct recording *recording, char *lines)
{
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        size_t n = recording->register_count++;
        must(n < RECORDING_REGISTERS);
        snprintf(recording->names[n], sizeof(recording->names[n]), "%.*s", (int)strcspn(line, "(="),
                 line);
        recording->registers[n] = (struct pug_setting){
            .name = recording->names[n], .value = strtoull(line + strcspn(line, "=") + 1, NULL, 0)};
    }
}

static void describe(struct recording *recording)
{
    const struct recording_config *config = &recording->config;
    const struct rec_unit_setup setup = {
        .family = config->family, .source = 0x10, .sources = 1, .values = recording->values};
    char *lines;
    size_t size;
    FILE *file = open_memstream(&lines, &size);
    must(file != NULL);
    config->unit_class->describe(&setup, file);
    must(fclose(file) == 0);
    take_registers(recording, lines);
    free(lines);
}

void recording_begin(struct recording *recording, const struct recording_config *config)
{
    const bool given[REC_OPTIONS] = {false};
    *recording = (struct recording){.config = *config};
    rec_unit_values(config->unit_class, config->family, given, config->seed, recording->values);
    const struct rec_engine_config engine = {.unit_class = config->unit_class,
                                             .values = recording->values,
                                             .path = {.family = config->family},
                                             .first_source = 0x10,
                                             .sources = 1,
                                             .calls = REC_CALLS_ON,
                                             .sync_every = config->sync_every,
                                             .time_every = config->time_every,
                                             .cycles_every = config->cycles_every,
                                             .other_every = config->other_every,
                                             .loss = config->loss,
                                             .seed = config->seed + 1};
    const struct rec_engine_output output = {
        .trace = take_trace, .memory = take_memory, .context = recording};
    recording->engine = rec_engine_new(&engine, &output);
    recording->builder = rec_path_builder_new(config->family, take_item, recording);
    must(recording->engine && recording->builder);
    describe(recording);
}

enum rec_path_isa recording_isa(enum pug_isa isa)
{
    return isa == PUG_ISA_A64   ? REC_PATH_A64
           : isa == PUG_ISA_A32 ? REC_PATH_A32
           : isa == PUG_ISA_T32 ? REC_PATH_T32
                                : REC_PATH_RISCV;
}

unsigned recording_fetch(const struct pug_image *image, uint64_t pc, enum rec_path_isa isa,
                         uint8_t bytes[8])
{
    const struct pug_reader_space anywhere = {.space = PUG_SPACE_ANY};
    memset(bytes, 0, 8);
    int64_t got = pug_image_read(image, &anywhere, pc, bytes, 4);
    unsigned size = got >= 2 ? rec_path_insn_size((uint8_t)isa, bytes) : 0;
    return size <= got ? size : 0;
}

void recording_insn(struct recording *recording, uint64_t pc, enum pug_isa isa)
{
    uint8_t bytes[8];
    enum rec_path_isa is = recording_isa(isa);
    unsigned size = recording_fetch(recording->config.image, pc, is, bytes);
    must(size > 0 && rec_path_builder_insn(recording->builder, 0, pc, is, bytes, size));
}

void recording_interrupt(struct recording *recording, uint64_t back)
{
    must(rec_path_builder_event(recording->builder,
                                &(struct rec_path_item){.kind = REC_PATH_TRAPPED,
                                                        .value = REC_TRAP_INTERRUPT,
                                                        .address = back,
                                                        .known = true}));
}

void recording_end(struct recording *recording)
{
    must(rec_path_builder_end(recording->builder) && rec_engine_end(recording->engine));
}

void recording_free(struct recording *recording)
{
    rec_path_builder_free(recording->builder);
    rec_engine_free(recording->engine);
    rec_bytes_free(&recording->trace);
}
