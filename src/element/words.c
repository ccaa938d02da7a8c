// SPDX-License-Identifier: MIT
/** @file What an element says, as a sentence for people. */
#include "base/text.h"
#include "pugmark/dwt.h"
#include "pugmark/element.h"

#include <inttypes.h>

static void put_unsync(struct pug_text *text, const struct pug_element *e)
{
    static const char *const why[] = {
        [PUG_UNSYNC_OVERFLOW] = ": trace was lost",
        [PUG_UNSYNC_DISCARD] = ": the trace unit threw trace away",
        [PUG_UNSYNC_BAD_PACKET] = ": a packet is damaged",
        [PUG_UNSYNC_BAD_IMAGE] = ": the program does not match the trace",
    };
    pug_text_put(text, "waiting for a synchronisation point");
    if (e->reason < sizeof(why) / sizeof(why[0]) && why[e->reason])
        pug_text_put(text, why[e->reason]);
    if (e->reason == PUG_UNSYNC_DROPPED)
        pug_text_format(text, ": %" PRIu64 " bytes of the live input were dropped", e->value);
}

static void put_context(struct pug_text *text, const struct pug_element *e)
{
    static const char *const securities[] = {"secure", "non-secure", "root", "realm"};
    pug_text_format(text, "now in %s", pug_isa_name((enum pug_isa)e->isa));
    if (e->isa == PUG_ISA_RV32 || e->isa == PUG_ISA_RV64) {
        static const char *const modes[] = {"user", "supervisor", "hypervisor", "machine"};
        if (e->context_flags & PUG_CTX_LEVEL)
            pug_text_format(text, ", %s mode", modes[e->level & 3]);
    } else {
        if (e->context_flags & PUG_CTX_LEVEL)
            pug_text_format(text, ", EL%d", e->level);
        pug_text_format(text, ", %s", securities[e->security & 3]);
    }
    if (e->context_flags & PUG_CTX_CONTEXT_ID)
        pug_text_format(text, ", context id %" PRIu32, e->context_id);
    if (e->context_flags & PUG_CTX_VMID)
        pug_text_format(text, ", VMID %" PRIu32, e->vmid);
}

static void put_exception(struct pug_text *text, const struct pug_element *e)
{
    char what[64];
    pug_exception_text((enum pug_exception_numbers)e->reason, e->number, what, sizeof(what));
    pug_text_put(text, what);
    if (e->flags & PUG_ELEM_RET_ADDR)
        pug_text_format(text, ", returns to 0x%" PRIx64, e->end);
    if (e->flags & PUG_ELEM_HAS_VALUE)
        pug_text_format(text, ", value 0x%" PRIx64, e->value);
}

static void put_event(struct pug_text *text, const struct pug_element *e)
{
    pug_text_put(text, e->reason == PUG_EVENT_NUMBERED
                           ? "event"
                           : pug_event_kind_name((enum pug_event_kind)e->reason));
    if (e->reason == PUG_EVENT_CONTEXT)
        pug_text_format(text, " 0x%" PRIx64, e->value);
    else if (e->reason != PUG_EVENT_PC_SAMPLE && e->reason != PUG_EVENT_CALL)
        pug_text_format(text, " %" PRIu32, e->number);
    if (e->flags & PUG_ELEM_HAS_ADDRESS)
        pug_text_format(text, " at 0x%" PRIx64, e->start);
    if (e->reason == PUG_EVENT_CALL && e->end)
        pug_text_format(text, " to 0x%" PRIx64, e->end);
}

static void put_data(struct pug_text *text, const struct pug_element *e)
{
    pug_text_format(text, "data, %u bytes", e->last_size);
    if (e->type == PUG_ELEM_DATA_ADDRESS || (e->flags & PUG_ELEM_HAS_ADDRESS))
        pug_text_format(text, " at 0x%" PRIx64, e->start);
    if (e->type == PUG_ELEM_DATA_VALUE)
        pug_text_format(text, ": 0x%" PRIx64, e->value);
    if (e->flags & PUG_ELEM_HAS_PC)
        pug_text_format(text, ", by the instruction at 0x%" PRIx64, e->end);
}

static void put_transaction(struct pug_text *text, unsigned reason)
{
    static const char *const words[] = {"a transaction is open", "a transaction begins",
                                        "the transaction is committed",
                                        "the transaction failed: what ran in it does not count"};
    pug_text_put(text, words[reason & 3]);
}

