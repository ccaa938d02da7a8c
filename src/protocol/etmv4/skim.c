// SPDX-License-Identifier: MIT
/**
 * @file Packets to marks, where nobody looks at anything else: what has no mark and no effect on
 * later packets is passed over, addresses are read. All else is left to the reader.
 */
#include "protocol/etmv4/address.h"

#include <string.h>

/** What a packet is to an index. */
enum use { LEFT_TO_THE_READER, PASSED_OVER, ADDRESS };

static const uint8_t uses[] = {
    [PUG_ETMV4_FORM_ATOM] = PASSED_OVER,    [PUG_ETMV4_FORM_BARE] = PASSED_OVER,
    [PUG_ETMV4_FORM_CCNT_F1] = PASSED_OVER, [PUG_ETMV4_FORM_CCNT_F2] = PASSED_OVER,
    [PUG_ETMV4_FORM_CCNT_F3] = PASSED_OVER, [PUG_ETMV4_FORM_COMMIT] = PASSED_OVER,
    [PUG_ETMV4_FORM_CANCEL] = PASSED_OVER,  [PUG_ETMV4_FORM_CANCEL_F1] = PASSED_OVER,
    [PUG_ETMV4_FORM_MATCH] = ADDRESS,       [PUG_ETMV4_FORM_ADDR_S] = ADDRESS,
    [PUG_ETMV4_FORM_ADDR_32] = ADDRESS,     [PUG_ETMV4_FORM_ADDR_64] = ADDRESS,
    [PUG_ETMV4_FORM_Q] = LEFT_TO_THE_READER};

static inline enum use use_of(const struct pug_etmv4_header *header)
{
    const enum use use = (enum use)uses[header->form];
    const bool has_mark = header->type == PUG_ETMV4_TRACE_ON ||
                          header->type == PUG_ETMV4_TRANS_ST ||
                          header->type == PUG_ETMV4_TRANS_COMMIT;
    return has_mark ? LEFT_TO_THE_READER : use;
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

/** Bytes that must be there to take atoms and an address without a look at where the bytes end. */
#define PLENTY 16
#define RING   8u

/** Of how many bits all addresses are known that later ones may build on. */
static unsigned known_bits(const struct pug_etmv4_reader *r)
{
    unsigned known = 64;
    for (unsigned i = 0; i <= PUG_ETMV4_REGISTER; i++)
        if (r->stack[i].valid_bits < known)
            known = r->stack[i].valid_bits;
    return known;
}

/** Atoms and plain addresses, as long as there are plenty of bytes, and room for marks. The stack
 * of addresses is a ring here, in which none is moved. */
static const uint8_t *skim_plain(struct pug_etmv4_reader *r, pug_etmv4_forms forms,
                                 const struct pug_run *run, const uint8_t *at, const uint8_t *end)
{
    struct pug_mark_list *list = r->stage->marks;
    struct pug_placed_mark *mark = list->marks + list->count;
    const struct pug_placed_mark *const full = list->marks + list->room - PUG_MARK_LIMIT;
    struct pug_etmv4_address ring[RING];
    unsigned newest = 0;
    const struct pug_run here = *run;
    const unsigned known = known_bits(r);
    memcpy(ring, r->stack, sizeof(r->stack));
    while (end - at >= PLENTY && mark < full) {
        const uint64_t ahead = pug_bytes_64(at);
        const unsigned bits = pug_etmv4_atom_bits(ahead);
        at += bits / 8;
        if (bits == 56)
            continue;
        const uint64_t head = ahead >> bits;
        const unsigned size = pug_etmv4_address_size(head);
        const struct pug_etmv4_address_form *form = pug_etmv4_form_of(forms, head);
        if (!pug_etmv4_is_address((unsigned)head) || size == 0 || form->bits > known)
            break;
        const struct pug_etmv4_address *entry = &ring[(newest + form->entry) % RING];
        const uint64_t value = pug_etmv4_value_upon(entry->value, form, pug_bytes_64(at + 1));
        const uint32_t tail = pug_etmv4_tail_upon(pug_etmv4_tail(entry), form);
        newest--;
        pug_etmv4_set_address(&ring[newest % RING], value, tail);
        pug_etmv4_set_address(&ring[(newest + PUG_ETMV4_REGISTER) % RING], value, tail);
        mark->index = pug_run_index(&here, at);
        mark->value = value;
        mark++->kind = PUG_MARK_ADDRESS;
        at += size;
    }
    list->count = (uint32_t)(mark - list->marks);
    for (unsigned i = 0; i <= PUG_ETMV4_REGISTER; i++)
        pug_etmv4_copy_address(&r->stack[i], &ring[(newest + i) % RING]);
    return at;
}

void pug_etmv4_skim(void *reader, struct pug_span *span)
{
    struct pug_etmv4_reader *r = reader;
    struct pug_mark_list *list = r->stage->marks;
    if (r->special & ~(unsigned)PUG_ETMV4_USED)
        return;
    const struct pug_etmv4_header *const headers = r->config->headers;
    const pug_etmv4_forms forms = pug_etmv4_forms_of(r);
    const uint8_t *at = span->at, *const end = span->end;
    while (at < end) {
        at = skim_plain(r, forms, span->run, at, end);
        if (pug_etmv4_is_atoms(*at)) {
            at++;
            continue;
        }
        if (!pug_mark_list_ready(list))
            break;
        const struct pug_etmv4_header *header = &headers[*at];
        const enum use use = use_of(header);
        const size_t size = use ? size_of(header, at, end) : 0;
        if (size == 0)
            break;
        if (use == ADDRESS) {
            const uint64_t payload = pug_etmv4_ahead(at + 1, end);
            const uint64_t address = pug_etmv4_read_address(
                r, pug_etmv4_form_of(forms, (payload & 0x80) << 8 | pug_etmv4_address_row(header)),
                payload);
            pug_mark_list_add(list, PUG_MARK_ADDRESS, pug_run_index(span->run, at), address);
        }
        at += size;
    }
    pug_etmv4_show_address(r);
    span->at = at;
}
