// SPDX-License-Identifier: MIT
/**
 * @file A program to record: it halves and triples a number until it is 1. It has no C library, so
 * that it can be built for any processor that QEMU emulates. The book builds and records it.
 */
#if defined(__riscv)
#define END "li a0, 0\n li a7, 93\n ecall"
#elif defined(__aarch64__)
#define END "mov x0, 0\n mov x8, 93\n svc 0"
#else
#define END "mov r0, #0\n mov r7, #1\n svc #0"
#endif

static volatile int steps;

static int half(int n)
{
    return n / 2;
}

static int triple(int n)
{
    return 3 * n + 1;
}

void _start(void);

void _start(void)
{
    for (int n = 27; n != 1; steps++)
        n = n % 2 ? triple(n) : half(n);
    __asm__ volatile(END);
}
