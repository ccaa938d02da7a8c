// SPDX-License-Identifier: MIT
/** @file Trace of a path that a test makes up, instruction by instruction: one processor's. */
#ifndef PUG_TESTS_RECORDING_H
#define PUG_TESTS_RECORDING_H

#include "pugmark/advanced/image.h"
#include "pugmark/advanced/settings.h"
#include "recorder/engine.h"

#define RECORDING_REGISTERS 32u

struct recording_config {
    const struct rec_unit_class *unit_class;
    uint8_t family; /**< enum rec_path_family */
    uint64_t seed;  /**< of all options that the class has, and of choices; 0: as they are */
    const struct pug_image *image;
    uint64_t sync_every, time_every, cycles_every, other_every; /**< instructions; 0: never */
    double loss;
};

struct recording {
    struct recording_config config;
    uint64_t values[REC_OPTIONS];
    struct rec_engine *engine;
    struct rec_path_builder *builder;
    struct rec_bytes trace;
    struct pug_setting registers[RECORDING_REGISTERS]; /**< what a decoder needs */
    char names[RECORDING_REGISTERS][32];
    size_t register_count;
};

/** Ends the test where it cannot be. */
void recording_begin(struct recording *recording, const struct recording_config *config);
void recording_insn(struct recording *recording, uint64_t pc, enum pug_isa isa);
/** An interrupt after the last instruction; `back` is where execution continues later. */
void recording_interrupt(struct recording *recording, uint64_t back);
/** All is reported; `trace` and the registers stay until recording_free(). */
void recording_end(struct recording *recording);
void recording_free(struct recording *recording);

/** Bytes of the instruction at an address. 0: it is not there. */
unsigned recording_fetch(const struct pug_image *image, uint64_t pc, enum rec_path_isa isa,
                         uint8_t bytes[8]);
enum rec_path_isa recording_isa(enum pug_isa isa);

#endif
