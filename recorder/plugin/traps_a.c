// SPDX-License-Identifier: MIT
/**
 * @file Exceptions of Arm's A and R profiles. Of AArch64 the log has all of them and their returns.
 * Of AArch32 it has no addresses: they are in the handler's link register.
 */
#include "state.h"
#include "traps_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Exception types of trace units: Arm ETM architecture, table of the A profile. */
enum {
    TYPE_CALL = 2,
    TYPE_TRAP = 3,
    TYPE_SYSTEM_ERROR = 4,
    TYPE_INSTRUCTION_DEBUG = 6,
    TYPE_DATA_DEBUG = 7,
    TYPE_ALIGNMENT = 10,
    TYPE_INSTRUCTION_FAULT = 11,
    TYPE_DATA_FAULT = 12,
    TYPE_IRQ = 14,
    TYPE_FIQ = 15,
};

/* Classes of ESR_ELx. */
enum {
    CLASS_PC_ALIGNMENT = 0x22,
    CLASS_SP_ALIGNMENT = 0x26,
    CLASS_BREAKPOINT = 0x30,
    CLASS_WATCHPOINT = 0x34,
    CLASS_WATCHPOINT_SAME = 0x35,
    CLASS_LAST_DEBUG = 0x3d,
    FAULT_ALIGNMENT = 0x21, /* in its lowest six bits */
};

static struct {
    struct state_field regs, status; /* status: saved at the exception */
    uint32_t class, syndrome;
    bool narrow; /* the last exception of `traps` is taken to AArch32, and waits for its address */
} a;

void traps_a_begin(void)
{
    a.regs = state_find(REC_FAMILY_ARM, "env.regs");
    a.status = state_find(REC_FAMILY_ARM, "env.spsr");
}

static uint32_t type_of_abort(bool data)
{
    if (a.class == CLASS_PC_ALIGNMENT || a.class == CLASS_SP_ALIGNMENT)
        return TYPE_ALIGNMENT;
    if (a.class == CLASS_WATCHPOINT || a.class == CLASS_WATCHPOINT_SAME)
        return TYPE_DATA_DEBUG;
    if (a.class >= CLASS_BREAKPOINT && a.class <= CLASS_LAST_DEBUG)
        return TYPE_INSTRUCTION_DEBUG;
    if (data && (a.syndrome & 0x3f) == FAULT_ALIGNMENT)
        return TYPE_ALIGNMENT;
    return data ? TYPE_DATA_FAULT : TYPE_INSTRUCTION_FAULT;
}

/** The exception that was begun is taken. */
static struct trap *take(void)
{
    struct trap *trap = traps_add(REC_TRAP_EXCEPTION);
    trap->numbered = true;
    switch (traps.taking) {
    case QEMU_SVC:
    case QEMU_HVC:
    case QEMU_SMC:
        trap->kind = REC_TRAP_CALL;
        trap->number = TYPE_CALL;
        break;
    case QEMU_IRQ:
    case QEMU_VIRQ:
    case QEMU_FIQ:
    case QEMU_VFIQ:
        trap->kind = REC_TRAP_INTERRUPT;
        trap->number = traps.taking == QEMU_IRQ || traps.taking == QEMU_VIRQ ? TYPE_IRQ : TYPE_FIQ;
        break;
    case QEMU_VSERR: trap->number = TYPE_SYSTEM_ERROR; break;
    case QEMU_PREFETCH_ABORT: trap->number = type_of_abort(false); break;
    case QEMU_DATA_ABORT: trap->number = type_of_abort(true); break;
    case QEMU_BREAKPOINT: trap->number = TYPE_INSTRUCTION_DEBUG; break;
    default: trap->number = TYPE_TRAP;
    }
    trap->fault = trap->kind == REC_TRAP_EXCEPTION && traps.taking != QEMU_VSERR &&
                  traps.taking != QEMU_PREFETCH_ABORT;
    return trap;
}

/** An exception of AArch32 was taken: no line says so, only that nothing else became of it. */
static void take_narrow(void)
{
    if (traps.taking == 0)
        return;
    take();
    a.narrow = true;
}

void traps_a_line(const char *line)
{
    unsigned number, from, to;
    uint64_t address;
    if (sscanf(line, "Taking exception %u [", &number) == 1) {
        take_narrow();
        a.narrow = false; /* what was taken first was interrupted at once: its address is lost */
        a.class = a.syndrome = 0;
        traps.taking = number;
    } else if (sscanf(line, "...with ESR 0x%" SCNx32 "/0x%" SCNx32, &a.class, &a.syndrome) == 2) {
        return;
    } else if (strncmp(line, "...handled as ", 14) == 0) {
        traps.taking = 0; /* QEMU did what it asks for */
    } else if (sscanf(line, "...with ELR 0x%" SCNx64, &address) == 1 && traps.taking != 0) {
        struct trap *trap = take();
        trap->known = true;
        trap->address = address;
        traps.taking = 0;
    } else if (sscanf(line, "Exception return from AArch%*u EL%u to AArch%*u EL%u PC 0x%" SCNx64,
                      &from, &to, &address) == 3) {
        struct trap *trap = traps_add(REC_TRAP_RETURN);
        trap->known = true;
        trap->address = address;
    }
}

/** Returns how far the link register is after the preferred return address. */
static uint32_t link_offset(unsigned taking, bool t32)
{
    switch (taking) {
    case QEMU_SVC:
    case QEMU_SMC:
    case QEMU_HVC: return 0;
    case QEMU_UNDEFINED: return t32 ? 2 : 4;
    case QEMU_DATA_ABORT: return 8;
    default: return 4;
    }
}

void traps_a_end(unsigned cpu)
{
    unsigned taking = traps.taking;
    take_narrow();
    traps.taking = 0;
    if (a.narrow && traps.count > 0) {
        struct trap *trap = &traps.found[traps.count - 1];
        trap->t32 = state_read(cpu, a.status, 0) >> 5 & 1;
        trap->known = taking != QEMU_HVC && taking != QEMU_HYP_TRAP;
        trap->address = (uint32_t)state_read(cpu, a.regs, 14) - link_offset(taking, trap->t32);
    }
    a.narrow = false;
}
