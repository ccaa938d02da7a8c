// SPDX-License-Identifier: MIT
#include "server.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32

#define READ_MOST    (GDB_PACKET_MOST / 2 - 16) /* bytes of an `m` packet */
#define FRAMES_MOST  1024u                      /* that the unwinder sees */
#define WINDOW_SIZE  (32u + FRAMES_MOST * 32u)
#define COMMAND_MOST 1024u

static void ok(struct gdb_server *server)
{
    pug_sink_text(&server->sink, "OK");
}

static void fail(struct gdb_server *server)
{
    pug_sink_text(&server->sink, "E01");
}

static uint32_t general_thread(const struct gdb_server *server)
{
    return server->general == PUG_HISTORY_ANY ? server->session->thread : server->general;
}

static bool general_place(struct gdb_server *server, struct pug_history_place *place)
{
    return session_place(server->session, general_thread(server), place);
}

/* ---- the call stack, for the unwinder ---- */

/**
 * Writes the stack as the unwinder reads it: 32 bytes with "PUGFRAME", how many frames follow, the
 * position and the thread; then 32 bytes a frame, from the innermost one out: pc, start of the
 * function, depth, and whether the next frame's pc is known (bit 0) and the kind (bits 8 and up).
 */
static size_t make_window(struct gdb_server *server, uint8_t *window)
{
    static const uint8_t magic[8] = {'P', 'U', 'G', 'F', 'R', 'A', 'M', 'E'};
    struct pug_history_place place;
    struct pug_history_frame *frames = calloc(FRAMES_MOST, sizeof(*frames));
    if (!frames || !general_place(server, &place)) {
        free(frames);
        return 0;
    }
    size_t count =
        pug_history_frames(server->session->history, place.position, frames, FRAMES_MOST);
    count = count < FRAMES_MOST ? count : FRAMES_MOST;
    memcpy(window, magic, sizeof(magic));
    pug_bytes_set_64(window + 8, count);
    pug_bytes_set_64(window + 16, place.position);
    pug_bytes_set_64(window + 24, place.thread);
    for (size_t i = 0; i < count; i++) {
        uint8_t *at = window + 32 + i * 32;
        pug_bytes_set_64(at, frames[i].pc);
        pug_bytes_set_64(at + 8, frames[i].function);
        pug_bytes_set_64(at + 16, (uint64_t)frames[i].depth);
        pug_bytes_set_64(at + 24, frames[i].has_caller | (uint64_t)frames[i].kind << 8);
    }
    free(frames);
    return 32 + count * 32;
}

/** Reads of the window; false: the address is elsewhere. */
static bool read_window(struct gdb_server *server, uint64_t address, uint64_t size)
{
    const uint64_t at = address - gdb_target_window(server->target);
    if (at >= WINDOW_SIZE)
        return false;
    uint8_t *window = calloc(WINDOW_SIZE, 1);
    const size_t there = window ? make_window(server, window) : 0;
    if (there == 0)
        fail(server);
    for (uint64_t i = 0; there > 0 && i < size && at + i < WINDOW_SIZE; i++)
        pug_sink_hex(&server->sink, window[at + i], 2);
    free(window);
    return true;
}

/* ---- packets ---- */

static void read_memory(struct gdb_server *server, const char *words)
{
    uint8_t bytes[READ_MOST];
    uint64_t address, size;
    struct pug_history_place place;
    if (!gdb_take_number(&words, &address) || *words++ != ',' || !gdb_take_number(&words, &size) ||
        *words != 0) {
        fail(server);
        return;
    }
    size = size < READ_MOST ? size : READ_MOST;
    if (read_window(server, address, size))
        return;
    const size_t got =
        general_place(server, &place)
            ? pug_history_memory_at(server->session->history, &place, address, bytes, (size_t)size)
            : 0;
    if (got == 0 && size > 0)
        fail(server);
    for (size_t i = 0; i < got; i++)
        pug_sink_hex(&server->sink, bytes[i], 2);
}

static void read_registers(struct gdb_server *server)
{
    struct pug_history_place place;
    if (!general_place(server, &place)) {
        fail(server);
        return;
    }
    const struct gdb_state state = {&place, session_core(server->session, &place)};
    gdb_target_registers(server->target, &state, &server->sink);
}

static void read_register(struct gdb_server *server, const char *words)
{
    struct pug_history_place place;
    uint64_t number;
    if (!gdb_take_number(&words, &number) || number > 1000 || !general_place(server, &place)) {
        fail(server);
        return;
    }
    const struct gdb_state state = {&place, session_core(server->session, &place)};
    if (!gdb_target_register(server->target, &state, (unsigned)number, &server->sink))
        fail(server);
}

/** H, T: a thread. */
static void take_thread(struct gdb_server *server, const char *packet)
{
    uint32_t thread;
    const char *end;
    const bool names = packet[0] == 'H';
    const char kind = names ? packet[1] : 0;
    if ((names && kind == 0) || !gdb_take_thread(server, packet + 1 + names, &thread, &end)) {
        fail(server);
        return;
    }
    if (kind == 'g')
        server->general = thread;
    else if (kind == 'c')
        server->moving = thread;
    ok(server);
}

