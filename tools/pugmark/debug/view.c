// SPDX-License-Identifier: MIT
#include "view.h"

#include "export/source_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_MOST ((size_t)16 << 20)
#define FRAMES_MOST 64u

/* ---- lines ---- */

/** Adds a line, cut to the page's width. What comes of an input cannot steer the terminal. */
static void put_line(struct view *view, const char *text)
{
    struct pug_memory room = {0};
    struct pug_sink sink = pug_memory_sink(&view->page);
    const char *printable = pug_printable(text, &room);
    size_t column = 0;
    for (const char *at = printable; *at && column < view->columns; column++) {
        const unsigned length = pug_utf8_length(at);
        pug_sink_put(&sink, at, length > 0 ? length : 1);
        at += length > 0 ? length : 1;
    }
    pug_sink_put(&sink, "\n", 1);
    free(room.bytes);
}

static void put_rule(struct view *view, const char *name)
{
    char line[256];
    const int length = snprintf(line, sizeof(line), "-- %s ", name);
    for (size_t i = (size_t)length; i < sizeof(line) - 1; i++)
        line[i] = '-';
    line[sizeof(line) - 1] = 0;
    put_line(view, line);
}

/* ---- source ---- */

/** The file becomes the one that is shown. */
static void load(struct view *view, const char *path)
{
    const struct pug_export_options options = {.report = view->report};
    const struct exporter exporter = {.options = &options};
    uint8_t *bytes;
    if (view->path && strcmp(view->path, path) == 0)
        return;
    free(view->path);
    free(view->text);
    view->text = NULL;
    view->size = 0;
    const size_t length = strlen(path) + 1;
    view->path = malloc(length);
    if (!view->path)
        return;
    memcpy(view->path, path, length);
    if (pug_export_source(&exporter, path, SOURCE_MOST, &bytes, &view->size))
        view->text = (char *)bytes;
}

/** A line of the file, without its end; false: it has no such line. */
static bool find_line(const struct view *view, uint32_t number, const char **line, size_t *length)
{
    const char *at = view->text, *end = view->text + view->size;
    for (uint32_t n = 1; at && n < number; n++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at && at + 1 < end ? at + 1 : NULL;
    }
    if (!at)
        return false;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *line = at;
    *length = (size_t)((stop ? stop : end) - at);
    return true;
}

static void put_source_line(struct view *view, uint32_t number, bool here)
{
    char line[512];
    const char *text;
    size_t length;
    if (!find_line(view, number, &text, &length)) {
        put_line(view, "");
        return;
    }
    int at = snprintf(line, sizeof(line), "%s%5" PRIu32 "  ", here ? ">" : " ", number);
    for (size_t i = 0; i < length && (size_t)at < sizeof(line) - 9; i++) {
        if (text[i] != '\t') {
            line[at++] = text[i];
            continue;
        }
        do
            line[at++] = ' ';
        while ((at - 8) % 8 != 0);
    }
    line[at] = 0;
    put_line(view, line);
}

static void put_source(struct view *view, const struct pug_history_place *place, unsigned rows)
{
    struct pug_names_line line;
    char head[300];
    if (!pug_capture_line(view->session->input.capture, &place->origin, place->pc,
                          view->session->names, &line, NULL) ||
        line.line == 0) {
        put_rule(view, "source: no line is known here");
        for (unsigned i = 0; i < rows; i++)
            put_line(view, "");
        return;
    }
    snprintf(head, sizeof(head), "%.200s:%" PRIu32, line.path, line.line);
    put_rule(view, head);
    load(view, line.path);
    const uint32_t half = rows / 2, first = line.line > half ? line.line - half : 1;
    for (unsigned i = 0; i < rows; i++) {
        if (view->text)
            put_source_line(view, first + i, first + i == line.line);
        else
            put_line(view, i == 0 ? "  its text is not here: --source-dir DIR says where" : "");
    }
}

/* ---- instructions ---- */

static bool is_breakpoint(const struct view *view, uint64_t address)
{
    for (size_t i = 0; i < view->breakpoint_count; i++)
        if (view->breakpoints[i].address == address)
            return true;
    return false;
}

static void put_instruction(struct view *view, uint64_t position)
{
    struct pug_history_place place;
    struct pug_names_frame frame;
    char text[128] = "", line[400], trap[96] = "";
    uint8_t bytes[8];
    if (!pug_history_at(view->session->history, position, &place)) {
        put_line(view, "");
        return;
    }
    const size_t got =
        pug_history_memory_at(view->session->history, &place, place.pc, bytes, sizeof(bytes));
    if (view->disasm && got >= 2)
        (void)pug_disasm_text(view->disasm, (enum pug_isa)place.isa, place.pc, bytes,
                              got < 4 ? got : 4, text, sizeof(text));
    if (pug_capture_frames(view->session->input.capture, &place.origin, place.pc,
                           view->session->names, &frame, 1, NULL) == 0)
        frame.function = NULL;
    if (place.kind == PUG_HISTORY_EXCEPTION)
        pug_exception_text((enum pug_exception_numbers)place.exception_numbers, place.exception,
                           trap, sizeof(trap));
    snprintf(line, sizeof(line), "%s%s%8" PRIx64 "  %-34s %.100s%s%s",
             position == view->session->position ? ">" : " ",
             is_breakpoint(view, place.pc) ? "*" : " ", place.pc, text,
             frame.function ? frame.function : "", trap[0] ? "  before " : "", trap);
    put_line(view, line);
}

