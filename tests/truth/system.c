// SPDX-License-Identifier: MIT
#include "system.h"

#if defined(__aarch64__)

__asm__(".globl _start\n_start:\n  mov x0, sp\n  bl start\n"
        ".globl system_thread\nsystem_thread:\n"
        "  str x0, [x1, #-16]!\n  mov x0, #0x0f00\n  movk x0, #5, lsl #16\n"
        "  mov x2, #0\n  mov x3, #0\n  mov x4, #0\n  mov x8, #220\n  svc #0\n"
        "  cbz x0, 1f\n  ret\n"
        "1: ldr x1, [sp], #16\n  blr x1\n  mov x0, #0\n  mov x8, #93\n  svc #0\n"
        ".globl jump_set\njump_set:\n  mov x9, sp\n"
        "  stp x19, x20, [x0]\n  stp x21, x22, [x0, #16]\n  stp x23, x24, [x0, #32]\n"
        "  stp x25, x26, [x0, #48]\n  stp x27, x28, [x0, #64]\n  stp x29, x30, [x0, #80]\n"
        "  str x9, [x0, #96]\n  mov w0, #0\n  ret\n"
        ".globl jump_to\njump_to:\n"
        "  ldp x19, x20, [x0]\n  ldp x21, x22, [x0, #16]\n  ldp x23, x24, [x0, #32]\n"
        "  ldp x25, x26, [x0, #48]\n  ldp x27, x28, [x0, #64]\n  ldp x29, x30, [x0, #80]\n"
        "  ldr x9, [x0, #96]\n  mov sp, x9\n  mov w0, #1\n  ret\n");

long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#elif defined(__arm__)

__asm__(".arm\n.globl _start\n_start:\n  mov r0, sp\n  bl start\n"
        ".globl system_thread\n.type system_thread, %function\nsystem_thread:\n"
        "  push {r4, r7, lr}\n  str r0, [r1, #-8]!\n  movw r0, #0x0f00\n  movt r0, #5\n"
        "  mov r2, #0\n  mov r3, #0\n  mov r4, #0\n  mov r7, #120\n  svc #0\n"
        "  cmp r0, #0\n  popne {r4, r7, pc}\n"
        "  ldr r1, [sp], #8\n  blx r1\n  mov r0, #0\n  mov r7, #1\n  svc #0\n"
        ".globl jump_set\n.type jump_set, %function\njump_set:\n"
        "  stmia r0!, {r4-r11, lr}\n  str sp, [r0]\n  mov r0, #0\n  bx lr\n"
        ".globl jump_to\n.type jump_to, %function\njump_to:\n"
        "  ldmia r0!, {r4-r11, lr}\n  ldr sp, [r0]\n  mov r0, #1\n  bx lr\n");

long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d;
    register long r4 __asm__("r4") = e;
    register long r5 __asm__("r5") = f;
    /* r7 is the frame pointer in T32 code. */
    __asm__ volatile("push {r7}\n  mov r7, %1\n  svc #0\n  pop {r7}"
                     : "+r"(r0)
                     : "r"(number), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
                     : "memory");
    return r0;
}

#else

#if __riscv_xlen == 64
#define STORE(reg, n) "  sd " reg ", 8*" n "(a0)\n"
#define LOAD(reg, n)  "  ld " reg ", 8*" n "(a0)\n"
#else
#define STORE(reg, n) "  sw " reg ", 4*" n "(a0)\n"
#define LOAD(reg, n)  "  lw " reg ", 4*" n "(a0)\n"
#endif
#define EACH(what)                                                                                 \
    what("ra", "0") what("sp", "1") what("s0", "2") what("s1", "3") what("s2", "4")                \
        what("s3", "5") what("s4", "6") what("s5", "7") what("s6", "8") what("s7", "9")            \
            what("s8", "10") what("s9", "11") what("s10", "12") what("s11", "13")

__asm__(".globl _start\n_start:\n  mv a0, sp\n  call start\n"
        ".globl system_thread\nsystem_thread:\n"
        "  addi a1, a1, -16\n"
#if __riscv_xlen == 64
        "  sd a0, 0(a1)\n"
#else
        "  sw a0, 0(a1)\n"
#endif
        "  li a0, 0x50f00\n  li a2, 0\n  li a3, 0\n  li a4, 0\n  li a7, 220\n  ecall\n"
        "  beqz a0, 1f\n  ret\n"
#if __riscv_xlen == 64
        "1: ld a1, 0(sp)\n"
#else
        "1: lw a1, 0(sp)\n"
#endif
        "  addi sp, sp, 16\n  jalr a1\n  li a0, 0\n  li a7, 93\n  ecall\n"
        ".globl jump_set\njump_set:\n" EACH(STORE) "  li a0, 0\n  ret\n"
                                                   ".globl jump_to\njump_to:\n" EACH(
                                                       LOAD) "  li a0, 1\n  ret\n");

long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                     : "memory");
    return a0;
}

#endif

void system_handle(int signal, void (*handler)(int))
{
    struct action action = {.handler = handler, .flags = 0x40000000 /* SA_NODEFER */};
    system_call(SYS_SIGACTION, signal, (long)&action, 0, 8, 0, 0);
}

void *system_code_page(void)
{
    return (void *)system_call(SYS_MMAP, 0, 4096, 7, 0x22, -1, 0);
}

void system_code_written(void *code, size length)
{
#if defined(__aarch64__)
    for (size at = 0; at < length; at += 4)
        __asm__ volatile("dc cvau, %0\n  ic ivau, %0" : : "r"((byte *)code + at) : "memory");
    __asm__ volatile("dsb ish\n  isb" : : : "memory");
#elif defined(__arm__)
    system_call(0xf0002, (long)code, (long)code + (long)length, 0, 0, 0, 0);
#else
    (void)code, (void)length;
    __asm__ volatile("fence.i" : : : "memory");
#endif
}

void system_print(const char *text)
{
    size length = 0;
    while (text[length])
        length++;
    system_call(SYS_WRITE, 1, (long)text, (long)length, 0, 0, 0);
}

void system_end(int status)
{
    for (;;)
        system_call(SYS_EXIT_GROUP, status, 0, 0, 0, 0, 0);
}

/** `stack` as the kernel made it: the count of arguments, then the arguments. */
__attribute__((used)) void start(long *stack);

void start(long *stack)
{
    size scale = 0;
    const char *digits = stack[0] > 1 ? (const char *)stack[2] : "1";
    for (; *digits >= '0' && *digits <= '9'; digits++)
        scale = scale * 10 + (size)(*digits - '0');
    program(scale);
    system_end(0);
}

/* Functions that compilers call on their own. */
void *memset(void *to, int value, size length);
void *memcpy(void *to, const void *from, size length);

void *memset(void *to, int value, size length)
{
    for (size i = 0; i < length; i++)
        ((volatile byte *)to)[i] = (byte)value;
    return to;
}

void *memcpy(void *to, const void *from, size length)
{
    for (size i = 0; i < length; i++)
        ((volatile byte *)to)[i] = ((const byte *)from)[i];
    return to;
}

#if defined(__arm__)
void __aeabi_memclr4(void *to, size length);
void __aeabi_memclr8(void *to, size length);
void __aeabi_memcpy4(void *to, const void *from, size length);

void __aeabi_memclr4(void *to, size length)
{
    memset(to, 0, length);
}

void __aeabi_memclr8(void *to, size length)
{
    memset(to, 0, length);
}

void __aeabi_memcpy4(void *to, const void *from, size length)
{
    memcpy(to, from, length);
}
#endif
