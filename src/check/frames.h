// SPDX-License-Identifier: MIT
/**
 * @file Between a call stack and rules.
 *
 *     calls.c ─ frames.c ─ measured.c, and orders of order.c
 *     exceptions.c ──┘
 */
#ifndef PUG_CHECK_FRAMES_H
#define PUG_CHECK_FRAMES_H

#include "check/engine.h"

/** A function that begins to run, or that was found running. */
struct check_entry {
    struct check_stream *stream;
    const struct check_event *stamp;
    uint32_t function; /**< plus 1 */
    uint32_t depth;
    bool found;   /**< it was there: that is no entry */
    bool resumed; /**< its thread goes on */
};

/* ---- measured.c ---- */
/** The time of something that happened on a stream's core, as the call stack has it. */
void pug_check_stamp_event(const struct pug_check *check, const struct check_stream *stream,
                           const struct pug_call_event *event, struct check_event *out);
/** Stamps the element at hand. */
void pug_check_stamp_now(const struct pug_check *check, const struct check_stream *stream,
                         struct check_event *out);
/** The rule that a link belongs to. */
const struct check_rule *pug_check_rule_of(const struct pug_check *check, uint32_t link);
/** A call of a link begins. */
void pug_check_call_begin(struct pug_check *check, struct check_stream *stream, uint32_t link,
                          const struct check_event *stamp, uint32_t depth, bool found);
/** A frame of a link's function is left: its call ends with the outermost one. */
void pug_check_call_leave(struct pug_check *check, struct check_stream *stream, uint32_t link,
                          const struct check_event *stamp, const struct pug_call_event *event,
                          unsigned flags);
/** Ends a call. `flags`: enum check_op_flag. */
void pug_check_call_end(struct pug_check *check, struct check_call *call,
                        const struct check_event *stamp, unsigned flags);
/** Another thread runs: the call waits with its frame. */
void pug_check_call_suspend(struct pug_check *check, struct check_stream *stream, uint32_t link,
                            const struct check_event *stamp, const struct pug_call_event *event);
/** The calls that wait with a frame go on. */
void pug_check_call_resume(struct pug_check *check, struct check_stream *stream,
                           const struct check_event *stamp, const struct pug_call_event *event);
/** Does a function that the caller's frame called begin or end, whose own time is measured? */
bool pug_check_is_own_turn(const struct pug_check *check, const struct check_stream *stream,
                           const struct pug_call_event *event);
/** The own time of the caller, and of what was inlined into it, stops or goes on. */
void pug_check_turn_own(struct pug_check *check, struct check_stream *stream,
                        const struct pug_call_event *event, const struct check_event *stamp,
                        bool back);

/** The frame that waits has an inlined copy in it, too. False: no memory. */
bool pug_check_keep_copy(struct pug_check *check, struct check_stream *stream,
                         struct pug_call_frame *frame, const struct check_copy *copy);

/* ---- calls.c ---- */
/** A function is entered or left: all its rules hear of it. `stamped`: the stamp is there. */
void pug_check_enter_links(struct pug_check *check, struct check_stream *stream,
                           const struct pug_call_event *event, struct check_function *function,
                           struct check_event *stamp, bool stamped);
void pug_check_leave_links(struct pug_check *check, struct check_stream *stream,
                           const struct pug_call_event *event,
                           const struct check_function *function, struct check_event *stamp);

/* ---- copies.c ---- */
/** A frame is left: so are the inlined copies in it. */
void pug_check_leave_copies(struct pug_check *check, struct check_stream *stream,
                            const struct pug_call_event *event);
/** A frame is entered again, with a copy that it has. */
void pug_check_copy_again(struct pug_check *check, struct check_stream *stream,
                          const struct pug_call_event *event, const struct check_copy *copy);

/* ---- frames.c ---- */
/** Something that an order is about happened. */
void pug_check_queue_order(struct pug_check *check, struct check_stream *stream, uint32_t rule,
                           const struct check_event *stamp, enum check_op op, uint32_t function);
/** The call that a tail call continued ends with it. */
void pug_check_end_carried(struct pug_check *check, struct check_stream *stream,
                           const struct check_event *stamp, uint32_t depth, unsigned flags);
/** A frame is left, and what tail calls to it went on for. */
void pug_check_end_others(struct check_stream *stream, uint32_t depth);
/** A frame of a link's function is entered. */
void pug_check_enter_link(struct pug_check *check, uint32_t number,
                          const struct check_entry *entry);
/** A frame of a link's function is left; `event` is NULL where no stack has it. */
void pug_check_leave_link(struct pug_check *check, uint32_t number, const struct check_entry *entry,
                          const struct pug_call_event *event, unsigned flags);

#endif
