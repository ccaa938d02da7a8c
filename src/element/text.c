// SPDX-License-Identifier: MIT
/** @file Generic trace elements in words: the one place that knows their printed form. */
#include "base/text.h"
#include "pugmark/advanced/image.h"
#include "pugmark/element.h"

#include <assert.h>

static_assert(sizeof(struct pug_element) == 64, "an element is one cache line");

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define W(word) PUG_TEXT_WORD(word)

static const struct pug_text_word type_names[PUG_ELEM_TYPE_COUNT] = {
    W("UNKNOWN"),      W("NO_SYNC"),         W("TRACE_ON"),       W("EO_TRACE"),
    W("PE_CONTEXT"),   W("INSTR_RANGE"),     W("I_RANGE_NOPATH"), W("ADDR_NACC"),
    W("ADDR_UNKNOWN"), W("EXCEPTION"),       W("EXCEPTION_RET"),  W("TIMESTAMP"),
    W("CYCLE_COUNT"),  W("EVENT"),           W("SWTRACE"),        W("SYNC_MARKER"),
    W("MEMTRANS"),     W("INSTRUMENTATION"), W("ITMTRACE"),       W("CUSTOM"),
    W("DATA_ADDRESS"), W("DATA_VALUE"),      W("BUS_TRANSFER"),
};

static const char *const unsync_names[] = {"undefined",         "init-decoder", "reset-decoder",
                                           "overflow",          "discard",      "bad-packet",
                                           "bad-program-image", "end-of-trace", "dropped"};
static const char *const trace_on_names[] = {"begin or filter", "overflow", "debug restart"};

static const struct pug_text_word isa_names[PUG_ISA_COUNT] = {
    W("A32"), W("T32"), W("A64"), W("TEE"), W("Jaz"), W("Cst"), W("Unk"), W("RV32"), W("RV64")};
static const char *const nopath_names[] = {"", "[broken] ", "[entry] "};
static const struct pug_text_word instr_names[] = {
    W("--- "), W("BR  "), W("iBR "), W("ISB "), W("DSB.DMB"), W("WFI.WFE"), W("TSTART")};
static const struct pug_text_word subtype_names[] = {
    W(""),        W("b+link "), W("A64:ret "), W("A64:eret "), W("V7:impl ret"),
    W("RV:ret "), W("RV:xret ")};
static const char *const security_names[] = {"S; ", "N; ", "Root; ", "Realm; "};
static const char *const memtrans_names[] = {"Init", "Start", "Commit", "Fail"};
static const char *const local_ts_names[] = {"TS Sync", "TS Delay", "Packet Delay",
                                             "TS and Packet Delay"};
static const char *const access_names[] = {
    "load", "store", "access", "access", "csr-rw", "csr-rs", "csr-rc", "cas-fail",
    "swap", "add",   "and",    "or",     "xor",    "max",    "min",    "sc-fail"};

/** The n-th name, or "" for a number that has none. */
static const char *name_of(const char *const *names, size_t count, unsigned n)
{
    return n < count ? names[n] : "";
}

#define NAME(table, n) name_of(table, COUNT(table), n)

const char *pug_element_type_name(enum pug_element_type type)
{
    return (unsigned)type < COUNT(type_names) ? type_names[type].text : "";
}

static const struct pug_text_word *isa_word(unsigned isa)
{
    return &isa_names[isa < PUG_ISA_COUNT ? isa : PUG_ISA_UNKNOWN];
}

const char *pug_isa_name(enum pug_isa isa)
{
    return isa_word((unsigned)isa)->text;
}

static void put_reason(struct pug_text *text, const char *name)
{
    if (*name)
        pug_text_format(text, " [%s]", name);
}

static void put_context(struct pug_text *text, const struct pug_element *e)
{
    pug_text_format(text, "(ISA=%s) ", pug_isa_name(e->isa));
    if (e->isa == PUG_ISA_RV32 || e->isa == PUG_ISA_RV64) {
        if (e->context_flags & PUG_CTX_LEVEL)
            pug_text_format(text, "%s; ", pug_riscv_mode_name((unsigned)e->level));
    } else {
        if ((e->context_flags & PUG_CTX_LEVEL) && e->level >= 0)
            pug_text_format(text, "EL%d", e->level);
        pug_text_put(text, NAME(security_names, e->security));
    }
    pug_text_put(text, e->context_flags & PUG_CTX_BITS64 ? "64-bit; " : "32-bit; ");
    if (e->context_flags & PUG_CTX_VMID)
        pug_text_format(text, "VMID=0x%x; ", e->vmid);
    if (e->context_flags & PUG_CTX_CONTEXT_ID)
        pug_text_format(text, "CTXTID=0x%x; ", e->context_id);
}

