// SPDX-License-Identifier: MIT
/** @file Moving, as GDB asks for it. */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32

/** The request in a packet. */
struct wish {
    bool steps, backward, in_range;
    uint64_t from, to;
    uint32_t thread;
};

static bool is_interrupted(void *context)
{
    struct gdb_server *server = context;
    return gdb_link_interrupted(server->link);
}

/* ---- telling ---- */

static void say(struct gdb_server *server, const char *words)
{
    struct pug_memory text = {0};
    struct pug_sink sink = pug_memory_sink(&text);
    pug_sink_text(&sink, "O");
    for (const char *at = words; *at; at++)
        pug_sink_hex(&sink, (uint8_t)*at, 2);
    if (!text.failed)
        gdb_link_send(server->link, text.bytes, text.count);
    free(text.bytes);
}

static void say_why(struct gdb_server *server, const struct pug_history_move *move)
{
    char words[256], line[300];
    session_stop_words(server->session, move, words, sizeof(words));
    if (words[0] == 0)
        return;
    snprintf(line, sizeof(line), "pugmark: %s\n", words);
    say(server, line);
}

void gdb_tell_stop(struct gdb_server *server, const struct pug_history_move *move)
{
    struct session *session = server->session;
    struct pug_history_place place;
    unsigned signal = 5;
    if (!pug_history_at(session->history, session->position, &place)) {
        pug_sink_text(&server->sink, "E01");
        return;
    }
    if (move->stop == PUG_MOVE_ENDED_EARLY)
        signal = 2;
    else if (move->stop == PUG_MOVE_EXCEPTION)
        signal = gdb_signal_of(&place);
    pug_sink_format(&server->sink, "T%02x", signal);
    const struct gdb_state state = {&place, session_core(session, &place)};
    gdb_target_expedite(server->target, &state, &server->sink);
    pug_sink_text(&server->sink, "thread:");
    gdb_put_thread(server, session->thread);
    pug_sink_text(&server->sink, ";");
    if (move->stop == PUG_MOVE_BREAKPOINT && server->swbreak)
        pug_sink_text(&server->sink, "swbreak:;");
    if (move->stop == PUG_MOVE_BEGIN || (move->stop == PUG_MOVE_LOSS && move->backward))
        pug_sink_text(&server->sink, "replaylog:begin;");
    if (move->stop == PUG_MOVE_END || (move->stop == PUG_MOVE_LOSS && !move->backward))
        pug_sink_text(&server->sink, "replaylog:end;");
}

/**
 * Answers that other libraries are there. GDB reads them and resumes, whatever else the answer
 * says: why it stopped is answered then.
 */
static void tell_libraries(struct gdb_server *server, const struct pug_history_move *move)
{
    const struct pug_history_move still = {.stop = PUG_MOVE_DONE};
    server->waiting = *move;
    server->waits = true;
    gdb_tell_stop(server, &still);
    pug_sink_text(&server->sink, "library:;");
}

/* ---- moving ---- */

/** The memory of a thread's process at a position. */
static const struct pug_address_space *space_at(struct gdb_server *server, uint64_t position)
{
    struct pug_history_place place;
    return pug_history_at(server->session->history, position, &place) ? place.origin.space : NULL;
}

/** The position beside one, where a move came from: the one itself is looked at again. */
static uint64_t beside(const struct pug_history_move *move)
{
    return move->backward ? move->position + 1 : move->position - (move->position > 0);
}

/**
 * Runs, and stops where other libraries are there than before, for GDB has breakpoints in them
 * only when it knows them.
 */
static void run(struct gdb_server *server, struct pug_history_move *move)
{
    struct session *session = server->session;
    move->space = space_at(server, session->position);
    if (server->goes_on)
        move->position = beside(move);
    server->goes_on = false;
    for (;;) {
        pug_history_run(session->history, move);
        if (move->stop != PUG_MOVE_SPACE)
            return;
        session_go(session, move->position);
        if (gdb_libraries_changed(server))
            return;
        move->space = space_at(server, move->position);
        move->position = beside(move);
    }
}

