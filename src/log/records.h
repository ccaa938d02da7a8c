// SPDX-License-Identifier: MIT
/** @file Messages of a thread, kept until they are told in their turn. */
#ifndef PUG_LOG_RECORDS_H
#define PUG_LOG_RECORDS_H

#include "pugmark/log.h"

#include <stddef.h>

/** Zeroed it is empty. */
struct pug_log_records {
    struct pug_log_record *items; /**< their texts are copies */
    size_t count, room;
};

/** A message for which there is no memory is lost. */
void pug_log_records_keep(struct pug_log_records *records, const struct pug_log_record *record);
void pug_log_records_give(const struct pug_log_records *records, struct pug_log *log);
void pug_log_records_free(struct pug_log_records *records);

#endif
