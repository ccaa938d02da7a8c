// SPDX-License-Identifier: MIT
/** @file pugmark find: where in the capture something happened. */
#include "capture/capture.h"
#include "common/command.h"
#include "common/messages.h"
#include "common/output.h"
#include "common/sandbox.h"
#include "common/suggest.h"
#include "diagnose/diagnosis.h"
#include "index_input.h"
#include "input/address.h"
#include "input/input_lists.h"
#include "pugmark/advanced/index.h"
#include "pugmark/author/protocol.h"
#include "pugmark/dwt.h"
#include "swo/handlers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

struct find_options {
    struct input_options input;
    const char *index;
    const char *time;
    struct option_value timestamp, event, context, exception, after, before;
    struct option_value vmid, hardware, elapsed;
    const char *exception_name, *address;
    bool trigger, sync, overflow, trace_on, discard, transaction;
    struct address_places places; /* of `address` */
};

/** A number, or the name of an exception of a Cortex-M, which the program's handlers have, too. */
static bool take_exception(const struct option *option, void *target, const char *argument)
{
    struct find_options *options =
        (struct find_options *)((char *)target - offsetof(struct find_options, exception));
    if (parse_number(argument, &options->exception.value) || !isalpha((unsigned char)*argument))
        return option_given(option, target, argument);
    options->exception.given = true;
    options->exception_name = argument;
    return true;
}

static const struct option table[] = {
    {"time", "T",
     "the first timestamp of T or later: seconds.fraction, or a number in the unit that info names",
     option_string, offsetof(struct find_options, time)},
    {"timestamp", "N", "the same of timestamps as the trace has them", option_given,
     offsetof(struct find_options, timestamp)},
    {"trigger", NULL, "a trigger", option_flag, offsetof(struct find_options, trigger)},
    {"event", "N", "event N (ITM: stimulus port; STM: flag of channel N)", option_given,
     offsetof(struct find_options, event)},
    {"context", "C", "context id C (STM: master)", option_given,
     offsetof(struct find_options, context)},
    {"address", "ADDRESS", "a packet that tells this address: a number, a function, FILE:LINE",
     option_string, offsetof(struct find_options, address)},
    {"exception", "N", "exception N; or by name: SysTick, or its handler's", take_exception,
     offsetof(struct find_options, exception)},
    {"sync", NULL, "a synchronisation point", option_flag, offsetof(struct find_options, sync)},
    {"overflow", NULL, "a place where trace was lost", option_flag,
     offsetof(struct find_options, overflow)},
    {"vmid", "N", "virtual machine N", option_given, offsetof(struct find_options, vmid)},
    {"dwt", "N", "a packet of hardware source N of an ITM", option_given,
     offsetof(struct find_options, hardware)},
    {"elapsed", "T", "where local times, that are differences, add up to T", option_given,
     offsetof(struct find_options, elapsed)},
    {"trace-on", NULL, "a place where tracing began or went on", option_flag,
     offsetof(struct find_options, trace_on)},
    {"discard", NULL, "a place where the trace unit dropped what it held", option_flag,
     offsetof(struct find_options, discard)},
    {"transaction", NULL, "a begin or end of a memory transaction", option_flag,
     offsetof(struct find_options, transaction)},
    {"after", "OFFSET", "the first at this trace offset or after it", option_given,
     offsetof(struct find_options, after)},
    {"before", "OFFSET", "the last before this trace offset", option_given,
     offsetof(struct find_options, before)},
    {"index", "FILE", "the index file (default: the trace's name and .pugindex)", option_string,
     offsetof(struct find_options, index)},
};

