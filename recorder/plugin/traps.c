// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // memmem()
#include "traps.h"

#include "log.h"
#include "state.h"
#include "traps_private.h"

#include <stdio.h>
#include <string.h>

struct traps traps;

/** Was QEMU started with `-accel tcg,thread=single`? It says so nowhere else. */
static bool has_one_thread(void)
{
    char arguments[1 << 14];
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t size = file ? fread(arguments, 1, sizeof(arguments), file) : 0;
    if (file)
        fclose(file);
    return size > 0 && memmem(arguments, size, "thread=single", strlen("thread=single")) != NULL;
}

bool traps_begin(enum rec_path_family family, unsigned cpus)
{
    traps.family = family;
    traps_m_begin();
    traps_a_begin();
    /* Several processors in threads of their own mix their lines. */
    traps.on = (cpus == 1 || has_one_thread()) && log_begin();
    return traps.on;
}

bool traps_wait(void)
{
    return log_waits();
}

struct trap *traps_add(enum rec_path_trap kind)
{
    static struct trap spill;
    struct trap *trap = traps.count < TRAPS ? &traps.found[traps.count++] : &spill;
    *trap = (struct trap){.kind = kind};
    return trap;
}

/** A return goes on where the exception after it was taken, or else at the next block. */
static void find_return_targets(uint64_t next)
{
    for (unsigned i = traps.count; i > 0; i--) {
        struct trap *trap = &traps.found[i - 1];
        if (trap->kind == REC_TRAP_RETURN && trap->known)
            trap->address = next;
        if (trap->known || trap->gateway)
            next = trap->address;
    }
}

/** Does the line begin what another processor did? It waits for that one's next block. */
static bool is_of_other(const char *line, unsigned cpu)
{
    unsigned whose;
    bool says = sscanf(line, "Taking exception %*u [%*[^]]] on CPU %u", &whose) == 1 ||
                sscanf(line, "riscv_cpu_do_interrupt: hart:%u", &whose) == 1;
    return says && whose != cpu;
}

static void read_line(const char *line)
{
    if (traps.family != REC_FAMILY_A64 && traps.family != REC_FAMILY_ARM)
        traps_riscv_line(line);
    else if (state_is_m_profile())
        traps_m_line(line);
    else
        traps_a_line(line);
}

unsigned traps_read(unsigned cpu, uint64_t next, const struct trap **found)
{
    const char *line;
    traps.count = 0;
    while ((line = log_next()) != NULL && !is_of_other(line, cpu))
        read_line(line);
    if (line)
        log_back();
    if (state_is_m_profile())
        traps_m_end(cpu);
    else if (traps.family == REC_FAMILY_A64 || traps.family == REC_FAMILY_ARM)
        traps_a_end(cpu);
    find_return_targets(next);
    *found = traps.found;
    return traps.count;
}
