// SPDX-License-Identifier: MIT
/** @file Packets in words, as the reference has them. */
#include "base/text.h"
#include "protocol/etmv4/etmv4.h"

typedef struct pug_etmv4_packet packet_;

/** Details to print after a packet's description. */
enum details {
    NONE,
    TRACE_INFO,
    TIMESTAMP,
    EXCEPT,
    ITE,
    CYCLES,
    COMMIT,
    CANCEL,
    CONTEXT,
    MATCH,
    SHORT,
    LONG_32,
    LONG_64,
    ADDR_CTXT_32,
    ADDR_CTXT_64,
    Q,
    ATOMS,
    ERR_TYPE,
};

struct word {
    uint16_t type;
    uint16_t details;
    const char *name, *description;
};

#define WORD(type, details, description)                                                           \
    {                                                                                              \
        PUG_ETMV4_##type, details, "I_" #type, description                                         \
    }

/* By ascending type. */
static const struct word words[] = {
    WORD(EXTENSION, NONE, "Extension packet header."),
    WORD(TRACE_INFO, TRACE_INFO, "Trace Info."),
    WORD(TIMESTAMP, TIMESTAMP, "Timestamp."),
    WORD(TRACE_ON, NONE, "Trace On."),
    WORD(FUNC_RET, NONE, "V8M - function return."),
    WORD(EXCEPT, EXCEPT, "Exception."),
    WORD(EXCEPT_RTN, NONE, "Exception Return."),
    WORD(ITE, ITE, "Instrumentation"),
    WORD(TRANS_ST, NONE, "Transaction Start."),
    WORD(TRANS_COMMIT, NONE, "Transaction Commit."),
    WORD(CCNT_F2, CYCLES, "Cycle Count format 2."),
    WORD(CCNT_F1, CYCLES, "Cycle Count format 1."),
    WORD(CCNT_F3, CYCLES, "Cycle Count format 3."),
    WORD(NUM_DS_MKR, NONE, "Data Synchronisation Marker - Numbered."),
    WORD(UNNUM_DS_MKR, NONE, "Data Synchronisation Marker - Unnumbered."),
    WORD(COMMIT, COMMIT, "Commit"),
    WORD(CANCEL_F1, CANCEL, "Cancel Format 1."),
    WORD(CANCEL_F1_MISPRED, CANCEL, "Cancel Format 1 + Mispredict."),
    WORD(MISPREDICT, CANCEL, "Mispredict."),
    WORD(CANCEL_F2, CANCEL, "Cancel Format 2."),
    WORD(CANCEL_F3, CANCEL, "Cancel Format 3."),
    WORD(COND_I_F2, NONE, "Conditional Instruction, format 2."),
    WORD(COND_FLUSH, NONE, "Conditional Flush."),
    WORD(COND_RES_F4, NONE, "Conditional Result, format 4."),
    WORD(COND_RES_F2, NONE, "Conditional Result, format 2."),
    WORD(COND_RES_F3, NONE, "Conditional Result, format 3."),
    WORD(COND_RES_F1, NONE, "Conditional Result, format 1."),
    WORD(COND_I_F1, NONE, "Conditional Instruction, format 1."),
    WORD(COND_I_F3, NONE, "Conditional Instruction, format 3."),
    WORD(IGNORE, NONE, "Ignore."),
    WORD(EVENT, NONE, "Trace Event."),
    WORD(CTXT, CONTEXT, "Context Packet."),
    WORD(ADDR_CTXT_L_32IS0, ADDR_CTXT_32, "Address & Context, Long, 32 bit, IS0."),
    WORD(ADDR_CTXT_L_32IS1, ADDR_CTXT_32, "Address & Context, Long, 32 bit, IS1."),
    WORD(ADDR_CTXT_L_64IS0, ADDR_CTXT_64, "Address & Context, Long, 64 bit, IS0."),
    WORD(ADDR_CTXT_L_64IS1, ADDR_CTXT_64, "Address & Context, Long, 64 bit, IS1."),
    WORD(TS_MARKER, NONE, "Timestamp Marker"),
    WORD(ADDR_MATCH, MATCH, "Exact Address Match."),
    WORD(ADDR_S_IS0, SHORT, "Address, Short, IS0."),
    WORD(ADDR_S_IS1, SHORT, "Address, Short, IS1."),
    WORD(ADDR_L_32IS0, LONG_32, "Address, Long, 32 bit, IS0."),
    WORD(ADDR_L_32IS1, LONG_32, "Address, Long, 32 bit, IS1."),
    WORD(ADDR_L_64IS0, LONG_64, "Address, Long, 64 bit, IS0."),
    WORD(ADDR_L_64IS1, LONG_64, "Address, Long, 64 bit, IS1."),
    WORD(Q, Q, "Q Packet."),
    WORD(SRC_ADDR_MATCH, MATCH, "Exact Source Address Match."),
    WORD(SRC_ADDR_S_IS0, SHORT, "Source Address, Short, IS0."),
    WORD(SRC_ADDR_S_IS1, SHORT, "Source Address, Short, IS1."),
    /* spelled as the reference spells it */
    {PUG_ETMV4_SRC_ADDR_L_32IS0, LONG_32, "I_SCR_ADDR_L_32IS0",
     "Source Address, Long, 32 bit, IS0."},
    WORD(SRC_ADDR_L_32IS1, LONG_32, "Source Address, Long, 32 bit, IS1."),
    WORD(SRC_ADDR_L_64IS0, LONG_64, "Source Address, Long, 64 bit, IS0."),
    WORD(SRC_ADDR_L_64IS1, LONG_64, "Source Address, Long, 64 bit, IS1."),
    WORD(ATOM_F6, ATOMS, "Atom format 6."),
    WORD(ATOM_F5, ATOMS, "Atom format 5."),
    WORD(ATOM_F2, ATOMS, "Atom format 2."),
    WORD(ATOM_F4, ATOMS, "Atom format 4."),
    WORD(ATOM_F1, ATOMS, "Atom format 1."),
    WORD(ATOM_F3, ATOMS, "Atom format 3."),
    WORD(ASYNC, NONE, "Alignment Synchronisation."),
    WORD(DISCARD, NONE, "Discard."),
    WORD(OVERFLOW, NONE, "Overflow."),
    WORD(NOT_SYNC, NONE, "I Stream not synchronised"),
    WORD(INCOMPLETE_EOT, ERR_TYPE, "Incomplete packet at end of trace."),
    WORD(NO_ERR_TYPE, NONE, "No Error Type."),
    WORD(BAD_SEQUENCE, ERR_TYPE, "Invalid Sequence in packet."),
    WORD(BAD_TRACEMODE, NONE, "Invalid Packet for trace mode."),
    WORD(RESERVED, NONE, "Reserved Packet Header"),
    WORD(RESERVED_CFG, ERR_TYPE, "Reserved header for current configuration."),
    WORD(PE_RESET, NONE, "PE Reset."),
    WORD(TRANS_FAIL, NONE, "Transaction Fail."),
};