/** What the options ask for; false, having said so, unless it is one thing. */
static bool make_query(const struct find_options *options, struct pug_index_query *query)
{
    const struct {
        bool given;
        enum pug_mark_kind kind;
        uint64_t least, greatest;
    } choices[] = {
        {options->time, PUG_MARK_TIMESTAMP, 0, UINT64_MAX},
        {options->timestamp.given, PUG_MARK_TIMESTAMP, options->timestamp.value, UINT64_MAX},
        {options->trigger, PUG_MARK_TRIGGER, 0, UINT64_MAX},
        {options->event.given, PUG_MARK_EVENT, options->event.value, options->event.value},
        {options->context.given, PUG_MARK_CONTEXT, options->context.value, options->context.value},
        {options->address, PUG_MARK_ADDRESS, 0, 0},
        {options->exception.given, PUG_MARK_EXCEPTION, options->exception.value,
         options->exception.value},
        {options->sync, PUG_MARK_SYNC, 0, UINT64_MAX},
        {options->overflow, PUG_MARK_OVERFLOW, 0, UINT64_MAX},
        {options->vmid.given, PUG_MARK_VMID, options->vmid.value, options->vmid.value},
        {options->hardware.given, PUG_MARK_HARDWARE, options->hardware.value,
         options->hardware.value},
        {options->elapsed.given, PUG_MARK_TIME_STEP, 0, UINT64_MAX},
        {options->trace_on, PUG_MARK_TRACE_ON, 0, UINT64_MAX},
        {options->discard, PUG_MARK_DISCARD, 0, UINT64_MAX},
        {options->transaction, PUG_MARK_TRANSACTION, 0, UINT64_MAX},
    };
    unsigned found = 0;
    *query = (struct pug_index_query){
        .source = PUG_INDEX_ANY,
        .from = options->before.given ? options->before.value : options->after.value,
        .backwards = options->before.given,
    };
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        if (!choices[i].given)
            continue;
        found++;
        query->kind = choices[i].kind;
        query->least = choices[i].least;
        query->greatest = choices[i].greatest;
    }
    if (found != 1 || (options->before.given && options->after.given)) {
        message_say("pugmark: find needs one of --time, --timestamp, --trigger, --event, "
                    "--context, --address, --exception, --sync, --overflow, --vmid, --dwt, "
                    "--elapsed, --trace-on, --discard, --transaction, and at most one of "
                    "--after and --before\n");
        return false;
    }
    if (options->input.sources.count > 1) {
        message_say("pugmark: find takes one --source\n");
        return false;
    }
    uint64_t id;
    if (options->input.sources.count > 0 && parse_number(options->input.sources.items[0], &id))
        query->source = (uint32_t)(id & 0xFFFF);
    return true;
}

/**
 * Says that an index of a part may have missed the answer. Returns whether nothing was found for
 * that reason alone.
 */
static bool missed(const struct input *input, const struct pug_index *index,
                   const struct pug_index_query *query, enum pug_status found)
{
    struct pug_index_info info;
    pug_index_info(index, &info);
    const bool late = info.indexed<info.trace_size, early = info.from> 0;
    const bool lacks = found == PUG_OK ? (query->backwards ? late && query->from > info.indexed
                                                           : early && query->from < info.from)
                                       : late || early;
    if (!lacks || (found != PUG_OK && found != PUG_ERR_NOT_FOUND))
        return false;
    message_say("pugmark: %s: only its bytes from %" PRIu64 " to %" PRIu64 " of %" PRIu64
                " are indexed%s; `pugmark index%s` indexes the rest\n",
                input->trace_path, info.from, info.indexed, info.trace_size,
                found == PUG_OK ? ", there may be a nearer one in the others"
                                : ", and there is no such place in these",
                early ? " --rebuild" : "");
    return found != PUG_OK;
}

/** The nearest place of any of the addresses. */
static enum pug_status find_nearest(struct pug_index *index, const struct input *input,
                                    const struct find_options *options,
                                    const struct pug_index_query *query,
                                    struct pug_index_mark *mark)
{
    enum pug_status found = PUG_ERR_NOT_FOUND;
    struct pug_index_query one = *query;
    for (size_t i = 0; i < options->places.count; i++) {
        struct pug_index_mark other;
        one.least = one.greatest = options->places.items[i].absolute;
        const enum pug_status status =
            pug_index_find(index, input->tree, input->trace, input->trace_size, &one, &other);
        if (status != PUG_OK && status != PUG_ERR_NOT_FOUND)
            return status;
        if (status != PUG_OK || (found == PUG_OK && (other.at < mark->at) == query->backwards))
            continue;
        found = PUG_OK;
        *mark = other;
    }
    return found;
}

/* ---- exceptions that are no marks ---- */