/* ---- breakpoints ---- */

static bool set_breakpoints(struct gdb_server *server)
{
    return pug_history_breakpoints(server->session->history, server->breakpoints,
                                   server->breakpoint_count) == PUG_OK;
}

static int32_t breakpoint_pid(struct gdb_server *server)
{
    return session_pid(server->session, general_thread(server));
}

static bool insert(struct gdb_server *server, uint64_t address)
{
    if (server->breakpoint_count == GDB_BREAKPOINTS_MOST)
        return false;
    if (server->breakpoint_count == server->breakpoint_room) {
        const size_t room = server->breakpoint_room * 2 + 16;
        struct pug_history_breakpoint *grown = realloc(server->breakpoints, room * sizeof(*grown));
        if (!grown)
            return false;
        server->breakpoints = grown;
        server->breakpoint_room = room;
    }
    server->breakpoints[server->breakpoint_count++] =
        (struct pug_history_breakpoint){.address = address, .pid = breakpoint_pid(server)};
    return set_breakpoints(server);
}

static bool take_away(struct gdb_server *server, uint64_t address)
{
    const int32_t pid = breakpoint_pid(server);
    for (size_t i = 0; i < server->breakpoint_count; i++) {
        if (server->breakpoints[i].address != address || server->breakpoints[i].pid != pid)
            continue;
        server->breakpoints[i] = server->breakpoints[--server->breakpoint_count];
        return set_breakpoints(server);
    }
    return true;
}

/** Is there a breakpoint already? A second one would outlive its removal. */
static bool is_set(struct gdb_server *server, uint64_t address)
{
    const int32_t pid = breakpoint_pid(server);
    for (size_t i = 0; i < server->breakpoint_count; i++)
        if (server->breakpoints[i].address == address && server->breakpoints[i].pid == pid)
            return true;
    return false;
}

/** Z0, Z1: at an instruction. Others need memory that is not known: the answer is empty. */
static void take_breakpoint(struct gdb_server *server, const char *packet)
{
    const char *words = packet + 2;
    uint64_t address;
    if (packet[1] != '0' && packet[1] != '1')
        return;
    if (*words++ != ',' || !gdb_take_number(&words, &address)) {
        fail(server);
        return;
    }
    if (packet[0] == 'z' ? take_away(server, address)
                         : is_set(server, address) || insert(server, address))
        ok(server);
    else
        fail(server);
}

/* ---- queries ---- */

static bool begins(const char *packet, const char *with)
{
    return strncmp(packet, with, strlen(with)) == 0;
}

static void take_supported(struct gdb_server *server, const char *words)
{
    server->multiprocess = strstr(words, "multiprocess+") != NULL;
    server->swbreak = strstr(words, "swbreak+") != NULL;
    pug_sink_format(&server->sink,
                    "PacketSize=%x;qXfer:features:read+;qXfer:threads:read+;"
                    "qXfer:exec-file:read+;qXfer:libraries:read+;ReverseStep+;ReverseContinue+;"
                    "QStartNoAckMode+;vContSupported+%s%s",
                    GDB_PACKET_MOST, server->swbreak ? ";swbreak+" : "",
                    server->multiprocess ? ";multiprocess+" : "");
}

/** Answers what pugmark-gdb.py asks, and nobody else. False: it is another command. */
static bool answer_script(struct gdb_server *server, const char *line, struct pug_sink *sink)
{
    if (strcmp(line, "offset") == 0)
        pug_sink_format(sink, "%" PRIx64 "\n", gdb_offset(server));
    else if (strcmp(line, "libraries") == 0)
        pug_sink_text(sink, gdb_libraries_changed(server) ? "changed\n" : "the same\n");
    else
        return false;
    return true;
}

/** qRcmd: words for `monitor`. */
static void take_command(struct gdb_server *server, const char *words)
{
    char line[COMMAND_MOST + 1];
    struct pug_memory text = {0};
    struct pug_sink sink = pug_memory_sink(&text);
    size_t size = 0;
    while (words[0] && words[1] && size < COMMAND_MOST) {
        const char pair[3] = {words[0], words[1], 0};
        const char *at = pair;
        uint64_t byte;
        if (!gdb_take_number(&at, &byte) || *at != 0)
            break;
        line[size++] = (char)byte;
        words += 2;
    }
    line[size] = 0;
    if (!answer_script(server, line, &sink)) {
        (void)session_command(server->session, line, &sink);
        server->general = server->session->thread;
    }
    for (size_t i = 0; i < text.count; i++)
        pug_sink_hex(&server->sink, (uint8_t)text.bytes[i], 2);
    if (text.count == 0)
        ok(server);
    free(text.bytes);
}

static void list_threads(struct gdb_server *server)
{
    pug_sink_text(&server->sink, "m");
    for (uint32_t i = 0; pug_history_thread_at(server->session->history, i) && i < 1000; i++) {
        if (i > 0)
            pug_sink_text(&server->sink, ",");
        gdb_put_thread(server, i);
    }
}

