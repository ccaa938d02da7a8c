// SPDX-License-Identifier: MIT
/** @file What a capture can never decide is said before it is decoded. */
#include "check/engine.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/author/protocol.h"

#include <stdlib.h>
#include <string.h>

/** The kinds of facts that the sources of a capture provide. */
struct abilities {
    bool flow, exceptions, dwt, software, data, threads;
    bool no_times, no_cycles; /* every source of program flow is known to be set up without */
    bool ns;
};

/** Registers in which trace units say that they count cycles, or tell times. */
static const struct clock_bits {
    const char *name;
    unsigned times, cycles;
} clock_bits[] = {{"TRCCONFIGR", 11, 4}, {"ETMCR", 28, 12}};

static void look_at_settings(const struct pug_settings *settings, bool *times, bool *cycles)
{
    *times = *cycles = true;
    for (size_t i = 0; settings && i < sizeof(clock_bits) / sizeof(clock_bits[0]); i++) {
        const uint64_t value = pug_settings_number(settings, clock_bits[i].name, UINT64_MAX);
        if (value == UINT64_MAX)
            continue;
        *times = value >> clock_bits[i].times & 1;
        *cycles = value >> clock_bits[i].cycles & 1;
        return;
    }
}

/** Look at a snapshot's devices; false: none of them shows it. */
static bool look_at_devices(const struct pug_snapshot *snapshot, bool *times, bool *cycles)
{
    const struct pug_snapshot_device *device;
    bool said = false;
    *times = *cycles = false;
    for (size_t n = 0; snapshot && (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++)
        for (size_t i = 0; i < device->register_count; i++)
            for (size_t k = 0; k < sizeof(clock_bits) / sizeof(clock_bits[0]); k++) {
                const struct pug_snapshot_register *known = &device->registers[i];
                char *end;
                if (strcmp(known->name, clock_bits[k].name) != 0)
                    continue;
                const uint64_t value = strtoull(known->value, &end, 0);
                said = true;
                *times |= value >> clock_bits[k].times & 1;
                *cycles |= value >> clock_bits[k].cycles & 1;
            }
    return said;
}

static struct abilities abilities_of(struct pug_check *check)
{
    struct abilities can = {.no_times = true, .no_cycles = true};
    const struct pug_source *source = NULL;
    const struct pug_capture_source *known;
    bool perf = pug_capture_kind(check->capture) == PUG_CAPTURE_PERF;
    for (size_t n = 0; check->tree && (source = pug_tree_source_at(check->tree, n)) != NULL; n++) {
        const struct pug_protocol *protocol = pug_source_protocol(source);
        const bool dwt = protocol->description && protocol->description->dwt;
        can.flow |= protocol->program_flow;
        can.dwt |= dwt;
        can.software |= !protocol->program_flow && !dwt;
    }
    can.flow |= perf || !check->tree;
    for (size_t n = 0; (known = pug_capture_source_at(check->capture, n)) != NULL; n++) {
        bool times, cycles;
        look_at_settings(known->settings, &times, &cycles);
        can.no_times &= !times;
        can.no_cycles &= !cycles;
    }
    bool times, cycles;
    if (look_at_devices(pug_capture_snapshot(check->capture), &times, &cycles)) {
        can.no_times = !times;
        can.no_cycles = !cycles;
    } else if (!pug_capture_source_at(check->capture, 0))
        can.no_times = can.no_cycles = false;
    can.ns = pug_capture_times(check->capture).unit == PUG_CAPTURE_NANOSECONDS;
    can.threads = perf || pug_capture_task_at(check->capture, 0) != NULL || can.flow;
    return can;
}

static bool needs_flow(const struct check_rule *rule)
{
    return rule->kind == CHECK_DEPTH || rule->kind == CHECK_ONLY_IN ||
           rule->kind == CHECK_COVERED || rule->kind == CHECK_PROGRAM ||
           rule->kind == CHECK_SHARE ||
           (rule->kind == CHECK_NOT_IN && rule->other.kind == CHECK_FUNCTION) ||
           rule->limit.unit == PUG_CHECK_INSTRUCTIONS;
}

static const char *of_unit(const struct abilities *can, const struct check_rule *rule)
{
    switch (rule->limit.unit) {
    case PUG_CHECK_NANOSECONDS:
        if (can->flow && can->no_times)
            return "the trace was recorded without timestamps";
        return can->ns ? NULL
                       : "how long a tick of the trace's timestamps is is not known: say it with "
                         "--clock HZ";
    case PUG_CHECK_TICKS:
        return can->flow && can->no_times ? "the trace was recorded without timestamps" : NULL;
    case PUG_CHECK_CYCLES:
        return can->flow && can->no_cycles ? "the trace was recorded without cycle counts" : NULL;
    default: return NULL;
    }
}

static bool is_unit(const struct check_rule *rule)
{
    return rule->kind == CHECK_TAKES || rule->kind == CHECK_EVERY || rule->kind == CHECK_WITHIN ||
           rule->kind == CHECK_NO_GAP || (rule->kind == CHECK_FOLLOWS && rule->has_limit);
}

/** Does what one of the two is stand in the trace of another source than the other? */
static bool is_mixed(const struct check_rule *rule)
{
    const bool port = rule->subject.kind == CHECK_PORT_LINE,
               other_port = rule->other.kind == CHECK_PORT_LINE;
    return rule->kind == CHECK_WITHIN && port != other_port;
}

/** Why a rule can never be decided; NULL: it may be. */
static const char *why_not(struct pug_check *check, const struct abilities *can,
                           const struct check_rule *rule)
{
    unsigned number;
    const bool handler = rule->subject.kind == CHECK_FUNCTION && !rule->subject.glob &&
                         !rule->subject.by_address &&
                         pug_vectors_number(&check->vectors, rule->subject.name, &number);
    if (!can->flow && needs_flow(rule))
        return "the input has no program flow";
    if (!can->flow && !can->dwt && rule->kind != CHECK_PORT && rule->kind != CHECK_NO_LOSS &&
        rule->kind != CHECK_NO_GAP &&
        !(rule->kind == CHECK_WITHIN && rule->subject.kind == CHECK_PORT_LINE &&
          rule->other.kind == CHECK_PORT_LINE))
        return "the input has no program flow, and no exceptions";
    if (!can->flow && rule->subject.kind == CHECK_FUNCTION && !handler && rule->kind != CHECK_NEVER)
        return "the input has no program flow: of functions only handlers of exceptions can be "
               "seen";
    if (!can->flow && rule->part == CHECK_PART_OWN)
        return "the input has no program flow: what a handler calls cannot be seen";
    if ((rule->kind == CHECK_PORT || rule->subject.kind == CHECK_PORT_LINE ||
         rule->other.kind == CHECK_PORT_LINE) &&
        !can->dwt && !can->software)
        return "the input has no ITM or STM, so no ports";
    if (can->flow && is_mixed(rule))
        return "what software says and what runs are traced by different sources, whose order is "
               "not known";
    return is_unit(rule) ? of_unit(can, rule) : NULL;
}

void pug_check_foresee(struct pug_check *check)
{
    const struct abilities can = abilities_of(check);
    check->flow = can.flow;
    check->software = can.dwt || can.software;
    check->ns = can.ns;
    check->uses_time = check->uses_cycles = check->looks_depth = check->counts_lines = false;
    check->looks_program = check->measures_own = check->looks_decisions = false;
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        const struct check_rule *rule = &tally->rule;
        const char *why = why_not(check, &can, rule);
        tally->impossible = why != NULL;
        tally->was_possible |= why == NULL;
        if (why)
            tally->why_not = why;
        if (why)
            continue;
        if (is_unit(rule) || rule->kind == CHECK_SHARE) {
            check->uses_time |=
                rule->limit.unit == PUG_CHECK_NANOSECONDS || rule->limit.unit == PUG_CHECK_TICKS;
            check->uses_cycles |= rule->limit.unit == PUG_CHECK_CYCLES;
        }
        check->measures_own |= rule->kind == CHECK_TAKES && rule->part == CHECK_PART_OWN;
        check->looks_depth |= rule->kind == CHECK_DEPTH;
        check->counts_lines |= rule->kind == CHECK_COVERED;
        check->looks_decisions |= rule->kind == CHECK_COVERED && rule->covered == CHECK_MCDC;
        check->looks_program |= rule->kind == CHECK_PROGRAM;
    }
}
