// SPDX-License-Identifier: MIT
/** @file Index files: written whole or not at all, and checked before anything in them is used. */
#include "base/bytes.h"
#include "index/format.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

#include "files/infile.h"
#include "files/outfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The capture's hash looks at so many pieces of so many bytes, the first and the last included. */
#define PIECES      64u
#define PIECE_BYTES 256u

/* ---- sums ---- */

uint64_t pug_index_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (; size >= 8; size -= 8, at += 8)
        hash = pug_index_mix(hash, pug_bytes_64(at));
    return size ? pug_index_mix(hash, pug_bytes_number(at, (unsigned)size)) : hash;
}

uint64_t pug_index_checksum(const struct pug_index *index)
{
    return pug_index_hash_bytes(0, (const uint8_t *)index->bytes + PUG_INDEX_CHECKED,
                                index->size - PUG_INDEX_CHECKED);
}

uint64_t pug_index_trace_hash(const uint8_t *bytes, uint64_t size)
{
    uint64_t hash = pug_index_mix(0, size);
    if (size <= (uint64_t)PIECES * PIECE_BYTES)
        return pug_index_hash_bytes(hash, bytes, (size_t)size);
    for (uint64_t i = 0; i < PIECES; i++)
        hash = pug_index_hash_bytes(hash, bytes + (size - PIECE_BYTES) / (PIECES - 1) * i,
                                    PIECE_BYTES);
    return pug_index_hash_bytes(hash, bytes + size - PIECE_BYTES, PIECE_BYTES);
}

/* Four hashes side by side, each of every fourth word. */
#define LANES 4u

uint32_t pug_index_block_hash(const uint8_t *bytes, uint64_t size)
{
    uint64_t lanes[LANES] = {1, 2, 3, 4}, hash = size;
    for (; size >= LANES * sizeof(uint64_t); size -= LANES * sizeof(uint64_t))
        for (unsigned lane = 0; lane < LANES; lane++, bytes += sizeof(uint64_t))
            lanes[lane] = pug_index_mix(lanes[lane], pug_bytes_64(bytes));
    for (unsigned lane = 0; lane < LANES; lane++)
        hash = pug_index_mix(hash, lanes[lane]);
    hash = pug_index_hash_bytes(hash, bytes, (size_t)size);
    return (uint32_t)(hash >> 32) ? (uint32_t)(hash >> 32) : 1;
}

bool pug_index_holds(const struct pug_index *index, const uint8_t *bytes, uint64_t from,
                     uint64_t end)
{
    const struct pug_index_file_header *h = index->header;
    bool holds = true;
    for (uint64_t n = from / h->block; holds && n < h->blocks && n * h->block < end; n++) {
        const uint64_t start = n * h->block, left = h->indexed - start;
        const uint32_t hash = index->blocks[n].bytes;
        holds = hash == 0 ||
                hash == pug_index_block_hash(bytes + start, left < h->block ? left : h->block);
    }
    return holds;
}

/** Quirks are bits: the first one is the lowest of a word, or on other hosts the highest. */
static uint64_t mix_quirks(uint64_t hash, const struct pug_quirks *quirks)
{
    uint32_t words[sizeof(*quirks) / sizeof(uint32_t)];
    memcpy(words, quirks, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i += 2) {
        uint64_t pair = 0;
        for (unsigned bit = 0; bit < 64; bit++) {
            const unsigned at = PUG_INDEX_TURNED ? 31 - bit % 32 : bit % 32;
            pair |= (uint64_t)(words[i + bit / 32] >> at & 1) << bit;
        }
        hash = pug_index_mix(hash, pair);
    }
    return hash;
}

uint64_t pug_index_identity(struct pug_tree *tree)
{
    const char *transport = pug_tree_transport(tree)->name;
    uint64_t hash = pug_index_hash_bytes(0, transport, strlen(transport));
    struct pug_source *source;
    hash = mix_quirks(hash, pug_tree_quirks(tree));
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++) {
        const struct pug_protocol *protocol = pug_source_protocol(source);
        char words[1024] = "";
        if (protocol->config_text)
            protocol->config_text(pug_source_config(source), words, sizeof(words));
        hash = pug_index_mix(hash, pug_source_id(source));
        hash = pug_index_hash_bytes(hash, protocol->name, strlen(protocol->name));
        hash = pug_index_hash_bytes(hash, words, strlen(words));
    }
    return hash;
}

