// SPDX-License-Identifier: MIT
/** @file The options that all subcommands share. */
#include "input.h"
#include "input_lists.h"
#include "live_input.h"

#include "common/suggest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_number(const struct option *option, void *target, const char *argument)
{
    uint64_t number;
    return option_number(option, &number, argument) && option_to_list(option, target, argument);
}

static bool add_setting(const struct option *option, void *target, const char *argument)
{
    if (!strchr(argument, '=') || *argument == '=')
        return option_refuse(option, argument, "expected NAME=VALUE");
    return option_to_list(option, target, argument);
}

/** Looks for the name of a core that was meant. */
static void find_core(const char *name, struct suggestion *near)
{
    char known[40];
    suggest_begin(near, name);
    for (size_t n = 0; pug_core_name(n, known, sizeof(known)) > 0; n++)
        suggest_offer(near, known);
}

static bool take_reference(const struct option *option, void *target, const char *argument)
{
    struct pug_quirks quirks;
    *(const char **)target = argument ? argument : "1.8.0";
    return pug_quirks_of_version(*(const char **)target, &quirks) ||
           option_refuse(option, argument, "versions that are known are 1.8.0 and 1.8.3");
}

static bool take_core(const struct option *option, void *target, const char *argument)
{
    enum pug_arch arch;
    enum pug_arch_profile profile;
    struct suggestion near;
    char why[160];
    *(const char **)target = argument;
    if (pug_core_by_name(argument, &arch, &profile))
        return true;
    find_core(argument, &near);
    snprintf(why, sizeof(why), "no core of this name is known (pugmark --list-cores)%s",
             near.question);
    return option_refuse(option, argument, why);
}

/**
 * "FILE@NUMBER"; where the number is not needed, "FILE". Behind either "@SOURCE=ID" may stand. Only
 * a part that could be one of these is taken for it, so that a file's name may hold an "@".
 */
static bool is_program(const char *argument, bool needed)
{
    struct input_program program;
    char *copy = strdup(argument);
    bool good = copy && input_program_cut(copy, &program) && (program.has_address || !needed);
    free(copy);
    return good;
}

static bool add_elf_file(const struct option *option, void *target, const char *argument)
{
    if (!is_program(argument, false))
        return option_refuse(option, argument, "expected FILE or FILE@BIAS, a number");
    return option_to_list(option, target, argument);
}

static bool add_image_file(const struct option *option, void *target, const char *argument)
{
    if (!is_program(argument, true))
        return option_refuse(option, argument, "expected FILE@ADDRESS, a number");
    return option_to_list(option, target, argument);
}

/** "NAME=FILE" says where an object is, "NAME" which ones are wanted. */
static bool add_object(const struct option *option, void *target, const char *argument)
{
    struct input_options *options = target;
    return option_to_list(
        option, strchr(argument, '=') ? &options->replacements : &options->objects, argument);
}

/** A rate becomes a setting: it is one of the capture's. */
static bool take_rate(const struct option *option, void *target, const char *argument,
                      const char *setting)
{
    char word[64];
    uint64_t hertz;
    if (!option_some(option, &hertz, argument))
        return false;
    snprintf(word, sizeof(word), "%s=%" PRIu64, setting, hertz);
    return option_list_add_copy(target, word);
}

bool input_has_clock(const struct input_options *options)
{
    const char *const name = "local_timestamp_hz=";
    for (size_t i = 0; i < options->settings.count; i++)
        if (strncmp(options->settings.items[i], name, strlen(name)) == 0)
            return true;
    return false;
}

bool input_take_clock(const struct option *option, void *target, const char *argument)
{
    return take_rate(option, target, argument, "local_timestamp_hz");
}

static bool take_global_clock(const struct option *option, void *target, const char *argument)
{
    return take_rate(option, target, argument, "timestamp_hz");
}

#define IN(member) offsetof(struct input_options, member)

