// SPDX-License-Identifier: MIT
#include "session.h"

#include "common/command.h"
#include "common/messages.h"
#include "common/progress.h"
#include "common/sandbox.h"
#include "fill_by_time.h"
#include "fill_threads.h"
#include "input/live_input.h"
#include "pugmark/advanced/index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#endif

/* ---- filling ---- */

static void *begin_part(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)worker;
    (void)piece;
    return context;
}

static void wake_up(struct session *session)
{
#ifndef _WIN32
    if (!session->awake && session->wake[1] >= 0) {
        session->awake = true;
        const ssize_t written = write(session->wake[1], "", 1);
        (void)written;
    }
#else
    (void)session;
#endif
}

static void take_elements(void *part, const struct pug_origin *origin,
                          const struct pug_element *elements, size_t count)
{
    struct session *session = part;
    session_lock(session);
    (void)pug_history_take(session->history, origin, elements, count);
    wake_up(session);
    session_unlock(session);
}

static bool take_part(void *context, void *part)
{
    struct session *session = context;
    (void)part;
    session_lock(session);
    const bool more = !session->ending && pug_history_status(session->history) == PUG_OK;
    session_unlock(session);
    return more;
}

static void drop_part(void *part)
{
    (void)part;
}

static bool go_on(void *context, uint64_t done)
{
    struct session *session = context;
    (void)done;
    session_lock(session);
    const bool more = !session->ending;
    session_unlock(session);
    return more;
}

/** Reads all of the input, in the order of decoding; the exit code. */
static int fill_in_order(struct session *session)
{
    struct input *input = &session->input;
    struct progress progress = progress_begin(input_bytes(input), input->options->quiet, NULL);
    const bool dated = pug_capture_kind(input->capture) == PUG_CAPTURE_PERF &&
                       pug_capture_times(input->capture).unit != PUG_CAPTURE_NO_TIME;
    struct pug_consumer list[2] = {{.context = session,
                                    .wants = PUG_WANTS_EACH_TIME | PUG_WANTS_BY_TIME |
                                             (dated ? (unsigned)PUG_WANTS_TIMES : 0u),
                                    .begin = begin_part,
                                    .elements = take_elements,
                                    .take = take_part,
                                    .drop = drop_part}};
    const struct pug_capture_decode decode = {.consumers = list,
                                              .consumer_count = 1u + live_consumer(&list[1]),
                                              .threads = 1,
                                              .selection = &input->lists.selection,
                                              .progress = session->live ? go_on : progress_show,
                                              .progress_context = session->live ? (void *)session
                                                                                : (void *)&progress,
                                              .log = input->log};
    struct pug_capture_result result = {0};
    const enum pug_status status = pug_capture_decode(input->capture, &decode, &result);
    progress_end(&progress);
    return input_concluded(input, status, &result);
}

/** Reads all of the input. */
static void fill(struct session *session)
{
    struct input *input = &session->input;
    int code = EXIT_DONE;
    if (!fill_threads(session, &code))
        code = fill_is_by_time(session) ? fill_by_time(session) : fill_in_order(session);
    session_lock(session);
    session->code = code;
    pug_history_end(session->history);
    if (pug_history_status(session->history) == PUG_ERR_LIMIT)
        message_say("pugmark: the trace is longer than there is room for: what came later is left "
                    "out. Choose less of it with --time or --source\n");
    else if (pug_history_status(session->history) != PUG_OK)
        input_starve(input);
    wake_up(session);
    session_unlock(session);
}

#ifndef _WIN32
static void *feed(void *context)
{
    fill(context);
    return NULL;
}
#endif

