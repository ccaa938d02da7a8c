// SPDX-License-Identifier: MIT
#include "sysroot.h"

#include "common/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where Debian's cross libraries are, by the dynamic linker that programs name. */
static const struct {
    const char *linker, *folder, *package;
} places[] = {
    {"ld-linux-aarch64.so.1", "/usr/aarch64-linux-gnu", "libc6-arm64-cross"},
    {"ld-linux-armhf.so.3", "/usr/arm-linux-gnueabihf", "libc6-armhf-cross"},
    {"ld-linux.so.3", "/usr/arm-linux-gnueabi", "libc6-armel-cross"},
    {"ld-linux-riscv64-lp64d.so.1", "/usr/riscv64-linux-gnu", "libc6-riscv64-cross"},
};

#define PLACES (sizeof(places) / sizeof(places[0]))

/** Is the dynamic linker below that folder? */
static bool has(const char *folder, const char *linker)
{
    char path[4096];
    return snprintf(path, sizeof(path), "%s%s", folder, linker) < (int)sizeof(path) &&
           access(path, R_OK) == 0;
}

const char *sysroot_find(const char *name, const struct rec_program *program, const char *given,
                         bool *good)
{
    const char *linker = program->interpreter, *slash = strrchr(linker, '/');
    const char *machine = rec_program_machine(program), *package = NULL;
    *good = true;
    if (given || !*linker || getenv("QEMU_LD_PREFIX") || has("", linker))
        return given;
    for (size_t i = 0; i < PLACES; i++) {
        if (strcmp(slash ? slash + 1 : linker, places[i].linker) != 0)
            continue;
        if (has(places[i].folder, linker))
            return places[i].folder;
        package = places[i].package;
    }
    message_say("pugmark: %s: it is linked dynamically for %s, and its libraries are not here (no "
                "%s): %s%s%sgive their folder with --sysroot DIR, or link it with -static\n",
                name, machine ? machine : "another processor", linker, package ? "install " : "",
                package ? package : "", package ? ", " : "");
    *good = false;
    return NULL;
}