const struct option input_option_table[] = {
    OPTION_GROUP("What INPUT is"),
    {"protocol", "PROTOCOL",
     "INPUT is one file of trace of this protocol (`pugmark info --help` lists them)",
     option_string, IN(protocol)},
    {"transport", "TRANSPORT",
     "how that file is framed (default: as the protocol usually is; `pugmark info --help`)",
     option_string, IN(transport)},
    {"core", "CORE",
     "core type, such as Cortex-A53 or ARMv8-A (`pugmark --list-cores`); overrides the capture's "
     "own",
     take_core, IN(core)},
    {"set", "SETTING=VALUE",
     "a register or parameter (of a snapshot's source: SOURCE:NAME=VALUE); may be repeated",
     add_setting, IN(settings)},
    {"params", "FILE",
     "parameters from a file of NAME = VALUE lines, or from a device file of a snapshot",
     option_string, IN(params)},
    {"clock", "HZ", "the core's clock, which local timestamps of an ITM count: times in seconds",
     input_take_clock, IN(settings)},
    {"global-clock", "HZ", "the clock of timestamps that all sources share; the same",
     take_global_clock, IN(settings)},
    OPTION_GROUP("The program"),
    {"elf", "FILE[@BIAS][@SOURCE=ID]",
     "program: an ELF file, moved by BIAS; for all sources or for one; may be repeated",
     add_elf_file, IN(elf)},
    {"image", "FILE@ADDRESS[@SOURCE=ID]", "program: a raw memory image; may be repeated",
     add_image_file, IN(image)},
    {"symfs", "DIR", "programs that INPUT names are below this folder (default: /)", option_string,
     IN(symfs)},
    {"symdir", "DIR", "look for programs here and below, by build id and name; may be repeated",
     option_to_list, IN(symdirs)},
    {"buildid-dir", "DIR", "perf's build id cache (default: ~/.debug)", option_string,
     IN(build_ids)},
    {"vmlinux", "FILE", "the kernel: its ELF file, or a kcore", option_string, IN(vmlinux)},
    {"kallsyms", "FILE", "the kernel's symbols", option_string, IN(kallsyms)},
    {"debuginfod", "URLS", "ask these servers for programs that are not here", option_string,
     IN(debuginfod)},
    OPTION_GROUP("What of it"),
    {"buffer", "BUFFER", "only this trace buffer (default: all)", option_string, IN(buffer)},
    {"source", "ID", "only this trace source; may be repeated", add_number, IN(sources)},
    {"pid", "PID", "only this process; may be repeated", add_number, IN(pids)},
    {"tid", "TID", "only this thread; may be repeated", add_number, IN(tids)},
    {"comm", "THREAD", "only threads of this name; may be repeated", option_to_list, IN(comms)},
    {"cpu", "CPU", "only what ran on this processor; may be repeated", add_number, IN(cpus)},
    {"dso", "OBJECT", "only code of this program or library; or NAME=FILE: it is in that file",
     add_object, 0},
    {"time", "FROM,TO",
     "only what ran then: seconds.fraction, or numbers in the unit that `info` names",
     option_string, IN(time)},
    OPTION_GROUP("Live inputs"),
    {"for", "TIME", "end after 250ms, 10s, 5m, 2h", live_take_time, IN(live.duration_ms)},
    {"until", "exception|event|ADDRESS", "end at one of these, or when a function runs",
     option_string, IN(live.until)},
    {"retry", "[=TIME]", "reconnect every 250 ms, for so long (default: for ever)", live_take_retry,
     IN(live)},
    {"save", "FILE|FOLDER/",
     "keep the raw bytes: FILE, FILE.2 and so on, or a snapshot with a buffer for each connection",
     option_string, IN(live.save)},
    {"ring", "N",
     "keep the newest N bytes that are not decoded yet; older ones are dropped (live: 4194304)",
     option_size, IN(live.ring)},
    OPTION_GROUP("How it is decoded"),
    {"jobs", "N", "decode on N threads (default, and 0: one for each processor)", option_jobs,
     IN(jobs)},
    {"reference", "[=1.8.0|1.8.3]",
     "imitate the reference decoder's quirks: those of 1.8.0 (default) or 1.8.3", take_reference,
     IN(reference)},
    {"expansion", "N", "most ranges that a byte of a packet may give (default: 1048576)",
     option_expansion, IN(expansion)},
    {"source-limit", "N", "most sources that ids in one file make (default: 256)", option_size,
     IN(source_limit)},
    {"quiet", NULL, "no messages about the trace, no progress", option_flag, IN(quiet)},
    OPTION_GROUP("Safety with inputs of others"),
    {"confine", NULL,
     "refuse a snapshot that names files outside of its folder; look for programs of a perf.data "
     "in given folders only",
     option_flag, IN(confine)},
    {"sandbox", NULL,
     "fail where the system has no sandbox: start no program, connect nowhere, read and write "
     "nothing but what is named (default: where the system can do it)",
     option_flag, IN(sandbox)},
    {"no-sandbox", NULL, "do without the sandbox", option_flag, IN(no_sandbox)},
};
const size_t input_option_count = sizeof(input_option_table) / sizeof(input_option_table[0]);
