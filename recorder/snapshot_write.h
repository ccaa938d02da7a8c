// SPDX-License-Identifier: MIT
/** @file The files of a snapshot folder, but for the trace itself. */
#ifndef PUG_RECORDER_SNAPSHOT_WRITE_H
#define PUG_RECORDER_SNAPSHOT_WRITE_H

#include "recorder/engine.h"

struct rec_session_config;
struct snapshot_write;

enum snapshot_file { SNAPSHOT_TRACE, SNAPSHOT_DUMP, SNAPSHOT_CORE, SNAPSHOT_SOURCE };

/** NULL: no memory. The configuration stays the caller's, and has to stay. */
struct snapshot_write *snapshot_write_new(const struct rec_session_config *config);
void snapshot_write_free(struct snapshot_write *snapshot);

/** The name of a file with its folder: of buffer `buffer`, and number `n` in it. */
void snapshot_write_name(const struct snapshot_write *snapshot, enum snapshot_file what,
                         unsigned buffer, unsigned n, char *name, size_t size);

/** The item may tell of a program that has names. */
void snapshot_write_item(struct snapshot_write *snapshot, const struct rec_path_item *item);

/** Dumps of the memory that the next buffer ran in. False: errno says why. */
bool snapshot_write_memory(struct snapshot_write *snapshot, const struct rec_memory *memory);

/** Devices, buffers, and what belongs to what. False: errno says why. */
bool snapshot_write_descriptions(struct snapshot_write *snapshot, const struct rec_engine *engine);
/** How many programs were copied, so that what ran has names. */
unsigned snapshot_write_programs(const struct snapshot_write *snapshot);

#endif
