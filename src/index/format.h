// SPDX-License-Identifier: MIT
/** @file The index file, docs/book/formats/index-file.md, and what the room's files share. */
#ifndef PUG_INDEX_FORMAT_H
#define PUG_INDEX_FORMAT_H

#include "pugmark/advanced/index.h"

#include <assert.h>

#define PUG_INDEX_MAGIC   "PUGINDEX"
#define PUG_INDEX_VERSION 6u
/* The checksum covers everything after itself. */
#define PUG_INDEX_CHECKED offsetof(struct pug_index_file_header, file_size)
/* Blocks are made of whole frames of every kind, so that reading can start at each. */
#define PUG_INDEX_ALIGNMENT UINT64_C(512)
/* Number of parts of the capture that a value's bit set distinguishes. */
#define PUG_INDEX_PARTS 64u

enum pug_index_file_flag {
    PUG_INDEX_FULL = 1 << 0,     /* every mark is kept */
    PUG_INDEX_ELEMENTS = 1 << 2, /* blocks have the state of the decoders */
    PUG_INDEX_ENDED = 1 << 3,    /* the readers got the end of the trace */
    PUG_INDEX_PARTLY = 1 << 4,   /* … but only blocks of a part, the first ones */
};

struct pug_index_file_header {
    char magic[8];
    uint32_t version, header_size;
    uint64_t checksum;
    uint64_t file_size, trace_size, trace_hash, identity, decode_identity, indexed, block;
    uint64_t blocks, summaries, marks, values;
    uint32_t sources, flags;
    uint32_t valued; /* bit set of kinds: all their values are listed */
    uint32_t reserved;
    char transport[16];
    uint64_t from; /* where what is indexed begins: a block */
};

enum pug_index_source_flag {
    PUG_INDEX_SOURCE_FULL = 1 << 0, /* every mark of it is kept, though not those of all */
    PUG_INDEX_SOURCE_NOBODY = 1 << 1,
};

struct pug_index_file_source {
    uint16_t id;
    uint16_t flags;
    uint16_t reserved[2];
    char protocol[24];
    uint64_t counts[PUG_MARK_KINDS];
    uint64_t reserved_2[2];
};

struct pug_index_file_block {
    uint32_t first;  /* number of its first summary; it has those up to the next block's */
    uint32_t behind; /* 1: what was read from here on gave marks that begin before */
    uint32_t late;   /* when this block had been read all of its elements had come */
    uint32_t bytes;  /* hash of what the capture has in it; 0: not known */
    uint64_t packets, elements; /* hash of the state at its start; 0: not known */
};

struct pug_index_file_summary {
    uint32_t block;
    uint16_t source;
    uint8_t kind;
    uint8_t nobody; /* 1: of no source; `source` is then PUG_SOURCE_UNKNOWN */
    uint32_t count, first_at, last_at, hash; /* positions in the block */
    uint64_t first, last, least, greatest;
    uint64_t sum; /* of all values */
};

struct pug_index_file_mark {
    uint64_t at, value;
    uint16_t source;
    uint8_t kind;
    uint8_t nobody; /* as of a summary */
    uint8_t reserved[4];
};

struct pug_index_file_value {
    uint64_t value;
    uint64_t parts;       /* bit n: it may occur in the n-th part of the capture */
    uint32_t first, last; /* blocks, between which all its marks are */
    uint8_t kind, reserved[7];
};

static_assert(sizeof(struct pug_index_file_header) == 152, "format");
static_assert(sizeof(struct pug_index_file_source) == 168, "format");
static_assert(sizeof(struct pug_index_file_block) == 32, "format");
static_assert(sizeof(struct pug_index_file_summary) == 64, "format");
static_assert(sizeof(struct pug_index_file_mark) == 24, "format");
static_assert(sizeof(struct pug_index_file_value) == 32, "format");

/**
 * Must numbers be turned between a file and this host's memory? Else files are used as they lie.
 */