static bool begin_feeder(struct session *session)
{
#ifndef _WIN32
    if (pipe(session->wake) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        (void)fcntl(session->wake[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(session->wake[i], F_SETFL, O_NONBLOCK);
    }
    session->has_feeder = pthread_create(&session->feeder, NULL, feed, session) == 0;
#endif
    return session->has_feeder;
}

/** Is there something to stand on? Waits for it where the input is live. */
static bool has_positions(struct session *session)
{
    session_lock(session);
    while (pug_history_count(session->history) == 0 && session_grows(session)) {
        session_unlock(session);
        session_wait(session, -1);
        session_lock(session);
    }
    const bool any = pug_history_count(session->history) > 0;
    session_unlock(session);
    return any;
}

bool session_open(struct session *session, const struct session_options *options,
                  const char *operand)
{
    *session = (struct session){.options = options, .wake = {-1, -1}};
    sandbox_allow_index();
    pthread_mutex_init(&session->lock, NULL);
    if (!input_open(&session->input, &options->input, operand)) {
        session->code = session->input.failure;
        pthread_mutex_destroy(&session->lock);
        return false;
    }
    session->names = capture_names(&options->input, &options->capture);
    session->live = pug_capture_is_live(session->input.capture);
    const struct pug_history_config config = {.capture = session->input.capture,
                                              .names = session->names};
    const bool kept = session->names && !session->live && kept_history_load(session, &config);
    bool good = session->names && (kept || pug_history_new(&config, &session->history) == PUG_OK);
    if (!good) {
        input_starve(&session->input);
    } else if (session->live) {
        good = begin_feeder(session);
        if (!good)
            message_say("pugmark: no thread to read %s: the system has none left. Close some "
                        "programs and try again\n",
                        operand);
    } else if (!kept) {
        fill(session);
        kept_history_save(session);
    }
    if (good && !has_positions(session)) {
        message_say("pugmark: %s: no instruction of it can be rebuilt, so there is nothing to "
                    "debug. `pugmark info` shows what is missing\n",
                    operand);
        good = false;
    }
    if (good) {
        session_go(session, 0);
        return true;
    }
    const int code = session_close(session);
    session->code = code > EXIT_TRACE_ERRORS ? code : EXIT_INPUT;
    return false;
}

int session_close(struct session *session)
{
    if (session->has_feeder) {
        session_lock(session);
        session->ending = true;
        session_unlock(session);
        live_stop();
        pthread_join(session->feeder, NULL);
    }
#ifndef _WIN32
    for (int i = 0; i < 2; i++)
        if (session->wake[i] >= 0)
            close(session->wake[i]);
#endif
    pug_history_free(session->history);
    pug_index_free(session->index);
    capture_names_end(session->names);
    input_close(&session->input);
    pthread_mutex_destroy(&session->lock);
    return session->code;
}

void session_lock(struct session *session)
{
    if (session->live)
        pthread_mutex_lock(&session->lock);
}

void session_unlock(struct session *session)
{
    if (session->live)
        pthread_mutex_unlock(&session->lock);
}

bool session_grows(const struct session *session)
{
    return session->live && !pug_history_ended(session->history) &&
           pug_history_status(session->history) == PUG_OK;
}

void session_wait(struct session *session, int more)
{
#ifndef _WIN32
    struct pollfd files[2] = {{.fd = session->wake[0], .events = POLLIN},
                              {.fd = more, .events = POLLIN}};
    (void)poll(files, 2, 1000);
    session_lock(session);
    uint8_t bytes[64];
    while (session->wake[0] >= 0 && read(session->wake[0], bytes, sizeof(bytes)) > 0)
        continue;
    session->awake = false;
    session_unlock(session);
#else
    (void)session;
    (void)more;
#endif
}

/* ---- where it is ---- */

void session_go(struct session *session, uint64_t position)
{
    struct pug_history_place place;
    if (!pug_history_at(session->history, position, &place))
        return;
    session->position = position;
    session->thread = place.thread;
}

bool session_place(struct session *session, uint32_t thread, struct pug_history_place *place)
{
    uint64_t position;
    if (thread == session->thread)
        return pug_history_at(session->history, session->position, place);
    return pug_history_of_thread(session->history, session->position, thread, &position) &&
           pug_history_at(session->history, position, place);
}

int32_t session_pid(const struct session *session, uint32_t thread)
{
    /* Threads of a kernel are all in one memory. */
    if (pug_capture_kind(session->input.capture) != PUG_CAPTURE_PERF)
        return PUG_NO_CPU;
    const struct pug_history_thread *of = pug_history_thread_at(session->history, thread);
    const struct pug_capture_task *task =
        of && of->task != PUG_NO_TASK ? pug_capture_task_at(session->input.capture, of->task)
                                      : NULL;
    return task ? task->pid : PUG_NO_CPU;
}

unsigned session_process(const struct session *session, uint32_t thread)
{
    const int32_t pid = session_pid(session, thread);
    unsigned process = 1;
    for (uint32_t i = 0; i < thread; i++) {
        const int32_t other = session_pid(session, i);
        bool is_new = true;
        if (other == pid)
            return process;
        for (uint32_t n = 0; n < i && is_new; n++)
            is_new = session_pid(session, n) != other;
        process += is_new;
    }
    return process;
}

void session_thread_words(const struct session *session, uint32_t thread, char *words, size_t size)
{
    const struct pug_history_thread *of = pug_history_thread_at(session->history, thread);
    const struct pug_capture_source *source;
    const struct pug_capture_task *task =
        of && of->task != PUG_NO_TASK ? pug_capture_task_at(session->input.capture, of->task)
                                      : NULL;
    snprintf(words, size, "source 0x%02x", of ? of->source : 0u);
    if (task && pug_capture_kind(session->input.capture) == PUG_CAPTURE_PERF)
        snprintf(words, size, "%.64s %" PRId32, task->comm, task->tid);
    else if (task)
        snprintf(words, size, "%.64s", task->comm);
    for (size_t n = 0;
         !task && of && (source = pug_capture_source_at(session->input.capture, n)) != NULL; n++)
        if (source->buffer == of->buffer && source->id == of->source && source->name)
            snprintf(words, size, "%.64s source 0x%02x", source->name, of->source);
}

void session_time_words(const struct session *session, uint64_t time, char *words, size_t size)
{
    const enum pug_capture_unit unit = pug_capture_times(session->input.capture).unit;
    words[0] = 0;
    if (time == 0)
        return;
    if (unit == PUG_CAPTURE_NANOSECONDS)
        snprintf(words, size, "%" PRIu64 ".%09" PRIu64 " s", time / 1000000000, time % 1000000000);
    else
        snprintf(words, size, "%" PRIu64 " ticks", time);
}

static const char *unsync_words(unsigned unsync)
{
    return unsync == PUG_UNSYNC_OVERFLOW     ? ": the trace unit overflowed"
           : unsync == PUG_UNSYNC_DISCARD    ? ": the trace unit dropped what it held"
           : unsync == PUG_UNSYNC_BAD_PACKET ? ": a packet makes no sense"
           : unsync == PUG_UNSYNC_BAD_IMAGE  ? ": trace and program do not fit"
                                             : "";
}

void session_stop_words(struct session *session, const struct pug_history_move *move, char *words,
                        size_t size)
{
    struct pug_history_place place;
    char exception[96] = "";
    words[0] = 0;
    switch (move->stop) {
    case PUG_MOVE_LOSS:
        snprintf(words, size, "trace is missing %s here (%s%s); the next command goes on %s that",
                 move->backward ? "before" : "after",
                 pug_call_gap_name((enum pug_call_gap)move->gap), unsync_words(move->unsync),
                 move->backward ? "before" : "behind");
        break;
    case PUG_MOVE_BEGIN: snprintf(words, size, "the trace begins here"); break;
    case PUG_MOVE_END: snprintf(words, size, "the trace ends here"); break;
    case PUG_MOVE_EXCEPTION:
        if (pug_history_at(session->history, move->position, &place))
            pug_exception_text((enum pug_exception_numbers)place.exception_numbers, place.exception,
                               exception, sizeof(exception));
        snprintf(words, size, "the trace ends in %s", exception);
        break;
    default: break;
    }
}
