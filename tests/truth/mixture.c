// SPDX-License-Identifier: MIT
/**
 * @file A program with every kind of control flow: loops, recursion deeper than any return stack,
 * switches, calls through pointers, returns that do not match their calls, signals in the middle of
 * a block, threads, code that is written and rewritten. On Arm half of it is A32 and half T32, and
 * they call each other.
 */
#include "system.h"

#if defined(__arm__)
#define ONE   __attribute__((noinline, target("arm")))
#define OTHER __attribute__((noinline, target("thumb")))
#else
#define ONE   __attribute__((noinline))
#define OTHER __attribute__((noinline))
#endif

static word state = 1;
static volatile word sink;

/** Numbers without pattern, the same in every run. */
OTHER static word next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* ---- recursion ---- */

ONE static word fibonacci(word n);

OTHER static word fibonacci_thumb(word n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

ONE static word fibonacci(word n)
{
    return n < 2 ? n : fibonacci_thumb(n - 1) + fibonacci_thumb(n - 2);
}

OTHER static word ackermann(word m, word n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

/* ---- calls through pointers ---- */

typedef word operation(word a, word b);

ONE static word op_add(word a, word b)
{
    return a + b;
}

OTHER static word op_mix(word a, word b)
{
    return (a ^ b) * 31;
}

ONE static word op_max(word a, word b)
{
    return a > b ? a : b;
}

OTHER static word op_gcd(word a, word b)
{
    while (b) {
        word rest = a;
        while (rest >= b)
            rest -= b;
        a = b;
        b = rest;
    }
    return a;
}

static operation *const volatile operations[] = {op_add, op_mix, op_max, op_gcd};

ONE static word apply(word count)
{
    word value = 1;
    for (word i = 0; i < count; i++)
        value = operations[next() & 3](value & 0xfff, next() & 0xff);
    return value;
}

/* ---- a machine of its own: one switch, many ways ---- */

OTHER static word interpret(word steps)
{
    word stack[8] = {0}, top = 0, value = 0;
    while (steps-- > 0) {
        word *at = &stack[top & 7];
        switch (next() % 13) {
        case 0: *at += 3; break;
        case 1: top++; break;
        case 2: top--; break;
        case 3: *at ^= value; break;
        case 4: value += *at; break;
        case 5: *at = op_max(*at, value); break;
        case 6: value = value << 3 | value >> 29; break;
        case 7:
            if (*at & 1)
                value ^= 0x55;
            break;
        case 8:
            for (word i = 0; i < (*at & 7); i++)
                value += i;
            break;
        case 9: *at = 0; break;
        case 10: value = op_add(value, *at); break;
        case 11: continue;
        default: value--;
        }
    }
    return value;
}

/* ---- single bits: A64 has branches for them ---- */

OTHER static word bits_thumb(word value)
{
    word steps = 0;
    do {
        value = value * 5 + 3;
        if (value & 0x10)
            sink = value;
        steps++;
    } while (!(value & 0x4000));
    return steps;
}

ONE static word bits(word value)
{
    word steps = 0;
    while (value & 0x200) {
        value = value * 13 + 7;
        if (!(value & 0x80000))
            sink = value;
        steps++;
    }
    return steps + bits_thumb(value);
}

/* ---- conditions: on Arm they become IT blocks and conditional instructions ---- */

OTHER static void sort(word *items, word count)
{
    for (word i = 1; i < count; i++) {
        word item = items[i], at = i;
        while (at > 0 && items[at - 1] > item) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = item;
    }
}

ONE static word clamp(word value, word low, word high)
{
    if (value < low)
        return low;
    if (value > high)
        value = high;
    return value;
}

ONE static word search(const word *items, word count, word wanted)
{
    word low = 0, high = count;
    while (low < high) {
        word middle = (low + high) / 2;
        if (items[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static word items[64];

OTHER static word arrange(void)
{
    word sum = 0;
    for (word i = 0; i < 64; i++)
        items[i] = clamp(next() & 0xffff, 0x1000, 0xe000);
    sort(items, 64);
    for (word i = 0; i < 64; i++)
        sum += search(items, 64, next() & 0xffff);
    return sum;
}

/* ---- returns that do not match: out of several calls at once ---- */

static long frame[JUMP_WORDS];

OTHER static void sink_into(word depth)
{
    if (depth == 0)
        jump_to(frame);
    sink_into(depth - 1);
    sink++;
}

ONE static word escape(word depth)
{
    if (jump_set(frame) == 0)
        sink_into(depth);
    return depth;
}

/* ---- signals ---- */

static volatile word signals, faults;
static long recover[JUMP_WORDS];

OTHER static void on_signal(int number)
{
    signals += (word)number;
    sink += fibonacci(5);
}

/** The access that faulted is not repeated. */
ONE static void on_fault(int number)
{
    faults += (word)number;
    jump_to(recover);
}

OTHER static word touch(volatile word *nothing)
{
    word sum = 0;
    for (word i = 0; i < 3; i++)
        sum += items[i] + nothing[i] + items[i + 1];
    return sum;
}

ONE static void fault(void)
{
    if (jump_set(recover) == 0)
        sink += touch((volatile word *)16);
}

ONE static void raise_signals(word count)
{
    long self = system_call(SYS_GETPID, 0, 0, 0, 0, 0, 0);
    for (word i = 0; i < count; i++) {
        system_call(SYS_KILL, self, 10, 0, 0, 0, 0);
        fault();
    }
}

/* ---- threads ---- */

#ifndef ONE_THREAD
#define THREADS 3
static byte stacks[THREADS][16384] __attribute__((aligned(16)));
static volatile word begun, ended;

OTHER static word collatz(word n)
{
    word steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

ONE static void worker(void)
{
    word self = __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST), sum = 0;
    for (word i = 0; i < 200; i++)
        sum += collatz(self * 100 + i) + fibonacci(6);
    sink = sum;
    __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
}

ONE static void run_threads(void)
{
    begun = ended = 0;
    for (word i = 0; i < THREADS; i++)
        system_thread(worker, stacks[i] + sizeof(stacks[i]));
    while (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) != THREADS)
        system_call(SYS_YIELD, 0, 0, 0, 0, 0, 0);
}
#endif

/* ---- code that is written ---- */

#ifdef WRITES_CODE
/** Returns a number: its own instruction has it. */
static void write_code(word *code, word number)
{
#if defined(__aarch64__)
    code[0] = 0x52800000u | number << 5;
    code[1] = 0xd65f03c0u;
#elif defined(__arm__)
    code[0] = 0xe3a00000u | number;
    code[1] = 0xe12fff1eu;
#else
    code[0] = 0x00000513u | number << 20;
    code[1] = 0x00008067u;
#endif
    system_code_written(code, 8);
}

ONE static void run_code(word versions)
{
    word *code = system_code_page();
    for (word i = 0; i < versions; i++) {
        write_code(code, i + 1);
        sink += ((word(*)(void))code)();
        sink += apply(20);
    }
}
#endif

void program(size scale)
{
    system_handle(10, on_signal);
    system_handle(11, on_fault);
    for (size i = 0; i < scale; i++) {
        sink += fibonacci(12) + ackermann(2, 5) + apply(300) + interpret(2000) + arrange();
        for (word n = 0; n < 20; n++)
            sink += bits(next());
        sink += escape(1 + (next() & 31));
        if (i % 4 == 0)
            raise_signals(3);
#ifndef ONE_THREAD
        if (i % 16 == 0)
            run_threads();
#endif
#ifdef WRITES_CODE
        if (i % 64 == 0)
            run_code(3);
#endif
    }
    system_print("done\n");
}