#define PUG_INDEX_TURNED (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/** An index in memory is the file's bytes, and where its parts lie in what is made of them. */
struct pug_index {
    const struct pug_index_file_header *header;
    const struct pug_index_file_source *sources;
    const struct pug_index_file_block *blocks;
    const struct pug_index_file_summary *summaries;
    const struct pug_index_file_mark *marks;
    const struct pug_index_file_value *values; /* by kind and value */
    void *bytes;
    void *native; /* the same with its numbers in this host's order; often it is `bytes` */
    size_t size;
};

/** Sources in their order: by id, and after all of them the bytes of no source. */
static inline uint32_t pug_index_seat(uint16_t id, bool nobody)
{
    return nobody ? id | UINT32_C(1) << 16 : id;
}

#define PUG_INDEX_LAST_SEAT (PUG_SOURCE_UNKNOWN | UINT32_C(1) << 16)

/** Does a query for `source` (an id, ANY, NOBODY) mean what has this id? */
bool pug_index_means(const struct pug_index *index, uint32_t source, uint16_t id, bool nobody);

/** Make `native` from `bytes`, which are not checked yet; false: no memory. */
bool pug_index_from_file(struct pug_index *index);
/** Make `bytes` of `native`, with their checksum; false: no memory. */
bool pug_index_to_file(struct pug_index *index);
/** Point the parts into `native`; the header's numbers fit its size. */
void pug_index_lay_out(struct pug_index *index);
/** Bytes that a header asks for; 0: more than there can be. */
uint64_t pug_index_file_size(const struct pug_index_file_header *header);
/** Returns the checksum of `bytes`. */
uint64_t pug_index_checksum(const struct pug_index *index);
/** Ties an index to its capture: bytes here and there. */
uint64_t pug_index_trace_hash(const uint8_t *bytes, uint64_t size);
/** A number for everything that decoding depends on beside the capture; 0: unknown. */
uint64_t pug_index_decode_identity(const struct pug_tree *tree);

/** The last block up to this one whose state is known, of packets or of `elements`; 0: none is. */
uint64_t pug_index_known_state(const struct pug_index *index, bool elements, uint64_t block);

/** The listed values of a kind: the first one that is not below `value`, up to before `*end`. */
const struct pug_index_file_value *pug_index_values_from(const struct pug_index *index,
                                                         enum pug_mark_kind kind, uint64_t value,
                                                         const struct pug_index_file_value **end);
/** Which of the PUG_INDEX_PARTS parts a block is in, of so many blocks. */
static inline unsigned pug_index_part(uint64_t block, unsigned part_shift)
{
    return (unsigned)(block >> part_shift) & (PUG_INDEX_PARTS - 1);
}

/**
 * Parts are the smallest power of two of blocks of which there are no more than PUG_INDEX_PARTS.
 */
static inline unsigned pug_index_part_shift(uint64_t blocks)
{
    unsigned shift = 0;
    while (blocks >> shift > PUG_INDEX_PARTS - 1)
        shift++;
    return shift;
}

/** A running hash of words. */
static inline uint64_t pug_index_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/** The hash of a block's bytes: many at a time, since all of a capture is hashed; never 0. */
uint32_t pug_index_block_hash(const uint8_t *bytes, uint64_t size);

/**
 * Are blocks that begin before `end`, from the one with `from` on, what they were when they were
 * indexed?
 */
bool pug_index_holds(const struct pug_index *index, const uint8_t *bytes, uint64_t from,
                     uint64_t end);

/** The running hash of bytes, as words. */
uint64_t pug_index_hash_bytes(uint64_t hash, const void *bytes, size_t size);

/**
 * What a mark adds to the sum that is the hash of a block's marks. Of times the difference to the
 * one before counts (`before`; of the first one in a block itself): who reads from the middle on
 * may not know their upper bits.
 */
static inline uint32_t pug_index_mark_hash(enum pug_mark_kind kind, uint64_t at, uint64_t value,
                                           uint64_t before)
{
    const uint64_t counts = kind == PUG_MARK_TIMESTAMP ? value - before : value;
    uint64_t mixed = pug_index_mix(at * UINT64_C(0xC2B2AE3D27D4EB4F), counts);
    return (uint32_t)(mixed >> 32);
}

#endif