static const struct word *find_word(uint32_t type)
{
    static const struct word unknown = {0, NONE, "I_UNKNOWN", "Unknown Packet Header"};
    size_t low = 0, high = sizeof(words) / sizeof(words[0]);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (words[middle].type == type)
            return &words[middle];
        if (words[middle].type < type)
            low = middle + 1;
        else
            high = middle;
    }
    return &unknown;
}

static void put_upper_hex(struct pug_text *text, uint64_t value, unsigned digits)
{
    char out[PUG_TEXT_HEX];
    const unsigned count = pug_text_hex_at(out, value, digits > 0 ? digits : 1);
    for (unsigned i = 0; i < count; i++)
        out[i] -= out[i] >= 'a' ? 'a' - 'A' : 0;
    pug_text_put_n(text, out, count);
}

/** An address: unknown digits as `?`, which bits are known, and which the packet gave. */
static void put_address(struct pug_text *text, const struct pug_etmv4_address *address,
                        unsigned given)
{
    unsigned digits = (address->valid_bits + 3u) / 4, all = address->size / 4u;
    uint64_t value = address->valid_bits > 32 ? address->value : (uint32_t)address->value;
    pug_text_put(text, "0x");
    for (unsigned i = digits; i < all; i++)
        pug_text_put(text, "?");
    put_upper_hex(text, value, digits);
    if (address->valid_bits < address->size)
        pug_text_format(text, " (%d:0)", address->valid_bits - 1);
    if (given != 0) {
        uint64_t mask = given < 64 ? (UINT64_C(1) << given) - 1 : UINT64_MAX;
        pug_text_put(text, " ~[0x");
        put_upper_hex(text, address->value & mask, 1);
        pug_text_put(text, "]");
    }
}