uint64_t pug_index_decode_identity(const struct pug_tree *tree)
{
    uint64_t hash = pug_image_hash(pug_tree_image(tree));
    struct pug_source *source;
    for (size_t n = 0; hash && (source = pug_tree_source_at(tree, n)) != NULL; n++) {
        const struct pug_decode_options *o = pug_source_options(source);
        const bool choices[] = {
            o->halt_on_bad_packet,   o->error_on_bad_packet,    o->check_direct_branch,
            o->check_strict_branch,  o->check_range_continuity, o->check_skips_thumb,
            o->split_source_address, o->check_opcode,           o->data_elements,
            o->join_payloads,
        };
        if (!pug_source_decodes(source))
            return 0;
        hash = pug_index_hash_bytes(hash, choices, sizeof(choices));
        hash = pug_index_mix(hash, o->range_limit);
        hash = pug_index_mix(hash, o->expansion);
    }
    return hash;
}

/* ---- the parts ---- */

uint64_t pug_index_file_size(const struct pug_index_file_header *header)
{
    /* Each number is below 2^48, so that the sum cannot overflow. */
    const uint64_t most = UINT64_C(1) << 48;
    if (header->blocks > most || header->summaries > most || header->marks > most ||
        header->values > most)
        return 0;
    return sizeof(*header) + header->sources * sizeof(struct pug_index_file_source) +
           header->blocks * sizeof(struct pug_index_file_block) +
           header->summaries * sizeof(struct pug_index_file_summary) +
           header->marks * sizeof(struct pug_index_file_mark) +
           header->values * sizeof(struct pug_index_file_value);
}

void pug_index_lay_out(struct pug_index *index)
{
    const struct pug_index_file_header *header = index->native;
    index->header = header;
    index->sources = (const void *)(header + 1);
    index->blocks = (const void *)(index->sources + header->sources);
    index->summaries = (const void *)(index->blocks + header->blocks);
    index->marks = (const void *)(index->summaries + header->summaries);
    index->values = (const void *)(index->marks + header->marks);
}

/* ---- checks ---- */

static bool check_header(const struct pug_index *index)
{
    const struct pug_index_file_header *h = index->native;
    const size_t size = index->size;
    if (size < sizeof(*h) || memcmp(h->magic, PUG_INDEX_MAGIC, sizeof(h->magic)) != 0 ||
        h->version != PUG_INDEX_VERSION || h->header_size != sizeof(*h) || h->file_size != size ||
        size % 8 != 0 || pug_index_file_size(h) != size)
        return false;
    return h->sources <= PUG_INDEX_SOURCE_LIMIT && h->block >= PUG_INDEX_BLOCK_MIN &&
           h->block <= PUG_INDEX_BLOCK_MAX && h->block % PUG_INDEX_ALIGNMENT == 0 &&
           h->indexed <= h->trace_size && h->from % h->block == 0 && h->from <= h->indexed &&
           h->blocks == h->indexed / h->block + (h->indexed % h->block != 0) &&
           h->summaries <= UINT32_MAX && memchr(h->transport, 0, sizeof(h->transport)) != NULL &&
           h->checksum == pug_index_checksum(index);
}

static uint32_t seat_of(const struct pug_index_file_source *source)
{
    return pug_index_seat(source->id, source->flags & PUG_INDEX_SOURCE_NOBODY);
}

/** Bytes of no source have the last id. */
static bool is_seat(uint16_t id, bool nobody)
{
    return !nobody || id == PUG_SOURCE_UNKNOWN;
}

static bool check_sources(const struct pug_index *index)
{
    for (uint32_t i = 0; i < index->header->sources; i++) {
        const struct pug_index_file_source *source = &index->sources[i];
        if (!memchr(source->protocol, 0, sizeof(source->protocol)) ||
            source->flags > (PUG_INDEX_SOURCE_FULL | PUG_INDEX_SOURCE_NOBODY) ||
            !is_seat(source->id, source->flags & PUG_INDEX_SOURCE_NOBODY) ||
            (i > 0 && seat_of(source) <= seat_of(source - 1)))
            return false;
    }
    return true;
}

static bool check_summary(const struct pug_index *index, const struct pug_index_file_summary *s)
{
    const struct pug_index_file_header *h = index->header;
    return s->kind < PUG_MARK_KINDS && s->nobody <= 1 && is_seat(s->source, s->nobody) &&
           s->count > 0 && s->first_at < h->block && s->last_at < h->block &&
           s->least <= s->greatest;
}

