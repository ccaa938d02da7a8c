// SPDX-License-Identifier: MIT
/** @file A command that has every fault that million.c is to find: the first word chooses one. */
#include "million_library.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct million_runs *million_runs;

void million_warm_up(void)
{
}

/* A value that the compiler cannot know. */
static volatile size_t odd;
static volatile int most = INT_MAX;
static void *volatile lost;
static unsigned runs;

static void crash(void)
{
    *(volatile int *)odd = 1; // NOLINT: that is the fault
}

static void overflow(void)
{
    volatile char *bytes = malloc(8);
    bytes[8 + odd] = 1; // NOLINT: that is the fault
    free((void *)bytes);
}

static void hang(void)
{
    while (odd == 0)
        continue;
}

static void undefined(void)
{
    most++;
}

static void leak(void)
{
    lost = malloc(100);
    lost = NULL;
}

static void memory(void)
{
    const size_t size = (size_t)600 << 20;
    volatile char *bytes = malloc(size);
    for (size_t i = 0; bytes && i < size; i += 4096)
        bytes[i] = 1;
    free((void *)bytes);
}

static void descriptor(void)
{
    odd = (size_t)open("/dev/null", O_RDONLY) * 0;
}

static void file(void)
{
    close(open(".temporary", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static void fine(void)
{
}

static const struct {
    const char *name;
    void (*act)(void);
} faults[] = {{"fine", fine},       {"crash", crash},   {"overflow", overflow},    {"hang", hang},
              {"leak", leak},       {"memory", memory}, {"undefined", undefined},  {"file", file},
              {"difference", fine}, {"code", fine},     {"descriptor", descriptor}};

int main(int argc, char **argv)
{
    if (argc < 4 || ++runs > 1) /* static variables are as in a process of its own */
        return 5;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (strcmp(argv[1], faults[i].name) == 0)
            faults[i].act();
    if (strcmp(argv[1], "difference") == 0)
        printf("%s\n", argv[3]);
    return strcmp(argv[1], "code") == 0 ? 5 : 0;
}
