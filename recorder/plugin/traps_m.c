// SPDX-License-Identifier: MIT
/**
 * @file Exceptions of the M profile: their numbers are in the log, their return addresses on the
 * stack.
 */
#include "state.h"
#include "traps_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct {
    bool
        has_security; /* the security extension: such a processor is in the secure state at first */
    struct state_field regs, other_sp, secure, other_msp, other_psp, control[2];
} fields;

void traps_m_begin(void)
{
    fields.regs = state_find(REC_FAMILY_ARM, "env.regs");
    fields.other_sp = state_find(REC_FAMILY_ARM, "env.v7m.other_sp");
    fields.secure = state_find(REC_FAMILY_ARM, "env.v7m.secure");
    fields.other_msp = state_find(REC_FAMILY_ARM, "env.v7m.other_ss_msp");
    fields.control[false] = state_find(REC_FAMILY_ARM, "env.v7m.control[M_REG_NS]");
    fields.control[true] = state_find(REC_FAMILY_ARM, "env.v7m.control[M_REG_S]");
    fields.other_psp = state_find(REC_FAMILY_ARM, "env.v7m.other_ss_psp");
}

static enum rec_path_trap kind_of(unsigned number)
{
    enum { NMI = 2, SVC = 11, PENDSV = 14 };
    if (number == SVC)
        return REC_TRAP_CALL;
    return number == NMI || number >= PENDSV ? REC_TRAP_INTERRUPT : REC_TRAP_EXCEPTION;
}

/** Reads a line of an M profile processor. */
void traps_m_line(const char *line)
{
    unsigned number;
    uint32_t address;
    char security[16];
    if (sscanf(line, "Taking exception %u [", &number) == 1) {
        traps.taking = number;
    } else if (sscanf(line, "...taking pending %15s exception %u", security, &number) == 2) {
        struct trap *trap = traps_add(kind_of(number));
        trap->number = number;
        trap->numbered = true;
        trap->known = traps.taking != QEMU_EXCEPTION_EXIT; /* that one is tail-chained */
        /* Something more urgent may be taken than what was raised. */
        trap->fault = trap->known && traps.taking != QEMU_IRQ && traps.taking != QEMU_SVC &&
                      traps.taking != QEMU_PREFETCH_ABORT;
    } else if (strcmp(line, "...tailchaining to pending exception") == 0) {
        traps_add(REC_TRAP_RETURN);
    } else if (strcmp(line, "...successful exception return") == 0) {
        traps_add(REC_TRAP_RETURN)->known = true;
        traps.taking = 0;
    } else if (sscanf(line, "...really an SG instruction at 0x%" SCNx32, &address) == 1) {
        struct trap *trap = traps_add(REC_TRAP_EXCEPTION);
        trap->gateway = true;
        trap->address = address;
    }
}

/** An exception's frame on the stack, as its EXC_RETURN describes it. */
struct frame {
    uint32_t exc_return, at;
    bool process;
};

enum { RETURN_ADDRESS = 24, STATUS = 28, LINK = 20, BASIC = 32, WITH_FLOATS = 104, CALLEES = 40 };
enum { CONTROL_PROCESS = 2 };
enum {
    THREAD = 8,
    SECURE_STACK = 64,
    PLAIN_CALLEES = 32,
    NO_FLOATS = 16,
    PROCESS_STACK = 4,
    FROM_SECURE = 1
};

/**
 * Is the stack that an EXC_RETURN names the process stack? `newer`: that of the handler which
 * interrupted its handler before the first instruction; 0: none did.
 */
static bool is_process(unsigned cpu, uint32_t exc_return, uint32_t newer)
{
    bool of = exc_return & SECURE_STACK, handler = exc_return & FROM_SECURE;
    if (!(exc_return & THREAD))
        return false; /* whatever the bit says */
    if (!fields.has_security || of == handler)
        return exc_return & PROCESS_STACK;
    /* The bit is of the handler's state, not of that which was interrupted. A handler of that state
     * has it in its own EXC_RETURN, else it is in force. */
    bool kept = newer != 0 && of == (bool)(newer & FROM_SECURE);
    return kept ? newer & PROCESS_STACK : state_read(cpu, fields.control[of], 0) & CONTROL_PROCESS;
}

/** The stack pointer that an EXC_RETURN names, while the handler has not run. */
static uint32_t stack_of(unsigned cpu, uint32_t exc_return, bool process)
{
    bool of = exc_return & SECURE_STACK;
    if (fields.has_security && of != (state_read(cpu, fields.secure, 0) != 0))
        return (uint32_t)state_read(cpu, process ? fields.other_psp : fields.other_msp, 0);
    return (uint32_t)(process ? state_read(cpu, fields.other_sp, 0)
                              : state_read(cpu, fields.regs, 13));
}

/** Where the frame's words begin: a secure state that a non-secure handler interrupts has more. */
static uint32_t words_of(const struct frame *frame)
{
    bool more = (frame->exc_return & SECURE_STACK) &&
                (!(frame->exc_return & FROM_SECURE) || !(frame->exc_return & PLAIN_CALLEES));
    return frame->at + (fields.has_security && more ? CALLEES : 0);
}

/**
 * Finds the return address of each entry: the newest one's frame is on top, and holds the
 * EXC_RETURN of the one before it.
 */
void traps_m_end(unsigned cpu)
{
    fields.has_security = fields.has_security || state_read(cpu, fields.secure, 0);
    struct frame frame = {.exc_return = (uint32_t)state_read(cpu, fields.regs, 14)};
    frame.process = is_process(cpu, frame.exc_return, 0);
    frame.at = stack_of(cpu, frame.exc_return, frame.process);
    for (unsigned i = traps.count; i > 0; i--) {
        struct trap *trap = &traps.found[i - 1];
        uint32_t address, status, link, words = words_of(&frame);
        if (trap->kind == REC_TRAP_RETURN || trap->gateway)
            continue;
        if (!trap->known) /* tail-chained: the frame belongs to the code that was interrupted first
                           */
            continue;
        bool secure = fields.has_security && frame.exc_return & SECURE_STACK;
        trap->known = state_memory(cpu, words + RETURN_ADDRESS, secure, &address) &&
                      state_memory(cpu, words + STATUS, secure, &status) &&
                      state_memory(cpu, words + LINK, secure, &link);
        trap->address = address & ~UINT32_C(1);
        if (!trap->known)
            break;
        /* The one before it was interrupted before its first instruction. */
        uint32_t size = words - frame.at + (frame.exc_return & NO_FLOATS ? BASIC : WITH_FLOATS);
        uint32_t above = frame.at + size + (status >> 9 & 1) * 4;
        bool process = is_process(cpu, link, frame.exc_return);
        bool same = !((link ^ frame.exc_return) & SECURE_STACK) && process == frame.process;
        frame = (struct frame){link, same ? above : stack_of(cpu, link, process), process};
    }
}
