// SPDX-License-Identifier: MIT
/** @file The commands of a session: GDB's `monitor`, and the same in `pugmark debug`. */
#include "capture/capture.h"
#include "common/options.h"
#include "input/address.h"
#include "input/input_lists.h"
#include "packets.h"
#include "pugmark/advanced/capture.h"
#include "session.h"
#include "swo/handlers.h"
#include "walks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MOST  256u
#define HISTORY_MOST 100000u
#define LOSSES_MOST  1000u

/* ---- writing ---- */

/** "main+0x4  crash.c:10" of an address. */
static void put_address(struct session *session, const struct pug_history_place *place,
                        uint64_t address, struct pug_sink *sink)
{
    struct pug_names_frame frame;
    struct pug_names_line line;
    pug_sink_format(sink, "0x%" PRIx64, address);
    if (pug_capture_frames(session->input.capture, &place->origin, address, session->names, &frame,
                           1, NULL) > 0 &&
        frame.function) {
        pug_sink_text(sink, "  ");
        pug_sink_printable(sink, frame.function);
    }
    if (pug_capture_line(session->input.capture, &place->origin, address, session->names, &line,
                         NULL) &&
        line.line > 0) {
        const char *name = strrchr(line.path, '/');
        pug_sink_text(sink, "  ");
        pug_sink_printable(sink, name ? name + 1 : line.path);
        pug_sink_format(sink, ":%" PRIu32, line.line);
    }
}

static void put_place(struct session *session, uint64_t position, struct pug_sink *sink)
{
    struct pug_history_place place;
    char exception[96];
    if (!pug_history_at(session->history, position, &place))
        return;
    pug_sink_format(sink, "#%" PRIu64 "  ", position);
    put_address(session, &place, place.pc, sink);
    if (place.kind == PUG_HISTORY_EXCEPTION) {
        pug_exception_text((enum pug_exception_numbers)place.exception_numbers, place.exception,
                           exception, sizeof(exception));
        pug_sink_format(sink, "  before %s", exception);
    } else if (place.kind == PUG_HISTORY_STOP) {
        pug_sink_text(sink, "  at the end of a stretch of trace");
    }
    pug_sink_text(sink, "\n");
}

static void put_packet(struct session *session, struct pug_sink *sink)
{
    struct pug_history_packet packet;
    char time[64], words[1024];
    if (!pug_history_packet(session->history, session->position, &packet))
        return;
    const struct pug_capture_buffer *buffer =
        pug_capture_buffer_at(session->input.capture, packet.buffer);
    session_time_words(session, packet.time, time, sizeof(time));
    pug_sink_format(sink, "trace offset %" PRIu64, packet.index);
    if (buffer && buffer->name) {
        pug_sink_text(sink, " of ");
        pug_sink_printable(sink, buffer->name);
    }
    pug_sink_format(sink, ", %s%s\n", time[0] ? "time " : "no time is known", time);
    packet_words(session, session->position, words, sizeof(words));
    if (words[0]) {
        pug_sink_text(sink, "packet ");
        pug_sink_printable(sink, words);
        pug_sink_text(sink, "\n");
    }
}

/* ---- finding ---- */

/** A number of a position, "#12"; false: it is none. */
static bool take_position(struct session *session, const char *word, uint64_t *position)
{
    return word[0] == '#' && parse_number(word + 1, position) &&
           *position < pug_history_count(session->history);
}

/** An exception before here; where there is none, the last one. */
static bool find_exception(struct session *session, uint64_t *position)
{
    const uint64_t count = pug_history_count(session->history);
    struct pug_history_place place;
    if (pug_history_find(session->history, PUG_FIND_EXCEPTION, 0, session->position, true,
                         position))
        return true;
    if (pug_history_at(session->history, count - 1, &place) &&
        place.kind == PUG_HISTORY_EXCEPTION) {
        *position = count - 1;
        return true;
    }
    return pug_history_find(session->history, PUG_FIND_EXCEPTION, 0, count - 1, true, position);
}

/** A time as people write it: "1.5" (seconds, where times are nanoseconds), or "1500 ticks". */
static bool take_time(struct session *session, const char *word, uint64_t *time)
{
    const enum pug_capture_unit unit = pug_capture_times(session->input.capture).unit;
    return input_lists_one_time("goto", word, unit, time);
}

