// SPDX-License-Identifier: MIT
// A bare machine of the M profile that never ends: threads that PendSV switches, calls of the
// supervisor, a system timer and interrupts at random moments, nested and tail-chained, NMI, faults
// whose handlers skip what faulted, sleep; and, with the security extension, calls between the
// states.
#include "machine_work.h"

typedef unsigned word;
#define REG(address) (*(volatile word *)(address))
enum {
    SYST = 0xe000e010,
    ISER = 0xe000e100,
    ISPR = 0xe000e200,
    IPR = 0xe000e400,
    ICSR = 0xe000ed04,
    CCR = 0xe000ed14,
    SHPR = 0xe000ed18,
    SHCSR = 0xe000ed24,
    CFSR = 0xe000ed28,
    CPACR = 0xe000ed88,
};
enum { THREADS = 4, STACK = 512, LINES = 8 };

static word stacks[THREADS][STACK] __attribute__((aligned(8)));
static word *saved[THREADS];
static word running;
word main_stack[1024] __attribute__((aligned(8)));

/* ---- work ---- */

static word square(word n)
{
    return n * n;
}
static word halve(word n)
{
    return n >> 1;
}
static word (*const table[])(word) = {square, halve, choose, fibonacci};

static __attribute__((noinline)) word of_floats(word n)
{
#if defined(__ARM_FP)
    float x = (float)(n & 0xff), y = 1.5f;
    for (word i = 0; i < 4; i++)
        y = y * x + (float)i;
    return (word)(int)(y < 1e6f ? y : 1e6f);
#else
    return n;
#endif
}

/** Low-overhead loops: counted, perhaps of no rounds at all, and without a count. */
static __attribute__((noinline)) word loop(word n)
{
    word all = n;
#if defined(LOOPS)
    __asm volatile("wls lr, %1, 2f\n1: adds %0, %0, #3\n le lr, 1b\n2:"
                   : "+r"(all)
                   : "r"(n & 7)
                   : "lr", "cc");
    __asm volatile("dls lr, %1\n1: eors %0, %1\n add %0, #5\n le lr, 1b"
                   : "+r"(all)
                   : "r"((n >> 3 & 3) + 1)
                   : "lr", "cc");
    __asm volatile("movs r2, %1\n1: subs r2, #1\n bmi 2f\n adds %0, #1\n le 1b\n2:"
                   : "+r"(all)
                   : "r"(n >> 5 & 3)
                   : "r2", "lr", "cc");
#endif
    return all;
}

/** Returns from many registers at once, and one after the other. */
static __attribute__((noinline)) word chain(word n)
{
    word all[8];
    for (word i = 0; i < 8; i++)
        all[i] = table[(n + i) & 1](n + i);
    return all[n & 7] + (n & 1 ? choose(n) : 0);
}

static void pend(word line)
{
    REG(ISPR) = 1u << line;
}

static __attribute__((noinline)) void fault(word kind)
{
    switch (kind) {
    case 0: __asm volatile("udf #1"); break;
    case 1: __asm volatile("udf.w #1"); break;
    case 2: __asm volatile("ldr r0, [%0]\n ldrb r1, [%0]" ::"r"(0xf0000000u) : "r0", "r1"); break;
    default: __asm volatile("str.w %0, [%0]" ::"r"(0xf0000000u)); break;
    }
}

/* ---- the non-secure state ---- */

#if defined(SECURE)
#define NS      __attribute__((section(".nonsecure"), noinline))
#define NS_DATA __attribute__((section(".nonsecure.data")))
enum {
    MPC_CODE = 0x58007000,
    MPC_DATA = 0x58009000,
    NSC_OF_CODE = 0x50080014, /* of the boards */
    ITNS = 0xe000e380,
    SAU = 0xe000edd0,
    VTOR_NS = 0xe002ed08,
};
static word ns_stacks[THREADS][STACK] NS_DATA __attribute__((aligned(8)));
static volatile word ns_seed NS_DATA = 77;

/** Secure functions as the other state sees them: SG, and a branch. */
__attribute__((naked, section(".gateways"))) static word gateway(word n)
{
    __asm volatile("sg\n b.w secure_service");
}

__attribute__((used)) word secure_work_of(word n)
{
    return choose(n) + (n & 3 ? 0 : fibonacci(n % 6));
}

/** Returns to the state that called it. */
__attribute__((naked, used)) void secure_service(void)
{
    __asm volatile("push {r4, lr}\n bl secure_work_of\n pop {r4, lr}\n bxns lr");
}

NS static word ns_step(word n)
{
    return n & 1 ? n * 5 + 1 : n >> 1;
}

