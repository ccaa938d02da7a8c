// SPDX-License-Identifier: MIT
/** @file Running an input's trace through its tree, and what is said of it in the end. */
#include "capture/decode.h"
#include "common/command.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/said.h"
#include "diagnose/diagnosis.h"
#include "input_private.h"
#include "live_input.h"
#include "schedule/peers.h"
#include "schedule/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what cannot be read ---- */

/** A command's own code says nothing of it: the worst one counts, see input_failed(). */
static bool failed_to_read;

static void look_for_failure(struct input *input)
{
    struct pug_read_failure failure;
    if (input->unsound || !input->capture || !pug_capture_failure(input->capture, &failure))
        return;
    input->unsound = true;
    message_say("pugmark: %s, offset %" PRIu64 ": %s: what was decoded of it is not true\n",
                failure.path, failure.offset,
                failure.status == PUG_ERR_TRUNCATED ? "the file shrank while it was being read"
                : failure.status == PUG_ERR_FILE    ? strerror(failure.reason)
                                                    : pug_status_text(failure.status));
    failed_to_read = true;
}

bool input_unsound(struct input *input)
{
    look_for_failure(input);
    return failed_to_read;
}

bool input_failed(void)
{
    return failed_to_read;
}

void input_lose(void)
{
    failed_to_read = true;
}

bool input_forgive(void)
{
    const bool failed = failed_to_read;
    failed_to_read = false;
    return failed;
}

void input_starve(struct input *input)
{
    if (!input->fatal)
        message_say("pugmark: %s: %s\n", input->trace_path, pug_status_text(PUG_ERR_MEM));
    input->fatal = failed_to_read = true;
}

/* ---- running ---- */

unsigned input_jobs(const struct input *input)
{
    const unsigned wanted = (unsigned)input->options->jobs; /* MOST_JOBS at most */
    return wanted > 0 ? wanted : pug_jobs_processors();
}

static void say_stopped(const struct input *input, uint64_t at)
{
    said(SAID_WRONG, "decoding stopped at offset %" PRIu64, at);
    message_say("pugmark: %s: decoding stopped at offset %" PRIu64 "\n", input->trace_path, at);
}

/** At most a command's own consumer, the diagnosis, and what looks for the end of a stream. */
#define MOST_CONSUMERS 3u

#define BLOCK ((size_t)64 << 10)

/** A segment that does not begin at offset 0, or comes while it is decoded. */
struct stream {
    struct input *input;
    uint64_t shown; /* to on_bytes(), as an offset */
    uint8_t block[BLOCK];
};

/** Show the bytes that were not used the last time. */
static void show_bytes(struct stream *stream, const uint8_t *bytes, uint64_t at, size_t size)
{
    const struct input *input = stream->input;
    const uint64_t old = stream->shown > at ? stream->shown - at : 0;
    if (!input->on_bytes || old >= size)
        return;
    input->on_bytes(input->bytes_context, bytes + old, size - (size_t)old);
    stream->shown = at + size;
}

/** After another connection the tree restarts. */
static const uint8_t *next_live(struct stream *stream, uint64_t at, size_t *size, bool *more)
{
    const struct input *input = stream->input;
    enum pug_status status;
    output_flush(); /* what was decoded so far is seen before others come */
    *size = pug_capture_live(input->capture, at, stream->block, BLOCK, &status);
    *more = pug_capture_is_live(input->capture) || at + *size < input->trace_size;
    pug_capture_restart(input->capture, input->tree);
    return stream->block;
}

/** pug_stream.next. */
static const uint8_t *next_bytes(void *context, uint64_t at, size_t *size, bool *more)
{
    struct stream *stream = context;
    const struct input *input = stream->input;
    const uint8_t *bytes;
    if (pug_capture_is_live(input->capture)) {
        bytes = next_live(stream, at, size, more);
    } else {
        const uint64_t left = input->trace_size > at ? input->trace_size - at : 0;
        *size = left < BLOCK ? (size_t)left : BLOCK;
        *more = *size < left;
        bytes = input->trace + at;
    }
    show_bytes(stream, bytes, at, *size);
    return bytes;
}

static enum pug_status run_stream(struct input *input, const struct pug_jobs *jobs, uint64_t offset,
                                  struct pug_jobs_result *result)
{
    struct stream stream = {.input = input};
    return pug_tree_decode_stream(
        input->tree, jobs,
        &(struct pug_stream){.context = &stream, .index = offset, .next = next_bytes}, result);
}

/** The consumers of a run beside a command's own. */
static size_t add_others(const struct input *input, bool streamed, struct pug_consumer *list)
{
    size_t count = 0;
    if (input->diagnosis)
        list[count++] = diagnosis_consumer(input->diagnosis);
    if (streamed && live_consumer(&list[count]))
        count++;
    return count;
}

