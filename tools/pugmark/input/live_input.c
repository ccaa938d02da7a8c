// SPDX-License-Identifier: MIT
#include "live_input.h"

#include "address.h"
#include "common/messages.h"

#include "common/command.h"
#include "live/live.h"
#include "live_save.h"
#include "pugmark/dwt.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ---- */

/** "250ms", "10s", "5m", "2h", or seconds. */
static bool parse_time(const char *text, uint64_t *milliseconds)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    const double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].name) != 0 || !(value * units[i].factor < 1e15))
            continue;
        *milliseconds = (uint64_t)(value * units[i].factor);
        return *milliseconds > 0;
    }
    return false;
}

bool live_take_time(const struct option *option, void *target, const char *argument)
{
    return parse_time(argument, target) ||
           option_refuse(option, argument, "expected a time: 250ms, 10s, 5m, 2h");
}

bool live_take_retry(const struct option *option, void *target, const char *argument)
{
    struct live_options *options = target;
    options->retry = true;
    options->retry_ms = 0;
    return !argument || live_take_time(option, &options->retry_ms, argument);
}

bool live_is_stream(const char *operand)
{
    struct stat place;
    if (strcmp(operand, "-") == 0)
        return true;
    if (stat(operand, &place) != 0)
        return pug_live_names(operand);
    return S_ISFIFO(place.st_mode) || S_ISCHR(place.st_mode);
}

/* ---- the end ---- */

static int stop_pipe[2] = {-1, -1};
static volatile sig_atomic_t interrupted;

static void write_stop(void)
{
    if (stop_pipe[1] < 0)
        return;
    const ssize_t written = write(stop_pipe[1], "", 1);
    (void)written;
}

void live_stop(void)
{
    write_stop();
}

#ifndef _WIN32

static void on_signal(int number)
{
    const int reason = errno;
    if (number == SIGINT && interrupted)
        _exit(130);
    interrupted = number == SIGINT;
    write_stop();
    errno = reason;
}

/** Without SA_RESTART: opening a FIFO waits, and is to be interrupted. */
static bool watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    if (pipe(stop_pipe) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        (void)fcntl(stop_pipe[i], F_SETFD, FD_CLOEXEC);
    (void)fcntl(stop_pipe[1], F_SETFL, O_NONBLOCK);
    return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0;
}

#else

static bool watch_signals(void)
{
    return false;
}

#endif

/** The first option that is for live inputs alone; NULL: none was given. */
static const char *given(const struct live_options *options)
{
    return options->retry         ? "retry"
           : options->save        ? "save"
           : options->duration_ms ? "for"
           : options->until       ? "until"
           : options->ring        ? "ring"
                                  : NULL;
}

bool live_begin(const struct live_options *options, const char *operand,
                struct pug_capture_stream *live, bool *is_stream)
{
    *is_stream = live_is_stream(operand);
    if (!*is_stream && given(options)) {
        message_say(
            "pugmark: --%s is for live inputs (sockets, serial lines, pipes), and %s is none\n",
            given(options), operand);
        return false;
    }
    if (!*is_stream)
        return true;
    if (!live_save_may(options->save))
        return false;
    *live = (struct pug_capture_stream){.retry = options->retry,
                                        .retry_ms = options->retry_ms,
                                        .duration_ms = options->duration_ms,
                                        .save = options->save,
                                        .ring = options->ring};
    if (stop_pipe[0] < 0 && !watch_signals())
        return true;
    live->has_stop = true;
    live->stop = stop_pipe[0];
    return true;
}

/* ---- until ---- */

#define ENTRIES 16u

static struct {
    enum { NOTHING, EXCEPTION, EVENT, ADDRESSES } what;
    uint64_t entries[ENTRIES];
    size_t count;
} until;

/** The addresses of a function, or of a place that is written in another way. */
static bool take_function(struct input *input, const char *words)
{
    struct address_places places;
    until.what = ADDRESSES;
    if (!address_find_absolute(input, "--until", words, &places))
        return false;
    for (size_t i = 0; i < places.count && until.count < ENTRIES; i++)
        until.entries[until.count++] = places.items[i].absolute;
    return true;
}

bool live_take_until(struct input *input)
{
    const char *words = input->options->live.until;
    until.what = NOTHING;
    until.count = 0;
    if (!words)
        return true;
    if (strcmp(words, "exception") == 0)
        until.what = EXCEPTION;
    else if (strcmp(words, "event") == 0)
        until.what = EVENT;
    else
        return take_function(input, words);
    return true;
}

static bool runs(const struct pug_element *e)
{
    struct pug_dwt_event event;
    const bool sample = e->type == PUG_ELEM_ITMTRACE && e->reason == PUG_ITM_DWT &&
                        pug_dwt_meaning(e, &event) && event.kind == PUG_DWT_PC_SAMPLE;
    for (size_t i = 0; i < until.count; i++)
        if ((e->type == PUG_ELEM_INSTR_RANGE && e->start <= until.entries[i] &&
             until.entries[i] < e->end) ||
            (sample && event.pc == until.entries[i]))
            return true;
    return false;
}

static bool is_exception(const struct pug_element *e)
{
    struct pug_dwt_event event;
    return e->type == PUG_ELEM_EXCEPTION ||
           (e->type == PUG_ELEM_ITMTRACE && e->reason == PUG_ITM_DWT &&
            pug_dwt_meaning(e, &event) && event.kind == PUG_DWT_EXCEPTION);
}

static void look_at(void *part, const struct pug_origin *origin, const struct pug_element *elements,
                    size_t count)
{
    (void)part;
    (void)origin;
    for (size_t i = 0; until.what != NOTHING && i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (until.what == EXCEPTION ? !is_exception(e)
            : until.what == EVENT   ? e->type != PUG_ELEM_EVENT
                                    : !runs(e))
            continue;
        until.what = NOTHING;
        live_stop();
    }
}

/** Its parts hold nothing. */
static void *begin_look(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)worker;
    (void)piece;
    return context;
}

static bool shows_none(void *context, uint64_t at, uint64_t *end)
{
    (void)context;
    (void)at;
    (void)end;
    return false;
}

static bool take_look(void *context, void *part)
{
    (void)context;
    (void)part;
    return true;
}

static void drop_look(void *part)
{
    (void)part;
}

bool live_consumer(struct pug_consumer *consumer)
{
    *consumer = (struct pug_consumer){.context = &until,
                                      .begin = begin_look,
                                      .elements = look_at,
                                      .shows = until.what == ADDRESSES ? NULL : shows_none,
                                      .take = take_look,
                                      .drop = drop_look};
    return until.what != NOTHING;
}

/* ---- silence ---- */

bool live_is_silent(const struct input *input)
{
    struct pug_live_place place;
    const char *why;
    if (!input->capture || pug_capture_kind(input->capture) != PUG_CAPTURE_STREAM ||
        pug_capture_came(input->capture) > 0 ||
        !pug_live_place(pug_capture_path(input->capture), &place, &why) ||
        place.scheme == PUG_LIVE_FILE)
        return false;
    message_say("pugmark: %s: no byte came: %s\n", pug_capture_path(input->capture),
                place.silence ? place.silence
                : place.scheme == PUG_LIVE_SERIAL
                    ? "is SWO enabled, and its pin the one that is wired?"
                    : "is trace enabled at the peer?");
    return true;
}
