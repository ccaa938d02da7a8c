// SPDX-License-Identifier: MIT
#include "walks.h"

#include <string.h>

#define STEPS_MOST 100000000u

/** The source line of a position. */
struct spot {
    uint32_t line; /* 0: no line is known */
    const char *path;
    uint64_t function;
    int64_t depth;
    uint64_t site, caller; /* of its frame */
};

static bool look(struct session *session, uint64_t position, struct spot *spot)
{
    struct pug_history_frame frame;
    struct pug_history_place place;
    struct pug_names_line line;
    *spot = (struct spot){.line = 0};
    if (!pug_history_at(session->history, position, &place))
        return false;
    if (pug_history_frames(session->history, position, &frame, 1) > 0) {
        spot->depth = frame.depth;
        spot->function = frame.function;
        spot->site = frame.site;
    }
    if (pug_capture_line(session->input.capture, &place.origin, place.pc, session->names, &line,
                         NULL)) {
        spot->line = line.line;
        spot->path = line.path;
    }
    return true;
}

static bool is_same_line(const struct spot *a, const struct spot *b)
{
    return a->line == b->line && a->depth == b->depth && a->function == b->function &&
           (a->path == b->path || (a->path && b->path && strcmp(a->path, b->path) == 0));
}

bool walks_back(struct session *session, struct pug_history_move *move)
{
    move->thread = session->thread;
    move->backward = true;
    pug_history_step(session->history, move);
    return move->stop == PUG_MOVE_DONE ||
           (move->stop == PUG_MOVE_BREAKPOINT && move->thread == session->thread);
}

/**
 * One instruction, or over what is deeper than `depth`. False: it stopped before, as move->stop
 * says.
 */
static bool step_over(struct session *session, struct pug_history_move *move, int64_t depth,
                      bool over, struct spot *spot)
{
    for (unsigned n = 0; n < STEPS_MOST; n++) {
        pug_history_step(session->history, move);
        if (move->stop != PUG_MOVE_DONE || !look(session, move->position, spot))
            return false;
        if (!over || spot->depth <= depth)
            return true;
    }
    return false;
}

/** Goes back to the first instruction of the line that it is in. */
static void begin_of_line(struct session *session, const struct spot *line, bool over)
{
    struct pug_history_move move = {
        .position = session->position, .thread = session->thread, .backward = true};
    struct spot spot;
    while (step_over(session, &move, line->depth, over, &spot) && is_same_line(&spot, line))
        session_go(session, move.position);
}

/** Steps until another line begins. Returns whether one did, at *spot; *end: what ended the move.
 */
static bool to_other_line(struct session *session, bool backward, bool over, struct spot *spot,
                          enum pug_history_end_kind *end)
{
    struct pug_history_move move = {
        .position = session->position, .thread = session->thread, .backward = backward};
    struct spot here;
    *end = PUG_MOVE_ENDED_EARLY;
    if (!look(session, session->position, &here))
        return false;
    for (;;) {
        const bool good = step_over(session, &move, here.depth, over, spot);
        session_go(session, move.position);
        *end = good ? PUG_MOVE_DONE : (enum pug_history_end_kind)move.stop;
        if (!good || (spot->line > 0 && !is_same_line(spot, &here)))
            return good;
    }
}

enum pug_history_end_kind walks_back_line(struct session *session, bool over)
{
    enum pug_history_end_kind end;
    struct spot spot;
    if (to_other_line(session, true, over, &spot, &end))
        begin_of_line(session, &spot, over);
    return end;
}

enum pug_history_end_kind walks_line(struct session *session, bool over)
{
    enum pug_history_end_kind end;
    struct spot spot;
    (void)to_other_line(session, false, over, &spot, &end);
    return end;
}
