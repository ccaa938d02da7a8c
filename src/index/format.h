// SPDX-License-Identifier: MIT
/** @file The index file, docs/index-format.md, and what the room's files share. */
#ifndef PUG_INDEX_FORMAT_H
#define PUG_INDEX_FORMAT_H

#include "pugmark/index.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "index files are used as they lie");

#define INDEX_MAGIC   "PUGINDEX"
#define INDEX_VERSION 1u
/* The checksum covers everything behind itself. */
#define INDEX_CHECKED offsetof(struct index_header, file_size)

enum index_flag { INDEX_FULL = 1 << 0, INDEX_ELEMENTS = 1 << 1 };

struct index_header {
    char magic[8];
    uint32_t version, header_size;
    uint64_t checksum;
    uint64_t file_size, trace_size, trace_hash, identity, indexed, block;
    uint64_t blocks, summaries, marks;
    uint32_t sources, flags;
    char transport[16];
};

struct index_source {
    uint16_t id, reserved[3];
    char protocol[24];
    uint64_t counts[PUG_MARK_KINDS];
    uint64_t reserved_2[2];
};

struct index_block {
    uint32_t first; /* number of its first summary; it has those up to the next block's */
    uint32_t elements;
    uint64_t element_hash;
};

struct index_summary {
    uint32_t block;
    uint16_t source;
    uint8_t kind, reserved;
    uint32_t count, first_at, last_at, hash; /* positions in the block */
    uint64_t first, last, least, greatest;
};

struct index_mark {
    uint64_t at, value;
    uint16_t source;
    uint8_t kind, reserved[5];
};

static_assert(sizeof(struct index_header) == 120, "format");
static_assert(sizeof(struct index_source) == 128, "format");
static_assert(sizeof(struct index_block) == 16, "format");
static_assert(sizeof(struct index_summary) == 56, "format");
static_assert(sizeof(struct index_mark) == 24, "format");

/** An index in memory is the file's bytes and where its parts lie in them. */
struct pug_index {
    const struct index_header *header;
    const struct index_source *sources;
    const struct index_block *blocks;
    const struct index_summary *summaries;
    const struct index_mark *marks;
    void *bytes;
    size_t size;
    bool mapped;
};

/** Point the parts into `bytes`; the header's numbers fit its size. */
void index_lay_out(struct pug_index *index);
/** Bytes that a header asks for; 0: more than there can be. */
uint64_t index_file_size(const struct index_header *header);
uint64_t index_checksum(const struct index_header *header);
/** Ties an index to its capture: bytes here and there. */
uint64_t index_trace_hash(const uint8_t *bytes, uint64_t size);

/** A running hash of words. */
static inline uint64_t index_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/** Hash of a block's marks of one source and kind, in their order; it starts at 0. */
static inline uint32_t index_mark_hash(uint32_t hash, uint64_t at, uint64_t value)
{
    uint64_t mixed = index_mix(index_mix(hash, at), value);
    return (uint32_t)(mixed ^ mixed >> 32);
}

#endif
