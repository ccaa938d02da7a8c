// SPDX-License-Identifier: MIT
/**
 * @file Guests of the host's kernel: each has kernel maps of its own, which are its machine's
 * process's, and may have a copy of its kernel's memory in a directory ("kcore_dir__PID").
 */
#include "perfdata/perfdata.h"
#include "perfdata/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct pug_perf_guest *find(const struct pug_perf *perf, int32_t pid)
{
    struct pug_perf_guest *guests = perf->guests.items;
    for (size_t i = 0; i < perf->guests.count; i++)
        if (guests[i].pid == pid)
            return &guests[i];
    return NULL;
}

uint32_t pug_perf_add_guest(struct pug_perf *perf, int32_t pid)
{
    const struct pug_perf_guest *known = find(perf, pid);
    if (known)
        return known->process;
    struct pug_perf_process *process =
        pug_capture_add(perf->capture, &perf->processes, sizeof(*process));
    struct pug_perf_guest *guest =
        process ? pug_capture_add(perf->capture, &perf->guests, sizeof(*guest)) : NULL;
    if (!guest)
        return UINT32_MAX;
    process->pid = -1;
    process->parent = PUG_PERF_NO_PARENT;
    *guest = (struct pug_perf_guest){.pid = pid, .process = (uint32_t)perf->processes.count - 1};
    return guest->process;
}

uint32_t pug_perf_guest_kernel(const struct pug_perf *perf, int32_t pid)
{
    const struct pug_perf_guest *guest = find(perf, pid);
    if (!guest)
        guest = find(perf, 0);
    if (!guest && perf->guests.count == 1 && pid < 0)
        guest = perf->guests.items;
    return guest ? guest->process : UINT32_MAX;
}

/* ---- what a directory has of it ---- */

static void seek(struct pug_perf *perf, struct pug_perf_guest *guest)
{
    char path[PATH_MAX];
    struct stat status;
    guest->sought = true;
    if (!perf->folder || guest->pid == 0)
        return;
    snprintf(path, sizeof(path), "%s/kcore_dir__%d/kcore", perf->folder, (int)guest->pid);
    if (pug_perf_program_open(path, &perf->capture->starved, &guest->memory) != PUG_OK)
        guest->memory = NULL;
    if (guest->memory && !guest->memory->core) {
        pug_perf_program_free(guest->memory);
        guest->memory = NULL;
    }
    if (guest->memory)
        guest->memory_path = pug_capture_keep(perf->capture, path, sizeof(path));
    snprintf(path, sizeof(path), "%s/kcore_dir__%d/kallsyms", perf->folder, (int)guest->pid);
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        guest->kallsyms_path = pug_capture_keep(perf->capture, path, sizeof(path));
}

struct pug_perf_guest *pug_perf_guest_of(struct pug_perf *perf, int32_t pid)
{
    struct pug_perf_guest *guest = find(perf, pid);
    if (guest && !guest->sought)
        seek(perf, guest);
    return guest;
}

bool pug_perf_is_memory(const struct pug_perf *perf, const struct pug_perf_program *program)
{
    const struct pug_perf_guest *guests = perf->guests.items;
    for (size_t i = 0; i < perf->guests.count; i++)
        if (program == guests[i].memory)
            return true;
    return program == perf->memory;
}

void pug_perf_free_guests(struct pug_perf *perf)
{
    struct pug_perf_guest *guests = perf->guests.items;
    for (size_t i = 0; i < perf->guests.count; i++) {
        pug_perf_program_free(guests[i].memory);
        pug_perf_kallsyms_free(&guests[i].symbols);
    }
    free(perf->guests.items);
}
