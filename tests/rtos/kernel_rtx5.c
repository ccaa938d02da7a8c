// SPDX-License-Identifier: MIT
// RTX5's symbols, types, members and order of writes on a Cortex-M3: `next` is set first, and SVC,
// PendSV and SysTick all go on in SVC_Context, in the middle of SVC_Handler, which does `curr =
// next`. One thread has a name, others an object's.
#include "board.h"

typedef struct osRtxThread_s {
    unsigned char id, state, flags, attr;
    const char *name;
    struct osRtxThread_s *thread_next, *thread_prev, *delay_next, *delay_prev, *thread_join;
    word delay;
    signed char priority, priority_base;
    unsigned char stack_frame, flags_options;
    word wait_flags, thread_flags;
    void *mutex_list, *stack_mem;
    word stack_size, sp, thread_addr, tz_memory;
} osRtxThread_t;

typedef struct {
    const char *os_id;
    word version;
    struct {
        unsigned char state, blocked, pendSV, reserved;
        word tick;
    } kernel;
    int tick_irqn;
    struct {
        struct {
            osRtxThread_t *curr, *next;
        } run;
    } thread;
} osRtxInfo_t;

osRtxInfo_t osRtxInfo = {.os_id = "RTX V5.9.0"};
osRtxThread_t thread_alpha, beta_block, gamma_block;
static osRtxThread_t pool[1];
static osRtxThread_t *const threads[THREADS] = {&thread_alpha, &beta_block, &gamma_block, &pool[0]};

KERNEL void made_ready(word n)
{
    threads[n]->state = 1;
}

KERNEL void made_waiting(word n)
{
    threads[n]->state = 3;
}

KERNEL word current_number(void)
{
    for (word i = 0; i < THREADS; i++)
        if (threads[i] == osRtxInfo.thread.run.curr)
            return i;
    return IDLE;
}

KERNEL void osRtxIdleThread(void *argument)
{
    (void)argument;
    for (;;)
        __asm volatile("wfi");
}

KERNEL __attribute__((used)) void osRtxPendSV_Handler(void)
{
    osRtxInfo.thread.run.next = threads[choose_thread()];
}

KERNEL __attribute__((used)) void osRtxTick_Handler(void)
{
    osRtxInfo.kernel.tick++;
    count_down();
    osRtxInfo.thread.run.next = threads[choose_thread()];
}

KERNEL __attribute__((used)) void tell_truth(void)
{
    truth_running = current_number() + 1;
}

KERNEL static void make(word n, const char *name, void (*entry)(void *))
{
    threads[n]->id = 0xf1;
    threads[n]->name = name;
    threads[n]->sp = (word)first_frame(n, entry, 1);
}

__attribute__((naked)) KERNEL void SVC_Handler(void)
{
    __asm volatile("push {r4, lr}\n bl osRtxPendSV_Handler\n pop {r4, lr}\n"
                   ".globl SVC_Context\n.thumb_func\nSVC_Context:\n"
                   "ldr r3, =osRtxInfo+20\n ldm r3, {r1, r2}\n cmp r1, r2\n beq 2f\n"
                   "cbz r1, 1f\n mrs r0, psp\n mov r12, lr\n stmdb r0!, {r12}\n stmdb r0!, "
                   "{r4-r11}\n str r0, [r1, #56]\n"
                   "1: str r2, [r3]\n"
                   "push {r2, lr}\n bl tell_truth\n pop {r2, lr}\n"
                   "ldr r0, [r2, #56]\n ldmia r0!, {r4-r11}\n ldmia r0!, {lr}\n msr psp, r0\n"
                   "2: bx lr\n");
}

__attribute__((naked)) KERNEL void PendSV_Handler(void)
{
    __asm volatile("push {r4, lr}\n bl osRtxPendSV_Handler\n pop {r4, lr}\n b.w SVC_Context\n");
}

__attribute__((naked)) KERNEL void SysTick_Handler(void)
{
    __asm volatile("push {r4, lr}\n bl osRtxTick_Handler\n pop {r4, lr}\n b.w SVC_Context\n");
}

_Static_assert(__builtin_offsetof(osRtxThread_t, sp) == 56, "the assembly has this offset");

KERNEL void start(void)
{
    make(0, "alpha", alpha_thread);
    make(1, 0, beta_thread);
    make(2, 0, gamma_thread);
    make(3, 0, osRtxIdleThread);
    start_clock();
    __asm volatile("cpsie i\n svc 0\n");
    for (;;)
        ;
}