static void put_software(struct pug_text *text, const struct pug_element *e)
{
    const uint8_t *payload = e->payload;
    pug_text_format(text, "software trace, master %" PRIu32 " channel %" PRIu32, PUG_SW_MASTER(e),
                    PUG_SW_CHANNEL(e));
    if (e->sw_flags & PUG_SW_OVERFLOW)
        pug_text_format(text, ": %" PRIu64 " were lost", e->value);
    else if (e->flags & PUG_ELEM_PAYLOAD) {
        pug_text_put(text, ": ");
        for (uint32_t i = 0; i < e->count; i++)
            pug_text_hex(text, payload[i], 2);
    } else if (e->sw_bits > 0) {
        pug_text_format(text, ": 0x%" PRIx64, e->value);
    }
}

/** "port 0: 0x68 'h'" */
static void put_write(struct pug_text *text, const struct pug_element *e)
{
    pug_text_format(text, "port %" PRIu32 ": 0x%0*" PRIx64, e->number, 2 * e->last_size, e->value);
    if (e->last_size == 1 && e->value >= 0x20 && e->value < 0x7f)
        pug_text_format(text, " '%c'", (char)e->value);
}

/** "at 3328 cycles, 20 after the last time"; a delay says how exact that is. */
static void put_software_time(struct pug_text *text, const struct pug_element *e)
{
    static const char *const delays[] = {"", ", the timestamp was late",
                                         ", the packets before it were late",
                                         ", packets and timestamp were late"};
    if (e->reason == PUG_ITM_TS_GLOBAL)
        pug_text_format(text, "at %" PRIu64 " ticks of the global clock", e->timestamp);
    else
        pug_text_format(text, "at %" PRIu64 " cycles, %" PRIu64 " after the last time%s",
                        e->timestamp, e->value,
                        delays[(unsigned)(e->reason - PUG_ITM_TS_SYNC) & 3]);
}

static void put_itm(struct pug_text *text, const struct pug_element *e)
{
    struct pug_dwt_event event;
    char words[256];
    if (e->flags & PUG_ELEM_OVERFLOW)
        pug_text_put(text, "trace was lost here; then ");
    if (e->reason >= PUG_ITM_TS_SYNC) {
        put_software_time(text, e);
    } else if (e->reason == PUG_ITM_SWIT) {
        put_write(text, e);
    } else if (pug_dwt_meaning(e, &event)) {
        pug_dwt_text(&event, words, sizeof(words));
        pug_text_put(text, words);
    }
    if (PUG_ITM_FLAGS(e) & PUG_ITM_GUESSED)
        pug_text_put(text, " (begun by a guess)");
}

size_t pug_element_words(const struct pug_element *e, char *buffer, size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_NO_SYNC: put_unsync(&text, e); break;
    case PUG_ELEM_TRACE_ON:
        pug_text_put(&text, e->reason == PUG_TRACE_ON_OVERFLOW ? "trace was lost here"
                            : e->reason == PUG_TRACE_ON_EX_DEBUG
                                ? "trace goes on behind debug state"
                                : "trace begins");
        break;
    case PUG_ELEM_EO_TRACE: pug_text_put(&text, "end of trace"); break;
    case PUG_ELEM_PE_CONTEXT: put_context(&text, e); break;
    case PUG_ELEM_I_RANGE_NOPATH:
        pug_text_format(&text, "from 0x%" PRIx64 " to 0x%" PRIx64 " on an unknown way", e->start,
                        e->end);
        break;
    case PUG_ELEM_ADDR_NACC:
        pug_text_format(&text, "there is no program memory at 0x%" PRIx64, e->start);
        break;
    case PUG_ELEM_ADDR_UNKNOWN: pug_text_put(&text, "the address is not known"); break;
    case PUG_ELEM_EXCEPTION: put_exception(&text, e); break;
    case PUG_ELEM_EXCEPTION_RET: pug_text_put(&text, "return from an exception"); break;
    case PUG_ELEM_TIMESTAMP: pug_text_format(&text, "at %" PRIu64 " ticks", e->timestamp); break;
    case PUG_ELEM_EVENT: put_event(&text, e); break;
    case PUG_ELEM_MEMTRANS: put_transaction(&text, e->reason); break;
    case PUG_ELEM_SWTRACE: put_software(&text, e); break;
    case PUG_ELEM_ITMTRACE: put_itm(&text, e); break;
    case PUG_ELEM_DATA_ADDRESS:
    case PUG_ELEM_DATA_VALUE: put_data(&text, e); break;
    default: return pug_element_text(e, buffer, size);
    }
    return pug_text_end(&text);
}
