// SPDX-License-Identifier: MIT
// A program of this folder: run() does all of it. START makes it one without a C library, for a
// tracer.
int run(void);
volatile int result;

#if defined(START)
__attribute__((noreturn)) void _start(void);
void _start(void)
{
    result = run();
#if defined(__aarch64__)
    __asm volatile("mov x8, #93\n mov x0, #0\n svc #0");
#elif defined(__riscv)
    __asm volatile("li a7, 93\n li a0, 0\n ecall");
#else
    __asm volatile("mov r7, #1\n mov r0, #0\n svc #0" ::: "r0");
#endif
    for (;;)
        ;
}
#else
int main(void)
{
    result = run();
    return 0;
}
#endif