static void run(struct input *input, const struct pug_consumer *consumer, bool deliver,
                bool (*go_on)(void))
{
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(input->capture, input->segment);
    const bool streamed =
        segment->offset > 0 || input->on_bytes || pug_capture_is_live(input->capture);
    struct progress progress = progress_begin(input->trace_size, input->options->quiet, go_on);
    struct pug_consumer list[MOST_CONSUMERS];
    size_t count = 0;
    if (consumer)
        list[count++] = *consumer;
    if (consumer || deliver)
        count += add_others(input, streamed, list + count);
    const struct pug_jobs jobs = {.threads = input_jobs(input),
                                  .consumers = list,
                                  .consumer_count = count,
                                  .deliver = deliver,
                                  .piece = input->piece,
                                  .progress = progress_show,
                                  .progress_context = &progress,
                                  .peers = input_peers()};
    struct pug_jobs_result result = {.response = PUG_RESP_CONT};
    enum pug_status status = PUG_OK;
    if (streamed)
        status = run_stream(input, &jobs, segment->offset, &result);
    else
        status = pug_tree_decode(input->tree, &jobs, input->trace, input->trace_size, &result);
    progress_end(&progress);
    (void)input_recall(input);
    if (status != PUG_OK)
        message_say("pugmark: %s: %s\n", input->trace_path, pug_status_text(status));
    input->fatal |= status != PUG_OK || PUG_RESP_IS_FATAL(result.response);
    if (PUG_RESP_IS_FATAL(result.response))
        say_stopped(input, result.at);
}

void input_run(struct input *input, const struct pug_consumer *consumer, bool (*go_on)(void))
{
    run(input, consumer, false, go_on);
}

void input_run_elements(struct input *input, pug_elements_fn *function, void *context,
                        bool (*go_on)(void))
{
    pug_tree_on_elements(input->tree, function, context);
    run(input, NULL, true, go_on);
}

int input_concluded(struct input *input, enum pug_status status,
                    const struct pug_capture_result *result)
{
    if (status == PUG_ERR_RDR_NO_DECODER || status == PUG_ERR_MEM)
        message_say("pugmark: %s: %s\n", input->trace_path,
                    status == PUG_ERR_MEM ? pug_status_text(status)
                                          : "none of its sources can be decoded");
    if (result->stopped > 0)
        say_stopped(input, result->at);
    input->fatal |= result->stopped > 0 || status == PUG_ERR_MEM;
    failed_to_read |= status == PUG_ERR_MEM;
    return status == PUG_OK || input->fatal ? input_result(input) : EXIT_INPUT;
}

enum pug_status input_decode_quietly(struct input *input, struct pug_capture_decode *decode,
                                     bool (*go_on)(void), struct pug_capture_result *result)
{
    const struct pug_consumers consumers = pug_capture_consumers(decode);
    struct pug_consumer *list = malloc((consumers.count + 1) * sizeof(*list));
    if (!list)
        return PUG_ERR_MEM;
    struct progress progress = progress_begin(input_bytes(input), input->options->quiet, go_on);
    memcpy(list, consumers.items, consumers.count * sizeof(*list));
    for (size_t i = 0; i < consumers.count; i++)
        list[i].wants |= input->options->time ? PUG_WANTS_TIMES : 0u;
    struct pug_capture_decode how = {.consumers = list,
                                     .consumer_count =
                                         consumers.count + live_consumer(&list[consumers.count]),
                                     .threads = input_jobs(input),
                                     .piece = input->piece,
                                     .selection = &input->lists.selection,
                                     .progress = progress_show,
                                     .progress_context = &progress,
                                     .from = decode->from,
                                     .to = decode->to,
                                     .log = decode->log};
    input->by_elements = !pug_capture_counts(&how);
    const enum pug_status status = pug_capture_decode(input->capture, &how, result);
    progress_end(&progress);
    free(list);
    return status;
}

bool input_decode(struct input *input, struct pug_capture_decode *decode, bool (*go_on)(void),
                  struct pug_capture_result *result)
{
    const enum pug_status status = input_decode_quietly(input, decode, go_on, result);
    (void)input_concluded(input, status, result);
    return status == PUG_OK;
}

static void conclude(struct input *input)
{
    const bool quiet = input->options->quiet;
    /* the output says it all; or the reader has gone, and the rest is unknown */
    if (input->described || !output_wanted())
        return;
    input->examined = true;
    /* Who helps has nothing to conclude from, and would look for long at what is not wrong. */
    if (pug_peers_helps(input_peers()))
        return;
    input->wrong |= diagnosis_conclude(input->diagnosis, quiet);
    messages_forget(&input->messages);
}

