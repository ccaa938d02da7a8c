// SPDX-License-Identifier: MIT
// ThreadX's symbols, types, members and order of writes on a Cortex-M3: the pointer becomes 0
// behind the saving of a thread, then names the next one; while there is none the handler itself
// waits. Names are pointers into read-only data.
#include "board.h"

typedef struct TX_THREAD_STRUCT {
    word tx_thread_id, tx_thread_run_count;
    void *tx_thread_stack_ptr, *tx_thread_stack_start, *tx_thread_stack_end;
    word tx_thread_stack_size, tx_thread_time_slice, tx_thread_new_time_slice;
    struct TX_THREAD_STRUCT *tx_thread_ready_next, *tx_thread_ready_previous;
    const char *tx_thread_name;
    word tx_thread_priority, tx_thread_state;
} TX_THREAD;

TX_THREAD *_tx_thread_current_ptr, *_tx_thread_execute_ptr, *_tx_thread_created_ptr;
word _tx_thread_created_count;
static TX_THREAD threads[THREADS];
static TX_THREAD *last; /* whose number is asked for */

KERNEL void made_ready(word n)
{
    threads[n].tx_thread_state = 0;
}

KERNEL void made_waiting(word n)
{
    threads[n].tx_thread_state = 4;
}

KERNEL word current_number(void)
{
    return (word)(last - threads);
}

KERNEL __attribute__((used)) word choose_ready(void)
{
    const word n = choose_thread();
    _tx_thread_execute_ptr = n == IDLE ? 0 : &threads[n];
    truth_running = n == IDLE ? 0 : n + 1;
    return n != IDLE;
}

KERNEL __attribute__((used)) void tell_truth(void)
{
    last = _tx_thread_current_ptr;
    truth_running = (word)(last - threads) + 1;
}

KERNEL void tx_thread_create(TX_THREAD *thread, const char *name, void (*entry)(void *))
{
    thread->tx_thread_id = 0x54485244;
    thread->tx_thread_name = name;
    thread->tx_thread_stack_ptr = first_frame((word)(thread - threads), entry, 1);
    _tx_thread_created_ptr = threads;
    _tx_thread_created_count++;
}

__attribute__((naked)) KERNEL void PendSV_Handler(void)
{
    __asm volatile(
        "ldr r0, =_tx_thread_current_ptr\n ldr r1, [r0]\n movs r3, #0\n cbz r1, 1f\n"
        "mrs r12, psp\n push {r4}\n mov r4, lr\n stmdb r12!, {r4}\n pop {r4}\n"
        "stmdb r12!, {r4-r11}\n str r12, [r1, #8]\n str r3, [r0]\n"
        "1: bl choose_ready\n cbnz r0, 2f\n"
        ".globl __tx_ts_wait\n.type __tx_ts_wait, %function\n__tx_ts_wait:\n"
        "cpsid i\n wfi\n cpsie i\n isb\n b 1b\n"
        "2: ldr r0, =_tx_thread_current_ptr\n ldr r1, =_tx_thread_execute_ptr\n ldr r1, [r1]\n str "
        "r1, [r0]\n"
        "push {r1, r2}\n bl tell_truth\n pop {r1, r2}\n"
        "ldr r12, [r1, #8]\n ldmia r12!, {r4-r11}\n ldmia r12!, {lr}\n msr psp, r12\n bx lr\n");
}

__attribute__((naked)) KERNEL void SVC_Handler(void)
{
    __asm volatile("bx lr\n");
}

KERNEL void SysTick_Handler(void)
{
    count_down();
    REG(ICSR) = 1u << 28;
}

KERNEL void start(void)
{
    tx_thread_create(&threads[0], "alpha", alpha_thread);
    tx_thread_create(&threads[1], "beta", beta_thread);
    tx_thread_create(&threads[2], "gamma", gamma_thread);
    start_clock();
    REG(SHPR) = 0x40ff0000; /* SysTick interrupts PendSV, which waits */
    REG(ICSR) = 1u << 28;
    __asm volatile("cpsie i\n dsb\n isb\n");
    for (;;)
        ;
}
