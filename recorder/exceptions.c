// SPDX-License-Identifier: MIT
#include "recorder/exceptions.h"

enum { FIRST_INTERRUPT = 16 }; /* of IPSR */

/** ETMv3's numbers of the M profile: Arm ETM architecture (IHI 0014), branch packets. */
static uint32_t armv7m_number(uint32_t number)
{
    static const uint8_t of_system[FIRST_INTERRUPT] = {
        [1] = 0x11, [2] = 0x0a,  [3] = 0x13,  [4] = 0x0d,  [5] = 0x15,
        [6] = 0x09, [11] = 0x0b, [12] = 0x0c, [14] = 0x0e, [15] = 0x0f};
    if (number < FIRST_INTERRUPT)
        return of_system[number];
    number -= FIRST_INTERRUPT;
    return number == 0 ? 8 : number < 8 ? number : number + 0x10;
}

/** ETMv4's: the first eight interrupts follow the system's exceptions. */
static uint32_t armv8m_number(uint32_t number)
{
    return number < FIRST_INTERRUPT + 8 ? number : number - FIRST_INTERRUPT + 0x200;
}

/** ETMv3's and PTM's of the A and R profiles, by ETMv4's. */
static uint32_t armv7_number(uint32_t number)
{
    static const uint8_t of[16] = {[0] = 8,  [1] = 1,   [2] = 10,  [3] = 9,   [4] = 4,   [6] = 11,
                                   [7] = 12, [10] = 12, [11] = 11, [12] = 12, [14] = 14, [15] = 15};
    return number < 16 ? of[number] : number;
}

uint32_t rec_exception_number(enum pug_exception_numbers numbers, uint32_t number)
{
    switch (numbers) {
    case PUG_EXCEPTIONS_ARMV7M: return armv7m_number(number);
    case PUG_EXCEPTIONS_ARMV8M: return armv8m_number(number);
    case PUG_EXCEPTIONS_ARMV7: return armv7_number(number);
    default: return number;
    }
}

bool rec_exception_is_halt(enum pug_exception_numbers numbers, uint32_t number)
{
    enum { HALT = 1, HALT_M = 0x18 };
    if (numbers == PUG_EXCEPTIONS_ARMV7 || numbers == PUG_EXCEPTIONS_ARMV8)
        return number == HALT;
    return numbers == PUG_EXCEPTIONS_ARMV8M && number == HALT_M;
}
