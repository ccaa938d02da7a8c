// SPDX-License-Identifier: MIT
/** @file pugmark check: does a trace keep these rules? */
#include "check/threads.h"
#include "check_command.h"
#include "common/command.h"
#include "common/output.h"
#include "common/progress.h"
#include "files/infile.h"
#include "files/outfile.h"
#include "input/live_input.h"
#include "report.h"
#include "threads/kernel_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The exit codes of check, which are its own. */
enum check_code { CHECK_HOLD = 0, CHECK_FAIL = 1, CHECK_WRONG = 2, CHECK_OPEN = 3 };

#define RULES_MOST ((size_t)16 << 20)

/** The name of the rules that are checked without a file. */
static const char usual_file[] = "usual rules";

static bool take_format(const struct option *option, void *target, const char *argument)
{
    if (!check_format(argument))
        return option_refuse(option, argument, "the formats are text, junit, tap, json and github");
    return option_string(option, target, argument);
}

static const struct option table[] = {
    {"rule", "RULE", "a rule, beside those of a file or in their place; may be repeated",
     option_to_list, offsetof(struct check_options, rules)},
    {"format", "text|junit|tap|json|github", "text (default), junit, tap, json or github",
     take_format, offsetof(struct check_options, format)},
    {"output", "FILE", "write to FILE (-o)", option_string, offsetof(struct check_options, output)},
    {"allow-undecided", NULL, "undecided rules do not count: exit 0 if none is violated",
     option_flag, offsetof(struct check_options, allow_undecided)},
    {"strict", NULL, "calls that the trace has a part of alone leave a rule undecided", option_flag,
     offsetof(struct check_options, strict)},
    {"keep-going", NULL, "of a live input: go on behind the first violation", option_flag,
     offsetof(struct check_options, keep_going)},
    {"baseline", "OLD", "compare with a former capture or profile: what got slower fails",
     option_string, offsetof(struct check_options, baseline)},
    {"tolerance", "PERCENT", "of --baseline: how much slower is no matter (default: 10)",
     option_given, offsetof(struct check_options, tolerance)},
    {"init", NULL, "write rules from what INPUT shows, as a start", option_flag,
     offsetof(struct check_options, init)},
};

/* ---- rules ---- */

/** The line with a mark under what is meant. */
static void say_error(const struct pug_check_error *error)
{
    char mark[256];
    const uint32_t length = error->length < 64 ? error->length : 64;
    message_say("%s:%" PRIu32 ":%" PRIu32 ": %s\n", error->file, error->line, error->column,
                error->message);
    if (error->column > 160)
        return;
    message_say("  %.400s\n", error->text);
    size_t at = 0;
    for (uint32_t i = 1; i < error->column; i++)
        mark[at++] = error->text[i - 1] == '\t' ? '\t' : ' ';
    for (uint32_t i = 0; i < (length ? length : 1); i++)
        mark[at++] = '^';
    mark[at] = '\0';
    message_say("  %s\n", mark);
}

static void say_errors(const struct pug_check *check)
{
    struct pug_check_error error;
    for (size_t n = 0; n < 20 && pug_check_error_at(check, n, &error); n++)
        say_error(&error);
    if (pug_check_error_at(check, 20, &error))
        message_say("pugmark: more rules are wrong; mend these first\n");
}

static int said_status(struct pug_check *check, const char *path, enum pug_status status)
{
    if (status == PUG_OK)
        return CHECK_HOLD;
    if (status == PUG_ERR_FORMAT || status == PUG_ERR_NOT_FOUND)
        say_errors(check);
    else if (status == PUG_ERR_LIMIT)
        message_say("pugmark: %s: more than 4096 rules, or a line longer than 64 KiB\n", path);
    else
        message_say("pugmark: %s: %s\n", path, pug_status_text(status));
    return CHECK_WRONG;
}

