// SPDX-License-Identifier: MIT
/*
 * Firmware for a Cortex-M3 (QEMU's mps2-an385), and its test at the same time: it takes messages,
 * parses them, and controls something. rules.txt says what has to hold. Defects to plant:
 * -DSLOW, -DFORGET, -DDEEP, -DBROKEN, -DUNTESTED.
 */
typedef unsigned word;
#define ICSR      (*(volatile word *)0xe000ed04)
#define PENDSTSET (1u << 26)

void start(void);
static word stack[512] __attribute__((aligned(8)));
static volatile word ticks, held, sum;
static volatile word position;

/* Something cannot be: begin again. */
static void panic(void)
{
    position = 0;
    held = 0;
}

void SysTick_Handler(void)
{
    ticks++;
}

void HardFault_Handler(void)
{
    panic();
}

static void lock(void)
{
    held++;
}

static void unlock(void)
{
    held--;
}

/* A message is digits, followed by a dot; its value, or -1. */
static int parse(const char *text)
{
    int value = 0;
    for (; *text && *text != '.'; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        value = value * 10 + (*text - '0');
    }
    return value;
}

static word deeper(word n)
{
    return n == 0 ? 0 : 1 + deeper(n - 1);
}

static void control(int value)
{
    word steps = 10;
#ifdef SLOW
    steps = 40;
#endif
    lock();
#ifdef FORGET
    if (value == 42)
        return;
#endif
    for (word n = 0; n < steps; n++)
        position = position + (word)value;
    unlock();
}

#ifdef UNTESTED
static void calibrate(int value)
{
    if (value > 3)
        position = 3;
    if (value > 4)
        position = 4;
    if (value > 5)
        position = 5;
    if (value > 6)
        position = 6;
    if (value > 7)
        position = 7;
    if (value > 8)
        position = 8;
}
#endif

int main(void)
{
    static const char *const messages[] = {"17.", "42.", "x", "4711.", "0."};
    for (word n = 0;; n++) {
        const int value = parse(messages[n % 5]);
        ICSR = PENDSTSET;
        if (value >= 0)
            control(value);
#ifdef DEEP
        sum = sum + deeper(12);
#else
        sum = sum + deeper(3);
#endif
#ifdef BROKEN
        if (n == 30)
            panic();
#endif
#ifdef UNTESTED
        if (value == 12345)
            calibrate(value);
#endif
    }
}

void start(void)
{
    main();
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack[512],
    (void *)start,
    (void *)panic,
    (void *)HardFault_Handler,
    [15] = (void *)SysTick_Handler,
};