NS static word ns_work(word n)
{
    word all = 0;
    for (word i = 0; i < (n & 7); i++)
        all += ns_step(n + i);
    if ((n & 0x70) == 0)
        all += ((word(*)(word))((word)gateway | 1))(n);
    if ((n & 0x1f00) == 0)
        __asm volatile("svc #3");
    return all;
}

NS void ns_on_line(void)
{
    ns_seed = ns_seed * 1103515245 + 12345;
    if ((ns_seed >> 16 & 7) == 0)
        ((word(*)(word))((word)gateway | 1))(ns_seed);
}

NS void ns_on_systick(void)
{
    REG(0xe000e014) = 3000 + (ns_seed & 0xfff);
    ns_on_line();
}

NS static word ns_start(word n)
{
    REG(0xe000e014) = 5000;
    REG(0xe000e018) = 0;
    REG(0xe000e010) = 7;
    return n;
}

NS void ns_on_call(void)
{
    ns_seed++;
}

__attribute__((section(".nonsecure.vectors"), used,
               aligned(128))) static void *const ns_vectors[16 + LINES] = {
    0,          0,          0,          0,
    0,          0,          0,          0,
    0,          0,          0,          ns_on_call,
    0,          0,          0,          ns_on_systick,
    ns_on_line, ns_on_line, ns_on_line, ns_on_line,
    ns_on_line, ns_on_line, ns_on_line, ns_on_line};

/** Calls a function of the non-secure state. */
__attribute__((naked, noinline)) static word call_ns(word n, word function)
{
    __asm volatile("push {r3-r11, lr}\n bic r1, #1\n blxns r1\n pop {r3-r11, pc}");
}

static void open_memory(word controller, word from)
{
    for (word i = from ? (REG(controller + 0x10) + 1) / 2 : 0; i <= REG(controller + 0x10); i++) {
        REG(controller + 0x18) = i;
        REG(controller + 0x1c) = ~0u;
    }
}

static void make_region(word n, word start, word last, word bits)
{
    REG(SAU + 8) = n;
    REG(SAU + 12) = start;
    REG(SAU + 16) = (last & ~31u) | bits | 1;
}

extern char gateways_begin[], gateways_end[];

/** The upper half of the code's memory, and all of a bank of data, are of the other state. */
static void make_states(void)
{
    open_memory(MPC_CODE, 1);
    open_memory(MPC_DATA, 0);
    REG(NSC_OF_CODE) = 1;
    make_region(0, 0x00200000, 0x003fffff, 0);
    make_region(1, 0x28200000, 0x283fffff, 0);
    make_region(2, (word)gateways_begin, (word)gateways_end - 1, 2);
    REG(SAU) = 1;
    REG(VTOR_NS) = (word)ns_vectors;
    REG(ITNS) = 0xf0; /* half of the interrupts */
    __asm volatile("msr msp_ns, %0\n dsb\n isb" ::"r"(ns_stacks[0] + STACK));
    call_ns(0, (word)ns_start);
}
#endif

static void work(word n)
{
    sum += table[n & 3](n >> 4 & 7) + chain(n >> 8) + of_floats(n) + loop(n >> 12);
    switch (n >> 20 & 31) {
    case 0: __asm volatile("svc #1"); break;
    case 1: __asm volatile("svc #2"); break;
    case 2: pend(n >> 25 & 7); break;
    case 3: REG(ICSR) = 1u << 28; break; /* PendSV: another thread */
    case 4: REG(ICSR) = 1u << 31; break; /* NMI */
    case 5: fault(n >> 25 & 3); break;
    case 6: pend(n >> 25 & 7), pend(n >> 28 & 7), REG(ICSR) = 1u << 26; break;
    case 7: __asm volatile("wfi"); break;
    case 8:
        __asm volatile("cpsid i");
        pend(n >> 25 & 7);
        sum += choose(n);
        __asm volatile("cpsie i");
        break;
#if defined(SECURE)
    case 9:
    case 10:
    case 11: sum += call_ns(n >> 3, (word)ns_work); break;
#endif
    default: break;
    }
}

static void thread(void)
{
    for (;;)
        work(next());
}

/* ---- handlers ---- */

void on_systick(void)
{
    REG(SYST + 4) = 200 + next() % 4000;
    REG(SYST + 8) = 0;
    word n = next();
    if (n & 1)
        REG(ICSR) = 1u << 28;
    if (n & 2)
        pend(n >> 4 & 7);
    if ((n & 0x700) == 0)
        REG(ICSR) = 1u << 26; /* once more at once: a tail of its own kind */
    sum += choose(n >> 12 & 0xff);
}

