// SPDX-License-Identifier: MIT
/** @file Messages of a thread, kept until they are told in their turn. */
#ifndef PUG_LOG_RECORDS_H
#define PUG_LOG_RECORDS_H

#include "base/bytes.h"
#include "pugmark/log.h"
#include "pugmark/state.h"

#include <stddef.h>

/** Zeroed it is empty. */
struct pug_log_records {
    struct pug_log_record *items; /**< their texts are copies */
    size_t count, room;
};

/** A message for which there is no memory is lost. */
void pug_log_records_keep(struct pug_log_records *records, const struct pug_log_record *record);
void pug_log_records_give(const struct pug_log_records *records, struct pug_log *log);
/** Those of a later time become part of the first, and are empty then. */
void pug_log_records_join(struct pug_log_records *records, struct pug_log_records *later);
/** As bytes, and out of them: for another process. */
void pug_log_records_pack(const struct pug_log_records *records, struct pug_state *bytes);
void pug_log_records_unpack(struct pug_log_records *records, struct pug_bytes *bytes);
void pug_log_records_free(struct pug_log_records *records);

#endif