/** The bits that the packet gave, where they are fewer than those of a form. */
static unsigned fewer_than(const packet_ *p, unsigned bits)
{
    return p->address.pkt_bits < bits ? p->address.pkt_bits : 0;
}

static void put_context(struct pug_text *text, const packet_ *p)
{
    const struct pug_etmv4_context *c = &p->context;
    if (!(p->valid & PUG_ETMV4_HAS_CONTEXT))
        return;
    if (!c->updated) {
        pug_text_put(text, "Ctxt: Same");
        return;
    }
    pug_text_format(text, "Ctxt: %sEL%u, ", c->sf ? "AArch64," : "AArch32, ", c->el);
    if (c->nse)
        pug_text_put(text, c->ns ? "Realm; " : "Root; ");
    else
        pug_text_put(text, c->ns ? "NS; " : "S; ");
    if (c->updated_context_id)
        pug_text_format(text, "CID=0x%08x; ", c->context_id);
    if (c->updated_vmid)
        pug_text_format(text, "VMID=0x%04x; ", c->vmid);
}

static void put_trace_info(struct pug_text *text, const packet_ *p)
{
    uint32_t info = p->trace_info;
    pug_text_format(text, "; INFO=0x%x { CC.%u", info & 0xFF, info & PUG_ETMV4_INFO_CC);
    if ((p->version & 0xF0) == 0x50)
        pug_text_format(text, ", TSTATE.%u", (info & PUG_ETMV4_INFO_IN_TRANSACTION) != 0);
    pug_text_put(text, " }");
    if (info & PUG_ETMV4_INFO_CC)
        pug_text_format(text, "; CC_THRESHOLD=0x%x", p->cc_threshold);
    if (!(info & PUG_ETMV4_INFO_INITIAL))
        return;
    if (info & PUG_ETMV4_INFO_SPEC_FIELD)
        pug_text_format(text, "; INIT SPEC DEPTH=%u", p->spec_depth);
    pug_text_put(text, "; Decoder Sync point TINFO");
}

static void put_exception_name(struct pug_text *text, const packet_ *p)
{
    static const char *const a_names[] = {
        "PE Reset",   "Debug Halt", "Call",     "Trap",     "System Error", "Reserved",
        "Inst Debug", "Data Debug", "Reserved", "Reserved", "Alignment",    "Inst Fault",
        "Data Fault", "Reserved",   "IRQ",      "FIQ",
    };
    static const char *const m_names[] = {
        "Reserved",     "PE Reset",    "NMI",      "HardFault", "MemManage", "BusFault",
        "UsageFault",   "Reserved",    "Reserved", "Reserved",  "Reserved",  "SVC",
        "DebugMonitor", "Reserved",    "PendSV",   "SysTick",   "IRQ0",      "IRQ1",
        "IRQ2",         "IRQ3",        "IRQ4",     "IRQ5",      "IRQ6",      "IRQ7",
        "DebugHalt",    "LazyFP Push", "Lockup",
    };
    unsigned type = p->exception_type;
    const char *const *names = p->exception_m ? m_names : a_names;
    size_t count = p->exception_m ? sizeof(m_names) / sizeof(m_names[0])
                                  : sizeof(a_names) / sizeof(a_names[0]);
    if (p->exception_unnamed)
        pug_text_format(text, " 0x%02x;", type);
    else if (p->exception_m && type >= 0x208 && type <= 0x3EF)
        pug_text_format(text, " IRQ%u;", type - 0x200);
    else
        pug_text_format(text, " %s;", type < count ? names[type] : "Reserved");
}

static void put_exception(struct pug_text *text, const packet_ *p)
{
    pug_text_put(text, "; ");
    put_exception_name(text, p);
    if (p->exception_m && p->exception_fault)
        pug_text_put(text, " Fault Pending;");
    if (p->exception_address == 1)
        pug_text_put(text, " Ret Addr Follows;");
    else if (p->exception_address == 2)
        pug_text_put(text, " Ret Addr Follows, Match Prev;");
}

/** The words of eight atoms, the oldest in the lowest bit and byte: each byte gets its bit. */
static uint64_t eight_atoms(uint8_t bits)
{
    const uint64_t bytes = UINT64_C(0x0101010101010101);
    const uint64_t own = bits * bytes & UINT64_C(0x8040201008040201);
    const uint64_t taken = (own + 0x7f * bytes) >> 7 & bytes;
    return ('N' * bytes) ^ (taken * ('N' ^ 'E'));
}

