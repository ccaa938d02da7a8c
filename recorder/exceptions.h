// SPDX-License-Identifier: MIT
/** @file Exceptions by the numbers that paths have, and by those that trace units send. */
#ifndef PUG_RECORDER_EXCEPTIONS_H
#define PUG_RECORDER_EXCEPTIONS_H

#include "pugmark/element.h"
#include "recorder/path_format.h"

/**
 * Returns the number that trace has for the exception `number` of a path:
 *
 * | processors | `number` of a path |
 * | --- | --- |
 * | Arm, M profile | the exception number of IPSR: 2 NMI, 15 SysTick, 16 the first interrupt |
 * | Arm, A and R profiles | the exception type of ETMv4 |
 * | RISC-V | the cause, with REC_TRAP_RISCV_INTERRUPT of an interrupt |
 */
uint32_t rec_exception_number(enum pug_exception_numbers numbers, uint32_t number);

/** Is it how an encoder stops the trace: a debug halt, which is in no path? */
bool rec_exception_is_halt(enum pug_exception_numbers numbers, uint32_t number);

#endif
