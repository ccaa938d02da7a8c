// SPDX-License-Identifier: MIT
/**
 * @file The program of the demonstration capture: sorts twelve numbers, comparing through a
 * pointer, then leaves. Small enough to follow each line of its trace; calls, returns, loops and an
 * indirect call are all in it.
 */
static int numbers[12] = {7, 3, 9, 1, 12, 5, 11, 2, 8, 10, 4, 6};

__attribute__((noinline)) static void swap(int *a, int *b)
{
    int kept = *a;
    *a = *b;
    *b = kept;
}

__attribute__((noinline)) static int less(int a, int b)
{
    return a < b;
}

static int (*volatile order)(int, int) = less;

__attribute__((noinline)) static void sort(int *values, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && order(values[j], values[j - 1]); j--)
            swap(&values[j], &values[j - 1]);
}

void _start(void);

void _start(void)
{
    sort(numbers, 12);
    register unsigned long number __asm__("x8") = 93; /* exit */
    register unsigned long status __asm__("x0") = 0;
    __asm__ volatile("svc 0" ::"r"(number), "r"(status));
    __builtin_unreachable();
}
