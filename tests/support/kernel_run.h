// SPDX-License-Identifier: MIT
/**
 * @file Recordings of a kernel at work, with the files that hold its text beside them in a folder,
 * and what is heard of them.
 */
#ifndef PUG_TESTS_SUPPORT_KERNEL_RUN_H
#define PUG_TESTS_SUPPORT_KERNEL_RUN_H

#include "pugmark/pugmark.h"
#include "recorder/etmv4.h"
#include "recorder/perfdata.h"
#include "support/kernel_file.h"

#define LINKED UINT64_C(0xffff800010000000) /* where vmlinux is linked for */
#define KERNEL UINT64_C(0xffffffc008000000) /* and where it ran */
#define MODULE UINT64_C(0xffffffc000120000)
#define NOP    0xd503201fu

struct kernel_run {
    char folder[64];
    struct rec_perf perf;
    struct rec_etmv4 *unit;
    struct rec_bytes trace;
};

/** A new folder, in which the kernel is mapped; traced as usual, or by another processor. */
void kernel_run_begin(struct kernel_run *r);
void kernel_run_begin_with(struct kernel_run *r, const struct rec_perf_cpu *traced,
                           const struct rec_etmv4_config *config);
/** A file in the folder. */
void kernel_run_bytes(const struct kernel_run *r, const char *name, const void *bytes, size_t size);
void kernel_run_file(const struct kernel_run *r, const char *name, const struct kernel_file *file);
/** `mode`: 1 the kernel's, 4 the kernel's of a guest. */
void kernel_run_map_of(struct kernel_run *r, uint32_t pid, uint16_t mode, uint64_t address,
                       uint64_t size, uint64_t offset, const char *path);
/** The process is unknown. */
void kernel_run_map_as(struct kernel_run *r, uint16_t mode, uint64_t address, uint64_t size,
                       uint64_t offset, const char *path);
void kernel_run_map(struct kernel_run *r, uint64_t address, uint64_t size, uint64_t offset,
                    const char *path);
/** The kernel runs from an address on: so many branches are taken. */
void kernel_run_at(struct kernel_run *r, uint64_t time, uint64_t address, unsigned taken,
                   uint64_t end);
/** Write perf.data under a name. */
void kernel_run_finish(struct kernel_run *r, const char *name);
/** The folder goes, with all that is in it. */
void kernel_run_end(const struct kernel_run *r);

struct kernel_heard {
    struct pug_capture *capture;
    uint64_t pcs[64], places[64], texts[64];
    int32_t tids[64];
    size_t count;
};

/** A file of the folder, decoded; the caller frees the capture. */
struct kernel_heard kernel_run_hear(const struct kernel_run *r, const char *name,
                                    const struct pug_capture_roots *roots);
struct kernel_heard kernel_run_hear_with(const struct kernel_run *r, const char *name,
                                         const struct pug_capture_options *options);
void kernel_heard_check(const struct kernel_heard *heard, const uint64_t *wanted, size_t count);
/** The name of a place of an object, or NULL. */
const char *kernel_heard_name(const struct kernel_heard *heard, struct pug_names *names,
                              const char *path, uint64_t vaddr);

/**
 * ETMv4.2 that traces CONTEXTIDR_EL2 in place of the VMID: the kernel runs at EL2, guests at EL1.
 */
extern const struct rec_perf_cpu kernel_run_vhe_cpu;
extern const struct rec_etmv4_config kernel_run_vhe_config;

#endif
