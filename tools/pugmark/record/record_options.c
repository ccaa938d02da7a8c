// SPDX-License-Identifier: MIT
#include "record_options.h"

#include "recorder/unit.h"

#include <inttypes.h>
#include <stdio.h>

static bool add(const struct option *option, void *target, const char *argument)
{
    struct record_list *list = target;
    if (list->count == RECORD_LIST)
        return option_refuse(option, argument, "there are too many of them");
    list->items[list->count++] = argument;
    return true;
}

static bool take_id(const struct option *option, void *target, const char *argument)
{
    return option_up_to(option, argument, UINT16_MAX, target);
}

#define AT(member) offsetof(struct record_options, member)

const struct option record_option_table[] = {
    {"protocol", "etmv4|ete|etmv3|ptm|mtb|etrace|ntrace|stm|itm|dwt|osd",
     "etmv4, ete, etmv3, ptm, mtb, etrace, ntrace (none: --path alone); of scripts stm, itm, dwt, "
     "osd",
     option_string, AT(protocol)},
    {"out", "DIR", "the snapshot folder to write", option_string, AT(out)},
    {"force", NULL,
     "--out may hold other files: those with names of new ones are replaced, the rest stays",
     option_flag, AT(force)},
    {"perf", "FILE", "or the perf.data to write instead: Arm's protocols", option_string, AT(perf)},
    {"by-cpu", NULL, "its buffers are the processors', not the threads'", option_flag, AT(by_cpu)},
    {"path", "FILE", "write the executed path, too (the book: The path file)", option_string,
     AT(path)},
    {"from", "FILE", "a path, or a log of Spike's or QEMU's, or addresses; no program is run",
     option_string, AT(from)},
    {"expansion", "N", "most blocks that a byte of such a path may repeat (default: 1048576)",
     option_expansion, AT(expansion)},
    {"script", "FILE", "events in words (the book: Scripts of events); no program is run",
     option_string, AT(script)},
    {"elf", "FILE[@BIAS]", "the program of such a log, moved by BIAS; may be repeated", add,
     AT(elf)},
    {"core", "CORE", "name of the core in the snapshot", option_string, AT(core)},
    {"set", "SETTING=VALUE", "an option of the protocol, listed below; may be repeated", add,
     AT(settings)},
    {"random", "SEED", "what --set leaves open is any legal choice", option_number, AT(seed)},
    {"limit", "N", "no more than about N instructions; a machine is ended there", option_number,
     AT(limit)},
    {"filter", "FUNCTION|START-END",
     "trace only this function, or START-END, where each is a number, FUNCTION+0x10 or FILE:LINE; "
     "may be repeated",
     add, AT(filters)},
    {"calls", "off|on|silent", "system calls: off (trace goes off; default), on, silent",
     option_string, AT(calls)},
    {"data", NULL, "accesses to memory, too: in the path, and as data trace (etrace, etmv3, itm)",
     option_flag, AT(data)},
    {"loss", "PERCENT", "so much of the trace is lost in overflows", option_string, AT(loss)},
    {"buffer", "BYTES",
     "room of the sink: where it is full trace overflows (--perf: a stretch ends)", option_number,
     AT(buffer)},
    {"snapshot-mode", NULL, "the sink is circular: the newest --buffer bytes stay", option_flag,
     AT(snapshot_mode)},
    {"sync", "N", "synchronise every N instructions or so (default 20000; 0: never)", option_given,
     AT(sync)},
    {"times", "N", "a timestamp every N instructions or so (default 1000)", option_given,
     AT(times)},
    {"cycle-counts", "N", "a cycle count every N instructions or so (default 200)", option_given,
     AT(cycles)},
    {"others", "N", "other packets every N instructions or so (default 5000)", option_given,
     AT(others)},
    {"id", "N", "trace id, or source id, of the first processor (default 16; RISC-V 0)", take_id,
     AT(id)},
    {"no-context", NULL, "threads keep one context id", option_flag, AT(no_context)},
    {"qemu", "FILE", "the emulator (default: qemu-MACHINE)", option_string, AT(qemu)},
    {"plugin", "FILE", "libpugmark_record.so", option_string, AT(plugin)},
    {"sysroot", "DIR",
     "where the program's libraries are (QEMU's -L; default: the cross libraries of Debian)",
     option_string, AT(sysroot)},
    {"children", "NAME", "forked children write their paths to NAME.PID, for --from", option_string,
     AT(children)},
    {"quiet", NULL, "say nothing where all is well", option_flag, AT(quiet)},
};

const size_t record_option_count = sizeof(record_option_table) / sizeof(record_option_table[0]);

void record_options_help(void)
{
    const struct rec_unit_class *unit;
    for (unsigned n = 0; (unit = rec_unit_at(n)) != NULL; n++) {
        printf("\n--set with --protocol %s:\n", unit->name);
        for (unsigned i = 0; i < unit->option_count; i++)
            printf("  %-22s %s (0 to %" PRIu64 ", default %" PRIu64 ")\n", unit->options[i].name,
                   unit->options[i].help, unit->options[i].most, unit->options[i].otherwise);
    }
}
