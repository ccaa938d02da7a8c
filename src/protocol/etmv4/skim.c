// SPDX-License-Identifier: MIT
/**
 * @file Packets to marks, where nobody looks at anything else: what has no mark and no effect on
 * later packets is passed over, addresses are read. All else is left to the reader.
 */
#include "base/bytes.h"
#include "protocol/etmv4/address.h"

/** What a form of packet is to an index. */
enum use { LEFT_TO_THE_READER, PASSED_OVER, ADDRESS };

static const uint8_t uses[] = {
    [PUG_ETMV4_FORM_ATOM] = PASSED_OVER,    [PUG_ETMV4_FORM_BARE] = PASSED_OVER,
    [PUG_ETMV4_FORM_CCNT_F1] = PASSED_OVER, [PUG_ETMV4_FORM_CCNT_F2] = PASSED_OVER,
    [PUG_ETMV4_FORM_CCNT_F3] = PASSED_OVER, [PUG_ETMV4_FORM_COMMIT] = PASSED_OVER,
    [PUG_ETMV4_FORM_CANCEL] = PASSED_OVER,  [PUG_ETMV4_FORM_CANCEL_F1] = PASSED_OVER,
    [PUG_ETMV4_FORM_MATCH] = ADDRESS,       [PUG_ETMV4_FORM_ADDR_S] = ADDRESS,
    [PUG_ETMV4_FORM_ADDR_32] = ADDRESS,     [PUG_ETMV4_FORM_ADDR_64] = ADDRESS,
    [PUG_ETMV4_FORM_Q] = LEFT_TO_THE_READER};

/** Packets that are a mark, though their form has none. */
static inline bool has_mark(uint32_t type)
{
    return type == PUG_ETMV4_TRACE_ON || type == PUG_ETMV4_TRANS_ST ||
           type == PUG_ETMV4_TRANS_COMMIT;
}

/** The size of a packet that is all there, if that is easily told; else 0. */
static inline size_t size_of(const struct pug_etmv4_header *header, const uint8_t *at,
                             const uint8_t *end)
{
    size_t size = pug_etmv4_fixed_size(header, at, end);
    if (size == 0 && header->fields == PUG_ETMV4_FIELD_LEB && end - at > 1 && !(at[1] & 0x80))
        size = 2;
    return size;
}

/**
 * How many of the next eight bytes are atoms before one that is not: those have their upper two
 * bits set, in every configuration. Nobody has to foresee how many come.
 */
static inline unsigned atoms_ahead(const uint8_t *at)
{
    const uint64_t word = pug_bytes_64(at);
    const uint64_t others = ~(word & word << 1) & UINT64_C(0x8080808080808080);
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

void pug_etmv4_skim(void *reader, struct pug_span *span)
{
    struct pug_etmv4_reader *r = reader;
    struct pug_mark_list *list = r->stage->marks;
    if (r->special & ~(unsigned)PUG_ETMV4_USED)
        return;
    const struct pug_etmv4_header *const headers = r->config->headers;
    const uint8_t *at = span->at, *const end = span->end;
    while (at < end) {
        if (end - at >= 8) {
            const unsigned atoms = atoms_ahead(at);
            at += atoms;
            if (atoms == 8)
                continue;
        }
        const struct pug_etmv4_header *header = &headers[*at];
        if (header->form == PUG_ETMV4_FORM_ATOM) {
            at++;
            continue;
        }
        enum use use = has_mark(header->type) ? LEFT_TO_THE_READER : (enum use)uses[header->form];
        size_t size = use ? size_of(header, at, end) : 0;
        if (size == 0 || !pug_mark_list_ready(list))
            break;
        if (use == ADDRESS) {
            pug_etmv4_read_address(r, header, at);
            if (header->type < PUG_ETMV4_SRC_ADDR_MATCH)
                pug_mark_list_add(list, PUG_MARK_ADDRESS, pug_run_index(span->run, at),
                                  r->packet.address.value);
        }
        at += size;
    }
    span->at = at;
}