struct decoding {
    const struct pug_index_query *query;
    struct pug_index_mark *mark;
    bool found;
};

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct decoding *decoding = context;
    const struct pug_index_query *query = decoding->query;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->type != PUG_ELEM_EXCEPTION || (decoding->found && !query->backwards) ||
            (query->source != PUG_INDEX_ANY && e->source != query->source) ||
            (query->backwards ? e->index >= query->from : e->index < query->from))
            continue;
        const unsigned number =
            pug_exception_vector((enum pug_exception_numbers)e->reason, e->number);
        if (number == 0 || number < query->least || number > query->greatest)
            continue;
        *decoding->mark = (struct pug_index_mark){
            .at = e->index, .value = number, .source = e->source, .kind = PUG_MARK_EXCEPTION};
        decoding->found = true;
    }
    return PUG_RESP_CONT;
}

/** Has the input a source whose exceptions decoding alone finds? */
static bool must_decode(const struct input *input)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        const struct pug_description *has = pug_source_protocol(source)->description;
        if (has && has->exceptions_decoded)
            return true;
    }
    return false;
}

static enum pug_status find_decoded(struct input *input, const struct pug_index_query *query,
                                    struct pug_index_mark *mark)
{
    struct decoding decoding = {.query = query, .mark = mark};
    uint64_t at = 0;
    if (!index_tree(input, true))
        return PUG_ERR_MEM;
    pug_tree_on_elements(input->tree, on_elements, &decoding);
    (void)pug_tree_feed(input->tree, input->trace, &at, input->trace_size);
    (void)pug_tree_end(input->tree);
    pug_tree_on_elements(input->tree, NULL, NULL);
    return decoding.found ? PUG_OK : PUG_ERR_NOT_FOUND;
}

/**
 * In the segment at hand; *found: whether it is there; *unknown: it may be there. The exit code
 * where it cannot be asked.
 */
static int answer(struct input *input, const struct find_options *options,
                  const struct pug_index_query *query, enum pug_status *found, bool *unknown)
{
    struct pug_index *index = index_open(input, options->index, 0);
    if (!index)
        return EXIT_INPUT;
    struct pug_index_mark mark;
    if (options->elapsed.given)
        *found = index_find_elapsed(index, input, query->source, options->elapsed.value, &mark);
    else if (options->time)
        *found = index_find_time(index, input, query, &mark);
    else if (options->address)
        *found = find_nearest(index, input, options, query, &mark);
    else
        *found = pug_index_find(index, input->tree, input->trace, input->trace_size, query, &mark);
    if (*found == PUG_ERR_NOT_FOUND && query->kind == PUG_MARK_EXCEPTION && must_decode(input))
        *found = find_decoded(input, query, &mark);
    *unknown |= missed(input, index, query, *found);
    pug_index_free(index);
    if (*found != PUG_OK)
        return EXIT_DONE;
    const bool pieces = pug_capture_kind(input->capture) == PUG_CAPTURE_PERF;
    input_head(input, input->segment);
    output_text("%10" PRIu64 "  %02x  ",
                mark.at +
                    (pieces ? pug_capture_segment_at(input->capture, input->segment)->offset : 0),
                mark.source);
    bool hex = mark.kind == PUG_MARK_ADDRESS || mark.kind == PUG_MARK_CONTEXT ||
               mark.kind == PUG_MARK_VMID;
    if (options->time)
        (void)pug_capture_clock(input->capture, mark.value, &mark.value);
    output_text(hex ? "0x%" PRIx64 "\n" : "%" PRIu64 "\n", mark.value);
    return EXIT_DONE;
}

/** No exception has this name, and no handler. */
static void say_unknown(const struct pug_vectors *vectors, const char *wanted)
{
    struct suggestion near;
    char name[128];
    suggest_begin(&near, wanted);
    for (unsigned number = 1; number < PUG_VECTORS; number++) {
        if (pug_dwt_exception_name(number, name, sizeof(name)) > 0)
            suggest_offer(&near, name);
        pug_vectors_name(vectors, number, name, sizeof(name));
        suggest_offer(&near, name);
    }
    message_say("pugmark: --exception %s: no exception of a Cortex-M is called so, and no handler "
                "in the program's vector table; give its number%s\n",
                wanted, near.question);
}