/** Moves once, from where the thread is. */
static void move_once(struct gdb_server *server, const struct wish *wish,
                      struct pug_history_move *move)
{
    struct session *session = server->session;
    const uint32_t thread = wish->thread == PUG_HISTORY_ANY ? session->thread : wish->thread;
    *move = (struct pug_history_move){.position = session->position,
                                      .thread = thread,
                                      .backward = wish->backward,
                                      .in_range = wish->in_range,
                                      .from = wish->from,
                                      .to = wish->to,
                                      .interrupted = is_interrupted,
                                      .context = server};
    if (wish->steps && thread != session->thread)
        (void)pug_history_of_thread(session->history, session->position, thread, &move->position);
    if (wish->steps)
        pug_history_step(session->history, move);
    else
        run(server, move);
    session_go(session, move->position);
}

static void resume(struct gdb_server *server, const struct wish *wish)
{
    struct session *session = server->session;
    struct pug_history_move move;
    for (;;) {
        move_once(server, wish, &move);
        const bool at_edge = move.stop == PUG_MOVE_END || move.stop == PUG_MOVE_EXCEPTION;
        if (!at_edge || !session_grows(session))
            break;
        const uint64_t count = pug_history_count(session->history);
        while (count == pug_history_count(session->history) && session_grows(session) &&
               !gdb_link_interrupted(server->link)) {
            session_unlock(session);
            session_wait(session, server->link->in);
            session_lock(session);
        }
        if (server->link->interrupted || server->link->closed) {
            move.stop = PUG_MOVE_ENDED_EARLY;
            break;
        }
    }
    server->link->interrupted = false;
    server->general = session->thread;
    if (move.stop == PUG_MOVE_SPACE || gdb_libraries_changed(server)) {
        tell_libraries(server, &move);
        return;
    }
    say_why(server, &move);
    gdb_tell_stop(server, &move);
}

/** Does GDB resume where it was told of libraries? Then that move ends now, or goes on. */
static bool end_waiting(struct gdb_server *server, const struct wish *wish)
{
    const bool waits = server->waits;
    server->waits = false;
    if (!waits || wish->backward != server->waiting.backward ||
        server->session->position != server->waiting.position)
        return false;
    server->goes_on = server->waiting.stop == PUG_MOVE_SPACE;
    if (server->goes_on)
        return false;
    say_why(server, &server->waiting);
    gdb_tell_stop(server, &server->waiting);
    return true;
}

/* ---- packets ---- */

/** One action of vCont. False: it makes no sense. */
static bool take_action(struct gdb_server *server, const char **words, struct wish *wish)
{
    const char *at = *words;
    const char kind = *at;
    uint64_t signal;
    *wish = (struct wish){.thread = PUG_HISTORY_ANY};
    if (kind == 0)
        return false;
    at++;
    wish->steps = kind == 's' || kind == 'S' || kind == 'r';
    if (!wish->steps && kind != 'c' && kind != 'C')
        return false;
    if ((kind == 'S' || kind == 'C') && !gdb_take_number(&at, &signal))
        return false;
    if (kind == 'r') {
        wish->in_range = true;
        if (!gdb_take_number(&at, &wish->from) || *at++ != ',' || !gdb_take_number(&at, &wish->to))
            return false;
    }
    if (*at == ':' && !gdb_take_thread(server, at + 1, &wish->thread, &at))
        return false;
    *words = at;
    return *at == 0 || *at == ';';
}

/** The action that steps, if one does; else it continues. */
static bool take_actions(struct gdb_server *server, const char *words, struct wish *wish)
{
    struct wish next;
    bool any = false;
    while (*words == ';') {
        words++;
        if (!take_action(server, &words, &next))
            return false;
        if (!any || (next.steps && !wish->steps))
            *wish = next;
        any = true;
    }
    return any && *words == 0;
}

void gdb_resume(struct gdb_server *server, const char *packet)
{
    const uint32_t named = server->moving != PUG_HISTORY_ANY ? server->moving : server->general;
    struct wish wish = {.thread = named};
    if (strncmp(packet, "vCont", 5) == 0) {
        if (!take_actions(server, packet + 5, &wish)) {
            pug_sink_text(&server->sink, "E01");
            return;
        }
        if (wish.steps && wish.thread == PUG_HISTORY_ANY)
            wish.thread = named;
    } else {
        wish.backward = packet[0] == 'b';
        wish.steps = packet[wish.backward] == 's';
    }
    if (!end_waiting(server, &wish))
        resume(server, &wish);
}

#endif