#define RANGE_MOST 200u /* characters */

static void put_range(struct pug_text *text, const struct pug_element *e)
{
    static const struct pug_text_word conditions[2] = {W(""), W(" <cond>")}, none = W("");
    char spare[RANGE_MOST], *const from = pug_text_room(text, spare, RANGE_MOST), *at = from;
    at = pug_put(at, "exec range=0x");
    at = pug_put_hex(at, e->start, 1);
    at = pug_put(at, ":[0x");
    at = pug_put_hex(at, e->end, 1);
    at = pug_put(at, "] num_i(");
    at = pug_put_decimal(at, e->count);
    at = pug_put(at, ") last_sz(");
    at = pug_put_decimal(at, e->last_size);
    at = pug_put(at, ") (ISA=");
    at = pug_put_word(at, isa_word(e->isa));
    at = pug_put(at, e->flags & PUG_ELEM_EXECUTED ? ") E " : ") N ");
    at = pug_put_word(at, e->last_type < COUNT(instr_names) ? &instr_names[e->last_type] : &none);
    at = pug_put_word(at, e->last_subtype < COUNT(subtype_names) ? &subtype_names[e->last_subtype]
                                                                 : &none);
    at = pug_put_word(at, &conditions[(e->flags & PUG_ELEM_CONDITIONAL) != 0]);
    pug_text_took(text, spare, from, at);
}

static void put_nopath(struct pug_text *text, const struct pug_element *e)
{
    pug_text_format(text, "first 0x%llx:[next 0x%llx] num_i(%u) ", (unsigned long long)e->start,
                    (unsigned long long)e->end, e->count);
    if (!(e->flags & PUG_ELEM_HAS_VALUE))
        return;
    pug_text_format(text, "last 0x%llx ", (unsigned long long)e->value);
    if (PUG_JUMP_FLAGS(e) & PUG_JUMP_CALL)
        pug_text_put(text, "call ");
    if (PUG_JUMP_FLAGS(e) & PUG_JUMP_RETURN)
        pug_text_put(text, "return ");
    pug_text_put(text, NAME(nopath_names, e->reason));
}

static void put_exception(struct pug_text *text, const struct pug_element *e)
{
    if (e->flags & PUG_ELEM_RET_ADDR)
        pug_text_format(text, "pref ret addr:0x%llx%s; ", (unsigned long long)e->end,
                        e->flags & PUG_ELEM_RET_ADDR_BR_TGT ? " [addr also prev br tgt]" : "");
    pug_text_format(text, "excep num (0x%02x) ", e->number);
    char name[48];
    if (pug_exception_name((enum pug_exception_numbers)e->reason, e->number, name, sizeof(name)) >
        0)
        pug_text_format(text, "[%s] ", name);
    if (e->flags & PUG_ELEM_HAS_VALUE)
        pug_text_format(text, "tval:0x%llx ", (unsigned long long)e->value);
}

/** A point in the program beside the flow. */
static void put_point(struct pug_text *text, const struct pug_element *e)
{
    pug_text_format(text, " %s", pug_event_kind_name((enum pug_event_kind)e->reason));
    if (e->flags & PUG_ELEM_HAS_ADDRESS)
        pug_text_format(text, " at 0x%llx", (unsigned long long)e->start);
    if (e->reason == PUG_EVENT_CALL && e->end)
        pug_text_format(text, " to 0x%llx", (unsigned long long)e->end);
    else if (e->reason == PUG_EVENT_CONTEXT)
        pug_text_format(text, " 0x%llx", (unsigned long long)e->value);
    else if (e->reason != PUG_EVENT_PC_SAMPLE && e->reason != PUG_EVENT_CALL)
        pug_text_format(text, " %u", e->number);
    pug_text_put(text, "; ");
}