/** The instructions of the thread around this one, in the order in which they ran. */
static void put_instructions(struct view *view, unsigned rows)
{
    struct session *session = view->session;
    uint64_t around[64];
    unsigned before = rows / 2, count = 0;
    struct pug_history_move move = {
        .position = session->position, .thread = session->thread, .backward = true};
    put_rule(view, "instructions");
    rows = rows < 64 ? rows : 64;
    (void)pug_history_breakpoints(session->history, NULL, 0);
    while (count < before) {
        pug_history_step(session->history, &move);
        if (move.stop != PUG_MOVE_DONE)
            break;
        around[count++] = move.position;
    }
    for (unsigned i = 0; i < count / 2; i++) {
        const uint64_t kept = around[i];
        around[i] = around[count - 1 - i];
        around[count - 1 - i] = kept;
    }
    move = (struct pug_history_move){.position = session->position, .thread = session->thread};
    around[count++] = session->position;
    while (count < rows) {
        pug_history_step(session->history, &move);
        if (move.stop != PUG_MOVE_DONE)
            break;
        around[count++] = move.position;
    }
    (void)pug_history_breakpoints(session->history, view->breakpoints, view->breakpoint_count);
    for (unsigned i = 0; i < rows; i++) {
        if (i < count)
            put_instruction(view, around[i]);
        else
            put_line(view, "");
    }
}

/* ---- calls ---- */

static void put_calls(struct view *view, const struct pug_history_place *place, unsigned rows)
{
    struct session *session = view->session;
    struct pug_history_frame frames[FRAMES_MOST];
    struct pug_names_line line;
    char text[400];
    const size_t all = pug_history_frames(session->history, session->position, frames, FRAMES_MOST);
    const size_t count = all < FRAMES_MOST ? all : FRAMES_MOST;
    snprintf(text, sizeof(text), "calls: %zu", all);
    put_rule(view, text);
    for (unsigned i = 0; i < rows; i++) {
        text[0] = 0;
        if (i < count) {
            const uint64_t at = frames[i].pc - (i > 0);
            const bool known = pug_capture_line(session->input.capture, &place->origin, at,
                                                session->names, &line, NULL) &&
                               line.line > 0;
            const char *name = known ? strrchr(line.path, '/') : NULL;
            snprintf(text, sizeof(text), " #%-3u%.120s%s%.120s", i,
                     frames[i].name ? frames[i].name : "?", known ? "  " : "",
                     !known ? ""
                     : name ? name + 1
                            : line.path);
            const size_t length = strlen(text);
            if (known)
                snprintf(text + length, sizeof(text) - length, ":%" PRIu32, line.line);
        }
        put_line(view, text);
    }
}

/* ---- the page ---- */

static void put_title(struct view *view)
{
    struct session *session = view->session;
    struct pug_history_packet packet = {0};
    char thread[128], time[64] = "", line[600];
    session_thread_words(session, session->thread, thread, sizeof(thread));
    if (pug_history_packet(session->history, session->position, &packet))
        session_time_words(session, packet.time, time, sizeof(time));
    snprintf(line, sizeof(line), "#%" PRIu64 " of %" PRIu64 "  %s  offset %" PRIu64 "%s%s  %.200s",
             session->position, pug_history_count(session->history), thread, packet.index,
             time[0] ? "  " : "", time, view->title);
    put_line(view, line);
}

void view_draw(struct view *view, unsigned rows, unsigned columns)
{
    struct pug_history_place place;
    rows = rows < 12 ? 12 : rows;
    view->columns = columns;
    view->page.count = 0;
    if (!pug_history_at(view->session->history, view->session->position, &place))
        return;
    const unsigned free_rows = rows - 6; /* a title, three rules, a message, the keys */
    const unsigned calls = free_rows / 4, instructions = free_rows / 3;
    put_title(view);
    put_source(view, &place, free_rows - calls - instructions);
    put_instructions(view, instructions);
    put_calls(view, &place, calls);
    put_line(view, view->message);
    put_line(view, columns >= 100
                       ? "s/S step  l/L line  n/N over  f/F out  c/C run  b break  e exception  "
                         "g goto  / find  m ' mark  t thread  q"
                       : "s/S step l/L line n/N over f/F out c/C run b break e exc g goto / find "
                         "m ' t q");
    if (view->page.count > 0 && view->page.bytes[view->page.count - 1] == '\n')
        view->page.count--;
}

void view_free(struct view *view)
{
    free(view->path);
    free(view->text);
    free(view->page.bytes);
    pug_disasm_free(view->disasm);
}
