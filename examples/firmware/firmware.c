// SPDX-License-Identifier: MIT
/**
 * @file The firmware of the book's examples: a thermostat on a Cortex-M33 (QEMU's mps2-an505). Each
 * tick of its timer it reads a sensor and moves a valve. The tenth reading is out of range, and the
 * firmware crashes. There are no libraries, so all code that runs is in this file.
 */
#include <stdint.h>

#define ICSR        (*(volatile uint32_t *)0xe000ed04)
#define SET_SYSTICK (1u << 26)
#define SET_PENDSV  (1u << 28)

extern uint32_t stack_top[];
void start(void);

static volatile uint32_t ticks;
static volatile int valve;  /* 0: closed, 100: open */
static volatile int target; /* degrees */
static volatile int events;

static const volatile int16_t readings[] = {190, 192, 197, 203,  211, 220,
                                            226, 224, 219, 9999, 0,   0};

/* How far the valve has to move for each degree of difference. */
static const int8_t steps[] = {0, 3, 7, 12, 20};

/** The sensor's reading in tenths of a degree. */
static int read_sensor(uint32_t at)
{
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += readings[at];
    return sum / 4;
}

/** Moves the valve by the table. It does not check its index: this is the defect. */
static void move_valve(int difference)
{
    int size = difference < 0 ? -difference : difference;
    const int8_t *step =
        size > 100 ? (const int8_t *)0xf0000000 : &steps[size]; /* past the table */
    valve = valve + (difference < 0 ? -*step : *step);
}

static void control(int reading)
{
    move_valve(target - reading / 10);
}

/** Interrupt: time passed. Asks for the slow work to be done later. */
void SysTick_Handler(void)
{
    ticks = ticks + 1;
    ICSR = SET_PENDSV;
}

/** Interrupt: the slow work, at the lowest priority. */
void PendSV_Handler(void)
{
    events = events + 1;
}

void NMI_Handler(void)
{
    events = events + 100;
}

/** Crash: the firmware stops here for a debugger. */
void HardFault_Handler(void)
{
    for (;;)
        ;
}

/**
 * Waits for the timer. A real timer would raise the interrupt; here the firmware does it itself.
 */
static void wait_for_tick(void)
{
    ICSR = SET_SYSTICK;
    __asm__ volatile("dsb\n isb");
}

__attribute__((used, section(".vectors"))) static void *const vectors[16] = {
    stack_top,
    start,
    NMI_Handler,
    HardFault_Handler,
    [14] = PendSV_Handler,
    [15] = SysTick_Handler};

void start(void)
{
    target = 21;
    for (uint32_t at = 0;; at++) {
        wait_for_tick();
        control(read_sensor(at));
    }
}