static int read_file(struct pug_check *check, const char *path)
{
    uint8_t *bytes;
    size_t size;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        message_say("pugmark: %s: a folder, not a file of rules: `pugmark check RULES INPUT`, or "
                    "--rule\n",
                    path);
        return CHECK_WRONG;
    }
    errno = 0;
    const enum pug_status status = pug_infile_load(path, RULES_MOST, &bytes, &size);
    if (status != PUG_OK) {
        message_say("pugmark: %s: %s\n", path, errno ? strerror(errno) : pug_status_text(status));
        return CHECK_WRONG;
    }
    const int code =
        said_status(check, path, pug_check_read(check, path, (const char *)bytes, size));
    free(bytes);
    return code;
}

/** The rules of --rule, a line each, so that a message says which one it is of. */
static int read_words(struct pug_check *check, const struct option_list *rules)
{
    struct pug_memory text = {0};
    struct pug_sink sink = pug_memory_sink(&text);
    for (size_t n = 0; n < rules->count; n++) {
        pug_sink_text(&sink, rules->items[n]);
        pug_sink_text(&sink, "\n");
    }
    const enum pug_status status =
        text.failed ? PUG_ERR_MEM : pug_check_read(check, "--rule", text.bytes, text.count);
    free(text.bytes);
    return said_status(check, "--rule", status);
}

static int read_rules(struct pug_check *check, const struct check_options *options,
                      const char *path)
{
    int code = path ? read_file(check, path) : CHECK_HOLD;
    if (code == CHECK_HOLD && options->rules.count > 0)
        code = read_words(check, &options->rules);
    struct pug_check_verdict verdict;
    if (code != CHECK_HOLD || pug_check_verdict_at(check, 0, &verdict))
        return code;
    if (path) {
        message_say("pugmark: %s: there are no rules in it\n", path);
        return CHECK_WRONG;
    }
    if (options->baseline)
        return CHECK_HOLD;
    static const char usual[] = "no loss\nprogram matches\n";
    return said_status(check, usual_file,
                       pug_check_read(check, usual_file, usual, sizeof(usual) - 1));
}

/* ---- inputs ---- */

struct checking {
    struct pug_check *check;
    const struct check_options *options;
    bool decoding;
};

/**
 * Rules that an input can never decide, before anything is decoded; of live ones the others, too.
 */
static void on_found(void *context, size_t rule)
{
    const struct checking *checking = context;
    struct pug_check_verdict verdict;
    char place[1024] = "";
    if (!pug_check_verdict_at(checking->check, rule, &verdict))
        return;
    if (checking->decoding && !checking->options->live)
        return;
    if (verdict.has_place)
        check_place_text(&verdict.place, place, sizeof(place));
    message_say("%s:%" PRIu32 ": %s: %s: %s%s%s\n", verdict.file, verdict.line,
                pug_verdict_name(verdict.verdict), verdict.rule, verdict.why, *place ? ": " : "",
                place);
}

static bool goes_on(void)
{
    return true;
}

/** With a kernel's threads where there are some. False: --rtos is wrong, as was said. */
static bool decode(struct checking *checking, struct input *input, struct pug_names *names,
                   enum pug_status *status, struct pug_capture_result *result)
{
    const struct thread_kernel_wanted kernel =
        kernel_wanted(input, names, checking->options->capture.rtos);
    struct pug_capture_decode how = {0};
    struct check_threads *threads = NULL;
    *status = input->is_stream ? PUG_OK : pug_check_threads_new(checking->check, &kernel, &threads);
    if (*status == PUG_ERR_INVALID_PARAM_VAL)
        return false;
    if (threads)
        pug_check_threads_decode(threads, &how);
    else
        pug_check_decode(checking->check, &how);
    if (*status == PUG_OK)
        *status = input_decode_quietly(input, &how, goes_on, result);
    if (threads)
        *status = pug_check_threads_end(threads, *status);
    return true;
}

