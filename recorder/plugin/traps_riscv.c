// SPDX-License-Identifier: MIT
/** @file Exceptions and interrupts of RISC-V: one line of the log has all of each. */
#include "traps_private.h"

#include <inttypes.h>
#include <stdio.h>

void traps_riscv_line(const char *line)
{
    unsigned interrupt;
    uint64_t cause, address;
    if (sscanf(line,
               "riscv_cpu_do_interrupt: hart:%*u, async:%u, cause:%" SCNx64 ", epc:0x%" SCNx64,
               &interrupt, &cause, &address) != 3)
        return;
    enum { FETCH_FAULT = 1, FIRST_CALL = 8, LAST_CALL = 11, FETCH_PAGE_FAULT = 12 };
    bool call = !interrupt && cause >= FIRST_CALL && cause <= LAST_CALL;
    struct trap *trap = traps_add(interrupt ? REC_TRAP_INTERRUPT
                                  : call    ? REC_TRAP_CALL
                                            : REC_TRAP_EXCEPTION);
    trap->number = (uint32_t)cause | (interrupt ? REC_TRAP_RISCV_INTERRUPT : 0);
    trap->numbered = trap->known = true;
    trap->address = address;
    trap->fault = !interrupt && cause != FETCH_FAULT && cause != FETCH_PAGE_FAULT;
}
