// SPDX-License-Identifier: MIT
/** @file Exceptions by the names that their architectures give them. */
#include "base/text.h"
#include "pugmark/element.h"

#include <stdbool.h>

#define INTERRUPT UINT32_C(0x80000000)

struct names {
    const char *const *items;
    size_t count;
};

#define NAMES(table)                                                                               \
    {                                                                                              \
        (table), sizeof(table) / sizeof((table)[0])                                                \
    }

static const char *const armv7[] = {[1] = "debug halt",
                                    [2] = "SMC",
                                    [3] = "entry to Hyp mode",
                                    [4] = "asynchronous data abort",
                                    [5] = "Jazelle or ThumbEE",
                                    [8] = "reset",
                                    [9] = "undefined instruction",
                                    [10] = "SVC",
                                    [11] = "prefetch abort",
                                    [12] = "data abort",
                                    [13] = "generic",
                                    [14] = "IRQ",
                                    [15] = "FIQ"};
static const char *const armv7m[] = {
    [1] = "IRQ1",         [2] = "IRQ2",       [3] = "IRQ3",     [4] = "IRQ4",
    [5] = "IRQ5",         [6] = "IRQ6",       [7] = "IRQ7",     [8] = "IRQ0",
    [9] = "UsageFault",   [10] = "NMI",       [11] = "SVCall",  [12] = "DebugMonitor",
    [13] = "MemManage",   [14] = "PendSV",    [15] = "SysTick", [0x11] = "reset",
    [0x13] = "HardFault", [0x15] = "BusFault"};
static const char *const armv8[] = {
    [0] = "reset",       [1] = "debug halt",   [2] = "call",
    [3] = "trap",        [4] = "system error", [6] = "instruction debug",
    [7] = "data debug",  [10] = "alignment",   [11] = "instruction fault",
    [12] = "data fault", [14] = "IRQ",         [15] = "FIQ"};
static const char *const armv8m[] = {
    [1] = "reset",           [2] = "NMI",        [3] = "HardFault",   [4] = "MemManage",
    [5] = "BusFault",        [6] = "UsageFault", [7] = "SecureFault", [11] = "SVCall",
    [12] = "DebugMonitor",   [14] = "PendSV",    [15] = "SysTick",    [0x10] = "IRQ0",
    [0x11] = "IRQ1",         [0x12] = "IRQ2",    [0x13] = "IRQ3",     [0x14] = "IRQ4",
    [0x15] = "IRQ5",         [0x16] = "IRQ6",    [0x17] = "IRQ7",     [0x18] = "debug halt",
    [0x19] = "lazy FP push", [0x1a] = "lockup"};
static const char *const riscv[] = {[0] = "instruction address misaligned",
                                    [1] = "instruction access fault",
                                    [2] = "illegal instruction",
                                    [3] = "breakpoint",
                                    [4] = "load address misaligned",
                                    [5] = "load access fault",
                                    [6] = "store address misaligned",
                                    [7] = "store access fault",
                                    [8] = "call from user mode",
                                    [9] = "call from supervisor mode",
                                    [10] = "call from virtual supervisor mode",
                                    [11] = "call from machine mode",
                                    [12] = "instruction page fault",
                                    [13] = "load page fault",
                                    [15] = "store page fault",
                                    [18] = "software check",
                                    [19] = "hardware error",
                                    [20] = "instruction guest page fault",
                                    [21] = "load guest page fault",
                                    [22] = "virtual instruction",
                                    [23] = "store guest page fault"};
static const char *const riscv_interrupts[] = {
    [1] = "supervisor software",      [2] = "virtual supervisor software",
    [3] = "machine software",         [5] = "supervisor timer",
    [6] = "virtual supervisor timer", [7] = "machine timer",
    [9] = "supervisor external",      [10] = "virtual supervisor external",
    [11] = "machine external",        [12] = "supervisor guest external",
    [13] = "counter overflow"};
static const char *const kinds[] = {"trap", "trap", "exception", "interrupt"};

static const char *name_of(enum pug_exception_numbers numbers, uint32_t number)
{
    static const struct names tables[] = {
        [PUG_EXCEPTIONS_UNNAMED] = {NULL, 0},    [PUG_EXCEPTIONS_ARMV7] = NAMES(armv7),
        [PUG_EXCEPTIONS_ARMV7M] = NAMES(armv7m), [PUG_EXCEPTIONS_ARMV8] = NAMES(armv8),
        [PUG_EXCEPTIONS_ARMV8M] = NAMES(armv8m), [PUG_EXCEPTIONS_RISCV] = NAMES(riscv),
        [PUG_EXCEPTIONS_KINDS] = NAMES(kinds)};
    static const struct names interrupts = NAMES(riscv_interrupts);
    if ((unsigned)numbers >= sizeof(tables) / sizeof(tables[0]))
        return NULL;
    const struct names *names = &tables[numbers];
    if (numbers == PUG_EXCEPTIONS_RISCV && (number & INTERRUPT)) {
        names = &interrupts;
        number &= ~INTERRUPT;
    }
    return number < names->count ? names->items[number] : NULL;
}

/** The number of an M profile interrupt that is in no table; false: it is none. */
static bool is_further_irq(enum pug_exception_numbers numbers, uint32_t number, uint32_t *irq)
{
    const bool v7 = numbers == PUG_EXCEPTIONS_ARMV7M && number >= 0x18 && number <= 0x1ff;
    const bool v8 = numbers == PUG_EXCEPTIONS_ARMV8M && number >= 0x208 && number <= 0x3ef;
    *irq = v7 ? number - 0x10 : number - 0x200;
    return v7 || v8;
}

size_t pug_exception_name(enum pug_exception_numbers numbers, uint32_t number, char *buffer,
                          size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    const char *name = name_of(numbers, number);
    uint32_t irq;
    if (name)
        pug_text_put(&text, name);
    else if (is_further_irq(numbers, number, &irq))
        pug_text_format(&text, "IRQ%u", irq);
    return pug_text_end(&text);
}

unsigned pug_exception_vector(enum pug_exception_numbers numbers, uint32_t number)
{
    /* ETMv3 numbers the system's own exceptions otherwise than the core does. */
    static const uint8_t armv7m_vectors[] = {0,  17, 18, 19, 20, 21, 22, 23, 16, 6, 2,
                                             11, 12, 4,  14, 15, 0,  1,  0,  3,  0, 5};
    uint32_t irq;
    if (is_further_irq(numbers, number, &irq))
        return 16 + irq;
    if (numbers == PUG_EXCEPTIONS_ARMV7M && number < sizeof(armv7m_vectors))
        return armv7m_vectors[number];
    return numbers == PUG_EXCEPTIONS_ARMV8M && number < 0x18 ? number : 0;
}

size_t pug_exception_text(enum pug_exception_numbers numbers, uint32_t number, char *buffer,
                          size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    const bool interrupt = numbers == PUG_EXCEPTIONS_RISCV && (number & INTERRUPT);
    char name[48];
    const size_t named = pug_exception_name(numbers, number, name, sizeof(name));
    if (numbers == PUG_EXCEPTIONS_KINDS && named > 0) {
        pug_text_put(&text, name);
        return pug_text_end(&text);
    }
    pug_text_format(&text, "%s %u", interrupt ? "interrupt" : "exception",
                    interrupt ? number & ~INTERRUPT : number);
    if (named > 0)
        pug_text_format(&text, " (%s)", name);
    return pug_text_end(&text);
}