void on_line(void)
{
    word n = next();
    if ((n & 7) == 0)
        pend(n >> 4 & 7);
    if ((n & 0x300) == 0)
        pend(n >> 12 & 7), pend(n >> 15 & 7);
    if ((n & 0xf0000) == 0)
        REG(ICSR) = 1u << 31;
    sum += table[n & 3](n >> 20 & 7);
}

__attribute__((naked)) void on_short(void)
{
    __asm volatile("bx lr");
}

void on_nmi(void)
{
    sum += fibonacci(3);
}

void on_call(void)
{
    sum++;
    if (next() & 1)
        REG(ICSR) = 1u << 28;
}

/** Continue after the instruction that faulted. */
__attribute__((used)) void skip(word *frame)
{
    const unsigned short *at = (const unsigned short *)frame[6];
    frame[6] += *at >= 0xe800 ? 4 : 2;
    REG(CFSR) = REG(CFSR);
}

__attribute__((naked)) void on_fault(void)
{
    __asm volatile("tst lr, #4\n ite eq\n mrseq r0, msp\n mrsne r0, psp\n"
                   "tst lr, #32\n it eq\n addeq r0, #40\n" /* of a secure state that was left for
                                                              the other one */
                   "push {r4, lr}\n bl skip\n pop {r4, pc}");
}

__attribute__((used)) word *change(word *stack)
{
    saved[running] = stack;
    running = next() % THREADS;
    return saved[running];
}

__attribute__((naked)) void on_switch(void)
{
    __asm volatile("mrs r0, psp\n"
#if defined(__ARM_FP)
                   "tst lr, #16\n it eq\n vstmdbeq r0!, {s16-s31}\n"
#endif
#if defined(SECURE)
                   "mrs r3, msp_ns\n"
#endif
                   "stmdb r0!, {r3, r4-r11, lr}\n"
                   "bl change\n"
                   "ldmia r0!, {r3, r4-r11, lr}\n"
#if defined(SECURE)
                   "msr msp_ns, r3\n"
#endif
#if defined(__ARM_FP)
                   "tst lr, #16\n it eq\n vldmiaeq r0!, {s16-s31}\n"
#endif
                   "msr psp, r0\n bx lr");
}

void on_hard_fault(void)
{
    for (;;)
        ;
}

void start(void);
__attribute__((section(".vectors"), used)) static void *const vectors[16 + LINES] = {main_stack +
                                                                                         1024,
                                                                                     start,
                                                                                     on_nmi,
                                                                                     on_hard_fault,
                                                                                     on_fault,
                                                                                     on_fault,
                                                                                     on_fault,
                                                                                     on_fault,
                                                                                     0,
                                                                                     0,
                                                                                     0,
                                                                                     on_call,
                                                                                     on_hard_fault,
                                                                                     0,
                                                                                     on_switch,
                                                                                     on_systick,
                                                                                     on_line,
                                                                                     on_line,
                                                                                     on_short,
                                                                                     on_line,
                                                                                     on_line,
                                                                                     on_short,
                                                                                     on_line,
                                                                                     on_line};

static void make_threads(void)
{
    for (word i = 0; i < THREADS; i++) {
        word *at = stacks[i] + STACK - 8;
        at[6] = (word)thread & ~1u;
        at[7] = 0x01000000;
        at -= 10;
        at[9] = 0xfffffffd;
#if defined(SECURE)
        at[0] = (word)(ns_stacks[i] + STACK);
#endif
        saved[i] = at;
    }
}

void start(void)
{
#if defined(__ARM_FP)
    REG(CPACR) |= 0xfu << 20;
    __asm volatile("dsb\n isb");
#endif
    make_threads();
#if defined(SECURE)
    make_states();
#endif
    REG(SHCSR) = 7u << 16;
    REG(SHPR) = 0x00202020;     /* faults */
    REG(SHPR + 4) = 0x60000000; /* SVC */
    REG(SHPR + 8) = 0x80ff0000; /* PendSV the lowest, SysTick */
    for (word i = 0; i < LINES; i++)
        ((volatile unsigned char *)IPR)[i] = (unsigned char)(0x40 + (i & 3) * 0x20);
    REG(ISER) = (1u << LINES) - 1;
    REG(SYST + 4) = 2000;
    REG(SYST + 8) = 0;
    REG(SYST) = 7;
    running = 0;
    __asm volatile("msr psp, %0\n movs r0, #2\n msr control, r0\n isb\n cpsie i\n bx %1" ::"r"(
                       stacks[0] + STACK),
                   "r"(thread)
                   : "r0");
    __builtin_unreachable();
}