/** The number of the exception that was named; false, having said so: there is none. */
static bool name_exception(const struct input *input, const struct find_options *options,
                           struct pug_index_query *query)
{
    struct pug_vectors vectors;
    unsigned number;
    if (!options->exception_name)
        return true;
    pug_capture_vectors(input->capture, input->tree ? pug_tree_image(input->tree) : NULL,
                        PUG_VECTORS_ANY, &vectors);
    if (!pug_vectors_number(&vectors, options->exception_name, &number)) {
        say_unknown(&vectors, options->exception_name);
        return false;
    }
    query->least = query->greatest = number;
    return true;
}

/** The addresses that were asked for. False, having said so: there are none. */
static bool find_address(struct input *input, struct find_options *options,
                         struct pug_index_query *query)
{
    if (!options->address)
        return true;
    if (!address_find_absolute(input, "--address", options->address, &options->places))
        return false;
    query->least = query->greatest = options->places.items[0].absolute;
    return true;
}

/** Noise has places by chance: it is no trace, which is said. */
static int conclude(struct input *input)
{
    struct diagnosis *diagnosis = diagnosis_new(input);
    const bool noise = diagnosis && diagnosis_conclude_noise(diagnosis, input->options->quiet);
    diagnosis_free(diagnosis);
    return noise ? EXIT_TRACE_ERRORS : EXIT_DONE;
}

/** In each buffer, or piece of perf.data, in their order. */
static int find_all(struct input *input, const struct find_options *options,
                    const struct pug_index_query *query)
{
    enum pug_status found = PUG_ERR_NOT_FOUND;
    bool unknown = false; /* what was not indexed may have it */
    int code;
    if (input_selects(input))
        return input_is_whole(input, "what find tells") ? EXIT_DONE : EXIT_USAGE;
    if (input->chosen > 1 && (options->after.given || options->before.given)) {
        if (input_is_whole(input, "--after or --before"))
            message_say("pugmark: --after and --before are of one buffer, and there are %zu; "
                        "--buffer chooses\n",
                        input->chosen);
        return EXIT_USAGE;
    }
    if (!index_is_of_one(input, "--index", options->index))
        return EXIT_USAGE;
    do {
        code = answer(input, options, query, &found, &unknown);
    } while (code == EXIT_DONE && found == PUG_ERR_NOT_FOUND && input_next(input));
    if (code == EXIT_DONE && found == PUG_OK && input->chosen <= 1)
        return conclude(input);
    if (code != EXIT_DONE || found == PUG_OK)
        return code;
    if (unknown && found == PUG_ERR_NOT_FOUND)
        return EXIT_INPUT;
    message_say("pugmark: %s: %s\n",
                input->chosen > 1 ? pug_capture_path(input->capture) : input->trace_path,
                pug_status_text(found));
    if (options->address && found == PUG_ERR_NOT_FOUND)
        message_say("pugmark: no packet tells this address, since direct branches tell none; "
                    "`pugmark trace --last 50 --before %s INPUT` looks in what ran\n",
                    options->address);
    return found == PUG_ERR_NOT_FOUND ? EXIT_TRACE_ERRORS : EXIT_INPUT;
}

static int find_run(const struct command *self, int argc, char **argv)
{
    struct find_options options = {0};
    struct pug_index_query query;
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    if (!make_query(&options, &query))
        return EXIT_USAGE;
    struct input input;
    sandbox_allow_index();
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    const bool dated = !options.time || input_lists_timestamp(input.capture, "--time", options.time,
                                                              false, &query.least);
    const bool named = !options.exception_name || input_tree(&input, false);
    int code = dated && named && name_exception(&input, &options, &query) &&
                       find_address(&input, &options, &query)
                   ? find_all(&input, &options, &query)
                   : EXIT_USAGE;
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_find = {
    .name = "find",
    .operands = "INPUT",
    .summary = "tell where in the capture something is",
    .run = find_run,
    .task = TASK_FIND,
    .purpose = "Says at which trace offset something is: a time, an exception, an address, an "
               "event, a loss. `list --around` and `trace --around` show what is there.",
    .examples =
        {
            {"pugmark find --exception 0 examples/crash", "the first exception of this number"},
            {"pugmark find --sync examples/demo", "the first place where decoding can start"},
            {"pugmark find --time 16849564 examples/demo", "the first timestamp from a time on"},
        },
};
