// SPDX-License-Identifier: MIT
/** @file All that decoding gives, as counts and hashes: what must be equal however it is done. */
#ifndef PUG_TESTS_OUTCOME_H
#define PUG_TESTS_OUTCOME_H

#include "pugmark/pugmark.h"

#include <string.h>

struct outcome {
    uint64_t elements, element_hash, records, record_hash, at;
    enum pug_response response;
    /* how it was done */
    uint64_t repeated;
    uint64_t made[8]; /* elements, by the thread that decoded them (hash_parts.h) */
    unsigned threads;
};

static inline uint64_t outcome_mix(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

/** The hash of an element with its payload. */
static inline uint64_t outcome_hash(const struct pug_element *element)
{
    struct pug_element e = *element;
    uint64_t hash = 0;
    if (e.flags & PUG_ELEM_PAYLOAD) {
        hash = outcome_mix(hash, e.payload, e.count);
        e.payload = NULL;
    }
    return outcome_mix(hash, &e, sizeof(e));
}

static inline bool outcome_equals(const struct outcome *a, const struct outcome *b)
{
    return a->elements == b->elements && a->element_hash == b->element_hash &&
           a->records == b->records && a->record_hash == b->record_hash && a->at == b->at &&
           a->response == b->response;
}

/** Another element, by its hash. */
static inline void outcome_add(struct outcome *outcome, uint64_t hash)
{
    outcome->element_hash = outcome_mix(outcome->element_hash, &hash, sizeof(hash));
    outcome->elements++;
}

/** A log's sink; its context is a struct outcome. */
static inline void outcome_record(void *context, const struct pug_log_record *record)
{
    struct outcome *outcome = context;
    char text[512];
    pug_log_text(record, text, sizeof(text));
    outcome->record_hash = outcome_mix(outcome->record_hash, text, strlen(text));
    outcome->records++;
}

#endif