static bool find_place(struct session *session, const char *what, const char *word,
                       uint64_t *position)
{
    uint64_t value = 0;
    if (strcmp(what, "end") == 0 || strcmp(what, "begin") == 0) {
        *position = what[0] == 'b' ? 0 : pug_history_count(session->history) - 1;
        return true;
    }
    if (strcmp(what, "exception") == 0)
        return find_exception(session, position);
    if (take_position(session, what, position))
        return true;
    if (strcmp(what, "time") == 0)
        return word && take_time(session, word, &value) &&
               pug_history_find(session->history, PUG_FIND_TIME, value, 0, false, position);
    if (strcmp(what, "offset") == 0 && word)
        what = word;
    if (strchr(what, '.'))
        return take_time(session, what, &value) &&
               pug_history_find(session->history, PUG_FIND_TIME, value, 0, false, position);
    return parse_number(what, &value) &&
           pug_history_find(session->history, PUG_FIND_OFFSET, value, 0, false, position);
}

static bool do_goto(struct session *session, char **words, size_t count, struct pug_sink *sink)
{
    uint64_t position;
    if (count < 2 || !find_place(session, words[1], count > 2 ? words[2] : NULL, &position)) {
        pug_sink_text(sink,
                      count < 2 ? "goto needs a place" : "there is no such place in the trace");
        pug_sink_text(sink, ". Say goto OFFSET, goto time T, goto #N, goto begin, goto end or "
                            "goto exception\n");
        return false;
    }
    session_go(session, position);
    put_place(session, position, sink);
    return true;
}

/** An address: a number, or a function or FILE:LINE of the program. */
static bool take_address(struct session *session, const char *word, uint64_t *address)
{
    struct address_places places;
    if (parse_number(word, address))
        return true;
    if (!*word || !address_find_absolute(&session->input, "find", word, &places) ||
        places.count == 0)
        return false;
    *address = places.items[0].absolute;
    return true;
}

/** The number of an exception, or its name; false: there is no such. */
static bool take_exception(struct session *session, const char *word, uint64_t *number)
{
    struct pug_history_place place;
    struct pug_vectors vectors;
    unsigned vector;
    if (parse_number(word, number))
        return true;
    if (!pug_history_at(session->history, session->position, &place) || !place.origin.space)
        return false;
    pug_capture_vectors(session->input.capture, pug_address_space_image(place.origin.space),
                        PUG_VECTORS_ANY, &vectors);
    if (!pug_vectors_number(&vectors, word, &vector))
        return false;
    *number = vector;
    return true;
}

/** The next exception, of a number where one is given, or the last one before. */
static bool find_some_exception(struct session *session, const char *word, bool backward,
                                uint64_t *position)
{
    const bool any = !*word || packet_word_is(word, "before") || packet_word_is(word, "after");
    uint64_t number = 0, from = session->position;
    struct pug_history_place place;
    if (!any && !take_exception(session, word, &number))
        return false;
    while (pug_history_find(session->history, PUG_FIND_EXCEPTION, 0, from, backward, position)) {
        if (any)
            return true;
        if (pug_history_at(session->history, *position, &place) && place.exception == number)
            return true;
        from = *position;
    }
    return false;
}

static bool do_find(struct session *session, char **words, size_t count, struct pug_sink *sink)
{
    uint64_t value = 0, position;
    bool backward = false, found = false, known = true;
    for (size_t i = 1; i < count; i++)
        backward |= packet_word_is(words[i], "before");
    const char *what = count > 1 ? words[1] : "";
    const char *word = count > 2 ? words[2] : "";
    if (packet_word_is(what, "address"))
        found = take_address(session, word, &value) &&
                pug_history_find(session->history, PUG_FIND_ADDRESS, value, session->position,
                                 backward, &position);
    else if (packet_word_is(what, "exception"))
        found = find_some_exception(session, word, backward, &position);
    else if (packet_word_is(what, "loss"))
        found = pug_history_find(session->history, PUG_FIND_LOSS, 0, session->position, backward,
                                 &position);
    else if (packet_word_is(what, "time"))
        found = take_time(session, word, &value) &&
                pug_history_find(session->history, PUG_FIND_TIME, value, 0, false, &position);
    else if (packet_find(session, words + 1, count - 1, &known, sink) || known)
        return known;
    if (found)
        put_place(session, position, sink);
    else if (known)
        pug_sink_format(sink, "nothing of the kind %s here\n", backward ? "before" : "after");
    else
        pug_sink_text(sink,
                      "find what? Say find address A, find exception [N], find loss or find "
                      "time T; or what `pugmark find` knows of packets: timestamp N, "
                      "trigger, event N, context C, sync, overflow, vmid N, dwt N, elapsed T, "
                      "trace-on, discard, transaction. With before, the last one before "
                      "here; with before OFFSET or after OFFSET, from there\n");
    return found;
}

