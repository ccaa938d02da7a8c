// SPDX-License-Identifier: MIT
/**
 * @file Messages to marks, where nobody looks at anything else: those that have no mark are passed
 * over, whatever is in them. All else is left to the reader.
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

/** Bytes of a whole message that begins here and has no mark; else 0. */
static size_t message_size(const uint8_t *at, const uint8_t *end, bool stamps)
{
    const unsigned tcode = *at >> 2;
    const size_t limit = pug_nexus_limit(tcode), left = (size_t)(end - at);
    size_t size = 1;
    if ((*at & 3) != 0 || !(passed_over >> tcode & 1))
        return 0;
    while (size < left && size < limit && (at[size] & 3) < 2)
        size++;
    bool whole = size < left && size < limit && (at[size] & 3) == 3;
    return whole && !(stamps && may_be_stamped(at, size + 1)) ? size + 1 : 0;
}

void pug_ntrace_skim(void *pointer, struct pug_span *span)
{
    struct pug_ntrace_reader *reader = pointer;
    size_t size;
    if (reader->state != PUG_NTRACE_READER_BETWEEN || pug_ntrace_follows_gap(reader, span) ||
        (reader->config->src_bits > 0 && !reader->src_locked))
        return;
    const bool stamps = reader->config->timestamps != PUG_NTRACE_TS_OFF;
    for (; span->at < span->end && (size = message_size(span->at, span->end, stamps)) > 0;
         span->at += size)
        reader->count++;
}
