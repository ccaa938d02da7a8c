/* SPDX-License-Identifier: MIT */
/* What is worth taking in is known only when it has run: tests/run/profile_rebuild.sh. */
typedef unsigned long word;

static word memory[64];

static long call(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}

__attribute__((noinline)) word odd(word a, word b, word c, word d)
{
    for (int i = 0; i < 16; i++)
        a = (a << 7 ^ a >> 3) + b * memory[i] + (c ^ d);
    return a;
}

/* Hardly more than an addition, unless something odd happens; and too much for a compiler to take
   in wherever it is called. */
static word checked(word a, word b)
{
    if ((a & 4095) == 1445)
        a = odd(a, b, odd(b, a, 0, 1), memory[0]) + odd(a + 0, b, a, 0) * odd(b, 0, a ^ b, a);
    if ((a & 8190) == 2988)
        a = odd(a, b, odd(b, a, 1, 2), memory[1]) + odd(a + 1, b, a, 1) * odd(b, 1, a ^ b, a);
    if ((a & 16380) == 6172)
        a = odd(a, b, odd(b, a, 2, 3), memory[2]) + odd(a + 2, b, a, 2) * odd(b, 2, a ^ b, a);
    if ((a & 4095) == 1592)
        a = odd(a, b, odd(b, a, 3, 4), memory[3]) + odd(a + 3, b, a, 3) * odd(b, 3, a ^ b, a);
    if ((a & 8190) == 3282)
        a = odd(a, b, odd(b, a, 4, 5), memory[4]) + odd(a + 4, b, a, 4) * odd(b, 4, a ^ b, a);
    if ((a & 16380) == 6760)
        a = odd(a, b, odd(b, a, 5, 6), memory[5]) + odd(a + 5, b, a, 5) * odd(b, 5, a ^ b, a);
    if ((a & 4095) == 1739)
        a = odd(a, b, odd(b, a, 6, 7), memory[6]) + odd(a + 6, b, a, 6) * odd(b, 6, a ^ b, a);
    if ((a & 8190) == 3576)
        a = odd(a, b, odd(b, a, 7, 8), memory[7]) + odd(a + 7, b, a, 7) * odd(b, 7, a ^ b, a);
    if ((a & 16380) == 7348)
        a = odd(a, b, odd(b, a, 8, 9), memory[8]) + odd(a + 8, b, a, 8) * odd(b, 8, a ^ b, a);
    if ((a & 4095) == 1886)
        a = odd(a, b, odd(b, a, 9, 10), memory[9]) + odd(a + 9, b, a, 9) * odd(b, 9, a ^ b, a);
    return (a + b) ^ a >> 7;
}

word seldom(word a)
{
    return checked(checked(a, 3), checked(a + 1, 5)) + checked(checked(a, 9), 11);
}

static word run(word rounds)
{
    word state = 1;
    for (word i = 0; i < rounds; i++) {
        state = checked(state, i);
        if (state == 12345)
            state = seldom(state);
    }
    return state;
}

void start_(void)
{
    char text[17];
    word state = run(4000);
    for (int i = 0; i < 16; i++)
        text[i] = "0123456789abcdef"[state >> (60 - 4 * i) & 15];
    text[16] = '\n';
    call(64, 1, (long)text, 17);
    call(94, 0, 0, 0);
    __builtin_unreachable();
}

__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tbl start_\n");
