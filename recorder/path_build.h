// SPDX-License-Identifier: MIT
/** @file Paths from single instructions, as simulators list them: they become blocks. */
#ifndef PUG_RECORDER_PATH_BUILD_H
#define PUG_RECORDER_PATH_BUILD_H

#include "recorder/path.h"

struct rec_path_builder;

/** What is built goes to `take`. NULL: no memory. */
struct rec_path_builder *rec_path_builder_new(uint8_t family, rec_path_take_fn *take,
                                              void *context);
void rec_path_builder_free(struct rec_path_builder *builder);

/** What the instruction accesses that is given next on the processor; in that order. */
bool rec_path_builder_access(struct rec_path_builder *builder, unsigned cpu,
                             const struct rec_path_access *access);
/** An instruction retired on the processor. False: no more are wanted, or there is no memory. */
bool rec_path_builder_insn(struct rec_path_builder *builder, unsigned cpu, uint64_t address,
                           enum rec_path_isa isa, const uint8_t *bytes, unsigned size);
/** Another event happened after everything that retired so far. */
bool rec_path_builder_event(struct rec_path_builder *builder, const struct rec_path_item *item);
/** The path ends. */
bool rec_path_builder_end(struct rec_path_builder *builder);

#endif
