// SPDX-License-Identifier: MIT
/**
 * @file Accesses to memory: of every size, aligned and not, many at once, in order, exclusive and
 * atomic, of numbers that grow, shrink, alternate and are anything. For data trace.
 */
#include "system.h"

struct unaligned {
    byte before;
    word number;
    unsigned short half;
} __attribute__((packed));

static volatile byte bytes[64];
static volatile unsigned short halves[64];
static volatile word words[64];
static volatile unsigned long long longs[64];
static volatile signed char negative;
static volatile struct unaligned unaligned[9];
static word counter;
static size place;

static word random(void)
{
    static word state = 1;
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

static void by_size(word n)
{
    bytes[n % 64] = (byte)(bytes[(n + 1) % 64] + 3);
    halves[n % 64] = (unsigned short)(halves[(n + 1) % 64] - 5);
    words[n % 64] = words[(n + 7) % 64] ^ random();
    longs[n % 64] = (longs[(n + 1) % 64] << 7) + random();
    negative = (signed char)(negative - 1);
    words[63 - n % 64] = (word)negative;
}

static void odd_places(word n)
{
    volatile struct unaligned *at = &unaligned[n % 9];
    at->number = random() + at->number;
    at->half = (unsigned short)(at->half + at->number);
    at->before++;
}

#if defined(__riscv_flen) || !defined(__riscv)
static volatile double doubles[16];

static void numbers(word n)
{
    doubles[n % 16] = doubles[(n + 1) % 16] + 1.5;
}
#else
static void numbers(word n)
{
    (void)n;
}
#endif

/** The arguments that the compiler loads and stores in one go. */
__attribute__((noinline)) static size many(size a, size b, size c, size d)
{
    volatile size kept[4] = {a, b, c, d};
    return kept[random() % 4] + (a > 64 ? many(b, c, d, a / 2) : a);
}

static void together(word n)
{
    word got = n;
    __atomic_fetch_add(&counter, n, __ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&counter, 3, __ATOMIC_RELAXED);
    __atomic_fetch_and(&counter, ~(n << 4), __ATOMIC_ACQUIRE);
    __atomic_fetch_or(&counter, n << 9, __ATOMIC_RELEASE);
    __atomic_fetch_xor(&counter, random(), __ATOMIC_SEQ_CST);
    __atomic_exchange_n(&counter, random(), __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(&counter, &got, n, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(&counter, &got, n + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&place, (size)0 - n, __ATOMIC_SEQ_CST);
#ifdef __riscv
    word old;
    __asm__ volatile("amomax.w %0, %1, (%2)" : "=r"(old) : "r"(random()), "r"(&counter) : "memory");
    __asm__ volatile("amominu.w %0, %1, (%2)"
                     : "=r"(old)
                     : "r"(random()), "r"(&counter)
                     : "memory");
    __asm__ volatile("amomin.w %0, %1, (%2)" : "=r"(old) : "r"(-n), "r"(&counter) : "memory");
    __asm__ volatile("amomaxu.w %0, %1, (%2)"
                     : "=r"(old)
                     : "r"(random()), "r"(&counter)
                     : "memory");
#endif
}

void program(size scale)
{
    for (word n = 0; n < 300 * scale; n++) {
        by_size(n);
        odd_places(n);
        numbers(n);
        together(n);
        if (n % 10 == 0)
            place += many(random(), n, scale, random());
    }
    system_print(place ? "done\n" : "nothing\n");
}
