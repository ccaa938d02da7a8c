// SPDX-License-Identifier: MIT
/** @file Messages of a thread, kept until they are delivered in their turn. */
#ifndef PUG_LOG_RECORDS_H
#define PUG_LOG_RECORDS_H

#include "base/bytes.h"
#include "pugmark/advanced/state.h"
#include "pugmark/log.h"

#include <stddef.h>

struct pug_log_texts;

/** Zeroed it is empty. */
struct pug_log_records {
    struct pug_log_record *items;
    size_t count, room;
    struct pug_log_texts *texts; /**< what they say: equal texts are one */
};

/** A message for which there is no memory is lost. */
void pug_log_records_keep(struct pug_log_records *records, const struct pug_log_record *record);
/** Bytes that they take. */
size_t pug_log_records_size(const struct pug_log_records *records);
void pug_log_records_give(const struct pug_log_records *records, struct pug_log *log);
/** Those of a later time become part of the first, and are empty then. */
void pug_log_records_join(struct pug_log_records *records, struct pug_log_records *later);
/** As bytes, and out of them: for another process. */
void pug_log_records_pack(const struct pug_log_records *records, struct pug_state *bytes);
void pug_log_records_unpack(struct pug_log_records *records, struct pug_bytes *bytes);
void pug_log_records_free(struct pug_log_records *records);

#endif