/* ---- listing ---- */

static bool do_calls(struct session *session, struct pug_sink *sink)
{
    struct pug_history_frame *frames = calloc(FRAMES_MOST, sizeof(*frames));
    struct pug_history_place place;
    if (!frames || !pug_history_at(session->history, session->position, &place)) {
        free(frames);
        return false;
    }
    const size_t count =
        pug_history_frames(session->history, session->position, frames, FRAMES_MOST);
    for (size_t i = 0; i < count && i < FRAMES_MOST; i++) {
        pug_sink_format(sink, "%3zu  ", i);
        put_address(session, &place, i > 0 ? frames[i].pc - 1 : frames[i].pc, sink);
        if (frames[i].kind == PUG_CALL_EXCEPTION)
            pug_sink_text(sink, "  entered by an exception");
        pug_sink_text(sink, "\n");
    }
    if (count > 0)
        pug_sink_text(sink, "     its callers are not in the trace\n");
    free(frames);
    return true;
}

/** The call path here, and that of the last time that the program was here. */
static bool do_compare(struct session *session, struct pug_sink *sink)
{
    struct pug_history_place place;
    uint64_t before;
    const uint64_t here = session->position;
    if (!pug_history_at(session->history, here, &place))
        return false;
    pug_sink_text(sink, "the calls that led here:\n");
    (void)do_calls(session, sink);
    if (!pug_history_find(session->history, PUG_FIND_ADDRESS, place.pc, here, true, &before)) {
        pug_sink_text(sink, "the program was not here before\n");
        return true;
    }
    pug_sink_format(sink, "the last time, at #%" PRIu64 ":\n", before);
    session->position = before;
    (void)do_calls(session, sink);
    session->position = here;
    return true;
}

static bool do_history(struct session *session, const char *word, struct pug_sink *sink)
{
    uint64_t count = 20;
    if (word && (!parse_number(word, &count) || count == 0 || count > HISTORY_MOST)) {
        pug_sink_format(sink, "history N: N is 1 to %u\n", HISTORY_MOST);
        return false;
    }
    uint64_t *positions = calloc((size_t)count, sizeof(*positions));
    size_t found = 0;
    struct pug_history_move move = {
        .position = session->position, .thread = session->thread, .backward = true};
    while (positions && found < count && walks_back(session, &move))
        positions[found++] = move.position;
    while (found > 0)
        put_place(session, positions[--found], sink);
    free(positions);
    put_place(session, session->position, sink);
    return true;
}

static bool do_losses(struct session *session, struct pug_sink *sink)
{
    uint64_t position = 0, found;
    unsigned count = 0;
    while (count < LOSSES_MOST &&
           pug_history_find(session->history, PUG_FIND_LOSS, 0, position, false, &found)) {
        put_place(session, found, sink);
        position = found + 1;
        count++;
    }
    if (count == 0)
        pug_sink_text(sink, "no trace was lost\n");
    else
        pug_sink_format(sink, "trace is missing after %s%u of these\n",
                        count == LOSSES_MOST ? "the first " : "", count);
    return true;
}

