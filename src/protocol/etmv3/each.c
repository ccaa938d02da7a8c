// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: P-headers for who takes the elements of each packet. One after another, as read()
 * and decode() would, but no packet is made of them, and links lead from instruction to
 * instruction. An instruction that was not met before is left to decode(), so that memory is asked
 * for it once. All quirks hold.
 */
#include "protocol/etmv3/course.h"
#include "protocol/etmv3/reader.h"

static bool can_run(const struct pug_etmv3_reader *reader, const struct pug_etmv3_decoder *decoder)
{
    const struct pug_etmv3_list *list = &decoder->list;
    return decoder->plain && decoder->state == PUG_ETMV3_DECODE &&
           reader->state == PUG_ETMV3_AT_HEADER && list->count >= 0 && list->count == list->held;
}

/** The next slot of the list, in which there is room. */
static struct pug_element *next_slot(struct pug_etmv3_list *list)
{
    int32_t at = list->first + list->count++;
    return &list->slots[at < list->capacity ? at : at - list->capacity];
}

/**
 * An element in the next slot, in words of the size in which it is taken out soon: to put together
 * what was stored in pieces takes the processor long.
 */
static void put(const struct pug_etmv3_decoder *decoder, struct pug_element *slot, uint64_t start,
                uint64_t end, uint64_t counts, uint64_t tail)
{
    const pug_etmv3_pair context = pug_etmv3_context(decoder);
    const pug_etmv3_pair words[4] = {
        {decoder->index, start}, {end, 0}, {counts, context[0]}, {context[1], tail}};
    for (unsigned i = 0; i < 4; i++)
        memcpy((char *)slot + i * sizeof(words[0]), &words[i], sizeof(words[0]));
}

static void put_range(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_insn *insn,
                      unsigned step)
{
    struct pug_element *slot = next_slot(&decoder->list);
    const uint32_t old_cycles = slot->cycle_count;
    put(decoder, slot, insn->start, insn->end, decoder->config->counts[step],
        insn->ways[pug_etmv3_way_of(step)].tail);
    if (!decoder->config->cycle_accurate && decoder->stage->quirks.etmv3_stale_elements)
        slot->cycle_count = old_cycles;
}

/** By a quirk, what this element does not define is what was there before. */
static void put_wait(struct pug_etmv3_decoder *decoder, unsigned step)
{
    const struct pug_element set = {.type = PUG_ELEM_CYCLE_COUNT, .flags = PUG_ELEM_HAS_CC};
    const struct pug_element kept = {.isa = 0xff, .last_type = 0xff, .last_subtype = 0xff};
    struct pug_element *slot = next_slot(&decoder->list);
    const struct pug_element *old =
        decoder->stage->quirks.etmv3_stale_elements ? slot : &decoder->stage->out.blank;
    put(decoder, slot, old->start, old->end, decoder->config->counts[step],
        (pug_etmv3_tail(old) & pug_etmv3_tail(&kept)) | pug_etmv3_tail(&set));
}

/** The steps of a header; how many are left, from the first one that is not for this way. */
static unsigned put_steps(struct pug_etmv3_decoder *decoder,
                          const struct pug_etmv3_p_header *header)
{
    struct pug_etmv3_insns *insns = &decoder->insns;
    const bool blx_forgotten = decoder->stage->quirks.etmv3_blx_forgotten;
    for (unsigned i = 0; i < header->step_count; i++) {
        const unsigned step = header->steps[i] % PUG_ETMV3_STEPS;
        if (!pug_etmv3_find(decoder, PUG_ETMV3_MET_ONLY))
            return header->step_count - i;
        const struct pug_etmv3_insn *insn = insns->place.insn;
        const struct pug_etmv3_way *way = &insn->ways[pug_etmv3_way_of(step)];
        if (blx_forgotten && insn->ways[1].next_isa != pug_etmv3_insn_isa(insn))
            return header->step_count - i;
        put_range(decoder, insn, step);
        decoder->last_next_isa = insn->ways[1].next_isa;
        if (way->next != 0)
            insns->place.insn = pug_etmv3_linked(insns->entries, way->next);
        else
            pug_etmv3_stop_behind(&insns->place, insn, step);
    }
    return 0;
}

/** A header. False: it is not for this way. */
static bool take_header(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                        uint8_t byte)
{
    const struct pug_etmv3_p_header *header = &decoder->config->p_headers[byte];
    struct pug_etmv3_list *list = &decoder->list;
    if (header->step_count == 0 || decoder->need_address ||
        list->count + header->step_count > list->capacity ||
        (decoder->stage->quirks.etmv3_blx_forgotten && decoder->isa != reader->packet.isa) ||
        (!pug_etmv3_waits(header) && !pug_etmv3_find(decoder, PUG_ETMV3_MET_ONLY)))
        return false;
    list->held = 0;
    pug_etmv3_parse_p_header(reader, byte);
    reader->packet.type = PUG_ETMV3_P_HDR;
    if (pug_etmv3_waits(header)) {
        put_wait(decoder, header->steps[0] % PUG_ETMV3_STEPS);
        return true;
    }
    unsigned left = put_steps(decoder, header);
    if (left > 0) {
        pug_etmv3_go_long(decoder, header, left);
        return true;
    }
    pug_etmv3_hold(decoder, 1);
    pug_etmv3_settle(decoder);
    return true;
}

void pug_etmv3_run_each(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                        struct pug_span *span)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    if (!can_run(reader, decoder))
        return;
    while (span->at < span->end && batch->response == PUG_RESP_CONT) {
        const uint64_t before = decoder->index;
        pug_etmv3_refresh_epoch(decoder);
        pug_etmv3_begin(decoder);
        decoder->index = pug_span_index(span);
        if (!take_header(reader, decoder, *span->at)) {
            decoder->index = before;
            break;
        }
        span->at++;
        pug_etmv3_give_out(decoder, PUG_RESP_CONT);
        if (batch->count > 0 && batch->response < PUG_RESP_WAIT)
            pug_batch_give(batch);
    }
}