static void put_event(struct pug_text *text, const struct pug_element *e)
{
    if (e->reason == PUG_EVENT_TRIGGER)
        pug_text_put(text, " Trigger; ");
    else if (e->reason == PUG_EVENT_NUMBERED)
        pug_text_format(text, " Numbered:%u; ", e->number);
    else if (e->reason > PUG_EVENT_NUMBERED && e->reason < PUG_EVENT_KINDS)
        put_point(text, e);
}

static void put_payload(struct pug_text *text, const struct pug_element *e)
{
    if (e->flags & PUG_ELEM_PAYLOAD) {
        const uint8_t *bytes = e->payload;
        pug_text_put(text, "[");
        for (uint32_t i = 0; i < e->count; i++)
            pug_text_format(text, "%02x ", bytes[i]);
        pug_text_put(text, "]; ");
        return;
    }
    switch (e->sw_bits) {
    case 0: return;
    case 4:
    case 8:
    case 16:
    case 32:
    case 64: {
        uint64_t mask = e->sw_bits == 64 ? UINT64_MAX : (UINT64_C(1) << e->sw_bits) - 1;
        pug_text_put(text, "0x");
        pug_text_hex(text, e->value & mask, e->sw_bits / 4u);
        pug_text_put(text, "; ");
        return;
    }
    default: pug_text_put(text, "0x{Data Error : unsupported bit width.}; ");
    }
}

static void put_software(struct pug_text *text, const struct pug_element *e)
{
    if (e->sw_flags & PUG_SW_GLOBAL_ERROR) {
        pug_text_put(text, "{Global Error.}");
        return;
    }
    if (e->sw_flags & PUG_SW_OVERFLOW)
        pug_text_format(text, "{Overflow: %llu lost.}", (unsigned long long)e->value);
    if (e->sw_flags & PUG_SW_ID_VALID)
        pug_text_format(text, " (Ma:0x%02x; Ch:0x%02x) ", PUG_SW_MASTER(e), PUG_SW_CHANNEL(e));
    else
        pug_text_put(text, "(Ma:0x?"
                           "?; Ch:0x?"
                           "?) ");
    put_payload(text, e);
    if (e->sw_flags & PUG_SW_MARKER)
        pug_text_put(text, "+Mrk ");
    if (e->sw_flags & PUG_SW_TRIGGER)
        pug_text_put(text, "Trig ");
    if (e->flags & PUG_ELEM_HAS_TS)
        pug_text_format(text, " [ TS=0x%012llx]; ", (unsigned long long)e->timestamp);
    if (e->sw_flags & PUG_SW_FREQUENCY)
        pug_text_put(text, "Freq");
    if (e->sw_flags & PUG_SW_MASTER_ERROR)
        pug_text_put(text, "{Master Error.}");
}

static void put_itm(struct pug_text *text, const struct pug_element *e)
{
    unsigned long long value = (unsigned long long)e->value;
    unsigned long long time = (unsigned long long)e->timestamp;
    if (e->flags & PUG_ELEM_OVERFLOW)
        pug_text_put(text, "ITM_OVERFLOW; ");
    switch (e->reason) {
    case PUG_ITM_SWIT:
    case PUG_ITM_DWT:
        pug_text_format(text, "ITM_%s: 0x%x; Data: 0x%0*llx) ",
                        e->reason == PUG_ITM_SWIT ? "SWIT (ch" : "DWT (desc", e->number,
                        2 * e->last_size, value);
        break;
    case PUG_ITM_TS_GLOBAL: pug_text_format(text, "ITM_TS_GLOBAL ( TS: 0x%016llx) ", time); break;
    default:
        pug_text_format(text,
                        "ITM_TS_LOCAL ( TS delta: 0x%08llx, { %s}; TS cumulative: 0x%016llx) ",
                        value, NAME(local_ts_names, e->reason - (unsigned)PUG_ITM_TS_SYNC), time);
    }
}

