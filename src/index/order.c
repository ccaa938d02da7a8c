// SPDX-License-Identifier: MIT
/**
 * @file The numbers of an index file are little-endian; in memory they are in this host's order.
 */
#include "index/format.h"

#include <stdlib.h>

/** A row of numbers with equally many bytes each. */
struct numbers {
    uint8_t count, bytes;
};

#define MOST_FIELDS 6

/* What records are made of, as format.h has them; letters are numbers of one byte. */
static const struct numbers header_fields[MOST_FIELDS] = {{8, 1}, {2, 4},  {12, 8},
                                                          {4, 4}, {16, 1}, {1, 8}};
static const struct numbers source_fields[MOST_FIELDS] = {{4, 2}, {24, 1}, {PUG_MARK_KINDS + 2, 8}};
static const struct numbers block_fields[MOST_FIELDS] = {{4, 4}, {2, 8}};
static const struct numbers summary_fields[MOST_FIELDS] = {{1, 4}, {1, 2}, {2, 1}, {4, 4}, {5, 8}};
static const struct numbers mark_fields[MOST_FIELDS] = {{2, 8}, {1, 2}, {6, 1}};
static const struct numbers value_fields[MOST_FIELDS] = {{2, 8}, {2, 4}, {8, 1}};

static void turn_number(uint8_t *bytes, unsigned size)
{
    for (unsigned i = 0; i < size / 2; i++) {
        const uint8_t byte = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

/** Turn the numbers of so many records; where the last one ends. */
static uint8_t *turn(uint8_t *at, const struct numbers *fields, uint64_t records)
{
    for (uint64_t record = 0; record < records; record++)
        for (unsigned field = 0; field < MOST_FIELDS; field++)
            for (unsigned i = 0; i < fields[field].count; i++, at += fields[field].bytes)
                turn_number(at, fields[field].bytes);
    return at;
}

static void turn_parts(uint8_t *at, const struct pug_index_file_header *h)
{
    at = turn(at, source_fields, h->sources);
    at = turn(at, block_fields, h->blocks);
    at = turn(at, summary_fields, h->summaries);
    at = turn(at, mark_fields, h->marks);
    turn(at, value_fields, h->values);
}

static void *copy_of(const void *bytes, size_t size)
{
    void *copy = malloc(size);
    return copy ? memcpy(copy, bytes, size) : NULL;
}

bool pug_index_from_file(struct pug_index *index)
{
    index->native = index->bytes;
    if (!PUG_INDEX_TURNED || index->size < sizeof(struct pug_index_file_header))
        return true;
    struct pug_index_file_header *h = index->native = copy_of(index->bytes, index->size);
    if (!h)
        return false;
    uint8_t *parts = turn((uint8_t *)h, header_fields, 1);
    if (pug_index_file_size(h) == index->size)
        turn_parts(parts, h);
    return true;
}

bool pug_index_to_file(struct pug_index *index)
{
    struct pug_index_file_header *h = index->native;
    index->bytes = index->native;
    if (!PUG_INDEX_TURNED) {
        h->checksum = pug_index_checksum(index);
        return true;
    }
    uint8_t *bytes = index->bytes = copy_of(index->native, index->size);
    if (!bytes)
        return false;
    turn_parts(turn(bytes, header_fields, 1), h);
    h->checksum = pug_index_checksum(index);
    memcpy(bytes, h, sizeof(*h));
    turn(bytes, header_fields, 1);
    return true;
}
