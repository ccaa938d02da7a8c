// SPDX-License-Identifier: MIT
// A bare machine that never ends: a small kernel for A64, A32, T32, RV64 and RV32. Tasks in user
// mode with contexts of their own call it, fault, and are interrupted by a timer at random moments;
// its handlers are interrupted, too. A64 has a hypervisor below it, RISC-V a machine mode, which
// delegates, and (RV64) address spaces.
#include "machine_work.h"

typedef unsigned word32;
typedef unsigned long word;
#define REG32(address) (*(volatile word32 *)(address))
enum { TASKS = 3, STACK = 512 };
enum kind { CALL, FAULT, INTERRUPT };

static volatile word32 running;

/* ---- work, of tasks and of handlers ---- */

static __attribute__((noinline)) word32 square(word32 n)
{
    return n * n;
}
static __attribute__((noinline)) word32 halve(word32 n)
{
    return n >> 1;
}

static __attribute__((noinline)) word32 call(word32 (*function)(word32), word32 n)
{
    return function(n) + 1;
}

static word32 work(word32 n)
{
    word32 all = 0;
    for (word32 i = 0; i < (n & 7); i++)
        all += choose(n + i) + call(n >> i & 1 ? square : halve, n);
    return all;
}

/** A task: it has its own state, and asks the kernel for the rest. */
static __attribute__((noreturn)) void task(word32 n);
static void system_call(void);
static void fault(word32 kind);

static void task(word32 n)
{
    for (;;) {
        n = n * 1103515245 + 12345;
        word32 all = work(n >> 8);
        __asm volatile("" ::"r"(all));
        if ((n >> 16 & 15) == 0)
            system_call();
        if ((n >> 20 & 63) == 0)
            fault(n >> 26 & 1);
    }
}

/* ---- processors ---- */

#if defined(__aarch64__)
struct frame {
    word regs[31], stack, back, status;
};
enum { TIMER = 27, USER_STATUS = 0, MODE = 15 };
#define EXCEPTION_STACK 0x40
__asm(".macro entry kind\n .balign 128\n sub sp, sp, #272\n stp x0, x1, [sp]\n mov x0, #\\kind\n b "
      "common\n .endm\n"
      ".section .vectors, \"ax\"\n .balign 2048\n.globl vectors\nvectors:\n"
      "entry 1\n entry 2\n entry 1\n entry 1\n entry 1\n entry 2\n entry 1\n entry 1\n"
      "entry 1\n entry 2\n entry 1\n entry 1\n entry 1\n entry 1\n entry 1\n entry 1\n"
      "common: stp x2, x3, [sp, #16]\n stp x4, x5, [sp, #32]\n stp x6, x7, [sp, #48]\n stp x8, x9, "
      "[sp, #64]\n"
      "stp x10, x11, [sp, #80]\n stp x12, x13, [sp, #96]\n stp x14, x15, [sp, #112]\n stp x16, "
      "x17, [sp, #128]\n"
      "stp x18, x19, [sp, #144]\n stp x20, x21, [sp, #160]\n stp x22, x23, [sp, #176]\n stp x24, "
      "x25, [sp, #192]\n"
      "stp x26, x27, [sp, #208]\n stp x28, x29, [sp, #224]\n mrs x1, sp_el0\n stp x30, x1, [sp, "
      "#240]\n"
      "mrs x1, elr_el1\n mrs x2, spsr_el1\n stp x1, x2, [sp, #256]\n mov x1, sp\n bl on_exception\n"
      "ldp x1, x2, [sp, #256]\n msr elr_el1, x1\n msr spsr_el1, x2\n ldp x30, x1, [sp, #240]\n msr "
      "sp_el0, x1\n"
      "ldp x2, x3, [sp, #16]\n ldp x4, x5, [sp, #32]\n ldp x6, x7, [sp, #48]\n ldp x8, x9, [sp, "
      "#64]\n"
      "ldp x10, x11, [sp, #80]\n ldp x12, x13, [sp, #96]\n ldp x14, x15, [sp, #112]\n ldp x16, "
      "x17, [sp, #128]\n"
      "ldp x18, x19, [sp, #144]\n ldp x20, x21, [sp, #160]\n ldp x22, x23, [sp, #176]\n ldp x24, "
      "x25, [sp, #192]\n"
      "ldp x26, x27, [sp, #208]\n ldp x28, x29, [sp, #224]\n ldp x0, x1, [sp], #272\n eret\n"
      ".balign 2048\nhypervisor:\n .rept 8\n .balign 128\n b .\n .endr\n .balign 128\n b "
      "on_hypervisor_call\n"
      "on_hypervisor_call: add x0, x0, #1\n eret\n"
      ".text\n.globl _start\n_start: adrp x0, hypervisor\n add x0, x0, :lo12:hypervisor\n msr "
      "vbar_el2, x0\n"
      "mov x0, #0x80000000\n msr hcr_el2, x0\n mov x0, #0x33ff\n msr cptr_el2, x0\n msr "
      "cntvoff_el2, xzr\n"
      "ldr x0, =stack_end\n msr sp_el1, x0\n mov x0, #0x3c5\n msr spsr_el2, x0\n adr x0, 1f\n msr "
      "elr_el2, x0\n eret\n"
      "1: adrp x0, vectors\n add x0, x0, :lo12:vectors\n msr vbar_el1, x0\n isb\n b start\n");