/* ---- looking again ---- */

/* Where it was not decoded to elements, that takes many times as long as what was done: a share. */
#define LOOK_SHARE 16
#define LOOK_SHORT (UINT64_C(128) << 10)

static uint64_t look_most(const struct input *input)
{
    const uint64_t share = input_bytes(input) / LOOK_SHARE;
    if (input->by_elements || share > INPUT_LOOK_MOST)
        return INPUT_LOOK_MOST;
    return share > LOOK_SHORT ? share : LOOK_SHORT;
}

static void look_at_segment(struct input *input, uint64_t most)
{
    const struct pug_consumer evidence = diagnosis_consumer(input->diagnosis);
    struct pug_jobs_result result = {.response = PUG_RESP_CONT};
    input->partial = input->trace_whole > most;
    if (input->partial)
        input->trace_size = input->trace_whole = most;
    const struct pug_jobs jobs = {
        .threads = input_jobs(input), .consumers = &evidence, .consumer_count = 1};
    if (pug_tree_decode(input->tree, &jobs, input->trace, input->trace_size, &result) == PUG_OK)
        conclude(input);
    input->partial = false;
}

static void look_at_segments(struct input *input)
{
    input_first(input);
    do {
        messages_forget(&input->messages);
        if (input_tree(input, true) && input->diagnosis)
            look_at_segment(input, INPUT_LOOK_MOST);
    } while (input_next(input));
}

/**
 * What went another way than through a tree of ours gave no evidence: the beginning of each buffer
 * is decoded once more for it. What that logs was logged before.
 */
static void look_again(struct input *input)
{
    if (input->examined || input->described || !output_wanted())
        return;
    const uint64_t errors = pug_log_errors(input->log);
    input->examined = true;
    input->silent = true;
    if (pug_capture_kind(input->capture) == PUG_CAPTURE_PERF)
        input->wrong |= diagnosis_of_programs(input, look_most(input));
    else if (!pug_peers_helps(input_peers()))
        look_at_segments(input);
    messages_forget(&input->messages);
    input->silent = false;
    input->errors_before += pug_log_errors(input->log) - errors;
}

/**
 * Decode the beginning of the segment at hand for facts that its packets alone do not show; where
 * nothing can be decoded of that, all of it: it may be empty.
 */
static void look_behind_packets(struct input *input, uint64_t most)
{
    const uint64_t size = input->trace_size, whole = input->trace_whole;
    bool silent = true;
    for (uint64_t to = most; input->trace && silent; to = UINT64_MAX) {
        input->trace_size = size;
        input->trace_whole = whole;
        messages_forget(&input->messages);
        if (!input_tree(input, true) || !input->diagnosis)
            return;
        look_at_segment(input, to);
        silent = to < whole && diagnosis_is_silent(input->diagnosis);
    }
}

int input_examine(struct input *input, uint64_t most)
{
    const bool wrong = input->wrong;
    input->wrong = false;
    input->described = true;
    int code = input_result(input);
    input->described = false;
    const uint64_t errors = pug_log_errors(input->log);
    if (input->diagnosis && !input->fatal && !pug_peers_helps(input_peers())) {
        input->silent = true;
        look_behind_packets(input, most);
        messages_forget(&input->messages);
        input->silent = false;
        input->errors_before += pug_log_errors(input->log) - errors;
    }
    if (input->wrong && code == EXIT_DONE)
        code = EXIT_TRACE_ERRORS;
    input->wrong |= wrong;
    return input->fatal ? EXIT_FATAL : code;
}

void input_narrow(struct input *input, uint64_t from, uint64_t to)
{
    input->narrow = from > 0 || to < input->trace_size;
    input->narrow_from = from;
    input->narrow_to = to;
    input->errors_before = pug_log_errors(input->log); /* those of making an index */
}

bool input_counts(const struct input *input, uint64_t index)
{
    return !input->narrow || (index >= input->narrow_from && index < input->narrow_to);
}

int input_result(struct input *input)
{
    /* what is logged of a part is looked at one by one */
    const bool erred = !input->narrow && pug_log_errors(input->log) > input->errors_before;
    messages_end(&input->messages, input->options->quiet);
    if (!input->diagnosis)
        look_again(input);
    else
        conclude(input);
    if (live_is_silent(input)) {
        failed_to_read = true;
        return EXIT_INPUT;
    }
    if (input->fatal)
        return EXIT_FATAL;
    return input->wrong || erred ? EXIT_TRACE_ERRORS : EXIT_DONE;
}
