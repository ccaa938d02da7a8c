// SPDX-License-Identifier: MIT
/**
 * @file Messages to marks, when no consumer reads anything else: those without a mark are passed
 * over, whatever they contain. All else is left to the reader.
 */
#include "protocol/ntrace/reader.h"

/** TCODEs without marks. */
static const uint64_t passed_over =
    UINT64_C(1) << PUG_NTRACE_DIRECT_BRANCH | UINT64_C(1) << PUG_NTRACE_INDIRECT_BRANCH |
    UINT64_C(1) << PUG_NTRACE_RESOURCE_FULL | UINT64_C(1) << PUG_NTRACE_INDIRECT_BRANCH_HIST |
    UINT64_C(1) << PUG_NTRACE_REPEAT_BRANCH;

/** Does a message have more variable fields than its kind? Then the last one is a time. */
static bool may_be_stamped(const uint8_t *at, size_t size)
{
    static const uint8_t fields[64] = {[PUG_NTRACE_DIRECT_BRANCH] = 1,
                                       [PUG_NTRACE_INDIRECT_BRANCH] = 2,
                                       [PUG_NTRACE_RESOURCE_FULL] = 1,
                                       [PUG_NTRACE_INDIRECT_BRANCH_HIST] = 3,
                                       [PUG_NTRACE_REPEAT_BRANCH] = 1};
    unsigned ends = 0;
    for (size_t i = 1; i < size; i++)
        ends += at[i] & 1;
    return ends > fields[*at >> 2];
}

/** Does a message tell of a trap: is BTYPE, where it has one, not 0? `from`: its first bit. */
static bool may_trap(const uint8_t *at, size_t size, unsigned from)
{
    const unsigned tcode = *at >> 2;
    if (tcode != PUG_NTRACE_INDIRECT_BRANCH && tcode != PUG_NTRACE_INDIRECT_BRANCH_HIST)
        return false;
    for (unsigned bit = from; bit < from + 2; bit++)
        if (bit / 6 >= size || at[bit / 6] >> (2 + bit % 6) & 1)
            return true;
    return false;
}

/** Bytes of a whole message that begins here and has no mark; else 0. */
static size_t message_size(const uint8_t *at, const uint8_t *end, bool stamps, unsigned src_bits)
{
    const unsigned tcode = *at >> 2;
    const size_t limit = pug_nexus_limit(tcode), left = (size_t)(end - at);
    size_t size = 1;
    if ((*at & 3) != 0 || !(passed_over >> tcode & 1))
        return 0;
    while (size < left && size < limit && (at[size] & 3) < 2)
        size++;
    bool whole = size < left && size < limit && (at[size] & 3) == 3;
    if (!whole || (stamps && may_be_stamped(at, size + 1)) || may_trap(at, size + 1, 6 + src_bits))
        return 0;
    return size + 1;
}

void pug_ntrace_scan_marks(void *pointer, struct pug_span *span)
{
    struct pug_ntrace_reader *reader = pointer;
    size_t size;
    if (reader->state != PUG_NTRACE_READER_BETWEEN || pug_ntrace_follows_gap(reader, span) ||
        (reader->config->src_bits > 0 && !reader->src_locked))
        return;
    const bool stamps = reader->config->timestamps != PUG_NTRACE_TS_OFF;
    const unsigned src_bits = reader->config->src_bits;
    for (; span->at < span->end && (size = message_size(span->at, span->end, stamps, src_bits)) > 0;
         span->at += size)
        reader->count++;
}