static void set_timer(word32 ticks)
{
    __asm volatile("msr cntv_tval_el0, %0\n msr cntv_ctl_el0, %1" ::"r"((word)ticks), "r"(1ul));
}
static void set_context(word32 id)
{
    __asm volatile("msr contextidr_el1, %0\n isb" ::"r"((word)id));
}
static void allow_interrupts(void)
{
    __asm volatile("msr daifclr, #2");
}
static void forbid_interrupts(void)
{
    __asm volatile("msr daifset, #2");
}
static void ask_below(void)
{
    __asm volatile("hvc #0" ::: "x0");
}
static void sleep(void)
{
    __asm volatile("wfi");
}
static void system_call(void)
{
    __asm volatile("svc #1");
}
static void fault(word32 kind)
{
    if (kind)
        __asm volatile("udf #1");
    else
        __asm volatile("ldr x0, [%0]" ::"r"(0x3f000000ul) : "x0");
}
static enum kind kind_of(word32 vector, const struct frame *frame)
{
    word syndrome;
    (void)frame;
    __asm volatile("mrs %0, esr_el1" : "=r"(syndrome));
    return vector == 2 ? INTERRUPT : syndrome >> 26 == 0x15 ? CALL : FAULT;
}
static void skip(struct frame *frame)
{
    frame->back += 4;
}

#elif defined(__arm__)
struct frame {
    word stack, link, regs[13], own, back, status;
};
enum { TIMER = 27, USER_STATUS = 0x10, MODE = 15 };
#define ENTRY(kind, behind)                                                                        \
    "sub lr, lr, #" behind "\n srsdb sp!, #19\n cpsid i, #19\n push {r0-r12, lr}\n mov r0, #" kind \
    "\n b common\n"
__asm(
    ".section .vectors, \"ax\"\n .arm\n .balign 32\n.globl vectors\nvectors: b .\n b undefined\n b "
    "calls\n b .\n b data\n b .\n b irq\n b .\n"
    "undefined: " ENTRY("1", "0") "calls: " ENTRY("0", "0") "data: " ENTRY("1", "4") "irq: " ENTRY(
        "2", "4") "common: cps #31\n mov r1, sp\n mov r2, lr\n cps #19\n push {r1, r2}\n mov r1, "
                  "sp\n mov r4, sp\n bic sp, #7\n bl on_exception\n mov sp, r4\n"
                  "pop {r1, r2}\n cps #31\n mov sp, r1\n mov lr, r2\n cps #19\n pop {r0-r12, lr}\n "
                  "rfeia sp!\n"
                  ".text\n.globl _start\n_start: cpsid i, #18\n ldr sp, =stack_end\n cps #19\n ldr "
                  "sp, =stack_end\n ldr r0, =vectors\n mcr p15, 0, r0, c12, c0, 0\n"
                  "ldr r0, =start\n bx r0\n .ltorg\n");