#define ATOMS_MOST 32u /* bits of atoms that a packet has */

/** Atoms, the oldest first. */
static void put_atoms(struct pug_text *text, const packet_ *p)
{
    char spare[ATOMS_MOST + 8], *const from = pug_text_room(text, spare, sizeof(spare));
    for (unsigned i = 0; i < p->atom_count; i += 8)
        pug_bytes_set_64((uint8_t *)from + i, eight_atoms((uint8_t)(p->atom_bits >> i)));
    pug_text_took(text, spare, from, from + p->atom_count);
}

static void put_cancel(struct pug_text *text, const packet_ *p)
{
    pug_text_put(text, "; ");
    if (p->atom_count > 0) {
        pug_text_put(text, "Atom: ");
        put_atoms(text, p);
        pug_text_put(text, ", ");
    }
    if (p->type != PUG_ETMV4_MISPREDICT)
        pug_text_format(text, "Cancel(%u)", p->cancel_count);
    if (p->type != PUG_ETMV4_CANCEL_F1)
        pug_text_put(text, p->type == PUG_ETMV4_MISPREDICT ? "Mispredict" : ", Mispredict");
}

static void put_q(struct pug_text *text, const packet_ *p)
{
    if (p->q_has_count)
        pug_text_format(text, "; Count(%u)", p->q_count);
    else
        pug_text_put(text, "; Count(Unknown)");
    if (p->q_has_match)
        pug_text_format(text, "; [%u]", p->match);
    if (p->q_has_address) {
        pug_text_put(text, "; Addr=");
        put_address(text, &p->address, fewer_than(p, 64));
    }
}

static void put_details(struct pug_text *text, const packet_ *p, enum details details)
{
    switch (details) {
    case NONE: break;
    case TRACE_INFO: put_trace_info(text, p); break;
    case TIMESTAMP:
        pug_text_format(text, "; Updated val = 0x%llx", (unsigned long long)p->timestamp);
        if (p->valid & PUG_ETMV4_HAS_CYCLE_COUNT)
            pug_text_format(text, "; CC=0x%x", p->cycle_count);
        break;
    case EXCEPT: put_exception(text, p); break;
    case ITE:
        pug_text_format(text, "; EL%u; Payload=0x%llx", p->ite_el,
                        (unsigned long long)p->ite_value);
        break;
    case CYCLES:
        pug_text_format(text, "; Count=0x%x", p->cycle_count);
        if (p->valid & PUG_ETMV4_HAS_COMMIT)
            pug_text_format(text, "; Commit(%u)", p->commit_count);
        break;
    case COMMIT: pug_text_format(text, "; Commit(%u)", p->commit_count); break;
    case CANCEL: put_cancel(text, p); break;
    case CONTEXT:
        pug_text_put(text, "; ");
        put_context(text, p);
        break;
    case MATCH:
        pug_text_format(text, ", [%u]; Addr=", p->match);
        put_address(text, &p->address, 0);
        pug_text_put(text, "; ");
        break;
    case SHORT:
        pug_text_put(text, "; Addr=");
        put_address(text, &p->address, p->address.pkt_bits);
        break;
    case LONG_32:
    case LONG_64:
    case ADDR_CTXT_32:
    case ADDR_CTXT_64:
        pug_text_put(text, "; Addr=");
        put_address(text, &p->address,
                    fewer_than(p, details == LONG_32 || details == ADDR_CTXT_32 ? 32 : 64));
        pug_text_put(text, "; ");
        if (details == ADDR_CTXT_32 || details == ADDR_CTXT_64)
            put_context(text, p);
        break;
    case Q: put_q(text, p); break;
    case ATOMS:
        pug_text_put(text, "; ");
        put_atoms(text, p);
        break;
    case ERR_TYPE: pug_text_format(text, "[%s]", find_word(p->err_type)->name); break;
    }
}

size_t pug_etmv4_packet_text(const void *packet, char *buffer, size_t size)
{
    const packet_ *p = packet;
    const struct word *word = find_word(p->type);
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_put(&text, word->name);
    pug_text_put(&text, " : ");
    pug_text_put(&text, word->description);
    put_details(&text, p, word->details);
    return pug_text_end(&text);
}

const char *pug_etmv4_packet_name(uint32_t type)
{
    return find_word(type)->name;
}
