// SPDX-License-Identifier: MIT
/** @file A program under QEMU with the plugin, and the pipe that its path comes through. */
#ifndef PUG_RECORDER_QEMU_H
#define PUG_RECORDER_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rec_qemu {
    const char *qemu;     /**< the emulator; NULL: qemu-MACHINE */
    const char *plugin;   /**< NULL: looked for */
    const char *sysroot;  /**< NULL: none */
    const char *children; /**< where forked children write their paths; NULL: they do not */
    char **argv;          /**< the program with its arguments, NULL after the last; of a machine the
                           * emulator with its own */
    bool machine;
    bool data;   /**< accesses to memory are recorded */
    bool single; /**< each instruction of a machine is a block of its own */
    pid_t pid;   /**< out */
    int path;    /**< out: to read from */
};

/** Start it. False: `why` says why not. */
bool rec_qemu_start(struct rec_qemu *qemu, const char *machine, char *why, size_t size);

/** Wait for its end. Returns the status of waitpid(), -1 on failure. */
int rec_qemu_wait(struct rec_qemu *qemu);

/** Ends it: asks it to, and kills it where it does not do so within seconds. Returns the same. */
int rec_qemu_end(struct rec_qemu *qemu);

/** The program's file: as the shell would find it. False: nowhere. */
bool rec_qemu_find(const char *name, char *path, size_t size);

#endif