static void set_timer(word32 ticks)
{
    __asm volatile("mcr p15, 0, %0, c14, c3, 0\n mcr p15, 0, %1, c14, c3, 1" ::"r"(ticks), "r"(1));
}
static void set_context(word32 id)
{
    __asm volatile("mcr p15, 0, %0, c13, c0, 1\n isb" ::"r"(id));
}
static void allow_interrupts(void)
{
    __asm volatile("cpsie i");
}
static void forbid_interrupts(void)
{
    __asm volatile("cpsid i");
}
static void ask_below(void)
{
}
static void sleep(void)
{
    __asm volatile("wfi");
}
static void system_call(void)
{
    __asm volatile("svc #1" ::: "lr");
}
static void fault(word32 kind)
{
    if (kind)
        __asm volatile("udf #1");
    else
        __asm volatile("ldr.w r0, [%0]" ::"r"(0x3f000000ul) : "r0");
}
static enum kind kind_of(word32 vector, const struct frame *frame)
{
    (void)frame;
    return (enum kind)vector;
}
static void skip(struct frame *frame)
{
    (void)frame; /* the link register is saved already */
}

#else
struct frame {
    word regs[32], back, status; /* regs[2] is the stack */
};
enum { USER_STATUS = 0x20, MODE = 0x100 }; /* sstatus: SPIE; SPP */
#if __riscv_xlen == 64
#define L   "ld "
#define S   "sd "
#define W   "8"
#define TOP 63
#else
#define L   "lw "
#define S   "sw "
#define W   "4"
#define TOP 31
#endif
#define EACH(op)                                                                                   \
    op "x1, 1*" W "(sp)\n" op "x3, 3*" W "(sp)\n" op "x4, 4*" W "(sp)\n" op "x5, 5*" W "(sp)\n" op \
       "x6, 6*" W "(sp)\n" op "x7, 7*" W "(sp)\n" op "x8, 8*" W "(sp)\n" op "x9, 9*" W "(sp)\n" op \
       "x10, 10*" W "(sp)\n" op "x11, 11*" W "(sp)\n" op "x12, 12*" W "(sp)\n" op "x13, 13*" W     \
       "(sp)\n" op "x14, 14*" W "(sp)\n" op "x15, 15*" W "(sp)\n" op "x16, 16*" W "(sp)\n" op      \
       "x17, 17*" W "(sp)\n" op "x18, 18*" W "(sp)\n" op "x19, 19*" W "(sp)\n" op "x20, 20*" W     \
       "(sp)\n" op "x21, 21*" W "(sp)\n" op "x22, 22*" W "(sp)\n" op "x23, 23*" W "(sp)\n" op      \
       "x24, 24*" W "(sp)\n" op "x25, 25*" W "(sp)\n" op "x26, 26*" W "(sp)\n" op "x27, 27*" W     \
       "(sp)\n" op "x28, 28*" W "(sp)\n" op "x29, 29*" W "(sp)\n" op "x30, 30*" W "(sp)\n" op      \
       "x31, 31*" W "(sp)\n"