/** Decodes an open input; a check_code. */
static int check_opened(struct checking *checking, struct input *input, struct pug_names *names)
{
    const bool live = input->is_stream;
    const struct pug_check_options options = {
        .threads = input_jobs(input),
        .names = names,
        .selection = &input->lists.selection,
        .strict = checking->options->strict,
        .stop = live && !checking->options->keep_going,
        .found = input->options->quiet ? NULL : on_found,
        .found_context = checking,
    };
    struct pug_capture_result result = {0};
    checking->decoding = false;
    enum pug_status status = pug_check_begin(checking->check, input->capture, &options);
    if (status != PUG_OK)
        return said_status(checking->check, pug_capture_path(input->capture), status);
    checking->decoding = true;
    if (!decode(checking, input, names, &status, &result))
        return CHECK_WRONG;
    const enum pug_status checked = pug_check_end(checking->check, PUG_OK);
    if (status == PUG_OK && checked == PUG_ERR_MEM)
        status = checked;
    if (status == PUG_OK && checked != PUG_OK)
        return said_status(checking->check, pug_capture_path(input->capture), checked);
    const int code = input_concluded(input, status, &result);
    return code == EXIT_INPUT || code == EXIT_FATAL    ? CHECK_WRONG
           : code == EXIT_TRACE_ERRORS && input->wrong ? CHECK_OPEN
                                                       : CHECK_HOLD;
}

static int check_inputs(struct checking *checking, char **inputs, struct pug_names *names,
                        bool *doubtful)
{
    int code = CHECK_HOLD;
    for (; *inputs && code == CHECK_HOLD; inputs++) {
        struct input input;
        if (!input_open(&input, &checking->options->input, *inputs))
            return CHECK_WRONG;
        code = check_opened(checking, &input, names);
        *doubtful |= code == CHECK_OPEN;
        if (code == CHECK_OPEN)
            code = CHECK_HOLD;
        input_close(&input);
        if (input_failed())
            code = CHECK_WRONG;
    }
    return code;
}

/* ---- the result ---- */

static int put_report(const struct pug_check *check, const struct check_options *options)
{
    struct check_report report = {
        .check = check, .allow_undecided = options->allow_undecided, .sink = output_sink()};
    check_format_fn *const format = check_format(options->format ? options->format : "text");
    if (!options->output) {
        format(&report);
        return output_end() == EXIT_DONE ? CHECK_HOLD : CHECK_WRONG;
    }
    struct pug_memory text = {0};
    struct pug_sink sink = pug_memory_sink(&text);
    report.sink = &sink;
    format(&report);
    errno = 0;
    const enum pug_status status =
        text.failed ? PUG_ERR_MEM : pug_outfile_save_any(options->output, text.bytes, text.count);
    free(text.bytes);
    if (status == PUG_OK)
        return CHECK_HOLD;
    message_say("pugmark: %s: %s\n", options->output,
                errno ? strerror(errno) : pug_status_text(status));
    return CHECK_WRONG;
}

static bool has_open(const struct pug_check *check, const struct check_options *options)
{
    const struct check_report report = {.check = check,
                                        .allow_undecided = options->allow_undecided};
    struct pug_check_verdict verdict;
    bool open = false;
    for (size_t n = 0; pug_check_verdict_at(check, n, &verdict); n++)
        open |= check_is_open(&report, &verdict);
    return open;
}

/** Are the rules those that are checked without a file? */
static bool is_usual(const struct pug_check *check)
{
    struct pug_check_verdict verdict;
    return pug_check_verdict_at(check, 0, &verdict) && strcmp(verdict.file, usual_file) == 0;
}

