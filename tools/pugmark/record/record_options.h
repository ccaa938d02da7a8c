// SPDX-License-Identifier: MIT
/** @file What `pugmark record` is asked for. */
#ifndef PUGMARK_TOOL_RECORD_OPTIONS_H
#define PUGMARK_TOOL_RECORD_OPTIONS_H

#include "common/options.h"

#define RECORD_LIST 64

struct record_list {
    const char *items[RECORD_LIST];
    size_t count;
};

struct record_options {
    const char *protocol, *core, *out, *perf, *path, *from, *script, *calls;
    const char *qemu, *plugin, *sysroot, *children;
    struct record_list settings, filters, elf;
    uint64_t limit, buffer, id, seed;
    struct option_value sync, times, cycles, others;
    const char *loss;
    uint32_t expansion; /* of --from: 0 as usual */
    bool snapshot_mode, by_cpu, no_context, data, quiet, force;
};

extern const struct option record_option_table[];
extern const size_t record_option_count;

/** Prints the names that --set takes for each protocol. */
void record_options_help(void);

#endif
