// SPDX-License-Identifier: MIT
/** @file The numbers in elements as names, for programs that print elements in their own form. */
#include "pugmark/element.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/** A word of a table; NULL where there is none. */
#define WORD(table, n) ((n) < COUNT(table) ? (table)[n] : NULL)

const char *pug_event_kind_name(enum pug_event_kind kind)
{
    static const char *const names[PUG_EVENT_KINDS] = {
        [PUG_EVENT_UNKNOWN] = "unknown",       [PUG_EVENT_TRIGGER] = "trigger",
        [PUG_EVENT_NUMBERED] = "numbered",     [PUG_EVENT_PC_SAMPLE] = "pc sample",
        [PUG_EVENT_WATCHPOINT] = "watchpoint", [PUG_EVENT_CALL] = "call",
        [PUG_EVENT_EXCEPTION] = "exception",   [PUG_EVENT_INTERRUPT] = "interrupt",
        [PUG_EVENT_CONTEXT] = "context",       [PUG_EVENT_CONTROL] = "control"};
    return kind < PUG_EVENT_KINDS ? names[kind] : "unknown";
}

static const char *access_name(unsigned reason)
{
    static const char *const names[] = {[PUG_ACCESS_LOAD] = "load",
                                        [PUG_ACCESS_STORE] = "store",
                                        [PUG_ACCESS_UNKNOWN] = "unknown",
                                        [PUG_ACCESS_CSR_RW] = "csr write",
                                        [PUG_ACCESS_CSR_RS] = "csr set",
                                        [PUG_ACCESS_CSR_RC] = "csr clear",
                                        [PUG_ACCESS_CAS_FAIL] = "cas fail",
                                        [PUG_ACCESS_SWAP] = "swap",
                                        [PUG_ACCESS_ADD] = "add",
                                        [PUG_ACCESS_AND] = "and",
                                        [PUG_ACCESS_OR] = "or",
                                        [PUG_ACCESS_XOR] = "xor",
                                        [PUG_ACCESS_MAX] = "max",
                                        [PUG_ACCESS_MIN] = "min",
                                        [PUG_ACCESS_SC_FAIL] = "sc fail"};
    static const char *const operands[] = {
        [PUG_ACCESS_CSR_RW] = "csr write operand", [PUG_ACCESS_CSR_RS] = "csr set operand",
        [PUG_ACCESS_CSR_RC] = "csr clear operand", [PUG_ACCESS_CAS_FAIL] = "cas operand",
        [PUG_ACCESS_SWAP] = "swap operand",        [PUG_ACCESS_ADD] = "add operand",
        [PUG_ACCESS_AND] = "and operand",          [PUG_ACCESS_OR] = "or operand",
        [PUG_ACCESS_XOR] = "xor operand",          [PUG_ACCESS_MAX] = "max operand",
        [PUG_ACCESS_MIN] = "min operand",          [PUG_ACCESS_SC_FAIL] = "sc operand"};
    unsigned kind = reason & ~(unsigned)PUG_ACCESS_OPERAND;
    return reason & PUG_ACCESS_OPERAND ? WORD(operands, kind) : WORD(names, kind);
}