static void tell_thread(struct gdb_server *server, const char *words)
{
    char text[128];
    uint32_t thread;
    const char *end;
    if (!gdb_take_thread(server, words, &thread, &end) || thread == PUG_HISTORY_ANY) {
        fail(server);
        return;
    }
    session_thread_words(server->session, thread, text, sizeof(text));
    for (const char *at = text; *at; at++)
        pug_sink_hex(&server->sink, (uint8_t)*at, 2);
}

static void query(struct gdb_server *server, const char *packet)
{
    if (begins(packet, "qSupported")) {
        take_supported(server, packet);
    } else if (begins(packet, "qXfer:")) {
        if (!gdb_transfer(server, packet))
            pug_sink_text(&server->sink, "E00");
    } else if (strcmp(packet, "qC") == 0) {
        pug_sink_text(&server->sink, "QC");
        gdb_put_thread(server, server->session->thread);
    } else if (strcmp(packet, "qfThreadInfo") == 0) {
        list_threads(server);
    } else if (strcmp(packet, "qsThreadInfo") == 0) {
        pug_sink_text(&server->sink, "l");
    } else if (begins(packet, "qThreadExtraInfo,")) {
        tell_thread(server, packet + strlen("qThreadExtraInfo,"));
    } else if (begins(packet, "qAttached")) {
        pug_sink_text(&server->sink, "1");
    } else if (strcmp(packet, "qOffsets") == 0) {
        const uint64_t offset = gdb_offset(server);
        if (offset != 0)
            pug_sink_format(&server->sink, "TextSeg=%" PRIx64, offset);
    } else if (begins(packet, "qRcmd,")) {
        take_command(server, packet + strlen("qRcmd,"));
    }
}

static void take_v(struct gdb_server *server, const char *packet)
{
    if (strcmp(packet, "vCont?") == 0) {
        pug_sink_text(&server->sink, "vCont;c;C;s;S;r");
    } else if (begins(packet, "vCont;")) {
        gdb_resume(server, packet);
    } else if (begins(packet, "vKill")) {
        ok(server);
        server->over = true;
    }
}

static void take(struct gdb_server *server, const char *packet)
{
    const struct pug_history_move still = {.stop = PUG_MOVE_DONE};
    switch (packet[0]) {
    case '?': gdb_tell_stop(server, &still); break;
    case 'g': read_registers(server); break;
    case 'p': read_register(server, packet + 1); break;
    case 'm': read_memory(server, packet + 1); break;
    case 'G':
    case 'P':
    case 'M':
    case 'X': fail(server); break;
    case 'H':
    case 'T': take_thread(server, packet); break;
    case 'Z':
    case 'z': take_breakpoint(server, packet); break;
    case 'q': query(server, packet); break;
    case 'v': take_v(server, packet); break;
    case 'b':
        if (strcmp(packet, "bs") == 0 || strcmp(packet, "bc") == 0)
            gdb_resume(server, packet);
        break;
    case 's':
    case 'c':
    case 'S':
    case 'C': gdb_resume(server, packet[0] == 's' || packet[0] == 'S' ? "s" : "c"); break;
    case 'D':
        ok(server);
        server->over = true;
        break;
    case 'k': server->over = true; break;
    default: break;
    }
}

static const char *core_of(const struct session *session)
{
    const struct pug_history_thread *thread = pug_history_thread_at(session->history, 0);
    const struct pug_capture_source *source;
    for (size_t n = 0; (source = pug_capture_source_at(session->input.capture, n)) != NULL; n++)
        if (thread && source->buffer == thread->buffer && source->id == thread->source)
            return source->core;
    return NULL;
}

void gdb_serve(struct session *session, struct gdb_link *link)
{
    struct gdb_server server = {
        .session = session, .link = link, .general = PUG_HISTORY_ANY, .moving = PUG_HISTORY_ANY};
    session_lock(session);
    server.target = gdb_target_of(pug_history_thread_at(session->history, 0), core_of(session));
    session_unlock(session);
    server.sink = pug_memory_sink(&server.reply);
    while (!server.over && !link->closed) {
        if (!gdb_link_read(link)) {
            link->interrupted = false;
            continue;
        }
        server.reply.count = 0;
        const bool quiet = strcmp(link->packet, "QStartNoAckMode") == 0;
        session_lock(session);
        if (quiet)
            ok(&server);
        else
            take(&server, link->packet);
        session_unlock(session);
        if (link->packet[0] != 'k')
            gdb_link_send(link, server.reply.failed ? "E01" : server.reply.bytes,
                          server.reply.failed ? 3 : server.reply.count);
        link->no_ack |= quiet;
    }
    (void)pug_history_breakpoints(session->history, NULL, 0);
    free(server.breakpoints);
    free(server.objects);
    free(server.samples);
    free(server.document.bytes);
    free(server.reply.bytes);
}

#endif
