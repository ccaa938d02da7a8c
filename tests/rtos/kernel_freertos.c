// SPDX-License-Identifier: MIT
// FreeRTOS's symbols, types, members and order of writes on a Cortex-M3, around a scheduler of our
// own: control blocks lie in a heap, so that only what wrote their names knows them.
#include "board.h"

typedef struct {
    word xItemValue;
    void *pxNext, *pxPrevious, *pvOwner, *pvContainer;
} ListItem_t;
typedef struct tskTaskControlBlock {
    volatile word *pxTopOfStack;
    ListItem_t xStateListItem, xEventListItem;
    word uxPriority;
    word *pxStack;
    char pcTaskName[16];
    word uxTCBNumber;
} TCB_t;
typedef struct {
    word uxNumberOfItems;
    ListItem_t *pxIndex;
} List_t;

TCB_t *volatile pxCurrentTCB;
List_t pxReadyTasksLists[5];
volatile word uxCurrentNumberOfTasks;
static unsigned char ucHeap[1024] __attribute__((aligned(8)));
static word used;
static TCB_t *tasks[THREADS];

KERNEL word current_number(void)
{
    return pxCurrentTCB->uxTCBNumber;
}

KERNEL void prvIdleTask(void *argument)
{
    (void)argument;
    for (;;)
        __asm volatile("wfi");
}

KERNEL void vTaskSwitchContext(void)
{
    pxCurrentTCB = tasks[choose_thread()];
}

KERNEL static void xTaskCreate(void (*entry)(void *), const char *name)
{
    TCB_t *task = (TCB_t *)(ucHeap + used);
    used += (sizeof(*task) + 7) & ~7u;
    task->uxTCBNumber = uxCurrentNumberOfTasks;
    task->pxStack = stacks[task->uxTCBNumber];
    for (word i = 0; i < 16; i++) {
        task->pcTaskName[i] = name[i];
        if (!name[i])
            break;
    }
    task->pxTopOfStack = first_frame(task->uxTCBNumber, entry, 0);
    tasks[uxCurrentNumberOfTasks++] = task;
    if (!pxCurrentTCB)
        pxCurrentTCB = task; /* before the scheduler runs, and no switch */
}

KERNEL __attribute__((used)) void tell_truth(void)
{
    truth_running = pxCurrentTCB->uxTCBNumber + 1;
}

__attribute__((naked)) KERNEL void PendSV_Handler(void)
{
    __asm volatile(
        "mrs r0, psp\n isb\n ldr r3, =pxCurrentTCB\n ldr r2, [r3]\n stmdb r0!, {r4-r11}\n str r0, "
        "[r2]\n"
        "push {r3, lr}\n bl vTaskSwitchContext\n bl tell_truth\n pop {r3, lr}\n"
        "ldr r1, [r3]\n ldr r0, [r1]\n ldmia r0!, {r4-r11}\n msr psp, r0\n isb\n bx lr\n");
}

__attribute__((naked)) KERNEL void SVC_Handler(void)
{
    __asm volatile("push {r3, lr}\n bl tell_truth\n pop {r3, lr}\n"
                   "ldr r3, =pxCurrentTCB\n ldr r1, [r3]\n ldr r0, [r1]\n ldmia r0!, {r4-r11}\n "
                   "msr psp, r0\n isb\n"
                   "orr lr, #0xd\n bx lr\n");
}

KERNEL void SysTick_Handler(void)
{
    count_down();
    REG(ICSR) = 1u << 28;
}

KERNEL void start(void)
{
    xTaskCreate(alpha_thread, "alpha");
    xTaskCreate(beta_thread, "beta");
    xTaskCreate(gamma_thread, "gamma");
    xTaskCreate(prvIdleTask, "IDLE");
    start_clock();
    __asm volatile("cpsie i\n svc 0\n");
    for (;;)
        ;
}