#if !defined(HART)
#define HART 0 /* of several, the one that works */
#endif
#define STRING(text) #text
#define TEXT(text)   STRING(text)
/* sscratch has the kernel's stack while a task runs, and 0 while the kernel does. */
__asm(
    ".section .vectors, \"ax\"\n .balign 256\n.globl vectors\nvectors: j other\n .rept 4\n .balign "
    "4\n j other\n .endr\n .balign 4\n j timer\n"
    "other: csrrw sp, sscratch, sp\n bnez sp, 1f\n csrr sp, sscratch\n1: addi sp, sp, -34*" W
    "\n" EACH(
        S) "li a0, 0\n j common\n"
           "timer: csrrw sp, sscratch, sp\n bnez sp, 1f\n csrr sp, sscratch\n1: addi sp, sp, -34*" W
           "\n" EACH(S) "li a0, 2\n"
                        "common: csrrw t0, sscratch, zero\n " S "t0, 2*" W
                        "(sp)\n csrr t1, sepc\n " S "t1, 32*" W "(sp)\n csrr t1, sstatus\n " S
                        "t1, 33*" W "(sp)\n"
                        "mv a1, sp\n call on_exception\n" L "t1, 32*" W "(sp)\n csrw sepc, t1\n " L
                        "t1, 33*" W "(sp)\n csrw sstatus, t1\n andi t1, t1, 0x100\n bnez t1, 2f\n"
                        "addi t1, sp, 34*" W "\n csrw sscratch, t1\n2: " EACH(L) L
    "sp, 2*" W "(sp)\n sret\n"
    /* The machine mode: its own timer, which it hands on, and calls that set it. Vectored. */
    ".balign 256\nmachine: j asked\n .rept 6\n .balign 4\n j asked\n .endr\n .balign 4\n j mtimer\n"
    "mtimer: csrw mscratch, t0\n li t0, 0x80\n csrc mie, t0\n li t0, 0x20\n csrs mip, t0\n csrr "
    "t0, mscratch\n mret\n"
    "asked: csrw mscratch, t0\n csrr t0, mepc\n addi t0, t0, 4\n csrw mepc, t0\n"
    "li t0, 0x0200bff8\n lw t0, (t0)\n add a0, a0, t0\n li t0, 0x02004000 + 8 * " TEXT(
        HART) "\n sw a0, (t0)\n sw zero, 4(t0)\n"
              "li t0, 0x20\n csrc mip, t0\n li t0, 0x80\n csrs mie, t0\n csrr t0, mscratch\n mret\n"
              ".section .text.start, \"ax\"\n.globl _start\n_start: csrr t0, mhartid\n li "
              "t1, " TEXT(
                  HART) "\n1: beq t0, t1, 2f\n wfi\n j 1b\n2: la sp, stack_end\n la t0, machine + "
                        "1\n csrw mtvec, t0\n la t0, vectors + 1\n csrw stvec, t0\n"
                        "li t0, -1\n csrw pmpaddr0, t0\n li t0, 0x1f\n csrw pmpcfg0, t0\n li t0, "
                        "0xb1ff\n csrw medeleg, t0\n li t0, 0x222\n csrw mideleg, t0\n csrw "
                        "mcounteren, t0\n"
                        "li t0, 0x20\n csrw sie, t0\n li t0, 0x1800\n csrc mstatus, t0\n li t0, "
                        "0x800\n csrs mstatus, t0\n la t0, start\n csrw mepc, t0\n csrw sscratch, "
                        "zero\n mret\n");
static void set_timer(word32 ticks)
{
    register word a0 __asm("a0") = ticks;
    __asm volatile("ecall" : "+r"(a0)::"memory");
}
#if __riscv_xlen == 64
/* A gigabyte's entry each: RAM for the kernel, and once more, elsewhere, for tasks, whose code does
 * not mind. */
static word tables[TASKS][512] __attribute__((aligned(4096)));
#define USER_OFFSET 0x40000000ul
static void set_context(word32 id)
{
    word *table = tables[id % TASKS];
    for (word32 i = 0; i < 4; i++)
        table[i] = (word)i << 28 | 0xcf;
    table[3] = 2ul << 28 | 0xdf;
    __asm volatile("csrs sstatus, %1\n csrw satp, %0\n sfence.vma" ::"r"(
                       8ul << 60 | (word)id << 44 | (word)table >> 12),
                   "r"(1ul << 18));
}
#else
#define USER_OFFSET 0ul
static void set_context(word32 id)
{
    __asm volatile("" ::"r"(id));
}
#endif
static void allow_interrupts(void)
{
    __asm volatile("csrsi sstatus, 2");
}
static void forbid_interrupts(void)
{
    __asm volatile("csrci sstatus, 2");
}
static void ask_below(void)
{
    set_timer(500 + next() % 3000);
}
static void sleep(void)
{
    __asm volatile("wfi");
}
static void system_call(void)
{
    __asm volatile("ecall" ::: "a0", "memory");
}
static void fault(word32 kind)
{
    if (kind)
        __asm volatile(".word 0x0000000b");
    else
        __asm volatile(".option push\n .option norvc\n lw a0, (%0)\n .option pop" ::"r"(0x100)
                       : "a0");
}
static enum kind kind_of(word32 vector, const struct frame *frame)
{
    word cause;
    (void)frame;
    __asm volatile("csrr %0, scause" : "=r"(cause));
    return vector == 2 || cause >> TOP ? INTERRUPT : cause == 8 ? CALL : FAULT;
}
static void skip(struct frame *frame)
{
    frame->back += 4;
}
#endif

