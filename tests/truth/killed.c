// SPDX-License-Identifier: MIT
/**
 * @file A program that does not end as programs do. Its first argument says how: 11 it reads where
 * there is nothing, 4 it runs what is no instruction; other numbers are signals that it sends
 * itself, 100 more of them from a thread while the others run.
 */
#include "system.h"

static volatile word sink;

__attribute__((noinline)) static word deep(word n, const volatile word *place)
{
    return n ? deep(n - 1, place) + sink : *place;
}

static void work(void)
{
    const volatile word here = 1;
    for (word i = 0; i < 25; i++)
        sink += deep(i % 23, &here);
}

static volatile word others; /* threads that run beside the first */

static void work_for_ever(void)
{
    others++;
    for (;;)
        work();
}

static void run_nothing(void)
{
#if defined(__riscv)
    __asm__ volatile("unimp");
#else
    __asm__ volatile("udf #0");
#endif
}

static void end_by(size signal)
{
    if (signal == 11)
        sink = deep(5, (const volatile word *)8);
    if (signal == 4)
        run_nothing();
    system_call(SYS_KILL, system_call(SYS_GETPID, 0, 0, 0, 0, 0, 0), (long)signal, 0, 0, 0, 0);
    work_for_ever();
}

void program(size scale)
{
    static byte stack[16384] __attribute__((aligned(16)));
    if (scale > 100)
        system_thread(work_for_ever, stack + sizeof(stack));
    while (scale > 100 && others == 0)
        system_call(SYS_YIELD, 0, 0, 0, 0, 0, 0);
    for (word i = 0; i < 20; i++) {
        work();
        system_call(SYS_YIELD, 0, 0, 0, 0, 0, 0);
    }
    end_by(scale % 100);
}