static int result_of(struct pug_check *check, const struct check_options *options, bool doubtful)
{
    const enum pug_status status = pug_check_finish(check);
    if (status != PUG_OK)
        return said_status(check, "pugmark", status);
    struct pug_check_verdict verdict;
    const bool any = pug_check_verdict_at(check, 0, &verdict);
    if (any && !pug_check_saw(check)) {
        message_say("pugmark: nothing was decoded, so no rule was checked\n");
        return CHECK_WRONG;
    }
    const int written = any ? put_report(check, options) : CHECK_HOLD;
    if (written != CHECK_HOLD)
        return written;
    const int code = check_count(check).violated > 0 ? CHECK_FAIL
                     : has_open(check, options)      ? CHECK_OPEN
                                                     : CHECK_HOLD;
    /* What holds by a wrong program, or where most of it is missing, does not hold. */
    if (!doubtful || code == CHECK_OPEN || (code == CHECK_FAIL && !is_usual(check)))
        return code;
    message_say("pugmark: what is said above of the input makes this result doubtful: it is no "
                "result\n");
    return CHECK_WRONG;
}

static int check_all(const struct check_options *options, const char *rules, char **inputs)
{
    struct checking checking = {.check = pug_check_new(), .options = options};
    bool doubtful = false;
    if (!checking.check) {
        message_say("pugmark: out of memory\n");
        return CHECK_WRONG;
    }
    int code = read_rules(checking.check, options, rules);
    struct pug_names *names =
        code == CHECK_HOLD ? capture_names(&options->input, &options->capture) : NULL;
    struct pug_check_verdict verdict;
    if (code == CHECK_HOLD && !names)
        code = CHECK_WRONG;
    if (code == CHECK_HOLD && pug_check_verdict_at(checking.check, 0, &verdict))
        code = check_inputs(&checking, inputs, names, &doubtful);
    if (code == CHECK_HOLD)
        code = result_of(checking.check, options, doubtful);
    if (options->baseline && (code == CHECK_HOLD || code == CHECK_FAIL || code == CHECK_OPEN)) {
        const int compared = check_baseline(options, inputs, names);
        code = compared == CHECK_WRONG || code == CHECK_HOLD ? compared
               : compared == CHECK_FAIL                      ? compared
                                                             : code;
    }
    capture_names_end(names);
    pug_check_free(checking.check);
    return code;
}

static int check_run(const struct command *self, int argc, char **argv)
{
    struct check_options options = {0};
    struct input_several several;
    const struct option_set sets[] = {OPTION_SET(table, &options),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    const int end = command_start(self, argc, argv, sets, 3, -1);
    if (end >= 0)
        return end;
    char **inputs = argv + 1;
    const char *rules = NULL;
    if (options.init) {
        if (options.rules.count > 0 || options.baseline || inputs[1]) {
            message_say("pugmark: --init takes one INPUT, and no rules\n");
            return CHECK_WRONG;
        }
        return check_init(&options, inputs[0]);
    }
    if (options.rules.count == 0 && inputs[1])
        rules = *inputs++;
    input_of_several(&options.input, inputs, &several);
    for (char **input = inputs; *input; input++)
        options.live |= live_is_stream(*input);
    if (options.keep_going && !options.live) {
        message_say("pugmark: --keep-going is of live inputs: of others all violations are told\n");
        return CHECK_WRONG;
    }
    return check_all(&options, rules, inputs);
}

const struct command command_check = {
    .name = "check",
    .operands = "[RULES] INPUT...",
    .summary = "does the trace keep these rules? times, orders, coverage",
    .run = check_run,
    .task = TASK_DEBUG,
    .purpose =
        "Checks rules of a file, such as \"SysTick_Handler takes < 20us\", against what ran: "
        "a trace as a test. Exit code 0: all hold; 1: one is violated; 2: rules or input are "
        "wrong; 3: the trace does not decide one.",
    .examples =
        {
            {"pugmark check --rule 'call never runs' examples/crash",
             "a rule on the command line, and where it was violated"},
            {"pugmark check --init examples/crash", "rules from what a capture shows, as a start"},
            {"pugmark check --format junit --rule 'no loss' examples/crash",
             "a report for a CI system"},
        },
};
