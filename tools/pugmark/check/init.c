// SPDX-License-Identifier: MIT
/**
 * @file Rules from what an input shows: what it did is what it may do, with some room. The input is
 * checked by them once; what it does not decide stands in comments.
 */
#include "calls/times.h"
#include "check_command.h"
#include "common/command.h"
#include "common/output.h"
#include "files/outfile.h"
#include "input/live_input.h"
#include "pugmark/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MOST 40u /* functions that get rules: those with the most time */

/** Is it a name that needs no quotes in a rule? */
static bool is_plain(const char *name)
{
    if (*name >= '0' && *name <= '9')
        return false;
    for (; *name; name++)
        if (!((*name >= '0' && *name <= '9') || ((*name | 0x20) >= 'a' && (*name | 0x20) <= 'z') ||
              *name == '_' || *name == '.' || *name == '$'))
            return false;
    return true;
}

static void put_name(struct pug_sink *sink, const char *name)
{
    if (is_plain(name)) {
        pug_sink_text(sink, name);
        return;
    }
    pug_sink_text(sink, "\"");
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            pug_sink_text(sink, "\\");
        pug_sink_put(sink, (unsigned char)*name < ' ' ? "?" : name, 1);
    }
    pug_sink_text(sink, "\"");
}

/** A fifth more than what was seen. */
static uint64_t with_room(uint64_t value)
{
    return value + value / 5 + 1;
}

/** Two digits of a number, rounded up, so that rules are numbers that people write. */
static uint64_t rounded(uint64_t value)
{
    uint64_t unit = 1;
    while (value / unit >= 100)
        unit *= 10;
    return (value + unit - 1) / unit * unit;
}

static void put_limit(struct pug_sink *sink, const struct times *times, uint64_t value)
{
    const uint64_t limit = rounded(with_room(value));
    const char *const unit = times_unit_name(times);
    if (strcmp(unit, "ns") == 0 && limit % 1000000 == 0)
        pug_sink_format(sink, "%" PRIu64 "ms", limit / 1000000);
    else if (strcmp(unit, "ns") == 0 && limit % 1000 == 0)
        pug_sink_format(sink, "%" PRIu64 "us", limit / 1000);
    else if (strcmp(unit, "ns") == 0)
        pug_sink_format(sink, "%" PRIu64 "ns", limit);
    else
        pug_sink_format(sink, "%" PRIu64 " %s", limit, unit);
}

