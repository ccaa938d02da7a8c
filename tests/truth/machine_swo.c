// SPDX-License-Identifier: MIT
// A bare machine of the M profile that writes text and values to the ITM, whose ports do nothing
// under QEMU: so it never asks whether a port is free. SysTick and two interrupts of different
// priorities come; one interrupts the other. Variables are written in a known order.
typedef unsigned word;
#define REG(address) (*(volatile word *)(address))
#define PORT(n)      (0xe0000000u + 4 * (n))
enum {
    SYST = 0xe000e010,
    ISER = 0xe000e100,
    ISPR = 0xe000e200,
    IPR = 0xe000e400,
    SHPR = 0xe000ed18,
};

word main_stack[256] __attribute__((aligned(8)));
volatile word speed;
volatile word ticks;

static void put(const char *text)
{
    while (*text)
        *(volatile char *)PORT(0) = *text++;
}

static void put_number(word n)
{
    char digits[12], *at = digits + sizeof(digits) - 1;
    *at = 0;
    do
        *--at = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    put(at);
}

__attribute__((noinline)) word work(word n)
{
    word all = 0;
    for (word i = 0; i < 20; i++)
        all += (n ^ i) * 2654435761u >> 28;
    return all;
}

/** SysTick: an interrupt of low priority follows, which another one interrupts. */
void on_systick(void)
{
    ticks++;
    REG(ISPR) = 1u << 0;
}

void on_low(void)
{
    REG(ISPR) = 1u << 1; /* is more urgent: it comes at once */
    *(volatile unsigned short *)PORT(33) = (unsigned short)ticks;
}

void on_high(void)
{
    REG(PORT(4)) = ticks * 1000;
}

__attribute__((noreturn)) void start(void)
{
    *(volatile unsigned char *)(IPR + 0) = 0xc0; /* on_low */
    *(volatile unsigned char *)(IPR + 1) = 0x40; /* on_high */
    REG(SHPR + 8) = 0x80000000;                  /* SysTick between them */
    REG(ISER) = 3;
    REG(SYST + 4) = 20000;
    REG(SYST + 8) = 0;
    REG(SYST) = 7;
    for (word n = 1;; n++) {
        speed = n * 3;
        put("round ");
        put_number(n);
        put("\n");
        work(n);
    }
}

__attribute__((section(".vectors"), used)) void *const vectors[18] = {
    main_stack + 256, start, start, start, [15] = on_systick, [16] = on_low, [17] = on_high};