#if !defined(__riscv)
#define USER_OFFSET 0ul
enum { GICD = 0x08000000, GICC = 0x08010000 };
#endif

/* ---- the kernel ---- */

static word task_stacks[TASKS][STACK] __attribute__((aligned(16)));
static struct frame tasks[TASKS];
word kernel_stack[4096] __attribute__((aligned(16), section(".bss.stack")));

/** Word by word: there is no library here. */
static void copy(struct frame *to, const struct frame *from)
{
    for (word32 i = 0; i < sizeof(*to) / sizeof(word); i++)
        ((volatile word *)to)[i] = ((const word *)from)[i];
}

static void switch_task(struct frame *frame)
{
    copy(&tasks[running], frame);
    running = next() % TASKS;
    copy(frame, &tasks[running]);
    set_context(running + 1);
}

static void take_interrupt(void)
{
#if !defined(__riscv)
    word32 which = REG32(GICC + 12);
    if ((which & 0x3ff) == TIMER)
        set_timer(300 + next() % 6000);
    REG32(GICC + 16) = which;
#else
    set_timer(300 + next() % 3000);
#endif
    sum += work(next() >> 20);
}

static void take_call(void)
{
    allow_interrupts();
    word32 n = next();
    sum += work(n >> 16);
    if ((n & 3) == 0)
        ask_below();
    if ((n & 0x1c) == 0)
        sleep();
#if !defined(__riscv)
    if ((n & 0x60) == 0)
        REG32(GICD + 0xf00) = 2u << 24 | 3; /* an interrupt of its own */
#endif
    forbid_interrupts();
}

__attribute__((used)) void on_exception(word32 vector, struct frame *frame)
{
    enum kind kind = kind_of(vector, frame);
    if (kind == INTERRUPT)
        take_interrupt();
    else if (kind == CALL)
        take_call();
#if defined(__riscv)
    if (kind != INTERRUPT)
        skip(frame);
#else
    if (kind == FAULT)
        skip(frame);
#endif
    if ((frame->status & MODE) == (USER_STATUS & MODE) && (next() & 1))
        switch_task(frame);
}

static word user(const void *address)
{
    return (word)address + USER_OFFSET;
}

static void make_task(word32 n)
{
    struct frame *frame = &tasks[n];
    frame->back = user((const void *)task);
    frame->status = USER_STATUS;
#if defined(__riscv)
    frame->regs[2] = user(task_stacks[n] + STACK);
    frame->regs[10] = n * 7919;
#else
    frame->stack = user(task_stacks[n] + STACK);
    frame->regs[0] = n * 7919;
#endif
#if defined(__arm__)
    frame->status |= frame->back & 1 ? 0x20 : 0;
    frame->back &= ~1ul;
#endif
}

__attribute__((used)) void start(void)
{
    for (word32 i = 0; i < TASKS; i++)
        make_task(i);
#if !defined(__riscv)
    REG32(GICD) = 1;
    REG32(GICD + 0x100) = 1u << TIMER | 8;
    REG32(GICC + 4) = 0xff;
    REG32(GICC) = 1;
    set_timer(2000);
    set_context(1);
#if defined(__aarch64__)
    __asm volatile(
        "msr sp_el0, %0\n msr elr_el1, %1\n msr spsr_el1, xzr\n eret" ::"r"(tasks[0].stack),
        "r"(tasks[0].back));
#else
    register word back __asm("r1") = tasks[0].back, status __asm("r2") = tasks[0].status;
    __asm volatile(
        "cps #31\n mov sp, %0\n cps #19\n push {r1, r2}\n rfeia sp!" ::"r"(tasks[0].stack),
        "r"(back), "r"(status));
#endif
#else
    set_context(1);
    set_timer(2000);
    __asm volatile("csrw sscratch, %0\n csrw sepc, %1\n csrw sstatus, %2\n mv sp, %3\n sret" ::"r"(
                       kernel_stack + 4096),
                   "r"(tasks[0].back), "r"(USER_STATUS | 1ul << 18), "r"(tasks[0].regs[2]));
#endif
    __builtin_unreachable();
}
