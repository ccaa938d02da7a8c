// SPDX-License-Identifier: MIT
/**
 * @file Packets to marks, when no consumer reads anything else. Packets without a mark and without
 * effect on later packets are passed over; addresses are read. All else is left to the reader.
 */
#include "protocol/etmv4/address.h"

/** How an index uses a packet that is not a plain address. */
enum use { LEFT_TO_THE_READER, PASSED_OVER, SOURCE_ADDRESS };

static const uint8_t uses[] = {
    [PUG_ETMV4_FORM_ATOM] = PASSED_OVER,       [PUG_ETMV4_FORM_BARE] = PASSED_OVER,
    [PUG_ETMV4_FORM_CCNT_F1] = PASSED_OVER,    [PUG_ETMV4_FORM_CCNT_F2] = PASSED_OVER,
    [PUG_ETMV4_FORM_CCNT_F3] = PASSED_OVER,    [PUG_ETMV4_FORM_COMMIT] = PASSED_OVER,
    [PUG_ETMV4_FORM_CANCEL] = PASSED_OVER,     [PUG_ETMV4_FORM_CANCEL_F1] = PASSED_OVER,
    [PUG_ETMV4_FORM_MATCH] = SOURCE_ADDRESS,   [PUG_ETMV4_FORM_ADDR_S] = SOURCE_ADDRESS,
    [PUG_ETMV4_FORM_ADDR_32] = SOURCE_ADDRESS, [PUG_ETMV4_FORM_ADDR_64] = SOURCE_ADDRESS,
    [PUG_ETMV4_FORM_Q] = LEFT_TO_THE_READER};

static inline enum use use_of(const struct pug_etmv4_header *header)
{
    const enum use use = (enum use)uses[header->form];
    const bool has_mark = header->type == PUG_ETMV4_TRACE_ON ||
                          header->type == PUG_ETMV4_TRANS_ST ||
                          header->type == PUG_ETMV4_TRANS_COMMIT ||
                          (use == SOURCE_ADDRESS && header->type < PUG_ETMV4_SRC_ADDR_MATCH);
    return has_mark ? LEFT_TO_THE_READER : use;
}

/** Returns the size of a complete packet if it is easy to determine, else 0. */
static inline size_t size_of(const struct pug_etmv4_header *header, const uint8_t *at,
                             const uint8_t *end)
{
    size_t size = pug_etmv4_fixed_size(header, at, end);
    if (size == 0 && header->fields == PUG_ETMV4_FIELD_LEB && end - at > 1 && !(at[1] & 0x80))
        size = 2;
    return size;
}

void pug_etmv4_scan_marks(void *reader, struct pug_span *span)
{
    struct pug_etmv4_reader *r = reader;
    struct pug_mark_list *list = r->stage->marks;
    if (r->special & ~(unsigned)PUG_ETMV4_USED)
        return;
    const struct pug_etmv4_header *const headers = r->config->headers;
    const pug_etmv4_forms forms = pug_etmv4_forms_of(r);
    const uint8_t *at = span->at, *const end = span->end;
    while (at < end) {
        const uint64_t ahead = pug_etmv4_ahead(at, end);
        const unsigned bits = pug_etmv4_atom_bits(ahead);
        at += bits / 8;
        if (bits == 56 || at == end)
            continue;
        if (!pug_mark_list_ready(list))
            break;
        uint64_t address;
        size_t size =
            pug_etmv4_take_address(r, forms, (uint16_t)(ahead >> bits), at, end, &address);
        if (size > 0) {
            pug_mark_list_add(list, PUG_MARK_ADDRESS, pug_run_index(span->run, at), address);
            at += size;
            continue;
        }
        const struct pug_etmv4_header *header = &headers[*at];
        const enum use use = use_of(header);
        size = use ? size_of(header, at, end) : 0;
        if (size == 0)
            break;
        if (use == SOURCE_ADDRESS) {
            const uint64_t payload = pug_etmv4_ahead(at + 1, end);
            const uint64_t head = pug_etmv4_address_head(pug_etmv4_address_row(header), payload);
            address = pug_etmv4_read_address(r, pug_etmv4_form_of(forms, head), payload);
            pug_mark_list_add(list, PUG_MARK_ADDRESS, pug_run_index(span->run, at), address);
        }
        at += size;
    }
    pug_etmv4_show_address(r);
    span->at = at;
}
