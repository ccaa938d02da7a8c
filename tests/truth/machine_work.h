// SPDX-License-Identifier: MIT
// What the programs of bare machines have in common: numbers at random, and a little work.
static volatile unsigned seed = 1, sum;

static unsigned next(void)
{
    unsigned x = seed;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return seed = x;
}

static __attribute__((noinline)) unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) unsigned choose(unsigned n)
{
    switch (n % 6) {
    case 0: return n + 1;
    case 1: return n * 3;
    case 2: return n ^ 0x55;
    case 3: return fibonacci(n % 8);
    case 4: return n << 2;
    default: return ~n;
    }
}
