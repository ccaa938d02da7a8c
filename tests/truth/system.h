// SPDX-License-Identifier: MIT
/** @file What the programs need of Linux, for each instruction set, without a C library. */
#ifndef TRUTH_SYSTEM_H
#define TRUTH_SYSTEM_H

typedef unsigned char byte;
typedef unsigned int word;
typedef unsigned long size;

#if defined(__arm__)
enum { SYS_WRITE = 4, SYS_KILL = 37, SYS_GETPID = 20, SYS_CLONE = 120, SYS_EXIT = 1 };
enum { SYS_EXIT_GROUP = 248, SYS_SIGACTION = 174, SYS_MMAP = 192, SYS_YIELD = 158 };
#else
enum { SYS_WRITE = 64, SYS_KILL = 129, SYS_GETPID = 172, SYS_CLONE = 220, SYS_EXIT = 93 };
enum { SYS_EXIT_GROUP = 94, SYS_SIGACTION = 134, SYS_MMAP = 222, SYS_YIELD = 124 };
#endif

long system_call(long number, long a, long b, long c, long d, long e, long f);

/** Run `function` in a new thread; `stack` is its end, 16-byte aligned. */
long system_thread(void (*function)(void), void *stack);

/** As setjmp() and longjmp(). */
#define JUMP_WORDS 16
int jump_set(long *frame) __attribute__((returns_twice));
void jump_to(long *frame) __attribute__((noreturn));

struct action {
    void (*handler)(int);
    unsigned long flags;
#if !defined(__riscv)
    void (*restorer)(void);
#endif
    unsigned long mask[2];
};

/** Handle a signal; the trampoline back is QEMU's. */
void system_handle(int signal, void (*handler)(int));

/** Memory that can be written and run. */
void *system_code_page(void);
/** The code written there is going to run. */
void system_code_written(void *code, size length);

void system_print(const char *text);
void system_end(int status) __attribute__((noreturn));

/** The program; `scale` is its first argument, 1 without one. */
void program(size scale);

#endif