/** The blocks' summaries follow each other and name their block. */
static bool check_blocks(const struct pug_index *index)
{
    const struct pug_index_file_header *h = index->header;
    uint64_t at = 0;
    for (uint64_t block = 0; block < h->blocks; block++) {
        if (index->blocks[block].first != at)
            return false;
        for (; at < h->summaries && index->summaries[at].block == block; at++)
            if (!check_summary(index, &index->summaries[at]))
                return false;
    }
    return at == h->summaries;
}

static bool check_marks(const struct pug_index *index)
{
    for (uint64_t i = 0; i < index->header->marks; i++) {
        const struct pug_index_file_mark *mark = &index->marks[i];
        if (mark->kind >= PUG_MARK_KINDS || mark->nobody > 1 ||
            !is_seat(mark->source, mark->nobody) || mark->at >= index->header->indexed ||
            (i > 0 && mark->at < mark[-1].at))
            return false;
    }
    return true;
}

static bool check_values(const struct pug_index *index)
{
    for (uint64_t i = 0; i < index->header->values; i++) {
        const struct pug_index_file_value *value = &index->values[i];
        if (value->kind >= PUG_MARK_KINDS || value->first > value->last ||
            (i > 0 && (value->kind < value[-1].kind ||
                       (value->kind == value[-1].kind && value->value <= value[-1].value))))
            return false;
    }
    return true;
}

static enum pug_status check(struct pug_index *index, const uint8_t *bytes, uint64_t size,
                             uint64_t identity)
{
    if (!pug_index_from_file(index))
        return PUG_ERR_MEM;
    if (!check_header(index))
        return PUG_ERR_INDEX_DAMAGED;
    pug_index_lay_out(index);
    if (!check_sources(index) || !check_blocks(index) || !check_marks(index) ||
        !check_values(index))
        return PUG_ERR_INDEX_DAMAGED;
    const struct pug_index_file_header *h = index->header;
    bool mine = h->trace_size <= size && h->identity == identity &&
                h->trace_hash == pug_index_trace_hash(bytes, h->trace_size);
    return mine ? PUG_OK : PUG_ERR_INDEX_FOREIGN;
}

/* ---- reading ---- */

void pug_index_free(struct pug_index *index)
{
    if (!index)
        return;
    if (index->native != index->bytes)
        free(index->native);
    free(index->bytes);
    free(index);
}

static enum pug_status checked(struct pug_index *index, const uint8_t *bytes, uint64_t size,
                               uint64_t identity, struct pug_index **out)
{
    enum pug_status status = check(index, bytes, size, identity);
    if (status == PUG_OK)
        *out = index;
    else
        pug_index_free(index);
    return status;
}

enum pug_status pug_index_parse(const void *file, size_t file_size, const uint8_t *bytes,
                                uint64_t size, uint64_t identity, struct pug_index **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!file || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_index *index = calloc(1, sizeof(*index));
    void *copy = malloc(file_size + 8);
    if (!index || !copy) {
        free(index);
        free(copy);
        return PUG_ERR_MEM;
    }
    if (file_size > 0)
        memcpy(copy, file, file_size);
    *index = (struct pug_index){.bytes = copy, .size = file_size};
    return checked(index, bytes, size, identity, out);
}

/** It is read, not mapped: a file that shrinks must not change what was checked. */
enum pug_status pug_index_load(const char *path, const uint8_t *bytes, uint64_t size,
                               uint64_t identity, struct pug_index **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!path || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    uint8_t *file;
    size_t file_size;
    enum pug_status status = pug_infile_load(path, SIZE_MAX - 1, &file, &file_size);
    if (status != PUG_OK)
        return status == PUG_ERR_TRUNCATED ? PUG_ERR_INDEX_DAMAGED : status;
    struct pug_index *index = calloc(1, sizeof(*index));
    if (!index) {
        free(file);
        return PUG_ERR_MEM;
    }
    *index = (struct pug_index){.bytes = file, .size = file_size};
    return checked(index, bytes, size, identity, out);
}

/* ---- writing ---- */

enum pug_status pug_index_save(const struct pug_index *index, const char *path)
{
    if (!index || !path)
        return PUG_ERR_INVALID_PARAM_VAL;
    return pug_outfile_save(path, index->bytes, index->size);
}
