// SPDX-License-Identifier: MIT
/**
 * @file pugmark debug: what ran, in a terminal: source, instructions and calls at a position, with
 * keys to go forwards and backwards. Where standard output is no terminal, keys are read from
 * standard input all the same, and the last page is printed.
 */
#include "common/command.h"
#include "common/output.h"
#include "common/source_options.h"
#include "live/screen.h"
#include "view.h"
#include "walks.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct debug_options {
    struct session_options session;
    struct source_options sources;
};

/* ---- keys ---- */

static bool on_screen;

/** The next key; 0: none came for a while; -1: there are no more. */
static int next_key(void)
{
    if (on_screen)
        return screen_key(500);
    const int key = getchar();
    return key == EOF ? -1 : key;
}

static void redraw(struct view *view)
{
    unsigned rows = 24, columns = 80;
    if (!on_screen)
        return;
    screen_size(&rows, &columns);
    session_lock(view->session);
    view_draw(view, rows, columns);
    session_unlock(view->session);
    screen_draw(view->page.bytes, view->page.count);
}

/** Words up to the end of a line. False: they were given up. */
static bool ask(struct view *view, const char *what, char *words, size_t size)
{
    size_t count = 0;
    for (;;) {
        words[count] = 0;
        snprintf(view->message, sizeof(view->message), "%s %s_", what, words);
        redraw(view);
        const int key = next_key();
        if (key == '\r' || key == '\n')
            break;
        if (key < 0 || key == 27)
            return false;
        if ((key == 127 || key == 8) && count > 0)
            count--;
        else if (isprint(key) && count + 1 < size)
            words[count++] = (char)key;
    }
    view->message[0] = 0;
    return count > 0;
}

/* ---- moving ---- */

static void tell(struct view *view, const struct pug_history_move *move)
{
    session_stop_words(view->session, move, view->message, sizeof(view->message));
    if (move->stop == PUG_MOVE_BREAKPOINT)
        snprintf(view->message, sizeof(view->message), "a breakpoint");
}

static void move_once(struct view *view, bool runs, bool backward)
{
    struct session *session = view->session;
    struct pug_history_move move = {
        .position = session->position, .thread = session->thread, .backward = backward};
    if (runs)
        pug_history_run(session->history, &move);
    else
        pug_history_step(session->history, &move);
    session_go(session, move.position);
    tell(view, &move);
}

static void move_line(struct view *view, bool over, bool backward)
{
    struct pug_history_move move = {.position = view->session->position, .backward = backward};
    move.stop = backward ? walks_back_line(view->session, over) : walks_line(view->session, over);
    tell(view, &move);
}

/** Out of this call: to where it returns, or back to where it was made. */
static void move_out(struct view *view, bool backward)
{
    struct session *session = view->session;
    struct pug_history_frame frame;
    struct pug_history_move move = {
        .position = session->position, .thread = session->thread, .backward = backward};
    if (pug_history_frames(session->history, session->position, &frame, 1) == 0)
        return;
    const int64_t depth = frame.depth;
    do {
        pug_history_step(session->history, &move);
        session_go(session, move.position);
    } while (move.stop == PUG_MOVE_DONE &&
             pug_history_frames(session->history, move.position, &frame, 1) > 0 &&
             frame.depth >= depth);
    tell(view, &move);
}

static void toggle_breakpoint(struct view *view)
{
    struct pug_history_place place;
    if (!pug_history_at(view->session->history, view->session->position, &place))
        return;
    for (size_t i = 0; i < view->breakpoint_count; i++) {
        if (view->breakpoints[i].address == place.pc) {
            view->breakpoints[i] = view->breakpoints[--view->breakpoint_count];
            snprintf(view->message, sizeof(view->message), "no breakpoint here any more");
            return;
        }
    }
    if (view->breakpoint_count == VIEW_BREAKPOINTS) {
        snprintf(view->message, sizeof(view->message), "there are %u breakpoints already",
                 VIEW_BREAKPOINTS);
        return;
    }
    view->breakpoints[view->breakpoint_count++] =
        (struct pug_history_breakpoint){.address = place.pc, .pid = PUG_NO_CPU};
    snprintf(view->message, sizeof(view->message), "a breakpoint at 0x%" PRIx64, place.pc);
}

/** Finds the start of a function that ran; false: none has this name. */
static bool find_function(struct view *view, const char *name, uint64_t *address)
{
    struct session *session = view->session;
    struct pug_history_block block;
    struct pug_names_frame frames[8];
    for (uint32_t n = 0; pug_history_next_block(session->history, &n, &block);) {
        const size_t count = pug_capture_frames(session->input.capture, &block.origin, block.start,
                                                session->names, frames, 8, NULL);
        const size_t there = count < 8 ? count : 8;
        if (there > 0 && frames[there - 1].function &&
            strcmp(frames[there - 1].function, name) == 0) {
            *address = block.start;
            return true;
        }
    }
    return false;
}

/** The next place of an address or function; where there is none, the first one. */
static void search(struct view *view)
{
    struct session *session = view->session;
    char words[128];
    uint64_t address, found;
    if (!ask(view, "find (function or 0xADDRESS):", words, sizeof(words)))
        return;
    if (!parse_number(words, &address) && !find_function(view, words, &address)) {
        snprintf(view->message, sizeof(view->message), "nothing that ran is called %.100s", words);
        return;
    }
    if (!pug_history_find(session->history, PUG_FIND_ADDRESS, address, session->position, false,
                          &found) &&
        !pug_history_find(session->history, PUG_FIND_ADDRESS, address, session->position, true,
                          &found)) {
        snprintf(view->message, sizeof(view->message), "0x%" PRIx64 " did not run elsewhere",
                 address);
        return;
    }
    session_go(session, found);
}

