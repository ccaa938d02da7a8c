// SPDX-License-Identifier: MIT
// What three small kernels share: a Cortex-M3 board, threads that call, yield and sleep, and the
// truth of what ran.
//
// Kernels write `truth_running` at the end of each switch: 0: no thread, else the number of the
// thread. Threads' functions are instrumented: `truth_entered` and `truth_left` get each function
// that is entered or left. Tests read these variables in data trace; nothing of Pugmark knows them.
#ifndef BOARD_H
#define BOARD_H

typedef unsigned word;
#define REG(address) (*(volatile word *)(address))
#define KERNEL       __attribute__((no_instrument_function))
#define THREAD       __attribute__((noinline))
enum {
    SYST = 0xe000e010,
    ICSR = 0xe000ed04,
    SHPR = 0xe000ed20,
    THREADS = 4,
    IDLE = 3,
    STACK = 128
};

volatile word truth_running;
volatile word truth_ready; /* a thread that slept may run again */
void *volatile truth_entered;
void *volatile truth_left;

KERNEL void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    truth_entered = function;
}

KERNEL void __cyg_profile_func_exit(void *function, void *site)
{
    (void)site;
    truth_left = function;
}

/* ---- what the kernel knows of threads ---- */

static word stacks[THREADS][STACK] __attribute__((aligned(8)));
static volatile word sleeping[THREADS]; /* so many ticks */
static volatile word seed = 0x2545f491;
word main_stack[256] __attribute__((aligned(8)));

KERNEL static word next_random(void)
{
    word x = seed;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return seed = x;
}

/** The next thread: any that does not sleep, else the idle one. */
KERNEL static word choose_thread(void)
{
    const word from = next_random() >> 8;
    for (word i = 0; i < IDLE; i++)
        if (sleeping[(from + i) % IDLE] == 0)
            return (from + i) % IDLE;
    return IDLE;
}

/** All threads that give up the processor do it here, so that all of them go on at one instruction.
 */
KERNEL __attribute__((noinline)) static void give_up(void)
{
    REG(ICSR) = 1u << 28;
    __asm volatile("dsb\n isb" ::: "memory");
}

/** As the kernel's control block has it. */
void made_ready(word n);
void made_waiting(word n);

KERNEL static void count_down(void)
{
    for (word i = 0; i < IDLE; i++)
        if (sleeping[i] > 0 && --sleeping[i] == 0) {
            made_ready(i);
            truth_ready = i + 1;
        }
}

word current_number(void);

KERNEL __attribute__((noinline)) static void sleep_for(word ticks)
{
    sleeping[current_number()] = ticks;
    if (ticks > 0)
        made_waiting(current_number());
    give_up();
}

/* ---- threads ---- */

static volatile word sum;

THREAD word shared_twice(word n)
{
    return n * 2 + 1;
}

THREAD word shared_sum(word n)
{
    word all = 0;
    for (word i = 0; i < n; i++)
        all += shared_twice(i);
    return all;
}

THREAD void alpha_leaf(word n)
{
    sum += shared_sum(n & 7);
    give_up();
}
THREAD void alpha_step(word n)
{
    alpha_leaf(n);
    if (n & 4)
        sleep_for(1);
}
THREAD word beta_deep(word n)
{
    if (n == 0) {
        give_up();
        return 1;
    }
    return beta_deep(n - 1) + shared_twice(n);
}
THREAD void beta_step(word n)
{
    sum += beta_deep(n & 3);
    if ((n & 24) == 0)
        sleep_for(n & 3);
}
THREAD void gamma_work(word n)
{
    for (word i = 0; i < (n & 31); i++)
        sum += shared_sum(i & 3);
}
THREAD void gamma_step(word n)
{
    gamma_work(n);
    sleep_for(1 + (n & 1));
}

static void alpha_thread(void *argument)
{
    (void)argument;
    for (word n = 0;; n++)
        alpha_step(n);
}
static void beta_thread(void *argument)
{
    (void)argument;
    for (word n = 0;; n++)
        beta_step(n);
}
static void gamma_thread(void *argument)
{
    (void)argument;
    for (word n = 0;; n++)
        gamma_step(n);
}

/* ---- the board ---- */

/** The stack of a thread that has not run yet, as an exception left it. */
KERNEL static word *first_frame(word n, void (*entry)(void *), word more)
{
    word *at = stacks[n] + STACK - 8;
    at[6] = (word)entry & ~1u;
    at[7] = 0x01000000;
    at -= 8 + more;
    if (more)
        at[8] = 0xfffffffd;
    return at;
}

KERNEL static void start_clock(void)
{
    REG(SHPR) = 0xffff0000; /* PendSV and SysTick are the least urgent */
    REG(SYST + 4) = 12000;
    REG(SYST + 8) = 0;
    REG(SYST) = 7;
}

void start(void);
void on_fault(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);

__attribute__((naked)) KERNEL void on_fault(void)
{
    __asm volatile("b .");
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {main_stack + 256,
                                                                             start,
                                                                             on_fault,
                                                                             on_fault,
                                                                             on_fault,
                                                                             on_fault,
                                                                             on_fault,
                                                                             0,
                                                                             0,
                                                                             0,
                                                                             0,
                                                                             SVC_Handler,
                                                                             on_fault,
                                                                             0,
                                                                             PendSV_Handler,
                                                                             SysTick_Handler};
#endif