static int by_total(const void *left, const void *right)
{
    const struct times_function *a = *(const struct times_function *const *)left,
                                *b = *(const struct times_function *const *)right;
    const uint64_t x = a->total[TIMES_INSTRUCTIONS], y = b->total[TIMES_INSTRUCTIONS];
    if (x != y)
        return x < y ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void put_rules(const struct times *times, const char *operand, struct pug_sink *sink)
{
    const enum times_unit unit = times_unit(times);
    const struct times_function **list = calloc(times->function_count + 1, sizeof(*list));
    size_t count = 0;
    for (uint32_t n = 0; list && n < times->function_count; n++)
        if (times->functions[n].name && times->functions[n].all.count > 0)
            list[count++] = &times->functions[n];
    if (count > 1)
        qsort(list, count, sizeof(*list), by_total);
    pug_sink_text(sink, "# Rules from what ");
    pug_sink_printable(sink, operand);
    pug_sink_text(
        sink, " shows, with a fifth more. A start: keep what has to hold, and say how\n"
              "# long things may take, not how long they took. docs/book/answers/check.md has all "
              "rules.\n\nno loss\nprogram matches\n\n");
    for (size_t n = 0; n < count && n < RULES_MOST; n++) {
        if (list[n]->all.longest[unit] > 0) {
            put_name(sink, list[n]->name);
            pug_sink_text(sink, " takes < ");
            put_limit(sink, times, list[n]->all.longest[unit]);
            pug_sink_format(sink, "  # %" PRIu64 " calls, the longest %" PRIu64 " %s\n",
                            list[n]->all.count, list[n]->all.longest[unit], times_unit_name(times));
        }
        if (unit == TIMES_INSTRUCTIONS)
            continue;
        put_name(sink, list[n]->name);
        pug_sink_format(sink, " instructions <= %" PRIu64 "\n",
                        rounded(with_room(list[n]->all.longest[TIMES_INSTRUCTIONS])));
    }
    if (count > RULES_MOST)
        pug_sink_format(sink, "# %zu functions that took less have no rule.\n", count - RULES_MOST);
    free(list);
}

/* ---- the input by its own rules ---- */

static bool decode(struct pug_check *check, struct input *input, struct pug_names *names)
{
    const struct pug_check_options options = {
        .threads = input_jobs(input), .names = names, .selection = &input->lists.selection};
    struct pug_capture_decode how = {0};
    struct pug_capture_result result = {0};
    if (pug_check_begin(check, input->capture, &options) != PUG_OK)
        return false;
    pug_check_decode(check, &how);
    const enum pug_status status = input_decode_quietly(input, &how, output_wanted, &result);
    return pug_check_end(check, status) == PUG_OK && pug_check_finish(check) == PUG_OK;
}

/** Which lines hold a rule that does not hold; NULL: that is not known. */
static bool *look_again(const struct pug_memory *rules, const struct check_options *options,
                        const char *operand, struct pug_names *names, size_t lines)
{
    struct pug_check *check = pug_check_new();
    struct pug_check_verdict verdict;
    struct input input;
    bool *open = calloc(lines + 2, sizeof(*open));
    bool known = check && open && !live_is_stream(operand) &&
                 pug_check_read(check, operand, rules->bytes, rules->count) == PUG_OK;
    if (known && input_open(&input, &options->input, operand)) {
        known = decode(check, &input, names);
        input_close(&input);
    } else {
        known = false;
    }
    for (size_t n = 0; known && pug_check_verdict_at(check, n, &verdict); n++)
        if (verdict.verdict != PUG_HOLDS && verdict.line <= lines)
            open[verdict.line] = true;
    pug_check_free(check);
    if (known)
        return open;
    free(open);
    return NULL;
}

static void put_lines(const struct pug_memory *rules, const bool *open, struct pug_sink *sink)
{
    size_t line = 1;
    for (size_t from = 0, at = 0; at < rules->count; at++) {
        if (rules->bytes[at] != '\n')
            continue;
        if (open && open[line])
            pug_sink_text(sink, "# not decided by this input: ");
        pug_sink_put(sink, rules->bytes + from, at + 1 - from);
        from = at + 1;
        line++;
    }
}

static int put_init(const struct times *times, const struct check_options *options,
                    const char *operand, struct pug_names *names)
{
    struct pug_memory rules = {0}, text = {0};
    struct pug_sink sink = pug_memory_sink(&rules), memory = pug_memory_sink(&text);
    size_t lines = 0;
    int code = 0;
    put_rules(times, operand, &sink);
    for (size_t n = 0; n < rules.count; n++)
        lines += rules.bytes[n] == '\n';
    bool *open = look_again(&rules, options, operand, names, lines);
    put_lines(&rules, open, options->output ? &memory : output_sink());
    errno = 0;
    if (rules.failed || text.failed ||
        (options->output &&
         pug_outfile_save_any(options->output, text.bytes, text.count) != PUG_OK)) {
        message_say("pugmark: %s: %s\n", options->output ? options->output : "--init",
                    errno ? strerror(errno) : pug_status_text(PUG_ERR_MEM));
        code = 2;
    }
    free(open);
    free(rules.bytes);
    free(text.bytes);
    return code;
}

int check_init(const struct check_options *options, const char *operand)
{
    struct input input;
    struct times *times = NULL;
    if (!input_open(&input, &options->input, operand))
        return 2;
    struct pug_names *names = capture_names(&options->input, &options->capture);
    const int code = names ? times_of(&input, names, NULL, &times) : EXIT_FATAL;
    input_close(&input);
    int written = code == EXIT_FATAL || code == EXIT_INPUT ? 2 : 0;
    if (times && times->function_count == 0) {
        message_say("pugmark: %s: no function ran in it: there is no program flow\n", operand);
        written = 2;
    }
    if (times && written == 0)
        written = put_init(times, options, operand, names);
    times_free(times);
    capture_names_end(names);
    return output_end() == EXIT_DONE ? written : 2;
}