const char *pug_element_reason_name(const struct pug_element *e)
{
    static const char *const unsyncs[] = {[PUG_UNSYNC_UNKNOWN] = "unknown",
                                          [PUG_UNSYNC_INIT_DECODER] = "start",
                                          [PUG_UNSYNC_RESET_DECODER] = "reset",
                                          [PUG_UNSYNC_OVERFLOW] = "overflow",
                                          [PUG_UNSYNC_DISCARD] = "discard",
                                          [PUG_UNSYNC_BAD_PACKET] = "bad packet",
                                          [PUG_UNSYNC_BAD_IMAGE] = "program does not match",
                                          [PUG_UNSYNC_EOT] = "end of trace",
                                          [PUG_UNSYNC_DROPPED] = "dropped"};
    static const char *const trace_ons[] = {[PUG_TRACE_ON_NORMAL] = "begin or filter",
                                            [PUG_TRACE_ON_OVERFLOW] = "overflow",
                                            [PUG_TRACE_ON_EX_DEBUG] = "debug restart"};
    static const char *const nopaths[] = {
        [PUG_NOPATH_OPEN] = "several ways", [PUG_NOPATH_BROKEN] = "no way"};
    static const char *const memtrans[] = {[PUG_MEMTRANS_INIT] = "initial",
                                           [PUG_MEMTRANS_START] = "start",
                                           [PUG_MEMTRANS_COMMIT] = "commit",
                                           [PUG_MEMTRANS_FAIL] = "fail"};
    static const char *const itm[] = {[PUG_ITM_SWIT] = "stimulus",
                                      [PUG_ITM_DWT] = "hardware source",
                                      [PUG_ITM_TS_SYNC] = "time",
                                      [PUG_ITM_TS_DELAY] = "time, timestamp late",
                                      [PUG_ITM_TS_PKT_DELAY] = "time, packet late",
                                      [PUG_ITM_TS_PKT_TS_DELAY] = "time, both late",
                                      [PUG_ITM_TS_GLOBAL] = "global time"};
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_EO_TRACE: return WORD(unsyncs, e->reason);
    case PUG_ELEM_TRACE_ON: return WORD(trace_ons, e->reason);
    case PUG_ELEM_I_RANGE_NOPATH: return WORD(nopaths, e->reason);
    case PUG_ELEM_EVENT: return pug_event_kind_name((enum pug_event_kind)e->reason);
    case PUG_ELEM_SYNC_MARKER: return e->reason == 0 ? "timestamp marker" : NULL;
    case PUG_ELEM_MEMTRANS: return WORD(memtrans, e->reason);
    case PUG_ELEM_ITMTRACE: return WORD(itm, e->reason);
    case PUG_ELEM_BUS_TRANSFER:
    case PUG_ELEM_DATA_ADDRESS:
    case PUG_ELEM_DATA_VALUE: return access_name(e->reason);
    default: return NULL;
    }
}

const char *pug_instr_type_name(enum pug_instr_type type)
{
    static const char *const names[] = {
        [PUG_INSTR_OTHER] = "other",
        [PUG_INSTR_BR] = "branch",
        [PUG_INSTR_BR_INDIRECT] = "indirect branch",
        [PUG_INSTR_ISB] = "isb",
        [PUG_INSTR_DSB_DMB] = "dsb or dmb",
        [PUG_INSTR_WFI_WFE] = "wfi or wfe",
        [PUG_INSTR_TSTART] = "tstart",
    };
    return type < COUNT(names) ? names[type] : "other";
}

const char *pug_instr_subtype_name(enum pug_instr_subtype subtype)
{
    static const char *const names[] = {
        [PUG_SUB_NONE] = "none",
        [PUG_SUB_BR_LINK] = "call",
        [PUG_SUB_V8_RET] = "return",
        [PUG_SUB_V8_ERET] = "exception return",
        [PUG_SUB_V7_IMPLIED_RET] = "return",
        [PUG_SUB_RETURN] = "return",
        [PUG_SUB_EXCEPTION_RETURN] = "exception return",
    };
    return subtype < COUNT(names) ? names[subtype] : "none";
}

const char *pug_security_name(enum pug_security security)
{
    static const char *const names[] = {[PUG_SEC_SECURE] = "secure",
                                        [PUG_SEC_NONSECURE] = "non-secure",
                                        [PUG_SEC_ROOT] = "root",
                                        [PUG_SEC_REALM] = "realm"};
    return security < COUNT(names) ? names[security] : "secure";
}

const char *pug_riscv_mode_name(unsigned level)
{
    static const char *const names[] = {"user", "supervisor", "hypervisor", "machine"};
    return names[level & 3];
}