static bool do_status(struct session *session, struct pug_sink *sink)
{
    uint32_t threads = 0;
    char words[128];
    while (pug_history_thread_at(session->history, threads))
        threads++;
    session_thread_words(session, session->thread, words, sizeof(words));
    pug_sink_format(
        sink, "position #%" PRIu64 " of %" PRIu64 ", thread %" PRIu32 " of %" PRIu32 " (",
        session->position, pug_history_count(session->history), session->thread + 1, threads);
    pug_sink_printable(sink, words);
    pug_sink_format(sink, ")\n%" PRIu64 " KiB of memory%s\n",
                    pug_history_memory(session->history) >> 10,
                    session_grows(session) ? "; more trace comes" : "");
    return true;
}

static bool do_time(struct session *session, struct pug_sink *sink)
{
    struct pug_history_packet packet;
    char time[64];
    if (!pug_history_packet(session->history, session->position, &packet))
        return false;
    session_time_words(session, packet.time, time, sizeof(time));
    pug_sink_format(sink, "%s\n", time[0] ? time : "no time is known here");
    return true;
}

static bool do_back(struct session *session, bool over, struct pug_sink *sink)
{
    const enum pug_history_end_kind stop = walks_back_line(session, over);
    if (stop != PUG_MOVE_DONE)
        pug_sink_text(sink, stop == PUG_MOVE_BREAKPOINT ? "at a breakpoint\n"
                            : stop == PUG_MOVE_LOSS     ? "trace is missing before here\n"
                                                        : "the trace begins here\n");
    put_place(session, session->position, sink);
    return true;
}

/* ---- a line of words ---- */

#define WORDS_MOST 8u

static size_t split(char *line, char **words)
{
    size_t count = 0;
    for (char *at = line; *at && count < WORDS_MOST;) {
        at += strspn(at, " \t\r\n");
        if (*at == 0)
            break;
        words[count++] = at;
        at += strcspn(at, " \t\r\n");
        if (*at)
            *at++ = 0;
    }
    return count;
}

static void put_help(struct pug_sink *sink)
{
    pug_sink_text(sink, "goto OFFSET | time T | #N | begin | end | exception   move there\n"
                        "find address A | exception [N] | loss | time T [before]  find a position\n"
                        "find sync | event N | context C | …  a packet, as `pugmark find` does\n"
                        "where          the place, its trace offset, time and packet\n"
                        "time           the time here\n"
                        "calls          the call stack\n"
                        "compare        the call path here, and the last time that it came here\n"
                        "history [N]    the last N instructions (20)\n"
                        "losses         where trace is missing\n"
                        "status         position, threads, memory\n"
                        "back-line      back to the beginning of the line before\n"
                        "back-over      the same, over the functions that were called\n");
}

bool session_command(struct session *session, const char *line, struct pug_sink *sink)
{
    char room[1100];
    char *words[WORDS_MOST];
    snprintf(room, sizeof(room), "%s", line);
    const size_t count = split(room, words);
    const char *name = count > 0 ? words[0] : "help";
    if (strcmp(name, "goto") == 0)
        return do_goto(session, words, count, sink);
    if (strcmp(name, "find") == 0)
        return do_find(session, words, count, sink);
    if (strcmp(name, "history") == 0)
        return do_history(session, count > 1 ? words[1] : NULL, sink);
    if (strcmp(name, "where") == 0) {
        put_place(session, session->position, sink);
        put_packet(session, sink);
        return true;
    }
    if (strcmp(name, "thread") == 0) { /* for GDB's side: which thread it moved to */
        pug_sink_format(sink, "%" PRIu32 "\n", session->thread + 1);
        return true;
    }
    if (strcmp(name, "time") == 0)
        return do_time(session, sink);
    if (strcmp(name, "calls") == 0)
        return do_calls(session, sink);
    if (strcmp(name, "compare") == 0)
        return do_compare(session, sink);
    if (strcmp(name, "losses") == 0)
        return do_losses(session, sink);
    if (strcmp(name, "status") == 0)
        return do_status(session, sink);
    if (strcmp(name, "back-line") == 0 || strcmp(name, "back-over") == 0)
        return do_back(session, strcmp(name, "back-over") == 0, sink);
    if (strcmp(name, "help") != 0) {
        pug_sink_text(sink, "there is no command `");
        pug_sink_printable(sink, name);
        pug_sink_text(sink, "`. There are:\n");
    }
    put_help(sink);
    return strcmp(name, "help") == 0;
}