static void put_access(struct pug_text *text, const struct pug_element *e)
{
    pug_text_put(text, NAME(access_names, e->reason & 0xfu));
    if (e->reason & PUG_ACCESS_OPERAND)
        pug_text_put(text, " operand");
    if (e->type == PUG_ELEM_DATA_ADDRESS || (e->flags & PUG_ELEM_HAS_ADDRESS))
        pug_text_format(text, " addr=0x%llx", (unsigned long long)e->start);
    if (e->last_size)
        pug_text_format(text, " size=%u", e->last_size);
    if (e->type == PUG_ELEM_DATA_VALUE)
        pug_text_format(text, " value=0x%llx", (unsigned long long)e->value);
    if (e->flags & PUG_ELEM_BIG_ENDIAN)
        pug_text_put(text, " big-endian");
    if (e->flags & PUG_ELEM_HAS_PC)
        pug_text_format(text, " pc=0x%llx", (unsigned long long)e->end);
    if (e->flags & PUG_ELEM_OVERFLOW)
        pug_text_put(text, " behind lost data");
}

static void put_transfer(struct pug_text *text, const struct pug_element *e)
{
    pug_text_format(text, "%s addr=0x%llx", NAME(access_names, e->reason & 0xfu),
                    (unsigned long long)e->start);
    if (e->last_size)
        pug_text_format(text, " size=%u", e->last_size);
    if (e->flags & PUG_ELEM_HAS_VALUE)
        pug_text_format(text, " value=0x%llx", (unsigned long long)e->value);
    pug_text_format(text, " master=0x%x", PUG_BUS_MASTER(e));
    if (e->flags & PUG_ELEM_HAS_TS)
        pug_text_format(text, " [ TS=0x%012llx]", (unsigned long long)e->timestamp);
}

static void put_details(struct pug_text *text, const struct pug_element *e)
{
    char space[64];
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_EO_TRACE:
        put_reason(text, NAME(unsync_names, e->reason));
        if (e->reason == PUG_UNSYNC_DROPPED)
            pug_text_format(text, " %llu bytes", (unsigned long long)e->value);
        break;
    case PUG_ELEM_TRACE_ON:
        put_reason(text, NAME(trace_on_names, e->reason));
        if (e->reason == PUG_TRACE_ON_OVERFLOW && e->number > 0)
            pug_text_format(text, " missed %u", e->number);
        break;
    case PUG_ELEM_PE_CONTEXT: put_context(text, e); break;
    case PUG_ELEM_INSTR_RANGE: put_range(text, e); break;
    case PUG_ELEM_I_RANGE_NOPATH: put_nopath(text, e); break;
    case PUG_ELEM_ADDR_NACC:
        pug_space_text((uint8_t)e->number, space, sizeof(space));
        pug_text_format(text, " 0x%llx; Memspace [0x%x:%s] ", (unsigned long long)e->start,
                        e->number, space);
        break;
    case PUG_ELEM_EXCEPTION: put_exception(text, e); break;
    case PUG_ELEM_TIMESTAMP:
        pug_text_format(text, " [ TS=0x%012llx]; ", (unsigned long long)e->timestamp);
        break;
    case PUG_ELEM_EVENT: put_event(text, e); break;
    case PUG_ELEM_SWTRACE: put_software(text, e); break;
    case PUG_ELEM_SYNC_MARKER:
        pug_text_format(text, " [%s(0x%08x)]", e->reason == 0 ? "Timestamp marker" : "", e->number);
        break;
    case PUG_ELEM_MEMTRANS: pug_text_put(text, NAME(memtrans_names, e->reason)); break;
    case PUG_ELEM_INSTRUMENTATION:
        pug_text_format(text, "EL%d; 0x%016llx", (uint8_t)e->level, (unsigned long long)e->value);
        break;
    case PUG_ELEM_ITMTRACE: put_itm(text, e); break;
    case PUG_ELEM_DATA_ADDRESS:
    case PUG_ELEM_DATA_VALUE: put_access(text, e); break;
    case PUG_ELEM_BUS_TRANSFER: put_transfer(text, e); break;
    default: break;
    }
}

size_t pug_element_text(const struct pug_element *element, char *buffer, size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    if (element->type >= PUG_ELEM_TYPE_COUNT) {
        pug_text_put(&text, "?"
                            "?: index out of range.");
        return pug_text_end(&text);
    }
    pug_text_put_word(&text, &type_names[element->type]);
    pug_text_put(&text, "(");
    put_details(&text, element);
    if (element->flags & PUG_ELEM_HAS_CC)
        pug_text_format(&text, " [CC=%u]; ", element->cycle_count);
    pug_text_put(&text, ")");
    return pug_text_end(&text);
}