/** A command of the session ("goto end"), whose first line is shown. */
static void command(struct view *view, const char *line)
{
    struct pug_memory text = {0};
    struct pug_sink sink = pug_memory_sink(&text);
    (void)session_command(view->session, line, &sink);
    const char *end = text.count > 0 ? memchr(text.bytes, '\n', text.count) : NULL;
    if (text.bytes)
        snprintf(view->message, sizeof(view->message), "%.*s",
                 (int)(end ? (size_t)(end - text.bytes) : text.count), text.bytes);
    free(text.bytes);
}

static void go_to(struct view *view)
{
    char words[128], line[160];
    if (!ask(view, "goto (OFFSET, time T, #N, begin, end):", words, sizeof(words)))
        return;
    snprintf(line, sizeof(line), "goto %s", words);
    command(view, line);
}

static void mark(struct view *view, bool set)
{
    snprintf(view->message, sizeof(view->message), "%s mark a to z?", set ? "set" : "go to");
    redraw(view);
    int key;
    do
        key = next_key();
    while (key == 0);
    if (key < 'a' || key > 'z') {
        view->message[0] = 0;
        return;
    }
    uint64_t *kept = &view->marks[key - 'a'];
    if (set)
        *kept = view->session->position + 1;
    else if (*kept > 0)
        session_go(view->session, *kept - 1);
    snprintf(view->message, sizeof(view->message), "mark %c%s", key,
             *kept == 0 ? " is not set" : "");
}

/** The next thread, at this time. */
static void next_thread(struct view *view)
{
    struct session *session = view->session;
    struct pug_history_place place;
    const uint32_t next =
        pug_history_thread_at(session->history, session->thread + 1) ? session->thread + 1 : 0;
    if (session_place(session, next, &place))
        session_go(session, place.position);
}

/** Does what a key says. False: it is over. */
static bool take_key(struct view *view, int key)
{
    view->message[0] = 0;
    (void)pug_history_breakpoints(view->session->history, view->breakpoints,
                                  view->breakpoint_count);
    switch (key) {
    case 's': move_once(view, false, false); break;
    case 'S': move_once(view, false, true); break;
    case 'l': move_line(view, false, false); break;
    case 'L': move_line(view, false, true); break;
    case 'n': move_line(view, true, false); break;
    case 'N': move_line(view, true, true); break;
    case 'f': move_out(view, false); break;
    case 'F': move_out(view, true); break;
    case 'c': move_once(view, true, false); break;
    case 'C': move_once(view, true, true); break;
    case 'b': toggle_breakpoint(view); break;
    case 'e': command(view, "goto exception"); break;
    case 'g': go_to(view); break;
    case '/': search(view); break;
    case 'm': mark(view, true); break;
    case '\'': mark(view, false); break;
    case 't': next_thread(view); break;
    case 'q': return false;
    case '\r':
    case '\n': break;
    default:
        snprintf(view->message, sizeof(view->message), "there is no such key; they are below");
        break;
    }
    return true;
}

static void show(struct view *view)
{
    on_screen = screen_is_there();
    if (on_screen)
        screen_begin(true);
    redraw(view);
    for (int key; (key = next_key()) >= 0;) {
        session_lock(view->session);
        const bool more = key == 0 || take_key(view, key);
        session_unlock(view->session);
        if (!more)
            break;
        if (key != 0 || session_grows(view->session))
            redraw(view);
    }
    if (on_screen) {
        screen_end();
        return;
    }
    view_draw(view, 24, 80);
    if (view->page.count > 0)
        pug_sink_put(output_sink(), view->page.bytes, view->page.count);
    pug_sink_text(output_sink(), "\n");
}

static int run(const struct command *self, int argc, char **argv)
{
    struct debug_options options = {0};
    const struct option_set sets[] = {SOURCE_OPTIONS(&options.sources),
                                      CAPTURE_OPTIONS(&options.session.capture),
                                      INPUT_OPTIONS(&options.session.input)};
    struct session session;
    struct pug_report_withheld withheld = {0};
    struct pug_report report = {.withheld = &withheld};
    int code = command_start(self, argc, argv, sets, 3, 1);
    if (code >= 0)
        return code;
    char *const operands[] = {argv[1], NULL};
    if (!source_permit(&options.sources, operands, &report))
        return EXIT_FATAL;
    if (report.source_dir_count == 0) { /* also of files that have moved there */
        report.source_dirs = report.permitted_dirs;
        report.source_dir_count = report.permitted_dir_count;
    }
    if (!session_open(&session, &options.session, argv[1]))
        return session.code;
    struct view view = {.session = &session, .report = &report, .title = argv[1]};
    (void)pug_disasm_new(NULL, &view.disasm);
    show(&view);
    view_free(&view);
    code = session_close(&session);
    const int written = output_end();
    return written ? written : code;
}

const struct command command_debug = {
    .name = "debug",
    .operands = "INPUT",
    .summary = "go through what ran in the terminal, forwards and backwards",
    .run = run,
    .task = TASK_DEBUG,
    .purpose = "Shows source, instructions and calls at a position of the trace, with keys to go "
               "forwards and backwards. It needs no debugger.",
    .examples =
        {
            {"pugmark debug examples/crash --source-dir examples/crash",
             "begins where the trace begins; q ends"},
            {"echo cq | pugmark debug examples/crash --source-dir examples/crash",
             "keys from a pipe: goes on to the end, and prints that page"},
            {"pugmark debug board --elf firmware.elf", "with the program that a snapshot lacks"},
        },
};
