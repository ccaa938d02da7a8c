// SPDX-License-Identifier: MIT
/**
 * @file The first process of a kernel that a recording boots. With the argument 0 it prints the
 * kernel's symbols and turns the machine off. With another one it starts two programs again and
 * again, at the same time, which lie at the same addresses, and hands the number on to them.
 */
#include "system.h"

#if defined(__arm__)
enum {
    SYS_EXECVE = 11,
    SYS_WAIT = 114,
    SYS_MOUNT = 21,
    SYS_OPENAT = 322,
    SYS_READ = 3,
    SYS_REBOOT = 88
};
#else
enum {
    SYS_EXECVE = 221,
    SYS_WAIT = 260,
    SYS_MOUNT = 40,
    SYS_OPENAT = 56,
    SYS_READ = 63,
    SYS_REBOOT = 142
};
#endif
enum { HERE = -100, CHILD_ENDED = 17 };

static void print_symbols(void)
{
    static char block[4096];
    system_call(SYS_MOUNT, (long)"proc", (long)"/proc", (long)"proc", 0, 0, 0);
    const long file = system_call(SYS_OPENAT, HERE, (long)"/proc/kallsyms", 0, 0, 0, 0);
    for (long size; (size = system_call(SYS_READ, file, (long)block, sizeof(block), 0, 0, 0)) > 0;)
        system_call(SYS_WRITE, 1, (long)block, size, 0, 0, 0);
    system_call(SYS_REBOOT, 0xfee1dead, 672274793, 0x4321fedc, 0, 0, 0);
}

static void start(const char *program, const char *argument)
{
    const char *arguments[] = {program, argument, 0}, *environment[] = {0};
    if (system_call(SYS_CLONE, CHILD_ENDED, 0, 0, 0, 0, 0) != 0)
        return;
    system_call(SYS_EXECVE, (long)program, (long)arguments, (long)environment, 0, 0, 0);
    system_end(1);
}

void program(size scale)
{
    char argument[] = "00000";
    for (size i = sizeof(argument) - 1, rest = scale; i-- > 0; rest /= 10)
        argument[i] = (char)('0' + rest % 10);
    if (scale == 0)
        print_symbols();
    for (;;) {
        start("/mixture", argument);
        start("/plain", argument);
        for (int i = 0; i < 2; i++)
            system_call(SYS_WAIT, -1, 0, 0, 0, 0, 0);
    }
}
