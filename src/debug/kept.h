// SPDX-License-Identifier: MIT
/** @file The file of a history, from inside. */
#ifndef PUG_DEBUG_KEPT_H
#define PUG_DEBUG_KEPT_H

#include "capture/capture.h"
#include "debug/history.h"

#define PUG_KEPT_MAGIC  "PUGHIST1"
#define PUG_KEPT_SPACES 65536u
#define PUG_KEPT_MOST   ((size_t)1 << 30) /**< bytes of a file */

struct pug_kept_header {
    char magic[8];
    uint64_t layout;   /**< of the structs, and the version that wrote them */
    uint64_t identity; /**< of the capture, and how it was decoded */
    uint64_t checksum; /**< of all that follows the header */
    uint64_t positions, names, page_bytes, stacks;
    uint32_t spaces, events, pages, lines, kept, accesses;
};

struct pug_kept_page {
    uint64_t first, index, time;
    uint32_t events, notes, list, buffer, segment, pad;
};

struct pug_kept_line {
    struct pug_history_thread thread;
    uint32_t stacks, pad;
};

/* keep.c */
/** The checksum of bytes. */
uint64_t pug_kept_hash(const uint8_t *bytes, size_t size);

/* kept_check.c */
/** Can an event be one? Its pointers are good. */
bool pug_kept_event_good(const struct pug_history_event *event,
                         const struct pug_kept_header *header);
/** Can an access be one, after the one before? */
bool pug_kept_access_good(const struct pug_data_access *access,
                          const struct pug_data_access *before);

#endif
